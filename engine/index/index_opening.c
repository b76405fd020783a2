/* An index is opened: its parts one upon the other, then what a crash has left undone is finished.
 * Nothing runs before index_start() (index.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/thread.h"
#include "engine/index/catalogue/fine_times.h"
#include "base/looks.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/commit.h"
#include "engine/index/members/member_changes.h"
#include "engine/index/store_directory.h"

enum {
    /* An item takes some 300 bytes. The foreground holds what users changed in the last moments;
     * past it the tree is scanned instead. The scan lane is kept far below its bound; what is slow
     * in it, of which an owner has half of this at most, takes some 40 MB. */
    FOREGROUND_MAX = 1 << 16,
    SCAN_MAX = 1 << 20,
    SLOW_MAX = 1 << 17,
    /* Postings in memory, some 64 MB, of 65,000 documents of 5 KB: half as many runs as with half
     * of it, and a merge less for each of them. */
    FLUSH_AFTER = 1 << 21,
    /* Records kept decoded, of some 40,000 documents at least: a part of the memory there is, or of
     * what the store's cache is given. */
    RECORDS_PART = 128,
    RECORDS_PART_OF_CACHE = 4,
    RECORDS_LEAST_BYTES = 64 << 20,
    RECORDS_MOST_BYTES = 128 << 20,
    RESUME_AFTER_MS = 2000, /* between two tries of a failing store */
};

__attribute__((format(printf, 2, 3))) static void explain(char **ret_error, const char *format, ...)
{
    va_list arguments;
    char *message;
    if (!ret_error || *ret_error)
        return;
    va_start(arguments, format);
    if (vasprintf(&message, format, arguments) >= 0)
        *ret_error = message;
    va_end(arguments);
}

static struct index *index_new(const struct index_options *options)
{
    struct index *index = calloc(1, sizeof(*index));
    if (!index)
        return NULL;
    index->backing = options->backing;
    index->n_workers = options->n_workers;
    index->least_bytes = options->least_bytes;
    index->most_bytes = options->most_bytes;
    index->directory = -1;
    index->resume_after_ms = RESUME_AFTER_MS;
    STAILQ_INIT(&index->results);
    STAILQ_INIT(&index->looks);
    pthread_mutex_init(&index->lock, NULL);
    pthread_mutex_init(&index->ending, NULL);
    pthread_mutex_init(&index->listing_lock, NULL);
    niceness_init(&index->niceness);
    messages_init(&index->messages, options->log, options->log_user);
    thread_cond_init(&index->wake_committer);
    pthread_cond_init(&index->wake_scanners, NULL);
    pthread_cond_init(&index->results_taken, NULL);
    thread_cond_init(&index->background_changed);
    return index;
}

void index_free(struct index *index)
{
    looks_free(index->openers);
    named_clusterings_done(&index->named);
    if (index->clusters)
        living_clusters_close(index->clusters);
    past_notes_done(&index->past);
    member_changes_free(index->changes);
    if (index->postings)
        postings_close(index->postings);
    passages_close(index->passages);
    topics_close(index->topics);
    records_close(index->records);
    ignored_free(index->ignored);
    kv_close(index->kv);
    if (index->directory >= 0)
        close(index->directory);
    if (index->hash)
        shingle_hash_free(index->hash);
    if (index->queue)
        change_queue_free(index->queue);
    id_map_done(&index->unwritten);
    sid_tally_done(&index->ruled_anew.of);
    writing_set_free(index->writing);
    extractors_free(index->extractors);
    scan_done(index);
    directory_removal_done(index);
    pthread_cond_destroy(&index->background_changed);
    pthread_cond_destroy(&index->results_taken);
    pthread_cond_destroy(&index->wake_scanners);
    pthread_cond_destroy(&index->wake_committer);
    messages_done(&index->messages);
    niceness_done(&index->niceness);
    kv_set_last_words(NULL, NULL);
    pthread_mutex_destroy(&index->listing_lock);
    pthread_mutex_destroy(&index->lock);
    pthread_mutex_destroy(&index->ending);
    free(index->threads);
    owner_stacks_done(&index->wanted);
    free(index->source);
    free(index->store_path);
    free(index);
}
DEFINE_CLEANUP(struct index *, index_free);

