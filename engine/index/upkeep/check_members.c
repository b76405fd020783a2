/* Members and cluster_of, the same from both sides: a document that is in a cluster is once among
 * its members, at the place its record gives it, and a row of its own counts them. All clusterings
 * at once: each has rows of its own, which say of which they are. */
#include <errno.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/members/cluster_sizes.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/named/clustering_row.h"
#include "engine/index/members/member.h"
#include "engine/index/clusters/remade.h"

struct check_members {
    struct check *check;
    struct check_tally *tally;  /* rows of members: that there are to be, less those that are */
    struct table_walk clusters; /* over cluster_of, beside the walk over documents */
    bool begun, some, ended;
    uint64_t sid, cluster; /* of its last row */

    uint64_t next_ids[CLUSTERING_MAX + 1];  /* by clustering; 0: not read yet */
    uint64_t counts[CLUSTERING_MAX + 1][2]; /* clusters, members */

    /* The cluster whose rows are being walked. */
    bool has_size, has_rows;
    uint64_t id, size, n_members;
};

int check_members_new(struct check *check, struct check_members **ret_members)
{
    struct check_members *members = calloc(1, sizeof(*members));
    if (!members)
        return -ENOMEM;
    members->check = check;
    members->tally = check_tally_new();
    if (!members->tally) {
        free(members);
        return -ENOMEM;
    }
    *ret_members = members;
    return 0;
}

void check_members_free(struct check_members *members)
{
    if (!members)
        return;
    table_walk_done(&members->clusters);
    check_tally_free(members->tally);
    free(members);
}

/* Returns 1 with the next row of cluster_of, 0 at the end, or an error. */
static int next_cluster_of(struct check_members *members)
{
    struct kv_entry row;
    for (;;) {
        int r = table_walk_next(&members->clusters, &row);
        members->ended = r <= 0;
        if (r < 0)
            return check_read_failed(members->check, TABLE_CLUSTER_OF, r);
        if (r == 0)
            return 0;
        members->some = member_is_cluster_of(&row);
        if (members->some) {
            members->sid = get_be64(row.key.data);
            members->cluster = get_be64(row.value.data);
            return 1;
        }
        r = check_bad_row(members->check, TABLE_CLUSTER_OF, &row);
        if (r < 0)
            return r;
    }
}

/* A row that no document of the walk came by. */
static int found_alone(struct check_members *members)
{
    if (check_is_underived(members->check, members->sid) ||
        members->check->unreadable[TABLE_RECORDS])
        return 0;
    return check_found(members->check, CHECK_MEMBERS, TABLE_CLUSTER_OF, NULL,
                       "document %llu is in a cluster and does not exist",
                       (unsigned long long)members->sid);
}

/* Rows of cluster_of up to a sid. Returns 1 when it has one itself, 0, or an error. */
static int seek_cluster_of(struct check_members *members, uint64_t sid)
{
    int r = 0;
    if (!members->begun)
        r = table_walk_begin(&members->clusters, members->check->kv, TABLE_CLUSTER_OF,
                             (struct kv_slice){0});
    members->begun = true;
    while (r >= 0 && !members->ended && (!members->some || members->sid < sid)) {
        if (members->some)
            r = found_alone(members);
        if (r >= 0)
            r = next_cluster_of(members);
    }
    return r < 0 ? r : !members->ended && members->some && members->sid == sid;
}

int check_members_expect(struct check_members *members, const struct check_document *document)
{
    struct member member;
    uint8_t key[MEMBER_KEY_MAX_BYTES];
    int r;
    member_init(&member, document->sid, document->record);
    while ((r = seek_cluster_of(members, document->sid)) > 0) {
        const struct kv_slice row = member_key(key, members->cluster, &member);
        check_tally_add(members->tally, document->sid, row.data, row.size_bytes);
        members->some = false; /* it has found its document */
    }
    return r;
}

/* -- clusters -- */

