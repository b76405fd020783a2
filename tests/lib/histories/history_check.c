#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/cluster/batch.h"
#include "engine/cluster/large/union_find.h"
#include "engine/cluster/stars.h"
#include "engine/index/index_state.h"
#include "tests/lib/histories/history_private.h"
#include "tests/lib/scratch.h"
#include "tests/lib/slow_stars.h"

enum { FEW_KEYS = POSTINGS_TIER_R_KEYS, MANY_KEYS = 24, IDS_AT_ONCE = 64 };

struct seen {
    char *path;
    ino_t ino;
    struct file_key key;
    struct document_sketch sketch; /* its values are a copy */
    uint64_t order;                /* stars_order() */
    uint32_t first;                /* document of the same text: itself, or one before */
};

/* One inode each; a few thousand. */
static struct seen *documents;
static uint32_t n_documents, room;

static void die(const char *what, int error)
{
    fprintf(stderr, "history: %s: %s\n", what, strerror(error));
    _exit(3);
}

static void *memory(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p)
        die("memory", ENOMEM);
    return p;
}

static int see(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F)
        return 0;
    for (uint32_t i = 0; st->st_nlink > 1 && i < n_documents; i++)
        if (documents[i].ino == st->st_ino)
            return 0;
    if (n_documents == room) {
        room = room ? 2 * room : 1024;
        documents = reallocarray(documents, room, sizeof(*documents));
        if (!documents)
            die("memory", ENOMEM);
    }
    documents[n_documents++] = (struct seen){.path = strdup(path), .ino = st->st_ino};
    return 0;
}

static void sketch_one(struct document_sketcher *sketcher, struct seen *document)
{
    _cleanup_close_ int fd = open(document->path, O_RDONLY | O_CLOEXEC);
    static char bytes[1 << 16];
    struct min_sketch copy = {0};
    ssize_t n;
    document_sketcher_begin(sketcher);
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        document_sketcher_feed(sketcher, bytes, (size_t)n);
    document_sketcher_finish(sketcher, &document->sketch);
    if (n < 0 || min_sketch_copy(&document->sketch.sketch, &copy) < 0)
        die(document->path, errno);
    document->sketch.sketch = copy;
    document->order = stars_order(&copy);
}

static uint32_t first_of_text(uint32_t document)
{
    const uint8_t *text = document_equality(&documents[document].sketch);
    uint32_t i = 0;
    while (memcmp(document_equality(&documents[i].sketch), text, FINGERPRINT_BYTES) != 0)
        i++;
    return i;
}

static void sketch_all(const struct policy *policy)
{
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    _cleanup_(document_sketcher_free_p) struct document_sketcher *sketcher = NULL;
    if (shingle_hash_new(policy, &hash) < 0 || document_sketcher_new(policy, hash, &sketcher) < 0)
        die("sketcher", ENOMEM);
    for (uint32_t i = 0; i < n_documents; i++)
        sketch_one(sketcher, &documents[i]);
    for (uint32_t i = 0; i < n_documents; i++)
        documents[i].first = first_of_text(i);
}

/* -- partitions: of each document the smallest number in its cluster -- */

static uint32_t *partition_of_ids(const uint64_t *ids)
{
    uint32_t *labels = memory(n_documents, sizeof(*labels));
    for (uint32_t i = 0; i < n_documents; i++) {
        labels[i] = i;
        for (uint32_t k = 0; ids[i] && k < i; k++)
            if (ids[k] == ids[i]) {
                labels[i] = k;
                break;
            }
    }
    return labels;
}

static uint32_t *partition_of_sets(struct union_find *sets)
{
    uint32_t *labels = memory(n_documents, sizeof(*labels));
    for (uint32_t i = 0; i < n_documents; i++)
        labels[i] = union_find_root(sets, i);
    union_find_done(sets);
    return labels;
}

static void sets_init(struct union_find *sets)
{
    if (union_find_init(sets, n_documents) < 0)
        die("memory", ENOMEM);
}

/* What one way has and another has not, in words. */
static bool same(const uint32_t *a, const uint32_t *b, const char *what_a, const char *what_b,
                 bool tell)
{
    for (uint32_t i = 0; i < n_documents; i++) {
        if (a[i] == b[i])
            continue;
        bool more = a[i] < b[i];
        if (tell)
            fprintf(stderr, "history: %s is with %s in the clusters of %s, not in those of %s\n",
                    documents[i].path, documents[more ? a[i] : b[i]].path, more ? what_a : what_b,
                    more ? what_b : what_a);
        return false;
    }
    return true;
}

