#include "tools/documents/corpus.h"

#include <errno.h>
#include <string.h>

#include "tools/documents/regular_file.h"
#include "tools/questions/patience.h"
#include "tools/show/message.h"

enum { SPOOL_BYTES = 1 << 20, COUNTED_PART_BYTES = 1 << 20 };

static bool is_input(const struct corpus_file *file)
{
    return strcmp(file->name, "-") == 0;
}

static bool is_as_found(const struct stat *now, const struct stat *found)
{
    return now->st_dev == found->st_dev && now->st_ino == found->st_ino &&
           now->st_size == found->st_size && now->st_mtim.tv_sec == found->st_mtim.tv_sec &&
           now->st_mtim.tv_nsec == found->st_mtim.tv_nsec;
}

static int explain(const struct corpus_file *file, int error, char **ret_error)
{
    switch (error) {
    case -EINVAL:
        return refuse(ret_error, error,
                      "%s: not a regular file, and it is read more than once; hand it over on "
                      "standard input, as '-'",
                      file->name);
    case -EBADMSG:
        return refuse(ret_error, error,
                      "%s: damaged, or not all of it is there: it cannot be unpacked to its end",
                      file->name);
    case -EFBIG:
        return refuse(ret_error, error,
                      "%s: unpacking it takes more than 128 MiB of memory; unpack it, and hand it "
                      "over on standard input, as '-'",
                      file->name);
    case -ESTALE:
        return refuse(ret_error, error, "%s: changed while it was read; start again", file->name);
    case -EOVERFLOW:
        return refuse(ret_error, error, "%s: more than 4,294,967,294 lines", file->name);
    default: return refuse(ret_error, error, "%s: %s", file->name, error_text(error));
    }
}

/* -- the walk -- */

struct corpus_walk {
    const struct corpus *corpus;
    struct file_lines *reader;
    size_t file;      /* the one that is read */
    int fd;           /* of it; -1: it is not begun */
    uint32_t n_lines; /* of it, that have ended */
    bool counts;      /* how many there are is not known */
};

static struct corpus_walk *walk_new(const struct corpus *corpus, size_t most_bytes, size_t padding,
                                    bool counts)
{
    _cleanup_(corpus_walk_free_p) struct corpus_walk *walk = calloc(1, sizeof(*walk));
    if (!walk)
        return NULL;
    *walk = (struct corpus_walk){.corpus = corpus, .fd = -1, .counts = counts};
    walk->reader = file_lines_new(most_bytes, padding);
    return walk->reader ? TAKE_PTR(walk) : NULL;
}

struct corpus_walk *corpus_walk_new(const struct corpus *corpus, size_t most_bytes, size_t padding)
{
    return walk_new(corpus, most_bytes, padding, false);
}

void corpus_walk_free(struct corpus_walk *walk)
{
    if (!walk)
        return;
    close_p(&walk->fd);
    file_lines_free(walk->reader);
    free(walk);
}

static int begin_file(struct corpus_walk *walk)
{
    struct corpus_file *file = &walk->corpus->files[walk->file];
    struct stat now;
    walk->n_lines = 0;
    if (is_input(file)) {
        walk->fd = dup(walk->corpus->input.fd);
    } else {
        if (walk->counts)
            patience_look(file->name);
        walk->fd = regular_file_open(file->name);
    }
    if (walk->fd < 0)
        return is_input(file) ? -errno : walk->fd;
    if (fstat(walk->fd, &now) < 0)
        return -errno;
    if (walk->counts)
        file->found = now;
    else if (!is_as_found(&now, &file->found))
        return -ESTALE;
    return file_lines_begin(walk->reader, walk->fd, walk->corpus->is_zstd);
}

static void end_file(struct corpus_walk *walk)
{
    close_p(&walk->fd);
    walk->fd = -1;
    walk->file++;
}

int corpus_walk_next(struct corpus_walk *walk, struct file_line *ret_line, uint32_t *ret_number,
                     char **ret_error)
{
    const struct corpus *corpus = walk->corpus;
    while (walk->file < corpus->n_files) {
        const struct corpus_file *file = &corpus->files[walk->file];
        int r = walk->fd < 0 ? begin_file(walk) : 0;
        if (r == 0)
            r = file_lines_next(walk->reader, ret_line);
        /* A file can have been written without another size or time. */
        if (r > 0 && !walk->counts && walk->n_lines == file->n_lines)
            r = -ESTALE;
        if (r == 0 && !walk->counts && walk->n_lines < file->n_lines)
            r = -ESTALE;
        if (r < 0)
            return explain(file, r, ret_error);
        if (r == 0) {
            end_file(walk);
            continue;
        }
        *ret_number = file->first + walk->n_lines;
        walk->n_lines += ret_line->ends;
        return 1;
    }
    return 0;
}

/* -- counting -- */

static int spool(struct corpus *corpus, char **ret_error)
{
    _cleanup_free_ char *bytes = malloc(SPOOL_BYTES);
    if (!bytes)
        return -ENOMEM;
    int r = scratch_file_open(corpus->scratch, &corpus->input);
    while (r == 0) {
        ssize_t n = read(STDIN_FILENO, bytes, SPOOL_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return refuse(ret_error, -errno, "standard input: %s", strerror(errno));
        if (n == 0)
            break;
        uint64_t at = scratch_file_reserve(&corpus->input, (size_t)n);
        r = scratch_file_write(&corpus->input, at, bytes, (size_t)n);
    }
    return r;
}

int corpus_count(struct corpus *corpus, char **ret_error)
{
    uint64_t n_lines = corpus->n_lines;
    uint32_t number;
    struct file_line line;
    int r = 0;
    for (size_t i = 0; r == 0 && i < corpus->n_files; i++)
        r = is_input(&corpus->files[i]) ? spool(corpus, ret_error) : 0;
    if (r < 0)
        return r;
    _cleanup_(corpus_walk_free_p) struct corpus_walk *walk =
        walk_new(corpus, COUNTED_PART_BYTES, 0, true);
    if (!walk)
        return -ENOMEM;
    while ((r = corpus_walk_next(walk, &line, &number, ret_error)) > 0) {
        n_lines += line.ends;
        if (n_lines >= UINT32_MAX - 1)
            return explain(&corpus->files[walk->file], -EOVERFLOW, ret_error);
        corpus->files[walk->file].n_lines += line.ends;
    }
    for (size_t i = 0; i < corpus->n_files; i++) {
        corpus->files[i].first = corpus->n_lines;
        corpus->n_lines += corpus->files[i].n_lines;
    }
    return r;
}

void corpus_done(struct corpus *corpus)
{
    scratch_file_done(&corpus->input);
}

const struct corpus_file *corpus_file_of(const struct corpus *corpus, uint32_t number)
{
    size_t low = 0, high = corpus->n_files - 1;
    while (low < high) { /* the last that begins at or before the line; empty ones come before it */
        size_t middle = low + (high - low + 1) / 2;
        if (corpus->files[middle].first <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return &corpus->files[low];
}
