/* Workers: a file to its record. Nothing here writes to the store. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/index/extract/link_fragments.h"
#include "engine/index/extract/passage_words.h"
#include "engine/index/extract/stem_counts.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/open_key.h"
#include "engine/index/intake/open_soon.h"
#include "engine/index/intake/salvage.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/worker.h"
#include "engine/index/queue/lane_share.h"
#include "engine/index/tables/left_out.h"

enum {
    TRIES_MAX = 5, /* of a document that changes while it is read, or fails to be */
    /* Between the flush of a close, which notes the content, and the release that ends the writing
     * there is a fraction of a millisecond. */
    RELEASE_STEP_US = 200,
    RELEASE_STEPS_MAX = 10,
    /* Coarser than any file system's clock tick: a change that comes this soon after another may
     * leave the same times. */
    RACY_NS = 20 * 1000 * 1000,
};

/* The result of look_at() for a document that somebody else is to look at; and of a look at one
 * that is to be read. */
enum { IS_SLOW = 2, IS_LONG = 3, IS_UNREAD = 4 };

struct worker {
    struct index *index;
    struct sketching *sketching;
    struct passage_sketcher *passages; /* NULL: none are wanted */
    struct stem_counts *stems;         /* likewise */
    struct link_fragments *fragments;  /* likewise */
    bool is_slow;                      /* it takes what others passed on */
    struct lane_share share;           /* of one that is not slow */
    int document;                      /* that is being read */
};

static bool is_deleted(int document)
{
    struct stat st;
    return fstat(document, &st) == 0 && st.st_nlink == 0;
}

/* True: nobody waits for the end any more. A change that is not slow ends before one could ask. */
static bool is_over(void *user)
{
    const struct worker *worker = user;
    return change_queue_is_shut_down(worker->index->queue) ||
           (worker->is_slow && is_deleted(worker->document));
}

static bool changed_between(const struct stat *before, const struct stat *after)
{
    struct file_row row = {.size_bytes = (uint64_t)before->st_size,
                           .mtime = before->st_mtim,
                           .ctime = before->st_ctim};
    return !file_row_matches(&row, after);
}

/* True: a change after the reading could leave the same size and times: one that follows the last
 * within a tick, where the clock is no finer; or, as long as the file is open for writing, a store
 * through a mapping into a page that is dirty already. */
static bool is_racy(struct index *index, const struct file_key *key, const struct stat *st)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (writing_set_has(index->writing, key))
        return true;
    if (index->has_fine_times || now.tv_sec > st->st_ctim.tv_sec + 1)
        return false;
    return (now.tv_sec - st->st_ctim.tv_sec) * 1000000000L + now.tv_nsec - st->st_ctim.tv_nsec <
           RACY_NS;
}

static bool is_gone(int error)
{
    return error == -ESTALE || error == -ENOENT;
}

