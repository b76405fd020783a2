/* A repair: one check that says what is wrong, a new database beside the old one, and one check of
 * that before it takes the old one's place. Where all that is wrong can be derived from what is
 * not, the new one is a copy in which that is made anew; else it is made as by a rebuild, but what
 * the old one still knows of a document is not read again.
 *
 * Without the first check nobody would know which of the two it is to be, without the second what
 * both sides of a table have wrong would come to be right (derived_tables.h), or the fault of a
 * disk for a mended store. */
#include <errno.h>
#include <stdio.h>

#include "engine/index/intake/committer.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/upkeep/derived_tables.h"
#include "engine/index/upkeep/rebuild.h"
#include "engine/index/store_directory.h"

struct mending {
    const struct index_repair_options *wanted;
    enum index_mending outcome;
};

/* -- the checks -- */

struct looking {
    const struct making *making;
    const char *stage;
    const struct index_repair_options *told; /* of what is found; NULL: nobody */
};

static int tell_found(void *user, const struct index_finding *finding)
{
    const struct looking *looking = user;
    const struct index_repair_options *told = looking->told;
    return told && told->found ? told->found(told->user, finding) : 0;
}

static int tell_rows(void *user, const char *table, uint64_t n_rows)
{
    const struct looking *looking = user;
    return making_tell_stage(looking->making, looking->stage, table, n_rows);
}

static struct index_check_options options_for(struct looking *looking, bool deep)
{
    return (struct index_check_options){.deep = deep,
                                        .found = tell_found,
                                        .progress = tell_rows,
                                        .user = looking,
                                        .scratch = looking->making->options->store_path};
}

/* The wrong tables of the old store: a bit for each table, that of the whole store where it cannot
 * be told. Where something was put back, deep: it may be of an earlier moment. */
static int find_wrong(const struct making *making, const struct old_store *old,
                      const struct mending *mending, struct index_check *ret_counts,
                      unsigned *ret_wrong)
{
    struct looking looking = {making, "checking", mending->wanted};
    const struct index_check_options options =
        options_for(&looking, mending->wanted->deep || old->put_back);
    struct index_check counts = {0};
    unsigned wrong = 1u << SCHEMA_N_TABLES;
    const char *why = old->why;
    int r = old->index ? committer_flush(old->index) : 0;
    bool readable = r == 0 && old->kv;
    if (r == -EUCLEAN || r == -EIO) {
        why = strerror(-r);
        r = 0;
    }
    if (r == 0 && why)
        r = tell_found(&looking, &(struct index_finding){.table = "store", .what = why});
    if (r == 0 && readable)
        r = check_store(old->kv, INDEX_CLUSTER_THRESHOLD, !old->index, &options, &counts, &wrong);
    counts.findings += why != NULL;
    *ret_counts = counts;
    *ret_wrong = wrong;
    return r;
}

/* Returns 0, or -EUCLEAN where something is wrong with what was made. */
static int check_made(const struct making *making, struct index *made, bool deep)
{
    struct looking looking = {making, "checking what was made", NULL};
    const struct index_check_options options = options_for(&looking, deep);
    struct index_check counts = {0};
    int r = index_check(made, &options, &counts);
    return r == 0 && counts.findings ? -EUCLEAN : r;
}

/* -- where records, files and names are sound -- */

static int tell_copied(void *user, const char *table, uint64_t n_rows)
{
    return making_tell_stage(user, "copying", table, n_rows);
}

static int copy_sound(const struct making *making, const struct old_store *old, unsigned wrong)
{
    const struct kv_options options = {.tables = schema_tables,
                                       .n_tables = SCHEMA_N_TABLES,
                                       .create = true,
                                       .shown_path = making->options->store_path};
    _cleanup_(kv_close_p) struct kv *copy = NULL;
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/" STORE_DB_NEW, making->options->store_path) < 0)
        return -ENOMEM;
    int r = kv_rocksdb_open(path, &options, &copy, NULL);
    return r < 0 ? r : derived_tables_copy(old->kv, copy, wrong, tell_copied, (void *)making);
}

