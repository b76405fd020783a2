#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/views/view_node.h"

static struct file_key key_of(unsigned char x)
{
    struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES};
    key.bytes[3] = x;
    return key;
}

static struct view_node *look_up(struct view_table *table, const struct view_node *like)
{
    struct view_node *node;
    assert_int_equal(view_table_lookup(table, like, &node), 0);
    return node;
}

static struct view_node *part_of(struct view_table *table, const char *path)
{
    struct view_node *part;
    assert_int_equal(view_table_part(table, path, &part), 0);
    return part;
}

static void test_view_node__equal_ones_are_one_while_looked_up(void **state)
{
    (void)state;
    struct view_table table;
    assert_int_equal(view_table_init(&table), 0);
    char name[] = "a";
    struct view_node like = {.kind = VIEW_DOCUMENT, .name = name, .key = key_of(1)};
    struct view_node *a = look_up(&table, &like), *b = look_up(&table, &like);
    assert_ptr_equal(a, b);
    assert_string_equal(a->name, name);
    assert_ptr_not_equal(a->name, name);
    assert_int_equal(a->node.kind, NODE_VIEW);
    uint64_t generation = a->generation;
    view_table_forget(&table, a, 1);
    b = look_up(&table, &like);
    assert_int_equal(b->generation, generation);
    view_table_forget(&table, b, 2);
    assert_int_equal(table.n_nodes, 0);
    assert_int_not_equal(look_up(&table, &like)->generation, generation);
    view_table_done(&table);
}

static void test_view_node__differ_in_kind_parent_name_key_cluster_and_target(void **state)
{
    (void)state;
    struct view_table table;
    assert_int_equal(view_table_init(&table), 0);
    struct view_node *x = part_of(&table, "x"), *y = part_of(&table, "y");
    struct view_node likes[] = {
        {.kind = VIEW_DOCUMENT, .name = "p", .key = key_of(1)},
        {.kind = VIEW_DOCUMENT, .name = "p", .key = key_of(2)},
        {.kind = VIEW_DIRECTORY, .name = "p", .key = key_of(1)},
        {.kind = VIEW_DOCUMENT, .name = "q", .key = key_of(1)},
        {.kind = VIEW_DOCUMENT, .parent = x, .name = "q", .key = key_of(1)},
        {.kind = VIEW_DOCUMENT, .parent = y, .name = "q", .key = key_of(1)},
        {.kind = VIEW_CLUSTER, .name = "p", .cluster_id = 1},
        {.kind = VIEW_CLUSTER, .name = "p", .cluster_id = 2},
        {.kind = VIEW_LINK, .name = "p", .target = x},
        {.kind = VIEW_LINK, .name = "p", .target = y},
        {.kind = VIEW_LINK, .name = "p"},
    };
    enum { N = sizeof(likes) / sizeof(likes[0]) };
    struct view_node *nodes[N];
    for (int i = 0; i < N; i++)
        nodes[i] = look_up(&table, &likes[i]);
    assert_int_equal(table.n_nodes, N + 2);
    for (int i = 0; i < N; i++) {
        assert_ptr_equal(look_up(&table, &likes[i]), nodes[i]);
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(nodes[i], nodes[j]);
    }
    view_table_done(&table);
}

/* Looks up each name of a path, as the kernel does, and forgets the parents at once. */
static struct view_node *walk(struct view_table *table, const char *const names[])
{
    struct view_node *node = NULL;
    for (size_t i = 0; names[i]; i++) {
        const bool is_kinfs = strcmp(names[i], ".kinfs") == 0;
        const struct view_node like = {
            .kind = is_kinfs ? VIEW_KINFS : VIEW_DIRECTORY, .parent = node, .name = names[i]};
        struct view_node *child = look_up(table, &like);
        if (node)
            view_table_forget(table, node, 1);
        node = child;
    }
    return node;
}

static void expect_text(char *text, const char *expected)
{
    assert_string_equal(text, expected);
    free(text);
}

static void test_view_node__a_path_of_the_tree_is_below_the_view(void **state)
{
    (void)state;
    struct view_table table;
    static const struct {
        const char *names[5], *tree, *with_name;
    } cases[] = {
        {{"similar"}, "", "x"},
        {{"similar", "a", "b.txt"}, "a/b.txt", "a/b.txt/x"},
        {{".kinfs", "similar"}, "", "x"},
        {{".kinfs", "similar", "a", "b"}, "a/b", "a/b/x"},
    };
    assert_int_equal(view_table_init(&table), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct view_node *node = walk(&table, cases[i].names);
        expect_text(view_node_tree(node, NULL), cases[i].tree);
        expect_text(view_node_tree(node, "x"), cases[i].with_name);
        assert_int_equal(view_node_is_top(node), !*cases[i].tree);
        view_table_forget(&table, node, 1);
        assert_int_equal(table.n_nodes, 0);
    }
    view_table_done(&table);
}

