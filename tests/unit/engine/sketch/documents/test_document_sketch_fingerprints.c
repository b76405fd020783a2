/* Fingerprints of a document's bytes, of its text and of its shingles. */
#define XXH_INLINE_ALL /* the secret of all is in the header alone */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/fixtures/document_sketch_fixture.h"
#include "tests/unit/engine/sketch/documents/crafted.h"

/* A1, C14, C15: same bytes => same canonical text => same shingles, and neither the other way */
static void test_document_sketch__fingerprints_tell_the_three_equivalences(void **state)
{
    (void)state;
    BENCH bench = bench_new(2);
    SKETCH text = sketch_text(&bench, "one two one three one two");
    SKETCH again = sketch_text(&bench, "one two one three one two");
    SKETCH wrapped = sketch_text(&bench, "One two\none THREE\n  one two.\n");
    SKETCH html = sketch_text(&bench, "<html><p>One <b>two</b> one<p>three one two");
    SKETCH shuffled = sketch_text(&bench, "two one three one two one"); /* J9 */
    SKETCH other = sketch_text(&bench, "one two one three four");
    expect_same(&text, &again);

    const struct document_sketch *equivalent[] = {&wrapped, &html};
    for (size_t i = 0; i < 2; i++) {
        assert_memory_not_equal(text.content_fingerprint, equivalent[i]->content_fingerprint,
                                FINGERPRINT_BYTES);
        assert_memory_equal(text.text_fingerprint, equivalent[i]->text_fingerprint,
                            FINGERPRINT_BYTES);
        expect_same_shingles(&text, equivalent[i]);
    }
    assert_int_equal(html.form.type, TEXT_HTML);
    assert_memory_not_equal(text.text_fingerprint, shuffled.text_fingerprint, FINGERPRINT_BYTES);
    expect_same_shingles(&text, &shuffled);
    assert_memory_not_equal(text.text_fingerprint, other.text_fingerprint, FINGERPRINT_BYTES);
    assert_memory_not_equal(text.shingle_fingerprint, other.shingle_fingerprint, FINGERPRINT_BYTES);
}

/* A1: the lexical fingerprint of a text is that of each form it is written in. */
static void test_document_sketch__a_text_is_the_same_in_every_form(void **state)
{
    (void)state;
    static const struct {
        enum text_type type;
        const char *bytes;
    } forms[] = {
        {TEXT_PLAIN, "A rose\nis a  ROSE,\nis a café.\n"},
        {TEXT_HTML, "<html><p>A <b>ro</b>se is a<br>rose<p>is a caf&eacute;"},
        {TEXT_XML, "<?xml version='1.0'?><a><b>A rose</b> is a rose is a caf&#xe9;</a>"},
        {TEXT_ROFF, ".TH ROSE 1\n.B A rose\nis\n.BI a\nrose\n.PP\n.\\\" x\nis a caf\\('e"},
        {TEXT_MAIL, "From: x\nDate: y\nSubject: =?utf-8?q?A_rose?=\nContent-Type: text/plain;\n"
                    " charset=latin1\nContent-Transfer-Encoding: quoted-printable\n\n"
                    "is a ro=\nse\n> is a caf=E9\n"},
        {TEXT_MARKDOWN,
         "# A rose\n\n## is *a*\n\n```c\nrose\n```\n[is](http://x) _a_ caf&eacute;.\n"},
        {TEXT_JSON, "[\"A rose\\nis\", \"a\\trose\", \"is\", {\"a\": \"caf\\u00e9\"}]"},
        {TEXT_NOTEBOOK,
         "{\"cells\": [{\"cell_type\": \"raw\", \"source\": [\"A rose\\n\", \"is a rose is a "
         "caf\\u00e9\"], \"outputs\": [\"no\"]}], \"nbformat\": 4}"},
        {TEXT_RTF, "{\\rtf1{\\fonttbl{\\f0 No;}}A {\\b ro}se\\par is a rose\\tab is a caf\\'e9}"},
        {TEXT_LATEX, "\\documentclass{no}\n\\begin{document}\n\\section{A rose}\\label{no}\nis "
                     "\\emph{a} {\\bf ro}se % no\nis a caf\\'{e}\n\\end{document}\n"},
        {TEXT_WIKI,
         "== A [[No|rose]] ==\n{{No}}is a '''ro'''se<ref>no</ref>\n[[is]] a caf&eacute;.\n"},
    };
    BENCH bench = bench_new(2);
    SKETCH text = sketch_text(&bench, "a rose is a rose is a café");
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        SKETCH form = sketch_text(&bench, forms[i].bytes);
        assert_int_equal(form.form.type, forms[i].type);
        assert_memory_equal(form.text_fingerprint, text.text_fingerprint, FINGERPRINT_BYTES);
        expect_same_shingles(&form, &text);
    }
}