/* Not the document's fault, but the daemon's for the moment. */
static bool is_shortage(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

/* The metadata of a file that cannot be read: its row must match later questions. */
static void stat_unreadable(struct index *index, const struct file_key *key, struct stat *ret_st)
{
    _cleanup_(opened_close) struct opened opened = {
        index, open_document_soon(index, NULL, key, O_PATH | O_CLOEXEC)};
    if (opened.fd < 0 || fstat(opened.fd, ret_st) < 0)
        *ret_st = (struct stat){0};
}

/* A file whose look failed is tried again for a while, then it counts as unreadable. */
static int give_up(struct index *index, const struct change *change, int error,
                   struct result *result)
{
    if (error == -ESHUTDOWN || is_shortage(error))
        return error;
    if (error != -EACCES && error != -EPERM && change->n_tries < TRIES_MAX)
        return -EAGAIN;
    if (error == -ETIMEDOUT) { /* somebody keeps a directory locked: what is known stays */
        index_rescan(index);
        return 0;
    }
    stat_unreadable(index, &change->key, &result->st);
    result->outcome = OUTCOME_FAILED;
    result->error = error;
    return 1;
}

/* A file that was read while it was open for writing has to be read once more. */
static void await_release(struct index *index, const struct file_key *key)
{
    for (int i = 0; i < RELEASE_STEPS_MAX && writing_set_has(index->writing, key); i++)
        usleep(RELEASE_STEP_US);
}

/* The most of a document that this worker reads: all, when it is the only one. */
static uint64_t most_bytes_of(const struct worker *worker, const struct change *change)
{
    if (change->is_long || worker->index->n_slow == 0)
        return SKETCHING_MOST_BYTES;
    return worker->is_slow ? SKETCHING_LONG_BYTES : SKETCHING_SHORT_BYTES;
}

static int sketch(struct worker *worker, const struct change *change, int fd, const struct stat *st,
                  struct document_sketch *ret_sketch, char *ret_reason)
{
    const uint64_t size_bytes = (uint64_t)st->st_size, most_bytes = most_bytes_of(worker, change);
    int r = SKETCHING_TOO_LONG;
    worker->document = fd;
    if (size_bytes <= most_bytes)
        r = sketching_run(worker->sketching, fd, most_bytes, ret_sketch, ret_reason);
    if (r == SKETCHING_SLOW)
        return IS_SLOW;
    if (r != SKETCHING_TOO_LONG)
        return r;
    if (size_bytes > SKETCHING_MOST_BYTES || most_bytes == SKETCHING_MOST_BYTES)
        return sketching_refuse(ret_reason);
    /* One that is longer than fstat(2) said has grown. */
    return size_bytes > SKETCHING_LONG_BYTES || worker->is_slow ? IS_LONG : IS_SLOW;
}

/* The document is as it was; whether it would be read by what read it, too. */
static bool is_read_the_same(struct worker *worker, int fd, const struct file_row *row,
                             struct result *result)
{
    if (sketching_find_extractor(worker->sketching, fd, &result->read_by) != 0 ||
        result->read_by != row->read_by)
        return false;
    result->outcome = OUTCOME_SAME;
    result->sid = row->sid;
    return true;
}

static void say_size(const struct index *index, uint64_t size_bytes, char *ret_reason)
{
    const bool is_short = size_bytes < index->least_bytes;
    snprintf(ret_reason, SKETCHING_REASON_BYTES, LEFT_OUT_REASON "%s than %llu bytes",
             is_short ? "shorter" : "longer",
             (unsigned long long)(is_short ? index->least_bytes : index->most_bytes));
}

/* True also where that cannot be told. */
static bool has_name(struct index *index, const struct file_key *key)
{
    enum catalogue_naming naming;
    return catalogue_have_names(index->kv, &key, 1, NULL, &naming) < 0 ||
           naming != CATALOGUE_NAMELESS;
}

static int take_passages(const struct worker *worker, struct result *result)
{
    _cleanup_(passage_sketch_done) struct passage_sketch found = {0};
    int r = worker->passages ? passage_sketcher_finish(worker->passages, &found) : 0;
    return r < 0 || !worker->passages
               ? r
               : passage_sketch_encode(&found, &result->passages, &result->passages_bytes);
}

static int take_bag(const struct worker *worker, struct result *result)
{
    return worker->stems && topics_kind(worker->index->topics) & TOPICS_CONTENT
               ? stem_counts_finish(worker->stems, &result->bag, &result->bag_bytes)
               : 0;
}

static int take_fragments(const struct worker *worker, const struct document_sketch *found,
                          struct result *result)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    if (!worker->fragments)
        return 0;
    int r = stem_counts_error(worker->stems);
    if (r == 0)
        r = catalogue_links(worker->index->kv, &result->record.key, 1, &links);
    return r < 0 ? r
                 : link_fragments_finish(worker->fragments, found,
                                         links.n_entries ? links.entries[0].name : NULL,
                                         &result->fragments, &result->fragments_bytes);
}

static int take_sketch(const struct worker *worker, const struct change *change,
                       const struct stat *st, const struct document_sketch *found,
                       struct result *result)
{
    result->outcome = OUTCOME_SKETCHED;
    result->read_by = sketching_extractor(worker->sketching);
    result->record = (struct record){
        .key = change->key,
        .size_bytes = (uint64_t)st->st_size,
        .mtime = st->st_mtim,
        .ctime = st->st_ctim,
    };
    int r = take_passages(worker, result);
    if (r == 0)
        r = take_bag(worker, result);
    if (r == 0)
        r = take_fragments(worker, found, result);
    return r < 0 ? r : record_take_sketch(&result->record, found);
}

/* A document is looked at by its row alone, or by that of a store that is mended. As look_at(), or
 * IS_UNREAD. */
static int look_without_reading(struct worker *worker, const struct change *change, int fd,
                                const struct stat *st, struct result *result)
{
    struct index *index = worker->index;
    struct file_row row;
    if (index_leaves_out_size(index, (uint64_t)st->st_size)) {
        say_size(index, (uint64_t)st->st_size, result->reason);
        result->outcome = OUTCOME_FAILED;
        return 1;
    }
    result->extractors_id = extractors_id(index->extractors);
    int r = change->is_unknown ? 1 : catalogue_get_file(index->kv, &change->key, &row);
    const bool is_of_now = r == 0 && !row.racy && !change->is_written && file_row_matches(&row, st);
    if (is_of_now && index_left_out_type(&row) && row.extractors_id == result->extractors_id)
        return 0;
    if (is_of_now && row.sid && index_has_all(index, row.sid)) {
        if (row.extractors_id == result->extractors_id)
            return 0;
        if (is_read_the_same(worker, fd, &row, result))
            return 1;
    }
    if (r == -ENOENT && !has_name(index, &change->key)) {
        result->outcome = OUTCOME_NAMELESS;
        return 1;
    }
    r = index->salvaged_from && !change->is_written
            ? salvage_record(index->salvaged_from, index->policy_id, &change->key, st,
                             &result->record, &row)
            : 0;
    if (r == 0)
        return IS_UNREAD;
    result->outcome = OUTCOME_SKETCHED;
    result->extractors_id = row.extractors_id;
    result->read_by = row.read_by;
    return r;
}

