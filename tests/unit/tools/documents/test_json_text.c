/* Lines that simdjson reads, member by member; and some thousand mutated ones, of which json-c is
 * to find the same text and the same id wherever there are any. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/cleanup.h"
#include "tools/documents/json_text.h"
#include "tools/show/json_path.h"

DEFINE_CLEANUP(struct json_text_reader *, json_text_reader_free);
DEFINE_CLEANUP(struct json_tokener *, json_tokener_free);

/* Of its own allocation, so that a byte read past the padding is noticed, which has what continues
 * a line best. */
static uint8_t *padded(const char *line, size_t n_bytes)
{
    uint8_t *bytes = malloc(n_bytes + JSON_TEXT_PADDING);
    assert_non_null(bytes);
    memcpy(bytes, line, n_bytes);
    for (size_t i = 0; i < JSON_TEXT_PADDING; i++)
        bytes[n_bytes + i] = (uint8_t) "0\"}]x\\"[i % 6];
    return bytes;
}

struct expected {
    const char *line;
    int fault;
    const char *text, *id;
};

static void check(struct json_text_reader *reader, const struct expected *expected)
{
    struct json_text text;
    _cleanup_free_ uint8_t *line = padded(expected->line, strlen(expected->line));
    int fault = json_text_read(reader, line, strlen(expected->line), &text);
    if (fault != expected->fault)
        print_error("%s: %s\n", expected->line, json_text_fault_name((enum json_text_fault)fault));
    assert_int_equal(fault, expected->fault);
    if (expected->text) {
        assert_int_equal(text.text_bytes, strlen(expected->text));
        assert_memory_equal(text.text, expected->text, text.text_bytes);
    }
    const char *id = expected->id ? expected->id : "";
    assert_int_equal(text.id_bytes, strlen(id));
    if (*id)
        assert_memory_equal(text.id, id, text.id_bytes);
}

static void texts_and_ids(void **state)
{
    (void)state;
    static const struct expected lines[] = {
        {"{\"text\":\"a\"}", JSON_TEXT_GOOD, "a", NULL},
        {" { \"id\" : 1.50 , \"text\" : \"a\" } \r\n", JSON_TEXT_GOOD, "a", "1.50"},
        {"{\"text\":\"\\u00e9\\ud83d\\ude00\\n\\/\",\"id\":\"\\u00e9\"}", JSON_TEXT_GOOD, "é😀\n/",
         "\"\\u00e9\""},
        {"{\"te\\u0078t\":\"a\"}", JSON_TEXT_GOOD, "a", NULL},
        {"{\"text\":\"a\",\"id\":1,\"text\":\"b\",\"id\":2}", JSON_TEXT_GOOD, "b", "2"},
        {"{\"text\":\"a\",\"id\":1,\"text\":5,\"id\":[1]}", JSON_TEXT_NO_STRING, NULL, NULL},
        {"{\"text\":\"a\",\"id\":1,\"id\":null}", JSON_TEXT_GOOD, "a", NULL},
        {"{\"x\":{\"text\":\"a\"},\"id\":1}", JSON_TEXT_NO_FIELD, NULL, "1"},
        {"{\"x\":[{\"text\":\"a\"}],\"id\":true}", JSON_TEXT_NO_FIELD, NULL, "true"},
        {"{\"text\":{\"text\":\"a\"}}", JSON_TEXT_NO_STRING, NULL, NULL},
        {"{\"text\":\"\",\"x\":-1e999,\"id\":123456789012345678901234567890}", JSON_TEXT_GOOD, "",
         "123456789012345678901234567890"},
        {"{}", JSON_TEXT_NO_FIELD, NULL, NULL},
        {"[]", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"\"text\"", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"1", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\"", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\"}}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\"}0", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\" \"x\":1}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":[1,2}}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":[1 2]}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":01}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":1.}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":.1}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":+1}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":-}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":1e}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":nan}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\",\"x\":truex}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"a\tb\"}", JSON_TEXT_NO_OBJECT, NULL, NULL},
        {"{\"text\":\"\\ud800\"}", JSON_TEXT_NO_ESCAPE, NULL, NULL},
        {"{\"text\":\"\\udc00\"}", JSON_TEXT_NO_ESCAPE, NULL, NULL},
        {"{\"text\":\"\\ud800\\u0041\"}", JSON_TEXT_NO_ESCAPE, NULL, NULL},
        {"{\"text\":\"a\",\"x\":[\"\\q\"]}", JSON_TEXT_NO_ESCAPE, NULL, NULL},
        {"{\"text\":\"a\",\"\\u12\":1}", JSON_TEXT_NO_ESCAPE, NULL, NULL},
        {"{\"text\":\"\xff\"}", JSON_TEXT_NO_UTF8, NULL, NULL},
        {"{\"text\":\"a\",\"x\":\"\xed\xa0\x80\"}", JSON_TEXT_NO_UTF8, NULL, NULL},
        {"{\"text\":\"a\xc3", JSON_TEXT_NO_OBJECT, NULL, NULL},
    };
    _cleanup_(json_text_reader_free_p) struct json_text_reader *reader =
        json_text_reader_new("text", "id");
    assert_non_null(reader);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        check(reader, &lines[i]);
}

