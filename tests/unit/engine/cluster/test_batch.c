#include "tests/unit/engine/cluster/batch_world.h"

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/lib/scratch.h"
#include "tests/lib/share.h"

static struct batch_options options_of(const struct world *world, enum batch_mode mode,
                                       double threshold)
{
    return world_options(scratch_group, world->n, mode, threshold);
}

static void expect_brute_force(const struct world *world, double threshold)
{
    struct batch_options options = options_of(world, BATCH_EXACT, threshold);
    _cleanup_(batch_free_p) struct batch *batch = world_batch_together(world, &options);
    _cleanup_free_ uint32_t *expected = world_clusters(world, reaches, &threshold);
    expect_clusters(batch, expected, world->n);
    assert_int_equal(batch_totals(batch)->lists.n_shortened, 0);
}

/* C1, C9, C13: the clusters are those of comparing all pairs of sketches, with no document taken
 * out and put back; of generated documents */
static void test_batch__exact_is_brute_force_on_planted_documents(void **state)
{
    (void)state;
    const double thresholds[] = {0.35, 0.5, 0.8, 0.9999};
    const uint32_t n = part_of(2000);
    struct world world;
    const struct policy policy = preset("default");
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    world_begin(&world, &policy);
    assert_int_equal(planted_new(1, n, policy.w, &planted), 0);
    world_add_planted(&world, planted, 0, n);
    for (unsigned i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++)
        expect_brute_force(&world, thresholds[i]);
    world_end(&world);
}

/* The same of real ones: this project's sources and pages, and what the machine has of copyrights
 */
static void test_batch__exact_is_brute_force_on_real_documents(void **state)
{
    (void)state;
    const double thresholds[] = {0.25, 0.5};
    struct world world;
    const struct policy policy = preset("default");
    world_begin(&world, &policy);
    world_add_tree(&world, SOURCE_ROOT "/engine", part_of(400));
    world_add_tree(&world, SOURCE_ROOT "/docs", part_of(100));
    world_add_tree(&world, SOURCE_ROOT "/tests", part_of(500));
    world_add_tree(&world, "/usr/share/doc", part_of(1000));
    assert_true(world.n > part_of(300));
    for (unsigned i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++)
        expect_brute_force(&world, thresholds[i]);
    world_end(&world);
}

/* C2: any memory, any number of threads, any order of adding give the same clusters, in all modes
 */
static void test_batch__clusters_do_not_depend_on_memory_threads_or_order(void **state)
{
    (void)state;
    enum { N = 25000 };
    const unsigned n_variants = part_of(6) + 1 < 6 ? part_of(6) + 1 : 6;
    struct world world;
    const struct policy policy = preset("default");
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    world_begin(&world, &policy);
    assert_int_equal(planted_new(2, N, policy.w, &planted), 0);
    world_add_planted(&world, planted, 0, N);
    for (enum batch_mode mode = 0; mode < BATCH_N_MODES; mode++) {
        struct batch_options options = options_of(&world, mode, 0.5);
        options.memory_bytes = (uint64_t)2 << 30;
        options.n_threads = 1;
        _cleanup_(batch_free_p) struct batch *once = world_batch_together(&world, &options);
        const struct batch_totals *totals = batch_totals(once);
        assert_int_equal(totals->scratch_bytes, 0);
        /* The last three have little memory and much, one thread and several, and either order. */
        for (unsigned variant = 6 - n_variants; variant < 6; variant++) {
            const uint64_t memories[] = {batch_least_memory(N), 32 << 20, 512 << 20};
            _cleanup_(batch_free_p) struct batch *again = NULL;
            options.memory_bytes = memories[variant % 3];
            options.n_threads = 1 + variant % 4;
            assert_int_equal(world_try_batch(&world, &options, variant & 1, &again), 0);
            expect_clusters(again, batch_clusters(once), N);
            assert_int_equal(batch_totals(again)->scratch_bytes > 0, variant % 3 < 2);
            assert_int_equal(batch_totals(again)->n_clusters, totals->n_clusters);
            assert_int_equal(batch_totals(again)->lists.n_lists, totals->lists.n_lists);
            assert_int_equal(batch_totals(again)->lists.n_pairs, totals->lists.n_pairs);
        }
    }
    world_end(&world);
}

/* Planted links of 0.6 and more are found, and nothing is joined that was not planted; X2: clusters
 * of equal documents are told from the others. */
