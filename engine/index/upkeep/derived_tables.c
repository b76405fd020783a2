#include "engine/index/upkeep/derived_tables.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/members/cluster_aliases.h"
#include "engine/index/members/cluster_sizes.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/members/member.h"
#include "engine/index/tables/distinct.h"
#include "engine/index/tables/past.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"

enum {
    POSTED = 1u << TABLE_TIER_R | 1u << TABLE_TIER_C | 1u << TABLE_CLASSES,
    CLUSTERED = 1u << TABLE_MEMBERS | 1u << TABLE_CLUSTER_OF,
    PASSED = 1u << TABLE_PASSAGES | 1u << TABLE_PASSAGES_OF, /* found by the next scan */
    /* compared is when it is asked for; bags and fragments by the next scan, and what is made of
     * them by the next rest */
    LEFT = 1u << TABLE_COMPARED | PASSED | 1u << TABLE_BAGS | 1u << TABLE_WORD_LISTS |
           1u << TABLE_FRAGMENTS | 1u << TABLE_ANCHORS,
    SIFTED = 1u << TABLE_DISTINCT | 1u << TABLE_PAST, /* rows that are sound stay */
    TELL_EVERY = 1 << 16,                             /* rows */
    WRITE_BYTES = 256 << 10                           /* of a batch */
};

bool derived_tables_have_all(unsigned wrong)
{
    return !(wrong & ~(unsigned)(POSTED | CLUSTERED | LEFT | SIFTED));
}

bool derived_tables_have_clusters(unsigned wrong)
{
    return wrong & ~(1u << TABLE_TIER_C | (unsigned)LEFT | (unsigned)SIFTED);
}

struct copying {
    struct kv *old, *copy;
    int (*progress)(void *user, const char *table, uint64_t n_rows);
    void *user;
    unsigned table; /* that is being copied */
    uint64_t n_rows;
};

static int row_copied(struct copying *copying, unsigned table)
{
    if (copying->table != table)
        copying->n_rows = 0;
    copying->table = table;
    if (copying->n_rows++ % TELL_EVERY)
        return 0;
    return copying->progress(copying->user, schema_tables[table].name, copying->n_rows - 1);
}

/* -- tables as they are -- */

struct table_copy {
    struct copying *copying;
    struct table_walk walk;
};

static int next_row(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct table_copy *copy = user;
    int r = row_copied(copy->copying, copy->walk.table);
    *ret_delete = false;
    return r < 0 ? r : table_walk_next(&copy->walk, ret_entry);
}

static int copy_table(struct copying *copying, unsigned table)
{
    struct table_copy copy = {.copying = copying};
    int r = table_walk_begin(&copy.walk, copying->old, table, (struct kv_slice){0});
    if (r == 0)
        r = kv_bulk_load(copying->copy, table, next_row, &copy);
    table_walk_done(&copy.walk);
    return r;
}

static bool begins_with(const struct kv_slice *key, const char *text)
{
    size_t n = strlen(text);
    return key->size_bytes >= n && memcmp(key->data, text, n) == 0;
}

/* Counts are made again, and what a batch made (remade.h); and without their watermark all postings
 * are. */
static int copy_meta(struct copying *copying, unsigned wrong)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct kv_entry row;
    int r =
        batch ? table_walk_begin(&walk, copying->old, TABLE_META, (struct kv_slice){0}) : -ENOMEM;
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0)
        if (!begins_with(&row.key, "cluster_counts") && !begins_with(&row.key, "document_counts") &&
            !begins_with(&row.key, "remade") &&
            !(wrong & POSTED && begins_with(&row.key, "postings_flushed")))
            kv_batch_put(batch, TABLE_META, row.key, row.value);
    return r < 0 ? r : kv_apply(copying->copy, batch);
}

/* -- members, and which cluster documents are in, from each other -- */

struct members_copy {
    struct copying *copying;
    struct kv_batch *batch;
    struct table_walk records; /* of the copy */
    struct kv_entry record;
    uint64_t sid; /* of the record; 0: not begun */
    bool ended;
    uint64_t next_ids[CLUSTERING_MAX + 1]; /* 0: not read yet */
};

static void members_copy_done(struct members_copy *members)
{
    kv_batch_free(members->batch);
    table_walk_done(&members->records);
}

static int write_rows(struct members_copy *members, size_t from_bytes)
{
    if (kv_batch_bytes(members->batch) < from_bytes)
        return 0;
    int r = kv_apply(members->copying->copy, members->batch);
    kv_batch_clear(members->batch);
    return r;
}

