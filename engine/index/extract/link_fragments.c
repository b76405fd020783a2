/* Targets are numbered as they come, and found again by a hash; each has a short list of words. The
 * windows of links (engine/topic/bags/link_windows.h) go by those numbers.
 *
 * Example: in "<title>Foxes</title> <a href=hen.html#egg>hens</a> lay" target 0, the document
 * itself, has {fox 1}, and target 1, "hen.html", has {fox 1, hen 1, lay 1}. A second link to
 * hen.html with the same words around it, as navigation has, says nothing more.
 *
 * Cost: of a link two look-ups, of a word of its window a look into 32; all of them bounded.
 */
#include "engine/index/extract/link_fragments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/files/file_key.h"
#include "engine/topic/bags/bag_words.h"
#include "engine/topic/bags/link_windows.h"
#include "engine/topic/links/link_place.h"
#include "engine/topic/links/links.h"

enum {
    TITLE = 0, /* the number of the document itself */
    SLOTS = 4 * FRAGMENTS_MOST_TARGETS,
    SEEN_SLOTS = 2 * LINK_FRAGMENTS_MOST,
    MOST_TEXT_WORDS = 256, /* of a link of another format */
};

struct target {
    const char *bytes; /* in the buffer */
    uint16_t n_bytes;
    uint8_t kind, n_words;
    uint64_t words[FRAGMENTS_MOST_WORDS]; /* with their counts */
};

struct link_fragments {
    struct sketching *sketching;
    struct link_windows *windows;
    /* the text of a link of another format */
    struct canon *canon;
    struct bag_words *words;
    uint64_t text[MOST_TEXT_WORDS];
    size_t n_text;

    size_t n_tokens;
    unsigned n_links, n_targets;
    struct target targets[1 + FRAGMENTS_MOST_TARGETS];
    uint16_t slots[SLOTS]; /* numbers of targets, 0: none */
    unsigned n_seen;
    uint64_t seen[SEEN_SLOTS]; /* of a target with its words, 0: none */
    size_t n_bytes;
    char bytes[FRAGMENTS_ROW_MAX_BYTES];
};

static void begin(void *user)
{
    struct link_fragments *fragments = user;
    link_windows_begin(fragments->windows);
    if (fragments->n_targets)
        memset(fragments->slots, 0, sizeof(fragments->slots));
    if (fragments->n_seen)
        memset(fragments->seen, 0, sizeof(fragments->seen));
    fragments->n_links = fragments->n_targets = fragments->n_seen = 0;
    fragments->n_tokens = 0;
    fragments->n_bytes = 0;
    fragments->targets[TITLE] = (struct target){.bytes = "", .kind = LINK_URL};
}

/* -- targets -- */

static uint64_t hash_of(const void *bytes, size_t n, uint64_t more)
{
    return XXH3_64bits_withSeed(bytes, n, file_key_secret ^ more);
}

static bool is_target(const struct target *target, const struct link *link)
{
    return target->kind == link->kind && target->n_bytes == link->target_bytes &&
           memcmp(target->bytes, link->target, link->target_bytes) == 0;
}

/* The number of a target, TITLE: it is none that is kept. */
static unsigned target_of(struct link_fragments *fragments, const struct link *link)
{
    if (link->target_bytes == 0 || link->target_bytes > LINK_TARGET_MAX_BYTES ||
        ++fragments->n_links > LINK_FRAGMENTS_MOST || link_is_outside(link) ||
        memchr(link->target, '\0', link->target_bytes))
        return TITLE;
    size_t at = hash_of(link->target, link->target_bytes, link->kind) % SLOTS;
    for (; fragments->slots[at]; at = (at + 1) % SLOTS)
        if (is_target(&fragments->targets[fragments->slots[at]], link))
            return fragments->slots[at];
    if (fragments->n_targets == FRAGMENTS_MOST_TARGETS ||
        link->target_bytes > sizeof(fragments->bytes) - fragments->n_bytes)
        return TITLE;
    const unsigned number = ++fragments->n_targets;
    char *bytes = fragments->bytes + fragments->n_bytes;
    memcpy(bytes, link->target, link->target_bytes);
    fragments->n_bytes += link->target_bytes;
    fragments->targets[number] = (struct target){
        .bytes = bytes, .n_bytes = (uint16_t)link->target_bytes, .kind = (uint8_t)link->kind};
    fragments->slots[at] = (uint16_t)number;
    return number;
}

/* The same words were said of the target before; there is room for all links. */
static bool is_seen(struct link_fragments *fragments, unsigned number, const uint64_t *words,
                    size_t n)
{
    const uint64_t hash = hash_of(words, n * sizeof(*words), (uint64_t)number << 32) | 1;
    size_t at = hash >> 1 & (SEEN_SLOTS - 1);
    for (; fragments->seen[at]; at = (at + 1) % SEEN_SLOTS)
        if (fragments->seen[at] == hash)
            return true;
    fragments->seen[at] = hash;
    fragments->n_seen++;
    return false;
}

static void add_word(struct target *target, uint64_t word)
{
    for (unsigned i = 0; i < target->n_words; i++)
        if (bags_word(target->words[i]) == word) {
            target->words[i] += (target->words[i] & BAGS_COUNT_MOST) < FRAGMENTS_COUNT_MOST;
            return;
        }
    if (target->n_words < FRAGMENTS_MOST_WORDS)
        target->words[target->n_words++] = word | 1;
}

static void add_words(void *user, uint64_t number, uint64_t *words, size_t n)
{
    struct link_fragments *fragments = user;
    if (is_seen(fragments, (unsigned)number, words, n))
        return;
    for (size_t i = 0; i < n; i++)
        add_word(&fragments->targets[number], words[i]);
}