static void test_batch__planted_links_are_found(void **state)
{
    (void)state;
    const uint32_t n = part_of(60000);
    struct world world;
    const struct policy policy = preset("broder1997");
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    world_begin(&world, &policy);
    assert_int_equal(planted_new(3, n, policy.w, &planted), 0);
    world_add_planted(&world, planted, 0, n);
    for (enum batch_mode mode = BATCH_EXACT; mode <= BATCH_FAST; mode++) {
        struct batch_options options = options_of(&world, mode, 0.5);
        options.whole = true;
        _cleanup_(batch_free_p) struct batch *batch = world_batch_together(&world, &options);
        struct planted_check check = planted_check(planted, batch_clusters(batch), 0.6);
        assert_true(check.n_links > n / 6);
        assert_int_equal(check.n_wrong, 0);
        if ((double)check.n_found < 0.99 * (double)check.n_links)
            fail_msg("%s: %lu of %lu", batch_mode_name(mode), check.n_found, check.n_links);
        const struct batch_totals *totals = batch_totals(batch);
        assert_in_range(totals->n_identical_clusters, 0.069 * n, 0.071 * n);
        assert_true(totals->n_clusters > totals->n_identical_clusters + n / 24);
    }
    world_end(&world);
}

/* C16: without comparing, documents that are nearly the same are found and those that resemble each
 * other less are not; against the clusters of all pairs nothing is joined that they have not. */
static void test_batch__super_shingles_find_what_is_nearly_the_same(void **state)
{
    (void)state;
    const uint32_t n = part_of(60000);
    struct world world;
    const struct policy policy = preset("default");
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    world_begin(&world, &policy);
    assert_int_equal(planted_new(6, n, policy.w, &planted), 0);
    world_add_planted(&world, planted, 0, n);
    struct batch_options options = options_of(&world, BATCH_EXACT, 0.5);
    _cleanup_(batch_free_p) struct batch *exact = world_batch_together(&world, &options);
    options.mode = BATCH_SUPERSHINGLE;
    _cleanup_(batch_free_p) struct batch *super = world_batch_together(&world, &options);
    const uint32_t *of_exact = batch_clusters(exact), *of_super = batch_clusters(super);
    uint32_t n_joined = 0, n_wrong = 0;
    for (uint32_t i = 0; i < n; i++) {
        n_joined += of_super[i] != i;
        n_wrong += of_exact[of_super[i]] != of_exact[i];
    }
    assert_true(n_joined > n / 5);
    assert_true(n_wrong * 1000 < n_joined);
    struct planted_check all = planted_check(planted, of_super, 0.6),
                         near = planted_check(planted, of_super, 0.95);
    assert_true(near.n_links > n / 20 && near.n_found * 100 > near.n_links * 99);
    uint64_t n_far = all.n_links - near.n_links, n_far_found = all.n_found - near.n_found;
    assert_true(n_far > n / 60 && n_far_found * 10 < n_far * 8);
    assert_int_equal(batch_totals(super)->lists.n_compared, 0);
    world_end(&world);
}

/* C13, C14, C15: how many documents each equivalence takes away, each implying the next; J6: those
 * without words have neither text nor shingles in common, but two of the same bytes are the same */
static void test_batch__counts_the_three_equivalences(void **state)
{
    (void)state;
    struct world world;
    const struct policy policy = preset("default");
    world_begin(&world, &policy);
    const char *texts[] = {
        "one two three four five six seven",                          /* 0 */
        "one two three four five six seven",                          /* identical to 0 */
        "One, two,\nthree FOUR five six seven!",                      /* the text of 0 */
        "<!DOCTYPE html><p>one two three <b>four</b> five six seven", /* the text of 0 */
        "a a a a a a a",                                              /* 4 */
        "a a a a a a a a a",                                          /* the shingles of 4 */
        "   ",                                                        /* 6: no words */
        "   ",                                                        /* identical to 6 */
        "",                                                           /* 8 */
        "quite another text than all of these",                       /* 9 */
        "  ", /* 10: no words, other bytes */
        "",   /* identical to 8 */
    };
    const uint32_t expected[] = {0, 0, 0, 0, 4, 4, 6, 6, 8, 9, 10, 8};
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        world_add(&world, texts[i], strlen(texts[i]));
    for (enum batch_mode mode = 0; mode < BATCH_N_MODES; mode++) {
        struct batch_options options = options_of(&world, mode, 0.5);
        _cleanup_(batch_free_p) struct batch *batch = world_batch_together(&world, &options);
        const struct batch_totals *totals = batch_totals(batch);
        expect_clusters(batch, expected, world.n);
        assert_int_equal(totals->n_documents, 12);
        assert_int_equal(totals->n_empty, 5);
        assert_int_equal(totals->equivalence.n_identical, 3);
        assert_int_equal(totals->equivalence.n_lexical, 2);
        /* In mode fast a text is a node. */
        assert_int_equal(totals->equivalence.n_shingles, mode != BATCH_FAST);
        assert_int_equal(totals->equivalence.n_nodes, mode == BATCH_FAST ? 4 : 3);
        assert_int_equal(totals->n_clusters, 4);
        assert_int_equal(totals->n_clustered, 10);
        assert_int_equal(totals->n_identical_clusters, 2);
        assert_int_equal(totals->n_identical_clustered, 4);
        assert_int_equal(totals->largest, 4);
    }
    world_end(&world);
}

