/* JSON is told from other texts by its grammar, up to the end of the head or to a nesting that is
 * deeper than is followed here. No program that has braces is taken for it.
 *
 * Example: {"a": [1, {"b" ends in the middle, and is JSON so far; { int a; } is none, as a key must
 * be a string. Cost: one pass over the head; a stack of 64 bits. Left out: what readers allow
 * beside the grammar (comments, trailing commas). */
#include "engine/text/formats/json.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

struct sniff {
    const uint8_t *p, *end;
    uint64_t objects; /* a bit for each open container, the innermost lowest: it is an object */
    unsigned depth;
    bool has_string, is_notebook, has_cell;
};

static void skip_spaces(struct sniff *sniff)
{
    while (sniff->p < sniff->end && memchr(" \t\r\n", *sniff->p, 4))
        sniff->p++;
}

/* Takes a string. Returns false when there is none; one that the head cuts off is taken for one. */
static bool take_string(struct sniff *sniff, struct sniff *ret_text)
{
    if (*sniff->p != '"')
        return false;
    sniff->p++;
    ret_text->p = sniff->p;
    while (sniff->p < sniff->end && *sniff->p != '"') {
        if (*sniff->p < ' ')
            return false;
        if (*sniff->p == '\\' && sniff->p + 1 < sniff->end) {
            sniff->p++;
            if (!memchr("\"\\/bfnrtu", *sniff->p, 9))
                return false;
        }
        sniff->p++;
    }
    ret_text->end = sniff->p;
    sniff->p += sniff->p < sniff->end;
    sniff->has_string = true;
    return true;
}

/* Takes a number, true, false or null. */
static bool take_plain(struct sniff *sniff)
{
    static const char *const words[] = {"true", "false", "null"};
    const uint8_t *begin = sniff->p;
    while (sniff->p < sniff->end && !memchr(" \t\r\n,:]}[{\"", *sniff->p, 11))
        sniff->p++;
    const size_t n = (size_t)(sniff->p - begin);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (n <= strlen(words[i]) && memcmp(begin, words[i], n) == 0 &&
            (n == strlen(words[i]) || sniff->p == sniff->end))
            return n > 0;
    for (size_t i = 0; i < n; i++)
        if (!memchr("0123456789+-.eE", begin[i], 15))
            return false;
    return n > 0 && begin[0] != '+' && begin[0] != '.';
}

static void note_key(struct sniff *sniff, const struct sniff *key)
{
    static const char *const of_notebooks[] = {"cells", "nbformat", "nbformat_minor", "worksheets"};
    const size_t n = (size_t)(key->end - key->p);
    for (size_t i = 0; sniff->depth == 1 && i < sizeof(of_notebooks) / sizeof(of_notebooks[0]); i++)
        sniff->is_notebook |=
            n == strlen(of_notebooks[i]) && memcmp(key->p, of_notebooks[i], n) == 0;
    sniff->has_cell |=
        sniff->depth > 1 && n == strlen("cell_type") && !memcmp(key->p, "cell_type", n);
}

/* Takes "key" and the colon behind it, in an object. Returns false when there is none. */
static bool take_key(struct sniff *sniff)
{
    struct sniff text;
    if (!take_string(sniff, &text))
        return false;
    note_key(sniff, &text);
    skip_spaces(sniff);
    if (sniff->p == sniff->end)
        return true;
    return *sniff->p++ == ':';
}

/* Takes the bytes behind a value: ends of containers, a comma, and at the top another value. */
static bool take_ends(struct sniff *sniff)
{
    for (;;) {
        skip_spaces(sniff);
        if (sniff->p == sniff->end || sniff->depth == 0)
            return true;
        const bool in_object = sniff->objects & 1;
        if (*sniff->p == ',') {
            sniff->p++;
            skip_spaces(sniff);
            return sniff->p == sniff->end || !in_object || take_key(sniff);
        }
        if (*sniff->p != (in_object ? '}' : ']'))
            return false;
        sniff->p++;
        sniff->depth--;
        sniff->objects >>= 1;
    }
}

/* Takes "{" or "[", and behind it the end of the container or the key of its first value. */
static bool take_begin(struct sniff *sniff, bool *ret_empty)
{
    const bool object = *sniff->p++ == '{';
    sniff->objects = sniff->objects << 1 | object;
    sniff->depth++;
    skip_spaces(sniff);
    *ret_empty = sniff->p < sniff->end && *sniff->p == (object ? '}' : ']');
    return *ret_empty || sniff->p == sniff->end || !object || take_key(sniff);
}

static bool take_value(struct sniff *sniff)
{
    struct sniff text;
    bool empty = false;
    skip_spaces(sniff);
    if (sniff->p == sniff->end)
        return true;
    if (*sniff->p == '{' || *sniff->p == '[')
        return take_begin(sniff, &empty) && (!empty || take_ends(sniff));
    if (sniff->depth == 0) /* a word alone is no document */
        return false;
    return (*sniff->p == '"' ? take_string(sniff, &text) : take_plain(sniff)) && take_ends(sniff);
}

enum json_is json_sniff(const uint8_t *head, size_t head_bytes)
{
    struct sniff sniff = {.p = head, .end = head + head_bytes};
    if (head_bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0)
        sniff.p += 3;
    skip_spaces(&sniff);
    if (sniff.p == sniff.end || (*sniff.p != '{' && *sniff.p != '['))
        return JSON_IS_NONE;
    while (sniff.p < sniff.end && sniff.depth < DEPTH_MAX)
        if (!take_value(&sniff))
            return JSON_IS_NONE;
    if (sniff.is_notebook && sniff.has_cell)
        return JSON_IS_NOTEBOOK;
    return sniff.has_string ? JSON_IS_JSON : JSON_IS_NONE;
}
