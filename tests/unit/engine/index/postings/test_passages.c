#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/mix.h"
#include "engine/index/postings/passages_private.h"
#include "engine/index/tables/meta.h"
#include "engine/index/tables/schema.h"
#include "tests/lib/stores/kv_fault.h"
#include "tests/lib/stores/kv_memory.h"

static const struct kv_options options = {
    .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};
static const struct policy policy = {
    "test", POLICY_TOKENISER_WORDS, POLICY_HASH_GF64, 5, 128, 25, 8192, {1}};

/* A model: which fingerprints each document has, a bit each; 0: it has no row. */
enum { N_FINGERPRINTS = 12, N_SIDS = 40 };

struct fixture {
    struct kv *inner, *kv;
    struct passages *passages;
    unsigned has[N_SIDS + 1];
    uint64_t seed;
};

static uint64_t fingerprint_of(unsigned i)
{
    return i == 0 ? 0 : mix64(i) >> (64 - PASSAGE_FINGERPRINT_BITS);
}

static void open_passages(struct fixture *fixture, const struct kv_fault_plan *plan)
{
    assert_int_equal(kv_fault_open(fixture->inner, plan, &fixture->kv), 0);
    assert_int_equal(passages_open(fixture->kv, &policy, PASSAGE_BOUND, &fixture->passages), 0);
    assert_non_null(fixture->passages);
    assert_int_equal(passages_recover(fixture->passages), 0);
}

static void close_passages(struct fixture *fixture)
{
    passages_close(fixture->passages);
    kv_close(fixture->kv);
}

static const struct kv_fault_plan no_faults = {0};

static void begin(struct fixture *fixture, uint64_t seed)
{
    *fixture = (struct fixture){.seed = seed};
    assert_int_equal(kv_memory_open(&options, &fixture->inner), 0);
}

static uint64_t below(struct fixture *fixture, uint64_t n)
{
    return mix64_next(&fixture->seed) % n;
}

static void encode(unsigned has, struct passages_row *row)
{
    struct passage_fingerprint fingerprints[N_FINGERPRINTS];
    struct passage_sketch sketch = {.fingerprints = fingerprints, .n_words = 1000};
    uint8_t *bytes;
    for (unsigned i = 0; i < N_FINGERPRINTS; i++)
        if (has >> i & 1)
            fingerprints[sketch.n_fingerprints++] =
                (struct passage_fingerprint){i, fingerprint_of(i)};
    assert_int_equal(passage_sketch_encode(&sketch, &bytes, &row->size_bytes), 0);
    row->bytes = bytes;
}

static int put(struct fixture *fixture, uint64_t sid, unsigned has)
{
    struct passages_row row = {.sid = sid};
    encode(has, &row);
    int r = passages_put(fixture->passages, &row, 1);
    free((void *)row.bytes);
    if (r == 0)
        fixture->has[sid] = has;
    return r;
}

static int take_out(struct fixture *fixture, uint64_t sid)
{
    int r = passages_remove(fixture->passages, &sid, 1);
    if (r == 0)
        fixture->has[sid] = 0;
    return r;
}

/* All documents of a fingerprint that have a row; or so many at least. */
static size_t list(struct fixture *fixture, unsigned i, size_t most, bool *ret_has)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    size_t n = 0;
    const int more = passages_with(fixture->passages, fingerprint_of(i), most, &sids);
    assert_true(more >= 0);
    for (size_t k = 0; k < sids.n_numbers; k++) {
        const uint64_t sid = sids.numbers[k];
        assert_true(sid > (k ? sids.numbers[k - 1] : 0) && sid <= N_SIDS);
        ret_has[sid] = passages_has(fixture->passages, sid) > 0;
        n += ret_has[sid];
    }
    assert_true(!more || sids.n_numbers >= most);
    return n;
}

static void expect_model(struct fixture *fixture)
{
    for (unsigned i = 0; i < N_FINGERPRINTS; i++) {
        bool has[N_SIDS + 1] = {false}, some[N_SIDS + 1] = {false};
        size_t n = 0;
        list(fixture, i, 1000000, has);
        for (uint64_t sid = 1; sid <= N_SIDS; sid++) {
            assert_int_equal(has[sid], fixture->has[sid] >> i & 1);
            n += has[sid];
        }
        assert_true(list(fixture, i, 5, some) <= n);
    }
}

