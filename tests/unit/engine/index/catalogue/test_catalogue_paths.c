/* Paths of files and directories, and climbs to the root. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>

#include "engine/index/catalogue/other_names.h"
#include "tests/lib/fixtures/catalogue_fixture.h"
#include "tests/lib/stores/kv_fault.h"

static void test_catalogue__renaming_a_directory_moves_what_is_below(void **state)
{
    change_entry(*state, true, 1, "old", 2, ENTRY_DIRECTORY);
    change_entry(*state, true, 2, "deep", 3, ENTRY_DIRECTORY);
    change_entry(*state, true, 3, "file", 4, ENTRY_FILE);
    assert_path(*state, 3, "file", "old/deep/file");
    change_entry(*state, false, 1, "old", 2, ENTRY_DIRECTORY);
    assert_path(*state, 3, "file", "");
    change_entry(*state, true, 1, "new", 2, ENTRY_DIRECTORY);
    assert_path(*state, 3, "file", "new/deep/file");
    assert_path(*state, 1, "top", "top");
}

static uint64_t n_calls(struct kv *counting)
{
    uint64_t n, n_writes;
    kv_fault_counts(counting, &n, &n_writes);
    return n;
}

/* Directories in a circle, and one that hangs on it: each is read once, in whichever order they are
 * asked for, and not as often as any path may have names. */
static void test_catalogue__directories_in_a_circle_have_no_path(void **state)
{
    enum { FIRST = 10, DEEP = 20, ASIDE = FIRST + DEEP };
    const struct kv_fault_plan no_fault = {0};
    struct file_key root = key_of(1);
    for (unsigned i = 0; i < DEEP; i++)
        change_entry(*state, true, FIRST + i, "d", FIRST + (i + 1) % DEEP, ENTRY_DIRECTORY);
    change_entry(*state, true, FIRST, "aside", ASIDE, ENTRY_DIRECTORY);
    change_entry(*state, true, 1, "in the tree", 2, ENTRY_DIRECTORY);
    for (unsigned first = 0; first <= DEEP; first++) {
        struct path_cache *cache;
        struct kv *counting;
        assert_int_equal(kv_fault_open(*state, &no_fault, &counting), 0);
        assert_int_equal(path_cache_new(counting, &root, &cache), 0);
        for (unsigned i = 0; i <= DEEP; i++) {
            struct file_key inside = key_of(FIRST + (first + i) % (DEEP + 1));
            char *path;
            assert_int_equal(path_cache_entry(cache, &inside, "file", &path), -ENOENT);
        }
        /* Two that are remembered in one place are read by turns. */
        assert_in_range(n_calls(counting), DEEP + 1, 10 * (DEEP + 1));
        path_cache_free(cache);
        kv_close(counting);
    }
    assert_path(*state, 2, "file", "in the tree/file");
}

static int leads_up(struct kv *kv, unsigned directory, unsigned without, unsigned most)
{
    struct file_key root = key_of(1), from = key_of(directory), other = key_of(without);
    return directory_leads_up(kv, &root, &from, without ? &other : NULL, &most);
}

static int others_lead_up(struct kv *kv, unsigned directory, unsigned parent, const char *name)
{
    struct file_key root = key_of(1), from = key_of(directory), above = key_of(parent);
    unsigned left = CLIMB_FAR;
    return other_names_lead_up(kv, &root, &from, &(struct catalogue_name){&above, name}, &left);
}

