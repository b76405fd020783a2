/* Members that are told one at a time, beside the list of all of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/fixtures/index_fixture.h"

enum { LENGTH = 200, STEP = 6, MOST_TOLD = INDEX_MEMBERS_AT_ONCE + 100 };

struct told {
    size_t n, stop_at; /* stop_at: of them the callback fails; 0: never */
    struct kin kin[MOST_TOLD];
};

static int take(void *user, const struct kin *kin)
{
    struct told *told = user;
    if (told->stop_at && told->n == told->stop_at)
        return -EPIPE;
    assert_true(told->n < MOST_TOLD);
    told->kin[told->n] = *kin;
    told->kin[told->n].path = strdup(kin->path);
    told->n++;
    return 0;
}

static void told_free(struct told *told)
{
    for (size_t i = 0; i < told->n; i++)
        free(told->kin[i].path);
    free(told);
}

static void write_words(struct indexed_tree *f, const char *name, unsigned first)
{
    char text[LENGTH * 8] = "";
    for (unsigned i = 0, at = 0; i < LENGTH; i++)
        at += (unsigned)sprintf(text + at, "w%u ", first + i);
    scratch_write(scratch_path(f->tree, "%s", name), text);
}

/* Versions, and twins of each. */
static uint64_t make_cluster(struct indexed_tree *f, unsigned n_versions, unsigned n_twins)
{
    char name[32];
    for (unsigned i = 0; i < n_versions; i++)
        for (unsigned j = 0; j < n_twins; j++) {
            snprintf(name, sizeof(name), "v%u.%04u", i, (j * 7919) % n_twins);
            write_words(f, name, i * STEP);
        }
    indexed_tree_start(f);
    indexed_tree_settle(f);
    return cluster_of(f, "v0.0000");
}

static void test_cluster_members__are_those_of_the_list_in_its_order(void **state)
{
    enum { VERSIONS = 8, TWINS = 3, N = VERSIONS * TWINS };
    struct indexed_tree *f = *state;
    const uint64_t id = make_cluster(f, VERSIONS, TWINS);
    struct told *told = calloc(1, sizeof(*told));
    struct cluster_info info;
    struct kin_list list;
    uint64_t size;
    assert_int_equal(index_cluster(f->index, id, &(struct index_query){0}, &info, &list), 0);
    assert_int_equal(
        index_cluster_members(f->index, id, 0, &(struct index_query){0}, &size, take, told), 0);
    assert_int_equal(size, N);
    assert_int_equal(told->n, N);
    assert_int_equal(list.n_kin, N);
    for (size_t i = 0; i < N; i++) {
        assert_string_equal(told->kin[i].path, list.kin[i].path);
        assert_int_equal(told->kin[i].sid, list.kin[i].sid);
        assert_int_equal(told->kin[i].size_bytes, list.kin[i].size_bytes);
        assert_true(told->kin[i].resemblance == list.kin[i].resemblance);
        assert_true(told->kin[i].exact == list.kin[i].exact);
    }
    kin_list_done(&list);
    cluster_info_done(&info);
    told_free(told);
}

static void test_cluster_members__without_members_the_representative_alone_is_named(void **state)
{
    struct indexed_tree *f = *state;
    const uint64_t id = make_cluster(f, 4, 3);
    struct cluster_info alone, all;
    struct kin_list list;
    assert_int_equal(index_cluster(f->index, id, &(struct index_query){0}, &alone, NULL), 0);
    assert_int_equal(index_cluster(f->index, id, &(struct index_query){0}, &all, &list), 0);
    assert_int_equal(alone.size, 12);
    assert_string_equal(alone.representative.path, list.kin[0].path);
    assert_true(alone.resemblance_min == all.resemblance_min);
    assert_true(alone.resemblance_mean == all.resemblance_mean);
    kin_list_done(&list);
    cluster_info_done(&alone);
    cluster_info_done(&all);
}

static void test_cluster_members__some_are_evenly_taken(void **state)
{
    enum { VERSIONS = 10, MOST = 4 };
    struct indexed_tree *f = *state;
    const uint64_t id = make_cluster(f, VERSIONS, 1);
    struct told *all = calloc(1, sizeof(*all)), *some = calloc(1, sizeof(*some));
    uint64_t size;
    const struct index_query query = {0};
    assert_int_equal(index_cluster_members(f->index, id, 0, &query, &size, take, all), 0);
    assert_int_equal(index_cluster_members(f->index, id, MOST, &query, &size, take, some), 0);
    assert_int_equal(size, VERSIONS);
    assert_int_equal(some->n, MOST);
    assert_string_equal(some->kin[0].path, all->kin[0].path);
    for (size_t i = 1; i < MOST; i++) {
        assert_true(some->kin[i].resemblance <= some->kin[i - 1].resemblance);
        assert_true(some->kin[i].resemblance == all->kin[i * VERSIONS / MOST].resemblance);
    }
    told_free(all);
    told_free(some);
}

