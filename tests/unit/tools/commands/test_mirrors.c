/* Mirrors of directories by their definition, for all pairs of directories and documents of small
 * random trees. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "tools/commands/pairs/mirrors.h"

enum { MOST_DIRECTORIES = 40, MOST_DOCUMENTS = 120 };

struct world {
    uint64_t state;
    uint32_t n_directories, n_documents, most;
    uint32_t parents[MOST_DIRECTORIES];
    uint32_t directories[MOST_DOCUMENTS], classes[MOST_DOCUMENTS];
    uint64_t sizes[MOST_DOCUMENTS];
    bool in[MOST_DOCUMENTS];
    bool alike[MOST_DOCUMENTS][MOST_DOCUMENTS];
    uint32_t pairs[MOST_DOCUMENTS][2], n_pairs;
    struct mirrors_least least;
};

static uint32_t draw(struct world *world, uint32_t below)
{
    return (uint32_t)(mix64(world->state++) % below);
}

/* In the order of a walk: below the one before, or what that is in. */
static void draw_tree(struct world *world)
{
    const uint32_t deep = 1 + draw(world, 4);
    world->n_directories = 2 + draw(world, MOST_DIRECTORIES - 2);
    for (uint32_t i = 1; i < world->n_directories; i++) {
        world->parents[i] = i - 1;
        while (world->parents[i] != 0 && draw(world, 4) >= deep)
            world->parents[i] = world->parents[world->parents[i]];
    }
}

/* Equal documents, most of them as far from each other as others, which makes mirrors of what lies
 * there; and pairs of classes. */
static void draw_documents(struct world *world)
{
    const uint32_t n = world->n_directories, shift = draw(world, n), odd = 1 + draw(world, 8);
    world->n_documents = 1 + draw(world, MOST_DOCUMENTS);
    for (uint32_t i = 0; i < world->n_documents; i++) {
        world->directories[i] = draw(world, n);
        world->classes[i] = i;
        world->sizes[i] = draw(world, 1000);
        world->in[i] = draw(world, 10) > 0;
        if (i > 0 && draw(world, odd)) {
            const uint32_t other = draw(world, i);
            world->classes[i] = world->classes[other];
            world->in[i] = world->in[other];
            if (draw(world, 8))
                world->directories[i] = (world->directories[other] + shift) % n;
        }
    }
    world->n_pairs = 0;
    for (uint32_t k = draw(world, world->n_documents); k > 0; k--) {
        const uint32_t a = world->classes[draw(world, world->n_documents)],
                       b = world->classes[draw(world, world->n_documents)];
        if (a == b || draw(world, 3) || !world->in[a] || !world->in[b])
            continue;
        world->pairs[world->n_pairs][0] = a;
        world->pairs[world->n_pairs++][1] = b;
    }
}

static void draw_world(struct world *world, uint64_t seed)
{
    /* Of simple ones many pairs are worth the same. */
    const uint32_t shares[] = {1000, 2500, 3333, 5000, 5000, 10000};
    *world = (struct world){.state = seed << 20};
    draw_tree(world);
    draw_documents(world);
    world->most = 2 + draw(world, 12);
    world->least =
        (struct mirrors_least){.share = shares[draw(world, 6)], .n_documents = 1 + draw(world, 3)};
    for (uint32_t i = 0; i < world->n_documents; i++)
        for (uint32_t j = 0; j < world->n_documents; j++) {
            const uint32_t a = world->classes[i], b = world->classes[j];
            bool alike = a == b;
            for (uint32_t k = 0; k < world->n_pairs; k++)
                alike |= (world->pairs[k][0] == a && world->pairs[k][1] == b) ||
                         (world->pairs[k][0] == b && world->pairs[k][1] == a);
            world->alike[i][j] = alike && world->in[i] && world->in[j];
        }
}

static struct alike *alike_of(const struct world *world)
{
    struct alike *alike;
    assert_int_equal(alike_new(world->directories, world->classes, world->in, world->n_documents,
                               world->most, &alike),
                     0);
    for (uint32_t i = 0; i < world->n_pairs; i++)
        assert_int_equal(alike_add_pair(alike, world->pairs[i][0], world->pairs[i][1]), 0);
    assert_int_equal(alike_finish(alike), 0);
    return alike;
}

/* -- by the definition -- */

