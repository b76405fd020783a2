/* Pairs and clusters of real documents as the engine finds them, against exact sets of shingles.
 *
 *   bench_clusters W KEYS FILE...
 *
 * All pairs are compared, by their sets of shingles, told apart by 128 bits, and by their sketches
 * under KEYS keys; the clusters are those of engine/cluster, mode exact, with as many fingerprints
 * a document as it has by itself, and with those of tier R of an index. Prints Markdown.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/cluster/batch.h"
#include "engine/cluster/large/union_find.h"
#include "engine/sketch/documents/exact_set.h"

enum {
    TIER_R_KEYS = 16,
    BATCH_KEYS = 24,
    FILES_MAX = 20000,
    BYTES_MAX = 1 << 20,
    N_THREADS = 2,
    CANDIDATE_KEYS = 40
};
static const double THRESHOLD = 0.5, LOW = 0.25, BAND = 2;

struct document {
    struct exact_set *set;
    double n;
    struct document_sketch sketch; /* its values are a copy */
    char *bytes;
    size_t n_bytes;
};

static struct document *documents;
static uint32_t n_documents;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* One that has no shingles is left out: it resembles nothing by either way. */
static void load(const char *path, unsigned w)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct document *document = &documents[n_documents];
    *document = (struct document){.bytes = malloc(BYTES_MAX)};
    if (fd < 0 || !document->bytes)
        die(path);
    ssize_t n = read(fd, document->bytes, BYTES_MAX);
    if (n == BYTES_MAX || n < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
        exact_set_read(fd, NULL, w, NULL, SIZE_MAX, &document->set) < 0)
        die(path);
    document->n_bytes = (size_t)n;
    document->n = (double)exact_set_count(document->set);
    document->bytes = realloc(document->bytes, document->n_bytes + 1);
    if (document->n > 0) {
        n_documents++;
        return;
    }
    exact_set_free(document->set);
    free(document->bytes);
}

static void sketch_all(const struct policy *policy)
{
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    _cleanup_(document_sketcher_free_p) struct document_sketcher *sketcher = NULL;
    if (shingle_hash_new(policy, &hash) < 0 || document_sketcher_new(policy, hash, &sketcher) < 0)
        die("sketcher");
    for (uint32_t i = 0; i < n_documents; i++) {
        struct document *document = &documents[i];
        struct min_sketch copy;
        min_sketch_done(&document->sketch.sketch);
        document_sketcher_begin(sketcher);
        document_sketcher_feed(sketcher, document->bytes, document->n_bytes);
        document_sketcher_finish(sketcher, &document->sketch);
        if (min_sketch_copy(&document->sketch.sketch, &copy) < 0)
            die("memory");
        document->sketch.sketch = copy;
    }
}

/* -- all pairs -- */

struct counts {
    uint64_t is, said, both;                /* at the threshold: exactly, estimated, and both */
    uint64_t near, near_missed, near_wrong; /* those whose error may be that of the estimate */
    uint64_t far_missed, far_wrong;         /* those whose error may not */
};

static struct union_find exact_sets, sketch_sets; /* any threads */
static float *exact_values;                       /* of the pairs, once for all keys; or NULL */
static bool values_known;

static bool share(const struct min_sketch *a, const struct min_sketch *b, uint32_t n_keys)
{
    for (uint32_t i = 0, k = 0; i < a->n_values && i < n_keys && k < b->n_values && k < n_keys;) {
        if (a->values[i] == b->values[k])
            return true;
        if (a->values[i] < b->values[k])
            i++;
        else
            k++;
    }
    return false;
}

/* Exactly; or 0 where the sizes alone say that it is less than LOW. */
static double resemblance(const struct document *a, const struct document *b)
{
    double r;
    if (fmin(a->n, b->n) < (LOW - 0.01) * fmax(a->n, b->n))
        return 0;
    if (exact_set_resemblance(a->set, b->set, &r) < 0)
        die("resemblance");
    return r;
}

static void count_pair(uint32_t x, uint32_t y, struct counts *counts)
{
    const struct document *a = &documents[x], *b = &documents[y];
    const struct min_sketch *p = &a->sketch.sketch, *q = &b->sketch.sketch;
    float *value = &exact_values[(size_t)x * (x - 1) / 2 + y];
    struct estimate estimate;
    if (!values_known)
        *value = (float)resemblance(a, b);
    double r = *value;
    if (min_sketch_resemblance(p, q, &estimate) < 0)
        die("estimate");
    bool is = r >= THRESHOLD, said = estimate.value >= THRESHOLD;
    bool near = fabs(r - THRESHOLD) <= BAND * estimate.error;
    counts->is += is;
    counts->said += said;
    counts->both += is && said;
    counts->near += near;
    counts->near_missed += near && is && !said;
    counts->near_wrong += near && said && !is;
    counts->far_missed += !near && is && !said;
    counts->far_wrong += !near && said && !is;
    if (is)
        union_find_join(&exact_sets, x, y);
    if (said)
        union_find_join(&sketch_sets, x, y);
}

