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
 *   committer     the only one that changes the store: results, entries, scan, clusters, postings
 *   the batch     of a named clustering: finds its clusters in a snapshot (named/remaking.h), with
 *                 threads of its own (engine/cluster/large/parallel.h)
 *
 * Locks. None is held over a reply to the kernel, and over calls of the store only two, each of
 * which keeps one thing from being done twice: nobody waits for it but who came to do the same.
 *
 *   lock          of the fields below that are under it; queue and marks are taken under it
 *   postings      flush_lock, held over the writing of a flush; under it `lock`, of what is noted
 *                 in memory, or that of beginnings of long lists (postings/postings_private.h)
 *   listing_lock  of who is to see listings; held while one is seen
 *   salvage       of a repair, held while the first worker reads which records there are
 *
 *   leaves, under which none is taken: queue; writing set; marks (clusters/dirty.c); the state of a
 *   clustering (clusters/remade.c); each shard of records; beginnings of long lists
 *   (postings/first_postings.c); messages; niceness; what the threads of one question have found
 *   (answers/matches.c); how many extractors no signal ends (extract/extractor_run.c)
 */
#ifndef KINFS_ENGINE_INDEX_INDEX_PRIVATE_H
#define KINFS_ENGINE_INDEX_INDEX_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "engine/index/catalogue/catalogue.h"
#include "engine/index/queue/change_queue.h"
#include "engine/ignore/ignore_file.h"
#include "engine/index/extract/extractor.h"
#include "engine/index/intake/directory_removal.h"
#include "engine/index/intake/ignored.h"
#include "engine/index/store_identity.h"
#include "engine/index/intake/owner_stacks.h"
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
#include "engine/index/tables/meta.h"
#include "engine/index/tables/record.h"
#include "engine/index/tables/records.h"
#include "engine/index/tables/schema.h"
#include "engine/index/members/shown_ids.h"
#include "engine/index/extract/sketching.h"
#include "engine/index/queue/writing_set.h"

struct member_changes; /* members/member_changes.h */

/* A document a worker is done with; the committer owns it from then on. */
enum outcome {
    OUTCOME_SKETCHED,
    OUTCOME_GONE,
    OUTCOME_NAMELESS, /* left out, or its name is not known yet; it was not read */
    OUTCOME_FAILED,
    OUTCOME_SAME, /* with other extractors it would be read as it was */
};

struct result {
    STAILQ_ENTRY(result) next;
    struct change *change;
    enum outcome outcome;
    struct record record; /* OUTCOME_SKETCHED */
    uint8_t *passages;    /* of it, passage_sketch_encode(); NULL: none are wanted, or known */
    size_t passages_bytes;
    bool racy;
    uint64_t sid;                    /* OUTCOME_SAME: of the row that was looked at */
    uint32_t extractors_id, read_by; /* OUTCOME_SKETCHED and _SAME, of its row */
    int error; /* OUTCOME_FAILED: negative errno; or, with a reason, of no meaning */
    char reason[FILE_ROW_REASON_BYTES]; /* OUTCOME_FAILED; "": the error's */
    struct stat st;                     /* OUTCOME_SKETCHED; _FAILED, when it could be asked for */
};

STAILQ_HEAD(result_list, result);
STAILQ_HEAD(name_look_list, name_look);

/* A directory where other names may be left out than before; of more than these the whole tree is
 * scanned. */
enum { RULED_ANEW_MAX = 16 };
struct ruled_anew {
    struct file_key directory;
    uid_t owner;
};

/* Directories that are compared with the catalogue, and such as are still to be; the committer's,
 * but for the state, which is under the lock, and the visit while that is SLOT_LOOKS. */
