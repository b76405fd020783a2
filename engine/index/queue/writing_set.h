/* The files that are open for writing, and how often each is. Any thread; a leaf lock held for
 * nanoseconds. */
#ifndef KINFS_ENGINE_INDEX_QUEUE_WRITING_SET_H
#define KINFS_ENGINE_INDEX_QUEUE_WRITING_SET_H

#include <stdbool.h>

#include "base/files/file_key.h"

struct writing_set;

struct writing_set *writing_set_new(void); /* NULL without memory */
void writing_set_free(struct writing_set *set);

/* Add change (positive or negative) to a file's count. Without memory an opening is not noted,
 * which costs at most a sketch of a half-written file that is then made again. Returns whether the
 * last opening ended of a file that is owed a look. */
bool writing_set_change(struct writing_set *set, const struct file_key *file, int change);
bool writing_set_has(struct writing_set *set, const struct file_key *file);

/* The file is to be looked at when its last opening ends; nothing where it is not open. */
void writing_set_owe(struct writing_set *set, const struct file_key *file);

#endif
