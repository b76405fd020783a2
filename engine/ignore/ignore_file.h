/* The file of a directory that says what is left out of it, and the rules that hold everywhere. */
#ifndef KINFS_ENGINE_IGNORE_IGNORE_FILE_H
#define KINFS_ENGINE_IGNORE_IGNORE_FILE_H

#include <stdint.h>
#include <sys/stat.h>

#include "engine/ignore/ignore_rules.h"

#define IGNORE_FILE ".kinfsignore"
/* The words by which people are told -EPERM. */
#define IGNORE_FILE_REFUSED                                                                        \
    "does not count: it has to be the directory owner's, readable for all, and nobody else's to "  \
    "write or to put there"

/* Ignore files count so many directories down, in paths so long. */
enum { IGNORE_DEPTH_MAX = 256, IGNORE_PATH_MAX = 4096 };

/* The ignore file is one that counts, as ignore_file_read() says. */
bool ignore_file_counts(const struct stat *file, const struct stat *directory);

/* Read that of a directory.
 *
 * dirfd      of the directory; O_PATH will do
 * ret_rules  gives; NULL: there is none, or none that counts
 *
 * It counts where it is a regular file with one name, of the directory's owner, which all may read,
 * and where nobody else may write it or into the directory: else who may do that could have
 * documents of others left out, by a file of their own or by any of others that is renamed or
 * linked, or tell by what is left out what is in that. Of a longer file the first IGNORE_BYTES_MAX
 * and IGNORE_LINES_MAX count.
 *
 * Returns 0, -EPERM (it does not count), -E2BIG (not all of it counts; gives), or an errno of
 * open(2) or read(2). Waits for the directory, not for who keeps the file locked. */
int ignore_file_read(int dirfd, struct ignore_rules **ret_rules);

/* A file of this size is left out where it is shorter than least_bytes or longer than most_bytes;
 * 0: no bound. */
static inline bool ignore_leaves_out_size(uint64_t size_bytes, uint64_t least_bytes,
                                          uint64_t most_bytes)
{
    return size_bytes < least_bytes || (most_bytes && size_bytes > most_bytes);
}

/* The rules of an ignore file where those of directories above hold as well. */
struct ignore_level {
    const struct ignore_level *above; /* NULL: none */
    struct ignore_rules *rules;
    size_t from; /* bytes of a path that the directory takes, its slash included */
};

/* The last name of a path is left out (true) by a list of whoever asks (NULL: none), by the
 * ignore files, or by default, of which the first that says something decides. An ignore file is
 * not left out by another, so that its changes are seen. Some 10 ns a line, IGNORE_STEPS at most.
 */
bool ignore_leaves_out(const struct ignore_rules *list, const struct ignore_level *nearest,
                       const struct ignore_rules *defaults, const char *path, bool is_directory);

/* The rules of what no one takes for a document, as programs keep it beside those. Gives; NULL: no
 * memory. */
struct ignore_rules *ignore_defaults(void);

#endif
