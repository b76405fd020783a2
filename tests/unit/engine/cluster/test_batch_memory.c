/* That a batch takes no more memory than it was given: by its own counting, and by the kernel's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/cluster/batch.h"
#include "engine/cluster/budget.h"
#include "engine/cluster/pairs/links.h"
#include "engine/cluster/pairs/pair_counts.h"
#include "tests/lib/scratch.h"
#include "tests/lib/trials.h"

enum { DOCUMENT_BYTES = 17, STACK_BYTES = 384 << 10 };

/* -- by its own counting -- */

static void expect_threads(uint64_t have, const struct budget_share *share, unsigned most,
                           uint64_t each, uint64_t beside)
{
    assert_in_range(share->n_threads, 1, most);
    assert_true(share->room_bytes >= SORTED_LEAST_BYTES);
    assert_true(share->n_threads * (each + share->room_bytes + STACK_BYTES) + beside <= have);
}

static void expect_phases(const struct budget *budget, uint64_t have, uint64_t wanted)
{
    struct budget_share share;
    uint64_t stays = budget->sketch_bytes + budget->key_bytes, longest = SKETCH_FILE_LONGEST_BYTES;
    uint64_t writer =
        SKETCH_WRITER_BYTES + budget->key_buffer_bytes + budget->equivalence_buffer_bytes;
    assert_in_range(budget->n_writers, 1, budget->n_threads);
    assert_true(budget->key_buffer_bytes >= spill_least_buffer(8, KEY_PARTITIONS));
    assert_true(budget->equivalence_buffer_bytes >=
                spill_least_buffer(sizeof(struct equivalence_record), EQUIVALENCE_PARTITIONS));
    assert_true(stays + budget->equivalence_bytes + budget->n_writers * writer <= have);

    assert_int_equal(budget_duplicates(budget, wanted, &share), 0);
    expect_threads(have - stays - budget->equivalence_bytes, &share, budget->n_threads, 0, 0);

    uint64_t linker = links_thread_bytes(16384, longest);
    assert_int_equal(budget_links(budget, 64, linker, wanted, &share), 0);
    expect_threads(have - stays, &share, 64, linker + share.sketch_bytes, share.all_bytes);

    uint64_t expander = pairs_expand_bytes(1000), merger = pairs_merge_bytes(longest);
    assert_int_equal(budget_expand(budget, expander, wanted, &share), 0);
    expect_threads(have - stays, &share, budget->n_threads, expander + share.buffer_bytes,
                   share.all_bytes);
    assert_true(share.buffer_bytes >= spill_least_buffer(8, PAIR_PARTITIONS));
    uint64_t pairs = share.all_bytes;
    assert_int_equal(budget_merge(budget, merger, wanted, &share), 0);
    expect_threads(have - stays - pairs, &share, budget->n_threads, merger, 0);
    assert_true(budget_threads(budget, PAIR_WRITER_BYTES) * (uint64_t)PAIR_WRITER_BYTES <= have);
}

/* In each phase all parts are no more than the whole, for any number of documents and threads, from
 * the least memory on; below that it is refused. */
static void test_budget__no_phase_has_more_than_there_is(void **state)
{
    (void)state;
    const uint32_t documents[] = {0, 1, 1000, 1000000, 30000000, UINT32_MAX};
    const unsigned threads[] = {1, 2, 7, 64};
    const uint64_t wanted[] = {0, 5 << 20, (uint64_t)1 << 34};
    for (unsigned i = 0; i < 6; i++) {
        uint64_t least = batch_least_memory(documents[i]);
        for (uint64_t more = 0; more < (uint64_t)1 << 36; more = 3 * more + 12345) {
            for (unsigned j = 0; j < 4 * 3; j++) {
                struct budget budget;
                uint64_t of_all = (uint64_t)DOCUMENT_BYTES * documents[i];
                assert_int_equal(budget_make(least + more, documents[i], threads[j / 3], &budget),
                                 0);
                expect_phases(&budget, least + more - of_all, wanted[j % 3]);
            }
        }
        struct budget budget;
        assert_int_equal(budget_make(least - 1, documents[i], 2, &budget), -E2BIG);
    }
}

/* -- by the kernel's -- */

enum { N = 120000, N_VALUES = 40, N_COMMON = 3, A_FAMILY = 8 };

static uint64_t values[N / A_FAMILY + 1][N_VALUES]; /* by family */

