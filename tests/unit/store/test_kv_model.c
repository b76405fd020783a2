/* Thousands of random operations on every back end, each answer compared with that of a model too
 * simple to be wrong: one entry for every possible key, in key order.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/stores/kv_fixture.h"

/* Keys are the strings of 1 to 4 letters, of the bytes most likely to be taken for something else.
 * N_KEYS = 4 + 16 + 64 + 256. */
static const uint8_t letters[] = {0x00, 'a', 0x80, 0xff};
enum { N_LETTERS = 4, MAX_LETTERS = 4, N_KEYS = 340, MAX_VALUE = 6, N_STEPS = 3000 };

struct entry {
    uint8_t key[MAX_LETTERS];
    size_t key_bytes;
    bool present;
    uint8_t value[MAX_VALUE];
    size_t value_bytes;
};

struct model {
    struct entry tables[N_TABLES][N_KEYS];
    uint64_t random;
};

static uint32_t below(struct model *model, uint32_t n)
{
    model->random = model->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((model->random >> 33) % n);
}

/* All keys in order: a key comes before those it begins. */
static size_t enumerate(struct entry *entries, size_t n, const uint8_t *prefix, size_t prefix_bytes)
{
    for (size_t i = 0; i < N_LETTERS; i++) {
        struct entry *entry = &entries[n++];
        memcpy(entry->key, prefix, prefix_bytes);
        entry->key[prefix_bytes] = letters[i];
        entry->key_bytes = prefix_bytes + 1;
        if (entry->key_bytes < MAX_LETTERS)
            n = enumerate(entries, n, entry->key, entry->key_bytes);
    }
    return n;
}

static struct kv_slice key_of(const struct entry *entry)
{
    return (struct kv_slice){entry->key, entry->key_bytes};
}

static struct kv_slice value_of(const struct entry *entry)
{
    return (struct kv_slice){entry->value, entry->value_bytes};
}

static void change(struct model *model, struct entry *entry)
{
    entry->present = below(model, 3) > 0;
    entry->value_bytes = below(model, MAX_VALUE + 1);
    for (size_t i = 0; i < entry->value_bytes; i++)
        entry->value[i] = (uint8_t)below(model, 256);
}

static void step_apply(struct model *model, struct kv *kv)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    for (uint32_t n = 1 + below(model, 10); n > 0; n--) {
        unsigned table = below(model, N_TABLES);
        struct entry *entry = &model->tables[table][below(model, N_KEYS)];
        change(model, entry);
        if (entry->present)
            kv_batch_put(batch, table, key_of(entry), value_of(entry));
        else
            kv_batch_delete(batch, table, key_of(entry));
    }
    assert_int_equal(kv_apply(kv, batch), 0);
}

static void step_cas(struct model *model, struct kv *kv)
{
    unsigned table = below(model, N_TABLES);
    struct entry *entry = &model->tables[table][below(model, N_KEYS)];
    struct entry other = *entry;
    change(model, &other);
    struct kv_slice expected = value_of(entry), desired = value_of(&other);
    if (below(model, 3) == 0) { /* expect something else */
        bool expect_absent = entry->present && below(model, 2) == 0;
        struct kv_slice wrong = S("longer than any value");
        assert_int_equal(kv_cas(kv, table, key_of(entry), expect_absent ? NULL : &wrong, &desired),
                         -ECANCELED);
        return;
    }
    assert_int_equal(kv_cas(kv, table, key_of(entry), entry->present ? &expected : NULL,
                            other.present ? &desired : NULL),
                     0);
    *entry = other;
}

struct model_run {
    struct model *model;
    struct entry *table;
    size_t next;
    uint32_t one_in;
};

static int model_run_next(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct model_run *run = user;
    while (run->next < N_KEYS) {
        struct entry *entry = &run->table[run->next++];
        if (below(run->model, run->one_in) > 0)
            continue;
        change(run->model, entry);
        *ret_entry = (struct kv_entry){key_of(entry), value_of(entry)};
        *ret_delete = !entry->present;
        return 1;
    }
    return 0;
}

static void step_bulk_load(struct model *model, struct kv *kv)
{
    unsigned table = below(model, N_TABLES);
    struct model_run run = {model, model->tables[table], 0, 1 + below(model, 60)};
    assert_int_equal(kv_bulk_load(kv, table, model_run_next, &run), 0);
}

static void step_multi_get(struct model *model, struct kv *kv)
{
    enum { N = 12 };
    unsigned table = below(model, N_TABLES);
    const struct entry *entries[N];
    struct kv_slice keys[N];
    struct kv_buf values[N];
    int n_present = 0;
    for (size_t i = 0; i < N; i++) {
        entries[i] = &model->tables[table][below(model, N_KEYS)];
        keys[i] = key_of(entries[i]);
        n_present += entries[i]->present;
    }
    assert_int_equal(kv_multi_get(kv, table, keys, N, values), n_present);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(values[i].data != NULL, entries[i]->present);
        if (entries[i]->present)
            assert_slice_equal(kv_buf_slice(&values[i]), value_of(entries[i]));
        kv_buf_done(&values[i]);
    }
}