static void test_catalogue__what_leads_up_to_the_root_is_told_from_circles(void **state)
{
    change_entry(*state, true, 1, "a", 2, ENTRY_DIRECTORY);
    change_entry(*state, true, 2, "b", 3, ENTRY_DIRECTORY);
    change_entry(*state, true, 3, "c", 4, ENTRY_DIRECTORY);
    change_entry(*state, true, 4, "back", 2, ENTRY_DIRECTORY); /* a circle below the root */
    assert_int_equal(leads_up(*state, 1, 0, 0), 1);
    assert_int_equal(leads_up(*state, 4, 0, CLIMB_FAR), 1);
    assert_int_equal(leads_up(*state, 4, 3, CLIMB_FAR), 0);
    assert_int_equal(leads_up(*state, 4, 2, CLIMB_FAR), 0);
    assert_int_equal(leads_up(*state, 2, 4, CLIMB_FAR), 1);
    assert_int_equal(leads_up(*state, 2, 2, CLIMB_FAR), 0);
    assert_int_equal(leads_up(*state, 9, 0, CLIMB_FAR), 0); /* which is not known */
    assert_int_equal(others_lead_up(*state, 2, 1, "a"), 0);
    assert_int_equal(others_lead_up(*state, 2, 4, "back"), 1);
    assert_int_equal(others_lead_up(*state, 3, 2, "b"), 0);
    change_entry(*state, true, 2, "renamed", 3, ENTRY_DIRECTORY);
    assert_int_equal(others_lead_up(*state, 3, 2, "b"), 1);

    /* Nor does one of which the circle is all that is left; another name leads up. */
    change_entry(*state, false, 1, "a", 2, ENTRY_DIRECTORY);
    for (unsigned i = 2; i <= 4; i++)
        assert_int_not_equal(leads_up(*state, i, 0, CLIMB_FAR), 1);
    change_entry(*state, true, 1, "z", 3, ENTRY_DIRECTORY);
    for (unsigned i = 2; i <= 4; i++)
        assert_int_equal(leads_up(*state, i, 0, CLIMB_FAR), 1);
    assert_int_equal(others_lead_up(*state, 2, 9, "other"), 1);
}

/* A link counts only if its name leads back. */
static void test_catalogue__a_link_that_is_no_name_leads_nowhere(void **state)
{
    struct file_key parent = key_of(1), child = key_of(2);
    struct kv_batch *batch = kv_batch_new();
    change_entry(*state, true, 1, "a", 2, ENTRY_DIRECTORY);
    assert_int_equal(others_lead_up(*state, 2, 9, "other"), 1);
    catalogue_put(batch, &parent, "a", &child, ENTRY_DIRECTORY);
    catalogue_put(batch, &parent, "a", &(struct file_key){FILE_KEY_MIN_BYTES, {7}},
                  ENTRY_DIRECTORY);
    assert_int_equal(kv_apply(*state, batch), 0);
    kv_batch_free(batch);
    assert_int_equal(others_lead_up(*state, 2, 9, "other"), 0);
}

static void test_catalogue__a_climb_ends_where_it_is_to(void **state)
{
    enum { FIRST = 10, DEEP = 2 * CLIMB_NEAR };
    for (unsigned i = 0; i < DEEP; i++)
        change_entry(*state, true, i ? FIRST + i - 1 : 1, "d", FIRST + i, ENTRY_DIRECTORY);
    for (unsigned i = 0; i < DEEP; i++) {
        assert_int_equal(leads_up(*state, FIRST + i, 0, i), -E2BIG);
        assert_int_equal(leads_up(*state, FIRST + i, 0, i + 1), 1);
    }
    /* Any number of names above is too much at once. */
    for (unsigned i = 0; i < DEEP; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%u", i);
        change_entry(*state, true, FIRST + i, name, 5, ENTRY_DIRECTORY);
    }
    assert_int_equal(leads_up(*state, 5, FIRST, 8), -E2BIG);
    assert_int_equal(leads_up(*state, 5, FIRST, CLIMB_NEAR), -E2BIG);
}

/* Sixteen names of 255 bytes, with slashes between them, are as much as any path may have. */
static void test_catalogue__a_path_is_as_long_as_a_call_takes(void **state)
{
    enum { FIRST = 10, DEEP = 16 };
    struct file_key root = key_of(1), deepest = key_of(FIRST + DEEP - 1);
    struct file_key above = key_of(FIRST + DEEP - 2);
    struct path_cache *cache;
    char name[NAME_MAX + 1] = "", *path;
    memset(name, 'd', NAME_MAX);
    for (unsigned i = 0; i < DEEP; i++)
        change_entry(*state, true, i ? FIRST + i - 1 : 1, name, FIRST + i, ENTRY_DIRECTORY);
    assert_int_equal(path_cache_new(*state, &root, &cache), 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(path_cache_entry(cache, &deepest, "x", &path), -ENAMETOOLONG);
        assert_int_equal(path_cache_entry(cache, &above, name, &path), 0);
        assert_int_equal(strlen(path), PATH_MAX - 1);
        free(path);
    }
    path_cache_free(cache);
}

