#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"

static void expect(const char *name, const char *escaped)
{
    _cleanup_free_ char *actual = NULL;
    assert_int_equal(escape_name(name, &actual), 0);
    assert_string_equal(actual, escaped);
    assert_int_equal(escape_take_back(actual), 0);
    assert_string_equal(actual, name);
}

static void test_escape__what_is_no_escape_is_refused(void **state)
{
    (void)state;
    const char *const wrong[] = {"\\", "a\\x", "\\12", "\\8", "\\400", "\\000", "\\1", "\\ \\"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        _cleanup_free_ char *copy = strdup(wrong[i]);
        assert_int_equal(escape_take_back(copy), -EINVAL);
    }
}

static void test_escape__leaves_ordinary_names_alone(void **state)
{
    (void)state;
    expect("", "");
    expect("a-b_c.txt~2'\"*", "a-b_c.txt~2'\"*");
    expect("caf\xc3\xa9 ", "caf\xc3\xa9\\ ");
    expect("\xe6\x97\xa5\xf0\x9f\x98\x80", "\xe6\x97\xa5\xf0\x9f\x98\x80");
}

static void test_escape__makes_one_line_of_any_name(void **state)
{
    (void)state;
    expect("a\nb\tc\rd\ae\bf\fg\vh", "a\\nb\\tc\\rd\\ae\\bf\\fg\\vh");
    expect("\033[31m\177\001", "\\033[31m\\177\\001");
    expect("back\\slash and space", "back\\\\slash\\ and\\ space");
    expect("\xc2\x85\xe2\x80\xa8", "\\302\\205\\342\\200\\250");
}

static void test_escape__shows_bytes_that_are_not_utf8(void **state)
{
    (void)state;
    expect("\xff", "\\377");
    expect("x\xc3", "x\\303");                          /* cut short */
    expect("\xc0\xaf", "\\300\\257");                   /* overlong */
    expect("\xed\xa0\x80", "\\355\\240\\200");          /* a surrogate */
    expect("\xf4\x90\x80\x80", "\\364\\220\\200\\200"); /* past U+10FFFF */
    expect("\xe9t\xe9", "\\351t\\351");                 /* Latin-1 */
}

/* U+061C, U+200E and U+200F, U+202A to U+202E, U+2066 to U+2069, and their neighbours. */
static void test_escape__shows_what_turns_a_line_round(void **state)
{
    (void)state;
    expect("gnp\xe2\x80\xaetxt.exe", "gnp\\342\\200\\256txt.exe");
    expect("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\330\\234\\342\\200\\216\\342\\200\\217");
    expect("\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9", "\\342\\200\\252\\342\\201\\246\\342\\201\\251");
    const char *const others = "\xd8\x9b\xd8\x9d\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xa5"
                               "\xe2\x81\xaa\xd7\x90";
    expect(others, others);
}

static void expect_plain(const char *text, const char *plain)
{
    _cleanup_free_ char *copy = strdup(text);
    assert_string_equal(escape_make_plain(copy), plain);
}

static void test_escape__makes_plain_what_a_terminal_obeys(void **state)
{
    (void)state;
    expect_plain("", "");
    expect_plain("a b\\", "a b\\");
    expect_plain("a\nb\033[2J\177", "a?b?[2J?");
    expect_plain("\xc2\x9b"
                 "1m\xe2\x80\xa8",
                 "??1m???");
    expect_plain("\x9b"
                 "1m\x80 \x9f",
                 "?1m? ?"); /* in a charset of bytes */
    expect_plain("gnp\xe2\x80\xaetxt", "gnp???txt");
    expect_plain("caf\xc3\xa9 caf\xe9", "caf\xc3\xa9 caf\xe9");
    expect_plain("\xc5\x9b\xf0\x9f\x98\x80", "\xc5\x9b\xf0\x9f\x98\x80"); /* of others */
    expect_plain("\xe2\x9b", "\xe2?");                                    /* cut short */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escape__what_is_no_escape_is_refused),
        cmocka_unit_test(test_escape__leaves_ordinary_names_alone),
        cmocka_unit_test(test_escape__makes_one_line_of_any_name),
        cmocka_unit_test(test_escape__shows_bytes_that_are_not_utf8),
        cmocka_unit_test(test_escape__shows_what_turns_a_line_round),
        cmocka_unit_test(test_escape__makes_plain_what_a_terminal_obeys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
