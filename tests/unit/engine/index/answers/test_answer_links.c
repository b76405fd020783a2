/* How often the right to a document of many names is asked for: for each directory that refuses
 * once, for a document that refuses once in all, and never without end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/index/catalogue/catalogue.h"
#include "tests/lib/fixtures/indexed_tree.h"

enum { DIRECTORIES = INDEX_PATHS_TRIED_MAX + 36, PATH_BYTES = 32 };

struct world {
    struct indexed_tree *tree;
    struct file_key asked;
    enum index_right (*right)(struct world *, const char *path); /* to a document that is shown */
    const char *allowed;
    unsigned n_tried;
    char tried[2 * DIRECTORIES][PATH_BYTES];
    struct index_query query;
};

static enum index_right may_read(void *user, const char *path, const struct file_key *key)
{
    struct world *w = user;
    (void)key;
    if (strcmp(path, "asked") == 0)
        return INDEX_ALLOWED;
    assert_true(w->n_tried < 2 * DIRECTORIES);
    snprintf(w->tried[w->n_tried++], PATH_BYTES, "%s", path);
    return w->right(w, path);
}

static void world_init(struct world *w, void **state)
{
    *w = (struct world){.tree = *state};
    w->query = (struct index_query){.threshold = 0.3, .may_read = may_read, .user = w};
    indexed_tree_write(w->tree, "asked", 1, 0, 0);
}

static void make_directory(struct world *w, const char *name)
{
    assert_int_equal(mkdir(scratch_path(w->tree->tree, "%s", name), 0755), 0);
}

/* A document that resembles the one asked about, with names of its own in a directory. */
static void write_linked(struct world *w, unsigned document)
{
    char name[16];
    snprintf(name, sizeof(name), "linked%u", document);
    indexed_tree_write(w->tree, name, 1, document + 1, 10);
}

static void link_in(struct world *w, unsigned document, const char *directory, unsigned n_names)
{
    for (unsigned i = 0; i < n_names; i++)
        assert_int_equal(link(scratch_path(w->tree->tree, "linked%u", document),
                              scratch_path(w->tree->tree, "%s/%u-%03u", directory, document, i)),
                         0);
}

/* All documents have their names in directories alone. */
static void know(struct world *w, unsigned n_documents)
{
    for (unsigned i = 0; i < n_documents; i++)
        assert_int_equal(unlink(scratch_path(w->tree->tree, "linked%u", i)), 0);
    index_rescan(w->tree->index);
    indexed_tree_settle(w->tree);
    w->asked = indexed_tree_key(w->tree, "asked");
}

/* Returns how many documents are shown. */
static size_t ask(struct world *w, enum index_right (*right)(struct world *, const char *))
{
    struct kin_list list;
    w->right = right;
    w->n_tried = 0;
    assert_int_equal(index_similar(w->tree->index, &w->asked, &w->query, &list), 0);
    const size_t n = list.n_kin;
    kin_list_done(&list);
    return n;
}

/* -- rights -- */

static enum index_right no_name(struct world *w, const char *path)
{
    (void)w, (void)path;
    return INDEX_NAME_REFUSED;
}

static enum index_right no_directory(struct world *w, const char *path)
{
    (void)w, (void)path;
    return INDEX_DIRECTORY_REFUSED;
}

static enum index_right no_file(struct world *w, const char *path)
{
    (void)w, (void)path;
    return INDEX_FILE_REFUSED;
}

static enum index_right one_directory(struct world *w, const char *path)
{
    const size_t n = strlen(w->allowed);
    return strncmp(path, w->allowed, n) == 0 && path[n] == '/' ? INDEX_ALLOWED
                                                               : INDEX_DIRECTORY_REFUSED;
}

static enum index_right one_name(struct world *w, const char *path)
{
    return strcmp(path, w->allowed) == 0 ? INDEX_ALLOWED : INDEX_NAME_REFUSED;
}

/* But those that were tried when all were refused. */
static char before[2 * DIRECTORIES][PATH_BYTES];
static unsigned n_before;

static void note_tried(const struct world *w)
{
    n_before = w->n_tried;
    memcpy(before, w->tried, sizeof(before));
}

static enum index_right other_directories(struct world *w, const char *path)
{
    const size_t n = strcspn(path, "/") + 1;
    (void)w;
    for (unsigned i = 0; i < n_before; i++)
        if (strncmp(before[i], path, n) == 0)
            return INDEX_DIRECTORY_REFUSED;
    return INDEX_ALLOWED;
}

/* -- tests -- */

static void test_answer_links__of_one_directory_are_refused_at_once(void **state)
{
    static struct world w;
    world_init(&w, state);
    write_linked(&w, 0);
    make_directory(&w, "a");
    make_directory(&w, "b");
    link_in(&w, 0, "a", 150); /* more than are read at once */
    link_in(&w, 0, "b", 150);
    know(&w, 1);
    assert_int_equal(ask(&w, no_directory), 0);
    assert_int_equal(w.n_tried, 2);
    w.allowed = "a";
    assert_int_equal(ask(&w, one_directory), 1);
    assert_in_range(w.n_tried, 1, 2);
    const unsigned n_tried = w.n_tried;
    w.allowed = "b";
    assert_int_equal(ask(&w, one_directory), 1);
    assert_int_equal(n_tried + w.n_tried, 3); /* one of them comes first */
}

