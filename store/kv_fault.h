/* A store that fails on purpose: wraps another and delays, reorders, refuses or crashes by
 * countdown, within what kv.h allows any back end to do. For tests only, but in the library so that
 * the index can be tested over both back ends.
 */
#ifndef KINFS_STORE_KV_FAULT_H
#define KINFS_STORE_KV_FAULT_H

#include "store/kv.h"

/* What goes wrong, all off when zero. */
struct kv_fault_plan {
    uint64_t seed;               /* of the choices below */
    unsigned delay_us;           /* each call sleeps up to this */
    unsigned again_per_mille;    /* calls refused with -EAGAIN, nothing done */
    unsigned timeout_per_mille;  /* writes that answer -ETIMEDOUT; half of them have happened */
    bool split_batches;          /* a batch is applied partition by partition, in random order */
    uint64_t crash_after_writes; /* the n-th partition write (1..) and everything after it fails
                                    with -EIO and does nothing: the process "died" there; 0 never */
    uint64_t fail_call;          /* the n-th call of any kind (1..) fails once, with fail_error */
    int fail_error;              /* negative errno */
};

/* Wrap a store.
 *
 * inner  borrowed; outlives the wrapper, so a test can reopen what "survived"
 *
 * Returns 0 or -ENOMEM. kv_close() of the wrapper leaves inner open.
 */
int kv_fault_open(struct kv *inner, const struct kv_fault_plan *plan, struct kv **ret_kv);

/* Calls and partition writes made so far, to choose countdowns from. */
void kv_fault_counts(struct kv *fault, uint64_t *ret_calls, uint64_t *ret_writes);

#endif
