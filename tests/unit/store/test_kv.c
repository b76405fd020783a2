/* What kv.h promises, of every back end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "base/bytes.h"
#include "tests/lib/stores/kv_fixture.h"

#define KV(state) (((struct kv_fixture *)*(state))->kv)

static void test_kv__get_finds_what_was_put_and_nothing_else(void **state)
{
    struct kv *kv = KV(state);
    assert_absent(kv, T_WHOLE, S("a"));
    assert_int_equal(put_one(kv, T_WHOLE, S("a"), S("one")), 0);
    assert_value(kv, T_WHOLE, S("a"), S("one"));
    assert_absent(kv, T_WHOLE, S("b"));
    assert_absent(kv, T_WHOLE, S("a\0"));
    assert_absent(kv, T_FIXED, S("a"));
    assert_int_equal(put_one(kv, T_WHOLE, S("a"), S("two")), 0);
    assert_value(kv, T_WHOLE, S("a"), S("two"));
    assert_int_equal(delete_one(kv, T_WHOLE, S("a")), 0);
    assert_absent(kv, T_WHOLE, S("a"));
    assert_int_equal(delete_one(kv, T_WHOLE, S("a")), 0);
}

static void test_kv__keys_and_values_are_binary(void **state)
{
    struct kv *kv = KV(state);
    assert_int_equal(put_one(kv, T_WHOLE, S("\0"), S("\0\xff\0")), 0);
    assert_int_equal(put_one(kv, T_WHOLE, S("\0\0"), S("")), 0);
    assert_int_equal(put_one(kv, T_WHOLE, S("\xff\xff"), S("last")), 0);
    assert_int_equal(put_one(kv, T_WHOLE, S("\x7f"), S("before \\x80: bytes are unsigned")), 0);
    assert_int_equal(put_one(kv, T_WHOLE, S("\x80"), (struct kv_slice){NULL, 0}), 0);
    assert_value(kv, T_WHOLE, S("\0"), S("\0\xff\0"));
    assert_value(kv, T_WHOLE, S("\0\0"), S(""));
    assert_value(kv, T_WHOLE, S("\x80"), S(""));

    _cleanup_(kv_page_done) struct kv_page page = {0};
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){0}, 100, &page), 0);
    const struct kv_slice expected[] = {S("\0"), S("\0\0"), S("\x7f"), S("\x80"), S("\xff\xff")};
    assert_int_equal(page.n_entries, N_OF(expected));
    assert_false(page.more);
    for (size_t i = 0; i < N_OF(expected); i++)
        assert_slice_equal(page.entries[i].key, expected[i]);
}

static void test_kv__multi_get_keeps_the_callers_order(void **state)
{
    struct kv *kv = KV(state);
    put_one(kv, T_PREFIXED, S("\1a"), S("A"));
    put_one(kv, T_PREFIXED, S("\1b"), S(""));
    put_one(kv, T_PREFIXED, S("\1c"), S("C"));
    const struct kv_slice keys[] = {S("\1c"), S("absent"), S("\1a"), S("\1b"), S("\1c")};
    struct kv_buf values[N_OF(keys)];
    assert_int_equal(kv_multi_get(kv, T_PREFIXED, keys, N_OF(keys), values), 4);
    assert_slice_equal(kv_buf_slice(&values[0]), S("C"));
    assert_null(values[1].data);
    assert_slice_equal(kv_buf_slice(&values[2]), S("A"));
    assert_non_null(values[3].data);
    assert_int_equal(values[3].size_bytes, 0);
    assert_slice_equal(kv_buf_slice(&values[4]), S("C"));
    for (size_t i = 0; i < N_OF(keys); i++)
        kv_buf_done(&values[i]);
    assert_int_equal(kv_multi_get(kv, T_PREFIXED, NULL, 0, NULL), 0);
}

static void test_kv__scan_gives_a_range_in_pages(void **state)
{
    struct kv *kv = KV(state);
    for (const char *key = "hbdfac"; *key; key++)
        put_one(kv, T_FIXED, (struct kv_slice){key, 1}, (struct kv_slice){key, 1});
    static const struct {
        const char *from, *to, *expected;
    } cases[] = {
        {NULL, NULL, "a=a b=b c=c d=d f=f h=h "},
        {"b", "f", "b=b c=c d=d "},
        {"b0", "f0", "c=c d=d f=f "},
        {"f", NULL, "f=f h=h "},
        {NULL, "c", "a=a b=b "},
        {"d", "d", ""},
        {"f", "b", ""},
        {"i", NULL, ""},
        {"e", "f", ""},
    };
    for (size_t i = 0; i < N_OF(cases); i++)
        for (size_t limit = 1; limit < 8; limit++) {
            struct kv_range range = {0};
            if (cases[i].from)
                range.from = str_slice(cases[i].from);
            if (cases[i].to)
                range.to = str_slice(cases[i].to);
            _cleanup_free_ char *text = dump_range(kv, T_FIXED, range, limit);
            assert_string_equal(text, cases[i].expected);
        }
}

/* What is behind a full page is not looked at. */
static void test_kv__page_has_more_only_when_there_may_be(void **state)
{
    struct kv *kv = KV(state);
    put_one(kv, T_WHOLE, S("a"), S("1"));
    put_one(kv, T_WHOLE, S("b"), S("2"));
    put_one(kv, T_WHOLE, S("c"), S("3"));
    struct kv_range a_and_b = {S("a"), S("c")};
    _cleanup_(kv_page_done) struct kv_page one = {0}, two = {0}, all = {0}, none = {0};
    assert_int_equal(kv_scan(kv, T_WHOLE, &a_and_b, 1, &one), 0);
    assert_int_equal(one.n_entries, 1);
    assert_true(one.more);
    assert_int_equal(kv_scan(kv, T_WHOLE, &a_and_b, 2, &two), 0);
    assert_int_equal(two.n_entries, 2);
    assert_true(two.more);
    assert_int_equal(kv_scan(kv, T_WHOLE, &a_and_b, 3, &all), 0);
    assert_int_equal(all.n_entries, 2);
    assert_false(all.more);
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){S("x"), S("y")}, 5, &none), 0);
    assert_int_equal(none.n_entries, 0);
    assert_false(none.more);
    struct kv_buf untouched = {0};
    assert_int_equal(kv_page_cursor(&none, &untouched), -ENODATA);
}

