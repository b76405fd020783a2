/* The struct and the steps that the files of postings.h share: the writing (postings.c), what is
 * known without the store (postings_filter.c), and the reading (postings_read.c). */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_POSTINGS_PRIVATE_H
#define KINFS_ENGINE_INDEX_POSTINGS_POSTINGS_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/index/postings/fingerprint_filter.h"
#include "engine/index/postings/first_postings.h"
#include "engine/index/postings/postings.h"
#include "engine/index/postings/postings_delta.h"

enum { POSTING_KEY_BYTES = 16 };

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
    struct list_cache *lists;          /* the writer's */
    struct sid_list unkept; /* the writer's: the list it asked for last, if not in there */
};

/* The writer's: fingerprints of tier R are posted. Takes up some more of what the store has, until
 * the filters have all. */
void postings_filter_posted(struct postings *postings, const uint64_t *fingerprints, size_t n);

#endif
