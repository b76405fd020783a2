/* The words of a text, by the classes of unicode.h:
 *
 *   word       letters and digits of scripts that set words apart, and U+005F: a maximal run of
 *              them is a token
 *   solo       of Han, Hiragana and Katakana every character, of Thai, Lao, Khmer and Burmese every
 *              letter: a token each, with its marks. These scripts have no spaces between words;
 *              shingles of their characters overlap as shingles of words do. The vowel signs of
 *              Thai and Lao that are written before their consonant are letters, tokens of their
 *              own; a Khmer sign that puts the next consonant below ends a token. Digits of the
 *              latter four are words: the text around a number sets it apart
 *   mark       part of the token before; after a separator, part of that
 *   ignored    nothing, also within a word: characters without width, soft hyphens, variation
 *              selectors
 *   separator, malformed bytes: between tokens
 *
 * Example: "Das Maß: H2O, <U+4E2D><U+6587>!" gives the tokens das, mass, h2o, and a token
 * for each of the two characters of Han.
 *
 * Letters are case folded by full Unicode case folding (CaseFolding.txt C and F; "ss" for U+00DF),
 * and canonically equivalent texts are one: tokens are composed (NFC). The table has each character
 * in that form already, so that only characters that may join the one before take more: a mark that
 * has a place in an order, or may become one with a letter, and the parts of a syllable of Hangul.
 * Compatibility forms (full width, ligatures, presentation forms) become the characters they are
 * forms of; unicode_generate.c says which. The iota below a letter of Greek is an iota, as case
 * folding has it, so that marks behind it are its own.
 *
 * A word that a hyphen at the end of a line breaks may be one token (words_joining.c).
 *
 * Left out: dictionaries for the scripts without spaces.
 *
 * ASCII is taken by a kernel (ascii_words.h), up to the first byte it does not know; from there on
 * characters are read, runs of letters of two and of three bytes in loops of their own, until eight
 * bytes of ASCII are ahead, or others that the kernel takes. The bytes of a character that is cut
 * by the end of a piece go one by one. Cost: linear, one pass, no allocation.
 */
#include "engine/text/words/words.h"

#include <string.h>

#include "engine/text/words/unicode.h"
#include "engine/text/words/words_private.h"
#include "engine/text/encoding/utf8.h"

enum {
    WORTH_A_KERNEL = 8, /* bytes of ASCII */
    LONG_PIECE_BYTES = 48,
};

void words_init(struct words *words, const struct canon_sink *sink)
{
    words->sink = *sink;
    words->take_ascii = ascii_words(kernel_in_use());
}

void words_begin(struct words *words)
{
    words->takes_pairs = words->take_ascii == ascii_words(KERNEL_AVX512);
    words->n_bytes = words->n_tokens = 0;
    words->open_is_solo = false;
    words->missing = words->hyphen = 0;
    words->n_handed_out = words->hyphenated = 0;
}

static void hand_out(struct words *words)
{
    uint32_t size = words->ends[words->n_tokens];
    if (words->n_tokens > 0) {
        struct token_block block = {words->bytes, words->ends + 1, words->n_tokens};
        words->sink.tokens(words->sink.user, &block);
    }
    memmove(words->bytes, words->bytes + size, words->n_bytes - size);
    words->n_bytes -= size;
    words->n_handed_out += words->n_tokens;
    words->n_tokens = 0;
}

/* Makes room for one step: 64 bytes of ASCII or a character. */
static inline void make_room(struct words *words)
{
    if (words->n_bytes > WORDS_STEP_BYTES_MAX || words->n_tokens > WORDS_STEP_TOKENS_MAX)
        hand_out(words);
}