static void test_kv__cursor_passes_over_no_key(void **state)
{
    struct kv *kv = KV(state);
    /* The successor of "a" in key order is "a\0", not "b". */
    put_one(kv, T_WHOLE, S("a"), S(""));
    put_one(kv, T_WHOLE, S("a\0"), S(""));
    put_one(kv, T_WHOLE, S("a\0\0"), S(""));
    _cleanup_(kv_page_done) struct kv_page page = {0};
    _cleanup_(kv_buf_done) struct kv_buf from = {0};
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){0}, 1, &page), 0);
    assert_int_equal(kv_page_cursor(&page, &from), 0);
    assert_slice_equal(kv_buf_slice(&from), S("a\0"));
}

static void test_kv__large_values_end_a_page_early(void **state)
{
    struct kv *kv = KV(state);
    enum { VALUE_BYTES = 1 << 20, N = 12 };
    _cleanup_free_ char *value = calloc(1, VALUE_BYTES);
    for (int i = 0; i < N; i++) {
        value[0] = (char)i;
        char key = (char)('a' + i);
        assert_int_equal(
            put_one(kv, T_WHOLE, (struct kv_slice){&key, 1}, (struct kv_slice){value, VALUE_BYTES}),
            0);
    }
    _cleanup_(kv_page_done) struct kv_page page = {0};
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){0}, N, &page), 0);
    assert_true(page.n_entries > 0 && page.n_entries < N);
    assert_true(page.more);
    for (size_t i = 0; i < page.n_entries; i++)
        assert_int_equal(((const char *)page.entries[i].value.data)[0], i);
}

