#define XXH_INLINE_ALL /* the secret of all is in the header alone */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "engine/sketch/documents/document_sketch.h"
#include "engine/sketch/hash/stream_hash.h"
#include "engine/sketch/documents/exact_set.h"
#include "tests/unit/engine/sketch/documents/crafted.h"

static struct policy test_policy(uint32_t w)
{
    struct policy policy = {"test", POLICY_TOKENISER_WORDS, POLICY_HASH_GF64, w, 128, 25, 4096,
                            {3}};
    return policy;
}

/* One sketcher and what it needs. */
struct bench {
    struct policy policy;
    struct shingle_hash *hash;
    struct document_sketcher *sketcher;
};

static struct bench bench_of(const struct policy *policy)
{
    struct bench bench = {.policy = *policy};
    assert_int_equal(shingle_hash_new(&bench.policy, &bench.hash), 0);
    assert_int_equal(document_sketcher_new(&bench.policy, bench.hash, &bench.sketcher), 0);
    return bench;
}

static struct bench bench_new(uint32_t w)
{
    const struct policy policy = test_policy(w);
    return bench_of(&policy);
}

static void bench_done(struct bench *bench)
{
    document_sketcher_free(bench->sketcher);
    shingle_hash_free(bench->hash);
}

/* Its values are a copy; pieces of piece_bytes, 0: of random size. */
static struct document_sketch sketch_bytes(struct bench *bench, const void *bytes, size_t size,
                                           size_t piece_bytes, unsigned seed)
{
    struct document_sketch result;
    document_sketcher_begin(bench->sketcher);
    for (size_t at = 0, n; at < size; at += n) {
        n = piece_bytes ? piece_bytes : (size_t)rand_r(&seed) % 5000;
        if (n > size - at)
            n = size - at;
        document_sketcher_feed(bench->sketcher, (const char *)bytes + at, n);
    }
    document_sketcher_finish(bench->sketcher, &result);
    struct min_sketch copy;
    assert_int_equal(min_sketch_copy(&result.sketch, &copy), 0);
    result.sketch = copy;
    return result;
}

static struct document_sketch sketch_text(struct bench *bench, const char *text)
{
    return sketch_bytes(bench, text, strlen(text), 1 << 20, 0);
}

static void sketch_done(struct document_sketch *sketch)
{
    min_sketch_done(&sketch->sketch);
}

#define SKETCH _cleanup_(sketch_done) struct document_sketch
#define BENCH _cleanup_(bench_done) struct bench

static void expect_same_shingles(const struct document_sketch *a, const struct document_sketch *b)
{
    assert_int_equal(a->sketch.n_values, b->sketch.n_values);
    for (uint32_t i = 0; i < a->sketch.n_values; i++)
        assert_true(a->sketch.values[i] == b->sketch.values[i]);
    assert_memory_equal(a->shingle_fingerprint, b->shingle_fingerprint, FINGERPRINT_BYTES);
}

static void expect_same(const struct document_sketch *a, const struct document_sketch *b)
{
    assert_int_equal(a->form.type, b->form.type);
    assert_int_equal(a->size_bytes, b->size_bytes);
    assert_memory_equal(a->content_fingerprint, b->content_fingerprint, FINGERPRINT_BYTES);
    assert_memory_equal(a->text_fingerprint, b->text_fingerprint, FINGERPRINT_BYTES);
    assert_int_equal(a->sketch.n_tokens, b->sketch.n_tokens);
    expect_same_shingles(a, b);
}

/* A6: the values of the roses, from sketches; exact, as these hold all their shingles */
static void test_document_sketch__gives_the_resemblance_of_the_roses(void **state)
{
    (void)state;
    const double expected[] = {0.6, 0.5, 3. / 7, 1. / 8};
    for (uint32_t w = 1; w <= 4; w++) {
        BENCH bench = bench_new(w);
        SKETCH a = sketch_text(&bench, "a rose is a rose is a rose");
        SKETCH b = sketch_text(&bench, "A rose is a flower which is a rose.");
        struct estimate estimate;
        assert_int_equal(min_sketch_resemblance(&a.sketch, &b.sketch, &estimate), 0);
        assert_true(estimate.value == expected[w - 1]);
        assert_true(estimate.exact && estimate.error == 0);
        assert_int_equal(min_sketch_resemblance(&a.sketch, &a.sketch, &estimate), 0);
        assert_true(estimate.value == 1.0);
    }
}

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

