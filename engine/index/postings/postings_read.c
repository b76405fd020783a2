/* Reading postings: notes in memory over what the store has. */
#include "engine/index/postings/postings_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/postings/noted_postings.h"
#include "engine/index/tables/sid.h"
#include "engine/index/tables/number_vector.h"

enum {
    RANGES_AT_ONCE = 256,
    /* Entries of a list at first: most lists end within a piece, and one more tells that this one
     * does not. */
    FIRST_LIMIT = POSTINGS_PIECE + 1,
    NEXT_LIMIT = 4096,
};

void sid_list_done(struct sid_list *list)
{
    free(list->sids);
    *list = (struct sid_list){0};
}

/* The notes of the deltas are collected, the live one's before the frozen one's. Must come before
 * the store is read: a posting may move from the deltas into the store in between, not back. */
static int collect_notes(struct postings *postings, enum postings_tier tier, const uint64_t *keys,
                         size_t n_keys, size_t most, struct noted_postings *noted)
{
    int r = noted_postings_init(noted, n_keys);

    pthread_rwlock_rdlock(&postings->lock);
    const struct postings_delta *deltas[] = {postings->live.tiers[tier],
                                             postings->frozen.tiers[tier]};
    for (size_t i = 0; i < n_keys && r == 0; i++)
        r = noted_postings_collect(noted, keys[i], deltas, 2, most);
    pthread_rwlock_unlock(&postings->lock);
    return r;
}

/* The part of a list that is still to be read. */
struct pending {
    size_t list;
    uint8_t from[POSTING_KEY_BYTES], to[8];
    bool to_end, left_out;
};

static int take_page(const struct kv_page *page, const struct noted_postings *noted,
                     struct pending *pending, struct number_vector *found)
{
    uint64_t sid = 0;

    for (size_t i = 0; i < page->n_entries; i++) {
        const struct kv_slice *key = &page->entries[i].key;
        if (key->size_bytes != POSTING_KEY_BYTES)
            return -EUCLEAN;
        int r = sid_decode((const uint8_t *)key->data + 8, &sid);
        if (r < 0)
            return r;
        if (noted_postings_hide(noted, pending->list, sid))
            continue;
        r = number_vector_push_set(found, sid);
        if (r < 0)
            return r;
    }
    if (page->n_entries > 0)
        put_be64(pending->from + 8, sid + 1);
    return 0;
}

/* The state of a reading of some lists. */
struct reading {
    const struct noted_postings *noted;
    struct number_vector found;
    size_t most; /* of a list, else it is left out; 0: any number */
    size_t *lengths;
};

static bool is_left_out(const struct reading *reading, size_t list, const struct kv_page *page)
{
    size_t n_noted = noted_postings_count(reading->noted, list);
    return reading->most && (page->more || n_noted + page->n_entries > reading->most);
}

/* The first piece of a list comes with its notes. */
static int take_piece(struct reading *reading, const struct kv_page *page, bool first,
                      struct pending *pending)
{
    size_t list = pending->list;
    int r = 0;

    if (is_left_out(reading, list, page)) {
        pending->left_out = true;
        if (reading->lengths)
            reading->lengths[list] += reading->most + 1;
        return 0;
    }
    if (reading->lengths)
        reading->lengths[list] += page->n_entries;
    if (first)
        r = noted_postings_take_added(reading->noted, list, &reading->found);
    return r < 0 ? r : take_page(page, reading->noted, pending, &reading->found);
}

/* Read one page of each pending list; those that have more stay. */
static int scan_pending(struct postings *postings, unsigned table, size_t limit, bool first,
                        struct pending *pending, size_t *n_pending, struct reading *reading)
{
    struct kv_range ranges[RANGES_AT_ONCE];
    struct kv_page pages[RANGES_AT_ONCE];
    size_t n = *n_pending, n_left = 0;
    int r;

    assert(n > 0);
    ranges[0] = (struct kv_range){0}; /* for a compiler that cannot know */
    for (size_t i = 0; i < n; i++)
        ranges[i] = (struct kv_range){
            {pending[i].from, POSTING_KEY_BYTES},
            {pending[i].to_end ? NULL : pending[i].to, pending[i].to_end ? 0 : 8}};
    r = kv_multi_scan(postings->kv, table, ranges, n, limit, pages);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (r == 0)
            r = take_piece(reading, &pages[i], first, &pending[i]);
        if (r == 0 && pages[i].more && !pending[i].left_out)
            pending[n_left++] = pending[i];
        kv_page_done(&pages[i]);
    }
    *n_pending = n_left;
    return r;
}

