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

static unsigned go_on_to_the_end(struct fixture *f)
{
    unsigned n = 0;
    while (step(f) > 0)
        n++;
    return n;
}

/* Somebody renames a directory again and again, faster than it is looked at, while the tree is
 * scanned: it is scanned a few times, and not as often as that. */
static void test_scan__a_directory_that_waits_is_not_put_behind_itself(void **state)
{
    enum { RENAMES = 300, TIMES = 6 };
    struct fixture *f = *state;
    const unsigned n_steps = scan(f, 0, NULL);
    static const char *const names[] = {"large", "renamed"};
    assert_int_equal(scan_begin(f->index), 0);
    for (unsigned i = 0; i < RENAMES; i++) {
        char to[256];
        snprintf(to, sizeof(to), "%s/%s", f->tree, names[!(i % 2)]);
        assert_int_equal(rename(scratch_path(f->tree, "%s", names[i % 2]), to), 0);
        note(f, backing_root_key(f->backing), names[0]);
        note(f, backing_root_key(f->backing), names[1]);
        reconcile_noted(f);
        scan_want_directory(f->index, &f->large, 12345);
        assert_int_equal(scan_take_wanted(f->index), 0);
        step(f);
    }
    assert_true(go_on_to_the_end(f) < TIMES * n_steps);
    assert_true(scan_is_idle(f->index));
    assert_catalogue_is(f, "tree/large");
    assert_true(scan_may_begin(f->index));
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(f->index->scan.sets[i].joined.n_slots, 0);
}

/* What has no room among an owner's who is not waited for does not wait, so it may come later. */
static void test_scan__a_directory_that_was_left_out_may_join_later(void **state)
{
    enum { OWNER = 12345, LONG_MS = 3600 * 1000, DIRECTORIES_MAX = 1 << 20 };
    struct fixture *f = *state;
    struct scan *scan = &f->index->scan;
    struct owner_stacks *next = &scan->sets[!scan->now].directories;
    struct file_key directory = f->large;
    scan->slow[0] = (struct slow_owner){.owner = OWNER, .ms = LONG_MS};
    scan->n_slow = 1;
    for (uint32_t i = 0; !scan->left_some && i < DIRECTORIES_MAX; i++) {
        memcpy(directory.bytes + directory.size_bytes - sizeof(i), &i, sizeof(i));
        assert_int_equal(scan_add_directory(f->index, &directory, OWNER, !scan->now), 0);
    }
    assert_true(scan->left_some);
    assert_int_equal(scan_join_directory(f->index, &f->large, OWNER), 0);
    directory = f->large;
    scan->n_slow = 0;
    const size_t before = owner_stacks_bytes(next, OWNER);
    assert_int_equal(scan_join_directory(f->index, &directory, OWNER), 0);
    const size_t joined = owner_stacks_bytes(next, OWNER);
    assert_true(joined > before);
    assert_int_equal(scan_join_directory(f->index, &directory, OWNER), 0);
    assert_int_equal(owner_stacks_bytes(next, OWNER), joined);
    scan_sets_forget(scan);
}

/* Somebody keeps one directory locked, and makes and removes others, which never are the last that
 * wait. */
static void test_scan__those_that_joined_are_bounded(void **state)
{
    enum { OWNER = 12345, LONG_MS = 3600 * 1000, DIRECTORIES_MANY = 1 << 20, MOST_BYTES = 4 << 20 };
    struct fixture *f = *state;
    struct scan *scan = &f->index->scan;
    const struct sid_tally *joined = &scan->sets[!scan->now].joined;
    struct file_key directory = f->large;
    scan->slow[0] = (struct slow_owner){.owner = OWNER, .ms = LONG_MS};
    scan->n_slow = 1;
    for (uint32_t i = 0; i < DIRECTORIES_MANY; i++) {
        memcpy(directory.bytes + directory.size_bytes - sizeof(i), &i, sizeof(i));
        assert_int_equal(scan_join_directory(f->index, &directory, OWNER), 0);
    }
    assert_true(joined->n_slots * sizeof(joined->slots[0]) <= MOST_BYTES);
    scan_sets_forget(scan);
}

