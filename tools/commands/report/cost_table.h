/* The cost of near-duplicates: how many documents and bytes there are, and how many of them are
 * copies, in all, by directory and by type. A copy is a member of a cluster that is not its
 * representative, which would be kept. Of one thread at a time. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_COST_TABLE_H
#define KINFS_TOOLS_COMMANDS_REPORT_COST_TABLE_H

#include <json-c/json.h>

#include "tools/documents/paths.h"

/* By the resemblance of a copy to the representative, which a sketch estimates: of the same bytes
 * or text, of COST_NEAR_LEAST or more, of less. */
enum cost_kind { COST_EQUAL, COST_NEAR, COST_LOOSE, COST_N_KINDS };
#define COST_NEAR_LEAST 0.95
enum cost_kind cost_kind_of(double resemblance);

struct cost {
    uint64_t documents, bytes; /* all */
    uint64_t copies[COST_N_KINDS], copy_bytes[COST_N_KINDS];
};
uint64_t cost_near_bytes(const struct cost *cost); /* of near-duplicates: equal or near */
/* For qsort(3): what has more bytes of near-duplicates comes first, then of looser copies. */
int cost_compare(const struct cost *a, const struct cost *b);

/* An array of it: documents, bytes, copies of each kind, bytes of each kind. Gives. */
struct json_object *cost_json(const struct cost *cost);

struct cost_of_type;

/* Zero-initialised; ends with cost_table_done(). Memory is linear in the directories. */
struct cost_table {
    struct cost all;
    struct paths paths;
    struct cost *directories; /* by one more than the number of the paths; the root is 0 */
    size_t room;
    struct cost_of_type *types;
    size_t n_types, types_room;
};

void cost_table_done(struct cost_table *table);

/* Count a document, then, if it is one, as a copy. Each returns 0, -ENOMEM or -EOVERFLOW. */
int cost_table_add(struct cost_table *table, const char *path, uint64_t size_bytes,
                   const char *type);
int cost_table_add_copy(struct cost_table *table, const char *path, uint64_t size_bytes,
                        const char *type, enum cost_kind kind);

/* Each directory also costs what those in it do; after all has been counted, once. */
void cost_table_sum(struct cost_table *table);

/* The directories whose near-duplicates take most, each behind the one that it is in:
 * {"rows": [[number of that row or -1, name, cost...]], "left_out": how many}. Gives; NULL without
 * memory. */
struct json_object *cost_table_directories(const struct cost_table *table, size_t most);
/* [[name, cost...]], those whose near-duplicates take most first. */
struct json_object *cost_table_types(const struct cost_table *table);

#endif
