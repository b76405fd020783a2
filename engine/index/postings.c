/* A small log-structured store on top of the store: notes in memory (postings_delta.h), written as
 * one sorted run a tier when there are enough of them. Direct writes cost 3.5 us a posting and a
 * document has about a hundred; a note costs some 20 ns and its share of a run 0.2 us.
 *
 *   reads =  live delta  over  frozen delta (being flushed)  over  store
 *
 * A flush freezes the delta, so that what is added meanwhile goes to a fresh one; a failed flush
 * leaves the frozen one where it is and the next flush begins with it. A run holds puts for what
 * was added and deletes for what was removed, whether or not the store has it.
 *
 * Row of TABLE_TIER_R and TABLE_TIER_C, one a posting (a list in one value would have to be read to
 * be changed, and a list of all documents with a common boilerplate shingle is long):
 *
 *   key    fingerprint 8 | sid 8     big endian; partition: the fingerprint
 *   value  empty
 *
 * Left out: a cap on long lists. Documents of a large cluster share all their fingerprints, and a
 * cap of 1000 loses them all.
 */
#include "engine/index/postings.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/fingerprint_filter.h"
#include "engine/index/first_postings.h"
#include "engine/index/noted_postings.h"
#include "engine/index/postings_delta.h"
#include "engine/index/sid_vector.h"
#include "store/kv_retry.h"

enum {
    DEFAULT_FLUSH_AFTER = 1 << 20, /* some 10,000 documents: 25 MB, and a quarter second to write */
    KEY_BYTES = 16,
    RANGES_AT_ONCE = 256,
    FIRST_LIMIT = POSTINGS_PIECE, /* entries of a list at first: most lists end within one */
    NEXT_LIMIT = 4096,
    /* Of tier R in the store at each addition, until the filter has all: some 30 us, which it then
     * saves. So who only asks, or changes little, does not read it all at each start. */
    FILTERED_AT_ONCE = 512,
    FIRST_BYTES = 32 << 20, /* of beginnings of long lists: some 1,500 of 16,384 documents */
};

struct delta {
    struct postings_delta *tiers[POSTINGS_N_TIERS];
};

struct postings {
    struct kv *kv;
    unsigned tables[POSTINGS_N_TIERS];
    size_t flush_after;
    pthread_mutex_t flush_lock; /* one flush at a time; taken before lock */
    pthread_rwlock_t lock;      /* the two below; never held over a store call */
    struct delta live, frozen;  /* frozen.tiers[0] NULL: none */
    atomic_size_t n_live;
    struct fingerprint_filter *filter; /* of tier R: who is posted, and who is announced */
    struct fingerprint_filter *again;  /* of tier R: who was posted more than once */
    uint64_t filtered_to;              /* the writer's: what the store has up to it is in it */
    atomic_bool filter_complete;       /* all that the store and the deltas have */
    bool filter_broken;                /* the writer's: some is missing, for lack of memory */
    struct first_postings *first;      /* what the store has of long lists */
};

void sid_list_done(struct sid_list *list)
{
    free(list->sids);
    *list = (struct sid_list){0};
}

/* -- the deltas -- */

static void delta_done(struct delta *delta)
{
    for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++)
        postings_delta_free(delta->tiers[tier]);
    *delta = (struct delta){0};
}

static int delta_init(struct delta *delta, size_t n_expected)
{
    *delta = (struct delta){0};
    for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++) {
        int r = postings_delta_new(n_expected, &delta->tiers[tier]);
        if (r < 0) {
            delta_done(delta);
            return r;
        }
    }
    return 0;
}

static size_t delta_count(const struct delta *delta)
{
    size_t n = 0;
    for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++)
        n += postings_delta_count(delta->tiers[tier]);
    return n;
}

int postings_open(struct kv *kv, const unsigned tables[POSTINGS_N_TIERS], size_t flush_after,
                  struct postings **ret_postings)
{
    struct postings *postings = calloc(1, sizeof(*postings));
    if (!postings)
        return -ENOMEM;
    postings->kv = kv;
    memcpy(postings->tables, tables, sizeof(postings->tables));
    postings->flush_after = flush_after ? flush_after : DEFAULT_FLUSH_AFTER;
    int r = fingerprint_filter_new(&postings->filter);
    if (r == 0)
        r = fingerprint_filter_new(&postings->again);
    if (r == 0)
        r = first_postings_new(FIRST_BYTES, &postings->first);
    if (r == 0)
        r = delta_init(&postings->live, postings->flush_after / POSTINGS_N_TIERS);
    if (r < 0) {
        fingerprint_filter_free(postings->filter);
        fingerprint_filter_free(postings->again);
        first_postings_free(postings->first);
        free(postings);
        return r;
    }

    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&postings->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    pthread_mutex_init(&postings->flush_lock, NULL);
    *ret_postings = postings;
    return 0;
}

