/* CENTER (F19) over documents of which many have one centre: what waits to be taken in again is as
 * if it were not there, and the rest is at any time what the definition makes of it; in the end all
 * are. Whatever comes and goes meanwhile, and wherever the store fails or the process dies. */
#include "engine/index/clusters/centre_members.h"
#include "engine/index/clusters/centre_search.h"
#include "engine/index/clusters/living_clusters_private.h"
#include "tests/lib/cluster_histories.h"

static const struct world_named rules[] = {
    {32, {.resemblance = 0.4}, UINT64_MAX},
    {33, {.resemblance = 0.7}, UINT64_MAX},
    {63, {.resemblance = 0.2, .containment = 0.9}, UINT64_MAX},
};
enum { N_RULES = sizeof(rules) / sizeof(rules[0]) };

/* Clusters of two wait already, and lists of a few documents have digests. */
static void open_world(struct world *world, uint64_t seed, const struct kv_fault_plan *plan)
{
    world_open(world, seed, &no_fault);
    world_stop(world);
    memcpy(world->named, rules, sizeof(rules));
    world->n_named = N_RULES;
    world->repairs = true;
    world->limits.long_from = 2 + seed % 3;
    world_start(world, plan);
}

/* -- what holds at any time -- */

static uint64_t cluster_of(const struct world *world, unsigned number, unsigned document)
{
    uint64_t id = 0, size;
    assert_int_equal(
        living_clusters_of_in(world->reader, number, world->documents[document].sid, &id, &size),
        0);
    return id;
}

static bool waits(const struct world *world, unsigned document, uint64_t cluster)
{
    uint8_t order[ORDER_BYTES];
    member_order(order, &world->documents[document].record);
    return cluster && cluster_repairs_waits(world->clusters->repairs, cluster, order);
}

/* Who does not wait is together with whom the definition says, of themselves. Returns how many
 * wait. */
static unsigned check_some(struct world *world, const struct world_named *named)
{
    unsigned component[WORLD_DOCUMENTS], n_waiting = 0;
    bool live[WORLD_DOCUMENTS];
    uint64_t ids[WORLD_DOCUMENTS] = {0};

    for (unsigned i = 0; i < world->n_documents; i++) {
        live[i] = world->documents[i].live;
        ids[i] = live[i] ? cluster_of(world, named->number, i) : 0;
        if (!live[i] || !waits(world, i, ids[i]))
            continue;
        world->documents[i].live = false;
        n_waiting++;
    }
    world_centres_by(world, &named->rule, component);
    for (unsigned i = 0; i < world->n_documents; i++)
        for (unsigned k = 0; k < i; k++)
            if (world->documents[i].live && world->documents[k].live)
                assert_int_equal(component[i] == component[k], ids[i] && ids[i] == ids[k]);
    for (unsigned i = 0; i < world->n_documents; i++)
        world->documents[i].live = live[i];
    return n_waiting;
}

static unsigned check(struct world *world)
{
    unsigned n_waiting = 0;
    for (unsigned i = 0; i < world->n_named; i++)
        n_waiting += check_some(world, &world->named[i]);
    return n_waiting;
}

/* The components beside them, which are repaired at the same time. Returns how many documents are
 * in some. */
static unsigned check_components(const struct world *world, unsigned *n_clusters)
{
    unsigned component[WORLD_DOCUMENTS], size[WORLD_DOCUMENTS] = {0}, n = 0;
    world_components(world, component);
    for (unsigned i = 0; i < world->n_documents; i++)
        if (world->documents[i].live)
            size[component[i]]++;
    for (unsigned i = 0; i < world->n_documents; i++) {
        uint64_t id, n_members;
        if (!world->documents[i].live)
            continue;
        assert_int_equal(living_clusters_of(world->reader, i, &id, &n_members), 0);
        assert_int_equal(n_members, size[component[i]] > 1 ? size[component[i]] : 0);
        n += n_members > 0;
        *n_clusters += n_members > 0 && component[i] == i;
    }
    return n;
}

/* Nothing waits, and there is no row too many. */
static void check_end(struct world *world)
{
    unsigned n_clusters = 0;
    assert_int_equal(world_repair(world), 0);
    assert_int_equal(living_clusters_n_repairing(world->clusters), 0);
    assert_int_equal(check(world), 0);
    unsigned n_in_clusters = check_components(world, &n_clusters);
    for (unsigned i = 0; i < N_RULES; i++)
        n_in_clusters += world_check_named(world, &rules[i], &n_clusters);
    world->n_aliases = 0; /* of the model, which does not follow */
    world_check_aliases(world);
    assert_int_equal(world_count_rows(world, TABLE_MEMBERS),
                     n_clusters + n_in_clusters + world->n_alias_rows);
    assert_int_equal(world_count_rows(world, TABLE_CLUSTER_OF), n_in_clusters);
}

