#include "tests/bench/topics/sketched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"
#include "engine/topic/near/centres.h"
#include "engine/topic/near/near.h"
#include "engine/topic/weighted/flat.h"
#include "tests/bench/topics/agreement.h"

enum { SEEDS = 3, AT = 10, MEMORY_MIB = 1024, WINDOW = 8, TIMES = 20 };

static const struct {
    const char *name;
    enum topics_bags kind;
} kinds[] = {{"content", TOPICS_CONTENT}, {"anchor", TOPICS_ANCHOR}, {"both", TOPICS_BOTH}};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static int make_bags(struct collection *collection, unsigned kind, struct bags *ret_bags)
{
    const struct bags_way way = {kinds[kind].kind, WINDOW, true};
    return bags_of_links(collection, &way, ret_bags);
}

/* -- sketches -- */

/* A way from sketches to pairs that are near; least 0: candidates are compared in full. */
struct way {
    unsigned n_draws, k;
    double least;
};

/* The documents in an order by chance: place i has document order[i]. */
static void shuffle(uint64_t seed, uint32_t n, uint32_t *ret_order)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t j = (uint32_t)(mix64_next(&seed) % (i + 1));
        ret_order[i] = ret_order[j];
        ret_order[j] = i;
    }
}

static int sketch(const struct bags *bags, const uint32_t *order, uint64_t seed,
                  struct signatures *ret_signatures)
{
    uint8_t key[SKETCH_KEY_BYTES] = {0};
    memcpy(key, &seed, sizeof(seed));
    _cleanup_(flat_hash_free_p) struct flat_hash *hash = NULL;
    _cleanup_free_ struct signatures_block *block = calloc(1, sizeof(*block));
    int r = block ? flat_hash_new(key, 1, &hash) : -ENOMEM;
    if (r == 0)
        r = signatures_init(bags->n, collection_scratch(), (uint64_t)MEMORY_MIB << 20,
                            ret_signatures);
    for (uint32_t b = 0; r == 0 && b < ret_signatures->n_blocks; b++) {
        const uint32_t n = signatures_nodes(ret_signatures, b);
        for (uint32_t i = 0; r == 0 && i < n; i++) {
            struct bag_sketch one;
            r = flat_sketch(hash, &bags->bags[order[b * SIGNATURES_BLOCK + i]], &one);
            signatures_set(block, i, &one);
        }
        if (r == 0)
            r = signatures_put(ret_signatures, b, block);
    }
    return r;
}

static int find(struct signatures *signatures, const struct way *way, uint64_t seed,
                struct relations *ret_relations)
{
    struct near_totals totals;
    const struct near_options options = {
        .n_draws = way->n_draws,
        .k = way->k,
        .seed = seed,
        .heads = signatures->n_nodes,
        .n_compared = BAG_SIGNATURES,
        .least_agreeing = way->least > 0 ? signatures_expected(way->least, BAG_SIGNATURES) : 1,
        .memory_bytes = (uint64_t)MEMORY_MIB << 20,
        .n_threads = 1,
        .scratch = collection_scratch(),
    };
    return near_find(signatures, &options, ret_relations, &totals);
}

/* -- recall -- */

static const double thresholds[] = {0.10, 0.20};
enum { N_THRESHOLDS = sizeof(thresholds) / sizeof(thresholds[0]) };

struct nearest {
    uint32_t document;
    uint8_t common; /* 0: there are no more */
};

static void keep_nearest(const uint8_t *common, uint32_t n, struct nearest nearest[AT])
{
    memset(nearest, 0, AT * sizeof(*nearest));
    for (uint32_t i = 0; i < n; i++) {
        unsigned at = AT;
        for (; at > 0 && common[i] > nearest[at - 1].common; at--)
            if (at < AT)
                nearest[at] = nearest[at - 1];
        if (at < AT)
            nearest[at] = (struct nearest){i, common[i]};
    }
}

static int find_nearest(const struct bags *bags, struct nearest *nearest)
{
    _cleanup_(all_pairs_free_p) struct all_pairs *pairs = NULL;
    _cleanup_free_ uint8_t *common = malloc((size_t)bags->n + 1);
    int r = common ? all_pairs_new(bags->bags, bags->n, &pairs) : -ENOMEM;
    for (uint32_t i = 0; r == 0 && i < bags->n; i++) {
        all_pairs_of(pairs, i, common);
        keep_nearest(common, bags->n, &nearest[(size_t)i * AT]);
    }
    return r;
}