/* The first id of a clustering that was not given out yet. */
static int next_id(struct check_members *members, unsigned clustering, uint64_t *ret_id)
{
    struct clustering_meta meta;
    struct kv_buf value = {0};
    if (members->next_ids[clustering] == 0) {
        const struct kv_slice key = clustering_meta_key(&meta, "next_cluster", clustering);
        int r = check_look_up(members->check, TABLE_META, &key, 1, &value);
        members->next_ids[clustering] = 1;
        (void)cluster_ids_decode_next(kv_buf_slice(&value), clustering,
                                      &members->next_ids[clustering]);
        kv_buf_done(&value);
        if (r < 0)
            return r;
    }
    *ret_id = members->next_ids[clustering];
    return 0;
}

static unsigned long long shown(const struct check_members *members, uint64_t id)
{
    return shown_ids_show(&members->check->shown_ids, id);
}

/* Documents of a clustering may be on their way from one cluster to another (remade.h): 1, 0 or an
 * error. */
static int is_being_remade(struct check *check, unsigned clustering)
{
    struct clustering_meta meta;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    const struct kv_slice key = clustering_meta_key(&meta, "remade", clustering);
    int r = check_look_up(check, TABLE_META, &key, 1, &value);
    return r < 0 ? r : value.data && remade_read_row(&value) == 0;
}

/* All rows of a cluster have been seen. */
static int end_cluster(struct check_members *members)
{
    struct check *check = members->check;
    if (!members->has_rows)
        return 0;
    unsigned clustering = cluster_clustering(members->id);
    uint64_t next = 0;
    members->has_rows = false;
    members->counts[clustering][0] += members->has_size;
    members->counts[clustering][1] += members->n_members;
    int r = next_id(members, clustering, &next);
    if (r < 0)
        return r;
    if (!members->has_size)
        return check_found(check, CHECK_MEMBERS, TABLE_MEMBERS, NULL,
                           "cluster %llu has members and no row that counts them",
                           shown(members, members->id));
    if (members->size != members->n_members)
        return check_found(check, CHECK_MEMBERS, TABLE_MEMBERS, NULL,
                           "cluster %llu is said to have %s and has %llu",
                           shown(members, members->id), counted(members->size, "member").text,
                           (unsigned long long)members->n_members);
    r = members->size < 2 && !check->repairing ? is_being_remade(check, clustering) : 0;
    if (r < 0)
        return r;
    if (members->size < 2 && !check->repairing && !r)
        return check_found(check, CHECK_MEMBERS, TABLE_MEMBERS, NULL,
                           "cluster %llu has less than two members", shown(members, members->id));
    if (members->id >= next)
        return check_found(check, CHECK_MEMBERS, TABLE_MEMBERS, NULL,
                           "cluster %llu has an id that was never given out",
                           shown(members, members->id));
    return 0;
}

/* -- ids that became another (cluster_aliases.h): behind all clusters -- */

#define MARK ((uint64_t)1 << 63)

/* Returns 1, 0 where there is no such row, or an error. */
static int has_row(struct check *check, const void *key, size_t n)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    const struct kv_slice slice = {key, n};
    int r = check_look_up(check, TABLE_MEMBERS, &slice, 1, &value);
    return r < 0 ? r : r > 0 || value.data;
}

/* It leads to a cluster that there is, and can be found from that. What is only to be found leads
 * nowhere: a crash may leave that. */
static int check_alias(struct check_members *members, const struct kv_entry *row)
{
    struct check *check = members->check;
    uint8_t back[16];
    if (row->key.size_bytes == sizeof(back) && row->value.size_bytes == 0)
        return 0;
    if (row->key.size_bytes != 8 || row->value.size_bytes != 8)
        return check_bad_row(check, TABLE_MEMBERS, row);
    uint64_t alias = get_be64(row->key.data) & ~MARK, cluster = get_be64(row->value.data);
    put_be64(back, cluster);
    int r = has_row(check, back, SIZE_KEY_BYTES);
    if (r == 0)
        return check_found(check, CHECK_MEMBERS, TABLE_MEMBERS, NULL,
                           "the former id %llu leads to cluster %llu, which does not exist",
                           shown(members, alias), shown(members, cluster));
    put_be64(back, cluster | MARK);
    put_be64(back + 8, alias);
    if (r > 0)
        r = has_row(check, back, sizeof(back));
    if (r != 0)
        return r < 0 ? r : 0;
    return check_found(check, CHECK_MEMBERS, TABLE_MEMBERS, NULL,
                       "the former id %llu leads to cluster %llu, which does not know of it",
                       shown(members, alias), shown(members, cluster));
}