static void test_document_sketch__words_cut_otherwise_are_another_text(void **state)
{
    (void)state;
    BENCH bench = bench_new(5);
    SKETCH a = sketch_text(&bench, "ab c");
    SKETCH b = sketch_text(&bench, "a bc");
    SKETCH c = sketch_text(&bench, "abc");
    assert_memory_not_equal(a.text_fingerprint, b.text_fingerprint, FINGERPRINT_BYTES);
    assert_memory_not_equal(a.text_fingerprint, c.text_fingerprint, FINGERPRINT_BYTES);
    assert_memory_not_equal(b.text_fingerprint, c.text_fingerprint, FINGERPRINT_BYTES);
}

#define ROWS "a,b,c\n1,2,3\n4,5,6\n7,8,9\na,b,c\n1,2,3\n4,5,6\n"

/* Their sketches are the same: of a row these have each value once, in no order. What stands
 * between cells and around them is no text. A filter of words changes nothing. */
static void test_document_sketch__tables_of_other_cells_are_another_text(void **state)
{
    (void)state;
    static const char *const others[][2] = {
        {"a,b,n\nalice1,bob1,3\nc,d,4\n", "a,b,n\nbob1,alice1,3\nc,d,4\n"},
        {"a,b,c,d\n1,4,4,4\n2,3,5,6\n", "a,b,c,d\n1,4,1,1\n2,3,5,6\n"},
        {"a,b,c\np1,1001,\np2,1,2\n", "a,b,c\np1,,1001\np2,1,2\n"},
        {"a,b,c\n1,2,3\n4,5,6\n", "a,b,c\n4,5,6\n1,2,3\n"},
        {"a,b,c\n1,2,3\n4,5,6\n,,\n", "a,b,c\n1,2,3\n4,5,6\n"},
        {ROWS ROWS "x,,\n", ROWS ROWS "x\n,\n"},
    };
    static const char *const same[] = {"a,b,c\n1,,3\n4,5,5\n", "a;b;c\r\n1;;3\r\n4;5;5",
                                       "a,\"b\",c\n\n1,\"\",3\n4,5 ,5\n\n"};
    for (unsigned tokens = TOKENS_WORDS; tokens <= TOKENS_LETTERS; tokens++) {
        struct policy policy = test_policy(2);
        policy.words.tokens = (uint8_t)tokens;
        BENCH bench = bench_of(&policy);
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            SKETCH a = sketch_text(&bench, others[i][0]);
            SKETCH b = sketch_text(&bench, others[i][1]);
            assert_int_equal(a.form.type, TEXT_TABLE);
            assert_int_equal(b.form.type, TEXT_TABLE);
            assert_memory_equal(a.shingle_fingerprint, b.shingle_fingerprint, FINGERPRINT_BYTES);
            assert_memory_not_equal(a.text_fingerprint, b.text_fingerprint, FINGERPRINT_BYTES);
        }
        SKETCH first = sketch_text(&bench, same[0]);
        for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
            SKETCH form = sketch_bytes(&bench, same[i], strlen(same[i]), i, 1);
            assert_int_equal(form.form.type, TEXT_TABLE);
            assert_memory_equal(form.text_fingerprint, first.text_fingerprint, FINGERPRINT_BYTES);
        }
    }
}

