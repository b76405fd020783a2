/* Each fault does what kv_fault.h says, and no more than kv.h allows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <time.h>

#include "tests/lib/stores/kv_fixture.h"

/* A store and a failing one around it. */
struct pair {
    struct kv *inner, *fault;
};

static struct pair pair_open(const struct kv_fault_plan *plan)
{
    struct kv_options options = fixture_options();
    struct pair pair;
    assert_int_equal(kv_memory_open(&options, &pair.inner), 0);
    assert_int_equal(kv_fault_open(pair.inner, plan, &pair.fault), 0);
    return pair;
}

static void pair_done(struct pair *pair)
{
    kv_close(pair->fault);
    kv_close(pair->inner);
}

static bool has(struct kv *kv, unsigned table, struct kv_slice key)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, table, key, &value);
    assert_true(r == 0 || r == -ENOENT);
    return r == 0;
}

/* A batch that puts the keys "<p>p<i>" for the partitions p = 'a'.. of two bytes, i = '0'.. */
enum { N_PARTITIONS = 5, N_IN_PARTITION = 3 };

static struct kv_batch *partitioned_batch(void)
{
    struct kv_batch *batch = kv_batch_new();
    for (char i = 0; i < N_IN_PARTITION; i++)
        for (char p = 0; p < N_PARTITIONS; p++) {
            char key[3] = {(char)('a' + p), 'p', (char)('0' + i)};
            kv_batch_put(batch, T_FIXED, (struct kv_slice){key, 3}, S("v"));
        }
    return batch;
}

/* Which partitions of the batch are there, a bit each; none may be there in part. */
static unsigned whole_partitions(struct kv *kv)
{
    unsigned present = 0;
    for (char p = 0; p < N_PARTITIONS; p++) {
        int n = 0;
        for (char i = 0; i < N_IN_PARTITION; i++) {
            char key[3] = {(char)('a' + p), 'p', (char)('0' + i)};
            n += has(kv, T_FIXED, (struct kv_slice){key, 3});
        }
        assert_true(n == 0 || n == N_IN_PARTITION);
        present |= (unsigned)(n > 0) << p;
    }
    return present;
}

static void test_kv_fault__crash_by_countdown_splits_between_partitions_only(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= N_PARTITIONS + 1; n++) {
        unsigned seen = 0;
        for (uint64_t seed = 0; seed < 20; seed++) {
            const struct kv_fault_plan plan = {
                .seed = seed, .split_batches = true, .crash_after_writes = n};
            _cleanup_(pair_done) struct pair pair = pair_open(&plan);
            _cleanup_(kv_batch_free_p) struct kv_batch *batch = partitioned_batch();
            int r = kv_apply(pair.fault, batch);
            unsigned present = whole_partitions(pair.inner);
            assert_int_equal(r, n <= N_PARTITIONS ? -EIO : 0);
            assert_int_equal(__builtin_popcount(present), n - 1);
            seen |= present;
        }
        if (n > 1) /* in random order: each partition came first some time */
            assert_int_equal(seen, (1u << N_PARTITIONS) - 1);
    }
}

static void test_kv_fault__without_split_a_batch_is_one_write(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.crash_after_writes = 2};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = partitioned_batch();
    assert_int_equal(put_one(pair.fault, T_WHOLE, S("first"), S("")), 0);
    assert_int_equal(kv_apply(pair.fault, batch), -EIO);
    assert_int_equal(whole_partitions(pair.inner), 0);
    assert_true(has(pair.inner, T_WHOLE, S("first")));
}

