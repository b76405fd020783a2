#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fs/views/view_node.h"

static struct file_key key_of(unsigned char x)
{
    struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES};
    key.bytes[3] = x;
    return key;
}

static void test_view_node__equal_ones_are_one_while_looked_up(void **state)
{
    (void)state;
    struct view_table table;
    assert_int_equal(view_table_init(&table), 0);
    char path[] = "similar/a/b";
    struct view_node like = {
        .kind = VIEW_DOCUMENT, .path = path, .tree = path + 8, .key = key_of(1)};
    struct view_node *a, *b, *c;
    assert_int_equal(view_table_lookup(&table, &like, &a), 0);
    assert_int_equal(view_table_lookup(&table, &like, &b), 0);
    assert_ptr_equal(a, b);
    assert_string_equal(a->path, path);
    assert_ptr_not_equal(a->path, path);
    assert_string_equal(a->tree, "a/b");
    assert_int_equal(a->node.kind, NODE_VIEW);
    uint64_t generation = a->generation;
    view_table_forget(&table, a, 1);
    assert_int_equal(view_table_lookup(&table, &like, &b), 0);
    assert_int_equal(b->generation, generation);
    view_table_forget(&table, b, 2);
    assert_int_equal(table.n_nodes, 0);
    assert_int_equal(view_table_lookup(&table, &like, &c), 0);
    assert_int_not_equal(c->generation, generation);
    view_table_done(&table);
}

static void test_view_node__differ_in_kind_path_key_cluster_and_target(void **state)
{
    (void)state;
    struct view_table table;
    assert_int_equal(view_table_init(&table), 0);
    struct view_node likes[] = {
        {.kind = VIEW_DOCUMENT, .path = "p", .key = key_of(1)},
        {.kind = VIEW_DOCUMENT, .path = "p", .key = key_of(2)},
        {.kind = VIEW_DIRECTORY, .path = "p", .key = key_of(1)},
        {.kind = VIEW_DOCUMENT, .path = "q", .key = key_of(1)},
        {.kind = VIEW_CLUSTER, .path = "p", .cluster_id = 1},
        {.kind = VIEW_CLUSTER, .path = "p", .cluster_id = 2},
        {.kind = VIEW_LINK, .path = "p", .target = "x"},
        {.kind = VIEW_LINK, .path = "p", .target = "y"},
        {.kind = VIEW_LINK, .path = "p"},
    };
    enum { N = sizeof(likes) / sizeof(likes[0]) };
    struct view_node *nodes[N], *again;
    for (int i = 0; i < N; i++)
        assert_int_equal(view_table_lookup(&table, &likes[i], &nodes[i]), 0);
    assert_int_equal(table.n_nodes, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(view_table_lookup(&table, &likes[i], &again), 0);
        assert_ptr_equal(again, nodes[i]);
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(nodes[i], nodes[j]);
    }
    view_table_done(&table);
}

static void test_view_node__many_come_and_go(void **state)
{
    (void)state;
    enum { N = 3000 };
    static struct view_node *nodes[N];
    struct view_table table;
    assert_int_equal(view_table_init(&table), 0);
    char path[32];
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof(path), "similar/%d", i);
        assert_int_equal(view_table_lookup(&table,
                                           &(struct view_node){.kind = VIEW_LINK, .path = path},
                                           &nodes[i]),
                         0);
    }
    for (int i = 0; i < N; i += 2)
        view_table_forget(&table, nodes[i], 1);
    for (int i = 1; i < N; i += 2) {
        struct view_node *again;
        snprintf(path, sizeof(path), "similar/%d", i);
        assert_int_equal(
            view_table_lookup(&table, &(struct view_node){.kind = VIEW_LINK, .path = path}, &again),
            0);
        assert_ptr_equal(again, nodes[i]);
        view_table_forget(&table, again, 2);
    }
    assert_int_equal(table.n_nodes, 0);
    assert_int_equal(table.n_buckets, 256);
    view_table_done(&table);
}

static void test_view_node__inode_numbers_are_of_the_path_and_in_their_range(void **state)
{
    (void)state;
    assert_int_equal(view_ino("similar/a", "b"), view_ino("similar/a/b", NULL));
    assert_int_not_equal(view_ino("similar/a", "b"), view_ino("similar/b", "a"));
    static ino_t seen[2000];
    for (int i = 0; i < 2000; i++) {
        char path[32];
        snprintf(path, sizeof(path), "clusters/%d", i);
        seen[i] = view_ino(path, NULL);
        assert_true(seen[i] >> 62 == 1);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(seen[i], seen[j]);
    }
}

static void test_view_node__nobody_can_choose_paths_that_are_alike(void **state)
{
    (void)state;
    const struct view_node like = {.kind = VIEW_DOCUMENT, .path = "similar/a", .key = key_of(1)};
    assert_int_equal(node_secret_draw(), 0);
    uint64_t hash = view_node_hash(&like);
    ino_t ino = view_ino(like.path, NULL);
    assert_true(view_node_hash(&like) == hash);
    assert_int_equal(node_secret_draw(), 0); /* as in another process */
    assert_true(view_node_hash(&like) != hash);
    assert_true(view_ino(like.path, NULL) == ino);
}

static void test_view_node__generations_tell_no_count(void **state)
{
    (void)state;
    struct view_table table;
    const struct view_node like = {.kind = VIEW_DOCUMENT, .path = "similar/a", .key = key_of(1)};
    enum { N = 1000 };
    uint32_t seen[N]; /* of which the kernel keeps so much */
    unsigned n_next = 0;
    assert_int_equal(node_secret_draw(), 0);
    assert_int_equal(view_table_init(&table), 0);
    for (int i = 0; i < N; i++) {
        struct view_node *node;
        assert_int_equal(view_table_lookup(&table, &like, &node), 0);
        seen[i] = (uint32_t)node->generation;
        view_table_forget(&table, node, 1);
        n_next += i && seen[i] - seen[i - 1] < N;
    }
    assert_in_range(n_next, 0, 10);
    view_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_node__equal_ones_are_one_while_looked_up),
        cmocka_unit_test(test_view_node__differ_in_kind_path_key_cluster_and_target),
        cmocka_unit_test(test_view_node__many_come_and_go),
        cmocka_unit_test(test_view_node__inode_numbers_are_of_the_path_and_in_their_range),
        cmocka_unit_test(test_view_node__nobody_can_choose_paths_that_are_alike),
        cmocka_unit_test(test_view_node__generations_tell_no_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