static int scan_store(struct postings *postings, unsigned table, const uint64_t *keys,
                      size_t n_keys, const bool *may_have, struct reading *reading)
{
    struct pending pending[RANGES_AT_ONCE];

    for (size_t at = 0; at < n_keys;) {
        size_t n = 0, limit = FIRST_LIMIT;
        for (; n < RANGES_AT_ONCE && at < n_keys; at++) {
            if (!may_have[at])
                continue;
            pending[n] = (struct pending){.list = at, .to_end = keys[at] == UINT64_MAX};
            put_be64(pending[n].from, keys[at]);
            put_be64(pending[n++].to, keys[at] + 1);
        }
        while (n > 0) {
            int r =
                scan_pending(postings, table, limit, limit == FIRST_LIMIT, pending, &n, reading);
            if (r < 0)
                return r;
            limit = NEXT_LIMIT;
        }
    }
    return 0;
}

static void reading_done(struct reading *reading)
{
    number_vector_done(&reading->found);
}

/* Lists that are known to be longer than one that is left out need not be looked at. */
static void leave_out_known(struct postings *postings, enum postings_tier tier,
                            const uint64_t *fingerprints, size_t n_fingerprints, bool *may_have,
                            struct reading *reading)
{
    bool have[RANGES_AT_ONCE];

    for (size_t at = 0, n; at < n_fingerprints; at += n) {
        n = n_fingerprints - at < RANGES_AT_ONCE ? n_fingerprints - at : RANGES_AT_ONCE;
        first_postings_have(postings->first, tier, fingerprints + at, n, have);
        for (size_t i = 0; i < n; i++) {
            if (!have[i] || !may_have[at + i])
                continue;
            may_have[at + i] = false;
            if (reading->lengths)
                reading->lengths[at + i] += reading->most + 1;
        }
    }
}

/* One tier's table and notes are read. */
static int read_tier(struct postings *postings, enum postings_tier tier,
                     const uint64_t *fingerprints, size_t n_fingerprints, struct reading *reading)
{
    _cleanup_(noted_postings_done) struct noted_postings noted = {0};
    _cleanup_free_ bool *may_have = malloc(n_fingerprints * sizeof(*may_have));

    if (!may_have)
        return -ENOMEM;
    /* Before the notes: what is posted meanwhile may be in neither. */
    if (tier == POSTINGS_TIER_R && atomic_load(&postings->filter_complete))
        fingerprint_filter_ask(postings->filter, fingerprints, n_fingerprints, may_have);
    else
        memset(may_have, true, n_fingerprints * sizeof(*may_have));
    int r = collect_notes(postings, tier, fingerprints, n_fingerprints, reading->most, &noted);
    if (r < 0)
        return r;
    noted_postings_settle(&noted);
    reading->noted = &noted;
    for (size_t i = 0; reading->lengths && i < n_fingerprints; i++)
        reading->lengths[i] += noted_postings_count(&noted, i);
    if (reading->most)
        leave_out_known(postings, tier, fingerprints, n_fingerprints, may_have, reading);
    return scan_store(postings, postings->tables[tier], fingerprints, n_fingerprints, may_have,
                      reading);
}

int postings_with(struct postings *postings, enum postings_tier tier, const uint64_t *fingerprints,
                  size_t n_fingerprints, size_t most, struct sid_list *ret_list,
                  size_t *ret_lengths)
{
    _cleanup_(reading_done) struct reading reading = {.most = most, .lengths = ret_lengths};
    int r = 0;

    assert(tier < POSTINGS_N_TIERS && most < FIRST_LIMIT);
    *ret_list = (struct sid_list){0};
    if (n_fingerprints == 0)
        return 0;
    if (ret_lengths)
        memset(ret_lengths, 0, n_fingerprints * sizeof(*ret_lengths));
    for (enum postings_tier i = 0; r == 0 && i <= tier; i++)
        r = read_tier(postings, i, fingerprints, n_fingerprints, &reading);
    if (r < 0)
        return r;
    number_vector_sort_unique(&reading.found);
    *ret_list = (struct sid_list){reading.found.numbers, reading.found.n_numbers};
    reading.found = (struct number_vector){0};
    return 0;
}

/* One page of a list from a sid on, as the store has it: appended. Returns whether there is more,
 * or an error. */
static int scan_list(struct postings *postings, enum postings_tier tier, uint64_t fingerprint,
                     uint64_t from_sid, size_t limit, struct number_vector *sids)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    uint8_t from[POSTING_KEY_BYTES], to[8];
    const bool to_end = fingerprint == UINT64_MAX;
    const struct kv_range range = {{from, POSTING_KEY_BYTES}, {to_end ? NULL : to, to_end ? 0 : 8}};

    put_be64(from, fingerprint);
    put_be64(from + 8, from_sid);
    put_be64(to, fingerprint + 1);
    int r = kv_scan(postings->kv, postings->tables[tier], &range, limit, &page);
    for (size_t i = 0; r == 0 && i < page.n_entries; i++) {
        const struct kv_slice *key = &page.entries[i].key;
        uint64_t sid;
        r = key->size_bytes == POSTING_KEY_BYTES ? sid_decode((const uint8_t *)key->data + 8, &sid)
                                                 : -EUCLEAN;
        if (r == 0)
            r = number_vector_push(sids, sid);
    }
    return r < 0 ? r : page.more;
}

