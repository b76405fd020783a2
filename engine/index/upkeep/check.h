/* Checking a store: every row decodes, and the tables say the same of each other (the invariants
 * are listed in docs/ON_DISK.md). Reads alone, each table from its first row to its last; whatever
 * two tables of different orders must agree on is weighed by a tally (check_tally.h), and only
 * where that is not even single rows are looked up. Memory is fixed, but for the components of
 * --deep.
 *
 * A store is checked at rest: between two steps of the committer, with its postings flushed. In a
 * store that could not be opened after a crash, what the next start would derive from records past
 * the watermarks is let pass.
 */
#ifndef KINFS_ENGINE_INDEX_UPKEEP_CHECK_H
#define KINFS_ENGINE_INDEX_UPKEEP_CHECK_H

#include "engine/index/catalogue/catalogue.h"
#include "engine/index/upkeep/check_tally.h"
#include "engine/index/index.h"
#include "engine/index/postings/postings.h"
#include "engine/index/tables/optional_tables.h"
#include "engine/index/tables/record.h"
#include "engine/index/tables/schema.h"
#include "engine/index/members/shown_ids.h"
#include "engine/index/tables/table_walk.h"

/* The kinds of findings: of each so many are told, the others counted. */
enum check_kind {
    CHECK_UNREADABLE, /* a table, from some row on */
    CHECK_ROWS,       /* rows that do not decode */
    CHECK_STATE,      /* meta, counts, intents */
    CHECK_NAMES,
    CHECK_LINKS,
    CHECK_FILES,
    CHECK_RECORDS,
    CHECK_CLASSES,
    CHECK_POSTINGS_R,
    CHECK_POSTINGS_C,
    CHECK_MEMBERS,
    CHECK_COMPONENTS,
    CHECK_PASSAGES,
    CHECK_TOPICS,
    CHECK_PAST,
    CHECK_N_KINDS
};

/* The store's own state. */
struct check_state {
    uint64_t sid_end, derived_sid, postings_flushed;
    struct file_key root, old_root; /* size 0: none */
    uint64_t policy_id;
    bool has_policy;
};

struct check {
    struct kv *kv;
    double threshold;
    bool interrupted; /* the store is as a crash left it, not at rest */
    bool repairing;   /* clusters are, and documents in two of them are being moved */
    const struct index_check_options *options;
    struct index_check *counts;
    struct check_state state;
    struct shown_ids shown_ids;
    struct path_cache *paths;
    bool unreadable[SCHEMA_N_TABLES]; /* told; nothing that takes all of it can be said */
    uint64_t n_found[CHECK_N_KINDS];
    uint64_t n_rows; /* of the table that is being walked */
    unsigned walked;
    /* A bit for each table that something was found of; the last: the whole store. */
    unsigned wrong;
    bool clusters_are_wrong; /* which --deep found, though the tables say the same of them */
};

/* A finding. table: one of SCHEMA_N_TABLES, or that itself for the whole store. file: the document
 * or directory it is about, NULL: none. Returns 0, or an error of who is told. */
int check_found(struct check *check, enum check_kind kind, unsigned table,
                const struct file_key *file, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A row that does not decode. */
int check_bad_row(struct check *check, unsigned table, const struct kv_entry *entry);
/* A read that failed: a finding, and 0, where it is the store that is damaged; else the error. */
int check_read_failed(struct check *check, unsigned table, int error);
/* Called for each row of a long walk. Returns 0, or an error of who is told. */
int check_walked(struct check *check, unsigned table);

/* Visit all rows of a table, from a key on. Returns 0, also when the table turned out to be
 * unreadable, which then has been told; or an error. What visit returns as 1 ends the walk. */
typedef int (*check_row_fn)(void *user, const struct kv_entry *entry);
int check_each_row(struct check *check, unsigned table, struct kv_slice from, check_row_fn visit,
                   void *user);
/* Tables that are not kept have no rows, unless these are being removed. */
int check_none_kept(struct check *check, enum check_kind kind,
                    const struct optional_tables *tables);

/* Look up some rows at once. As kv_multi_get(), but returns 1 when it could not be read, which has
 * been told. */
int check_look_up(struct check *check, unsigned table, const struct kv_slice *keys, size_t n,
                  struct kv_buf *ret_values);

/* -- the families of tables; each returns 0 or an error, whatever was found -- */

int check_read_state(struct check *check);    /* meta, before the others */
int check_compare_state(struct check *check); /* with what was counted, after them */
/* Two numbers of meta, as they are stored, beside those that were counted; table: in which. */
int check_compare_counts(struct check *check, unsigned table, const char *name, const void *stored,
                         const uint64_t counted[2]);
int check_intents(struct check *check);
int check_pairs(struct check *check);       /* what was compared, and declared to be distinct */
int check_past(struct check *check);        /* what documents were */
int check_catalogue(struct check *check);   /* names, links, files beside links */
int check_documents(struct check *check);   /* files, records, classes; and what hangs on records */
int check_passages(struct check *check);    /* and their postings */
int check_topics(struct check *check);      /* bags, and lists of words */
int check_clusterings(struct check *check); /* by a batch of the records */

/* -- what hangs on records: fed by the walk over them in check_documents() -- */

/* A document as the walk comes by it. */
struct check_document {
    uint64_t sid;
    const struct record *record;
    bool is_first; /* of its class */
};

typedef int (*check_document_fn)(void *user, const struct check_document *document);
/* Visit all documents, ascending. Returns as check_each_row(). A pass over classes and one over
 * records; and a look-up for each document whose sid is 2^28 or more. */
int check_each_document(struct check *check, check_document_fn visit, void *user);

/* Rows that derive from a sid may be missing or half there: only the next start would tell. */
static inline bool check_is_underived(const struct check *check, uint64_t sid)
{
    return check->interrupted && sid > check->state.derived_sid && sid < check->state.sid_end;
}

struct check_postings;
int check_postings_new(struct check *check, enum postings_tier tier,
                       struct check_postings **ret_postings);
void check_postings_free(struct check_postings *postings);
void check_postings_expect(struct check_postings *postings, const struct check_document *document);
int check_postings_compare(struct check_postings *postings); /* after all are expected */

struct check_members;
int check_members_new(struct check *check, struct check_members **ret_members);
void check_members_free(struct check_members *members);
int check_members_expect(struct check_members *members, const struct check_document *document);
int check_members_compare(struct check_members *members);

/* The document of a sid. Returns 1, 0 where there is none, or an error; a record that does not
 * decode is none. */
int check_record(struct check *check, uint64_t sid, struct record *ret_record);
/* A document is the first of its class, by the rows of that: 1, 0, or an error. */
int check_is_first(struct check *check, uint64_t sid, const struct record *record);

/* -- check.c -- */

/* threshold: of its clusters; interrupted: as a crash may have left it; ret_wrong: NULL, or a bit
 * for each table that something was found of, 1 << SCHEMA_N_TABLES for the whole store: also where
 * nothing is wrong but clusters, which no table can be made of then. Returns 0, whatever was found,
 * or an error. */
int check_store(struct kv *kv, double threshold, bool interrupted,
                const struct index_check_options *options, struct index_check *ret_counts,
                unsigned *ret_wrong);

/* The database of a store, opened as far as its damage allows; *ret_kv NULL: not at all. 0, or
 * another error. For whoever has taken the store's directory. */
int check_open_damaged(const char *store_path, struct kv **ret_kv);

#endif