/* B6: no number is made up where there is nothing to count; J6: the empty set has no fingerprint */
static void test_document_sketch__of_nothing_is_empty(void **state)
{
    (void)state;
    BENCH bench = bench_new(5);
    const uint8_t zeros[FINGERPRINT_BYTES] = {0};
    struct {
        const char *bytes;
        size_t size;
        enum text_type type;
    } documents[] = {
        {"", 0, TEXT_PLAIN},
        {"...\n\n---\n", 9, TEXT_PLAIN},
        {"<html><br></html>", 17, TEXT_HTML},
    };
    SKETCH some = sketch_text(&bench, "a few words are here");
    for (size_t i = 0; i < 3; i++) {
        SKETCH sketch = sketch_bytes(&bench, documents[i].bytes, documents[i].size, 1, 0);
        struct estimate estimate;
        assert_int_equal(sketch.form.type, documents[i].type);
        assert_int_equal(sketch.sketch.n_values, 0);
        assert_int_equal(sketch.sketch.n_tokens, 0);
        assert_true(sketch.sketch.policy_id == policy_id(&bench.policy));
        assert_memory_equal(sketch.shingle_fingerprint, zeros, FINGERPRINT_BYTES);
        assert_int_equal(min_sketch_resemblance(&sketch.sketch, &some.sketch, &estimate), -ENODATA);
        assert_int_equal(min_sketch_resemblance(&some.sketch, &sketch.sketch, &estimate), -ENODATA);
        assert_int_equal(min_sketch_containment(&sketch.sketch, &some.sketch, &estimate), -ENODATA);
        assert_int_equal(min_sketch_containment(&some.sketch, &sketch.sketch, &estimate), 0);
        assert_true(estimate.value == 0 && estimate.exact);
        assert_int_equal(min_sketch_reaches(&some.sketch, &sketch.sketch, 0, &estimate), -ENODATA);
    }
}

/* A5: fewer than w tokens make one shingle, all of them; and no shorter shingle equals a longer */
static void test_document_sketch__of_a_short_document_is_one_shingle(void **state)
{
    (void)state;
    BENCH bench = bench_new(5);
    const char *texts[] = {"a", "a a", "a a a", "a a a a", "a a a a a", "a a a a a a", "b a"};
    uint64_t seen[7];
    for (size_t i = 0; i < 7; i++) {
        SKETCH sketch = sketch_text(&bench, texts[i]);
        assert_int_equal(sketch.sketch.n_values, 1);
        assert_int_equal(sketch.sketch.n_tokens, i < 6 ? i + 1 : 2);
        assert_int_equal(sketch.sketch.below, 0);
        seen[i] = sketch.sketch.values[0];
        for (size_t j = 0; j < i; j++)
            assert_true((seen[i] == seen[j]) == (i == 5 && j == 4));
    }
}

static size_t random_document(char *out, size_t room, unsigned round, unsigned *seed)
{
    static const char *const pieces[] = {"word ", "Rose ", "\xc3\xa9t\xc3\xa9 ", "<b>",
                                         "</p>",  ", ",    "&eacute;s ",         "\n",
                                         "<!--",  "-->"};
    size_t size = 0, want = (size_t)rand_r(seed) % room;
    if (round % 3 == 0)
        size = (size_t)sprintf(out, "<html>");
    while (size + 20 < want) {
        if (rand_r(seed) % 2)
            size += (size_t)sprintf(out + size, "%u ", rand_r(seed) % 2000);
        else
            size += (size_t)sprintf(out + size, "%s", pieces[rand_r(seed) % 10]);
    }
    if (round % 7 == 0 && size)
        out[(size_t)rand_r(seed) % size] = '\0';
    return size;
}

static void test_document_sketch__does_not_depend_on_the_pieces_fed(void **state)
{
    (void)state;
    BENCH bench = bench_new(5);
    enum { ROOM = 40000 };
    char *document = malloc(ROOM);
    unsigned seed = 9;
    for (unsigned round = 0; round < 60; round++) {
        size_t size = random_document(document, ROOM, round, &seed);
        SKETCH whole = sketch_bytes(&bench, document, size, ROOM, 0);
        static const size_t pieces[] = {1, 4096, TEXT_SNIFF_BYTES, TEXT_SNIFF_BYTES + 1, 0};
        for (size_t i = 0; i < 5; i++) {
            SKETCH cut = sketch_bytes(&bench, document, size, pieces[i], round);
            expect_same(&cut, &whole);
        }
    }
    free(document);
}

