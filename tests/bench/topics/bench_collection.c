/* How true topics are, on a collection with a gold standard (gold.h). Scratch files below $TMPDIR.
 *
 *   bench_collection nearest TREE GOLD       a line for each way to make bags: what it is; bags; of
 *                                            the ten nearest of those with a label how many are
 * about the same, by chance, at best; at .10 and at .20 each how many of 100 have a neighbour, how
 * many they have, and how many of the ten nearest of these are about the same; the median of the
 * nearest one's resemblance bench_collection recall TREE             of the ten nearest how many
 * candidates have (sketched.h) bench_collection clusters TREE GOLD      clusters against labels
 * (sketched.h) bench_collection queries TREE GOLD N     N documents by chance with their ten
 * nearest, as an index has them, whole bench_collection stored TREE STORE N     of N documents by
 * chance the ten nearest, by comparing their bags with all, made by the store's key
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "engine/index/store_identity.h"
#include "tests/bench/topics/agreement.h"
#include "tests/bench/topics/sketched.h"

enum { SEED = 2000, AT = 10 };

/* The key of those that are not to be compared with a store. */
static int policy_of(const char *store, struct policy *ret_policy)
{
    int r = store ? store_identity_read_policy_file(store, ret_policy)
                  : policy_preset("default", ret_policy);
    if (!store)
        memset(ret_policy->key, 0, sizeof(ret_policy->key));
    return r;
}

/* -- the nearest -- */

static const double shown_at[] = {0.10, 0.20};
enum { N_SHOWN_AT = sizeof(shown_at) / sizeof(shown_at[0]) };

struct nearest {
    double precision, chance, best;
    uint32_t n;                  /* of those */
    double n_near[N_SHOWN_AT];   /* of all documents */
    uint32_t n_with[N_SHOWN_AT]; /* documents that have one */
    double n_shown[N_SHOWN_AT], n_right[N_SHOWN_AT];
    uint32_t n_of_nearest[RANKS];
};

/* Of those that have a resemblance at least. */
static struct ranks ranks_from(const struct ranks *ranks, unsigned least)
{
    struct ranks some = *ranks;
    memset(some.all, 0, least * sizeof(some.all[0]));
    memset(some.relevant, 0, least * sizeof(some.relevant[0]));
    return some;
}

static uint32_t n_of(const struct ranks *ranks)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < RANKS; i++)
        n += ranks->all[i];
    return n;
}

static void add_document(struct nearest *nearest, const struct gold *gold, uint32_t one,
                         const uint8_t *common, uint8_t *marks)
{
    struct ranks all = {0}, labelled = {0};
    unsigned most = 0;
    memset(marks, 0, gold->n_documents);
    const uint32_t n_relevant = gold_mark(gold, one, 1, marks);
    for (uint32_t i = 0; i < gold->n_documents; i++) {
        most = common[i] > most ? common[i] : most;
        all.all[common[i]]++;
        if (gold_label(gold, i) != GOLD_NONE) {
            labelled.all[common[i]]++;
            labelled.relevant[common[i]] += marks[i];
        }
    }
    nearest->n_of_nearest[most]++;
    for (unsigned k = 0; k < N_SHOWN_AT; k++) {
        const struct ranks near = ranks_from(&all, common_least(shown_at[k])),
                           known = ranks_from(&labelled, common_least(shown_at[k]));
        const uint32_t n = n_of(&near), n_known = n_of(&known);
        nearest->n_near[k] += n;
        nearest->n_with[k] += n > 0;
        if (n_relevant) {
            nearest->n_shown[k] += n_known < AT ? n_known : AT;
            nearest->n_right[k] += precision_at(&known, AT) * AT;
        }
    }
    if (n_relevant == 0)
        return;
    nearest->n++;
    nearest->precision += precision_at(&labelled, AT);
    nearest->chance += precision_by_chance(n_relevant, gold->n_labelled - 1);
    nearest->best += precision_at_best(n_relevant, AT);
}

static double median_of(const struct nearest *nearest, uint32_t n)
{
    uint32_t seen = 0;
    unsigned common = 0;
    while (common < RANKS - 1 && 2 * (seen += nearest->n_of_nearest[common]) < n)
        common++;
    return common_resemblance(common);
}