/* -- the living index, and one made anew -- */

static uint32_t document_of(const struct file_key *key)
{
    uint32_t i = 0;
    while (i < n_documents && !file_key_equal(&documents[i].key, key))
        i++;
    return i;
}

/* Each listed cluster has the documents that say so, and no other. */
static bool listed_as_said(struct index *index, const uint64_t *ids)
{
    uint64_t listed[IDS_AT_ONCE], after = 0, n_members = 0, n_listed = 0, n_in_clusters = 0;
    int n;
    while ((n = index_cluster_ids(index, after, IDS_AT_ONCE, listed)) > 0) {
        for (int i = 0; i < n; i++) {
            _cleanup_(cluster_info_done) struct cluster_info info = {0};
            _cleanup_(kin_list_done) struct kin_list members = {0};
            struct index_query query = {0};
            if (index_cluster(index, listed[i], &query, &info, &members) < 0)
                return false;
            for (size_t k = 0; k < members.n_kin; k++) {
                uint32_t d = document_of(&members.kin[k].key);
                if (d < n_documents && ids[d] == listed[i])
                    n_members++;
                else
                    fprintf(stderr, "history: cluster %lu lists %s, which %s\n",
                            (unsigned long)listed[i], members.kin[k].path,
                            d < n_documents ? "says otherwise" : "is not there");
            }
            n_listed += members.n_kin;
        }
        after = listed[n - 1];
    }
    for (uint32_t i = 0; i < n_documents; i++)
        n_in_clusters += ids[i] != 0;
    if (n == 0 && n_members == n_in_clusters && n_listed == n_in_clusters)
        return true;
    fprintf(stderr, "history: %lu documents are in clusters, %lu are listed, %lu in theirs\n",
            (unsigned long)n_in_clusters, (unsigned long)n_listed, (unsigned long)n_members);
    return false;
}

static bool ask(const struct history *history, struct backing *backing, const char *store,
                uint64_t *ids)
{
    struct index *index = history_open_index(history, backing, store);
    int r = index_start(index);
    if (r == 0)
        r = index_settle(index, INDEX_LANE_ALL, -1);
    if (r < 0)
        die(store, -r);
    for (uint32_t i = 0; i < n_documents; i++) {
        struct document_info info;
        r = backing_key_at(backing, AT_FDCWD, documents[i].path, &documents[i].key);
        if (r == 0)
            r = index_document(index, &documents[i].key, &(struct index_query){.wait_ms = 1000},
                               &info);
        if (r < 0 || info.state != DOCUMENT_CURRENT) {
            fprintf(stderr, "history: %s of %s: %s\n", documents[i].path, store,
                    r < 0 ? strerror(-r) : "not current");
            return false;
        }
        ids[i] = info.cluster_id;
    }
    bool good = listed_as_said(index, ids);
    if (!good)
        fprintf(stderr, "history: the clusters of %s are not listed as its documents say\n", store);
    index_close(index, 0);
    return good;
}

/* Of a copy, so that the living one lives on. */
static bool ask_rebuilt(const struct history *history, struct backing *backing, uint64_t *ids)
{
    char command[256];
    char *error = NULL;
    const char *copy = scratch_path(history->root, "copy");
    const struct index_options options = {
        .backing = backing, .source = scratch_path(history->root, "tree"), .store_path = copy};
    snprintf(command, sizeof(command), "cp -a %s/store %s", history->root, copy);
    if (system(command) != 0)
        die(command, EIO);
    if (index_rebuild(&options, NULL, NULL, &error) < 0) {
        fprintf(stderr, "history: %s\n", error);
        return false;
    }
    bool good = ask(history, backing, "copy", ids);
    scratch_remove(copy);
    return good;
}

/* -- the other engine -- */