static void say_last_words(void *user, const char *line)
{
    struct index *index = user;
    messages_log(&index->messages, INDEX_LOG_ERROR, "store %s: %s", index->store_path, line);
}

static int open_store(struct index *index, const struct index_options *options, const char *db,
                      char **ret_error)
{
    _cleanup_free_ char *path = NULL;
    struct kv_options kv_options = {
        .tables = schema_tables,
        .n_tables = SCHEMA_N_TABLES,
        .create = options->create,
        .cache_bytes = options->cache_bytes,
        .shown_path = options->store_path,
    };
    if (asprintf(&path, "%s/%s", options->store_path, db) < 0)
        return -ENOMEM;
    kv_set_last_words(say_last_words, index);
    int r = kv_rocksdb_open(path, &kv_options, &index->kv, ret_error);
    if (r < 0)
        return r;
    index->n_lost_rows = kv_rocksdb_n_lost(index->kv);
    if (index->n_lost_rows)
        messages_log(
            &index->messages, INDEX_LOG_WARNING,
            "store %s: its log was lost or cut by a crash or since: of what was written last "
            "%llu rows are missing; the scan finds what they said, with new ids of clusters",
            index->store_path, (unsigned long long)index->n_lost_rows);
    return 0;
}

static int read_sid(struct index *index, const char *name, uint64_t *ret_sid)
{
    int r = meta_get_sid(index->kv, name, ret_sid);
    return r == -ENOENT ? 0 : r;
}

static int refuse_record(void *user, uint64_t sid, const struct record *record)
{
    (void)user, (void)sid, (void)record;
    return -EUCLEAN;
}

/* A sid that is there, or is said to be, and counts as not given out yet would be given out again.
 */
static int read_sids(struct index *index)
{
    uint64_t flushed = 0;
    int r = read_sid(index, "sid_end", &index->sid_end);
    if (r == 0)
        r = read_sid(index, "derived_sid", &index->derived_sid);
    if (r == 0)
        r = read_sid(index, "postings_flushed", &flushed);
    const uint64_t last = flushed > index->derived_sid ? flushed : index->derived_sid;
    if (r == 0 && last && last >= index->sid_end)
        r = -EUCLEAN;
    return r < 0 ? r : records_each(index->kv, index->sid_end, refuse_record, NULL);
}

/* After a crash its log may be lost, and with it which sids were given out; postings, which have no
 * log, may be there. So none is given out that may have been: a log holds some 50,000 documents.
 * Nor ids of clusters, which others may remember. */
static int begin_sids(struct index *index, bool ended_cleanly)
{
    enum { PASSED_OVER = 1 << 17 };
    index->next_sid = index->sid_end ? index->sid_end : 1;
    if (index->n_lost_rows || (index->sid_end && !ended_cleanly))
        index->next_sid += PASSED_OVER;
    return index->n_lost_rows ? living_clusters_pass_ids(index->clusters, PASSED_OVER) : 0;
}

/* The directory of a store that lies in the tree it is of must not be indexed. */
static void find_store_key(struct index *index)
{
    struct file_key key;
    int fd = open(index->store_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && backing_key_at(index->backing, fd, "", &key) == 0)
        index->store_key = key;
    if (fd >= 0)
        close(fd);
}

static void wake_for_work(void *user)
{
    struct index *index = user;
    LOCKED(&index->lock);
    index->entries_noted = true;
    pthread_cond_signal(&index->wake_committer);
}