static void join_all(struct fixture *fixture)
{
    while (passages_join_due(fixture->passages))
        assert_int_equal(passages_join_some(fixture->passages), 0);
}

/* A sid is of one content, so what it has is the same when it is put again. */
static unsigned set_of(uint64_t sid)
{
    return 1 + (unsigned)(mix64(sid) % ((1 << N_FINGERPRINTS) - 1));
}

static void change_something(struct fixture *fixture)
{
    const uint64_t sid = 1 + below(fixture, N_SIDS);
    if (fixture->has[sid])
        assert_int_equal(take_out(fixture, sid), 0);
    else
        assert_int_equal(put(fixture, sid, set_of(sid)), 0);
}

/* Also where pages are shorter than they could be, and after a start without a flush. */
static void test_passages__are_those_of_a_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct fixture fixture;
        const struct kv_fault_plan plan = {.seed = seed, .short_pages = seed % 2};
        begin(&fixture, seed);
        open_passages(&fixture, &plan);
        for (unsigned step = 0; step < 150; step++) {
            change_something(&fixture);
            if (below(&fixture, 20) == 0)
                assert_int_equal(passages_flush(fixture.passages), 0);
            if (below(&fixture, 30) == 0) { /* a crash */
                close_passages(&fixture);
                open_passages(&fixture, &plan);
            }
            if (step % 10 == 0)
                expect_model(&fixture);
            if (below(&fixture, 60) == 0)
                join_all(&fixture);
        }
        expect_model(&fixture);
        close_passages(&fixture);
        kv_close(fixture.inner);
    }
}

/* A crash at any write: what was put before is there, and of what was under way all or nothing that
 * anybody is shown. */
static void test_passages__outlive_a_crash_at_any_write(void **state)
{
    (void)state;
    for (uint64_t crash = 1; crash < 60; crash++) {
        struct fixture fixture;
        const struct kv_fault_plan plan = {
            .seed = crash, .crash_after_writes = crash, .split_batches = true};
        uint64_t sid = 0;
        int r = 0;
        begin(&fixture, crash);
        open_passages(&fixture, &no_faults); /* which writes what is wanted */
        close_passages(&fixture);
        open_passages(&fixture, &plan);
        for (unsigned step = 0; r == 0 && step < 200; step++) {
            sid = 1 + below(&fixture, N_SIDS);
            if (below(&fixture, 8) == 0)
                r = passages_flush(fixture.passages);
            else if (fixture.has[sid])
                r = take_out(&fixture, sid);
            else
                r = put(&fixture, sid, set_of(sid));
        }
        assert_int_equal(r, -EIO);
        close_passages(&fixture);
        open_passages(&fixture, &no_faults);
        /* What was under way is read again, or goes again. */
        assert_int_equal(take_out(&fixture, sid), 0);
        expect_model(&fixture);
        assert_int_equal(put(&fixture, sid, set_of(sid)), 0);
        expect_model(&fixture);
        close_passages(&fixture);
        kv_close(fixture.inner);
    }
}

/* A store that fails and takes writes again has the notes of before, and those that it lacked. */
static void test_passages__are_noted_again_after_a_failure(void **state)
{
    (void)state;
    for (uint64_t fail = 1; fail < 12; fail++) {
        struct fixture fixture;
        const struct kv_fault_plan plan = {.late_failure = fail, .fail_error = -ENOSPC};
        int r = 0;
        begin(&fixture, fail);
        open_passages(&fixture, &no_faults);
        close_passages(&fixture);
        open_passages(&fixture, &plan);
        uint64_t sid = 0;
        while (r == 0) {
            sid++;
            r = put(&fixture, sid, 3 | 1u << sid % N_FINGERPRINTS);
        }
        assert_int_equal(r, -ENOSPC);
        assert_int_equal(passages_recover(fixture.passages), 0);
        if (passages_has(fixture.passages, sid))
            fixture.has[sid] = 3 | 1u << sid % N_FINGERPRINTS;
        expect_model(&fixture);
        assert_int_equal(passages_flush(fixture.passages), 0);
        expect_model(&fixture);
        close_passages(&fixture);
        open_passages(&fixture, &no_faults);
        expect_model(&fixture);
        close_passages(&fixture);
        kv_close(fixture.inner);
    }
}