static int print_nearest(const char *way, const struct bags *bags, const struct gold *gold)
{
    struct nearest nearest = {0};
    _cleanup_free_ uint8_t *common = malloc(bags->n + 1), *marks = malloc(bags->n + 1);
    _cleanup_(all_pairs_free_p) struct all_pairs *pairs = NULL;
    if (!common || !marks)
        return -ENOMEM;
    int r = all_pairs_new(bags->bags, bags->n, &pairs);
    for (uint32_t i = 0; r == 0 && i < bags->n; i++) {
        all_pairs_of(pairs, i, common);
        add_document(&nearest, gold, i, common, marks);
    }
    if (r < 0)
        return r;
    const double n = nearest.n ? nearest.n : 1;
    printf("%s\t%llu\t%.3f\t%.3f\t%.3f", way, (unsigned long long)(bags->n + bags->n_other),
           nearest.precision / n, nearest.chance / n, nearest.best / n);
    for (unsigned k = 0; k < N_SHOWN_AT; k++)
        printf("\t%.0f\t%.1f\t%.3f", 100.0 * nearest.n_with[k] / bags->n,
               nearest.n_near[k] / bags->n,
               nearest.n_shown[k] > 0 ? nearest.n_right[k] / nearest.n_shown[k] : 0);
    printf("\t%.3f\n", median_of(&nearest, bags->n));
    fflush(stdout);
    return 0;
}

/* An index as it is, and with other bounds of df. */
static int nearest_of_index(struct collection *collection, const struct gold *gold)
{
    static const struct {
        const char *name;
        struct bag_weighing weighing;
    } ways[] = {{"index", {0}}, /* its own */
                {"index, df 1 to N/2", {1, 0.5, true}},
                {"index, df 2 to N/16", {2, 0.0625, true}},
                {"index, df 2 to N/8", {2, 0.125, true}},
                {"index, df 2 to N/4", {2, 0.25, true}},
                {"index, df 2 to N", {2, 1, true}}};
    struct policy policy;
    int r = policy_of(NULL, &policy);
    for (size_t i = 0; r == 0 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        _cleanup_(bags_done) struct bags bags = {0};
        r = bags_of_index(collection, &policy, i ? &ways[i].weighing : NULL, &bags);
        if (r == 0)
            r = print_nearest(ways[i].name, &bags, gold);
    }
    return r;
}

static int nearest_of_links(struct collection *collection, const struct gold *gold)
{
    static const uint32_t windows[] = {0, 4, 8, 16};
    static const char *const names[] = {"anchor", "content", "both"};
    int r = 0;
    for (enum topics_bags kind = TOPICS_ANCHOR; r == 0 && kind <= TOPICS_BOTH; kind++)
        for (unsigned k = 0; r == 0 && k < (kind == TOPICS_CONTENT ? 1 : 4); k++)
            for (int idf = 1; r == 0 && idf >= 0; idf--) {
                _cleanup_(bags_done) struct bags bags = {0};
                const struct bags_way way = {kind, windows[k], idf};
                char name[64];
                snprintf(name, sizeof(name), "%s %u%s", names[kind], windows[k],
                         idf ? "" : ", frequencies");
                r = bags_of_links(collection, &way, &bags);
                if (r == 0)
                    r = print_nearest(name, &bags, gold);
            }
    return r;
}

static int nearest(struct collection *collection, char **argv)
{
    _cleanup_(gold_done) struct gold gold = {0};
    int r = gold_read(argv[0], collection->names, collection->n, &gold);
    if (r == 0)
        r = nearest_of_index(collection, &gold);
    return r < 0 ? r : nearest_of_links(collection, &gold);
}

/* -- single documents -- */

struct found {
    uint32_t document;
    double resemblance;
};

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->resemblance != y->resemblance)
        return x->resemblance < y->resemblance ? 1 : -1;
    return (x->document > y->document) - (x->document < y->document);
}

/* All others that have a word in common, the nearest first: by comparing both bags, not by lists.
 * Gives; NULL: no memory. */
