/* Characters that join the one before them, and hyphens at the ends of lines.
 *
 * A soft hyphen is always dropped. The text alone cannot say whether another hyphen came with the
 * break of the line ("docu-", "ment") or stood there before ("well-", "known"), but texts whose
 * lines are broken within words show it by how often they end so. The word goes on in the next
 * line, or in the one behind an empty line, as in texts with double spacing, where that begins with
 * a small letter, and another line that ended so is not more than HYPHENS_WITHIN words before. Of
 * 1,966 words that nroff had broken in manual pages 96 % are made whole; of 704 compounds at the
 * ends of lines, in documents of a development machine that nobody had hyphenated, 82 % stay two
 * words, as they are within a line.
 */
#include <utf8proc.h>

#include "engine/text/words/compose.h"
#include "engine/text/words/unicode.h"
#include "engine/text/words/words_private.h"
#include "engine/text/encoding/utf8.h"

enum { HYPHENS_WITHIN = 300 };

/* The open token is cut at a byte from which on it belongs to the next token. */
static void cut_token(struct words *words, struct words_place *place, uint32_t at)
{
    words->ends[++place->n_tokens] = place->start = at;
}

/* The n bytes behind the open token are a character that may join the one before it. A letter and
 * its marks are not cut apart. */
static void join(struct words *words, uint32_t n, const struct unicode_property *property)
{
    struct words_place place = words_place_of(words);
    uint32_t tail, before = place.n_bytes;
    place.n_bytes = compose_join(words->bytes, place.start, before, n, property, &tail);
    if (place.n_bytes - place.start > CANON_TOKEN_MAX_BYTES)
        cut_token(words, &place, tail > place.start ? tail : before);
    words_settle(words, &place);
}

/* The open token ends with a letter of two bytes. Behind it a mark that no letter becomes one with
 * stays where it is. */
static inline bool ends_with_pair(const struct words *words, const struct words_place *place)
{
    const uint8_t *end = words->bytes + place->n_bytes;
    if (place->n_bytes - place->start < 2)
        return false;
    uint32_t first = end[-2] ^ 0xc0u, second = end[-1] ^ 0x80u;
    return first <= 0x1f && second <= 0x3f && unicode_pairs[first << 6 | second] != 0;
}

/* A hyphen behind two letters or more leaves the token open until it shows what comes. */
static void put_hyphen(struct words *words, bool soft)
{
    struct words_place place = words_place_of(words);
    uint8_t last = place.n_bytes > place.start ? words->bytes[place.n_bytes - 1] : 0;
    bool is_letter = last >= 0x80 || (last >= 'a' && last <= 'z');
    if (is_letter && !place.open_is_solo && (soft || place.n_bytes - place.start > 1)) {
        words->hyphen = WORDS_HYPHEN;
        words->hyphen_is_soft = soft;
    } else if (!soft) {
        words_end_token(words, &place);
        words_settle(words, &place);
    }
}

/* True when the word before a hyphen goes on in a line that begins with this character. */
static bool goes_on(struct words *words, uint32_t code)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)code);
    if (words->hyphen_is_soft)
        return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    if (category != UTF8PROC_CATEGORY_LL)
        return false;
    uint64_t before = words->hyphenated, now = words->n_handed_out + words->n_tokens + 1;
    words->hyphenated = now;
    return before > 0 && now - before <= HYPHENS_WITHIN;
}

/* The state of a hyphen and white space with one more of it; WORDS_NO_HYPHEN: no end of a line. */
static enum words_hyphen with_space(enum words_hyphen hyphen, uint32_t code)
{
    const bool behind_line = hyphen >= WORDS_RETURN;
    switch (code) {
    case '\f':
        if (!behind_line)
            return WORDS_NO_HYPHEN;
        /* fallthrough */
    case ' ':
    case '\t':
        return !behind_line ? WORDS_BLANKS : hyphen == WORDS_RETURN ? WORDS_NEW_LINE : hyphen;
    case '\r':
        return !behind_line ? WORDS_RETURN : hyphen == WORDS_RETURN ? WORDS_NO_HYPHEN : hyphen;
    case '\n':
        return hyphen == WORDS_EMPTY_LINE ? WORDS_NO_HYPHEN
               : hyphen == WORDS_NEW_LINE ? WORDS_EMPTY_LINE
                                          : WORDS_NEW_LINE;
    default: return WORDS_NO_HYPHEN;
    }
}

bool words_put_behind_hyphen(struct words *words, uint32_t code)
{
    const enum words_hyphen before = words->hyphen;
    words->hyphen = (uint8_t)with_space(before, code);
    if (words->hyphen)
        return true;
    if (before >= WORDS_RETURN ? !goes_on(words, code)
                               : before == WORDS_BLANKS || !words->hyphen_is_soft) {
        struct words_place place = words_place_of(words);
        words_end_token(words, &place);
        words_settle(words, &place);
    }
    return false;
}

void words_put_joining(struct words *words, uint32_t code)
{
    const struct unicode_property *property = unicode_property(code);
    struct words_place place = words_place_of(words);
    bool is_word = property->class == UNICODE_COMPOSING_WORD;
    if (property->class == UNICODE_HYPHEN) {
        put_hyphen(words, code == 0xad);
        return;
    }
    if (is_word && place.open_is_solo)
        words_end_token(words, &place);
    words_settle(words, &place);
    if (place.n_bytes == place.start && !is_word)
        return;
    bool stays = place.n_bytes == place.start ||
                 (property->class == UNICODE_ORDERED && !property->expands &&
                  place.n_bytes - place.start + UTF8_MAX_BYTES <= CANON_TOKEN_MAX_BYTES &&
                  ends_with_pair(words, &place));
    uint32_t n = unicode_put_folded(words->bytes + place.n_bytes, code, property);
    if (stays)
        words->n_bytes += n;
    else
        join(words, n, property);
}
