/* Clusters among what a caller may read: against components of all pairs of the readable documents,
 * and the stars of those that are loose, and the same whatever is hidden. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/cluster/stars.h"
#include "engine/index/answers/readable_cluster.h"
#include "engine/index/index_state.h"
#include "tests/lib/fixtures/indexed_tree.h"
#include "tests/unit/engine/index/answers/numbered.h"

enum { CHAINS = 12, LINKS = 9, N = CHAINS * LINKS, WORDS = 400, STEP = 80 };

struct world {
    struct indexed_tree *tree;
    bool readable[N];
    unsigned root[N]; /* of the component, among readable documents */
};

/* -- documents: of each chain those next to each other resemble each other by two thirds, those
 * further apart by less than a half -- */

static void write_document(struct world *w, unsigned i)
{
    char name[16];
    numbered_name(i, name);
    const unsigned chain = i / LINKS, link = i % LINKS;
    /* Every third chain has twins. */
    const unsigned step = chain % 3 == 0 ? link / 2 : link;
    numbered_write(w->tree, name, chain * 100000 + step * STEP, WORDS);
}

static void come(struct world *w, const bool which[N])
{
    char name[16];
    for (unsigned i = 0; i < N; i++)
        if (which[i]) {
            write_document(w, i);
            numbered_name(i, name);
            index_note_entry(w->tree->index, backing_root_key(w->tree->backing), name);
        }
    indexed_tree_settle(w->tree);
}

static void go(struct world *w, const bool which[N])
{
    char name[16];
    for (unsigned i = 0; i < N; i++)
        if (which[i]) {
            numbered_name(i, name);
            assert_int_equal(unlink(scratch_path(w->tree->tree, "%s", name)), 0);
            index_note_entry(w->tree->index, backing_root_key(w->tree->backing), name);
        }
    indexed_tree_settle(w->tree);
}

static enum index_right may_read(void *user, const char *path, const struct file_key *key)
{
    const struct world *w = user;
    unsigned i;
    (void)key;
    return sscanf(path, "d%u", &i) == 1 && i < N && w->readable[i] ? INDEX_ALLOWED
                                                                   : INDEX_FILE_REFUSED;
}

static struct index_query query_of(struct world *w)
{
    return (struct index_query){.threshold = 0.4, .may_read = may_read, .user = w};
}

/* -- the truth -- */

static unsigned root_of(const struct world *w, unsigned i)
{
    while (w->root[i] != i)
        i = w->root[i];
    return i;
}

static void find_truth(struct world *w)
{
    struct file_key keys[N];
    char name[16];
    for (unsigned i = 0; i < N; i++) {
        w->root[i] = i;
        numbered_name(i, name);
        if (w->readable[i])
            keys[i] = indexed_tree_key(w->tree, name);
    }
    for (unsigned i = 0; i < N; i++)
        for (unsigned k = 0; k < i; k++) {
            struct comparison comparison;
            if (!w->readable[i] || !w->readable[k])
                continue;
            assert_int_equal(index_compare(w->tree->index, &keys[i], &keys[k],
                                           &(struct index_query){0}, &comparison),
                             0);
            if (comparison.resemblance >= 0.5)
                w->root[root_of(w, i)] = root_of(w, k);
        }
}

static unsigned text_of(unsigned i)
{
    return i / LINKS % 3 == 0 ? i / LINKS * LINKS + i % LINKS / 2 : i;
}

static const struct record *record_of(const struct world *w, unsigned i)
{
    const struct record *record;
    struct file_row row;
    char name[16];
    numbered_name(i, name);
    const struct file_key key = indexed_tree_key(w->tree, name);
    assert_int_equal(catalogue_get_file(w->tree->index->kv, &key, &row), 0);
    assert_int_equal(records_borrow(w->tree->index->records, &row.sid, 1, &record), 0);
    assert_non_null(record);
    return record;
}

static uint64_t rank_of(const struct record *record)
{
    return stars_order(&record->sketch);
}

static double resemblance(const struct record *a, const struct record *b)
{
    struct estimate estimate;
    assert_int_equal(min_sketch_resemblance(&a->sketch, &b->sketch, &estimate), 0);
    return estimate.value;
}

static bool share_key(const struct record *a, const struct record *b)
{
    for (uint32_t i = 0; i < 16 && i < a->sketch.n_values; i++)
        for (uint32_t k = 0; k < 16 && k < b->sketch.n_values; k++)
            if (a->sketch.values[i] == b->sketch.values[k])
                return true;
    return false;
}

/* The different texts of a component, in their order. */
static unsigned find_nodes(const struct world *w, unsigned root,
                           const struct record *const *records, unsigned nodes[LINKS])
{
    unsigned n = 0;
    for (unsigned i = 0; i < N; i++) {
        bool is_new = w->readable[i] && root_of(w, i) == root;
        for (unsigned k = 0; k < n; k++)
            is_new &= text_of(nodes[k]) != text_of(i);
        if (!is_new)
            continue;
        unsigned at = n++;
        for (; at > 0 && rank_of(records[i]) < rank_of(records[nodes[at - 1]]); at--)
            nodes[at] = nodes[at - 1];
        nodes[at] = i;
    }
    return n;
}

