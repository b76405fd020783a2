/* The clusters made anew from records and postings, by brute force: whatever two documents of one
 * posting list are not connected yet are compared. What is stored must be the same, as
 * living_clusters.h says what that is. Of a list so long that it may have been common
 * (long_lists.h) pairs of two clusters may have been missed; and further keys, of tier C, may have
 * found others: so of both only pairs of one cluster are compared, which must hang together by some
 * pairs. Memory follows the documents, some 50 bytes each.
 */
#include <errno.h>

#include "base/bytes.h"
#include "engine/cluster/union_find.h"
#include "engine/index/check.h"
#include "engine/index/classes.h"
#include "engine/index/long_lists.h"
#include "engine/index/records.h"
#include "engine/index/sid_vector.h"

enum { RECORDS_BYTES = 64 << 20, CLASS_KEY_BYTES = CLASS_BYTES + 8, POSTING_KEY_BYTES = 16 };

/* Documents of one posting list that are connected, as numbers. */
struct group {
    struct sid_vector numbers;
};

struct components {
    struct check *check;
    struct records *records;
    struct sid_vector sids; /* ascending; a document's number is its place */
    struct union_find sets;
    struct sid_vector firsts; /* 0 or 1 by number: the first of its class */

    uint8_t class_id[CLASS_BYTES]; /* of the last row of classes */
    size_t class_number;
    bool some;

    uint64_t *clusters; /* that are stored, by number; 0: none */

    struct sid_vector list; /* numbers, of the list that is being read; and how long it is */
    size_t length;
    uint64_t fingerprint;
    bool within; /* compare pairs of one cluster only */
    struct group *groups;
    size_t n_groups, max_groups;
};

static void forget_groups(struct components *components)
{
    for (size_t i = 0; i < components->n_groups; i++)
        sid_vector_done(&components->groups[i].numbers);
    components->n_groups = 0;
}

static void components_done(struct components *components)
{
    forget_groups(components);
    free(components->groups);
    free(components->clusters);
    sid_vector_done(&components->list);
    sid_vector_done(&components->sids);
    sid_vector_done(&components->firsts);
    union_find_done(&components->sets);
    records_close(components->records);
}

/* Returns false where no such document was come by. */
static bool find_number(const struct components *components, uint64_t sid, size_t *ret_number)
{
    size_t low = 0, high = components->sids.n_sids;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (components->sids.sids[middle] < sid)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_number = low;
    return low < components->sids.n_sids && components->sids.sids[low] == sid;
}

static int take_document(void *user, const struct check_document *document)
{
    struct components *components = user;
    int r = sid_vector_push(&components->sids, document->sid);
    return r < 0 ? r : sid_vector_push(&components->firsts, document->is_first);
}

/* Those of one class follow each other. */
static int join_class(void *user, const struct kv_entry *row)
{
    struct components *components = user;
    const uint8_t *p = row->key.data;
    size_t number;
    if (row->key.size_bytes != CLASS_KEY_BYTES ||
        !find_number(components, get_be64(p + CLASS_BYTES), &number))
        return 0;
    if (components->some && memcmp(components->class_id, p, CLASS_BYTES) == 0)
        union_find_join(&components->sets, (uint32_t)components->class_number, (uint32_t)number);
    components->some = true;
    components->class_number = number;
    memcpy(components->class_id, p, CLASS_BYTES);
    return 0;
}

/* -- posting lists -- */

static uint32_t root_of(struct components *components, uint64_t number)
{
    return union_find_root(&components->sets, (uint32_t)number);
}

/* 1, 0, or an error. */
static int resemble(struct components *components, uint64_t a, uint64_t b)
{
    const uint64_t sids[2] = {components->sids.sids[a], components->sids.sids[b]};
    const struct record *records[2];
    struct estimate estimate;
    int r = records_get(components->records, sids, 2, records);
    if (r < 0)
        return r == -EUCLEAN ? 0 : r;
    if (records[0] && records[1])
        r = min_sketch_reaches(&records[0]->sketch, &records[1]->sketch,
                               components->check->threshold, &estimate);
    records_put(components->records, records, 2);
    return r == -ENODATA || r == -EPROTO ? 0 : r;
}

