/* Files of the tree, opened by their keys. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_OPEN_KEY_H
#define KINFS_ENGINE_INDEX_INTAKE_OPEN_KEY_H

#include <fcntl.h>

struct file_key;
struct index;

/* How a document is opened to be read. */
enum { OPEN_TO_READ = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };

/* A descriptor of a document or directory, by its key or, without handles, by a path of it, which
 * takes rows of the catalogue. Any thread, under no lock. For a directory (O_DIRECTORY) that may
 * wait as long as somebody keeps one locked; for a document without handles it is -ETIMEDOUT then.
 * Returns the descriptor, -ESTALE or -ENOENT where it is no more, or another errno of opening it.
 */
int open_key(struct index *index, const struct file_key *key, int flags);
/* To read a document; that leaves the access time alone where the kernel lets us. */
int open_key_to_read(struct index *index, const struct file_key *key);

#endif