/* Two routes: sketches that hold all shingles against sets of the shingles' texts. */
static void test_document_sketch__agrees_with_exact_sets(void **state)
{
    (void)state;
    enum { ROOM = 2500 };
    char documents[2][ROOM];
    unsigned seed = 10;
    for (unsigned round = 0; round < 120; round++) {
        uint32_t w = 1 + round % 12;
        BENCH bench = bench_new(w);
        bench_done(&bench);
        bench.policy.s = 4096; /* keeps all */
        assert_int_equal(shingle_hash_new(&bench.policy, &bench.hash), 0);
        assert_int_equal(document_sketcher_new(&bench.policy, bench.hash, &bench.sketcher), 0);

        size_t sizes[2];
        sizes[0] = random_document(documents[0], ROOM, 1, &seed);
        sizes[1] = random_document(documents[1], ROOM, 2, &seed);
        size_t shared = sizes[0] < sizes[1] ? sizes[0] / 2 : sizes[1] / 2;
        memcpy(documents[1], documents[0], shared);

        struct exact_set *sets[2];
        struct document_sketch sketches[2];
        for (size_t i = 0; i < 2; i++) {
            _cleanup_close_ int fd = memfd_create("document", MFD_CLOEXEC);
            assert_int_equal(write(fd, documents[i], sizes[i]), sizes[i]);
            assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
            assert_int_equal(exact_set_read(fd, NULL, w, NULL, SIZE_MAX, &sets[i]), 0);
            sketches[i] = sketch_bytes(&bench, documents[i], sizes[i], 0, round);
            assert_int_equal(sketches[i].sketch.n_values, exact_set_count(sets[i]));
        }
        double exact;
        struct estimate estimate;
        if (exact_set_count(sets[0]) && exact_set_count(sets[1])) {
            assert_int_equal(exact_set_resemblance(sets[0], sets[1], &exact), 0);
            assert_int_equal(
                min_sketch_resemblance(&sketches[0].sketch, &sketches[1].sketch, &estimate), 0);
            assert_true(estimate.value == exact && estimate.exact);
            assert_int_equal(exact_set_containment(sets[0], sets[1], &exact), 0);
            assert_int_equal(
                min_sketch_containment(&sketches[0].sketch, &sketches[1].sketch, &estimate), 0);
            assert_true(estimate.value == exact && estimate.exact);
        }
        for (size_t i = 0; i < 2; i++) {
            exact_set_free(sets[i]);
            sketch_done(&sketches[i]);
        }
    }
}

/* B13: a document of any size takes the memory the sketcher has from the start */
/* A12: as if the text had been the document, but for the fingerprint of the content. */
static void test_document_sketch__text_that_is_given_counts_for_the_document(void **state)
{
    (void)state;
    static const char text[] = "a rose is a rose is a rose and so on", lines[] = "a\nb\nc\n";
    static const char bytes[] = "\0bytes of which the text was made";
    struct bench bench = bench_new(3);
    struct document_sketch plain = sketch_text(&bench, text),
                           other = sketch_bytes(&bench, bytes, sizeof(bytes), 1, 1), given;
    document_sketcher_begin_given(bench.sketcher, TEXT_PDF, DOCUMENT_TEXT_GIVEN);
    document_sketcher_feed_text(bench.sketcher, text, 7);
    document_sketcher_feed(bench.sketcher, bytes, sizeof(bytes));
    document_sketcher_feed_text(bench.sketcher, text + 7, strlen(text) - 7);
    document_sketcher_finish(bench.sketcher, &given);
    assert_int_equal(given.form.type, TEXT_PDF);
    assert_int_equal(given.size_bytes, sizeof(bytes));
    assert_memory_equal(given.content_fingerprint, other.content_fingerprint, FINGERPRINT_BYTES);
    assert_memory_equal(given.text_fingerprint, plain.text_fingerprint, FINGERPRINT_BYTES);
    expect_same_shingles(&given, &plain);

    document_sketcher_begin_given(bench.sketcher, TEXT_EXTRACTED, DOCUMENT_LINES_GIVEN);
    document_sketcher_feed(bench.sketcher, bytes, sizeof(bytes));
    document_sketcher_feed_text(bench.sketcher, lines, strlen(lines));
    document_sketcher_finish(bench.sketcher, &given);
    assert_int_equal(given.form.type, TEXT_EXTRACTED);
    assert_int_equal(given.sketch.n_tokens, 3);
    assert_memory_equal(given.content_fingerprint, other.content_fingerprint, FINGERPRINT_BYTES);

    /* The next one is read again. */
    struct document_sketch again = sketch_text(&bench, text);
    expect_same(&again, &plain);
    sketch_done(&again);
    sketch_done(&plain);
    sketch_done(&other);
    bench_done(&bench);
}