static uint32_t *batch(const struct history *history, const struct policy *policy,
                       enum batch_mode mode, uint32_t n_keys)
{
    const struct batch_options options = {
        .scratch = history->root,
        .memory_bytes = batch_least_memory(n_documents) + (16 << 20),
        .n_threads = 2,
        .mode = mode,
        .threshold = INDEX_CLUSTER_THRESHOLD,
        .n_documents = n_documents,
        .n_keys = n_keys,
    };
    _cleanup_(batch_free_p) struct batch *run = NULL;
    _cleanup_(batch_writer_free_p) struct batch_writer *writer = NULL;
    struct union_find sets;
    int r = batch_new(policy, &options, &run);
    if (r == 0)
        r = batch_writer_new(run, &writer);
    for (uint32_t i = 0; r == 0 && i < n_documents; i++)
        r = batch_writer_add(writer, i, &documents[i].sketch);
    if (r == 0)
        r = batch_writer_flush(writer);
    if (r == 0)
        r = batch_run(run);
    if (r < 0)
        die("batch", -r);
    sets_init(&sets);
    for (uint32_t i = 0; i < n_documents; i++)
        union_find_join(&sets, i, batch_clusters(run)[i]);
    return partition_of_sets(&sets);
}

/* -- all pairs -- */

/* n_keys: of the smallest values of each; SLOW_ALL_KEYS: any. */
static bool share(uint32_t a, uint32_t b, uint32_t n_keys)
{
    const struct min_sketch *x = &documents[a].sketch.sketch, *y = &documents[b].sketch.sketch;
    for (uint32_t i = 0; i < x->n_values && i < n_keys; i++)
        for (uint32_t k = 0; k < y->n_values && k < n_keys; k++)
            if (x->values[i] == y->values[k])
                return true;
    return false;
}

static bool has_shingles(uint32_t document)
{
    return documents[document].sketch.sketch.n_values > 0;
}

static bool resemble(uint32_t a, uint32_t b)
{
    if (!has_shingles(a) || !has_shingles(b))
        return has_shingles(a) == has_shingles(b) && documents[a].first == documents[b].first;
    return slow_resemblance(&documents[a].sketch.sketch, &documents[b].sketch.sketch) >=
           INDEX_CLUSTER_THRESHOLD;
}

struct pairs {
    uint32_t *few, *many, *all; /* partitions */
};

static struct pairs compare_all_pairs(struct history_truth *truth)
{
    struct union_find few, many, all;
    sets_init(&few);
    sets_init(&many);
    sets_init(&all);
    for (uint32_t i = 0; i < n_documents; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (!resemble(i, k))
                continue;
            bool is_few = !has_shingles(i) || share(i, k, FEW_KEYS);
            bool is_many = is_few || share(i, k, MANY_KEYS);
            union_find_join(&all, i, k);
            if (is_few)
                union_find_join(&few, i, k);
            if (is_many)
                union_find_join(&many, i, k);
            truth->n_pairs++;
            truth->n_apart16 += !is_few;
            truth->n_apart24 += !is_many;
        }
    }
    return (struct pairs){partition_of_sets(&few), partition_of_sets(&many),
                          partition_of_sets(&all)};
}

/* -- loose components, divided -- */

/* The texts of a component that have shingles, by their first documents, in that order. */
static uint32_t find_texts(const uint32_t *components, uint32_t component, uint32_t *texts)
{
    uint32_t n = 0;
    for (uint32_t i = component; i < n_documents; i++) {
        if (components[i] != component || documents[i].first != i || !has_shingles(i))
            continue;
        uint32_t at = n++;
        for (; at > 0 && documents[i].order < documents[texts[at - 1]].order; at--)
            texts[at] = texts[at - 1];
        texts[at] = i;
    }
    return n;
}

/* Of a partition into components those that are loose become their stars. Returns how many. */
static uint64_t divide(uint32_t **partition, uint32_t n_keys)
{
    _cleanup_free_ uint32_t *components = *partition;
    _cleanup_free_ uint32_t *texts = memory(n_documents, sizeof(*texts));
    _cleanup_free_ uint32_t *centres = memory(n_documents, sizeof(*centres));
    _cleanup_free_ uint32_t *centre_of = memory(n_documents, sizeof(*centre_of));
    _cleanup_free_ const struct min_sketch **sketches = memory(n_documents, sizeof(*sketches));
    uint32_t *labels = *partition = memory(n_documents, sizeof(*labels));
    uint64_t n_divided = 0;
    for (uint32_t of = 0; of < n_documents; of++) {
        const uint32_t n = components[of] == of ? find_texts(components, of, texts) : 0;
        const struct slow_component component = {sketches, n, n_keys, INDEX_CLUSTER_THRESHOLD};
        for (uint32_t i = 0; i < n; i++)
            sketches[i] = &documents[texts[i]].sketch.sketch;
        const bool loose = n && slow_is_loose(&component);
        n_divided += loose;
        if (loose)
            slow_stars(&component, false, centres);
        for (uint32_t i = 0; loose && i < n; i++)
            centre_of[texts[i]] = texts[centres[i]];
        for (uint32_t i = of; i < n_documents; i++) {
            if (components[i] != of)
                continue;
            labels[i] = loose ? i : of;
            for (uint32_t k = of; loose && k < i && labels[i] == i; k++)
                if (components[k] == of &&
                    centre_of[documents[k].first] == centre_of[documents[i].first])
                    labels[i] = k;
        }
    }
    return n_divided;
}

