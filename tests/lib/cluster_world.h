/* A small world of documents that come, change and go, and what living clusters must make of them,
 * computed the slow way: all pairs, breadth first, from the definition in living_clusters.h.
 * Included by the tests of living clusters only. */
#ifndef KINFS_TESTS_LIB_CLUSTER_WORLD_H
#define KINFS_TESTS_LIB_CLUSTER_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/cluster_aliases.h"
#include "engine/index/cluster_ids.h"
#include "engine/index/living_clusters.h"
#include "engine/index/member.h"
#include "engine/index/remade.h"
#include "engine/index/schema.h"
#include "store/kv_fault.h"
#include "store/kv_retry.h"

/* Fewer records are kept than there are documents. */
enum { WORLD_RECORDS_BYTES = 64 << 10 };
enum { WORLD_DOCUMENTS = 512, WORLD_TOKENS = 64, WORLD_W = 3 };
/* More than all of them have. Room for as many is made at every opening and flush. */
enum { WORLD_POSTINGS = 1 << 16 };

/* Two documents of one length, one after the other, resemble each of them by nearly one half. */
#define WORLD_THRESHOLD 0.4
/* Ids of the model for clusters that are new in this step: any id never seen will do. */
#define WORLD_FRESH ((uint64_t)1 << 62)

struct world_document {
    bool live;
    uint64_t sid;
    uint64_t model_id;     /* 0: in none */
    uint64_t dissolved_id; /* of the last cluster that dissolved around it */
    unsigned n_tokens;     /* 0: binary, by its content only */
    uint64_t tokens[WORLD_TOKENS];
    uint64_t content;
    struct record record;
};

/* An id that became another; of ids that were seen. */
struct world_alias {
    uint64_t id, leads_to;
};

/* A clustering beside the default one. */
struct world_named {
    unsigned number;
    struct edge_rule rule;
    uint64_t linked_sid; /* of living_clusters_add() */
    bool is_remade;      /* it is not linked: living_clusters_add_remade() */
};
enum { WORLD_NAMED = 6 };

struct world {
    uint64_t random;
    struct world_alias aliases[WORLD_DOCUMENTS];
    unsigned n_aliases, n_alias_rows;
    struct kv *inner, *fault, *kv; /* kv repeats what fault refuses */
    struct records *records, *reader_records;
    struct postings *postings;
    struct living_clusters *clusters;
    struct living_limits limits;    /* of living_clusters_open() */
    bool repairs;                   /* next to nothing is looked at by a delete itself */
    struct living_clusters *reader; /* over inner: its questions meet no fault */
    struct policy policy;
    struct min_sketch_builder *builder;
    struct world_document *documents; /* in order of sid */
    unsigned n_documents;
    uint64_t max_id, fresh, flushed_sid;
    struct world_named named[WORLD_NAMED];
    unsigned n_named;
    struct remade *remades[WORLD_NAMED][2]; /* of the clusters, and of the reader */
};

static inline uint64_t world_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint64_t world_random(struct world *world, uint64_t n)
{
    return world_mix(world->random += 0x9e3779b97f4a7c15u) % n;
}

/* -- opening -- */

static inline void world_add_remade(struct world *world, unsigned i)
{
    struct remade **remades = world->remades[i];
    const unsigned number = world->named[i].number;
    assert_int_equal(remade_open(world->kv, number, &remades[0]), 0);
    assert_int_equal(remade_open(world->inner, number, &remades[1]), 0);
    assert_int_equal(living_clusters_add_remade(world->clusters, number, remades[0]), 0);
    assert_int_equal(living_clusters_add_remade(world->reader, number, remades[1]), 0);
}

