#include "engine/index/tables/id_map.h"

#include <errno.h>
#include <stdlib.h>

static size_t slot_of(const struct id_map *map, uint64_t id)
{
    size_t i = (size_t)((id * 0x9e3779b97f4a7c15u) >> 32) & (map->n_slots - 1);

    while (map->ids[i] && map->ids[i] != id)
        i = (i + 1) & (map->n_slots - 1);
    return i;
}

uint32_t id_map_find(const struct id_map *map, uint64_t id)
{
    if (map->n_slots == 0)
        return ID_MAP_NONE;
    size_t i = slot_of(map, id);
    return map->ids[i] ? map->places[i] : ID_MAP_NONE;
}

static int grow(struct id_map *map)
{
    struct id_map larger = {.n = map->n, .n_slots = map->n_slots ? 2 * map->n_slots : 64};

    larger.ids = calloc(larger.n_slots, sizeof(*larger.ids));
    larger.places = calloc(larger.n_slots, sizeof(*larger.places));
    if (!larger.ids || !larger.places) {
        id_map_done(&larger);
        return -ENOMEM;
    }
    for (size_t i = 0; i < map->n_slots; i++) {
        if (!map->ids[i])
            continue;
        size_t slot = slot_of(&larger, map->ids[i]);
        larger.ids[slot] = map->ids[i];
        larger.places[slot] = map->places[i];
    }
    id_map_done(map);
    *map = larger;
    return 0;
}

int id_map_add(struct id_map *map, uint64_t id, uint32_t place)
{
    int r = 2 * map->n >= map->n_slots ? grow(map) : 0;
    if (r < 0)
        return r;
    size_t i = slot_of(map, id);
    map->ids[i] = id;
    map->places[i] = place;
    map->n++;
    return 0;
}

void id_map_done(struct id_map *map)
{
    free(map->ids);
    free(map->places);
    *map = (struct id_map){0};
}