static bool is_in(const struct world *world, uint32_t inner, uint32_t outer)
{
    while (inner != outer && inner != 0)
        inner = world->parents[inner];
    return inner == outer;
}

static bool is_related(const struct world *world, uint32_t a, uint32_t b)
{
    return is_in(world, a, b) || is_in(world, b, a);
}

static uint32_t depth_of(const struct world *world, uint32_t directory)
{
    uint32_t depth = 0;
    for (; directory != 0; directory = world->parents[directory])
        depth++;
    return depth;
}

static uint32_t slow_directories(const struct world *world, uint32_t document)
{
    bool there[MOST_DIRECTORIES] = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < world->n_documents; i++)
        if (world->alike[document][i] && !there[world->directories[i]]) {
            there[world->directories[i]] = true;
            n++;
        }
    return n;
}

static bool slow_counts(const struct world *world, uint32_t document)
{
    return world->in[document] && slow_directories(world, document) <= world->most;
}

static struct mirror_side slow_side(const struct world *world, uint32_t a, uint32_t b)
{
    struct mirror_side side = {.directory = a};
    for (uint32_t i = 0; i < world->n_documents; i++) {
        bool common = false;
        if (!slow_counts(world, i) || !is_in(world, world->directories[i], a))
            continue;
        for (uint32_t j = 0; j < world->n_documents; j++)
            common |= world->alike[i][j] && is_in(world, world->directories[j], b);
        side.n_documents++;
        side.n_common += common;
        side.common_bytes += common ? world->sizes[i] : 0;
    }
    return side;
}

struct slow {
    struct mirror mirror;
    int64_t worth;
    uint32_t n_common, n_documents, depth;
};

static bool is_better(const struct slow *x, const struct slow *y)
{
    const struct mirror_side *p = x->mirror.sides, *q = y->mirror.sides;
    if (x->worth != y->worth)
        return x->worth > y->worth;
    if (x->n_documents != y->n_documents)
        return x->n_documents < y->n_documents;
    if (x->depth != y->depth)
        return x->depth > y->depth;
    return p[0].directory != q[0].directory ? p[0].directory < q[0].directory
                                            : p[1].directory < q[1].directory;
}

static bool comes_first(const struct slow *x, const struct slow *y)
{
    const struct mirror_side *p = x->mirror.sides, *q = y->mirror.sides;
    if (x->n_common != y->n_common)
        return x->n_common > y->n_common;
    if (x->n_documents != y->n_documents)
        return x->n_documents < y->n_documents;
    return p[0].directory != q[0].directory ? p[0].directory < q[0].directory
                                            : p[1].directory < q[1].directory;
}

static bool overlaps(const struct world *world, const struct mirror *x, const struct mirror *y)
{
    const uint32_t a = x->sides[0].directory, b = x->sides[1].directory, c = y->sides[0].directory,
                   d = y->sides[1].directory;
    return (is_related(world, a, c) && is_related(world, b, d)) ||
           (is_related(world, a, d) && is_related(world, b, c));
}

static size_t slow_mirrors(const struct world *world, struct slow *ret_slow)
{
    static struct slow all[MOST_DIRECTORIES * MOST_DIRECTORIES];
    size_t n_all = 0, n = 0;
    for (uint32_t a = 1; a < world->n_directories; a++)
        for (uint32_t b = a + 1; b < world->n_directories; b++) {
            struct slow *slow = &all[n_all];
            if (is_related(world, a, b))
                continue;
            *slow = (struct slow){.mirror = {{slow_side(world, a, b), slow_side(world, b, a)}},
                                  .depth = depth_of(world, a) + depth_of(world, b)};
            const struct mirror_side *sides = slow->mirror.sides;
            slow->n_common = sides[0].n_common + sides[1].n_common;
            slow->n_documents = sides[0].n_documents + sides[1].n_documents;
            slow->worth =
                (int64_t)10000 * slow->n_common - (int64_t)world->least.share * slow->n_documents;
            n_all += slow->worth >= 0 && sides[0].n_common >= world->least.n_documents &&
                     sides[1].n_common >= world->least.n_documents;
        }
    for (;;) {
        const struct slow *best = NULL;
        for (size_t i = 0; i < n_all; i++) {
            bool is_free = true;
            for (size_t j = 0; j < n; j++)
                is_free &= !overlaps(world, &all[i].mirror, &ret_slow[j].mirror);
            if (is_free && (!best || is_better(&all[i], best)))
                best = &all[i];
        }
        if (!best)
            break;
        ret_slow[n++] = *best;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j > 0 && comes_first(&ret_slow[j], &ret_slow[j - 1]); j--) {
            const struct slow other = ret_slow[j];
            ret_slow[j] = ret_slow[j - 1];
            ret_slow[j - 1] = other;
        }
    return n;
}