static void test_kv_fault__partitions_are_those_of_the_table(void **state)
{
    (void)state;
    static const struct {
        unsigned table;
        struct kv_slice keys[4];
        uint64_t n_partitions;
    } cases[] = {
        {T_WHOLE, {S("a"), S("ab"), S("b"), S("a")}, 3},
        {T_FIXED, {S("a"), S("ab"), S("abc"), S("abd")}, 2},
        {T_PREFIXED, {S("\2abX"), S("\2abY"), S("\2ab"), S("\3abX")}, 2},
        {T_PREFIXED, {S("\0a"), S("\0b"), S("\0"), S("\1a")}, 2},
        {T_PREFIXED, {S("\4a"), S("\4b"), S("\4"), S("\4a")}, 3}, /* shorter than it says */
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct kv_fault_plan plan = {.split_batches = true};
        _cleanup_(pair_done) struct pair pair = pair_open(&plan);
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        for (size_t k = 0; k < N_OF(cases[i].keys); k++)
            kv_batch_put(batch, cases[i].table, cases[i].keys[k], S(""));
        assert_int_equal(kv_apply(pair.fault, batch), 0);
        uint64_t n_calls, n_writes;
        kv_fault_counts(pair.fault, &n_calls, &n_writes);
        assert_int_equal(n_calls, 1);
        assert_int_equal(n_writes, cases[i].n_partitions);
    }
}

static void test_kv_fault__after_the_crash_nothing_works(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.crash_after_writes = 1};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    static const char *const run[][2] = {{"a", "1"}};
    struct kv_slice key = S("k"), value = S("v");
    struct kv_buf buf = {0};
    struct kv_page page = {0};
    uint64_t size_bytes;
    put_one(pair.inner, T_WHOLE, S("k"), S("v"));
    assert_value(pair.fault, T_WHOLE, S("k"), S("v"));
    assert_int_equal(kv_cas(pair.fault, T_WHOLE, key, &value, NULL), -EIO);
    assert_value(pair.inner, T_WHOLE, S("k"), S("v"));
    assert_int_equal(put_one(pair.fault, T_WHOLE, S("l"), S("v")), -EIO);
    assert_int_equal(load_array(pair.fault, T_WHOLE, run), -EIO);
    assert_int_equal(kv_get(pair.fault, T_WHOLE, key, &buf), -EIO);
    assert_int_equal(kv_multi_get(pair.fault, T_WHOLE, &key, 1, &buf), -EIO);
    assert_int_equal(kv_scan(pair.fault, T_WHOLE, &(struct kv_range){0}, 1, &page), -EIO);
    assert_int_equal(kv_checkpoint(pair.fault), -EIO);
    assert_int_equal(kv_resume(pair.fault), -EIO);
    assert_int_equal(kv_usage(pair.fault, &size_bytes), -EIO);
    assert_table(pair.inner, T_WHOLE, "k=v ");
}

static void test_kv_fault__a_split_run_can_crash_in_its_middle(void **state)
{
    (void)state;
    enum { N = 200 };
    static char keys[N][12];
    static const char *run[N][2];
    for (int i = 0; i < N; i++) {
        snprintf(keys[i], sizeof(keys[i]), "%03d", i);
        run[i][0] = keys[i];
        run[i][1] = "v";
    }
    const struct kv_fault_plan plan = {.seed = 3, .split_batches = true, .crash_after_writes = 4};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    struct array_run source = {(const char *const(*)[2])run, N, 0, 0};
    assert_int_equal(kv_bulk_load(pair.fault, T_WHOLE, array_run_next, &source), -EIO);
    _cleanup_(kv_page_done) struct kv_page page = {0};
    assert_int_equal(kv_scan(pair.inner, T_WHOLE, &(struct kv_range){0}, N, &page), 0);
    assert_true(page.n_entries >= 3 && page.n_entries < N);
}

static void test_kv_fault__again_means_nothing_happened(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.seed = 1, .again_per_mille = 300};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    int n_again = 0;
    for (int i = 0; i < 2000; i++) {
        char key[12];
        snprintf(key, sizeof(key), "%d", i);
        int r = put_one(pair.fault, T_WHOLE, str_slice(key), S("v"));
        assert_true(r == 0 || r == -EAGAIN);
        assert_int_equal(has(pair.inner, T_WHOLE, str_slice(key)), r == 0);
        n_again += r == -EAGAIN;
    }
    /* Binomial(2000, 0.3): mean 600, sd 20.5; within 5 sd */
    assert_in_range(n_again, 500, 700);
}

