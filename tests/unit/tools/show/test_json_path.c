#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "tools/show/json_path.h"

static void round_trip(const char *path, bool is_text)
{
    _cleanup_json_ struct json_object *object = json_object_new_object();
    assert_int_equal(json_path_add(object, "path", path), 0);
    struct json_object *member;
    assert_int_equal(json_object_object_get_ex(object, "path_bytes", &member), !is_text);

    /* through the text, as between tool and daemon */
    _cleanup_json_ struct json_object *parsed =
        json_tokener_parse(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    _cleanup_free_ char *back = NULL;
    assert_non_null(parsed);
    assert_int_equal(json_path_get(parsed, "path", &back), 0);
    assert_string_equal(back, path);
}

static void test_json_path__any_path_comes_back(void **state)
{
    (void)state;
    round_trip("", true);
    round_trip("a/b c.txt", true);
    round_trip("line\nbreak\ttab\"quote\\", true);
    round_trip("\xc3\xa4\xe2\x82\xac", true);
    round_trip("\xff", false);
    round_trip("ab\xff", false);
    round_trip("abc\xc3", false);
    round_trip("abcd\xed\xa0\x80", false); /* a lone surrogate is no UTF-8 */
    char all[256];
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = '\0';
    round_trip(all, false);
}

static void test_json_path__what_is_no_path_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"{}", -ENOENT},
        {"{\"path\": 7}", -EINVAL},
        {"{\"path\": \"a\\u0000b\"}", -EINVAL},
        {"{\"path\": \"a\", \"path_bytes\": \"!!!!\"}", -EINVAL},
        {"{\"path_bytes\": []}", -EINVAL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_json_ struct json_object *object = json_tokener_parse(cases[i].text);
        char *path = NULL;
        assert_int_equal(json_path_get(object, "path", &path), cases[i].code);
        assert_null(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_path__any_path_comes_back),
        cmocka_unit_test(test_json_path__what_is_no_path_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
