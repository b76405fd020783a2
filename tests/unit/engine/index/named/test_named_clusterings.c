/* Named clusterings of an index: made from the sketches that are there, kept, taken up again, and
 * removed (Broder et al. 1997, section 6.1: other thresholds, and contained documents, by the last
 * phase alone). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/cluster/batch.h"
#include "engine/index/index_state.h"
#include "engine/index/members/membership.h"
#include "engine/index/clusters/remade.h"
#include "tests/lib/fixtures/indexed_tree.h"

enum { FAMILIES = 25, VERSIONS = 10 }; /* more than the records that are read at once */

/* As indexed_tree_open() and index_start(), with clusterings; NULL: those there are. */
static void open_with(struct indexed_tree *f, const char *store, const char *const *texts, size_t n,
                      bool start)
{
    struct index_clustering clusterings[INDEX_CLUSTERINGS_MAX];
    char *error = NULL;
    struct index_options options = indexed_tree_options(f);
    options.store_path = store;
    for (size_t i = 0; texts && i < n; i++)
        assert_int_equal(index_clustering_parse(texts[i], &clusterings[i], &error), 0);
    options.clusterings = texts ? clusterings : NULL;
    options.n_clusterings = n;
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    if (start) {
        assert_int_equal(index_start(f->index), 0);
        indexed_tree_settle(f);
    }
}

static void close_index(struct indexed_tree *f)
{
    index_close(f->index, 5000);
}

static void reopen(struct indexed_tree *f, const char *const *texts, size_t n)
{
    close_index(f);
    open_with(f, f->store, texts, n, true);
}

