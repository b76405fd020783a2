/* How good the estimates are on real documents, against the exact sets of shingles.
 *
 *   bench_estimators errors W KEYS FILE...        every family: bias, scatter, coverage
 *   bench_estimators threshold W KEYS FILE...     pairs at a threshold: precision and recall
 *   bench_estimators versions W N OLD NEW         which threshold finds the same page of two
 * versions
 *
 * Pairs of one key have errors that hang together, so whatever is averaged over pairs has its
 * uncertainty from the keys: a bias is a mean over KEYS independent keys of the mean over pairs.
 * Exact sets tell shingles apart by 128 bits, which each key fingerprints anew. Prints Markdown.
 */
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "engine/sketch/documents/exact_set.h"
#include "engine/sketch/families/family.h"
#include "engine/sketch/hash/shingle_hash.h"

enum { N_BINS = 20, PAIRS_A_BIN = 12, FILES_MAX = 2500 };

struct document {
    struct exact_set *set;
    struct sketch sketch;
    bool wanted; /* to be sketched */
};

struct pair {
    size_t a, b;
    double r, common;
};

static struct document *documents;
static size_t n_documents;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void load(const char *path, unsigned w)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct document *document = &documents[n_documents];
    if (fd < 0 || exact_set_read(fd, NULL, w, NULL, SIZE_MAX, &document->set) < 0)
        die(path);
    if (exact_set_count(document->set) > 0)
        n_documents++;
    else
        exact_set_free(document->set);
}

static void load_all(char **paths, int n, unsigned w)
{
    documents = calloc(FILES_MAX, sizeof(*documents));
    for (int i = 0; i < n && n_documents < FILES_MAX; i++)
        load(paths[i], w);
}

static struct pair pair_of(size_t a, size_t b)
{
    struct pair pair = {.a = a, .b = b};
    if (exact_set_resemblance(documents[a].set, documents[b].set, &pair.r) < 0)
        die("resemblance");
    double n = (double)(exact_set_count(documents[a].set) + exact_set_count(documents[b].set));
    pair.common = round(n * pair.r / (1 + pair.r));
    return pair;
}

static void make_key(unsigned number, uint8_t key[SKETCH_KEY_BYTES])
{
    static const uint8_t from[SKETCH_KEY_BYTES] = "bench_estimators";
    char purpose[32];
    snprintf(purpose, sizeof(purpose), "key %u", number);
    if (sketch_key_derive(from, purpose, key, SKETCH_KEY_BYTES) < 0)
        die("key");
}

static void sketch_all(const struct sketch_family *family, unsigned number)
{
    uint8_t key[SKETCH_KEY_BYTES];
    make_key(number, key);
    struct policy policy;
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    _cleanup_(sketcher_free_p) struct sketcher *sketcher = NULL;
    if (policy_preset("default", &policy) < 0)
        die("policy");
    memcpy(policy.key, key, POLICY_KEY_BYTES);
    if (shingle_hash_new(&policy, &hash) < 0 || sketcher_new(family, key, &sketcher) < 0)
        die(family->name);
    for (size_t i = 0; i < n_documents; i++) {
        if (!documents[i].wanted)
            continue;
        size_t n = exact_set_count(documents[i].set);
        _cleanup_free_ struct feature *features = malloc(n * sizeof(*features));
        _cleanup_free_ uint64_t *elements = malloc(n * sizeof(*elements));
        exact_set_features(documents[i].set, features);
        shingle_hash_features(hash, features, n, elements);
        sketcher_begin(sketcher);
        sketch_done(&documents[i].sketch);
        if (sketcher_add(sketcher, elements, n) < 0 ||
            sketcher_finish(sketcher, &documents[i].sketch) < 0)
            die(family->name);
    }
}

/* -- errors -- */

/* Up to PAIRS_A_BIN pairs of each twentieth of r, in the order of a fixed shuffle; none that is 0
 * or 1 (which every family gets right). Returns how many. */
static size_t choose_pairs(struct pair *pairs)
{
    size_t n = 0, n_of_bin[N_BINS] = {0};
    unsigned seed = 1;
    size_t tries = n_documents * n_documents;
    for (size_t i = 0; i < tries && i < 3000000; i++) {
        size_t a = (size_t)rand_r(&seed) % n_documents, b = (size_t)rand_r(&seed) % n_documents;
        if (i % 2) /* neighbours in the list more often: they are often of one source */
            b = (a + 1 + b % 8) % n_documents;
        if (a == b)
            continue;
        struct pair pair = pair_of(a, b);
        if (pair.r == 0 || pair.r == 1)
            continue;
        size_t bin = (size_t)(pair.r * N_BINS);
        if (n_of_bin[bin] < PAIRS_A_BIN) {
            n_of_bin[bin]++;
            pairs[n++] = pair;
            documents[a].wanted = documents[b].wanted = true;
        }
    }
    return n;
}

