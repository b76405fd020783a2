#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/scratch.h"
#include "tools/documents/regular_file.h"

static char root[64];

static int set_up(void **state)
{
    (void)state;
    scratch_make(root);
    mkdir(scratch_path(root, "tree"), 0700);
    mkdir(scratch_path(root, "tree/d"), 0700);
    mkdir(scratch_path(root, "secret"), 0700);
    mkdir(scratch_path(root, "kept"), 0700);
    scratch_write(scratch_path(root, "tree/d/f"), "document");
    scratch_write(scratch_path(root, "tree/e"), "document");
    scratch_write(scratch_path(root, "secret/f"), "secret");
    return symlink("tree", scratch_path(root, "named"));
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(root);
    return 0;
}

static const char *file_of_list(void)
{
    return scratch_path(root, "kept/documents");
}

static void save(const struct document_list *list)
{
    assert_int_equal(document_list_save(list, scratch_path(root, "kept")), 0);
}

static int load(struct document_list *ret_list)
{
    *ret_list = (struct document_list){0};
    return document_list_load(ret_list, scratch_path(root, "kept"));
}

/* Lists the tree by its link, and keeps that. */
static void keep_tree(void)
{
    size_t failed;
    _cleanup_(document_list_done) struct document_list list = {0};
    char *named[] = {(char *)scratch_path(root, "named")};
    assert_int_equal(document_list_add(&list, named, 1, NULL, &(struct document_rules){0}, &failed),
                     0);
    save(&list);
}

static int open_document(const struct document_list *list, uint32_t i)
{
    struct place_way way = {0};
    int fd = regular_file_open_found(list, i, &way);
    place_way_done(&way);
    return fd < 0 ? fd : close(fd);
}

/* What comes of opening the first document, named/d/f, of the list that is kept. */
static int open_kept_document(void)
{
    _cleanup_(document_list_done) struct document_list list;
    assert_int_equal(load(&list), 0);
    return open_document(&list, 0);
}

static void expect_path(const struct document_list *list, uint32_t i, const char *expected)
{
    _cleanup_free_ char *path = document_list_path(list, i);
    assert_string_equal(path, expected);
}

static void move_away(const char *name)
{
    assert_int_equal(rename(scratch_path(root, "%s", name), scratch_path(root, "away")), 0);
}

static void test_document_list__what_is_kept_is_read_back(void **state)
{
    (void)state;
    _cleanup_(document_list_done) struct document_list list;
    keep_tree();
    for (int again = 0; again < 2; again++) { /* as a run leaves it that began with it */
        assert_int_equal(load(&list), 0);
        assert_int_equal(list.n, 2);
        expect_path(&list, 0, scratch_path(root, "named/d/f"));
        expect_path(&list, 1, scratch_path(root, "named/e"));
        assert_int_equal(open_document(&list, 0), 0);
        assert_int_equal(open_document(&list, 1), 0);
        save(&list);
        if (again == 0)
            document_list_done(&list);
    }
}

static void test_document_list__no_link_is_followed_to_what_was_kept(void **state)
{
    (void)state;
    keep_tree();
    move_away("tree/d/f");
    assert_int_equal(open_kept_document(), -ENOENT);
    assert_int_equal(symlink("../../secret/f", scratch_path(root, "tree/d/f")), 0);
    assert_int_equal(open_kept_document(), -ESTALE);
}

static void test_document_list__nor_one_in_the_place_of_a_directory(void **state)
{
    (void)state;
    keep_tree();
    move_away("tree/d");
    assert_int_equal(symlink("../secret", scratch_path(root, "tree/d")), 0);
    assert_int_equal(open_kept_document(), -ESTALE);
}

static void test_document_list__nor_one_in_the_place_of_what_was_named(void **state)
{
    (void)state;
    keep_tree();
    mkdir(scratch_path(root, "secret/d"), 0700);
    scratch_write(scratch_path(root, "secret/d/f"), "secret");
    unlink(scratch_path(root, "named"));
    assert_int_equal(symlink("secret", scratch_path(root, "named")), 0);
    assert_int_equal(open_kept_document(), 0); /* what was named then */
    move_away("tree");
    assert_int_equal(symlink("secret", scratch_path(root, "tree")), 0);
    assert_int_equal(open_kept_document(), -ESTALE);
}

