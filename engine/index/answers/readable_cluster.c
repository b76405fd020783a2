#include "engine/index/answers/readable_cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/index/postings/candidates.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/answers/matches.h"
#include "engine/index/answers/readable_stars.h"

/* Above the ids of stored clusters and below INDEX_CLUSTER_MAX; no sid reaches it. */
#define READABLE_RANGE (UINT64_C(1) << 55)

/* A mebibyte: more near-copies of each other than most trees have documents. */
enum { LARGE_CLASSES_MAX = 32768 };

/* A cluster in the making. */
struct search {
    struct readable_cluster *cluster;
    const struct index_query *asked;
    struct index_query query; /* with the threshold of its links, and the time that it may take */
    int64_t began_ms;
    struct readable_known *known;
    struct path_cache *paths;
    struct sid_tally classes; /* of which all documents were looked at, by record_class_number() */
    struct sid_tally matched; /* documents of these, which need not be compared again */
};

static bool is_over(const struct search *search)
{
    const int64_t most_ms = search->known ? search->known->most_ms : 0;
    return most_ms && clock_now_ms() - search->began_ms >= most_ms;
}

static bool is_stopped(void *user)
{
    const struct search *search = user;
    return is_over(search) || answer_is_stopped(search->asked);
}

/* A search that was stopped because it took too long is of a cluster that is too large. */
static int stopped_as(const struct search *search, int r)
{
    return r == -EINTR && is_over(search) && !answer_is_stopped(search->asked) ? -E2BIG : r;
}

static void member_done(struct readable_cluster *cluster, struct readable_member *member)
{
    free(member->path);
    records_return(cluster->index->records, &member->record, 1);
}

void readable_cluster_keep(struct readable_cluster *cluster, uint64_t sid)
{
    size_t own = 0, n = 0;
    while (own < cluster->n_members && cluster->members[own].sid != sid)
        own++;
    const uint32_t star = own < cluster->n_members ? cluster->members[own].star : UINT32_MAX;
    for (size_t i = 0; i < cluster->n_members; i++)
        if (cluster->members[i].star == star)
            cluster->members[n++] = cluster->members[i];
        else
            member_done(cluster, &cluster->members[i]);
    cluster->n_members = n;
}

void readable_cluster_done(struct readable_cluster *cluster)
{
    for (size_t i = 0; i < cluster->n_members; i++)
        member_done(cluster, &cluster->members[i]);
    free(cluster->members);
    *cluster = (struct readable_cluster){0};
}

static size_t tally_bytes(size_t n_sids, const struct sid_tally *tally)
{
    return n_sids * sizeof(tally->slots[0]);
}

void readable_known_done(struct readable_known *known)
{
    sid_tally_done(&known->seen);
    sid_tally_done(&known->large);
}

bool readable_known_has(const struct readable_known *known, uint64_t sid)
{
    return sid_tally_find(&known->seen, sid);
}

size_t readable_known_bytes(const struct readable_known *known)
{
    return tally_bytes(known->seen.n_slots, &known->seen) +
           tally_bytes(2 * LARGE_CLASSES_MAX, &known->large);
}

static bool is_in_large(const struct search *search, const struct record *record)
{
    uint8_t class_id[CLASS_BYTES];
    record_class(record, class_id);
    return search->known && sid_tally_find(&search->known->large, record_class_number(class_id));
}

/* Takes the record's reference and the path. */
static int add_member(struct search *search, struct readable_member *member)
{
    struct readable_cluster *cluster = search->cluster;
    if (cluster->n_members == READABLE_CLUSTER_MAX || is_in_large(search, member->record))
        return -E2BIG;
    if (!cluster->members) {
        cluster->members = calloc(READABLE_CLUSTER_MAX, sizeof(*cluster->members));
        if (!cluster->members)
            return -ENOMEM;
    }
    cluster->members[cluster->n_members++] = *member;
    *member = (struct readable_member){0};
    return 0;
}

