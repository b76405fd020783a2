/* Paths as warnings have them, as long as the log has room for any (messages_are_full()). */
#ifndef KINFS_ENGINE_INDEX_INTAKE_TOLD_PATH_H
#define KINFS_ENGINE_INDEX_INTAKE_TOLD_PATH_H

struct file_key;
struct index;

/* A path of a file or directory for a warning, escaped (escape_name()), "" for the root; NULL where
 * it has none, none can be told, or the log has had its warnings of the hour
 * (messages_are_full()), of which one that has none is one. Gives. Any thread, under no
 * lock: it reads rows of the store, as many as catalogue_path(). */
char *told_path(struct index *index, const struct file_key *key);
/* The same of a name in a directory. */
char *told_path_below(struct index *index, const struct file_key *directory, const char *name);

#endif