/* A directory that is too deep is no reason for those above it to have no path, in whichever order
 * they are asked for; and none costs more rows than a path may have directories. */
static void test_catalogue__directories_have_paths_down_to_the_deepest(void **state)
{
    enum { FIRST = 10, DEEP = 3 * CATALOGUE_DEPTH_MAX };
    const struct kv_fault_plan no_fault = {0};
    struct file_key root = key_of(1);
    for (unsigned i = 0; i < DEEP; i++)
        change_entry(*state, true, i ? FIRST + i - 1 : 1, "d", FIRST + i, ENTRY_DIRECTORY);
    for (int upwards = 0; upwards < 2; upwards++) {
        struct path_cache *cache;
        struct kv *counting;
        assert_int_equal(kv_fault_open(*state, &no_fault, &counting), 0);
        assert_int_equal(path_cache_new(counting, &root, &cache), 0);
        for (unsigned n = 0; n < DEEP; n++) {
            const uint64_t before = n_calls(counting);
            const unsigned depth = upwards ? DEEP - n : n + 1;
            struct file_key directory = key_of(FIRST + depth - 1);
            char *path = NULL;
            const bool has = depth <= CATALOGUE_DEPTH_MAX;
            assert_int_equal(path_cache_entry(cache, &directory, "x", &path),
                             has ? 0 : -ENAMETOOLONG);
            assert_true(!has || strlen(path) == 2 * depth + 1);
            assert_int_equal(path_cache_cost(cache), has ? depth + 1 : CATALOGUE_DEPTH_MAX);
            assert_in_range(n_calls(counting) - before, 0, CATALOGUE_DEPTH_MAX);
            free(path);
        }
        path_cache_free(cache);
        kv_close(counting);
    }
}

/* Directories side by side, too far down, are not climbed one after the other: the first climb has
 * told of the one that they are in. */
static void test_catalogue__a_climb_that_is_too_far_tells_for_others(void **state)
{
    enum { FIRST = 10, DEEP = CATALOGUE_DEPTH_MAX + 100, SIBLINGS = 100 };
    const struct kv_fault_plan no_fault = {0};
    struct file_key root = key_of(1);
    struct path_cache *cache;
    struct kv *counting;
    char name[16], *path;
    for (unsigned i = 0; i < DEEP; i++)
        change_entry(*state, true, i ? FIRST + i - 1 : 1, "d", FIRST + i, ENTRY_DIRECTORY);
    for (unsigned i = 0; i < SIBLINGS; i++) {
        snprintf(name, sizeof(name), "s%u", i);
        change_entry(*state, true, FIRST + DEEP - 1, name, FIRST + DEEP + i, ENTRY_DIRECTORY);
    }
    assert_int_equal(kv_fault_open(*state, &no_fault, &counting), 0);
    assert_int_equal(path_cache_new(counting, &root, &cache), 0);
    for (unsigned i = 0; i < SIBLINGS; i++) {
        struct file_key directory = key_of(FIRST + DEEP + i);
        assert_int_equal(path_cache_entry(cache, &directory, "x", &path), -ENAMETOOLONG);
    }
    /* A row each, and once more those above where a sibling took the place of one. */
    assert_in_range(n_calls(counting), CATALOGUE_DEPTH_MAX, CATALOGUE_DEPTH_MAX + 3 * SIBLINGS);
    struct file_key deepest = key_of(FIRST + CATALOGUE_DEPTH_MAX - 1);
    assert_int_equal(path_cache_entry(cache, &deepest, "x", &path), 0); /* and not for too many */
    assert_int_equal(strlen(path), 2 * CATALOGUE_DEPTH_MAX + 1);
    free(path);
    path_cache_free(cache);
    kv_close(counting);
}

