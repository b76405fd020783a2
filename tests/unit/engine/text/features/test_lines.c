/* A12: what an external extractor says, as features. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <xxhash.h>

#include "engine/text/features/lines.h"
#include "tests/unit/engine/text/canonical.h"

static const size_t pieces[] = {1 << 20, 0, 1, 3};

static void expect(const char *text, const char *const *lines)
{
    char wanted[4096] = "";
    for (; *lines; lines++) {
        XXH128_hash_t digest = canonical_digest(*lines, strlen(*lines));
        sprintf(wanted + strlen(wanted), "%016llx%016llx ", (unsigned long long)digest.high64,
                (unsigned long long)digest.low64);
    }
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct canonical found = canonical_as(TEXT_EXTRACTED, text, strlen(text), pieces[i]);
        assert_int_equal(found.form.type, TEXT_EXTRACTED);
        assert_string_equal(found.text, wanted);
        canonical_done(&found);
    }
}

static void test_lines__each_but_an_empty_one_is_a_feature(void **state)
{
    (void)state;
    expect("", (const char *const[]){NULL});
    expect("\n\n", (const char *const[]){NULL});
    expect("note 60\nnote 62\n\nnote 60",
           (const char *const[]){"note 60", "note 62", "note 60", NULL});
    expect(" a\r\n\xff\xfe\n", (const char *const[]){" a\r", "\xff\xfe", NULL});
}

static void test_lines__a_long_one_is_several(void **state)
{
    (void)state;
    static char text[2 * LINES_LINE_MAX_BYTES + 2], first[LINES_LINE_MAX_BYTES + 1];
    memset(first, 'x', LINES_LINE_MAX_BYTES);
    memset(text, 'x', 2 * LINES_LINE_MAX_BYTES);
    expect(text, (const char *const[]){first, first, NULL});
    text[2 * LINES_LINE_MAX_BYTES] = 'y';
    expect(text, (const char *const[]){first, first, "y", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines__each_but_an_empty_one_is_a_feature),
        cmocka_unit_test(test_lines__a_long_one_is_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