/* place: of a document in the order. */
static int count_found(struct relations *relations, const struct nearest *nearest,
                       const uint32_t *order, const uint32_t *place, uint32_t n, unsigned least,
                       double *ret_recall)
{
    _cleanup_free_ uint64_t *near = calloc((size_t)n + 1, sizeof(*near));
    _cleanup_free_ uint32_t *of =
        calloc((size_t)n + 1, sizeof(*of)); /* whose place it is near to */
    uint64_t n_all = 0, n_found = 0;
    if (!near || !of)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t n_near = relations_of(relations, i, near, n);
        if (n_near < 0)
            return (int)n_near;
        for (int64_t j = 0; j < n_near; j++)
            of[relation_to(near[j])] = i + 1;
        const struct nearest *at = &nearest[(size_t)order[i] * AT];
        for (unsigned k = 0; k < AT && at[k].common >= least; k++, n_all++)
            n_found += of[place[at[k].document]] == i + 1;
    }
    *ret_recall = n_all ? (double)n_found / (double)n_all : 1;
    return 0;
}

struct recall_run {
    const struct bags *bags;
    const struct nearest *nearest;
    uint32_t *order, *place;
};

static int recall_of(const struct recall_run *run, const struct way *way, unsigned least,
                     uint64_t seed, double *ret_recall)
{
    struct signatures signatures = {0};
    struct relations relations = {0};
    shuffle(seed, run->bags->n, run->order);
    for (uint32_t i = 0; i < run->bags->n; i++)
        run->place[run->order[i]] = i;
    int r = sketch(run->bags, run->order, seed, &signatures);
    if (r == 0)
        r = find(&signatures, way, seed, &relations);
    if (r == 0)
        r = count_found(&relations, run->nearest, run->order, run->place, run->bags->n, least,
                        ret_recall);
    relations_done(&relations);
    signatures_done(&signatures);
    return r;
}

static int recall_of_kind(struct collection *collection, unsigned kind)
{
    _cleanup_(bags_done) struct bags bags = {0};
    int r = make_bags(collection, kind, &bags);
    _cleanup_free_ struct nearest *nearest = calloc((size_t)bags.n * AT + 1, sizeof(*nearest));
    _cleanup_free_ uint32_t *order = calloc((size_t)bags.n + 1, sizeof(*order));
    _cleanup_free_ uint32_t *place = calloc((size_t)bags.n + 1, sizeof(*place));
    if (r == 0)
        r = nearest && order && place ? find_nearest(&bags, nearest) : -ENOMEM;
    const struct recall_run run = {&bags, nearest, order, place};
    for (unsigned t = 0; t < N_THRESHOLDS; t++) {
        const struct way ways[] = {{125, 3, 0}, {75, 2, 0}, {125, 3, thresholds[t]}};
        for (unsigned w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
            printf("%s\t%.2f\tk = %u, l = %u%s", kinds[kind].name, thresholds[t], ways[w].k,
                   ways[w].n_draws, ways[w].least > 0 ? ", filter" : "");
            for (uint64_t seed = 1; r == 0 && seed <= SEEDS; seed++) {
                double recall = 0;
                r = recall_of(&run, &ways[w], common_least(thresholds[t]), seed, &recall);
                printf("\t%.3f", recall);
            }
            putchar('\n');
            fflush(stdout);
        }
    }
    return r;
}

int sketched_recall(struct collection *collection)
{
    int r = 0;
    for (unsigned kind = 0; r == 0 && kind < N_KINDS; kind++)
        r = recall_of_kind(collection, kind);
    return r;
}

/* -- clusters -- */

/* Answers which documents are near to one, by comparing it with all, in the order by chance. */
struct asked {
    const struct all_pairs *pairs;
    const uint32_t *order;
    uint32_t n, *near;
    uint8_t *common;
    unsigned least;
};