static inline void world_start(struct world *world, const struct kv_fault_plan *plan)
{
    static const unsigned tables[POSTINGS_N_TIERS] = {TABLE_TIER_R, TABLE_TIER_C};

    assert_int_equal(kv_fault_open(world->inner, plan, &world->fault), 0);
    assert_int_equal(kv_retry_open(world->fault, &world->kv), 0);
    assert_int_equal(records_open(world->kv, WORLD_RECORDS_BYTES, &world->records), 0);
    assert_int_equal(records_open(world->inner, 0, &world->reader_records), 0);
    assert_int_equal(postings_open(world->kv, tables, WORLD_POSTINGS, &world->postings), 0);
    assert_int_equal(living_clusters_open(world->kv, world->records, world->postings,
                                          WORLD_THRESHOLD, &world->limits, &world->clusters),
                     0);
    if (world->repairs)
        living_clusters_set_repair_bounds(world->clusters, 1, 2);
    assert_int_equal(living_clusters_open(world->inner, world->reader_records, world->postings,
                                          WORLD_THRESHOLD, NULL, &world->reader),
                     0);
    for (unsigned i = 0; i < world->n_named; i++) {
        const struct world_named *named = &world->named[i];
        if (named->is_remade) {
            world_add_remade(world, i);
            continue;
        }
        assert_int_equal(
            living_clusters_add(world->clusters, named->number, &named->rule, named->linked_sid),
            0);
        assert_int_equal(
            living_clusters_add(world->reader, named->number, &named->rule, UINT64_MAX), 0);
    }
}

/* As after kill -9: what was in memory only is lost. */
static inline void world_stop(struct world *world)
{
    living_clusters_close(world->reader);
    living_clusters_close(world->clusters);
    for (unsigned i = 0; i < world->n_named; i++)
        for (unsigned k = 0; k < 2; k++) {
            remade_close(world->remades[i][k]);
            world->remades[i][k] = NULL;
        }
    postings_close(world->postings);
    records_close(world->records);
    records_close(world->reader_records);
    kv_close(world->kv);
    kv_close(world->fault);
}

static inline void world_open(struct world *world, uint64_t seed, const struct kv_fault_plan *plan)
{
    struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};

    /* Two times in three there are digests, mostly of lists of a few documents. */
    *world = (struct world){.random = seed,
                            .fresh = WORLD_FRESH,
                            .limits = {.long_from = seed % 3 ? 1 + seed % 3 : 0,
                                       .small_cluster = seed % 3 == 1 || seed % 2 ? 1 : 0}};
    assert_int_equal(policy_preset("default", &world->policy), 0);
    world->policy.s = 24; /* smaller than most documents: estimates, not only exact values */
    world->policy.v_max = 24;
    assert_int_equal(min_sketch_builder_new(&world->policy, &world->builder), 0);
    world->documents = calloc(WORLD_DOCUMENTS, sizeof(*world->documents));
    assert_non_null(world->documents);
    assert_int_equal(kv_memory_open(&options, &world->inner), 0);
    world_start(world, plan);
}

static inline void world_close(struct world *world)
{
    world_stop(world);
    kv_close(world->inner);
    for (unsigned i = 0; i < world->n_documents; i++)
        record_done(&world->documents[i].record);
    free(world->documents);
    min_sketch_builder_free(world->builder);
}

/* -- documents -- */

/* Make the record of the newest document from its fingerprints and content. */
static inline void world_finish_record(struct world *world, struct world_document *document,
                                       const uint64_t *fingerprints, size_t n, uint64_t text)
{
    struct record *record = &document->record;
    struct min_sketch sketch;

    min_sketch_builder_begin(world->builder);
    min_sketch_builder_add(world->builder, fingerprints, n);
    min_sketch_builder_finish(world->builder, document->n_tokens, &sketch);

    document->sid = (uint64_t)(document - world->documents);
    *record = (struct record){.form.type = document->n_tokens ? TEXT_PLAIN : TEXT_BINARY};
    assert_int_equal(min_sketch_copy(&sketch, &record->sketch), 0);
    /* Keys of several lengths, in no order. */
    record->key.size_bytes = (uint8_t)(FILE_KEY_MIN_BYTES + document->sid % 3);
    put_be64(record->key.bytes, world_mix(document->sid));
    put_be64(record->content_fingerprint, world_mix(document->content + text));
    put_be64(record->text_fingerprint, text);
    if (record->sketch.n_values > 0)
        min_sketch_fingerprint(&record->sketch, record->shingle_fingerprint);
}

static inline void world_finish_document(struct world *world, struct world_document *document)
{
    uint64_t text = document->n_tokens, fingerprints[WORLD_TOKENS];
    size_t n = 0;

    for (unsigned i = 0; i + WORLD_W <= document->n_tokens; i++) {
        uint64_t fingerprint = 0;
        for (unsigned k = 0; k < WORLD_W; k++)
            fingerprint = world_mix(fingerprint + document->tokens[i + k] + k);
        text = world_mix(text + fingerprint);
        fingerprints[n++] = fingerprint;
    }
    world_finish_record(world, document, fingerprints, n, text);
}

