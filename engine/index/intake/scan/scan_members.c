#include "engine/index/intake/scan/scan_members.h"

#include <errno.h>
#include <stdbool.h>
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

static int rebuild(struct scan_members *members, size_t n_slots, bool waiting_alone)
{
    struct scan_members rebuilt = {calloc(n_slots, sizeof(*rebuilt.slots)), n_slots, 0};
    if (!rebuilt.slots)
        return -ENOMEM;
    for (size_t i = 0; i < members->n_slots; i++) {
        const uint64_t slot = members->slots[i];
        if (!slot || ((slot & STATE) != SCAN_WAITS && waiting_alone))
            continue;
        *slot_of(&rebuilt, slot & ~(uint64_t)STATE) = slot;
        rebuilt.n++;
    }
    free(members->slots);
    *members = rebuilt;
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
        int r = rebuild(members, members->n_slots ? 2 * members->n_slots : FIRST_SLOTS, false);
        if (r < 0)
            return r;
    }
    uint64_t *slot = slot_of(members, number);
    members->n += !*slot;
    *slot = number | state;
    return 0;
}

int scan_members_forget_taken(struct scan_members *members)
{
    return members->n ? rebuild(members, members->n_slots, true) : 0;
}
