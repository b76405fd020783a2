/* The scan, step by step, with changes made between two steps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/below.h"
#include "engine/index/intake/directory_removal_step.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/scan/scan.h"
#include "engine/index/intake/scan/scan_sets.h"
#include "engine/index/intake/scan/visit.h"
#include "tests/lib/scratch.h"
#include "tests/lib/share.h"

enum { FILES = 1000 };

struct fixture {
    char root[64], tree[80], store[80];
    struct backing *backing;
    struct index *index; /* opened, not started: the test is the committer */
    struct file_key large;
    bool looks_before; /* a change is made between a look and its step, and not before the look */
};

static struct file_key key_of(struct fixture *f, const char *name)
{
    struct file_key key;
    assert_int_equal(backing_key_at(f->backing, backing_root_fd(f->backing), name, &key), 0);
    return key;
}

/* A tree with one directory of so many empty files. */
static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    char *error = NULL;
    scratch_make(f->root);
    snprintf(f->tree, sizeof(f->tree), "%s/tree", f->root);
    snprintf(f->store, sizeof(f->store), "%s/store", f->root);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    assert_int_equal(mkdir(scratch_path(f->tree, "large"), 0755), 0);
    for (unsigned i = 0; i < FILES; i++)
        scratch_write(scratch_path(f->tree, "large/%04u", i), "");
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store, .create = true};
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    f->large = key_of(f, "large");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    index_close(f->index, 0);
    backing_close(f->backing);
    scratch_remove(f->root);
    free(f);
    return 0;
}

static void reconcile_noted(struct fixture *f)
{
    struct change *noted;
    for (;;) {
        while (change_queue_take(f->index->queue, CHANGE_ENTRY, false, &noted) == 1) {
            struct name_look look = {.change = noted}, *looks[] = {&look};
            uid_t owner = RECONCILE_NOBODY;
            below_look(f->index, &look);
            assert_int_equal(reconcile_entries(f->index, &noted, looks, 1, &owner), 0);
            assert_int_equal(owner, RECONCILE_NOBODY);
            change_queue_done(f->index->queue, noted);
        }
        if (change_queue_take(f->index->queue, CHANGE_BELOW, false, &noted) == 0)
            return;
        below_list(f->index, noted);
        assert_int_equal(scan_take_wanted(f->index), 0);
    }
}

/* A step, once what it needs was looked at. */
static int step(struct fixture *f)
{
    while (!scan_has_step(f->index) && scan_look(f->index, false))
        ;
    scan_may_begin(f->index);
    int r = scan_step(f->index);
    assert_true(r >= 0);
    return r;
}

/* What hangs on directories that are gone; at most so many steps. Returns how many it were. */
static unsigned take_away(struct fixture *f, unsigned n_max)
{
    unsigned n = 0;
    for (; n < n_max && !directory_removal_is_idle(f->index); n++)
        assert_int_equal(directory_removal_step(f->index), 0);
    return n;
}

/* Returns the number of steps. Before step number `at` a change is made and, like any that a user
 * makes, reconciled before the scan goes on. */
static unsigned scan(struct fixture *f, unsigned at, void (*change)(struct fixture *f))
{
    unsigned n = 0;
    int r;
    assert_int_equal(scan_begin(f->index), 0);
    do {
        while (f->looks_before && scan_look(f->index, false))
            ;
        if (change && n == at)
            change(f);
        reconcile_noted(f);
        r = step(f);
        n++;
    } while (r > 0);
    return n;
}

static void note(struct fixture *f, const struct file_key *parent, const char *name)
{
    index_note_entry(f->index, parent, name);
}

static size_t n_entries(struct fixture *f)
{
    struct catalogue_list list = {0};
    assert_int_equal(catalogue_children(f->index->kv, &f->large, NULL, 10 * FILES, &list), 0);
    size_t n = list.n_entries;
    catalogue_list_done(&list);
    return n;
}

