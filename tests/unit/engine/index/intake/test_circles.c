/* Directories that are moved into each other, seen late or not at all: none is left in a circle
 * that is nowhere in the tree, and none that is in the tree is lost. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/index/catalogue/other_names.h"
#include "engine/index/intake/directory_removal.h"
#include "engine/index/intake/directory_removal_step.h"
#include "engine/index/intake/reconcile.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/index_fixture.h"

/* a, d/b, d/p/c, d/p/q/e, and a place outside. */
static void make_tree(struct indexed_tree *f)
{
    indexed_tree_make(f);
    for (size_t i = 0; i < 3; i++)
        mkdir(scratch_path(f->tree, "%s", (const char *[]){"d", "d/p", "d/p/q"}[i]), 0755);
    mkdir(scratch_path(f->root, "out"), 0755);
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, "d/b", 1, 1, 10);
    indexed_tree_write(f, "d/p/c", 1, 2, 20);
    indexed_tree_write(f, "d/p/q/e", 1, 3, 30);
}

static int start(void **state)
{
    struct indexed_tree *f = calloc(1, sizeof(*f));
    make_tree(f);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_similar_names(f, "a", "d/b d/p/c d/p/q/e");
    *state = f;
    return 0;
}

static void move(const char *from, const char *to)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof(copy), "%s", from);
    assert_int_equal(rename(copy, to), 0);
}

static size_t n_links(struct indexed_tree *f, const struct file_key *directory)
{
    struct catalogue_list links = {0};
    assert_int_equal(catalogue_links(f->index->kv, directory, 10, &links), 0);
    const size_t n = links.n_entries;
    catalogue_list_done(&links);
    return n;
}

static void assert_nothing_is_left(struct indexed_tree *f, const struct file_key *d,
                                   const struct file_key *p)
{
    const bool ignores = access(scratch_path(f->tree, ".kinfsignore"), F_OK) == 0;
    assert_int_equal(n_links(f, d), 0);
    assert_int_equal(n_links(f, p), 0);
    assert_similar_names(f, "a", "");
    assert_int_equal(n_documents(f), 1 + ignores);
    (void)assert_right(f, true);
}

/* What nobody sees; the scan of the next start comes by. */
static void move_unseen(struct indexed_tree *f, const char *out, const char *ignore)
{
    const struct file_key d = indexed_tree_key(f, "d"), p = indexed_tree_key(f, "d/p");
    indexed_tree_stop(f);
    move(scratch_path(f->tree, "d/p"), scratch_path(out, "p"));
    move(scratch_path(f->tree, "d"), scratch_path(out, "p/d"));
    if (ignore)
        scratch_write(scratch_path(f->tree, ".kinfsignore"), ignore);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_nothing_is_left(f, &d, &p);

    /* What comes to be there afterwards is not the tree's. */
    scratch_write(scratch_path(out, "p/d/new"), "words of a file that is outside of the tree");
    index_note_entry(f->index, &d, "new");
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_nothing_is_left(f, &d, &p);
}

static void test_circles__moved_out_of_the_tree_unseen(void **state)
{
    struct indexed_tree *f = *state;
    char out[PATH_MAX];
    snprintf(out, sizeof(out), "%s/out", f->root);
    move_unseen(f, out, NULL);
}

static void test_circles__moved_to_where_nothing_is_indexed_unseen(void **state)
{
    struct indexed_tree *f = *state;
    char out[PATH_MAX];
    snprintf(out, sizeof(out), "%s/left-out", f->tree);
    assert_int_equal(mkdir(out, 0755), 0);
    move_unseen(f, out, "left-out/\n");
}

/* The name of the one in the other is noted before it is known that that is gone. */
static void test_circles__moved_out_of_the_tree_and_seen_in_part(void **state)
{
    struct indexed_tree *f = *state;
    const struct file_key d = indexed_tree_key(f, "d"), p = indexed_tree_key(f, "d/p");
    move(scratch_path(f->tree, "d/p"), scratch_path(f->root, "out/p"));
    move(scratch_path(f->tree, "d"), scratch_path(f->root, "out/p/d"));
    index_note_entry(f->index, &p, "d");
    indexed_tree_settle_foreground(f);
    note_gone(f, "d");
    assert_similar_names(f, "a", "");
    indexed_tree_settle(f);
    assert_nothing_is_left(f, &d, &p);
}

