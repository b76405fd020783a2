/* How much of a cluster among what a caller may read is searched, shown and charged for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "engine/index/answers/readable_cluster.h"
#include "engine/index/index_state.h"
#include "tests/lib/fixtures/indexed_tree.h"
#include "tests/unit/engine/index/answers/numbered.h"

enum { WORDS = 400, MANY = 300 };

static enum index_right may_read_some(void *user, const char *path, const struct file_key *key)
{
    (void)key;
    return atoi(path + 1) < *(const int *)user ? INDEX_ALLOWED : INDEX_FILE_REFUSED;
}

static size_t n_listed(struct indexed_tree *f, const struct index_query *query)
{
    _cleanup_(index_readable_clusters_free_p) struct index_readable_clusters *clusters = NULL;
    const uint64_t *ids;
    assert_int_equal(index_readable_clusters_new(f->index, 0, &clusters), 0);
    while (index_readable_clusters_step(clusters, query) > 0)
        ;
    return index_readable_clusters_ids(clusters, &ids);
}

/* A large one is not shown, whatever of it cannot be read: it counts what can. */
static void test_readable_clusters_limits__are_of_256_documents_at_most(void **state)
{
    struct indexed_tree *f = *state;
    int n_readable;
    struct index_query query = {.may_read = may_read_some, .user = &n_readable};
    char name[16];
    for (unsigned i = 0; i < MANY; i++) {
        numbered_name(i, name);
        numbered_write(f, name, i % 10, WORDS);
        index_note_entry(f->index, backing_root_key(f->backing), name);
    }
    indexed_tree_settle(f);
    struct file_key key = indexed_tree_key(f, "d0");
    for (n_readable = INDEX_READABLE_CLUSTER_MAX - 1; n_readable <= INDEX_READABLE_CLUSTER_MAX + 1;
         n_readable++) {
        struct cluster_info info = {0};
        const bool is_shown = n_readable <= INDEX_READABLE_CLUSTER_MAX;
        assert_int_equal(index_readable_cluster(f->index, &key, 0, &query, &info, NULL),
                         is_shown ? 0 : -ENOENT);
        assert_int_equal(info.size, is_shown ? n_readable : 0);
        assert_int_equal(n_listed(f, &query), is_shown);
        cluster_info_done(&info);
    }
}

static size_t n_bytes_listed(struct indexed_tree *f, const struct index_query *query)
{
    _cleanup_(index_readable_clusters_free_p) struct index_readable_clusters *clusters = NULL;
    assert_int_equal(index_readable_clusters_new(f->index, 0, &clusters), 0);
    while (index_readable_clusters_step(clusters, query) > 0)
        ;
    return index_readable_clusters_bytes(clusters);
}

/* Who has too many bytes is told so (EDQUOT), and could count what is hidden. */
static void test_readable_clusters_limits__take_no_bytes_for_what_is_hidden(void **state)
{
    enum { HIDDEN = 1500 };
    struct indexed_tree *f = *state;
    int n_readable = MANY;
    const struct index_query query = {.may_read = may_read_some, .user = &n_readable};
    char name[16];
    size_t n_before = 0;
    for (unsigned i = 0; i < MANY + HIDDEN; i++) {
        if (i == MANY) {
            indexed_tree_settle(f);
            n_before = n_bytes_listed(f, &query);
        }
        /* Near-copies, and as many that are equal. */
        numbered_name(i, name);
        numbered_write(f, name, 0, WORDS + (i % 2 ? i / 10 : 0));
        index_note_entry(f->index, backing_root_key(f->backing), name);
    }
    indexed_tree_settle(f);
    assert_int_equal(n_bytes_listed(f, &query), n_before);
    n_readable = MANY + HIDDEN;
    assert_int_equal(n_bytes_listed(f, &query), n_before);
}

/* Of one text with a word more each. */
static void write_family(struct indexed_tree *f, unsigned n)
{
    char name[16];
    for (unsigned i = 0; i < n; i++) {
        numbered_name(i, name);
        numbered_write(f, name, 0, WORDS);
        FILE *file = fopen(scratch_path(f->tree, "%s", name), "a");
        assert_non_null(file);
        fprintf(file, "x%u", i);
        fclose(file);
        index_note_entry(f->index, backing_root_key(f->backing), name);
    }
    indexed_tree_settle(f);
}

