/* The scan, step by step, with changes made between two steps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <malloc.h>

#include "tests/lib/fixtures/scan_fixture.h"
#include "tests/lib/share.h"

static void test_scan__a_large_directory_takes_many_steps(void **state)
{
    struct fixture *f = *state;
    assert_true(scan(f, 0, NULL) > 2 * FILES / 512);
    assert_catalogue_is(f, "tree/large");
    assert_int_equal(change_queue_outstanding(f->index->queue, LANE_SCAN), FILES);
}

static void test_scan__the_names_of_a_directory_are_in_memory_some_at_a_time(void **state)
{
    struct fixture *f = *state;
    enum { LINKS = 20000, NAME_BYTES = 250 };
    size_t most = 0;
    int r;
    for (unsigned i = 0; i < LINKS; i++)
        assert_int_equal(
            link(scratch_path(f->tree, "large/0000"),
                 scratch_path(f->root, "tree/large/link%0*u", NAME_BYTES - (int)strlen("link"), i)),
            0);
    scan(f, 0, NULL);
    const size_t before = mallinfo2().uordblks; /* the second time the catalogue has them all */
    assert_int_equal(scan_begin(f->index), 0);
    do {
        r = step(f);
        const size_t now = mallinfo2().uordblks;
        most = now > before + most ? now - before : most;
    } while (r > 0);
    assert_true(most < (size_t)LINKS * NAME_BYTES / 4);
    assert_int_equal(unlink(scratch_path(f->tree, "large/0000")), 0);
    scan(f, 0, NULL);
    struct catalogue_list list = {0};
    assert_int_equal(catalogue_children(f->index->kv, &f->large, NULL, 2 * LINKS, &list), 0);
    assert_int_equal(list.n_entries, LINKS + FILES - 1);
    catalogue_list_done(&list);
}

/* Names that were seen already and names that were not, on both sides of wherever the scan is. */
static void exchange_files(struct fixture *f)
{
    for (unsigned i = 0; i < FILES; i += 100) {
        char name[16], other[16];
        snprintf(name, sizeof(name), "%04u", i);
        snprintf(other, sizeof(other), "%04u+", i);
        assert_int_equal(unlink(scratch_path(f->tree, "large/%s", name)), 0);
        scratch_write(scratch_path(f->tree, "large/%s", other), "");
        note(f, &f->large, name);
        note(f, &f->large, other);
    }
}

static void put_files_back(struct fixture *f)
{
    for (unsigned i = 0; i < FILES; i += 100) {
        assert_int_equal(unlink(scratch_path(f->tree, "large/%04u+", i)), 0);
        scratch_write(scratch_path(f->tree, "large/%04u", i), "");
    }
}

static void test_scan__changes_between_any_two_steps_are_kept(void **state)
{
    struct fixture *f = *state;
    unsigned n_steps = scan(f, 0, NULL);
    for (unsigned at = 0; at < n_steps; at += failure_step()) {
        scan(f, at, exchange_files);
        assert_catalogue_is(f, "tree/large");
        put_files_back(f); /* behind its back: for a scan alone to find */
        scan(f, 0, NULL);
        assert_catalogue_is(f, "tree/large");
    }
}

/* Without a new name, by which the second pass would come by; but one comes back. */
static void unlink_and_replace_files(struct fixture *f)
{
    scratch_write(scratch_path(f->tree, "large/0001"), "");
    note(f, &f->large, "0001");
    for (unsigned i = 0; i < FILES; i += 50) {
        char name[16];
        snprintf(name, sizeof(name), "%04u", i);
        const char *path = scratch_path(f->tree, "large/%s", name);
        if (i % 100) {
            assert_int_equal(unlink(path), 0);
        } else {
            scratch_write(scratch_path(f->root, "other"), "");
            assert_int_equal(rename(scratch_path(f->root, "other"), path), 0);
        }
        note(f, &f->large, name);
    }
}

/* More notices than a visit has in mind. */
static void unlink_and_note_much(struct fixture *f)
{
    for (unsigned i = 0; i < 1100; i++) {
        note(f, &f->large, "0002");
        reconcile_noted(f);
    }
    unlink_and_replace_files(f);
}