static size_t waiting_bytes(const struct scan *scan, uid_t owner)
{
    return owner_stacks_bytes(&scan->sets[0].directories, owner) +
           owner_stacks_bytes(&scan->sets[1].directories, owner) +
           owner_stacks_bytes(&scan->later, owner);
}

/* Somebody renames more directories in turns than can be known of, faster than they are taken: they
 * are left to a scan of the tree, and their owner is not waited for. */
static void test_scan__those_that_join_in_turns_are_bounded(void **state)
{
    enum { OWNER = 12345, DIRECTORIES_MANY = 100000, TURNS = 8 };
    struct fixture *f = *state;
    struct scan *scan = &f->index->scan;
    struct file_key directory = f->large;
    for (uint32_t i = 0; i < TURNS * DIRECTORIES_MANY; i++) {
        const uint32_t number = i % DIRECTORIES_MANY;
        memcpy(directory.bytes + directory.size_bytes - sizeof(number), &number, sizeof(number));
        assert_int_equal(scan_join_directory(f->index, &directory, OWNER), 0);
    }
    assert_true(waiting_bytes(scan, OWNER) <
                (size_t)DIRECTORIES_MANY * (directory.size_bytes + 1u));
    assert_true(f->index->rescan_wanted);
    assert_true(scan_is_over(f->index));
    scan_sets_forget(scan);
}

/* A directory that was taken is not taken again by what finds it in another, until other names are
 * left out there. */
static void test_scan__what_was_taken_is_taken_again_by_other_rules(void **state)
{
    enum { OWNER = 12345 };
    struct fixture *f = *state;
    struct scan *scan = &f->index->scan;
    const unsigned set = !scan->now;
    const struct owner_stacks *directories = &scan->sets[set].directories;
    assert_int_equal(scan_join_directory(f->index, &f->large, OWNER), 0);
    const size_t one_bytes = owner_stacks_bytes(directories, OWNER);
    assert_true(one_bytes > 0);
    scan_is_taken(scan, set, &f->large);
    assert_int_equal(scan_add_found(f->index, &f->large, OWNER, set, false), 0);
    assert_int_equal(owner_stacks_bytes(directories, OWNER), one_bytes);
    scan_forget_taken(scan);
    assert_int_equal(scan_add_found(f->index, &f->large, OWNER, set, false), 0);
    assert_int_equal(owner_stacks_bytes(directories, OWNER), 2 * one_bytes);
    scan_sets_forget(scan);
}

static size_t bytes_after_found(struct fixture *f, uid_t owner, unsigned set)
{
    assert_int_equal(scan_add_found(f->index, &f->large, owner, set, false), 0);
    return owner_stacks_bytes(&f->index->scan.sets[set].directories, owner);
}

/* A directory that was not where it had been found is taken again where it is found, but not for
 * ever. */
static void test_scan__what_was_taken_in_vain_is_taken_again(void **state)
{
    enum { OWNER = 12345 };
    struct fixture *f = *state;
    struct scan *scan = &f->index->scan;
    const unsigned set = !scan->now;
    assert_int_equal(scan_join_directory(f->index, &f->large, OWNER), 0);
    const size_t one_bytes = owner_stacks_bytes(&scan->sets[set].directories, OWNER);
    scan_is_taken(scan, set, &f->large);
    assert_int_equal(scan_is_visited(f->index, set, &f->large, OWNER, false), 0);
    assert_int_equal(bytes_after_found(f, OWNER, set), 2 * one_bytes);
    scan_is_taken(scan, set, &f->large);
    assert_int_equal(bytes_after_found(f, OWNER, set), 2 * one_bytes); /* while it is visited */
    assert_int_equal(scan_is_visited(f->index, set, &f->large, OWNER, false), 0);
    assert_int_equal(owner_stacks_bytes(&scan->sets[set].directories, OWNER), 3 * one_bytes);
    scan_is_taken(scan, set, &f->large);
    assert_false(f->index->rescan_wanted);
    assert_int_equal(scan_is_visited(f->index, set, &f->large, OWNER, false), 0);
    assert_true(f->index->rescan_wanted);
    assert_int_equal(bytes_after_found(f, OWNER, set), 3 * one_bytes);
    scan_sets_forget(scan);
    f->index->rescan_wanted = false;
    assert_int_equal(scan_join_directory(f->index, &f->large, OWNER), 0);
    scan_is_taken(scan, set, &f->large);
    assert_int_equal(scan_is_visited(f->index, set, &f->large, OWNER, true), 0);
    assert_int_equal(bytes_after_found(f, OWNER, set), one_bytes);
    scan_sets_forget(scan);
}