/* In every order of the notices, of which some never come. */
static void test_circles__moved_into_each_other_within_the_tree(void **state)
{
    struct indexed_tree *f = *state;
    const struct file_key root = *backing_root_key(f->backing);
    const struct file_key d = indexed_tree_key(f, "d"), p = indexed_tree_key(f, "d/p");
    for (unsigned round = 0; round < 2 * 4 * 4 * 4; round++) {
        const bool into = round % 2 == 0; /* d/p becomes p/d; or back again */
        const struct file_key *upper = into ? &d : &p, *lower = into ? &p : &d;
        const char *up = into ? "d" : "p", *low = into ? "p" : "d";
        const struct {
            const struct file_key *parent;
            const char *name;
        } notes[4] = {{&root, low}, {upper, low}, {&root, up}, {lower, up}};
        move(scratch_path(f->tree, "%s/%s", up, low), scratch_path(f->tree, "%s", low));
        move(scratch_path(f->tree, "%s", up), scratch_path(f->tree, "%s/%s", low, up));
        for (unsigned i = 0, order = round / 2; i < 3; i++, order /= 4) {
            index_note_entry(f->index, notes[order % 4].parent, notes[order % 4].name);
            if (order % 3 == 0) /* or together with the next one */
                indexed_tree_settle_foreground(f);
        }
        index_rescan(f->index); /* what is missed */
        indexed_tree_settle(f);
        assert_similar_names(f, "a", into ? "p/c p/d/b p/q/e" : "d/b d/p/c d/p/q/e");
        assert_int_equal(n_documents(f), 4);
        assert_int_equal(n_links(f, &d), 1);
        assert_int_equal(n_links(f, &p), 1);
        (void)assert_right(f, true);
    }
}

/* -- moves at random -- */

enum { N = 6, OUT = N, ROOT, NOWHERE };

struct world {
    struct indexed_tree *f;
    struct file_key keys[N];
    unsigned above[N]; /* OUT: outside of the tree */
    uint64_t random;
};

static unsigned draw(struct world *world, unsigned n)
{
    world->random = world->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(world->random >> 33) % n;
}

static unsigned top_of(const struct world *world, unsigned directory, unsigned but)
{
    while (directory < N)
        directory = directory == but ? NOWHERE : world->above[directory];
    return directory;
}

/* Relative to the tree. */
static void path_of(const struct world *world, unsigned directory, char *path)
{
    if (directory >= N) {
        strcpy(path, directory == OUT ? "../out" : "");
        return;
    }
    path_of(world, world->above[directory], path);
    sprintf(path + strlen(path), "%sm%u", *path ? "/" : "", directory);
}

static void note_some(struct world *world, unsigned parent, unsigned directory)
{
    char name[16];
    snprintf(name, sizeof(name), "m%u", directory);
    if (parent != OUT && draw(world, 2))
        index_note_entry(
            world->f->index,
            parent == ROOT ? backing_root_key(world->f->backing) : &world->keys[parent], name);
    if (draw(world, 3) == 0)
        indexed_tree_settle_foreground(world->f);
}

static void move_one(struct world *world)
{
    const unsigned directory = draw(world, N), to = draw(world, N + 2);
    const unsigned from = world->above[directory];
    char old[256], new[256];
    if (top_of(world, to, directory) == NOWHERE || to == from)
        return;
    path_of(world, directory, old);
    world->above[directory] = to;
    path_of(world, directory, new);
    assert_int_equal(
        rename(scratch_path(world->f->tree, "%s", old), scratch_path(world->f->tree, "%s", new)),
        0);
    const bool new_first = draw(world, 2);
    note_some(world, new_first ? to : from, directory);
    note_some(world, new_first ? from : to, directory);
}

static void assert_world(struct world *world)
{
    struct indexed_tree *f = world->f;
    unsigned n_in_tree = 0;
    for (unsigned i = 0; i < N; i++) {
        _cleanup_free_ char *path = NULL;
        char expected[256];
        const bool in_tree = top_of(world, i, N) == ROOT;
        n_in_tree += in_tree;
        path_of(world, i, expected);
        assert_int_equal(n_links(f, &world->keys[i]), in_tree);
        if (in_tree) {
            assert_int_equal(index_path(f->index, &world->keys[i], &path), 0);
            assert_string_equal(path, expected);
        }
    }
    assert_int_equal(n_documents(f), 4 + n_in_tree);
    (void)assert_right(f, false);
}

