#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/tables/records.h"
#include "engine/index/tables/schema.h"
#include "tests/lib/stores/kv_memory.h"

static struct kv *kv;

static int open_store(void **state)
{
    (void)state;
    const struct kv_options options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    return kv_memory_open(&options, &kv);
}

static int close_store(void **state)
{
    (void)state;
    kv_close(kv);
    return 0;
}

/* A binary document's record whose size is its sid; or nothing. */
static void put(uint64_t sid, bool alive)
{
    struct record record = {.key = {.size_bytes = FILE_KEY_MIN_BYTES},
                            .size_bytes = sid,
                            .form.type = TEXT_BINARY,
                            .sketch = {.s = 128, .m = 25, .v_below = UINT64_MAX / 25}};
    struct kv_batch *batch = kv_batch_new();
    struct kv_buf value;
    uint8_t key[8];
    put_be64(key, sid);
    assert_int_equal(record_encode(&record, &value), 0);
    if (alive)
        kv_batch_put(batch, TABLE_RECORDS, (struct kv_slice){key, 8}, kv_buf_slice(&value));
    else
        kv_batch_delete(batch, TABLE_RECORDS, (struct kv_slice){key, 8});
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
    kv_buf_done(&value);
}

static void assert_found(struct records *records, uint64_t sid, bool expected)
{
    const struct record *record;
    assert_int_equal(records_borrow(records, &sid, 1, &record), 0);
    assert_int_equal(record != NULL, expected);
    if (record)
        assert_int_equal(record->size_bytes, sid);
    records_return(records, &record, 1);
}

static void test_records__gives_the_living_in_the_order_asked(void **state)
{
    (void)state;
    struct records *records;
    const uint64_t sids[] = {7, 3, 99, 7, 5};
    const struct record *refs[5];
    put(3, true);
    put(5, true);
    put(7, true);
    assert_int_equal(records_open(kv, 1 << 20, &records), 0);
    for (int round = 0; round < 2; round++) { /* from the store, then from memory */
        assert_int_equal(records_borrow(records, sids, 5, refs), 0);
        assert_null(refs[2]);
        for (int i = 0; i < 5; i++)
            if (i != 2)
                assert_int_equal(refs[i]->size_bytes, sids[i]);
        records_return(records, refs, 5);
    }
    records_close(records);
}

static void test_records__forgets_the_dead_but_not_under_a_reader(void **state)
{
    (void)state;
    struct records *records;
    const uint64_t sid = 4;
    const struct record *held;
    put(sid, true);
    assert_int_equal(records_open(kv, 1 << 20, &records), 0);
    assert_int_equal(records_borrow(records, &sid, 1, &held), 0);
    put(sid, false);
    records_forget(records, sid);
    assert_found(records, sid, false);
    assert_int_equal(held->size_bytes, sid);
    records_return(records, &held, 1);
    records_close(records);
}

static void test_records__keeps_no_more_than_its_bound(void **state)
{
    (void)state;
    struct records *records;
    assert_int_equal(records_open(kv, 16 * 1000, &records), 0);
    for (uint64_t sid = 1; sid <= 500; sid++) {
        put(sid, true);
        assert_found(records, sid, true);
    }
    /* Whoever is still found after its row is gone was kept: few, and the latest among them. */
    unsigned n_kept = 0;
    for (uint64_t sid = 1; sid <= 500; sid++) {
        const struct record *record;
        put(sid, false);
        assert_int_equal(records_borrow(records, &sid, 1, &record), 0);
        n_kept += record != NULL;
        records_return(records, &record, 1);
    }
    assert_in_range(n_kept, 1, 100);
    records_close(records);
}

static void test_records__damage_is_an_error_and_nothing_is_held(void **state)
{
    (void)state;
    struct records *records;
    const uint64_t sids[] = {1, 2};
    const struct record *refs[2];
    uint8_t key[8];
    struct kv_batch *batch = kv_batch_new();
    put(1, true);
    put_be64(key, 2);
    kv_batch_put(batch, TABLE_RECORDS, (struct kv_slice){key, 8}, (struct kv_slice){"?", 1});
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
    assert_int_equal(records_open(kv, 1 << 20, &records), 0);
    assert_int_equal(records_borrow(records, sids, 2, refs), -EUCLEAN);
    assert_null(refs[0]);
    records_close(records);
}

