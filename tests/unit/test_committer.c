/* The committer over a store that fails, and with results made by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "engine/index/index_private.h"
#include "engine/index/intake/reconcile.h"
#include "tests/lib/kv_fault.h"
#include "tests/lib/scratch.h"

struct fixture {
    char root[64], tree[80], store[80];
    struct backing *backing;
    struct index *index;
    struct kv *kv, *fault; /* the index's own, and what stands before it */
    bool dies;             /* by its plan; perhaps only at the last write */
    pthread_mutex_t lock;
    unsigned n_logged[INDEX_LOG_INFO + 1];
    char last_message[256];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    scratch_make(f->root);
    snprintf(f->tree, sizeof(f->tree), "%s/tree", f->root);
    snprintf(f->store, sizeof(f->store), "%s/store", f->root);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    pthread_mutex_init(&f->lock, NULL);
    *state = f;
    return 0;
}

static void take_message(void *user, enum index_log_level level, const char *message)
{
    struct fixture *f = user;
    LOCKED(&f->lock);
    f->n_logged[level]++;
    snprintf(f->last_message, sizeof(f->last_message), "%s", message);
}

static unsigned n_logged(struct fixture *f, enum index_log_level level)
{
    LOCKED(&f->lock);
    return f->n_logged[level];
}

/* What the committer itself reads and writes goes through the plan; clusters and postings do not.
 */
static void open_index(struct fixture *f, const struct kv_fault_plan *plan)
{
    char *error = NULL;
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = {.backing = f->backing,
                                    .source = f->tree,
                                    .store_path = f->store,
                                    .create = true,
                                    .log = take_message,
                                    .log_user = f};
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    f->kv = f->index->kv;
    assert_int_equal(kv_fault_open(f->kv, plan, &f->fault), 0);
    f->index->kv = f->index->counts.kv = f->fault;
    f->dies = plan->crash_after_writes > 0;
}

static void start(struct fixture *f, const struct kv_fault_plan *plan)
{
    open_index(f, plan);
    assert_int_equal(index_start(f->index), 0);
}

static void stop(struct fixture *f)
{
    index_settle(f->index, INDEX_LANE_FOREGROUND, 600000);
    index_stop(f->index);
    if (f->index->store_error == 0) {
        int r = committer_flush(f->index);
        assert_true(r == 0 || (f->dies && r == -EIO));
    }
    f->index->kv = f->index->counts.kv = f->kv;
    index_close(f->index, 0);
    kv_close(f->fault);
    backing_close(f->backing);
    f->index = NULL;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    if (f->index)
        stop(f);
    scratch_remove(f->root);
    free(f);
    return 0;
}

static const struct kv_fault_plan no_fault;

static void settle(struct fixture *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 600000), 0);
}

static void settle_foreground(struct fixture *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
}