static void test_circles__whatever_is_seen_of_moves_a_scan_has_the_tree(void **state)
{
    enum { ROUNDS = 100 };
    struct world world = {.f = *state, .random = 1};
    for (unsigned i = 0; i < N; i++) {
        char name[16];
        mkdir(scratch_path(world.f->tree, "m%u", i), 0755);
        snprintf(name, sizeof(name), "m%u/f", i);
        indexed_tree_write(world.f, name, 2 + i, 0, 0);
        snprintf(name, sizeof(name), "m%u", i);
        world.keys[i] = indexed_tree_key(world.f, name);
        world.above[i] = ROOT;
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned n = 1 + draw(&world, 5); n; n--)
            move_one(&world);
        index_rescan(world.f->index);
        indexed_tree_settle(world.f);
        assert_world(&world);
    }
}

/* -- far down -- */

enum { DEEP = 3 * CLIMB_NEAR };

/* Of directories in each other. */
static const char *deep_path(unsigned n, const char *last)
{
    static char path[2 * DEEP + 16];
    char *at = path;
    for (unsigned i = 0; i < n; i++)
        at += sprintf(at, "x/");
    strcpy(at, last);
    return path;
}

static void make_deep(struct indexed_tree *f, unsigned n)
{
    for (unsigned i = 1; i <= n; i++)
        assert_int_equal(mkdir(scratch_path(f->tree, "%s", deep_path(i, "")), 0755), 0);
}

static void test_circles__far_down_what_is_moved_is_followed(void **state)
{
    struct indexed_tree *f = *state;
    char expected[8 * DEEP];
    make_deep(f, DEEP);
    index_rescan(f->index);
    indexed_tree_settle(f);
    const struct file_key d = indexed_tree_key(f, "d");
    move(scratch_path(f->tree, "d"), scratch_path(f->tree, "%s", deep_path(DEEP, "d")));
    const struct file_key deepest = indexed_tree_key(f, deep_path(DEEP, ""));
    const struct file_key above = indexed_tree_key(f, deep_path(DEEP - 1, ""));
    note_gone(f, "d");
    indexed_tree_settle(f);
    assert_int_equal(n_links(f, &d), 1);
    assert_int_equal(n_documents(f), 4);
    snprintf(expected, sizeof(expected), "%s ", deep_path(DEEP, "d/b"));
    strcat(expected, deep_path(DEEP, "d/p/c"));
    strcat(expected, " ");
    strcat(expected, deep_path(DEEP, "d/p/q/e"));
    assert_similar_names(f, "a", expected);

    move(scratch_path(f->tree, "%s", deep_path(DEEP, "d")),
         scratch_path(f->tree, "%s", deep_path(DEEP - 1, "d")));
    index_note_rename(f->index, 0, &deepest, "d", &above, "d");
    indexed_tree_settle(f);
    assert_int_equal(n_links(f, &d), 1);
    assert_int_equal(n_documents(f), 4);
    (void)assert_right(f, true);
}

/* What is left to later steps is not lost where there are none. */
static void test_circles__far_down_what_is_moved_is_followed_after_a_start(void **state)
{
    struct indexed_tree *f = *state;
    make_deep(f, DEEP);
    move(scratch_path(f->tree, "d"), scratch_path(f->tree, "%s", deep_path(DEEP, "d")));
    index_rescan(f->index);
    indexed_tree_settle(f);
    const struct file_key d = indexed_tree_key(f, deep_path(DEEP, "d"));
    const struct file_key deepest = indexed_tree_key(f, deep_path(DEEP, ""));
    assert_int_equal(n_links(f, &d), 1);
    const struct file_key above = indexed_tree_key(f, deep_path(DEEP - 1, ""));
    const struct tree_entry entry = {.key = d, .type = ENTRY_DIRECTORY};
    index_close(f->index, 0);
    indexed_tree_open(f); /* but no thread runs */
    move(scratch_path(f->tree, "%s", deep_path(DEEP, "d")), scratch_path(f->tree, "d"));
    assert_int_equal(directory_removal_put(f->index, &above, "d", &entry), 1);
    assert_int_equal(reconcile_remove(f->index, &deepest, "d", &d, ENTRY_DIRECTORY), 0);
    for (unsigned n_starts = 0; n_starts < 2; n_starts++) {
        assert_int_equal(directory_removal_is_noted(f->index->kv, &d), 1);
        assert_false(directory_removal_is_idle(f->index));
        assert_int_equal(n_links(f, &d), 1); /* which it has not any more */
        index_close(f->index, 0);
        indexed_tree_open(f);
    }
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_int_equal(n_links(f, &d), 1);
    assert_similar_names(f, "a", "d/b d/p/c d/p/q/e");
    (void)assert_right(f, true);
}