static double exact_value(const struct sketch_family *family, const struct pair *pair)
{
    double n_a = (double)exact_set_count(documents[pair->a].set);
    double n_b = (double)exact_set_count(documents[pair->b].set);
    switch (family->measure) {
    case SKETCH_RESEMBLANCE: return pair->r;
    case SKETCH_SUPER: return pow(pair->r, 14);
    case SKETCH_HAMMING: return n_a + n_b - 2 * pair->common;
    case SKETCH_COSINE: return pair->common / sqrt(n_a * n_b);
    case SKETCH_RUNS: break;
    }
    return NAN;
}

struct errors {
    double sum, sum_squares; /* of the mean error under a key, over keys */
    double squares, claimed; /* of all errors, and of what they were said to be */
    size_t n_keys, n, n_covered, n_refused, n_bytes;
};

static void add_key(struct errors *errors, const struct sketch_family *family,
                    const struct pair *pairs, size_t n_pairs, bool containment)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < n_pairs; i++) {
        const struct pair *pair = &pairs[i];
        struct sketch *a = &documents[pair->a].sketch, *b = &documents[pair->b].sketch;
        struct estimate estimate;
        int r =
            containment ? sketch_containment(a, b, &estimate) : sketch_estimate(a, b, &estimate);
        if (r < 0 || isnan(estimate.error)) {
            errors->n_refused++;
            continue;
        }
        double exact = containment ? pair->common / (double)exact_set_count(documents[pair->a].set)
                                   : exact_value(family, pair);
        double error = estimate.value - exact;
        errors->squares += error * error;
        errors->claimed += estimate.error * estimate.error;
        errors->n_covered += fabs(error) <= 1.96 * estimate.error + 1e-12;
        errors->n_bytes += a->size_bytes;
        errors->n++;
        sum += error;
        n++;
    }
    if (n == 0)
        return;
    errors->sum += sum / (double)n;
    errors->sum_squares += sum / (double)n * (sum / (double)n);
    errors->n_keys++;
}

static void print_errors(const char *name, const char *measure, const struct errors *errors)
{
    if (errors->n_keys < 2)
        return;
    double keys = (double)errors->n_keys, bias = errors->sum / keys;
    double deviation = sqrt(fmax(0, errors->sum_squares / keys - bias * bias) / (keys - 1));
    printf("| %s | %s | %.0f | %+.5f +- %.5f | %.4f | %.2f | %.1f %% | %zu |\n", name, measure,
           (double)errors->n_bytes / (double)errors->n, bias, deviation,
           sqrt(errors->squares / (double)errors->n), sqrt(errors->squares / errors->claimed),
           100. * (double)errors->n_covered / (double)errors->n, errors->n_refused);
    fflush(stdout);
}

static void measure_errors(unsigned n_keys)
{
    static struct pair pairs[N_BINS * PAIRS_A_BIN];
    static const char *const measures[] = {"r", "r^14", "runs", "Hamming", "cosine"};
    size_t n_pairs = choose_pairs(pairs);
    printf("\n%zu documents, %zu pairs, %u keys\n\n", n_documents, n_pairs, n_keys);
    printf("| sketch | estimates | bytes | bias | RMSE | RMSE / claimed | in the 95 %% interval |"
           " no answer |\n|---|---|---|---|---|---|---|---|\n");
    for (const struct sketch_family *const *family = sketch_families; *family; family++) {
        struct errors value = {0}, containment = {0};
        if ((*family)->measure == SKETCH_RUNS)
            continue;
        for (unsigned key = 0; key < n_keys; key++) {
            sketch_all(*family, key);
            add_key(&value, *family, pairs, n_pairs, false);
            if ((*family)->containment)
                add_key(&containment, *family, pairs, n_pairs, true);
        }
        print_errors((*family)->name, measures[(*family)->measure], &value);
        print_errors((*family)->name, "c", &containment);
    }
}

/* -- threshold -- */

static void print_share(double part, double whole)
{
    if (whole > 0)
        printf(" %.4f |", part / whole);
    else
        printf(" - |");
}