/* The copy as an index, brought up to date with the tree: the old one may have been of an earlier
 * moment. Returns 0, or -EUCLEAN where something is wrong with it still. */
static int finish_copy(const struct making *making, bool deep)
{
    struct index_options options = *making->options;
    struct index *copy = NULL;
    options.create = false;
    options.policy = options.tokens = options.stopwords = options.stemmer = NULL;
    options.clusterings = NULL;
    options.passages = INDEX_PASSAGES_AS_STORED;
    options.topics = INDEX_TOPICS_AS_STORED;
    options.n_clusterings = 0;
    int r = making_tell_stage(making, "deriving postings", NULL, 0);
    if (r == 0)
        r = index_open_db(&options, STORE_DB_NEW, NULL, &copy, NULL);
    if (r < 0)
        return r;
    r = making_scan(making, copy);
    if (r == 0)
        r = making_keep(copy);
    if (r == 0)
        r = check_made(making, copy, deep);
    index_close(copy, 0);
    return r;
}

/* Returns 0, -EUCLEAN or -EIO where it cannot be done so, or an error. */
static int mend_derived(const struct making *making, const struct old_store *old, unsigned wrong,
                        bool deep)
{
    int r = copy_sound(making, old, wrong);
    if (r == 0) /* what could not be opened may have tables of different moments */
        r = finish_copy(making, deep || !old->index || derived_tables_have_clusters(wrong));
    return r;
}

/* -- */

static int mend_anew(const struct making *making, const struct old_store *old, bool deep,
                     char **ret_error)
{
    struct index *fresh;
    int r = making_anew(making, old, true, &fresh, ret_error);
    if (r < 0)
        return r;
    r = check_made(making, fresh, deep);
    index_close(fresh, 0);
    if (r == -EUCLEAN &&
        asprintf(ret_error,
                 "%s: what was made anew is wrong, too; is the disk it is on sound? What was there "
                 "stands",
                 making->options->store_path) < 0)
        *ret_error = NULL;
    return r;
}

/* The old store stays: how much that is. */
static int stay(const struct making *making, const struct old_store *old, struct mending *mending,
                enum index_mending outcome)
{
    struct index_status status;
    index_get_status(old->index, &status);
    making_tell(making, &status);
    mending->outcome = outcome;
    return 0;
}

static int mend(const struct making *making, const struct old_store *old, void *user,
                char **ret_error)
{
    struct mending *mending = user;
    const struct index_repair_options *wanted = mending->wanted;
    struct index_check counts;
    unsigned wrong;
    int r = find_wrong(making, old, mending, &counts, &wrong);
    if (r == 0 && wanted->checked)
        r = wanted->checked(wanted->user, &counts);
    if (r < 0)
        return r;
    if (old->index && !wrong)
        return stay(making, old, mending, old->why ? INDEX_MENDING_PUT_BACK : INDEX_MENDING_NONE);
    if (derived_tables_have_all(wrong)) {
        r = mend_derived(making, old, wrong, wanted->deep);
        mending->outcome = INDEX_MENDING_DERIVED;
        if (r != -EUCLEAN && r != -EIO)
            return r < 0 ? r : 1;
        store_directory_drop_new(making->options->store_path);
    }
    r = mend_anew(making, old, wanted->deep, ret_error);
    mending->outcome = INDEX_MENDING_ANEW;
    return r < 0 ? r : 1;
}

int index_repair(const struct index_options *options, const struct index_repair_options *wanted,
                 char **ret_error)
{
    const struct making making = {.options = options,
                                  .progress = wanted->progress,
                                  .stage = wanted->stage,
                                  .user = wanted->user};
    struct mending mending = {.wanted = wanted};
    int r = making_replace(&making, "repair", mend, &mending, ret_error);
    return r < 0 ? r : (int)mending.outcome;
}
