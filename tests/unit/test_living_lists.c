/* What clusters know of posting lists that are not read (short_lists.h), over histories. */
#include "tests/lib/cluster_world.h"

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

/* Documents come, go, are replaced and inserted again. */
static void step_blocks(struct world *world, unsigned n_target)
{
    struct world_step step = {.n_new = 0};
    struct world_document *old = world_pick(world);
    const uint64_t kind = world_random(world, 4), n = world_random(world, 2 * n_target);
    uint64_t n_live = 0;

    for (unsigned i = 0; i < world->n_documents; i++)
        n_live += world->documents[i].live;
    if (old && world_random(world, 8) == 0) {
        assert_int_equal(living_clusters_insert(world->clusters, old->sid, &old->record), 0);
        return;
    }
    if (old && (kind == 0 || n < n_live))
        step.old[step.n_old++] = old;
    if (step.n_old == 0 || kind == 0)
        step.new[step.n_new++] = write_blocks(world);
    assert_int_equal(world_do(world, &step), 0);
    assert_int_equal(world_repair(world), 0);
    world_model_step(world, &step);
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
            step_blocks(&world, 4 + (unsigned)seed % 20);
            world_check(&world);
        }
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