static void test_kv__multi_scan_answers_each_range(void **state)
{
    struct kv *kv = KV(state);
    for (const char *key = "abcdefgh"; *key; key++)
        put_one(kv, T_FIXED, (struct kv_slice){key, 1}, (struct kv_slice){key, 1});
    const struct kv_range ranges[] = {
        {S("e"), S("g")}, {S("a"), S("z")}, {S("x"), S("z")}, {S("b"), S("c")}, {S("e"), S("g")}};
    static const struct {
        size_t n;
        char first;
        bool more;
    } expected[N_OF(ranges)] = {
        {2, 'e', false}, {3, 'a', true}, {0, 0, false}, {1, 'b', false}, {2, 'e', false}};
    struct kv_page pages[N_OF(ranges)];
    assert_int_equal(kv_multi_scan(kv, T_FIXED, ranges, N_OF(ranges), 3, pages), 0);
    for (size_t i = 0; i < N_OF(ranges); i++) {
        assert_int_equal(pages[i].n_entries, expected[i].n);
        assert_int_equal(pages[i].more, expected[i].more);
        for (size_t j = 0; j < expected[i].n; j++)
            assert_slice_equal(pages[i].entries[j].key,
                               (struct kv_slice){(char[]){(char)(expected[i].first + j)}, 1});
        kv_page_done(&pages[i]);
    }
    assert_int_equal(kv_multi_scan(kv, T_FIXED, NULL, 0, 3, NULL), 0);
}

static void test_kv__batch_spans_tables_and_its_last_operation_wins(void **state)
{
    struct kv *kv = KV(state);
    put_one(kv, T_WHOLE, S("old"), S("x"));
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, T_WHOLE, S("a"), S("1"));
    kv_batch_put(batch, T_FIXED, S("a"), S("2"));
    kv_batch_put(batch, T_WHOLE, S("a"), S("3"));
    kv_batch_put(batch, T_WHOLE, S("b"), S("4"));
    kv_batch_delete(batch, T_WHOLE, S("b"));
    kv_batch_delete(batch, T_WHOLE, S("c"));
    kv_batch_put(batch, T_WHOLE, S("c"), S("5"));
    kv_batch_delete(batch, T_WHOLE, S("old"));
    assert_int_equal(kv_batch_count(batch), 8);
    assert_int_equal(kv_batch_bytes(batch), 7 * 1 + 3 + 5);
    for (int repeat = 0; repeat < 2; repeat++) {
        assert_int_equal(kv_apply(kv, batch), 0);
        assert_table(kv, T_WHOLE, "a=3 c=5 ");
        assert_table(kv, T_FIXED, "a=2 ");
    }
    kv_batch_clear(batch);
    assert_int_equal(kv_batch_count(batch), 0);
    assert_int_equal(kv_batch_bytes(batch), 0);
    assert_int_equal(kv_apply(kv, batch), 0);
    assert_table(kv, T_WHOLE, "a=3 c=5 ");
}

static void test_kv__limits_are_kept(void **state)
{
    struct kv *kv = KV(state);
    _cleanup_free_ char *bytes = calloc(1, KV_MAX_VALUE_BYTES + 1);
    struct kv_slice longest_key = {bytes, KV_MAX_KEY_BYTES};
    struct kv_slice longest_value = {bytes, KV_MAX_VALUE_BYTES};
    struct kv_slice long_key = {bytes, KV_MAX_KEY_BYTES + 1};
    struct kv_slice long_value = {bytes, KV_MAX_VALUE_BYTES + 1};

    assert_int_equal(put_one(kv, T_WHOLE, longest_key, longest_value), 0);
    assert_value(kv, T_WHOLE, longest_key, longest_value);
    assert_int_equal(put_one(kv, T_WHOLE, S(""), S("x")), -EINVAL);
    assert_int_equal(put_one(kv, T_WHOLE, long_key, S("x")), -EINVAL);
    assert_int_equal(put_one(kv, T_WHOLE, S("k"), long_value), -EINVAL);
    assert_int_equal(kv_cas(kv, T_WHOLE, long_key, NULL, &longest_value), -EINVAL);
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), NULL, &long_value), -EINVAL);
    assert_absent(kv, T_WHOLE, long_key);

    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    while (kv_batch_bytes(batch) <= KV_MAX_BATCH_BYTES)
        kv_batch_put(batch, T_WHOLE, S("k"), longest_value);
    assert_int_equal(kv_apply(kv, batch), -E2BIG);
    assert_absent(kv, T_WHOLE, S("k"));
}

