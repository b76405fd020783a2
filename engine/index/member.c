#include "engine/index/member.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"

enum {
    CLUSTER_BYTES = 8,
    MEMBER_KEY_MIN_BYTES = CLUSTER_BYTES + 8 + FINGERPRINT_BYTES + 1 + FILE_KEY_MIN_BYTES + 8
};

void member_init(struct member *member, uint64_t sid, const struct record *record)
{
    uint8_t *p = member->rank;

    member->sid = sid;
    put_be64(p, ~record->sketch.n_tokens);
    memcpy(p + 8, record->content_fingerprint, FINGERPRINT_BYTES);
    p += 8 + FINGERPRINT_BYTES;
    *p++ = record->key.size_bytes;
    memcpy(p, record->key.bytes, record->key.size_bytes);
    member->rank_bytes = (uint8_t)(p + record->key.size_bytes - member->rank);
}

struct kv_slice member_key(uint8_t key[MEMBER_KEY_MAX_BYTES], uint64_t cluster,
                           const struct member *member)
{
    put_be64(key, cluster);
    memcpy(key + CLUSTER_BYTES, member->rank, member->rank_bytes);
    put_be64(key + CLUSTER_BYTES + member->rank_bytes, member->sid);
    return (struct kv_slice){key, CLUSTER_BYTES + member->rank_bytes + 8u};
}

int member_parse(const struct kv_slice *key, struct member *ret_member)
{
    const uint8_t *p = key->data;

    if (key->size_bytes < MEMBER_KEY_MIN_BYTES || key->size_bytes > MEMBER_KEY_MAX_BYTES)
        return -EUCLEAN;
    ret_member->rank_bytes = (uint8_t)(key->size_bytes - CLUSTER_BYTES - 8);
    memcpy(ret_member->rank, p + CLUSTER_BYTES, ret_member->rank_bytes);
    ret_member->sid = get_be64(p + key->size_bytes - 8);
    return 0;
}