static struct found *compare_all(const struct bags *bags, uint32_t one, size_t *ret_n)
{
    struct found *found = calloc((size_t)bags->n + 1, sizeof(*found));
    size_t n = 0;
    for (uint32_t i = 0; found && i < bags->n; i++) {
        double value;
        if (i != one && bag_resemblance(&bags->bags[one], &bags->bags[i], &value) == 0 && value > 0)
            found[n++] = (struct found){i, value};
    }
    if (n)
        qsort(found, n, sizeof(*found), compare_found);
    *ret_n = n;
    return found;
}

static void print_labels(const struct gold *gold, uint32_t document)
{
    for (uint32_t i = gold->labels_of[document]; i < gold->labels_of[document + 1]; i++)
        printf("%s%s", i == gold->labels_of[document] ? "  [" : ", ",
               gold->names[gold->labels[i].label]);
    if (gold_label(gold, document) != GOLD_NONE)
        printf("]");
}

/* One with its ten nearest. */
static int print_document(const struct collection *collection, const struct bags *bags,
                          const struct gold *gold, uint32_t one)
{
    size_t n;
    _cleanup_free_ struct found *found = compare_all(bags, one, &n);
    _cleanup_free_ uint8_t *marks = calloc((size_t)bags->n + 1, 1);
    if (!found || !marks)
        return -ENOMEM;
    if (gold)
        gold_mark(gold, one, 1, marks);
    printf("%s%s", gold ? "\n" : "", collection->names[one]);
    if (gold)
        print_labels(gold, one);
    putchar('\n');
    for (size_t i = 0; i < n && i < AT; i++) {
        printf("%s%.4f\t%s", gold ? (marks[found[i].document] ? "  + " : "    ") : "",
               found[i].resemblance, collection->names[found[i].document]);
        if (gold)
            print_labels(gold, found[i].document);
        putchar('\n');
    }
    return 0;
}

static int single(struct collection *collection, const char *store, const char *gold_path,
                  unsigned n)
{
    _cleanup_(bags_done) struct bags bags = {0};
    _cleanup_(gold_done) struct gold gold = {0};
    struct policy policy;
    uint64_t seed = SEED;
    int r = policy_of(store, &policy);
    if (r == 0 && gold_path)
        r = gold_read(gold_path, collection->names, collection->n, &gold);
    if (r == 0)
        r = bags_of_index(collection, &policy, NULL, &bags);
    while (r == 0 && n > 0) {
        const uint32_t one = (uint32_t)(mix64_next(&seed) % bags.n);
        if (bags.bags[one].n_words == 0 || (gold_path && gold_label(&gold, one) == GOLD_NONE))
            continue;
        r = print_document(collection, &bags, gold_path ? &gold : NULL, one);
        n--;
    }
    return r;
}

static int queries(struct collection *collection, char **argv)
{
    return single(collection, NULL, argv[0], (unsigned)atoi(argv[1]));
}

static int stored(struct collection *collection, char **argv)
{
    return single(collection, argv[0], NULL, (unsigned)atoi(argv[1]));
}

/* -- */

static int recall(struct collection *collection, char **argv)
{
    (void)argv;
    return sketched_recall(collection);
}

static int clusters(struct collection *collection, char **argv)
{
    return sketched_clusters(collection, argv[0]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int n;
        int (*run)(struct collection *collection, char **argv);
    } works[] = {{"nearest", 4, nearest},
                 {"recall", 3, recall},
                 {"clusters", 4, clusters},
                 {"queries", 5, queries},
                 {"stored", 5, stored}};
    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
        struct collection collection = {0};
        if (argc != works[i].n || strcmp(argv[1], works[i].name) != 0)
            continue;
        int r = collection_open(argv[2], &collection);
        if (r == 0)
            r = works[i].run(&collection, argv + 3);
        collection_done(&collection);
        if (r < 0)
            fprintf(stderr, "%s: %s\n", argv[2], strerror(-r));
        return r < 0;
    }
    fputs("usage: see the comment on top of tests/bench/topics/bench_collection.c\n", stderr);
    return 2;
}
