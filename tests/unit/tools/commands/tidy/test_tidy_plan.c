/* What is planned for each document, by what is known of it and of the one that is kept. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "tools/commands/tidy/tidy_plan.h"

static void add(struct tidy_plan *plan, const char *path, const char *keep, bool is_equal)
{
    plan->items = reallocarray(plan->items, plan->n + 1, sizeof(*plan->items));
    const struct tidy_state is = {
        .n_links = 1, .size_bytes = 100, .mode = 0644, .uid = 1, .gid = 2};
    plan->items[plan->n++] = (struct tidy_item){
        .path = strdup(path), .keep = strdup(keep), .is_equal = is_equal, .is = is, .keep_is = is};
}

static void test_tidy_plan__has_no_chains(void **state)
{
    (void)state;
    _cleanup_(tidy_plan_done) struct tidy_plan plan = {0}, circle = {0}, empty = {0};
    add(&plan, "b", "a", false);
    add(&plan, "c", "b", false);
    add(&plan, "d", "c", false);
    add(&plan, "x", "a", false);
    assert_int_equal(tidy_plan_drop_chains(&plan), 0);
    assert_int_equal(plan.n, 2);
    assert_string_equal(plan.items[0].path, "b");
    assert_string_equal(plan.items[1].path, "x");
    add(&circle, "a", "b", true);
    add(&circle, "b", "a", true);
    assert_int_equal(tidy_plan_drop_chains(&circle), 0);
    assert_int_equal(circle.n, 0);
    assert_int_equal(tidy_plan_drop_chains(&empty), 0);
    assert_null(tidy_plan_find(&empty, "a", "b"));
}

/* The act of the one item, "" where there is none. */
static const char *decide(struct tidy_plan *plan, const char *act, bool near)
{
    plan->items[0].act = TIDY_LIST;
    tidy_plan_decide(plan, tidy_act_of(act), near);
    assert_int_equal(plan->items[0].why != NULL, plan->items[0].act != tidy_act_of(act));
    return tidy_acts[plan->items[0].act];
}

static void test_tidy_plan__moves_near_duplicates_only_where_told_to(void **state)
{
    (void)state;
    _cleanup_(tidy_plan_done) struct tidy_plan plan = {0};
    add(&plan, "b", "a", false);
    assert_string_equal(decide(&plan, "list", false), "list");
    assert_string_equal(decide(&plan, "trash", false), "list");
    assert_string_equal(decide(&plan, "trash", true), "trash");
    assert_string_equal(decide(&plan, "link", false), "list");
    assert_string_equal(decide(&plan, "reflink", false), "list");
    plan.items[0].is_equal = true;
    assert_string_equal(decide(&plan, "trash", false), "trash");
    assert_string_equal(decide(&plan, "link", false), "link");
    assert_string_equal(decide(&plan, "reflink", false), "reflink");
    assert_int_equal(tidy_act_of("burn"), N_TIDY_ACTS);
    assert_int_equal(tidy_act_of(""), N_TIDY_ACTS);
}

static void test_tidy_plan__links_what_is_the_same_but_for_its_name(void **state)
{
    (void)state;
    const struct tidy_state others[] = {
        {.n_links = 2, .mode = 0644, .uid = 1, .gid = 2},
        {.n_links = 1, .mode = 0640, .uid = 1, .gid = 2},
        {.n_links = 1, .mode = 0644, .uid = 0, .gid = 2},
        {.n_links = 1, .mode = 0644, .uid = 1, .gid = 0},
        {.n_links = 1, .mode = 0644, .uid = 1, .gid = 2, .mtime.tv_sec = 1},
        {.n_links = 1, .mode = 0644, .uid = 1, .gid = 2, .mtime.tv_nsec = 1}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        _cleanup_(tidy_plan_done) struct tidy_plan plan = {0};
        add(&plan, "b", "a", true);
        assert_string_equal(decide(&plan, "link", false), "link");
        plan.items[0].is = others[i];
        assert_string_equal(decide(&plan, "link", false), "list");
        assert_string_equal(decide(&plan, "reflink", false), "reflink");
        assert_string_equal(decide(&plan, "trash", false), "trash");
    }
}

static void test_tidy_plan__saves_what_has_one_name(void **state)
{
    (void)state;
    _cleanup_(tidy_plan_done) struct tidy_plan plan = {0};
    add(&plan, "b", "a", true);
    assert_int_equal(tidy_item_saves(&plan.items[0]), 100);
    plan.items[0].is.n_links = 2;
    assert_int_equal(tidy_item_saves(&plan.items[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tidy_plan__has_no_chains),
        cmocka_unit_test(test_tidy_plan__moves_near_duplicates_only_where_told_to),
        cmocka_unit_test(test_tidy_plan__links_what_is_the_same_but_for_its_name),
        cmocka_unit_test(test_tidy_plan__saves_what_has_one_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
