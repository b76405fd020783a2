/* Keys of directories that wait for the committer, the newest on top. As many may wait as a user
 * can make directories, so each takes the bytes it has, some 21, and not those of the longest.
 *
 * No locks: the caller's lock guards a stack. {0} is an empty one. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SCAN_KEY_STACK_H
#define KINFS_ENGINE_INDEX_INTAKE_SCAN_KEY_STACK_H

#include "base/files/file_key.h"
#include "base/room.h"

struct key_stack {
    uint8_t *bytes; /* of each key, from the lowest: its bytes, and their number behind them */
    size_t n_bytes, max_bytes;
};

static inline bool key_stack_is_empty(const struct key_stack *stack)
{
    return stack->n_bytes == 0;
}

/* False: there is no memory, and nothing has changed. */
static inline bool key_stack_push(struct key_stack *stack, const struct file_key *key)
{
    if (!MAKE_ROOM(stack->bytes, stack->max_bytes, stack->n_bytes + key->size_bytes + 1))
        return false;
    memcpy(stack->bytes + stack->n_bytes, key->bytes, key->size_bytes);
    stack->n_bytes += key->size_bytes;
    stack->bytes[stack->n_bytes++] = key->size_bytes;
    return true;
}

/* The newest, which stays; not of an empty stack. */
static inline struct file_key key_stack_top(const struct key_stack *stack)
{
    struct file_key key = {.size_bytes = stack->bytes[stack->n_bytes - 1]};
    memcpy(key.bytes, stack->bytes + stack->n_bytes - 1 - key.size_bytes, key.size_bytes);
    return key;
}

static inline struct file_key key_stack_pop(struct key_stack *stack)
{
    struct file_key key = key_stack_top(stack);
    stack->n_bytes -= key.size_bytes + (size_t)1;
    return key;
}

static inline void key_stack_done(struct key_stack *stack)
{
    free(stack->bytes);
    *stack = (struct key_stack){0};
}

#endif