static void test_kv_fault__half_of_what_timed_out_has_happened(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.seed = 1, .timeout_per_mille = 500};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    int n_timeouts = 0, n_happened = 0;
    for (int i = 0; i < 2000; i++) {
        char key[12];
        snprintf(key, sizeof(key), "%d", i);
        struct kv_slice value = S("v");
        int r = i % 2 ? put_one(pair.fault, T_WHOLE, str_slice(key), value)
                      : kv_cas(pair.fault, T_WHOLE, str_slice(key), NULL, &value);
        bool happened = has(pair.inner, T_WHOLE, str_slice(key));
        assert_true(r == 0 || r == -ETIMEDOUT);
        assert_true(happened || r == -ETIMEDOUT);
        n_timeouts += r == -ETIMEDOUT;
        n_happened += r == -ETIMEDOUT && happened;
    }
    /* Binomial(2000, 0.5): sd 22.4; then of about 1000: sd 15.8; within 5 sd of both */
    assert_in_range(n_timeouts, 888, 1112);
    assert_in_range(n_happened, n_timeouts / 2 - 80, n_timeouts / 2 + 80);
}

static void test_kv_fault__a_split_batch_times_out_in_part(void **state)
{
    (void)state;
    bool in_part = false;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const struct kv_fault_plan plan = {
            .seed = seed, .split_batches = true, .timeout_per_mille = 1000};
        _cleanup_(pair_done) struct pair pair = pair_open(&plan);
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = partitioned_batch();
        assert_int_equal(kv_apply(pair.fault, batch), -ETIMEDOUT);
        unsigned present = whole_partitions(pair.inner);
        in_part |= present != 0 && present != (1u << N_PARTITIONS) - 1;
    }
    assert_true(in_part);
}

static void test_kv_fault__the_nth_call_fails_once(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.fail_call = 2, .fail_error = -ENOSPC};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    assert_int_equal(put_one(pair.fault, T_WHOLE, S("a"), S("1")), 0);
    assert_int_equal(put_one(pair.fault, T_WHOLE, S("b"), S("2")), -ENOSPC);
    assert_int_equal(put_one(pair.fault, T_WHOLE, S("c"), S("3")), 0);
    assert_table(pair.inner, T_WHOLE, "a=1 c=3 ");
    uint64_t n_calls, n_writes;
    kv_fault_counts(pair.fault, &n_calls, &n_writes);
    assert_int_equal(n_calls, 3);
    assert_int_equal(n_writes, 2);
}

static void test_kv_fault__the_nth_write_happens_and_fails_once(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.late_failure = 2, .fail_error = -ENOSPC};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    assert_int_equal(put_one(pair.fault, T_WHOLE, S("a"), S("1")), 0);
    assert_int_equal(put_one(pair.fault, T_WHOLE, S("b"), S("2")), -ENOSPC);
    assert_int_equal(put_one(pair.fault, T_WHOLE, S("c"), S("3")), 0);
    assert_table(pair.inner, T_WHOLE, "a=1 b=2 c=3 ");
}

static void test_kv_fault__a_compared_write_happens_and_fails(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.late_failure = 1, .fail_error = -EIO};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    struct kv_slice value = S("1");
    assert_int_equal(kv_cas(pair.fault, T_WHOLE, S("a"), NULL, &value), -EIO);
    assert_table(pair.inner, T_WHOLE, "a=1 ");
    assert_int_equal(kv_cas(pair.fault, T_WHOLE, S("a"), NULL, &value), -ECANCELED);
}

