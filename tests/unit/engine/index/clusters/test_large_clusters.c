/* Families of up to ten thousand documents in the living index, in no order and among others;
 * tests/bench/bench_families.c has larger ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/documents/family_world.h"
#include "tests/lib/share.h"

enum { W = FAMILY_WORLD_W, WORDS = 300, SEED = FAMILY_WORLD_SEED };

/* -- what is planted -- */

static struct exact_set *set_of(const struct families *families, uint32_t family, uint32_t member)
{
    _cleanup_free_ char *text = malloc(families_most_bytes(families));
    _cleanup_close_ int fd = memfd_create("document", MFD_CLOEXEC);
    struct exact_set *set;
    assert_true(text && fd >= 0);
    uint32_t number = families_number(families, (struct family_member){family, member});
    assert_int_equal(families_member(families, number).family, family);
    assert_int_equal(families_member(families, number).member, member);
    size_t n = families_write(families, number, 0, text);
    assert_int_equal(write(fd, text, n), n);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(exact_set_read(fd, NULL, W, NULL, SIZE_MAX, &set), 0);
    return set;
}

static double resemblance(const struct families *families, uint32_t family_a, uint32_t a,
                          uint32_t family_b, uint32_t b)
{
    _cleanup_(exact_set_free_p) struct exact_set *of_a = set_of(families, family_a, a);
    _cleanup_(exact_set_free_p) struct exact_set *of_b = set_of(families, family_b, b);
    double value;
    assert_int_equal(exact_set_resemblance(of_a, of_b, &value), 0);
    return value;
}

/* Of sets of n shingles of which n_other are different. */
static double ratio(double n, double n_other)
{
    return (n - n_other) / (n + n_other);
}

static void test_large_clusters__families_resemble_each_other_as_planned(void **state)
{
    const struct family plan[] = {
        {.shape = FAMILY_STAR, .size = 50, .n_words = WORDS, .n_changes = 2},
        {.shape = FAMILY_CHAIN, .size = 100, .n_words = WORDS, .n_changes = 3},
        {.shape = FAMILY_NONE, .size = 10, .n_words = WORDS, .head = 1, .n_head = 60, .n_tail = 40},
    };
    const double n = WORDS - W + 1;
    _cleanup_(families_free_p) struct families *families = NULL;
    (void)state;

    assert_int_equal(families_new(SEED, W, plan, 3, &families), 0);
    assert_int_equal(families_n_documents(families), 160);
    for (uint32_t i = 0; i < 49; i++) /* at most two places of each, at least none */
        assert_in_range((uint64_t)(1e6 * resemblance(families, 0, i, 0, i + 1)),
                        (uint64_t)(1e6 * ratio(n, 4 * W)), 1000000);
    for (uint32_t k = 1; k < 20; k++) {
        /* Three places for each version; the very first word is in one shingle, not in five. */
        assert_float_equal(resemblance(families, 1, 21, 1, 21 + k), ratio(n, 3 * W * k), 1e-9);
        assert_float_equal(resemblance(families, 1, 0, 1, k), ratio(n, 3 * W * k - (W - 1)), 1e-9);
    }
    assert_true(resemblance(families, 1, 0, 1, 99) < 0.01);
    /* 60 + 40 words of 400, and no shingle across their ends. */
    assert_float_equal(resemblance(families, 2, 3, 2, 4), 92.0 / (2 * 396 - 92), 1e-9);
    assert_float_equal(resemblance(families, 0, 3, 2, 4), 0, 1e-9);
}

static void test_large_clusters__what_cannot_be_planned_is_refused(void **state)
{
    const struct family short_one = {.shape = FAMILY_STAR, .size = 5, .n_words = W},
                        crowded = {.size = 5, .n_words = 10 * W, .n_changes = 11},
                        empty = {.n_words = WORDS};
    struct families *families;
    (void)state;

    assert_int_equal(families_new(SEED, W, &short_one, 1, &families), -EINVAL);
    assert_int_equal(families_new(SEED, W, &crowded, 1, &families), -EINVAL);
    assert_int_equal(families_new(SEED, W, &empty, 1, &families), -EINVAL);
    assert_int_equal(families_new(SEED, 0, &empty, 1, &families), -EINVAL);
}

static void test_large_clusters__what_was_found_is_counted(void **state)
{
    const struct family plan[] = {
        {.shape = FAMILY_STAR, .size = 5, .n_words = WORDS},
        {.shape = FAMILY_CHAIN, .size = 4, .n_words = WORDS},
        {.shape = FAMILY_NONE, .size = 3, .n_words = WORDS},
    };
    /* by family and member; 0 is not there, 1 alone */
    const uint64_t of[3][5] = {{7, 7, 7, 8, 1}, {7, 9, 9, 0}, {9, 1, 1}};
    _cleanup_(families_free_p) struct families *families = NULL;
    struct family_found found[3];
    uint64_t clusters[12];
    (void)state;

    assert_int_equal(families_new(SEED, W, plan, 3, &families), 0);
    for (uint32_t i = 0; i < 12; i++) {
        struct family_member member = families_member(families, i);
        clusters[i] = of[member.family][member.member];
    }
    assert_int_equal(families_check(families, clusters, found), 0);
    assert_int_equal(found[0].n_members, 5);
    assert_int_equal(found[0].n_together, 3);
    assert_int_equal(found[0].n_wrong, 0);
    assert_int_equal(found[1].n_members, 3);
    assert_int_equal(found[1].n_together, 2);
    assert_int_equal(found[1].n_wrong, 1);
    assert_int_equal(found[2].n_wrong, 1);
}