/* -- links of HTML -- */

static void take_canon_link(void *user, const struct canon_link *found)
{
    struct link_fragments *fragments = user;
    struct link link = {.kind = LINK_URL, .target = found->href, .target_bytes = found->href_bytes};
    const char *place = memchr(link.target, '#', link.target_bytes);
    if (found->first >= STEM_COUNTS_TOKENS)
        return;
    if (found->title) {
        link_windows_title(fragments->windows, found->first, found->end);
        return;
    }
    if (place)
        link.target_bytes = (size_t)(place - link.target);
    const unsigned number = target_of(fragments, &link);
    if (number != TITLE)
        link_windows_link(fragments->windows, number, found->first, found->end);
}

static void take_word(void *user, uint64_t word)
{
    struct link_fragments *fragments = user;
    link_windows_word(fragments->windows, word);
}

static void take_token(void *user)
{
    struct link_fragments *fragments = user;
    fragments->n_tokens++;
    link_windows_token(fragments->windows);
}

/* -- links of other formats -- */

static void take_text_word(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes)
{
    struct link_fragments *fragments = user;
    (void)stem, (void)size_bytes;
    if (fragments->n_text < MOST_TEXT_WORDS)
        fragments->text[fragments->n_text++] = bags_word(word);
}

static void take_text(void *user, const struct token_block *block)
{
    struct link_fragments *fragments = user;
    for (size_t i = 0; i < block->n_tokens; i++)
        bag_words_of(fragments->words, block, i);
}

static void take_link(void *user, const struct link *link)
{
    struct link_fragments *fragments = user;
    struct text_form form;
    const unsigned number = target_of(fragments, link);
    if (number == TITLE)
        return;
    fragments->n_text = 0;
    canon_begin_as(fragments->canon, TEXT_PLAIN);
    canon_feed(fragments->canon, link->text, link->text_bytes);
    canon_finish(fragments->canon, &form);
    if (fragments->n_text)
        add_words(fragments, number, fragments->text, fragments->n_text);
}

/* -- -- */

int link_fragments_collect(const struct shingle_hash *hash, struct sketching *sketching,
                           struct stem_counts *stems, struct link_fragments **ret_fragments)
{
    const struct word_options options = bag_words_default();
    _cleanup_(link_fragments_free_p) struct link_fragments *fragments =
        calloc(1, sizeof(*fragments));
    if (!fragments)
        return -ENOMEM;
    fragments->sketching = sketching;
    int r = link_windows_new(BAG_WINDOW_TOKENS, BAG_WINDOW_TOKENS, add_words, fragments,
                             &fragments->windows);
    if (r == 0)
        r = bag_words_new(&options, hash, take_text_word, fragments, &fragments->words);
    if (r == 0)
        r = canon_new(&(struct canon_sink){.tokens = take_text, .user = fragments},
                      &fragments->canon);
    if (r < 0)
        return r;
    begin(fragments);
    (void)sketching_on_links(sketching, take_canon_link, fragments); /* none with tags */
    stem_counts_on_words(stems, &(struct stem_words){begin, take_word, take_token, fragments});
    *ret_fragments = TAKE_PTR(fragments);
    return 0;
}

void link_fragments_free(struct link_fragments *fragments)
{
    if (!fragments)
        return;
    link_windows_free(fragments->windows);
    bag_words_free(fragments->words);
    canon_free(fragments->canon);
    free(fragments);
}

/* A book links within itself, so its title alone counts. */
static int read_others(struct link_fragments *fragments, const struct document_sketch *sketch,
                       const char *name)
{
    size_t n_bytes;
    bool cut;
    const void *bytes = sketching_bytes(fragments->sketching, &n_bytes);
    if (sketching_extractor(fragments->sketching)) {
        for (unsigned i = 1; i <= fragments->n_targets; i++)
            fragments->targets[i].n_words = 0;
        return 0;
    }
    if (!name || !bytes || sketch->form.type == TEXT_HTML)
        return 0;
    return links_read(bytes, n_bytes, name, &(struct link_sink){take_link, fragments}, &cut);
}

static size_t encode(struct link_fragments *fragments, uint8_t *row)
{
    size_t n_bytes = FRAGMENTS_VERSION_BYTES, n_words = 0;
    fragments_put_version(row);
    for (unsigned i = 0; i <= fragments->n_targets; i++) {
        struct target *target = &fragments->targets[i];
        n_words += target->n_words;
        if (n_words > LINK_FRAGMENTS_FREE_WORDS + LINK_FRAGMENTS_OF_TOKEN * fragments->n_tokens)
            break;
        if (target->n_words && n_bytes + FRAGMENT_MAX_BYTES <= FRAGMENTS_ROW_MAX_BYTES)
            n_bytes += fragments_put(row + n_bytes, (enum link_kind)target->kind, target->bytes,
                                     target->n_bytes, target->words, target->n_words);
    }
    return n_bytes;
}

int link_fragments_finish(struct link_fragments *fragments, const struct document_sketch *sketch,
                          const char *name, uint8_t **ret_row, size_t *ret_size_bytes)
{
    link_windows_end(fragments->windows);
    int r = read_others(fragments, sketch, name);
    if (r < 0)
        return r;
    _cleanup_free_ uint8_t *row = malloc(FRAGMENTS_ROW_MAX_BYTES);
    if (!row)
        return -ENOMEM;
    const size_t n_bytes = encode(fragments, row);
    uint8_t *copy = malloc(n_bytes);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, row, n_bytes);
    *ret_row = copy;
    *ret_size_bytes = n_bytes;
    return 0;
}