static inline struct world_document *world_new_document(struct world *world)
{
    assert_in_range(world->n_documents, 0, WORLD_DOCUMENTS - 2);
    if (world->n_documents == 0)
        world->n_documents = 1; /* no sid is 0 */
    return &world->documents[world->n_documents++];
}

static inline struct world_document *world_pick(struct world *world)
{
    unsigned n = 0;
    struct world_document *picked = NULL;
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live && world_random(world, ++n) == 0)
            picked = &world->documents[i];
    return picked;
}

static inline void world_edit(struct world *world, struct world_document *document, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        document->tokens[world_random(world, document->n_tokens)] = world_random(world, 1 << 30);
}

/* Something new, or something made of a document that is there. */
static inline struct world_document *world_write(struct world *world,
                                                 const struct world_document *like)
{
    struct world_document *document = world_new_document(world);
    unsigned kind = (unsigned)world_random(world, 10);

    if (kind == 0) { /* binary or empty: a few contents */
        document->content = world_random(world, 3);
    } else if (like && like->n_tokens && kind == 8) { /* two in one: a bridge between them */
        const struct world_document *other = world_pick(world);
        for (unsigned i = 0; i < like->n_tokens; i++)
            document->tokens[document->n_tokens++] = like->tokens[i];
        for (unsigned i = 0; other && i < other->n_tokens && document->n_tokens < WORLD_TOKENS; i++)
            document->tokens[document->n_tokens++] = other->tokens[i];
    } else if (like && like->n_tokens && kind < 8) {
        document->n_tokens = like->n_tokens;
        memcpy(document->tokens, like->tokens, sizeof(like->tokens));
        if (kind < 3)
            document->content = world_random(world, 2); /* a copy, perhaps in another markup */
        else
            world_edit(world, document, 1 + (unsigned)world_random(world, 7));
        if (kind == 7 && document->n_tokens > 20)
            document->n_tokens -= (unsigned)world_random(world, 12); /* the end is cut off */
    } else { /* new text under one of two headers of boilerplate */
        document->n_tokens = 24 + (unsigned)world_random(world, 10);
        uint64_t header = world_random(world, 3);
        for (unsigned i = 0; i < document->n_tokens; i++)
            document->tokens[i] = header && i < 9 ? header << 32 | i : world_random(world, 1 << 30);
    }
    world_finish_document(world, document);
    return document;
}

/* -- the slow way -- */

static inline bool world_share(const struct min_sketch *a, uint32_t n_a, const struct min_sketch *b,
                               uint32_t n_b)
{
    for (uint32_t i = 0; i < a->n_values && i < n_a; i++)
        for (uint32_t k = 0; k < b->n_values && k < n_b; k++)
            if (a->values[i] == b->values[k])
                return true;
    return false;
}

/* Every run of the one against every run of the other. */
static inline bool world_share_run(const struct min_sketch *a, const struct min_sketch *b)
{
    for (uint32_t i = 0; i + SUPER_RUN <= a->n_values && i + SUPER_RUN <= SUPER_VALUES; i++)
        for (uint32_t k = 0; k + SUPER_RUN <= b->n_values && k + SUPER_RUN <= SUPER_VALUES; k++)
            if (memcmp(a->values + i, b->values + k, SUPER_RUN * sizeof(uint64_t)) == 0)
                return true;
    return false;
}

static inline bool world_is_contained(const struct min_sketch *a, const struct min_sketch *b,
                                      double at_least)
{
    struct estimate estimate;
    return min_sketch_containment(a, b, &estimate) == 0 && estimate.value >= at_least;
}

/* first[i]: the first live document of the class of i, for live ones. */
static inline void world_firsts(const struct world *world, unsigned first[WORLD_DOCUMENTS])
{
    uint8_t classes[WORLD_DOCUMENTS][CLASS_BYTES];
    for (unsigned i = 0; i < world->n_documents; i++) {
        if (!world->documents[i].live)
            continue;
        record_class(&world->documents[i].record, classes[i]);
        first[i] = i;
        for (unsigned k = 0; k < i && first[i] == i; k++)
            if (world->documents[k].live && memcmp(classes[i], classes[k], CLASS_BYTES) == 0)
                first[i] = k;
    }
}