/* -- what is found -- */

/* Versions 30 or more apart have nothing in common, so a long chain is several clusters. */
static bool is_together(const struct family *family)
{
    return family->shape != FAMILY_NONE && (family->shape != FAMILY_CHAIN || family->size <= 30);
}

/* At rest all of each family are together, and nobody else is with them. */
static void check(struct family_world *world)
{
    fileless_recluster(world->fileless);
    uint32_t n = families_n_documents(world->families);
    uint64_t *clusters = calloc(n, sizeof(*clusters));
    struct family_found found[FAMILY_WORLD_MAX];
    assert_non_null(clusters);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t id = world->is_there[i] ? fileless_cluster(world->fileless, i) : 0;
        clusters[i] = !world->is_there[i] ? FAMILIES_NOT_THERE : id ? id + 1 : FAMILIES_ALONE;
    }
    assert_int_equal(families_check(world->families, clusters, found), 0);
    for (size_t i = 0; i < world->n_families; i++) {
        assert_int_equal(found[i].n_wrong, 0);
        if (is_together(&world->plan[i]))
            assert_int_equal(found[i].n_together, found[i].n_members);
    }
    free(clusters);
}

/* Every other one of each family. */
static void remove_half(struct family_world *world)
{
    uint32_t numbers[RECONCILE_AT_ONCE], n = families_n_documents(world->families);
    size_t n_numbers = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (families_member(world->families, i).member % 2) {
            numbers[n_numbers++] = i;
            world->is_there[i] = false;
        }
        if (n_numbers == RECONCILE_AT_ONCE || (i == n - 1 && n_numbers)) {
            fileless_remove(world->fileless, numbers, n_numbers);
            n_numbers = 0;
        }
    }
    fileless_recluster(world->fileless);
}

/* Some of each family, one by one. */
static void rewrite_some(struct family_world *world)
{
    for (uint32_t family = 0; family < world->n_families; family++)
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t member = (i * 2654435761u >> 5) % world->plan[family].size;
            uint32_t number =
                families_number(world->families, (struct family_member){family, member});
            if (!world->is_there[number])
                continue;
            family_world_put(world, &number, 1, 1 + i);
            fileless_recluster(world->fileless);
        }
}

static void found_while_all_changes(unsigned n_heads)
{
    struct family_world world = {.n_families = 0};
    const unsigned n_tail = n_heads ? 20 : 0;
    /* Lists of boilerplate that were less long would be compared as a whole, which takes longer. */
    const unsigned size = n_heads ? 1000 : part_of(1000);
    struct family family = {FAMILY_STAR, size, WORDS, 2, 0, 50, n_tail};

    family_world_add(&world, family, 1, n_heads);
    family.size = 10;
    family_world_add(&world, family, 20, n_heads);
    family = (struct family){FAMILY_CHAIN, size, WORDS, 3, 0, 50, n_tail};
    family_world_add(&world, family, 1, n_heads);
    family.size = 10;
    family_world_add(&world, family, 20, n_heads);
    family.shape = FAMILY_NONE;
    family.size = 200;
    family_world_add(&world, family, 5, n_heads);
    family_world_begin(&world);
    family_world_put_all(&world);
    check(&world);
    rewrite_some(&world);
    check(&world);
    remove_half(&world);
    check(&world);
    rewrite_some(&world);
    check(&world);
    family_world_end(&world);
}

static void test_large_clusters__of_10_and_1000_are_found_while_all_changes(void **state)
{
    (void)state;
    found_while_all_changes(0);
}

/* Families have nothing in common but heads and tails, of which every list is very long. */
static void test_large_clusters__of_10_and_1000_are_found_in_boilerplate(void **state)
{
    (void)state;
    found_while_all_changes(4);
}

static void test_large_clusters__of_10000_is_found(void **state)
{
    struct family_world world = {.n_families = 0};
    (void)state;

    family_world_add(&world, (struct family){FAMILY_STAR, part_of(10000), WORDS, 2, 0, 50, 20}, 1,
                     1);
    family_world_add(&world, (struct family){FAMILY_NONE, 1000, WORDS, 0, 0, 50, 20}, 1, 1);
    family_world_begin(&world);
    family_world_put_all(&world);
    check(&world);
    rewrite_some(&world);
    check(&world);
    family_world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_clusters__families_resemble_each_other_as_planned),
        cmocka_unit_test(test_large_clusters__what_cannot_be_planned_is_refused),
        cmocka_unit_test(test_large_clusters__what_was_found_is_counted),
        cmocka_unit_test(test_large_clusters__of_10_and_1000_are_found_while_all_changes),
        cmocka_unit_test(test_large_clusters__of_10_and_1000_are_found_in_boilerplate),
        cmocka_unit_test(test_large_clusters__of_10000_is_found),
    };
    return cmocka_run_group_tests_name("large_clusters", tests, NULL, NULL);
}