static void changes_between_a_look_and_its_step(struct fixture *f,
                                                void (*change)(struct fixture *f))
{
    f->looks_before = true;
    scan(f, 0, NULL);
    assert_int_equal(unlink(scratch_path(f->tree, "large/0001")), 0); /* for a second pass */
    const unsigned n_steps = scan(f, 0, NULL);
    for (unsigned at = 0; at < n_steps; at += failure_step()) {
        for (unsigned i = 0; i < FILES; i += 50)
            scratch_write(scratch_path(f->tree, "large/%04u", i), "");
        scratch_write(scratch_path(f->tree, "large/0001"), "");
        scan(f, 0, NULL);
        assert_int_equal(unlink(scratch_path(f->tree, "large/0001")), 0);
        scan(f, at, change);
        assert_catalogue_is(f, "tree/large");
    }
}

static void test_scan__changes_between_a_look_and_its_step_are_kept(void **state)
{
    changes_between_a_look_and_its_step(*state, unlink_and_replace_files);
}

static void test_scan__very_many_changes_between_a_look_and_its_step_are_kept(void **state)
{
    changes_between_a_look_and_its_step(*state, unlink_and_note_much);
}

enum {
    USERS = 3,
    DIRECTORIES = 20
}; /* of each user; one of these keeps all that are locked locked */

static bool is_known(struct fixture *f, unsigned directory)
{
    struct catalogue_list links = {0};
    struct file_key key;
    assert_int_equal(
        backing_key_at(f->backing, AT_FDCWD, scratch_path(f->tree, "%u/d", directory), &key), 0);
    assert_int_equal(catalogue_links(f->index->kv, &key, 1, &links), 0);
    const bool known = links.n_entries > 0;
    catalogue_list_done(&links);
    return known;
}

/* A scanner takes what is the locker's, and does not come back. */
static void keep_locked(struct fixture *f, uid_t locker)
{
    for (size_t i = 0; i < N_SCANNERS; i++) {
        struct scan_slot *slot = &f->index->scan.slots[i];
        if (slot->state == SLOT_WAITS && slot->owner == locker)
            slot->state = SLOT_LOOKS;
    }
}

static void scan_beside(struct fixture *f, uid_t locker)
{
    while (scan_has_step(f->index) || scan_look(f->index, false)) {
        assert_true(scan_step(f->index) >= 0);
        keep_locked(f, locker);
    }
}

static void test_scan__others_do_not_wait_for_one_owners_directory(void **state)
{
    struct fixture *f = *state;
    const uid_t locker = 1;
    if (geteuid() != 0)
        skip(); /* only root makes others' directories */
    for (unsigned i = 0; i < USERS * DIRECTORIES; i++) {
        assert_int_equal(mkdir(scratch_path(f->tree, "%u", i), 0755), 0);
        scratch_write(scratch_path(f->tree, "%u/d", i), "");
        assert_int_equal(chown(scratch_path(f->tree, "%u", i), 1 + i % USERS, 0), 0);
    }
    assert_int_equal(scan_begin(f->index), 0);
    scan_beside(f, locker);
    for (unsigned i = 0; i < USERS * DIRECTORIES; i++)
        assert_int_equal(is_known(f, i), 1 + i % USERS != locker);
    assert_false(scan_is_over(f->index));

    /* After a while nobody waits for it, */
    struct scan_slot *locked = NULL;
    for (size_t i = 0; i < N_SCANNERS; i++)
        if (f->index->scan.slots[i].visit)
            locked = &f->index->scan.slots[i];
    assert_non_null(locked);
    locked->out_at_ms -= 3600 * 1000;
    assert_true(scan_is_over(f->index));
    assert_false(scan_is_idle(f->index));
    /* and a scan that begins then looks at all once more, but for that. */
    assert_int_equal(unlink(scratch_path(f->tree, "large/0000")), 0);
    assert_int_equal(scan_begin(f->index), 0);
    scan_beside(f, locker);
    assert_true(scan_is_over(f->index));
    assert_catalogue_is(f, "tree/large");

    locked->state = SLOT_WAITS;
    scan_beside(f, 0);
    assert_true(scan_is_idle(f->index));
    for (unsigned i = 0; i < USERS * DIRECTORIES; i++)
        assert_true(is_known(f, i));
}

