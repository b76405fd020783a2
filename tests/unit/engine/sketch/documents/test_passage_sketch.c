#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "engine/sketch/documents/passage_sketch.h"

static struct shingle_hash *new_hash(uint8_t key)
{
    const struct policy policy = {
        "test", POLICY_TOKENISER_WORDS, POLICY_HASH_GF64, 5, 128, 25, 8192, {key}};
    struct shingle_hash *hash;
    assert_int_equal(passage_hash_new(&policy, &hash), 0);
    return hash;
}

static struct passage_sketch sketch(const struct shingle_hash *hash, const uint64_t *words,
                                    size_t n, unsigned bound, size_t piece)
{
    _cleanup_(passage_sketcher_free_p) struct passage_sketcher *sketcher = NULL;
    struct passage_sketch found;
    assert_int_equal(passage_sketcher_new(hash, bound, &sketcher), 0);
    passage_sketcher_add(sketcher, words, n < piece ? n : piece); /* of another document */
    passage_sketcher_begin(sketcher);
    for (size_t at = 0; at < n; at += piece)
        passage_sketcher_add(sketcher, words + at, n - at < piece ? n - at : piece);
    assert_int_equal(passage_sketcher_finish(sketcher, &found), 0);
    return found;
}

static void expect_equal(const struct passage_sketch *a, const struct passage_sketch *b)
{
    assert_int_equal(a->n_fingerprints, b->n_fingerprints);
    assert_int_equal(a->n_words, b->n_words);
    assert_int_equal(a->cut, b->cut);
    assert_memory_equal(a->fingerprints, b->fingerprints,
                        a->n_fingerprints * sizeof(*a->fingerprints));
}

/* Words of few kinds, so that passages are shared by chance and texts repeat themselves, too. */
static void make_words(uint64_t *words, size_t n, uint64_t n_kinds, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++)
        words[i] = mix64(mix64_next(seed) % n_kinds + 1);
}

static bool share(const struct passage_sketch *a, size_t at_a, const struct passage_sketch *b,
                  size_t at_b, size_t n)
{
    for (size_t i = 0; i < a->n_fingerprints; i++)
        for (size_t k = 0; k < b->n_fingerprints; k++)
            if (a->fingerprints[i].fingerprint == b->fingerprints[k].fingerprint &&
                a->fingerprints[i].word >= at_a && b->fingerprints[k].word >= at_b &&
                a->fingerprints[i].word + PASSAGE_WORDS <= at_a + n &&
                b->fingerprints[k].word + PASSAGE_WORDS <= at_b + n)
                return true;
    return false;
}

/* The guarantee, by all pairs of places; and what shares a fingerprint shares 8 words. */
static void test_passage_sketch__finds_all_passages_of_the_bound(void **state)
{
    (void)state;
    enum { LENGTH = 160 };
    static const unsigned bounds[] = {PASSAGE_WORDS, 9, 24, 40};
    static const uint64_t kinds[] = {1, 2, 50, 1000};
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = new_hash(1);
    uint64_t a[LENGTH], b[LENGTH], seed = 1;
    size_t n_found = 0;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
            const unsigned bound = bounds[i];
            make_words(a, LENGTH, kinds[k], &seed);
            make_words(b, LENGTH, kinds[k], &seed);
            memcpy(b + 70 + i, a + 30 + k, bound * sizeof(*a));
            _cleanup_(passage_sketch_done) struct passage_sketch of_a =
                sketch(hash, a, LENGTH, bound, LENGTH);
            _cleanup_(passage_sketch_done) struct passage_sketch of_b =
                sketch(hash, b, LENGTH, bound, 7);
            for (size_t at_a = 0; at_a + bound <= LENGTH; at_a++)
                for (size_t at_b = 0; at_b + bound <= LENGTH; at_b++)
                    if (memcmp(a + at_a, b + at_b, bound * sizeof(*a)) == 0) {
                        /* Of one that comes again and again the first places are kept. */
                        const bool any = kinds[k] == 1;
                        assert_true(share(&of_a, any ? 0 : at_a, &of_b, any ? 0 : at_b,
                                          any ? LENGTH : bound));
                        n_found++;
                    }
            for (size_t x = 0; x < of_a.n_fingerprints; x++)
                for (size_t y = 0; y < of_b.n_fingerprints; y++)
                    if (of_a.fingerprints[x].fingerprint == of_b.fingerprints[y].fingerprint)
                        assert_memory_equal(a + of_a.fingerprints[x].word,
                                            b + of_b.fingerprints[y].word,
                                            PASSAGE_WORDS * sizeof(*a));
        }
    assert_true(n_found >= 16); /* those that were planted */
}