/* Every entry of the catalogue is in the directory, and as many as there are. */
static void assert_catalogue_is(struct fixture *f, const char *directory)
{
    struct catalogue_list list = {0};
    size_t n = 0;
    DIR *dir = opendir(scratch_path(f->root, "%s", directory));
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    assert_int_equal(catalogue_children(f->index->kv, &f->large, NULL, 10 * FILES, &list), 0);
    assert_int_equal(list.n_entries, n - 2); /* "." and ".." */
    for (size_t i = 0; i < list.n_entries; i++) {
        struct file_key key;
        assert_int_equal(backing_key_at(f->backing, dirfd(dir), list.entries[i].name, &key), 0);
        assert_true(file_key_equal(&key, &list.entries[i].child));
    }
    catalogue_list_done(&list);
    closedir(dir);
}

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

/* Somebody has directories come to be all the time. */
static void test_scan__what_comes_meanwhile_does_not_keep_its_end_from_coming(void **state)
{
    struct fixture *f = *state;
    const unsigned n_steps = scan(f, 0, NULL);
    assert_int_equal(unlink(scratch_path(f->tree, "large/0001")), 0);
    assert_int_equal(scan_begin(f->index), 0);
    for (unsigned i = 0; i < 8 * n_steps; i++) {
        scan_want_directory(f->index, &f->large, 12345);
        assert_int_equal(scan_take_wanted(f->index), 0);
        while (scan_look(f->index, false))
            continue;
        step(f);
    }
    assert_int_equal(n_entries(f), FILES - 1);
    while (step(f) > 0)
        continue;
    assert_catalogue_is(f, "tree/large");
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

static void move_out(struct fixture *f)
{
    assert_int_equal(rename(scratch_path(f->tree, "large"), scratch_path(f->root, "elsewhere")), 0);
    note(f, backing_root_key(f->backing), "large");
}

static void move_in(struct fixture *f)
{
    assert_int_equal(rename(scratch_path(f->root, "elsewhere"), scratch_path(f->tree, "large")), 0);
    note(f, backing_root_key(f->backing), "large");
}

static void test_scan__a_directory_that_leaves_the_tree_meanwhile_is_not_added(void **state)
{
    struct fixture *f = *state;
    unsigned n_steps = scan(f, 0, NULL);
    for (unsigned at = 0; at < n_steps; at += failure_step()) {
        scan(f, at, move_out);
        take_away(f, UINT_MAX);
        assert_int_equal(n_entries(f), 0);
        move_in(f);
        scan(f, 0, NULL);
        assert_catalogue_is(f, "tree/large");
    }
}

static struct moved {
    bool is_in_z, is_missed_first, is_done;
} moved;

static void move_to_the_other(struct fixture *f)
{
    const char *from = moved.is_in_z ? "z" : "a", *to = moved.is_in_z ? "a" : "z";
    const struct file_key old = key_of(f, from), new = key_of(f, to);
    assert_int_equal(
        rename(scratch_path(f->tree, "%s/large", from), scratch_path(f->root, "tree/%s/large", to)),
        0);
    if (moved.is_missed_first) {
        note(f, &old, "large");
        reconcile_noted(f);
    }
    index_note_rename(f->index, &old, "large", &new, "large");
    moved.is_in_z = !moved.is_in_z;
    moved.is_done = true;
}

/* From where the scan has not been to where it has. */
static void test_scan__a_known_directory_that_moves_meanwhile_is_looked_into(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(scratch_path(f->tree, "a"), 0755), 0);
    assert_int_equal(mkdir(scratch_path(f->tree, "z"), 0755), 0);
    assert_int_equal(rename(scratch_path(f->tree, "large"), scratch_path(f->root, "tree/a/large")),
                     0);
    scan(f, 0, NULL);
    moved = (struct moved){.is_done = true};
    for (unsigned at = 0; moved.is_done; at += failure_step()) {
        for (unsigned i = 0; i < 4; i++) {
            moved.is_missed_first = i > 1;
            moved.is_done = false;
            scratch_write(
                scratch_path(f->tree, "%s/large/late-%u-%u", moved.is_in_z ? "z" : "a", at, i), "");
            scan(f, at, move_to_the_other);
            assert_catalogue_is(f, moved.is_in_z ? "tree/z/large" : "tree/a/large");
        }
    }
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

/* Nobody said so: a crash came between. Both ways round, since one is looked at before the other.
 */
static void test_scan__directories_that_changed_names_are_looked_into(void **state)
{
    struct fixture *f = *state;
    static const char *const others[] = {"a", "z"};
    char name[16] = "large";
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(mkdir(scratch_path(f->tree, "%s", others[i]), 0755), 0);
        scratch_write(scratch_path(f->tree, "%s/1", others[i]), "");
        scan(f, 0, NULL);
        assert_int_equal(renameat2(AT_FDCWD, scratch_path(f->tree, "%s", name), AT_FDCWD,
                                   scratch_path(f->tree, "%s", others[i]), RENAME_EXCHANGE),
                         0);
        snprintf(name, sizeof(name), "%s", others[i]);
        assert_int_equal(unlink(scratch_path(f->tree, "%s/%04u", name, 7 + i)), 0);
        scratch_write(scratch_path(f->tree, "%s/more%u", name, i), "");
        scan(f, 0, NULL);
        assert_catalogue_is(f, scratch_path("tree", "%s", name));
    }
}