/* However often a directory far down is moved, it is to be looked for once. */
static void test_circles__far_down_what_is_moved_often_is_noted_once(void **state)
{
    struct indexed_tree *f = *state;
    enum { TIMES = 100 };
    make_deep(f, DEEP);
    move(scratch_path(f->tree, "d"), scratch_path(f->tree, "%s", deep_path(DEEP, "d")));
    index_rescan(f->index);
    indexed_tree_settle(f);
    const struct file_key d = indexed_tree_key(f, deep_path(DEEP, "d"));
    const struct file_key ends[] = {indexed_tree_key(f, deep_path(DEEP, "")),
                                    indexed_tree_key(f, deep_path(DEEP - 1, ""))};
    const struct tree_entry entry = {.key = d, .type = ENTRY_DIRECTORY};
    index_close(f->index, 0);
    indexed_tree_open(f); /* but no thread runs */
    const struct removal_set *sets = f->index->removal.sets;
    for (unsigned i = 0; i < TIMES; i++) {
        assert_int_equal(directory_removal_put(f->index, &ends[!(i % 2)], "d", &entry), 1);
        assert_int_equal(reconcile_remove(f->index, &ends[i % 2], "d", &d, ENTRY_DIRECTORY), 0);
        assert_true(n_links(f, &d) <= 2);
    }
    assert_int_equal(sets[0].let_go.n_bytes + sets[1].let_go.n_bytes, d.size_bytes + 1);
    assert_int_equal(sets[0].gone.n_bytes + sets[1].gone.n_bytes, 0);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), 4);
    (void)assert_right(f, true);
}

/* What was looked for at once, and found, is not waited for. */
static void test_circles__who_waits_does_not_wait_for_what_was_found(void **state)
{
    struct indexed_tree *f = *state;
    enum { WAIT_MS = 60000 };
    assert_int_equal(mkdir(scratch_path(f->tree, "other"), 0755), 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    char other[PATH_MAX];
    snprintf(other, sizeof(other), "%s/other", f->tree);
    assert_int_equal(
        renameat2(AT_FDCWD, scratch_path(f->tree, "d"), AT_FDCWD, other, RENAME_EXCHANGE), 0);
    index_note_entry(f->index, backing_root_key(f->backing), "other");
    index_note_entry(f->index, backing_root_key(f->backing), "d");
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, WAIT_MS), 0);
    assert_similar_names(f, "a", "other/b other/p/c other/p/q/e");
    (void)assert_right(f, true);
}

/* -- while others move theirs -- */

enum { MOVED = 64 };

struct mover {
    struct indexed_tree *f;
    struct file_key ends[2];
    char paths[2][2 * DEEP + 16];
    atomic_bool stop;
};

static void *move_on(void *user)
{
    struct mover *mover = user;
    char from[PATH_MAX], to[PATH_MAX], name[16];
    for (unsigned i = 0; !atomic_load(&mover->stop); i++) {
        const unsigned to_end = i / MOVED % 2;
        snprintf(name, sizeof(name), "m%u", i % MOVED);
        snprintf(from, sizeof(from), "%s/%s%s", mover->f->tree, mover->paths[!to_end], name);
        snprintf(to, sizeof(to), "%s/%s%s", mover->f->tree, mover->paths[to_end], name);
        if (rename(from, to) < 0)
            break;
        index_note_entry(mover->f->index, &mover->ends[!to_end], name);
        index_note_entry(mover->f->index, &mover->ends[to_end], name);
    }
    return NULL;
}

/* A slice is shorter than it takes, and all of them longer, on a busy machine, too. */
static int settle_in_slices(struct index *index, unsigned n_slices)
{
    enum { SLICE_MS = 10 };
    struct index_settling settling = {0};
    int r = -ETIMEDOUT;
    for (unsigned i = 0; r == -ETIMEDOUT && i < n_slices; i++)
        r = index_settle_on(index, INDEX_LANE_ALL, &settling, SLICE_MS);
    return r;
}

