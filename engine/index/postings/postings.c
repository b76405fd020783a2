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
 * Left out: a cap on the lists that are stored. Documents of a large cluster share all their
 * fingerprints, and questions are asked of all of them (candidates.h).
 */
#include "engine/index/postings/postings_private.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

enum {
    /* Some 30,000 documents of 5 KB: 30 MB, and a quarter second to write. */
    DEFAULT_FLUSH_AFTER = 1 << 20,
    FIRST_BYTES = 32 << 20, /* of beginnings of long lists: some 1,500 of 16,384 documents */
    LISTS_BYTES = 160 << 20,
};

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
        r = list_cache_new(LISTS_BYTES, &postings->lists);
    if (r == 0)
        r = delta_init(&postings->live, postings->flush_after / POSTINGS_N_TIERS);
    if (r < 0) {
        fingerprint_filter_free(postings->filter);
        fingerprint_filter_free(postings->again);
        first_postings_free(postings->first);
        list_cache_free(postings->lists);
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
    list_cache_free(postings->lists);
    sid_list_done(&postings->unkept);
    pthread_rwlock_destroy(&postings->lock);
    pthread_mutex_destroy(&postings->flush_lock);
    free(postings);
}

/* -- writing -- */

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

int postings_add(struct postings *postings, uint64_t sid, const struct min_sketch *sketch)
{
    size_t n_keys = postings_tier_keys(POSTINGS_TIER_R, sketch);

    postings_filter_posted(postings, sketch->values, n_keys);
    int r = note(postings, sid, sketch, false);
    for (size_t i = 0; r == 0 && i < n_keys; i++)
        list_cache_add(postings->lists, sketch->values[i], sid);
    if (r < 0) /* some of them are noted */
        list_cache_clear(postings->lists);
    return r;
}

int postings_remove(struct postings *postings, uint64_t sid, const struct min_sketch *sketch)
{
    size_t n_keys = postings_tier_keys(POSTINGS_TIER_R, sketch);
    int r = note(postings, sid, sketch, true);
    for (size_t i = 0; r == 0 && i < n_keys; i++)
        list_cache_remove(postings->lists, sketch->values[i], sid);
    if (r < 0)
        list_cache_clear(postings->lists);
    return r;
}

bool postings_flush_due(const struct postings *postings)
{
    return atomic_load(&postings->n_live) >= postings->flush_after;
}

struct run_source {
    struct postings_run run;
    uint8_t key[POSTING_KEY_BYTES];
};

static int next_row(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct run_source *source = user;
    uint64_t fingerprint, sid;

    if (!postings_run_next(&source->run, &fingerprint, &sid, ret_delete))
        return 0;
    put_be64(source->key, fingerprint);
    put_be64(source->key + 8, sid);
    *ret_entry = (struct kv_entry){.key = {source->key, POSTING_KEY_BYTES}, .value = {"", 0}};
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
