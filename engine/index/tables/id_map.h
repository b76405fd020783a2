/* From sids or cluster ids to places in an array. */
#ifndef KINFS_ENGINE_INDEX_TABLES_ID_MAP_H
#define KINFS_ENGINE_INDEX_TABLES_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

/* All zero: empty. Ids are not 0. */
struct id_map {
    uint64_t *ids; /* open addressing */
    uint32_t *places;
    size_t n, n_slots;
};

enum { ID_MAP_NONE = UINT32_MAX };

uint32_t id_map_find(const struct id_map *map, uint64_t id);     /* ID_MAP_NONE: it is not there */
int id_map_add(struct id_map *map, uint64_t id, uint32_t place); /* not there yet; 0, -ENOMEM */
void id_map_done(struct id_map *map);

#endif
