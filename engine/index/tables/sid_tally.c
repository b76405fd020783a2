#include "engine/index/tables/sid_tally.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 256 };

void sid_tally_done(struct sid_tally *tally)
{
    free(tally->slots);
    *tally = (struct sid_tally){0};
}

static size_t slot_of(const struct sid_tally *tally, uint64_t sid)
{
    size_t i = (size_t)((sid * 0x9e3779b97f4a7c15u) >> 20) & (tally->n_slots - 1);
    while (tally->slots[i].sid && tally->slots[i].sid != sid)
        i = (i + 1) & (tally->n_slots - 1);
    return i;
}

static int grow(struct sid_tally *tally)
{
    struct sid_tally larger = {.n_slots = tally->n_slots ? 2 * tally->n_slots : FIRST_SLOTS,
                               .n_sids = tally->n_sids};
    larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
    if (!larger.slots)
        return -1;
    for (size_t i = 0; i < tally->n_slots; i++)
        if (tally->slots[i].sid)
            larger.slots[slot_of(&larger, tally->slots[i].sid)] = tally->slots[i];
    free(tally->slots);
    *tally = larger;
    return 0;
}

uint32_t *sid_tally_of(struct sid_tally *tally, uint64_t sid)
{
    if (2 * tally->n_sids >= tally->n_slots && grow(tally) < 0)
        return NULL;
    const size_t at = slot_of(tally, sid);
    tally->n_sids += !tally->slots[at].sid;
    tally->slots[at].sid = sid;
    return &tally->slots[at].n;
}

const uint32_t *sid_tally_find(const struct sid_tally *tally, uint64_t sid)
{
    if (!tally->n_slots)
        return NULL;
    const size_t at = slot_of(tally, sid);
    return tally->slots[at].sid ? &tally->slots[at].n : NULL;
}
