/* Passages that documents have in common are found by two tables: for each document the
 * fingerprints of its passages with their places (passage_sketch.h), and for each fingerprint the
 * documents that have it. There is no such thing in a store unless it is wanted, and then it costs
 * nothing.
 *
 * TABLE_PASSAGES_OF
 *
 *   key    sid 8                          passage_sketch_encode(): of a document, whatever it is
 *   key    number 8, its highest bit set  sids 8 each: their postings may be in memory alone
 *
 * TABLE_PASSAGES
 *
 *   key    bucket 2 | run 8 | part 2     some fingerprints and sids of that run (passages_rows.c)
 *
 * Derived data. New postings and removals are in memory (postings_delta.h) and reach the store as
 * sorted runs; a row of TABLE_PASSAGES_OF names their documents until then, so after a crash they
 * are noted again. Removals a crash forgets leave postings of documents that have no row of their
 * own any more: they are passed over. A document without a row is read again by the next scan.
 */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_PASSAGES_H
#define KINFS_ENGINE_INDEX_POSTINGS_PASSAGES_H

#include "base/bytes.h"
#include "engine/sketch/documents/passage_sketch.h"
#include "engine/index/tables/number_vector.h"
#include "engine/index/tables/optional_tables.h"
#include "store/kv.h"

enum { PASSAGES_KEY_BYTES = 12 };
#define PASSAGES_META "passages"
#define PASSAGES_NOTED_MARK ((uint64_t)1 << 63)

struct passages;

extern const struct optional_tables passages_tables; /* the bound of passages */

/* wanted      the bound that is wanted; 0: none; PASSAGES_AS_STORED: that which the store has
 * ret_passages  NULL where none are wanted
 *
 * Rows under another bound, or not wanted any more, are removed, which takes a quarter of a second
 * a million. Before any thread runs. Returns 0, -ENOMEM, -EUCLEAN or a store error. */
#define PASSAGES_AS_STORED UINT32_MAX
int passages_open(struct kv *kv, const struct policy *policy, unsigned wanted,
                  struct passages **ret_passages);
void passages_close(struct passages *passages); /* drops the notes: flush before; NULL allowed */

/* By which documents are read. */
const struct shingle_hash *passages_hash(const struct passages *passages);
unsigned passages_bound(const struct passages *passages);

/* -- the committer's -- */

/* After a crash or a failure of the store: what it took from memory is noted again. */
int passages_recover(struct passages *passages);

struct passages_row {
    uint64_t sid;
    const uint8_t *bytes; /* passage_sketch_encode() */
    size_t size_bytes;
};

/* Documents that have no row yet. Returns 0, -ENOMEM or a store error; can be repeated. Some 20 ns
 * a fingerprint, two writes. */
int passages_put(struct passages *passages, const struct passages_row *rows, size_t n);
/* Documents that go, whether or not they have rows. */
int passages_remove(struct passages *passages, const uint64_t *sids, size_t n);

bool passages_flush_due(const struct passages *passages);
/* As postings_flush(), but the committer's. */
int passages_flush(struct passages *passages);

/* Runs that were flushed are joined from time to time, a part of them at once: some ten
 * milliseconds, however many there are. Answers are the same before and after. Returns 0, -ENOMEM
 * or a store error. */
bool passages_join_due(const struct passages *passages);
int passages_join_some(struct passages *passages);

/* -- any thread -- */

/* A document has a row: 1, 0 or a store error. */
int passages_has(struct passages *passages, uint64_t sid);
/* Returns 0, -ENOENT, -EUCLEAN, -ENOMEM or a store error; ret_sketch gives. */
int passages_get(struct passages *passages, uint64_t sid, struct passage_sketch *ret_sketch);

/* The documents that have a fingerprint, ascending, dead ones among them.
 *
 * most  where more have it, some of them will do, as many or more
 * sids  what was in it goes
 *
 * Returns 1 when there may be more, 0, -ENOMEM, -EUCLEAN or a store error. Some 10 us, and 5 ns a
 * posting of the bucket. */
int passages_with(struct passages *passages, uint64_t fingerprint, size_t most,
                  struct number_vector *sids);

/* -- how rows look, for who checks them: entries of one bucket, of all its rows -- */

struct passages_entry {
    uint64_t fingerprint, sid, age; /* age: larger is later */
    bool removed;
};
/* Zero-initialised; ends with passages_bucket_done(). */
struct passages_bucket {
    struct passages_entry *entries;
    size_t n_entries, room;
};
void passages_bucket_done(struct passages_bucket *bucket);
/* Add those of a row, of one fingerprint (NULL: all); rows in their order. Returns 0, -ENOMEM, or
 * -EUCLEAN for what is no row. */
int passages_bucket_add(struct passages_bucket *bucket, const struct kv_entry *row,
                        const uint64_t *fingerprint);
/* Behind the last row: those that there are, ascending, each once. */
void passages_bucket_settle(struct passages_bucket *bucket);
/* Those of a fingerprint in a store. Returns 0, -ENOMEM, -EUCLEAN or a store error. */
int passages_read_bucket(struct kv *kv, uint64_t fingerprint, struct passages_bucket *ret_bucket);

#endif
