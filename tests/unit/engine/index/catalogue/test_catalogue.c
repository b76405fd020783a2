#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "engine/index/catalogue/catalogue.h"
#include "engine/index/catalogue/other_names.h"
#include "engine/index/tables/schema.h"
#include "tests/lib/stores/kv_fault.h"
#include "tests/lib/stores/kv_memory.h"

static struct file_key key_of(unsigned n)
{
    struct file_key key = {.size_bytes = (uint8_t)(FILE_KEY_MIN_BYTES + n % 3)};
    memcpy(key.bytes, &n, sizeof(n));
    return key;
}

static int open_store(void **state)
{
    const struct kv_options options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    return kv_memory_open(&options, (struct kv **)state);
}

static int close_store(void **state)
{
    kv_close(*state);
    return 0;
}

static void change_entry(struct kv *kv, bool put, unsigned parent, const char *name, unsigned child,
                         enum entry_type type)
{
    struct kv_batch *batch = kv_batch_new();
    struct file_key p = key_of(parent), c = key_of(child);
    if (put)
        catalogue_put(batch, &p, name, &c, type);
    else
        catalogue_delete(batch, &p, name, &c);
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
}

/* "" where the entry hangs on nothing. */
static void assert_path(struct kv *kv, unsigned parent, const char *name, const char *expected)
{
    struct file_key root = key_of(1), p = key_of(parent);
    struct path_cache *cache;
    char *path = NULL;
    assert_int_equal(path_cache_new(kv, &root, &cache), 0);
    for (int round = 0; round < 2; round++) { /* the second time from memory */
        int r = path_cache_entry(cache, &p, name, &path);
        assert_int_equal(r, *expected ? 0 : -ENOENT);
        if (r == 0)
            assert_string_equal(path, expected);
        free(path);
        path = NULL;
    }
    path_cache_free(cache);
}

static void test_catalogue__an_entry_is_found_by_name_and_by_link(void **state)
{
    struct file_key parent = key_of(1), child = key_of(2), found;
    struct catalogue_list list;
    enum entry_type type;
    change_entry(*state, true, 1, "report.txt", 2, ENTRY_FILE);
    assert_int_equal(catalogue_get(*state, &parent, "report.txt", &found, &type), 0);
    assert_true(file_key_equal(&found, &child));
    assert_int_equal(type, ENTRY_FILE);
    assert_int_equal(catalogue_get(*state, &parent, "report", &found, &type), -ENOENT);

    assert_int_equal(catalogue_links(*state, &child, 10, &list), 0);
    assert_int_equal(list.n_entries, 1);
    assert_true(file_key_equal(&list.entries[0].parent, &parent));
    assert_string_equal(list.entries[0].name, "report.txt");
    catalogue_list_done(&list);

    change_entry(*state, false, 1, "report.txt", 2, ENTRY_FILE);
    assert_int_equal(catalogue_get(*state, &parent, "report.txt", &found, &type), -ENOENT);
    assert_int_equal(catalogue_links(*state, &child, 10, &list), 0);
    assert_int_equal(list.n_entries, 0);
    catalogue_list_done(&list);
}

static void test_catalogue__hard_links_are_all_listed(void **state)
{
    struct file_key child = key_of(9);
    struct catalogue_list list;
    change_entry(*state, true, 1, "a", 9, ENTRY_FILE);
    change_entry(*state, true, 1, "b", 9, ENTRY_FILE);
    change_entry(*state, true, 2, "c", 9, ENTRY_FILE);
    change_entry(*state, true, 2, "other", 10, ENTRY_FILE);
    assert_int_equal(catalogue_links(*state, &child, 10, &list), 0);
    assert_int_equal(list.n_entries, 3);
    catalogue_list_done(&list);
    assert_int_equal(catalogue_links(*state, &child, 2, &list), 0);
    assert_int_equal(list.n_entries, 2);
    catalogue_list_done(&list);
}

