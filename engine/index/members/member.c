#include "engine/index/members/member.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/cluster/stars.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/tables/sid.h"

enum {
    CLUSTER_BYTES = 8,
    MEMBER_KEY_MIN_BYTES = CLUSTER_BYTES + 8 + FINGERPRINT_BYTES + 1 + FILE_KEY_MIN_BYTES + 8
};

void member_order(uint8_t order[ORDER_BYTES], const struct record *record)
{
    put_be64(order, ~(uint64_t)min_sketch_cardinality(&record->sketch));
    put_be64(order + 8, stars_order(&record->sketch));
}

static size_t order_bytes(uint64_t cluster)
{
    return clustering_has_centres(cluster_clustering(cluster)) ? ORDER_BYTES : 0;
}

void member_init(struct member *member, uint64_t sid, const struct record *record)
{
    uint8_t *p = member->rank;

    member->sid = sid;
    member_order(member->order, record);
    put_be64(p, ~record->sketch.n_tokens);
    memcpy(p + 8, record->content_fingerprint, FINGERPRINT_BYTES);
    p += 8 + FINGERPRINT_BYTES;
    *p++ = record->key.size_bytes;
    memcpy(p, record->key.bytes, record->key.size_bytes);
    member->rank_bytes = (uint8_t)(p + record->key.size_bytes - member->rank);
}

void member_file(const struct member *member, struct file_key *ret_file)
{
    const size_t n_before = 8 + FINGERPRINT_BYTES + 1;
    const size_t n = member->rank_bytes > n_before ? member->rank_bytes - n_before : 0;
    *ret_file =
        (struct file_key){.size_bytes = (uint8_t)(n < FILE_KEY_MAX_BYTES ? n : FILE_KEY_MAX_BYTES)};
    memcpy(ret_file->bytes, member->rank + n_before, ret_file->size_bytes);
}

struct kv_slice member_key(uint8_t key[MEMBER_KEY_MAX_BYTES], uint64_t cluster,
                           const struct member *member)
{
    size_t n = CLUSTER_BYTES, n_order = order_bytes(cluster);

    put_be64(key, cluster);
    memcpy(key + n, member->order, n_order);
    n += n_order;
    memcpy(key + n, member->rank, member->rank_bytes);
    n += member->rank_bytes;
    put_be64(key + n, member->sid);
    return (struct kv_slice){key, n + 8};
}

int member_parse(const struct kv_slice *key, struct member *ret_member)
{
    const uint8_t *p = key->data;

    if (key->size_bytes < MEMBER_KEY_MIN_BYTES || key->size_bytes > MEMBER_KEY_MAX_BYTES)
        return -EUCLEAN;
    size_t n_order = order_bytes(get_be64(p));
    if (key->size_bytes < MEMBER_KEY_MIN_BYTES + n_order ||
        key->size_bytes - n_order > MEMBER_KEY_MAX_BYTES - ORDER_BYTES ||
        sid_decode(p + key->size_bytes - 8, &ret_member->sid) < 0)
        return -EUCLEAN;
    memset(ret_member->order, 0, ORDER_BYTES);
    memcpy(ret_member->order, p + CLUSTER_BYTES, n_order);
    ret_member->rank_bytes = (uint8_t)(key->size_bytes - n_order - CLUSTER_BYTES - 8);
    memcpy(ret_member->rank, p + CLUSTER_BYTES + n_order, ret_member->rank_bytes);
    return 0;
}

struct kv_slice member_cluster_of_key(uint8_t key[CLUSTER_OF_KEY_BYTES], uint64_t sid,
                                      unsigned clustering)
{
    put_be64(key, sid);
    key[8] = (uint8_t)clustering;
    return (struct kv_slice){key, clustering ? 9 : 8};
}

bool member_is_cluster_of(const struct kv_entry *row)
{
    const struct kv_slice *key = &row->key;
    unsigned clustering = key->size_bytes == 9 ? ((const uint8_t *)key->data)[8] : 0;
    if ((key->size_bytes != 8 && (key->size_bytes != 9 || clustering == 0)) ||
        row->value.size_bytes != 8)
        return false;
    uint64_t id, sid;
    return sid_decode(key->data, &sid) == 0 && sid_decode(row->value.data, &id) == 0 &&
           clustering <= CLUSTERING_MAX && cluster_clustering(id) == clustering &&
           id != clustering_base(clustering);
}
