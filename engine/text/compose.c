#include "engine/text/compose.h"

#include <assert.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/canon.h"
#include "engine/text/utf8.h"

/* The character that ends before `end`; *ret_at: where it begins. */
static uint32_t code_before(const uint8_t *bytes, uint32_t end, uint32_t *ret_at)
{
    utf8proc_int32_t code;
    do
        end--;
    while ((bytes[end] & 0xc0) == 0x80);
    *ret_at = end;
    utf8proc_iterate(bytes + end, UTF8_MAX_BYTES, &code);
    return (uint32_t)code;
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

/* Put the last character, the n bytes behind end, where it belongs among the marks behind tail, if
 * it is barred there. Returns whether it is. */
static bool insert(uint8_t *bytes, uint32_t tail, uint32_t end, uint32_t n, uint32_t code)
{
    uint8_t mark[UNICODE_EXPANSION_MAX_BYTES];
    uint32_t at = end, before_at = end, before;
    do {
        at = before_at;
        before = code_before(bytes, at, &before_at);
    } while (before_at > tail && combining_class(before) > combining_class(code));
    if (!is_barred(before, code))
        return false;
    memcpy(mark, bytes + end, n);
    memmove(bytes + at + n, bytes + at, end - at);
    memcpy(bytes + at, mark, n);
    return true;
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
    for (unsigned i = 0; combining_class(code) > 0 && tail > start && i < COMPOSE_MARKS_MAX; i++)
        code = code_before(bytes, tail, &tail);
    bool whole = combining_class(code) == 0;
    *ret_tail = whole ? tail : start;
    if (one)
        return tail + (uint32_t)utf8_put(bytes + tail, one);
    if (whole && moves && !property->expands && insert(bytes, tail, end, n, joining))
        return end + n;
    if (whole && moves)
        return tail + compose(bytes + tail, end + n - tail);
    return end + n;
}