/* Chains are loose: each text is with the centre it resembles most, of those before it by order
 * that it resembles by a half, or is one. Returns whether it is so. */
static bool divide(struct world *w, unsigned root, const struct record *const *records)
{
    unsigned nodes[LINKS], centre[LINKS], first[LINKS];
    const unsigned n = find_nodes(w, root, records, nodes);
    bool is_member[N];
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += resemblance(records[nodes[0]], records[nodes[i]]);
    if (n < 4 || sum >= 0.4 * n)
        return false;
    for (unsigned i = 0; i < N; i++)
        is_member[i] = w->readable[i] && root_of(w, i) == root;
    for (unsigned i = 0; i < n; i++) {
        double best = 0;
        centre[i] = i;
        first[i] = N;
        for (unsigned k = 0; k < i; k++) {
            const double value = resemblance(records[nodes[i]], records[nodes[k]]);
            if (centre[k] != k || value < 0.5 || value <= best ||
                !share_key(records[nodes[i]], records[nodes[k]]))
                continue;
            best = value;
            centre[i] = k;
        }
    }
    for (unsigned i = 0; i < N; i++) {
        unsigned at = 0;
        if (!is_member[i])
            continue;
        while (text_of(nodes[at]) != text_of(i))
            at++;
        unsigned *of = &first[centre[at]];
        *of = *of == N ? i : *of;
        w->root[i] = *of;
    }
    return true;
}

static unsigned divide_all(struct world *w)
{
    const struct record *records[N] = {NULL};
    unsigned n = 0;
    bool is_root[N];
    for (unsigned i = 0; i < N; i++) {
        is_root[i] = w->readable[i] && w->root[i] == i;
        if (w->readable[i])
            records[i] = record_of(w, i);
    }
    for (unsigned i = 0; i < N; i++)
        if (is_root[i])
            n += divide(w, i, records);
    for (unsigned i = 0; i < N; i++)
        if (records[i])
            records_return(w->tree->index->records, &records[i], 1);
    return n;
}

static unsigned size_of(const struct world *w, unsigned i)
{
    unsigned n = 0;
    for (unsigned k = 0; k < N; k++)
        n += w->readable[k] && root_of(w, k) == root_of(w, i);
    return n;
}

/* -- what is said -- */

static void check_members(const struct world *w, unsigned i, const struct cluster_info *info,
                          const struct kin_list *members)
{
    bool seen[N] = {false};
    assert_int_equal(info->size, size_of(w, i));
    assert_int_equal(members->n_kin, info->size);
    assert_string_equal(members->kin[0].path, info->representative.path);
    for (size_t m = 0; m < members->n_kin; m++) {
        const unsigned k = (unsigned)atoi(members->kin[m].path + 1);
        assert_true(k < N && w->readable[k] && !seen[k]);
        assert_int_equal(root_of(w, k), root_of(w, i));
        seen[k] = true;
    }
}

/* Each readable document is in the cluster of its component, which is found by its id, too; of the
 * others nothing is said. */
static void check_each(struct world *w)
{
    const struct index_query query = query_of(w);
    for (unsigned i = 0; i < N; i++) {
        struct cluster_info info = {0}, again = {0};
        struct kin_list members = {0};
        char name[16];
        numbered_name(i, name);
        if (access(scratch_path(w->tree->tree, "%s", name), F_OK) < 0)
            continue;
        struct file_key key = indexed_tree_key(w->tree, name);
        int r = index_readable_cluster(w->tree->index, &key, 0, &query, &info, &members);
        if (!w->readable[i] || size_of(w, i) < 2) {
            assert_int_equal(r, -ENOENT);
            continue;
        }
        assert_int_equal(r, 0);
        check_members(w, i, &info, &members);
        kin_list_done(&members);
        assert_int_equal(index_cluster(w->tree->index, info.id, &query, &again, &members), 0);
        assert_int_equal(again.id, info.id);
        check_members(w, i, &again, &members);
        assert_true(index_has_cluster(w->tree->index, info.id) == 0);
        kin_list_done(&members);
        cluster_info_done(&info);
        cluster_info_done(&again);
    }
}

/* The listing has each component once. */
static void check_listing(struct world *w)
{
    _cleanup_(index_readable_clusters_free_p) struct index_readable_clusters *clusters = NULL;
    const struct index_query query = query_of(w);
    const uint64_t *ids;
    size_t n_expected = 0;
    bool seen[N] = {false};
    int r;
    assert_int_equal(index_readable_clusters_new(w->tree->index, 0, &clusters), 0);
    while ((r = index_readable_clusters_step(clusters, &query)) > 0)
        ;
    assert_int_equal(r, 0);
    for (unsigned i = 0; i < N; i++)
        n_expected += w->readable[i] && root_of(w, i) == i && size_of(w, i) > 1;
    const size_t n = index_readable_clusters_ids(clusters, &ids);
    assert_int_equal(n, n_expected);
    for (size_t i = 0; i < n; i++) {
        struct cluster_info info;
        assert_int_equal(index_cluster(w->tree->index, ids[i], &query, &info, NULL), 0);
        const unsigned root = root_of(w, (unsigned)atoi(info.representative.path + 1));
        assert_false(seen[root]);
        seen[root] = true;
        cluster_info_done(&info);
    }
}

