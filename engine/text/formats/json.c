/* The strings of JSON, unescaped. A string ends at its quotation mark or with its line, which no
 * string goes beyond, so that a damaged text is read on. An escape that stands for no character
 * separates words, as those for the ends of lines and tabs do.
 *
 * Example: {"name": "M\u00fcller", "tags": ["a\nb"]} has the words name, m<U+00FC>ller, tags, a
 * and b. A notebook is followed down to the sources of its cells: the stack of levels has the
 * containers that lead there, and any other container is only counted until it ends.
 *
 * Cost: memchr(3) between strings, a look at each byte within them. Left out: numbers as anything
 * but words, and keys as less than text.
 */
#include "engine/text/formats/json.h"

#include <string.h>

#include "engine/text/encoding/utf8.h"

/* -- strings -- */

static void show(struct json *json, const uint8_t *bytes, size_t n)
{
    if (!json->notebook || json->shown)
        gather_put(&json->gather, bytes, n);
    if (json->notebook && json->at_key) {
        size_t room = sizeof(json->key) - json->n_key, n_kept = n < room ? n : room;
        memcpy(json->key + json->n_key, bytes, n_kept);
        json->n_key += (uint8_t)n_kept;
    }
}

static void show_code(struct json *json, uint32_t code)
{
    uint8_t bytes[UTF8_MAX_BYTES];
    show(json, bytes, utf8_put(bytes, code));
}

/* Ends a first half of a pair. One that has no second half stands for no character. */
static void end_surrogate(struct json *json)
{
    if (json->surrogate)
        show(json, (const uint8_t *)" ", 1);
    json->surrogate = 0;
}

static void end_hex(struct json *json)
{
    const uint32_t unit = json->hex;
    if (json->surrogate && unit >= 0xdc00 && unit < 0xe000) {
        const uint32_t high = json->surrogate - 0xd800u;
        json->surrogate = 0;
        show_code(json, 0x10000 + (high << 10 | (unit - 0xdc00)));
        return;
    }
    end_surrogate(json);
    if (unit >= 0xd800 && unit < 0xdc00)
        json->surrogate = (uint16_t)unit;
    else
        show_code(json, unit < ' ' || (unit >= 0xdc00 && unit < 0xe000) ? ' ' : unit);
}

