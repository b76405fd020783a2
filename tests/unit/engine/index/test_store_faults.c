/* Every call of the store fails, one at a time: a history goes on or says why it does not, and the
 * next start over what is stored then has the answers of a store that never failed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/index/index_state.h"
#include "tests/lib/stores/kv_fault.h"
#include "tests/lib/stores/kv_memory.h"
#include "tests/lib/fixtures/index_answers.h"
#include "tests/lib/scratch.h"
#include "tests/lib/share.h"

static const char *const names[] = {"0", "1", "2", "moved", "new", "sub/copy", NULL};
enum { N_DOCUMENTS = 6 };

struct fixture {
    char root[64], tree[80], store[80];
    struct backing *backing;
    struct policy policy;
    struct kv *inner;
    struct index *index;
    uint64_t n_calls;
    char *expected;
    pthread_mutex_t lock;
    char last_message[256]; /* of an error */
};

static void take_message(void *user, enum index_log_level level, const char *message)
{
    struct fixture *f = user;
    LOCKED(&f->lock);
    if (level == INDEX_LOG_ERROR)
        snprintf(f->last_message, sizeof(f->last_message), "%s", message);
}

/* -- the tree, before and after -- */

static void write_text(struct fixture *f, const char *name, unsigned family, unsigned version)
{
    char *text = scratch_text(family, version, 120, version * 2);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static void remove_file(struct fixture *f, const char *name)
{
    (void)unlink(scratch_path(f->tree, "%s", name));
}

static void make_before(struct fixture *f)
{
    remove_file(f, "new");
    remove_file(f, "moved");
    remove_file(f, "sub/copy");
    (void)rmdir(scratch_path(f->tree, "sub"));
    write_text(f, "0", 0, 0);
    write_text(f, "1", 1, 1);
    write_text(f, "2", 0, 2);
    write_text(f, "gone", 0, 3);
    write_text(f, "here", 1, 2);
}

static void note(struct fixture *f, const char *directory, const char *name)
{
    struct file_key key;
    if (f->index && backing_key_at(f->backing, backing_root_fd(f->backing), directory, &key) == 0)
        index_note_entry(f->index, &key, name);
}

static void make_after(struct fixture *f)
{
    struct file_key key;
    write_text(f, "1", 0, 1);
    if (f->index && backing_key_at(f->backing, backing_root_fd(f->backing), "1", &key) == 0)
        index_note_content(f->index, &key);
    remove_file(f, "gone");
    note(f, "", "gone");
    assert_int_equal(rename(scratch_path(f->tree, "here"), scratch_path(f->tree, "moved")), 0);
    note(f, "", "moved");
    note(f, "", "here");
    write_text(f, "new", 0, 4);
    note(f, "", "new");
    assert_int_equal(mkdir(scratch_path(f->tree, "sub"), 0755), 0);
    write_text(f, "sub/copy", 0, 0);
    note(f, "", "sub");
    note(f, "sub", "copy");
}

/* -- the index over a store in memory, which stays -- */

static int open_index(struct fixture *f, const struct kv_fault_plan *plan, char **ret_error)
{
    struct kv *store;
    const struct index_options options = {.backing = f->backing,
                                          .source = f->tree,
                                          .store_path = f->store,
                                          .create = true,
                                          .n_workers = 1,
                                          .log = take_message,
                                          .log_user = f};
    assert_int_equal(kv_fault_open(f->inner, plan, &store), 0);
    int r = index_open_over(&options, store, "db", &f->policy, &f->index, ret_error);
    if (r == 0)
        f->index->resume_after_ms = 1;
    return r;
}

static int start(struct fixture *f, const struct kv_fault_plan *plan, char **ret_error)
{
    int r = open_index(f, plan, ret_error);
    if (r == 0)
        assert_int_equal(index_start(f->index), 0);
    return r;
}

static int settle(struct fixture *f)
{
    int r = index_settle(f->index, INDEX_LANE_FOREGROUND, 600000);
    assert_int_equal(r, 0);
    return index_settle(f->index, INDEX_LANE_ALL, 600000);
}

static void stop(struct fixture *f)
{
    uint64_t n_writes;
    kv_fault_counts(f->index->kv, &f->n_calls, &n_writes);
    index_close(f->index, 0);
    f->index = NULL;
}

static void open_memory(struct fixture *f)
{
    const struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};
    assert_int_equal(kv_memory_open(&options, &f->inner), 0);
}

static int note_wrong(void *user, const struct index_finding *finding)
{
    char *first = user;
    if (!*first)
        snprintf(first, 512, "%s: %s: %s", finding->table, finding->path ? finding->path : "-",
                 finding->what);
    return 0;
}

static const struct kv_fault_plan no_fault;

/* A start that meets no fault, over whatever is stored. Gives the answers. */
static char *answers_of_next_start(struct fixture *f, const char *when)
{
    char *error = NULL, first[512] = "";
    const struct index_check_options options = {.deep = true, .found = note_wrong, .user = first};
    struct index_check counts;
    if (start(f, &no_fault, &error) < 0)
        fail_msg("%s: the next start: %s", when, error);
    assert_int_equal(settle(f), 0);
    assert_int_equal(index_check(f->index, &options, &counts), 0);
    if (counts.findings)
        fail_msg("%s: %s", when, first);
    assert_int_equal(counts.documents, N_DOCUMENTS);
    assert_int_equal(counts.names, N_DOCUMENTS + 1);
    char *answers = index_answers(f->index, f->backing, names, false);
    stop(f);
    return answers;
}

