/* Which word a token is, the stemmer says once, and a cache after that: tokens are known by their
 * fingerprints, which the sketch takes anyway. It takes half a megabyte. Words are counted in a
 * hash table by their first bits; a slot is one number, the word and below it the count.
 *
 * Example: of "foxes and foxes" the stemmer is asked of "foxes" and of "and", which is no word; the
 * third token is found in the cache. The table has fox 2.
 *
 * Cost: of a token two look-ups, some 5 ns, and of one that is not in the cache the stemmer.
 */
#include "engine/index/extract/stem_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/topic/bags/bag_words.h"

enum { CACHED_BITS = 16, CACHED = 1 << CACHED_BITS, LEAST_SLOTS = 1 << 10 };

struct stem_counts {
    struct bag_words *words;
    /* Of a token the word, 0 for none, and below it further bits of the token's fingerprint; 0:
     * nothing is here. Together with the place 40 bits tell a token, as they do a word */
    uint64_t cache[CACHED];
    size_t n_tokens;
    uint64_t of_token; /* the last word of the token that the stemmer has, and how many */
    unsigned n_of_token;
    uint64_t *slots; /* 0: empty */
    size_t n_slots, n_words;
    int error;                  /* of this document */
    struct stem_words on_words; /* word NULL: nobody else wants them */
};

/* -- the table -- */

static uint64_t *find(uint64_t *slots, size_t n_slots, uint64_t word)
{
    size_t at = word >> BAGS_COUNT_BITS & (n_slots - 1);
    while (slots[at] && bags_word(slots[at]) != word)
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

static int grow(struct stem_counts *counts)
{
    const size_t n = counts->n_slots ? 2 * counts->n_slots : LEAST_SLOTS;
    uint64_t *slots = calloc(n, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < counts->n_slots; i++)
        if (counts->slots[i])
            *find(slots, n, bags_word(counts->slots[i])) = counts->slots[i];
    free(counts->slots);
    counts->slots = slots;
    counts->n_slots = n;
    return 0;
}

static void count(struct stem_counts *counts, uint64_t fingerprint)
{
    const uint64_t word = bags_word(fingerprint);
    if (counts->on_words.word)
        counts->on_words.word(counts->on_words.user, word);
    if (2 * counts->n_words >= counts->n_slots && grow(counts) < 0) {
        counts->error = -ENOMEM;
        return;
    }
    uint64_t *slot = find(counts->slots, counts->n_slots, word);
    counts->n_words += *slot == 0;
    *slot = *slot ? *slot + 1 : word | 1;
}

/* Memory that a long document took is given back. */
static void begin(void *user)
{
    struct stem_counts *counts = user;
    if (counts->n_slots > LEAST_SLOTS) {
        free(counts->slots);
        counts->slots = NULL;
        counts->n_slots = 0;
    } else if (counts->n_words) {
        memset(counts->slots, 0, counts->n_slots * sizeof(*counts->slots));
    }
    counts->n_words = counts->n_tokens = 0;
    counts->error = 0;
    if (counts->on_words.word)
        counts->on_words.begin(counts->on_words.user);
}

/* -- tokens -- */

static void take_word(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes)
{
    struct stem_counts *counts = user;
    (void)stem, (void)size_bytes;
    counts->of_token = word;
    counts->n_of_token++;
    count(counts, word);
}

static bool has_digit(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] >= '0' && bytes[i] <= '9')
            return true;
    return false;
}

static void take_token(struct stem_counts *counts, const struct token_block *block, size_t i,
                       uint64_t fingerprint)
{
    uint64_t *cached = &counts->cache[fingerprint & (CACHED - 1)];
    const uint64_t tag = fingerprint >> CACHED_BITS & BAGS_COUNT_MOST;
    if ((*cached & BAGS_COUNT_MOST) == tag) {
        if (bags_word(*cached))
            count(counts, *cached);
        return;
    }
    counts->n_of_token = 0;
    counts->of_token = 0;
    const size_t begin = i ? block->ends[i - 1] : 0;
    if (!has_digit(block->bytes + begin, block->ends[i] - begin))
        bag_words_of(counts->words, block, i);
    if (counts->n_of_token <= 1)
        *cached = bags_word(counts->of_token) | tag;
}

static void take(void *user, const struct token_block *block, const uint64_t *fingerprints)
{
    struct stem_counts *counts = user;
    for (size_t i = 0, at = 0; i < block->n_tokens; at = block->ends[i++]) {
        if (counts->n_tokens == STEM_COUNTS_TOKENS || counts->error)
            return;
        if (block->bytes[at] == '<') /* a tag */
            continue;
        counts->n_tokens++;
        take_token(counts, block, i, fingerprints[i]);
        if (counts->on_words.word)
            counts->on_words.token(counts->on_words.user);
    }
}

/* -- */

int stem_counts_collect(const struct shingle_hash *hash, struct sketching *sketching,
                        struct stem_counts **ret_counts)
{
    const struct word_options options = bag_words_default();
    _cleanup_(stem_counts_free_p) struct stem_counts *counts = calloc(1, sizeof(*counts));
    if (!counts)
        return -ENOMEM;
    int r = bag_words_new(&options, hash, take_word, counts, &counts->words);
    if (r < 0)
        return r;
    sketching_on_tokens(sketching, &(struct document_tokens){begin, take, counts});
    *ret_counts = TAKE_PTR(counts);
    return 0;
}

void stem_counts_on_words(struct stem_counts *counts, const struct stem_words *words)
{
    counts->on_words = *words;
}

void stem_counts_free(struct stem_counts *counts)
{
    if (!counts)
        return;
    bag_words_free(counts->words);
    free(counts->slots);
    free(counts);
}

int stem_counts_error(const struct stem_counts *counts)
{
    return counts->error;
}

int stem_counts_finish(struct stem_counts *counts, uint8_t **ret_row, size_t *ret_size_bytes)
{
    if (counts->error)
        return counts->error;
    _cleanup_free_ uint64_t *words = calloc(2 * counts->n_words + 1, sizeof(*words));
    uint8_t row[BAGS_ROW_MAX_BYTES];
    size_t n = 0;
    if (!words)
        return -ENOMEM;
    for (size_t i = 0; i < counts->n_slots; i++)
        if (counts->slots[i])
            words[n++] = counts->slots[i];
    const size_t size_bytes = bags_encode(words, n, words + n, row);
    uint8_t *copy = malloc(size_bytes);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, row, size_bytes);
    *ret_row = copy;
    *ret_size_bytes = size_bytes;
    return 0;
}