static void write_text(struct fixture *f, const char *name, unsigned version)
{
    char *text = scratch_text(1, version, 600, version % 8);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static struct file_key key_of(struct fixture *f, const char *name)
{
    struct file_key key;
    assert_int_equal(backing_key_at(f->backing, backing_root_fd(f->backing), name, &key), 0);
    return key;
}

static struct index_status status_of(struct fixture *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status;
}

static size_t n_similar(struct fixture *f, const char *name)
{
    struct file_key key = key_of(f, name);
    struct index_query query = {.threshold = 0.4};
    struct kin_list list = {0};
    int r = index_similar(f->index, &key, &query, &list);
    assert_true(r == 0 || r == -ENOENT);
    size_t n = list.n_kin;
    kin_list_done(&list);
    return n;
}

/* -- a store that dies -- */

static void test_committer__counts_are_right_after_a_death_at_any_write(void **state)
{
    struct fixture *f = *state;
    unsigned n_files = 0;
    write_text(f, "first", 0);
    start(f, &no_fault);
    settle(f);
    stop(f);
    for (unsigned n = 1; n <= 6; n++) {
        char name[32];
        snprintf(name, sizeof(name), "f%u", n_files++);
        write_text(f, name, n);
        write_text(f, "first", n); /* one comes, one is rewritten */
        start(f, &(struct kv_fault_plan){.crash_after_writes = n});
        struct file_key first = key_of(f, "first");
        index_note_entry(f->index, backing_root_key(f->backing), name);
        settle_foreground(f);
        index_note_content(f->index, &first);
        settle_foreground(f);
        stop(f);
        start(f, &no_fault);
        settle(f);
        struct index_status status = status_of(f);
        assert_int_equal(document_counts_recount(&f->index->counts), 0); /* nobody changes it now */
        assert_int_equal(status.documents, status_of(f).documents);
        assert_int_equal(status_of(f).documents, n_files + 1);
        assert_int_equal(status_of(f).skipped, 0);
        assert_int_equal(n_similar(f, "first"), n_files);
        stop(f);
    }
}

/* Who is asked is the test: no committer runs. */
static void reconcile_names(struct fixture *f, const char (*names)[32], size_t n)
{
    struct change *changes[8];
    size_t n_changes = 0;
    for (size_t i = 0; i < n; i++)
        index_note_entry(f->index, backing_root_key(f->backing), names[i]);
    while (n_changes < 8 &&
           change_queue_take(f->index->queue, CHANGE_ENTRY, false, &changes[n_changes]) == 1)
        n_changes++;
    assert_int_equal(n_changes, n);
    struct look looks[8] = {0}, *at[8];
    uid_t owners[8];
    for (size_t i = 0; i < n; i++) {
        owners[i] = RECONCILE_NOBODY;
        at[i] = &looks[i];
        looks[i].change = changes[i];
        below_look(f->index, &looks[i]);
    }
    assert_int_equal(reconcile_entries(f->index, changes, at, n, owners), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(owners[i], RECONCILE_NOBODY);
    for (size_t i = 0; i < n; i++)
        change_queue_done(f->index->queue, changes[i]);
}

/* What a worker makes of all contents that are noted, in one step. */
static int commit_together(struct fixture *f, size_t n)
{
    struct result *results[8];
    pthread_t worker;
    size_t n_ready = 0;
    assert_int_equal(pthread_create(&worker, NULL, worker_run, f->index), 0);
    while (n_ready < n) {
        usleep(1000);
        LOCKED(&f->index->lock);
        n_ready = f->index->n_results;
    }
    change_queue_shut_down(f->index->queue);
    pthread_join(worker, NULL);
    assert_int_equal(n_ready, n);
    for (size_t i = 0; i < n; i++) {
        results[i] = STAILQ_FIRST(&f->index->results);
        STAILQ_REMOVE_HEAD(&f->index->results, next);
        assert_int_equal(results[i]->outcome, OUTCOME_SKETCHED);
    }
    f->index->n_results = 0;
    int r = commit_results(f->index, results, n);
    f->index->store_error = r;
    for (size_t i = 0; i < n; i++) {
        change_queue_done(f->index->queue, results[i]->change);
        record_done(&results[i]->record);
        free(results[i]);
    }
    return r;
}

/* A new one, its twin and another, one rewritten, and one that is written with what it had. Returns
 * whether the store died. */
static bool come_together(struct fixture *f, unsigned round)
{
    char names[3][32];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(names[i], sizeof(names[i]), "f%u%c", round, 'a' + i);
        write_text(f, names[i], 3 * round + (i == 2));
    }
    write_text(f, "old", 100 + round);
    write_text(f, "same", 7);
    open_index(f, &no_fault);
    reconcile_names(f, (const char(*)[32])names, 3);
    kv_close(f->fault);
    assert_int_equal(
        kv_fault_open(f->kv, &(struct kv_fault_plan){.crash_after_writes = round}, &f->fault), 0);
    f->index->kv = f->index->counts.kv = f->fault;
    struct file_key old = key_of(f, "old"), same = key_of(f, "same");
    index_note_content(f->index, &old);
    index_note_content(f->index, &same);
    f->dies = true;
    bool died = commit_together(f, 5) < 0;
    if (!died)
        assert_int_equal(status_of(f).documents, 2 + 3 * round);
    stop(f);
    return died;
}

static void test_committer__a_death_among_contents_that_come_together(void **state)
{
    struct fixture *f = *state;
    bool died = true;
    write_text(f, "old", 99);
    write_text(f, "same", 7);
    start(f, &no_fault);
    settle(f);
    stop(f);
    for (unsigned round = 1; died; round++) {
        char name[32];
        usleep(50 * 1000); /* times that tell a later change */
        died = come_together(f, round);
        assert_true(died || round > 2);
        start(f, &no_fault);
        settle(f);
        unsigned n = 2 + 3 * round;
        assert_int_equal(status_of(f).documents, n);
        assert_int_equal(document_counts_recount(&f->index->counts), 0);
        assert_int_equal(status_of(f).documents, n);
        assert_int_equal(n_similar(f, "old"), n - 1);
        for (unsigned i = 0; i < 3; i++) {
            snprintf(name, sizeof(name), "f%u%c", round, 'a' + i);
            assert_int_equal(n_similar(f, name), n - 1);
        }
        assert_int_equal(status_of(f).clustered_documents, n);
        assert_int_equal(status_of(f).clusters, 1);
        stop(f);
    }
}

/* -- counts that are stored -- */

static void put_counts(struct fixture *f, uint64_t n_documents, uint64_t n_skipped)
{
    uint8_t value[16];
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    put_be64(value, n_documents);
    put_be64(value + 8, n_skipped);
    kv_batch_put(batch, TABLE_META, (struct kv_slice){"document_counts", 15},
                 (struct kv_slice){value, sizeof(value)});
    assert_int_equal(kv_apply(f->kv, batch), 0);
}

static int get_counts(struct fixture *f, uint64_t *ret_documents, uint64_t *ret_skipped)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(f->kv, TABLE_META, (struct kv_slice){"document_counts", 15}, &value);
    if (r == 0) {
        assert_int_equal(value.size_bytes, 16);
        *ret_documents = get_be64(value.data);
        *ret_skipped = get_be64((const uint8_t *)value.data + 8);
    }
    return r;
}

