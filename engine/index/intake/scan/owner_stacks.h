/* Keys of directories that wait to be compared with the catalogue, by their owners, so that
 * nobody's keep another's waiting.
 *
 * No locks: the caller's lock guards them. {0} are empty ones. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SCAN_OWNER_STACKS_H
#define KINFS_ENGINE_INDEX_INTAKE_SCAN_OWNER_STACKS_H

#include <sys/types.h>

#include "engine/index/intake/scan/key_stack.h"

struct owner_stacks {
    struct owner_stack {
        uid_t owner;
        struct key_stack keys; /* not empty */
    } * stacks;
    size_t n_stacks, max_stacks, turn; /* turn: of the stacks, who is asked first next time */
};

static inline bool owner_stacks_are_empty(const struct owner_stacks *stacks)
{
    return stacks->n_stacks == 0;
}

/* False: there is no memory, and nothing has changed. Where there are 1,024 owners, directories of
 * one more are among root's. */
bool owner_stacks_push(struct owner_stacks *stacks, uid_t owner, const struct file_key *key);

/* Bytes that wait of an owner, or among those that one more would be. */
size_t owner_stacks_bytes(const struct owner_stacks *stacks, uid_t owner);

/* Some directory is of an owner whom `may` takes. */
bool owner_stacks_any(const struct owner_stacks *stacks, bool (*may)(uid_t owner, const void *user),
                      const void *user);

/* Takes the newest of an owner whom `may` takes, in turns of these. False: there is none. */
bool owner_stacks_pop(struct owner_stacks *stacks, bool (*may)(uid_t owner, const void *user),
                      const void *user, uid_t *ret_owner, struct file_key *ret_key);

void owner_stacks_done(struct owner_stacks *stacks);

#endif