static void measure_threshold(unsigned n_keys)
{
    for (size_t i = 0; i < n_documents; i++)
        documents[i].wanted = true;
    enum { N_THRESHOLDS = 9 };
    double n_true[N_THRESHOLDS] = {0}, n_said[N_THRESHOLDS] = {0}, n_both[N_THRESHOLDS] = {0};
    for (unsigned key = 0; key < n_keys; key++) {
        sketch_all(sketch_families[0], key);
        for (size_t a = 0; a < n_documents; a++) {
            for (size_t b = 0; b < a; b++) {
                struct estimate estimate;
                if (sketch_estimate(&documents[a].sketch, &documents[b].sketch, &estimate) < 0)
                    continue;
                double r = pair_of(a, b).r;
                for (int t = 0; t < N_THRESHOLDS; t++) {
                    bool is = r >= (t + 1) / 10., said = estimate.value >= (t + 1) / 10.;
                    n_true[t] += is;
                    n_said[t] += said;
                    n_both[t] += is && said;
                }
            }
        }
    }
    printf("\n%zu documents, all pairs, %u keys\n\n| threshold | pairs | precision | recall |\n"
           "|---|---|---|---|\n",
           n_documents, n_keys);
    for (int t = 0; t < N_THRESHOLDS; t++) {
        printf("| %.1f | %.0f |", (t + 1) / 10., n_true[t] / n_keys);
        print_share(n_both[t], n_said[t]);
        print_share(n_both[t], n_true[t]);
        printf("\n");
    }
}

/* -- versions -- */

static char **pages;
static size_t n_pages, prefix_bytes;

static int add_page(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F || !S_ISREG(st->st_mode) || st->st_size < 200)
        return 0;
    pages = reallocarray(pages, n_pages + 1, sizeof(*pages));
    pages[n_pages++] = strdup(path + prefix_bytes);
    return 0;
}

static int compare_pages(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Pages of both versions, by path; those that did not change are left out: whatever is measured
 * finds them. What has another path is another page. */
static void measure_versions(unsigned w, size_t n_wanted, const char *old, const char *new)
{
    prefix_bytes = strlen(old);
    nftw(old, add_page, 32, FTW_PHYS);
    qsort(pages, n_pages, sizeof(*pages), compare_pages);
    documents = calloc(FILES_MAX, sizeof(*documents));
    size_t n = 0, step = 1;
    /* The changed ones first, as few as they are; then so many of the others that they can be taken
     * for each other. */
    for (int changed = 1; changed >= 0; changed--) {
        for (size_t i = 0; i < n_pages && n < n_wanted; i += step) {
            _cleanup_free_ char *a = NULL, *b = NULL;
            if (asprintf(&a, "%s%s", old, pages[i]) < 0 || asprintf(&b, "%s%s", new, pages[i]) < 0)
                die("memory");
            struct stat st;
            if (stat(b, &st) < 0)
                continue;
            size_t before = n_documents;
            load(a, w);
            if (n_documents == before + 1)
                load(b, w);
            double r = 1;
            if (n_documents == before + 2)
                r = pair_of(before, before + 1).r;
            if (n_documents == before + 2 && (r < 1) == changed) {
                n++;
                continue;
            }
            while (n_documents > before)
                exact_set_free(documents[--n_documents].set);
        }
        if (changed)
            printf("\nw = %u: %zu pages that changed", w, n);
        step = n_pages / n_wanted + 1;
    }
    size_t n_pairs = n_documents / 2;
    printf(" among %zu\n\n| threshold | of changed pages found | pairs of different pages taken for"
           " one, of %zu |\n|---|---|---|\n",
           n_pairs, n_pairs * (n_pairs - 1));
    double found[10] = {0}, wrong[10] = {0}, n_changed = 0;
    for (size_t i = 0; i < n_pairs; i++) {
        for (size_t j = 0; j < n_pairs; j++) {
            double r = pair_of(2 * i, 2 * j + 1).r;
            n_changed += i == j && r < 1;
            for (int t = 1; t < 10; t++) {
                found[t] += i == j && r < 1 && r >= t / 10.;
                wrong[t] += i != j && r >= t / 10.;
            }
        }
    }
    for (int t = 1; t < 10; t++)
        printf("| %.1f | %.4f | %.0f |\n", t / 10., found[t] / n_changed, wrong[t]);
}

int main(int argc, char **argv)
{
    unsigned w = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    unsigned n = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    if (argc > 5 && strcmp(argv[1], "versions") == 0) {
        measure_versions(w, n, argv[4], argv[5]);
    } else if (argc > 4 && strcmp(argv[1], "errors") == 0) {
        load_all(argv + 4, argc - 4, w);
        measure_errors(n);
    } else if (argc > 4 && strcmp(argv[1], "threshold") == 0) {
        load_all(argv + 4, argc - 4, w);
        measure_threshold(n);
    } else {
        fprintf(stderr, "usage: bench_estimators errors|threshold W KEYS FILE...\n"
                        "       bench_estimators versions W N OLD NEW\n");
        return 2;
    }
    return 0;
}