static int take_row(void *user, const struct kv_entry *row)
{
    struct check_members *members = user;
    struct check *check = members->check;
    struct member member;
    bool is_size = row->key.size_bytes == SIZE_KEY_BYTES;
    if (row->key.size_bytes >= 8 && get_be64(row->key.data) & MARK)
        return check_alias(members, row);
    if (is_size ? row->value.size_bytes != SIZE_VALUE_BYTES
                : member_parse(&row->key, &member) < 0 || row->value.size_bytes)
        return check_bad_row(check, TABLE_MEMBERS, row);
    uint64_t id = get_be64(row->key.data);
    if (cluster_clustering(id) > CLUSTERING_MAX)
        return check_bad_row(check, TABLE_MEMBERS, row);
    if (members->has_rows && members->id != id) {
        int r = end_cluster(members);
        if (r < 0)
            return r;
    }
    if (!members->has_rows) {
        members->has_rows = true;
        members->has_size = false;
        members->id = id;
        members->n_members = members->size = 0;
    }
    if (is_size) {
        members->has_size = true;
        members->size = get_be64(row->value.data);
        return 0;
    }
    members->n_members++;
    check_tally_take(members->tally, member.sid, row->key.data, row->key.size_bytes);
    return 0;
}

/* -- one by one -- */

static int cluster_of(struct check *check, uint64_t sid, unsigned clustering, uint64_t *ret_cluster)
{
    uint8_t bytes[CLUSTER_OF_KEY_BYTES];
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    const struct kv_slice key = member_cluster_of_key(bytes, sid, clustering);
    int r = check_look_up(check, TABLE_CLUSTER_OF, &key, 1, &value);
    *ret_cluster = value.data && value.size_bytes == 8 ? get_be64(value.data) : 0;
    return r;
}

/* Each row of cluster_of that may be without its other side. */
static int look_up_member(void *user, const struct kv_entry *row)
{
    struct check_members *members = user;
    struct check *check = members->check;
    _cleanup_(record_done) struct record record = {0};
    struct member member;
    uint8_t key[MEMBER_KEY_MAX_BYTES];
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    if (!member_is_cluster_of(row))
        return 0;
    uint64_t sid = get_be64(row->key.data), cluster = get_be64(row->value.data);
    if (check_tally_is_even(members->tally, sid) || check_is_underived(check, sid))
        return 0;
    int r = check_record(check, sid, &record);
    if (r <= 0)
        return r;
    member_init(&member, sid, &record);
    const struct kv_slice slice = member_key(key, cluster, &member);
    r = check_look_up(check, TABLE_MEMBERS, &slice, 1, &value);
    if (r != 0 || value.data)
        return r < 0 ? r : 0;
    check_tally_take(members->tally, sid, slice.data, slice.size_bytes);
    return check_found(check, CHECK_MEMBERS, TABLE_CLUSTER_OF, &record.key,
                       "is in cluster %llu and not among its members (document %llu)",
                       shown(members, cluster), (unsigned long long)sid);
}