/* Families of versions that differ more and more, and beginnings of them. */
static void fill(struct indexed_tree *f)
{
    char name[16];
    for (unsigned i = 0; i < FAMILIES; i++) {
        for (unsigned k = 0; k < VERSIONS; k++) {
            snprintf(name, sizeof(name), "f%u.%u", i, k);
            indexed_tree_write(f, name, i, k, k * (5 + i));
        }
        char *text = scratch_text(i, 0, 600, 0);
        text[1200 + 100 * i] = '\0';
        scratch_write(scratch_path(f->tree, "part%u", i), text);
        free(text);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
}

static uint64_t sketched(struct indexed_tree *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status.sketched_documents;
}

static uint64_t base_of(struct indexed_tree *f, const char *name)
{
    struct index_clustering_status status;
    assert_int_equal(index_find_clustering(f->index, name, &status), 0);
    assert_true(status.current);
    return status.base;
}

/* The documents of all clusters, sorted: a line a cluster. */
static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_kin_paths(const void *a, const void *b)
{
    return strcmp(((const struct kin *)a)->path, ((const struct kin *)b)->path);
}

static char *partition_of(struct indexed_tree *f, uint64_t base)
{
    char *lines[256], *all = calloc(1, 1 << 16);
    uint64_t ids[256];
    int n = index_cluster_ids(f->index, base, 256, ids);
    assert_in_range(n, 0, 255);
    for (int i = 0; i < n; i++) {
        struct cluster_info info;
        struct kin_list members;
        const struct index_query query = {0};
        assert_int_equal(index_cluster(f->index, ids[i], &query, &info, &members), 0);
        assert_int_equal(info.id, ids[i]);
        assert_true(ids[i] > base && ids[i] - base <= INDEX_CLUSTER_MAX);
        assert_int_equal(index_has_cluster(f->index, ids[i]), 1);
        assert_int_equal(info.size, members.n_kin);
        qsort(members.kin, members.n_kin, sizeof(*members.kin), compare_kin_paths);
        lines[i] = calloc(1, 4096);
        for (size_t k = 0; k < members.n_kin; k++) {
            struct file_key key = indexed_tree_key(f, members.kin[k].path);
            uint64_t id;
            assert_int_equal(index_cluster_of(f->index, &key, base, &id), 0);
            assert_int_equal(id, ids[i]);
            strcat(strcat(lines[i], members.kin[k].path), " ");
        }
        kin_list_done(&members);
        cluster_info_done(&info);
    }
    qsort(lines, (size_t)n, sizeof(*lines), compare_lines);
    for (int i = 0; i < n; i++) {
        strcat(strcat(all, lines[i]), "\n");
        free(lines[i]);
    }
    return all;
}

/* What a store of the same policy has that was made with that clustering from the beginning. */
static void assert_as_fresh(struct indexed_tree *f, const char *text, const char *name)
{
    struct indexed_tree fresh = *f;
    struct index_clustering clustering;
    char store[128], *error = NULL;
    const struct index_options options = {.backing = f->backing,
                                          .source = f->tree,
                                          .store_path = store,
                                          .create = true,
                                          .clusterings = &clustering,
                                          .n_clusterings = 1};
    snprintf(store, sizeof(store), "%s/fresh", f->root);
    assert_int_equal(mkdir(store, 0700), 0);
    assert_int_equal(index_clustering_parse(text, &clustering, &error), 0);
    if (index_open_db(&options, "db", &f->index->policy, &fresh.index, &error) < 0)
        fail_msg("%s", error);
    assert_int_equal(index_start(fresh.index), 0);
    indexed_tree_settle(&fresh);
    char *expected = partition_of(&fresh, base_of(&fresh, name));
    char *found = partition_of(f, base_of(f, name));
    assert_true(strlen(found) > 10);
    assert_string_equal(found, expected);
    close_index(&fresh);
    scratch_remove(store);
    free(expected);
    free(found);
}

static void test_named_clusterings__another_threshold_is_made_without_reading(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const near = "near:components:0.8", *const loose = "near:components:0.3",
                             *const parts = "parts:components:0.5:containment:0.9";
    const char *const both[] = {parts, near};

    fill(f);
    assert_true(sketched(f) >= FAMILIES * VERSIONS);
    char *of_default = partition_of(f, 0);
    reopen(f, &near, 1);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, near, "near");
    char *of_near = partition_of(f, base_of(f, "near"));
    assert_string_not_equal(of_near, of_default);
    /* The same name, another threshold. */
    reopen(f, &loose, 1);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, loose, "near");
    /* And containment, of the beginnings that resemble what they are of by less than one half. */
    reopen(f, both, 2);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, parts, "parts");
    /* And centres. */
    static const char *const tight = "tight:center:0.6";
    reopen(f, &tight, 1);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, tight, "tight");
    static const char *const super = "super:supershingle";
    reopen(f, &super, 1);
    assert_int_equal(sketched(f), 0);
    assert_as_fresh(f, super, "super");
    reopen(f, both, 2);
    char *of_parts = partition_of(f, base_of(f, "parts")), *again = partition_of(f, 0);
    assert_string_not_equal(of_parts, of_default);
    assert_string_equal(again, of_default);
    free(of_default);
    free(of_near);
    free(of_parts);
    free(again);
}

static size_t count_rows(struct indexed_tree *f, unsigned table, bool of_named)
{
    struct kv_range range = {.from = {"", 0}};
    struct kv_page page;
    size_t n = 0;
    assert_int_equal(kv_scan(f->index->kv, table, &range, 1 << 20, &page), 0);
    for (size_t i = 0; i < page.n_entries; i++) {
        const struct kv_slice *key = &page.entries[i].key;
        bool is_named = table == TABLE_CLUSTER_OF ? key->size_bytes == 9
                        : table == TABLE_MEMBERS  ? *(const uint8_t *)key->data != 0
                                                  : memchr(key->data, '.', key->size_bytes) != NULL;
        n += is_named == of_named;
    }
    kv_page_done(&page);
    return n;
}

