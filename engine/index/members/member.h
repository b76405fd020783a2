/* A document as a member of whatever cluster: its sid, and its place in it. The key of its row in
 * TABLE_MEMBERS (membership.h) is made of both. */
#ifndef KINFS_ENGINE_INDEX_MEMBERS_MEMBER_H
#define KINFS_ENGINE_INDEX_MEMBERS_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/tables/record.h"
#include "store/kv.h"

enum {
    ORDER_BYTES = 16,
    RANK_MAX_BYTES = 8 + FINGERPRINT_BYTES + 1 + FILE_KEY_MAX_BYTES,
    MEMBER_KEY_MAX_BYTES = 8 + ORDER_BYTES + RANK_MAX_BYTES + 8
};

struct member {
    uint64_t sid;
    uint8_t order[ORDER_BYTES]; /* stands in the key where clusters have centres */
    uint8_t rank_bytes;
    uint8_t rank[RANK_MAX_BYTES];
};

void member_init(struct member *member, uint64_t sid, const struct record *record);

/* The place of a document among those that may be centres (engine/cluster/stars.h):
 * 2^64-1 - distinct shingles 8 | stars_order() 8. */
void member_order(uint8_t order[ORDER_BYTES], const struct record *record);

/* The file of the document, which its rank ends with. */
void member_file(const struct member *member, struct file_key *ret_file);

/* The key of a member's row, in memory of the caller. */
struct kv_slice member_key(uint8_t key[MEMBER_KEY_MAX_BYTES], uint64_t cluster,
                           const struct member *member);
int member_parse(const struct kv_slice *key, struct member *ret_member); /* 0, -EUCLEAN */

/* -- the row of TABLE_CLUSTER_OF that says in which cluster of a clustering it is -- */

enum { CLUSTER_OF_KEY_BYTES = 9 };
struct kv_slice member_cluster_of_key(uint8_t key[CLUSTER_OF_KEY_BYTES], uint64_t sid,
                                      unsigned clustering);
/* The row can be that of a cluster. */
bool member_is_cluster_of(const struct kv_entry *row);

#endif
