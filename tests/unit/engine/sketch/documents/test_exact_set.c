#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/sketch/documents/exact_set.h"
#include "engine/sketch/policy.h"

static int open_bytes(const void *bytes, size_t size)
{
    int fd = memfd_create("document", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static struct exact_set *read_bytes(const void *bytes, size_t size, unsigned w)
{
    struct exact_set *set = NULL;
    _cleanup_close_ int fd = open_bytes(bytes, size);
    assert_int_equal(exact_set_read(fd, NULL, w, NULL, SIZE_MAX, &set), 0);
    return set;
}

static struct exact_set *read_text(const char *text, unsigned w)
{
    return read_bytes(text, strlen(text), w);
}

static double resemblance(const char *a, const char *b, unsigned w)
{
    _cleanup_(exact_set_free_p) struct exact_set *set_a = read_text(a, w), *set_b = read_text(b, w);
    double value = -1, reverse = -1;
    assert_int_equal(exact_set_resemblance(set_a, set_b, &value), 0);
    assert_int_equal(exact_set_resemblance(set_b, set_a, &reverse), 0);
    assert_true(value == reverse); /* A6 */
    return value;
}

/* A4: exactly three shingles of four words */
static void test_exact_set__is_a_set(void **state)
{
    (void)state;
    _cleanup_(exact_set_free_p) struct exact_set *set = read_text("a rose is a rose is a rose", 4);
    assert_int_equal(exact_set_count(set), 3);
}

/* A6, with the value that a seminar report prints as 0.4285 */
static void test_exact_set__gives_the_resemblance_of_the_roses(void **state)
{
    (void)state;
    const char *a = "a rose is a rose is a rose", *b = "a rose is a flower which is a rose";
    assert_true(resemblance(a, b, 1) == 0.6);
    assert_true(resemblance(a, b, 2) == 0.5);
    assert_true(resemblance(a, b, 3) == 3. / 7);
    assert_true(resemblance(a, b, 4) == 1. / 8);
    for (unsigned w = 1; w <= 64; w++)
        assert_true(resemblance(a, a, w) == 1.0);
}

/* A5: n tokens have at most max(1, n - w + 1) shingles, none when there is no token */
static void test_exact_set__is_bounded_by_the_number_of_tokens(void **state)
{
    (void)state;
    char text[1000] = "";
    for (unsigned n = 0; n < 100; n++) {
        for (unsigned w = 1; w <= 64; w++) {
            _cleanup_(exact_set_free_p) struct exact_set *set = read_text(text, w);
            assert_int_equal(exact_set_count(set), n == 0 ? 0 : n < w ? 1 : n - w + 1);
        }
        sprintf(text + strlen(text), "t%u ", n);
    }
    struct exact_set *none = NULL;
    assert_int_equal(exact_set_read(-1, NULL, 0, NULL, SIZE_MAX, &none), -EINVAL);
    assert_int_equal(exact_set_read(-1, NULL, 65, NULL, SIZE_MAX, &none), -EINVAL);
    assert_int_equal(exact_set_read(-1, NULL, 5, NULL, SIZE_MAX, &none), -EBADF);
    assert_null(none);
}

/* A7: 1 when the shingles of one are among those of the other; not symmetric. J9: for shingle sets,
 * not for documents: the last pair has equal sets and neither text is a part of the other. */
static void test_exact_set__gives_containment(void **state)
{
    (void)state;
    double value = -1;
    _cleanup_(exact_set_free_p) struct exact_set *part = read_text("one two three four", 2),
                                                 *whole = read_text("one two three four five", 2),
                                                 *empty = read_text("", 2);
    assert_int_equal(exact_set_containment(part, whole, &value), 0);
    assert_true(value == 1.0);
    assert_int_equal(exact_set_containment(whole, part, &value), 0);
    assert_true(value == 3. / 4);
    assert_int_equal(exact_set_containment(whole, empty, &value), 0);
    assert_true(value == 0.0);
    assert_int_equal(exact_set_containment(empty, whole, &value), -ENODATA);
    assert_int_equal(exact_set_resemblance(empty, empty, &value), -ENODATA);

    assert_true(resemblance("a b a c a b", "b a c a b a", 2) == 1.0);
}

static void test_exact_set__of_a_binary_document_has_its_chunks(void **state)
{
    (void)state;
    _cleanup_(exact_set_free_p) struct exact_set *set = read_bytes("some words\0and more", 19, 1);
    assert_int_equal(exact_set_count(set), 1);
    _cleanup_(exact_set_free_p) struct exact_set *words = read_bytes("some words and more", 19, 1);
    double value = -1;
    assert_int_equal(exact_set_resemblance(set, words, &value), 0);
    assert_true(value == 0.0);
}

static void test_exact_set__reads_html(void **state)
{
    (void)state;
    assert_true(resemblance("<html><p>A rose <b>is</b> a rose", "a rose is a rose", 3) == 1.0);
}

/* A book is given as the HTML that is in it. */
static void test_exact_set__reads_a_book(void **state)
{
    (void)state;
    static const char page[] = "<html><p>rose &amp; <b>flo</b>wer</html>";
    static const enum text_type as = TEXT_EPUB;
    struct exact_set *book = NULL;
    _cleanup_close_ int fd = open_bytes(page, strlen(page));
    assert_int_equal(exact_set_read(fd, &as, 1, NULL, SIZE_MAX, &book), 0);
    assert_int_equal(exact_set_count(book), 2);
    exact_set_free(book);
}

static void test_exact_set__starts_at_the_beginning(void **state)
{
    (void)state;
    struct exact_set *set = NULL;
    _cleanup_close_ int fd = open_bytes("x y one two", 11);
    assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
    assert_int_equal(exact_set_read(fd, NULL, 1, NULL, SIZE_MAX, &set), 0);
    assert_int_equal(exact_set_count(set), 4);
    exact_set_free(set);
}

/* -- against sets of strings -- */

enum { MOST_TOKENS = 400 };

/* A text over few words, so that shingles repeat. */
struct text {
    char text[8 * MOST_TOKENS];
    unsigned words[MOST_TOKENS], n;
};

static struct text random_text(unsigned n, unsigned n_words, unsigned *seed)
{
    struct text text = {.n = n};
    for (unsigned i = 0, at = 0; i < n; i++) {
        text.words[i] = (unsigned)rand_r(seed) % n_words;
        at += (unsigned)sprintf(text.text + at, "w%u ", text.words[i]);
    }
    return text;
}

static bool same_shingle(const struct text *a, unsigned i, const struct text *b, unsigned j,
                         unsigned w)
{
    return memcmp(a->words + i, b->words + j, w * sizeof(unsigned)) == 0;
}

static unsigned n_shingles(const struct text *a, unsigned w)
{
    return a->n < w ? 0 : a->n - w + 1;
}

/* Distinct shingles of a that b has, by comparing each with each; b NULL: all of them. */
static unsigned count_shingles(const struct text *a, const struct text *b, unsigned w)
{
    unsigned count = 0;
    for (unsigned i = 0; i < n_shingles(a, w); i++) {
        bool seen = false, found = !b;
        for (unsigned j = 0; j < i && !seen; j++)
            seen = same_shingle(a, i, a, j, w);
        for (unsigned j = 0; !seen && b && j < n_shingles(b, w) && !found; j++)
            found = same_shingle(a, i, b, j, w);
        count += !seen && found;
    }
    return count;
}

static void test_exact_set__agrees_with_sets_of_strings(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (unsigned round = 0; round < 150; round++) {
        unsigned w = 1 + round % 7, n_words = 2 + round % 11;
        struct text a = random_text(w + (unsigned)rand_r(&seed) % 200, n_words, &seed);
        struct text b = random_text(w + (unsigned)rand_r(&seed) % 200, n_words, &seed);
        unsigned n_a = count_shingles(&a, NULL, w), n_b = count_shingles(&b, NULL, w);
        unsigned n_both = count_shingles(&a, &b, w);
        _cleanup_(exact_set_free_p) struct exact_set *set_a = read_text(a.text, w),
                                                     *set_b = read_text(b.text, w);
        double r = -1, c = -1;
        assert_int_equal(exact_set_count(set_a), n_a);
        assert_int_equal(exact_set_count(set_b), n_b);
        assert_int_equal(exact_set_resemblance(set_a, set_b, &r), 0);
        assert_int_equal(exact_set_containment(set_a, set_b, &c), 0);
        assert_true(r == (double)n_both / (n_a + n_b - n_both));
        assert_true(c == (double)n_both / n_a);
    }
}

/* A8: 1 - r is a metric: no triple of documents breaks the triangle inequality */
static void test_exact_set__distances_keep_the_triangle_inequality(void **state)
{
    (void)state;
    enum { N = 100 }; /* a million triples */
    static struct exact_set *sets[N];
    static double d[N][N];
    unsigned seed = 2;
    for (unsigned i = 0; i < N; i++) {
        struct text text = random_text(3 + (unsigned)rand_r(&seed) % 60, 2 + i % 4, &seed);
        sets[i] = read_text(text.text, 2);
    }
    for (unsigned i = 0; i < N; i++) {
        for (unsigned j = 0; j < N; j++) {
            double r = -1;
            assert_int_equal(exact_set_resemblance(sets[i], sets[j], &r), 0);
            d[i][j] = 1 - r;
        }
    }
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < N; j++)
            for (unsigned k = 0; k < N; k++)
                assert_true(d[i][k] <= d[i][j] + d[j][k] + 1e-15);
    for (unsigned i = 0; i < N; i++)
        exact_set_free(sets[i]);
}

/* A9: each version is much like the one before, and the hundredth not like the first */
static void test_exact_set__resemblance_is_not_transitive(void **state)
{
    (void)state;
    unsigned seed = 3;
    struct text first = random_text(MOST_TOKENS, 1000, &seed), version = first;
    double r[101];
    for (unsigned i = 2; i <= 100; i++) {
        version.words[(unsigned)rand_r(&seed) % MOST_TOKENS] = 1000 + i;
        for (unsigned j = 0, at = 0; j < MOST_TOKENS; j++)
            at += (unsigned)sprintf(version.text + at, "w%u ", version.words[j]);
        r[i] = resemblance(first.text, version.text, 5);
    }
    assert_true(r[2] > r[50] && r[50] > r[100]);
    assert_true(r[2] > .95 && r[100] < .3);
}

/* A11: moving a block of words changes at most 3(w-1) shingles on either side */
static void test_exact_set__moving_a_block_changes_few_shingles(void **state)
{
    (void)state;
    unsigned seed = 4;
    for (unsigned round = 0; round < 60; round++) {
        unsigned w = 1 + round % 10;
        struct text a = random_text(300, 100000, &seed), b = {.n = a.n};
        unsigned from = (unsigned)rand_r(&seed) % 100,
                 to = from + 50 + (unsigned)rand_r(&seed) % 100;
        unsigned size = 50;
        /* [0,from) [from,from+size) [from+size,to+size) ...: the second and third change places */
        memcpy(b.words, a.words, from * sizeof(unsigned));
        memcpy(b.words + from, a.words + from + size, (to - from) * sizeof(unsigned));
        memcpy(b.words + to, a.words + from, size * sizeof(unsigned));
        memcpy(b.words + to + size, a.words + to + size, (a.n - to - size) * sizeof(unsigned));
        for (unsigned j = 0, at = 0; j < b.n; j++)
            at += (unsigned)sprintf(b.text + at, "w%u ", b.words[j]);
        _cleanup_(exact_set_free_p) struct exact_set *set_a = read_text(a.text, w),
                                                     *set_b = read_text(b.text, w);
        double c = -1;
        assert_int_equal(exact_set_containment(set_a, set_b, &c), 0);
        double changed = (1 - c) * (double)exact_set_count(set_a);
        assert_true(changed <= 3 * (w - 1) + 1e-6);
    }
}

/* Tokens of the greatest length and the greatest w: more text than any buffer holds at once. */
static void test_exact_set__has_room_for_the_longest_shingles(void **state)
{
    (void)state;
    enum { N = 700, SIZE = 256 };
    char *text = malloc(N * (SIZE + 1) + 1), *p = text;
    for (unsigned i = 0; i < N; i++) {
        char name[16];
        int size = sprintf(name, "%u", i % 350);
        memset(p, 'x', SIZE);
        memcpy(p, name, (size_t)size);
        p[SIZE] = ' ';
        p += SIZE + 1;
    }
    for (unsigned w = 1; w <= POLICY_W_MAX; w += 21) {
        _cleanup_(exact_set_free_p) struct exact_set *set = read_bytes(text, N * (SIZE + 1), w);
        assert_int_equal(exact_set_count(set), 350);
    }
    free(text);
}

/* |A n B| of two texts' shingles. */
static double common(const char *a, const char *b, size_t *ret_a, size_t *ret_b)
{
    _cleanup_(exact_set_free_p) struct exact_set *set_a = read_text(a, 1), *set_b = read_text(b, 1);
    double c;
    *ret_a = exact_set_count(set_a);
    *ret_b = exact_set_count(set_b);
    assert_int_equal(exact_set_containment(set_a, set_b, &c), 0);
    return c * (double)*ret_a;
}

/* A10: 1 - s is a distance for no s that has a locality sensitive hash unless it keeps the triangle
 * inequality; for A = {a}, B = {b}, C = {a, b} that of Dice and that of overlap do not */
static void test_exact_set__dice_and_overlap_break_the_triangle_inequality(void **state)
{
    (void)state;
    const char *const pairs[3][2] = {{"a", "a b"}, {"a b", "b"}, {"a", "b"}};
    double dice[3], overlap[3], jaccard[3];
    for (size_t i = 0; i < 3; i++) {
        size_t n_a, n_b;
        double n = common(pairs[i][0], pairs[i][1], &n_a, &n_b);
        dice[i] = 1 - 2 * n / (double)(n_a + n_b);
        overlap[i] = 1 - n / (double)(n_a < n_b ? n_a : n_b);
        jaccard[i] = 1 - resemblance(pairs[i][0], pairs[i][1], 1);
    }
    assert_true(dice[0] + dice[1] < dice[2]);           /* 1/3 + 1/3 < 1 */
    assert_true(overlap[0] + overlap[1] < overlap[2]);  /* 0 + 0 < 1 */
    assert_true(jaccard[0] + jaccard[1] >= jaccard[2]); /* 1/2 + 1/2 = 1 */
}

/* So many different shingles as are allowed, over and over, take no more than once; one more is
 * refused. */
static void test_exact_set__is_bounded_by_its_different_shingles(void **state)
{
    enum { N = 5000, ROUNDS = 20, WORD_BYTES = 6 };
    (void)state;
    struct exact_set *set = NULL;
    char *text = malloc(N * ROUNDS * WORD_BYTES + 1);
    assert_non_null(text);
    for (unsigned i = 0; i < N * ROUNDS; i++)
        snprintf(text + i * WORD_BYTES, WORD_BYTES + 1, "%05u ", i % N);
    for (size_t most = N - 1; most <= N; most++) {
        _cleanup_close_ int fd = open_bytes(text, N * ROUNDS * WORD_BYTES);
        assert_int_equal(exact_set_read(fd, NULL, 5, NULL, most, &set), most < N ? -E2BIG : 0);
    }
    assert_int_equal(exact_set_count(set), N);
    exact_set_free(set);
    free(text);
}

static bool is_over(void *user)
{
    unsigned *n_asked = user;
    return ++*n_asked > 3;
}

static void test_exact_set__is_read_within_bounds(void **state)
{
    (void)state;
    enum { SIZE = 3 << 20 };
    unsigned n_asked = 0;
    char *text = malloc(SIZE);
    memset(text, ' ', SIZE);
    memcpy(text, "a rose is a rose is a rose", 26);
    _cleanup_close_ int fd = open_bytes(text, SIZE);
    struct exact_set *set = NULL;
    struct exact_set_bounds bounds = {.most_shingles = 3, .most_bytes = SIZE};
    assert_int_equal(exact_set_read_within(fd, NULL, 4, NULL, &bounds, &set), 0);
    assert_int_equal(exact_set_count(set), 3);
    exact_set_free(set);
    bounds.most_bytes--;
    assert_int_equal(exact_set_read_within(fd, NULL, 4, NULL, &bounds, &set), -EFBIG);
    bounds = (struct exact_set_bounds){3, SIZE, is_over, &n_asked};
    assert_int_equal(exact_set_read_within(fd, NULL, 4, NULL, &bounds, &set), -EINTR);
    assert_int_equal(n_asked, 4);
    bounds = (struct exact_set_bounds){.most_shingles = 2, .most_bytes = SIZE};
    assert_int_equal(exact_set_read_within(fd, NULL, 4, NULL, &bounds, &set), -E2BIG);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_set__is_read_within_bounds),
        cmocka_unit_test(test_exact_set__is_bounded_by_its_different_shingles),
        cmocka_unit_test(test_exact_set__is_a_set),
        cmocka_unit_test(test_exact_set__gives_the_resemblance_of_the_roses),
        cmocka_unit_test(test_exact_set__is_bounded_by_the_number_of_tokens),
        cmocka_unit_test(test_exact_set__gives_containment),
        cmocka_unit_test(test_exact_set__of_a_binary_document_has_its_chunks),
        cmocka_unit_test(test_exact_set__reads_html),
        cmocka_unit_test(test_exact_set__reads_a_book),
        cmocka_unit_test(test_exact_set__starts_at_the_beginning),
        cmocka_unit_test(test_exact_set__agrees_with_sets_of_strings),
        cmocka_unit_test(test_exact_set__distances_keep_the_triangle_inequality),
        cmocka_unit_test(test_exact_set__resemblance_is_not_transitive),
        cmocka_unit_test(test_exact_set__moving_a_block_changes_few_shingles),
        cmocka_unit_test(test_exact_set__dice_and_overlap_break_the_triangle_inequality),
        cmocka_unit_test(test_exact_set__has_room_for_the_longest_shingles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