static int digit_of(uint8_t c)
{
    const uint8_t lower = c | 0x20;
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Takes a digit of an escape. Returns false for a byte that is none. */
static bool feed_hex(struct json *json, uint8_t c)
{
    const int digit = digit_of(c);
    if (digit < 0) {
        json->state = JSON_STRING;
        show(json, (const uint8_t *)" ", 1);
        return false;
    }
    json->hex = (uint16_t)(json->hex << 4 | digit);
    if (++json->n_hex == 4) {
        json->state = JSON_STRING;
        end_hex(json);
    }
    return true;
}

static void feed_escape(struct json *json, uint8_t c)
{
    json->state = JSON_STRING;
    if (c == 'u') {
        json->state = JSON_HEX;
        json->n_hex = 0;
        json->hex = 0;
        return;
    }
    end_surrogate(json);
    show(json, c == '"' || c == '\\' || c == '/' ? &c : (const uint8_t *)" ", 1);
}

/* -- where the strings of a notebook are -- */

static bool key_is(const struct json *json, const char *text)
{
    return json->n_key == strlen(text) && memcmp(json->key, text, json->n_key) == 0;
}

static enum json_level level(const struct json *json)
{
    return json->n_levels ? json->levels[json->n_levels - 1] : JSON_TOP;
}

/* The level of a container that begins here; JSON_TOP for one whose strings are no text. */
static enum json_level level_of(const struct json *json, bool object)
{
    switch (level(json)) {
    case JSON_TOP: return object ? JSON_ROOT : JSON_TOP;
    case JSON_ROOT:
        if (!object && key_is(json, "worksheets"))
            return JSON_SHEETS;
        return !object && key_is(json, "cells") ? JSON_CELLS : JSON_TOP;
    case JSON_SHEETS: return object ? JSON_SHEET : JSON_TOP;
    case JSON_SHEET: return !object && key_is(json, "cells") ? JSON_CELLS : JSON_TOP;
    case JSON_CELLS: return object ? JSON_CELL : JSON_TOP;
    case JSON_CELL:
        return !object && (key_is(json, "source") || key_is(json, "input")) ? JSON_SOURCE
                                                                            : JSON_TOP;
    case JSON_SOURCE: break;
    }
    return JSON_TOP;
}

static void begin_container(struct json *json, bool object)
{
    const enum json_level of = json->n_others ? JSON_TOP : level_of(json, object);
    if (of != JSON_TOP)
        json->levels[json->n_levels++] = (uint8_t)of;
    else if (json->n_others < UINT32_MAX)
        json->n_others++;
    json->at_key = object && of != JSON_TOP;
}

static void end_container(struct json *json)
{
    if (json->n_others)
        json->n_others--;
    else if (json->n_levels)
        json->n_levels--;
    json->at_key = false;
}

static void begin_string(struct json *json)
{
    const enum json_level of = json->n_others ? JSON_TOP : level(json);
    json->shown = of == JSON_SOURCE || (of == JSON_CELL && !json->at_key &&
                                        (key_is(json, "source") || key_is(json, "input")));
    if (json->at_key)
        json->n_key = 0;
}

static bool is_object(enum json_level of)
{
    return of == JSON_ROOT || of == JSON_SHEET || of == JSON_CELL;
}

static void feed_structure(struct json *json, uint8_t c)
{
    switch (c) {
    case '{': begin_container(json, true); break;
    case '[': begin_container(json, false); break;
    case '}':
    case ']': end_container(json); break;
    case ':': json->at_key = false; break;
    case ',': json->at_key = !json->n_others && is_object(level(json)); break;
    default: break;
    }
}

/* -- states -- */

static void end_string(struct json *json)
{
    end_surrogate(json);
    json->state = JSON_BETWEEN;
    if (!json->notebook || json->shown)
        gather_separate(&json->gather);
}

/* Takes bytes between strings, up to the next one. Returns their number. */
static size_t feed_between(struct json *json, const uint8_t *p, size_t n)
{
    const uint8_t *quote = memchr(p, '"', n);
    size_t n_between = quote ? (size_t)(quote - p) : n;
    if (!json->notebook)
        gather_put(&json->gather, p, n_between);
    else
        for (size_t i = 0; i < n_between; i++)
            feed_structure(json, p[i]);
    if (!quote)
        return n;
    json->state = JSON_STRING;
    if (json->notebook)
        begin_string(json);
    return n_between + 1;
}

/* Takes a run of characters that stand for themselves, and the one that ends it. */
static size_t feed_string(struct json *json, const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] != '"' && p[i] != '\\' && p[i] != '\n')
        i++;
    if (i > 0) {
        end_surrogate(json);
        show(json, p, i);
    }
    if (i == n)
        return n;
    if (p[i] == '\\')
        json->state = JSON_ESCAPE;
    else
        end_string(json);
    return i + 1;
}

void json_begin(struct json *json, bool notebook, struct words *words)
{
    memset(json, 0, offsetof(struct json, gather));
    json->notebook = notebook;
    gather_begin(&json->gather, words);
}

void json_feed(struct json *json, const uint8_t *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        size_t n = 1;
        switch (json->state) {
        case JSON_BETWEEN: n = feed_between(json, bytes, size_bytes); break;
        case JSON_STRING: n = feed_string(json, bytes, size_bytes); break;
        case JSON_ESCAPE: feed_escape(json, *bytes); break;
        case JSON_HEX: n = feed_hex(json, *bytes); break;
        }
        bytes += n;
        size_bytes -= n;
    }
}

void json_finish(struct json *json)
{
    end_surrogate(json);
    gather_separate(&json->gather);
    gather_flush(&json->gather);
}