/* A directory has come in the place of another while nobody looked, and what it is in is scanned
 * beside the scan of the tree, which comes to it before either knows it. */
static void test_scan__what_two_scans_find_at_once_is_scanned(void **state)
{
    struct fixture *f = *state;
    _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
    assert_int_equal(mkdir(scratch_path(f->tree, "outer"), 0755), 0);
    assert_int_equal(mkdir(scratch_path(f->tree, "outer/in"), 0755), 0);
    scan(f, 0, NULL);
    const struct file_key outer = key_of(f, "outer");
    assert_int_equal(rename(scratch_path(f->tree, "outer/in"), scratch_path(f->root, "old")), 0);
    assert_int_equal(mkdir(scratch_path(f->tree, "outer/in"), 0755), 0);
    scratch_write(scratch_path(f->tree, "outer/in/new"), "");
    const struct file_key in = key_of(f, "outer/in");
    assert_int_equal(scan_begin(f->index), 0);
    const struct owner_stacks *lossy = &f->index->scan.sets[f->index->scan.now].lossy;
    while (owner_stacks_are_empty(lossy))
        assert_true(step(f) > 0);
    assert_int_equal(scan_join_directory(f->index, &outer, geteuid()), 0);
    go_on_to_the_end(f);
    assert_true(scan_is_idle(f->index));
    assert_int_equal(catalogue_children(f->index->kv, &in, NULL, 2, &list), 0);
    assert_int_equal(list.n_entries, 1);
}

static void move(struct fixture *f, const char *from, const char *to)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", f->tree, to);
    assert_int_equal(rename(scratch_path(f->tree, "%s", from), path), 0);
}

/* Of two directories each is put into the other one in turn. */
static void put_into(struct fixture *f, const char *outer, const char *inner, bool is_seen)
{
    char nested[16], nested_before[16];
    snprintf(nested, sizeof(nested), "%s/%s", outer, inner);
    snprintf(nested_before, sizeof(nested_before), "%s/%s", inner, outer);
    if (access(scratch_path(f->tree, "%s", nested), F_OK) == 0)
        return;
    const struct file_key key_of_inner = key_of(f, inner), key_of_outer = key_of(f, nested_before);
    move(f, nested_before, outer);
    move(f, inner, nested);
    if (!is_seen)
        return;
    note(f, backing_root_key(f->backing), outer);
    note(f, &key_of_outer, inner);
    note(f, &key_of_inner, outer);
    note(f, backing_root_key(f->backing), inner);
    reconcile_noted(f);
}

/* The directory that is taken next of the set that runs. */
static bool comes_next(struct fixture *f, const struct file_key *directory)
{
    const struct owner_stacks *stacks = &f->index->scan.sets[f->index->scan.now].directories;
    for (size_t i = 0; i < stacks->n_stacks; i++) {
        const struct file_key top = key_stack_top(&stacks->stacks[i].keys);
        if (file_key_equal(&top, directory))
            return true;
    }
    return false;
}

/* Somebody has the directory that is about to be looked at contain the one that was, always. */
static void take_turns_in_each_other(struct fixture *f, bool is_seen)
{
    enum { TURNS = 500 };
    assert_int_equal(mkdir(scratch_path(f->tree, "a"), 0755), 0);
    assert_int_equal(mkdir(scratch_path(f->tree, "a/b"), 0755), 0);
    const struct file_key a = key_of(f, "a"), b = key_of(f, "a/b");
    scan(f, 0, NULL);
    assert_int_equal(scan_begin(f->index), 0);
    const unsigned long n_rounds = f->index->n_scan_rounds;
    for (unsigned i = 0; i < TURNS && f->index->n_scan_rounds == n_rounds; i++) {
        if (comes_next(f, &a))
            put_into(f, "a", "b", is_seen);
        else if (comes_next(f, &b))
            put_into(f, "b", "a", is_seen);
        step(f);
    }
    assert_true(f->index->n_scan_rounds > n_rounds);
    go_on_to_the_end(f);
    assert_true(scan_is_idle(f->index));
    assert_catalogue_is(f, "tree/large");
}

