#include "tools/sketch_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fd_read.h"
#include "engine/cluster/parallel.h"
#include "tools/message.h"

enum { READ_BYTES = 256 << 10, AT_ONCE = 16 };

struct run {
    struct sketch_stream *stream;
    const struct shingle_hash *hash;
    uint32_t next; /* AT_ONCE documents, by atomic operations */
};

struct worker {
    struct document_sketcher *sketcher;
    struct batch_writer *writer;
    uint8_t *buffer;
};

static void worker_done(struct worker *worker)
{
    document_sketcher_free(worker->sketcher);
    batch_writer_free(worker->writer);
    free(worker->buffer);
}

/* A regular file, and nothing else: to open a device can do something already. Returns a descriptor
 * or an errno. */
static int open_document(const char *path)
{
    char link[32];
    struct stat st;
    _cleanup_close_ int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0 || fstat(place, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
    int fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

/* Returns 0 or an errno of what cannot be read. */
static int sketch_file(struct worker *worker, const char *path, struct document_sketch *ret_sketch,
                       uint64_t *n_bytes)
{
    _cleanup_close_ int fd = open_document(path);
    if (fd < 0)
        return fd;
    document_sketcher_begin(worker->sketcher);
    for (;;) {
        ssize_t n = fd_read(fd, worker->buffer, READ_BYTES);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        document_sketcher_feed(worker->sketcher, worker->buffer, (size_t)n);
        *n_bytes += (uint64_t)n;
    }
    document_sketcher_finish(worker->sketcher, ret_sketch);
    return 0;
}

static int sketch_some(struct sketch_stream *stream, struct worker *worker, uint32_t first,
                       uint32_t until)
{
    uint64_t n_bytes = 0;
    int r = 0;
    for (uint32_t i = first; r == 0 && i < until; i++) {
        struct document_sketch sketch;
        const char *path = stream->list->paths[i];
        int unread = sketch_file(worker, path, &sketch, &n_bytes);
        if (unread == 0) {
            r = batch_writer_add(worker->writer, i, &sketch);
            continue;
        }
        complain("%s: %s; left out", path,
                 unread == -EINVAL ? "not a regular file" : strerror(-unread));
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
    _cleanup_(worker_done) struct worker worker = {.buffer = malloc(READ_BYTES)};
    int r = worker.buffer ? 0 : -ENOMEM;
    if (r == 0)
        r = document_sketcher_new(stream->policy, run->hash, &worker.sketcher);
    if (r == 0)
        r = batch_writer_new(stream->batch, &worker.writer);
    while (r == 0 && !parallel_stopped(stop)) {
        uint64_t first = (uint64_t)AT_ONCE * parallel_next(&run->next);
        if (first >= n)
            break;
        uint32_t until = n - first < AT_ONCE ? n : (uint32_t)first + AT_ONCE;
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