static size_t count_rows(struct kv *kv, unsigned table)
{
    struct kv_page page;
    const struct kv_range all = {{"", 0}, {NULL, 0}};
    assert_int_equal(kv_scan(kv, table, &all, 10000, &page), 0);
    const size_t n = page.n_entries;
    kv_page_done(&page);
    return n;
}

static void test_passages__are_removed_when_none_are_wanted(void **state)
{
    (void)state;
    struct fixture fixture;
    struct passages *none = (struct passages *)&fixture;
    uint64_t bound;
    begin(&fixture, 1);
    assert_int_equal(passages_open(fixture.inner, &policy, PASSAGES_AS_STORED, &none), 0);
    assert_null(none);
    assert_int_equal(count_rows(fixture.inner, TABLE_META), 0);
    open_passages(&fixture, &no_faults);
    for (uint64_t sid = 1; sid <= N_SIDS; sid++)
        assert_int_equal(put(&fixture, sid, 7), 0);
    assert_int_equal(passages_flush(fixture.passages), 0);
    assert_int_equal(count_rows(fixture.inner, TABLE_PASSAGES_OF), N_SIDS);
    assert_int_equal(count_rows(fixture.inner, TABLE_PASSAGES), 3);
    close_passages(&fixture);

    assert_int_equal(passages_open(fixture.inner, &policy, PASSAGES_AS_STORED, &fixture.passages),
                     0);
    assert_int_equal(passages_bound(fixture.passages), PASSAGE_BOUND);
    passages_close(fixture.passages);
    /* A crash while they go */
    assert_int_equal(
        meta_put_number(fixture.inner, PASSAGES_META, OPTIONAL_TABLES_REMOVING | PASSAGE_BOUND), 0);
    assert_int_equal(optional_tables_read(fixture.inner, &passages_tables, &bound), 0);
    assert_int_equal(bound, 0);
    assert_int_equal(passages_open(fixture.inner, &policy, 30, &fixture.passages), 0);
    assert_int_equal(passages_bound(fixture.passages), 30);
    assert_int_equal(passages_has(fixture.passages, 1), 0);
    passages_close(fixture.passages);
    assert_int_equal(optional_tables_read(fixture.inner, &passages_tables, &bound), 0);
    assert_int_equal(bound, 30);
    assert_int_equal(count_rows(fixture.inner, TABLE_PASSAGES_OF), 0);
    assert_int_equal(count_rows(fixture.inner, TABLE_PASSAGES), 0);
    assert_int_equal(passages_open(fixture.inner, &policy, 0, &none), 0);
    assert_null(none);
    assert_int_equal(count_rows(fixture.inner, TABLE_META), 0);
    kv_close(fixture.inner);
}

/* A step that has no time joins one bucket, and the next one goes on behind that. */
static void test_passages__are_joined_in_steps_that_the_clock_ends(void **state)
{
    (void)state;
    struct fixture fixture;
    begin(&fixture, 99);
    open_passages(&fixture, &no_faults);
    while (!passages_join_due(fixture.passages)) {
        change_something(&fixture);
        assert_int_equal(passages_flush(fixture.passages), 0);
    }
    fixture.passages->join_step_us = 0;
    for (unsigned step = 1; passages_join_due(fixture.passages); step++) {
        assert_int_equal(passages_join_some(fixture.passages), 0);
        if (fixture.passages->joining_run)
            assert_int_equal(fixture.passages->joining_from, step);
        else
            assert_int_equal(step, 1 << 16);
    }
    expect_model(&fixture);
    assert_true(count_rows(fixture.inner, TABLE_PASSAGES) <= N_FINGERPRINTS);
    close_passages(&fixture);
    kv_close(fixture.inner);
}

/* Many runs become one, without what was removed; a crash meanwhile, at any write, loses nothing.
 */