static bool same_text(const struct document_sketch *a, const struct document_sketch *b, void *user)
{
    (void)user;
    return memcmp(a->text_fingerprint, b->text_fingerprint, FINGERPRINT_BYTES) == 0;
}

/* Of long texts that differ in their last word alone, or where one is the beginning of another,
 * samples are mostly the same: at the threshold of 1 equal texts are together, and nothing else.
 * Texts that are cut could differ behind the cut. */
static void test_batch__of_threshold_one_joins_equal_texts_only(void **state)
{
    (void)state;
    enum { FAMILIES = 20, VERSIONS = 6, TWINS = 2 };
    struct world world;
    const struct policy policy = preset("default");
    world_begin(&world, &policy);
    for (unsigned i = 0; i < FAMILIES; i++) {
        char *text = scratch_text(i, 0, 2000, 0), *end = text + strlen(text);
        for (unsigned k = 0; k < VERSIONS; k++) {
            char *version;
            assert_true(asprintf(&version, "%s last%u", text, k) > 0);
            for (unsigned twin = 0; twin < TWINS; twin++, version[0] ^= ' ') /* its letter's case */
                world_add(&world, version, strlen(version));
            free(version);
        }
        while (end[-1] != ' ')
            end--;
        world_add(&world, text, (size_t)(end - text));
        free(text);
    }
    unsigned n_same_sample = 0;
    for (uint32_t i = TWINS; i < world.n; i++)
        n_same_sample += same_fingerprint(&world.documents[i - TWINS], &world.documents[i]) &&
                         !same_text(&world.documents[i - TWINS], &world.documents[i], NULL);
    assert_true(n_same_sample > FAMILIES);
    _cleanup_free_ uint32_t *expected = world_clusters(&world, same_text, NULL);
    for (enum batch_mode mode = 0; mode < BATCH_SUPERSHINGLE; mode++) {
        struct batch_options options = options_of(&world, mode, 1);
        _cleanup_(batch_free_p) struct batch *batch = world_batch_together(&world, &options);
        expect_clusters(batch, expected, world.n);
        assert_int_equal(batch_totals(batch)->n_clusters, FAMILIES * VERSIONS);
        options.threshold = 0.99;
        _cleanup_(batch_free_p) struct batch *near = world_batch_together(&world, &options);
        assert_true(batch_totals(near)->n_clusters < FAMILIES * VERSIONS);
    }
    for (uint32_t i = 0; i < world.n; i++)
        world.documents[i].form.cut = true;
    struct batch_options options = options_of(&world, BATCH_EXACT, 1);
    _cleanup_(batch_free_p) struct batch *cut = world_batch_together(&world, &options);
    assert_int_equal(batch_totals(cut)->n_clusters, 0);
    world_end(&world);
}

/* Whether the mode joins two whose values are the same from one of them on, so many. */
static bool super_joins(const struct world *world, uint32_t first, uint32_t n_same)
{
    enum { N_VALUES = 128 };
    struct batch_options options = options_of(world, BATCH_SUPERSHINGLE, 0.5);
    uint64_t values[2][N_VALUES];
    _cleanup_(batch_writer_free_p) struct batch_writer *writer = NULL;
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    assert_int_equal(batch_new(&world->policy, &options, &batch), 0);
    assert_int_equal(batch_writer_new(batch, &writer), 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct document_sketch document = world->documents[i];
        for (uint32_t j = 0; j < N_VALUES; j++)
            values[i][j] = (uint64_t)(j + 1) << 40 | (j - first < n_same ? 0 : i);
        document.sketch.values = values[i];
        document.sketch.n_values = N_VALUES;
        assert_int_equal(batch_writer_add(writer, i, &document), 0);
    }
    assert_int_equal(batch_writer_flush(writer), 0);
    assert_int_equal(batch_run(batch), 0);
    return batch_totals(batch)->n_clusters == 1;
}