static void test_passage_sketch__has_the_density_of_theory(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = new_hash(2);
    uint64_t *words = calloc(LENGTH, sizeof(*words)), seed = 5;
    assert_non_null(words);
    make_words(words, LENGTH, UINT64_MAX, &seed);
    _cleanup_(passage_sketch_done) struct passage_sketch found =
        sketch(hash, words, LENGTH, PASSAGE_BOUND, TOKEN_BLOCK_MAX);
    const double expected = LENGTH * 2.0 / (PASSAGE_BOUND - PASSAGE_WORDS + 2);
    assert_true(fabs((double)found.n_fingerprints - expected) < 4 * sqrt(expected));
    free(words);
}

static void test_passage_sketch__depends_on_the_words_and_the_key_alone(void **state)
{
    (void)state;
    enum { LENGTH = 3000 };
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = new_hash(3), *other = new_hash(4);
    uint64_t words[LENGTH], seed = 7;
    make_words(words, LENGTH, 300, &seed);
    _cleanup_(passage_sketch_done) struct passage_sketch whole =
        sketch(hash, words, LENGTH, PASSAGE_BOUND, TOKEN_BLOCK_MAX);
    _cleanup_(passage_sketch_done) struct passage_sketch keyed =
        sketch(other, words, LENGTH, PASSAGE_BOUND, TOKEN_BLOCK_MAX);
    for (size_t piece = 1; piece < 30; piece += 3) {
        _cleanup_(passage_sketch_done) struct passage_sketch pieces =
            sketch(hash, words, LENGTH, PASSAGE_BOUND, piece);
        expect_equal(&whole, &pieces);
    }
    size_t n_equal = 0;
    for (size_t i = 0; i < whole.n_fingerprints && i < keyed.n_fingerprints; i++)
        n_equal += whole.fingerprints[i].fingerprint == keyed.fingerprints[i].fingerprint;
    assert_int_equal(n_equal, 0);
}

static void test_passage_sketch__has_none_of_fewer_than_8_words(void **state)
{
    (void)state;
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = new_hash(5);
    const uint64_t words[PASSAGE_BOUND] = {1, 2, 3};
    for (size_t n = 0; n <= PASSAGE_BOUND; n++) {
        _cleanup_(passage_sketch_done) struct passage_sketch found =
            sketch(hash, words, n, PASSAGE_BOUND, TOKEN_BLOCK_MAX);
        assert_int_equal(found.n_words, n);
        assert_int_equal(found.n_fingerprints, n >= PASSAGE_WORDS);
    }
}

static void test_passage_sketch__cuts_what_is_too_long(void **state)
{
    (void)state;
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = new_hash(6);
    _cleanup_(passage_sketcher_free_p) struct passage_sketcher *sketcher = NULL;
    _cleanup_(passage_sketch_done) struct passage_sketch found = {0};
    uint64_t words[TOKEN_BLOCK_MAX], seed = 9;
    size_t n = 0;
    assert_int_equal(passage_sketcher_new(hash, PASSAGE_WORDS, &sketcher), 0); /* all are kept */
    for (; n <= PASSAGE_FINGERPRINTS_MAX + 2 * TOKEN_BLOCK_MAX; n += TOKEN_BLOCK_MAX) {
        make_words(words, TOKEN_BLOCK_MAX, UINT64_MAX, &seed);
        passage_sketcher_add(sketcher, words, TOKEN_BLOCK_MAX);
    }
    assert_int_equal(passage_sketcher_finish(sketcher, &found), 0);
    assert_true(found.cut);
    assert_int_equal(found.n_words, n);
    assert_int_equal(found.n_fingerprints, PASSAGE_FINGERPRINTS_MAX);
}

static void test_passage_sketch__is_stored_and_read_again(void **state)
{
    (void)state;
    enum { LENGTH = 500 };
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = new_hash(8);
    uint64_t words[LENGTH], seed = 11;
    make_words(words, LENGTH, 1000, &seed);
    static const unsigned bounds[] = {PASSAGE_WORDS, PASSAGE_BOUND, PASSAGE_BOUND_MAX};
    for (size_t i = 0; i < 3; i++) {
        _cleanup_(passage_sketch_done) struct passage_sketch found =
            sketch(hash, words, LENGTH, bounds[i], TOKEN_BLOCK_MAX);
        _cleanup_(passage_sketch_done) struct passage_sketch again = {0};
        _cleanup_free_ uint8_t *bytes = NULL;
        size_t size_bytes;
        found.cut = i == 1;
        assert_int_equal(passage_sketch_encode(&found, &bytes, &size_bytes), 0);
        assert_int_equal(passage_sketch_decode(bytes, size_bytes, &again), 0);
        expect_equal(&found, &again);
    }
}