static void test_kv__cas_changes_only_what_is_expected(void **state)
{
    struct kv *kv = KV(state);
    struct kv_slice one = S("1"), two = S("2"), empty = S("");
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), &one, &two), -ECANCELED);
    assert_absent(kv, T_WHOLE, S("k"));
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), &empty, &two), -ECANCELED);
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), NULL, &one), 0);
    assert_value(kv, T_WHOLE, S("k"), one);
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), NULL, &two), -ECANCELED);
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), &two, &one), -ECANCELED);
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), &one, &empty), 0);
    assert_value(kv, T_WHOLE, S("k"), empty);
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), NULL, &two), -ECANCELED);
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), &empty, NULL), 0);
    assert_absent(kv, T_WHOLE, S("k"));
    assert_int_equal(kv_cas(kv, T_WHOLE, S("k"), NULL, NULL), 0);
}

static void test_kv__bulk_load_overrides_and_deletes(void **state)
{
    struct kv *kv = KV(state);
    for (const char *key = "abcdef"; *key; key++)
        put_one(kv, T_FIXED, (struct kv_slice){key, 1}, S("old"));
    static const char *const first[][2] = {{"b", "new"}, {"c", NULL}, {"cc", "new"}, {"f", ""}};
    static const char *const second[][2] = {{"b", NULL}, {"c", "newer"}, {"x", NULL}};
    static const char *const past[][2] = {{"x1", "1"}, {"x2", "2"}};
    assert_int_equal(load_array(kv, T_FIXED, first), 0);
    assert_table(kv, T_FIXED, "a=old b=new cc=new d=old e=old f= ");
    assert_int_equal(load_array(kv, T_FIXED, second), 0);
    assert_table(kv, T_FIXED, "a=old c=newer cc=new d=old e=old f= ");
    assert_int_equal(load_array(kv, T_FIXED, past), 0);
    put_one(kv, T_FIXED, S("x1"), S("put later"));
    delete_one(kv, T_FIXED, S("x2"));
    assert_table(kv, T_FIXED, "a=old c=newer cc=new d=old e=old f= x1=put later ");
    assert_table(kv, T_WHOLE, "");
}

static void test_kv__bulk_load_refuses_disorder_and_passes_errors_on(void **state)
{
    struct kv *kv = KV(state);
    static const char *const twice[][2] = {{"a", "1"}, {"a", "2"}};
    static const char *const down[][2] = {{"b", "1"}, {"a", "2"}};
    static const char *const unnamed[][2] = {{"", "1"}};
    static const char *const good[][2] = {{"a", "1"}, {"b", "2"}};
    assert_int_equal(load_array(kv, T_FIXED, twice), -EINVAL);
    assert_int_equal(load_array(kv, T_FIXED, down), -EINVAL);
    assert_int_equal(load_array(kv, T_FIXED, unnamed), -EINVAL);
    struct array_run failing = {good, N_OF(good), 0, -ENXIO};
    assert_int_equal(kv_bulk_load(kv, T_FIXED, array_run_next, &failing), -ENXIO);
    struct array_run empty = {good, 0, 0, 0};
    assert_int_equal(kv_bulk_load(kv, T_FIXED, array_run_next, &empty), 0);
    assert_int_equal(load_array(kv, T_FIXED, good), 0);
    assert_table(kv, T_FIXED, "a=1 b=2 ");
}

