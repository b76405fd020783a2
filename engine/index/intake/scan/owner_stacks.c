#include "engine/index/intake/scan/owner_stacks.h"

enum { MAX_OWNERS = 1024 }; /* a microsecond to look through */

static struct owner_stack *find(const struct owner_stacks *stacks, uid_t owner)
{
    for (size_t i = stacks->n_stacks; i-- > 0;)
        if (stacks->stacks[i].owner == owner)
            return &stacks->stacks[i];
    return NULL;
}

bool owner_stacks_push(struct owner_stacks *stacks, uid_t owner, const struct file_key *key)
{
    struct owner_stack *stack = find(stacks, owner);
    if (!stack && stacks->n_stacks >= MAX_OWNERS && owner != 0)
        return owner_stacks_push(stacks, 0, key);
    if (stack)
        return key_stack_push(&stack->keys, key);
    if (!MAKE_ROOM(stacks->stacks, stacks->max_stacks, stacks->n_stacks + 1))
        return false;
    struct owner_stack new_stack = {.owner = owner};
    if (!key_stack_push(&new_stack.keys, key))
        return false;
    stacks->stacks[stacks->n_stacks++] = new_stack;
    return true;
}

size_t owner_stacks_bytes(const struct owner_stacks *stacks, uid_t owner)
{
    const struct owner_stack *stack = find(stacks, owner);
    if (!stack && stacks->n_stacks >= MAX_OWNERS)
        stack = find(stacks, 0);
    return stack ? stack->keys.n_bytes : 0;
}

bool owner_stacks_any(const struct owner_stacks *stacks, bool (*may)(uid_t owner, const void *user),
                      const void *user)
{
    for (size_t i = 0; i < stacks->n_stacks; i++)
        if (may(stacks->stacks[i].owner, user))
            return true;
    return false;
}

static void remove_stack(struct owner_stacks *stacks, size_t at)
{
    key_stack_done(&stacks->stacks[at].keys);
    stacks->n_stacks--;
    memmove(&stacks->stacks[at], &stacks->stacks[at + 1],
            (stacks->n_stacks - at) * sizeof(stacks->stacks[0]));
}

bool owner_stacks_pop(struct owner_stacks *stacks, bool (*may)(uid_t owner, const void *user),
                      const void *user, uid_t *ret_owner, struct file_key *ret_key)
{
    for (size_t i = 0; i < stacks->n_stacks; i++) {
        const size_t at = (stacks->turn + i) % stacks->n_stacks;
        struct owner_stack *stack = &stacks->stacks[at];
        if (!may(stack->owner, user))
            continue;
        *ret_owner = stack->owner;
        *ret_key = key_stack_pop(&stack->keys);
        stacks->turn = at + 1;
        if (key_stack_is_empty(&stack->keys)) {
            remove_stack(stacks, at);
            stacks->turn = at;
        }
        return true;
    }
    return false;
}

void owner_stacks_done(struct owner_stacks *stacks)
{
    for (size_t i = 0; i < stacks->n_stacks; i++)
        key_stack_done(&stacks->stacks[i].keys);
    free(stacks->stacks);
    *stacks = (struct owner_stacks){0};
}