/* Runs of 14 among the 84 smallest, as the paper has it: not 13, and none that reaches beyond. */
static void test_batch__super_shingles_are_of_14_among_84(void **state)
{
    (void)state;
    struct world world;
    const struct policy policy = preset("default");
    world_begin(&world, &policy);
    world_add(&world, "a b c d e f", 11);
    world_add(&world, "g h i j k l", 11);
    assert_true(super_joins(&world, 0, 14) && !super_joins(&world, 0, 13));
    assert_true(super_joins(&world, 33, 14) && !super_joins(&world, 33, 13));
    assert_true(super_joins(&world, 70, 14) && !super_joins(&world, 71, 14));
    world_end(&world);
}

/* -- what goes wrong -- */

static void test_batch__refuses_what_cannot_be(void **state)
{
    (void)state;
    struct world world;
    const struct policy policy = preset("default"), other = preset("default");
    world_begin(&world, &policy);
    world_add(&world, "some words", 10);
    const struct batch_options good = options_of(&world, BATCH_EXACT, 0.5);
    struct batch_options bad[7];
    for (unsigned i = 0; i < 7; i++)
        bad[i] = good;
    bad[0].n_threads = 0;
    bad[1].n_threads = 65;
    bad[2].threshold = 0;
    bad[3].threshold = 1.1;
    bad[4].mode = BATCH_N_MODES;
    bad[5].memory_bytes = batch_least_memory(1) - 1;
    bad[6].scratch = "/nowhere/at/all";
    const int errors[] = {-EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL, -E2BIG, -ENOENT};
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(batch_new(&policy, &bad[i], &batch), errors[i]);
    assert_null(batch);

    _cleanup_(batch_writer_free_p) struct batch_writer *writer = NULL;
    assert_int_equal(batch_new(&other, &good, &batch), 0);
    assert_int_equal(batch_writer_new(batch, &writer), 0);
    assert_int_equal(batch_writer_add(writer, 0, &world.documents[0]), -EPROTO);
    assert_int_equal(batch_writer_add(writer, 1, &world.documents[0]), -EINVAL);
    batch_writer_free(TAKE_PTR(writer));
    world_end(&world);
}

static void test_batch__of_nothing_is_nothing(void **state)
{
    (void)state;
    struct world world;
    const struct policy policy = preset("default");
    world_begin(&world, &policy);
    for (uint32_t n = 0; n < 3; n++) {
        struct batch_options options = options_of(&world, BATCH_EXACT, 0.5);
        options.n_documents = n; /* none of which is added */
        _cleanup_(batch_free_p) struct batch *batch = world_batch_together(&world, &options);
        assert_int_equal(batch_totals(batch)->n_clusters, 0);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(batch_clusters(batch)[i], i);
    }
    world_end(&world);
}

/* A disk that fills up while documents are added, or later, while pairs are: an error, and whatever
 * was allocated is freed. */
static void test_batch__tells_that_the_disk_is_full(void **state)
{
    (void)state;
    enum { N = 40000 };
    const char *disk = scratch_path(scratch_group, "disk");
    struct world world;
    const struct policy policy = preset("default");
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    if (!scratch_own_mounts())
        skip();
    assert_int_equal(mkdir(disk, 0755), 0);
    world_begin(&world, &policy);
    assert_int_equal(planted_new(5, N, policy.w, &planted), 0);
    world_add_planted(&world, planted, 0, N);
    const char *sizes[] = {"size=64k", "size=2m", "size=16m"};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(mount("small", disk, "tmpfs", 0, sizes[i]), 0);
        for (enum batch_mode mode = 0; mode < BATCH_N_MODES; mode++) {
            struct batch_options options = options_of(&world, mode, 0.5);
            struct batch *batch = NULL;
            options.scratch = disk;
            options.memory_bytes = batch_least_memory(N);
            assert_int_equal(world_try_batch(&world, &options, false, &batch), -ENOSPC);
            assert_null(batch);
        }
        assert_int_equal(umount(disk), 0);
    }
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch__counts_the_three_equivalences),
        cmocka_unit_test(test_batch__of_threshold_one_joins_equal_texts_only),
        cmocka_unit_test(test_batch__of_nothing_is_nothing),
        cmocka_unit_test(test_batch__exact_is_brute_force_on_planted_documents),
        cmocka_unit_test(test_batch__exact_is_brute_force_on_real_documents),
        cmocka_unit_test(test_batch__clusters_do_not_depend_on_memory_threads_or_order),
        cmocka_unit_test(test_batch__planted_links_are_found),
        cmocka_unit_test(test_batch__super_shingles_find_what_is_nearly_the_same),
        cmocka_unit_test(test_batch__super_shingles_are_of_14_among_84),
        cmocka_unit_test(test_batch__refuses_what_cannot_be),
        cmocka_unit_test(test_batch__tells_that_the_disk_is_full),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