/* Puts a character into its place, where there is room for it. */
static inline __attribute__((always_inline)) void put(struct words *words,
                                                      struct words_place *place, uint32_t code)
{
    const struct unicode_property *property = unicode_property(code);
    if (property->class == UNICODE_SEPARATOR) { /* most are, and a switch is a jump to anywhere */
        words_end_token(words, place);
        return;
    }
    switch ((enum unicode_class)property->class) {
    case UNICODE_IGNORED: return;
    case UNICODE_MARK:
    case UNICODE_FIRST:
        if (place->n_bytes == place->start)
            return;
        break;
    case UNICODE_WORD:
        if (place->open_is_solo)
            words_end_token(words, place);
        break;
    case UNICODE_SOLO:
        words_end_token(words, place);
        place->open_is_solo = true;
        break;
    default:
        words_settle(words, place);
        words_put_joining(words, code);
        *place = words_place_of(words);
        return;
    }
    uint32_t n = unicode_put_folded(words->bytes + place->n_bytes, code, property);
    if (__builtin_expect(place->n_bytes - place->start + n > CANON_TOKEN_MAX_BYTES, 0)) {
        bool solo = place->open_is_solo;
        words_end_token(words, place);
        place->open_is_solo = solo;
    }
    place->n_bytes += n;
}

static void put_code(struct words *words, uint32_t code)
{
    make_room(words);
    if (words->hyphen && words_put_behind_hyphen(words, code))
        return;
    struct words_place place = words_place_of(words);
    put(words, &place, code);
    words_settle(words, &place);
}

static void tell_text(struct words *words, const uint8_t *bytes, size_t size_bytes)
{
    words->sink.text(words->sink.user, bytes, size_bytes, words_begun(words), words_ended(words));
}

static void separate(struct words *words)
{
    words->missing = 0; /* a sequence cut short is malformed and separates anyway */
    words->hyphen = WORDS_NO_HYPHEN;
    put_code(words, ' ');
}

void words_separate(struct words *words)
{
    separate(words);
    if (words->sink.text)
        tell_text(words, (const uint8_t *)" ", 1);
}

/* True when the kernel takes a character that begins with this byte, where no solo is open. */
static inline bool is_for_kernel(const struct words *words, uint8_t byte)
{
    return byte < 0x80 || (words->takes_pairs && (byte & 0xe0) == 0xc0);
}

/* The kernel takes as many bytes as it can, with no sequence open. Returns their number; 0 where it
 * does not know the first character. */
static size_t feed_kernel(struct words *words, const uint8_t *p, size_t size_bytes)
{
    size_t at = 0;
    if (words->open_is_solo) {
        if (p[0] >= 0x80)
            return 0;
        put_code(words, p[0]);
        at = 1;
    }
    while (at < size_bytes && !words->hyphen && is_for_kernel(words, p[at])) {
        make_room(words);
        size_t n = words->take_ascii(words, p + at, size_bytes - at);
        if (n == 0 && p[at] >= 0x80)
            break;
        if (n == 0) /* the open token is long, or a line may end here */
            put_code(words, p[at++]);
        at += n;
    }
    return at;
}

static inline bool is_ascii_ahead(const uint8_t *p)
{
    uint64_t ahead;
    _Static_assert(sizeof(ahead) == WORTH_A_KERNEL, "");
    memcpy(&ahead, p, sizeof(ahead));
    return (ahead & 0x8080808080808080) == 0;
}

/* True when no character of three bytes or more is among the next eight bytes. */
static inline bool are_pairs_ahead(const uint8_t *p)
{
    uint64_t ahead;
    memcpy(&ahead, p, sizeof(ahead));
    return (ahead & ahead << 1 & ahead << 2 & 0x8080808080808080) == 0;
}

/* The number of characters of n_bytes that the block and the open token have room for. */
static inline size_t room_for(const struct words_place *place, size_t n_bytes, size_t token_bytes)
{
    size_t bytes = (WORDS_BLOCK_BYTES - place->n_bytes) / n_bytes;
    size_t tokens = TOKEN_BLOCK_MAX - 1 - place->n_tokens;
    size_t in_token = (CANON_TOKEN_MAX_BYTES - token_bytes) / n_bytes;
    size_t n = bytes < tokens ? bytes : tokens;
    return n < in_token ? n : in_token;
}

static inline size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Takes a run of letters of two bytes whose foldings have two as well, where no solo is open.
 * Returns the number of bytes taken. */
