/* What a library reads is known by its marks; the rest of sniffing is in test_canon and test_table.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/unit/engine/text/canonical.h"

static void expect(const void *head, size_t size, enum text_type type)
{
    assert_int_equal(text_type_sniff(head, size), type);
}

#define EXPECT(literal, type) expect(literal, sizeof(literal) - 1, type)

static void test_type__pdf_begins_with_its_mark(void **state)
{
    (void)state;
    EXPECT("%PDF-1.4\n", TEXT_PDF);
    EXPECT("\xef\xbb\xbf%PDF-2.0", TEXT_PDF);
    EXPECT("\r\n \t%PDF-1.7\n", TEXT_PDF);
    EXPECT("%PDF", TEXT_PLAIN);
    EXPECT("a PDF begins with\n%PDF-1.4\n", TEXT_PLAIN);
    EXPECT("%!PS-Adobe-3.0", TEXT_PLAIN);
    /* A header of another program in front, which is no text. */
    EXPECT("MAC\0\0\0\0%PDF-1.4\n", TEXT_PDF);
    char late[2048] = {0};
    memcpy(late + 1019, "%PDF-", 5);
    expect(late, sizeof(late), TEXT_PDF);
    memcpy(late + 1019, "\0%PDF", 5);
    late[1024] = '-';
    expect(late, sizeof(late), TEXT_BINARY);
}

/* A local header of ZIP: what is not said is zero. */
static size_t zip(char *out, const char *name, unsigned extra, const char *content)
{
    size_t n = strlen(name);
    memset(out, 0, 30);
    memcpy(out, "PK\3\4", 4);
    out[26] = (char)n;
    out[28] = (char)extra;
    memcpy(out + 30, name, n);
    memset(out + 30 + n, 'e', extra);
    memcpy(out + 30 + n + extra, content, strlen(content));
    return 30 + n + extra + strlen(content);
}

static void test_type__office_documents_are_archives_with_a_certain_beginning(void **state)
{
    (void)state;
    static const char odt[] = "application/vnd.oasis.opendocument.text";
    const struct {
        const char *name;
        unsigned extra;
        const char *content;
        enum text_type type;
    } cases[] = {
        {"mimetype", 0, odt, TEXT_OFFICE},
        {"mimetype", 9, odt, TEXT_OFFICE},
        {"mimetype", 0, "application/epub+zip", TEXT_EPUB},
        {"mimetypes", 0, odt, TEXT_BINARY},
        {"[Content_Types].xml", 0, "", TEXT_OFFICE},
        {"_rels/.rels", 0, "", TEXT_OFFICE},
        {"META-INF/MANIFEST.MF", 0, "", TEXT_BINARY},
        {"readme", 0, odt, TEXT_BINARY},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char head[256];
        size_t size = zip(head, cases[i].name, cases[i].extra, cases[i].content);
        expect(head, size, cases[i].type);
        /* One that ends anywhere before is an archive, and nothing behind its end is read. */
        for (size_t n = 0; n < size; n++) {
            char *cut = malloc(n ? n : 1);
            memcpy(cut, head, n);
            enum text_type type = text_type_sniff(cut, n);
            assert_true(type == cases[i].type || type == (n < 5 ? TEXT_PLAIN : TEXT_BINARY));
            free(cut);
        }
    }
}

/* Without their text they are compared as bytes. */
static void test_type__without_an_extractor_they_are_binary(void **state)
{
    (void)state;
    char office[512], epub[512], pdf[3000];
    size_t size = zip(office, "_rels/.rels", 0, "some bytes of it");
    size_t epub_size = zip(epub, "mimetype", 0, "application/epub+zip");
    memset(pdf, 'x', sizeof(pdf));
    memcpy(pdf, "%PDF-1.4", 8);
    struct canonical a = canonical_of(office, size, 0), b = canonical_of(pdf, sizeof(pdf), 0),
                     c = canonical_as(TEXT_BINARY, pdf, sizeof(pdf), 0),
                     d = canonical_of(epub, epub_size, 0);
    assert_int_equal(a.form.type, TEXT_BINARY);
    assert_int_equal(b.form.type, TEXT_BINARY);
    assert_int_equal(d.form.type, TEXT_BINARY);
    assert_string_equal(b.text, c.text);
    assert_true(a.size > 0 && b.size > 0);
    canonical_done(&a);
    canonical_done(&b);
    canonical_done(&c);
    canonical_done(&d);
}

/* Bytes at random are none in Windows-1252 either, though none of them is 0; and text that has some
 * controls is text. */
static void test_type__control_characters_are_not_of_a_text(void **state)
{
    (void)state;
    uint8_t bytes[4000];
    unsigned seed = 1;
    for (unsigned round = 0; round < 500; round++) {
        size_t n = 600 + (size_t)rand_r(&seed) % (sizeof(bytes) - 600);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)(1 + rand_r(&seed) % 255);
        expect(bytes, n, TEXT_BINARY);
    }
    EXPECT("\x1bname\x1b[0m\t\x1b caf\xe9\f\r\n", TEXT_PLAIN);
    EXPECT("N\bNA\bAM\bME\bE caf\xc3\xa9", TEXT_PLAIN);
    EXPECT("caf\xe9 \1", TEXT_PLAIN);
    EXPECT("caf\xe9 \1\2", TEXT_BINARY);
    EXPECT("caf \1\2\xe9", TEXT_BINARY);
    EXPECT("coffee \1\2\3\4", TEXT_PLAIN);
    EXPECT("\xff\xfe\1\0\2\0\3\0", TEXT_PLAIN); /* UTF-16 says that it is text */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type__control_characters_are_not_of_a_text),
        cmocka_unit_test(test_type__pdf_begins_with_its_mark),
        cmocka_unit_test(test_type__office_documents_are_archives_with_a_certain_beginning),
        cmocka_unit_test(test_type__without_an_extractor_they_are_binary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
