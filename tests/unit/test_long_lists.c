#include "engine/index/postings/long_lists.h"

#include "tests/lib/cluster_world.h"

static const struct kv_fault_plan no_fault;

/* -- what a digest vouches for, over any history -- */

enum { N_SIDS = 300, N_CLUSTERS = 40, LIST = 7 };

/* One posting list, and where its documents are. */
struct history {
    uint64_t random;
    struct kv *kv;
    struct membership membership;
    struct long_lists *lists;
    uint64_t n_sids, cluster[N_SIDS + 1];
    bool live[N_SIDS + 1];
    unsigned n_vouched, n_refused;
};

static uint64_t pick(struct history *history, uint64_t n)
{
    return mix64(history->random += 0x9e3779b97f4a7c15u) % n;
}

static void move(struct history *history, uint64_t sid, uint64_t to)
{
    struct record record = {.key.size_bytes = FILE_KEY_MIN_BYTES};
    struct member member;
    uint64_t from = history->cluster[sid];

    member_init(&member, sid, &record);
    if (from != to)
        assert_int_equal(membership_move(&history->membership, from, to, &member, 1), 0);
    history->cluster[sid] = to;
}

static uint64_t any_member(struct history *history)
{
    uint64_t sid = 1 + pick(history, history->n_sids);
    return history->live[sid] ? history->cluster[sid] : 0;
}

static void post(struct history *history)
{
    uint64_t value = LIST;
    struct min_sketch sketch = {.values = &value, .n_values = 1};

    history->live[++history->n_sids] = true;
    long_lists_posted(history->lists, history->n_sids, &sketch);
    if (pick(history, 3))
        move(history, history->n_sids, 1 + pick(history, N_CLUSTERS));
}

static void join(struct history *history)
{
    uint64_t from = any_member(history);
    uint64_t to = pick(history, 4) ? any_member(history) : 1000 + history->random % 3000;
    if (!from || !to || from == to)
        return;
    long_lists_joined(history->lists, from, to);
    for (uint64_t sid = 1; sid <= history->n_sids; sid++)
        if (history->cluster[sid] == from)
            move(history, sid, to);
}

static void split(struct history *history)
{
    uint64_t from = any_member(history), to = pick(history, 2) ? history->n_sids + N_CLUSTERS : 0;
    if (!from)
        return;
    long_lists_split(history->lists, from);
    for (uint64_t sid = 1; sid <= history->n_sids; sid++)
        if (history->cluster[sid] == from && pick(history, 2))
            move(history, sid, to);
}

static void end_one(struct history *history)
{
    uint64_t sid = 1 + pick(history, history->n_sids);
    if (history->live[sid])
        move(history, sid, 0);
    history->live[sid] = false;
}

static void learn(struct history *history)
{
    uint64_t sids[N_SIDS];
    struct sid_list list = {sids, 0};
    for (uint64_t sid = 1; sid <= history->n_sids; sid++)
        if (history->live[sid] || pick(history, 8) == 0) /* dead ones are among them */
            sids[list.n_sids++] = sid;
    if (!long_lists_wants(history->lists, POSTINGS_TIER_R, LIST, list.n_sids))
        return;
    assert_int_equal(
        long_lists_learn(history->lists, &history->membership, POSTINGS_TIER_R, LIST, &list), 0);
    history->n_refused += !long_lists_find(history->lists, POSTINGS_TIER_R, LIST);
}

static bool is_vouched_for(const struct digest *digest, uint64_t sid, uint64_t cluster)
{
    for (unsigned i = 0; i < digest->n_named; i++)
        if (digest->named[i] == sid)
            return true;
    for (unsigned i = 0; i < digest->n_clusters; i++)
        if (digest->clusters[i] == cluster)
            return true;
    return false;
}

static void check(struct history *history)
{
    const struct digest *digest = long_lists_find(history->lists, POSTINGS_TIER_R, LIST);
    if (!digest)
        return;
    history->n_vouched++;
    assert_in_range(digest->n_clusters, 0, DIGEST_CLUSTERS);
    assert_in_range(digest->n_named, 0, DIGEST_NAMED);
    for (uint64_t sid = 1; sid <= history->n_sids; sid++)
        if (history->live[sid])
            assert_true(is_vouched_for(digest, sid, history->cluster[sid]));
}

