/* Sketches of a store that is being made anew, from the one before: what is still known there of a
 * file, and is of the file as it is, need not be read again.
 *
 * Nothing is taken on trust but what a scan takes on trust, too: a row of the file, with its size
 * and times as they are now; the record it names must decode, be of that file and of this policy,
 * and have the fingerprint of its sketch. So it does no harm if rows are missing, damaged, or of an
 * older moment than others. */
#ifndef KINFS_ENGINE_INDEX_SALVAGE_H
#define KINFS_ENGINE_INDEX_SALVAGE_H

#include <sys/stat.h>

#include "engine/index/record.h"
#include "store/kv.h"

/* Returns 1 with the record, 0 when there is none to be had, or -ENOMEM; ret_record gives. Any
 * thread; two reads of the store. */
int salvage_record(struct kv *kv, uint64_t policy_id, const struct file_key *file,
                   const struct stat *st, struct record *ret_record);

/* The cluster of a clustering that a file was in, 0: none, or not to be had. */
uint64_t salvage_cluster(struct kv *kv, unsigned clustering, const struct file_key *file);

/* An id above all that were given out in a store, as far as it tells. Reads the table of who is in
 * which cluster only where the row that says it is lost. */
uint64_t salvage_next_cluster(struct kv *kv);

/* The policy of a store. Returns 0, or -EUCLEAN when it cannot be read. */
int salvage_policy(struct kv *kv, struct policy *ret_policy);

#endif