static void test_catalogue__hard_links_beside_one_are_all_but_that(void **state)
{
    static const struct {
        uint8_t parent;
        const char *name;
    } links[] = {{1, "a"}, {1, "aa"}, {1, "b"}, {2, "a"}, {2, "c"}};
    enum { N = sizeof(links) / sizeof(links[0]) };
    struct file_key child = key_of(9);
    for (size_t i = 0; i < N; i++)
        change_entry(*state, true, links[i].parent, links[i].name, 9, ENTRY_FILE);
    change_entry(*state, true, 2, "other", 10, ENTRY_FILE);
    for (size_t i = 0; i < N; i++) {
        struct file_key parent = key_of(links[i].parent);
        for (int before = 0; before < 2; before++) {
            struct catalogue_list list;
            size_t first = before ? 0 : i + 1, end = before ? i : N;
            assert_int_equal(
                catalogue_links_beside(*state, &child, &parent, links[i].name, before, 10, &list),
                0);
            assert_int_equal(list.n_entries, end - first);
            for (size_t j = 0; j < list.n_entries; j++)
                assert_string_equal(list.entries[j].name, links[first + j].name);
            catalogue_list_done(&list);
        }
    }
}

static void test_catalogue__hard_links_beside_a_directory_are_of_others(void **state)
{
    char longest[NAME_MAX + 1];
    const struct file_key child = key_of(9), parent = key_of(6);
    memset(longest, 0xff, NAME_MAX);
    longest[NAME_MAX] = '\0';
    change_entry(*state, true, 3, longest, 9, ENTRY_FILE);
    change_entry(*state, true, 6, "\1", 9, ENTRY_FILE);
    change_entry(*state, true, 6, longest, 9, ENTRY_FILE);
    change_entry(*state, true, 12, "\1", 9, ENTRY_FILE);
    for (int before = 0; before < 2; before++) {
        const struct file_key other = key_of(before ? 3 : 12);
        struct catalogue_list list;
        assert_int_equal(catalogue_links_beside(*state, &child, &parent, NULL, before, 10, &list),
                         0);
        assert_int_equal(list.n_entries, 1);
        assert_true(file_key_equal(&list.entries[0].parent, &other));
        catalogue_list_done(&list);
    }
}

static void test_catalogue__children_come_in_byte_order_and_in_pages(void **state)
{
    enum { N = 1000 };
    struct file_key parent = key_of(1);
    char *after = NULL;
    unsigned seen = 0;
    for (unsigned i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%04u", (i * 7) % N);
        change_entry(*state, true, 1, name, 100 + i, ENTRY_FILE);
    }
    change_entry(*state, true, 4, "not this one's", 5, ENTRY_FILE);
    for (;;) {
        struct catalogue_list list;
        assert_int_equal(catalogue_children(*state, &parent, after, 64, &list), 0);
        for (size_t i = 0; i < list.n_entries; i++) {
            char expected[16];
            snprintf(expected, sizeof(expected), "n%04u", seen++);
            assert_string_equal(list.entries[i].name, expected);
        }
        free(after);
        after = list.n_entries == 64 ? strdup(list.entries[63].name) : NULL;
        catalogue_list_done(&list);
        if (!after)
            break;
    }
    assert_int_equal(seen, N);
}

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