static void test_document_list__so_are_given_paths_and_those_of_a_store(void **state)
{
    (void)state;
    _cleanup_(document_list_done) struct document_list list = {0};
    char paths[200];
    int n = snprintf(paths, sizeof(paths), "%s/named/e%c%s/none", root, '\0', root);
    _cleanup_fclose_ FILE *from = fmemopen(paths, (size_t)n, "r");
    assert_int_equal(document_list_read(&list, from), 0);
    assert_int_equal(document_list_append(&list, scratch_path(root, "named"), "d/f"), 0);
    save(&list);
    document_list_done(&list);
    assert_int_equal(load(&list), 0);
    assert_int_equal(list.n, 3);
    const int before[] = {0, -ENOENT, 0}, after[] = {-ESTALE, -ENOENT, -ESTALE};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(open_document(&list, i), before[i]);
    scratch_write(scratch_path(root, "none"), "which was not there");
    move_away("tree");
    assert_int_equal(symlink("away", scratch_path(root, "tree")), 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(open_document(&list, i), after[i]);
}

static void test_document_list__damage_and_older_lists_are_told(void **state)
{
    (void)state;
    _cleanup_(document_list_done) struct document_list list;
    struct stat st;
    keep_tree();
    assert_int_equal(stat(file_of_list(), &st), 0);
    for (off_t n = st.st_size - 1; n >= 0; n--) {
        assert_int_equal(truncate(file_of_list(), n), 0);
        assert_int_equal(load(&list), -EUCLEAN);
        document_list_done(&list);
    }
    scratch_write(file_of_list(), "tree/e");
    assert_int_equal(load(&list), -EUCLEAN);
    keep_tree();
    FILE *file = fopen(file_of_list(), "r+");
    fseek(file, -20, SEEK_END);
    fputc('x', file);
    fclose(file);
    assert_int_equal(load(&list), -EUCLEAN);
}

static int add_given(struct document_list *list, const char *path)
{
    _cleanup_fclose_ FILE *from = fmemopen((char *)(uintptr_t)path, strlen(path) + 1, "r");
    return document_list_read(list, from);
}

/* Whatever slashes there are in it. In any order each is what it was, and each directory of it is
 * there once. */
static void test_document_list__each_path_is_what_was_given(void **state)
{
    (void)state;
    static char longer[3 * PATH_MAX];
    static const char *const given[] = {"a",        "/a",        "//a",    "a/",  "a//",    "/",
                                        "./a/../b", "d/e/f",     "d/e-f",  "d/e", "d/e/f/", "d//",
                                        "x/y",      "d/e/f/g/h", "/d/e/f", "d",   longer};
    enum { N = sizeof(given) / sizeof(given[0]) };
    _cleanup_(document_list_done) struct document_list list = {0};
    for (size_t i = 0; i + 1 < sizeof(longer); i++)
        longer[i] = i % 5 == 4 ? '/' : 'x';
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < N; i++)
            assert_int_equal(add_given(&list, given[i]), 0);
    assert_int_equal(list.n, 2 * N);
    for (uint32_t i = 0; i < 2 * N; i++) {
        expect_path(&list, i, given[i % N]);
        for (uint32_t j = 0; j < 2 * N && given[i % N] != longer; j++) {
            if (given[j % N] == longer)
                continue;
            int order = document_list_compare(given[i % N], given[j % N]);
            assert_int_equal(document_list_order(&list, i, j), order ? order : (i > j) - (i < j));
        }
    }
}

static ssize_t read_no_nul(void *cookie, char *to, size_t n)
{
    size_t *n_left = cookie;
    n = n < *n_left ? n : *n_left;
    memset(to, 'x', n);
    *n_left -= n;
    return (ssize_t)n;
}

/* Neither a list without a NUL is read whole, nor one that is kept. */
static void test_document_list__what_has_no_nul_is_not_read_whole(void **state)
{
    (void)state;
    enum { N = 16 << 20, READ = 2 << 20 };
    size_t n_left = N;
    _cleanup_(document_list_done) struct document_list list = {0};
    FILE *from = fopencookie(&n_left, "r", (cookie_io_functions_t){.read = read_no_nul});
    assert_non_null(from);
    assert_int_equal(document_list_read(&list, from), -ENAMETOOLONG);
    fclose(from);
    assert_int_equal(list.n, 0);
    assert_in_range(N - n_left, 1, READ);
    keep_tree();
    FILE *kept = fopen(file_of_list(), "r+");
    for (size_t i = 0; i < READ; i++)
        fputc('x', kept);
    fclose(kept);
    assert_int_equal(load(&list), -EUCLEAN);
}

/* Far down a name takes as much as at the top, in whatever order they come. */
static void test_document_list__a_long_way_is_kept_once(void **state)
{
    (void)state;
    enum { N = 10000, FAR = 3800 };
    _cleanup_(document_list_done) struct document_list list = {0};
    char path[FAR + 20];
    for (size_t i = 0; i < FAR; i++)
        path[i] = i % 100 == 99 ? '/' : 'd';
    for (uint32_t i = 0; i < N; i++) {
        snprintf(path + FAR, sizeof(path) - FAR, "%x", i);
        path[0] = i % 2 ? 'a' : 'b';
        assert_int_equal(add_given(&list, path), 0);
    }
    assert_in_range(document_list_memory(&list), N * sizeof(struct document),
                    N * (sizeof(struct document) + 5) + 4 * FAR);
    expect_path(&list, N - 1, path);
    list.most_bytes = document_list_memory(&list) + 4 * (sizeof(struct document) + 5);
    for (int i = 0; i < 4; i++)
        assert_int_equal(add_given(&list, path), 0);
    assert_int_equal(add_given(&list, path), -E2BIG);
}

/* Also of what is no document, while it is looked through. */
static void test_document_list__names_of_a_directory_take_memory(void **state)
{
    (void)state;
    enum { N = 2000, MOST_BYTES = 64 << 10 };
    size_t failed;
    char path[80], *tree[] = {path};
    snprintf(path, sizeof(path), "%s/tree", root);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(symlink("nothing", scratch_path(root, "tree/d/%u", i)), 0);
    for (unsigned times = 1; times <= 8; times *= 8) {
        _cleanup_(document_list_done) struct document_list list = {.most_bytes =
                                                                       times * MOST_BYTES};
        assert_int_equal(
            document_list_add(&list, tree, 1, NULL, &(struct document_rules){0}, &failed),
            times == 1 ? -E2BIG : 0);
        assert_int_equal(list.n, times == 1 ? 0 : 2);
        assert_int_equal(list.listing_bytes, 0);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_document_list__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_is_kept_is_read_back),
        TEST(no_link_is_followed_to_what_was_kept),
        TEST(nor_one_in_the_place_of_a_directory),
        TEST(nor_one_in_the_place_of_what_was_named),
        TEST(so_are_given_paths_and_those_of_a_store),
        TEST(damage_and_older_lists_are_told),
        TEST(each_path_is_what_was_given),
        TEST(what_has_no_nul_is_not_read_whole),
        TEST(a_long_way_is_kept_once),
        TEST(names_of_a_directory_take_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