static void test_passages__of_many_runs_are_joined(void **state)
{
    (void)state;
    for (uint64_t crash = 0; crash < 40; crash += crash < 10 ? 1 : 5) {
        struct fixture fixture;
        const struct kv_fault_plan plan = {
            .seed = crash, .crash_after_writes = crash, .split_batches = true};
        begin(&fixture, crash);
        open_passages(&fixture, &no_faults);
        for (unsigned step = 0; !passages_join_due(fixture.passages); step++) {
            change_something(&fixture);
            change_something(&fixture);
            assert_int_equal(passages_flush(fixture.passages), 0);
        }
        expect_model(&fixture);
        close_passages(&fixture);
        open_passages(&fixture, &plan);
        fixture.passages->join_step_us =
            INT64_C(3600000000); /* so that writes are as many each time */
        int r = 0;
        while (r == 0 && passages_join_due(fixture.passages))
            r = passages_join_some(fixture.passages);
        assert_int_equal(r, crash ? -EIO : 0);
        close_passages(&fixture);
        open_passages(&fixture, &no_faults);
        expect_model(&fixture);
        join_all(&fixture);
        expect_model(&fixture);
        assert_true(count_rows(fixture.inner, TABLE_PASSAGES) <= N_FINGERPRINTS);
        change_something(&fixture);
        assert_int_equal(passages_flush(fixture.passages), 0);
        expect_model(&fixture);
        close_passages(&fixture);
        kv_close(fixture.inner);
    }
}

/* Documents of a few words have no passage, so there is nothing to flush but what names them: more
 * of that than a batch has room for would be in the way of every flush. */
static void test_passages__of_documents_without_any_are_flushed(void **state)
{
    enum { N = 1100000 };
    struct fixture fixture;
    (void)state;
    begin(&fixture, 1);
    open_passages(&fixture, &no_faults);
    struct passages_row row = {0};
    encode(0, &row);
    unsigned n_flushed = 0;
    for (unsigned i = 0; i < N; i++) {
        row.sid = 1 + i % 1000;
        assert_int_equal(passages_put(fixture.passages, &row, 1), 0);
        if (passages_flush_due(fixture.passages)) {
            assert_int_equal(passages_flush(fixture.passages), 0);
            assert_int_equal(fixture.passages->noted.n_numbers, 0);
            n_flushed++;
        }
    }
    assert_int_equal(passages_flush(fixture.passages), 0);
    assert_true(n_flushed > 0);
    free((void *)row.bytes);
    close_passages(&fixture);
    open_passages(&fixture, &no_faults);
    assert_int_equal(fixture.passages->noted.n_numbers, 0);
    assert_int_equal(passages_has(fixture.passages, 1000), 1);
    close_passages(&fixture);
    kv_close(fixture.inner);
}

static void test_passages__of_a_damaged_store_are_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    uint64_t bound;
    struct passage_sketch sketch;
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t key[PASSAGES_KEY_BYTES + 1] = {0};
    begin(&fixture, 1);
    assert_int_equal(meta_put_number(fixture.inner, PASSAGES_META, PASSAGE_BOUND_MAX + 1), 0);
    assert_int_equal(optional_tables_read(fixture.inner, &passages_tables, &bound), -EUCLEAN);
    assert_int_equal(meta_put_number(fixture.inner, PASSAGES_META, PASSAGE_BOUND), 0);
    open_passages(&fixture, &no_faults);
    put_be64(key, 1);
    kv_batch_put(batch, TABLE_PASSAGES_OF, (struct kv_slice){key, 8}, (struct kv_slice){"x", 1});
    put_be64(key, 0);
    kv_batch_put(batch, TABLE_PASSAGES, (struct kv_slice){key, sizeof(key)},
                 (struct kv_slice){"", 0});
    assert_int_equal(kv_apply(fixture.inner, batch), 0);
    assert_int_equal(passages_get(fixture.passages, 1, &sketch), -EUCLEAN);
    assert_int_equal(take_out(&fixture, 1), -EUCLEAN);
    assert_int_equal(passages_with(fixture.passages, 0, 10, &sids), -EUCLEAN);
    close_passages(&fixture);
    kv_close(fixture.inner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passages__are_those_of_a_model),
        cmocka_unit_test(test_passages__outlive_a_crash_at_any_write),
        cmocka_unit_test(test_passages__are_noted_again_after_a_failure),
        cmocka_unit_test(test_passages__are_removed_when_none_are_wanted),
        cmocka_unit_test(test_passages__of_many_runs_are_joined),
        cmocka_unit_test(test_passages__are_joined_in_steps_that_the_clock_ends),
        cmocka_unit_test(test_passages__of_documents_without_any_are_flushed),
        cmocka_unit_test(test_passages__of_a_damaged_store_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
