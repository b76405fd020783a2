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

#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/fixtures/document_sketch_fixture.h"

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

/* B13: a document of any size takes the memory the sketcher has from the start */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document_sketch__gives_the_resemblance_of_the_roses),
        cmocka_unit_test(test_document_sketch__of_nothing_is_empty),
        cmocka_unit_test(test_document_sketch__of_a_short_document_is_one_shingle),
        cmocka_unit_test(test_document_sketch__does_not_depend_on_the_pieces_fed),
        cmocka_unit_test(test_document_sketch__agrees_with_exact_sets),
        cmocka_unit_test(test_document_sketch__text_that_is_given_counts_for_the_document),
        cmocka_unit_test(test_document_sketch__takes_no_memory_for_long_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
