#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/files/file_key.h"

enum { N_BUCKETS = 1024 };

static struct file_key key_of(uint32_t inode)
{
    struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES + 8};
    put_be32(key.bytes + FILE_KEY_MIN_BYTES, inode);
    return key;
}

/* Fowler, Noll and Vo's, which stands for any that is known beforehand. */
static uint64_t known_hash(const struct file_key *key)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ key->size_bytes;
    for (size_t i = 0; i < key->size_bytes; i++)
        h = (h ^ key->bytes[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return h * 0x9e3779b97f4a7c15u;
}

/* A key in N_BUCKETS is in one bucket; of 512 chosen ones 32 in one are there once in 10^36. */
static void test_file_key__files_made_to_be_alike_are_not(void **state)
{
    enum { MANY = 512, LONG = 32 };
    unsigned lengths[N_BUCKETS] = {0}, longest = 0;
    (void)state;
    for (uint32_t inode = 0, n = 0; n < MANY; inode++) {
        const struct file_key key = key_of(inode);
        if (known_hash(&key) % N_BUCKETS)
            continue;
        n++;
        unsigned length = ++lengths[file_key_hash(&key) % N_BUCKETS];
        longest = length > longest ? length : longest;
    }
    assert_true(longest < LONG);
}

/* Whatever the secret is: neighbours are spread, and what differs anywhere differs. */
static void test_file_key__hashes_depend_on_each_byte_and_the_size(void **state)
{
    struct file_key key = {.size_bytes = FILE_KEY_MAX_BYTES};
    (void)state;
    const uint64_t hash = file_key_hash(&key);
    for (size_t i = 0; i < FILE_KEY_MAX_BYTES; i++) {
        key.bytes[i] ^= 1;
        assert_true(file_key_hash(&key) != hash);
        key.bytes[i] ^= 1;
    }
    key.size_bytes--;
    assert_true(file_key_hash(&key) != hash);
    key.bytes[key.size_bytes] = 1; /* behind its end */
    const uint64_t shorter = file_key_hash(&key);
    key.bytes[key.size_bytes] = 2;
    assert_true(file_key_hash(&key) == shorter);
}

static void test_file_key__shorter_ones_come_first(void **state)
{
    (void)state;
    const struct file_key one = {.size_bytes = 12, .bytes = {9, 1}},
                          two = {.size_bytes = 12, .bytes = {9, 2}},
                          longer = {.size_bytes = 16, .bytes = {1}};
    assert_true(file_key_compare(&one, &two) < 0);
    assert_true(file_key_compare(&two, &one) > 0);
    assert_true(file_key_compare(&two, &longer) < 0);
    assert_true(file_key_compare(&longer, &one) > 0);
    assert_int_equal(file_key_compare(&one, &one), 0);
}

static void test_file_key__handles_come_back(void **state)
{
    uint8_t handle[FILE_KEY_MAX_BYTES - FILE_KEY_MIN_BYTES], back[sizeof(handle)];
    struct file_key key;
    (void)state;
    for (size_t n = 0; n <= sizeof(handle); n++) {
        for (size_t i = 0; i < n; i++)
            handle[i] = (uint8_t)(i * 7 + n);
        file_key_of_handle(5, 1, handle, n, &key);
        file_key_handle(&key, back);
        assert_int_equal(key.size_bytes, FILE_KEY_MIN_BYTES + n);
        assert_memory_equal(back, handle, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_key__files_made_to_be_alike_are_not),
        cmocka_unit_test(test_file_key__hashes_depend_on_each_byte_and_the_size),
        cmocka_unit_test(test_file_key__shorter_ones_come_first),
        cmocka_unit_test(test_file_key__handles_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