static size_t records_bytes(const struct index_options *options)
{
    const uint64_t bytes = options->cache_bytes ? options->cache_bytes / RECORDS_PART_OF_CACHE
                                                : memory_of_process() / RECORDS_PART;
    return memory_within(bytes, RECORDS_LEAST_BYTES, RECORDS_MOST_BYTES);
}

static unsigned wanted_passages(const struct index_options *options)
{
    _Static_assert((int)INDEX_PASSAGES_LEAST == (int)PASSAGE_WORDS &&
                       (int)INDEX_PASSAGES_USUAL == (int)PASSAGE_BOUND &&
                       (int)INDEX_PASSAGES_MOST == (int)PASSAGE_BOUND_MAX,
                   "told to others");
    return options->passages == INDEX_PASSAGES_AS_STORED ? PASSAGES_AS_STORED
           : options->passages == INDEX_PASSAGES_NONE    ? 0
                                                         : options->passages;
}

static enum topics_kind wanted_topics(const struct index_options *options)
{
    switch (options->topics) {
    case INDEX_TOPICS_OFF: return TOPICS_OFF;
    case INDEX_TOPICS_CONTENT: return TOPICS_CONTENT;
    case INDEX_TOPICS_ANCHOR: return TOPICS_ANCHOR;
    case INDEX_TOPICS_BOTH: return TOPICS_BOTH;
    default: return TOPICS_AS_STORED;
    }
}

static char *path_of_going(void *user, const struct file_key *file, struct file_key *ret_above)
{
    enum { NAMES_MAX = 16 };
    const struct index *index = user;
    struct file_key at = *file;
    char *path = NULL;
    for (unsigned n = 0; n < NAMES_MAX; n++) {
        _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
        if (file_key_equal(&at, backing_root_key(index->backing)) ||
            catalogue_links(index->kv, &at, 1, &links) < 0 || links.n_entries == 0)
            break;
        char *below = path;
        if (asprintf(&path, "%s%s%s", links.entries[0].name, below ? "/" : "", below ? below : "") <
            0)
            path = NULL;
        free(below);
        if (!path)
            break;
        at = links.entries[0].parent;
    }
    *ret_above = at;
    return path;
}

static int open_parts(struct index *index, const struct index_options *options)
{
    const unsigned tiers[POSTINGS_N_TIERS] = {TABLE_TIER_R, TABLE_TIER_C};
    const size_t max_changes[LANE_N] = {FOREGROUND_MAX, SCAN_MAX};

    index->has_fine_times = fine_times_at(backing_root_fd(index->backing));
    index->writing = writing_set_new();
    if (!index->writing)
        return -ENOMEM;
    int r = shingle_hash_new(&index->policy, &index->hash);
    if (r == 0)
        r = change_queue_new(max_changes, &index->queue);
    if (r == 0)
        r = records_open(index->kv, records_bytes(options), &index->records);
    if (r == 0)
        r = postings_open(index->kv, tiers, FLUSH_AFTER, &index->postings);
    if (r == 0)
        r = passages_open(index->kv, &index->policy, wanted_passages(options), &index->passages);
    if (r == 0)
        r = topics_open(&(struct topics_of){.kv = index->kv,
                                            .root = backing_root_key(index->backing),
                                            .scratch = index->store_path,
                                            .niceness = &index->niceness,
                                            .messages = &index->messages},
                        wanted_topics(options), &index->topics);
    if (r == 0)
        r = living_clusters_open(index->kv, index->records, index->postings,
                                 INDEX_CLUSTER_THRESHOLD, NULL, &index->clusters);
    if (r == 0)
        r = member_changes_new(path_of_going, index, &index->changes);
    if (r == 0)
        living_clusters_tell(index->clusters, index->changes);
    if (r == 0)
        r = named_clusterings_open(&index->named,
                                   &(struct named_clusterings_of){.kv = index->kv,
                                                                  .clusters = index->clusters,
                                                                  .topics = index->topics,
                                                                  .policy = &index->policy,
                                                                  .scratch = index->store_path,
                                                                  .niceness = &index->niceness,
                                                                  .messages = &index->messages},
                                   options);
    if (r == 0)
        r = past_notes_open(&index->past, index->kv,
                            options->keep_lost_s == INDEX_KEEP_LOST_AS_STORED ? UINT64_MAX
                            : options->keep_lost_s == INDEX_KEEP_LOST_NONE    ? 0
                                                                           : options->keep_lost_s);
    index->clusterings_pending = !named_clusterings_is_idle(&index->named) ||
                                 (index->topics && !topics_is_idle(index->topics));
    if (r < 0)
        return r;
    change_queue_on_work(index->queue, wake_for_work, index);
    change_queue_bound_slow(index->queue, SLOW_MAX);

    r = read_sids(index);
    index->last_sid = index->derived_sid;
    if (r == 0)
        r = largest_modulus_read(index->kv, index->policy.m, &index->largest_modulus);
    if (r == 0)
        r = document_counts_read(&index->counts);
    bool counted = index->counts.stored;
    if (r == 0)
        r = begin_sids(index, counted);
    if (r == 0)
        r = commit_recover(index);
    if (r == 0)
        r = directory_removal_recover(index);
    if (r == 0 && !counted)
        r = document_counts_recount(&index->counts); /* what was recovered with the rest */
    return r;
}