static inline __attribute__((always_inline)) size_t
take_pairs(struct words *words, struct words_place *place, const uint8_t *p, size_t size_bytes)
{
    size_t most = least(size_bytes / 2, room_for(place, 2, place->n_bytes - place->start)), n = 0;
    uint8_t *to = words->bytes + place->n_bytes;
    for (; n < most; n++) {
        uint32_t first = p[2 * n] ^ 0xc0u, second = p[2 * n + 1] ^ 0x80u;
        if (first > 0x1f || second > 0x3f)
            break;
        uint16_t folded = unicode_pairs[first << 6 | second];
        if (folded == 0)
            break;
        memcpy(to + 2 * n, &folded, sizeof(folded));
    }
    place->n_bytes += (uint32_t)(2 * n);
    return 2 * n;
}

/* The class of a well-formed character of three bytes that folds to itself; UNICODE_N_CLASSES or
 * more for any other character and for malformed bytes. Four bytes are read. */
static inline unsigned class_of_three(const uint8_t *p, uint32_t *ret_bytes)
{
    uint32_t bytes;
    memcpy(&bytes, p, sizeof(bytes));
    *ret_bytes = bytes;
    uint32_t code = (bytes & 0x0f) << 12 | (bytes >> 2 & 0xfc0) | (bytes >> 16 & 0x3f);
    return (bytes & 0xc0c0f0) == 0x8080e0 && code >= 0x800 ? unicode_index(code)
                                                           : UNICODE_N_CLASSES;
}

/* Takes a run of solos of three bytes without marks. Returns the number of bytes taken. */
static inline __attribute__((always_inline)) size_t
take_solos(struct words *words, struct words_place *place, const uint8_t *p, size_t size_bytes)
{
    uint32_t bytes;
    if (size_bytes < 4 || class_of_three(p, &bytes) != UNICODE_SOLO)
        return 0;
    words_end_token(words, place);
    size_t most = least((size_bytes - 1) / 3, room_for(place, 3, 0) - 1), n = 0;
    uint8_t *to = words->bytes + place->n_bytes;
    uint32_t *ends = words->ends + place->n_tokens, n_bytes = place->n_bytes;
    for (; n < most && class_of_three(p + 3 * n, &bytes) == UNICODE_SOLO; n++) {
        ends[n] = n_bytes;
        memcpy(to + 3 * n, &bytes, sizeof(bytes));
        n_bytes += 3;
    }
    if (n > 0) { /* the last one is open */
        place->n_tokens += (uint32_t)n - 1;
        place->n_bytes = n_bytes;
        place->start = n_bytes - 3;
        place->open_is_solo = true;
    }
    return 3 * n;
}

#define BIT_OF(class) (1u << UNICODE_##class)

/* Takes a run of letters and marks of three bytes that belong to the open token. A mark that may
 * join the character before it is taken only where it does not: behind_solo says that the token is
 * a solo that nothing joined yet. Returns the number of bytes taken. */
static inline __attribute__((always_inline)) size_t take_threes(struct words *words,
                                                                struct words_place *place,
                                                                const uint8_t *p, size_t size_bytes,
                                                                bool behind_solo)
{
    static const uint32_t not_behind[UNICODE_N_CLASSES] = {
        [UNICODE_FIRST] = BIT_OF(SECOND) | BIT_OF(ORDERED), [UNICODE_ORDERED] = BIT_OF(ORDERED)};
    const uint32_t all = BIT_OF(MARK) | BIT_OF(FIRST) | BIT_OF(SECOND) | BIT_OF(ORDERED) |
                         (place->open_is_solo ? 0 : BIT_OF(WORD));
    bool open = place->n_bytes != place->start;
    uint32_t taken = behind_solo ? all
                     : open      ? all & ~(BIT_OF(SECOND) | BIT_OF(ORDERED))
                                 : all & BIT_OF(WORD);
    size_t most = least(size_bytes > 0 ? (size_bytes - 1) / 3 : 0,
                        room_for(place, 3, place->n_bytes - place->start));
    size_t n = 0;
    uint8_t *to = words->bytes + place->n_bytes;
    for (; n < most; n++) {
        uint32_t bytes;
        unsigned class = class_of_three(p + 3 * n, &bytes);
        if (class >= UNICODE_N_CLASSES || !(taken >> class & 1))
            break;
        taken = all & ~not_behind[class];
        memcpy(to + 3 * n, &bytes, sizeof(bytes));
    }
    place->n_bytes += (uint32_t)(3 * n);
    return 3 * n;
}

