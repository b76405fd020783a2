#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "engine/index/catalogue/other_names.h"
#include "tests/lib/fixtures/catalogue_fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(test_catalogue__an_entry_is_found_by_name_and_by_link),
        WITH_STORE(test_catalogue__hard_links_are_all_listed),
        WITH_STORE(test_catalogue__hard_links_beside_one_are_all_but_that),
        WITH_STORE(test_catalogue__hard_links_beside_a_directory_are_of_others),
        WITH_STORE(test_catalogue__children_come_in_byte_order_and_in_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