/* The sids that the store has of one list, and no note hides, up to `most`: ascending. */
static int read_first_stored(struct postings *postings, enum postings_tier tier,
                             uint64_t fingerprint, size_t most, const struct noted_postings *noted,
                             struct number_vector *found)
{
    _cleanup_(first_reading_done) struct first_reading reading;
    _cleanup_(number_vector_done) struct number_vector stored = {0};
    const uint64_t changes = first_postings_changes(postings->first);
    uint64_t sid;
    int r = 0;

    first_postings_read(postings->first, tier, fingerprint, &reading);
    while (r == 0 && found->n_numbers < most && first_reading_next(&reading, &sid))
        if (!noted_postings_hide(noted, 0, sid))
            r = number_vector_push(found, sid);
    bool more = !reading.ends;
    size_t limit = reading.list ? NEXT_LIMIT : FIRST_LIMIT;
    for (size_t at = 0; r == 0 && more && found->n_numbers < most; limit = NEXT_LIMIT) {
        const uint64_t from =
            stored.n_numbers ? stored.numbers[stored.n_numbers - 1] + 1 : reading.next_sid;
        r = scan_list(postings, tier, fingerprint, from, limit, &stored);
        more = r > 0;
        for (r = r < 0 ? r : 0; r == 0 && at < stored.n_numbers; at++)
            if (found->n_numbers < most && !noted_postings_hide(noted, 0, stored.numbers[at]))
                r = number_vector_push(found, stored.numbers[at]);
    }
    if (r == 0 && stored.n_numbers > 0 && most > POSTINGS_PIECE)
        first_postings_keep(postings->first, changes, tier, fingerprint, &reading, stored.numbers,
                            stored.n_numbers, !more);
    return r;
}

static int read_first(struct postings *postings, enum postings_tier tier, uint64_t fingerprint,
                      size_t most, struct number_vector *found)
{
    _cleanup_(noted_postings_done) struct noted_postings noted = {0};
    _cleanup_(number_vector_done) struct number_vector added = {0}, stored = {0};

    int r = collect_notes(postings, tier, &fingerprint, 1, 0, &noted);
    if (r < 0)
        return r;
    noted_postings_settle(&noted);
    r = noted_postings_take_added(&noted, 0, &added);
    if (r == 0)
        r = read_first_stored(postings, tier, fingerprint, most, &noted, &stored);
    if (r < 0)
        return r;
    number_vector_sort_unique(&added);
    return number_vector_merge(&stored, &added, SIZE_MAX, found);
}

int postings_first(struct postings *postings, enum postings_tier tier, uint64_t fingerprint,
                   size_t most, struct sid_list *ret_list)
{
    _cleanup_(number_vector_done) struct number_vector found = {0};

    *ret_list = (struct sid_list){0};
    int r = read_first(postings, POSTINGS_TIER_R, fingerprint, most, &found);
    if (r == 0 && tier == POSTINGS_TIER_C) {
        _cleanup_(number_vector_done) struct number_vector of_r = found, of_c = {0};
        found = (struct number_vector){0};
        r = read_first(postings, POSTINGS_TIER_C, fingerprint, most, &of_c);
        if (r == 0) /* what two lists have beyond that is not all there is between */
            r = number_vector_merge(&of_r, &of_c, most, &found);
    }
    if (r < 0)
        return r;
    *ret_list = (struct sid_list){found.numbers, found.n_numbers};
    found = (struct number_vector){0};
    return 0;
}

int postings_list(struct postings *postings, uint64_t fingerprint, struct posting_list *ret_list)
{
    struct sid_list *list = &postings->unkept;
    if (list_cache_find(postings->lists, fingerprint, ret_list))
        return 0;
    sid_list_done(list);
    int r = postings_first(postings, POSTINGS_TIER_R, fingerprint, LIST_CACHE_MOST + 1, list);
    if (r < 0)
        return r;
    const bool whole = list->n_sids <= LIST_CACHE_MOST;
    const struct posting_list read = {list->sids, whole ? list->n_sids : LIST_CACHE_MOST, whole};
    *ret_list = read;
    list_cache_put(postings->lists, fingerprint, &read, ret_list);
    return 0;
}

int postings_candidates(struct postings *postings, enum postings_tier tier,
                        const struct min_sketch *sketch, struct sid_list *ret_list)
{
    return postings_with(postings, tier, sketch->values, postings_tier_keys(tier, sketch), 0,
                         ret_list, NULL);
}
