/* A store in memory, which is gone with kv_close(). */
#ifndef KINFS_TESTS_LIB_STORES_KV_MEMORY_H
#define KINFS_TESTS_LIB_STORES_KV_MEMORY_H

#include "store/kv.h"

int kv_memory_open(const struct kv_options *options, struct kv **ret_kv);
/* How many deleted entries scans passed over so far, each time they did. RocksDB has to as well, as
 * long as it has not compacted them away. */
uint64_t kv_memory_passed(struct kv *kv);

#endif