static void test_scan__directories_that_take_turns_in_each_other_do_not_keep_its_end(void **state)
{
    take_turns_in_each_other(*state, true);
}

/* As in a tree that is not mounted. */
static void test_scan__nor_do_those_of_which_nobody_tells(void **state)
{
    take_turns_in_each_other(*state, false);
}

/* Somebody renames a directory again and again whose directories wait behind it, as long as the
 * tree is scanned, which is large: here of directories that are gone when it comes to them. */
static void test_scan__what_is_in_a_directory_does_not_wait_behind_itself(void **state)
{
    enum { DIRECTORIES_IN = 300, STEPS = 6000, RENAMED_EVERY = 10, TIMES = 3, OTHER = 12345 };
    static const char *const names[] = {"outer", "renamed"};
    struct fixture *f = *state;
    assert_int_equal(mkdir(scratch_path(f->tree, "outer"), 0755), 0);
    for (unsigned i = 0; i < DIRECTORIES_IN; i++)
        assert_int_equal(mkdir(scratch_path(f->tree, "outer/%u", i), 0755), 0);
    scan(f, 0, NULL);
    const size_t all_bytes = (DIRECTORIES_IN + 3) * (f->large.size_bytes + (size_t)1);
    assert_int_equal(scan_begin(f->index), 0);
    struct file_key gone = f->large;
    for (uint32_t i = 0; i < STEPS; i++) {
        memcpy(gone.bytes + gone.size_bytes - sizeof(i), &i, sizeof(i));
        assert_int_equal(scan_add_directory(f->index, &gone, OTHER, f->index->scan.now), 0);
    }
    for (unsigned i = 0; i < STEPS; i++) {
        const unsigned n = i / RENAMED_EVERY;
        if (i % RENAMED_EVERY == 0) {
            move(f, names[n % 2], names[!(n % 2)]);
            note(f, backing_root_key(f->backing), names[0]);
            note(f, backing_root_key(f->backing), names[1]);
            reconcile_noted(f);
        }
        step(f);
        assert_true(waiting_bytes(&f->index->scan, geteuid()) <= TIMES * all_bytes);
    }
    go_on_to_the_end(f);
    assert_true(scan_is_idle(f->index));
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
        ON_A_TREE(test_scan__what_comes_meanwhile_does_not_keep_its_end_from_coming),
        ON_A_TREE(test_scan__a_directory_that_waits_is_not_put_behind_itself),
        ON_A_TREE(test_scan__a_directory_that_was_left_out_may_join_later),
        ON_A_TREE(test_scan__those_that_joined_are_bounded),
        ON_A_TREE(test_scan__those_that_join_in_turns_are_bounded),
        ON_A_TREE(test_scan__what_was_taken_is_taken_again_by_other_rules),
        ON_A_TREE(test_scan__what_was_taken_in_vain_is_taken_again),
        ON_A_TREE(test_scan__what_two_scans_find_at_once_is_scanned),
        ON_A_TREE(test_scan__directories_that_take_turns_in_each_other_do_not_keep_its_end),
        ON_A_TREE(test_scan__nor_do_those_of_which_nobody_tells),
        ON_A_TREE(test_scan__what_is_in_a_directory_does_not_wait_behind_itself),
        ON_A_TREE(test_scan__who_locks_again_and_again_is_not_waited_for),
        ON_A_TREE(test_scan__who_waits_for_the_committer_keeps_nothing_locked),
        ON_A_TREE(test_scan__directories_are_seen_before_they_are_listed),
        ON_A_TREE(test_scan__ends_half_way_without_a_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
