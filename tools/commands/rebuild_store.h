/* Making a store anew, for the commands that do so: who has it is told, the work is shown. */
#ifndef KINFS_TOOLS_COMMANDS_REBUILD_STORE_H
#define KINFS_TOOLS_COMMANDS_REBUILD_STORE_H

#include "tools/commands/command.h"

struct rebuild {
    const struct location *at;
    const struct configuration *configuration;
    /* The rules of documents; NULL: those of the store, or where it has none the configuration */
    const struct document_rules *rules;
    unsigned n_workers; /* 0: the engine's choice */
    /* index_repair() instead of index_rebuild(), whose own functions are called as that says; of
     * progress and stage this takes care. NULL: a rebuild */
    const struct index_repair_options *repair;
    /* what came of it */
    uint64_t documents, clusters, skipped, sketched; /* sketched: of the documents, those read */
};

/* Returns 0, of a repair enum index_mending, or an error, with a line in *ret_error. */
int rebuild_store(struct rebuild *rebuild, char **ret_error);

#endif