static void run(struct history *history, uint64_t seed)
{
    struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};

    history->random = seed;
    history->n_sids = 0;
    memset(history->cluster, 0, sizeof(history->cluster));
    assert_int_equal(kv_memory_open(&options, &history->kv), 0);
    assert_int_equal(membership_init(&history->membership, history->kv, 0), 0);
    assert_int_equal(long_lists_new(5, &history->lists), 0);
    post(history);
    while (history->n_sids < N_SIDS) {
        struct digest *digest = long_lists_find(history->lists, POSTINGS_TIER_R, LIST);
        switch (pick(history, 12)) {
        case 0: join(history); break;
        case 1: pick(history, 3) ? join(history) : split(history); break;
        case 2: end_one(history); break;
        case 3:
        case 4: learn(history); break;
        case 5:
        case 6:
            if (digest)
                assert_int_equal(digest_tidy(history->lists, digest, &history->membership), 0);
            break;
        default: post(history);
        }
        check(history);
    }
    long_lists_free(history->lists);
    membership_done(&history->membership, true);
    kv_close(history->kv);
}

static void test_long_lists__a_digest_vouches_for_all_live_documents_over_any_history(void **state)
{
    struct history history = {0};
    (void)state;

    for (uint64_t seed = 1; seed <= 60; seed++)
        run(&history, seed);
    assert_true(history.n_vouched > 1000); /* the history was one */
    assert_true(history.n_refused > 10);
}

static void test_long_lists__those_asked_for_last_are_kept(void **state)
{
    enum { N = 6000 };
    struct history history = {0};
    uint64_t sid = 1;
    struct sid_list list = {&sid, 1};
    struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};
    (void)state;

    assert_int_equal(kv_memory_open(&options, &history.kv), 0);
    assert_int_equal(membership_init(&history.membership, history.kv, 0), 0);
    assert_int_equal(long_lists_new(1, &history.lists), 0);
    for (uint64_t i = 1; i <= N; i++) {
        assert_int_equal(
            long_lists_learn(history.lists, &history.membership, POSTINGS_TIER_R, i, &list), 0);
        assert_non_null(long_lists_find(history.lists, POSTINGS_TIER_R, 1));
    }
    assert_non_null(long_lists_find(history.lists, POSTINGS_TIER_R, N));
    assert_null(long_lists_find(history.lists, POSTINGS_TIER_R, 2));
    long_lists_free(history.lists);
    membership_done(&history.membership, true);
    kv_close(history.kv);
}

/* -- documents made of fingerprints: one that all have, some of their own, and bodies, past those
 * that are posted -- */

enum { N_OWN = 15, N_BODY = 100 };

static void open_world(struct world *world)
{
    world_open(world, 1, &no_fault);
    world->policy.s = 256; /* exact */
    world->policy.v_max = 256;
    min_sketch_builder_free(world->builder);
    assert_int_equal(min_sketch_builder_new(&world->policy, &world->builder), 0);
}

static struct world_document *write_bodies(struct world *world, bool left, bool right)
{
    struct world_document *document = world_new_document(world);
    uint64_t fingerprints[1 + N_OWN + 2 * N_BODY];
    size_t n = 0;

    fingerprints[n++] = 1;
    for (unsigned i = 0; i < N_OWN; i++)
        fingerprints[n++] = 1000 + world->n_documents * N_OWN + i;
    for (unsigned i = 0; i < N_BODY; i++) {
        if (left)
            fingerprints[n++] = 1000000 + i;
        if (right)
            fingerprints[n++] = 2000000 + i;
    }
    document->n_tokens = (unsigned)n;
    document->content = world->n_documents;
    world_finish_record(world, document, fingerprints, n, world->n_documents);
    return document;
}

static void insert(struct world *world, struct world_document *document)
{
    world_insert(world, document);
    world_check(world);
}

static void end_document(struct world *world, struct world_document *document)
{
    world_delete(world, document);
    world_check(world);
}