void postings_close(struct postings *postings)
{
    if (!postings)
        return;
    delta_done(&postings->live);
    delta_done(&postings->frozen);
    fingerprint_filter_free(postings->filter);
    fingerprint_filter_free(postings->again);
    first_postings_free(postings->first);
    pthread_rwlock_destroy(&postings->lock);
    pthread_mutex_destroy(&postings->flush_lock);
    free(postings);
}

/* -- writing -- */

size_t postings_tier_keys(enum postings_tier tier, const struct min_sketch *sketch)
{
    if (tier == POSTINGS_TIER_R)
        return sketch->n_values < POSTINGS_TIER_R_KEYS ? sketch->n_values : POSTINGS_TIER_R_KEYS;
    if (sketch->v_below == 0)
        return sketch->n_values;
    size_t low = 0, high = sketch->n_values;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sketch->values[middle] < sketch->v_below)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t postings_tier_rows(enum postings_tier tier, const struct min_sketch *sketch,
                          size_t *ret_first)
{
    size_t n = postings_tier_keys(tier, sketch);

    *ret_first = tier == POSTINGS_TIER_R ? 0 : POSTINGS_TIER_R_KEYS;
    return n > *ret_first ? n - *ret_first : 0;
}

static int note(struct postings *postings, uint64_t sid, const struct min_sketch *sketch,
                bool removed)
{
    int r = 0;

    pthread_rwlock_wrlock(&postings->lock);
    for (unsigned tier = 0; tier < POSTINGS_N_TIERS && r == 0; tier++) {
        size_t first, n = postings_tier_rows(tier, sketch, &first);
        for (size_t i = first; i < first + n && r == 0; i++)
            r = postings_delta_note(postings->live.tiers[tier], sketch->values[i], sid, removed);
    }
    atomic_store(&postings->n_live, delta_count(&postings->live));
    pthread_rwlock_unlock(&postings->lock);
    return r;
}

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
    uint8_t from[KEY_BYTES] = {0};
    struct kv_range range = {{from, KEY_BYTES}, {NULL, 0}};
    struct kv_page page;

    put_be64(from, postings->filtered_to);
    if (kv_scan(postings->kv, postings->tables[POSTINGS_TIER_R], &range, FILTERED_AT_ONCE, &page) <
        0)
        return;
    uint64_t last = postings->filtered_to;
    for (size_t i = 0; i < page.n_entries; i++) {
        if (page.entries[i].key.size_bytes != KEY_BYTES)
            continue;
        last = get_be64(page.entries[i].key.data);
        filter_posted(postings, last);
    }
    /* What follows in a list that goes on is not read. */
    bool more = page.more && page.n_entries > 0 && last < UINT64_MAX;
    if (page.n_entries > 0) {
        filter_posted(postings, last);
        postings->filtered_to = last + 1;
    }
    kv_page_done(&page);
    if (!more && !postings->filter_broken)
        atomic_store(&postings->filter_complete, true);
}

