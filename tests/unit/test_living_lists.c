/* What clusters know of posting lists that are not read (short_lists.h), over histories. */
#include "tests/lib/cluster_world.h"

#include "engine/index/postings/short_lists.h"

static const struct kv_fault_plan no_fault;

/* Of the fingerprints from 1 to n, and some more. */
static struct world_document *write_values(struct world *world, unsigned n, unsigned more,
                                           unsigned n_more)
{
    uint64_t fingerprints[WORLD_TOKENS];
    struct world_document *document = world_new_document(world);
    document->n_tokens = n + n_more;
    document->content = world->n_documents;
    for (unsigned i = 0; i < n + n_more; i++)
        fingerprints[i] = (uint64_t)(i < n ? i + 1 : more + i - n) << 40;
    world_finish_record(world, document, fingerprints, n + n_more, document->content);
    return document;
}

/* Where each list that two documents share is shared by a third that resembles one of them only,
 * the third must not be taken for all that is in the lists. Of 21 fingerprints, 8 and 13: 7 of 22,
 * 12 of 22 and 7 of 14. */
static void test_living_lists__a_list_of_one_cluster_gets_a_document_of_none(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 3, &no_fault); /* without digests */
    for (unsigned i = 0; i < 4; i++)
        world_insert(&world, write_values(&world, 20, 40 + i, 1));
    world_insert(&world, write_values(&world, 7, 50, 1)); /* resembles none of them */
    world_check(&world);
    world_insert(&world, write_values(&world, 12, 51, 1)); /* resembles all */
    world_check(&world);
    world_close(&world);
}

/* Seven of the fingerprints from 1 to 12, in a circle, and one more: 7 of 22 of the clusters' and 7
 * of 13 of the twelve; 5 of 11 with the next one. */
static struct world_document *write_window(struct world *world, unsigned i)
{
    uint64_t fingerprints[8];
    struct world_document *document = world_new_document(world);
    document->n_tokens = 8;
    document->content = world->n_documents;
    for (unsigned k = 0; k < 7; k++)
        fingerprints[k] = (uint64_t)((2 * i + k) % 12 + 1) << 40;
    fingerprints[7] = (uint64_t)(100 + i) << 40;
    world_finish_record(world, document, fingerprints, 8, document->content);
    return document;
}

/* The same with several of none, which are named until there are too many, and some of which go:
 * those before the cluster are found in lists that are read, those after it come into them. */
static void test_living_lists__a_list_of_one_cluster_has_some_of_none(void **state)
{
    enum { MOST = 6 };
    (void)state;

    for (unsigned n = 1; n <= MOST; n++)
        for (unsigned n_before = 0; n_before <= n; n_before++)
            for (unsigned n_gone = 0; n_gone < n; n_gone++) {
                struct world_document *strays[MOST];
                struct world world;
                world_open(&world, 3, &no_fault);
                for (unsigned i = 0; i < n_before; i++)
                    world_insert(&world, strays[i] = write_window(&world, i));
                for (unsigned i = 0; i < 2; i++)
                    world_insert(&world, write_values(&world, 20, 40 + i, 1));
                for (unsigned i = n_before; i < n; i++)
                    world_insert(&world, strays[i] = write_window(&world, i));
                world_insert(&world, write_values(&world, 20, 42, 1));
                world_check(&world);
                for (unsigned i = 0; i < n_gone; i++)
                    world_delete(&world, strays[i]);
                world_insert(&world, write_values(&world, 20, 43, 1));
                world_check(&world);
                world_insert(&world, write_values(&world, 12, 200, 0)); /* resembles all */
                world_check(&world);
                world_close(&world);
            }
}

static void test_living_lists__a_list_of_one_cluster_is_of_two_after_a_split(void **state)
{
    struct world world;
    (void)state;

    world_open(&world, 3, &no_fault);
    world_insert(&world, write_values(&world, 20, 40, 1));
    world_insert(&world, write_values(&world, 20, 41, 1));
    struct world_document *bridge = write_values(&world, 12, 60, 1);
    world_insert(&world, bridge);
    world_insert(&world, write_values(&world, 7, 50, 1));
    world_insert(&world, write_values(&world, 7, 51, 1));
    /* Nothing is known of the lists of the first seven any more, and then it is one of the first
     * part that has to read them. */
    struct world_document *alone = write_values(&world, 7, 100, 13);
    world_insert(&world, alone);
    world_delete(&world, alone);
    world_insert(&world, write_values(&world, 20, 42, 1));
    world_check(&world);
    world_delete(&world, bridge);
    world_check(&world);
    world_insert(&world, write_values(&world, 12, 61, 1));
    world_check(&world);
    world_close(&world);
}