/* Takes whole characters, with no sequence open, until enough ASCII for a kernel is ahead, or fewer
 * bytes are left than it takes to see that. Returns the number of bytes taken. */
static size_t feed_codes(struct words *words, const uint8_t *p, size_t size_bytes)
{
    size_t at = 0;
    while (size_bytes - at >= WORTH_A_KERNEL && !is_ascii_ahead(p + at)) {
        make_room(words);
        struct words_place place = words_place_of(words);
        do {
            if (p[at] < 0x80) {
                if (is_ascii_ahead(p + at))
                    break;
            } else if (p[at] < 0xe0) {
                if (at > 0 && words->takes_pairs && !place.open_is_solo &&
                    are_pairs_ahead(p + at)) {
                    words_settle(words, &place);
                    return at;
                }
                size_t n =
                    place.open_is_solo ? 0 : take_pairs(words, &place, p + at, size_bytes - at);
                at += n;
                if (n > 0)
                    continue;
            } else {
                size_t n = take_solos(words, &place, p + at, size_bytes - at);
                n += take_threes(words, &place, p + at + n, size_bytes - at - n, n > 0);
                at += n;
                if (n > 0)
                    continue;
            }
            uint32_t code;
            at += utf8_get(p + at, &code);
            put(words, &place, code);
            if (words->hyphen)
                return at;
        } while (size_bytes - at >= WORTH_A_KERNEL && place.n_bytes <= WORDS_STEP_BYTES_MAX &&
                 place.n_tokens <= WORDS_STEP_TOKENS_MAX);
        words_settle(words, &place);
    }
    return at;
}

/* Takes a byte of UTF-8 by the table of well-formed sequences (The Unicode Standard, 3.9): no
 * overlong forms, no surrogates, nothing past U+10FFFF. */
static void feed_byte(struct words *words, uint8_t byte)
{
    if (words->missing) {
        if (byte >= words->least && byte <= words->most) {
            words->code = words->code << 6 | (byte & 0x3f);
            words->least = 0x80;
            words->most = 0xbf;
            if (--words->missing == 0)
                put_code(words, words->code);
            return;
        }
        separate(words); /* and the byte begins something new */
    }
    words->least = 0x80;
    words->most = 0xbf;
    if (byte < 0x80) {
        put_code(words, byte);
    } else if (byte >= 0xc2 && byte <= 0xdf) {
        words->missing = 1;
        words->code = byte & 0x1f;
    } else if (byte >= 0xe0 && byte <= 0xef) {
        words->missing = 2;
        words->code = byte & 0x0f;
        if (byte == 0xe0)
            words->least = 0xa0;
        if (byte == 0xed)
            words->most = 0x9f;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
        words->missing = 3;
        words->code = byte & 0x07;
        if (byte == 0xf0)
            words->least = 0x90;
        if (byte == 0xf4)
            words->most = 0x8f;
    } else {
        separate(words);
    }
}

static void feed(struct words *words, const uint8_t *bytes, size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes;) {
        size_t n = 0;
        bool between = !words->missing && !words->hyphen;
        if (between && is_for_kernel(words, bytes[at]))
            n = feed_kernel(words, bytes + at, size_bytes - at);
        if (n == 0 && between && bytes[at] >= 0x80)
            n = feed_codes(words, bytes + at, size_bytes - at);
        if (n == 0)
            feed_byte(words, bytes[at++]);
        at += n;
    }
}

/* A piece ends behind white space, or before a character when it is long: scripts that do not set
 * words apart have no other ends. */
static size_t piece_of_text(const uint8_t *bytes, size_t size_bytes)
{
    size_t n = 1;
    while (n < size_bytes && bytes[n - 1] > ' ' &&
           (n < LONG_PIECE_BYTES || (bytes[n] & 0xc0) == 0x80))
        n++;
    return n;
}

void words_feed(struct words *words, const uint8_t *bytes, size_t size_bytes)
{
    size_t n = size_bytes;
    for (; size_bytes > 0; bytes += n, size_bytes -= n) {
        if (words->sink.text)
            n = piece_of_text(bytes, size_bytes);
        feed(words, bytes, n);
        if (words->sink.text)
            tell_text(words, bytes, n);
    }
}

void words_finish(struct words *words)
{
    words_separate(words);
    hand_out(words);
}
