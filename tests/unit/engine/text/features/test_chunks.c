/* A12: features of what has no words. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/text/features/chunks.h"
#include "tests/unit/engine/text/canonical.h"

enum { SIZE = 300000, N_MAX = SIZE / CHUNK_MIN_BYTES + 2 };

struct cuts {
    size_t n;
    struct feature features[N_MAX];
};

static void take(void *user, const struct feature *features, size_t n)
{
    struct cuts *cuts = user;
    assert_true(cuts->n + n <= N_MAX);
    memcpy(cuts->features + cuts->n, features, n * sizeof(*features));
    cuts->n += n;
}

static void cut(const uint8_t *bytes, size_t size, size_t piece_bytes, struct cuts *ret_cuts)
{
    static struct chunks chunks;
    static unsigned seed;
    struct feature_list list = {
        .sink = {.features = take, .user = ret_cuts, .key = &canonical_key}};
    ret_cuts->n = 0;
    chunks_begin(&chunks, &list);
    for (size_t at = 0, n; at < size; at += n) {
        n = piece_bytes ? piece_bytes : 1 + (size_t)rand_r(&seed) % 3000;
        n = n < size - at ? n : size - at;
        uint8_t *piece = malloc(n); /* a byte read past it is noticed */
        assert_non_null(piece);
        memcpy(piece, bytes + at, n);
        chunks_feed(&chunks, piece, n);
        free(piece);
    }
    chunks_finish(&chunks);
    feature_list_flush(&list);
}

/* The other route: for each chunk, the hash of each window of 64 from its definition. */
static void cut_slowly(const uint8_t *bytes, size_t size, struct cuts *ret_cuts)
{
    uint64_t gear[256], state = 1;
    for (int i = 0; i < 256; i++) {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        gear[i] = z ^ z >> 31;
    }
    ret_cuts->n = 0;
    for (size_t begin = 0, end; begin < size; begin = end) {
        for (end = begin + CHUNK_MIN_BYTES; end < size && end - begin < CHUNK_MAX_BYTES; end++) {
            uint64_t hash = 0;
            for (unsigned i = 0; i < 64; i++)
                hash += gear[bytes[end - 1 - i]] << i;
            if (hash >> (end - begin <= CHUNK_USUAL_BYTES ? 54 : 56) == 0)
                break;
        }
        if (end > size)
            end = size;
        XXH128_hash_t digest = canonical_digest(bytes + begin, end - begin);
        ret_cuts->features[ret_cuts->n++] = (struct feature){digest.low64, digest.high64};
    }
}

static uint8_t *make(unsigned kind)
{
    static uint8_t bytes[SIZE];
    unsigned seed = kind + 1;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = kind == 0   ? (uint8_t)rand_r(&seed)
                   : kind == 1 ? (uint8_t)(i % 7000 < 5000 ? 0 : rand_r(&seed)) /* holes */
                               : (uint8_t)(rand_r(&seed) % 2);
    return bytes;
}

static void test_chunks__are_those_of_the_definition_however_fed(void **state)
{
    (void)state;
    static struct cuts slow, fast;
    static const size_t sizes[] = {0, 1, 63, 64, 127, 128, 129, 512, 4096, 4097, 20000, SIZE};
    static const size_t pieces[] = {SIZE, 0, 1, 64, 4096};
    for (unsigned kind = 0; kind < 3; kind++) {
        uint8_t *bytes = make(kind);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            cut_slowly(bytes, sizes[i], &slow);
            for (size_t j = 0; j < sizeof(pieces) / sizeof(pieces[0]); j++) {
                cut(bytes, sizes[i], pieces[j], &fast);
                assert_int_equal(fast.n, slow.n);
                assert_memory_equal(fast.features, slow.features, slow.n * sizeof(struct feature));
            }
        }
    }
}

