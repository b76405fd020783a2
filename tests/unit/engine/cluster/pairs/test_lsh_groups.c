/* C10: locality-sensitive hashing by sorting: a min-hash of each document, sort, group. Two
 * documents are of one group with the probability of their resemblance; with k hashes, of one group
 * by at least one of them, with 1 - (1-r)^k. Over many keys, of documents whose resemblances are
 * known exactly. */
#include "tests/unit/engine/cluster/batch_world.h"

#include <math.h>

#include "engine/cluster/pairs/key_lists.h"
#include "tests/lib/scratch.h"
#include "tests/lib/share.h"

enum { N_DOCUMENTS = 4000, MOST_PAIRS = 400, K_MAX = 4 };

struct pair {
    uint32_t a, b; /* documents of the world */
    double resemblance;
    unsigned n_together[K_MAX + 1]; /* by k: under how many keys */
};

struct sample {
    uint32_t numbers[2 * MOST_PAIRS]; /* of planted documents */
    unsigned n_documents;
    struct pair pairs[MOST_PAIRS];
    unsigned n_pairs;
};

/* Documents and what they were made from, of all resemblances below 1. */
static void choose_pairs(const struct planted *planted, struct sample *sample)
{
    for (uint32_t i = 0; i < N_DOCUMENTS && sample->n_pairs < MOST_PAIRS; i++) {
        struct planted_document document, parent;
        planted_describe(planted, i, &document);
        uint32_t other = planted_number(planted, document.cluster, planted_parent(&document));
        planted_describe(planted, other, &parent);
        double r = planted_resemblance(planted, &document, &parent);
        if (other == i || r == 1)
            continue;
        struct pair *pair = &sample->pairs[sample->n_pairs++];
        *pair = (struct pair){sample->n_documents, sample->n_documents + 1, r, {0}};
        sample->numbers[sample->n_documents++] = i;
        sample->numbers[sample->n_documents++] = other;
    }
}

static void sketch_all(const struct planted *planted, const struct sample *sample, unsigned key,
                       struct world *world)
{
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(world, &policy);
    memcpy(world->policy.key, &key, sizeof(key));
    shingle_hash_free(world->hash);
    document_sketcher_free(world->sketcher);
    assert_int_equal(shingle_hash_new(&world->policy, &world->hash), 0);
    assert_int_equal(document_sketcher_new(&world->policy, world->hash, &world->sketcher), 0);
    for (unsigned i = 0; i < sample->n_documents; i++)
        world_add_planted(world, planted, sample->numbers[i], 1);
}

/* By document the group of its smallest fingerprint, by sorting <fingerprint, document>. */
static void group(const struct world *world, struct scratch_file *file, uint32_t *ret_groups)
{
    _cleanup_(spill_free_p) struct spill *spill = NULL;
    _cleanup_(spill_writer_done) struct spill_writer writer = {0};
    _cleanup_(key_partition_done) struct key_partition partition = {0};
    _cleanup_(sorted_partition_done) struct sorted_partition sorted = {0};
    unsigned bits = key_number_bits(world->n);
    uint64_t all[64];
    memset(all, 0xff, sizeof(all));
    assert_true(world->n <= 64 * sizeof(all));
    assert_int_equal(spill_new(file, sizeof(uint64_t), KEY_PARTITIONS, 1 << 20, 1 << 20, &spill),
                     0);
    assert_int_equal(spill_writer_init(spill, &writer), 0);
    for (uint32_t i = 0; i < world->n; i++) {
        ret_groups[i] = i;
        assert_int_equal(key_add(&writer, bits, world->documents[i].sketch.values[0], i), 0);
    }
    assert_int_equal(spill_writer_flush(&writer), 0);
    assert_int_equal(
        sorted_partition_init(&sorting_numbers, spill, file, SORTED_LEAST_BYTES, &sorted), 0);
    assert_int_equal(key_partition_init(&sorted, bits, key_list_room(world->n), 0, &partition), 0);
    for (uint32_t i = 0; i < KEY_PARTITIONS; i++) {
        assert_int_equal(key_partition_begin(&partition, i), 0);
        for (int64_t n; (n = key_partition_next(&partition, all)) > 0;)
            for (int64_t j = 0; j < n; j++)
                ret_groups[partition.list[j]] = partition.list[0];
    }
}

static void test_lsh_groups__have_two_documents_in_one_by_their_resemblance(void **state)
{
    (void)state;
    static struct sample sample;
    static uint32_t groups[K_MAX][2 * MOST_PAIRS];
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    _cleanup_(scratch_file_done) struct scratch_file file = {0};
    const unsigned n_keys = 400 / trial_share();
    assert_int_equal(scratch_file_open(scratch_group, &file), 0);
    assert_int_equal(planted_new(10, N_DOCUMENTS, 5, &planted), 0);
    choose_pairs(planted, &sample);
    assert_true(sample.n_pairs > 150);
    for (unsigned key = 0; key < n_keys; key++) {
        struct world world;
        sketch_all(planted, &sample, key, &world);
        group(&world, &file, groups[key % K_MAX]);
        world_end(&world);
        for (unsigned i = 0; i < sample.n_pairs; i++) {
            struct pair *pair = &sample.pairs[i];
            bool together = false;
            pair->n_together[0] += groups[key % K_MAX][pair->a] == groups[key % K_MAX][pair->b];
            for (unsigned k = 1; k <= K_MAX && key % K_MAX == K_MAX - 1; k++) {
                together |= groups[k - 1][pair->a] == groups[k - 1][pair->b];
                pair->n_together[k] += together;
            }
        }
    }
    /* All pairs of a range of resemblances together: keys are independent, pairs under one key are
     * not, so that the error is that of so many trials as keys at most. */
    unsigned n_ranges = 0;
    for (double from = 0.2; from < 1; from += 0.2) {
        double n = 0, expected[K_MAX + 1] = {0}, found[K_MAX + 1] = {0};
        for (unsigned i = 0; i < sample.n_pairs; i++) {
            const struct pair *pair = &sample.pairs[i];
            if (pair->resemblance < from || pair->resemblance >= from + 0.2)
                continue;
            n++;
            expected[0] += pair->resemblance;
            found[0] += (double)pair->n_together[0] / n_keys;
            for (unsigned k = 1; k <= K_MAX; k++) {
                expected[k] += 1 - pow(1 - pair->resemblance, k);
                found[k] += (double)pair->n_together[k] / ((double)n_keys / K_MAX);
            }
        }
        if (n < 8)
            continue;
        n_ranges++;
        for (unsigned k = 0; k <= K_MAX; k++) {
            double p = expected[k] / n, trials = k ? (double)n_keys / K_MAX : n_keys;
            double error = sqrt(p * (1 - p) / trials);
            if (fabs(found[k] / n - p) > 4 * error + 0.001)
                fail_msg("resemblance from %.1f, %u hashes: %.4f of the pairs, not %.4f", from,
                         k ? k : 1, found[k] / n, p);
        }
    }
    assert_true(n_ranges >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lsh_groups__have_two_documents_in_one_by_their_resemblance),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