struct share_of_pairs {
    pthread_t thread;
    uint32_t first;
    struct counts counts;
};

static void *count_some(void *user)
{
    struct share_of_pairs *some = user;
    for (uint32_t i = some->first; i < n_documents; i += N_THREADS)
        for (uint32_t k = 0; k < i; k++)
            count_pair(i, k, &some->counts);
    return NULL;
}

static struct counts count_pairs(void)
{
    struct share_of_pairs some[N_THREADS] = {0};
    struct counts all = {0};
    size_t n_pairs = (size_t)n_documents * n_documents / 2;
    if (!exact_values)
        exact_values = calloc(n_pairs + 1, sizeof(*exact_values));
    if (!exact_values || union_find_init(&exact_sets, n_documents) < 0 ||
        union_find_init(&sketch_sets, n_documents) < 0)
        die("memory");
    for (uint32_t i = 0; i < N_THREADS; i++) {
        some[i].first = i;
        if (pthread_create(&some[i].thread, NULL, count_some, &some[i]))
            die("thread");
    }
    for (uint32_t i = 0; i < N_THREADS; i++) {
        pthread_join(some[i].thread, NULL);
        uint64_t *to = (uint64_t *)&all, *from = (uint64_t *)&some[i].counts;
        for (size_t k = 0; k < sizeof(all) / sizeof(*to); k++)
            to[k] += from[k];
    }
    values_known = true;
    return all;
}

/* -- clusters -- */

/* Sketches that hold every shingle: whatever is computed from them is exact. */
static struct policy complete_policy(unsigned w)
{
    struct policy policy;
    if (policy_preset("default", &policy) < 0)
        die("policy");
    policy.w = w;
    policy.s = POLICY_S_MAX;
    policy.m = 1;
    policy.v_max = POLICY_V_MAX;
    memset(policy.key, 40, sizeof(policy.key));
    return policy;
}

static uint32_t *batch_labels(const struct policy *policy, uint32_t n_keys)
{
    const struct batch_options options = {
        .scratch = "/tmp",
        .memory_bytes = batch_least_memory(n_documents) + (256 << 20),
        .n_threads = N_THREADS,
        .mode = BATCH_EXACT,
        .threshold = THRESHOLD,
        .n_documents = n_documents,
        .n_keys = n_keys,
    };
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    _cleanup_(batch_writer_free_p) struct batch_writer *writer = NULL;
    uint32_t *labels = calloc(n_documents + 1, sizeof(*labels));
    int r = batch_new(policy, &options, &batch);
    if (r == 0)
        r = batch_writer_new(batch, &writer);
    for (uint32_t i = 0; r == 0 && i < n_documents; i++)
        r = batch_writer_add(writer, i, &documents[i].sketch);
    if (r == 0)
        r = batch_writer_flush(writer);
    if (r == 0)
        r = batch_run(batch);
    if (r < 0 || !labels)
        die("batch");
    memcpy(labels, batch_clusters(batch), n_documents * sizeof(*labels));
    return labels;
}

static uint32_t *labels_of(struct union_find *sets)
{
    uint32_t *labels = calloc(n_documents + 1, sizeof(*labels));
    if (!labels)
        die("memory");
    for (uint32_t i = 0; i < n_documents; i++)
        labels[i] = union_find_root(sets, i);
    union_find_done(sets);
    return labels;
}

static const uint32_t *by_a, *by_b;

static int compare_labels(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (by_a[x] != by_a[y])
        return by_a[x] < by_a[y] ? -1 : 1;
    return (by_b[x] > by_b[y]) - (by_b[x] < by_b[y]);
}

/* Pairs that are together in both of two partitions. */
static double together(const uint32_t *a, const uint32_t *b)
{
    _cleanup_free_ uint32_t *order = calloc(n_documents + 1, sizeof(*order));
    double pairs = 0;
    for (uint32_t i = 0; i < n_documents; i++)
        order[i] = i;
    by_a = a;
    by_b = b;
    qsort(order, n_documents, sizeof(*order), compare_labels);
    for (uint32_t i = 0, n = 0; i < n_documents; i++) {
        n = i > 0 && compare_labels(&order[i - 1], &order[i]) == 0 ? n + 1 : 0;
        pairs += n;
    }
    return pairs;
}