/* Of the fingerprints that have a bit each. */
static struct world_document *write_bits(struct world *world, uint64_t bits)
{
    uint64_t fingerprints[64];
    struct world_document *document = world_new_document(world);
    document->n_tokens = 0;
    document->content = world->n_documents;
    for (unsigned i = 0; i < 64; i++)
        if (bits >> i & 1)
            fingerprints[document->n_tokens++] = (uint64_t)(i + 1) << 40;
    world_finish_record(world, document, fingerprints, document->n_tokens, document->content);
    return document;
}

/* What was known of lists when a cluster was of some documents is not so when its id comes back to
 * one of them, which has been elsewhere and has left others there. Six fingerprints each: the lists
 * that are known, others of who knows them, others of who is left elsewhere, those of where that
 * is; and some of which half are taken. */
static void test_living_lists__a_list_is_not_of_one_that_came_back(void **state)
{
    enum { N_ELSEWHERE = 8 };
    const uint64_t known = 0x3f, own = known << 6, left = known << 12, elsewhere = known << 18;
    const uint64_t half = 0x7 << 6 | 0x7 << 12, more = 1 << 24;
    struct world_document *first[2], *between[3], *is_left;
    struct world world;
    (void)state;

    for (unsigned stays = 0; stays < 2; stays++) {
        world_open(&world, 3, &no_fault);
        world_insert(&world, write_bits(&world, left | elsewhere));
        for (unsigned i = 1; i < N_ELSEWHERE; i++)
            world_insert(&world, write_bits(&world, (left & half) | elsewhere | more << i));
        for (unsigned i = 0; i < 2; i++)
            world_insert(&world, first[i] = write_bits(&world, known | own | more * i));
        uint64_t id = world_id_of(&world, first[stays]);
        world_delete(&world, first[!stays]);
        world_insert(&world, between[0] = write_bits(&world, own));
        assert_int_equal(world_id_of(&world, first[stays]), id);
        for (unsigned i = 0; i < 2; i++)
            world_insert(&world, between[1 + i] = write_bits(&world, known | half | more * i));
        world_insert(&world, is_left = write_bits(&world, known | left));
        assert_int_equal(world_id_of(&world, is_left), id);
        world_insert(&world, write_bits(&world, left));
        world_check(&world);
        assert_int_not_equal(world_id_of(&world, first[stays]), id);
        for (unsigned i = 0; i < 3; i++)
            world_delete(&world, between[i]);
        assert_int_equal(world_id_of(&world, first[stays]), 0);
        world_insert(&world, write_bits(&world, own));
        world_insert(&world, write_bits(&world, known));
        world_check(&world);
        world_close(&world);
    }
}

/* What is learnt of lists after so many steps of a repair, by who is inserted again or by one that
 * is in none of the clusters, does not hold when the parts are moved. Returns whether the repair
 * was still at work. */
static bool learn_amid_a_repair(uint64_t seed, unsigned n_before, bool again)
{
    const uint64_t known = 0x3f, one = known << 6, other = known << 12, half = 0x7 << 6 | 0x7 << 12;
    struct world world;

    world_open_repairing(&world, seed);
    struct world_document *stays = write_bits(&world, known | one);
    world_insert(&world, stays);
    for (unsigned i = 0; i < 4; i++)
        world_insert(&world, write_bits(&world, one | (i ? UINT64_C(1) << (20 + i) : 0)));
    struct world_document *bridge = write_bits(&world, known | half);
    world_insert(&world, bridge);
    world_insert(&world, write_bits(&world, known | other));
    world_insert(&world, write_bits(&world, other));
    world_check(&world);
    world_delete(&world, bridge);
    assert_int_equal(living_clusters_n_repairing(world.clusters), 1);
    for (unsigned i = 0; i < n_before; i++)
        assert_true(living_clusters_repair(world.clusters) >= 0);
    if (again)
        assert_int_equal(living_clusters_insert(world.clusters, stays->sid, &stays->record), 0);
    else
        world_insert(&world, write_bits(&world, known | UINT64_C(0xfff) << 30));
    const bool at_work = living_clusters_n_repairing(world.clusters) > 0;
    assert_int_equal(world_repair(&world), 0);
    world_check(&world);
    world_insert(&world, write_bits(&world, known));
    world_check(&world);
    world_close(&world);
    return at_work;
}

static void test_living_lists__lists_are_of_others_after_a_repair(void **state)
{
    (void)state;

    for (uint64_t seed = 1; seed <= 3; seed++) /* with digests and without */
        for (unsigned again = 0; again < 2; again++) {
            unsigned n = 0;
            while (learn_amid_a_repair(seed, n, again))
                n++;
            assert_true(n > 2);
        }
}