/* As look_at(). */
static int look_by_reading(struct worker *worker, const struct change *change, int fd,
                           struct result *result)
{
    struct index *index = worker->index;
    struct document_sketch found;
    struct stat before = result->st, after;
    await_release(index, &change->key);
    int r = fstat(fd, &before) < 0 ? -errno
                                   : sketch(worker, change, fd, &before, &found, result->reason);
    result->st = before;
    if (r > 0)
        return r;
    if (r == -ESHUTDOWN && !change_queue_is_shut_down(index->queue)) {
        result->outcome = OUTCOME_GONE;
        return 1;
    }
    bool skipped = r == -EBADMSG && *result->reason;
    if (r == 0 || skipped)
        r = fstat(fd, &after) < 0 ? -errno : 0;
    if (r < 0)
        return give_up(index, change, r, result);
    /* One that never stands still is taken as it was found: its times tell every later question. */
    if (changed_between(&before, &after) && change->n_tries < TRIES_MAX)
        return -EAGAIN;
    result->racy = is_racy(index, &change->key, &before);
    if (skipped) {
        result->outcome = OUTCOME_FAILED;
        return 1;
    }
    r = take_sketch(worker, change, &before, &found, result);
    if (r < 0)
        return r;
    atomic_fetch_add(&index->sketched_documents, 1);
    atomic_fetch_add(&index->sketched_bytes, found.size_bytes);
    return 1;
}

/* More than a short document has, however short it is, as what is allocated behind its end. Who
 * closes a removed file last frees all that it has, which can take seconds for some thousand
 * pieces: its owner removes it while it is read, and then it is who reads it. */
static bool has_much(const struct stat *st)
{
    enum { OF_BLOCKS = 512 }; /* st_blocks, whatever the file system's are */
    return (uint64_t)st->st_blocks * OF_BLOCKS > 2 * SKETCHING_SHORT_BYTES;
}

/* The daemon's own user is no other. What root has changed itself may be anybody's: only where the
 * change comes from a look at the file, as of a scan or a name, is its owner the file's. */
static bool is_own(const struct worker *worker, const struct change *change)
{
    if (change->owner != geteuid())
        return false;
    return change->owner != 0 || change->lane == LANE_SCAN || change->n_wholes > 0 ||
           index_owner(worker->index, &change->key) == change->owner;
}

/* What an answer has noted is in the name of nobody, and its owner's all the same. */
static uid_t owner_of(const struct worker *worker, const struct change *change)
{
    return change->owner == FILE_ROW_NOBODY ? index_owner(worker->index, &change->key)
                                            : change->owner;
}

/* A slow worker waits for a document in its owner's turn. */
static int open_document(const struct worker *worker, const struct change *change)
{
    struct index *index = worker->index;
    const bool waits = worker->is_slow || index->n_slow == 0 || is_own(worker, change);
    const int fd =
        waits ? -EOPNOTSUPP : open_to_read_soon(index, owner_of(worker, change), &change->key);
    return fd == -EOPNOTSUPP ? open_key_to_read(index, &change->key) : fd;
}

/* Fills in the result. Returns 1 when there is one, 0 when nothing changed, IS_SLOW or IS_LONG with
 * nothing but the result's stat, -EAGAIN to be tried again later, -ESHUTDOWN, or a shortage. */
static int look_at(struct worker *worker, struct change *change, struct result *result)
{
    struct index *index = worker->index;
    struct stat st;

    /* It is noted when it is closed. That may have been what noted one that was passed on. */
    if (change->lane == LANE_SCAN && !worker->is_slow &&
        writing_set_has(index->writing, &change->key))
        return 0;
    _cleanup_(opened_close) struct opened opened = {index, open_document(worker, change)};
    const int fd = opened.fd;
    if (fd == -EINPROGRESS) {
        result->st.st_uid = owner_of(worker, change);
        return IS_SLOW;
    }
    int r = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;
    if (r < 0 && !(fd < 0 && is_gone(fd)))
        return give_up(index, change, r, result);
    if (r < 0 || !S_ISREG(st.st_mode) || st.st_nlink == 0) {
        result->outcome = OUTCOME_GONE;
        return 1;
    }
    result->st = st;
    if (!worker->is_slow && index->n_slow && has_much(&st))
        return (uint64_t)st.st_size > SKETCHING_LONG_BYTES ? IS_LONG : IS_SLOW;
    r = look_without_reading(worker, change, fd, &st, result);
    return r == IS_UNREAD ? look_by_reading(worker, change, fd, result) : r;
}

