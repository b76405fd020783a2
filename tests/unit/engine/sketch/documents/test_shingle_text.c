/* What a fingerprint stands for (C12): beside the windows of the document, hashed one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/sketch/documents/shingle_text.h"

static const char rose[] = "A Rose, is a rose. IS a Rose (is) no <rose>.";
static const char *const words[] = {"a", "rose", "is", "a",  "rose", "is",
                                    "a", "rose", "is", "no", "rose"};
enum { N_WORDS = 11 };

static int document(const void *bytes, size_t size_bytes)
{
    int fd = memfd_create("document", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size_bytes), size_bytes);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static uint64_t token_of(const struct shingle_hash *hash, const char *word)
{
    uint8_t bytes[CANON_TOKEN_MAX_BYTES + TOKEN_BLOCK_SLACK_BYTES] = {0};
    uint32_t end = (uint32_t)strlen(word);
    uint64_t token;
    memcpy(bytes, word, end);
    shingle_hash_tokens(hash, &(struct token_block){bytes, &end, 1}, &token);
    return token;
}

static void expect(unsigned w, const char *text, size_t n_text, const char *const *of, unsigned n)
{
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    struct policy policy;
    uint64_t tokens[64];
    assert_int_equal(policy_preset("default", &policy), 0);
    policy.w = w;
    assert_int_equal(shingle_hash_new(&policy, &hash), 0);
    for (unsigned i = 0; i < n; i++)
        tokens[i] = token_of(hash, of[i]);
    for (unsigned at = 0; at + w <= n || at == 0; at++) {
        char wanted[512] = "", *found = NULL;
        unsigned n_tokens = n < w ? n : w;
        for (unsigned i = 0; i < n_tokens; i++)
            sprintf(wanted + strlen(wanted), "%s%s", i ? " " : "", of[at + i]);
        int fd = document(text, n_text);
        assert_int_equal(shingle_text(fd, &policy, hash,
                                      shingle_hash_window(hash, tokens + at, n_tokens), &found),
                         0);
        assert_string_equal(found, wanted);
        free(found);
        close(fd);
    }
}

/* Fewer words than the limit has bytes, or so many, before one that is wanted; packed by gzip. */
static int packed_document(size_t n_before)
{
    _cleanup_free_ char *text = malloc(n_before + 8);
    size_t size_bytes = compressBound(n_before + 8) + 64;
    _cleanup_free_ uint8_t *packed = malloc(size_bytes);
    z_stream stream = {0};
    assert_true(text && packed);
    for (size_t i = 0; i < n_before; i++)
        text[i] = i % 2 ? ' ' : 'a';
    memcpy(text + n_before, " needle", 7);
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (uint8_t *)text;
    stream.avail_in = (unsigned)(n_before + 7);
    stream.next_out = packed;
    stream.avail_out = (unsigned)size_bytes;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_bytes = stream.total_out;
    deflateEnd(&stream);
    return document(packed, size_bytes);
}

static void test_shingle_text__of_what_is_packed_so_much_is_unpacked_as_is_read(void **state)
{
    static const size_t n_before[] = {SHINGLE_TEXT_READ_MAX_BYTES / 2,
                                      2 * (size_t)SHINGLE_TEXT_READ_MAX_BYTES};
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    struct policy policy;
    (void)state;
    assert_int_equal(policy_preset("default", &policy), 0);
    policy.w = 1;
    assert_int_equal(shingle_hash_new(&policy, &hash), 0);
    const uint64_t token = token_of(hash, "needle");
    for (size_t i = 0; i < 2; i++) {
        char *found = NULL;
        int fd = packed_document(n_before[i]);
        int r = shingle_text(fd, &policy, hash, shingle_hash_window(hash, &token, 1), &found);
        assert_int_equal(r, i ? -ENOENT : 0);
        free(found);
        close(fd);
    }
}

static void test_shingle_text__is_that_of_each_window(void **state)
{
    static const unsigned ws[] = {1, 2, 3, 5, 10, 11, 12, 64};
    (void)state;
    for (size_t i = 0; i < sizeof(ws) / sizeof(*ws); i++)
        expect(ws[i], rose, sizeof(rose) - 1, words, N_WORDS);
}