/* Another number than that of the rows shows which of the two a start goes by. */
static void test_committer__a_start_after_a_clean_end_does_not_count(void **state)
{
    struct fixture *f = *state;
    uint64_t n_documents, n_skipped;
    write_text(f, "a", 1);
    write_text(f, "b", 2);
    start(f, &no_fault);
    settle(f);
    assert_int_equal(get_counts(f, &n_documents, &n_skipped), -ENOENT);
    stop(f);

    open_index(f, &no_fault);
    assert_int_equal(get_counts(f, &n_documents, &n_skipped), 0);
    assert_int_equal(n_documents, 2);
    assert_int_equal(n_skipped, 0);
    put_counts(f, 70, 7);
    stop(f);
    open_index(f, &no_fault);
    assert_int_equal(status_of(f).documents, 70);
    assert_int_equal(status_of(f).skipped, 7);

    /* The first row that changes takes them away, and a start without them counts. */
    struct file_key a = key_of(f, "a");
    assert_int_equal(commit_drop_document(f->index, &a), 0);
    assert_int_equal(get_counts(f, &n_documents, &n_skipped), -ENOENT);
    f->index->counts.lost = true; /* as a crash does: nothing is stored */
    stop(f);
    open_index(f, &no_fault);
    assert_int_equal(status_of(f).documents, 1);
    assert_int_equal(status_of(f).skipped, 0);
}

