/* The order of a check. */
#include "engine/index/upkeep/check.h"

#include <errno.h>
#include <stdio.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/committer.h"
#include "engine/index/intake/snapshot.h"
#include "engine/index/store_directory.h"

int check_store(struct kv *kv, double threshold, bool interrupted,
                const struct index_check_options *options, struct index_check *ret_counts,
                unsigned *ret_wrong)
{
    struct index_check counts = {0};
    struct check check = {.kv = kv,
                          .threshold = threshold,
                          .interrupted = interrupted,
                          .options = options,
                          .counts = &counts};
    int r = check_read_state(&check);
    if (r == 0)
        r = check_intents(&check);
    if (r == 0)
        r = check_pairs(&check);
    if (r == 0)
        r = check_past(&check);
    if (r == 0)
        r = check_catalogue(&check);
    if (r == 0)
        r = check_documents(&check);
    if (r == 0)
        r = check_passages(&check);
    if (r == 0)
        r = check_topics(&check);
    if (r == 0 && options->deep)
        r = check_clusterings(&check);
    if (r == 0)
        r = check_compare_state(&check);
    path_cache_free(check.paths);
    if (r < 0)
        return r;
    *ret_counts = counts;
    if (ret_wrong)
        *ret_wrong = check.wrong || !check.clusters_are_wrong ? check.wrong : 1u << SCHEMA_N_TABLES;
    return 0;
}

/* -- beside the committer -- */

int index_check(struct index *index, const struct index_check_options *options,
                struct index_check *ret_counts)
{
    _cleanup_(kv_close_p) struct kv *snapshot = NULL;
    struct index_check_options here = *options;
    here.scratch = index->store_path;
    int r = index->started ? snapshot_take(index, &snapshot) : committer_flush(index);
    if (r < 0)
        return r;
    return check_store(snapshot ? snapshot : index->kv, INDEX_CLUSTER_THRESHOLD, false, &here,
                       ret_counts, NULL);
}

/* -- a store that cannot be opened as an index -- */

static int told(const struct index_check_options *options, const char *what,
                struct index_check *counts)
{
    const struct index_finding finding = {.table = "store", .what = what};
    counts->findings++;
    return options->found ? options->found(options->user, &finding) : 0;
}

/* As it is, or as far as it can be read. Returns 0 with *ret_kv NULL where there is nothing to be
 * read at all. */
int check_open_damaged(const char *store_path, struct kv **ret_kv)
{
    struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .shown_path = store_path};
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/" STORE_DB, store_path) < 0)
        return -ENOMEM;
    *ret_kv = NULL;
    int r = kv_rocksdb_open(path, &options, ret_kv, NULL);
    if (r == -EUCLEAN || r == -EIO) {
        options.read_only = options.damaged = true;
        r = kv_rocksdb_open(path, &options, ret_kv, NULL);
    }
    return r == -EUCLEAN || r == -EIO || r == -ENOENT ? 0 : r;
}

int index_check_damaged(const struct index_options *index_options, const char *why,
                        const struct index_check_options *options, struct index_check *ret_counts,
                        char **ret_error)
{
    _cleanup_close_ int directory = -1;
    _cleanup_(kv_close_p) struct kv *kv = NULL;
    struct index_check counts = {0}, found = {0};
    struct index_check_options here = *options;
    here.scratch = index_options->store_path;
    int r = store_directory_take(index_options->store_path, index_options->source,
                                 backing_root_fd(index_options->backing), false, &directory, NULL,
                                 ret_error);
    if (r < 0)
        return r;
    r = told(options, why, &counts);
    if (r == 0)
        r = check_open_damaged(index_options->store_path, &kv);
    if (r == 0 && kv)
        r = check_store(kv, INDEX_CLUSTER_THRESHOLD, true, &here, &found, NULL);
    if (r < 0)
        return r;
    found.findings += counts.findings;
    *ret_counts = found;
    return 0;
}
