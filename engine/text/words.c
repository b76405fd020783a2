/* What is a word, by Unicode general category (and script, where words are not set apart):
 *
 *   L* N* and U+005F           word characters; a maximal run of them is a token
 *   Han, Hiragana, Katakana    a token each: these scripts have no spaces between words
 *   M*                         part of the token before; after a separator, part of that
 *   Cf but U+200B              nothing: soft hyphens, joiners and direction marks are layout
 *   all else, malformed bytes  separate (U+200B says that a line may be broken here)
 *
 * Letters are case folded by full Unicode case folding (CaseFolding.txt C and F; "ss" for U+00DF).
 * Left out: normalisation (an e with an acute and an e followed by an acute are two words), and
 * word segmentation of Thai, Lao, Khmer and Burmese (a run between spaces is one token).
 *
 * ASCII goes eight bytes at a time through a table, with no branch that depends on the text: each
 * byte is written where the next canonical byte belongs, which moves on only behind a word
 * character; and the end of a token is written where the next end belongs, which moves on only
 * behind the last character of a word.
 */
#include "engine/text/words.h"

#include <pthread.h>
#include <string.h>

#include <utf8proc.h>

enum class { CLASS_SEPARATOR, CLASS_IGNORED, CLASS_WORD, CLASS_SOLO, CLASS_MARK };

enum {
    FOLD_MAX_CODES = 4, /* three are the most in Unicode 15 */
    FOLD_MAX_BYTES = 4 * FOLD_MAX_CODES,
    STEP = 8,          /* bytes of the fast loop's turn */
    TABLE_END = 0x800, /* characters of one and two bytes are looked up */
};

/* The canonical byte of an ASCII character, 0 for separators. */
static const uint8_t ascii_fold[256] = {
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6',
    ['7'] = '7', ['8'] = '8', ['9'] = '9', ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd',
    ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i', ['J'] = 'j', ['K'] = 'k',
    ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r',
    ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y',
    ['Z'] = 'z', ['_'] = '_', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e',
    ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i', ['j'] = 'j', ['k'] = 'k', ['l'] = 'l',
    ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r', ['s'] = 's',
    ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y', ['z'] = 'z',
};

struct folded {
    uint8_t class, n_bytes;
    uint8_t bytes[FOLD_MAX_BYTES];
};

/* The characters of one and two bytes. */
static struct folded table[TABLE_END];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

/* Katakana includes the sound marks (U+30FC and others), which Unicode gives no script. */
static bool is_solo_script(uint32_t code)
{
    return (code >= 0x3400 && code <= 0x4dbf) || (code >= 0x4e00 && code <= 0x9fff) ||
           (code >= 0x3005 && code <= 0x3007) || (code >= 0x3021 && code <= 0x3029) ||
           (code >= 0x3038 && code <= 0x303b) || (code >= 0x3041 && code <= 0x30ff) ||
           (code >= 0x31f0 && code <= 0x31ff) || (code >= 0xf900 && code <= 0xfaff) ||
           (code >= 0xff66 && code <= 0xff9f) || (code >= 0x1aff0 && code <= 0x1b16f) ||
           (code >= 0x20000 && code <= 0x3ffff);
}

static enum class classify(uint32_t code) {
    switch (utf8proc_category((utf8proc_int32_t)code)){
        case UTF8PROC_CATEGORY_LU : case UTF8PROC_CATEGORY_LL : case UTF8PROC_CATEGORY_LT :
                case UTF8PROC_CATEGORY_LM : case UTF8PROC_CATEGORY_LO : case UTF8PROC_CATEGORY_ND :
                    case UTF8PROC_CATEGORY_NL : case UTF8PROC_CATEGORY_NO :
                        return is_solo_script(code) ? CLASS_SOLO : CLASS_WORD;
        case UTF8PROC_CATEGORY_MN : case UTF8PROC_CATEGORY_MC : case
        UTF8PROC_CATEGORY_ME : return CLASS_MARK;
        case UTF8PROC_CATEGORY_CF : return code == 0x200b ? CLASS_SEPARATOR : CLASS_IGNORED;
        default : return code == '_' ? CLASS_WORD : CLASS_SEPARATOR;
    }
}

static struct folded fold(uint32_t code)
{
    struct folded folded = {.class = (uint8_t)classify(code)};
    if (folded.class == CLASS_SEPARATOR || folded.class == CLASS_IGNORED)
        return folded;

    utf8proc_int32_t codes[FOLD_MAX_CODES];
    int bound_class = UTF8PROC_BOUNDCLASS_START;
    utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)code, codes, FOLD_MAX_CODES,
                                                 UTF8PROC_CASEFOLD, &bound_class);
    if (n < 1 || n > FOLD_MAX_CODES) {
        codes[0] = (utf8proc_int32_t)code;
        n = 1;
    }
    for (utf8proc_ssize_t i = 0; i < n; i++)
        folded.n_bytes += (uint8_t)utf8proc_encode_char(codes[i], folded.bytes + folded.n_bytes);
    return folded;
}

static void fill_table(void)
{
    for (uint32_t code = 0; code < TABLE_END; code++)
        table[code] = fold(code);
}