static bool count_stops(void *user)
{
    ++*(size_t *)user;
    return false;
}

/* Who listed it would compare each of its documents with all others; `stop` is asked for every 64
 * of those. */
static void test_readable_clusters_limits__a_large_one_is_searched_a_few_times(void **state)
{
    enum { FAMILY = 1500 };
    struct indexed_tree *f = *state;
    int n_readable = FAMILY;
    size_t n_stops = 0;
    struct index_query query = {
        .may_read = may_read_some, .user = &n_readable, .stop = count_stops, .stop_user = &n_stops};
    write_family(f, FAMILY);
    assert_int_equal(n_listed(f, &query), 0);
    assert_in_range(n_stops, FAMILY / 64, 4 * FAMILY);
}

/* Who hides very many that resemble all of a cluster has them compared once, not with each of it.
 */
static void test_readable_clusters_limits__compare_what_is_hidden_once(void **state)
{
    enum { FAMILY = 1500, READABLE = 200 };
    struct indexed_tree *f = *state;
    int n_readable = READABLE;
    size_t n_stops = 0;
    struct index_query query = {
        .may_read = may_read_some, .user = &n_readable, .stop = count_stops, .stop_user = &n_stops};
    write_family(f, FAMILY);
    assert_int_equal(n_listed(f, &query), 1);
    assert_in_range(n_stops, FAMILY / 64, 5 * FAMILY);
}

/* Somebody's rights, one of which takes longer than a search may. */
struct slow_rights {
    int n_readable;
    unsigned n_asked;
    struct readable_known *known;
};

static enum index_right may_read_slowly(void *user, const char *path, const struct file_key *key)
{
    struct slow_rights *rights = user;
    if (++rights->n_asked == 20) {
        rights->known->most_ms = 1;
        usleep(2000);
    }
    return may_read_some(&rights->n_readable, path, key);
}

static int find_slowly(struct indexed_tree *f, unsigned i, struct slow_rights *rights,
                       struct readable_cluster *cluster)
{
    const struct index_query query = {.may_read = may_read_slowly, .user = rights};
    struct file_row row;
    char name[16];
    numbered_name(i, name);
    const struct file_key key = indexed_tree_key(f, name);
    assert_int_equal(catalogue_get_file(f->index->kv, &key, &row), 0);
    return readable_cluster_find(f->index, row.sid, 0.5, false, &query, rights->known, cluster);
}

/* It is as one that is too large, so that what is behind it in a listing has its turn; and nothing
 * more is looked for from another document of it. */
static void test_readable_clusters_limits__one_has_its_time(void **state)
{
    enum { FAMILY = 600, READABLE = 10, AN_HOUR_MS = 3600000 };
    struct indexed_tree *f = *state;
    _cleanup_(readable_known_done) struct readable_known known = {.most_ms = AN_HOUR_MS};
    _cleanup_(readable_cluster_done) struct readable_cluster cluster = {0};
    struct slow_rights rights = {.n_readable = READABLE, .known = &known};
    write_family(f, FAMILY);
    assert_int_equal(find_slowly(f, 0, &rights, &cluster), -E2BIG);
    assert_int_equal(cluster.n_members, 0);
    assert_in_range(rights.n_asked, 20, FAMILY - 1);
    known.most_ms = AN_HOUR_MS;
    rights.n_asked = 0;
    for (unsigned i = 0; i < READABLE; i++)
        assert_int_equal(find_slowly(f, i, &rights, &cluster), -E2BIG);
    assert_int_equal(rights.n_asked, 0);
    rights.n_asked = 20;
    rights.known = NULL;
    assert_int_equal(find_slowly(f, 0, &rights, &cluster), 0);
    assert_int_equal(cluster.n_members, READABLE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_readable_clusters_limits__are_of_256_documents_at_most),
        TEST(test_readable_clusters_limits__take_no_bytes_for_what_is_hidden),
        TEST(test_readable_clusters_limits__a_large_one_is_searched_a_few_times),
        TEST(test_readable_clusters_limits__compare_what_is_hidden_once),
        TEST(test_readable_clusters_limits__one_has_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