/* -- what happens -- */

/* The same text with some more: before it in order. */
static struct world_document *write_longer(struct world *world, const struct world_document *like)
{
    struct world_document *document = world_new_document(world);
    document->n_tokens = like->n_tokens;
    memcpy(document->tokens, like->tokens, sizeof(like->tokens));
    if (document->n_tokens < WORLD_TOKENS)
        document->tokens[document->n_tokens++] = world_random(world, 1 << 30);
    document->content = world_random(world, 2);
    world_finish_document(world, document);
    return document;
}

/* The centre of some document in some clustering goes; or one comes before all that are like it; or
 * anything else. */
static struct world_step choose(struct world *world, unsigned n_target)
{
    struct world_step step = {0};
    struct world_document *picked = world_pick(world);
    const unsigned number = rules[world_random(world, N_RULES)].number;
    const unsigned kind = (unsigned)world_random(world, 6);
    struct sid_list members;
    uint64_t id = picked && kind == 0 ? cluster_of(world, number, (unsigned)picked->sid) : 0;

    if (id && living_clusters_members(world->reader, id, 1, &members) == 0) {
        step.old[step.n_old++] = &world->documents[members.sids[0]];
        sid_list_done(&members);
        return step;
    }
    if (!picked || kind != 1 || picked->n_tokens == 0)
        return world_choose(world, n_target);
    step.new[step.n_new++] = write_longer(world, picked);
    return step;
}

static void note(const struct world_step *step)
{
    for (unsigned k = 0; k < step->n_new; k++)
        step->new[k]->live = true;
    for (unsigned k = 0; k < step->n_old; k++)
        step->old[k]->live = false;
}

/* Some clusters are looked at at once; some of which documents wait become so small. */
static void set_at_once(struct world *world, uint64_t seed)
{
    living_clusters_set_repair_bounds(world->clusters, 1 + seed % 4, 1);
}

/* Changes between any two steps, and new processes. */
static void test_cluster_centres__hold_at_any_time(void **state)
{
    unsigned n_waiting = 0;
    (void)state;
    for (uint64_t seed = 900; seed < 907; seed++) {
        struct world world;
        open_world(&world, seed, &no_fault);
        set_at_once(&world, seed);
        for (unsigned i = 0; i < 160; i++) {
            struct world_step step = choose(&world, 25);
            assert_int_equal(world_do(&world, &step), 0);
            note(&step);
            n_waiting += check(&world);
            for (uint64_t n = world_random(&world, 4); n > 0; n--)
                assert_true(living_clusters_repair(world.clusters) >= 0);
            n_waiting += check(&world);
            if (i % 29 == 28) {
                world_restart(&world, NULL);
                set_at_once(&world, seed);
            }
            if (i % 17 == 0)
                check_end(&world);
        }
        check_end(&world);
        world_close(&world);
    }
    assert_true(n_waiting > 300);
}

/* -- failures -- */

enum { N_STEPS = 24, N_TARGET = 10 };

/* What came of work in the background: where the store died of it, for the first time, a new
 * process goes on over what survived. */
static int restart_if_dead(struct world *world, int result, bool *crashed)
{
    if (result != -EIO || *crashed)
        return result;
    *crashed = true;
    world_restart(world, NULL);
    return 0;
}

static bool run_with_crash(uint64_t seed, uint64_t crash_after, bool split)
{
    struct world world;
    bool crashed = false;

    open_world(&world, seed,
               &(struct kv_fault_plan){
                   .seed = seed, .crash_after_writes = crash_after, .split_batches = split});
    for (unsigned i = 0; i < N_STEPS; i++) {
        struct world_step step = choose(&world, N_TARGET);
        world_do_or_restart(&world, &step, &crashed);
        note(&step);
        check(&world);
        for (uint64_t n = world_random(&world, 3); n > 0; n--) {
            int r = living_clusters_repair(world.clusters);
            assert_true(restart_if_dead(&world, r, &crashed) >= 0);
            check(&world);
        }
    }
    assert_int_equal(restart_if_dead(&world, world_repair(&world), &crashed), 0);
    check_end(&world);
    world_close(&world);
    return crashed;
}