static void test_named_clusterings__what_is_not_wanted_any_more_is_removed(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const two[] = {"a:components:0.8", "b:components:0.2"};
    struct index_clustering_status status;

    fill(f);
    size_t n_members = count_rows(f, TABLE_MEMBERS, false);
    reopen(f, two, 2);
    uint64_t b = base_of(f, "b");
    char *before = partition_of(f, b);
    assert_true(count_rows(f, TABLE_MEMBERS, true) > 0);
    /* b stays as it is, with its ids. */
    uint64_t first, again;
    assert_int_equal(index_cluster_ids(f->index, b, 1, &first), 1);
    reopen(f, two + 1, 1);
    assert_int_equal(index_find_clustering(f->index, "a", &status), -ENOENT);
    assert_int_equal(base_of(f, "b"), b);
    assert_int_equal(index_cluster_ids(f->index, b, 1, &again), 1);
    assert_int_equal(again, first);
    /* Who says nothing keeps what there is. */
    reopen(f, NULL, 0);
    char *after = partition_of(f, base_of(f, "b"));
    assert_string_equal(after, before);
    reopen(f, two, 0);
    assert_int_equal(index_find_clustering(f->index, "b", &status), -ENOENT);
    assert_int_equal(count_rows(f, TABLE_MEMBERS, true), 0);
    assert_int_equal(count_rows(f, TABLE_CLUSTER_OF, true), 0);
    assert_int_equal(count_rows(f, TABLE_META, true), 0);
    assert_int_equal(count_rows(f, TABLE_MEMBERS, false), n_members);
    assert_int_equal(index_has_cluster(f->index, first), 0);
    free(before);
    free(after);
}

/* F19: no two centres are neighbours, and each document is the neighbour of its centre, by
 * comparisons of documents with each other. */
static double resemblance_of(struct indexed_tree *f, const char *a, const char *b)
{
    struct file_key x = indexed_tree_key(f, a), y = indexed_tree_key(f, b);
    struct comparison comparison;
    assert_int_equal(index_compare(f->index, &x, &y, &(struct index_query){0}, &comparison), 0);
    return comparison.resemblance;
}

static void test_named_clusterings__centres_are_apart_and_near_their_documents(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const tight = "tight:center:0.6";
    uint64_t ids[256];
    char *centres[256];
    const struct index_query query = {0};

    fill(f);
    reopen(f, &tight, 1);
    for (unsigned round = 0; round < 2; round++) {
        int n = index_cluster_ids(f->index, base_of(f, "tight"), 256, ids);
        assert_in_range(n, FAMILIES / 2, 255);
        for (int i = 0; i < n; i++) {
            struct cluster_info info;
            struct kin_list members;
            assert_int_equal(index_cluster(f->index, ids[i], &query, &info, &members), 0);
            assert_true(info.size >= 2);
            centres[i] = strdup(info.representative.path);
            for (size_t k = 0; k < members.n_kin; k++)
                assert_true(resemblance_of(f, centres[i], members.kin[k].path) >= 0.6);
            for (int k = 0; k < i; k++)
                assert_true(resemblance_of(f, centres[i], centres[k]) < 0.6);
            kin_list_done(&members);
            cluster_info_done(&info);
        }
        for (int i = 0; i < n; i++) { /* the centres go, or become something else */
            if (i % 2)
                assert_int_equal(unlink(scratch_path(f->tree, "%s", centres[i])), 0);
            else
                indexed_tree_write(f, centres[i], 100 + round, (unsigned)i, 3);
            free(centres[i]);
        }
        index_rescan(f->index);
        indexed_tree_settle(f);
    }
    assert_as_fresh(f, tight, "tight");
}

/* -- made anew by a batch -- */

struct documents {
    char *paths[512];
    uint32_t n;
    struct batch_writer *writer;
};

static int take_sketch(void *user, const char *path, const struct document_sketch *sketch)
{
    struct documents *documents = user;
    documents->paths[documents->n] = strdup(path);
    return batch_writer_add(documents->writer, documents->n++, sketch);
}