void words_init(struct words *words, const struct canon_sink *sink)
{
    pthread_once(&table_once, fill_table);
    words->sink = *sink;
}

void words_begin(struct words *words)
{
    words->n_bytes = words->n_tokens = 0;
    words->open_is_solo = false;
    words->missing = 0;
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
    words->n_tokens = 0;
}

static void end_token(struct words *words)
{
    if (words->n_bytes != words->ends[words->n_tokens])
        words->ends[++words->n_tokens] = words->n_bytes;
    words->open_is_solo = false;
}

/* Room for n more bytes, and for ending a token before and behind each of them. */
static void make_room(struct words *words, uint32_t n)
{
    if (words->n_bytes + n > WORDS_BLOCK_BYTES || words->n_tokens + n + 1 > TOKEN_BLOCK_MAX)
        hand_out(words);
}

static void put(struct words *words, enum class class, const uint8_t *bytes, uint32_t n_bytes)
{
    make_room(words, FOLD_MAX_BYTES);
    bool open = words->n_bytes != words->ends[words->n_tokens];
    switch (class) {
    case CLASS_SEPARATOR: end_token(words); return;
    case CLASS_IGNORED: return;
    case CLASS_MARK:
        if (!open)
            return;
        break;
    case CLASS_WORD:
        if (words->open_is_solo)
            end_token(words);
        break;
    case CLASS_SOLO:
        end_token(words);
        words->open_is_solo = true;
        break;
    }
    if (words->n_bytes - words->ends[words->n_tokens] + n_bytes > CANON_TOKEN_MAX_BYTES) {
        bool solo = words->open_is_solo;
        end_token(words);
        words->open_is_solo = solo;
    }
    memcpy(words->bytes + words->n_bytes, bytes, n_bytes);
    words->n_bytes += n_bytes;
}

static void put_code(struct words *words, uint32_t code)
{
    struct folded folded;
    const struct folded *found = &folded;
    if (code < TABLE_END)
        found = &table[code];
    else
        folded = fold(code);
    put(words, found->class, found->bytes, found->n_bytes);
}

void words_separate(struct words *words)
{
    words->missing = 0; /* a sequence cut short is malformed and separates anyway */
    put(words, CLASS_SEPARATOR, NULL, 0);
}

void words_feed_code(struct words *words, uint32_t code)
{
    if (words->missing)
        words_separate(words);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        words_separate(words);
    else
        put_code(words, code);
}

/* Take n bytes of ASCII; there is room, and the open token does not get too long. */
static inline __attribute__((always_inline)) void take_ascii(struct words *words, const uint8_t *p,
                                                             size_t n)
{
    uint32_t n_bytes = words->n_bytes, n_tokens = words->n_tokens;
    uint32_t in_word = n_bytes != words->ends[n_tokens];
    for (size_t i = 0; i < n; i++) {
        uint8_t folded = ascii_fold[p[i]];
        uint32_t is_word = folded != 0;
        words->bytes[n_bytes] = folded;
        words->ends[n_tokens + 1] = n_bytes;
        n_tokens += in_word & ~is_word;
        n_bytes += is_word;
        in_word = is_word;
    }
    words->n_bytes = n_bytes;
    words->n_tokens = n_tokens;
}

/* How many of the next bytes, at most STEP, are ASCII. */
static inline size_t ascii_ahead(const uint8_t *p, size_t size_bytes)
{
    if (size_bytes >= STEP) {
        uint64_t step;
        memcpy(&step, p, STEP);
        step &= 0x8080808080808080;
        return step ? (size_t)__builtin_ctzll(step) / 8 : STEP;
    }
    size_t n = 0;
    while (n < size_bytes && p[n] < 0x80)
        n++;
    return n;
}

/* Take ASCII up to the first other byte, with no sequence open. Returns how many bytes. */
static size_t feed_ascii(struct words *words, const uint8_t *p, size_t size_bytes)
{
    size_t at = 0, n;
    while ((n = ascii_ahead(p + at, size_bytes - at)) > 0) {
        make_room(words, STEP);
        if (words->open_is_solo)
            end_token(words);
        if (words->n_bytes - words->ends[words->n_tokens] + n > CANON_TOKEN_MAX_BYTES) {
            for (size_t i = 0; i < n; i++)
                put_code(words, p[at + i]);
        } else if (n == STEP) {
            take_ascii(words, p + at, STEP);
        } else {
            take_ascii(words, p + at, n);
        }
        at += n;
    }
    return at;
}

/* One byte of UTF-8 as the table of well-formed sequences has it (The Unicode Standard, 3.9): no
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
        words_separate(words); /* and the byte begins something new */
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
        words_separate(words);
    }
}

void words_feed(struct words *words, const uint8_t *bytes, size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes;) {
        if (!words->missing)
            at += feed_ascii(words, bytes + at, size_bytes - at);
        if (at < size_bytes)
            feed_byte(words, bytes[at++]);
    }
}

void words_finish(struct words *words)
{
    words_separate(words);
    hand_out(words);
}