static void test_cluster_centres__a_crash_at_any_write_is_made_good(void **state)
{
    (void)state;
    for (uint64_t n = 1; run_with_crash(931, n, false); n++)
        ;
    for (uint64_t n = 1; run_with_crash(932, n, true); n++)
        ;
}

static bool run_with_failure(uint64_t seed, uint64_t n)
{
    struct world world;
    bool failed = false;

    open_world(&world, seed, &(struct kv_fault_plan){.fail_call = n, .fail_error = -ENOSPC});
    for (unsigned i = 0; i < N_STEPS; i++) {
        struct world_step step = choose(&world, N_TARGET);
        int r = world_do(&world, &step);
        failed = failed || r == -ENOSPC;
        if (r == -ENOSPC)
            r = world_do(&world, &step);
        assert_int_equal(r, 0);
        note(&step);
        for (uint64_t k = world_random(&world, 3); k > 0; k--) {
            r = living_clusters_repair(world.clusters);
            failed = failed || r == -ENOSPC;
            assert_true(r >= 0 || r == -ENOSPC);
        }
    }
    int r = world_repair(&world);
    failed = failed || r == -ENOSPC;
    check_end(&world);
    world_close(&world);
    return failed;
}

static void test_cluster_centres__a_failed_call_is_made_good_by_repeating(void **state)
{
    (void)state;
    for (uint64_t n = 20; run_with_failure(941, n); n += 5) /* from after the opening on */
        ;
}

/* -- large families -- */

enum { N_FAMILY = 400 };

/* Near-identical ones, of lengths in no order. */
static struct world_document *write_of_family(struct world *world)
{
    struct world_document *document = world_new_document(world);
    document->n_tokens = 50 + (unsigned)(mix64(world->n_documents) % 12);
    for (unsigned i = 0; i < document->n_tokens; i++)
        document->tokens[i] = i;
    document->tokens[world_random(world, document->n_tokens)] = world_random(world, 1 << 30);
    document->content = world->n_documents;
    world_finish_document(world, document);
    return document;
}

struct counting {
    struct world *world;
    const struct graph *graph;
    unsigned n_asked, n_found;
};

static int choose_itself(void *user, uint64_t cluster, uint64_t *ret_sid)
{
    const struct counting *counting = user;
    struct place centre;
    assert_int_equal(centre_members_centre(counting->graph, cluster, &centre), 0);
    *ret_sid = centre.sid;
    return CENTRE_ITSELF;
}

static bool count_wanted(void *user, uint64_t sid, uint64_t cluster)
{
    struct counting *counting = user;
    (void)sid, (void)cluster;
    counting->n_asked++;
    return true;
}

static int count_found(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct counting *counting = user;
    (void)sid, (void)cluster, (void)record;
    counting->n_found++;
    return 0;
}

/* To find the centre of very many a few are looked at; when it goes they wait, and are its
 * successor's afterwards, under the same id. */
static void test_cluster_centres__of_very_many_are_found_by_a_look_at_a_few(void **state)
{
    const unsigned number = rules[0].number;
    struct world world;
    (void)state;
    open_world(&world, 4, &no_fault);
    living_clusters_set_repair_bounds(world.clusters, 20, 16);
    for (unsigned i = 0; i < N_FAMILY; i++) {
        struct world_step step = {.new = {write_of_family(&world)}, .n_new = 1};
        assert_int_equal(world_do(&world, &step), 0);
        note(&step);
    }
    check_end(&world);
    const uint64_t id = cluster_of(&world, number, 2);
    assert_int_not_equal(id, 0);
    const struct world_document *late = write_of_family(&world);
    const struct clustering *clustering = living_clusters_find(world.clusters, number);
    struct counting counting = {.world = &world, .graph = &clustering->graph};
    assert_int_equal(centre_search(&clustering->graph, &late->record.sketch,
                                   &(struct centre_search){choose_itself, count_wanted, count_found,
                                                           &counting, .is_posted = false}),
                     0);
    assert_in_range(counting.n_found, 1, N_FAMILY / 8);
    assert_in_range(counting.n_asked, 1, N_FAMILY / 4);
    for (unsigned i = 0; i < 3; i++) {
        struct sid_list members;
        unsigned n_steps = 0;
        int r;
        assert_int_equal(living_clusters_members(world.reader, id, 1, &members), 0);
        struct world_step step = {.old = {&world.documents[members.sids[0]]}, .n_old = 1};
        sid_list_done(&members);
        assert_int_equal(world_do(&world, &step), 0);
        note(&step);
        assert_true(living_clusters_is_repairing(world.clusters, id));
        assert_true(check(&world) > N_FAMILY / 2);
        while ((r = living_clusters_repair(world.clusters)) > 0)
            n_steps++;
        assert_int_equal(r, 0);
        assert_true(n_steps > 3);
        assert_int_equal(cluster_of(&world, number, 2), id);
        check_end(&world);
    }
    world_close(&world);
}