static void test_catalogue__a_file_row_comes_back_as_it_was_put(void **state)
{
    struct file_key key = key_of(3);
    struct kv_batch *batch = kv_batch_new();
    struct file_row row = {.sid = 0x123456789abcdefu,
                           .size_bytes = 1u << 31,
                           .mtime = {-5, 999999999},
                           .ctime = {1700000000, 1},
                           .racy = true,
                           .extractors_id = 0xfedcba98,
                           .read_by = 7,
                           .reason = "cannot be read: Permission denied"},
                    found;
    struct stat st = {.st_size = 1u << 31, .st_mtim = row.mtime, .st_ctim = row.ctime};
    assert_int_equal(catalogue_get_file(*state, &key, &found), -ENOENT);
    catalogue_put_file(batch, &key, &row);
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(catalogue_get_file(*state, &key, &found), 0);
    assert_int_equal(found.sid, row.sid);
    assert_true(found.racy);
    assert_int_equal(found.extractors_id, row.extractors_id);
    assert_int_equal(found.read_by, row.read_by);
    assert_string_equal(found.reason, row.reason);
    assert_true(file_row_matches(&found, &st));
    st.st_ctim.tv_nsec++;
    assert_false(file_row_matches(&found, &st));
    row.extractors_id = row.read_by = 0; /* of a store of before there were any */
    kv_batch_clear(batch);
    catalogue_put_file(batch, &key, &row);
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(catalogue_get_file(*state, &key, &found), 0);
    assert_int_equal(found.extractors_id, 0);
    assert_string_equal(found.reason, row.reason);
    kv_batch_clear(batch);
    catalogue_delete_file(batch, &key);
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(catalogue_get_file(*state, &key, &found), -ENOENT);
    kv_batch_free(batch);
}

static void test_catalogue__damaged_rows_are_refused(void **state)
{
    struct file_key key = key_of(3), child;
    enum entry_type type;
    struct file_row row;
    uint8_t row_key[1 + FILE_KEY_MAX_BYTES + 1];
    size_t size = 1u + key.size_bytes;
    struct kv_batch *batch = kv_batch_new();
    row_key[0] = key.size_bytes;
    memcpy(row_key + 1, key.bytes, key.size_bytes);
    row_key[size] = 'x';
    kv_batch_put(batch, TABLE_FILES, (struct kv_slice){row_key, size}, (struct kv_slice){"?", 1});
    kv_batch_put(batch, TABLE_NAMES, (struct kv_slice){row_key, size + 1},
                 (struct kv_slice){"f\x20too short", 11});
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(catalogue_get_file(*state, &key, &row), -EUCLEAN);
    assert_int_equal(catalogue_get(*state, &key, "x", &child, &type), -EUCLEAN);
    kv_batch_free(batch);
}

/* A row of names and one of links whose name has been forged. */
static int read_forged_name(struct kv *kv, const char *name, size_t size_bytes, bool link)
{
    const struct file_key parent = key_of(1), child = key_of(2);
    uint8_t key[2 * (1 + FILE_KEY_MAX_BYTES) + 512], value[2 + FILE_KEY_MAX_BYTES] = "f";
    struct catalogue_list list = {0};
    struct kv_batch *batch = kv_batch_new();
    size_t n = 0;
    for (int i = !link; i < 2; i++) {
        const struct file_key *part = i ? &parent : &child;
        key[n] = part->size_bytes;
        memcpy(key + n + 1, part->bytes, part->size_bytes);
        n += 1u + part->size_bytes;
    }
    memcpy(key + n, name, size_bytes);
    value[1] = child.size_bytes;
    memcpy(value + 2, child.bytes, child.size_bytes);
    const struct kv_slice row = {key, n + size_bytes};
    kv_batch_put(batch, link ? TABLE_LINKS : TABLE_NAMES, row,
                 (struct kv_slice){value, link ? 0 : 2u + child.size_bytes});
    assert_int_equal(kv_apply(kv, batch), 0);
    int r = link ? catalogue_links(kv, &child, 10, &list)
                 : catalogue_children(kv, &parent, NULL, 10, &list);
    if (r == 0) {
        assert_int_equal(list.n_entries, 1);
        assert_int_equal(strlen(list.entries[0].name), size_bytes);
    }
    catalogue_list_done(&list);
    kv_batch_clear(batch);
    kv_batch_delete(batch, link ? TABLE_LINKS : TABLE_NAMES, row);
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
    return r;
}

