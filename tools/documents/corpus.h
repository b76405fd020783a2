/* A corpus: files of lines, JSON Lines, each line a document or none. Lines are numbered through
 * all files, from 0, blank ones, too. */
#ifndef KINFS_TOOLS_DOCUMENTS_CORPUS_H
#define KINFS_TOOLS_DOCUMENTS_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "engine/cluster/large/scratch_file.h"
#include "tools/documents/file_lines.h"

struct corpus_file {
    const char *name; /* "-": standard input */
    uint32_t first, n_lines;
    struct stat found;
};

/* Zero-initialised but for the first five; ends with corpus_done(). */
struct corpus {
    bool is_zstd;
    const char *scratch;       /* where standard input is kept, as it is read more than once */
    struct corpus_file *files; /* the caller's, with names; each a regular file, or "-" once */
    size_t n_files;
    uint32_t n_lines; /* until they are counted those before all files, which are the caller's */
    struct scratch_file input;
};

/* Count the lines of all files. Returns 0, or an error with a line in *ret_error: of a file that is
 * no regular one, cannot be read or unpacked, -EOVERFLOW past 2^32 - 2 lines, an error of the
 * scratch file (-ENOSPC ..) without a line. */
int corpus_count(struct corpus *corpus, char **ret_error);
void corpus_done(struct corpus *corpus);

/* The file that a line is in. */
const struct corpus_file *corpus_file_of(const struct corpus *corpus, uint32_t number);

/* From the first line to the last, once more. Of one thread at a time. */
struct corpus_walk;
/* As file_lines_new(). */
struct corpus_walk *corpus_walk_new(const struct corpus *corpus, size_t most_bytes, size_t padding);
void corpus_walk_free(struct corpus_walk *walk);
DEFINE_CLEANUP(struct corpus_walk *, corpus_walk_free);

/* The next line, or part of one, and its number. Returns 1, 0 at the end, or an error with a line
 * in *ret_error: as counting, and -ESTALE (a file was changed since). */
int corpus_walk_next(struct corpus_walk *walk, struct file_line *ret_line, uint32_t *ret_number,
                     char **ret_error);

#endif