/* The window goes over the edges of blocks of tokens and of reads, with the longest tokens. */
static void test_shingle_text__goes_over_edges(void **state)
{
    enum { N = 3000, LENGTH = 200 };
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    char *text = malloc(N * (LENGTH + 1)), *found = NULL;
    struct policy policy;
    uint64_t tokens[5];
    (void)state;
    for (unsigned i = 0; i < N; i++) {
        memset(text + i * (LENGTH + 1), 'x', LENGTH);
        text[i * (LENGTH + 1) + (unsigned)sprintf(text + i * (LENGTH + 1), "w%u", i)] = 'y';
        text[i * (LENGTH + 1) + LENGTH] = ' ';
    }
    assert_int_equal(policy_preset("default", &policy), 0);
    assert_int_equal(shingle_hash_new(&policy, &hash), 0);
    for (unsigned at = 0; at + 5 <= N; at += 97) {
        char word[LENGTH + 1] = "";
        for (unsigned i = 0; i < 5; i++) {
            memcpy(word, text + (at + i) * (LENGTH + 1), LENGTH);
            tokens[i] = token_of(hash, word);
        }
        int fd = document(text, N * (LENGTH + 1));
        assert_int_equal(
            shingle_text(fd, &policy, hash, shingle_hash_window(hash, tokens, 5), &found), 0);
        assert_int_equal(strlen(found), 5 * (LENGTH + 1) - 1);
        assert_memory_equal(found, text + at * (LENGTH + 1), 5 * (LENGTH + 1) - 1);
        free(found);
        close(fd);
    }
    free(text);
}

static void test_shingle_text__is_not_found_where_there_is_none(void **state)
{
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    struct policy policy;
    char *found = NULL, binary[5000];
    (void)state;
    for (size_t i = 0; i < sizeof(binary); i++)
        binary[i] = (char)(i * i / 7);
    assert_int_equal(policy_preset("default", &policy), 0);
    assert_int_equal(shingle_hash_new(&policy, &hash), 0);
    int fd = document(rose, sizeof(rose) - 1), other = document(binary, sizeof(binary)),
        none = document("", 0);
    assert_int_equal(shingle_text(fd, &policy, hash, 1, &found), -ENOENT);
    assert_int_equal(shingle_text(other, &policy, hash, 1, &found), -ENOENT);
    assert_int_equal(shingle_text(none, &policy, hash, 1, &found), -ENOENT);
    close(fd);
    close(other);
    close(none);
    assert_int_equal(shingle_text(none, &policy, hash, 1, &found), -EBADF);
}

/* Five words behind so many bytes of another. */
static int look_behind(size_t n_bytes)
{
    static const char *const five[] = {"one", "two", "three", "four", "five"};
    static const char wanted[] = " one two three four five";
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    struct policy policy;
    uint64_t tokens[5];
    char *found = NULL, *text = malloc(n_bytes + sizeof(wanted));
    assert_int_equal(policy_preset("default", &policy), 0);
    assert_int_equal(shingle_hash_new(&policy, &hash), 0);
    for (int i = 0; i < 5; i++)
        tokens[i] = token_of(hash, five[i]);
    for (size_t i = 0; i < n_bytes; i++)
        text[i] = i % 8 == 7 ? '\n' : 'x';
    memcpy(text + n_bytes, wanted, sizeof(wanted));
    int fd = document(text, n_bytes + sizeof(wanted) - 1);
    int r = shingle_text(fd, &policy, hash, shingle_hash_window(hash, tokens, 5), &found);
    if (r == 0)
        assert_string_equal(found, wanted + 1);
    free(found);
    free(text);
    close(fd);
    return r;
}

static void test_shingle_text__of_large_documents_the_rest_is_not_read(void **state)
{
    (void)state;
    assert_int_equal(look_behind(SHINGLE_TEXT_READ_MAX_BYTES - 4096), 0);
    assert_int_equal(look_behind(SHINGLE_TEXT_READ_MAX_BYTES), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shingle_text__is_that_of_each_window),
        cmocka_unit_test(test_shingle_text__of_what_is_packed_so_much_is_unpacked_as_is_read),
        cmocka_unit_test(test_shingle_text__goes_over_edges),
        cmocka_unit_test(test_shingle_text__is_not_found_where_there_is_none),
        cmocka_unit_test(test_shingle_text__of_large_documents_the_rest_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
