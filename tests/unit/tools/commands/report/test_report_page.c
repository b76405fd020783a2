/* The page around its data: nothing in that ends the element that it is in. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tools/commands/report/report_page.h"
#include "tools/show/json_path.h"

static const char begin[] = "<script type=\"application/json\" id=\"data\">", end[] = "</script>";

static char *make_page(struct json_object *data)
{
    char *text = NULL;
    size_t n_bytes;
    FILE *memory = open_memstream(&text, &n_bytes);
    assert_non_null(memory);
    assert_int_equal(report_page_print(memory, data), 0);
    assert_int_equal(fclose(memory), 0);
    assert_int_equal(strlen(text), n_bytes);
    return text;
}

/* The text between the tags, as a browser takes it. Gives. */
static char *data_of(const char *page)
{
    const char *from = strstr(page, begin);
    assert_non_null(from);
    assert_null(strstr(from + 1, begin));
    from += strlen(begin);
    const char *to = strstr(from, end);
    assert_non_null(to);
    return strndup(from, (size_t)(to - from));
}

static void test_report_page__has_the_data_as_it_was(void **state)
{
    static const char *const names[] = {"</script><img src=x onerror=alert(1)>",
                                        "<!--",
                                        "<!--<script>",
                                        "]]>",
                                        "a&amp;b",
                                        "\"'\\\n\t\r",
                                        "\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x7f",
                                        "bad\xff</SCRIPT ",
                                        "{{js}}{{data}}"};
    struct json_object *data = json_object_new_object();
    char number[16];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(number, sizeof(number), "n%zu", i);
        json_path_add(data, number, names[i]);
    }
    char *page = make_page(data), *text = data_of(page);
    assert_null(strpbrk(text, "<>&"));
    struct json_object *read = json_tokener_parse(text);
    assert_non_null(read);
    assert_true(json_object_equal(read, data));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path;
        snprintf(number, sizeof(number), "n%zu", i);
        assert_int_equal(json_path_get(read, number, &path), 0);
        assert_string_equal(path, names[i]);
        free(path);
    }
    json_object_put(read);
    json_object_put(data);
    free(text);
    free(page);
}

static unsigned n_of(const char *text, const char *what)
{
    unsigned n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* It has a policy by which the browser runs nothing else, and asks nobody. */
static void test_report_page__is_closed(void **state)
{
    struct json_object *data = json_object_new_object();
    (void)state;
    char *page = make_page(data);
    assert_int_equal(strncmp(page, REPORT_PAGE_MARK, strlen(REPORT_PAGE_MARK)), 0);
    assert_int_equal(n_of(page, "default-src 'none'"), 1);
    assert_int_equal(n_of(page, "'sha256-"), 2);
    assert_int_equal(n_of(page, "{{"), 0);
    assert_int_equal(n_of(page, "<script"), 2);
    assert_int_equal(n_of(page, "</script>"), 2);
    assert_int_equal(n_of(page, "<style>"), 1);
    assert_int_equal(n_of(page, "innerHTML"), 0);
    /* No address but the name of SVG. */
    assert_int_equal(n_of(page, "://"), n_of(page, "'http://www.w3.org/2000/svg'"));
    json_object_put(data);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_page__has_the_data_as_it_was),
        cmocka_unit_test(test_report_page__is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