static void test_committer__counts_of_another_size_are_damage(void **state)
{
    struct fixture *f = *state;
    char *error = NULL;
    start(f, &no_fault);
    settle(f);
    stop(f);
    open_index(f, &no_fault);
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, TABLE_META, (struct kv_slice){"document_counts", 15},
                 (struct kv_slice){"short", 5});
    assert_int_equal(kv_apply(f->kv, batch), 0);
    stop(f);

    struct index *index = NULL;
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store, .create = true};
    assert_int_equal(index_open(&options, &index, &error), -EUCLEAN);
    assert_non_null(strstr(error, "kinfs check --repair"));
    free(error);
    backing_close(f->backing);
}

/* A directory leaves the tree and comes back: its files look as they did. */
static void test_committer__a_half_removed_document_is_sketched_anew(void **state)
{
    struct fixture *f = *state;
    mkdir(scratch_path(f->tree, "d"), 0755);
    write_text(f, "d/a", 1);
    write_text(f, "d/b", 2);
    usleep(50 * 1000); /* times that tell a later change */
    start(f, &no_fault);
    settle(f);
    stop(f);
    for (unsigned n = 1; n <= 8; n++) {
        char away[128], here[128];
        snprintf(away, sizeof(away), "%s/away", f->root);
        snprintf(here, sizeof(here), "%s/d", f->tree);
        open_index(f, &(struct kv_fault_plan){.crash_after_writes = n});
        assert_int_equal(rename(here, away), 0);
        struct file_key directory;
        enum entry_type type;
        assert_int_equal(catalogue_get(f->kv, backing_root_key(f->backing), "d", &directory, &type),
                         0);
        _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
        assert_int_equal(catalogue_children(f->kv, &directory, NULL, 8, &list), 0);
        for (size_t i = 0; i < list.n_entries; i++)
            if (commit_drop_document(f->index, &list.entries[i].child) < 0)
                break;
        stop(f);
        assert_int_equal(rename(away, here), 0);
        start(f, &no_fault);
        settle(f);
        assert_int_equal(n_similar(f, "d/a"), 1);
        assert_int_equal(status_of(f).documents, 2);
        stop(f);
    }
}

/* -- a store that fails -- */

static void test_committer__damage_is_said_once_and_ends_every_wait(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 30; i++) {
        char name[32];
        snprintf(name, sizeof(name), "f%u", i);
        write_text(f, name, i);
    }
    start(f, &(struct kv_fault_plan){.fail_call = 1, .fail_error = -EUCLEAN});
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 600000), -EUCLEAN);
    index_rescan(f->index);
    usleep(2500 * 1000); /* it would have been tried again */
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 600000), -EUCLEAN);
    settle_foreground(f);
    assert_int_equal(n_logged(f, INDEX_LOG_ERROR), 1);
    assert_int_equal(n_logged(f, INDEX_LOG_INFO), 0);
    assert_non_null(strstr(f->last_message, "kinfs check --repair"));
    assert_non_null(strstr(status_of(f).last_error, "is damaged"));
    assert_false(status_of(f).scanning);
    assert_int_equal(committer_flush(f->index), -EUCLEAN);
}

static void test_committer__a_failure_is_said_once_and_its_end_once(void **state)
{
    struct fixture *f = *state;
    write_text(f, "a", 1);
    write_text(f, "b", 2);
    start(f, &(struct kv_fault_plan){.fail_call = 1, .fail_error = -EIO});
    settle(f);
    while (n_logged(f, INDEX_LOG_INFO) == 0)
        usleep(1000);
    assert_int_equal(n_logged(f, INDEX_LOG_ERROR), 1);
    assert_int_equal(n_logged(f, INDEX_LOG_INFO), 1);
    assert_non_null(strstr(f->last_message, "can be written again"));
    assert_string_equal(status_of(f).last_error, "");
    assert_int_equal(status_of(f).documents, 2);
    assert_int_equal(n_similar(f, "a"), 1);
}

