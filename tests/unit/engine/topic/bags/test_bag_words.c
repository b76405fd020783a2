/* Tokens to words: stop words, letters, stems, and their fingerprints. F5, F6. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/topic/bags/bag_words.h"

static struct shingle_hash *hash;

struct taken {
    char text[1024]; /* the stems, each with a blank behind it */
    size_t n_bytes;
};

/* The fingerprint of a token alone. */
static uint64_t fingerprint(const uint8_t *token, size_t size_bytes)
{
    uint8_t bytes[CANON_TOKEN_MAX_BYTES + TOKEN_BLOCK_SLACK_BYTES] = {0};
    uint32_t end = (uint32_t)size_bytes;
    uint64_t value;
    memcpy(bytes, token, size_bytes);
    shingle_hash_tokens(hash, &(struct token_block){bytes, &end, 1}, &value);
    return value;
}

static void take(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes)
{
    struct taken *taken = user;
    assert_true(word == fingerprint(stem, size_bytes));
    taken->n_bytes +=
        (size_t)snprintf(taken->text + taken->n_bytes, sizeof(taken->text) - taken->n_bytes,
                         "%.*s ", (int)size_bytes, (const char *)stem);
}

static void expect(const struct word_options *options, const char *const *tokens, size_t n_tokens,
                   const char *const *stems)
{
    uint8_t bytes[1024 + TOKEN_BLOCK_SLACK_BYTES] = {0};
    uint32_t ends[16], n_bytes = 0;
    struct taken taken;
    struct bag_words *words;
    for (size_t i = 0; i < n_tokens; i++) {
        memcpy(bytes + n_bytes, tokens[i], strlen(tokens[i]));
        ends[i] = n_bytes += (uint32_t)strlen(tokens[i]);
    }
    assert_int_equal(bag_words_new(options, hash, take, &taken, &words), 0);
    for (size_t i = n_tokens; i-- > 0;) { /* in any order */
        taken = (struct taken){0};
        bag_words_of(words, &(struct token_block){bytes, ends, n_tokens}, i);
        assert_string_equal(taken.text, stems[i]);
    }
    bag_words_free(words);
}

static void test_bag_words__are_stems_of_letters_without_stop_words(void **state)
{
    (void)state;
    static const char *const tokens[] = {"the",   "foxes", "utf8", "42", "fox2hens_geese",
                                         "ärger", "of"};
    static const char *const stems[] = {"", "fox ", "utf ", "", "fox hen gees ", "ärger ", ""};
    const struct word_options options = bag_words_default();
    expect(&options, tokens, 7, stems);
}

static void test_bag_words__may_be_tokens_as_they_are(void **state)
{
    (void)state;
    static const char *const tokens[] = {"the", "foxes", "x86"};
    static const char *const stems[] = {"the ", "foxes ", "x86 "};
    expect(&(struct word_options){0}, tokens, 3, stems);
}

static void test_bag_words__refuse_tags_and_what_is_unknown(void **state)
{
    (void)state;
    struct bag_words *words;
    struct taken taken;
    const struct word_options tags = {.tokens = TOKENS_WORDS_AND_TAGS},
                              none = {.stop_list = N_STOP_LISTS};
    assert_int_equal(bag_words_new(&tags, hash, take, &taken, &words), -EINVAL);
    assert_int_equal(bag_words_new(&none, hash, take, &taken, &words), -EINVAL);
}

static int set_up(void **state)
{
    (void)state;
    struct policy policy;
    assert_int_equal(policy_preset("default", &policy), 0);
    return shingle_hash_new(&policy, &hash);
}

static int tear_down(void **state)
{
    (void)state;
    shingle_hash_free(hash);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bag_words__are_stems_of_letters_without_stop_words),
        cmocka_unit_test(test_bag_words__may_be_tokens_as_they_are),
        cmocka_unit_test(test_bag_words__refuse_tags_and_what_is_unknown),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