enum { N_SCANNERS = 8 };
enum { N_SLOW_OWNERS = 64 };
struct scan {
    /* Directories of the scan that runs, and those that came since it began, and are looked at
     * beside it: so its end comes. */
    struct scan_set {
        struct owner_stacks directories;
        struct owner_stacks lossy; /* read, and found to have lost entries: for the second pass */
    } sets[2];
    unsigned now;  /* of the sets, that runs */
    unsigned next; /* that a directory is taken from next */
    struct scan_slot {
        struct visit *visit; /* or NULL */
        enum slot_state { SLOT_RESTS, SLOT_WAITS, SLOT_LOOKS, SLOT_BACK } state;
        bool is_out, is_dropped, is_told; /* is_out: it is with a scanner, or waits for one */
        int64_t out_at_ms;
    } slots[N_SCANNERS];
    size_t turn;    /* of the slots, which is gone on with first */
    bool left_some; /* of an owner who was stuck */
    /* An owner whose directories took longer than their names explain, since the scan began. */
    struct slow_owner {
        uid_t owner;
        int64_t ms;
    } slow[N_SLOW_OWNERS];
    size_t n_slow;
};

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
    pthread_t *threads, committer; /* threads: workers and listers */
    bool started;

    /* -- under the lock -- */
    pthread_mutex_t lock;
    pthread_cond_t wake_committer, wake_scanners, results_taken, background_changed;
    struct result_list results;
    struct name_look_list looks;
    size_t n_results, n_looks;
    unsigned n_scanners, n_scanners_idle; /* n_scanners: begun */
    size_t n_visits_back;                 /* scanners are done with */
    struct owner_stacks wanted; /* directories that others than the committer want to be scanned */
    struct ruled_anew ruled_anew[RULED_ANEW_MAX];
    size_t n_ruled_anew;
    bool results_are_awaited; /* some of them, by somebody */
    bool entries_noted, rescan_wanted, scanning, stop;
    bool damaged;                             /* the store is, and was not before it was opened */
    bool removing;                            /* removal is not idle */
    uint64_t n_removal_rounds, n_scan_rounds; /* begun; what came before one is in it, or done */
    bool clusterings_pending;                 /* one is made or removed, or is to be */
    struct snapshot_wish *snapshot_wish;      /* of check.c, or NULL; granted between two steps */
    uint64_t n_scans_begun;                   /* of the whole tree, or of more of it */

    /* -- under the listing_lock -- */
    pthread_mutex_t listing_lock;
    int (*see_listing)(void *user, int fd, const struct file_key *directory); /* or NULL */
    void *see_listing_user;

    /* -- the committer's alone, once it runs -- */
    struct scan scan;
    struct directory_removal removal;
    struct lull lull;
    uint64_t next_sid, sid_end;            /* sids below sid_end are reserved */
    uint64_t derived_sid;                  /* what derives from all sids up to it is stored */
    char failure[256];                     /* as it is in the log, and its end is not; "": none */
    int64_t resume_after_ms, resume_at_ms; /* when to try a failing store again */
    struct id_map unwritten; /* files whose sketches the store did not take, by hashes of keys */

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
    atomic_uint_fast64_t n_declared; /* index_set_distinct() */
    atomic_uint_fast64_t sketched_documents, sketched_bytes;
};

/* -- index.c -- */
/* As index_open(), with a database by name and, for a new one, a policy with its key; for whoever
 * has taken the store's directory. */
int index_open_db(const struct index_options *options, const char *db, const struct policy *policy,
                  struct index **ret_index, char **ret_error);
/* The same over a store that is open already (NULL: the database's), which is closed with the index
 * or where that cannot be opened. */
int index_open_over(const struct index_options *options, struct kv *store, const char *db,
                    const struct policy *policy, struct index **ret_index, char **ret_error);

/* Ends all threads; questions and the committer's functions may go on from the caller's. */
void index_stop(struct index *index);

/* -- notices.c -- */
/* Under the index's lock. Somebody asked for a scan of the whole tree, or the queue has room again
 * for what it dropped. */
bool index_is_rescan_wanted(struct index *index);

/* Note a change in the foreground; where there is no room for it, a scan finds it. Never fails. */
void index_note(struct index *index, enum change_kind kind, const struct file_key *key,
                const char *name, const struct change *parent);
/* The same of the content of a file of which the store has nothing. */
void index_note_unknown(struct index *index, const struct file_key *file,
                        const struct change *parent);

/* -- worker.c -- */
void *worker_run(void *index);
void *worker_run_slow(void *index);
/* A descriptor of a document or directory, by its key or, without handles, by a path of it. */
int worker_open(struct index *index, const struct file_key *key, int flags);
/* To read a document; that leaves the access time alone where the kernel lets us. */
int worker_open_document(struct index *index, const struct file_key *key);