/* Between the first documents of two classes. */
static inline bool world_edge(const struct world *world, const struct edge_rule *rule, unsigned x,
                              unsigned y)
{
    struct estimate estimate;
    const struct min_sketch *p = &world->documents[x].record.sketch;
    const struct min_sketch *q = &world->documents[y].record.sketch;
    if (x == y)
        return true;
    if (!world_share(p, POSTINGS_TIER_R_KEYS, q, POSTINGS_TIER_R_KEYS) &&
        ((rule->containment == 0 && !rule->super_shingle) ||
         !world_share(p, min_sketch_n_v(p), q, min_sketch_n_v(q))))
        return false;
    if (rule->super_shingle)
        return world_share_run(p, q);
    return (min_sketch_resemblance(p, q, &estimate) == 0 && estimate.value >= rule->resemblance) ||
           (rule->containment > 0 && (world_is_contained(p, q, rule->containment) ||
                                      world_is_contained(q, p, rule->containment)));
}

/* component[i]: the smallest document i is connected with, for live ones. */
static inline void world_components_by(const struct world *world, const struct edge_rule *rule,
                                       unsigned *component)
{
    unsigned queue[WORLD_DOCUMENTS], first[WORLD_DOCUMENTS];
    world_firsts(world, first);
    for (unsigned i = 0; i < world->n_documents; i++)
        component[i] = UINT32_MAX;
    for (unsigned i = 0; i < world->n_documents; i++) {
        unsigned n = 0, at = 0;
        if (!world->documents[i].live || component[i] != UINT32_MAX)
            continue;
        component[i] = i;
        queue[n++] = i;
        while (at < n) {
            unsigned x = queue[at++];
            for (unsigned y = 0; y < world->n_documents; y++)
                if (world->documents[y].live && component[y] == UINT32_MAX &&
                    world_edge(world, rule, first[x], first[y])) {
                    component[y] = i;
                    queue[n++] = y;
                }
        }
    }
}

static inline void world_components(const struct world *world, unsigned *component)
{
    world_components_by(world, &(const struct edge_rule){.resemblance = WORLD_THRESHOLD},
                        component);
}

/* Whether a stands before b in a cluster: more tokens, then content, then file key. */
static inline bool world_before(const struct record *a, const struct record *b)
{
    if (a->sketch.n_tokens != b->sketch.n_tokens)
        return a->sketch.n_tokens > b->sketch.n_tokens;
    int order = memcmp(a->content_fingerprint, b->content_fingerprint, FINGERPRINT_BYTES);
    if (order == 0)
        order = (int)a->key.size_bytes - (int)b->key.size_bytes;
    if (order == 0)
        order = memcmp(a->key.bytes, b->key.bytes, a->key.size_bytes);
    return order < 0;
}

/* -- what must happen to ids -- */

static inline unsigned world_count_id(const struct world *world, uint64_t id)
{
    unsigned n = 0;
    for (unsigned i = 0; i < world->n_documents; i++)
        n += world->documents[i].live && world->documents[i].model_id == id;
    return n;
}

static inline void world_model_merge(struct world *world, uint64_t from, uint64_t to)
{
    unsigned i = 0;
    if (from == 0 || from == to)
        return;
    for (unsigned k = 0; k < world->n_aliases; k++)
        if (world->aliases[k].leads_to == from)
            world->aliases[k].leads_to = to;
    if (from >= WORLD_FRESH) /* never seen */
        return;
    while (i < world->n_aliases && world->aliases[i].id != from)
        i++;
    assert_in_range(i, 0, WORLD_DOCUMENTS - 1);
    world->aliases[i] = (struct world_alias){from, to};
    world->n_aliases += i == world->n_aliases;
}

static inline void world_model_end(struct world *world, uint64_t id)
{
    for (unsigned k = 0; k < world->n_aliases; k++)
        if (world->aliases[k].leads_to == id)
            world->aliases[k--] = world->aliases[--world->n_aliases];
}

static inline void world_model_insert(struct world *world, struct world_document *document)
{
    unsigned component[WORLD_DOCUMENTS], place = (unsigned)(document - world->documents), n = 0;
    uint64_t best = 0;
    unsigned best_size = 0;

    document->live = true;
    world_components(world, component);
    for (unsigned i = 0; i < world->n_documents; i++) {
        const struct world_document *other = &world->documents[i];
        if (!other->live || component[i] != component[place])
            continue;
        n++;
        if (i == place || other->model_id == 0)
            continue;
        unsigned size = world_count_id(world, other->model_id);
        if (size > best_size || (size == best_size && other->model_id < best)) {
            best = other->model_id;
            best_size = size;
        }
    }
    if (n < 2)
        return;
    if (best == 0)
        best = world->fresh++;
    for (unsigned i = 0; i < world->n_documents; i++) {
        if (!world->documents[i].live || component[i] != component[place])
            continue;
        world_model_merge(world, world->documents[i].model_id, best);
        world->documents[i].model_id = best;
    }
}