/* Waits while the committer has enough to do, so that memory stays bounded. */
static void hand_over(struct index *index, struct result *result)
{
    enum { RESULTS_MAX = 2 * RESULTS_AT_ONCE };
    LOCKED(&index->lock);
    while (index->n_results >= RESULTS_MAX && !index->stop)
        pthread_cond_wait(&index->results_taken, &index->lock);
    STAILQ_INSERT_TAIL(&index->results, result, next);
    index->n_results++;
    /* Results that nobody waits for go into the store many at once. */
    index->results_are_awaited |=
        result->change->lane == LANE_FOREGROUND || atomic_load(&index->n_settling);
    if (index->results_are_awaited || index->n_results == 1 || index->n_results >= RESULTS_AT_ONCE)
        pthread_cond_signal(&index->wake_committer);
}

/* Without descriptors or memory, more haste makes it worse. */
static void retry_later(struct index *index, struct change *change, int error)
{
    enum { PAUSE_MS = 100 };
    if (is_shortage(error)) {
        messages_warn(&index->messages, "documents wait to be read: %s", strerror(-error));
        usleep(PAUSE_MS * 1000);
    }
    change_queue_retry(index->queue, change);
}

static void work_on(struct worker *worker, struct change *change)
{
    struct index *index = worker->index;
    struct result *result = calloc(1, sizeof(*result));
    int r = -ENOMEM;
    if (result) {
        result->change = change;
        r = look_at(worker, change, result);
    }
    if (r == 1) {
        if (worker->is_slow)
            change_queue_end_turn(index->queue, change);
        hand_over(index, result);
        return;
    }
    if (r == IS_SLOW || r == IS_LONG)
        change_queue_pass_on(index->queue, change, result->st.st_uid, r == IS_LONG);
    if (result) {
        free(result->passages);
        free(result->bag);
        free(result->fragments);
    }
    free(result);
    if (r > 0)
        return;
    if (r == 0)
        change_queue_done(index->queue, change);
    else if (r == -ESHUTDOWN)
        change_queue_done(index->queue, change); /* the next start looks again */
    else
        retry_later(index, change, r);
}

/* Not before there is work: of many nobody needs the second kind. */
static int begin_work(struct worker *worker, const struct sketching_by *by)
{
    const struct index *index = worker->index;
    int r = worker->sketching ? 0 : sketching_new(by, is_over, worker, &worker->sketching);
    if (r == 0 && index->passages && !worker->passages)
        r = passage_words_collect(index->passages, worker->sketching, &worker->passages);
    if (r == 0 && index->topics && !worker->stems)
        r = stem_counts_collect(index->hash, worker->sketching, &worker->stems);
    if (r == 0 && index->topics && topics_kind(index->topics) & TOPICS_ANCHOR && !worker->fragments)
        r = link_fragments_collect(index->hash, worker->sketching, worker->stems,
                                   &worker->fragments);
    return r;
}

/* Waits for a change. What is slow is taken in turns of owners, and owes nothing. */
static bool take(struct worker *worker, enum change_kind kind, struct change **ret_change)
{
    struct change_queue *queue = worker->index->queue;
    if (lane_share_is_owed(&worker->share)) {
        const int r = change_queue_take_found(queue, kind, ret_change);
        if (r != 0)
            return r > 0;
        lane_share_forget(&worker->share);
    }
    return change_queue_take(queue, kind, true, ret_change) == 1;
}

static void work(struct index *index, enum change_kind kind, bool takes_slow)
{
    struct worker worker = {.index = index, .is_slow = kind == CHANGE_SLOW_CONTENT};
    const struct sketching_by by = index_sketching_by(index, takes_slow);
    struct change *change;
    niceness_join(&index->niceness);
    while (take(&worker, kind, &change)) {
        const enum change_lane lane = change->lane;
        const int64_t begin_us = clock_now_us();
        const int r = begin_work(&worker, &by);
        if (r == 0)
            work_on(&worker, change);
        else
            retry_later(index, change, r);
        if (!worker.is_slow)
            lane_share_spend(&worker.share, lane, clock_now_us() - begin_us);
    }
    sketching_free(worker.sketching);
    passage_sketcher_free(worker.passages);
    stem_counts_free(worker.stems);
    link_fragments_free(worker.fragments);
    niceness_leave(&index->niceness);
}

void *worker_run(void *user)
{
    struct index *index = user;
    work(index, CHANGE_CONTENT, index->n_slow == 0);
    return NULL;
}

void *worker_run_slow(void *user)
{
    work(user, CHANGE_SLOW_CONTENT, true);
    return NULL;
}
