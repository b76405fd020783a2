/* The index's own state, which thread may touch what, and the order of its locks.
 *
 *   callers       note changes in `queue`, ask questions of the store
 *   workers       take contents from `queue`, read and sketch, hand results to the committer;
 *                 others, one more than those, do so with what takes an extractor, or is long:
 *                 minutes each
 *   listers       do what may wait for a directory that somebody keeps locked: take those that
 *                 came to be from `queue`, and note what is in them; and names in such of which the
 *                 kernel has to be asked, and hand what they find to the committer
 *   scanners      look at the names of a directory that the scan compares, one each
 *   committer     the only one that changes the store: results, entries, scan, clusters, postings,
 *                 the past; but the tables of comparisons and of what is declared distinct
 *                 (`compared`, `distinct`), which join no other, are written by callers
 *   the batch     of a named clustering: finds its clusters in a snapshot (named/remaking.h), with
 *                 threads of its own (engine/cluster/large/parallel.h)
 *
 * Locks. None is held over a reply to the kernel, and over calls of the store only three: postings
 * and salvage, each of which keeps one thing from being done twice, so that nobody waits for it but
 * who came to do the same; and that of rows of comparisons (tables/compared.c), for which others
 * wait who have compared something too, for a write.
 *
 *   lock          of the fields below that are under it; queue and marks are taken under it
 *   postings      flush_lock, held over the writing of a flush; under it `lock`, of what is noted
 *                 in memory, or that of beginnings of long lists (postings/postings_private.h)
 *   listing_lock  of who is to see listings; held while one is seen
 *   salvage       of a repair, held while the first worker reads which records there are
 *
 *   leaves        under which none is taken: queue; writing set; marks (clusters/dirty.c); the
 *                 state of a clustering (clusters/remade.c); each shard of records; beginnings of
 *                 long lists (postings/first_postings.c); messages; niceness; what the threads of
 *                 one question have found (answers/matches.c); how many extractors no signal ends
 *                 (extract/extractor_run.c); what is known of ignore files
 * (intake/ignored/ignored.c); changes for who watches (members/member_changes.c); passages that are
 * noted (postings/passages.c); what unique/ remembers (answers/unique/unique_memory.c)
 */
#ifndef KINFS_ENGINE_INDEX_INDEX_STATE_H
#define KINFS_ENGINE_INDEX_INDEX_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "engine/index/catalogue/catalogue.h"
#include "engine/index/queue/change_queue.h"
#include "engine/ignore/ignore_file.h"
#include "engine/index/extract/extractor.h"
#include "engine/index/intake/declared.h"
#include "engine/index/intake/directory_removal.h"
#include "engine/index/intake/ignored/ignored.h"
#include "engine/index/store_identity.h"
#include "engine/index/intake/scan/owner_stacks.h"
#include "engine/index/intake/past/past_notes.h"
#include "engine/index/intake/result.h"
#include "engine/index/intake/scan/scan.h"
#include "engine/index/index.h"
#include "engine/index/messages.h"
#include "engine/index/clusters/living_clusters.h"
#include "engine/index/queue/lull.h"
#include "engine/index/named/named_clusterings.h"
#include "base/niceness.h"
#include "engine/index/postings/passages.h"
#include "engine/index/postings/postings.h"
#include "engine/index/catalogue/document_counts.h"
#include "engine/index/tables/id_map.h"
#include "engine/index/tables/largest_modulus.h"
#include "engine/index/tables/left_out.h"
#include "engine/index/tables/meta.h"
#include "engine/index/tables/record.h"
#include "engine/index/tables/records.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid_tally.h"
#include "engine/index/members/shown_ids.h"
#include "engine/index/extract/sketching.h"
#include "engine/index/queue/writing_set.h"
#include "engine/index/topics/topics.h"

struct member_changes; /* members/member_changes.h */

STAILQ_HEAD(name_look_list, name_look);

struct index {
    /* -- made by the opening, then only read -- */
    struct backing *backing;
    char *source, *store_path;
    int directory;                 /* the store's, taken; -1 while a rebuild has taken it */
    bool directory_made;           /* by this opening, and empty then */
    struct kv *kv;                 /* patient */
    struct salvage *salvaged_from; /* of a repair, borrowed: what it has is not read again */
    struct policy policy;
    uint64_t policy_id;
    struct shown_ids shown_ids; /* of clusters; in all answers */
    struct shingle_hash *hash;
    struct extractors *extractors;
    uint64_t least_bytes, most_bytes; /* of a document; 0: no bound */
    struct file_key store_key; /* of the store's directory: never indexed; size 0: not to be had */
    bool has_fine_times;  /* a change after a look at a file gives it other times (fine_times) */
    uint64_t n_lost_rows; /* of the log, found at the opening */

    /* -- parts whose headers say who may call what -- */
    struct records *records;
    struct ignored *ignored;
    struct postings *postings;
    struct passages *passages; /* NULL: none are kept */
    struct topics *topics;     /* likewise */
    struct living_clusters *clusters;
    struct member_changes *changes; /* of the default clustering; published by steps */
    struct named_clusterings named; /* the committer's; which are wanted is anyone's to read */
    struct change_queue *queue;
    struct writing_set *writing;
    struct messages messages;
    struct niceness niceness;      /* of the threads that follow */
    struct document_counts counts; /* the committer's; its numbers for anyone to see */