/* What becomes of a cluster that documents have left. */
static inline void world_model_shrink(struct world *world, uint64_t id)
{
    unsigned component[WORLD_DOCUMENTS], size[WORLD_DOCUMENTS] = {0};
    uint64_t ids[WORLD_DOCUMENTS];
    const struct world_document *first = NULL;

    world_components(world, component);
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live && world->documents[i].model_id == id)
            size[component[i]]++;
    for (unsigned i = 0; i < world->n_documents; i++) {
        const struct world_document *other = &world->documents[i];
        ids[i] = size[i] > 1 ? world->fresh++ : 0;
        if (!other->live || other->model_id != id)
            continue;
        unsigned mine = size[component[i]],
                 best = first ? size[component[first - world->documents]] : 0;
        if (mine > best || (mine == best && world_before(&other->record, &first->record)))
            first = other;
    }
    if (!first) {
        world_model_end(world, id);
        return;
    }
    unsigned keeps = component[first - world->documents];
    if (size[keeps] > 1)
        ids[keeps] = id;
    else if (id < WORLD_FRESH)
        world->documents[keeps].dissolved_id = id;
    if (size[keeps] == 1)
        world_model_end(world, id);
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live && world->documents[i].model_id == id)
            world->documents[i].model_id = ids[component[i]];
}

/* Those that leave a cluster together leave it at once. */
static inline void world_model_delete(struct world *world, struct world_document *const *documents,
                                      unsigned n)
{
    uint64_t ids[WORLD_DOCUMENTS];

    for (unsigned i = 0; i < n; i++) {
        ids[i] = documents[i]->model_id;
        documents[i]->live = false;
        documents[i]->model_id = 0;
    }
    for (unsigned i = 0; i < n; i++)
        if (ids[i])
            world_model_shrink(world, ids[i]);
}

/* -- comparing -- */

static inline void world_check_cluster(struct world *world, uint64_t id,
                                       const struct world_document *best, unsigned n)
{
    struct sid_list members;
    uint64_t of, size;

    assert_int_equal(living_clusters_members(world->reader, id, 0, &members), 0);
    assert_int_equal(members.n_sids, n);
    assert_int_equal(members.sids[0], best->sid);
    for (size_t i = 0; i < members.n_sids; i++) {
        assert_true(members.sids[i] < world->n_documents);
        assert_true(world->documents[members.sids[i]].live);
        assert_int_equal(living_clusters_of(world->reader, members.sids[i], &of, &size), 0);
        assert_int_equal(of, id);
        assert_int_equal(size, n);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(members.sids[i], members.sids[k]);
    }
    sid_list_done(&members);
}

static inline size_t world_count_rows(struct world *world, unsigned table)
{
    struct kv_range range = {.from = {"", 0}};
    struct kv_page page;
    assert_int_equal(kv_scan(world->inner, table, &range, 1 << 20, &page), 0);
    size_t n = page.n_entries;
    kv_page_done(&page);
    return n;
}

/* Whether a new cluster may have an id that was seen before: that of one which dissolved. It need
 * not, where a crash came between. */
static inline bool world_came_back(const struct world *world, const unsigned *component,
                                   unsigned place, uint64_t id)
{
    for (unsigned i = 0; i < world->n_documents; i++)
        if (component[i] == place && world->documents[i].dissolved_id == id)
            return true;
    return false;
}

static inline int world_check_alias(void *user, uint64_t alias, uint64_t id)
{
    struct world *world = user;
    struct sid_list first;
    assert_int_not_equal(alias, id);
    assert_int_equal(living_clusters_members(world->reader, id, 1, &first), 0); /* it is there */
    sid_list_done(&first);
    world->n_alias_rows += 2;
    return 0;
}

/* Each id that became another leads to it, and none leads to what is not there. */
static inline void world_check_aliases(struct world *world)
{
    for (unsigned k = 0; k < world->n_aliases; k++) {
        uint64_t id = 0;
        assert_int_equal(living_clusters_alias(world->reader, world->aliases[k].id, &id), 0);
        assert_int_equal(id, world->aliases[k].leads_to);
    }
    world->n_alias_rows = 0;
    assert_int_equal(living_clusters_each_alias(world->reader, world_check_alias, world), 0);
}