/* What `kinfs cluster --stored` would print, a line a cluster. */
static char *partition_of_batch(struct indexed_tree *f, enum batch_mode mode)
{
    struct documents documents = {.n = 0};
    struct batch *batch;
    const struct batch_options options = {.scratch = f->root,
                                          .memory_bytes = 64 << 20,
                                          .n_threads = 2,
                                          .mode = mode,
                                          .threshold = 0.5,
                                          .n_documents = 512};
    char *lines[512], *all = calloc(1, 1 << 16);
    size_t n = 0;
    assert_int_equal(batch_new(index_policy(f->index), &options, &batch), 0);
    assert_int_equal(batch_writer_new(batch, &documents.writer), 0);
    assert_int_equal(index_each_sketch(f->index, take_sketch, &documents), 0);
    assert_int_equal(batch_writer_flush(documents.writer), 0);
    batch_writer_free(documents.writer);
    assert_int_equal(batch_run(batch), 0);
    const uint32_t *clusters = batch_clusters(batch);
    for (uint32_t i = 0; i < documents.n; i++) {
        const char *paths[512];
        size_t n_paths = 0;
        for (uint32_t k = i; k < documents.n && clusters[i] == i; k++)
            if (clusters[k] == i)
                paths[n_paths++] = documents.paths[k];
        if (n_paths < 2)
            continue;
        qsort(paths, n_paths, sizeof(*paths), compare_lines);
        lines[n] = calloc(1, 4096);
        for (size_t k = 0; k < n_paths; k++)
            strcat(strcat(lines[n], paths[k]), " ");
        n++;
    }
    if (n)
        qsort(lines, n, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < n; i++) {
        strcat(strcat(all, lines[i]), "\n");
        free(lines[i]);
    }
    for (uint32_t i = 0; i < documents.n; i++)
        free(documents.paths[i]);
    batch_free(batch);
    return all;
}

static void assert_as_batch(struct indexed_tree *f, const char *name, enum batch_mode mode)
{
    char *expected = partition_of_batch(f, mode), *found = partition_of(f, base_of(f, name));
    assert_true(strlen(found) > 10);
    assert_string_equal(found, expected);
    free(expected);
    free(found);
}

static void test_named_clusterings__a_batch_makes_them_anew_after_changes(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const three[] = {"all:exact:0.5", "paper:broder1997", "quick:fast:0.5"};
    static const enum batch_mode modes[] = {BATCH_EXACT, BATCH_BRODER1997, BATCH_FAST};
    static const char *const names[] = {"all", "paper", "quick"};
    struct index_clustering_status status;

    fill(f);
    reopen(f, three, 3);
    assert_int_equal(sketched(f), 0);
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 3; i++)
            assert_as_batch(f, names[i], modes[i]);
        char *of_default = partition_of(f, 0), *of_all = partition_of(f, base_of(f, "all"));
        assert_string_equal(of_all, of_default); /* by another way */
        free(of_default);
        free(of_all);
        if (round == 2) { /* what was made is there again, with its ids, and is current */
            uint64_t base = base_of(f, "paper"), before[256], after[256];
            int n = index_cluster_ids(f->index, base, 256, before);
            close_index(f);
            open_with(f, f->store, NULL, 0, false);
            assert_true(named_clusterings_is_idle(&f->index->named));
            assert_int_equal(base_of(f, "paper"), base);
            assert_int_equal(index_cluster_ids(f->index, base, 256, after), n);
            assert_memory_equal(after, before, (size_t)n * sizeof(*before));
            assert_int_equal(index_start(f->index), 0);
        }
        char name[16];
        for (unsigned i = 0; i < FAMILIES; i += 3) { /* some go, some change, some come */
            snprintf(name, sizeof(name), "f%u.%u", i, round);
            assert_int_equal(unlink(scratch_path(f->tree, "%s", name)), 0);
            snprintf(name, sizeof(name), "f%u.%u", i, round + 4);
            indexed_tree_write(f, name, i + 1, 50 + round, 30);
            snprintf(name, sizeof(name), "new%u.%u", i, round);
            indexed_tree_write(f, name, i, 60 + round, 10);
        }
        index_rescan(f->index);
        indexed_tree_settle(f);
    }
    assert_as_fresh(f, three[1], "paper");
    /* Before it has been made anew it is stale, and says so. */
    close_index(f);
    open_with(f, f->store, NULL, 0, false);
    uint64_t id, base = base_of(f, "paper");
    struct cluster_info info;
    const struct index_query query = {0};
    assert_int_equal(index_cluster_ids(f->index, base, 1, &id), 1);
    assert_int_equal(index_cluster(f->index, id, &query, &info, NULL), 0);
    assert_false(info.stale);
    cluster_info_done(&info);
    for (size_t i = 0; i < f->index->named.n_wanted; i++)
        assert_int_equal(remade_changed(f->index->named.wanted[i].remade), 0);
    assert_false(named_clusterings_is_idle(&f->index->named));
    assert_int_equal(index_find_clustering(f->index, "paper", &status), 0);
    assert_true(status.made && !status.current);
    assert_int_equal(index_cluster(f->index, id, &query, &info, NULL), 0);
    assert_true(info.stale);
    cluster_info_done(&info);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_int_equal(base_of(f, "paper"), base);
}

