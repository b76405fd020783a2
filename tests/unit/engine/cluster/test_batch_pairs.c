#include "tests/unit/engine/cluster/batch_world.h"

#include <errno.h>
#include <math.h>

#include "tests/lib/scratch.h"
#include "tests/lib/share.h"

struct found_pair {
    uint32_t a, b, units;
};

struct found {
    struct found_pair *pairs;
    size_t n, room;
};

static int add(struct found *found, uint32_t a, uint32_t b, double resemblance)
{
    if (found->n == found->room) {
        found->room = found->room ? 2 * found->room : 1024;
        found->pairs = reallocarray(found->pairs, found->room, sizeof(*found->pairs));
        assert_non_null(found->pairs);
    }
    found->pairs[found->n++] = (struct found_pair){a, b, (uint32_t)lrint(resemblance * 10000)};
    return 0;
}

static int take(void *user, uint32_t a, uint32_t b, double resemblance)
{
    return add(user, a, b, resemblance);
}

static int compare(const void *x, const void *y)
{
    const struct found_pair *a = x, *b = y;
    if (a->units != b->units)
        return a->units > b->units ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static bool is_equal(const struct world *world, uint32_t i, uint32_t j)
{
    return memcmp(document_equality(&world->documents[i]), document_equality(&world->documents[j]),
                  FINGERPRINT_BYTES) == 0;
}

/* Whether a class has documents of such a side. */
static bool has_side(const struct world *world, const uint8_t *sides, uint32_t of, uint8_t side)
{
    for (uint32_t i = 0; i < world->n; i++)
        if (sides[i] == side && is_equal(world, i, of))
            return true;
    return false;
}

/* The slow and simple way: all pairs of the first documents of their classes. */
static void compare_all(const struct world *world, double threshold, const uint8_t *sides,
                        uint32_t *classes, struct found *expected)
{
    uint8_t *has = calloc(world->n, 1);
    for (uint32_t i = 0; i < world->n; i++) {
        classes[i] = i;
        for (uint32_t j = 0; j < i && classes[i] == i; j++)
            classes[i] = is_equal(world, i, j) ? j : i;
        for (uint8_t side = 1; side <= 2 && sides && classes[i] == i; side++)
            has[i] |= has_side(world, sides, i, side) ? side : 0;
    }
    for (uint32_t i = 0; i < world->n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            struct estimate estimate;
            if (classes[i] != i || classes[j] != j || (sides && (has[i] | has[j]) != 3))
                continue;
            if (min_sketch_resemblance(&world->documents[i].sketch, &world->documents[j].sketch,
                                       &estimate) == 0 &&
                fmin(estimate.value, 0.9999) >= threshold) /* 1 is of equal ones */
                add(expected, j, i, fmin(estimate.value, 0.9999));
        }
    }
    if (expected->n)
        qsort(expected->pairs, expected->n, sizeof(*expected->pairs), compare);
    free(has);
}

static struct batch_options pairs_options(const struct world *world, double threshold)
{
    struct batch_options options = world_options(scratch_group, world->n, BATCH_FAST, threshold);
    options.whole = options.pairs = true;
    options.n_keys = world->policy.s;
    options.most_compared = world->n;
    return options;
}

static void expect_pairs(const struct world *world, const struct batch_options *options,
                         const uint32_t *classes, const struct found *expected)
{
    _cleanup_(batch_free_p) struct batch *batch = world_batch_together(world, options);
    struct found found = {0};
    expect_clusters(batch, classes, world->n);
    assert_int_equal(batch_each_pair(batch, take, &found), 0);
    for (size_t i = 0; i < found.n && i < expected->n; i++)
        if (compare(&found.pairs[i], &expected->pairs[i]) != 0)
            fail_msg("pair %zu: %u %u %u, expected %u %u %u", i, found.pairs[i].a, found.pairs[i].b,
                     found.pairs[i].units, expected->pairs[i].a, expected->pairs[i].b,
                     expected->pairs[i].units);
    assert_int_equal(found.n, expected->n);
    free(found.pairs);
}