/* Memory of the process, in bytes: "VmRSS", "VmHWM". */
static uint64_t memory(const char *name)
{
    char line[128];
    unsigned long long kb = 0;
    FILE *status = fopen("/proc/self/status", "re");
    assert_non_null(status);
    while (!kb && fgets(line, sizeof(line), status))
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtoull(line + strlen(name) + 1, NULL, 10);
    fclose(status);
    return kb << 10;
}

static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "we");
    assert_non_null(file);
    assert_true(fputs("5", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* What would break a bound: half of all are of one content, all others have fingerprints in common,
 * and every four of them resemble each other. */
static void make_values(const struct policy *policy)
{
    uint64_t below = (uint64_t)(((unsigned __int128)1 << 64) / policy->m), x = 1;
    for (uint32_t family = 0; family <= N / A_FAMILY; family++) {
        uint64_t common = 0;
        for (unsigned i = 0; i < N_VALUES; i++)
            values[family][i] = i < N_COMMON
                                    ? mix64_next(&common) % (below / N) /* among all keys */
                                    : mix64_next(&x) % below;
        qsort(values[family], N_VALUES, sizeof(uint64_t), trial_compare);
    }
}

static void describe(const struct policy *policy, uint32_t number,
                     struct document_sketch *ret_document)
{
    uint32_t content = number % 2 ? number : 0;
    *ret_document = (struct document_sketch){
        .sketch = {.policy_id = policy_id(policy),
                   .v_below = (uint64_t)(((unsigned __int128)1 << 64) / policy->m),
                   .s = policy->s,
                   .m = policy->m,
                   .n_values = N_VALUES,
                   .values = values[content / A_FAMILY]}};
    for (unsigned i = 0; i < FINGERPRINT_BYTES; i += 8) {
        uint64_t x = content + i, random = mix64_next(&x);
        memcpy(ret_document->shingle_fingerprint + i, &random, 8);
    }
}

static struct batch *run(const struct batch_options *options)
{
    struct batch *batch;
    struct batch_writer *writer;
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    if (!values[0][0])
        make_values(&policy);
    assert_int_equal(batch_new(&policy, options, &batch), 0);
    assert_int_equal(batch_writer_new(batch, &writer), 0);
    for (uint32_t i = 0; i < N; i++) {
        struct document_sketch document;
        describe(&policy, i, &document);
        assert_int_equal(batch_writer_add(writer, i, &document), 0);
    }
    assert_int_equal(batch_run(batch), -EBUSY); /* the writer has memory of the phases' */
    assert_int_equal(batch_writer_flush(writer), 0);
    assert_int_equal(batch_run(batch), 0);
    batch_writer_free(writer);
    return batch;
}

/* Kernel and malloc(3) count in pages; the rest of it is bound to be less. */
static void test_batch__takes_no_more_memory_than_it_was_given(void **state)
{
#ifdef __SANITIZE_ADDRESS__
    skip(); /* it keeps what is freed, and test_batch has all modes with the least memory */
#endif
    struct batch_options options = {
        .scratch = *state, .n_threads = 4, .threshold = 0.5, .n_documents = N};
    for (options.mode = 0; options.mode < BATCH_N_MODES; options.mode++) {
        options.memory_bytes = (uint64_t)1 << 30;
        _cleanup_(batch_free_p) struct batch *at_ease = run(&options);
        options.memory_bytes = batch_least_memory(N);
        forget_peak();
        uint64_t before = memory("VmRSS");
        _cleanup_(batch_free_p) struct batch *batch = run(&options);
        uint64_t most = memory("VmHWM") - before;
        const struct batch_totals *totals = batch_totals(batch), *expected = batch_totals(at_ease);
        assert_memory_equal(batch_clusters(batch), batch_clusters(at_ease), N * sizeof(uint32_t));
        assert_memory_equal(&totals->equivalence, &expected->equivalence,
                            sizeof(totals->equivalence));
        assert_int_equal(totals->lists.n_lists, expected->lists.n_lists);
        assert_int_equal(totals->lists.longest_list, expected->lists.longest_list);
        assert_int_equal(totals->lists.n_postings_left_out, expected->lists.n_postings_left_out);
#ifndef __SANITIZE_THREAD__ /* keeps what is freed, too */
        if (most > options.memory_bytes)
            fail_msg("%s: %llu bytes of %llu", batch_mode_name(options.mode),
                     (unsigned long long)most, (unsigned long long)options.memory_bytes);
#else
        (void)most;
#endif
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget__no_phase_has_more_than_there_is),
        cmocka_unit_test(test_batch__takes_no_more_memory_than_it_was_given),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