/* The examples of the list that all are in are of the left, as its latest. */
static void test_long_lists__a_cluster_is_reached_whose_examples_are_unlike(void **state)
{
    struct world world;
    struct world_document *left = NULL, *right = NULL;
    (void)state;

    open_world(&world);
    for (unsigned i = 0; i < 4; i++)
        insert(&world, write_bodies(&world, true, false));
    for (unsigned i = 0; i < 4; i++)
        insert(&world, right = write_bodies(&world, false, true));
    insert(&world, write_bodies(&world, true, true));
    for (unsigned i = 0; i < 4; i++)
        insert(&world, left = write_bodies(&world, true, false));
    assert_int_equal(world_id_of(&world, left), world_id_of(&world, right));
    struct world_document *late = write_bodies(&world, false, true);
    insert(&world, late);
    assert_int_equal(world_id_of(&world, late), world_id_of(&world, left));
    world_close(&world);
}

static void test_long_lists__what_a_split_took_away_is_reached_again(void **state)
{
    struct world world;
    struct world_document *left = NULL, *right = NULL;
    (void)state;

    open_world(&world);
    for (unsigned i = 0; i < 4; i++)
        insert(&world, right = write_bodies(&world, false, true));
    struct world_document *bridge = write_bodies(&world, true, true);
    insert(&world, bridge);
    for (unsigned i = 0; i < 8; i++)
        insert(&world, left = write_bodies(&world, true, false));
    end_document(&world, bridge);
    assert_int_not_equal(world_id_of(&world, left), world_id_of(&world, right));
    insert(&world, bridge = write_bodies(&world, true, true));
    assert_int_equal(world_id_of(&world, left), world_id_of(&world, right));
    world_close(&world);
}

/* More than are moved at once, and than a digest names. */
static void test_long_lists__a_flood_is_one_cluster_and_ends_as_none(void **state)
{
    enum { N = 200 };
    struct world world;
    struct world_document *flood[N];
    (void)state;

    open_world(&world);
    for (unsigned i = 0; i < N; i++) {
        flood[i] = write_bodies(&world, true, false);
        struct world_step step = {.new = {flood[i]}, .n_new = 1};
        assert_int_equal(world_do(&world, &step), 0);
        flood[i]->live = true;
    }
    for (unsigned i = 1; i < N; i++)
        assert_int_equal(world_id_of(&world, flood[i]), world_id_of(&world, flood[0]));
    for (unsigned i = 0; i < N; i++) {
        struct world_step step = {.old = {flood[i]}, .n_old = 1};
        assert_int_equal(world_do(&world, &step), 0);
        flood[i]->live = false;
        if (i % 50 == 0 && i) { /* examples that are dead */
            struct world_document *late = write_bodies(&world, true, false);
            struct world_step more = {.new = {late}, .n_new = 1};
            assert_int_equal(world_do(&world, &more), 0);
            assert_int_equal(world_id_of(&world, late), world_id_of(&world, flood[N - 1]));
            struct world_step end = {.old = {late}, .n_old = 1};
            assert_int_equal(world_do(&world, &end), 0);
        }
    }
    assert_int_equal(world_count_rows(&world, TABLE_MEMBERS), 0);
    assert_int_equal(world_count_rows(&world, TABLE_RECORDS), 0);
    world_close(&world);
}

/* The first fingerprints of all documents, and then those of this one and its twins. */
static struct world_document *write_with_common(struct world *world, unsigned n_common,
                                                unsigned own)
{
    const uint64_t not_in_v = (uint64_t)1 << 62;
    struct world_document *document = world_new_document(world);
    uint64_t fingerprints[POSTINGS_TIER_R_KEYS + N_BODY + 1];
    size_t n = 0;

    while (n < n_common) {
        fingerprints[n] = 1 + n;
        n++;
    }
    for (; n < POSTINGS_TIER_R_KEYS + N_BODY; n++)
        fingerprints[n] = not_in_v + 1000 * (uint64_t)own + n;
    fingerprints[n++] = 2 * not_in_v + world->n_documents; /* no two of one class */
    document->n_tokens = (unsigned)n;
    document->content = world->n_documents;
    world_finish_record(world, document, fingerprints, n, world->n_documents);
    struct world_step step = {.new = {document}, .n_new = 1};
    assert_int_equal(world_do(world, &step), 0);
    return document;
}