/* An id was given out. 1, 0, or an error. */
static int is_given_out(struct members_copy *members, uint64_t cluster)
{
    const unsigned clustering = cluster_clustering(cluster);
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct clustering_meta meta;
    if (clustering > CLUSTERING_MAX)
        return 0;
    if (!members->next_ids[clustering]) {
        int r = kv_get(members->copying->copy, TABLE_META,
                       clustering_meta_key(&meta, "next_cluster", clustering), &value);
        if (r < 0 && r != -ENOENT)
            return r;
        members->next_ids[clustering] = 1;
        (void)cluster_ids_decode_next(kv_buf_slice(&value), clustering,
                                      &members->next_ids[clustering]);
    }
    return cluster > clustering_base(clustering) && cluster < members->next_ids[clustering];
}

/* Both rows, by the record. A record that does not decode is none. */
static int put_member(struct members_copy *members, uint64_t sid, uint64_t cluster,
                      struct kv_slice encoded)
{
    _cleanup_(record_done) struct record record = {0};
    uint8_t of_key[CLUSTER_OF_KEY_BYTES], key[MEMBER_KEY_MAX_BYTES], value[8];
    struct member member;
    int r = record_decode(encoded.data, encoded.size_bytes, &record);
    if (r < 0)
        return r == -EUCLEAN ? 0 : r;
    member_init(&member, sid, &record);
    put_be64(value, cluster);
    kv_batch_put(members->batch, TABLE_CLUSTER_OF,
                 member_cluster_of_key(of_key, sid, cluster_clustering(cluster)),
                 (struct kv_slice){value, sizeof(value)});
    kv_batch_put(members->batch, TABLE_MEMBERS, member_key(key, cluster, &member),
                 (struct kv_slice){"", 0});
    return write_rows(members, WRITE_BYTES);
}

/* Go to a record. 1, 0 where there is none, or an error. */
static int seek_record(struct members_copy *members, uint64_t sid)
{
    while (!members->ended && members->sid < sid) {
        int r = table_walk_next(&members->records, &members->record);
        if (r < 0)
            return r;
        members->ended = r == 0;
        if (r > 0)
            (void)record_decode_key(members->record.key, &members->sid); /* else passed over */
    }
    return !members->ended && members->sid == sid;
}

static int take_cluster_of(struct members_copy *members, const struct kv_entry *row)
{
    if (!member_is_cluster_of(row))
        return 0;
    const uint64_t sid = get_be64(row->key.data), cluster = get_be64(row->value.data);
    int r = is_given_out(members, cluster);
    if (r > 0)
        r = seek_record(members, sid);
    return r <= 0 ? r : put_member(members, sid, cluster, members->record.value);
}

/* One whose other side is lost. */
static int take_member(struct members_copy *members, const struct kv_entry *row)
{
    _cleanup_(kv_buf_done) struct kv_buf other = {0}, encoded = {0};
    uint8_t of_key[CLUSTER_OF_KEY_BYTES], sid_key[8];
    struct member member;
    if (row->key.size_bytes <= SIZE_KEY_BYTES || member_parse(&row->key, &member) < 0)
        return 0;
    const uint64_t cluster = get_be64(row->key.data);
    int r = is_given_out(members, cluster); /* no alias is */
    if (r <= 0)
        return r;
    r = kv_get(members->copying->copy, TABLE_CLUSTER_OF,
               member_cluster_of_key(of_key, member.sid, cluster_clustering(cluster)), &other);
    if (r != -ENOENT)
        return r;
    put_be64(sid_key, member.sid);
    r = kv_get(members->copying->copy, TABLE_RECORDS, (struct kv_slice){sid_key, 8}, &encoded);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    r = put_member(members, member.sid, cluster, kv_buf_slice(&encoded));
    return r < 0 ? r : write_rows(members, 0); /* the next one may be of the same document */
}

/* The rows of a table that can be read are taken. */
static int take_each(struct members_copy *members, unsigned table,
                     int (*take)(struct members_copy *members, const struct kv_entry *row))
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    int r = table_walk_begin(&walk, members->copying->old, table, (struct kv_slice){0});
    while (r >= 0) {
        r = table_walk_next(&walk, &row);
        if (r <= 0)
            return r == -EUCLEAN || r == -EIO ? 0 : r;
        r = row_copied(members->copying, table);
        if (r == 0)
            r = take(members, &row);
    }
    return r;
}

