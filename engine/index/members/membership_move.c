/* A move is some writes: the new row and what says in which cluster the document is, then the old
 * row goes. Interrupted in between a document is in two clusters, never in none, and the same move
 * again completes it. Who repeats one says so: then what is there is looked at first, and the
 * size, an absolute number, is of that.
 *
 * The new row and what says where the document is are of two partitions: of a document that had no
 * row before, the row is written first, as nothing else would tell of it. */
#include <errno.h>

#include "base/bytes.h"
#include "engine/index/members/membership_private.h"
#include "engine/index/tables/schema.h"

/* A cluster's size and which of some members it has. */
struct presence {
    uint64_t size;
    bool has[MEMBERS_AT_ONCE];
    size_t n_has;
};

static int look(struct membership *membership, uint64_t id, const struct member *members, size_t n,
                struct presence *ret_presence)
{
    uint8_t keys[MEMBERS_AT_ONCE + 1][MEMBER_KEY_MAX_BYTES];
    struct kv_slice slices[MEMBERS_AT_ONCE + 1];
    struct kv_buf values[MEMBERS_AT_ONCE + 1];
    struct presence presence = {0};

    for (size_t i = 0; i < n; i++)
        slices[i] = member_key(keys[i], id, &members[i]);
    put_be64(keys[n], id);
    slices[n] = (struct kv_slice){keys[n], SIZE_KEY_BYTES};
    int r = kv_multi_get(membership->kv, TABLE_MEMBERS, slices, n + 1, values);
    if (r < 0)
        return r;
    r = membership_size_decode(&values[n], &presence.size);
    for (size_t i = 0; i < n; i++) {
        presence.has[i] = values[i].data != NULL;
        presence.n_has += presence.has[i];
    }
    for (size_t i = 0; i <= n; i++)
        kv_buf_done(&values[i]);
    if (r == 0)
        *ret_presence = presence;
    return r;
}

/* A member may be in the cluster already that it enters, which is not looked at but after an
 * interruption. */
static int look_before_entering(struct membership *membership, uint64_t to,
                                const struct member *members, size_t n,
                                struct presence *ret_presence)
{
    *ret_presence = (struct presence){.n_has = to ? 0 : n};
    if (to == 0)
        return 0;
    return membership->repeating ? look(membership, to, members, n, ret_presence)
                                 : membership_known_size(membership, to, &ret_presence->size);
}

static void note(struct membership *membership, enum member_change_kind kind, uint64_t cluster,
                 const struct member *members, size_t n, const struct presence *presence,
                 bool was_there)
{
    for (size_t i = 0; i < n; i++)
        if (presence->has[i] == was_there)
            member_changes_note(membership->changes, kind, cluster, &members[i]);
}

/* at_once: what is known of each by another row, or by who inserts it again, is written together.
 */
static int enter(struct membership *membership, uint64_t to, const struct member *members, size_t n,
                 bool at_once, bool is_new)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new(), *of = kv_batch_new();
    struct presence presence;
    uint64_t size = 0;

    if (!batch || !of)
        return -ENOMEM;
    int r = look_before_entering(membership, to, members, n, &presence);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        uint8_t key[MEMBER_KEY_MAX_BYTES];
        if (to && !presence.has[i])
            kv_batch_put(batch, TABLE_MEMBERS, member_key(key, to, &members[i]),
                         (struct kv_slice){"", 0});
        membership_batch_cluster_of(membership, at_once ? batch : of, members[i].sid, to);
        number_cache_drop(&membership->clusters, members[i].sid);
    }
    size = presence.size + n - presence.n_has;
    if (to) {
        number_cache_drop(&membership->sizes, to);
        membership_batch_size(batch, to, size);
    }
    r = kv_apply(membership->kv, batch);
    if (r == 0 && !at_once)
        r = kv_apply(membership->kv, of);
    if (r < 0)
        return r;
    if (to)
        number_cache_set(&membership->sizes, to, size);
    membership_count_change(membership, presence.size, size);
    for (size_t i = 0; i < n; i++)
        number_cache_set(&membership->clusters, members[i].sid, to);
    if (to)
        note(membership, is_new ? MEMBER_CAME : MEMBER_MOVED_IN, to, members, n, &presence, false);
    return 0;
}

static int leave(struct membership *membership, uint64_t from, const struct member *members,
                 size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct presence presence;

    if (!batch)
        return -ENOMEM;
    int r = look(membership, from, members, n, &presence);
    if (r < 0 || presence.n_has == 0)
        return r;
    if (presence.size < presence.n_has)
        return -EUCLEAN;
    for (size_t i = 0; i < n; i++) {
        uint8_t key[MEMBER_KEY_MAX_BYTES];
        if (presence.has[i])
            kv_batch_delete(batch, TABLE_MEMBERS, member_key(key, from, &members[i]));
    }
    number_cache_drop(&membership->sizes, from);
    membership_batch_size(batch, from, presence.size - presence.n_has);
    r = kv_apply(membership->kv, batch);
    if (r < 0)
        return r;
    number_cache_set(&membership->sizes, from, presence.size - presence.n_has);
    membership_count_change(membership, presence.size, presence.size - presence.n_has);
    note(membership, MEMBER_LEFT, from, members, n, &presence, true);
    return 0;
}

int membership_move(struct membership *membership, uint64_t from, uint64_t to,
                    const struct member *members, size_t n_members)
{
    int r = membership_before_change(membership);

    for (size_t i = 0; i < n_members && to; i++)
        dissolved_clusters_forget(&membership->dissolved, members[i].sid);
    for (size_t at = 0; at < n_members && r == 0; at += MEMBERS_AT_ONCE) {
        size_t n = n_members - at < MEMBERS_AT_ONCE ? n_members - at : MEMBERS_AT_ONCE;
        r = enter(membership, to, members + at, n, from != 0, from == 0);
        if (r == 0 && from && from != to)
            r = leave(membership, from, members + at, n);
    }
    return r;
}

int membership_insert(struct membership *membership, uint64_t to, const struct member *member)
{
    int r = membership_before_change(membership);
    dissolved_clusters_forget(&membership->dissolved, member->sid);
    return r < 0 ? r : enter(membership, to, member, 1, true, true);
}

/* Each scan goes on from the last row: those before it are gone, and a store may have to pass what
 * tells of that. */
int membership_move_all(struct membership *membership, uint64_t from, uint64_t to)
{
    _cleanup_(kv_buf_done) struct kv_buf cursor = {0};
    int r;
    do {
        struct member members[MEMBERS_AT_ONCE];
        const int n = membership_some(membership, from, &cursor, MEMBERS_AT_ONCE, members);
        r = n > 0 ? membership_move(membership, from, to, members, (size_t)n) : n;
    } while (r == 0 && cursor.data);
    return r;
}