/* All that is said, in the order in which it is. */
static char *everything(struct world *w)
{
    _cleanup_(index_readable_clusters_free_p) struct index_readable_clusters *clusters = NULL;
    const struct index_query query = query_of(w);
    const uint64_t *ids;
    char *text = NULL, name[16];
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);
    assert_int_equal(index_readable_clusters_new(w->tree->index, 0, &clusters), 0);
    while (index_readable_clusters_step(clusters, &query) > 0)
        ;
    const size_t n = index_readable_clusters_ids(clusters, &ids);
    for (size_t i = 0; i < n; i++) {
        struct cluster_info info;
        struct kin_list members;
        assert_int_equal(index_cluster(w->tree->index, ids[i], &query, &info, &members), 0);
        fprintf(out, "%llu %llu %.6f %.6f:", (unsigned long long)info.id,
                (unsigned long long)info.size, info.resemblance_min, info.resemblance_mean);
        for (size_t m = 0; m < members.n_kin; m++)
            fprintf(out, " %s %.6f", members.kin[m].path, members.kin[m].resemblance);
        fputs("\n", out);
        kin_list_done(&members);
        cluster_info_done(&info);
    }
    for (unsigned i = 0; i < N; i++) {
        struct kin_list kin;
        numbered_name(i, name);
        if (!w->readable[i])
            continue;
        struct file_key key = indexed_tree_key(w->tree, name);
        assert_int_equal(index_similar(w->tree->index, &key, &query, &kin), 0);
        for (size_t m = 0; m < kin.n_kin; m++)
            fprintf(out, " %s %.6f", kin.kin[m].path, kin.kin[m].resemblance);
        kin_list_done(&kin);
        fputs("\n", out);
    }
    fclose(out);
    return text;
}

static void test_readable_clusters__are_those_of_what_can_be_read(void **state)
{
    struct world w = {.tree = *state};
    bool all[N];
    unsigned n_divided = 0;
    memset(all, true, sizeof(all));
    come(&w, all);
    for (unsigned round = 0; round < 6; round++) {
        for (unsigned i = 0; i < N; i++)
            w.readable[i] = round == 0 || (i * 2654435761u >> 7) % (round + 2) != round % 2;
        find_truth(&w);
        n_divided += divide_all(&w);
        check_each(&w);
        check_listing(&w);
    }
    assert_true(n_divided > 0);
}

static void test_readable_clusters__do_not_depend_on_what_is_hidden(void **state)
{
    struct world w = {.tree = *state};
    bool hidden[N];
    for (unsigned i = 0; i < N; i++) {
        w.readable[i] = i % LINKS != 4 && i % 7 != 3;
        hidden[i] = !w.readable[i];
    }
    come(&w, w.readable);
    char *before = everything(&w);
    come(&w, hidden);
    char *among = everything(&w);
    go(&w, hidden);
    char *after = everything(&w);
    assert_string_equal(before, among);
    assert_string_equal(before, after);
    free(before);
    free(among);
    free(after);
}

static bool stop_at_once(void *user)
{
    ++*(unsigned *)user;
    return true;
}

/* What was given up is looked at again. */
static void test_readable_clusters__can_be_stopped(void **state)
{
    _cleanup_(index_readable_clusters_free_p) struct index_readable_clusters *clusters = NULL;
    struct world w = {.tree = *state};
    struct index_query query = query_of(&w);
    struct cluster_info info;
    const uint64_t *ids;
    unsigned n_asked = 0;
    bool some[N] = {true, true, true};
    come(&w, some);
    memcpy(w.readable, some, sizeof(some));
    struct file_key key = indexed_tree_key(w.tree, "d0");
    query.stop = stop_at_once;
    query.stop_user = &n_asked;
    assert_int_equal(index_readable_cluster(w.tree->index, &key, 0, &query, &info, NULL), -EINTR);
    assert_int_equal(index_readable_clusters_new(w.tree->index, 0, &clusters), 0);
    assert_int_equal(index_readable_clusters_step(clusters, &query), -EINTR);
    assert_int_equal(n_asked, 2);
    query.stop = NULL;
    while (index_readable_clusters_step(clusters, &query) > 0)
        ;
    assert_int_equal(index_readable_clusters_ids(clusters, &ids), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_readable_clusters__are_those_of_what_can_be_read),
        TEST(test_readable_clusters__do_not_depend_on_what_is_hidden),
        TEST(test_readable_clusters__can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
