/* The state of a file that a plan, or a list of what is undone, has of it: whether it is still the
 * one that was meant. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TIDY_STATE_H
#define KINFS_TOOLS_COMMANDS_TIDY_TIDY_STATE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct tidy_state {
    uint64_t inode, size_bytes, n_links;
    struct timespec mtime, ctime;
    mode_t mode; /* without the type */
    uid_t uid;
    gid_t gid;
};

struct tidy_state tidy_state_of(const struct stat *st);

/* Nothing was done to it: each change of a file, of its attributes or names, gives it another
 * ctime. */
bool tidy_state_is_same(const struct tidy_state *a, const struct tidy_state *b);

/* One file with one content: it may have been given other names, or another mode. */
bool tidy_state_has_same_content(const struct tidy_state *a, const struct tidy_state *b);

/* Add one to an object. Returns 0 or -ENOMEM. */
int tidy_state_add(struct json_object *object, const char *name, const struct tidy_state *state);
/* Returns 0, or -EINVAL where there is none. */
int tidy_state_get(struct json_object *object, const char *name, struct tidy_state *ret_state);

#endif