/* One that is taken in parts is not those parts, which are features all the same. */
static void test_document_sketch__a_long_cell_is_not_two(void **state)
{
    (void)state;
    enum { CELL_BYTES = 8192 };
    static char x[CELL_BYTES + 1], one[2 * CELL_BYTES], two[2 * CELL_BYTES];
    BENCH bench = bench_new(2);
    memset(x, 'x', CELL_BYTES);
    snprintf(one, sizeof(one), "a,b,c\nd,e,f\ng,h,i\n%sy\n", x);
    snprintf(two, sizeof(two), "a,b,c\nd,e,f\ng,h,i\n%s,y\n", x);
    SKETCH a = sketch_text(&bench, one);
    SKETCH b = sketch_text(&bench, two);
    assert_int_equal(a.form.type, TEXT_TABLE);
    assert_int_equal(b.form.type, TEXT_TABLE);
    expect_same_shingles(&a, &b);
    assert_memory_not_equal(a.text_fingerprint, b.text_fingerprint, FINGERPRINT_BYTES);

    /* Nor is it cut within a character. */
    x[CELL_BYTES - 1] = '\0';
    snprintf(one, sizeof(one), "a,b,c\nd,e,f\ng,h,i\n%s\u00e9\n", x);
    snprintf(two, sizeof(two), "a,b,c\nd,e,f\ng,h,i\n%s\u00e8\n", x);
    SKETCH c = sketch_text(&bench, one);
    SKETCH d = sketch_text(&bench, two);
    assert_int_equal(c.form.type, TEXT_TABLE);
    assert_memory_not_equal(c.text_fingerprint, d.text_fingerprint, FINGERPRINT_BYTES);
}

static void test_document_sketch__content_fingerprint_is_of_the_bytes(void **state)
{
    (void)state;
    BENCH bench = bench_new(5);
    char bytes[20000];
    struct digest_key key;
    policy_digest_key(&bench.policy, &key);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * i);
    for (size_t size = 0; size <= sizeof(bytes); size += 4000) {
        SKETCH sketch = sketch_bytes(&bench, bytes, size, 0, 1);
        for (size_t i = 0; i < DIGEST_SECRETS; i++) {
            const XXH128_hash_t hash =
                XXH3_128bits_withSecret(bytes, size, key.secrets[i], DIGEST_SECRET_BYTES);
            assert_true(get_be64(sketch.content_fingerprint + 8 * i) == hash.high64);
        }
        assert_int_equal(sketch.size_bytes, size);
    }
}

static void test_document_sketch__text_fingerprint_is_of_the_token_fingerprints(void **state)
{
    (void)state;
    BENCH bench = bench_new(3);
    SKETCH sketch = sketch_text(&bench, "The quick, brown fox!");
    static const uint8_t bytes[20 + TOKEN_BLOCK_SLACK_BYTES] = "thequickbrownfox";
    static const uint32_t ends[] = {3, 8, 13, 16};
    const struct token_block block = {bytes, ends, 4};
    uint64_t tokens[4];
    uint8_t both[2 * FINGERPRINT_BYTES];
    struct digest_key key;
    XXH128_canonical_t canonical;
    policy_digest_key(&bench.policy, &key);
    shingle_hash_tokens(bench.hash, &block, tokens);
    for (size_t i = 0; i < 2; i++) {
        XXH128_canonicalFromHash(&canonical,
                                 XXH3_128bits_withSecret(tokens, i ? 0 : sizeof(tokens),
                                                         key.secrets[i], DIGEST_SECRET_BYTES));
        memcpy(both + FINGERPRINT_BYTES * i, canonical.digest, FINGERPRINT_BYTES);
    }
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_withSecret(both, sizeof(both), key.secrets[0],
                                                                 DIGEST_SECRET_BYTES));
    assert_memory_equal(sketch.text_fingerprint, canonical.digest, FINGERPRINT_BYTES);
}

static void expect_different(const struct document_sketch *a, const struct document_sketch *b)
{
    assert_memory_not_equal(a->content_fingerprint, b->content_fingerprint, 8);
    assert_memory_not_equal(a->content_fingerprint + 8, b->content_fingerprint + 8, 8);
    assert_memory_not_equal(a->text_fingerprint, b->text_fingerprint, FINGERPRINT_BYTES);
    assert_memory_not_equal(document_equality(a), document_equality(b), FINGERPRINT_BYTES);
}

/* As words, as a cell of a table, as a chunk of a binary file. */
static char *crafted_document(const char *text, unsigned way, size_t *ret_size)
{
    char *document = NULL;
    FILE *file = open_memstream(&document, ret_size);
    assert_non_null(file);
    switch (way) {
    case 0: fwrite(text, 1, CRAFTED_BYTES, file); break;
    case 1:
        for (size_t i = 0; i < CRAFTED_WORDS; i++)
            fprintf(file, "%.8s%c", text + CRAFTED_WORD * i, i % 10 == 9 ? '\n' : ' ');
        break;
    case 2: fprintf(file, "a,b,c\nd,e,f\ng,%.*s,h\n", (int)CRAFTED_BYTES, text); break;
    default:
        for (size_t i = 0; i < CRAFTED_BYTES; i++) /* a chunk has 4096 bytes at most */
            fputc(text[i], file);
        fputc('\0', file);
        break;
    }
    fclose(file);
    return document;
}

