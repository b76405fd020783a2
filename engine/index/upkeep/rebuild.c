/* A rebuild: the scan of a first mount into a database beside the old one, then an exchange of the
 * two. */
#include "engine/index/intake/committer.h"
#include "engine/index/upkeep/rebuild.h"

#include <errno.h>
#include <stdio.h>

#include "engine/index/intake/salvage.h"
#include "engine/index/store_directory.h"
#include "engine/index/tables/distinct.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/upkeep/kept_past.h"

void making_tell(const struct making *making, const struct index_status *status)
{
    if (making->progress)
        making->progress(making->user, status);
}

int making_tell_stage(const struct making *making, const char *stage, const char *table,
                      uint64_t n_rows)
{
    return making->stage ? making->stage(making->user, stage, table, n_rows) : 0;
}

int making_scan(const struct making *making, struct index *index)
{
    enum { PROGRESS_MS = 100 };
    struct index_status status;
    struct index_settling settling = {0};
    int r = index_start(index);
    if (r < 0)
        return r;
    while ((r = index_settle_on(index, INDEX_LANE_ALL, &settling, PROGRESS_MS)) == -ETIMEDOUT) {
        index_get_status(index, &status);
        if (status.failed)
            return -EIO; /* its log said why */
        making_tell(making, &status);
    }
    index_get_status(index, &status);
    making_tell(making, &status);
    index_stop(index);
    return r < 0 ? r : status.failed ? -EIO : 0;
}

int making_keep(struct index *index)
{
    int r = committer_flush(index);
    return r < 0 ? r : kv_checkpoint(index->kv);
}

/* The policy that a rebuild must keep. Returns 1, or 0 when there is none any more. */
static int policy_to_keep(const struct old_store *old, const char *store_path,
                          struct policy *ret_policy)
{
    if (old->index) {
        *ret_policy = old->index->policy;
        return 1;
    }
    return store_identity_read_policy_file(store_path, ret_policy) >= 0 ||
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
    uint64_t passages, topics;
    bool keep = policy_to_keep(old, options->store_path, &policy);

