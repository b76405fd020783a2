/* The document is read as it was for its bag, and each of its tokens made a word again. Of the
 * forms of one word the shortest is kept, of equally short ones the first by the alphabet.
 *
 * Example: of the words instal and file, in "Installing files: install a file", the texts are
 * "install" and "file".
 *
 * Cost: that of sketching the first 16,384 tokens and a call of the stemmer for each. Left out: a
 * table of all words with their texts, which would have to be kept with each document that comes.
 */
#include "engine/index/answers/topics/word_texts.h"

#include <errno.h>

#include "engine/index/answers/answer.h"
#include "engine/index/extract/stem_counts.h"
#include "engine/index/intake/open_key.h"
#include "engine/index/intake/open_soon.h"
#include "engine/topic/bags/bag_words.h"

enum { TEXT_MOST_BYTES = 64 };

struct text {
    uint8_t n_bytes; /* 0: not found yet */
    uint8_t bytes[TEXT_MOST_BYTES];
};

struct reading {
    const struct bag *bag;
    const struct index_query *query;
    struct bag_words *words;
    struct text *texts; /* by the words of the bag */
    const uint8_t *run; /* of letters, that the stemmer has */
    uint32_t run_bytes;
    size_t n_tokens;
};

static void reading_done(struct reading *reading)
{
    bag_words_free(reading->words);
    free(reading->texts);
}

static bool is_enough(void *user)
{
    const struct reading *reading = user;
    return reading->n_tokens == STEM_COUNTS_TOKENS || answer_is_stopped(reading->query);
}

static int by_word(const void *a, const void *b)
{
    const struct bag_word *x = a, *y = b;
    return (x->word > y->word) - (x->word < y->word);
}

static bool is_better(const struct text *text, const uint8_t *bytes, size_t n)
{
    return text->n_bytes == 0 || n < text->n_bytes ||
           (n == text->n_bytes && memcmp(bytes, text->bytes, n) < 0);
}

static void take_word(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes)
{
    struct reading *reading = user;
    const struct bag *bag = reading->bag;
    const struct bag_word key = {.word = bags_word(word)};
    const struct bag_word *found = bsearch(&key, bag->words, bag->n_words, sizeof(key), by_word);
    const size_t n = reading->run_bytes;
    if (!found || n > TEXT_MOST_BYTES || size_bytes == 0 || *reading->run != *stem)
        return;
    struct text *text = &reading->texts[found - bag->words];
    if (!is_better(text, reading->run, n))
        return;
    text->n_bytes = (uint8_t)n;
    memcpy(text->bytes, reading->run, n);
}

static void begin(void *user)
{
    struct reading *reading = user;
    reading->n_tokens = 0;
    memset(reading->texts, 0, reading->bag->n_words * sizeof(*reading->texts));
}

/* Bytes that are not ASCII are of letters; were they not, the stem would not begin as the run does.
 */
static bool is_letter(uint8_t byte)
{
    return byte >= 0x80 || (byte >= 'a' && byte <= 'z');
}

static bool has_digit(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] >= '0' && bytes[i] <= '9')
            return true;
    return false;
}

/* Each run of letters on its own, so that it is known which one a word comes from. */
static void take_token(struct reading *reading, const uint8_t *bytes, size_t n)
{
    for (size_t at = 0, end; at < n; at = end + 1) {
        for (end = at; end < n && is_letter(bytes[end]);)
            end++;
        reading->run = bytes + at;
        reading->run_bytes = (uint32_t)(end - at);
        if (end > at)
            bag_words_of(reading->words,
                         &(struct token_block){reading->run, &reading->run_bytes, 1}, 0);
    }
}

static void take(void *user, const struct token_block *block, const uint64_t *fingerprints)
{
    struct reading *reading = user;
    (void)fingerprints;
    for (size_t i = 0, at = 0; i < block->n_tokens; at = block->ends[i++]) {
        const uint8_t *bytes = block->bytes + at;
        const size_t n = block->ends[i] - at;
        if (reading->n_tokens == STEM_COUNTS_TOKENS)
            return;
        if (*bytes == '<') /* a tag */
            continue;
        reading->n_tokens++;
        if (!has_digit(bytes, n))
            take_token(reading, bytes, n);
    }
}

/* -- */

static int read_texts(struct index *index, int fd, struct reading *reading)
{
    _cleanup_(sketching_free_p) struct sketching *sketching = NULL;
    const struct sketching_by by = index_sketching_by(index, true);
    const struct word_options options = bag_words_default();
    char reason[SKETCHING_REASON_BYTES];
    struct document_sketch sketch;
    int r = sketching_new(&by, is_enough, reading, &sketching);
    if (r == 0)
        r = bag_words_new(&options, index->hash, take_word, reading, &reading->words);
    if (r < 0)
        return r;
    sketching_on_tokens(sketching, &(struct document_tokens){begin, take, reading});
    r = sketching_run_whole(sketching, fd, &sketch, reason);
    if (answer_is_stopped(reading->query))
        return -EINTR;
    return r == -ENOMEM ? r : 0;
}

static int compare_words(const void *a, const void *b)
{
    const struct index_topic_word *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : strcmp(x->text, y->text);
}

static int choose(const struct reading *reading, size_t n, struct index_topic_words *words)
{
    const struct bag *bag = reading->bag;
    words->words = calloc((size_t)bag->n_words + 1, sizeof(*words->words));
    if (!words->words)
        return -ENOMEM;
    for (uint32_t i = 0; i < bag->n_words; i++) {
        const struct text *text = &reading->texts[i];
        if (!text->n_bytes)
            continue;
        char *copy = strndup((const char *)text->bytes, text->n_bytes);
        if (!copy)
            return -ENOMEM;
        words->words[words->n++] = (struct index_topic_word){copy, bag->words[i].weight};
    }
    if (words->n)
        qsort(words->words, words->n, sizeof(*words->words), compare_words);
    while (words->n > n)
        free(words->words[--words->n].text);
    return 0;
}

void index_topic_words_done(struct index_topic_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->words[i].text);
    free(words->words);
    *words = (struct index_topic_words){0};
}

int word_texts_of(struct index *index, const struct file_key *file, const struct bag *bag, size_t n,
                  const struct index_query *query, struct index_topic_words *ret_words)
{
    _cleanup_(reading_done) struct reading reading = {
        .bag = bag,
        .query = query,
        .texts = calloc((size_t)bag->n_words + 1, sizeof(*reading.texts)),
    };
    if (!reading.texts)
        return -ENOMEM;
    _cleanup_(opened_close) struct opened opened = {
        index, bag->n_words ? open_document_soon(index, query->looking, file, OPEN_TO_READ) : -1};
    int r = opened.fd >= 0 ? read_texts(index, opened.fd, &reading) : 0;
    struct index_topic_words words = {0};
    if (r == 0)
        r = choose(&reading, n, &words);
    if (r < 0)
        index_topic_words_done(&words);
    else
        *ret_words = words;
    return r;
}
