#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fs/views/view_links.h"

static struct view_links *make(void)
{
    const struct kin kin[] = {{.path = (char *)"x/c", .resemblance = 0.9},
                              {.path = (char *)"y/c", .resemblance = 0.9},
                              {.path = (char *)"b", .resemblance = 0.5}};
    struct view_links *links;
    assert_int_equal(view_links_new(2, kin, 3, &links), 0);
    return links;
}

static void test_view_links__are_found_by_name(void **state)
{
    (void)state;
    struct view_links *links = make();
    assert_int_equal(links->n_links, 3);
    size_t n_bytes = sizeof(*links) + 3 * sizeof(links->links[0]);
    for (size_t i = 0; i < links->n_links; i++)
        n_bytes += strlen(links->links[i].name) + strlen(links->links[i].path) + 2;
    assert_int_equal(links->n_bytes, n_bytes);
    for (size_t i = 0; i < links->n_links; i++)
        assert_ptr_equal(view_links_find(links, links->links[i].name), &links->links[i]);
    const struct view_link *link = view_links_find(links, "090-c~2");
    assert_non_null(link);
    assert_string_equal(link->path, "y/c");
    assert_null(view_links_find(links, "090-d"));
    assert_null(view_links_find(links, ""));
    view_links_unref(links);
}

static void test_view_links__none_are_none(void **state)
{
    (void)state;
    struct view_links *links;
    assert_int_equal(view_links_new(2, NULL, 0, &links), 0);
    assert_int_equal(links->n_links, 0);
    assert_null(view_links_find(links, "100-a"));
    view_links_unref(links);
}

/* The kernel reads no link of PATH_MAX bytes or more. */
static void test_view_links__that_cannot_be_read_are_none(void **state)
{
    (void)state;
    static const char up[] = "../../";
    char longest[PATH_MAX - sizeof(up) + 1], longer[sizeof(longest) + 1];
    memset(longest, 'p', sizeof(longest) - 1);
    memset(longer, 'q', sizeof(longer) - 1);
    longest[sizeof(longest) - 1] = longer[sizeof(longer) - 1] = '\0';
    longest[100] = longer[100] = '/';
    const struct kin kin[] = {{.path = longer, .resemblance = 0.9},
                              {.path = longest, .resemblance = 0.8},
                              {.path = (char *)"b", .resemblance = 0.5}};
    struct view_links *links;
    assert_int_equal(view_links_new(2, kin, 3, &links), 0);
    assert_int_equal(links->n_links, 2);
    assert_int_equal(strlen(up) + strlen(links->links[0].path), PATH_MAX - 1);
    assert_string_equal(links->links[0].path, longest);
    assert_string_equal(links->links[1].name, "050-b");
    view_links_unref(links);
}

static struct view_links_key key_of(uint64_t node)
{
    return (struct view_links_key){.node = node, .generation = 5};
}

static void test_view_links__are_recalled_until_the_index_changes(void **state)
{
    (void)state;
    static struct view_links_memory memory;
    view_links_memory_init(&memory);
    struct view_links *links = make();
    struct view_links_key key = key_of(1), other;
    assert_null(view_links_recall(&memory, &key));
    view_links_remember(&memory, &key, links);
    struct view_links *again = view_links_recall(&memory, &key);
    assert_ptr_equal(again, links);
    view_links_unref(again);

    other = key, other.node++;
    assert_null(view_links_recall(&memory, &other));
    other = key, other.caller++;
    assert_null(view_links_recall(&memory, &other));
    other = key, other.generation++;
    assert_null(view_links_recall(&memory, &other));

    view_links_unref(links);
    view_links_memory_done(&memory);
}

static void test_view_links__the_longest_unused_are_forgotten_first(void **state)
{
    (void)state;
    static struct view_links_memory memory;
    view_links_memory_init(&memory);
    struct view_links *links = make();
    for (uint64_t i = 1; i <= VIEW_LINKS_REMEMBERED; i++) {
        struct view_links_key key = key_of(i);
        view_links_remember(&memory, &key, links);
    }
    struct view_links_key first = key_of(1), second = key_of(2), one_more = key_of(1000);
    view_links_unref(view_links_recall(&memory, &first));
    view_links_remember(&memory, &one_more, links);
    assert_null(view_links_recall(&memory, &second));
    struct view_links *kept = view_links_recall(&memory, &first);
    assert_ptr_equal(kept, links);
    view_links_unref(kept);

    /* A newer list of the same directory takes the place of the older. */
    struct view_links *newer = make();
    first.generation++;
    view_links_remember(&memory, &first, newer);
    kept = view_links_recall(&memory, &first);
    assert_ptr_equal(kept, newer);
    view_links_unref(kept);
    first.generation--;
    assert_null(view_links_recall(&memory, &first));

    view_links_unref(newer);
    view_links_unref(links);
    view_links_memory_done(&memory);
}

static void test_view_links__a_user_of_many_directories_has_none_of_anothers_forgotten(void **state)
{
    (void)state;
    enum { OTHERS = 8 };
    static struct view_links_memory memory;
    view_links_memory_init(&memory);
    struct view_links *links = make();
    for (uint64_t i = 0; i < OTHERS; i++) {
        struct view_links_key key = key_of(i);
        key.user = 1;
        view_links_remember(&memory, &key, links);
    }
    for (uint64_t i = 0; i < 3 * VIEW_LINKS_REMEMBERED; i++) {
        struct view_links_key key = key_of(i);
        key.user = 2;
        key.caller = 1 + i; /* of many groups */
        view_links_remember(&memory, &key, links);
    }
    for (uint64_t i = 0; i < OTHERS; i++) {
        struct view_links_key key = key_of(i);
        struct view_links *kept = view_links_recall(&memory, &key);
        assert_ptr_equal(kept, links);
        view_links_unref(kept);
    }
    view_links_unref(links);
    view_links_memory_done(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_links__are_found_by_name),
        cmocka_unit_test(test_view_links__none_are_none),
        cmocka_unit_test(test_view_links__that_cannot_be_read_are_none),
        cmocka_unit_test(test_view_links__are_recalled_until_the_index_changes),
        cmocka_unit_test(test_view_links__the_longest_unused_are_forgotten_first),
        cmocka_unit_test(
            test_view_links__a_user_of_many_directories_has_none_of_anothers_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