struct reading {
    struct records *records;
    bool stop;
};

static void *read_all_the_time(void *user)
{
    struct reading *reading = user;
    while (!__atomic_load_n(&reading->stop, __ATOMIC_ACQUIRE)) {
        for (uint64_t sid = 1; sid <= 64; sid++) {
            const struct record *record = NULL;
            if (records_borrow(reading->records, &sid, 1, &record) == 0)
                records_return(reading->records, &record, 1);
        }
    }
    return NULL;
}

static void test_records__a_reader_beside_a_delete_leaves_nothing_dead(void **state)
{
    (void)state;
    struct reading reading = {0};
    pthread_t thread;
    assert_int_equal(records_open(kv, 1 << 20, &reading.records), 0);
    assert_int_equal(pthread_create(&thread, NULL, read_all_the_time, &reading), 0);
    for (int round = 0; round < 200; round++) {
        for (uint64_t sid = 1; sid <= 64; sid++)
            put(sid, true);
        for (uint64_t sid = 1; sid <= 64; sid++) {
            put(sid, false);
            records_forget(reading.records, sid);
            assert_found(reading.records, sid, false);
        }
    }
    __atomic_store_n(&reading.stop, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    records_close(reading.records);
}

struct visiting {
    uint64_t next, last; /* who comes; where the visitor has enough */
};

static int visit_until(void *user, uint64_t sid, const struct record *record)
{
    struct visiting *visiting = user;
    assert_int_equal(sid, visiting->next++);
    assert_int_equal(record->size_bytes, sid);
    return sid == visiting->last;
}

/* More than are read at once; a visitor that has enough is asked no more, wherever that is. */
static void test_records__all_are_visited_until_the_visitor_has_enough(void **state)
{
    enum { N = 600 };
    (void)state;
    for (uint64_t sid = 1; sid <= N; sid++)
        put(sid, true);
    for (uint64_t last = 1; last <= N; last += 13) {
        struct visiting visiting = {1, last};
        assert_int_equal(records_each(kv, 1, visit_until, &visiting), 1);
        assert_int_equal(visiting.next, last + 1);
    }
    struct visiting visiting = {5, 0};
    assert_int_equal(records_each(kv, 5, visit_until, &visiting), 0);
    assert_int_equal(visiting.next, N + 1);
}

static int count_visits(void *user, uint64_t sid, const struct record *record)
{
    (void)sid, (void)record;
    return ++*(size_t *)user > 1000 ? 1 : 0;
}

/* A walk that goes on behind the last of a page would begin anew behind the largest number. */
static void test_records__a_walk_ends_whatever_the_numbers_are(void **state)
{
    (void)state;
    size_t n_visits = 0;
    uint8_t key[9] = {255, 255, 255, 255, 255, 255, 255, 255, 0};
    struct kv_batch *batch = kv_batch_new();
    for (uint64_t sid = 1; sid < 256; sid++)
        put(sid, true);
    put(UINT64_MAX, true);
    kv_batch_put(batch, TABLE_RECORDS, (struct kv_slice){key, 9}, (struct kv_slice){"", 0});
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
    assert_int_equal(records_each(kv, 1, count_visits, &n_visits), -EUCLEAN);
    assert_true(n_visits < 256);
}

int main(void)
{
#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, open_store, close_store)
    const struct CMUnitTest tests[] = {
        WITH_STORE(test_records__gives_the_living_in_the_order_asked),
        WITH_STORE(test_records__forgets_the_dead_but_not_under_a_reader),
        WITH_STORE(test_records__keeps_no_more_than_its_bound),
        WITH_STORE(test_records__damage_is_an_error_and_nothing_is_held),
        WITH_STORE(test_records__all_are_visited_until_the_visitor_has_enough),
        WITH_STORE(test_records__a_walk_ends_whatever_the_numbers_are),
        WITH_STORE(test_records__a_reader_beside_a_delete_leaves_nothing_dead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
