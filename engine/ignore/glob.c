/* The pattern and the name are gone through together. At a star its place is kept, with the place
 * of the name; when something further on does not match, the star takes one byte more, and all
 * behind it is tried again. A star before it need not be: whatever more it could take, the later
 * star can take as well.
 *
 * Example: a*bc against axbxbc. The star takes nothing, then x, then xb, then xbx; then bc is left
 * of both.
 */
#include "engine/ignore/glob.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    int (*has)(int);
} kinds[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
             {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
             {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};

/* One "[:digit:]" of a class. Returns what is behind it, or NULL where it is none. */
static const char *match_kind(const char *at, const char *end, unsigned char byte, bool *matches)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const size_t n = strlen(kinds[i].name);
        if ((size_t)(end - at) < n + 4 || memcmp(at, "[:", 2) != 0 ||
            memcmp(at + 2, kinds[i].name, n) != 0 || memcmp(at + 2 + n, ":]", 2) != 0)
            continue;
        *matches |= byte < 0x80 && kinds[i].has(byte);
        return at + n + 4;
    }
    return NULL;
}

/* One byte of a class, which may have a backslash before it. */
static unsigned char take_byte(const char **at, const char *end)
{
    if (**at == '\\' && *at + 1 < end)
        ++*at;
    return (unsigned char)*(*at)++;
}

/* A class, from the byte behind its [. Returns what is behind its ], or NULL where it has none, or
 * more bytes than there are steps. */
static const char *match_class(const char *at, const char *end, unsigned char byte, size_t *steps,
                               bool *ret_matches)
{
    const bool negated = at < end && (*at == '!' || *at == '^');
    bool matches = false;
    at += negated;
    for (bool first = true; at < end && (first || *at != ']'); first = false) {
        if (*steps == 0)
            return NULL;
        --*steps;
        const char *behind = NULL;
        if (end - at >= 2 && memcmp(at, "[:", 2) == 0) {
            const size_t n = sizeof(kinds) / sizeof(kinds[0]); /* which are all compared */
            *steps -= n < *steps ? n : *steps;
            behind = match_kind(at, end, byte, &matches);
        }
        if (behind) {
            at = behind;
            continue;
        }
        const unsigned char low = take_byte(&at, end);
        unsigned char high = low;
        if (end - at >= 2 && at[0] == '-' && at[1] != ']') {
            at++;
            high = take_byte(&at, end);
        }
        matches |= low <= byte && byte <= high;
    }
    *ret_matches = matches != negated;
    return at < end ? at + 1 : NULL;
}

/* One byte of a name against what the pattern, which has not ended, has there. Returns what is
 * behind that, or NULL where it does not match. */
static const char *match_one(const char *at, const char *end, unsigned char byte, size_t *steps)
{
    bool matches;
    switch (*at) {
    case '?': return at + 1;
    case '[':
        at = match_class(at + 1, end, byte, steps, &matches);
        return at && matches ? at : NULL;
    case '\\':
        if (at + 1 < end)
            at++;
        break;
    default: break;
    }
    return (unsigned char)*at == byte ? at + 1 : NULL;
}

bool glob_matches(const char *pattern, size_t n_pattern, const char *name, size_t n_name,
                  size_t *steps)
{
    const char *at = pattern, *end = pattern + n_pattern;
    const char *byte = name, *name_end = name + n_name;
    const char *behind_star = NULL, *star_took = NULL;
    for (; *steps; *steps -= *steps > 0) {
        const char *next = NULL;
        if (at < end && *at == '*') {
            behind_star = ++at;
            star_took = byte;
            continue;
        }
        if (at == end && byte == name_end)
            return true;
        if (at < end && byte < name_end)
            next = match_one(at, end, (unsigned char)*byte, steps);
        if (next) {
            at = next;
            byte++;
        } else if (behind_star && star_took < name_end) {
            at = behind_star;
            byte = ++star_took;
        } else {
            return false;
        }
    }
    return false;
}
