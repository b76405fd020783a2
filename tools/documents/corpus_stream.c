/* Each thread takes some lines under a lock, copies them, and reads and sketches them without it; a
 * long line is read where it is, under the lock, so that there is one at a time in memory.
 *
 * A mark of eight bytes is known of a line afterwards, and its id in a file without a name: a mark
 * is 16 times (1 and the place of the id there; 0: none), and the kind: 0 for a blank line, else 1
 * and the fault. */
#include "tools/documents/corpus_stream.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/room.h"
#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"

enum {
    LINES_AT_ONCE = 512,
    BYTES_AT_ONCE = 256 << 10,
    LONG_BYTES = 1 << 20,     /* of a line that is read under the lock */
    LONGEST_BYTES = 64 << 20, /* a few KiB, packed, may be a line of a gigabyte */
    KIND_BITS = 4,
};
_Static_assert(1 + JSON_TEXT_N_FAULTS <= 1 << KIND_BITS, "a mark has the fault");

struct run {
    struct corpus_stream *stream;
    const struct shingle_hash *hash;
    pthread_mutex_t mutex; /* of all below, and of what came of the stream */
    struct corpus_walk *walk;
    bool ended;
    char **ret_error;
};

struct taken_line {
    size_t at, n_bytes;
    uint32_t number;
};

struct worker {
    struct run *run;
    struct json_text_reader *json;
    struct document_sketcher *sketcher;
    struct batch_writer *writer;
    uint8_t *bytes; /* of lines that were taken */
    size_t room, n_bytes, n_lines;
    struct taken_line lines[LINES_AT_ONCE];
    char *ids; /* not written yet: of each its length, in 4 bytes, and its bytes */
    size_t ids_room, ids_bytes, n_ids;
    struct taken_line id_lines[LINES_AT_ONCE];
};

static void worker_done(struct worker *worker)
{
    json_text_reader_free(worker->json);
    document_sketcher_free(worker->sketcher);
    batch_writer_free(worker->writer);
    free(worker->bytes);
    free(worker->ids);
}

static void insert_fault(struct corpus_stream *stream, struct corpus_fault fault)
{
    uint32_t n = stream->n_faults < CORPUS_FAULTS_TOLD ? stream->n_faults : CORPUS_FAULTS_TOLD;
    stream->n_faults++;
    if (n == CORPUS_FAULTS_TOLD && stream->faults[n - 1].number < fault.number)
        return;
    uint32_t at = n < CORPUS_FAULTS_TOLD ? n : n - 1;
    for (; at > 0 && stream->faults[at - 1].number > fault.number; at--)
        stream->faults[at] = stream->faults[at - 1];
    stream->faults[at] = fault;
}

/* locked: by the caller. */
static int take_fault(struct run *run, uint32_t number, enum json_text_fault fault, bool locked)
{
    if (!locked)
        pthread_mutex_lock(&run->mutex);
    insert_fault(run->stream, (struct corpus_fault){number, fault});
    run->ended |= run->stream->strict;
    if (!locked)
        pthread_mutex_unlock(&run->mutex);
    return 0;
}

static int write_ids(struct worker *worker)
{
    struct corpus_stream *stream = worker->run->stream;
    if (worker->n_ids == 0)
        return 0;
    uint64_t begin = scratch_file_reserve(&stream->ids, worker->ids_bytes);
    int r = scratch_file_write(&stream->ids, begin, worker->ids, worker->ids_bytes);
    for (size_t i = 0; i < worker->n_ids; i++)
        stream->marks[worker->id_lines[i].number] |= (begin + worker->id_lines[i].at + 1)
                                                     << KIND_BITS;
    worker->n_ids = worker->ids_bytes = 0;
    return r;
}

static int take_id(struct worker *worker, uint32_t number, const struct json_text *text)
{
    const uint32_t n_bytes = (uint32_t)text->id_bytes;
    const size_t at = worker->ids_bytes, until = at + sizeof(n_bytes) + n_bytes;
    if (n_bytes == 0)
        return 0;
    if (!MAKE_ROOM(worker->ids, worker->ids_room, until))
        return -ENOMEM;
    memcpy(worker->ids + at, &n_bytes, sizeof(n_bytes));
    memcpy(worker->ids + at + sizeof(n_bytes), text->id, n_bytes);
    worker->id_lines[worker->n_ids++] = (struct taken_line){.at = at, .number = number};
    worker->ids_bytes = until;
    return worker->n_ids == LINES_AT_ONCE || until > BYTES_AT_ONCE ? write_ids(worker) : 0;
}

static bool is_blank(const uint8_t *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (bytes[i] != ' ' && bytes[i] != '\t' && bytes[i] != '\r' && bytes[i] != '\n')
            return false;
    return true;
}

static int take_line(struct worker *worker, const uint8_t *bytes, size_t n_bytes, uint32_t number,
                     bool locked)
{
    struct corpus_stream *stream = worker->run->stream;
    struct json_text text;
    struct document_sketch sketch;
    if (n_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        bytes += 3;
        n_bytes -= 3;
    }
    if (is_blank(bytes, n_bytes))
        return 0;
    int fault = json_text_read(worker->json, bytes, n_bytes, &text);
    if (fault < 0)
        return fault;
    stream->marks[number] = 1 + (uint64_t)fault;
    int r = take_id(worker, number, &text);
    if (r < 0 || fault != JSON_TEXT_GOOD)
        return r < 0 ? r : take_fault(worker->run, number, (enum json_text_fault)fault, locked);
    document_sketcher_begin(worker->sketcher);
    document_sketcher_feed(worker->sketcher, text.text, text.text_bytes);
    document_sketcher_finish(worker->sketcher, &sketch);
    return batch_writer_add(worker->writer, number, &sketch);
}

