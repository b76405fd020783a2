/* All clusterings of a store, one after the other. */
#include "engine/index/upkeep/check_nodes.h"

int check_clusterings(struct check *check)
{
    _cleanup_(check_nodes_done) struct check_nodes nodes = {0};
    if (check->repairing) /* what is to be the same is being made so */
        return 0;
    int r = check_nodes_init(&nodes, check);
    if (r == 0)
        r = check_components(&nodes);
    return r < 0 ? r : check_remade(check);
}