/* Who waits does so for what there was. */
static void test_circles__who_waits_does_not_wait_for_what_comes(void **state)
{
    enum { SLICES = 50000 };
    struct indexed_tree *f = *state;
    struct mover mover = {.f = f};
    pthread_t thread;
    make_deep(f, DEEP);
    for (unsigned i = 0; i < 2; i++)
        strcpy(mover.paths[i], deep_path(DEEP - i, ""));
    for (unsigned i = 0; i < MOVED; i++) {
        char name[16];
        snprintf(name, sizeof(name), "m%u", i);
        assert_int_equal(mkdir(scratch_path(f->tree, "%s%s", mover.paths[1], name), 0755), 0);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
    for (unsigned i = 0; i < 2; i++)
        mover.ends[i] = indexed_tree_key(f, mover.paths[i]);
    assert_int_equal(pthread_create(&thread, NULL, move_on, &mover), 0);
    indexed_tree_write(f, "new", 1, 5, 50);
    index_note_entry(f->index, backing_root_key(f->backing), "new");
    const int r = settle_in_slices(f->index, SLICES);
    const struct file_key new = indexed_tree_key(f, "new");
    struct document_info info = {0};
    const int asked = index_document(f->index, &new, &(struct index_query){0}, &info);
    atomic_store(&mover.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(r, 0);
    assert_int_equal(asked, 0);
    assert_int_equal(info.state, DOCUMENT_CURRENT);
    indexed_tree_settle(f);
    (void)assert_right(f, true);
}

/* The topmost of very many in each other becomes the lowest. */
static void test_circles__a_circle_of_very_many_is_seen(void **state)
{
    struct indexed_tree *f = *state;
    make_deep(f, DEEP);
    indexed_tree_write(f, deep_path(DEEP / 2, "g"), 1, 4, 40);
    index_rescan(f->index);
    indexed_tree_settle(f);
    const struct file_key x = indexed_tree_key(f, "x");
    const struct file_key deepest = indexed_tree_key(f, deep_path(DEEP, ""));
    assert_int_equal(n_documents(f), 5);
    indexed_tree_stop(f);
    move(scratch_path(f->tree, "%s", deep_path(DEEP, "")), scratch_path(f->root, "out/p"));
    move(scratch_path(f->tree, "x"), scratch_path(f->root, "out/p/x"));
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), 4);
    assert_int_equal(n_links(f, &x), 0);
    assert_int_equal(n_links(f, &deepest), 0);
    assert_similar_names(f, "a", "d/b d/p/c d/p/q/e");
    (void)assert_right(f, true);
}

/* -- a circle that a store has -- */

static void plant_circle(struct indexed_tree *f)
{
    const struct file_key d = indexed_tree_key(f, "d"), p = indexed_tree_key(f, "d/p");
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    catalogue_delete(batch, backing_root_key(f->backing), "d", &d);
    catalogue_put(batch, &p, "d", &d, ENTRY_DIRECTORY);
    assert_int_equal(kv_apply(f->index->kv, batch), 0);
}

static void test_circles__of_a_store_are_found_and_repaired(void **state)
{
    struct indexed_tree *f = *state;
    char *error = NULL;
    plant_circle(f);
    move(scratch_path(f->tree, "d"), scratch_path(f->root, "out/d"));
    struct report report = check_now(f, false);
    assert_int_equal(report.counts.findings, 3); /* d, p, and q below them */
    assert_non_null(strstr(report.first, "names: a directory that has entries is in a circle"));
    assert_similar_names(f, "a", "");

    index_close(f->index, 0);
    struct index_options options = indexed_tree_options(f);
    options.create = false;
    assert_int_equal(index_repair(&options, &(struct index_repair_options){0}, &error),
                     INDEX_MENDING_ANEW);
    indexed_tree_open(f);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), 1);
    (void)assert_right(f, true);
}

/* What is being removed is not wrong. */
static void test_circles__that_are_on_their_way_out_are_let_pass(void **state)
{
    struct indexed_tree *f = *state;
    const struct file_key d = indexed_tree_key(f, "d");
    index_close(f->index, 0);
    indexed_tree_open(f); /* but no thread runs */
    plant_circle(f);
    assert_int_equal(check_now(f, false).counts.findings, 3);
    assert_int_equal(directory_removal_add(f->index, &d, NULL), 0);
    (void)assert_right(f, false);
    move(scratch_path(f->tree, "d"), scratch_path(f->root, "out/d"));
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), 1);
    (void)assert_right(f, true);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, start, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_circles__moved_out_of_the_tree_unseen),
        CASE(test_circles__moved_to_where_nothing_is_indexed_unseen),
        CASE(test_circles__moved_out_of_the_tree_and_seen_in_part),
        CASE(test_circles__moved_into_each_other_within_the_tree),
        CASE(test_circles__whatever_is_seen_of_moves_a_scan_has_the_tree),
        CASE(test_circles__far_down_what_is_moved_is_followed),
        CASE(test_circles__far_down_what_is_moved_is_followed_after_a_start),
        CASE(test_circles__far_down_what_is_moved_often_is_noted_once),
        CASE(test_circles__who_waits_does_not_wait_for_what_was_found),
        CASE(test_circles__who_waits_does_not_wait_for_what_comes),
        CASE(test_circles__a_circle_of_very_many_is_seen),
        CASE(test_circles__of_a_store_are_found_and_repaired),
        CASE(test_circles__that_are_on_their_way_out_are_let_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