/* Two or three of six blocks of five fingerprints, some left out: most lists are of documents that
 * do not resemble each other. Or those of another document. */
static struct world_document *write_blocks(struct world *world)
{
    static uint64_t written[WORLD_DOCUMENTS];
    const unsigned place = world->n_documents ? world->n_documents : 1;
    uint64_t bits = 0;

    if (place > 1 && world_random(world, 8) == 0)
        return write_bits(world, written[place] = written[1 + world_random(world, place - 1)]);
    for (uint64_t n = 2 + world_random(world, 2); n > 0; n--)
        bits |= UINT64_C(0x1f) << (5 * world_random(world, 6));
    for (unsigned i = 0; i < 6; i++)
        bits &= ~(UINT64_C(1) << world_random(world, 30));
    return write_bits(world, written[place] = bits ? bits : 1);
}

/* Documents come, go, some together, are replaced and inserted again. */
static struct world_step step_blocks(struct world *world, unsigned n_target)
{
    struct world_step step = {.n_new = 0};
    struct world_document *old = world_pick(world);
    const uint64_t kind = world_random(world, 4), n = world_random(world, 2 * n_target);
    uint64_t n_live = 0;

    for (unsigned i = 0; i < world->n_documents; i++)
        n_live += world->documents[i].live;
    if (old && world_random(world, 8) == 0) {
        assert_int_equal(living_clusters_insert(world->clusters, old->sid, &old->record), 0);
        return step;
    }
    if (old && (kind == 0 || n < n_live))
        step.old[step.n_old++] = old;
    for (unsigned i = 0; old && kind == 1 && i < world->n_documents && step.n_old < WORLD_OLD; i++)
        if (world->documents[i].live && &world->documents[i] != old && world_random(world, 3) == 0)
            step.old[step.n_old++] = &world->documents[i];
    if (step.n_old == 0 || kind == 0)
        step.new[step.n_new++] = write_blocks(world);
    assert_int_equal(world_do(world, &step), 0);
    return step;
}

static void test_living_lists__hold_over_any_history(void **state)
{
    (void)state;

    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct world world;
        if (seed % 2)
            world_open(&world, 3 * seed, &no_fault); /* without digests */
        else
            world_open_repairing(&world, seed);
        for (unsigned i = 0; i < 120; i++) {
            struct world_step step = step_blocks(&world, 4 + (unsigned)seed % 20);
            assert_int_equal(world_repair(&world), 0);
            world_model_step(&world, &step);
            world_check(&world);
        }
        world_close(&world);
    }
}

/* Repairs that are half done when the next document comes or goes: the clusters are right when they
 * end. */
static void test_living_lists__hold_over_half_repairs(void **state)
{
    unsigned n_amid = 0;
    (void)state;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world world;
        world_open_repairing(&world, seed);
        for (unsigned i = 0; i < 120; i++) {
            struct world_step step = step_blocks(&world, 4 + (unsigned)seed % 40);
            for (unsigned k = 0; k < step.n_new; k++)
                step.new[k]->live = true;
            for (unsigned k = 0; k < step.n_old; k++)
                step.old[k]->live = false;
            for (uint64_t n = world_random(&world, 12); n > 0; n--)
                assert_true(living_clusters_repair(world.clusters) >= 0);
            n_amid += living_clusters_n_repairing(world.clusters) > 0;
            if (i % 10 == 9) {
                assert_int_equal(world_repair(&world), 0);
                world.n_aliases = 0; /* the model does not follow */
                world_check_partition(&world);
            }
        }
        world_close(&world);
    }
    assert_true(n_amid > 1000);
}

/* One of two that resemble each other and nobody else. */
static struct world_document *write_pair(struct world *world, unsigned number)
{
    const struct world_stretch stretch = {(uint64_t)(1000 + 10 * number) << 40, 8};
    return world_new_of_stretches(world, &stretch, 1);
}

/* Two clusters that cannot be told from each other by what is noted of a list: the second one comes
 * so many ids behind the first, which is returned. */
static uint64_t two_alike(unsigned *ret_behind)
{
    enum { NEAR = 8 };
    struct short_lists *lists;
    uint64_t id = 3;

    assert_int_equal(short_lists_new(0, &lists), 0);
    for (*ret_behind = 0; *ret_behind == 0; id++) {
        short_lists_learn(lists, 1, 1, id, NULL, 0);
        for (unsigned i = 1; i <= NEAR && *ret_behind == 0; i++)
            *ret_behind = short_lists_vouches(lists, 1, id + i) ? i : 0;
    }
    short_lists_free(lists);
    return id - 1;
}

