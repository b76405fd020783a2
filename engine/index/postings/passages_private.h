/* The struct and the steps that the files of passages.h share: documents and notes (passages.c),
 * rows of postings (passages_rows.c), and the joining of runs (passages_join.c). */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_PASSAGES_PRIVATE_H
#define KINFS_ENGINE_INDEX_POSTINGS_PASSAGES_PRIVATE_H

#include <pthread.h>

#include "engine/index/postings/passages.h"
#include "engine/index/postings/postings_delta.h"
#include "engine/index/tables/table_walk.h"

#define PASSAGES_RUNS_META "passages_runs" /* the number of the next run */
#define PASSAGES_JOINED_META                                                                       \
    "passages_merged" /* that of the run which all before it were joined to */

/* 16 MB of notes, of some 20,000 documents of 500 words */
enum { PASSAGES_FLUSH_AFTER = 1 << 20 };
enum { PASSAGES_JOIN_STEP_US = 10000 };
#define PASSAGES_REMOVED ((uint64_t)1 << 63)

static inline struct kv_slice passages_number_key(uint8_t key[8], uint64_t number)
{
    put_be64(key, number);
    return (struct kv_slice){key, 8};
}

struct note {
    uint64_t fingerprint, sid_state; /* PASSAGES_REMOVED set in a removal */
};

struct passages {
    struct kv *kv;
    struct shingle_hash *hash;
    unsigned bound;
    pthread_mutex_t lock; /* of the notes; never held over a store call */
    struct note *notes;   /* in the order in which they came */
    size_t n_notes, notes_room;
    struct postings_delta *delta; /* the first n_sought of them, by fingerprint; NULL: none */
    size_t n_sought;
    struct number_vector
        noted;           /* the committer's: rows whose notes are in the delta, by their keys */
    uint64_t next_noted; /* the committer's: the next of these */
    uint64_t next_run, joined_run; /* the committer's; as meta has them */
    uint64_t joining_run;          /* the committer's: that all are being joined to, or 0 */
    unsigned joining_from;         /* the next bucket of it */
    int64_t join_step_us;
};

/* -- passages_rows.c -- */

enum { PASSAGES_REST_BITS = PASSAGE_FINGERPRINT_BITS - 16, PASSAGES_ROW_ENTRIES = 1000 };
enum { PASSAGES_ROW_BYTES = 8 + PASSAGES_ROW_ENTRIES * (PASSAGES_REST_BITS / 8 + 4) };

static inline unsigned passages_bucket_of(uint64_t fingerprint)
{
    return (unsigned)(fingerprint >> PASSAGES_REST_BITS);
}

struct kv_slice passages_row_key(uint8_t key[PASSAGES_KEY_BYTES], unsigned bucket, uint64_t run,
                                 unsigned part);

/* Entries, ascending by fingerprint, on their way into the rows of a run: of one that comes again
 * the last counts. */
struct passages_rows {
    int (*next)(void *user, struct passages_entry *ret_entry); /* 1, 0 at the end, or an error */
    void *user;
    uint64_t run;
    struct passages_entry ahead; /* taken already */
    bool has_ahead, ended;
    unsigned bucket, part;
    struct passages_entry entries[PASSAGES_ROW_ENTRIES];
    uint8_t key[PASSAGES_KEY_BYTES], value[PASSAGES_ROW_BYTES];
};
/* next, user and run are set. Returns 0, what next returned, or as kv_bulk_load(). */
int passages_write_rows(struct kv *kv, struct passages_rows *rows);

/* Rows of a bucket, of runs before one, in their order, until visit returns non-zero, which is
 * returned; else 0 or a store error. */
int passages_each_row(struct kv *kv, unsigned bucket, uint64_t end_run, table_row_fn visit,
                      void *user);

#endif