/* The store of a database is opened when there is none in it yet. */
static int open_over(struct index *index, const struct index_options *options, const char *db,
                     const struct policy *policy, char **ret_error)
{
    int r = extractors_new(options->extractors, options->n_extractors, options->left_out_types,
                           &index->extractors, ret_error);
    if (r == 0)
        r = index->kv ? 0 : open_store(index, options, db, ret_error);
    index->counts.kv = index->kv;
    if (r == 0) {
        kv_be_patient(index->kv);
        r = store_identity_check(index, options, policy, ret_error);
    }
    if (r == 0) {
        find_store_key(index);
        r = open_parts(index, options);
    }
    if (r == -EUCLEAN)
        explain(ret_error,
                "store %s is damaged; run `kinfs check --repair %s` to mend it (the documents are "
                "not touched)",
                options->store_path, options->source);
    if (r < 0)
        explain(ret_error, "store %s: %s", options->store_path, strerror(-r));
    return r;
}

int index_open_over(const struct index_options *options, struct kv *store, const char *db,
                    const struct policy *policy, struct index **ret_index, char **ret_error)
{
    char *error = NULL;
    _cleanup_(index_free_p) struct index *index = index_new(options);
    if (!index) {
        kv_close(store);
        return -ENOMEM;
    }
    index->kv = store;
    if (!(index->source = strdup(options->source)) ||
        !(index->store_path = strdup(options->store_path)) ||
        !(index->ignored = ignored_new(options->ignore)))
        return -ENOMEM;
    int r = open_over(index, options, db, policy, &error);
    if (r < 0 && ret_error)
        *ret_error = error;
    else
        free(error);
    if (r < 0)
        return r;
    *ret_index = TAKE_PTR(index);
    return 0;
}

int index_open_db(const struct index_options *options, const char *db, const struct policy *policy,
                  struct index **ret_index, char **ret_error)
{
    return index_open_over(options, NULL, db, policy, ret_index, ret_error);
}

int index_open(const struct index_options *options, struct index **ret_index, char **ret_error)
{
    _cleanup_close_ int directory = -1;
    struct index *index;
    bool made = false;
    int r = store_directory_take(options->store_path, options->source,
                                 backing_root_fd(options->backing), options->create, &directory,
                                 &made, ret_error);
    if (r < 0)
        return r;
    r = index_open_db(options, STORE_DB, NULL, &index, ret_error);
    if (r < 0) {
        if (made)
            (void)store_directory_remove(options->store_path, NULL);
        return r;
    }
    index->directory = TAKE_FD(directory);
    index->directory_made = made;
    *ret_index = index;
    return 0;
}