static void count(const uint32_t *labels, struct history_truth *truth)
{
    _cleanup_free_ uint32_t *sizes = memory(n_documents, sizeof(*sizes));
    truth->n_documents = n_documents;
    for (uint32_t i = 0; i < n_documents; i++)
        sizes[labels[i]]++;
    for (uint32_t i = 0; i < n_documents; i++) {
        truth->n_clusters += sizes[i] > 1;
        truth->n_clustered += sizes[i] > 1 ? sizes[i] : 0;
        truth->largest = sizes[i] > truth->largest ? sizes[i] : truth->largest;
    }
}

static bool same_ids(const uint64_t *living, const uint64_t *rebuilt)
{
    for (uint32_t i = 0; i < n_documents; i++) {
        if (living[i] != rebuilt[i]) {
            fprintf(stderr, "history: %s: cluster %lu, and %lu when rebuilt\n", documents[i].path,
                    (unsigned long)living[i], (unsigned long)rebuilt[i]);
            return false;
        }
    }
    return true;
}

static bool check(const struct history *history, struct history_truth *truth)
{
    struct backing *backing = history_open_tree(history);
    struct policy policy;
    if (store_identity_read_policy_file(scratch_path(history->root, "store"), &policy) < 0)
        die("policy", EIO);
    nftw(scratch_path(history->root, "tree"), see, 16, FTW_PHYS);
    _cleanup_free_ uint64_t *living = memory(n_documents, sizeof(*living));
    _cleanup_free_ uint64_t *rebuilt = memory(n_documents, sizeof(*rebuilt));
    bool good = ask(history, backing, "store", living) && ask_rebuilt(history, backing, rebuilt);
    backing_close(backing);
    if (!good)
        return false;

    sketch_all(&policy);
    struct pairs pairs = compare_all_pairs(truth);
    truth->n_divided = divide(&pairs.few, FEW_KEYS);
    divide(&pairs.all, SLOW_ALL_KEYS);
    _cleanup_free_ uint32_t *few = pairs.few, *many = pairs.many, *all = pairs.all;
    _cleanup_free_ uint32_t *of_living = partition_of_ids(living);
    _cleanup_free_ uint32_t *of_rebuilt = partition_of_ids(rebuilt);
    _cleanup_free_ uint32_t *batch_fast = batch(history, &policy, BATCH_FAST, FEW_KEYS);
    _cleanup_free_ uint32_t *batch_exact = batch(history, &policy, BATCH_EXACT, MANY_KEYS);
    count(of_living, truth);
    truth->same_as_all_pairs =
        same(of_living, all, "the living index", "all pairs", truth->n_apart16 > 0);
    return same(of_living, few, "the living index", "all pairs with one of 16", true) &&
           same(of_rebuilt, few, "the rebuilt index", "all pairs with one of 16", true) &&
           same(batch_fast, few, "mode fast", "all pairs with one of 16", true) &&
           same(batch_exact, many, "mode exact", "all pairs with one of 24, undivided", true) &&
           same_ids(living, rebuilt);
}

static void check_in_child(struct history *history, void *user)
{
    if (!check(history, user))
        _exit(1);
}

bool history_check(struct history *history, struct history_truth *ret_truth)
{
    struct history_truth *truth =
        mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (truth == MAP_FAILED)
        return false;
    bool good = history_in_child(check_in_child, history, truth);
    *ret_truth = *truth;
    munmap(truth, sizeof(*truth));
    return good;
}
