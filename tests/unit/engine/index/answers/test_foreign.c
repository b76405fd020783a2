/* Documents that are no files of the tree (D4): the answer is that of the same document in it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/fixtures/indexed_tree.h"

enum { FAMILIES = 4, VERSIONS = 6 };

static bool never(void *user)
{
    (void)user;
    return false;
}

static bool at_once(void *user)
{
    (void)user;
    return true;
}

static void fill(struct indexed_tree *f)
{
    char name[32];
    for (unsigned family = 0; family < FAMILIES; family++) {
        for (unsigned version = 0; version < VERSIONS; version++) {
            snprintf(name, sizeof(name), "f%u-%u", family, version);
            indexed_tree_write(f, name, family, version, 5 * version);
        }
    }
    scratch_write(scratch_path(f->tree, "empty"), "");
    scratch_write(scratch_path(f->tree, "short"), "two words");
    scratch_write(scratch_path(f->tree, "page"), "<html><title>two</title> WORDS</html>");
    index_rescan(f->index);
    indexed_tree_settle(f);
}

/* A copy of a file of the tree, outside of it. */
static struct index_foreign *read_copy(struct indexed_tree *f, const char *name)
{
    char buffer[65536];
    struct index_foreign *foreign = NULL;
    int in = open(scratch_path(f->tree, "%s", name), O_RDONLY | O_CLOEXEC);
    int out = open(f->root, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    ssize_t n = read(in, buffer, sizeof(buffer));
    assert_true(n >= 0 && n < (ssize_t)sizeof(buffer));
    assert_int_equal(write(out, buffer, (size_t)n), n);
    assert_int_equal(lseek(out, 0, SEEK_SET), 0);
    assert_int_equal(index_read_foreign(f->index, out, INDEX_PARTS, never, NULL, &foreign), 0);
    close(in);
    close(out);
    return foreign;
}

static void assert_same_kin(const struct kin *a, const struct kin *b)
{
    assert_string_equal(a->path, b->path);
    assert_true(file_key_equal(&a->key, &b->key));
    assert_true(a->resemblance == b->resemblance && a->error == b->error);
    assert_true(a->containment == b->containment ||
                (isnan(a->containment) && isnan(b->containment)));
    assert_int_equal(a->containment_samples, b->containment_samples);
    assert_int_equal(a->exact, b->exact);
}

/* of_copy is of_file and the file itself. */
static void assert_same_but_itself(struct indexed_tree *f, const char *name,
                                   const struct kin_list *of_copy, const struct kin_list *of_file)
{
    struct file_key key = indexed_tree_key(f, name);
    size_t at = 0;
    assert_int_equal(of_copy->n_kin, of_file->n_kin + 1);
    for (size_t i = 0; i < of_copy->n_kin; i++) {
        if (file_key_equal(&of_copy->kin[i].key, &key)) {
            assert_true(of_copy->kin[i].resemblance == 1);
            assert_true(of_copy->kin[i].containment == 1);
        } else {
            assert_true(at < of_file->n_kin);
            assert_same_kin(&of_copy->kin[i], &of_file->kin[at++]);
        }
    }
}

static void check(struct indexed_tree *f, const char *name)
{
    struct file_key key = indexed_tree_key(f, name);
    struct index_foreign *foreign = read_copy(f, name);
    struct document_info info;
    struct kin_list of_copy, of_file;
    assert_int_equal(index_document(f->index, &key, &(struct index_query){.wait_ms = 0}, &info), 0);
    assert_int_equal(index_foreign_info(foreign)->state, DOCUMENT_CURRENT);
    assert_string_equal(index_foreign_info(foreign)->type, info.type);
    assert_int_equal(index_foreign_info(foreign)->n_tokens, info.n_tokens);

    for (int relation = INDEX_RESEMBLES; relation <= INDEX_PARTS; relation++) {
        const struct index_query query = {.relation = relation, .threshold = 0.3};
        assert_int_equal(index_foreign_similar(foreign, &query, &of_copy), 0);
        assert_int_equal(index_similar(f->index, &key, &query, &of_file), 0);
        assert_same_but_itself(f, name, &of_copy, &of_file);
        kin_list_done(&of_copy);
        kin_list_done(&of_file);
    }
    index_foreign_free(foreign);
}

static void test_foreign__is_answered_as_if_it_were_in_the_tree(void **state)
{
    struct indexed_tree *f = *state;
    char name[32];
    fill(f);
    for (unsigned family = 0; family < FAMILIES; family++) {
        for (unsigned version = 0; version < VERSIONS; version++) {
            snprintf(name, sizeof(name), "f%u-%u", family, version);
            check(f, name);
        }
    }
    check(f, "empty");
    check(f, "short");
    check(f, "page");
}

static void test_foreign__leaves_nothing_behind(void **state)
{
    struct indexed_tree *f = *state;
    const struct index_query query = {.threshold = 0.3};
    struct index_status before, after;
    struct kin_list list;
    fill(f);
    index_get_status(f->index, &before);
    uint64_t generation = index_generation(f->index);
    struct index_foreign *foreign = read_copy(f, "f0-0");
    assert_int_equal(index_foreign_similar(foreign, &query, &list), 0);
    kin_list_done(&list);
    index_foreign_free(foreign);
    index_get_status(f->index, &after);
    assert_int_equal(after.documents, before.documents);
    assert_int_equal(index_generation(f->index), generation);
}

static enum index_right none_of_f0(void *user, const char *path, const struct file_key *key)
{
    (void)user, (void)key;
    return strncmp(path, "f0-", 3) != 0 ? INDEX_ALLOWED : INDEX_FILE_REFUSED;
}

static void test_foreign__shows_what_the_caller_may_read(void **state)
{
    struct indexed_tree *f = *state;
    const struct index_query query = {.threshold = 0.3, .may_read = none_of_f0},
                             limited = {.threshold = 0.3, .limit = 2};
    struct kin_list list;
    fill(f);
    struct index_foreign *foreign = read_copy(f, "f0-0");
    assert_int_equal(index_foreign_similar(foreign, &query, &list), 0);
    assert_int_equal(list.n_kin, 0);
    kin_list_done(&list);
    assert_int_equal(index_foreign_similar(foreign, &limited, &list), 0);
    assert_int_equal(list.n_kin, 2);
    assert_string_equal(list.kin[0].path, "f0-0");
    kin_list_done(&list);
    index_foreign_free(foreign);
}

static void test_foreign__says_what_cannot_be_read(void **state)
{
    struct indexed_tree *f = *state;
    struct index_foreign *foreign = NULL;
    int closed = open(f->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), empty;
    assert_int_equal(index_read_foreign(f->index, closed, INDEX_PARTS, never, NULL, &foreign),
                     -EISDIR);
    close(closed);
    assert_int_equal(index_read_foreign(f->index, closed, INDEX_PARTS, never, NULL, &foreign),
                     -EBADF);
    empty = open(f->root, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    assert_int_equal(index_read_foreign(f->index, empty, INDEX_PARTS, at_once, NULL, &foreign),
                     -ESHUTDOWN);
    close(empty);
    assert_null(foreign);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_foreign__is_answered_as_if_it_were_in_the_tree,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_foreign__leaves_nothing_behind, indexed_tree_setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_foreign__shows_what_the_caller_may_read,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_foreign__says_what_cannot_be_read, indexed_tree_setup,
                                        indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