static void test_document_sketch__takes_no_memory_for_long_documents(void **state)
{
    (void)state;
    enum { PIECE = 1 << 16, N = 250 };
    BENCH bench = bench_new(5);
    char *piece = malloc(PIECE);
    unsigned seed = 11;
    struct document_sketch sketch;
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    document_sketcher_begin(bench.sketcher);
    for (unsigned i = 0; i < N; i++) {
        for (size_t j = 0; j < PIECE; j++)
            piece[j] = (char)(rand_r(&seed) % 6 ? 'a' + rand_r(&seed) % 26 : ' ');
        document_sketcher_feed(bench.sketcher, piece, PIECE);
    }
    document_sketcher_finish(bench.sketcher, &sketch);
    assert_true(mallinfo2().uordblks + mallinfo2().hblkhd == before);
    assert_int_equal(sketch.size_bytes, (size_t)PIECE * N);
    assert_true(sketch.sketch.n_values <= bench.policy.v_max); /* B7 */
    assert_true(sketch.sketch.n_values > bench.policy.v_max / 3);
    double n = min_sketch_cardinality(&sketch.sketch), n_tokens = (double)sketch.sketch.n_tokens;
    assert_true(n > .85 * n_tokens && n < 1.1 * n_tokens);
    free(piece);
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

/* Streams of any size, in pieces of any size. */
static void test_document_sketch__every_kernel_hashes_streams_as_xxh3_does(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    static uint8_t bytes[MOST], secret[DIGEST_SECRET_BYTES];
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)(i * i * 7 >> 3);
    for (size_t i = 0; i < DIGEST_SECRET_BYTES; i++)
        secret[i] = (uint8_t)(i * i * 5 >> 2);
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        const struct stream_hash_kernel *stream_hash = stream_hash_of((enum kernel)kernel);
        assert_int_equal(stream_hash != NULL, kernel_is_there((enum kernel)kernel));
        if (!stream_hash)
            continue;
        void *hash = stream_hash->new ();
        assert_non_null(hash);
        for (size_t size = 0; size <= MOST; size += 1 + size / 7) {
            uint8_t digest[STREAM_HASH_BYTES];
            stream_hash->reset(hash, secret);
            for (size_t at = 0, n; at < size; at += n) {
                n = 1 + (at * 31 + size) % 700;
                if (n > size - at)
                    n = size - at;
                stream_hash->update(hash, bytes + at, n);
            }
            stream_hash->digest(hash, digest);
            XXH128_canonical_t expected;
            XXH128_canonicalFromHash(
                &expected, XXH3_128bits_withSecret(bytes, size, secret, DIGEST_SECRET_BYTES));
            assert_memory_equal(digest, expected.digest, sizeof(digest));
        }
        stream_hash->free(hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document_sketch__gives_the_resemblance_of_the_roses),
        cmocka_unit_test(test_document_sketch__fingerprints_tell_the_three_equivalences),
        cmocka_unit_test(test_document_sketch__a_text_is_the_same_in_every_form),
        cmocka_unit_test(test_document_sketch__words_cut_otherwise_are_another_text),
        cmocka_unit_test(test_document_sketch__tables_of_other_cells_are_another_text),
        cmocka_unit_test(test_document_sketch__a_long_cell_is_not_two),
        cmocka_unit_test(test_document_sketch__content_fingerprint_is_of_the_bytes),
        cmocka_unit_test(test_document_sketch__of_nothing_is_empty),
        cmocka_unit_test(test_document_sketch__of_a_short_document_is_one_shingle),
        cmocka_unit_test(test_document_sketch__does_not_depend_on_the_pieces_fed),
        cmocka_unit_test(test_document_sketch__agrees_with_exact_sets),
        cmocka_unit_test(test_document_sketch__text_that_is_given_counts_for_the_document),
        cmocka_unit_test(test_document_sketch__takes_no_memory_for_long_documents),
        cmocka_unit_test(test_document_sketch__text_fingerprint_is_of_the_token_fingerprints),
        cmocka_unit_test(test_document_sketch__crafted_texts_are_not_the_same),
        cmocka_unit_test(test_document_sketch__fingerprints_are_those_of_the_key),
        cmocka_unit_test(test_document_sketch__every_kernel_hashes_streams_as_xxh3_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