static int copy_line(struct worker *worker, const struct file_line *line, uint32_t number)
{
    if (!MAKE_ROOM(worker->bytes, worker->room,
                   worker->n_bytes + line->n_bytes + JSON_TEXT_PADDING))
        return -ENOMEM;
    memcpy(worker->bytes + worker->n_bytes, line->bytes, line->n_bytes);
    worker->lines[worker->n_lines++] = (struct taken_line){worker->n_bytes, line->n_bytes, number};
    worker->n_bytes += line->n_bytes;
    return 0;
}

/* The next lines of all, of which the long ones are done with already. */
static int take_some(struct worker *worker)
{
    struct run *run = worker->run;
    struct file_line line;
    uint32_t number;
    LOCKED(&run->mutex);
    worker->n_lines = worker->n_bytes = 0;
    while (!run->ended && worker->n_lines < LINES_AT_ONCE && worker->n_bytes < BYTES_AT_ONCE) {
        int r = corpus_walk_next(run->walk, &line, &number, run->ret_error);
        if (r <= 0) {
            run->ended = true;
            return r;
        }
        run->stream->n_bytes += line.n_bytes;
        if (!line.begins)
            continue; /* of one that is too long */
        if (!line.ends) {
            run->stream->marks[number] = 1 + (uint64_t)JSON_TEXT_TOO_LONG;
            r = take_fault(run, number, JSON_TEXT_TOO_LONG, true);
        } else if (line.n_bytes >= LONG_BYTES) {
            r = take_line(worker, line.bytes, line.n_bytes, number, true);
            json_text_forget(worker->json);
        } else {
            r = copy_line(worker, &line, number);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

static int worker_init(struct worker *worker, struct run *run)
{
    struct corpus_stream *stream = run->stream;
    worker->run = run;
    worker->json = json_text_reader_new(stream->text_field, stream->id_field);
    if (!worker->json)
        return -ENOMEM;
    int r = document_sketcher_new(stream->policy, run->hash, &worker->sketcher);
    return r < 0 ? r : batch_writer_new(stream->batch, &worker->writer);
}

static int sketch_lines(void *user, unsigned thread, const bool *stop)
{
    struct run *run = user;
    struct corpus_stream *stream = run->stream;
    _cleanup_free_ struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return -ENOMEM;
    int r = worker_init(worker, run);
    while (r == 0 && !parallel_stopped(stop)) {
        r = take_some(worker);
        if (r < 0 || worker->n_lines == 0)
            break;
        for (size_t i = 0; r == 0 && i < worker->n_lines; i++) {
            const struct taken_line *line = &worker->lines[i];
            r = take_line(worker, worker->bytes + line->at, line->n_bytes, line->number, false);
        }
        if (thread == 0)
            progress_update(stream->progress, worker->lines[worker->n_lines - 1].number + 1u,
                            stream->corpus->n_lines, false);
    }
    if (r == 0)
        r = write_ids(worker);
    if (r == 0)
        r = batch_writer_flush(worker->writer);
    worker_done(worker);
    return r;
}

static int map_ids(struct corpus_stream *stream)
{
    if (stream->ids.size_bytes == 0)
        return 0;
    void *mapped = mmap(NULL, stream->ids.size_bytes, PROT_READ, MAP_SHARED, stream->ids.fd, 0);
    if (mapped == MAP_FAILED)
        return -errno;
    stream->ids_mapped = mapped;
    return 0;
}

int corpus_stream_run(struct corpus_stream *stream, char **ret_error)
{
    const struct corpus *corpus = stream->corpus;
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    _cleanup_(corpus_walk_free_p) struct corpus_walk *walk =
        corpus_walk_new(corpus, LONGEST_BYTES, JSON_TEXT_PADDING);
    stream->marks = large_array_new(((size_t)corpus->n_lines + 1) * sizeof(*stream->marks));
    if (!walk || !stream->marks)
        return -ENOMEM;
    int r = scratch_file_open(corpus->scratch, &stream->ids);
    if (r == 0)
        r = shingle_hash_new(stream->policy, &hash);
    if (r < 0)
        return r;
    struct run run = {.stream = stream,
                      .hash = hash,
                      .mutex = PTHREAD_MUTEX_INITIALIZER,
                      .walk = walk,
                      .ret_error = ret_error};
    int64_t begin_us = clock_now_us();
    r = parallel_run(batch_n_writers(stream->batch), sketch_lines, &run, &stream->cpu_s);
    stream->wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    progress_done(stream->progress);
    pthread_mutex_destroy(&run.mutex);
    if (r == 0 && stream->strict && stream->n_faults)
        r = -EBADMSG;
    return r < 0 ? r : map_ids(stream);
}

void corpus_stream_done(struct corpus_stream *stream)
{
    large_array_free(stream->marks, ((size_t)stream->corpus->n_lines + 1) * sizeof(*stream->marks));
    if (stream->ids_mapped)
        munmap((void *)(uintptr_t)stream->ids_mapped, stream->ids.size_bytes);
    scratch_file_done(&stream->ids);
}

struct corpus_line corpus_stream_line(const struct corpus_stream *stream, uint32_t number)
{
    const uint64_t mark = stream->marks[number], place = mark >> KIND_BITS;
    const unsigned kind = mark & ((1 << KIND_BITS) - 1);
    struct corpus_line line = {.blank = kind == 0};
    if (kind > 0)
        line.fault = (enum json_text_fault)(kind - 1);
    if (place > 0) {
        const char *id = stream->ids_mapped + place - 1;
        memcpy(&line.id_bytes, id, sizeof(line.id_bytes));
        line.id = id + sizeof(line.id_bytes);
    }
    return line;
}