static void test_view_node__a_link_leads_up_to_the_mount_and_down_to_the_document(void **state)
{
    (void)state;
    struct view_table table;
    static const struct {
        const char *names[5], *path, *target;
    } cases[] = {
        {{"similar", "bash", "copyright"}, "readline/copyright", "../../../readline/copyright"},
        {{".kinfs", "similar", "bash", "copyright"}, "a/b c/d", "../../../../a/b c/d"},
        {{"similar", "a"}, "b", "../../b"},
    };
    assert_int_equal(view_table_init(&table), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct view_node like = {.kind = VIEW_LINK,
                                 .parent = walk(&table, cases[i].names),
                                 .name = "100-x",
                                 .target = part_of(&table, cases[i].path)};
        struct view_node *link = look_up(&table, &like);
        view_table_forget(&table, like.parent, 1);
        view_table_forget(&table, like.target, 1);
        expect_text(view_node_target(link), cases[i].target);
        view_table_forget(&table, link, 1);
        assert_int_equal(table.n_nodes, 0);
    }
    expect_text(view_node_target(&(struct view_node){.kind = VIEW_LINK, .cluster_id = 17}), "17");
    view_table_done(&table);
}

/* 20 names more than those of a directory far down, of which each is kept once. */
static void test_view_node__of_links_far_down_each_directory_is_kept_once(void **state)
{
    (void)state;
    enum { DEPTH = 1000, N = 20 };
    struct view_table table;
    char path[2 * DEPTH + 8];
    struct view_node *parts[N];
    assert_int_equal(view_table_init(&table), 0);
    for (int i = 0; i < DEPTH; i++)
        memcpy(path + 2L * i, "d/", 2);
    for (int i = 0; i < N; i++) {
        snprintf(path + 2L * DEPTH, 8, "%d", i);
        parts[i] = part_of(&table, path);
    }
    assert_int_equal(table.n_nodes, DEPTH + N);
    for (int i = 0; i < N; i++)
        view_table_forget(&table, parts[i], 1);
    assert_int_equal(table.n_nodes, 0);
    view_table_done(&table);
}

static void test_view_node__many_come_and_go(void **state)
{
    (void)state;
    enum { N = 3000 };
    static struct view_node *nodes[N];
    struct view_table table;
    assert_int_equal(view_table_init(&table), 0);
    char name[32];
    const struct view_node like = {.kind = VIEW_LINK, .name = name};
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "%d", i);
        nodes[i] = look_up(&table, &like);
    }
    for (int i = 0; i < N; i += 2)
        view_table_forget(&table, nodes[i], 1);
    for (int i = 1; i < N; i += 2) {
        snprintf(name, sizeof(name), "%d", i);
        assert_ptr_equal(look_up(&table, &like), nodes[i]);
        view_table_forget(&table, nodes[i], 2);
    }
    assert_int_equal(table.n_nodes, 0);
    assert_int_equal(table.n_buckets, 256);
    view_table_done(&table);
}

static void test_view_node__inode_numbers_are_of_the_path_and_in_their_range(void **state)
{
    (void)state;
    struct view_table table;
    assert_int_equal(view_table_init(&table), 0);
    struct view_node *a = walk(&table, (const char *const[]){"similar", "a", NULL});
    struct view_node *b = walk(&table, (const char *const[]){"similar", "b", NULL});
    struct view_node *below = walk(&table, (const char *const[]){"similar", "a", "b", NULL});
    assert_int_equal(view_ino(a, "b"), below->ino);
    assert_int_equal(view_ino(NULL, "similar"), a->parent->ino);
    assert_int_not_equal(view_ino(a, "b"), view_ino(b, "a"));
    static ino_t seen[2000];
    for (int i = 0; i < 2000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%d", i);
        seen[i] = view_ino(a, name);
        assert_true(seen[i] >> 62 == 1);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(seen[i], seen[j]);
    }
    view_table_done(&table);
}

