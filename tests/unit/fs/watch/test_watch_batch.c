#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "fs/inodes/node.h"
#include "fs/watch/watch_batch.h"

static struct file_key key_of(unsigned n)
{
    struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES + 4};
    memcpy(key.bytes + FILE_KEY_MIN_BYTES, &n, sizeof(n));
    return key;
}

static void test_watch_batch__holds_each_thing_once_with_all_that_was_seen_of_it(void **state)
{
    (void)state;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    struct file_key a = key_of(1), b = key_of(2);
    assert_int_equal(watch_batch_add(batch, &a, NULL, SEEN_ATTRIBUTES), 0);
    assert_int_equal(watch_batch_add(batch, &a, "a", SEEN_ENTRY), 0);
    assert_int_equal(watch_batch_add(batch, &b, "a", SEEN_ENTRY), 0);
    assert_int_equal(watch_batch_add(batch, &a, "", SEEN_WRITTEN), 0);
    assert_int_equal(watch_batch_add(batch, &a, "a", SEEN_WRITING), 0);
    assert_int_equal(batch->n_seen, 3);
    const struct seen *seen = TAILQ_FIRST(&batch->seen);
    assert_true(file_key_equal(&seen->key, &b));
    assert_string_equal(seen->name, "a");
    assert_int_equal(seen->what, SEEN_ENTRY);
    seen = TAILQ_NEXT(seen, order);
    assert_true(file_key_equal(&seen->key, &a));
    assert_string_equal(seen->name, "");
    assert_int_equal(seen->what, SEEN_ATTRIBUTES | SEEN_WRITTEN);
    seen = TAILQ_NEXT(seen, order);
    assert_string_equal(seen->name, "a");
    assert_int_equal(seen->what, SEEN_ENTRY | SEEN_WRITING);
    assert_null(TAILQ_NEXT(seen, order));
}

static void test_watch_batch__what_is_removed_is_not_found_and_all_else_is(void **state)
{
    (void)state;
    enum { N = 1000 };
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    for (unsigned i = 0; i < N; i++) {
        struct file_key key = key_of(i / 2);
        assert_int_equal(watch_batch_add(batch, &key, i % 2 ? "a" : "", SEEN_WRITING), 0);
    }
    for (unsigned i = 0; i < N / 2; i++) {
        struct file_key key = key_of(i);
        watch_batch_remove(batch, watch_batch_find(batch, &key, i % 3 ? "" : "a"));
    }
    assert_int_equal(batch->n_seen, N / 2);
    for (unsigned i = 0; i < N / 2; i++) {
        struct file_key key = key_of(i);
        assert_null(watch_batch_find(batch, &key, i % 3 ? "" : "a"));
        assert_non_null(watch_batch_find(batch, &key, i % 3 ? "a" : ""));
    }
    struct file_key none = key_of(N);
    watch_batch_remove(batch, watch_batch_find(batch, &none, ""));
    assert_int_equal(batch->n_seen, N / 2);
}

/* Renamed from a to b to c: the last one is met first when read from the end, so that the inode is
 * found where it is before it is missed where it was. */
static void test_watch_batch__keeps_the_order_in_which_things_were_seen_last(void **state)
{
    (void)state;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    struct file_key directory = key_of(1);
    const char *const seen_names[] = {"a", "b", "b", "c"}, *const expected[] = {"c", "b", "a"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(watch_batch_add(batch, &directory, seen_names[i], SEEN_ENTRY), 0);
    const struct seen *seen;
    size_t n = 0;
    TAILQ_FOREACH_REVERSE(seen, &batch->seen, seen_list, order)
    assert_string_equal(seen->name, expected[n++]);
    assert_int_equal(n, 3);
}

static void test_watch_batch__says_when_it_is_full_and_still_knows_what_it_holds(void **state)
{
    (void)state;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    struct file_key directory = key_of(1);
    char name[16];
    for (unsigned i = 0; i < WATCH_BATCH_MAX; i++) {
        struct file_key key = key_of(i / 2);
        snprintf(name, sizeof(name), "%u", i % 2 ? i : 0);
        assert_int_equal(
            watch_batch_add(batch, i % 3 ? &key : &directory, i % 3 ? name : NULL, SEEN_ENTRY), 0);
    }
    while (batch->n_seen < WATCH_BATCH_MAX) {
        snprintf(name, sizeof(name), "x%zu", batch->n_seen);
        assert_int_equal(watch_batch_add(batch, &directory, name, SEEN_ENTRY), 0);
    }
    assert_int_equal(watch_batch_add(batch, &directory, "one more", SEEN_ENTRY), -EOVERFLOW);
    assert_int_equal(watch_batch_add(batch, &directory, NULL, SEEN_WRITTEN), 0);
    assert_int_equal(batch->n_seen, WATCH_BATCH_MAX);
    size_t n = 0;
    const struct seen *seen;
    TAILQ_FOREACH(seen, &batch->seen, order)
    n++;
    assert_int_equal(n, WATCH_BATCH_MAX);
    assert_int_equal(TAILQ_LAST(&batch->seen, seen_list)->what, SEEN_ENTRY | SEEN_WRITTEN);
}

/* The longest search there can be. */
static size_t longest_chain(const struct watch_batch *batch)
{
    size_t longest = 0;
    for (size_t i = 0; i < batch->n_buckets; i++) {
        size_t n = 0;
        for (const struct seen *seen = batch->buckets[i]; seen; seen = seen->next)
            n++;
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* That is so of every hash that is known beforehand; this one is Fowler, Noll and Vo's. */
static void test_watch_batch__names_chosen_to_be_alike_are_found_as_soon(void **state)
{
    enum { MANY = 1024, LONG = 32 };
    (void)state;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    struct file_key directory = key_of(1);
    char name[16];
    assert_int_equal(node_secret_draw(), 0);
    for (unsigned i = 0; batch->n_seen < MANY; i++) {
        uint64_t h = file_key_hash(&directory);
        snprintf(name, sizeof(name), "%u", i);
        for (const char *c = name; *c; c++)
            h = (h ^ (uint8_t)*c) * 0x100000001b3u;
        if (((h ^ h >> 29) & (MANY - 1)) == 0)
            assert_int_equal(watch_batch_add(batch, &directory, name, SEEN_ENTRY), 0);
    }
    assert_true(longest_chain(batch) < LONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watch_batch__what_is_removed_is_not_found_and_all_else_is),
        cmocka_unit_test(test_watch_batch__holds_each_thing_once_with_all_that_was_seen_of_it),
        cmocka_unit_test(test_watch_batch__keeps_the_order_in_which_things_were_seen_last),
        cmocka_unit_test(test_watch_batch__names_chosen_to_be_alike_are_found_as_soon),
        cmocka_unit_test(test_watch_batch__says_when_it_is_full_and_still_knows_what_it_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