/* 1,005 documents share most of their shingles: more than the cap, so that nobody is joined. */
static void test_named_clusterings__what_broder1997_leaves_out_is_told(void **state)
{
    enum { N = 1005 };
    struct indexed_tree *f = *state;
    static const char *const paper = "paper:broder1997";
    struct index_clustering_status status, again;
    char *common = scratch_text(0, 0, 400, 0);

    for (unsigned i = 0; i < N; i++) {
        char *own = scratch_text(i + 1, 0, 100, 0), *text;
        assert_true(asprintf(&text, "%s %s", common, own) > 0);
        scratch_write(scratch_path(f->tree, "%u", i), text);
        free(own);
        free(text);
    }
    free(common);
    indexed_tree_write(f, "a", 7, 0, 0); /* as in a cluster of another clustering */
    indexed_tree_write(f, "b", 7, 0, 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    reopen(f, &paper, 1);
    base_of(f, "paper");
    assert_int_equal(index_find_clustering(f->index, "paper", &status), 0);
    assert_int_equal(status.clusters, 1);
    assert_in_range(status.loss.lists_left_out, 3, 60); /* of 391 shingles one in 25 */
    assert_int_equal(status.loss.postings_left_out, N * status.loss.lists_left_out);
    assert_true(status.loss.lists >= status.loss.lists_left_out);
    assert_true(status.loss.postings > status.loss.postings_left_out);
    struct cluster_explanation explanation;
    uint64_t id;
    assert_int_equal(index_cluster_ids(f->index, status.base, 1, &id), 1);
    assert_int_equal(index_explain(f->index, id, &explanation), 0);
    assert_true(explanation.has_loss);
    assert_memory_equal(&explanation.loss, &status.loss, sizeof(status.loss));
    cluster_explanation_done(&explanation);
    assert_int_equal(index_cluster_ids(f->index, 0, 1, &id), 1);
    assert_int_equal(index_explain(f->index, id, &explanation), 0);
    assert_false(explanation.has_loss);
    cluster_explanation_done(&explanation);
    reopen(f, NULL, 0);
    assert_int_equal(index_find_clustering(f->index, "paper", &again), 0);
    assert_memory_equal(&again.loss, &status.loss, sizeof(again.loss));
}

/* An end in the midst of it: the next start makes it anew, under the same number and ids. */
static void test_named_clusterings__making_one_anew_ends_with_the_process(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const paper = "paper:broder1997";

    fill(f);
    close_index(f);
    open_with(f, f->store, &paper, 1, false);
    assert_int_equal(named_clusterings_step(&f->index->named, true, true),
                     0); /* it is on its way */
    assert_non_null(f->index->named.remaking);
    const unsigned number = f->index->named.wanted[0].number;
    f->index->store_error = -EIO;
    close_index(f);
    open_with(f, f->store, &paper, 1, true);
    assert_int_equal(f->index->named.wanted[0].number, number);
    assert_as_batch(f, "paper", BATCH_BRODER1997);
}

static void rebuild_keeps(struct indexed_tree *f, const char *const two[2])
{
    char *error = NULL;
    uint64_t before[256], after[256];
    struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store};

    reopen(f, two, 2);
    reopen(f, two + 1, 1); /* so that b has not the first number */
    uint64_t old_base = base_of(f, "b");
    int n = index_cluster_ids(f->index, old_base, 256, before);
    char *old = partition_of(f, old_base);
    close_index(f);
    if (index_rebuild(&options, NULL, NULL, &error) < 0)
        fail_msg("%s", error);
    open_with(f, f->store, NULL, 0, true);
    uint64_t base = base_of(f, "b");
    char *new = partition_of(f, base);
    assert_string_equal(new, old);
    assert_int_equal(index_cluster_ids(f->index, base, 256, after), n);
    for (int i = 0; i < n; i++)
        assert_int_equal(after[i] - base, before[i] - old_base);
    free(old);
    free(new);
}

