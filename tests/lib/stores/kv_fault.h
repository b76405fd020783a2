/* A store that fails on purpose: wraps another and delays, reorders, refuses or crashes by
 * countdown, within what kv.h allows any back end to do.
 */
#ifndef KINFS_TESTS_LIB_STORES_KV_FAULT_H
#define KINFS_TESTS_LIB_STORES_KV_FAULT_H

#include "store/kv.h"

/* The faults of a store; each is off when zero. */
struct kv_fault_plan {
    uint64_t seed;               /* of the choices below */
    unsigned delay_us;           /* each call sleeps up to this */
    unsigned again_per_mille;    /* calls refused with -EAGAIN, nothing done */
    unsigned timeout_per_mille;  /* writes that answer -ETIMEDOUT; half of them have happened (of a
                                    batch or run that is split: each part of it for itself) */
    bool split_batches;          /* a batch is applied partition by partition, in random order; a
                                    run in pieces of some entries */
    bool short_pages;            /* scans return fewer entries than they could, with more set */
    uint64_t crash_after_writes; /* the n-th write (1..) and everything after it fails with -EIO and
                                    does nothing: the process "died" there; 0 never. A write is a
                                    cas, a batch or a run, or each part of it with split_batches */
    uint64_t fail_call;          /* the n-th call of any kind (1..) fails once, with fail_error */
    uint64_t late_failure; /* the n-th write (1.., as above) happens, and fails all the same, once,
                              with fail_error; the rest of a split batch does not happen */
    int fail_error;        /* negative errno */
};

/* Wrap a store.
 *
 * inner  borrowed; outlives the wrapper, so that a test can reopen the store that "survived"
 *
 * Returns 0 or -ENOMEM. kv_close() of the wrapper leaves inner open.
 */
int kv_fault_open(struct kv *inner, const struct kv_fault_plan *plan, struct kv **ret_kv);

/* Calls and writes (as crash_after_writes counts them) made so far, to choose countdowns from. */
void kv_fault_counts(struct kv *fault, uint64_t *ret_calls, uint64_t *ret_writes);

#endif