    /* -- threads: index_start() and index_stop() write, others read -- */
    unsigned n_workers, n_started; /* n_started: listers and scanners included; hand_out(), too */
    unsigned n_slow;               /* of those started; before any other worker is */
    pthread_t *threads, committer; /* threads: workers, listers and scanners */
    struct looks *openers;         /* NULL: who opens waits (intake/open_soon.h) */
    bool started;
    pthread_mutex_t ending; /* of what follows */
    bool committer_has_ended, is_stored;

    /* -- under the lock -- */
    pthread_mutex_t lock;
    pthread_cond_t wake_committer, wake_scanners, results_taken, background_changed;
    struct result_list results;
    struct name_look_list looks;
    size_t n_results, n_looks;
    unsigned n_scanners, n_scanners_idle; /* n_scanners: begun */
    size_t n_visits_back;                 /* scanners are done with */
    struct owner_stacks wanted; /* directories that others than the committer want to be scanned */
    bool results_are_awaited;   /* some of them, by somebody */
    bool entries_noted, rescan_wanted, scanning, stop;
    bool damaged;                             /* the store is, and was not before it was opened */
    bool damage_is_met;                       /* by another thread than the committer */
    bool removing;                            /* removal is not idle */
    uint64_t n_removal_rounds, n_scan_rounds; /* begun; what came before one is in it, or done */
    bool clusterings_pending;                 /* one is made or removed, or is to be */
    struct snapshot_wish *snapshot_wish; /* intake/snapshot.c, or NULL; granted between two steps */
    uint64_t n_scans_begun;              /* of the whole tree, or of more of it */

    /* -- under the listing_lock -- */
    pthread_mutex_t listing_lock;
    int (*see_listing)(void *user, int fd, const struct file_key *directory); /* or NULL */
    void *see_listing_user;

    /* -- the committer's alone, once it runs -- */
    struct scan scan;
    struct {
        bool runs;
        int64_t spent_us, next_at_ms; /* next_at_ms: 0, or no other begins before */
        int64_t first_began_ms;       /* 0: not yet, or the log is told of its end */
        bool first_is_logged;
    } whole_scan;                        /* the last one */
    uint64_t documents_before;           /* that there were when nothing was scanned last */
    int64_t patience_us, patience_at_us; /* to wait for directories; then (intake/open_soon.c) */
    int64_t recluster_at_us;             /* in a scan, nothing is clustered anew before */
    int64_t place_at_us; /* in one that puts documents off: nor are they all, unless many are */
    int64_t placing_us;  /* what that has taken since it began */
    struct directory_removal removal;
    struct ruled_anew {
        struct sid_tally of;        /* owners: directories that ignored_changed() had scanned */
        int64_t began_ms, spent_us; /* the count, and in scans since */
    } ruled_anew;
    struct lull lull;
    struct past_notes past;                /* since when events count is anyone's to read */
    uint64_t next_sid, sid_end;            /* sids below sid_end are reserved */
    uint64_t derived_sid;                  /* what derives from all sids up to it is stored */
    char failure[256];                     /* as it is in the log, and its end is not; "": none */
    int64_t resume_after_ms, resume_at_ms; /* when to try a failing store again */
    struct id_map unwritten; /* files whose sketches the store did not take, by hashes of keys */
    struct declared_copies declared_copies;

    /* -- the committer writes, anyone reads -- */
    atomic_uint_fast64_t generation; /* steps begun and ended: odd within one */
    atomic_uint_fast64_t last_sid;
    atomic_uint largest_modulus;      /* largest_modulus.h */
    atomic_int store_error;           /* what no write gets past for now; 0: nothing */
    atomic_uint_fast64_t n_unwritten; /* the number of those */
    atomic_uint_fast64_t n_failed, scan_found;

    /* -- anyone writes -- */
    atomic_uint n_settling;          /* who waits for all that is in the background */
    atomic_uint_fast64_t n_uses;     /* index_note_use() */
    atomic_uint_fast64_t n_declared; /* changes of distinct.h */
    atomic_uint_fast64_t sketched_documents, sketched_bytes;
};

/* -- index_opening.c -- */
/* As index_open(), with a database by name and, for a new one, a policy with its key; for whoever
 * has taken the store's directory. */
int index_open_db(const struct index_options *options, const char *db, const struct policy *policy,
                  struct index **ret_index, char **ret_error);
/* The same over a store that is open already (NULL: the database's), which is closed with the index
 * or where that cannot be opened. */
int index_open_over(const struct index_options *options, struct kv *store, const char *db,
                    const struct policy *policy, struct index **ret_index, char **ret_error);

/* Frees what an opening has made so far, or all of it; no thread runs. */
void index_free(struct index *index);

/* -- index.c -- */

static inline bool index_leaves_out_size(const struct index *index, uint64_t size_bytes)
{
    return ignore_leaves_out_size(size_bytes, index->least_bytes, index->most_bytes);
}

/* The file was read, and found to be of a type that is left out, by the extractors and types that
 * the row has the number of. */
static inline bool index_left_out_type(const struct file_row *row)
{
    return !row->sid && row->extractors_id && is_left_out(row->reason);
}

/* No passage of a document is lacking, nor its bag: also where none are wanted, or that cannot be
 * told. */
static inline bool index_has_all(const struct index *index, uint64_t sid)
{
    return (!index->passages || passages_has(index->passages, sid) != 0) &&
           (!index->topics || topics_has(index->topics, sid) != 0);
}

/* The means by which documents of an index are read. */
static inline struct sketching_by index_sketching_by(const struct index *index, bool takes_slow)
{
    return (struct sketching_by){&index->policy, index->hash, index->extractors, takes_slow};
}

#endif
