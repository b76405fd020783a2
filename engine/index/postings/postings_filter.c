/* The filters of tier R tell without looking into the store which fingerprints were posted, and
 * which more than once. What the store has when it is opened is taken up bit by bit. */
#include "engine/index/postings/postings_private.h"

#include <assert.h>

#include "base/bytes.h"

/* Rows of tier R that are read into the filter at each addition, until it has all: some 30 us,
 * which it then saves. So who only asks, or changes little, does not read it all at each start. */
enum { FILTERED_AT_ONCE = 512 };

/* Without memory they are no more asked. */
static void filter_add(struct postings *postings, struct fingerprint_filter *filter,
                       uint64_t fingerprint)
{
    if (!postings->filter_broken && fingerprint_filter_add(filter, fingerprint) < 0) {
        postings->filter_broken = true;
        atomic_store(&postings->filter_complete, false);
    }
}

static bool filter_has(const struct fingerprint_filter *filter, uint64_t fingerprint)
{
    bool has;
    fingerprint_filter_ask(filter, &fingerprint, 1, &has);
    return has;
}

static void filter_posted(struct postings *postings, uint64_t fingerprint)
{
    struct fingerprint_filter *filter =
        filter_has(postings->filter, fingerprint) ? postings->again : postings->filter;
    filter_add(postings, filter, fingerprint);
}

/* All are asked for at once, so that they are on their way from memory together. */
static void filter_posted_all(struct postings *postings, const uint64_t *fingerprints, size_t n)
{
    bool has[POSTINGS_TIER_R_KEYS], again[POSTINGS_TIER_R_KEYS];
    uint64_t posted[POSTINGS_TIER_R_KEYS];
    size_t n_posted = 0;

    fingerprint_filter_ask(postings->filter, fingerprints, n, has);
    for (size_t i = 0; i < n; i++)
        if (has[i])
            posted[n_posted++] = fingerprints[i];
        else
            filter_add(postings, postings->filter, fingerprints[i]);
    if (n_posted == 0)
        return;
    fingerprint_filter_ask(postings->again, posted, n_posted, again);
    for (size_t i = 0; i < n_posted; i++)
        if (!again[i])
            filter_add(postings, postings->again, posted[i]);
}

/* Take up some more of what the store has. Where that fails nothing is lost: it is asked. */
static void filter_more(struct postings *postings)
{
    uint8_t from[POSTING_KEY_BYTES] = {0};
    struct kv_range range = {{from, POSTING_KEY_BYTES}, {NULL, 0}};
    struct kv_page page;

    put_be64(from, postings->filtered_to);
    if (kv_scan(postings->kv, postings->tables[POSTINGS_TIER_R], &range, FILTERED_AT_ONCE, &page) <
        0)
        return;
    uint64_t last = postings->filtered_to;
    for (size_t i = 0; i < page.n_entries; i++) {
        if (page.entries[i].key.size_bytes != POSTING_KEY_BYTES)
            continue;
        last = get_be64(page.entries[i].key.data);
        filter_posted(postings, last);
    }
    /* The rest of a list that goes on is not read. */
    bool more = page.more && page.n_entries > 0 && last < UINT64_MAX;
    if (page.n_entries > 0) {
        filter_posted(postings, last);
        postings->filtered_to = last + 1;
    }
    kv_page_done(&page);
    if (!more && !postings->filter_broken)
        atomic_store(&postings->filter_complete, true);
}

void postings_filter_posted(struct postings *postings, const uint64_t *fingerprints, size_t n)
{
    filter_posted_all(postings, fingerprints, n);
    if (!atomic_load(&postings->filter_complete) && !postings->filter_broken)
        filter_more(postings);
}

/* One number for all that a sketch has in tier R. */
static uint64_t announcement_of(const struct min_sketch *sketch, size_t n_keys)
{
    uint64_t hash = n_keys;
    for (size_t i = 0; i < n_keys; i++)
        hash = (hash ^ sketch->values[i]) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

bool postings_announce(struct postings *postings, const struct min_sketch *sketch)
{
    bool has[POSTINGS_TIER_R_KEYS];
    const size_t n_keys = postings_tier_keys(POSTINGS_TIER_R, sketch);
    const uint64_t announcement = announcement_of(sketch, n_keys);
    size_t n_had = 0;

    fingerprint_filter_ask(postings->filter, sketch->values, n_keys, has);
    for (size_t i = 0; i < n_keys; i++)
        n_had += has[i];
    bool may_have = !atomic_load(&postings->filter_complete) || n_had == n_keys ||
                    filter_has(postings->filter, announcement);

    filter_add(postings, postings->filter, announcement);
    return may_have;
}

void postings_at_most(const struct postings *postings, const uint64_t *fingerprints, size_t n,
                      enum postings_most *ret_most)
{
    const bool complete = atomic_load(&((struct postings *)postings)->filter_complete);
    bool has[POSTINGS_TIER_R_KEYS], again[POSTINGS_TIER_R_KEYS];

    assert(n <= POSTINGS_TIER_R_KEYS);
    if (complete) {
        fingerprint_filter_ask(postings->filter, fingerprints, n, has);
        fingerprint_filter_ask(postings->again, fingerprints, n, again);
    }
    for (size_t i = 0; i < n; i++)
        ret_most[i] = !complete || again[i] ? POSTINGS_ANY : has[i] ? POSTINGS_ONE : POSTINGS_NONE;
}