static void fields_within(void **state)
{
    (void)state;
    static const struct expected lines[] = {
        {"{\"a\":{\"b\":\"x\",\"c\":{\"d\":7}}}", JSON_TEXT_GOOD, "x", "7"},
        {"{\"b\":\"y\",\"a\":{\"c\":{\"d\":\"7\"},\"b\":\"x\"},\"d\":1}", JSON_TEXT_GOOD, "x",
         "\"7\""},
        {"{\"a\":[{\"b\":\"x\"}]}", JSON_TEXT_NO_FIELD, NULL, NULL},
        {"{\"a\":{\"a\":{\"b\":\"x\"}}}", JSON_TEXT_NO_FIELD, NULL, NULL},
        {"{\"a\":\"b\"}", JSON_TEXT_NO_FIELD, NULL, NULL},
        {"{\"a.b\":\"x\"}", JSON_TEXT_NO_FIELD, NULL, NULL},
    };
    _cleanup_(json_text_reader_free_p) struct json_text_reader *reader =
        json_text_reader_new("a.b", "a.c.d");
    assert_non_null(reader);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        check(reader, &lines[i]);
}

/* As deep as it may be, and one deeper. */
static void depth(void **state)
{
    (void)state;
    _cleanup_(json_text_reader_free_p) struct json_text_reader *reader =
        json_text_reader_new("text", NULL);
    assert_non_null(reader);
    for (unsigned more = 0; more < 2; more++) {
        struct json_text text;
        char line[4 * JSON_TEXT_MOST_DEEP] = "{\"text\":\"a\",\"x\":";
        const size_t n = JSON_TEXT_MOST_DEEP + more, at = strlen(line);
        memset(line + at, '[', n);
        memset(line + at + n, ']', n);
        line[at + 2 * n] = '}';
        _cleanup_free_ uint8_t *bytes = padded(line, at + 2 * n + 1);
        assert_int_equal(json_text_read(reader, bytes, at + 2 * n + 1, &text),
                         more ? JSON_TEXT_NO_OBJECT : JSON_TEXT_GOOD);
    }
}

static uint64_t seed = 1;

static size_t below(size_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(seed >> 33) % n;
}

enum { MUTATED_MOST_BYTES = 512 };

static size_t mutate(char line[MUTATED_MOST_BYTES], size_t n)
{
    static const char *const pieces[] = {
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        " ",
        "\n",
        "0",
        "-",
        "e",
        ".",
        "\\u",
        "\\ud83d",
        "\\ude00",
        "\xc3",
        "\xa9",
        "\xf0\x9f\x98\x80",
        "\xff",
        "null",
        "true",
        "\"text\":",
        "\"id\":",
        "\"\\u0069d\":",
        "{\"text\":\"b\"}",
        "1e5",
        "\t",
        "\\n",
        "[[",
        "]]",
        "\"x\":[1],",
    };
    for (size_t i = below(3) + 1; i > 0; i--) {
        size_t at = below(n + 1), gone = below(4) ? below(3) : below(n - at + 1);
        const char *piece = below(4) ? pieces[below(sizeof(pieces) / sizeof(pieces[0]))] : "";
        const size_t n_piece = strlen(piece);
        gone = gone > n - at ? n - at : gone;
        if (n - gone + n_piece > MUTATED_MOST_BYTES)
            continue;
        memmove(line + at + n_piece, line + at + gone, n - at - gone);
        memcpy(line + at, piece, n_piece);
        n = n - gone + n_piece;
    }
    return n;
}