/* A burst into a store that fails at some call, and is tried again soon. Whatever was dropped,
 * every wait ends, and in the end all is there and counted. Returns the calls or writes that there
 * were until then, and adds to *n_failed if the committer met the failure. A call that was not
 * reached by then fails nothing: nobody asks. */
static uint64_t fail_amid_a_burst(struct fixture *f, unsigned n_files,
                                  const struct kv_fault_plan *plan, unsigned *n_failed)
{
    enum { N_NEW = 5 };
    uint64_t n_calls, n_writes, n_documents = n_files + N_NEW + 1;
    char name[32];
    write_text(f, "old", 100 + n_files);
    open_index(f, plan);
    f->index->resume_after_ms = 20;
    assert_int_equal(index_start(f->index), 0);
    struct file_key old = key_of(f, "old");
    index_note_content(f->index, &old);
    for (unsigned i = 0; i < N_NEW; i++) {
        snprintf(name, sizeof(name), "f%u", n_files + i);
        write_text(f, name, i / 2);
        index_note_entry(f->index, backing_root_key(f->backing), name);
    }
    settle_foreground(f);
    settle(f);
    *n_failed += status_of(f).failed > 0;
    assert_int_equal(status_of(f).store_error, 0);
    assert_int_equal(status_of(f).pending_foreground + status_of(f).pending_scan, 0);
    assert_int_equal(status_of(f).documents, n_documents);
    assert_int_equal(status_of(f).clustered_documents, n_documents);
    kv_fault_counts(f->fault, &n_calls, &n_writes);
    if (n_calls >= plan->fail_call)
        assert_int_equal(n_similar(f, "old"), n_documents - 1);
    index_stop(f->index);
    f->index->kv = f->index->counts.kv = f->kv;
    assert_int_equal(document_counts_recount(&f->index->counts), 0); /* the other route */
    assert_int_equal(status_of(f).documents, n_documents);
    assert_int_equal(status_of(f).skipped, 0);
    stop(f);
    return plan->late_failure ? n_writes : n_calls;
}

static void test_committer__a_write_that_happens_and_fails_amid_a_burst(void **state)
{
    struct fixture *f = *state;
    unsigned n_files = 0, n_failed = 0;
    uint64_t n_writes = 1;
    for (unsigned n = 1; n <= n_writes; n++, n_files += 5)
        n_writes = fail_amid_a_burst(
            f, n_files, &(struct kv_fault_plan){.late_failure = n, .fail_error = -ENOSPC},
            &n_failed);
    assert_true(n_failed > 3);
}

static void test_committer__a_call_that_fails_amid_a_burst(void **state)
{
    struct fixture *f = *state;
    unsigned n_files = 0, n_failed = 0, n = 1;
    /* Whether a worker met it, who asks again, or the committer, is chance. */
    for (uint64_t n_calls = n; n_calls >= n && n < 60; n += 7, n_files += 5)
        n_calls = fail_amid_a_burst(
            f, n_files, &(struct kv_fault_plan){.fail_call = n, .fail_error = -ENOSPC}, &n_failed);
    assert_true(n > 4 * 7);
}

/* -- results made by hand: the committer runs, and a lister, who looks for names that a file system
 * may not answer at once; no worker does -- */

static void start_committer(struct fixture *f)
{
    open_index(f, &no_fault);
    f->index->workers = calloc(1, sizeof(*f->index->workers));
    assert_int_equal(pthread_create(&f->index->workers[0], NULL, below_run, f->index), 0);
    f->index->n_started = 1;
    assert_int_equal(pthread_create(&f->index->committer, NULL, committer_run, f->index), 0);
    f->index->started = true;
}

/* False: one was given up, and none is there. */
static bool take_content(struct fixture *f, struct change **ret_change)
{
    while (change_queue_take(f->index->queue, CHANGE_CONTENT, false, ret_change) != 1) {
        if (status_of(f).skipped)
            return false;
        usleep(1000);
    }
    return true;
}

