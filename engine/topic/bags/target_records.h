/* Records of words of targets, and how they are sorted: by the target, then by the word. */
#ifndef KINFS_ENGINE_TOPIC_BAGS_TARGET_RECORDS_H
#define KINFS_ENGINE_TOPIC_BAGS_TARGET_RECORDS_H

#include "engine/cluster/large/sorted_partition.h"

struct target_record {
    uint64_t target, word;
    double weight;
};

extern const struct sorting target_records_sorting;

#endif