/* The size of a cluster is noted; one with a single member is none. */
static int end_cluster(struct members_copy *members, uint64_t cluster, uint64_t n_members,
                       const struct kv_buf *last)
{
    uint8_t key[SIZE_KEY_BYTES], of_key[CLUSTER_OF_KEY_BYTES], value[SIZE_VALUE_BYTES];
    struct member member;
    put_be64(key, cluster);
    put_be64(value, n_members);
    if (n_members > 1) {
        kv_batch_put(members->batch, TABLE_MEMBERS, (struct kv_slice){key, sizeof(key)},
                     (struct kv_slice){value, sizeof(value)});
    } else if (n_members == 1) {
        const struct kv_slice row = kv_buf_slice(last);
        if (member_parse(&row, &member) < 0)
            return -EUCLEAN;
        kv_batch_delete(members->batch, TABLE_MEMBERS, row);
        kv_batch_delete(members->batch, TABLE_CLUSTER_OF,
                        member_cluster_of_key(of_key, member.sid, cluster_clustering(cluster)));
    }
    return write_rows(members, WRITE_BYTES);
}

static int put_sizes(struct members_copy *members)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    _cleanup_(kv_buf_done) struct kv_buf last = {.data = malloc(MEMBER_KEY_MAX_BYTES)};
    uint64_t cluster = 0, n_members = 0;
    struct kv_entry row;
    int r = last.data ? table_walk_begin(&walk, members->copying->copy, TABLE_MEMBERS,
                                         (struct kv_slice){0})
                      : -ENOMEM;
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        if (get_be64(row.key.data) != cluster) {
            r = end_cluster(members, cluster, n_members, &last);
            n_members = 0;
        }
        cluster = get_be64(row.key.data);
        n_members++;
        last.size_bytes = row.key.size_bytes;
        memcpy(last.data, row.key.data, row.key.size_bytes);
    }
    return r < 0 ? r : end_cluster(members, cluster, n_members, &last);
}

/* 1, 0, or an error. */
static int is_cluster(struct kv *kv, uint64_t cluster)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[SIZE_KEY_BYTES];
    put_be64(key, cluster);
    int r = kv_get(kv, TABLE_MEMBERS, (struct kv_slice){key, sizeof(key)}, &value);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int take_alias(void *user, uint64_t alias, uint64_t cluster)
{
    struct kv *copy = user;
    int r = is_cluster(copy, cluster);
    if (r > 0)
        r = is_cluster(copy, alias) == 0 ? cluster_aliases_add(copy, alias, cluster) : 0;
    return r;
}

static int copy_members(struct copying *copying)
{
    _cleanup_(members_copy_done) struct members_copy members = {.copying = copying,
                                                                .batch = kv_batch_new()};
    if (!members.batch)
        return -ENOMEM;
    int r = table_walk_begin(&members.records, copying->copy, TABLE_RECORDS, (struct kv_slice){0});
    if (r == 0)
        r = take_each(&members, TABLE_CLUSTER_OF, take_cluster_of);
    if (r == 0)
        r = write_rows(&members, 0);
    if (r == 0)
        r = take_each(&members, TABLE_MEMBERS, take_member);
    if (r == 0)
        r = put_sizes(&members);
    if (r == 0)
        r = write_rows(&members, 0);
    if (r < 0)
        return r;
    r = cluster_aliases_each(copying->old, take_alias, copying->copy);
    return r == -EUCLEAN || r == -EIO ? 0 : r;
}

/* -- */

int derived_tables_copy(struct kv *old, struct kv *copy, unsigned wrong,
                        int (*progress)(void *user, const char *table, uint64_t n_rows), void *user)
{
    struct copying copying = {.old = old, .copy = copy, .progress = progress, .user = user};
    const unsigned remade = (wrong & POSTED ? POSTED : 0) | (wrong & CLUSTERED ? CLUSTERED : 0) |
                            (wrong & PASSED ? PASSED : 0) | (wrong & (LEFT | SIFTED));
    uint64_t n, n_left;
    int r = copy_meta(&copying, wrong);
    for (unsigned table = TABLE_META + 1; r == 0 && table < SCHEMA_N_TABLES; table++)
        if (!(remade >> table & 1))
            r = copy_table(&copying, table);
    if (r == 0 && wrong & CLUSTERED)
        r = copy_members(&copying);
    if (r == 0 && wrong & 1u << TABLE_DISTINCT)
        r = distinct_copy(old, copy);
    if (r == 0 && wrong & 1u << TABLE_PAST)
        r = past_copy(old, copy, 0, &n, &n_left);
    return r < 0 ? r : kv_checkpoint(copy);
}