/* The history with a fault; whatever it does to it. */
static void run_history(struct fixture *f, const struct kv_fault_plan *plan, const char *when)
{
    char *error = NULL;
    *f->last_message = '\0';
    int r = start(f, plan, &error);
    make_after(f);
    if (r < 0) {
        if (!error || !strstr(error, f->store) ||
            (r == -EUCLEAN && !strstr(error, "kinfs check --repair")))
            fail_msg("%s: said: %s", when, error ? error : "nothing");
        free(error);
        f->index = NULL;
        return;
    }
    r = settle(f);
    if (r == -EUCLEAN && !strstr(f->last_message, "kinfs check --repair"))
        fail_msg("%s: said: %s", when, f->last_message);
    if (r < 0 && (r != -EUCLEAN || plan->fail_error != -EUCLEAN))
        fail_msg("%s: settling: %s", when, strerror(-r));
    stop(f);
}

/* From a store of the tree as it was before. */
static void prepare(struct fixture *f)
{
    char *error = NULL;
    open_memory(f);
    make_before(f);
    if (start(f, &no_fault, &error) < 0)
        fail_msg("%s", error);
    assert_int_equal(settle(f), 0);
    stop(f);
}

static void run_with_fault(struct fixture *f, uint64_t n, int fail_error)
{
    const struct kv_fault_plan plan = {.fail_call = n, .fail_error = fail_error};
    char when[64];
    snprintf(when, sizeof(when), "call %llu: %s", (unsigned long long)n, strerror(-fail_error));
    prepare(f);
    run_history(f, &plan, when);
    char *answers = answers_of_next_start(f, when);
    if (strcmp(answers, f->expected) != 0)
        print_error("%s\n", when);
    assert_string_equal(answers, f->expected);
    free(answers);
    kv_close(f->inner);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    scratch_make(f->root);
    snprintf(f->tree, sizeof(f->tree), "%s/tree", f->root);
    snprintf(f->store, sizeof(f->store), "%s/store", f->root);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    assert_int_equal(mkdir(f->store, 0755), 0);
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    assert_int_equal(policy_preset("default", &f->policy), 0);
    pthread_mutex_init(&f->lock, NULL);

    /* What there is to be said of the tree after the history, by one who saw nothing of it. */
    open_memory(f);
    make_before(f);
    make_after(f);
    f->expected = answers_of_next_start(f, "without a history");
    kv_close(f->inner);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    free(f->expected);
    backing_close(f->backing);
    pthread_mutex_destroy(&f->lock);
    scratch_remove(f->root);
    free(f);
    return 0;
}

static void run_all(struct fixture *f, int fail_error)
{
    prepare(f);
    run_history(f, &no_fault, "without a fault");
    uint64_t n_calls = f->n_calls + f->n_calls / 8; /* they are not the same every time */
    kv_close(f->inner);
    for (uint64_t n = 1; n <= n_calls; n += failure_share())
        run_with_fault(f, n, fail_error);
}

static void test_store_faults__a_call_that_fails_is_made_good(void **state)
{
    run_all(*state, -EIO);
}

static void test_store_faults__a_call_that_meets_damage_is_made_good(void **state)
{
    run_all(*state, -EUCLEAN);
}

static void test_store_faults__a_call_on_a_full_disk_is_made_good(void **state)
{
    run_all(*state, -ENOSPC);
}

static void test_store_faults__a_call_that_is_to_be_repeated_is(void **state)
{
    run_all(*state, -EAGAIN);
}

/* While a change is committed its clusters are dirty, for a moment in which somebody may begin to
 * wait for what is done in the background. */
static void test_store_faults__who_waits_for_a_slow_store_is_told_of_the_end(void **state)
{
    enum { CHANGES = 60, MOST_MS = 60000 };
    const struct kv_fault_plan slow = {.seed = 1, .delay_us = 400};
    struct fixture *f = *state;
    struct index_status status = {0};
    struct file_key key;
    char *error = NULL;
    unsigned n_dirty = 0;
    prepare(f);
    assert_int_equal(start(f, &slow, &error), 0);
    assert_int_equal(settle(f), 0);
    for (unsigned i = 0; i < CHANGES; i++) {
        write_text(f, "0", 0, i % 2 ? 1 : 4);
        assert_int_equal(backing_key_at(f->backing, backing_root_fd(f->backing), "0", &key), 0);
        index_note_content(f->index, &key);
        do
            index_get_status(f->index, &status);
        while (!status.repairing && index_settle(f->index, INDEX_LANE_FOREGROUND, 0) < 0);
        n_dirty += status.repairing > 0;
        if (index_settle(f->index, INDEX_LANE_ALL, MOST_MS) != 0)
            fail_msg("not told of the end of change %u", i);
    }
    assert_true(n_dirty > 0);
    stop(f);
    kv_close(f->inner);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_store_faults__a_call_that_fails_is_made_good),
        CASE(test_store_faults__a_call_that_meets_damage_is_made_good),
        CASE(test_store_faults__a_call_on_a_full_disk_is_made_good),
        CASE(test_store_faults__a_call_that_is_to_be_repeated_is),
        CASE(test_store_faults__who_waits_for_a_slow_store_is_told_of_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