static void test_named_clusterings__a_rebuild_keeps_them_and_their_ids(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const followed[] = {"a:components:0.8", "b:components:0.2"};
    static const char *const remade[] = {"a:components:0.8", "b:broder1997:0.2"};

    fill(f);
    rebuild_keeps(f, followed);
    rebuild_keeps(f, remade);
}

static uint64_t findings(struct indexed_tree *f, bool deep)
{
    const struct index_check_options options = {.deep = deep};
    struct index_check counts;
    assert_int_equal(index_check(f->index, &options, &counts), 0);
    return counts.findings;
}

/* Rows that agree with each other, and are said to be of now: only another batch tells. */
static void test_named_clusterings__a_repair_makes_anew_what_is_wrong(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const all = "all:exact:0.5";
    static const struct index_repair_options deep = {.deep = true};
    char *error = NULL;
    uint64_t ids[2];
    struct membership membership;
    const struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store};

    fill(f);
    reopen(f, &all, 1);
    char *right = partition_of(f, base_of(f, "all"));
    assert_int_equal(index_cluster_ids(f->index, base_of(f, "all"), 2, ids), 2);
    index_stop(f->index);
    assert_int_equal(findings(f, true), 0);
    assert_int_equal(membership_init(&membership, f->index->kv, f->index->named.wanted[0].number),
                     0);
    assert_int_equal(membership_move_all(&membership, shown_ids_read(&f->index->shown_ids, ids[0]),
                                         shown_ids_read(&f->index->shown_ids, ids[1])),
                     0);
    membership_done(&membership, false);
    assert_int_equal(findings(f, false), 0);
    assert_true(findings(f, true) > 0);
    close_index(f);
    int mending = index_repair(&options, &deep, &error);
    if (mending < 0)
        fail_msg("%s", error);
    assert_int_equal(mending, INDEX_MENDING_DERIVED);
    open_with(f, f->store, &all, 1, true);
    assert_int_equal(sketched(f), 0);
    char *mended = partition_of(f, base_of(f, "all"));
    assert_string_equal(mended, right);
    assert_int_equal(findings(f, true), 0);
    free(right);
    free(mended);
}

#define with_tree(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, indexed_tree_setup, indexed_tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_tree(test_named_clusterings__another_threshold_is_made_without_reading),
        with_tree(test_named_clusterings__what_is_not_wanted_any_more_is_removed),
        with_tree(test_named_clusterings__centres_are_apart_and_near_their_documents),
        with_tree(test_named_clusterings__a_batch_makes_them_anew_after_changes),
        with_tree(test_named_clusterings__what_broder1997_leaves_out_is_told),
        with_tree(test_named_clusterings__making_one_anew_ends_with_the_process),
        with_tree(test_named_clusterings__a_rebuild_keeps_them_and_their_ids),
        with_tree(test_named_clusterings__a_repair_makes_anew_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
