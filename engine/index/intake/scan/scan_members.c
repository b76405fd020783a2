#include "engine/index/intake/scan/scan_members.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 256, STATE = 3 };

void scan_members_done(struct scan_members *members)
{
    free(members->slots);
    *members = (struct scan_members){0};
}

static uint64_t number_of(const struct file_key *directory)
{
    return file_key_hash(directory) & ~(uint64_t)STATE;
}

/* The slot of a number, or the empty one where it belongs. */
static uint64_t *slot_of(const struct scan_members *members, uint64_t number)
{
    size_t i = (size_t)(number >> 2) & (members->n_slots - 1);
    while (members->slots[i] && (members->slots[i] & ~(uint64_t)STATE) != number)
        i = (i + 1) & (members->n_slots - 1);
    return &members->slots[i];
}

static int grow(struct scan_members *members)
{
    struct scan_members larger = {.n_slots = members->n_slots ? 2 * members->n_slots : FIRST_SLOTS,
                                  .n = members->n};
    larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
    if (!larger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < members->n_slots; i++)
        if (members->slots[i])
            *slot_of(&larger, members->slots[i] & ~(uint64_t)STATE) = members->slots[i];
    free(members->slots);
    *members = larger;
    return 0;
}

enum scan_member scan_members_get(const struct scan_members *members,
                                  const struct file_key *directory)
{
    return members->n_slots ? *slot_of(members, number_of(directory)) & STATE : SCAN_NO_MEMBER;
}

int scan_members_set(struct scan_members *members, const struct file_key *directory,
                     enum scan_member state)
{
    const uint64_t number = number_of(directory);
    if (4 * members->n >= 3 * members->n_slots && !scan_members_get(members, directory)) {
        int r = grow(members);
        if (r < 0)
            return r;
    }
    uint64_t *slot = slot_of(members, number);
    members->n += !*slot;
    *slot = number | state;
    return 0;
}