static void test_answer_links__of_a_refused_file_are_refused_at_once(void **state)
{
    static struct world w;
    world_init(&w, state);
    write_linked(&w, 0);
    make_directory(&w, "a");
    make_directory(&w, "b");
    link_in(&w, 0, "a", 3);
    link_in(&w, 0, "b", 3);
    know(&w, 1);
    assert_int_equal(ask(&w, no_file), 0);
    assert_int_equal(w.n_tried, 1);
}

static void test_answer_links__are_tried_each_where_only_names_are_refused(void **state)
{
    static struct world w;
    world_init(&w, state);
    write_linked(&w, 0);
    make_directory(&w, "a");
    link_in(&w, 0, "a", DIRECTORIES);
    know(&w, 1);
    w.allowed = "a/0-063";
    assert_int_equal(ask(&w, one_name), 1);
    assert_int_equal(w.n_tried, INDEX_PATHS_TRIED_MAX);
    w.allowed = "a/0-064";
    assert_int_equal(ask(&w, one_name), 0);
    assert_int_equal(ask(&w, no_name), 0);
    assert_int_equal(w.n_tried, INDEX_PATHS_TRIED_MAX);
}

/* Which of them are tried of one document depends on no other that has links there, too. */
static void test_answer_links__are_tried_in_64_directories(void **state)
{
    static struct world w;
    struct kin_list list;
    char name[16];
    world_init(&w, state);
    for (unsigned document = 0; document < 2; document++)
        write_linked(&w, document);
    for (unsigned i = 0; i < DIRECTORIES; i++) {
        snprintf(name, sizeof(name), "d%u", i);
        make_directory(&w, name);
        for (unsigned document = 0; document < 2; document++)
            link_in(&w, document, name, 2);
    }
    know(&w, 2);
    assert_int_equal(ask(&w, no_directory), 0);
    /* The second finds most of them refused already. */
    assert_in_range(w.n_tried, INDEX_PATHS_TRIED_MAX, INDEX_PATHS_TRIED_MAX * 3 / 2);
    note_tried(&w);
    assert_int_equal(ask(&w, other_directories), 0);
    assert_int_equal(w.n_tried, n_before);
    assert_memory_equal(w.tried, before, n_before * sizeof(before[0]));
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(before[INDEX_PATHS_TRIED_MAX - 1], "/"),
             before[INDEX_PATHS_TRIED_MAX - 1]);
    w.allowed = name;
    assert_int_equal(ask(&w, one_directory), 2);

    /* One that is asked about is no exception; who may read all is shown it. */
    const char *path = before[0];
    const struct file_key linked = indexed_tree_key(w.tree, path);
    w.right = no_directory;
    w.n_tried = 0;
    assert_int_equal(index_similar(w.tree->index, &linked, &w.query, &list), -ENOENT);
    assert_int_equal(w.n_tried, INDEX_PATHS_TRIED_MAX);
    w.query.may_read = NULL;
    assert_int_equal(ask(&w, no_directory), 2);
    assert_int_equal(w.n_tried, 0);
}

/* The further down they are the fewer, whether or not another document has asked there before. */
static void test_answer_links__are_tried_for_so_many_rows(void **state)
{
    enum { CHAINS = 10, DEEP = 200, COST = DEEP + 1, DOCUMENTS = 2 };
    static struct world w;
    world_init(&w, state);
    for (unsigned document = 0; document < DOCUMENTS; document++)
        write_linked(&w, document);
    for (unsigned chain = 0; chain < CHAINS; chain++) {
        char way[2 * DEEP + 1] = {(char)('a' + chain)};
        make_directory(&w, way);
        for (unsigned i = 1; i < DEEP; i++)
            make_directory(&w, strcat(way, "/d"));
        for (unsigned document = 0; document < DOCUMENTS; document++)
            link_in(&w, document, way, 1);
    }
    know(&w, DOCUMENTS);
    assert_int_equal(ask(&w, no_name), 0);
    assert_int_equal(w.n_tried, DOCUMENTS * ((CATALOGUE_CLIMB_MAX + COST - 1) / COST));
}

/* Nor those below. */
static void test_answer_links__a_refused_directory_is_asked_for_once(void **state)
{
    enum { DOCUMENTS = 40 };
    static struct world w;
    struct cluster_info info;
    world_init(&w, state);
    make_directory(&w, "a");
    make_directory(&w, "a/sub");
    for (unsigned document = 0; document < DOCUMENTS; document++) {
        write_linked(&w, document);
        link_in(&w, document, document % 2 ? "a" : "a/sub", 1);
    }
    know(&w, DOCUMENTS);
    assert_int_equal(ask(&w, no_directory), 0);
    assert_in_range(w.n_tried, 1, 2);
    w.n_tried = 0;
    assert_int_equal(index_readable_cluster(w.tree->index, &w.asked, 0, &w.query, &info, NULL),
                     -ENOENT);
    assert_in_range(w.n_tried, 1, 2);
    w.allowed = "a";
    assert_int_equal(ask(&w, one_directory), DOCUMENTS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_answer_links__of_one_directory_are_refused_at_once),
        TEST(test_answer_links__of_a_refused_file_are_refused_at_once),
        TEST(test_answer_links__are_tried_each_where_only_names_are_refused),
        TEST(test_answer_links__are_tried_in_64_directories),
        TEST(test_answer_links__are_tried_for_so_many_rows),
        TEST(test_answer_links__a_refused_directory_is_asked_for_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