static void expect_all(const struct world *world, double threshold, const uint8_t *sides,
                       size_t at_least)
{
    struct found expected = {0};
    uint32_t *classes = calloc(world->n, sizeof(*classes));
    compare_all(world, threshold, sides, classes, &expected);
    if (expected.n < at_least)
        fail_msg("%zu pairs at %f", expected.n, threshold);
    struct batch_options options = pairs_options(world, threshold);
    options.sides = sides;
    expect_pairs(world, &options, classes, &expected);
    options.memory_bytes = batch_least_memory(world->n);
    options.n_threads = 3;
    expect_pairs(world, &options, classes, &expected);
    free(expected.pairs);
    free(classes);
}

static void test_batch_pairs__are_those_of_comparing_all(void **state)
{
    (void)state;
    const uint32_t n = part_of(800);
    struct world world;
    const struct policy policy = preset("default");
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    world_begin(&world, &policy);
    assert_int_equal(planted_new(5, n, policy.w, &planted), 0);
    world_add_planted(&world, planted, 0, n);
    world_add(&world, "", 0);
    world_add(&world, "", 0);
    uint8_t *sides = malloc(world.n);
    for (uint32_t i = 0; i < world.n; i++)
        sides[i] = (uint8_t)(1 + (i * 2654435761u >> 16) % 2);
    const double thresholds[] = {0.2, 0.8};
    for (unsigned i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
        expect_all(&world, thresholds[i], NULL, n / 100);
        expect_all(&world, thresholds[i], sides, n / 400);
    }
    /* Equal ones alone. */
    expect_all(&world, 1, NULL, 0);
    free(sides);
    world_end(&world);
}

/* The same of real documents. */
static void test_batch_pairs__of_real_documents(void **state)
{
    (void)state;
    struct world world;
    const struct policy policy = preset("default");
    world_begin(&world, &policy);
    world_add_tree(&world, SOURCE_ROOT "/engine", 200);
    world_add_tree(&world, "/usr/share/doc", 200);
    expect_all(&world, 0.3, NULL, 10);
    world_end(&world);
}

/* Of a text of which there are very many versions there are as many pairs as two of them make: more
 * than fit into the least memory, in one partition. */
static void test_batch_pairs__many_of_one_resemblance(void **state)
{
    (void)state;
    const uint32_t n = part_of(300);
    char text[4096];
    struct world world;
    const struct policy policy = preset("default");
    world_begin(&world, &policy);
    for (uint32_t i = 0; i < n; i++) {
        size_t at = 0;
        for (unsigned j = 0; j < 400; j++)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "w%u ", j);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "x%u", i);
        world_add(&world, text, at);
    }
    expect_all(&world, 0.5, NULL, (size_t)n * (n - 1) / 2);
    world_end(&world);
}

static void test_batch_pairs__options_out_of_range(void **state)
{
    (void)state;
    struct world world;
    struct batch *batch;
    const struct policy policy = preset("default");
    world_begin(&world, &policy);
    struct batch_options options = pairs_options(&world, 0.5);
    options.n_documents = RESEMBLING_MOST_DOCUMENTS + 1;
    options.memory_bytes = (uint64_t)4 << 30;
    assert_int_equal(batch_new(&policy, &options, &batch), -E2BIG);
    options.n_documents = 10;
    options.mode = BATCH_EXACT;
    assert_int_equal(batch_new(&policy, &options, &batch), -EINVAL);
    options.mode = BATCH_FAST;
    options.whole = false;
    assert_int_equal(batch_new(&policy, &options, &batch), -EINVAL);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch_pairs__are_those_of_comparing_all),
        cmocka_unit_test(test_batch_pairs__of_real_documents),
        cmocka_unit_test(test_batch_pairs__many_of_one_resemblance),
        cmocka_unit_test(test_batch_pairs__options_out_of_range),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