/* As in a cluster of the clustering: where it has centres by the order of nodes first. */
static inline bool world_before_in(const struct world_named *named, const struct record *a,
                                   const struct record *b)
{
    uint8_t x[ORDER_BYTES], y[ORDER_BYTES];
    member_order(x, a);
    member_order(y, b);
    int order = memcmp(x, y, ORDER_BYTES);
    return clustering_has_centres(named->number) && order ? order < 0 : world_before(a, b);
}

/* CENTER by its definition: all nodes in their order; each that is the neighbour of no centre
 * before it becomes one, the others go to the first of theirs. component[i]: the smallest document
 * of the cluster of i, for live ones. */
static inline void world_centres_by(const struct world *world, const struct edge_rule *rule,
                                    unsigned *component)
{
    unsigned first[WORLD_DOCUMENTS], centre[WORLD_DOCUMENTS], order[WORLD_DOCUMENTS], n = 0;
    const struct world_named as = {.number = CLUSTERING_CENTRES_FROM};

    world_firsts(world, first);
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live && first[i] == i)
            order[n++] = i;
    for (unsigned i = 1; i < n; i++) /* by insertion */
        for (unsigned k = i; k > 0 && world_before_in(&as, &world->documents[order[k]].record,
                                                      &world->documents[order[k - 1]].record);
             k--) {
            unsigned swapped = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swapped;
        }
    for (unsigned i = 0; i < n; i++) {
        unsigned node = order[i];
        centre[node] = node;
        for (unsigned k = 0; k < i && centre[node] == node; k++)
            if (centre[order[k]] == order[k] && world_edge(world, rule, order[k], node))
                centre[node] = order[k];
    }
    for (unsigned i = 0; i < world->n_documents; i++)
        component[i] = UINT32_MAX;
    for (unsigned i = 0; i < world->n_documents; i++)
        for (unsigned k = 0; k <= i && world->documents[i].live; k++)
            if (world->documents[k].live && centre[first[k]] == centre[first[i]]) {
                component[i] = k;
                break;
            }
}

/* A named clustering against the slow way. Returns how many documents are in its clusters, and adds
 * how many of these there are. */
static inline unsigned world_check_named(struct world *world, const struct world_named *named,
                                         unsigned *n_all_clusters)
{
    unsigned component[WORLD_DOCUMENTS], n_clusters = 0, n_in_clusters = 0;
    uint64_t n, n_documents, ids[WORLD_DOCUMENTS];

    if (clustering_has_centres(named->number))
        world_centres_by(world, &named->rule, component);
    else
        world_components_by(world, &named->rule, component);
    for (unsigned i = 0; i < world->n_documents; i++) {
        struct world_document *best = &world->documents[i];
        uint64_t id, size, other;
        unsigned n_members = 0;
        if (!best->live || component[i] != i)
            continue;
        assert_int_equal(living_clusters_of_in(world->reader, named->number, best->sid, &id, &size),
                         0);
        for (unsigned k = i; k < world->n_documents; k++) {
            if (component[k] != i)
                continue;
            n_members++;
            if (world_before_in(named, &world->documents[k].record, &best->record))
                best = &world->documents[k];
            assert_int_equal(living_clusters_of_in(world->reader, named->number,
                                                   world->documents[k].sid, &other, &size),
                             0);
            assert_int_equal(other, id);
        }
        if (n_members == 1) {
            assert_int_equal(id, 0);
            continue;
        }
        assert_int_equal(cluster_clustering(id), named->number);
        assert_int_equal(size, n_members);
        struct sid_list members;
        assert_int_equal(living_clusters_members(world->reader, id, 0, &members), 0);
        assert_int_equal(members.n_sids, n_members);
        assert_int_equal(members.sids[0], best->sid);
        sid_list_done(&members);
        n_clusters++;
        n_in_clusters += n_members;
    }
    living_clusters_count_in(world->clusters, named->number, &n, &n_documents);
    assert_int_equal(n, n_clusters);
    assert_int_equal(n_documents, n_in_clusters);
    assert_int_equal(
        living_clusters_ids(world->reader, clustering_base(named->number), WORLD_DOCUMENTS, ids),
        n_clusters);
    *n_all_clusters += n_clusters;
    return n_in_clusters;
}