/* Somebody keeps directories locked for nine seconds each. */
static void test_scan__who_locks_again_and_again_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(scan_begin(f->index), 0);
    for (unsigned i = 0; i < 2; i++) {
        while (scan_has_step(f->index))
            assert_int_equal(scan_step(f->index), 1);
        assert_false(scan_is_over(f->index));
        for (size_t k = 0; k < N_SCANNERS; k++)
            f->index->scan.slots[k].out_at_ms -= 9000;
        if (i == 0)
            assert_true(scan_look(f->index, false));
    }
    assert_true(scan_is_over(f->index));
    scan(f, 0, NULL);
    assert_catalogue_is(f, "tree/large");
}

/* The committer has no time for what came back, as others keep the workers from it. */
static void test_scan__who_waits_for_the_committer_keeps_nothing_locked(void **state)
{
    enum { LONG_MS = 3600 * 1000 };
    struct fixture *f = *state;
    struct scan_slot *slots = f->index->scan.slots;
    assert_int_equal(scan_begin(f->index), 0);
    while (scan_has_step(f->index))
        assert_int_equal(scan_step(f->index), 1);
    assert_true(scan_look(f->index, false));
    for (size_t i = 0; i < N_SCANNERS; i++) {
        slots[i].out_at_ms -= LONG_MS;
        slots[i].back_at_ms -= LONG_MS;
    }
    assert_false(scan_is_over(f->index));
    assert_false(scan_is_all_added(&f->index->scan, f->index->scan.now));
    assert_true(scan_has_step(f->index));
    assert_false(scan_is_stuck(&f->index->scan, geteuid()));
    scan(f, 0, NULL);
    assert_catalogue_is(f, "tree/large");
}

static int n_refused;

static int make_file(void *user, int fd, const struct file_key *directory)
{
    struct file_key key;
    struct fixture *f = user;
    assert_int_equal(backing_key_at(f->backing, fd, "", &key), 0);
    assert_true(file_key_equal(&key, directory));
    if (n_refused-- > 0)
        return -ENOMEM;
    int made = openat(fd, "made", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    return made < 0 ? -errno : close(made);
}

/* By a scan, or since they came to be. */
static void test_scan__directories_are_seen_before_they_are_listed(void **state)
{
    struct fixture *f = *state;
    index_see_listings(f->index, make_file, f);
    scan(f, 0, NULL);
    assert_catalogue_is(f, "tree/large");
    assert_int_equal(n_entries(f), FILES + 1);
    static const char *const names[] = {"new", "newer"};
    for (int i = 0; i < 2; i++) {
        struct file_key key;
        enum entry_type type;
        n_refused = i;
        assert_int_equal(mkdir(scratch_path(f->tree, "%s", names[i]), 0755), 0);
        note(f, backing_root_key(f->backing), names[i]);
        reconcile_noted(f);
        while (step(f) > 0)
            ;
        const struct file_key directory = key_of(f, names[i]);
        assert_int_equal(catalogue_get(f->index->kv, &directory, "made", &key, &type), 0);
    }
    index_see_listings(f->index, NULL, NULL);
}

static void test_scan__ends_half_way_without_a_trace(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(scan_begin(f->index), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(step(f), 1);
    scan_done(f->index);
    assert_true(scan_is_idle(f->index));
    scan(f, 0, NULL);
    assert_catalogue_is(f, "tree/large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_scan__a_large_directory_takes_many_steps),
        ON_A_TREE(test_scan__the_names_of_a_directory_are_in_memory_some_at_a_time),
        ON_A_TREE(test_scan__changes_between_any_two_steps_are_kept),
        ON_A_TREE(test_scan__changes_between_a_look_and_its_step_are_kept),
        ON_A_TREE(test_scan__very_many_changes_between_a_look_and_its_step_are_kept),
        ON_A_TREE(test_scan__others_do_not_wait_for_one_owners_directory),
        ON_A_TREE(test_scan__who_locks_again_and_again_is_not_waited_for),
        ON_A_TREE(test_scan__who_waits_for_the_committer_keeps_nothing_locked),
        ON_A_TREE(test_scan__directories_are_seen_before_they_are_listed),
        ON_A_TREE(test_scan__ends_half_way_without_a_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
