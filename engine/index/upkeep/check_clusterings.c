/* All clusterings of a store that have all documents, one after the other. */
#include <errno.h>

#include "engine/index/upkeep/check_nodes.h"
#include "engine/index/clusters/clustering_row.h"

static int check_clustering(struct check_nodes *nodes, unsigned clustering,
                            const struct edge_rule *rule)
{
    int r = check_nodes_take(nodes, clustering, rule);
    if (r < 0)
        return r;
    return clustering_has_centres(clustering) ? check_centres(nodes) : check_components(nodes);
}

int check_clusterings(struct check *check)
{
    struct check_nodes nodes = {0};
    if (check->repairing) /* what is to be the same is being made so */
        return 0;
    int r = check_nodes_init(&nodes, check);
    if (r == 0)
        r = check_clustering(&nodes, 0, &(struct edge_rule){.resemblance = check->threshold});
    for (unsigned number = 1; r == 0 && number <= CLUSTERING_MAX; number++) {
        struct edge_rule rule;
        r = clustering_row_rule(check->kv, number, &rule);
        if (r > 0)
            r = check_clustering(&nodes, number, &rule);
        else if (r == -EUCLEAN || r == -EIO)
            r = check_read_failed(check, TABLE_META, r);
    }
    check_nodes_done(&nodes);
    return r < 0 ? r : check_remade(check);
}