static void hand_over(struct fixture *f, struct change *change, enum outcome outcome, int error)
{
    struct result *result = calloc(1, sizeof(*result));
    result->change = change;
    result->outcome = outcome;
    result->error = error;
    LOCKED(&f->index->lock);
    STAILQ_INSERT_TAIL(&f->index->results, result, next);
    f->index->n_results++;
    pthread_cond_signal(&f->index->wake_committer);
}

static void test_committer__an_unreadable_document_is_said_once(void **state)
{
    struct fixture *f = *state;
    struct change *change;
    write_text(f, "two\nlines", 1);
    start_committer(f);
    index_note_entry(f->index, backing_root_key(f->backing), "two\nlines");
    for (unsigned i = 0; i < 3; i++) {
        struct file_key key = key_of(f, "two\nlines");
        assert_true(take_content(f, &change));
        hand_over(f, change, OUTCOME_FAILED, i < 2 ? -EACCES : -EIO);
        settle_foreground(f);
        assert_int_equal(status_of(f).skipped, 1);
        assert_int_equal(n_logged(f, INDEX_LOG_WARNING), i < 2 ? 1 : 2);
        assert_null(strchr(f->last_message, '\n'));
        assert_non_null(strstr(f->last_message, "two\\nlines: cannot be read"));
        index_note_content(f->index, &key);
    }
    assert_true(take_content(f, &change));
    change_queue_done(f->index->queue, change);
}

static bool has_links(struct fixture *f, const struct file_key *key)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    assert_int_equal(catalogue_links(f->index->kv, key, 1, &links), 0);
    return links.n_entries > 0;
}

/* Its name went while a worker read it: a row would stay for good. */
static void test_committer__what_failed_and_has_no_name_any_more_gets_no_row(void **state)
{
    struct fixture *f = *state;
    struct change *change;
    struct file_row row;
    write_text(f, "a", 1);
    start_committer(f);
    struct file_key key = key_of(f, "a");
    index_note_entry(f->index, backing_root_key(f->backing), "a");
    assert_true(take_content(f, &change));
    unlink(scratch_path(f->tree, "a"));
    index_note_entry(f->index, backing_root_key(f->backing), "a");
    while (has_links(f, &key))
        usleep(1000);
    hand_over(f, change, OUTCOME_FAILED, -EACCES);
    settle_foreground(f);
    assert_int_equal(status_of(f).skipped, 0);
    assert_int_equal(n_logged(f, INDEX_LOG_WARNING), 0);
    assert_int_equal(catalogue_get_file(f->index->kv, &key, &row), -ENOENT);
}

static void test_committer__what_is_there_and_cannot_be_opened_is_given_up(void **state)
{
    struct fixture *f = *state;
    struct change *change;
    unsigned n_rounds = 0;
    write_text(f, "a", 1);
    start_committer(f);
    index_note_entry(f->index, backing_root_key(f->backing), "a");
    while (n_rounds < 100 && take_content(f, &change)) {
        hand_over(f, change, OUTCOME_GONE, 0);
        n_rounds++;
    }
    assert_in_range(n_rounds, 2, 20);
    settle_foreground(f);
    assert_int_equal(status_of(f).skipped, 1);
}

static void test_committer__sleeps_while_the_scan_is_ahead(void **state)
{
    enum { N = 5000 };
    struct fixture *f = *state;
    struct timespec begin, end;
    open_index(f, &no_fault);
    for (unsigned i = 0; i < N; i++) {
        struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES};
        memcpy(key.bytes, &i, sizeof(i));
        change_queue_note(f->index->queue, LANE_SCAN, CHANGE_CONTENT, &key, NULL, NULL);
    }
    index_rescan(f->index);
    assert_int_equal(pthread_create(&f->index->committer, NULL, committer_run, f->index), 0);
    f->index->started = true;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    usleep(500 * 1000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    assert_true(seconds < 0.2);
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 0), -ETIMEDOUT);
}