    fresh_options.create = true;
    fresh_options.clusterings = NULL;
    fresh_options.n_clusterings = 0;
    if (keep)
        fresh_options.policy = fresh_options.tokens = fresh_options.stopwords =
            fresh_options.stemmer = NULL;
    for (size_t i = 0; i < old->n_named && fresh_options.n_clusterings < INDEX_CLUSTERINGS_MAX; i++)
        if (!clustering_is_of_topics(&old->named[i].clustering))
            clusterings[fresh_options.n_clusterings++] = old->named[i].clustering;
    if (old->kv)
        fresh_options.clusterings = clusterings;
    if (old->kv && options->passages == INDEX_PASSAGES_AS_STORED &&
        optional_tables_read(old->kv, &passages_tables, &passages) == 0 && passages)
        fresh_options.passages = (unsigned)passages;
    if (old->kv && options->topics == INDEX_TOPICS_AS_STORED &&
        optional_tables_read(old->kv, &topics_tables, &topics) == 0 && topics != TOPICS_OFF)
        fresh_options.topics = INDEX_TOPICS_CONTENT + (topics - TOPICS_CONTENT);
    if (old->kv && options->keep_lost_s == INDEX_KEEP_LOST_AS_STORED)
        fresh_options.keep_lost_s = kept_past_seconds(old->kv);
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

int making_anew(const struct making *making, const struct old_store *old, bool salvage,
                struct index **ret_fresh, char **ret_error)
{
    struct index *fresh = NULL;
    int r = open_fresh(making->options, old, &fresh, ret_error);
    if (r < 0)
        return r;
    fresh->salvaged_from = salvage ? old->salvage : NULL;
    if (fresh->salvaged_from) /* sketches are of that time, not of now */
        r = meta_put_number(fresh->kv, META_MADE, salvage_made(fresh->salvaged_from));
    if (r == 0 && old->kv)
        r = distinct_copy(old->kv, fresh->kv);
    if (r == 0 && old->kv)
        r = kept_past_take(fresh, old->kv);
    if (r == 0)
        r = making_scan(making, fresh);
    if (r == 0)
        r = making_tell_stage(making, "keeping the ids of clusters", NULL, 0);
    if (r == 0)
        r = kept_ids_take(fresh, old);
    if (r == 0 && old->kv)
        r = kept_past_take_births(fresh, old->kv);
    if (r == 0)
        r = making_keep(fresh);
    if (r == 0)
        *ret_fresh = fresh;
    else
        index_close(fresh, 0);
    return r;
}

/* -- the old one, and the exchange -- */

static bool is_damage(int error)
{
    return error == -EUCLEAN || error == -EIO || error == -ENOENT;
}

/* The rows that the database lost, of those that it has of itself, are put back. */
static int put_back(const struct index_options *options)
{
    const struct kv_options kv_options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/" STORE_DB, options->store_path) < 0)
        return -ENOMEM;
    return kv_rocksdb_restore(path, &kv_options);
}

static void old_store_done(struct old_store *old)
{
    old_store_forget(old);
    index_close(old->index, 0);
    kv_close(old->damaged);
    free(old->why);
}

static int open_old(const struct index_options *options, struct old_store *old, char **ret_error)
{
    struct index_options old_options = *options;

    old_options.create = false;
    old_options.policy = old_options.tokens = old_options.stopwords = old_options.stemmer = NULL;
    int r = index_open_db(&old_options, STORE_DB, NULL, &old->index, ret_error);
    if (is_damage(r)) {
        old->why = TAKE_PTR(*ret_error);
        if (!old->why && !(old->why = strdup(strerror(-r))))
            return -ENOMEM;
        old->put_back = put_back(options) > 0;
    }
    if (old->put_back)
        r = index_open_db(&old_options, STORE_DB, NULL, &old->index, ret_error);
    if (is_damage(r)) {
        free(TAKE_PTR(*ret_error));
        r = check_open_damaged(options->store_path, &old->damaged);
    }
    if (r < 0)
        return r;
    old->kv = old->index ? old->index->kv : old->damaged;
    return old_store_know(old);
}

int making_replace(const struct making *making, const char *verb,
                   int (*make)(const struct making *making, const struct old_store *old, void *user,
                               char **ret_error),
                   void *user, char **ret_error)
{
    const struct index_options *options = making->options;
    struct old_store old = {0};
    char *error = NULL;

    _cleanup_close_ int directory = -1;
    int r =
        store_directory_take(options->store_path, options->source,
                             backing_root_fd(options->backing), false, &directory, NULL, &error);
    if (r == 0) {
        making_tell(making, &(struct index_status){.scanning = true});
        r = open_old(options, &old, &error);
        if (r == 0)
            r = make(making, &old, user, &error);
        old_store_done(&old);
        if (r > 0)
            r = store_directory_exchange(options->store_path);
        if (r < 0)
            store_directory_drop_new(options->store_path);
    }
    if (r < 0 && !error &&
        asprintf(&error, "cannot %s the store %s: %s; what was there stands", verb,
                 options->store_path, strerror(-r)) < 0)
        error = NULL;
    if (ret_error && error)
        *ret_error = error;
    else
        free(error);
    return r;
}

static int rebuild(const struct making *making, const struct old_store *old, void *user,
                   char **ret_error)
{
    struct index *fresh;
    (void)user;
    int r = making_anew(making, old, false, &fresh, ret_error);
    if (r < 0)
        return r;
    index_close(fresh, 0);
    return 1;
}

int index_rebuild(const struct index_options *options,
                  void (*progress)(void *user, const struct index_status *status), void *user,
                  char **ret_error)
{
    const struct making making = {.options = options, .progress = progress, .user = user};
    return making_replace(&making, "rebuild", rebuild, NULL, ret_error);
}
