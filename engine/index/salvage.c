#include "engine/index/salvage.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/catalogue.h"
#include "engine/index/membership.h"
#include "engine/index/schema.h"
#include "engine/index/table_walk.h"

static bool has_its_fingerprint(const struct record *record)
{
    uint8_t fingerprint[FINGERPRINT_BYTES];
    if (record->sketch.n_values == 0)
        return true;
    min_sketch_fingerprint(&record->sketch, fingerprint);
    return memcmp(fingerprint, record->shingle_fingerprint, FINGERPRINT_BYTES) == 0;
}

int salvage_record(struct kv *kv, uint64_t policy_id, const struct file_key *file,
                   const struct stat *st, struct record *ret_record)
{
    struct file_row row;
    struct record record;
    struct record_key key;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    if (catalogue_get_file(kv, file, &row) < 0 || !row.sid || row.racy ||
        !file_row_matches(&row, st) ||
        kv_get(kv, TABLE_RECORDS, record_key(&key, row.sid), &value) < 0)
        return 0;
    int r = record_decode(value.data, value.size_bytes, &record);
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    if (!file_key_equal(&record.key, file) || record.sketch.policy_id != policy_id ||
        !has_its_fingerprint(&record)) {
        record_done(&record);
        return 0;
    }
    /* The content is what it was; touched it may have been since. */
    record.size_bytes = row.size_bytes;
    record.mtime = row.mtime;
    record.ctime = row.ctime;
    *ret_record = record;
    return 1;
}

uint64_t salvage_cluster(struct kv *kv, unsigned clustering, const struct file_key *file)
{
    struct membership membership = {.kv = kv, .clustering = clustering};
    struct file_row row;
    uint64_t id = 0;
    if (catalogue_get_file(kv, file, &row) < 0 || !row.sid ||
        membership_cluster_of(&membership, row.sid, &id) < 0 ||
        cluster_clustering(id) != clustering)
        return 0;
    return id;
}

static int read_number(struct kv *kv, const char *name, uint64_t *ret_number)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_META, (struct kv_slice){name, strlen(name)}, &value);
    if (r == 0 && value.size_bytes != 8)
        r = -EUCLEAN;
    if (r == 0)
        *ret_number = get_be64(value.data);
    return r;
}

uint64_t salvage_next_cluster(struct kv *kv)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    uint64_t next = 1;
    if (read_number(kv, "next_cluster", &next) == 0)
        return next;
    int r = table_walk_begin(&walk, kv, TABLE_CLUSTER_OF, (struct kv_slice){0});
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        uint64_t id = row.value.size_bytes == 8 ? get_be64(row.value.data) : 0;
        if (cluster_clustering(id) == 0 && id >= next)
            next = id + 1;
    }
    return next;
}

int salvage_policy(struct kv *kv, struct policy *ret_policy)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_META, (struct kv_slice){"policy", 6}, &value);
    if (r == 0)
        r = policy_decode(value.data, value.size_bytes, ret_policy);
    return r == 0 ? 0 : -EUCLEAN;
}
