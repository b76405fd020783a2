/* Files and directories that are opened by their keys where others wait, too.
 *
 * The kernel looks for the name of a directory that it has forgotten in the one above, which its
 * user may keep locked for ever. So it is opened by its path, as far as the kernel knows that; else
 * by another thread (base/looks.h), which is not waited for long.
 *
 * A file that has lost its last name has the file system free what it has, which takes seconds for
 * some thousand pieces. The kernel has whoever opens it by then wait, and whoever closes it last
 * free it. So another thread opens it, which costs 5 us, and closes it. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_OPEN_SOON_H
#define KINFS_ENGINE_INDEX_INTAKE_OPEN_SOON_H

#include <sys/types.h>

#include "base/looks.h"

struct file_key;
struct index;

/* A descriptor with O_PATH.
 *
 * owner  of what is looked at, who has a share of the threads
 *
 * Any thread. Returns the descriptor the caller closes, -EAGAIN where that takes long, or an error
 * as open_key(). */
int open_soon(struct index *index, struct looking *looking, uid_t owner,
              const struct file_key *directory);

/* The same of a file by a path of it, which is for file systems without handles; a tenth of a
 * second is waited for the names that the kernel does not know. Any thread. */
int open_file_soon(struct index *index, const struct file_key *file, const char *path);

/* A file that is to be read, by its key, which a tenth of a second is waited for.
 *
 * Any thread. Returns the descriptor the caller closes, -EINPROGRESS where that takes longer, or an
 * error as backing_open_key(). */
int open_to_read_soon(struct index *index, uid_t owner, const struct file_key *file);

/* -- files of all owners, for who answers -- */

/* A file that one is told something of, or nothing: by its key, without its times being changed.
 *
 * question  its time to wait, of which each file has a second at most, and a twentieth where none
 * is left; NULL: each has a tenth flags     O_PATH | O_CLOEXEC, or OPEN_TO_READ
 *
 * Any thread. Returns the descriptor, for close_soon(); -EAGAIN where it takes longer, or its owner
 * has too many that do: nothing is known of the file; -EOPNOTSUPP without handles, or an error as
 * backing_open_key(). */
int open_key_soon(struct index *index, struct looking *question, const struct file_key *file,
                  int flags);

/* The same; without handles it is open_key(). */
int open_document_soon(struct index *index, struct looking *question, const struct file_key *file,
                       int flags);

/* Closes at once what has a name, negative: nothing. Any thread; a microsecond. */
void close_soon(struct index *index, int fd);

/* For _cleanup_(opened_close). */
struct opened {
    struct index *index;
    int fd;
};
void opened_close(struct opened *opened);

/* -- the committer's, which waits a quarter of the time at most -- */

int open_soon_committing(struct index *index, const struct file_key *directory);

/* As looks_do(), for a directory that is opened by its key. It is the look of whose the deepest
 * directory is that the kernel knows on the way there: it is kept waiting by the lock of that. */
int look_soon_committing(struct index *index, const struct file_key *directory, struct look *look);

#endif