/* Each directory has the name of the one before it. */
static void rotate(struct fixture *f, unsigned n)
{
    assert_int_equal(rename(scratch_path(f->tree, "%u", n - 1), scratch_path(f->tree, "aside")), 0);
    for (unsigned i = n - 1; i-- > 0;)
        assert_int_equal(
            rename(scratch_path(f->tree, "%u", i), scratch_path(f->root, "tree/%u", i + 1)), 0);
    assert_int_equal(rename(scratch_path(f->tree, "aside"), scratch_path(f->tree, "0")), 0);
}

static void test_scan__very_many_directories_that_change_names_are_followed(void **state)
{
    struct fixture *f = *state;
    enum { N = 2500 }; /* more than a stack has room for, one within the other */
    char *error = NULL;
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(mkdir(scratch_path(f->tree, "%u", i), 0755), 0);
    scan(f, 0, NULL);
    for (unsigned round = 0; round < 2; round++) {
        rotate(f, N);
        assert_int_equal(scan_begin(f->index), 0);
        while (step(f) > 0 && (round == 0 || directory_removal_is_idle(f->index)))
            continue;
        if (round == 0) {
            take_away(f, UINT_MAX);
        } else { /* the next opening goes on where this one ended */
            assert_false(directory_removal_is_idle(f->index));
            index_close(f->index, 0);
            struct index_options options = {
                .backing = f->backing, .source = f->tree, .store_path = f->store};
            if (index_open(&options, &f->index, &error) < 0)
                fail_msg("%s", error);
            scan(f, 0, NULL);
            take_away(f, UINT_MAX);
        }
        assert_true(directory_removal_is_idle(f->index));
        for (unsigned i = 0; i < N; i++) {
            const struct file_key key = key_of(f, scratch_path("", "%u", i) + 1);
            struct catalogue_list links = {0};
            char name[16];
            snprintf(name, sizeof(name), "%u", i);
            assert_int_equal(catalogue_links(f->index->kv, &key, 2, &links), 0);
            assert_int_equal(links.n_entries, 1);
            assert_string_equal(links.entries[0].name, name);
            catalogue_list_done(&links);
        }
    }
}

static void test_scan__a_large_directory_that_goes_is_taken_away_in_many_steps(void **state)
{
    struct fixture *f = *state;
    char *path = NULL;
    scan(f, 0, NULL);
    struct file_key file = key_of(f, "large/0007");
    move_out(f);
    reconcile_noted(f);
    assert_int_equal(n_entries(f), FILES);
    assert_int_equal(index_path(f->index, &file, &path), -ENOENT); /* no answer has it any more */
    assert_true(take_away(f, UINT_MAX) > FILES / 256);
    assert_int_equal(n_entries(f), 0);
}