static void step_get(struct model *model, struct kv *kv)
{
    unsigned table = below(model, N_TABLES);
    const struct entry *entry = &model->tables[table][below(model, N_KEYS)];
    if (entry->present)
        assert_value(kv, table, key_of(entry), value_of(entry));
    else
        assert_absent(kv, table, key_of(entry));
}

/* Compare a page with the model from an index on; the index the next page starts at. */
static size_t check_page(const struct entry *table, size_t at, size_t end, size_t limit,
                         const struct kv_page *page)
{
    assert_true(page->n_entries <= limit);
    for (size_t i = 0; i < page->n_entries; i++) {
        while (at < end && !table[at].present)
            at++;
        assert_true(at < end);
        assert_slice_equal(page->entries[i].key, key_of(&table[at]));
        assert_slice_equal(page->entries[i].value, value_of(&table[at]));
        at++;
    }
    if (!page->more)
        for (; at < end; at++)
            assert_false(table[at].present);
    return at;
}

static void step_scan(struct model *model, struct kv *kv)
{
    unsigned table = below(model, N_TABLES);
    const struct entry *entries = model->tables[table];
    size_t at = below(model, N_KEYS), end = below(model, N_KEYS + 1), limit = 1 + below(model, 40);
    struct kv_range range = {.from = key_of(&entries[at])};
    if (end < N_KEYS)
        range.to = key_of(&entries[end]);
    _cleanup_(kv_buf_done) struct kv_buf from = {0};
    for (bool more = true; more;) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        assert_int_equal(kv_scan(kv, table, &range, limit, &page), 0);
        at = check_page(entries, at, end, limit, &page);
        more = page.more;
        if (more) {
            kv_buf_done(&from);
            assert_int_equal(kv_page_cursor(&page, &from), 0);
            range.from = kv_buf_slice(&from);
        }
    }
}

static void step_multi_scan(struct model *model, struct kv *kv)
{
    enum { N = 5 };
    unsigned table = below(model, N_TABLES);
    const struct entry *entries = model->tables[table];
    size_t at[N], end[N], limit = 1 + below(model, 10);
    struct kv_range ranges[N];
    struct kv_page pages[N];
    for (size_t i = 0; i < N; i++) {
        at[i] = below(model, N_KEYS);
        end[i] = below(model, N_KEYS);
        ranges[i] = (struct kv_range){key_of(&entries[at[i]]), key_of(&entries[end[i]])};
    }
    assert_int_equal(kv_multi_scan(kv, table, ranges, N, limit, pages), 0);
    for (size_t i = 0; i < N; i++) {
        check_page(entries, at[i], end[i], limit, &pages[i]);
        kv_page_done(&pages[i]);
    }
}

static void step(struct model *model, struct kv_fixture *fixture)
{
    uint32_t choice = below(model, 1000);
    if (choice < 350)
        step_apply(model, fixture->kv);
    else if (choice < 450)
        step_cas(model, fixture->kv);
    else if (choice < 470)
        step_bulk_load(model, fixture->kv);
    else if (choice < 600)
        step_get(model, fixture->kv);
    else if (choice < 700)
        step_multi_get(model, fixture->kv);
    else if (choice < 850)
        step_scan(model, fixture->kv);
    else if (choice < 996)
        step_multi_scan(model, fixture->kv);
    else
        kv_fixture_reopen(fixture);
}

static void check_everything(struct model *model, struct kv *kv)
{
    for (unsigned table = 0; table < N_TABLES; table++) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        assert_int_equal(kv_scan(kv, table, &(struct kv_range){0}, N_KEYS + 1, &page), 0);
        assert_false(page.more);
        check_page(model->tables[table], 0, N_KEYS, N_KEYS + 1, &page);
    }
}

static void run_model(enum kv_fixture_backend backend, const struct kv_fault_plan *plan)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct kv_fixture fixture;
        kv_fixture_open(&fixture, backend);
        _cleanup_free_ struct model *model = calloc(1, sizeof(*model));
        assert_non_null(model);
        model->random = seed;
        for (unsigned table = 0; table < N_TABLES; table++)
            assert_int_equal(enumerate(model->tables[table], 0, (const uint8_t *)"", 0), N_KEYS);
        if (plan) {
            kv_close(fixture.kv);
            assert_int_equal(kv_fault_open(fixture.inner, plan, &fixture.kv), 0);
        }
        for (int i = 0; i < N_STEPS; i++)
            step(model, &fixture);
        check_everything(model, fixture.inner ? fixture.inner : fixture.kv);
        kv_fixture_close(&fixture);
    }
}

static void test_kv_model__memory_agrees_with_the_model(void **state)
{
    (void)state;
    run_model(FIXTURE_MEMORY, NULL);
}

static void test_kv_model__rocksdb_agrees_with_the_model_also_reopened(void **state)
{
    (void)state;
    run_model(FIXTURE_ROCKSDB, NULL);
}

static void test_kv_model__splits_and_short_pages_change_no_answer(void **state)
{
    (void)state;
    const struct kv_fault_plan plan = {.seed = 5, .split_batches = true, .short_pages = true};
    run_model(FIXTURE_FAULT, &plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kv_model__memory_agrees_with_the_model),
        cmocka_unit_test(test_kv_model__rocksdb_agrees_with_the_model_also_reopened),
        cmocka_unit_test(test_kv_model__splits_and_short_pages_change_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