static void expect_damaged(const void *bytes, size_t size_bytes)
{
    struct passage_sketch found;
    assert_int_equal(passage_sketch_decode(bytes, size_bytes, &found), -EUCLEAN);
}

/* A word a million times, with a passage amid it and one behind it. */
static void test_passage_sketch__keeps_some_places_of_what_repeats_itself(void **state)
{
    (void)state;
    enum { LENGTH = 1000000, AMID = 400000, BEHIND = LENGTH - 100 };
    uint64_t seed = 7;
    uint64_t *words = calloc(LENGTH, sizeof(*words));
    make_words(words, LENGTH, 1, &seed);
    make_words(words + AMID, 50, UINT64_MAX, &seed);
    make_words(words + BEHIND, 50, UINT64_MAX, &seed);
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = new_hash(9);
    _cleanup_(passage_sketch_done) struct passage_sketch found =
        sketch(hash, words, LENGTH, PASSAGE_BOUND, TOKEN_BLOCK_MAX);
    assert_in_range(found.n_fingerprints, PASSAGE_PLACES_MOST, 100);
    size_t n_amid = 0, n_behind = 0;
    for (size_t i = 0; i < found.n_fingerprints; i++) {
        size_t n = 0;
        for (size_t k = 0; k < found.n_fingerprints; k++)
            n += found.fingerprints[k].fingerprint == found.fingerprints[i].fingerprint;
        assert_in_range(n, 1, PASSAGE_PLACES_MOST);
        n_amid += found.fingerprints[i].word >= AMID && found.fingerprints[i].word < AMID + 50;
        n_behind += found.fingerprints[i].word >= BEHIND;
    }
    assert_true(n_amid >= 2 && n_behind >= 2);
    _cleanup_free_ uint8_t *bytes = NULL;
    size_t size_bytes;
    _cleanup_(passage_sketch_done) struct passage_sketch again = {0};
    assert_int_equal(passage_sketch_encode(&found, &bytes, &size_bytes), 0);
    assert_int_equal(passage_sketch_decode(bytes, size_bytes, &again), 0);
    expect_equal(&found, &again);
    free(words);
}

static void test_passage_sketch__refuses_what_is_damaged(void **state)
{
    (void)state;
    const uint64_t words[PASSAGE_BOUND + 1] = {0};
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = new_hash(9);
    _cleanup_(passage_sketch_done) struct passage_sketch found =
        sketch(hash, words, PASSAGE_BOUND + 1, PASSAGE_BOUND, TOKEN_BLOCK_MAX);
    _cleanup_free_ uint8_t *bytes = NULL;
    size_t size_bytes;
    assert_int_equal(passage_sketch_encode(&found, &bytes, &size_bytes), 0);
    assert_true(size_bytes > PASSAGE_SKETCH_HEAD_BYTES);
    expect_damaged(bytes, size_bytes - 1);
    expect_damaged(bytes, 0);
    expect_damaged(bytes, PASSAGE_SKETCH_HEAD_BYTES - 1);
    bytes[0]++;
    expect_damaged(bytes, size_bytes);
    bytes[0]--;
    bytes[1] = 2;
    expect_damaged(bytes, size_bytes);
    bytes[1] = 0;
    bytes[9] = PASSAGE_WORDS - 1; /* words: a fingerprint is beyond them */
    expect_damaged(bytes, size_bytes);
    bytes[9] = PASSAGE_BOUND + 1;
    bytes[PASSAGE_SKETCH_HEAD_BYTES] = 200;
    expect_damaged(bytes, size_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passage_sketch__finds_all_passages_of_the_bound),
        cmocka_unit_test(test_passage_sketch__has_the_density_of_theory),
        cmocka_unit_test(test_passage_sketch__depends_on_the_words_and_the_key_alone),
        cmocka_unit_test(test_passage_sketch__has_none_of_fewer_than_8_words),
        cmocka_unit_test(test_passage_sketch__cuts_what_is_too_long),
        cmocka_unit_test(test_passage_sketch__is_stored_and_read_again),
        cmocka_unit_test(test_passage_sketch__keeps_some_places_of_what_repeats_itself),
        cmocka_unit_test(test_passage_sketch__refuses_what_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