static void end_unchecked(struct world *world, struct world_document *document)
{
    struct world_step step = {.old = {document}, .n_old = 1};
    assert_int_equal(world_do(world, &step), 0);
}

/* A list that very many documents are in for nothing else is not read, where there are others; and
 * where there are none it is. */
static void check_common(unsigned n_common)
{
    enum { N = LONG_LISTS_COMMON_FROM + 40, TRIPLES = 5 };
    struct world world;
    unsigned own = 0;

    open_world(&world);
    for (unsigned i = 0; i < N; i++)
        write_with_common(&world, n_common, own++);
    assert_int_equal(world_count_rows(&world, TABLE_MEMBERS), 0);
    for (unsigned i = 0; i < TRIPLES; i++) {
        struct world_document *a = write_with_common(&world, n_common, own);
        struct world_document *b = write_with_common(&world, n_common, own);
        struct world_document *c = write_with_common(&world, n_common, own++);
        assert_int_not_equal(world_id_of(&world, a), 0);
        assert_int_equal(world_id_of(&world, b), world_id_of(&world, a));
        assert_int_equal(world_id_of(&world, c), world_id_of(&world, a));
        end_unchecked(&world, a);
        assert_int_equal(world_id_of(&world, c), world_id_of(&world, b));
    }
    world_close(&world);
}

static void test_long_lists__boilerplate_hides_no_neighbour(void **state)
{
    (void)state;
    check_common(1);
    check_common(4);
}

static void test_long_lists__documents_of_boilerplate_alone_find_each_other(void **state)
{
    (void)state;
    check_common(5);
    check_common(POSTINGS_TIER_R_KEYS);
}

/* What is found to be common is no digest, and stays so until everything is forgotten. */
static void test_long_lists__a_common_list_is_known(void **state)
{
    struct history history = {0};
    uint64_t sids[LONG_LISTS_COMMON_FROM];
    struct kv_options options = {
        .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};
    (void)state;

    assert_int_equal(kv_memory_open(&options, &history.kv), 0);
    assert_int_equal(membership_init(&history.membership, history.kv, 0), 0);
    assert_int_equal(long_lists_new(0, &history.lists), 0);
    for (unsigned i = 0; i < LONG_LISTS_COMMON_FROM; i++)
        sids[i] = 1 + i;
    struct sid_list many = {sids, LONG_LISTS_COMMON_FROM}, few = {sids, DIGEST_NAMED};
    assert_int_equal(long_lists_is_common(history.lists, LIST), 0);
    assert_int_equal(long_lists_judge(history.lists, &history.membership, LIST, &few), 0);
    assert_int_equal(long_lists_is_common(history.lists, LIST), 0);
    assert_int_equal(long_lists_judge(history.lists, &history.membership, LIST, &many), 1);
    assert_int_equal(long_lists_is_common(history.lists, LIST), 1);
    assert_null(long_lists_find(history.lists, POSTINGS_TIER_R, LIST));
    long_lists_forget(history.lists);
    assert_int_equal(long_lists_is_common(history.lists, LIST), 0);
    long_lists_free(history.lists);
    membership_done(&history.membership, true);
    kv_close(history.kv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_lists__a_digest_vouches_for_all_live_documents_over_any_history),
        cmocka_unit_test(test_long_lists__those_asked_for_last_are_kept),
        cmocka_unit_test(test_long_lists__a_cluster_is_reached_whose_examples_are_unlike),
        cmocka_unit_test(test_long_lists__what_a_split_took_away_is_reached_again),
        cmocka_unit_test(test_long_lists__a_flood_is_one_cluster_and_ends_as_none),
        cmocka_unit_test(test_long_lists__boilerplate_hides_no_neighbour),
        cmocka_unit_test(test_long_lists__documents_of_boilerplate_alone_find_each_other),
        cmocka_unit_test(test_long_lists__a_common_list_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