int postings_add(struct postings *postings, uint64_t sid, const struct min_sketch *sketch)
{
    size_t n_keys = postings_tier_keys(POSTINGS_TIER_R, sketch);

    filter_posted_all(postings, sketch->values, n_keys);
    if (!atomic_load(&postings->filter_complete) && !postings->filter_broken)
        filter_more(postings);
    return note(postings, sid, sketch, false);
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

int postings_remove(struct postings *postings, uint64_t sid, const struct min_sketch *sketch)
{
    return note(postings, sid, sketch, true);
}

bool postings_flush_due(const struct postings *postings)
{
    return atomic_load(&postings->n_live) >= postings->flush_after;
}

struct run_source {
    struct postings_run run;
    uint8_t key[KEY_BYTES];
};

static int next_row(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct run_source *source = user;
    uint64_t fingerprint, sid;

    if (!postings_run_next(&source->run, &fingerprint, &sid, ret_delete))
        return 0;
    put_be64(source->key, fingerprint);
    put_be64(source->key + 8, sid);
    *ret_entry = (struct kv_entry){.key = {source->key, KEY_BYTES}, .value = {"", 0}};
    return 1;
}

static bool smallest_written(void *user, uint64_t fingerprint, uint64_t *ret_sid)
{
    const struct run_source *source = user;
    return postings_run_smallest(&source->run, fingerprint, ret_sid);
}

static int write_run(struct postings *postings, enum postings_tier tier,
                     const struct postings_delta *delta)
{
    struct run_source source;

    if (postings_delta_count(delta) == 0)
        return 0;
    int r = postings_run_init(&source.run, delta);
    if (r < 0)
        return r;
    unsigned n_tries = 0;
    do {
        postings_run_rewind(&source.run);
        r = kv_bulk_load(postings->kv, postings->tables[tier], next_row, &source);
    } while (kv_retry_wanted(r, &n_tries));
    if (r == 0)
        first_postings_changed(postings->first, tier, smallest_written, &source);
    postings_run_done(&source.run);
    return r;
}

/* Write the frozen delta, then forget it. */
static int flush_frozen(struct postings *postings)
{
    for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++) {
        int r = write_run(postings, tier, postings->frozen.tiers[tier]);
        if (r < 0)
            return r;
    }
    pthread_rwlock_wrlock(&postings->lock);
    struct delta written = postings->frozen;
    postings->frozen = (struct delta){0};
    pthread_rwlock_unlock(&postings->lock);
    delta_done(&written);
    return 0;
}

static int freeze(struct postings *postings)
{
    struct delta fresh;
    int r = delta_init(&fresh, postings->flush_after / POSTINGS_N_TIERS);
    if (r < 0)
        return r;
    pthread_rwlock_wrlock(&postings->lock);
    postings->frozen = postings->live;
    postings->live = fresh;
    atomic_store(&postings->n_live, 0);
    pthread_rwlock_unlock(&postings->lock);
    return 0;
}

int postings_flush(struct postings *postings)
{
    LOCKED(&postings->flush_lock);
    int r = 0;

    if (postings->frozen.tiers[0])
        r = flush_frozen(postings);
    if (r < 0 || atomic_load(&postings->n_live) == 0)
        return r;
    r = freeze(postings);
    if (r < 0)
        return r;
    return flush_frozen(postings);
}

/* -- reading -- */

/* What the deltas say, the live one before the frozen one. Must come before the store is read: a
 * posting may move from the deltas into the store in between, not back. */
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
    uint8_t from[KEY_BYTES], to[8];
    bool to_end, left_out;
};

static int take_page(const struct kv_page *page, const struct noted_postings *noted,
                     struct pending *pending, struct sid_vector *found)
{
    uint64_t sid = 0;

    for (size_t i = 0; i < page->n_entries; i++) {
        const struct kv_slice *key = &page->entries[i].key;
        if (key->size_bytes != KEY_BYTES)
            return -EUCLEAN;
        sid = get_be64((const uint8_t *)key->data + 8);
        if (noted_postings_hide(noted, pending->list, sid))
            continue;
        int r = sid_vector_push_set(found, sid);
        if (r < 0)
            return r;
    }
    if (page->n_entries > 0)
        put_be64(pending->from + 8, sid + 1);
    return 0;
}

/* What is read of some lists. */
struct reading {
    const struct noted_postings *noted;
    struct sid_vector found;
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
            {pending[i].from, KEY_BYTES},
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
    sid_vector_done(&reading->found);
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

/* What one tier's table and notes have. */
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

    assert(tier < POSTINGS_N_TIERS && most <= FIRST_LIMIT);
    *ret_list = (struct sid_list){0};
    if (n_fingerprints == 0)
        return 0;
    if (ret_lengths)
        memset(ret_lengths, 0, n_fingerprints * sizeof(*ret_lengths));
    for (enum postings_tier i = 0; r == 0 && i <= tier; i++)
        r = read_tier(postings, i, fingerprints, n_fingerprints, &reading);
    if (r < 0)
        return r;
    sid_vector_sort_unique(&reading.found);
    *ret_list = (struct sid_list){reading.found.sids, reading.found.n_sids};
    reading.found = (struct sid_vector){0};
    return 0;
}

/* One page of a list from a sid on, as the store has it: appended. Returns whether there is more,
 * or an error. */