static void test_committer__results_nobody_took_are_freed(void **state)
{
    struct fixture *f = *state;
    struct change *change;
    write_text(f, "a", 1);
    start_committer(f);
    index_note_entry(f->index, backing_root_key(f->backing), "a");
    assert_true(take_content(f, &change));
    change_queue_shut_down(f->index->queue);
    {
        LOCKED(&f->index->lock);
        f->index->stop = true;
        pthread_cond_signal(&f->index->wake_committer);
    }
    pthread_join(f->index->committer, NULL);
    hand_over(f, change, OUTCOME_GONE, 0); /* by a worker that ends last */
    committer_drop_results(f->index);
    assert_int_equal(f->index->n_results, 0);
    f->index->started = false;
}

/* -- the rest -- */

static void test_committer__the_generation_is_even_at_rest_and_grows(void **state)
{
    struct fixture *f = *state;
    start(f, &no_fault);
    settle(f);
    uint64_t before = index_generation(f->index);
    write_text(f, "a", 1);
    index_note_entry(f->index, backing_root_key(f->backing), "a");
    settle_foreground(f);
    assert_true(index_generation(f->index) > before);
    assert_int_equal(index_generation(f->index) % 2, 0);
}

static void test_committer__all_links_of_a_file_gone_unnoticed_are_looked_at(void **state)
{
    enum { LINKS = 150 };
    struct fixture *f = *state;
    char name[32];
    write_text(f, "a", 1);
    for (unsigned i = 0; i < LINKS; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        char to[256];
        snprintf(to, sizeof(to), "%s/%s", f->tree, name);
        assert_int_equal(link(scratch_path(f->tree, "a"), to), 0);
    }
    start(f, &no_fault);
    settle(f);
    assert_int_equal(status_of(f).documents, 1);
    /* As many names as one look found, however many documents they are of. */
    assert_int_equal(status_of(f).scan_done, status_of(f).scan_found);
    struct file_key key = key_of(f, "a");
    unlink(scratch_path(f->tree, "a"));
    for (unsigned i = 0; i < LINKS; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        unlink(scratch_path(f->tree, "%s", name));
    }
    index_note_content(f->index, &key);
    settle_foreground(f);
    assert_int_equal(status_of(f).documents, 0);
}

static void note_root_entry(struct fixture *f, const char *name)
{
    index_note_entry(f->index, backing_root_key(f->backing), name);
}

static bool has_entry(struct fixture *f, const struct file_key *parent, const char *name)
{
    struct file_key child;
    enum entry_type type;
    return catalogue_get(f->index->kv, parent, name, &child, &type) == 0;
}