static void
test_kv_fault__of_a_split_batch_what_follows_a_late_failure_does_not_happen(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= N_PARTITIONS; n++) {
        const struct kv_fault_plan plan = {
            .split_batches = true, .late_failure = n, .fail_error = -ENOSPC};
        _cleanup_(pair_done) struct pair pair = pair_open(&plan);
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = partitioned_batch();
        assert_int_equal(kv_apply(pair.fault, batch), -ENOSPC);
        assert_int_equal(__builtin_popcount(whole_partitions(pair.inner)), n);
        assert_int_equal(kv_apply(pair.fault, batch), 0);
        assert_int_equal(__builtin_popcount(whole_partitions(pair.inner)), N_PARTITIONS);
    }
}

static void test_kv_fault__short_pages_still_give_everything(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.seed = 2, .short_pages = true};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    for (const char *key = "abcdefghij"; *key; key++)
        put_one(pair.inner, T_WHOLE, (struct kv_slice){key, 1}, (struct kv_slice){key, 1});
    size_t shortest = 10;
    for (int i = 0; i < 30; i++) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        assert_int_equal(kv_scan(pair.fault, T_WHOLE, &(struct kv_range){0}, 11, &page), 0);
        assert_true(page.n_entries >= 1 && page.n_entries <= 10);
        assert_int_equal(page.more, page.n_entries < 10);
        shortest = page.n_entries < shortest ? page.n_entries : shortest;
    }
    assert_true(shortest < 5);
    assert_table(pair.fault, T_WHOLE, "a=a b=b c=c d=d e=e f=f g=g h=h i=i j=j ");
}

static void test_kv_fault__calls_are_delayed(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.delay_us = 2000};
    _cleanup_(pair_done) struct pair pair = pair_open(&plan);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int i = 0; i < 40; i++)
        has(pair.fault, T_WHOLE, S("k"));
    clock_gettime(CLOCK_MONOTONIC, &after);
    double passed_us = (double)(after.tv_sec - before.tv_sec) * 1e6 +
                       (double)(after.tv_nsec - before.tv_nsec) / 1e3;
    /* 40 draws of 0 to 2000: mean 40000, sd 3650; at least the mean less 5 sd */
    assert_true(passed_us > 21000);
}

static void test_kv_fault__a_seed_repeats_its_faults(void **state)
{
    (void)state;
    int answers[2][100];
    for (int run = 0; run < 2; run++) {
        const struct kv_fault_plan plan = {
            .seed = 7, .again_per_mille = 300, .timeout_per_mille = 300, .split_batches = true};
        _cleanup_(pair_done) struct pair pair = pair_open(&plan);
        for (int i = 0; i < 100; i++)
            answers[run][i] = put_one(pair.fault, T_WHOLE, S("k"), S("v"));
    }
    assert_memory_equal(answers[0], answers[1], sizeof(answers[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kv_fault__crash_by_countdown_splits_between_partitions_only),
        cmocka_unit_test(test_kv_fault__without_split_a_batch_is_one_write),
        cmocka_unit_test(test_kv_fault__partitions_are_those_of_the_table),
        cmocka_unit_test(test_kv_fault__after_the_crash_nothing_works),
        cmocka_unit_test(test_kv_fault__a_split_run_can_crash_in_its_middle),
        cmocka_unit_test(test_kv_fault__again_means_nothing_happened),
        cmocka_unit_test(test_kv_fault__half_of_what_timed_out_has_happened),
        cmocka_unit_test(test_kv_fault__a_split_batch_times_out_in_part),
        cmocka_unit_test(test_kv_fault__the_nth_call_fails_once),
        cmocka_unit_test(test_kv_fault__the_nth_write_happens_and_fails_once),
        cmocka_unit_test(test_kv_fault__a_compared_write_happens_and_fails),
        cmocka_unit_test(
            test_kv_fault__of_a_split_batch_what_follows_a_late_failure_does_not_happen),
        cmocka_unit_test(test_kv_fault__short_pages_still_give_everything),
        cmocka_unit_test(test_kv_fault__calls_are_delayed),
        cmocka_unit_test(test_kv_fault__a_seed_repeats_its_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