/* Everything that can be asked, against the slow way; and no row too many. Fresh ids of the model
 * become those that were given. Of named clusterings those are checked that have all documents. */
static inline void world_check(struct world *world)
{
    unsigned component[WORLD_DOCUMENTS];
    unsigned n_clusters = 0, n_in_clusters = 0, n_live = 0;
    uint64_t max_id = world->max_id, n, n_documents, ids[WORLD_DOCUMENTS];

    world_components(world, component);
    for (unsigned i = 0; i < world->n_documents; i++) {
        struct world_document *document = &world->documents[i], *best = document;
        uint64_t id, size, model_id = document->model_id;
        unsigned n_members = 0;
        if (!document->live)
            continue;
        n_live++;
        if (component[i] != i)
            continue;
        for (unsigned k = i; k < world->n_documents; k++) {
            if (component[k] != i)
                continue;
            n_members++;
            assert_int_equal(world->documents[k].model_id, model_id);
            if (world_before(&world->documents[k].record, &best->record))
                best = &world->documents[k];
        }
        assert_int_equal(living_clusters_of(world->reader, document->sid, &id, &size), 0);
        if (n_members == 1) {
            assert_int_equal(id, 0);
            assert_int_equal(size, 0);
            continue;
        }
        if (model_id >= WORLD_FRESH) {
            assert_true(id > world->max_id || world_came_back(world, component, i, id));
            for (unsigned k = i; k < world->n_documents; k++)
                if (component[k] == i)
                    world->documents[k].model_id = id;
            for (unsigned k = 0; k < world->n_aliases; k++)
                if (world->aliases[k].leads_to == model_id)
                    world->aliases[k].leads_to = id;
        } else {
            assert_int_equal(id, model_id);
        }
        max_id = id > max_id ? id : max_id;
        n_clusters++;
        n_in_clusters += n_members;
        world_check_cluster(world, id, best, n_members);
    }
    world->max_id = max_id;

    living_clusters_count(world->clusters, &n, &n_documents);
    assert_int_equal(n, n_clusters);
    assert_int_equal(n_documents, n_in_clusters);
    assert_int_equal(living_clusters_ids(world->reader, 0, WORLD_DOCUMENTS, ids), n_clusters);
    world_check_aliases(world);
    bool all_linked = true;
    for (unsigned i = 0; i < world->n_named; i++) {
        if (living_clusters_linked(world->clusters, world->named[i].number) == UINT64_MAX)
            n_in_clusters += world_check_named(world, &world->named[i], &n_clusters);
        else
            all_linked = false;
    }
    if (all_linked) {
        assert_int_equal(world_count_rows(world, TABLE_MEMBERS),
                         n_clusters + n_in_clusters + world->n_alias_rows);
        assert_int_equal(world_count_rows(world, TABLE_CLUSTER_OF), n_in_clusters);
    }
    assert_int_equal(world_count_rows(world, TABLE_CLASSES), n_live);
    assert_int_equal(world_count_rows(world, TABLE_RECORDS), n_live);
}

/* -- steps -- */

static inline int world_put_record(struct world *world, const struct world_document *document)
{
    struct kv_batch *batch = kv_batch_new();
    struct kv_buf value;
    uint8_t key[8];
    int r;

    assert_non_null(batch);
    assert_int_equal(record_encode(&document->record, &value), 0);
    put_be64(key, document->sid);
    kv_batch_put(batch, TABLE_RECORDS, (struct kv_slice){key, 8}, kv_buf_slice(&value));
    do
        r = kv_apply(world->kv, batch);
    while (r == -EAGAIN || r == -ETIMEDOUT);
    kv_batch_free(batch);
    kv_buf_done(&value);
    return r;
}

enum { WORLD_OLD = 12, WORLD_NEW = 4 };

/* One thing that happens. */
struct world_step {
    struct world_document *old[WORLD_OLD], *new[WORLD_NEW]; /* none: a flush */
    unsigned n_old, n_new; /* one of each: a rewrite; new ones have sids one after the other */
};

