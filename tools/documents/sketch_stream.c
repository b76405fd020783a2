#include "tools/documents/sketch_stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/cluster/large/parallel.h"
#include "engine/index/extract/sketching.h"
#include "tools/show/message.h"
#include "tools/documents/regular_file.h"

enum { DOCUMENTS_AT_ONCE = 16 };

struct run {
    struct sketch_stream *stream;
    const struct shingle_hash *hash;
    uint32_t next; /* DOCUMENTS_AT_ONCE documents, by atomic operations */
};

struct worker {
    struct sketching *sketching;
    struct batch_writer *writer;
    struct place_way way; /* to the document */
};

static void worker_done(struct worker *worker)
{
    sketching_free(worker->sketching);
    batch_writer_free(worker->writer);
    place_way_done(&worker->way);
}

static bool never(void *user)
{
    (void)user;
    return false;
}

/* Returns 0, or an errno of what cannot be read, with the reason; -ENOMEM says
 * nothing of the document. */
static int sketch_file(struct worker *worker, const struct document_list *list, uint32_t i,
                       struct document_sketch *ret_sketch, char reason[SKETCHING_REASON_BYTES])
{
    _cleanup_close_ int fd = regular_file_open_found(list, i, &worker->way);
    int r = fd < 0 ? fd : sketching_run_whole(worker->sketching, fd, ret_sketch, reason);
    if (r < 0 && r != -EBADMSG)
        snprintf(reason, SKETCHING_REASON_BYTES, "%s",
                 r == -EINVAL   ? "not a regular file"
                 : r == -ESTALE ? "replaced since it was found"
                 : r == -EXDEV  ? "another user's mount, which can show anything"
                                : strerror(-r));
    return r;
}

static int sketch_some(struct sketch_stream *stream, struct worker *worker, uint32_t first,
                       uint32_t until)
{
    uint64_t n_bytes = 0;
    int r = 0;
    for (uint32_t i = first; r == 0 && i < until; i++) {
        struct document_sketch sketch;
        char reason[SKETCHING_REASON_BYTES];
        int unread = sketch_file(worker, stream->list, i, &sketch, reason);
        if (unread == 0) {
            n_bytes += sketch.size_bytes;
            r = batch_writer_add(worker->writer, i, &sketch);
            continue;
        }
        if (unread == -ENOMEM)
            return unread;
        if (unread == -EBADMSG && sketching_is_left_out(reason))
            continue;
        _cleanup_free_ char *path = document_list_path(stream->list, i);
        if (!path)
            return -ENOMEM;
        complain("%s: %s; left out", path, reason);
        __atomic_fetch_add(&stream->n_unread, 1, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&stream->n_bytes, n_bytes, __ATOMIC_RELAXED);
    return r;
}

static int sketch_documents(void *user, unsigned thread, const bool *stop)
{
    struct run *run = user;
    struct sketch_stream *stream = run->stream;
    uint32_t n = stream->list->n;
    const struct sketching_by by = {stream->policy, run->hash, stream->extractors, true};
    _cleanup_(worker_done) struct worker worker = {0};
    int r = sketching_new(&by, never, NULL, &worker.sketching);
    if (r == 0)
        r = batch_writer_new(stream->batch, &worker.writer);
    while (r == 0 && !parallel_stopped(stop)) {
        uint64_t first = (uint64_t)DOCUMENTS_AT_ONCE * parallel_next(&run->next);
        if (first >= n)
            break;
        uint32_t until = n - first < DOCUMENTS_AT_ONCE ? n : (uint32_t)first + DOCUMENTS_AT_ONCE;
        r = sketch_some(stream, &worker, (uint32_t)first, until);
        if (thread == 0)
            progress_update(stream->progress, until, n, false);
    }
    return r < 0 ? r : batch_writer_flush(worker.writer);
}

int sketch_stream_run(struct sketch_stream *stream)
{
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    int r = shingle_hash_new(stream->policy, &hash);
    if (r < 0)
        return r;
    struct run run = {.stream = stream, .hash = hash};
    int64_t begin_us = clock_now_us();
    r = parallel_run(batch_n_writers(stream->batch), sketch_documents, &run, &stream->cpu_s);
    stream->wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    progress_done(stream->progress);
    return r;
}