static void test_view_node__nobody_can_choose_names_that_are_alike(void **state)
{
    (void)state;
    const struct view_node like = {.kind = VIEW_DOCUMENT, .name = "a", .key = key_of(1)};
    assert_int_equal(node_secret_draw(), 0);
    uint64_t hash = view_node_hash(&like);
    ino_t ino = view_ino(NULL, like.name);
    assert_true(view_node_hash(&like) == hash);
    assert_int_equal(node_secret_draw(), 0); /* as in another process */
    assert_true(view_node_hash(&like) != hash);
    assert_true(view_ino(NULL, like.name) == ino);
}

/* A user who holds links of one name, each of which led elsewhere when it was looked up, makes no
 * search longer. */
static void test_view_node__links_of_one_name_are_in_nobodys_way(void **state)
{
    (void)state;
    enum { N = 1000, SEARCHED_MOST = 16 };
    struct view_table table;
    struct view_node *links[N];
    assert_int_equal(node_secret_draw(), 0);
    assert_int_equal(view_table_init(&table), 0);
    for (int i = 0; i < N; i++) {
        char path[32];
        snprintf(path, sizeof(path), "d%d/copy", i);
        struct view_node like = {
            .kind = VIEW_LINK, .name = "100-copy", .target = part_of(&table, path)};
        links[i] = look_up(&table, &like);
        view_table_forget(&table, like.target, 1);
    }
    for (size_t i = 0; i < table.n_buckets; i++) {
        size_t n = 0;
        for (const struct view_node *node = table.buckets[i]; node; node = node->next)
            n++;
        assert_in_range(n, 0, SEARCHED_MOST);
    }
    for (int i = 0; i < N; i++)
        view_table_forget(&table, links[i], 1);
    assert_int_equal(table.n_nodes, 0);
    view_table_done(&table);
}

static void test_view_node__generations_tell_no_count(void **state)
{
    (void)state;
    struct view_table table;
    const struct view_node like = {.kind = VIEW_DOCUMENT, .name = "a", .key = key_of(1)};
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

/* What a node has is held once for each, for as long as it is there. */
static struct inode *held[4];
static unsigned n_held;

static void hold(void *user, const struct view_node *node)
{
    assert_ptr_equal(user, held);
    if (node->inode)
        held[n_held++] = node->inode;
}

static void let_go(void *user, const struct view_node *node)
{
    assert_ptr_equal(user, held);
    if (node->inode)
        assert_ptr_equal(held[--n_held], node->inode);
}

static void test_view_node__what_a_node_has_is_held_as_long_as_it(void **state)
{
    (void)state;
    struct view_table table;
    char inodes[2]; /* only their places count */
    assert_int_equal(view_table_init(&table), 0);
    table.hold = hold;
    table.let_go = let_go;
    table.user = held;
    struct view_node like = {
        .kind = VIEW_UNIQUE, .name = "a", .key = key_of(1), .inode = (struct inode *)&inodes[0]};
    struct view_node *a = look_up(&table, &like);
    assert_ptr_equal(look_up(&table, &like), a);
    assert_int_equal(n_held, 1);
    struct view_node *below =
        look_up(&table, &(struct view_node){.kind = VIEW_UNIQUE, .parent = a, .name = "b"});
    view_table_forget(&table, a, 2);
    assert_int_equal(n_held, 1); /* by the one below */
    /* Another inode by the same key is another node. */
    like.inode = (struct inode *)&inodes[1];
    struct view_node *other = look_up(&table, &like);
    assert_ptr_not_equal(other, a);
    assert_int_equal(n_held, 2);
    view_table_forget(&table, other, 1);
    view_table_forget(&table, below, 1);
    assert_int_equal(n_held, 0);
    look_up(&table, &like);
    view_table_done(&table);
    assert_int_equal(n_held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_node__equal_ones_are_one_while_looked_up),
        cmocka_unit_test(test_view_node__differ_in_kind_parent_name_key_cluster_and_target),
        cmocka_unit_test(test_view_node__a_path_of_the_tree_is_below_the_view),
        cmocka_unit_test(test_view_node__a_link_leads_up_to_the_mount_and_down_to_the_document),
        cmocka_unit_test(test_view_node__of_links_far_down_each_directory_is_kept_once),
        cmocka_unit_test(test_view_node__what_a_node_has_is_held_as_long_as_it),
        cmocka_unit_test(test_view_node__many_come_and_go),
        cmocka_unit_test(test_view_node__inode_numbers_are_of_the_path_and_in_their_range),
        cmocka_unit_test(test_view_node__nobody_can_choose_names_that_are_alike),
        cmocka_unit_test(test_view_node__links_of_one_name_are_in_nobodys_way),
        cmocka_unit_test(test_view_node__generations_tell_no_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