static int look_up_row(void *user, const struct kv_entry *row)
{
    struct check_members *members = user;
    struct check *check = members->check;
    struct member member, expected;
    _cleanup_(record_done) struct record record = {0};
    uint8_t key[MEMBER_KEY_MAX_BYTES];
    uint64_t cluster;
    if (row->key.size_bytes == SIZE_KEY_BYTES || member_parse(&row->key, &member) < 0 ||
        get_be64(row->key.data) & MARK || check_tally_is_even(members->tally, member.sid))
        return 0;
    int r = cluster_of(check, member.sid, cluster_clustering(get_be64(row->key.data)), &cluster);
    if (r != 0)
        return r < 0 ? r : 0;
    r = check_record(check, member.sid, &record);
    if (r < 0)
        return r;
    if (r > 0) {
        member_init(&expected, member.sid, &record);
        const struct kv_slice right = member_key(key, cluster, &expected);
        if (right.size_bytes == row->key.size_bytes &&
            memcmp(key, row->key.data, right.size_bytes) == 0)
            return 0;
    }
    if (check_is_underived(check, member.sid) || (r > 0 && check->repairing))
        return 0;
    return check_found(check, CHECK_MEMBERS, TABLE_MEMBERS, r > 0 ? &record.key : NULL,
                       r > 0 ? "document %llu is a member of cluster %llu, and should not be so"
                             : "document %llu is a member of cluster %llu and does not exist",
                       (unsigned long long)member.sid, shown(members, get_be64(row->key.data)));
}

/* Counts that are stored must be those of the rows. */
static int compare_counts(struct check_members *members)
{
    struct check *check = members->check;
    int r = 0;
    for (unsigned clustering = 0; r == 0 && clustering <= CLUSTERING_MAX; clustering++) {
        struct clustering_meta meta;
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        const struct kv_slice key = clustering_meta_key(&meta, "cluster_counts", clustering);
        r = check_look_up(check, TABLE_META, &key, 1, &value);
        if (r != 0 || !value.data || value.size_bytes != 16)
            continue;
        r = check_compare_counts(check, TABLE_MEMBERS, meta.bytes, value.data,
                                 members->counts[clustering]);
    }
    return r < 0 ? r : 0;
}

/* The rows that do not decode are told by check_state.c. */
static int count_named(struct check_members *members)
{
    struct index_check *counts = members->check->counts;
    struct clustering_meta metas[CLUSTERING_MAX];
    struct kv_slice keys[CLUSTERING_MAX];
    struct kv_buf rows[CLUSTERING_MAX] = {0};
    for (unsigned i = 0; i < CLUSTERING_MAX; i++)
        keys[i] = clustering_meta_key(&metas[i], "clustering", i + 1);
    int r = check_look_up(members->check, TABLE_META, keys, CLUSTERING_MAX, rows);
    for (unsigned i = 0; i < CLUSTERING_MAX; i++) {
        const bool room = counts->n_named < CLUSTERINGS_MOST;
        struct index_check_clustering *named = &counts->named[room ? counts->n_named : 0];
        if (room && rows[i].data &&
            clustering_row_wanted(&rows[i], i + 1, &named->clustering) > 0) {
            named->clusters = members->counts[i + 1][0];
            named->members = members->counts[i + 1][1];
            counts->n_named++;
        }
        kv_buf_done(&rows[i]);
    }
    return r < 0 ? r : 0;
}

int check_members_compare(struct check_members *members)
{
    struct check *check = members->check;
    int r = seek_cluster_of(members, UINT64_MAX); /* what is left of them */
    if (r == 0)
        r = check_each_row(check, TABLE_MEMBERS, (struct kv_slice){0}, take_row, members);
    if (r == 0)
        r = end_cluster(members);
    check->counts->clusters = members->counts[0][0];
    check->counts->members = members->counts[0][1];
    if (r == 0)
        r = count_named(members);
    if (r < 0 || check->unreadable[TABLE_MEMBERS])
        return r;
    r = compare_counts(members);
    if (r < 0 || check->unreadable[TABLE_CLUSTER_OF] || check->unreadable[TABLE_RECORDS] ||
        check_tally_all_even(members->tally))
        return r;
    r = check_each_row(check, TABLE_CLUSTER_OF, (struct kv_slice){0}, look_up_member, members);
    if (r < 0 || check_tally_all_even(members->tally))
        return r;
    return check_each_row(check, TABLE_MEMBERS, (struct kv_slice){0}, look_up_row, members);
}