static struct json_object *parse(const char *bytes, size_t n_bytes)
{
    _cleanup_(json_tokener_free_p) struct json_tokener *tokener = json_tokener_new_ex(1000);
    assert_non_null(tokener);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    char *text = strndup(bytes, n_bytes); /* a number ends at what is behind it */
    assert_non_null(text);
    struct json_object *object = json_tokener_parse_ex(tokener, text, (int)n_bytes + 1);
    free(text);
    return object;
}

/* What was found is what json-c finds. */
static void compare(const char *line, size_t n, int fault, const struct json_text *found)
{
    struct json_object *text = NULL, *id = NULL;
    _cleanup_json_ struct json_object *object = parse(line, n), *found_id = NULL;
    if (!json_object_is_type(object, json_type_object))
        print_error("%.*s\n", (int)n, line);
    assert_true(json_object_is_type(object, json_type_object));
    const bool is_there = json_object_object_get_ex(object, "text", &text);
    assert_int_equal(fault, !is_there                                     ? JSON_TEXT_NO_FIELD
                            : json_object_is_type(text, json_type_string) ? JSON_TEXT_GOOD
                                                                          : JSON_TEXT_NO_STRING);
    if (fault == JSON_TEXT_GOOD) {
        assert_int_equal(json_object_get_string_len(text), found->text_bytes);
        assert_memory_equal(json_object_get_string(text), found->text, found->text_bytes);
    }
    json_object_object_get_ex(object, "id", &id);
    if (!id || json_object_is_type(id, json_type_object) ||
        json_object_is_type(id, json_type_array))
        assert_int_equal(found->id_bytes, 0);
    else
        assert_true(json_object_equal(id, found_id = parse(found->id, found->id_bytes)));
}

static void mutated_lines(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "{\"id\":17,\"text\":\"The quick brown fox jumps over the lazy dog\",\"n\":[1,2.5,-3e-7]}",
        "{\"meta\":{\"url\":\"http://a/b?c=d\",\"lang\":\"de\"},\"text\":\"Gr\\u00fc\\u00dfe "
        "\\ud83d\\ude00 \xc3\xa9\",\"id\":\"x-1\"}",
        " { \"text\" : \"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t\" , \"id\" : false , \"x\" : null } \r\n",
        "{\"a\":[[],{},[{\"text\":\"no\"}]],\"id\":\"\",\"text\":\"\",\"b\":{\"text\":{\"text\":1}}"
        "}",
    };
    _cleanup_(json_text_reader_free_p) struct json_text_reader *reader =
        json_text_reader_new("text", "id");
    assert_non_null(reader);
    unsigned n_of[JSON_TEXT_N_FAULTS] = {0};
    for (unsigned i = 0; i < 20000; i++) {
        char line[MUTATED_MOST_BYTES];
        struct json_text found;
        const char *from = seeds[below(sizeof(seeds) / sizeof(seeds[0]))];
        size_t n = strlen(from);
        memcpy(line, from, n);
        n = mutate(line, n);
        _cleanup_free_ uint8_t *bytes = padded(line, n);
        int fault = json_text_read(reader, bytes, n, &found);
        assert_in_range(fault, 0, JSON_TEXT_N_FAULTS - 1);
        n_of[fault]++;
        if (fault == JSON_TEXT_GOOD || fault == JSON_TEXT_NO_FIELD || fault == JSON_TEXT_NO_STRING)
            compare(line, n, fault, &found);
    }
    for (unsigned fault = 0; fault < JSON_TEXT_NO_STRING; fault++)
        assert_true(n_of[fault] > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_ids),
        cmocka_unit_test(fields_within),
        cmocka_unit_test(depth),
        cmocka_unit_test(mutated_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
