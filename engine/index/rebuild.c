/* A rebuild: the scan of a first mount into a database beside the old one, then an exchange of the
 * two. A repair: where all that is wrong can be derived from what is not, a copy of the old one in
 * which that is made anew; else as a rebuild, but what the old one still knows of a document is not
 * read again. */
#include <errno.h>
#include <stdio.h>

#include "engine/index/check.h"
#include "engine/index/derived_tables.h"
#include "engine/index/kept_ids.h"
#include "engine/index/salvage.h"
#include "engine/index/store_directory.h"

struct work {
    const struct index_options *options;
    void (*progress)(void *user, const struct index_status *status);
    void *user;
};

static void tell(const struct work *work, const struct index_status *status)
{
    if (work->progress)
        work->progress(work->user, status);
}

/* What a first mount does, or a later one. */
static int scan(struct index *fresh, const struct work *work)
{
    enum { PROGRESS_MS = 100 };
    struct index_status status;
    int r = index_start(fresh);
    if (r < 0)
        return r;
    while ((r = index_settle(fresh, INDEX_LANE_ALL, PROGRESS_MS)) == -ETIMEDOUT) {
        index_get_status(fresh, &status);
        if (status.failed)
            return -EIO; /* its log said why */
        tell(work, &status);
    }
    index_get_status(fresh, &status);
    tell(work, &status);
    index_stop(fresh);
    return r < 0 ? r : status.failed ? -EIO : 0;
}

/* The policy that a rebuild must keep. Returns 1, or 0 when there is none any more. */
static int policy_to_keep(const struct old_store *old, const char *store_path,
                          struct policy *ret_policy)
{
    if (old->index) {
        *ret_policy = old->index->policy;
        return 1;
    }
    return identity_read_policy_file(store_path, ret_policy) >= 0 ||
           (old->kv && salvage_policy(old->kv, ret_policy) >= 0);
}

/* An empty database under the policy, whose clusters will get larger ids than the old one's. */
static int open_fresh(const struct index_options *options, const struct old_store *old,
                      struct index **ret_fresh, char **ret_error)
{
    struct index_options fresh_options = *options;
    struct index *fresh = NULL;
    struct index_clustering clusterings[INDEX_CLUSTERINGS_MAX];
    struct policy policy;
    bool keep = policy_to_keep(old, options->store_path, &policy);

    fresh_options.create = true;
    fresh_options.clusterings = NULL;
    fresh_options.n_clusterings = 0;
    if (keep)
        fresh_options.policy = fresh_options.tokens = fresh_options.stopwords =
            fresh_options.stemmer = NULL;
    for (size_t i = 0; old->index && i < old->index->named.n_wanted; i++)
        clusterings[fresh_options.n_clusterings++] = old->index->named.wanted[i].clustering;
    if (old->index)
        fresh_options.clusterings = clusterings;
    int r = index_open_db(&fresh_options, STORE_DB_NEW, keep ? &policy : NULL, &fresh, ret_error);
    if (r < 0 || !old->kv)
        goto out;
    r = kept_ids_begin(fresh, old);
    index_close(fresh, 0);
    if (r == 0) /* opened again, it counts on from there */
        r = index_open_db(&fresh_options, STORE_DB_NEW, NULL, &fresh, ret_error);
out:
    if (r == 0)
        *ret_fresh = fresh;
    return r;
}

/* The old database goes when this has returned 0. */
static int make_durable(struct index *fresh)
{
    int r = committer_flush(fresh);
    return r < 0 ? r : kv_checkpoint(fresh->kv);
}

static int make_anew(const struct work *work, const struct old_store *old, bool salvage,
                     char **ret_error)
{
    struct index *fresh = NULL;
    int r = open_fresh(work->options, old, &fresh, ret_error);
    if (r < 0)
        return r;
    fresh->known = salvage ? old->kv : NULL;
    r = scan(fresh, work);
    if (r == 0)
        r = kept_ids_take(fresh, old);
    if (r == 0)
        r = make_durable(fresh);
    index_close(fresh, 0);
    return r;
}

/* -- where records, files and names are sound -- */

static void tell_that_it_goes_on(void *user)
{
    tell(user, &(struct index_status){.scanning = true});
}

/* Which tables of the old database are wrong; the whole of it where that cannot be told. */
static int find_wrong(const struct old_store *old, unsigned *ret_wrong)
{
    struct index_check counts;
    int r = old->index ? committer_flush(old->index) : 0;
    *ret_wrong = 1u << SCHEMA_N_TABLES;
    if (r == 0)
        r = check_store(old->kv, INDEX_CLUSTER_THRESHOLD, !old->index,
                        &(struct index_check_options){0}, &counts, ret_wrong);
    return r;
}

static int copy_sound(const struct work *work, const struct old_store *old, unsigned wrong)
{
    const struct kv_options options = {.tables = schema_tables,
                                       .n_tables = SCHEMA_N_TABLES,
                                       .create = true,
                                       .shown_path = work->options->store_path};
    _cleanup_(kv_close_p) struct kv *copy = NULL;
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/" STORE_DB_NEW, work->options->store_path) < 0)
        return -ENOMEM;
    int r = kv_rocksdb_open(path, &options, &copy, NULL);
    return r < 0 ? r
                 : derived_tables_copy(old->kv, copy, wrong, tell_that_it_goes_on, (void *)work);
}