/* Another document, or all that are in its cluster, or all but one. */
static inline void world_choose_more(struct world *world, struct world_step *step)
{
    uint64_t id = step->old[0]->model_id;
    if (world_random(world, 2)) {
        struct world_document *more = world_pick(world);
        if (more != step->old[0])
            step->old[step->n_old++] = more;
    }
    bool but_one = world_random(world, 2);
    for (unsigned i = 0; id && i < world->n_documents && step->n_old < WORLD_OLD; i++) {
        struct world_document *document = &world->documents[i];
        if (!document->live || document->model_id != id || document == step->old[0] ||
            (step->n_old > 1 && document == step->old[1]))
            continue;
        if (but_one)
            but_one = false;
        else
            step->old[step->n_old++] = document;
    }
}

static inline struct world_step world_choose(struct world *world, unsigned n_target)
{
    struct world_step step = {0};
    unsigned n_live = 0;

    for (unsigned i = 0; i < world->n_documents; i++)
        n_live += world->documents[i].live;
    if (world_random(world, 12) == 0)
        return step;
    bool grow = world_random(world, 2 * n_target) >= n_live;
    unsigned kind = (unsigned)world_random(world, 4);
    if (n_live > 0 && (kind == 0 || (kind < 3 && !grow)))
        step.old[step.n_old++] = world_pick(world);
    if (!step.n_old || kind == 0)
        step.new[step.n_new++] = world_write(
            world, step.n_old && world_random(world, 3) ? step.old[0] : world_pick(world));
    else if (world_random(world, 3) == 0)
        world_choose_more(world, &step);
    /* Some that come together, of one kind or of several. */
    while (step.n_new && !step.n_old && step.n_new < WORLD_NEW && world_random(world, 3) == 0) {
        struct world_document *like =
            world_random(world, 2) ? step.new[step.n_new - 1] : world_pick(world);
        step.new[step.n_new++] = world_write(world, like);
    }
    return step;
}

/* May be repeated after a failure. */
static inline int world_do(struct world *world, const struct world_step *step)
{
    const struct world_document *old = step->old[0], *new = step->new[0];
    uint64_t last = world->n_documents ? world->n_documents - 1 : 0, sids[WORLD_OLD];
    const struct record *records[WORLD_OLD];
    int r = 0;

    static_assert(WORLD_NEW <= WORLD_OLD, "one array for both");

    if (!old && !new) {
        r = living_clusters_flush(world->clusters);
        if (r == 0)
            world->flushed_sid = last;
        return r;
    }
    for (unsigned i = 0; r == 0 && i < step->n_new; i++)
        r = world_put_record(world, step->new[i]);
    if (r < 0)
        return r;
    if (old && new)
        return living_clusters_replace(world->clusters, old->sid, &old->record, new->sid,
                                       &new->record);
    for (unsigned i = 0; i < step->n_new; i++) {
        sids[i] = step->new[i]->sid;
        records[i] = &step->new[i]->record;
    }
    if (new)
        return living_clusters_insert_all(world->clusters, sids, records, step->n_new);
    for (unsigned i = 0; i < step->n_old; i++) {
        sids[i] = step->old[i]->sid;
        records[i] = &step->old[i]->record;
    }
    return living_clusters_delete_all(world->clusters, sids, records, step->n_old);
}

/* What large clusters need is done at once. May be repeated after a failure. */
static inline int world_repair(struct world *world)
{
    int r;
    while ((r = living_clusters_repair(world->clusters)) > 0)
        ;
    return r;
}

static inline void world_model_step(struct world *world, const struct world_step *step)
{
    if (step->n_new && step->n_old)
        step->new[0]->dissolved_id = step->old[0]->dissolved_id;
    for (unsigned i = 0; i < step->n_new; i++)
        world_model_insert(world, step->new[i]);
    if (step->n_old)
        world_model_delete(world, step->old, step->n_old);
}

/* What the index does after a crash, in the step if not NULL. */
static inline int world_recover(struct world *world, const struct world_step *step)
{
    int r = living_clusters_recover(world->clusters);
    for (uint64_t sid = world->flushed_sid + 1; r == 0 && sid < world->n_documents; sid++) {
        struct kv_buf value;
        uint8_t key[8];
        put_be64(key, sid);
        r = kv_get(world->kv, TABLE_RECORDS, (struct kv_slice){key, 8}, &value);
        if (r == 0) {
            kv_buf_done(&value);
            r = step && step->n_new && step->n_old && step->new[0]->sid == sid
                    ? world_do(world, step)
                    : living_clusters_insert(world->clusters, sid, &world->documents[sid].record);
        } else if (r == -ENOENT) {
            r = 0;
        }
    }
    return r;
}

#endif
