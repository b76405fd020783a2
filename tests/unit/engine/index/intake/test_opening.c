/* A document that takes long to be opened, as the kernel has whoever opens a removed file wait
 * until it is freed, keeps nobody else's from being read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/scratch.h"

enum { SOMEBODY = 54321, OTHER = 54322, N_THEIRS = 16, MOST_WORKERS = 8 };

static sem_t held, gate;
static atomic_int n_opened; /* of the other's */

/* In place of the C library's: what is theirs opens once the gate is open. */
int open_by_handle_at(int mount_fd, struct file_handle *handle, int flags)
{
    struct stat st;
    const int fd = (int)syscall(SYS_open_by_handle_at, mount_fd, handle, flags);
    if (fd < 0 || flags & O_PATH || fstat(fd, &st) < 0)
        return fd;
    n_opened += st.st_uid == OTHER;
    if (st.st_uid == SOMEBODY) {
        sem_post(&held);
        sem_wait(&gate);
        sem_post(&gate);
    }
    return fd;
}

static void write_theirs(struct indexed_tree *f)
{
    for (unsigned i = 0; i < N_THEIRS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "a%02u", i);
        indexed_tree_write(f, name, i + 2, 0, 0);
        assert_int_equal(chown(scratch_path(f->tree, "%s", name), SOMEBODY, 0), 0);
    }
}

static void test_opening__others_documents_are_read_meanwhile(void **state)
{
    struct indexed_tree *f = *state;
    if (geteuid() != 0)
        skip(); /* nobody else can give files away */
    write_theirs(f);
    indexed_tree_start(f);
    const long n_online = sysconf(_SC_NPROCESSORS_ONLN); /* as many workers, up to a bound */
    for (long i = 0; i < n_online && i < MOST_WORKERS; i++)
        sem_wait(&held);
    indexed_tree_write(f, "mine", 1, 0, 0);
    cluster_of(f, "mine"); /* asserts that it is current */
    sem_post(&gate);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), N_THEIRS + 1);
}

/* Nor where root has changed them: as of whom they are noted is not whose they are. */
static void test_opening__what_root_has_changed_is_its_owners(void **state)
{
    struct indexed_tree *f = *state;
    struct file_key keys[N_THEIRS];
    if (geteuid() != 0)
        skip();
    write_theirs(f);
    sem_post(&gate);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    while (sem_trywait(&held) == 0)
        ;
    sem_wait(&gate);
    for (unsigned i = 0; i < N_THEIRS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "a%02u", i);
        indexed_tree_write(f, name, i + 100, 0, 0);
        keys[i] = indexed_tree_key(f, name);
    }
    for (unsigned i = 0; i < N_THEIRS; i++)
        index_note_content_by(f->index, 0, &keys[i]);
    const long n_online = sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < n_online && i < MOST_WORKERS; i++)
        sem_wait(&held);
    indexed_tree_write(f, "mine", 1, 0, 0);
    cluster_of(f, "mine");
    sem_post(&gate);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), N_THEIRS + 1);
}

/* It is opened by who passes it on, and by who reads it. */
static void test_opening__what_takes_room_is_read_in_its_owners_turn(void **state)
{
    struct indexed_tree *f = *state;
    if (geteuid() != 0)
        skip();
    for (int much = 0; much < 2; much++) {
        const char *name = much ? "much" : "little";
        indexed_tree_write(f, name, 1, (unsigned)much, 10);
        int fd = open(scratch_path(f->tree, "%s", name), O_RDWR | O_CLOEXEC);
        if (much)
            assert_int_equal(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 3 << 20), 0);
        assert_int_equal(fchown(fd, OTHER, 0), 0);
        close(fd);
    }
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), 2);
    assert_int_equal(n_opened, 3);
}

static int set_up(void **state)
{
    sem_init(&held, 0, 0);
    sem_init(&gate, 0, 0);
    return setup(state);
}

static int tear_down(void **state)
{
    sem_post(&gate); /* where the test has failed */
    return indexed_tree_teardown(state);
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_opening__others_documents_are_read_meanwhile),
        ON_A_TREE(test_opening__what_root_has_changed_is_its_owners),
        ON_A_TREE(test_opening__what_takes_room_is_read_in_its_owners_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
