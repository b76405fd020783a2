/* Canonical composition of a token as its characters come. A joining character is looked at
 * together with the last letter (combining class 0) and the marks behind it: it becomes one with
 * the letter, or is put into its place among the marks, or stays where it came.
 *
 * Example: e, dot below (class 220) and acute (class 230) come in any order. With the dot first it
 * becomes one with e, and the acute stays behind; with the acute first e-acute is made, and the dot
 * then is decomposed with it and composed again: e-dot, acute. Both orders give one token.
 *
 * Most marks stay where they came and are told by the last character alone. The rest is decided by
 * utf8proc over at most COMPOSE_MARKS_MAX marks, so that a mark costs a bounded time.
 *
 * Left out: normalising whole texts before, which would take another pass and a buffer.
 */
#include "engine/text/words/compose.h"

#include <assert.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/canon.h"
#include "engine/text/encoding/utf8.h"

/* The character that ends before `end`; *ret_at: its beginning. */
static uint32_t code_before(const uint8_t *bytes, uint32_t end, uint32_t *ret_at)
{
    uint32_t code = 0;
    unsigned shift = 0;
    for (; (bytes[--end] & 0xc0) == 0x80; shift += 6)
        code |= (bytes[end] & 0x3fu) << shift;
    *ret_at = end;
    return shift ? code | (bytes[end] & 0x3fu >> shift / 6) << shift : bytes[end];
}

static unsigned combining_class(uint32_t code)
{
    return (unsigned)utf8proc_get_property((utf8proc_int32_t)code)->combining_class;
}

/* Brings a letter and the marks behind it, COMPOSE_MARKS_MAX at most, into canonical order and
 * composes them. Returns the number of bytes they then have. */
static uint32_t compose(uint8_t *bytes, uint32_t n_bytes)
{
    enum { DECOMPOSED_MAX = 4 * (COMPOSE_MARKS_MAX + UNICODE_EXPANSION_MAX_BYTES) };
    utf8proc_int32_t codes[DECOMPOSED_MAX];
    utf8proc_ssize_t n = utf8proc_decompose(bytes, (utf8proc_ssize_t)n_bytes, codes, DECOMPOSED_MAX,
                                            UTF8PROC_DECOMPOSE);
    assert(n > 0 && n <= DECOMPOSED_MAX);
    n = utf8proc_normalize_utf32(codes, n, (utf8proc_option_t)(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    n_bytes = 0;
    for (utf8proc_ssize_t i = 0; i < n; i++)
        n_bytes += (uint32_t)utf8proc_encode_char(codes[i], bytes + n_bytes);
    return n_bytes;
}

static bool is_decomposable(uint32_t code)
{
    utf8proc_int32_t codes[4];
    int bound_class = UTF8PROC_BOUNDCLASS_START;
    return utf8proc_decompose_char((utf8proc_int32_t)code, codes, 4, UTF8PROC_DECOMPOSE,
                                   &bound_class) != 1;
}

/* The character that two compose to, 0 where they stay two: the consonant and the vowel of a
 * syllable of Hangul, these and its last consonant, and the pairs of the table. */
static uint32_t composed(uint32_t first, uint32_t second)
{
    const uint32_t n_first = first - 0x1100, n_vowel = second - 0x1161, n_last = second - 0x11a7;
    if (n_first < 19 && n_vowel < 21)
        return 0xac00 + (n_first * 21 + n_vowel) * 28;
    if (first >= 0xac00 && first < 0xd7a4 && (first - 0xac00) % 28 == 0 && n_last < 28)
        return first + n_last;
    return unicode_composed(first, second);
}

/* True when `before` is a mark of the same class as the mark `code`, which bars it from the letter:
 * the mark is then in its place and composes with nothing, and changes nothing for others. */
static bool is_barred(uint32_t before, uint32_t code)
{
    return combining_class(code) > 0 && combining_class(before) == combining_class(code);
}

/* True when a mark that is not barred composes with the letter. The letter may be composed with
 * marks already; those that belong behind this mark are taken off it first. */
static bool mark_joins(uint32_t letter, uint32_t code)
{
    utf8proc_int32_t codes[4];
    int bound_class = UTF8PROC_BOUNDCLASS_START;
    const utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)letter, codes, 4,
                                                       UTF8PROC_DECOMPOSE, &bound_class);
    if (n < 1 || n > 4)
        return true;
    letter = (uint32_t)codes[0];
    for (utf8proc_ssize_t i = 1; i < n; i++)
        if (combining_class((uint32_t)codes[i]) <= combining_class(code))
            letter = composed(letter, (uint32_t)codes[i]);
    return composed(letter, code) != 0;
}

/* Moves the n bytes behind end to their place at `at`. */
static void insert(uint8_t *bytes, uint32_t at, uint32_t end, uint32_t n)
{
    uint8_t mark[UNICODE_EXPANSION_MAX_BYTES];
    memcpy(mark, bytes + end, n);
    memmove(bytes + at + n, bytes + at, end - at);
    memcpy(bytes + at, mark, n);
}

/* True when a character that does not compose with the token's last one may stay behind it. */
static bool stays(uint32_t last, uint32_t code, enum unicode_class class)
{
    switch (class) {
    case UNICODE_ORDERED: return combining_class(last) <= combining_class(code);
    case UNICODE_COMPOSING:
        return is_barred(last, code) || (combining_class(last) == 0 && !is_decomposable(last));
    default: return true;
    }
}

uint32_t compose_join(uint8_t *bytes, uint32_t start, uint32_t end, uint32_t n,
                      const struct unicode_property *property, uint32_t *ret_tail)
{
    uint32_t at, tail, last = code_before(bytes, end, &tail), code = last;
    uint32_t joining = code_before(bytes, end + n, &at);
    uint32_t one = property->expands ? 0 : composed(last, joining);
    const bool moves = property->expands || !stays(last, joining, property->class);
    *ret_tail = start;
    /* Most marks stay where they came, which the last character alone tells. */
    if (!one && !moves && end + n - start <= CANON_TOKEN_MAX_BYTES)
        return end + n;
    const unsigned class = combining_class(joining);
    uint32_t place = end; /* the place of the joining mark: ahead of marks of higher classes */
    bool barred = false;
    unsigned its;
    for (unsigned i = 0; (its = combining_class(code)) > 0 && tail > start && i < COMPOSE_MARKS_MAX;
         i++) {
        place = its > class ? tail : place;
        barred |= its == class;
        code = code_before(bytes, tail, &tail);
    }
    const bool whole = its == 0;
    *ret_tail = whole ? tail : start;
    if (one)
        return tail + (uint32_t)utf8_put(bytes + tail, one);
    if (!whole || !moves)
        return end + n;
    /* The mark does not compose with the letter; then all other marks stay as they are, too. */
    if (!property->expands && class > 0 && (barred || !mark_joins(code, joining))) {
        insert(bytes, place, end, n);
        return end + n;
    }
    return tail + compose(bytes + tail, end + n - tail);
}
