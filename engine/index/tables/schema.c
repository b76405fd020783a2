#include "engine/index/tables/schema.h"

/* The order is the stored order of enum schema_table; names are part of the format. */
const struct kv_table schema_tables[SCHEMA_N_TABLES] = {
    [TABLE_META] = {"meta", KV_PARTITION_WHOLE, 0, false},
    [TABLE_RECORDS] = {"records", KV_PARTITION_WHOLE, .ascending = true},
    [TABLE_FILES] = {"files", KV_PARTITION_PREFIXED, 0, false},
    [TABLE_NAMES] = {"names", KV_PARTITION_PREFIXED, 0, false},
    [TABLE_LINKS] = {"links", KV_PARTITION_PREFIXED, 0, true, true},
    [TABLE_TIER_R] = {"tier_r", KV_PARTITION_FIXED, 8, true, true, true},
    [TABLE_TIER_C] = {"tier_c", KV_PARTITION_FIXED, 8, true, false, true},
    [TABLE_CLASSES] = {"classes", KV_PARTITION_FIXED, 17, true, true, true},
    [TABLE_MEMBERS] = {"members", KV_PARTITION_FIXED, 8, true, true},
    [TABLE_CLUSTER_OF] = {"cluster_of", KV_PARTITION_WHOLE, 0, false},
    [TABLE_INTENTS] = {"intents", KV_PARTITION_WHOLE, 0, true},
};
