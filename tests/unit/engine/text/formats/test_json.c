/* A1: JSON is the text of its strings, unescaped; a notebook is the sources of its cells. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/engine/text/canonical.h"

static void expect(enum text_type type, const char *json, const char *tokens)
{
    struct canonical found = canonical_of(json, strlen(json), 0);
    assert_int_equal(found.form.type, type);
    canonical_done(&found);
    assert_true(canonical_is(TEXT_N_TYPES, json, strlen(json), tokens));
}

static void expect_type(const char *text, enum text_type type)
{
    assert_int_equal(text_type_sniff(text, strlen(text)), type);
}

static void test_json__strings_are_unescaped(void **state)
{
    (void)state;
    expect(TEXT_JSON, "{\"one\":\"two\\nthree\\tfour\\\\nfive\",\"six\": [7, true, null]}",
           "one two three four nfive six 7 true null ");
    expect(TEXT_JSON, "[\"caf\\u00e9 caf\xc3\xa9 \\u4e2d\\uD834\\udd1e say \\\"ah\\\" a\\/b\"]",
           "caf\xc3\xa9 caf\xc3\xa9 \xe4\xb8\xad say ah a b ");
    /* An astral letter, as a pair; halves of pairs, and controls, separate words. */
    expect(TEXT_JSON, "[\"\\ud801\\udc28x\\ud801y\\udc28z\\u0000a\\ud801\\ud801\\udc28\"]",
           "\xf0\x90\x90\xa8x y z a \xf0\x90\x90\xa8 ");
    expect(TEXT_JSON, "{\"a\":\"b\"}\n{\"a\":\"c\"}\n", "a b a c ");
    expect(TEXT_JSON, "\xef\xbb\xbf [ {} , \"a\", [] ]", "a ");
    /* Written in ASCII or not, and on one line or on many, it is the same. */
    expect(TEXT_JSON, "{\n  \"na\\u006de\": \"M\\u00fcnchen\"\n}\n", "name m\xc3\xbcnchen ");
    expect(TEXT_JSON, "{\"name\":\"M\xc3\xbcnchen\"}", "name m\xc3\xbcnchen ");
}

static void test_json__the_grammar_decides(void **state)
{
    (void)state;
    expect_type("{\"a\": 1", TEXT_JSON); /* the head may end anywhere */
    expect_type("{\"a", TEXT_JSON);
    expect_type("[\"a\", tr", TEXT_JSON);
    expect_type("[1, 2, 3]", TEXT_PLAIN); /* of no strings it makes no difference */
    expect_type("[1] A note on \"this\"", TEXT_PLAIN);
    expect_type("[\"a\" \"b\"]", TEXT_PLAIN);
    expect_type("{\"a\"}", TEXT_PLAIN);
    expect_type("{'a': 1, \"b\": 2}", TEXT_PLAIN);
    expect_type("{ \"a\": 1, // why\n \"b\": 2}", TEXT_PLAIN);
    expect_type("{\"a\": 1]", TEXT_PLAIN);
    expect_type("{\"a\": true1}", TEXT_PLAIN);
    expect_type("{ return \"a\"; }", TEXT_PLAIN);
    expect_type("\"a\": \"b\"", TEXT_PLAIN);
    expect_type("[\"a\\x\"]", TEXT_PLAIN);
    char deep[400];
    memset(deep, '[', sizeof(deep));
    memcpy(deep + 1, "\"a\",", 4);
    assert_int_equal(text_type_sniff(deep, sizeof(deep)), TEXT_JSON);
}

#define CELL(type, source)                                                                         \
    "{\"cell_type\": \"" type                                                                      \
    "\", \"id\": \"x1\", \"metadata\": {\"source\": \"no\"}, \"source\": " source "}"