/* -- tests -- */

static void expect_side(const struct mirror_side *got, const struct mirror_side *expected)
{
    assert_int_equal(got->directory, expected->directory);
    assert_int_equal(got->n_documents, expected->n_documents);
    assert_int_equal(got->n_common, expected->n_common);
    assert_int_equal(got->common_bytes, expected->common_bytes);
}

static struct directory_pairs_input input_of(const struct world *world, const struct alike *alike)
{
    return (struct directory_pairs_input){.parents = world->parents,
                                          .n_directories = world->n_directories,
                                          .directories = world->directories,
                                          .sizes = world->sizes,
                                          .n_documents = world->n_documents,
                                          .alike = alike};
}

static void test_mirrors__are_those_of_the_definition_in_random_trees(void **state)
{
    (void)state;
    static struct slow slow[MOST_DIRECTORIES * MOST_DIRECTORIES];
    static struct world world;
    size_t n_found = 0, n_worlds = 0, n_common = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        draw_world(&world, seed);
        _cleanup_(alike_free_p) struct alike *alike = alike_of(&world);
        _cleanup_free_ struct mirror *mirrors = NULL;
        const struct directory_pairs_input input = input_of(&world, alike);
        const size_t n_slow = slow_mirrors(&world, slow);
        size_t n;
        assert_int_equal(mirrors_find(&input, &world.least, &mirrors, &n), 0);
        assert_int_equal(n, n_slow);
        for (size_t i = 0; i < n; i++)
            for (unsigned side = 0; side < 2; side++)
                expect_side(&mirrors[i].sides[side], &slow[i].mirror.sides[side]);
        for (uint32_t i = 0; i < world.n_documents; i++) {
            const uint32_t n_directories = slow_directories(&world, i);
            const enum alike_kind expected = !world.in[i]                 ? ALIKE_OUT
                                             : n_directories > world.most ? ALIKE_COMMON
                                             : n_directories > 1          ? ALIKE_SOME
                                                                          : ALIKE_ALONE;
            assert_int_equal(alike_kind(alike, i), expected);
            n_common += expected == ALIKE_COMMON;
        }
        n_found += n;
        n_worlds += n > 1;
    }
    /* The trees are not so that there is nothing to find. */
    assert_true(n_found > 400 && n_worlds > 60 && n_common > 2000);
}

/* The example of mirrors.h: 100 documents, their copies, and 90 others beside these. */
static void test_mirrors__the_pair_that_says_it_all_is_reported(void **state)
{
    (void)state;
    enum { BACKUP = 1, OWN, BACKUP_PUB, BACKUP_PUB_A, PUB, PUB_A, N_DIRECTORIES, N = 290 };
    const uint32_t parents[N_DIRECTORIES] = {0, 0, BACKUP, BACKUP, BACKUP_PUB, 0, PUB};
    uint32_t directories[N], classes[N];
    uint64_t sizes[N];
    bool in[N];
    for (uint32_t i = 0; i < N; i++) {
        const bool is_below = i % 100 < 50;
        directories[i] = i < 100   ? (is_below ? PUB_A : PUB)
                         : i < 200 ? (is_below ? BACKUP_PUB_A : BACKUP_PUB)
                                   : OWN;
        classes[i] = i >= 100 && i < 200 ? i - 100 : i;
        sizes[i] = 10;
        in[i] = true;
    }
    _cleanup_(alike_free_p) struct alike *alike = NULL;
    assert_int_equal(alike_new(directories, classes, in, N, 2, &alike), 0);
    assert_int_equal(alike_finish(alike), 0);
    const struct directory_pairs_input input = {parents, N_DIRECTORIES, directories, sizes,
                                                N,       alike,         NULL,        NULL};
    const struct mirrors_least least = {5000, 1};
    _cleanup_free_ struct mirror *mirrors = NULL;
    size_t n;
    assert_int_equal(mirrors_find(&input, &least, &mirrors, &n), 0);
    assert_int_equal(n, 1);
    expect_side(&mirrors[0].sides[0], &(struct mirror_side){BACKUP_PUB, 100, 100, 1000});
    expect_side(&mirrors[0].sides[1], &(struct mirror_side){PUB, 100, 100, 1000});
}