static void test_kv__prefix_range_holds_exactly_the_prefixed(void **state)
{
    struct kv *kv = KV(state);
    const struct kv_slice keys[] = {S("a"),
                                    S("a\0"),
                                    S("a\xff"),
                                    S("a\xff\xff"),
                                    S("b"),
                                    S("\xfe"),
                                    S("\xff"),
                                    S("\xff\0"),
                                    S("\xff\xff"),
                                    S("ab"),
                                    S("\xff"
                                      "a"),
                                    S("\xff\xff\x01")};
    const struct kv_slice prefixes[] = {
        S(""),     S("a"),        S("a\xff"), S("a\xff\xff"), S("a\xff\xff\xff"),
        S("\xff"), S("\xff\xff"), S("c")};
    for (size_t i = 0; i < N_OF(keys); i++)
        put_one(kv, T_WHOLE, keys[i], S("v"));
    for (size_t p = 0; p < N_OF(prefixes); p++) {
        struct kv_range range;
        _cleanup_(kv_buf_done) struct kv_buf to = {0};
        _cleanup_(kv_page_done) struct kv_page page = {0};
        assert_int_equal(kv_prefix_range(prefixes[p], &range, &to), 0);
        assert_int_equal(kv_scan(kv, T_WHOLE, &range, 100, &page), 0);
        size_t n_expected = 0;
        for (size_t i = 0; i < N_OF(keys); i++)
            n_expected += keys[i].size_bytes >= prefixes[p].size_bytes &&
                          memcmp(keys[i].data, prefixes[p].data, prefixes[p].size_bytes) == 0;
        assert_int_equal(page.n_entries, n_expected);
        for (size_t i = 0; i < page.n_entries; i++)
            assert_memory_equal(page.entries[i].key.data, prefixes[p].data, prefixes[p].size_bytes);
    }
}

static void test_kv__a_snapshot_stays_as_it_was(void **state)
{
    struct kv *kv = KV(state), *snapshot = NULL, *second = NULL;
    struct kv_buf values[2];
    put_one(kv, T_WHOLE, S("a"), S("1"));
    put_one(kv, T_FIXED, S("pp1"), S(""));
    put_one(kv, T_FIXED, S("pp2"), S(""));
    assert_int_equal(kv_snapshot(kv, &snapshot), 0);
    put_one(kv, T_WHOLE, S("a"), S("2"));
    put_one(kv, T_WHOLE, S("b"), S("new"));
    delete_one(kv, T_FIXED, S("pp1"));
    assert_int_equal(kv_snapshot(kv, &second), 0);
    delete_one(kv, T_WHOLE, S("a"));

    assert_value(snapshot, T_WHOLE, S("a"), S("1"));
    assert_absent(snapshot, T_WHOLE, S("b"));
    assert_table(snapshot, T_WHOLE, "a=1 ");
    assert_table(snapshot, T_FIXED, "pp1= pp2= ");
    assert_table(second, T_WHOLE, "a=2 b=new ");
    assert_table(kv, T_WHOLE, "b=new ");
    const struct kv_slice keys[] = {S("a"), S("b")};
    assert_int_equal(kv_multi_get(snapshot, T_WHOLE, keys, 2, values), 1);
    assert_slice_equal(kv_buf_slice(&values[0]), S("1"));
    assert_null(values[1].data);
    kv_buf_done(&values[0]);
    /* One partition, which is read in another way. */
    _cleanup_(kv_page_done) struct kv_page page = {0};
    const struct kv_range range = {S("pp"), S("pq")};
    assert_int_equal(kv_scan(snapshot, T_FIXED, &range, 10, &page), 0);
    assert_int_equal(page.n_entries, 2);

    assert_int_equal(put_one(snapshot, T_WHOLE, S("c"), S("")), -EROFS);
    kv_close(snapshot);
    assert_table(second, T_WHOLE, "a=2 b=new ");
    kv_close(second);
}