static int scan_list(struct postings *postings, enum postings_tier tier, uint64_t fingerprint,
                     uint64_t from_sid, size_t limit, struct sid_vector *sids)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    uint8_t from[KEY_BYTES], to[8];
    const bool to_end = fingerprint == UINT64_MAX;
    const struct kv_range range = {{from, KEY_BYTES}, {to_end ? NULL : to, to_end ? 0 : 8}};

    put_be64(from, fingerprint);
    put_be64(from + 8, from_sid);
    put_be64(to, fingerprint + 1);
    int r = kv_scan(postings->kv, postings->tables[tier], &range, limit, &page);
    for (size_t i = 0; r == 0 && i < page.n_entries; i++)
        r = page.entries[i].key.size_bytes == KEY_BYTES
                ? sid_vector_push(sids, get_be64((const uint8_t *)page.entries[i].key.data + 8))
                : -EUCLEAN;
    return r < 0 ? r : page.more;
}

/* What of one list the store has that no note hides, up to `most`: ascending. */
static int read_first_stored(struct postings *postings, enum postings_tier tier,
                             uint64_t fingerprint, size_t most, const struct noted_postings *noted,
                             struct sid_vector *found)
{
    _cleanup_(first_reading_done) struct first_reading reading;
    _cleanup_(sid_vector_done) struct sid_vector stored = {0};
    const uint64_t changes = first_postings_changes(postings->first);
    uint64_t sid;
    int r = 0;

    first_postings_read(postings->first, tier, fingerprint, &reading);
    while (r == 0 && found->n_sids < most && first_reading_next(&reading, &sid))
        if (!noted_postings_hide(noted, 0, sid))
            r = sid_vector_push(found, sid);
    bool more = !reading.ends;
    size_t limit = reading.list ? NEXT_LIMIT : FIRST_LIMIT;
    for (size_t at = 0; r == 0 && more && found->n_sids < most; limit = NEXT_LIMIT) {
        const uint64_t from = stored.n_sids ? stored.sids[stored.n_sids - 1] + 1 : reading.next_sid;
        r = scan_list(postings, tier, fingerprint, from, limit, &stored);
        more = r > 0;
        for (r = r < 0 ? r : 0; r == 0 && at < stored.n_sids; at++)
            if (found->n_sids < most && !noted_postings_hide(noted, 0, stored.sids[at]))
                r = sid_vector_push(found, stored.sids[at]);
    }
    if (r == 0 && stored.n_sids > 0 && most > POSTINGS_PIECE)
        first_postings_keep(postings->first, changes, tier, fingerprint, &reading, stored.sids,
                            stored.n_sids, !more);
    return r;
}

static int read_first(struct postings *postings, enum postings_tier tier, uint64_t fingerprint,
                      size_t most, struct sid_vector *found)
{
    _cleanup_(noted_postings_done) struct noted_postings noted = {0};
    _cleanup_(sid_vector_done) struct sid_vector added = {0}, stored = {0};

    int r = collect_notes(postings, tier, &fingerprint, 1, 0, &noted);
    if (r < 0)
        return r;
    noted_postings_settle(&noted);
    r = noted_postings_take_added(&noted, 0, &added);
    if (r == 0)
        r = read_first_stored(postings, tier, fingerprint, most, &noted, &stored);
    if (r < 0)
        return r;
    sid_vector_sort_unique(&added);
    return sid_vector_merge(&stored, &added, SIZE_MAX, found);
}

int postings_first(struct postings *postings, enum postings_tier tier, uint64_t fingerprint,
                   size_t most, struct sid_list *ret_list)
{
    _cleanup_(sid_vector_done) struct sid_vector found = {0};

    *ret_list = (struct sid_list){0};
    int r = read_first(postings, POSTINGS_TIER_R, fingerprint, most, &found);
    if (r == 0 && tier == POSTINGS_TIER_C) {
        _cleanup_(sid_vector_done) struct sid_vector of_r = found, of_c = {0};
        found = (struct sid_vector){0};
        r = read_first(postings, POSTINGS_TIER_C, fingerprint, most, &of_c);
        if (r == 0) /* what two lists have beyond that is not all there is between */
            r = sid_vector_merge(&of_r, &of_c, most, &found);
    }
    if (r < 0)
        return r;
    *ret_list = (struct sid_list){found.sids, found.n_sids};
    found = (struct sid_vector){0};
    return 0;
}

int postings_candidates(struct postings *postings, enum postings_tier tier,
                        const struct min_sketch *sketch, struct sid_list *ret_list)
{
    return postings_with(postings, tier, sketch->values, postings_tier_keys(tier, sketch), 0,
                         ret_list, NULL);
}
