/* A store that repeats the calls of another whose errors are transient, so that callers need not.
 */
#ifndef KINFS_STORE_KV_RETRY_H
#define KINFS_STORE_KV_RETRY_H

#include "store/kv.h"

/* Wrap a store: calls that fail with -EAGAIN or -ETIMEDOUT are repeated, with growing pauses, for
 * about two seconds before the error is passed on. Right for all that is idempotent, as kv.h asks
 * of every write; kv_cas() is repeated after -EAGAIN only, kv_bulk_load() not at all (its source is
 * used up).
 *
 * inner  borrowed; kv_close() of the wrapper leaves it open
 *
 * Returns 0 or -ENOMEM.
 */
int kv_retry_open(struct kv *inner, struct kv **ret_kv);

/* For a caller that repeats a call itself: returns true, after a pause, when it should be repeated
 * after this result. n_tries is the caller's, 0 at first; it gives up after about two seconds. Not
 * called with a lock held. */
bool kv_retry_wanted(int result, unsigned *n_tries);

#endif