static int compare_slices(struct kv_slice a, struct kv_slice b)
{
    size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int r = memcmp(a.data, b.data, n);
    return r ? r : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

/* Against what all of the table has: partitions of names that are prefixes of others, end in 0xff
 * or are all of it, ranges that begin and end within, with and beyond them. */
static void test_kv__ranges_of_prefixed_partitions_have_what_the_table_has(void **state)
{
    struct kv *kv = KV(state);
    static const char *const names[] = {"\1a",  "\1b",     "\1\xff",     "\2aa",
                                        "\2ab", "\2a\xff", "\2\xff\xff", "\3aaa"};
    enum { N_NAMES = sizeof(names) / sizeof(names[0]), N_KEYS = N_NAMES * 4 };
    uint8_t keys[N_KEYS][8];
    struct kv_slice slices[N_KEYS];
    for (unsigned i = 0; i < N_KEYS; i++) { /* the partition itself, and three of it */
        size_t n = strlen(names[i / 4]);
        memcpy(keys[i], names[i / 4], n);
        keys[i][n] = (uint8_t)(i % 4 == 3 ? 0xff : i % 4);
        slices[i] = (struct kv_slice){keys[i], n + (i % 4 > 0)};
        put_one(kv, T_PREFIXED, slices[i], S("v"));
    }
    for (unsigned i = 0; i < N_KEYS; i++) {
        for (unsigned k = 0; k <= N_KEYS + 1; k++) {
            _cleanup_(kv_buf_done) struct kv_buf to = {0};
            _cleanup_(kv_page_done) struct kv_page page = {0};
            struct kv_range range, within;
            unsigned n = 0;
            assert_int_equal(kv_prefix_range(slices[i / 4 * 4], &range, &to), 0);
            within = (struct kv_range){slices[i], k < N_KEYS ? slices[k] : range.to};
            if (k > N_KEYS)
                within.from = range.from;
            assert_int_equal(kv_scan(kv, T_PREFIXED, &within, 2 * N_KEYS, &page), 0);
            for (unsigned m = 0; m < N_KEYS; m++)
                n += compare_slices(slices[m], within.from) >= 0 &&
                     (!within.to.data || compare_slices(slices[m], within.to) < 0);
            assert_int_equal(page.n_entries, n);
        }
    }
}

static void test_kv__usage_checkpoint_and_resume_answer(void **state)
{
    struct kv *kv = KV(state);
    put_one(kv, T_WHOLE, S("k"), S("v"));
    uint64_t size_bytes = 0;
    assert_int_equal(kv_usage(kv, &size_bytes), 0);
    assert_true(size_bytes > 0);
    assert_int_equal(kv_checkpoint(kv), 0);
    assert_int_equal(kv_resume(kv), 0);
    assert_value(kv, T_WHOLE, S("k"), S("v"));
    kv_close(NULL);
    kv_batch_free(NULL);
}

/* -- threads -- */

struct race {
    struct kv *kv;
    atomic_bool stop;
    atomic_int failures;
};

enum { RACE_ROUNDS = 300, RACE_KEYS = 20 };

/* Every key of the partition "pp" always has the same value: its writer applies one batch a round.
 */
static void *race_reader(void *user)
{
    struct race *race = user;
    const struct kv_range range = {S("pp"), S("pq")};
    uint64_t last = 0;
    while (!race->stop) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        if (kv_scan(race->kv, T_FIXED, &range, 2 * RACE_KEYS, &page) < 0 ||
            page.n_entries != RACE_KEYS) {
            race->failures++;
            break;
        }
        uint64_t round = get_be64(page.entries[0].value.data);
        race->failures += round < last;
        for (size_t i = 1; i < page.n_entries; i++)
            race->failures += get_be64(page.entries[i].value.data) != round;
        last = round;
    }
    return NULL;
}

static int race_write(struct kv *kv, uint64_t round)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t value[8], key[3] = {'p', 'p', 0};
    put_be64(value, round);
    for (key[2] = 0; key[2] < RACE_KEYS; key[2]++)
        kv_batch_put(batch, T_FIXED, (struct kv_slice){key, sizeof(key)},
                     (struct kv_slice){value, sizeof(value)});
    return kv_apply(kv, batch);
}

