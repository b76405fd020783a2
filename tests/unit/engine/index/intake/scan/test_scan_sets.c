/* What comes to be, or moves, while a scan runs joins the next one, and keeps no scan from its end.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "base/clock.h"
#include "tests/lib/fixtures/scan_fixture.h"

/* Somebody has directories come to be all the time. */
static void test_scan_sets__what_comes_meanwhile_does_not_keep_its_end_from_coming(void **state)
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
static void test_scan_sets__a_directory_that_waits_is_not_put_behind_itself(void **state)
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
        assert_int_equal(f->index->scan.sets[i].members.n, 0);
}

/* What has no room among an owner's who is not waited for does not wait, so it may come later. */
static void test_scan_sets__a_directory_that_was_left_out_may_join_later(void **state)
{
    enum { OWNER = 12345, LONG_MS = 3600 * 1000, DIRECTORIES_MAX = 1 << 20 };
    struct fixture *f = *state;
    struct scan *scan = &f->index->scan;
    struct owner_stacks *next = &scan->sets[!scan->now].directories;
    struct file_key directory = f->large;
    scan->slow[0] = (struct slow_owner){.owner = OWNER, .ms = LONG_MS};
    scan->n_slow = 1;
    for (uint32_t i = 0; !scan->left_some && i < DIRECTORIES_MAX; i++) {
        const uint32_t number = i | UINT32_C(1) << 31; /* that no directory of the tree has */
        memcpy(directory.bytes + directory.size_bytes - sizeof(number), &number, sizeof(number));
        assert_int_equal(scan_add_directory(f->index, &directory, OWNER, !scan->now), 0);
    }
    assert_true(scan->left_some);
    assert_int_equal(scan_join_directory(f->index, &f->large, OWNER), 0);
    owner_stacks_done(next);
    assert_int_equal(scan_join_directory(f->index, &f->large, OWNER), 0);
    const size_t joined = owner_stacks_bytes(next, OWNER);
    assert_true(joined > 0);
    assert_int_equal(scan_join_directory(f->index, &f->large, OWNER), 0);
    assert_int_equal(owner_stacks_bytes(next, OWNER), joined);
    scan_sets_forget(scan);
}

/* Somebody keeps one directory locked, and makes and removes others, which never are the last that
 * wait. */
