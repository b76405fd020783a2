/* A12: rows as features. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <xxhash.h>

#include "engine/text/table.h"
#include "tests/unit/canonical.h"

static const size_t pieces[] = {1 << 20, 0, 1, 3};

/* rows: what each is, fields ended by '|', rows by newlines; '~' is one inside. */
static void expect(const char *text, enum text_type type, const char *rows)
{
    char wanted[4096] = "";
    for (const char *p = rows; *p; p += strcspn(p, "\n") + 1) {
        char row[256];
        size_t n = strcspn(p, "\n");
        memcpy(row, p, n);
        for (size_t i = 0; i < n; i++)
            row[i] = row[i] == '|' ? 0x1f : row[i] == '~' ? '\n' : row[i];
        XXH128_hash_t digest = XXH3_128bits(row, n);
        sprintf(wanted + strlen(wanted), "%016llx%016llx ", (unsigned long long)digest.high64,
                (unsigned long long)digest.low64);
    }
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct canonical found = canonical_of(text, strlen(text), pieces[i]);
        assert_int_equal(found.form.type, type);
        if (type == TEXT_TABLE)
            assert_string_equal(found.text, wanted);
        canonical_done(&found);
    }
}

static void test_table__rows_are_features_however_written(void **state)
{
    (void)state;
    static const char rows[] = "name|year|price|\nBach|1685|1,50|\nSay \"Ah\"|1|2|\n";
    expect("name;year;price\nBach;1685;1,50\n\"Say \"\"Ah\"\"\";1;2\n", TEXT_TABLE, rows);
    expect("name\tyear\tprice\r\nBach\t1685\t1,50\r\nSay \"Ah\"\t1\t2", TEXT_TABLE, rows);
    expect("name,year,price\n\n\"Bach\", 1685 ,\"1,50\"\n\n\"Say \"\"Ah\"\"\",1,2\n\n", TEXT_TABLE,
           rows);
    expect("\"a\nb\",2,3\n,,\n1,\"2\"x,\n", TEXT_TABLE, "a~b|2|3|\n1|2x||\n");
}

static void test_table__what_is_no_table_is_text(void **state)
{
    (void)state;
    expect("", TEXT_PLAIN, "");
    expect("one,two,three\nfour,five,six\n", TEXT_PLAIN, ""); /* too few */
    expect("a,b\nc,d\ne,f\n", TEXT_PLAIN, "");                /* of two, more are wanted */
    expect("a,b,c\nd,e,f\ng,h,i\nj,k\n", TEXT_PLAIN, "");     /* not all the same */
    /* A program: each line ends with one, and has no other. */
    expect("package A;\n\nuse b;\nuse c;\r\nuse d;\nuse e;\nuse f;\nuse g;\nuse h;\n1;\n",
           TEXT_PLAIN, "");
    expect("well, this, is\nprose, with, com\nmas, of, some\n", TEXT_PLAIN, "");
    expect("a,b\nc,d\ne,f\ng,h\ni,j\nk,l\nm,n\no,p\n", TEXT_TABLE,
           "a|b|\nc|d|\ne|f|\ng|h|\ni|j|\nk|l|\nm|n|\no|p|\n");
    struct canonical found = canonical_of("\xff\xfe"
                                          "a\0,\0b\0,\0c\0\n\0"
                                          "a\0,\0b\0,\0c\0\n\0"
                                          "a\0,\0b\0,\0c\0\n\0",
                                          2 + 3 * 12, 0);
    assert_int_equal(found.form.type, TEXT_TABLE);
    assert_int_equal(found.form.charset, TEXT_CHARSET_UTF16LE);
    canonical_done(&found);
}

/* A quotation that nobody ends swallows no more than a row's limit. */
static void test_table__an_open_quotation_ends_with_the_row(void **state)
{
    (void)state;
    static char text[100000];
    size_t size = (size_t)sprintf(text, "a,b,c\nd,e,f\ng,h,i\nj,k,l\n");
    while (size < TEXT_SNIFF_BYTES)
        size += (size_t)sprintf(text + size, "%zu,%zu,\n", size, size * 7);
    size_t quoted = size;
    size += (size_t)sprintf(text + size, "x,\"open,\n");
    size_t n_rows = 0;
    while (size < sizeof(text) - 100) {
        size += (size_t)sprintf(text + size, "%zu,%zu,\n", size, size * 7);
        n_rows += size > quoted + 2 * TABLE_ROW_MAX_BYTES;
    }
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct canonical found = canonical_of(text, size, pieces[i]);
        assert_int_equal(found.form.type, TEXT_TABLE);
        assert_true(found.size / 33 > n_rows);
        canonical_done(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table__rows_are_features_however_written),
        cmocka_unit_test(test_table__what_is_no_table_is_text),
        cmocka_unit_test(test_table__an_open_quotation_ends_with_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
