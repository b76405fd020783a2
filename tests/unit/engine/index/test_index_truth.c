/* The index against brute force, and what it says after changes against what a rebuilt one says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/index/index_state.h"
#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/scratch.h"
#include "tests/lib/share.h"

/* -- against brute force -- */

enum { N_FAMILIES = 12, N_VERSIONS = 8, SAMPLES = 128 };

static void make_families(struct indexed_tree *f)
{
    for (unsigned family = 0; family < N_FAMILIES; family++)
        for (unsigned version = 0; version < N_VERSIONS; version++) {
            char name[32];
            snprintf(name, sizeof(name), "f%02u-v%u", family, version);
            indexed_tree_write(f, name, family, version, version * (family + 1));
        }
}

static double exact_resemblance(struct indexed_tree *f, const char *a, const char *b)
{
    struct exact_set *sets[2];
    const char *names[2] = {a, b};
    double r;
    for (int i = 0; i < 2; i++) {
        int fd = open(scratch_path(f->tree, "%s", names[i]), O_RDONLY);
        assert_int_equal(exact_set_read(fd, NULL, 5, NULL, SIZE_MAX, &sets[i]), 0);
        close(fd);
    }
    assert_int_equal(exact_set_resemblance(sets[0], sets[1], &r), 0);
    exact_set_free(sets[0]);
    exact_set_free(sets[1]);
    return r;
}

static bool has_kin_named(const struct kin_list *list, const char *name)
{
    for (size_t i = 0; i < list->n_kin; i++)
        if (strcmp(list->kin[i].path, name) == 0)
            return true;
    return false;
}

static void test_index__agrees_with_exact_resemblance(void **state)
{
    struct indexed_tree *f = *state;
    unsigned n_far = 0, n_answers = 0;
    make_families(f);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    for (unsigned i = 0; i < N_FAMILIES * N_VERSIONS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "f%02u-v%u", i / N_VERSIONS, i % N_VERSIONS);
        struct kin_list list = similar_to(f, name);
        for (size_t k = 0; k < list.n_kin; k++) {
            double exact = exact_resemblance(f, name, list.kin[k].path);
            double off = fabs(exact - list.kin[k].resemblance);
            /* What is claimed is an estimate, too, and near 1 by chance next to nothing. */
            double error = fmax(list.kin[k].error, sqrt(exact * (1 - exact) / SAMPLES));
            n_answers++;
            n_far += off > 3 * list.kin[k].error + 1e-9;
            assert_true(off <= 5 * error + 1e-9);
        }
        for (unsigned other = 0; other < N_VERSIONS; other++) {
            char sibling[32];
            snprintf(sibling, sizeof(sibling), "f%02u-v%u", i / N_VERSIONS, other);
            if (other != i % N_VERSIONS && exact_resemblance(f, name, sibling) >= 0.6)
                assert_true(has_kin_named(&list, sibling));
        }
        kin_list_done(&list);
    }
    assert_true(n_answers > 100);
    /* Of some two hundred pairs, each asked about from both sides, one is expected beyond three
     * standard errors; eleven are by chance once in 10^8 keys. */
    assert_true(n_far * 100 <= n_answers * 5);
}

/* -- incremental = rebuilt, whatever happened in between -- */

static void dump_answers(struct indexed_tree *f, char *out, size_t size)
{
    size_t n = 0;
    for (unsigned i = 0; i < N_FAMILIES * N_VERSIONS; i++) {
        char name[32];
        struct stat st;
        snprintf(name, sizeof(name), "f%02u-v%u", i / N_VERSIONS, i % N_VERSIONS);
        if (stat(scratch_path(f->tree, "%s", name), &st) < 0)
            continue;
        struct kin_list list = similar_to(f, name);
        n += (size_t)snprintf(out + n, size - n, "%s %llu:", name,
                              (unsigned long long)cluster_of(f, name));
        for (size_t k = 0; k < list.n_kin; k++)
            n += (size_t)snprintf(out + n, size - n, " %.4f %s", list.kin[k].resemblance,
                                  list.kin[k].path);
        n += (size_t)snprintf(out + n, size - n, "\n");
        kin_list_done(&list);
        assert_true(n < size);
    }
}

static void assert_rebuilt_is_the_same(struct indexed_tree *f)
{
    enum { SIZE = 1 << 20 };
    char *before = malloc(SIZE), *after = malloc(SIZE), *error = NULL;
    dump_answers(f, before, SIZE);
    indexed_tree_stop(f);
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = indexed_tree_options(f);
    if (index_rebuild(&options, NULL, NULL, &error) < 0)
        fail_msg("%s", error);
    backing_close(f->backing);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    dump_answers(f, after, SIZE);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void change_at_random(struct indexed_tree *f, unsigned seed, unsigned n_changes)
{
    srand(seed);
    for (unsigned i = 0; i < n_changes; i++) {
        char name[32], other[32];
        unsigned family = (unsigned)rand() % N_FAMILIES, version = (unsigned)rand() % N_VERSIONS;
        snprintf(name, sizeof(name), "f%02u-v%u", family, version);
        snprintf(other, sizeof(other), "f%02u-v%u", (unsigned)rand() % N_FAMILIES,
                 (unsigned)rand() % N_VERSIONS);
        switch (rand() % 4) {
        case 0:
            unlink(scratch_path(f->tree, "%s", name));
            index_note_entry(f->index, backing_root_key(f->backing), name);
            break;
        case 1:
            if (rename(scratch_path(f->tree, "%s", name), scratch_path(f->tree, "%s", other)) == 0)
                index_note_rename(f->index, 0, backing_root_key(f->backing), name,
                                  backing_root_key(f->backing), other);
            break;
        default:
            indexed_tree_write(f, name, (unsigned)rand() % N_FAMILIES, (unsigned)rand() % 50,
                               (unsigned)rand() % 60);
            index_note_entry(f->index, backing_root_key(f->backing), name);
            struct file_key key = indexed_tree_key(f, name);
            index_note_content(f->index, &key);
        }
    }
}

static void test_index__incremental_equals_rebuilt(void **state)
{
    struct indexed_tree *f = *state;
    make_families(f);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    for (unsigned round = 0; round < part_of(3); round++) {
        change_at_random(f, round, 120);
        assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
        assert_rebuilt_is_the_same(f);
    }
}

static void test_index__killed_at_any_moment_equals_rebuilt(void **state)
{
    struct indexed_tree *f = *state;
    make_families(f);
    for (unsigned round = 0; round < 6; round++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            indexed_tree_start(f);
            change_at_random(f, 100 + round, 30 * round);
            usleep(3000 * round); /* somewhere in the midst of it */
            kill(getpid(), SIGKILL);
        }
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        if (round % 2)
            continue; /* sometimes twice in a row */
        indexed_tree_start(f);
        indexed_tree_settle(f);
        assert_rebuilt_is_the_same(f);
        indexed_tree_stop(f);
    }
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_index__agrees_with_exact_resemblance),
        ON_A_TREE(test_index__incremental_equals_rebuilt),
        ON_A_TREE(test_index__killed_at_any_moment_equals_rebuilt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