static void test_scan_sets__those_that_joined_are_bounded(void **state)
{
    enum { OWNER = 12345, LONG_MS = 3600 * 1000, DIRECTORIES_MANY = 1 << 20, MOST_BYTES = 9 << 20 };
    struct fixture *f = *state;
    struct scan *scan = &f->index->scan;
    const struct scan_set *next = &scan->sets[!scan->now];
    struct file_key directory = f->large;
    scan->slow[0] = (struct slow_owner){.owner = OWNER, .ms = LONG_MS};
    scan->n_slow = 1;
    for (uint32_t i = 0; i < DIRECTORIES_MANY; i++) {
        memcpy(directory.bytes + directory.size_bytes - sizeof(i), &i, sizeof(i));
        assert_int_equal(scan_join_directory(f->index, &directory, OWNER), 0);
    }
    assert_true(next->members.n_slots * sizeof(next->members.slots[0]) +
                    owner_stacks_bytes(&next->directories, OWNER) <=
                MOST_BYTES);
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
static void test_scan_sets__those_that_join_in_turns_are_bounded(void **state)
{
    enum { OWNER = 12345, DIRECTORIES_MANY = 400000, TURNS = 4 };
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

/* A directory that is found again after it was taken, somewhere else or by other rules, is not
 * taken again by the same set, and is by the next. */
static void test_scan_sets__what_is_found_again_comes_with_the_next(void **state)
{
    struct fixture *f = *state;
    struct scan *scan = &f->index->scan;
    struct tree_entry large = {.key = f->large, .type = ENTRY_DIRECTORY, .st.st_uid = 12345};
    for (unsigned set = 0; set < 2; set++) {
        const struct owner_stacks *directories = &scan->sets[set].directories;
        assert_int_equal(scan_add_found(f->index, &large, set, true), 0);
        const size_t one_bytes = owner_stacks_bytes(directories, large.st.st_uid);
        assert_true(one_bytes > 0);
        assert_int_equal(scan_add_found(f->index, &large, set, true), 0); /* it waits */
        assert_int_equal(waiting_bytes(scan, large.st.st_uid), one_bytes);
        assert_int_equal(scan_is_taken(scan, set, &large.key), 0);
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(scan_add_found(f->index, &large, set, false), 0);
        assert_int_equal(waiting_bytes(scan, large.st.st_uid), 2 * one_bytes);
        assert_int_equal(owner_stacks_bytes(directories, large.st.st_uid), one_bytes);
        scan_sets_forget(scan);
    }
}

/* A directory has come in the place of another while nobody looked, and what it is in is scanned
 * beside the scan of the tree, which comes to it before either knows it. */
static void test_scan_sets__what_two_scans_find_at_once_is_scanned(void **state)
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

static void
test_scan_sets__directories_that_take_turns_in_each_other_do_not_keep_its_end(void **state)
{
    take_turns_in_each_other(*state, true);
}

/* As in a tree that is not mounted. */
static void test_scan_sets__nor_do_those_of_which_nobody_tells(void **state)
{
    take_turns_in_each_other(*state, false);
}

/* Somebody renames a directory again and again whose directories wait behind it, as long as the
 * tree is scanned, which is large: here of directories that are gone when it comes to them. */
static void test_scan_sets__what_is_in_a_directory_does_not_wait_behind_itself(void **state)
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

/* Somebody makes a directory in the one that is about to be looked at, always. */
static void make_ahead(struct fixture *f, bool is_seen)
{
    enum { TURNS = 500, TICK_US = 20000 };
    struct file_key deepest;
    assert_int_equal(mkdir(scratch_path(f->tree, "deep"), 0755), 0);
    _cleanup_close_ int fd = open(scratch_path(f->tree, "deep"), O_PATH | O_DIRECTORY);
    assert_int_equal(backing_key_at(f->backing, fd, "", &deepest), 0);
    assert_int_equal(scan_begin(f->index), 0);
    const unsigned long n_rounds = f->index->n_scan_rounds;
    usleep(TICK_US); /* the clock of the file system is as coarse */
    unsigned n_made = 0;
    for (unsigned i = 0; i < TURNS && f->index->n_scan_rounds == n_rounds; i++) {
        if (comes_next(f, &deepest)) {
            const struct file_key parent = deepest;
            assert_int_equal(mkdirat(fd, "d", 0755), 0);
            const int below = openat(fd, "d", O_PATH | O_DIRECTORY);
            assert_true(below >= 0);
            close(fd);
            fd = below;
            assert_int_equal(backing_key_at(f->backing, fd, "", &deepest), 0);
            n_made++;
            if (is_seen) {
                note(f, &parent, "d");
                reconcile_noted(f);
            }
        }
        step(f);
    }
    assert_true(n_made > 0);
    assert_true(f->index->n_scan_rounds > n_rounds);
    go_on_to_the_end(f);
    assert_true(scan_is_idle(f->index));
    for (; n_made > 0; n_made--) { /* all of them are known */
        _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
        assert_int_equal(catalogue_links(f->index->kv, &deepest, 2, &links), 0);
        assert_int_equal(links.n_entries, 1);
        deepest = links.entries[0].parent;
    }
}

static void test_scan_sets__directories_made_ahead_do_not_keep_its_end(void **state)
{
    make_ahead(*state, false);
}

static void test_scan_sets__nor_do_those_that_are_noted(void **state)
{
    make_ahead(*state, true);
}

/* A directory is older than the scan, although it changed meanwhile; or nobody knows, and it has
 * another name, by which it is known. */
static void test_scan_sets__what_was_there_before_is_of_the_scan_that_runs(void **state)
{
    struct fixture *f = *state;
    struct scan *sets = &f->index->scan;
    scan(f, 0, NULL);
    scan_sets_forget(sets);
    const uint64_t now_ns = clock_real_ns(), age_ns = 1000000000;
    sets->sets[sets->now].begun_ns = now_ns - age_ns;
    struct tree_entry large = {.key = f->large, .type = ENTRY_DIRECTORY};
    large.st.st_ctim.tv_sec = (time_t)(now_ns / 1000000000);
    large.st.st_ctim.tv_nsec = (long)(now_ns % 1000000000);
    const uint64_t births_ns[] = {now_ns - 2 * age_ns, 0, now_ns + 3600 * age_ns, now_ns};
    for (unsigned i = 0; i < 4; i++) {
        large.born_ns = births_ns[i];
        assert_int_equal(scan_add_found(f->index, &large, sets->now, true), 0);
        const bool is_of_now = i < 3;
        assert_int_equal(scan_members_get(&sets->sets[sets->now].members, &large.key),
                         is_of_now ? SCAN_WAITS : SCAN_NO_MEMBER);
        scan_sets_forget(sets);
    }
    large.born_ns = 0;
    large.key.bytes[large.key.size_bytes - 1] ^= 1; /* nobody knows that one */
    assert_int_equal(scan_add_found(f->index, &large, sets->now, true), 0);
    assert_int_equal(scan_members_get(&sets->sets[!sets->now].members, &large.key), SCAN_WAITS);
    scan_sets_forget(sets);
}

/* Many users have their next directories come all the time, so that all visits are theirs. */
static void test_scan_sets__what_is_missing_has_its_turn(void **state)
{
    enum { STEPS = 400, OWNERS = N_SCANNERS + 1, OF_EACH = 200 };
    struct fixture *f = *state;
    struct scan *sets = &f->index->scan;
    struct file_key gone = f->large;
    scan(f, 0, NULL);
    assert_int_equal(unlink(scratch_path(f->tree, "large/0001")), 0);
    assert_int_equal(scan_add_directory(f->index, &f->large, geteuid(), sets->now), 0);
    for (uint32_t i = 0; i < OWNERS * OF_EACH; i++) {
        memcpy(gone.bytes + gone.size_bytes - sizeof(i), &i, sizeof(i));
        assert_int_equal(
            scan_add_directory(f->index, &gone, geteuid() + 1 + i % OWNERS, !sets->now), 0);
    }
    for (unsigned i = 0; i < STEPS; i++) {
        while (scan_look(f->index, false))
            continue;
        (void)scan_has_step(f->index);
        assert_true(scan_step(f->index) >= 0);
    }
    assert_catalogue_is(f, "tree/large");
    assert_false(scan_is_all_added(sets, !sets->now));
}

/* It has been looked at, leaves the tree, which is seen, and is found elsewhere before the notice
 * of that is taken. */
static void test_scan_sets__what_comes_back_in_the_same_scan_has_its_entries(void **state)
{
    struct fixture *f = *state;
    const struct file_key *root = backing_root_key(f->backing);
    assert_int_equal(mkdir(scratch_path(f->tree, "a"), 0755), 0);
    const struct file_key a = key_of(f, "a");
    scan(f, 0, NULL);
    assert_int_equal(scan_join_directory(f->index, root, geteuid()), 0);
    const struct scan_members *members = &f->index->scan.sets[!f->index->scan.now].members;
    while (scan_members_get(members, &f->large) != SCAN_TAKEN ||
           scan_has_visit(&f->index->scan, geteuid()))
        assert_true(step(f) > 0);
    assert_int_equal(scan_members_get(members, &a), SCAN_WAITS);
    move_out(f);
    reconcile_noted(f);
    take_away(f, UINT_MAX);
    assert_int_equal(n_entries(f), 0);
    assert_int_equal(rename(scratch_path(f->root, "elsewhere"), scratch_path(f->tree, "a/large")),
                     0);
    go_on_to_the_end(f);
    note(f, &a, "large");
    reconcile_noted(f);
    go_on_to_the_end(f);
    assert_catalogue_is(f, "tree/a/large");
}

/* Its owner's directories took long, so that nobody waits for what else is that one's. */
static void test_scan_sets__who_is_stuck_loses_what_is_gone(void **state)
{
    enum { LONG_MS = 3600 * 1000, STEPS = 1000 };
    struct fixture *f = *state;
    struct scan *scan_of = &f->index->scan;
    scan(f, 0, NULL);
    assert_int_equal(unlink(scratch_path(f->tree, "large/0001")), 0);
    scan_of->slow[0] = (struct slow_owner){.owner = geteuid(), .ms = LONG_MS};
    scan_of->n_slow = 1;
    assert_int_equal(scan_join_directory(f->index, &f->large, geteuid()), 0);
    for (unsigned i = 0; i < STEPS && step(f) > 0; i++)
        continue;
    assert_true(scan_is_idle(f->index));
    assert_catalogue_is(f, "tree/large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_scan_sets__what_comes_meanwhile_does_not_keep_its_end_from_coming),
        ON_A_TREE(test_scan_sets__a_directory_that_waits_is_not_put_behind_itself),
        ON_A_TREE(test_scan_sets__a_directory_that_was_left_out_may_join_later),
        ON_A_TREE(test_scan_sets__those_that_joined_are_bounded),
        ON_A_TREE(test_scan_sets__those_that_join_in_turns_are_bounded),
        ON_A_TREE(test_scan_sets__what_is_found_again_comes_with_the_next),
        ON_A_TREE(test_scan_sets__what_two_scans_find_at_once_is_scanned),
        ON_A_TREE(test_scan_sets__directories_that_take_turns_in_each_other_do_not_keep_its_end),
        ON_A_TREE(test_scan_sets__nor_do_those_of_which_nobody_tells),
        ON_A_TREE(test_scan_sets__what_is_in_a_directory_does_not_wait_behind_itself),
        ON_A_TREE(test_scan_sets__directories_made_ahead_do_not_keep_its_end),
        ON_A_TREE(test_scan_sets__nor_do_those_that_are_noted),
        ON_A_TREE(test_scan_sets__what_was_there_before_is_of_the_scan_that_runs),
        ON_A_TREE(test_scan_sets__what_is_missing_has_its_turn),
        ON_A_TREE(test_scan_sets__what_comes_back_in_the_same_scan_has_its_entries),
        ON_A_TREE(test_scan_sets__who_is_stuck_loses_what_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
