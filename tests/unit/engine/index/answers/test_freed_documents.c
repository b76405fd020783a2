/* Who removes a document, which takes the file system as long as its owner has made it, keeps no
 * answer: it is not told of, and no other one missing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "engine/index/intake/open_soon.h"
#include "tests/lib/fixtures/unique_fixture.h"

enum { SOMEBODY = 54321, FAMILY = 1 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static bool is_shut;
static atomic_bool is_freeing; /* what is theirs, with a name or without */
static atomic_uint n_held;
static sem_t closed; /* what is theirs, and has no name */
static const char *removed_when_opened;
static ino_t only; /* of theirs; 0: all */

static void shut_gate(void)
{
    pthread_mutex_lock(&gate);
    is_shut = true;
    is_freeing = true;
    n_held = 0;
}

static void open_gate(void)
{
    if (is_shut)
        pthread_mutex_unlock(&gate);
    is_shut = false;
    is_freeing = false;
}

static void stand(void)
{
    n_held++;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

/* In place of the C library's: what is theirs opens once the gate is open, or it is removed in that
 * moment. */
int open_by_handle_at(int mount_fd, struct file_handle *handle, int flags)
{
    struct stat st;
    const int fd = (int)syscall(SYS_open_by_handle_at, mount_fd, handle, flags);
    if (fd < 0 || !is_freeing || fstat(fd, &st) < 0 || st.st_uid != SOMEBODY ||
        (only && st.st_ino != only))
        return fd;
    if (removed_when_opened)
        unlink(removed_when_opened);
    else
        stand();
    return fd;
}

/* Likewise: the last close of what has no name any more. */
int close(int fd)
{
    struct stat st;
    const bool is_last =
        is_freeing && fd >= 0 && fstat(fd, &st) == 0 && st.st_nlink == 0 && st.st_uid == SOMEBODY;
    if (is_last)
        stand();
    const int r = (int)syscall(SYS_close, fd);
    if (is_last)
        sem_post(&closed);
    return r;
}

static enum index_right may_read(void *user, const char *path, const struct file_key *key)
{
    (void)user, (void)path, (void)key;
    return INDEX_ALLOWED;
}

static bool may_open(void *user, int fd)
{
    (void)user;
    assert_true(fd >= 0);
    return true;
}

/* Two of ours and two of theirs, which come first, all of them alike. */
static void add_documents(struct indexed_tree *f)
{
    static const char *const names[] = {"theirs", "their copy", "ours", "our copy"};
    for (int i = 0; i < 4; i++) {
        add(f, names[i], FAMILY, i < 2 ? "a" : "");
        if (i < 2)
            assert_int_equal(chown(scratch_path(f->tree, "%s", names[i]), SOMEBODY, 0), 0);
        note(f, names[i]);
        settle(f);
    }
}

static size_t count_similar(struct indexed_tree *f, struct looking *looking, bool all)
{
    const struct index_query query = {.threshold = 0.5,
                                      .may_read = all ? NULL : may_read,
                                      .may_open = all ? NULL : may_open,
                                      .looking = looking};
    const struct file_key key = indexed_tree_key(f, "ours");
    struct kin_list list = {0};
    assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
    size_t n_ours = 0;
    for (size_t i = 0; i < list.n_kin; i++)
        n_ours += !strcmp(list.kin[i].path, "our copy");
    assert_int_equal(n_ours, 1);
    const size_t n = list.n_kin;
    kin_list_done(&list);
    return n;
}

static void test_freed_documents__are_told_to_nobody(void **state)
{
    enum { N_QUESTIONS = 100 }; /* more than there are threads */
    struct indexed_tree *f = *state;
    if (geteuid() != 0)
        skip(); /* nobody else can give files away */
    add_documents(f);
    assert_int_equal(count_similar(f, NULL, false), 3);
    shut_gate();
    for (unsigned i = 0; i < N_QUESTIONS; i++)
        assert_int_equal(count_similar(f, NULL, false), 1);
    assert_int_equal(count_similar(f, NULL, true), 3); /* as it is known: root may know of them */
    assert_true(n_held > 0);
    open_gate();
    while (count_similar(f, NULL, false) != 3) /* once threads that stood have come back */
        settle(f);
}

static void test_freed_documents__take_of_a_question_s_time(void **state)
{
    struct indexed_tree *f = *state;
    enum { LEFT_US = 200000 };
    struct looking looking = {.left_us = LEFT_US};
    if (geteuid() != 0)
        skip();
    add_documents(f);
    shut_gate();
    assert_int_equal(count_similar(f, &looking, false), 1);
    assert_true(looking.left_us <= 0); /* of the first */
    open_gate();
    settle(f);
    assert_int_equal(count_similar(f, &looking, false), 3); /* what takes none is found without */
}

static void test_freed_documents__are_not_known_to_who_looks(void **state)
{
    struct indexed_tree *f = *state;
    struct stat st;
    if (geteuid() != 0)
        skip();
    add_documents(f);
    const struct file_key theirs = indexed_tree_key(f, "theirs"),
                          ours = indexed_tree_key(f, "ours");
    assert_int_equal(index_look(f->index, &theirs, &st), 0);
    assert_int_equal(st.st_uid, SOMEBODY);
    shut_gate();
    assert_int_equal(index_look(f->index, &theirs, &st), -EAGAIN);
    assert_int_equal(index_look(f->index, &ours, &st), 0);
    assert_int_equal(st.st_uid, 0);
}

static void test_freed_documents__stay_in_unique(void **state)
{
    struct indexed_tree *f = *state;
    if (geteuid() != 0)
        skip();
    add_documents(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    shut_gate();
    assert_string_equal(asked_within(f, unique, "their copy", 0), "");
    assert_string_equal(asked_within(f, unique, "our copy", 0), "ours");
    assert_true(n_held > 0);
    open_gate();
    settle(f);
    assert_stands_in(f, unique, "their copy", "theirs");
    shut_gate(); /* now that it is known */
    assert_string_equal(asked_within(f, unique, "their copy", 0), "");
    assert_string_equal(asked_within(f, unique, "our copy", 0), "ours");
    assert_true(n_held > 0);
}

/* Of three equal ones, the first of which is slow for a while, none is left out for another then,
 * which would be left out for the first afterwards. */
static void test_freed_documents__have_no_others_left_out_meanwhile(void **state)
{
    static const char *const names[] = {"first", "second", "third"};
    struct indexed_tree *f = *state;
    struct stat st;
    if (geteuid() != 0)
        skip();
    for (int i = 0; i < 3; i++) {
        add(f, names[i], FAMILY, "");
        assert_int_equal(chown(scratch_path(f->tree, "%s", names[i]), SOMEBODY, 0), 0);
        note(f, names[i]);
        settle(f);
    }
    assert_int_equal(stat(scratch_path(f->tree, "first"), &st), 0);
    only = st.st_ino;
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    shut_gate();
    assert_string_equal(asked_within(f, unique, "third", 0), "");
    assert_true(n_held > 0);
    open_gate();
    settle(f);
    assert_stands_in(f, unique, "second", "first");
    assert_stands_in(f, unique, "third", "first");
}

static void test_freed_documents__have_their_shingles_read_in_others(void **state)
{
    struct indexed_tree *f = *state;
    _cleanup_(common_shingles_done) struct common_shingles list = {0};
    if (geteuid() != 0)
        skip();
    add_documents(f);
    shut_gate();
    assert_int_equal(index_common_shingles(f->index, 1, &list), 0);
    assert_int_equal(list.shingles[0].n_documents, 4);
    assert_non_null(list.shingles[0].text);
    assert_true(n_held > 0);
}

/* Who has it open then is the last one. */
static void test_freed_documents__are_closed_by_others(void **state)
{
    struct indexed_tree *f = *state;
    char path[PATH_MAX];
    if (geteuid() != 0)
        skip();
    add_documents(f);
    snprintf(path, sizeof(path), "%s", scratch_path(f->tree, "theirs"));
    removed_when_opened = path;
    shut_gate();
    assert_int_equal(count_similar(f, NULL, false), 2); /* which it resembled still */
    open_gate();
    sem_wait(&closed);
}

static void test_freed_documents__are_closed_however_many(void **state)
{
    enum { N_FILES = 200 };
    struct indexed_tree *f = *state;
    if (geteuid() != 0)
        skip();
    shut_gate();
    for (unsigned i = 0; i < N_FILES; i++) {
        const int fd =
            open(f->root, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); /* it has no name either */
        assert_true(fd >= 0);
        assert_int_equal(fchown(fd, SOMEBODY, 0), 0);
        close_soon(f->index, fd);
    }
    add(f, "ours", FAMILY, "");
    settle(f); /* it is opened by the threads that theirs leave */
    open_gate();
    is_freeing = true; /* they are counted */
    for (unsigned i = 0; i < N_FILES; i++)
        sem_wait(&closed);
}

static int set_up(void **state)
{
    sem_init(&closed, 0, 0);
    removed_when_opened = NULL;
    only = 0;
    return indexed_tree_setup(state);
}

static int tear_down(void **state)
{
    open_gate(); /* where the test has failed */
    return indexed_tree_teardown(state);
}

int main(void)
{
#define ON_A_TREE(test)                                                                            \
    cmocka_unit_test_setup_teardown(test_freed_documents__##test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(are_told_to_nobody),
        ON_A_TREE(take_of_a_question_s_time),
        ON_A_TREE(are_not_known_to_who_looks),
        ON_A_TREE(stay_in_unique),
        ON_A_TREE(have_no_others_left_out_meanwhile),
        ON_A_TREE(have_their_shingles_read_in_others),
        ON_A_TREE(are_closed_by_others),
        ON_A_TREE(are_closed_however_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