static int connect(struct components *components, const struct group *group, uint64_t number)
{
    for (size_t i = 0; i < group->numbers.n_sids; i++) {
        if (root_of(components, group->numbers.sids[i]) == root_of(components, number))
            return 0;
        int r = resemble(components, group->numbers.sids[i], number);
        if (r > 0)
            union_find_join(&components->sets, (uint32_t)group->numbers.sids[i], (uint32_t)number);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    return 0;
}

static int add_group(struct components *components)
{
    if (components->n_groups == components->max_groups) {
        size_t wanted = components->max_groups ? 2 * components->max_groups : 16;
        struct group *larger = reallocarray(components->groups, wanted, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        components->groups = larger;
        components->max_groups = wanted;
    }
    components->groups[components->n_groups++] = (struct group){0};
    return 0;
}

/* Groups that the newcomer connected become one, which it is in. */
static int gather(struct components *components, uint64_t number)
{
    size_t n = 0, home = SIZE_MAX;
    int r = 0;
    for (size_t i = 0; i < components->n_groups; i++) {
        struct group group = components->groups[i];
        bool same = root_of(components, group.numbers.sids[0]) == root_of(components, number);
        if (same && home != SIZE_MAX) {
            for (size_t k = 0; r == 0 && k < group.numbers.n_sids; k++)
                r = sid_vector_push(&components->groups[home].numbers, group.numbers.sids[k]);
            sid_vector_done(&group.numbers);
            continue;
        }
        if (same)
            home = n;
        components->groups[n++] = group;
    }
    components->n_groups = n;
    if (r == 0 && home == SIZE_MAX) {
        r = add_group(components);
        home = n;
    }
    return r < 0 ? r : sid_vector_push(&components->groups[home].numbers, number);
}

static int join_all(struct components *components, const uint64_t *numbers, size_t n)
{
    int r = 0;
    forget_groups(components);
    for (size_t i = 0; r == 0 && i < n; i++) {
        for (size_t k = 0; r == 0 && k < components->n_groups; k++)
            r = connect(components, &components->groups[k], numbers[i]);
        if (r == 0)
            r = gather(components, numbers[i]);
    }
    return r;
}

static int compare_clusters(const void *left, const void *right, void *user)
{
    const struct components *components = user;
    uint64_t a = components->clusters[*(const uint64_t *)left];
    uint64_t b = components->clusters[*(const uint64_t *)right];
    return (a > b) - (a < b);
}

/* Those of each cluster by themselves. */
static int join_within(struct components *components)
{
    struct sid_vector *list = &components->list;
    int r = 0;
    if (list->n_sids)
        qsort_r(list->sids, list->n_sids, sizeof(*list->sids), compare_clusters, components);
    for (size_t at = 0, end; r == 0 && at < list->n_sids; at = end) {
        uint64_t cluster = components->clusters[list->sids[at]];
        for (end = at + 1; end < list->n_sids; end++)
            if (components->clusters[list->sids[end]] != cluster)
                break;
        if (cluster)
            r = join_all(components, list->sids + at, end - at);
    }
    return r;
}

static int end_list(struct components *components)
{
    struct sid_vector *list = &components->list;
    int r = components->within || components->length > LONG_LISTS_COMMON_FROM
                ? join_within(components)
                : join_all(components, list->sids, list->n_sids);
    list->n_sids = components->length = 0;
    return r;
}

static int take_posting(void *user, const struct kv_entry *row)
{
    struct components *components = user;
    const uint8_t *p = row->key.data;
    size_t number;
    int r = 0;
    if (row->key.size_bytes != POSTING_KEY_BYTES)
        return 0;
    if (get_be64(p) != components->fingerprint)
        r = end_list(components);
    components->fingerprint = get_be64(p);
    components->length++;
    if (r < 0 || !find_number(components, get_be64(p + 8), &number) ||
        !components->firsts.sids[number])
        return r;
    return sid_vector_push(&components->list, number);
}

static int join_tier(struct components *components, unsigned table, bool within)
{
    components->within = within;
    int r =
        check_each_row(components->check, table, (struct kv_slice){0}, take_posting, components);
    return r < 0 ? r : end_list(components);
}

/* -- beside what is stored -- */

static int take_cluster(void *user, const struct kv_entry *row)
{
    struct components *components = user;
    size_t number;
    if (row->key.size_bytes == 8 && row->value.size_bytes == 8 &&
        find_number(components, get_be64(row->key.data), &number))
        components->clusters[number] = get_be64(row->value.data);
    return 0;
}

static int found_document(struct components *components, size_t number, uint64_t cluster,
                          const char *what)
{
    _cleanup_(record_done) struct record record = {0};
    struct check *check = components->check;
    uint64_t sid = components->sids.sids[number];
    int r = check_record(check, sid, &record);
    if (r < 0)
        return r;
    return check_found(check, CHECK_COMPONENTS, TABLE_CLUSTER_OF, r > 0 ? &record.key : NULL,
                       "document %llu, in cluster %llu, %s", (unsigned long long)sid,
                       (unsigned long long)shown_ids_show(&check->shown_ids, cluster), what);
}

/* Of a component that is one cluster, its number is that of every document; and a cluster has one
 * component, of which the smallest number is the root. */
static int compare(struct components *components, uint32_t *sizes)
{
    const uint64_t *clusters = components->clusters;
    _cleanup_(sid_vector_done) struct sid_vector begun = {0}; /* clusters, of each component once */
    size_t n = components->sids.n_sids;
    int r = 0;
    for (size_t i = 0; i < n; i++)
        sizes[root_of(components, i)]++;
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint32_t root = root_of(components, i);
        if (check_is_underived(components->check, components->sids.sids[i]))
            continue;
        if (sizes[root] == 1 && clusters[i])
            r = found_document(components, i, clusters[i], "belongs to nobody");
        else if (sizes[root] > 1 && clusters[i] != clusters[root])
            r = found_document(components, i, clusters[i], "belongs to documents of another one");
        else if (sizes[root] > 1 && i == root && clusters[i] == 0)
            r = found_document(components, i, clusters[i], "belongs to others");
        else if (sizes[root] > 1 && i == root)
            r = sid_vector_push(&begun, clusters[i]);
    }
    if (r < 0)
        return r;
    size_t n_begun = begun.n_sids;
    sid_vector_sort_unique(&begun);
    if (begun.n_sids == n_begun)
        return 0;
    return check_found(components->check, CHECK_COMPONENTS, TABLE_CLUSTER_OF, NULL,
                       "%zu clusters hold documents of more than one component",
                       n_begun - begun.n_sids);
}

int check_components(struct check *check)
{
    _cleanup_(components_done) struct components components = {.check = check};
    if (check->repairing) /* what is to be the same is being made so */
        return 0;
    int r = check_each_document(check, take_document, &components);
    if (r == 0)
        r = union_find_init(&components.sets, components.sids.n_sids);
    if (r == 0)
        r = records_open(check->kv, RECORDS_BYTES, &components.records);
    components.clusters = calloc(components.sids.n_sids + 1, sizeof(*components.clusters));
    _cleanup_free_ uint32_t *sizes = calloc(components.sids.n_sids + 1, sizeof(*sizes));
    if (r == 0 && (!components.clusters || !sizes))
        r = -ENOMEM;
    if (r == 0)
        r = check_each_row(check, TABLE_CLUSTER_OF, (struct kv_slice){0}, take_cluster,
                           &components);
    if (r == 0)
        r = check_each_row(check, TABLE_CLASSES, (struct kv_slice){0}, join_class, &components);
    if (r == 0)
        r = join_tier(&components, TABLE_TIER_R, false);
    if (r == 0)
        r = join_tier(&components, TABLE_TIER_C, true);
    if (r < 0 || check->unreadable[TABLE_RECORDS] || check->unreadable[TABLE_CLASSES] ||
        check->unreadable[TABLE_TIER_R] || check->unreadable[TABLE_CLUSTER_OF])
        return r;
    return compare(&components, sizes);
}