/* A chain that hangs on nothing is as long a climb, and not longer. */
static void test_catalogue__a_chain_on_nothing_is_climbed_so_far(void **state)
{
    enum { FIRST = 10, DEEP = 2 * CATALOGUE_DEPTH_MAX };
    const struct kv_fault_plan no_fault = {0};
    struct file_key root = key_of(1), last = key_of(FIRST + DEEP - 1);
    struct path_cache *cache;
    struct kv *counting;
    char *path;
    for (unsigned i = 1; i < DEEP; i++)
        change_entry(*state, true, FIRST + i - 1, "d", FIRST + i, ENTRY_DIRECTORY);
    assert_int_equal(kv_fault_open(*state, &no_fault, &counting), 0);
    assert_int_equal(path_cache_new(counting, &root, &cache), 0);
    assert_int_equal(path_cache_entry(cache, &last, "x", &path), -ENAMETOOLONG);
    assert_int_equal(n_calls(counting), CATALOGUE_DEPTH_MAX);
    path_cache_free(cache);
    kv_close(counting);
}

/* What is refused is so below it, too, and costs what it did. */
static void test_catalogue__what_is_refused_costs_what_it_did(void **state)
{
    struct file_key root = key_of(1), a = key_of(2), b = key_of(3);
    struct path_cache *cache;
    char *path;
    change_entry(*state, true, 1, "a", 2, ENTRY_DIRECTORY);
    change_entry(*state, true, 2, "b", 3, ENTRY_DIRECTORY);
    assert_int_equal(path_cache_new(*state, &root, &cache), 0);
    assert_int_equal(path_cache_entry(cache, &a, "x", &path), 0);
    free(path);
    path_cache_refuse(cache, &a);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(path_cache_entry(cache, &a, "x", &path), -EPERM);
        assert_int_equal(path_cache_cost(cache), 2);
        assert_int_equal(path_cache_entry(cache, &b, "x", &path), -EPERM);
        assert_int_equal(path_cache_cost(cache), 3);
    }
    path_cache_free(cache);
}

/* Of many links that are too deep so many are climbed as have no more than so many rows together;
 * one that comes before them is found. */
static void test_catalogue__links_of_a_file_are_climbed_for_so_many_rows(void **state)
{
    enum { FIRST = 10, CHAINS = 8, DEEP = CATALOGUE_DEPTH_MAX + 1, FILE = 5 };
    const struct kv_fault_plan no_fault = {0};
    struct file_key root = key_of(1), file = key_of(FILE);
    struct kv *counting;
    char *path;
    for (unsigned chain = 0; chain < CHAINS; chain++) {
        char name[16];
        const unsigned first = FIRST + chain * DEEP;
        snprintf(name, sizeof(name), "%u", chain);
        for (unsigned i = 0; i < DEEP; i++)
            change_entry(*state, true, i ? first + i - 1 : 1, name, first + i, ENTRY_DIRECTORY);
        change_entry(*state, true, first + DEEP - 1, "file", FILE, ENTRY_FILE);
    }
    assert_int_equal(kv_fault_open(*state, &no_fault, &counting), 0);
    assert_int_equal(catalogue_path(counting, &root, &file, &path), -ENOENT);
    assert_in_range(n_calls(counting), CATALOGUE_CLIMB_MAX, CATALOGUE_CLIMB_MAX + 1);
    change_entry(*state, true, 1, "first", FILE, ENTRY_FILE);
    assert_int_equal(catalogue_path(counting, &root, &file, &path), 0);
    assert_string_equal(path, "first");
    free(path);
    kv_close(counting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(test_catalogue__renaming_a_directory_moves_what_is_below),
        WITH_STORE(test_catalogue__directories_in_a_circle_have_no_path),
        WITH_STORE(test_catalogue__what_leads_up_to_the_root_is_told_from_circles),
        WITH_STORE(test_catalogue__a_link_that_is_no_name_leads_nowhere),
        WITH_STORE(test_catalogue__a_climb_ends_where_it_is_to),
        WITH_STORE(test_catalogue__a_path_is_as_long_as_a_call_takes),
        WITH_STORE(test_catalogue__directories_have_paths_down_to_the_deepest),
        WITH_STORE(test_catalogue__a_climb_that_is_too_far_tells_for_others),
        WITH_STORE(test_catalogue__a_chain_on_nothing_is_climbed_so_far),
        WITH_STORE(test_catalogue__what_is_refused_costs_what_it_did),
        WITH_STORE(test_catalogue__links_of_a_file_are_climbed_for_so_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