/* Texts of one digest under the secret of all are two: as a content, as words, and where they are
 * one feature of more. */
static void test_document_sketch__crafted_texts_are_not_the_same(void **state)
{
    (void)state;
    enum { WAYS = 4 };
    static const enum text_type lines = TEXT_EXTRACTED;
    static char a[CRAFTED_BYTES], b[CRAFTED_BYTES];
    BENCH bench = bench_new(5);
    assert_true(crafted_texts(a, b));
    assert_memory_not_equal(a, b, CRAFTED_BYTES);
    assert_true(XXH128_isEqual(XXH3_128bits(a, CRAFTED_BYTES), XXH3_128bits(b, CRAFTED_BYTES)));
    for (unsigned way = 0; way < WAYS; way++) {
        size_t size_a, size_b;
        _cleanup_free_ char *document_a = crafted_document(a, way, &size_a);
        _cleanup_free_ char *document_b = crafted_document(b, way, &size_b);
        SKETCH x = sketch_bytes(&bench, document_a, size_a, 0, 1);
        SKETCH y = sketch_bytes(&bench, document_b, size_b, 0, 2);
        SKETCH again = sketch_bytes(&bench, document_a, size_a, 0, 3);
        expect_different(&x, &y);
        expect_same(&x, &again);
    }

    struct exact_set *sets[2];
    struct document_sketch sketches[2];
    for (int i = 0; i < 2; i++) {
        int fd = memfd_create("lines", 0);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, i ? b : a, CRAFTED_BYTES), CRAFTED_BYTES);
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        assert_int_equal(exact_set_read(fd, &lines, 5, NULL, SIZE_MAX, &sets[i]), 0);
        close(fd);
        document_sketcher_begin_given(bench.sketcher, TEXT_EXTRACTED, DOCUMENT_LINES_GIVEN);
        document_sketcher_feed_text(bench.sketcher, i ? b : a, CRAFTED_BYTES);
        document_sketcher_finish(bench.sketcher, &sketches[i]);
    }
    assert_memory_not_equal(sketches[0].text_fingerprint, sketches[1].text_fingerprint,
                            FINGERPRINT_BYTES);
    double value;
    assert_int_equal(exact_set_resemblance(sets[0], sets[1], &value), 0);
    assert_true(value == 0);
    assert_false(exact_set_equal(sets[0], sets[1]));
    assert_true(exact_set_equal(sets[0], sets[0]));
    exact_set_free(sets[0]);
    exact_set_free(sets[1]);
}

static void test_document_sketch__fingerprints_are_those_of_the_key(void **state)
{
    (void)state;
    struct policy other = test_policy(5);
    other.key[31] ^= 1;
    BENCH bench = bench_new(5), again = bench_new(5), under_other = bench_of(&other);
    SKETCH x = sketch_text(&bench, "the quick brown fox"), y = sketch_text(&again, "The quick "
                                                                                   "brown fox");
    SKETCH z = sketch_text(&under_other, "the quick brown fox");
    assert_memory_equal(x.text_fingerprint, y.text_fingerprint, FINGERPRINT_BYTES);
    expect_different(&x, &z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document_sketch__fingerprints_tell_the_three_equivalences),
        cmocka_unit_test(test_document_sketch__a_text_is_the_same_in_every_form),
        cmocka_unit_test(test_document_sketch__words_cut_otherwise_are_another_text),
        cmocka_unit_test(test_document_sketch__tables_of_other_cells_are_another_text),
        cmocka_unit_test(test_document_sketch__a_long_cell_is_not_two),
        cmocka_unit_test(test_document_sketch__content_fingerprint_is_of_the_bytes),
        cmocka_unit_test(test_document_sketch__text_fingerprint_is_of_the_token_fingerprints),
        cmocka_unit_test(test_document_sketch__crafted_texts_are_not_the_same),
        cmocka_unit_test(test_document_sketch__fingerprints_are_those_of_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