/* Each of 3,000 directories has the licence, and each two that follow one another a text beside it:
 * pairs of directories that are counted are as many as these texts, not the square. */
static void test_mirrors__a_licence_in_each_directory_makes_no_pairs(void **state)
{
    (void)state;
    enum { N_DIRECTORIES = 3001, N = 2 * (N_DIRECTORIES - 1) };
    static uint32_t parents[N_DIRECTORIES], directories[N], classes[N];
    static uint64_t sizes[N];
    static bool in[N];
    for (uint32_t i = 0; i < N; i++) {
        const bool is_licence = i % 2 == 0;
        directories[i] = 1 + i / 2;
        classes[i] = is_licence ? 0 : i - i % 4 + 1;
        in[i] = true;
    }
    _cleanup_(alike_free_p) struct alike *alike = NULL;
    _cleanup_(directory_pairs_done) struct directory_pairs pairs = {0};
    assert_int_equal(alike_new(directories, classes, in, N, 64, &alike), 0);
    assert_int_equal(alike_finish(alike), 0);
    assert_int_equal(alike_kind(alike, 0), ALIKE_COMMON);
    const struct directory_pairs_input input = {parents, N_DIRECTORIES, directories, sizes,
                                                N,       alike,         NULL,        NULL};
    assert_int_equal(directory_pairs_count(&input, &pairs), 0);
    assert_int_equal(pairs.n_entries, N_DIRECTORIES - 1); /* of 1,500 pairs, from both sides */
    for (uint32_t i = 1; i < N_DIRECTORIES; i++)
        assert_int_equal(pairs.directories[i].n_documents, 1);
}

/* Two chains, each directory with a text that the directory of the same depth in the other has:
 * each of the one has documents in common with each of the other. */
static void test_mirrors__more_pairs_than_there_may_be_are_refused(void **state)
{
    (void)state;
    enum { DEPTH = 1460, N = 2 * DEPTH }; /* DEPTH * DEPTH is above DIRECTORY_PAIRS_MOST */
    _Static_assert(DEPTH * DEPTH > DIRECTORY_PAIRS_MOST, "more than there may be");
    static uint32_t parents[N + 1], directories[N], classes[N];
    static uint64_t sizes[N];
    static bool in[N];
    for (uint32_t i = 0; i < N; i++) {
        directories[i] = i + 1;
        parents[i + 1] = i == DEPTH ? 0 : i;
        classes[i] = i % DEPTH;
        in[i] = true;
    }
    _cleanup_(alike_free_p) struct alike *alike = NULL;
    struct directory_pairs pairs = {0};
    assert_int_equal(alike_new(directories, classes, in, N, 64, &alike), 0);
    assert_int_equal(alike_finish(alike), 0);
    const struct directory_pairs_input input = {parents, N + 1, directories, sizes,
                                                N,       alike, NULL,        NULL};
    assert_int_equal(directory_pairs_count(&input, &pairs), -EOVERFLOW);
    assert_null(pairs.entries);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void test_mirrors__end_when_nobody_waits(void **state)
{
    (void)state;
    static struct world world;
    draw_world(&world, 1);
    _cleanup_(alike_free_p) struct alike *alike = alike_of(&world);
    struct directory_pairs_input input = input_of(&world, alike);
    struct mirror *mirrors = NULL;
    size_t n;
    input.stop = always;
    assert_int_equal(mirrors_find(&input, &world.least, &mirrors, &n), -ECANCELED);
    assert_null(mirrors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mirrors__are_those_of_the_definition_in_random_trees),
        cmocka_unit_test(test_mirrors__the_pair_that_says_it_all_is_reported),
        cmocka_unit_test(test_mirrors__a_licence_in_each_directory_makes_no_pairs),
        cmocka_unit_test(test_mirrors__more_pairs_than_there_may_be_are_refused),
        cmocka_unit_test(test_mirrors__end_when_nobody_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