static void print_partition(const char *name, const uint32_t *labels, const uint32_t *exact)
{
    _cleanup_free_ uint32_t *sizes = calloc(n_documents + 1, sizeof(*sizes));
    uint32_t n_clusters = 0, n_in = 0, largest = 0;
    for (uint32_t i = 0; i < n_documents; i++)
        sizes[labels[i]]++;
    for (uint32_t i = 0; i < n_documents; i++) {
        n_clusters += sizes[i] > 1;
        n_in += sizes[i] > 1 ? sizes[i] : 0;
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    double all = (double)n_documents * (n_documents - 1) / 2, both = together(labels, exact);
    double here = together(labels, labels), there = together(exact, exact);
    double chance = here * there / all, ari = (both - chance) / ((here + there) / 2 - chance);
    printf("| %s | %u | %u | %u | %.4f | %.4f | %.4f |\n", name, n_clusters, n_in, largest,
           both / here, both / there, ari);
}

static void measure(unsigned w, unsigned key)
{
    struct policy policy;
    if (policy_preset("default", &policy) < 0)
        die("policy");
    policy.w = w;
    memset(policy.key, (int)(41 + key), sizeof(policy.key));
    sketch_all(&policy);
    struct counts counts = count_pairs();
    _cleanup_free_ uint32_t *exact = labels_of(&exact_sets), *sketches = labels_of(&sketch_sets);
    _cleanup_free_ uint32_t *few = batch_labels(&policy, TIER_R_KEYS);
    _cleanup_free_ uint32_t *many = batch_labels(&policy, BATCH_KEYS);
    double precision = (double)counts.both / (double)counts.said;
    double recall = (double)counts.both / (double)counts.is;
    printf(
        "\nKey %u\n\n| pairs at 0.5 | estimated so | precision | recall | F1 |"
        " within 2 standard errors of 0.5 | of them missed, wrong | of the others missed, wrong |"
        "\n|---|---|---|---|---|---|---|---|\n",
        key);
    printf("| %lu | %lu | %.4f | %.4f | %.4f | %lu | %lu, %lu | %lu, %lu |\n",
           (unsigned long)counts.is, (unsigned long)counts.said, precision, recall,
           2 * precision * recall / (precision + recall), (unsigned long)counts.near,
           (unsigned long)counts.near_missed, (unsigned long)counts.near_wrong,
           (unsigned long)counts.far_missed, (unsigned long)counts.far_wrong);
    printf("\n| clusters of | clusters | documents in them | largest | pairs together: precision |"
           " recall | ARI |\n|---|---|---|---|---|---|---|\n");
    print_partition("exact sets, all pairs", exact, exact);
    print_partition("sketches, all pairs", sketches, exact);
    print_partition("mode exact, 24 fingerprints", many, exact);
    print_partition("mode exact, 16 fingerprints", few, exact);
    policy = complete_policy(w);
    sketch_all(&policy);
    _cleanup_free_ uint32_t *complete = batch_labels(&policy, BATCH_KEYS);
    print_partition("mode exact, sketches of all shingles", complete, exact);
    fflush(stdout);
}

/* -- candidates over many keys -- */

/* Pairs of one key have or have not something in common together, where they have it from the same
 * text: so what is lost shows over many keys only. */
static void measure_candidates(unsigned w, unsigned n_keys)
{
    double found[2][2] = {{0}}, worst[2][2] = {{1, 1}, {1, 1}}, n_pairs[2] = {0};
    for (unsigned key = 1; key <= n_keys; key++) {
        struct policy policy;
        double n[2][2] = {{0}};
        if (policy_preset("default", &policy) < 0)
            die("policy");
        policy.w = w;
        memset(policy.key, (int)(100 + key), sizeof(policy.key));
        sketch_all(&policy);
        n_pairs[0] = n_pairs[1] = 0;
        for (uint32_t i = 0; i < n_documents; i++) {
            for (uint32_t k = 0; k < i; k++) {
                double r = exact_values[(size_t)i * (i - 1) / 2 + k];
                const struct min_sketch *a = &documents[i].sketch.sketch;
                const struct min_sketch *b = &documents[k].sketch.sketch;
                if (r < LOW)
                    continue;
                bool few = share(a, b, TIER_R_KEYS), many = share(a, b, BATCH_KEYS);
                for (int level = 0; level <= (r >= THRESHOLD); level++) {
                    n_pairs[level]++;
                    n[level][0] += few;
                    n[level][1] += many;
                }
            }
        }
        for (int level = 0; level < 2; level++) {
            for (int way = 0; way < 2; way++) {
                double share_found = n[level][way] / n_pairs[level];
                found[level][way] += share_found / n_keys;
                worst[level][way] = fmin(worst[level][way], share_found);
            }
        }
    }
    printf(
        "\nCandidates over %u keys\n\n| exact r at least | pairs | one of 16 smallest fingerprints"
        " in common: mean, worst key | one of 24: mean, worst key |\n|---|---|---|---|\n",
        n_keys);
    for (int level = 1; level >= 0; level--)
        printf("| %.2f | %.0f | %.6f, %.6f | %.6f, %.6f |\n", level ? THRESHOLD : LOW,
               n_pairs[level], found[level][0], worst[level][0], found[level][1], worst[level][1]);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: bench_clusters W KEYS FILE...\n");
        return 2;
    }
    documents = calloc(FILES_MAX, sizeof(*documents));
    for (int i = 3; i < argc && n_documents < FILES_MAX; i++)
        load(argv[i], (unsigned)atoi(argv[1]));
    printf("\n%u documents, all %.0f pairs\n", n_documents,
           (double)n_documents * (n_documents - 1) / 2);
    for (unsigned key = 1; key <= (unsigned)atoi(argv[2]); key++)
        measure((unsigned)atoi(argv[1]), key);
    measure_candidates((unsigned)atoi(argv[1]), CANDIDATE_KEYS);
    return 0;
}