/* -- below.c -- */
void *below_run(void *index);
/* Works on a CHANGE_BELOW, for as long as that takes. */
void below_list(struct index *index, struct change *change);
/* The entry that is at the name of look->change now, for as long as that takes. */
void below_look(struct index *index, struct name_look *look);

/* -- commit.c: documents into the store and out of it; the committer's -- */
/* Results of workers, of each file once, go into the store: at most RESULTS_AT_ONCE, in one step.
 * 0, or a store error. */
enum { RESULTS_AT_ONCE = 64 };
int commit_results(struct index *index, struct result *const *results, size_t n);
/* Remove a document and its row. 0, or a store error. */
int commit_drop_document(struct index *index, const struct file_key *file);
/* Many at once, each file once: cheaper where they resemble each other. */
int commit_drop_documents(struct index *index, const struct file_key *files, size_t n);

/* -- commit_recovery.c -- */
/* After a crash, before any thread runs, or after a failure of the store. */
int commit_recover(struct index *index);

/* -- committer.c -- */
void *committer_run(void *index);
int committer_flush(struct index *index); /* also what stands in the way of writing */
/* When no thread runs any more: their changes go with the queue, and the next start finds them. */
void committer_drop_results(struct index *index); /* and looks */

/* -- scan.c: the catalogue against the tree; the committer's -- */
/* Begin a scan of the whole tree. */
int scan_begin(struct index *index);
/* Nothing is to be done, or looked at. */
bool scan_is_idle(const struct index *index);
/* The same, but for what is kept locked. */
bool scan_is_over(const struct index *index);
/* A step of the scan is there to be made now; else scanners have it all. */
bool scan_has_step(struct index *index);
/* Some names of a directory, where there is such. Returns 1 when the scan is not idle after it, 0,
 * or an error. */
int scan_step(struct index *index);
/* Ends it half-way; what scanners look at comes to nothing. */
void scan_done(struct index *index);
/* The meaning of a name of a directory has been looked at just now. */
void scan_touch(struct index *index, const struct file_key *directory, const char *name);
/* A directory to be listed; its access time stays as it is where the kernel lets us. Returns the
 * descriptor or an errno. */
int scan_open_directory(struct index *index, const struct file_key *directory);
/* The scan that ran is over but for what is kept locked, and what came since begins, and another
 * may. */
bool scan_may_begin(struct index *index);
/* Scan a directory with those of a set. */
int scan_add_directory(struct index *index, const struct file_key *directory, uid_t owner,
                       unsigned set);
/* A directory not seen before hangs in the tree: scan it beside what is scanned. */
int scan_join_directory(struct index *index, const struct file_key *directory, uid_t owner);
/* A directory that was known has another name: the first pass may not have come by where it was,
 * and have been where it is. */
int scan_join_moved(struct index *index, const struct file_key *directory, uid_t owner);
/* As scan_join_directory(), from any thread; never fails. */
void scan_want_directory(struct index *index, const struct file_key *directory, uid_t owner);
/* Scan what others want. 0, or an error. */
int scan_take_wanted(struct index *index);
/* Looks at what the scan hands out, one directory. False: there is none, and it should not be
 * waited for, or the index ends. A scanner's. */
bool scan_look(struct index *index, bool wait);
void *scan_run(void *index);

static inline bool index_leaves_out_size(const struct index *index, uint64_t size_bytes)
{
    return ignore_leaves_out_size(size_bytes, index->least_bytes, index->most_bytes);
}

/* No passage of a document is lacking: also where none are wanted, or that cannot be told. */
static inline bool index_has_passages(const struct index *index, uint64_t sid)
{
    return !index->passages || passages_has(index->passages, sid) != 0;
}

/* The means by which documents of an index are read. */
static inline struct sketching_by index_sketching_by(const struct index *index, bool takes_slow)
{
    return (struct sketching_by){&index->policy, index->hash, index->extractors, takes_slow};
}

/* -- check.c -- */
/* Between two steps: a snapshot for who waits for one. The committer's. */
void check_grant_snapshot(struct index *index);
/* The database of a store, opened as far as its damage allows; *ret_kv NULL: not at all. 0, or
 * another error. For whoever has taken the store's directory. */
int check_open_damaged(const char *store_path, struct kv **ret_kv);

#endif
