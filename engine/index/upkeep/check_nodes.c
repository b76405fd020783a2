#include "engine/index/upkeep/check_nodes.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/clusters/graph.h"
#include "engine/index/tables/cluster_ids.h"
#include "engine/index/tables/member.h"

enum { RECORDS_BYTES = 64 << 20, REFUSED_BYTES = 32 << 20, CLASS_KEY_BYTES = CLASS_BYTES + 8 };

bool check_nodes_find(const struct check_nodes *nodes, uint64_t sid, size_t *ret_number)
{
    *ret_number = sid_vector_place(&nodes->sids, sid);
    return *ret_number != SIZE_MAX;
}

static int take_document(void *user, const struct check_document *document)
{
    struct check_nodes *nodes = user;
    return sid_vector_push(&nodes->sids, document->sid);
}

struct class_walk {
    struct check_nodes *nodes;
    uint8_t class_id[CLASS_BYTES]; /* of the last row */
    size_t first;
    bool some;
};

/* Those of one class follow each other. */
static int take_class(void *user, const struct kv_entry *row)
{
    struct class_walk *walk = user;
    const uint8_t *p = row->key.data;
    size_t number;
    if (row->key.size_bytes != CLASS_KEY_BYTES ||
        !check_nodes_find(walk->nodes, get_be64(p + CLASS_BYTES), &number))
        return 0;
    if (!walk->some || memcmp(walk->class_id, p, CLASS_BYTES) != 0)
        walk->first = number;
    walk->nodes->firsts[number] = (uint32_t)walk->first;
    walk->some = true;
    memcpy(walk->class_id, p, CLASS_BYTES);
    return 0;
}

static int take_cluster(void *user, const struct kv_entry *row)
{
    struct check_nodes *nodes = user;
    size_t number;
    if (member_is_cluster_of(row) && cluster_clustering(get_be64(row->value.data)) == 0 &&
        check_nodes_find(nodes, get_be64(row->key.data), &number))
        nodes->clusters[number] = get_be64(row->value.data);
    return 0;
}

int check_nodes_init(struct check_nodes *nodes, struct check *check)
{
    *nodes = (struct check_nodes){.check = check};
    int r = check_each_document(check, take_document, nodes);
    size_t n = nodes->sids.n_sids;
    if (r < 0 || n > UINT32_MAX)
        return r < 0 ? r : -EOVERFLOW;
    nodes->firsts = calloc(n + 1, sizeof(*nodes->firsts));
    nodes->clusters = calloc(n + 1, sizeof(*nodes->clusters));
    if (!nodes->firsts || !nodes->clusters)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        nodes->firsts[i] = (uint32_t)i;
    r = refused_pairs_init(REFUSED_BYTES, &nodes->refused);
    if (r == 0)
        r = records_open(check->kv, RECORDS_BYTES, &nodes->records);
    if (r == 0)
        r = check_each_row(check, TABLE_CLASSES, (struct kv_slice){0}, take_class,
                           &(struct class_walk){.nodes = nodes});
    return r < 0
               ? r
               : check_each_row(check, TABLE_CLUSTER_OF, (struct kv_slice){0}, take_cluster, nodes);
}

void check_nodes_done(struct check_nodes *nodes)
{
    sid_vector_done(&nodes->sids);
    records_close(nodes->records);
    refused_pairs_done(&nodes->refused);
    free(nodes->firsts);
    free(nodes->clusters);
}

bool check_nodes_are_whole(const struct check_nodes *nodes)
{
    const bool *unreadable = nodes->check->unreadable;
    return !unreadable[TABLE_RECORDS] && !unreadable[TABLE_CLASSES] && !unreadable[TABLE_TIER_R] &&
           !unreadable[TABLE_CLUSTER_OF];
}

int check_nodes_joined(struct check_nodes *nodes, uint64_t a, uint64_t b)
{
    const uint64_t sids[2] = {nodes->sids.sids[a], nodes->sids.sids[b]};
    const struct record *records[2];
    if (refused_pairs_has(&nodes->refused, (uint32_t)a, (uint32_t)b))
        return 0;
    int r = records_get(nodes->records, sids, 2, records);
    if (r < 0)
        return r == -EUCLEAN ? 0 : r;
    if (records[0] && records[1])
        r = graph_edge(nodes->check->threshold, &records[0]->sketch, &records[1]->sketch);
    records_put(nodes->records, records, 2);
    if (r == 0)
        refused_pairs_add(&nodes->refused, (uint32_t)a, (uint32_t)b);
    return r == -EPROTO ? 0 : r;
}

int check_nodes_found(struct check_nodes *nodes, size_t number, const char *what)
{
    _cleanup_(record_done) struct record record = {0};
    struct check *check = nodes->check;
    uint64_t sid = nodes->sids.sids[number];
    int r = check_record(check, sid, &record);
    if (r < 0)
        return r;
    return check_found(
        check, CHECK_COMPONENTS, TABLE_CLUSTER_OF, r > 0 ? &record.key : NULL,
        "document %llu, in cluster %llu, %s", (unsigned long long)sid,
        (unsigned long long)shown_ids_show(&check->shown_ids, nodes->clusters[number]), what);
}