/* Noted before there is a committer, they are one batch. */
static void test_committer__entries_that_come_together(void **state)
{
    struct fixture *f = *state;
    char to[256];
    assert_int_equal(mkdir(scratch_path(f->tree, "d"), 0755), 0);
    write_text(f, "a", 0);
    write_text(f, "c", 1);
    write_text(f, "d/x", 2);
    snprintf(to, sizeof(to), "%s/b", f->tree);
    assert_int_equal(link(scratch_path(f->tree, "a"), to), 0);
    open_index(f, &no_fault);
    struct file_key directory = key_of(f, "d");
    index_note_entry(f->index, &directory, "x"); /* before its directory: not known yet */
    note_root_entry(f, "a");
    note_root_entry(f, "missing");
    note_root_entry(f, "d");
    index_note_entry(f->index, &directory, "y");
    note_root_entry(f, "b");
    note_root_entry(f, "c");
    assert_int_equal(index_start(f->index), 0);
    settle(f);
    const struct file_key *root = backing_root_key(f->backing);
    assert_true(has_entry(f, root, "a") && has_entry(f, root, "b") && has_entry(f, root, "c"));
    assert_true(has_entry(f, root, "d") && has_entry(f, &directory, "x"));
    assert_false(has_entry(f, root, "missing") || has_entry(f, &directory, "y"));
    assert_int_equal(status_of(f).documents, 3);
    stop(f);

    /* One takes another's name, and both names of a document go. */
    snprintf(to, sizeof(to), "%s/c", f->tree);
    assert_int_equal(rename(scratch_path(f->tree, "d/x"), to), 0);
    unlink(scratch_path(f->tree, "a"));
    unlink(scratch_path(f->tree, "b"));
    open_index(f, &no_fault);
    note_root_entry(f, "a");
    note_root_entry(f, "b");
    note_root_entry(f, "c");
    index_note_entry(f->index, &directory, "x");
    assert_int_equal(index_start(f->index), 0);
    settle_foreground(f);
    root = backing_root_key(f->backing);
    assert_false(has_entry(f, root, "a") || has_entry(f, root, "b"));
    assert_true(has_entry(f, root, "c") && !has_entry(f, &directory, "x"));
    assert_int_equal(status_of(f).documents, 1);
}

/* Too long to be read, which takes no time to tell. */
static void write_endless(struct fixture *f, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        scratch_write(scratch_path(f->tree, "endless%u", i), "");
        assert_int_equal(truncate(scratch_path(f->tree, "endless%u", i), (off_t)65 << 30), 0);
    }
}

static void test_committer__documents_fill_no_log(void **state)
{
    enum { N = MESSAGES_WARNINGS_MAX + 100 };
    struct fixture *f = *state;
    write_endless(f, 0, N);
    start(f, &no_fault);
    settle(f);
    assert_int_equal(atomic_load(&f->index->counts.n_skipped), N);
    assert_int_equal(n_logged(f, INDEX_LOG_WARNING), MESSAGES_WARNINGS_MAX + 1);
    assert_non_null(strstr(f->last_message, "not told for an hour"));
    /* The next hour. */
    f->index->messages.warned_since_ms -= 3600 * 1000;
    write_endless(f, N, N + 1);
    index_rescan(f->index);
    settle(f);
    assert_int_equal(n_logged(f, INDEX_LOG_WARNING), MESSAGES_WARNINGS_MAX + 2);
    assert_non_null(strstr(f->last_message, "longer than"));
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_committer__counts_are_right_after_a_death_at_any_write),
        ON_A_TREE(test_committer__a_death_among_contents_that_come_together),
        ON_A_TREE(test_committer__a_start_after_a_clean_end_does_not_count),
        ON_A_TREE(test_committer__counts_of_another_size_are_damage),
        ON_A_TREE(test_committer__a_half_removed_document_is_sketched_anew),
        ON_A_TREE(test_committer__damage_is_said_once_and_ends_every_wait),
        ON_A_TREE(test_committer__a_failure_is_said_once_and_its_end_once),
        ON_A_TREE(test_committer__a_write_that_happens_and_fails_amid_a_burst),
        ON_A_TREE(test_committer__a_call_that_fails_amid_a_burst),
        ON_A_TREE(test_committer__an_unreadable_document_is_said_once),
        ON_A_TREE(test_committer__what_failed_and_has_no_name_any_more_gets_no_row),
        ON_A_TREE(test_committer__what_is_there_and_cannot_be_opened_is_given_up),
        ON_A_TREE(test_committer__sleeps_while_the_scan_is_ahead),
        ON_A_TREE(test_committer__results_nobody_took_are_freed),
        ON_A_TREE(test_committer__the_generation_is_even_at_rest_and_grows),
        ON_A_TREE(test_committer__all_links_of_a_file_gone_unnoticed_are_looked_at),
        ON_A_TREE(test_committer__entries_that_come_together),
        ON_A_TREE(test_committer__documents_fill_no_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