/* The copy as an index, brought up to date with the tree: the old one may have been of an earlier
 * moment. Returns 0, or -EUCLEAN where something is wrong with it still. */
static int finish_copy(const struct work *work, unsigned wrong)
{
    const struct index_check_options check = {.deep = derived_tables_have_clusters(wrong)};
    struct index_options options = *work->options;
    struct index_check counts = {0};
    struct index *copy = NULL;
    options.create = false;
    options.policy = options.tokens = options.stopwords = options.stemmer = NULL;
    options.clusterings = NULL;
    options.n_clusterings = 0;
    int r = index_open_db(&options, STORE_DB_NEW, NULL, &copy, NULL);
    if (r < 0)
        return r;
    r = scan(copy, work);
    if (r == 0)
        r = index_check(copy, &check, &counts);
    if (r == 0)
        r = counts.findings ? -EUCLEAN : make_durable(copy);
    index_close(copy, 0);
    return r;
}

enum mending {
    MENDING_NOTHING, /* all was right once it had been opened */
    MENDING_COPIED,  /* the new database is there */
    MENDING_ANEW,    /* it has to be made from the documents */
};

static bool is_right(const struct work *work, const struct old_store *old)
{
    const struct index_check_options deep = {.deep = true};
    struct index_check counts;
    struct index_status status;
    if (!old->index || index_check(old->index, &deep, &counts) < 0 || counts.findings)
        return false;
    index_get_status(old->index, &status);
    tell(work, &status);
    return true;
}

/* Returns enum mending, or an error. */
static int mend(const struct work *work, const struct old_store *old)
{
    unsigned wrong;
    int r = old->kv ? find_wrong(old, &wrong) : -EUCLEAN;
    if (r == 0 && !wrong && is_right(work, old))
        return MENDING_NOTHING;
    if (r == 0 && !derived_tables_have_all(wrong))
        r = -EUCLEAN;
    if (r == 0)
        r = copy_sound(work, old, wrong);
    if (r == 0)
        r = finish_copy(work, wrong);
    if (r != -EUCLEAN && r != -EIO)
        return r < 0 ? r : MENDING_COPIED;
    store_directory_drop_new(work->options->store_path);
    return MENDING_ANEW;
}

/* -- the old one, and the exchange -- */

static bool is_damage(int error)
{
    return error == -EUCLEAN || error == -EIO || error == -ENOENT;
}

/* What the database lost of what it says of itself. */
static int restore(const struct index_options *options)
{
    const struct kv_options kv_options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/" STORE_DB, options->store_path) < 0)
        return -ENOMEM;
    return kv_rocksdb_restore(path, &kv_options);
}

static int open_old(const struct index_options *options, struct old_store *ret_old,
                    char **ret_error)
{
    struct index_options old_options = *options;
    struct old_store old = {0};

    old_options.create = false;
    old_options.policy = old_options.tokens = old_options.stopwords = old_options.stemmer = NULL;
    int r = index_open_db(&old_options, STORE_DB, NULL, &old.index, ret_error);
    if (is_damage(r) && restore(options) > 0) {
        free(TAKE_PTR(*ret_error));
        r = index_open_db(&old_options, STORE_DB, NULL, &old.index, ret_error);
    }
    if (is_damage(r)) {
        free(TAKE_PTR(*ret_error));
        r = check_open_damaged(options->store_path, &old.damaged);
    }
    if (r < 0)
        return r;
    old.kv = old.index ? old.index->kv : old.damaged;
    old.next_cluster = old.kv ? salvage_next_cluster(old.kv) : 0;
    *ret_old = old;
    return 0;
}

static int replace(const struct work *work, bool salvage, char **ret_error)
{
    const struct index_options *options = work->options;
    struct old_store old = {0};
    char *error = NULL;

    _cleanup_close_ int directory = -1;
    int r =
        store_directory_take(options->store_path, options->source, false, &directory, NULL, &error);
    if (r == 0) {
        tell_that_it_goes_on((void *)work);
        r = open_old(options, &old, &error);
        int mending = r == 0 && salvage ? mend(work, &old) : MENDING_ANEW;
        if (mending < 0)
            r = mending;
        else if (r == 0 && mending == MENDING_ANEW)
            r = make_anew(work, &old, salvage, &error);
        index_close(old.index, 0);
        kv_close(old.damaged);
        if (r == 0 && mending != MENDING_NOTHING)
            r = store_directory_exchange(options->store_path);
        if (r < 0)
            store_directory_drop_new(options->store_path);
    }
    if (r < 0 && !error &&
        asprintf(&error, "cannot %s the store %s: %s; what was there stands",
                 salvage ? "repair" : "rebuild", options->store_path, strerror(-r)) < 0)
        error = NULL;
    if (ret_error && error)
        *ret_error = error;
    else
        free(error);
    return r;
}

int index_rebuild(const struct index_options *options,
                  void (*progress)(void *user, const struct index_status *status), void *user,
                  char **ret_error)
{
    return replace(&(struct work){options, progress, user}, false, ret_error);
}

int index_repair(const struct index_options *options,
                 void (*progress)(void *user, const struct index_status *status), void *user,
                 char **ret_error)
{
    return replace(&(struct work){options, progress, user}, true, ret_error);
}
