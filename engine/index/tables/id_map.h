/* A map leads from ids (sids, ids of clusters, other numbers but 0) to places in an array. Of one
 * thread. */
#ifndef KINFS_ENGINE_INDEX_TABLES_ID_MAP_H
#define KINFS_ENGINE_INDEX_TABLES_ID_MAP_H

#include <errno.h>

#include "engine/index/tables/sid_tally.h"

/* All zero: empty. Ids are not 0. */
struct id_map {
    struct sid_tally places;
};

enum { ID_MAP_NONE = UINT32_MAX };

/* ID_MAP_NONE: it is not there. */
static inline uint32_t id_map_find(const struct id_map *map, uint64_t id)
{
    const uint32_t *place = sid_tally_find(&map->places, id);
    return place ? *place : ID_MAP_NONE;
}

/* Not there yet. 0, -ENOMEM. */
static inline int id_map_add(struct id_map *map, uint64_t id, uint32_t place)
{
    uint32_t *added = sid_tally_of(&map->places, id);
    if (!added)
        return -ENOMEM;
    *added = place;
    return 0;
}

static inline void id_map_done(struct id_map *map)
{
    sid_tally_done(&map->places);
}

#endif
