/* What a name below .kinfs/query asks for, and how the answer is written (D4). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fs/views/view_question.h"

static const struct question_form plain = {.threshold = 0.4, .limit = 100};

static void test_view_question__any_name_asks_for_what_is_usual(void **state)
{
    static const char *const names[] = {"x", "containing", "threshold=0.9", "a b.txt", "-", "..."};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct question_form form = plain;
        assert_int_equal(question_form_parse(names[i], &form), 0);
        assert_memory_equal(&form, &plain, sizeof(form));
    }
}

static void test_view_question__more_is_asked_for_behind_commas(void **state)
{
    (void)state;
    struct question_form form = plain;
    assert_int_equal(question_form_parse("x,containing,threshold=0.25,limit=7,records", &form), 0);
    assert_true(form.relation == INDEX_WHOLES && form.records);
    assert_true(form.threshold == 0.25);
    assert_int_equal(form.limit, 7);
    form = plain;
    assert_int_equal(question_form_parse("x,contained", &form), 0);
    assert_true(form.relation == INDEX_PARTS && !form.records);
    form = plain;
    assert_int_equal(question_form_parse(",limit=0,threshold=1", &form), 0);
    assert_true(form.relation == INDEX_RESEMBLES && !form.records && form.threshold == 1 &&
                form.limit == 0);
}

static void test_view_question__what_there_is_not_is_refused(void **state)
{
    static const char *const names[] = {"x,",
                                        "x,,containing",
                                        "x,contains",
                                        "x,threshold=",
                                        "x,threshold=1.1",
                                        "x,limit=",
                                        "x,threshold=-0.1",
                                        "x,threshold=.5",
                                        "x,threshold=0,5",
                                        "x,threshold=nan",
                                        "x,limit=-1",
                                        "x,limit=1 ",
                                        "x,limit=1e3",
                                        "x,records=1",
                                        "x,limit= 1",
                                        "x,threshold",
                                        "x,limit=99999999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct question_form form = plain;
        assert_int_equal(question_form_parse(names[i], &form), -EINVAL);
    }
}

static void expect(const struct question_form *form, const struct kin_list *list, const char *text,
                   size_t n_bytes)
{
    char *printed;
    size_t n_printed;
    FILE *out = open_memstream(&printed, &n_printed);
    assert_non_null(out);
    assert_int_equal(question_print(form, list, out), 0);
    fclose(out);
    assert_int_equal(n_printed, n_bytes);
    uint64_t n_measured = 1;
    assert_int_equal(question_measure(form, list, &n_measured), 0);
    assert_int_equal(n_measured, n_bytes);
    assert_memory_equal(printed, text, n_bytes);
    free(printed);
}

static void test_view_question__answers_are_lines_or_records(void **state)
{
    (void)state;
    struct kin kin[] = {
        {.path = (char *)"a/b", .resemblance = 1, .containment = 1, .exact = true},
        {.path = (char *)"c\nd",
         .resemblance = 0.99996,
         .error = 0.25,
         .containment = 0.5,
         .containment_samples = 7},
        {.path = (char *)"e", .resemblance = 0.5, .error = 0.125, .containment = NAN},
    };
    const struct kin_list list = {.kin = kin, .n_kin = 3}, none = {0};
    static const char lines[] = "1.0000\ta/b\n0.9999\tc\\nd\n0.5000\te\n",
                      contained[] = "1.0000\ta/b\n0.5000 (7 samples: low confidence)\tc\\nd\n",
                      records[] = "1\t0\t1\t0\texact\ta/b\0"
                                  "0.99990000000000001\t0.25\t0.5\t7\testimated\tc\nd\0"
                                  "0.5\t0.125\t-\t0\testimated\te";
    expect(&plain, &list, lines, strlen(lines));
    expect(&(struct question_form){.relation = INDEX_WHOLES}, &list, contained, strlen(contained));
    expect(&(struct question_form){.records = true}, &list, records, sizeof(records));
    expect(&plain, &none, "", 0);
    const struct kin_list some = {.incomplete = "too short", .kin = kin, .n_kin = 1};
    static const char said[] = "1.0000\ta/b\n# too short\n", before[] = "incomplete\ttoo short\0"
                                                                        "1\t0\t1\t0\texact\ta/b";
    expect(&plain, &some, said, strlen(said));
    expect(&(struct question_form){.records = true}, &some, before, sizeof(before));
}

static void test_view_question__what_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    struct kin kin[2000];
    for (size_t i = 0; i < sizeof(kin) / sizeof(*kin); i++)
        kin[i] = (struct kin){.path = (char *)"a/b", .resemblance = 1, .exact = true};
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    for (size_t n_kin = 1; n_kin <= 2000; n_kin += 1999) { /* in the buffer, and more than that */
        const struct kin_list list = {.kin = kin, .n_kin = n_kin};
        assert_int_equal(question_print(&plain, &list, full), -ENOSPC);
    }
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_question__any_name_asks_for_what_is_usual),
        cmocka_unit_test(test_view_question__more_is_asked_for_behind_commas),
        cmocka_unit_test(test_view_question__what_there_is_not_is_refused),
        cmocka_unit_test(test_view_question__answers_are_lines_or_records),
        cmocka_unit_test(test_view_question__what_cannot_be_written_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