/* Says of a class that it is in a cluster that is too large; forgotten where there is no room. */
static void note_large(struct search *search, const uint8_t class_id[CLASS_BYTES])
{
    if (search->known && search->known->large.n_sids < LARGE_CLASSES_MAX)
        (void)sid_tally_of(&search->known->large, record_class_number(class_id));
}

/* Adds what of some documents can be shown. */
static int add_shown(struct search *search, const uint64_t *sids, size_t n)
{
    struct index *index = search->cluster->index;
    const struct record *records[LOAD_AT_ONCE];
    int r = answer_is_stopped(&search->query) ? -EINTR
                                              : records_borrow(index->records, sids, n, records);
    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct readable_member member = {.sid = sids[i], .record = records[i]};
        const struct document document = {index->records, sids[i], records[i]};
        if (!records[i])
            continue;
        r = answer_shown_path(index, search->paths, &document, &search->query, &member.path);
        if (r == 0) {
            r = add_member(search, &member);
        } else if (r == -ENOENT || r == -ESTALE) {
            search->cluster->is_stale |= r == -ESTALE;
            r = 0;
        }
        if (!member.record)
            records[i] = NULL; /* the member's now */
        free(member.path);
    }
    records_return(index->records, records, n);
    return r;
}

/* The same of all documents of a class. Others can have made very many. */
static int add_all(struct search *search, const uint8_t class_id[CLASS_BYTES])
{
    uint64_t after = 0;
    int r = 0;
    for (bool more = true; r == 0 && more;) {
        _cleanup_(sid_list_done) struct sid_list some = {0};
        r = answer_is_stopped(&search->query)
                ? -EINTR
                : living_clusters_class(search->cluster->index->clusters, class_id, after,
                                        LOAD_AT_ONCE, &some);
        if (r == 0)
            r = add_shown(search, some.sids, some.n_sids);
        more = some.n_sids == LOAD_AT_ONCE;
        after = some.n_sids ? some.sids[some.n_sids - 1] : 0;
    }
    return r;
}

/* Adds what can be shown of a class, once. */
static int add_class(struct search *search, const uint8_t class_id[CLASS_BYTES])
{
    uint32_t *n_looked = sid_tally_of(&search->classes, record_class_number(class_id));
    if (!n_looked)
        return -ENOMEM;
    if ((*n_looked)++)
        return 0;
    int r = add_all(search, class_id);
    if (r == -E2BIG)
        note_large(search, class_id);
    return r;
}

/* Leaves those that did not resemble a member yet. Others can have made very many that resemble all
 * of them, and whom the caller may not know of. */
static void pass_over_matched(const struct search *search, struct sid_list *candidates)
{
    size_t n = 0;
    for (size_t i = 0; i < candidates->n_sids; i++)
        if (!sid_tally_find(&search->matched, candidates->sids[i]))
            candidates->sids[n++] = candidates->sids[i];
    candidates->n_sids = n;
}

static int add_match(struct search *search, const struct match *match)
{
    int r = add_class(search, match->class);
    return r == 0 && !sid_tally_of(&search->matched, match->sid) ? -ENOMEM : r;
}

/* Adds what resembles a member. All other candidates are compared: which of them are the likeliest
 * depends on documents that the caller may not know of. Where there are too many they are all in
 * one that is too large, and no other search begins at one of them. */
static int add_neighbours(struct search *search, const struct record *record)
{
    _cleanup_(sid_list_done) struct sid_list candidates = {0};
    _cleanup_(matches_done) struct matches matches = {0};
    struct index *index = search->cluster->index;
    int r = candidates_for(index->postings, POSTINGS_TIER_R, &record->sketch,
                           search->query.threshold, 0, &candidates);
    pass_over_matched(search, &candidates);
    do {
        if (r == 0)
            r = matches_find(index->records, record, &search->query, &candidates, &matches);
        for (size_t i = 0; r == 0 && i < matches.n_matches; i++)
            r = add_match(search, &matches.matches[i]);
    } while (r == 0 && matches.more);
    r = stopped_as(search, r);
    for (size_t i = 0; r == -E2BIG && i < matches.n_matches; i++)
        note_large(search, matches.matches[i].class);
    return r;
}