/* The cluster that lists are known to be of went into another, and what is split off that gets an
 * id that is not told from its own. */
static void test_living_lists__are_not_of_a_cluster_like_another(void **state)
{
    const uint64_t known = 0x3f, one = known << 6, other = known << 12, larger = known << 18;
    const uint64_t half = 0x7 << 6 | 0x7 << 12, more = UINT64_C(1) << 40;
    struct world_document *in_larger, *part, *bridge;
    struct world world;
    unsigned behind;
    (void)state;

    world_open(&world, 3, &no_fault);
    const uint64_t id = two_alike(&behind);
    assert_int_equal(living_clusters_pass_ids(world.clusters, id - 2), 0);
    for (unsigned i = 0; i < 12; i++)
        world_insert(&world, in_larger = write_bits(&world, larger | more << i));
    world_insert(&world, write_bits(&world, known | one));
    world_insert(&world, write_bits(&world, known | one | more << 20));
    world_insert(&world, write_bits(&world, one));
    world_insert(&world, bridge = write_bits(&world, known | half));
    world_insert(&world, part = write_bits(&world, known | other));
    world_insert(&world, write_bits(&world, other));
    assert_int_equal(world_id_of(&world, part), id);
    for (unsigned i = 1; i < behind; i++)
        for (unsigned k = 0; k < 2; k++)
            world_insert(&world, write_pair(&world, i));
    world_insert(&world, write_bits(&world, one | larger)); /* joins them */
    assert_int_equal(world_id_of(&world, part), world_id_of(&world, in_larger));
    world_delete(&world, bridge);
    assert_int_equal(world_id_of(&world, part), id + behind);
    world_insert(&world, write_bits(&world, known));
    assert_int_equal(world_id_of(&world, part), world_id_of(&world, in_larger));
    world_close(&world);
}

/* A cluster of two parts that fall apart, of more documents than a step of the repair moves: when
 * all of the part that keeps the id are deleted, whoever is left behind is not alone. */
static void test_living_lists__nobody_is_left_behind_by_half_a_repair(void **state)
{
    enum { N = 21 };
    (void)state;

    for (unsigned at_once = 1; at_once <= WORLD_OLD; at_once += WORLD_OLD - 1) {
        const uint64_t one = 0xff, other = one << 8, more = UINT64_C(1) << 16;
        struct world_document *ones[N], *others[N + 1], *bridge;
        struct world world;
        unsigned n_moved = 0;
        world_open_repairing(&world, 3);
        for (unsigned i = 0; i < N; i++)
            world_insert(&world, ones[i] = write_bits(&world, one | more << i));
        for (unsigned i = 0; i <= N; i++)
            world_insert(&world, others[i] = write_bits(&world, other | more << (N + i)));
        world_insert(&world, bridge = write_bits(&world, one | other));
        world_check(&world);
        world_delete(&world, bridge);
        const uint64_t id = world_id_of(&world, others[0]);
        while (n_moved < N - 1) {
            assert_true(living_clusters_repair(world.clusters) > 0);
            n_moved = 0;
            for (unsigned i = 0; i < N; i++)
                n_moved += world_id_of(&world, ones[i]) != id;
        }
        assert_int_equal(n_moved, N - 1);
        for (unsigned i = 0; i <= N;) {
            struct world_step step = {.n_old = 0};
            for (; step.n_old < at_once && i <= N; i++) {
                others[i]->live = false;
                step.old[step.n_old++] = others[i];
            }
            assert_int_equal(world_do(&world, &step), 0);
        }
        bridge->live = false;
        assert_int_equal(world_repair(&world), 0);
        for (unsigned i = 0; i < N; i++)
            assert_int_equal(world_id_of(&world, ones[i]), world_id_of(&world, ones[0]));
        assert_int_not_equal(world_id_of(&world, ones[0]), 0);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_living_lists__a_list_of_one_cluster_gets_a_document_of_none),
        cmocka_unit_test(test_living_lists__a_list_of_one_cluster_has_some_of_none),
        cmocka_unit_test(test_living_lists__a_list_of_one_cluster_is_of_two_after_a_split),
        cmocka_unit_test(test_living_lists__a_list_is_not_of_one_that_came_back),
        cmocka_unit_test(test_living_lists__lists_are_of_others_after_a_repair),
        cmocka_unit_test(test_living_lists__hold_over_any_history),
        cmocka_unit_test(test_living_lists__hold_over_half_repairs),
        cmocka_unit_test(test_living_lists__are_not_of_a_cluster_like_another),
        cmocka_unit_test(test_living_lists__nobody_is_left_behind_by_half_a_repair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