static void test_json__a_notebook_is_the_sources_of_its_cells(void **state)
{
    (void)state;
    static const char text[] = "title one import numpy print numpy pi \xc3\xa9 end ";
    expect(TEXT_NOTEBOOK,
           "{\"cells\": [" CELL(
               "markdown",
               "[\"# Title\\n\", \"one\"]") ","
                                            "{\"cell_type\":\"code\",\"execution_count\":7,"
                                            "\"outputs\":[{\"data\":{\"text/plain\":"
                                            "[\"3.14\"]},\"source\":[\"no\"]}],\"source\":["
                                            "\"import numpy\\n\",\"print(numpy.pi)\"]}," CELL(
                                                "raw",
                                                "\"\\u00e9\\nend\"") "],"
                                                                     "\"metadata\": {\"cells\": "
                                                                     "[{\"source\": \"no\"}]}, "
                                                                     "\"nbformat\": 4, "
                                                                     "\"nbformat_minor\": 5}",
           text);
    /* Run again, and written by another program: keys in another order, on many lines. */
    expect(TEXT_NOTEBOOK,
           "{\"nbformat\":4,\"nbformat_minor\":2,\"metadata\":{\"kernelspec\":{\"name\":"
           "\"python3\"}},\n"
           "\"cells\":[{\"source\":\"# Title\\none\",\"cell_type\":\"markdown\"},\n"
           "{\"source\":[\"import "
           "numpy\\n\",\"print(numpy.pi)\"],\"outputs\":[],\"cell_type\":\"code\"},\n"
           "{\"source\":[\"\xc3\xa9\\n\",\"end\"],\"cell_type\":\"raw\"}]}",
           text);
    expect(TEXT_NOTEBOOK,
           "{\"nbformat\":3,\"worksheets\":[{\"cells\":[{\"cell_type\":\"markdown\",\"source\":"
           "\"# Title\\none\"},{\"cell_type\":\"code\",\"input\":[\"import "
           "numpy\\n\",\"print(numpy.pi)\"],"
           "\"outputs\":[{\"text\":\"3.14\"}]},{\"cell_type\":\"raw\",\"source\":\"\\u00e9 end\"}],"
           "\"metadata\":{\"source\":\"no\"}}]}",
           text);
    expect_type("{\"cells\": [1, 2], \"a\": \"b\"}", TEXT_JSON);
    expect_type("{\"cells\": [1, 2], \"cell_type\": \"b\"}", TEXT_JSON);
    expect_type("{\"a\": {\"cells\": [{\"cell_type\": \"code\"}]}}", TEXT_JSON);
    assert_string_equal(text_type_name(TEXT_NOTEBOOK), "notebook");
    assert_string_equal(text_type_name(TEXT_JSON), "json");
}

/* What a head promised and the rest does not keep. */
static void test_json__what_is_damaged_is_read_on(void **state)
{
    (void)state;
    static const char *const parts[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "\"",
                                        "\\",
                                        "\n",
                                        " ",
                                        "source",
                                        "\"cells\"",
                                        "\"source\"",
                                        "\"input\"",
                                        "\\u",
                                        "12",
                                        "\\ud801",
                                        "\\udc28",
                                        "x",
                                        "\"worksheets\":[{",
                                        "{\"cells\":[{\"source\":[\""};
    unsigned seed = 11;
    char soup[4096];
    assert_true(canonical_is(TEXT_JSON, "[\"a\\u12\", \"b\nc \"d\\", 19, "a b c d "));
    assert_true(canonical_is(TEXT_NOTEBOOK, "]}]{\"cells\":[{\"source\":[\"a\n\"b\"]", 30, "a b "));
    for (unsigned round = 0; round < 300; round++) {
        size_t size =
            canonical_soup(soup, sizeof(soup), parts, sizeof(parts) / sizeof(parts[0]), &seed);
        assert_true(canonical_is_one(TEXT_JSON, soup, size));
        assert_true(canonical_is_one(TEXT_NOTEBOOK, soup, size));
        char *head = malloc(size ? size : 1); /* so that a byte read past the end is noticed */
        memcpy(head, soup, size);
        (void)text_type_sniff(head, size);
        free(head);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json__strings_are_unescaped),
        cmocka_unit_test(test_json__the_grammar_decides),
        cmocka_unit_test(test_json__a_notebook_is_the_sources_of_its_cells),
        cmocka_unit_test(test_json__what_is_damaged_is_read_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
