/* The shape of a cluster: how it hangs together, by the sketches of its classes. */
#include <errno.h>

#include "engine/cluster/cohesion.h"
#include "engine/index/answers/answer.h"

/* Two million pairs, half a second; of a larger cluster so many classes, evenly taken. */
enum { CLASSES_MAX = 2048 };

_Static_assert((int)CLUSTER_LINKS == (int)COHESION_LINKS, "as many links");

void cluster_explanation_done(struct cluster_explanation *explanation)
{
    for (size_t i = 0; i < explanation->n_links; i++) {
        free(explanation->links[i].path_a);
        free(explanation->links[i].path_b);
    }
    *explanation = (struct cluster_explanation){0};
}

struct member {
    uint8_t class[CLASS_BYTES];
    uint64_t sid;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = memcmp(x->class, y->class, CLASS_BYTES);
    return order ? order : (x->sid > y->sid) - (x->sid < y->sid);
}

/* Those that are alive, sorted by their classes. */
static int load_members(struct index *index, const struct sid_list *sids,
                        struct member **ret_members, size_t *ret_n_members)
{
    _cleanup_free_ struct member *members =
        calloc(sids->n_sids ? sids->n_sids : 1, sizeof(*members));
    size_t n_members = 0;
    if (!members)
        return -ENOMEM;
    for (size_t at = 0; at < sids->n_sids; at += LOAD_AT_ONCE) {
        const struct record *records[LOAD_AT_ONCE];
        size_t n = sids->n_sids - at < LOAD_AT_ONCE ? sids->n_sids - at : LOAD_AT_ONCE;
        int r = records_borrow(index->records, sids->sids + at, n, records);
        if (r < 0)
            return r;
        for (size_t i = 0; i < n; i++) {
            if (!records[i])
                continue;
            members[n_members].sid = sids->sids[at + i];
            record_class(records[i], members[n_members++].class);
        }
        records_return(index->records, records, n);
    }
    if (n_members)
        qsort(members, n_members, sizeof(*members), compare_members);
    *ret_members = TAKE_PTR(members);
    *ret_n_members = n_members;
    return 0;
}

/* Classes as nodes: the first document of each, and how many there are. */
struct nodes {
    struct records *records;
    uint64_t sids[CLASSES_MAX];
    uint32_t weights[CLASSES_MAX];
    const struct record *loaded[CLASSES_MAX];
    size_t n, n_loaded;
};

static void nodes_free(struct nodes *nodes)
{
    if (nodes)
        records_return(nodes->records, nodes->loaded, nodes->n_loaded);
    free(nodes);
}
DEFINE_CLEANUP(struct nodes *, nodes_free);

static bool begins_class(const struct member *members, size_t i)
{
    return i == 0 || memcmp(members[i].class, members[i - 1].class, CLASS_BYTES) != 0;
}

static void take_nodes(const struct member *members, size_t n_members, uint64_t n_classes,
                       struct nodes *nodes)
{
    uint64_t class = 0;
    bool taken = false;
    for (size_t i = 0; i < n_members; i++) {
        if (begins_class(members, i)) {
            /* The j-th of those taken is class j * n_classes / CLASSES_MAX. */
            taken = n_classes <= CLASSES_MAX || nodes->n * n_classes / CLASSES_MAX == class;
            class ++;
            if (taken)
                nodes->sids[nodes->n++] = members[i].sid;
        }
        if (taken)
            nodes->weights[nodes->n - 1]++;
    }
}

/* Documents that have been deleted since are left out. */
static int load_nodes(struct index *index, struct nodes *nodes)
{
    const struct record *loaded[CLASSES_MAX];
    nodes->records = index->records;
    int r = records_borrow(index->records, nodes->sids, nodes->n, loaded);
    if (r < 0)
        return r;
    size_t n = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        if (!loaded[i])
            continue;
        nodes->loaded[n] = loaded[i];
        nodes->sids[n] = nodes->sids[i];
        nodes->weights[n++] = nodes->weights[i];
    }
    nodes->n = nodes->n_loaded = n;
    return n ? 0 : -ENOENT;
}

static int compare_nodes(void *user, uint32_t a, uint32_t b, double *ret_resemblance)
{
    const struct nodes *nodes = user;
    struct estimate estimate;
    int r = record_resemblance(nodes->loaded[a], nodes->loaded[b], &estimate);
    *ret_resemblance = r == 0 ? estimate.value : 0;
    return r;
}

static int name_links(struct index *index, const struct nodes *nodes,
                      const struct cohesion *cohesion, struct cluster_explanation *out)
{
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    int r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);
    for (size_t i = 0; r == 0 && i < cohesion->n_links; i++) {
        const struct cohesion_link *from = &cohesion->links[i];
        struct cluster_link link = {.resemblance = from->resemblance, .n_beyond = from->n_beyond};
        r = answer_path(index, paths, &nodes->loaded[from->a]->key, &link.path_a);
        if (r == 0)
            r = answer_path(index, paths, &nodes->loaded[from->b]->key, &link.path_b);
        if (r == 0) {
            out->links[out->n_links++] = link;
            continue;
        }
        free(link.path_a);
        if (r == -ENOENT)
            r = 0; /* removed this moment */
    }
    return r;
}

int index_explain(struct index *index, uint64_t id, struct cluster_explanation *ret_explanation)
{
    _cleanup_(sid_list_done) struct sid_list sids = {0};
    _cleanup_(cluster_explanation_done) struct cluster_explanation out = {.id = id};
    _cleanup_(nodes_free_p) struct nodes *nodes = calloc(1, sizeof(*nodes));
    _cleanup_free_ struct member *members = NULL;
    struct cohesion cohesion;
    size_t n_members = 0;
    const uint64_t stored = shown_ids_read(&index->shown_ids, id);
    if (!nodes)
        return -ENOMEM;
    int r = stored ? living_clusters_members(index->clusters, stored, 0, &sids) : -ENOENT;
    if (r == 0)
        r = load_members(index, &sids, &members, &n_members);
    if (r < 0)
        return r;
    out.size = n_members;
    for (size_t i = 0; i < n_members; i++)
        out.n_classes += begins_class(members, i);
    take_nodes(members, n_members, out.n_classes, nodes);
    r = load_nodes(index, nodes);
    if (r == 0)
        r = cohesion_measure(nodes->n, nodes->weights,
                             named_clusterings_threshold(&index->named, stored), compare_nodes,
                             nodes, &cohesion);
    if (r == 0)
        r = name_links(index, nodes, &cohesion, &out);
    if (r < 0)
        return r;
    out.n_classes_compared = nodes->n;
    out.n_pairs = cohesion.n_pairs;
    out.resemblance_min = cohesion.min;
    out.resemblance_mean = cohesion.mean;
    out.linked = cohesion.linked;
    out.n_parts = cohesion.n_parts;
    out.diameter = cohesion.diameter;
    out.has_loss = named_clusterings_loss(&index->named, stored, &out.loss);
    *ret_explanation = out;
    out = (struct cluster_explanation){0};
    return 0;
}