static void test_catalogue__what_no_entry_can_be_called_is_damage(void **state)
{
    char longest[NAME_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    const struct {
        const char *name;
        size_t size_bytes;
        int expected;
    } names[] = {
        {"", 0, -EUCLEAN},
        {".", 1, -EUCLEAN},
        {"..", 2, -EUCLEAN},
        {"/", 1, -EUCLEAN},
        {"../../etc/shadow", 16, -EUCLEAN},
        {"a/", 2, -EUCLEAN},
        {"\0", 1, -EUCLEAN},
        {".\0", 2, -EUCLEAN},
        {"a\0b", 3, -EUCLEAN},
        {longest, NAME_MAX + 1, -EUCLEAN},
        {longest, NAME_MAX, 0},
        {"...", 3, 0},
        {".a", 2, 0},
        {"\n\033[2J", 5, 0},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (int link = 0; link < 2; link++)
            if (read_forged_name(*state, names[i].name, names[i].size_bytes, link) !=
                names[i].expected)
                fail_msg("name %zu, link %d", i, link);
}

static void test_catalogue__bytes_behind_the_key_of_a_file_are_damage(void **state)
{
    const struct file_key file = key_of(5);
    const struct file_row row = {.sid = 1};
    struct file_list list = {0};
    uint8_t key[2 + FILE_KEY_MAX_BYTES] = {file.size_bytes};
    struct kv_batch *batch = kv_batch_new();
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    memcpy(key + 1, file.bytes, file.size_bytes);
    const struct kv_slice good = {key, 1u + file.size_bytes}, forged = {key, 2u + file.size_bytes};
    catalogue_put_file(batch, &file, &row);
    assert_int_equal(kv_apply(*state, batch), 0);
    assert_int_equal(kv_get(*state, TABLE_FILES, good, &value), 0);
    kv_batch_clear(batch);
    kv_batch_put(batch, TABLE_FILES, forged, kv_buf_slice(&value));
    assert_int_equal(kv_apply(*state, batch), 0);
    kv_batch_free(batch);
    assert_int_equal(catalogue_files(*state, NULL, 10, &list), -EUCLEAN);
    assert_int_equal(catalogue_files(*state, NULL, 1, &list), 0); /* the other is as it was */
    assert_int_equal(list.n_files, 1);
    file_list_done(&list);
}

int main(void)
{
#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, open_store, close_store)
    const struct CMUnitTest tests[] = {
        WITH_STORE(test_catalogue__an_entry_is_found_by_name_and_by_link),
        WITH_STORE(test_catalogue__hard_links_are_all_listed),
        WITH_STORE(test_catalogue__hard_links_beside_one_are_all_but_that),
        WITH_STORE(test_catalogue__hard_links_beside_a_directory_are_of_others),
        WITH_STORE(test_catalogue__children_come_in_byte_order_and_in_pages),
        WITH_STORE(test_catalogue__renaming_a_directory_moves_what_is_below),
        WITH_STORE(test_catalogue__directories_in_a_circle_have_no_path),
        WITH_STORE(test_catalogue__what_leads_up_to_the_root_is_told_from_circles),
        WITH_STORE(test_catalogue__a_link_that_is_no_name_leads_nowhere),
        WITH_STORE(test_catalogue__a_climb_ends_where_it_is_to),
        WITH_STORE(test_catalogue__a_path_is_as_long_as_a_call_takes),
        WITH_STORE(test_catalogue__directories_have_paths_down_to_the_deepest),
        WITH_STORE(test_catalogue__a_chain_on_nothing_is_climbed_so_far),
        WITH_STORE(test_catalogue__a_climb_that_is_too_far_tells_for_others),
        WITH_STORE(test_catalogue__what_is_refused_costs_what_it_did),
        WITH_STORE(test_catalogue__links_of_a_file_are_climbed_for_so_many_rows),
        WITH_STORE(test_catalogue__a_file_row_comes_back_as_it_was_put),
        WITH_STORE(test_catalogue__damaged_rows_are_refused),
        WITH_STORE(test_catalogue__what_no_entry_can_be_called_is_damage),
        WITH_STORE(test_catalogue__bytes_behind_the_key_of_a_file_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
