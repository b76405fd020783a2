/* Vectors for each state of the WHATWG tokenizer (HTML Living Standard, 13.2.5.1 to 80): what is
 * text of them, derived from the standard by hand; the number of a section is its state. A "!"
 * before a note: where we depart from it. In all of them a word of letters outside of markup shows
 * where the tokenizer is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/engine/text/html/html_ways.h"

struct vector {
    const char *state, *html, *tokens;
};

static const struct vector vectors[] = {
    {"1 data", "a b", "a b "},
    {"1 data", "a&amp;b<p>c", "a b c "},
    {"1 data", "a>b\"c'd=e", "a b c d e "},
    {"2 RCDATA", "<title>a<b>c&lt;d</title>e", "a b c d e "},
    {"2 RCDATA", "<textarea>a<!-- b --></textarea>c", "a b c "},
    {"2 RCDATA", "<title>never closed <p>b", "never closed p b "},
    {"3 RAWTEXT", "a<style>b<c>&amp;</style>d", "a d "},
    {"3 RAWTEXT", "<xmp>a<b>&eacute;</xmp>c", "a b eacute c "},
    {"3 RAWTEXT", "a<iframe src=x><p>b</p></iframe>c", "a c "},
    {"3 RAWTEXT", "a<noembed>b</noembed>c<noframes>d</noframes>e", "a c e "},
    {"3 RAWTEXT", "<noscript>a<b>c</b></noscript>", "ac "},
    {"3 RAWTEXT", "<style>never closed <p>b", ""},
    {"4 script data", "<script>a<b>&amp;</b></script>c", "c "},
    {"4 script data", "<script>never closed <p>b", ""},
    {"5 PLAINTEXT", "a<plaintext>b<c>&eacute;</plaintext>d<!-- e -->",
     "a b c eacute plaintext d e "},
    {"5 PLAINTEXT", "<plaintexx>b</plaintexx>&eacute;<plaintexts>c", "b é c "},
    {"6 tag open", "a<b>c", "ac "},
    {"6 tag open", "a<!b>c", "ac "},
    {"6 tag open", "a</b>c", "ac "},
    {"6 tag open", "a<?b>c", "ac "},
    {"6 tag open", "a<1>b", "a 1 b "},
    {"6 tag open", "a<<b>c", "a c "},
    {"6 tag open", "a< b>c", "a b c "},
    {"6 tag open", "a<\xc3\xa9>b", "a é b "},
    {"6 tag open", "a<", "a "},
    {"7 end tag open", "a</p>b", "a b "},
    {"7 end tag open", "a</>b", "ab "},
    {"7 end tag open", "a</1>b", "ab "},
    {"7 end tag open", "a</ p>b", "ab "},
    {"7 end tag open", "a</!-- x -->b", "ab "},
    {"7 end tag open", "a</", "a "},
    {"8 tag name", "<p\ta>b<p\n>c<p\f>d<p >e<p/>f<p>g", "b c d e f g "},
    {"8 tag name", "a<P>b<dIv>c", "a b c "},
    {"8 tag name", "a<b1>b<b->c<b\">d<b'>e<b=\"x>y\">f", "a b c d e y f "},
    {"8 tag name", "a<b\xc3\xa9>b<b<c>d", "a b d "},
    {"8 tag name", "a<p", "a "},
    {"8 tag name", "a<p b", "a "},
    {"9 RCDATA less-than sign", "<title>a<b</title>", "a b "},
    {"9 RCDATA less-than sign", "<title>a<</title>b", "a b "},
    {"9 RCDATA less-than sign", "<title>a<", "a "},
    {"10 RCDATA end tag open", "<title>a</b</title>c", "a b c "},
    {"10 RCDATA end tag open", "<title>a</</title>c", "a c "},
    {"10 RCDATA end tag open", "<title>a</1</title>c", "a 1 c "},
    {"11 RCDATA end tag name", "<title>a</TiTlE>b", "a b "},
    {"11 RCDATA end tag name", "<title>a</title b='>c'>d", "a d "},
    {"11 RCDATA end tag name", "<title>a</title/>b", "a b "},
    {"11 RCDATA end tag name", "<title>a</title\n>b", "a b "},
    {"11 RCDATA end tag name", "<title>a</titlex>b</title>c", "a titlex b c "},
    {"11 RCDATA end tag name", "<title>a</titl</title>c", "a titl c "},
    {"11 RCDATA end tag name", "<title>a</textarea>b</title>c", "a textarea b c "},
    {"11 RCDATA end tag name", "<title>a</titl", "a titl "},
    {"11 RCDATA end tag name", "<title>a</tit&eacute;", "a tité "},
    {"12 RAWTEXT less-than sign", "<xmp>a<b</xmp>c", "a b c "},
    {"12 RAWTEXT less-than sign", "<style><</style>a", "a "},
    {"13 RAWTEXT end tag open", "<xmp>a</b</xmp>c", "a b c "},
    {"13 RAWTEXT end tag open", "<style></</style>a", "a "},
    {"14 RAWTEXT end tag name", "<xmp>a</xmpb>c</XMP>d", "a xmpb c d "},
    {"14 RAWTEXT end tag name", "<style></stylex></style/>a", "a "},
    {"14 RAWTEXT end tag name", "<iframe></iframe x=\"</p>\">a", "a "},
    {"14 RAWTEXT end tag name", "<style></sty</style >a", "a "},
    {"15 script data less-than sign", "<script><</script>a", "a "},
    {"15 script data less-than sign", "<script><a</script>b", "b "},
    {"16 script data end tag open", "<script></</script>a", "a "},
    {"16 script data end tag open", "<script></1</script>a", "a "},
    {"17 script data end tag name", "<script></scriptx></script>a", "a "},
    {"17 script data end tag name", "<script></SCRIPT\n>a", "a "},
    {"17 script data end tag name", "<script></script/>a", "a "},
    {"17 script data end tag name", "<script></script a='>'>b", "b "},
    {"17 script data end tag name", "<script></style></script>a", "a "},
    {"17 script data end tag name", "<script></script", ""},
    {"18 script data escape start", "<script><!a<script></script>b", "b "},
    {"18 script data escape start", "<script><!</script>b", "b "},
    {"19 script data escape start dash", "<script><!-a<script></script>b", "b "},
    {"19 script data escape start dash", "<script><!-</script>b", "b "},
    {"20 script data escaped", "<script><!--a</script>b", "b "},
    {"20 script data escaped", "<script><!--a<script>b</script>c</script>d", "d "},
    {"20 script data escaped", "<script><!--a>b<script></script>c</script>d", "d "},
    {"21 script data escaped dash", "<script><!--a-</script>b", "b "},
    {"21 script data escaped dash", "<script><!--a->b<script></script>c</script>d", "d "},
    {"21 script data escaped dash", "<script><!--a-b-><script></script>c</script>d", "d "},
    {"22 script data escaped dash dash", "<script><!--a--><script></script>b", "b "},
    {"22 script data escaped dash dash", "<script><!--a---><script></script>b", "b "},
    {"22 script data escaped dash dash", "<script><!--><script></script>b", "b "},
    {"22 script data escaped dash dash", "<script><!---><script></script>b", "b "},
    {"22 script data escaped dash dash", "<script><!-- --a><script></script>c</script>d", "d "},
    {"22 script data escaped dash dash", "<script><!-- --<!-- --></script>d", "d "},
    {"23 script data escaped less-than sign", "<script><!--<</script>a", "a "},
    {"23 script data escaped less-than sign", "<script><!--<1</script>a", "a "},
    {"23 script data escaped less-than sign", "<script><!----<>a<script></script>b</script>c",
     "c "},
    {"24 script data escaped end tag open", "<script><!--</</script>a", "a "},
    {"24 script data escaped end tag open", "<script><!--</1</script>a", "a "},
    {"25 script data escaped end tag name", "<script><!--</scriptx></script >a", "a "},
    {"25 script data escaped end tag name", "<script><!--</script/>a", "a "},
    {"25 script data escaped end tag name", "<script><!--</scr--><script></script>a", "a "},
    {"26 script data double escape start", "<script><!--<script</script>a</script>b", "a b "},
    {"26 script data double escape start", "<script><!--<scriptx></script>b", "b "},
    {"26 script data double escape start", "<script><!--<SCRIPT/</script>a</script>b", "b "},
    {"26 script data double escape start", "<script><!--<scrip></script>b", "b "},
    {"26 script data double escape start", "<script><!--<script\t</script>a</script>b", "b "},
    {"26 script data double escape start", "<script><!--<script--></script>b", "b "},
    {"27 script data double escaped", "<script><!--<script>a</script>b</script>c", "c "},
    {"27 script data double escaped", "<script><!--<script>a<b></b></script></script>c", "c "},
    {"27 script data double escaped", "<script><!--<script>a", ""},
    {"28 script data double escaped dash", "<script><!--<script>-></script></script>c", "c "},
    {"28 script data double escaped dash", "<script><!--<script>-a-></script></script>c", "c "},
    {"29 script data double escaped dash dash", "<script><!--<script>--></script>c", "c "},
    {"29 script data double escaped dash dash", "<script><!--<script>----></script>c", "c "},
    {"29 script data double escaped dash dash", "<script><!--<script>--a></script>b</script>c",
     "c "},
    {"30 script data double escaped less-than sign", "<script><!--<script><</script>a</script>b",
     "b "},
    {"30 script data double escaped less-than sign",
     "<script><!--<script><script></script>a</script>b", "b "},
    {"30 script data double escaped less-than sign", "<script><!--<script>--<></script>a</script>b",
     "b "},
    {"31 script data double escape end", "<script><!--<script></scriptx></script>a</script>b",
     "b "},
    {"31 script data double escape end", "<script><!--<script></script <p></script>b", "b "},
    {"31 script data double escape end", "<script><!--<script></script/--></script>b", "b "},
    {"32 before attribute name", "<p  a>b<p\n/a>c<p >d<p / >e", "b c d e "},
    {"32 before attribute name", "<p =>a<p ='b'>c<p =\"b>c\">d", "a c c d "},
    {"32 before attribute name", "<p a='1'=\"b>c\">d", "c d "},
    {"33 attribute name", "<p a>b<p a/>c<p a=1>d<p a b>e", "b c d e "},
    {"33 attribute name", "<p a\"b'c<d>e", "e "},
    {"33 attribute name", "<p \"a>b\">c", "b c "},
    {"33 attribute name", "<img ALT='a'>b<img aLt='c'>", "a b c "},
    {"33 attribute name", "<img alt=a alt=b>c<img alt alt=d>e", "a c e "},
    {"33 attribute name", "<img xalt=a altx=b al=c>d", "d "},
    {"34 after attribute name", "<img alt =a><img alt\n= b><img alt / =c>d", "a b d "},
    {"34 after attribute name", "<p a b>c<p a />d<p a >e<p a b='>'>f", "c d e f "},
    {"35 before attribute value", "<img alt= a><img alt=\n'b'><img alt= >c", "a b c "},
    {"35 before attribute value", "<p a=>b<p a= >c<p a= '>'>d<p a=/>e", "b c d e "},
    {"36 attribute value (double-quoted)", "<p a=\"b>c'd\">e<p a=\"\">f", "e f "},
    {"36 attribute value (double-quoted)", "<img alt=\"a&amp;b 'c' <d>\">e", "a b c d e "},
    {"36 attribute value (double-quoted)", "a<p b=\"c>d", "a "},
    {"37 attribute value (single-quoted)", "<p a='b>c\"d'>e<p a=''>f", "e f "},
    {"37 attribute value (single-quoted)", "<img alt='a&eacute;b \"c\" <d>'>e", "aéb c d e "},
    {"37 attribute value (single-quoted)", "a<p b='c>d", "a "},
    {"38 attribute value (unquoted)", "<p a=b>c<p a=b d=e>f<p a=b/>g<p a=b\fc>h", "c f g h "},
    {"38 attribute value (unquoted)", "<p a=b\"c>d\">e<p a=b'c>d'>e<p a==\"b>c\">d",
     "d e d e c d "},
    {"38 attribute value (unquoted)", "<img alt=a&eacute;b><img alt=c/d>", "aéb c d "},
    {"38 attribute value (unquoted)", "<p a=b=\"c>d\">e", "d e "},
    {"39 after attribute value (quoted)", "<p a='b'c='>'>d<p a='b'/>e<p a='b' >f", "d e f "},
    {"39 after attribute value (quoted)", "<img a='b'alt='c'>d", "c d "},
    {"39 after attribute value (quoted)", "a<p b='c'", "a "},
    {"40 self-closing start tag", "<p/>a<p/b>c<p/ >d<br/>e", "a c d e "},
    {"40 self-closing start tag !XHTML", "<script/>a<style />b<title a='b'/>c", "a b c "},
    {"40 self-closing start tag", "<script a=b/>c</script><script / >d</script>e", "e "},
    {"40 self-closing start tag", "<script/a>b</script>c", "c "},
    {"41 bogus comment", "a<!b\"c>d\">e", "ad e "},
    {"41 bogus comment", "a<?b 'c>d", "ad "},
    {"41 bogus comment", "a</%b>c<!>d", "acd "},
    {"41 bogus comment", "a<!b", "a "},
    {"42 markup declaration open", "a<!-b>c<!->d", "acd "},
    {"42 markup declaration open", "a<!DocType html>b<!doctypehtml>c", "abc "},
    {"42 markup declaration open", "a<!d>b<![cdata[c]]>d<![CDATA>e", "abde "},
    {"42 markup declaration open !foreign content or not", "a<![CDATA[b]]>c", "abc "},
    {"43 comment start", "a<!--b-->c<!---->d", "acd "},
    {"43 comment start", "a<!-->b-->c", "ab c "},
    {"44 comment start dash", "a<!--->b-->c", "ab c "},
    {"44 comment start dash", "a<!---b-->c", "ac "},
    {"45 comment", "a<!--b<c>d&amp;--e-->f", "af "},
    {"45 comment", "a<!--b", "a "},
    {"46 comment less-than sign", "a<!--<b-->c<!--<-->d<!--<<-->e", "acde "},
    {"47 comment less-than sign bang", "a<!--<!b-->c<!--<!>b-->c", "acc "},
    {"48 comment less-than sign bang dash", "a<!--<!-b-->c<!--<!-->d", "acd "},
    {"49 comment less-than sign bang dash dash", "a<!--<!-- b -->c<!--<!--->d", "acd "},
    {"50 comment end dash", "a<!--b-c->d-->e", "ae "},
    {"51 comment end", "a<!--b--c-->d<!--b---->e", "ade "},
    {"51 comment end", "a<!--b-- >c-->d", "ad "},
    {"52 comment end bang", "a<!--b--!>c<!--b--!-->d<!--b--!c>d-->e", "acde "},
    {"52 comment end bang", "a<!--b--!--!>c<!--!>d-->e<!----!>f", "acef "},
    {"53 DOCTYPE", "a<!DOCTYPE>b<!DOCTYPE\t>c<!DOCTYPEx>d", "abcd "},
    {"54 before DOCTYPE name", "a<!DOCTYPE  html>b<!DOCTYPE >c", "abc "},
    {"55 DOCTYPE name", "a<!DOCTYPE html>b<!DOCTYPE a'b\">c", "abc "},
    {"56 after DOCTYPE name", "a<!DOCTYPE html PUBLIC>b<!DOCTYPE html SYSTEM>c<!DOCTYPE html x>d",
     "abcd "},
    {"57 after DOCTYPE public keyword", "a<!DOCTYPE html PUBLIC\"b\">c<!DOCTYPE html PUBLIC x>d",
     "acd "},
    {"58 before DOCTYPE public identifier", "a<!DOCTYPE html PUBLIC >b", "ab "},
    {"59 DOCTYPE public identifier (double-quoted)", "a<!DOCTYPE html PUBLIC \"b>c\">d", "ac d "},
    {"60 DOCTYPE public identifier (single-quoted)", "a<!DOCTYPE html PUBLIC 'b>c'>d", "ac d "},
    {"61 after DOCTYPE public identifier",
     "a<!DOCTYPE html PUBLIC 'b'>c<!DOCTYPE html PUBLIC 'b'x>d", "acd "},
    {"62 between DOCTYPE public and system identifiers",
     "a<!DOCTYPE html PUBLIC 'b' >c<!DOCTYPE html PUBLIC 'b' 'c'>d", "acd "},
    {"63 after DOCTYPE system keyword", "a<!DOCTYPE html SYSTEM\"b\">c", "ac "},
    {"64 before DOCTYPE system identifier", "a<!DOCTYPE html SYSTEM >b<!DOCTYPE html SYSTEM x>c",
     "abc "},
    {"65 DOCTYPE system identifier (double-quoted)", "a<!DOCTYPE html SYSTEM \"b>c\">d", "ac d "},
    {"66 DOCTYPE system identifier (single-quoted)", "a<!DOCTYPE html SYSTEM 'b>c'>d", "ac d "},
    {"67 after DOCTYPE system identifier",
     "a<!DOCTYPE html SYSTEM 'b' >c<!DOCTYPE html SYSTEM 'b' x>d", "acd "},
    {"68 bogus DOCTYPE", "a<!DOCTYPE html x 'b>c'>d<!DOCTYPE", "ac d "},
    {"69 CDATA section", "a<![CDATA[b<c>&amp;]d]>e]]>f", "ab c amp d ef "},
    {"69 CDATA section", "a<![CDATA[b", "ab "},
    {"70 CDATA section bracket", "a<![CDATA[b]c]]>d", "ab cd "},
    {"71 CDATA section end", "a<![CDATA[b]]]>c<![CDATA[]]>d<![CDATA[]]]]>e", "ab cd e "},
    {"71 CDATA section end", "a<![CDATA[b]]c]]>d", "ab cd "},
    {"72 character reference", "a&b;&;& &&amp;<p>&<p>c&", "a b c "},
    {"72 character reference", "a&é", "a é "},
    {"73 named character reference", "a&eacute;b&eacuteb&Eacute;&EACUTE;", "aébébé eacute "},
    {"73 named character reference", "&notin;&not;in&notin &notit;", "in in it "},
    {"73 named character reference",
     "<img alt='&eacute;&eacute &eacute=x &eacutex &copy=1 &copyx;'>",
     "éé eacute x eacutex copy 1 copyx "},
    {"73 named character reference", "<img alt=&eacute>a<img alt='&eacute'>b", "é a é b "},
    {"73 named character reference", "&eacute=x &lt=x &ampx", "é x x x "},
    {"73 named character reference", "&fjlig;&Aopf;&bne;&NotEqualTilde;", "fja "},
    {"73 named character reference",
     "&CounterClockwiseContourIntegral;a&CounterClockwiseContourIntegra;",
     "a counterclockwisecontourintegra "},
    {"73 named character reference", "&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;",
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "},
    {"73 named character reference", "&eacuteaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;",
     "éaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "},
    {"74 ambiguous ampersand", "&abcdef;&abcdef &1a;", "abcdef abcdef 1a "},
    {"75 numeric character reference", "&#a;&#;&#<p>b&#", "a b "},
    {"76 hexadecimal character reference start", "&#x41;&#X41;&#xg;&#x;&#x", "aa xg x x "},
    {"77 decimal character reference start", "&#65;&#x;&#6a", "a x a "},
    {"78 hexadecimal character reference", "&#x6A;&#x6b&#x6Cg&#x4e2d;", "jklg 中 "},
    {"79 decimal character reference", "&#65;&#66&#67d&#20013;", "abcd 中 "},
    {"80 numeric character reference end", "a&#0;b&#55296;c&#1114112;d&#xfffe;e&#x1d504;",
     "a b c d ea "},
    {"80 numeric character reference end", "&#x8a;&#x9c;&#x80;&#x81;a&#159;", "šœ aÿ "},
    {"80 numeric character reference end", "&#99999999999999999999;a&#x000000000000000000000041;",
     "aa "},
};

static void test_html_states__each_gives_the_text_of_its_vectors(void **state)
{
    (void)state;
    size_t n_wrong = 0;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        const struct vector *vector = &vectors[i];
        if (!html_is(vector->html, strlen(vector->html), vector->tokens)) {
            fprintf(stderr, "  in %s\n", vector->state);
            n_wrong++;
        }
    }
    assert_int_equal(n_wrong, 0);
}

/* From its number and from its name: every state of the standard has a vector. */
static void test_html_states__all_have_vectors(void **state)
{
    (void)state;
    int last = 0;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        int number = atoi(vectors[i].state);
        assert_in_range(number, last, last + 1);
        last = number;
    }
    assert_int_equal(last, 80);
}

/* A NUL is a character like others to the tokenizer; in the name of a tag it makes another tag. */
static void test_html_states__nul_ends_nothing(void **state)
{
    (void)state;
    static const char html[] =
        "a\0b<b\0>c<img alt='d\0e'><p a='\0>'>f<!-- \0-->g<script>\0</script>h";
    assert_true(html_is(html, sizeof(html) - 1, "a b c d e fg h "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_html_states__each_gives_the_text_of_its_vectors),
        cmocka_unit_test(test_html_states__all_have_vectors),
        cmocka_unit_test(test_html_states__nul_ends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
