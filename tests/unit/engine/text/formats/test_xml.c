#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/engine/text/canonical.h"

static void expect_as(enum text_type type, const char *xml, const char *tokens)
{
    static const size_t pieces[] = {1 << 20, 1, 2, 7, 0};
    /* Behind it, room for whole blocks; before it, each place in one. */
    char padded[2000];
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        for (int lead = 0; lead < 66; lead += i ? 65 : 1) {
            int n = snprintf(padded, sizeof(padded), "%*s%s%300s", lead, "", xml, "");
            assert_in_range(n, 0, sizeof(padded) - 1);
            struct canonical found = canonical_as(type, padded, (size_t)n, pieces[i]);
            assert_string_equal(found.text, tokens);
            canonical_done(&found);
        }
    }
}

static void expect_xml(const char *xml, const char *tokens)
{
    expect_as(TEXT_XML, xml, tokens);
}

static void test_xml__drops_markup_and_keeps_text(void **state)
{
    (void)state;
    expect_xml("<?xml version='1.0'?>\n<a>one <b c=\"d>e\" f='g>h'/>two</a> three",
               "one two three ");
    expect_xml("<a\n b = 'c' >d</a\n>", "d ");
    expect_xml("<_a>b</_a><:c>d</:c><\xc3\xa9>e</\xc3\xa9><a.b-c:d>f</a.b-c:d>", "b d e f ");
    expect_xml("a < b <1 c", "a b 1 c ");
    expect_xml("", "");
    expect_xml("<a>unclosed <b c='", "unclosed ");
}

static void test_xml__every_tag_separates_and_none_is_raw(void **state)
{
    (void)state;
    expect_xml("<b>H</b><sub>2</sub>O", "h 2 o ");
    expect_xml("<script>a <b>c</b></script><title>d <e>f</e></title><style>g</style>",
               "a c d f g ");
    expect_xml("<plaintext>a<b>c</b></plaintext><textarea>d<e/>f</textarea>", "a c d f ");
    expect_xml("<img alt='no'>a</img>", "a ");
    expect_as(TEXT_HTML, "<b>H</b><sub>2</sub>O <script>a</script>", "h2o ");
}

static void test_xml__keeps_cdata_and_drops_comments(void **state)
{
    (void)state;
    expect_xml("<a><![CDATA[b <c> &amp; d]]></a>", "b c amp d ");
    expect_xml("a<!-- b -- c > d -->e", "ae ");
    expect_xml("<!-- <a> ' -->b", "b ");
}

static void test_xml__drops_instructions(void **state)
{
    (void)state;
    expect_xml("a<?b c='>' d > e ? > f?>g<?h?\?>i", "agi ");
    expect_xml("<?xml-stylesheet href=\"a?>b", "b ");
    expect_xml("a<?b", "a ");
}

static void test_xml__drops_the_document_type_with_all_it_declares(void **state)
{
    (void)state;
    expect_xml("<!DOCTYPE a>b", "b ");
    expect_xml("<!DOCTYPE a PUBLIC '-//b>//c' \"d>e\">f", "f ");
    expect_xml("<!DOCTYPE a [\n<!ENTITY b \"c>]>\">\n<!ELEMENT d (#PCDATA)> %e;\n]>f", "f ");
    expect_xml("<!DOCTYPE a [<!-- it's > ]> -- > --><?b it's > ]> ?><!ATTLIST c d CDATA '<'>]>e",
               "e ");
    expect_xml("<!DOCTYPE a [<!--->--><!-b><?c?\?><!---->]>d", "d ");
    expect_xml("<!DOCTYPE a [<!ENTITY b 'c", "");
    expect_as(TEXT_HTML, "<!DOCTYPE a [<!ENTITY b 'c'>]>d", "d ");
}

static void test_xml__replaces_references(void **state)
{
    (void)state;
    expect_xml("&lt;a&gt; b&amp;c&apos;s &quot;d&quot;", "a b c s d ");
    expect_xml("caf&#233; caf&#xE9; caf&eacute; &product; &#x1d504;", "café café café product a ");
}

static void expect_type(const char *head, enum text_type type)
{
    struct canonical found = canonical_of(head, strlen(head), 1 << 20);
    assert_int_equal(found.form.type, type);
    canonical_done(&found);
}

static void test_xml__is_known_by_its_declaration_or_a_namespace(void **state)
{
    (void)state;
    expect_type("<?xml version='1.0'?><book>", TEXT_XML);
    expect_type("<?xml version='1.0'?>\n<!-- x -->\n<!DOCTYPE book [", TEXT_XML);
    expect_type("<?xml version='1.0'?><table><p>", TEXT_XML);
    expect_type("<?xml version='1.0'?><htmlx>", TEXT_XML);
    expect_type("\xef\xbb\xbf<svg xmlns=\"http://www.w3.org/2000/svg\">", TEXT_XML);
    expect_type("<!-- x -->\n<a:b\n  c='d' xmlns:a='e'>", TEXT_XML);
    expect_type("<?xml version='1.0'?><?xml-stylesheet href='a'?><html xmlns='x'>", TEXT_HTML);
    expect_type("<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x'>", TEXT_HTML);
    expect_type("<html xmlns='http://www.w3.org/1999/xhtml'>", TEXT_HTML);
    expect_type("<svg width='1'>", TEXT_PLAIN);
    expect_type("<svg> xmlns='x'", TEXT_PLAIN);
    expect_type("<svg nxmlns='x'>", TEXT_PLAIN);
    expect_type("<1 xmlns='x'>", TEXT_PLAIN);
    expect_type("a <?xml?> xmlns=", TEXT_PLAIN);
    assert_string_equal(text_type_name(TEXT_XML), "xml");
}

static void test_xml__may_declare_its_charset(void **state)
{
    (void)state;
    static const char xml[] =
        "<?xml version='1.0' encoding='koi8-r'?><a>\xf0\xf2\xe9\xf7\xe5\xf4</a>";
    struct canonical found = canonical_of(xml, sizeof(xml) - 1, 1);
    assert_string_equal(found.text, "привет ");
    assert_int_equal(found.form.charset, TEXT_CHARSET_DECLARED);
    assert_int_equal(found.form.type, TEXT_XML);
    canonical_done(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xml__drops_markup_and_keeps_text),
        cmocka_unit_test(test_xml__every_tag_separates_and_none_is_raw),
        cmocka_unit_test(test_xml__keeps_cdata_and_drops_comments),
        cmocka_unit_test(test_xml__drops_instructions),
        cmocka_unit_test(test_xml__drops_the_document_type_with_all_it_declares),
        cmocka_unit_test(test_xml__replaces_references),
        cmocka_unit_test(test_xml__is_known_by_its_declaration_or_a_namespace),
        cmocka_unit_test(test_xml__may_declare_its_charset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