static void test_scan__a_directory_that_comes_back_before_all_is_taken_away_is_whole(void **state)
{
    struct fixture *f = *state;
    scan(f, 0, NULL);
    move_out(f);
    reconcile_noted(f);
    unsigned n_steps = take_away(f, UINT_MAX);
    for (unsigned at = 0; at <= n_steps; at += failure_step()) {
        move_in(f);
        scan(f, 0, NULL);
        assert_catalogue_is(f, "tree/large");
        move_out(f);
        reconcile_noted(f);
        take_away(f, at);
        move_in(f);
        reconcile_noted(f);
        while (!scan_is_idle(f->index)) /* which its name has begun */
            step(f);
        take_away(f, UINT_MAX);
        assert_catalogue_is(f, "tree/large");
        move_out(f);
        reconcile_noted(f);
        take_away(f, UINT_MAX);
    }
}

static void test_scan__what_is_not_taken_away_yet_is_after_the_next_start(void **state)
{
    struct fixture *f = *state;
    char *error = NULL;
    scan(f, 0, NULL);
    move_out(f);
    reconcile_noted(f);
    take_away(f, 2);
    assert_true(n_entries(f) > 0);
    index_close(f->index, 0);
    struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store};
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    assert_int_equal(index_start(f->index), 0);
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 600000), 0);
    assert_int_equal(n_entries(f), 0);
}

/* Somebody removes another directory at each step. */
static void test_scan__a_directory_that_goes_does_not_wait_for_those_after_it(void **state)
{
    struct fixture *f = *state;
    enum { STEPS_MAX = 1000 };
    for (unsigned i = 0; i < STEPS_MAX; i++)
        assert_int_equal(mkdir(scratch_path(f->tree, "%u", i), 0755), 0);
    scan(f, 0, NULL);
    move_out(f);
    reconcile_noted(f);
    unsigned n_steps = 0;
    for (; n_entries(f) > 0 && n_steps < STEPS_MAX; n_steps++) {
        char name[16];
        snprintf(name, sizeof(name), "%u", n_steps);
        assert_int_equal(rmdir(scratch_path(f->tree, "%s", name)), 0);
        note(f, backing_root_key(f->backing), name);
        reconcile_noted(f);
        take_away(f, 1);
    }
    assert_int_equal(n_entries(f), 0);
    assert_false(directory_removal_is_idle(f->index)); /* those are to come */
    take_away(f, UINT_MAX);
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
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_scan__a_large_directory_takes_many_steps),
        ON_A_TREE(test_scan__the_names_of_a_directory_are_in_memory_some_at_a_time),
        ON_A_TREE(test_scan__changes_between_any_two_steps_are_kept),
        ON_A_TREE(test_scan__changes_between_a_look_and_its_step_are_kept),
        ON_A_TREE(test_scan__very_many_changes_between_a_look_and_its_step_are_kept),
        ON_A_TREE(test_scan__others_do_not_wait_for_one_owners_directory),
        ON_A_TREE(test_scan__what_comes_meanwhile_does_not_keep_its_end_from_coming),
        ON_A_TREE(test_scan__who_locks_again_and_again_is_not_waited_for),
        ON_A_TREE(test_scan__a_directory_that_leaves_the_tree_meanwhile_is_not_added),
        ON_A_TREE(test_scan__a_known_directory_that_moves_meanwhile_is_looked_into),
        ON_A_TREE(test_scan__directories_are_seen_before_they_are_listed),
        ON_A_TREE(test_scan__directories_that_changed_names_are_looked_into),
        ON_A_TREE(test_scan__very_many_directories_that_change_names_are_followed),
        ON_A_TREE(test_scan__a_large_directory_that_goes_is_taken_away_in_many_steps),
        ON_A_TREE(test_scan__a_directory_that_comes_back_before_all_is_taken_away_is_whole),
        ON_A_TREE(test_scan__what_is_not_taken_away_yet_is_after_the_next_start),
        ON_A_TREE(test_scan__a_directory_that_goes_does_not_wait_for_those_after_it),
        ON_A_TREE(test_scan__ends_half_way_without_a_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
