/* The words of a token, one token at a time through the filter that tokens of sketches go through
 * (word_filter.h): who counts windows of tokens has to know which token a word comes from, and a
 * filter says that of none in a block of many.
 *
 * Example: of the block "the utf8 foxes" token 0 has no word, token 1 the word "utf", token 2
 * "fox".
 *
 * Cost: that of the filter and one fingerprint a word. Left out: a cache from tokens to words,
 * which would save the stemmer.
 */
#include "engine/topic/bags/bag_words.h"

#include <errno.h>

#include "engine/text/words/word_filter.h"

struct bag_words {
    const struct shingle_hash *hash;
    bag_word_fn take;
    void *user;
    struct word_filter *filter; /* NULL: tokens are words as they are */
    struct canon_sink before;   /* the filter */
};

struct word_options bag_words_default(void)
{
    int stemmer = stemmer_find("porter");
    return (struct word_options){.stop_list = STOP_LIST_ENGLISH,
                                 .stemmer = stemmer > 0 ? (uint8_t)stemmer : 0,
                                 .tokens = TOKENS_LETTERS};
}

/* Behind the filter: what is left of one token. */
static void take_words(void *user, const struct token_block *block)
{
    struct bag_words *words = user;
    uint64_t fingerprints[TOKEN_BLOCK_MAX];
    shingle_hash_tokens(words->hash, block, fingerprints);
    for (size_t i = 0, at = 0; i < block->n_tokens; at = block->ends[i++])
        words->take(words->user, fingerprints[i], block->bytes + at, block->ends[i] - at);
}

int bag_words_new(const struct word_options *options, const struct shingle_hash *hash,
                  bag_word_fn take, void *user, struct bag_words **ret_words)
{
    if (options->tokens == TOKENS_WORDS_AND_TAGS)
        return -EINVAL;
    _cleanup_(bag_words_free_p) struct bag_words *words = calloc(1, sizeof(*words));
    if (!words)
        return -ENOMEM;
    *words = (struct bag_words){.hash = hash, .take = take, .user = user};
    int r = word_filter_new(options, &(struct canon_sink){.tokens = take_words, .user = words},
                            &words->filter, &words->before);
    if (r < 0)
        return r;
    *ret_words = TAKE_PTR(words);
    return 0;
}

void bag_words_free(struct bag_words *words)
{
    if (!words)
        return;
    word_filter_free(words->filter);
    free(words);
}

void bag_words_of(struct bag_words *words, const struct token_block *block, size_t i)
{
    uint32_t begin = i ? block->ends[i - 1] : 0, n = block->ends[i] - begin;
    words->before.tokens(words->before.user, &(struct token_block){block->bytes + begin, &n, 1});
}
