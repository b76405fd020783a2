#include "tools/commands/report/cost_table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/room.h"
#include "tools/show/json_path.h"

enum { TYPES_MOST = 256, TYPE_BYTES = 32 };

struct cost_of_type {
    char name[TYPE_BYTES];
    struct cost cost;
};

enum cost_kind cost_kind_of(double resemblance)
{
    return resemblance >= 1 ? COST_EQUAL : resemblance >= COST_NEAR_LEAST ? COST_NEAR : COST_LOOSE;
}

uint64_t cost_near_bytes(const struct cost *cost)
{
    return cost->copy_bytes[COST_EQUAL] + cost->copy_bytes[COST_NEAR];
}

static int more_first(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

int cost_compare(const struct cost *a, const struct cost *b)
{
    const int order = more_first(cost_near_bytes(a), cost_near_bytes(b));
    return order ? order : more_first(a->copy_bytes[COST_LOOSE], b->copy_bytes[COST_LOOSE]);
}

static void add_count(struct json_object *array, uint64_t value)
{
    json_object_array_add(array, json_object_new_uint64(value));
}

static void add_cost(struct json_object *array, const struct cost *cost)
{
    add_count(array, cost->documents);
    add_count(array, cost->bytes);
    for (unsigned kind = 0; kind < COST_N_KINDS; kind++)
        add_count(array, cost->copies[kind]);
    for (unsigned kind = 0; kind < COST_N_KINDS; kind++)
        add_count(array, cost->copy_bytes[kind]);
}

struct json_object *cost_json(const struct cost *cost)
{
    struct json_object *array = json_object_new_array();
    add_cost(array, cost);
    return array;
}

void cost_table_done(struct cost_table *table)
{
    paths_done(&table->paths);
    free(table->directories);
    free(table->types);
    *table = (struct cost_table){0};
}

/* -- counting -- */

static int find_directory(struct cost_table *table, const char *path, struct cost **ret_cost)
{
    uint32_t number;
    int r = paths_put_directory(&table->paths, path, &number);
    if (r < 0)
        return r;
    const size_t before = table->room, n = table->paths.n_directories + (size_t)1;
    if (!MAKE_ROOM(table->directories, table->room, n))
        return -ENOMEM;
    if (table->room > before)
        memset(table->directories + before, 0,
               (table->room - before) * sizeof(*table->directories));
    *ret_cost = &table->directories[number == PATHS_NO_DIRECTORY ? 0 : number + (size_t)1];
    return 0;
}

static int find_type(struct cost_table *table, const char *name, struct cost **ret_cost)
{
    size_t i = 0;
    while (i < table->n_types && strncmp(table->types[i].name, name, TYPE_BYTES - 1) != 0)
        i++;
    if (i == TYPES_MOST)
        return -EPROTO;
    if (i == table->n_types) {
        if (!MAKE_ROOM(table->types, table->types_room, i + 1))
            return -ENOMEM;
        table->types[i] = (struct cost_of_type){0};
        snprintf(table->types[i].name, TYPE_BYTES, "%s", name);
        table->n_types++;
    }
    *ret_cost = &table->types[i].cost;
    return 0;
}

static int find_all(struct cost_table *table, const char *path, const char *type,
                    struct cost *ret_costs[3])
{
    ret_costs[0] = &table->all;
    int r = find_directory(table, path, &ret_costs[1]);
    return r < 0 ? r : find_type(table, type, &ret_costs[2]);
}

int cost_table_add(struct cost_table *table, const char *path, uint64_t size_bytes,
                   const char *type)
{
    struct cost *costs[3];
    int r = find_all(table, path, type, costs);
    for (unsigned i = 0; r == 0 && i < 3; i++) {
        costs[i]->documents++;
        costs[i]->bytes += size_bytes;
    }
    return r;
}

int cost_table_add_copy(struct cost_table *table, const char *path, uint64_t size_bytes,
                        const char *type, enum cost_kind kind)
{
    struct cost *costs[3];
    int r = find_all(table, path, type, costs);
    for (unsigned i = 0; r == 0 && i < 3; i++) {
        costs[i]->copies[kind]++;
        costs[i]->copy_bytes[kind] += size_bytes;
    }
    return r;
}

static void add_to(struct cost *sum, const struct cost *cost)
{
    sum->documents += cost->documents;
    sum->bytes += cost->bytes;
    for (unsigned kind = 0; kind < COST_N_KINDS; kind++) {
        sum->copies[kind] += cost->copies[kind];
        sum->copy_bytes[kind] += cost->copy_bytes[kind];
    }
}

/* The number of a directory, one more than that of the paths; 0 is the root. */
static uint32_t parent_of(const struct cost_table *table, uint32_t number)
{
    const uint32_t above = paths_directory(&table->paths, number - 1).directory;
    return above == PATHS_NO_DIRECTORY ? 0 : above + 1;
}

void cost_table_sum(struct cost_table *table)
{
    for (uint32_t i = table->paths.n_directories; i > 0; i--)
        add_to(&table->directories[parent_of(table, i)], &table->directories[i]);
}

/* -- telling -- */

/* A directory costs as much as one in it, and has a smaller number. */
static int compare_directories(const void *a, const void *b, void *user)
{
    const struct cost_table *table = user;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const int order = cost_compare(&table->directories[x], &table->directories[y]);
    return order ? order : (x > y) - (x < y);
}

static void add_directory(const struct cost_table *table, uint32_t number, const uint32_t *rows,
                          struct json_object *array)
{
    _cleanup_json_ struct json_object *name = json_object_new_object();
    struct json_object *row = json_object_new_array(), *shown;
    const int parent = number ? (int)rows[parent_of(table, number)] : -1;
    const char *text =
        number ? table->paths.text + paths_directory(&table->paths, number - 1).name : "";
    json_path_add(name, "name", text);
    json_object_array_add(row, json_object_new_int(parent));
    json_object_object_get_ex(name, "name", &shown);
    json_object_array_add(row, json_object_get(shown));
    add_cost(row, &table->directories[number]);
    json_object_array_add(array, row);
}

static bool has_copies(const struct cost *cost)
{
    return cost_near_bytes(cost) + cost->copy_bytes[COST_LOOSE] > 0;
}

struct json_object *cost_table_directories(const struct cost_table *table, size_t most)
{
    const size_t n = table->directories ? table->paths.n_directories + (size_t)1 : 0;
    _cleanup_free_ uint32_t *order = malloc((n + 1) * sizeof(*order)),
                            *rows = malloc((n + 1) * sizeof(*rows));
    size_t n_with_copies = 0, shown = 0;
    if (!order || !rows)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        n_with_copies += has_copies(&table->directories[i]);
    }
    qsort_r(order, n, sizeof(*order), compare_directories, (void *)table);
    struct json_object *found = json_object_new_object(), *array = json_object_new_array();
    for (; shown < n_with_copies && shown < most; shown++) {
        rows[order[shown]] = (uint32_t)shown;
        add_directory(table, order[shown], rows, array);
    }
    json_object_object_add(found, "rows", array);
    json_object_object_add(found, "left_out", json_object_new_uint64(n_with_copies - shown));
    return found;
}

static int compare_types(const void *a, const void *b)
{
    const struct cost_of_type *x = a, *y = b;
    const int order = cost_compare(&x->cost, &y->cost);
    return order ? order : strcmp(x->name, y->name);
}

struct json_object *cost_table_types(const struct cost_table *table)
{
    _cleanup_free_ struct cost_of_type *types = calloc(table->n_types + 1, sizeof(*types));
    if (!types)
        return NULL;
    if (table->n_types) {
        memcpy(types, table->types, table->n_types * sizeof(*types));
        qsort(types, table->n_types, sizeof(*types), compare_types);
    }
    struct json_object *array = json_object_new_array();
    for (size_t i = 0; i < table->n_types; i++) {
        struct json_object *row = json_object_new_array();
        json_object_array_add(row, json_object_new_string(types[i].name));
        add_cost(row, &types[i].cost);
        json_object_array_add(array, row);
    }
    return array;
}
