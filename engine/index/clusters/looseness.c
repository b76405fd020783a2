/* Facts stand in a table by the id of the cluster; another cluster of the same place takes it. A
 * fact that is not of as many documents as the cluster has counts for nothing.
 *
 * Example: of a cluster of 40 nodes the first by order, f, and the sum of resemblances to it, 30.1,
 * are known. A document comes that resembles f by 0.6: one record is read, and the sum is 30.7 of
 * 41. If it came before f by order, as one in 41 does, all 41 records would be read.
 *
 * Cost: a comparison; else READ_AT_ONCE records at most, and 800 KB for all. Left out: facts in the
 * store. After a restart each cluster is read when the first document comes to it. */
#include "engine/index/clusters/looseness.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/index/tables/id_map.h"

enum {
    FACTS = 1 << 14,    /* 800 KB */
    READ_AT_ONCE = 256, /* documents; some hundred microseconds */
};

struct looseness {
    struct looseness_fact facts[FACTS]; /* each at the place of its cluster */
};

int looseness_new(struct looseness **ret_looseness)
{
    *ret_looseness = calloc(1, sizeof(**ret_looseness));
    return *ret_looseness ? 0 : -ENOMEM;
}

void looseness_free(struct looseness *looseness)
{
    free(looseness);
}

static struct looseness_fact *place_of(struct looseness *looseness, uint64_t cluster)
{
    return &looseness->facts[cluster % FACTS];
}

void looseness_note(struct looseness *looseness, const struct looseness_fact *fact)
{
    *place_of(looseness, fact->cluster) = *fact;
}

void looseness_forget(struct looseness *looseness, uint64_t cluster)
{
    if (place_of(looseness, cluster)->cluster == cluster)
        place_of(looseness, cluster)->cluster = 0;
}

void looseness_pass_on(struct looseness *looseness, uint64_t cluster, uint64_t n_left, uint64_t sid,
                       uint64_t other)
{
    struct looseness_fact *known = place_of(looseness, cluster);
    if (known->cluster != cluster || known->n_documents != n_left + 1)
        return;
    known->n_documents = n_left;
    known->first = known->first == sid ? other : known->first;
}

/* -- of all documents -- */

/* Keeps the records of the first documents of classes that have shingles, in order of sid. */
static int keep_nodes(const struct record **records, const uint64_t *sids, size_t n,
                      const struct min_sketch **ret_nodes, uint64_t *ret_sids, size_t *ret_n)
{
    _cleanup_(id_map_done) struct id_map classes = {0};
    int r = 0;
    *ret_n = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint8_t class_id[CLASS_BYTES];
        if (!records[i] || records[i]->sketch.n_values == 0)
            continue;
        record_class(records[i], class_id);
        const uint64_t number = record_class_number(class_id);
        if (id_map_find(&classes, number) != ID_MAP_NONE)
            continue;
        r = id_map_add(&classes, number, 0);
        ret_sids[*ret_n] = sids[i];
        ret_nodes[(*ret_n)++] = &records[i]->sketch;
    }
    return r;
}

static int sum_up(const struct min_sketch *const *nodes, const uint64_t *sids, size_t n,
                  struct looseness_fact *fact)
{
    size_t first = 0;
    int r = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t order = stars_order(nodes[i]);
        if (i > 0 && order >= fact->order)
            continue;
        first = i;
        fact->order = order;
        fact->first = sids[i];
    }
    for (size_t i = 0; r == 0 && i < n; i++)
        r = stars_add_node(&fact->looseness, nodes[first], nodes[i]);
    return r;
}

/* sids: ascending, READ_AT_ONCE at most. */
static int find_out(const struct graph *graph, const struct number_vector *sids,
                    struct looseness_fact *fact)
{
    const struct record *records[READ_AT_ONCE];
    const struct min_sketch *nodes[READ_AT_ONCE];
    uint64_t node_sids[READ_AT_ONCE];
    size_t n = 0;
    int r = records_borrow(graph->records, sids->numbers, sids->n_numbers, records);
    if (r < 0)
        return r;
    r = keep_nodes(records, sids->numbers, sids->n_numbers, nodes, node_sids, &n);
    if (r == 0)
        r = sum_up(nodes, node_sids, n, fact);
    records_return(graph->records, records, sids->n_numbers);
    return r;
}

/* -- of one more -- */

/* Returns 1 where the fact is of one document more then, 0 where all have to be looked at. */
static int add_one(const struct graph *graph, const struct record *added,
                   struct looseness_fact *fact)
{
    const struct record *first;
    if (stars_order(&added->sketch) < fact->order)
        return 0;
    int r = records_borrow(graph->records, &fact->first, 1, &first);
    if (r < 0 || !first)
        return r;
    r = stars_add_node(&fact->looseness, &first->sketch, &added->sketch);
    records_return(graph->records, &first, 1);
    fact->n_documents++;
    return r < 0 ? r : 1;
}

static int count(const struct graph *graph, const struct number_vector *clusters, uint64_t *ret_n)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < clusters->n_numbers; i++) {
        uint64_t size;
        r = membership_known_size(graph->membership, clusters->numbers[i], &size);
        *ret_n += r == 0 ? size : 0;
    }
    return r;
}

static int find_out_all(const struct graph *graph, const struct number_vector *clusters,
                        const struct number_vector *others, struct looseness_fact *fact)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < clusters->n_numbers; i++)
        r = membership_list(graph->membership, clusters->numbers[i], 0, &sids);
    for (size_t i = 0; r == 0 && i < others->n_numbers; i++)
        r = number_vector_push(&sids, others->numbers[i]);
    if (r < 0)
        return r;
    number_vector_sort_unique(&sids);
    if (sids.n_numbers > READ_AT_ONCE)
        return -E2BIG;
    fact->n_documents = sids.n_numbers;
    return find_out(graph, &sids, fact);
}

int looseness_is_tight(const struct graph *graph, uint64_t id, const struct number_vector *clusters,
                       const struct number_vector *others, const struct record *added, bool is_node)
{
    struct looseness_fact *known = place_of(graph->looseness, id), fact = *known;
    uint64_t n = 0;
    int r = count(graph, clusters, &n);
    if (r < 0 || n + others->n_numbers < STARS_LOOSE_LEAST)
        return r < 0 ? r : 1;
    if (added && clusters->n_numbers == 1 && !is_node) { /* another of a class changes nothing */
        known->n_documents += known->cluster == id && known->n_documents == n;
        return 1;
    }
    if (added && clusters->n_numbers == 1 && fact.cluster == id && fact.n_documents == n)
        r = add_one(graph, added, &fact);
    if (r == 0) {
        fact = (struct looseness_fact){.cluster = id};
        r = n + others->n_numbers > READ_AT_ONCE ? -E2BIG
                                                 : find_out_all(graph, clusters, others, &fact);
    }
    if (r == -E2BIG)
        return 0;
    if (r < 0)
        return r;
    *known = fact;
    return !stars_are_loose(&fact.looseness, graph->threshold);
}