/* More than are in memory at once: each is told, once, and what resembles it less comes behind. */
static void test_cluster_members__of_very_many_each_is_told_once(void **state)
{
    enum { TWINS = (INDEX_MEMBERS_AT_ONCE + 64) / 2 };
    struct indexed_tree *f = *state;
    const uint64_t id = make_cluster(f, 2, TWINS);
    struct told *told = calloc(1, sizeof(*told));
    bool *seen = calloc(2 * TWINS, sizeof(*seen));
    uint64_t size;
    assert_int_equal(
        index_cluster_members(f->index, id, 0, &(struct index_query){0}, &size, take, told), 0);
    assert_int_equal(told->n, 2 * TWINS);
    for (size_t i = 0; i < told->n; i++) {
        unsigned version, twin;
        assert_int_equal(sscanf(told->kin[i].path, "v%u.%u", &version, &twin), 2);
        bool *of = &seen[version * TWINS + twin];
        assert_false(*of);
        *of = true;
        assert_true(i == 0 || told->kin[i].resemblance <= told->kin[i - 1].resemblance);
    }
    free(seen);
    told_free(told);
}

static bool nobody_waits(void *user)
{
    (void)user;
    return true;
}

static void test_cluster_members__end_with_who_asked(void **state)
{
    struct indexed_tree *f = *state;
    const uint64_t id = make_cluster(f, 4, 1);
    struct told *told = calloc(1, sizeof(*told));
    struct cluster_info info;
    uint64_t size;
    const struct index_query stopped = {.stop = nobody_waits};
    assert_int_equal(index_cluster_members(f->index, id, 0, &stopped, &size, take, told), -EINTR);
    assert_int_equal(told->n, 0);
    assert_int_equal(index_cluster(f->index, id, &stopped, &info, NULL), -EINTR);
    told->stop_at = 2;
    assert_int_equal(
        index_cluster_members(f->index, id, 0, &(struct index_query){0}, &size, take, told),
        -EPIPE);
    assert_int_equal(told->n, 2);
    assert_int_equal(
        index_cluster_members(f->index, id + 1, 0, &(struct index_query){0}, &size, take, told),
        -ENOENT);
    told_free(told);
}

/* Longer versions, so that they come first in the cluster, which are too far down to have a path.
 */
static void make_far_down(struct indexed_tree *f, unsigned n)
{
    enum { DEPTH = 260 };
    char text[(LENGTH + 8) * 8] = "";
    unsigned n_bytes = 0;
    for (unsigned i = 0; i < LENGTH + 4; i++)
        n_bytes += (unsigned)sprintf(text + n_bytes, "w%u ", i);
    int fd = open(f->tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(fd, "d", 0755), 0);
        const int below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = below;
    }
    for (unsigned i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof(name), "far%u", i);
        const int file = openat(fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        assert_int_equal(write(file, text, n_bytes), n_bytes);
        close(file);
    }
    close(fd);
}

/* Who asks for the representative of each document does not have all looked at each time. */
static void test_cluster_members__without_a_path_are_passed_over_for_a_list_alone(void **state)
{
    enum { FAR = 300, NEAR = 40 };
    struct indexed_tree *f = *state;
    const struct index_query query = {.limit = 1};
    struct cluster_info info;
    struct kin_list list;
    make_far_down(f, FAR);
    const uint64_t id = make_cluster(f, 1, NEAR);
    assert_int_equal(index_cluster(f->index, id, &query, &info, NULL), -ENOENT);
    assert_int_equal(index_cluster(f->index, id, &query, &info, &list), 0);
    assert_int_equal(strncmp(info.representative.path, "v0.", 3), 0);
    kin_list_done(&list);
    cluster_info_done(&info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_cluster_members__without_a_path_are_passed_over_for_a_list_alone, setup,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_cluster_members__are_those_of_the_list_in_its_order,
                                        setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_cluster_members__without_members_the_representative_alone_is_named, setup,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_cluster_members__some_are_evenly_taken, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_cluster_members__of_very_many_each_is_told_once, setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_cluster_members__end_with_who_asked, setup,
                                        indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
