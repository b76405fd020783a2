/* The commonest shingles (C12): beside counting all sampled ones of all records. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/index/index_state.h"
#include "tests/lib/fixtures/indexed_tree.h"

enum { DOCUMENTS = 60, ALL_MAX = 200000 };

/* Document i has the pieces j of which i is a multiple, and words of its own. */
static void fill(struct indexed_tree *f)
{
    char name[16];
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        char *own = scratch_text(100 + i, 0, 400, 0), *text = malloc(1 << 20);
        strcpy(text, own);
        for (unsigned j = 1; j <= 6; j++) {
            char *piece = scratch_text(j, 0, 300, 0);
            if (i % j == 0)
                strcat(strcat(text, " | "), piece);
            free(piece);
        }
        snprintf(name, sizeof(name), "d%02u", i);
        scratch_write(scratch_path(f->tree, "%s", name), text);
        free(text);
        free(own);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
}

struct all {
    uint64_t *values;
    size_t n;
};

static int take_all(void *user, uint64_t sid, const struct record *record)
{
    struct all *all = user;
    (void)sid;
    for (uint32_t i = 0; i < min_sketch_n_v(&record->sketch); i++) {
        assert_true(all->n < ALL_MAX);
        all->values[all->n++] = record->sketch.values[i];
    }
    return 0;
}

static uint64_t count_of(const struct all *all, uint64_t value)
{
    uint64_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += all->values[i] == value;
    return n;
}

/* Its words with blanks between. */
static void read_file(struct indexed_tree *f, const char *name, char *text, size_t n_room)
{
    FILE *file = fopen(scratch_path(f->tree, "%s", name), "r");
    assert_non_null(file);
    size_t n = fread(text, 1, n_room - 1, file), n_kept = 0;
    for (size_t i = 0; i < n; i++)
        if (isalnum((unsigned char)text[i]))
            text[n_kept++] = text[i];
        else if (n_kept && text[n_kept - 1] != ' ')
            text[n_kept++] = ' ';
    text[n_kept] = '\0';
    fclose(file);
}

static void test_common_shingles__are_those_of_a_count_of_all(void **state)
{
    struct indexed_tree *f = *state;
    struct all all = {calloc(ALL_MAX, sizeof(uint64_t)), 0};
    struct common_shingles list;
    static char text[1 << 16];
    fill(f);
    assert_int_equal(records_each(f->index->kv, 1, take_all, &all), 0);
    assert_int_equal(index_common_shingles(f->index, 25, &list), 0);
    assert_int_equal(list.n_documents, DOCUMENTS);
    assert_int_equal(list.missed, 0);
    assert_int_equal(list.n_shingles, 25);
    for (size_t i = 0; i < list.n_shingles; i++) {
        const struct common_shingle *shingle = &list.shingles[i];
        assert_int_equal(shingle->n_documents, count_of(&all, shingle->fingerprint));
        assert_true(i == 0 || shingle->n_documents <= list.shingles[i - 1].n_documents);
        assert_non_null(shingle->text);
        assert_int_equal(shingle->n_paths, COMMON_SHINGLE_PATHS);
        for (size_t j = 0; j < shingle->n_paths; j++) {
            read_file(f, shingle->paths[j], text, sizeof(text));
            assert_non_null(strstr(text, shingle->text));
        }
    }
    /* None that is commoner was left out. */
    uint64_t least = list.shingles[list.n_shingles - 1].n_documents;
    for (size_t i = 0; i < all.n; i++) {
        bool found = false;
        for (size_t j = 0; j < list.n_shingles; j++)
            found |= list.shingles[j].fingerprint == all.values[i];
        assert_true(found || count_of(&all, all.values[i]) <= least);
    }
    common_shingles_done(&list);
    free(all.values);
}

static void test_common_shingles__are_none_among_strangers(void **state)
{
    struct indexed_tree *f = *state;
    struct common_shingles list;
    assert_int_equal(index_common_shingles(f->index, 10, &list), 0);
    assert_int_equal(list.n_shingles, 0);
    common_shingles_done(&list);
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, "b", 2, 0, 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_int_equal(index_common_shingles(f->index, 10, &list), 0);
    assert_int_equal(list.n_documents, 2);
    assert_int_equal(list.n_shingles, 0);
    common_shingles_done(&list);
    assert_int_equal(index_common_shingles(f->index, 0, &list), -EINVAL);
    assert_int_equal(index_common_shingles(f->index, COMMON_SHINGLES_MAX + 1, &list), -EINVAL);
}

/* To look for words leaves no trace in who is looked at. */
static void test_common_shingles__leave_access_times(void **state)
{
    struct indexed_tree *f = *state;
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
    struct common_shingles list;
    struct stat st;
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, "b", 1, 0, 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_int_equal(utimensat(AT_FDCWD, scratch_path(f->tree, "a"), long_ago, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, scratch_path(f->tree, "b"), long_ago, 0), 0);
    assert_int_equal(index_common_shingles(f->index, 10, &list), 0);
    assert_non_null(list.shingles[0].text);
    common_shingles_done(&list);
    assert_int_equal(stat(scratch_path(f->tree, "a"), &st), 0);
    assert_int_equal(st.st_atim.tv_sec, 1000);
    assert_int_equal(stat(scratch_path(f->tree, "b"), &st), 0);
    assert_int_equal(st.st_atim.tv_sec, 1000);
}

/* What has been changed since, and not been looked at again, has no words any more. */
static void test_common_shingles__of_files_that_are_others_now(void **state)
{
    struct indexed_tree *f = *state;
    struct common_shingles list;
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, "b", 1, 0, 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    scratch_write(scratch_path(f->tree, "a"), "other words");
    unlink(scratch_path(f->tree, "b"));
    assert_int_equal(index_common_shingles(f->index, 10, &list), 0);
    assert_true(list.n_shingles > 0);
    for (size_t i = 0; i < list.n_shingles; i++)
        assert_null(list.shingles[i].text);
    common_shingles_done(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_common_shingles__are_those_of_a_count_of_all,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_common_shingles__are_none_among_strangers,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_common_shingles__leave_access_times,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_common_shingles__of_files_that_are_others_now,
                                        indexed_tree_setup, indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