/* Members of one class have one sketch, and so the same neighbours: the first asks for all. They
 * stand behind each other. */
static bool is_first_of_class(const struct readable_cluster *cluster, size_t at)
{
    uint8_t own[CLASS_BYTES], before[CLASS_BYTES];
    if (at == 0)
        return true;
    record_class(cluster->members[at].record, own);
    record_class(cluster->members[at - 1].record, before);
    return memcmp(own, before, CLASS_BYTES) != 0;
}

static int grow(struct search *search)
{
    const struct readable_cluster *cluster = search->cluster;
    int r = 0;
    for (size_t i = 0; r == 0 && i < cluster->n_members; i++) {
        const struct record *record = cluster->members[i].record;
        if (answer_is_stopped(&search->query))
            return -EINTR;
        if (record->sketch.n_values && is_first_of_class(cluster, i))
            r = add_neighbours(search, record);
    }
    return r;
}

/* The class of the document that is asked about, with itself in it. */
static int begin(struct search *search, uint64_t sid)
{
    struct index *index = search->cluster->index;
    _cleanup_(document_done) struct document document = {.records = index->records, .sid = sid};
    _cleanup_free_ char *path = NULL;
    uint8_t class_id[CLASS_BYTES];
    int r = path_cache_new(index->kv, backing_root_key(index->backing), &search->paths);
    if (r == 0)
        r = records_borrow(index->records, &sid, 1, &document.record);
    if (r == 0 && !document.record)
        r = -ENOENT;
    if (r == 0 && is_in_large(search, document.record))
        r = -E2BIG;
    if (r == 0)
        r = answer_shown_path(index, search->paths, &document, &search->query, &path);
    if (r < 0)
        return r;
    record_class(document.record, class_id);
    return add_class(search, class_id);
}

/* All of a cluster was found. */
static int note_seen(struct search *search)
{
    for (size_t i = 0; search->known && i < search->cluster->n_members; i++)
        if (!sid_tally_of(&search->known->seen, search->cluster->members[i].sid))
            return -ENOMEM;
    return 0;
}

/* Those found of one that is too large. */
static void note_large_members(struct search *search)
{
    uint8_t class_id[CLASS_BYTES];
    for (size_t i = 0; i < search->cluster->n_members; i++) {
        record_class(search->cluster->members[i].record, class_id);
        note_large(search, class_id);
    }
}

int readable_cluster_find(struct index *index, uint64_t sid, double threshold, bool divides,
                          const struct index_query *query, struct readable_known *known,
                          struct readable_cluster *cluster)
{
    struct search search = {.cluster = cluster, .asked = query, .query = *query, .known = known};
    search.query.threshold = threshold;
    search.query.stop = is_stopped;
    search.query.stop_user = &search;
    search.began_ms = clock_now_ms();
    *cluster = (struct readable_cluster){.index = index};
    int r = begin(&search, sid);
    if (r == 0)
        r = grow(&search);
    r = stopped_as(&search, r);
    if (r == 0)
        r = note_seen(&search);
    if (r == 0 && divides)
        r = readable_stars_find(cluster, threshold);
    if (r == -E2BIG)
        note_large_members(&search);
    path_cache_free(search.paths);
    sid_tally_done(&search.classes);
    sid_tally_done(&search.matched);
    if (r < 0)
        readable_cluster_done(cluster);
    return r;
}

uint64_t readable_cluster_id(const struct readable_cluster *cluster, uint64_t base)
{
    uint64_t oldest = UINT64_MAX;
    for (size_t i = 0; i < cluster->n_members; i++)
        if (cluster->members[i].sid < oldest)
            oldest = cluster->members[i].sid;
    return shown_ids_show(&cluster->index->shown_ids, base | READABLE_RANGE | oldest);
}

uint64_t readable_cluster_sid(const struct index *index, uint64_t id)
{
    const uint64_t stored = shown_ids_read(&index->shown_ids, id);
    const uint64_t number = stored - clustering_base(cluster_clustering(stored));
    return number & READABLE_RANGE ? number & ~READABLE_RANGE : 0;
}