static int64_t ask(void *user, uint32_t node, const uint32_t **ret_near)
{
    struct asked *asked = user;
    int64_t n = 0;
    all_pairs_of(asked->pairs, asked->order[node], asked->common);
    for (uint32_t i = 0; i < asked->n; i++)
        if (asked->common[asked->order[i]] >= asked->least)
            asked->near[n++] = i;
    *ret_near = asked->near;
    return n;
}

static int print_clusters(const struct gold *gold, const uint32_t *order, const uint32_t *centres,
                          uint32_t n)
{
    _cleanup_free_ uint32_t *clusters = calloc((size_t)n + 1, sizeof(*clusters));
    _cleanup_free_ uint32_t *labels = calloc((size_t)n + 1, sizeof(*labels));
    struct agreement agreement;
    double chance = 0;
    uint32_t n_labelled = 0;
    if (!clusters || !labels)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t label = gold_label(gold, order[i]);
        if (label == GOLD_NONE)
            continue;
        clusters[n_labelled] = centres[i] == CENTRES_NONE ? i : centres[i];
        labels[n_labelled++] = label;
    }
    int r = agreement_of(clusters, labels, n_labelled, &agreement);
    if (r == 0)
        r = purity_by_chance(clusters, labels, n_labelled, TIMES, 1, &chance);
    if (r == 0)
        printf("\t%u\t%.0f\t%.3f\t%.3f\t%.3f\t%.3f", agreement.n_clusters,
               100.0 * agreement.n_clustered / agreement.n, agreement.purity, chance, agreement.ari,
               agreement.best_ari);
    return r;
}

/* By all pairs, and by sketches. */
static int cluster(const struct bags *bags, const struct gold *gold, const struct all_pairs *pairs,
                   double threshold, bool sketched)
{
    const uint32_t n = bags->n;
    _cleanup_free_ uint32_t *order = calloc((size_t)n + 1, sizeof(*order));
    _cleanup_free_ uint32_t *near = calloc((size_t)n + 1, sizeof(*near));
    _cleanup_free_ uint32_t *centres = calloc((size_t)n + 1, sizeof(*centres));
    _cleanup_free_ uint8_t *common = calloc((size_t)n + 1, 1);
    int r = order && near && centres && common ? 0 : -ENOMEM;
    for (uint64_t seed = 1; r == 0 && seed <= SEEDS; seed++) {
        struct signatures signatures = {0};
        struct relations relations = {0};
        shuffle(seed, n, order);
        struct asked asked = {pairs, order, n, near, common, common_least(threshold)};
        if (sketched) {
            const struct way way = {125, 3, threshold};
            r = sketch(bags, order, seed, &signatures);
            if (r == 0)
                r = find(&signatures, &way, seed, &relations);
            if (r == 0)
                r = centres_scan(&relations, 0, NULL, n, centres);
        } else {
            r = centres_on_the_fly(n, ask, &asked, centres);
        }
        if (r == 0)
            r = print_clusters(gold, order, centres, n);
        relations_done(&relations);
        signatures_done(&signatures);
    }
    putchar('\n');
    fflush(stdout);
    return r;
}

static int clusters_of_kind(struct collection *collection, const struct gold *gold, unsigned kind)
{
    static const double at[] = {0.10, 0.15, 0.20};
    _cleanup_(bags_done) struct bags bags = {0};
    _cleanup_(all_pairs_free_p) struct all_pairs *pairs = NULL;
    int r = make_bags(collection, kind, &bags);
    if (r == 0)
        r = all_pairs_new(bags.bags, bags.n, &pairs);
    for (unsigned t = 0; r == 0 && t < sizeof(at) / sizeof(at[0]); t++)
        for (int sketched = 0; r == 0 && sketched < 2; sketched++) {
            printf("%s\t%.2f\t%s", kinds[kind].name, at[t], sketched ? "sketches" : "all pairs");
            r = cluster(&bags, gold, pairs, at[t], sketched);
        }
    return r;
}

int sketched_clusters(struct collection *collection, const char *path)
{
    _cleanup_(gold_done) struct gold gold = {0};
    int r = gold_read(path, collection->names, collection->n, &gold);
    for (unsigned kind = 0; r == 0 && kind < N_KINDS; kind++)
        r = clusters_of_kind(collection, &gold, kind);
    return r;
}
