#include "engine/text/compose.h"

#include <assert.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/canon.h"
#include "engine/text/utf8.h"

/* The character that ends before `end`; *ret_at: where it begins. */
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

/* The open token's last character of combining class 0 and the marks behind it, COMPOSE_MARKS_MAX
 * at most, in canonical order and composed. Returns how many bytes they have. */
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

/* What two characters are, 0 where that is two: the consonant and the vowel of a syllable of
 * Hangul, these and its last consonant, and those of the table. */
static uint32_t composed(uint32_t first, uint32_t second)
{
    const uint32_t n_first = first - 0x1100, n_vowel = second - 0x1161, n_last = second - 0x11a7;
    if (n_first < 19 && n_vowel < 21)
        return 0xac00 + (n_first * 21 + n_vowel) * 28;
    if (first >= 0xac00 && first < 0xd7a4 && (first - 0xac00) % 28 == 0 && n_last < 28)
        return first + n_last;
    return unicode_composed(first, second);
}

/* True: behind `before` the mark is in its place, and one with nothing, for that is a mark of its
 * class. Nor is any other mark one with something else for it. */
static bool is_barred(uint32_t before, uint32_t code)
{
    return combining_class(code) > 0 && combining_class(before) == combining_class(code);
}

/* Whether a mark that is not barred becomes one with the letter, which may have become one with
 * marks before: with what it was ahead of those that belong behind this one. */
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

/* Put the n bytes behind end where they belong. */
static void insert(uint8_t *bytes, uint32_t at, uint32_t end, uint32_t n)
{
    uint8_t mark[UNICODE_EXPANSION_MAX_BYTES];
    memcpy(mark, bytes + end, n);
    memmove(bytes + at + n, bytes + at, end - at);
    memcpy(bytes + at, mark, n);
}

/* Whether a character that is not one with the token's last one may stay behind it. */
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
    /* Most marks stay where they came, which is told without a look at those before the last. */
    if (!one && !moves && end + n - start <= CANON_TOKEN_MAX_BYTES)
        return end + n;
    const unsigned class = combining_class(joining);
    uint32_t place = end; /* of the joining one: ahead of the marks of higher classes */
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
    /* It stays a mark, and then all others stay what they are. */
    if (!property->expands && class > 0 && (barred || !mark_joins(code, joining))) {
        insert(bytes, place, end, n);
        return end + n;
    }
    return tail + compose(bytes + tail, end + n - tail);
}