/* -- what led to a candidate -- */

/* Some fingerprints one after the other. */
static unsigned put(struct world *world, const struct world_stretch *stretches, unsigned n)
{
    struct world_step step = {.new = {world_new_of_stretches(world, stretches, n)}, .n_new = 1};
    assert_int_equal(world_do(world, &step), 0);
    note(&step);
    check(world);
    return world->n_documents - 1;
}

/* Sketches that have all fingerprints; lists of two documents have digests. */
static void open_exact(struct world *world, double resemblance)
{
    world_open(world, 2, &no_fault);
    world_stop(world);
    min_sketch_builder_free(world->builder);
    world->policy.s = world->policy.v_max = 256;
    assert_int_equal(min_sketch_builder_new(&world->policy, &world->builder), 0);
    world->named[0] =
        (struct world_named){rules[0].number, {.resemblance = resemblance}, UINT64_MAX};
    world->n_named = 1;
    world->repairs = true;
    world->limits.long_from = 2;
    world_start(world, &no_fault);
}

/* The digest of a list leads to a centre that is not in it: with this the document has fingerprints
 * in common, but none among the first of each. */
static void test_cluster_centres__what_a_digest_leads_to_need_not_be_a_candidate(void **state)
{
    struct world world;
    unsigned n_clusters = 0;
    (void)state;
    open_exact(&world, 0.2);
    const struct world_stretch tail = {5000, 8};
    put(&world, (const struct world_stretch[]){{1000, 16}, tail}, 2);
    put(&world, (const struct world_stretch[]){{900, 1}, {1000, 15}}, 2);
    const unsigned member = put(&world, (const struct world_stretch[]){{900, 2}, {1000, 14}}, 2);
    put(&world, (const struct world_stretch[]){{900, 1}, {700, 11}}, 2); /* makes the digest */
    const unsigned late =
        put(&world, (const struct world_stretch[]){{900, 1}, {2000, 15}, tail}, 3);
    assert_int_not_equal(cluster_of(&world, rules[0].number, member), 0);
    assert_int_equal(cluster_of(&world, rules[0].number, late), 0);
    assert_int_equal(world_repair(&world), 0);
    world_check_named(&world, &world.named[0], &n_clusters);
    world_close(&world);
}

/* A document waits; one that is before its centre comes, which finds its cluster by a digest, and
 * then a later one, which finds it by a short list: that does not get it. */
static void test_cluster_centres__who_waits_is_told_of_no_centre(void **state)
{
    struct world world;
    const unsigned number = rules[0].number;
    const struct world_stretch p = {100, 5}, q = {200, 5}, t = {300, 5};
    unsigned n_clusters = 0;
    (void)state;
    open_exact(&world, 0.1);
    put(&world, (const struct world_stretch[]){p, {9000, 11}}, 2); /* their centre */
    const unsigned waiting = put(&world, (const struct world_stretch[]){p, q, t}, 3);
    put(&world, (const struct world_stretch[]){p, q, {8000, 4}}, 3);
    put(&world, (const struct world_stretch[]){q, {7000, 100}}, 2); /* makes the digests */
    assert_int_equal(world_repair(&world), 0);
    const uint64_t cluster = cluster_of(&world, number, waiting);
    assert_int_not_equal(cluster, 0);
    const unsigned before = put(&world, (const struct world_stretch[]){q, {6000, 15}}, 2);
    assert_true(waits(&world, waiting, cluster));
    put(&world, (const struct world_stretch[]){t, {5000, 13}}, 2);
    assert_true(waits(&world, waiting, cluster));
    assert_int_equal(world_repair(&world), 0);
    assert_int_equal(cluster_of(&world, number, waiting), cluster_of(&world, number, before));
    world_check_named(&world, &world.named[0], &n_clusters);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cluster_centres__hold_at_any_time),
        cmocka_unit_test(test_cluster_centres__a_crash_at_any_write_is_made_good),
        cmocka_unit_test(test_cluster_centres__a_failed_call_is_made_good_by_repeating),
        cmocka_unit_test(test_cluster_centres__of_very_many_are_found_by_a_look_at_a_few),
        cmocka_unit_test(test_cluster_centres__what_a_digest_leads_to_need_not_be_a_candidate),
        cmocka_unit_test(test_cluster_centres__who_waits_is_told_of_no_centre),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
