/* A filter of tokens between the canonical form and a sink. A block is gone through token by token;
 * the tokens that remain are copied to a block of the filter's own.
 *
 * Example with English stop words and stemmer: the block "the quick foxes" becomes "quick fox".
 * With letters alone "h2o" becomes the two tokens "h" and "o".
 *
 * Cost: a hash for a stop word, a call of the stemmer, one copy. Memory is fixed: the stemmer's
 * buffer is made to grow to its most at the start. Left out: a cache of stems.
 */
#include "engine/text/words/word_filter.h"

#include <errno.h>
#include <string.h>

#include <libstemmer.h>
#include <utf8proc.h>

#include "engine/text/words/stop_words.h"

enum {
    /* Room for a block of the words and for stems that are longer; a token that finds no room
     * begins the next block. */
    OUT_BYTES = 16 * TOKEN_BLOCK_MAX,
    /* Longer than any stem: no algorithm adds more than a few letters. */
    WARM_UP_BYTES = 4 * CANON_TOKEN_MAX_BYTES,
};

struct word_filter {
    struct canon_sink sink;
    const struct stop_words *stop_words; /* NULL: none */
    struct sb_stemmer *stemmer;          /* NULL: none */
    bool letters;                        /* and nothing else */
    size_t n_tokens, n_bytes;            /* of the block that is being made */
    uint32_t ends[TOKEN_BLOCK_MAX];
    uint8_t bytes[OUT_BYTES + TOKEN_BLOCK_SLACK_BYTES];
};

static void flush(struct word_filter *filter)
{
    if (filter->n_tokens > 0)
        filter->sink.tokens(filter->sink.user,
                            &(struct token_block){filter->bytes, filter->ends, filter->n_tokens});
    filter->n_tokens = filter->n_bytes = 0;
}

static void add(struct word_filter *filter, const uint8_t *token, size_t size_bytes)
{
    if (filter->n_bytes + size_bytes > OUT_BYTES || filter->n_tokens == TOKEN_BLOCK_MAX)
        flush(filter);
    memcpy(filter->bytes + filter->n_bytes, token, size_bytes);
    filter->n_bytes += size_bytes;
    filter->ends[filter->n_tokens++] = (uint32_t)filter->n_bytes;
}

static void add_stem(struct word_filter *filter, const uint8_t *token, size_t size_bytes)
{
    /* The stemmer returns NULL where it finds no memory; after the warming up it needs none. */
    const uint8_t *stem = sb_stemmer_stem(filter->stemmer, token, (int)size_bytes);
    size_t stem_bytes = stem ? (size_t)sb_stemmer_length(filter->stemmer) : 0;
    if (stem_bytes == 0 || stem_bytes > CANON_TOKEN_MAX_BYTES)
        add(filter, token, size_bytes);
    else
        add(filter, stem, stem_bytes);
}

static void take_token(struct word_filter *filter, const uint8_t *token, size_t size_bytes)
{
    if (filter->stop_words && stop_words_have(filter->stop_words, token, size_bytes))
        return;
    if (filter->stemmer && token[0] != '<') /* no tag */
        add_stem(filter, token, size_bytes);
    else
        add(filter, token, size_bytes);
}

/* The bytes of a letter at the front, or of a mark behind a letter; 0 for any other character.
 * *ret_bytes: the bytes of the character, whatever it is. */
static size_t letter_bytes(const uint8_t *token, size_t size_bytes, bool behind_letter,
                           size_t *ret_bytes)
{
    utf8proc_int32_t code;
    utf8proc_ssize_t n = utf8proc_iterate(token, (utf8proc_ssize_t)size_bytes, &code);
    *ret_bytes = n > 0 ? (size_t)n : 1;
    utf8proc_category_t category = n > 0 ? utf8proc_category(code) : UTF8PROC_CATEGORY_CN;
    bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    bool mark = category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
    return letter || (mark && behind_letter) ? *ret_bytes : 0;
}

static void take_letters(struct word_filter *filter, const uint8_t *token, size_t size_bytes)
{
    for (size_t at = 0, n; at < size_bytes; at += n) {
        size_t end = at, more;
        while (end < size_bytes &&
               (more = letter_bytes(token + end, size_bytes - end, end > at, &n)) > 0)
            end += more;
        if (end > at) {
            take_token(filter, token + at, end - at);
            n = end - at;
        }
    }
}

static void take_tokens(void *user, const struct token_block *block)
{
    struct word_filter *filter = user;
    size_t at = 0;
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++]) {
        if (filter->letters)
            take_letters(filter, block->bytes + at, block->ends[i] - at);
        else
            take_token(filter, block->bytes + at, block->ends[i] - at);
    }
    flush(filter);
}

static void take_features(void *user, const struct feature *features, size_t n_features)
{
    struct word_filter *filter = user;
    filter->sink.features(filter->sink.user, features, n_features);
}

static void take_order(void *user, const struct feature *digests, size_t n_digests)
{
    struct word_filter *filter = user;
    filter->sink.order(filter->sink.user, digests, n_digests);
}

/* The stemmer's own buffer grows with the words it sees, and does not shrink. */
static int start_stemmer(struct word_filter *filter, unsigned stemmer)
{
    uint8_t longest[WARM_UP_BYTES];
    filter->stemmer = sb_stemmer_new(stemmer_name(stemmer), NULL);
    if (!filter->stemmer)
        return -ENOMEM;
    memset(longest, 'a', sizeof(longest));
    return sb_stemmer_stem(filter->stemmer, longest, sizeof(longest)) ? 0 : -ENOMEM;
}

int word_filter_new(const struct word_options *options, const struct canon_sink *sink,
                    struct word_filter **ret_filter, struct canon_sink *ret_before)
{
    int r = word_options_check(options);
    if (r < 0)
        return r;
    const bool tags = options->tokens == TOKENS_WORDS_AND_TAGS;
    if (!word_options_filter(options)) {
        *ret_filter = NULL;
        *ret_before = *sink;
        ret_before->tags = tags;
        return 0;
    }
    if (sink->links)
        return -EINVAL;
    _cleanup_(word_filter_free_p) struct word_filter *filter = calloc(1, sizeof(*filter));
    if (!filter)
        return -ENOMEM;
    filter->sink = *sink;
    filter->stop_words = stop_words_lists[options->stop_list];
    filter->letters = options->tokens == TOKENS_LETTERS;
    if (options->stemmer != 0)
        r = start_stemmer(filter, options->stemmer);
    if (r < 0)
        return r;
    *ret_before = (struct canon_sink){.tokens = take_tokens,
                                      .features = take_features,
                                      .key = sink->key,
                                      .user = filter,
                                      .tags = tags,
                                      .order = sink->order ? take_order : NULL};
    *ret_filter = TAKE_PTR(filter);
    return 0;
}

void word_filter_free(struct word_filter *filter)
{
    if (!filter)
        return;
    if (filter->stemmer)
        sb_stemmer_delete(filter->stemmer);
    free(filter);
}