static void test_kv__a_scan_beside_a_writer_sees_whole_batches(void **state)
{
    struct race race = {.kv = KV(state)};
    pthread_t readers[2];
    assert_int_equal(race_write(race.kv, 0), 0);
    for (size_t i = 0; i < N_OF(readers); i++)
        assert_int_equal(pthread_create(&readers[i], NULL, race_reader, &race), 0);
    for (uint64_t round = 1; round <= RACE_ROUNDS; round++)
        race.failures += race_write(race.kv, round) < 0;
    race.stop = true;
    for (size_t i = 0; i < N_OF(readers); i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(race.failures, 0);
}

static void *race_counter(void *user)
{
    struct race *race = user;
    for (int i = 0; i < RACE_ROUNDS;) {
        _cleanup_(kv_buf_done) struct kv_buf present = {0};
        if (kv_get(race->kv, T_WHOLE, S("counter"), &present) < 0 || present.size_bytes != 8) {
            race->failures++;
            break;
        }
        uint8_t bytes[8];
        put_be64(bytes, get_be64(present.data) + 1);
        struct kv_slice expected = kv_buf_slice(&present), desired = {bytes, sizeof(bytes)};
        int r = kv_cas(race->kv, T_WHOLE, S("counter"), &expected, &desired);
        if (r < 0 && r != -ECANCELED)
            race->failures++;
        i += r != -ECANCELED;
    }
    return NULL;
}

static void test_kv__cas_of_many_threads_loses_no_step(void **state)
{
    struct race race = {.kv = KV(state)};
    pthread_t threads[3];
    uint8_t bytes[8] = {0};
    put_one(race.kv, T_WHOLE, S("counter"), (struct kv_slice){bytes, sizeof(bytes)});
    for (size_t i = 0; i < N_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, race_counter, &race), 0);
    for (size_t i = 0; i < N_OF(threads); i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(race.failures, 0);
    put_be64(bytes, N_OF(threads) * RACE_ROUNDS);
    assert_value(race.kv, T_WHOLE, S("counter"), (struct kv_slice){bytes, sizeof(bytes)});
}

static int set_up(void **state)
{
    struct kv_fixture *fixture = malloc(sizeof(*fixture));
    assert_non_null(fixture);
    kv_fixture_open(fixture, (enum kv_fixture_backend)(uintptr_t)*state);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    kv_fixture_close(*state);
    free(*state);
    return 0;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    static const struct CMUnitTest cases[] = {
        CASE(test_kv__get_finds_what_was_put_and_nothing_else),
        CASE(test_kv__keys_and_values_are_binary),
        CASE(test_kv__multi_get_keeps_the_callers_order),
        CASE(test_kv__scan_gives_a_range_in_pages),
        CASE(test_kv__page_has_more_only_when_there_may_be),
        CASE(test_kv__cursor_passes_over_no_key),
        CASE(test_kv__large_values_end_a_page_early),
        CASE(test_kv__multi_scan_answers_each_range),
        CASE(test_kv__batch_spans_tables_and_its_last_operation_wins),
        CASE(test_kv__limits_are_kept),
        CASE(test_kv__cas_changes_only_what_is_expected),
        CASE(test_kv__bulk_load_overrides_and_deletes),
        CASE(test_kv__bulk_load_refuses_disorder_and_passes_errors_on),
        CASE(test_kv__prefix_range_holds_exactly_the_prefixed),
        CASE(test_kv__a_snapshot_stays_as_it_was),
        CASE(test_kv__ranges_of_prefixed_partitions_have_what_the_table_has),
        CASE(test_kv__usage_checkpoint_and_resume_answer),
        CASE(test_kv__a_scan_beside_a_writer_sees_whole_batches),
        CASE(test_kv__cas_of_many_threads_loses_no_step),
    };
    int failures = 0;
    for (uintptr_t backend = 0; backend < FIXTURE_N_BACKENDS; backend++) {
        struct CMUnitTest tests[N_OF(cases)];
        memcpy(tests, cases, sizeof(cases));
        for (size_t i = 0; i < N_OF(tests); i++)
            tests[i].initial_state = (void *)backend;
        failures += cmocka_run_group_tests_name(kv_fixture_names[backend], tests, NULL, NULL);
    }
    return failures;
}