/* One in a thousand ends as soon as it may. */
static void test_chunks__are_as_short_as_they_may_be(void **state)
{
    (void)state;
    static struct cuts slow, fast;
    uint8_t bytes[2 * CHUNK_MIN_BYTES];
    unsigned seed = 3, n_shortest = 0;
    while (n_shortest < 3) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)rand_r(&seed);
        cut_slowly(bytes, sizeof(bytes), &slow);
        const XXH128_hash_t shortest = canonical_digest(bytes, CHUNK_MIN_BYTES);
        n_shortest += slow.features[0].low == shortest.low64;
        cut(bytes, sizeof(bytes), 0, &fast);
        assert_int_equal(fast.n, slow.n);
        assert_memory_equal(fast.features, slow.features, slow.n * sizeof(struct feature));
    }
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct feature));
}

static size_t n_common(struct cuts *a, struct cuts *b)
{
    size_t n = 0;
    qsort(a->features, a->n, sizeof(struct feature), compare);
    qsort(b->features, b->n, sizeof(struct feature), compare);
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        int order = compare(&a->features[i], &b->features[j]);
        n += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return n;
}

/* What an edit changes ends at the first bound behind it that both have: expected after two or
 * three chunks, and not later than after ten in ten thousand edits but rarely. */
static void test_chunks__an_edit_changes_few(void **state)
{
    (void)state;
    static struct cuts before, after;
    static uint8_t bytes[SIZE], edited[SIZE + 100];
    memcpy(bytes, make(0), SIZE);
    cut(bytes, SIZE, SIZE, &before);
    /* Usual sizes: a chunk of random bytes has 623 on average (chunks.c); these are 482 of them. */
    assert_in_range(before.n, SIZE / 700, SIZE / 560);
    unsigned seed = 7;
    size_t n_changed = 0, n_edits = 300;
    for (size_t round = 0; round < n_edits; round++) {
        size_t at = (size_t)rand_r(&seed) % (SIZE - 100), n_out = 0, n_in = 0;
        switch (round % 3) {
        case 0: n_in = 1 + (size_t)rand_r(&seed) % 100; break;
        case 1: n_out = 1 + (size_t)rand_r(&seed) % 100; break;
        default: n_in = n_out = 1; break;
        }
        memcpy(edited, bytes, at);
        for (size_t i = 0; i < n_in; i++)
            edited[at + i] = (uint8_t)rand_r(&seed);
        memcpy(edited + at + n_in, bytes + at + n_out, SIZE - at - n_out);
        cut(edited, SIZE + n_in - n_out, SIZE, &after);
        n_changed += before.n - n_common(&before, &after);
    }
    assert_true(n_changed < 4 * n_edits);
}

/* Two archives with most members in common, in another order. */
static void test_chunks__archives_that_share_members_share_chunks(void **state)
{
    (void)state;
    static uint8_t members[30][10000], a[SIZE + 1], b[SIZE + 1];
    static struct cuts of_a, of_b;
    unsigned seed = 5;
    for (size_t i = 0; i < sizeof(members); i++)
        ((uint8_t *)members)[i] = (uint8_t)rand_r(&seed);
    for (size_t i = 0; i < 30; i++) {
        memcpy(a + i * 10000, members[i], 10000);
        memcpy(b + i * 10000, members[i < 25 ? 24 - i : 0], 10000);
    }
    cut(a, SIZE, 0, &of_a);
    cut(b, SIZE, 0, &of_b);
    /* 25 of 30 members; two or three chunks at each of their ends differ. */
    double share = (double)n_common(&of_a, &of_b) / (double)of_a.n;
    assert_true(share > 25. / 30 - 3. / 16 && share < 25. / 30);
}

static void test_chunks__are_the_features_of_binary_documents_also_packed(void **state)
{
    (void)state;
    uint8_t *bytes = make(1);
    static struct cuts cuts;
    cut(bytes, 50000, 0, &cuts);
    struct canonical found = canonical_of(bytes, 50000, 0);
    assert_int_equal(found.form.type, TEXT_BINARY);
    assert_int_equal(found.size, 33 * cuts.n);
    canonical_done(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks__are_those_of_the_definition_however_fed),
        cmocka_unit_test(test_chunks__are_as_short_as_they_may_be),
        cmocka_unit_test(test_chunks__an_edit_changes_few),
        cmocka_unit_test(test_chunks__archives_that_share_members_share_chunks),
        cmocka_unit_test(test_chunks__are_the_features_of_binary_documents_also_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
