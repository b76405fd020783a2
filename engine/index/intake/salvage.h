/* Sketches of a store that is being made anew, from the one before: what is still known there of a
 * file, and is of the file as it is, need not be read again.
 *
 * Nothing is taken on trust but what a scan takes on trust, too: a row of the file, with its size
 * and times as they are now; the record it names must decode, be of that file and of this policy,
 * and have the fingerprint of its sketch. So it does no harm if rows are missing, damaged, or of an
 * older moment than others.
 *
 * Where the row is lost, the record has the size and times of the file when it was read, too, but
 * not whether it was read so shortly after its last change that another one would not show in them.
 * That is known of one that was last changed before the store was made: it was read later.
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SALVAGE_H
#define KINFS_ENGINE_INDEX_INTAKE_SALVAGE_H

#include <sys/stat.h>

#include "engine/index/catalogue/catalogue.h"
#include "engine/index/tables/record.h"
#include "store/kv.h"

/* kv: borrowed until salvage_free(). Returns 0 or -ENOMEM. */
struct salvage;
int salvage_new(struct kv *kv, struct salvage **ret_salvage);
void salvage_free(struct salvage *salvage); /* NULL allowed */

/* Returns 1 with the record, 0 when there is none to be had, or -ENOMEM; ret_record gives.
 * *ret_row: the row of the file, zero where it is lost. Any thread; two reads of the store. The
 * first file of which there is no row costs a reading of all records, and from then on 16 bytes of
 * memory for each. */
int salvage_record(struct salvage *salvage, uint64_t policy_id, const struct file_key *file,
                   const struct stat *st, struct record *ret_record, struct file_row *ret_row);

/* The cluster of a clustering that a file was in, 0: none, or not to be had. As above. */
uint64_t salvage_cluster(struct salvage *salvage, unsigned clustering, const struct file_key *file);

/* When the store was made, in nanoseconds since 1970; 0: not known. */
uint64_t salvage_made(const struct salvage *salvage);

/* An id above all that were given out in a clustering, as far as the store tells. Reads the table
 * of who is in which cluster only where the row that says it is lost or damaged. */
uint64_t salvage_next_cluster(struct kv *kv, unsigned clustering);

/* The policy of a store. Returns 0, or -EUCLEAN when it cannot be read. */
int salvage_policy(struct kv *kv, struct policy *ret_policy);

#endif
