#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/sketch/documents/document_sketch.h"
#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/documents/planted.h"
#include "tests/lib/trials.h"

enum { SEED = 20261122 };

static struct planted *plant(uint32_t n, unsigned w)
{
    struct planted *planted;
    assert_int_equal(planted_new(SEED, n, w, &planted), 0);
    return planted;
}

static struct exact_set *set_of(const struct planted *planted,
                                const struct planted_document *document, unsigned w)
{
    _cleanup_free_ char *text = malloc(planted_most_bytes(planted));
    assert_non_null(text);
    size_t size = planted_write(planted, document, text);
    assert_true(size <= planted_most_bytes(planted));
    _cleanup_close_ int fd = memfd_create("planted", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, size), (ssize_t)size);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    struct exact_set *set;
    assert_int_equal(exact_set_read(fd, NULL, w, NULL, SIZE_MAX, &set), 0);
    return set;
}

static void expect_exact(const struct planted *planted, unsigned w, uint32_t x, uint32_t y)
{
    struct planted_document a, b;
    planted_describe(planted, x, &a);
    planted_describe(planted, y, &b);
    _cleanup_(exact_set_free_p) struct exact_set *set_a = set_of(planted, &a, w);
    _cleanup_(exact_set_free_p) struct exact_set *set_b = set_of(planted, &b, w);
    struct planted_shingles shingles = planted_compare(planted, &a, &b);
    double resemblance, containment;
    assert_int_equal(exact_set_count(set_a), shingles.a);
    assert_int_equal(exact_set_count(set_b), shingles.b);
    assert_int_equal(exact_set_resemblance(set_a, set_b, &resemblance), 0);
    assert_int_equal(exact_set_containment(set_a, set_b, &containment), 0);
    assert_true(resemblance == planted_resemblance(planted, &a, &b));
    assert_true(containment == (double)shingles.both / shingles.a);
}

/* The planted resemblance and containment are those of the sets of shingles themselves: of pairs of
 * one cluster, of all flavours, and of any two documents. */
static void test_planted__resemblance_is_exact(void **state)
{
    (void)state;
    const unsigned ws[] = {1, 2, 5, 10};
    for (unsigned i = 0; i < sizeof(ws) / sizeof(ws[0]); i++) {
        _cleanup_(planted_free_p) struct planted *planted = plant(20000, ws[i]);
        unsigned seen[4] = {0}, containers = 0, chains = 0;
        uint64_t x = ws[i];
        for (unsigned pairs = 0; pairs < 600;) {
            struct planted_document a;
            uint32_t number = (uint32_t)(mix64_next(&x) % 20000);
            planted_describe(planted, number, &a);
            if (a.cluster_size == 1 && mix64_next(&x) % 16)
                continue;
            uint32_t member = (uint32_t)(mix64_next(&x) % a.cluster_size);
            expect_exact(planted, ws[i], number, planted_number(planted, a.cluster, member));
            expect_exact(planted, ws[i], number, (uint32_t)(mix64_next(&x) % 20000));
            seen[a.flavour]++;
            containers += a.n_extra > 0;
            chains += a.flavour == PLANTED_CHAIN && a.member > 1;
            pairs++;
        }
        assert_true(seen[0] && seen[1] && seen[2] && seen[3] && containers && chains);
    }
}

/* Documents of two clusters that begin with the same text have that in common and nothing else. */
static void test_planted__boilerplate_is_all_that_clusters_share(void **state)
{
    (void)state;
    _cleanup_(planted_free_p) struct planted *planted = plant(3000, 5);
    uint32_t last[100] = {0};
    unsigned n = 0;
    for (uint32_t i = 1; i < 3000 && n < 100; i++) {
        struct planted_document document, other;
        planted_describe(planted, i, &document);
        if (!document.boilerplate)
            continue;
        uint32_t before = last[document.boilerplate];
        last[document.boilerplate] = i;
        planted_describe(planted, before, &other);
        if (!before || other.cluster == document.cluster)
            continue;
        assert_int_equal(planted_compare(planted, &document, &other).both, 11);
        expect_exact(planted, 5, before, i);
        n++;
    }
    assert_int_equal(n, 100);
}

struct seen {
    uint8_t content[FINGERPRINT_BYTES], text[FINGERPRINT_BYTES], shingles[FINGERPRINT_BYTES];
};

/* Copies are what they are said to be: the same bytes, the same text, or the same shingles. */
static void test_planted__copies_are_equivalent_as_planted(void **state)
{
    (void)state;
    enum { N = 30000 };
    _cleanup_(planted_free_p) struct planted *planted = plant(N, 5);
    struct policy policy;
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    _cleanup_(document_sketcher_free_p) struct document_sketcher *sketcher = NULL;
    assert_int_equal(policy_preset("default", &policy), 0);
    assert_int_equal(shingle_hash_new(&policy, &hash), 0);
    assert_int_equal(document_sketcher_new(&policy, hash, &sketcher), 0);
    _cleanup_free_ char *text = malloc(planted_most_bytes(planted));
    unsigned identical = 0, lexical = 0, shingles = 0, forms[PLANTED_N_FORMS] = {0};
    for (uint32_t i = 0; i < N; i++) {
        struct planted_document documents[2];
        struct seen seen[2];
        planted_describe(planted, i, &documents[0]);
        if (documents[0].member == documents[0].source && documents[0].flavour != PLANTED_IDENTICAL)
            continue;
        uint32_t source = planted_number(planted, documents[0].cluster, documents[0].source);
        planted_describe(planted, source, &documents[1]);
        for (unsigned j = 0; j < 2; j++) {
            struct document_sketch sketch;
            document_sketcher_begin(sketcher);
            document_sketcher_feed(sketcher, text, planted_write(planted, &documents[j], text));
            document_sketcher_finish(sketcher, &sketch);
            memcpy(seen[j].content, sketch.content_fingerprint, FINGERPRINT_BYTES);
            memcpy(seen[j].text, sketch.text_fingerprint, FINGERPRINT_BYTES);
            memcpy(seen[j].shingles, sketch.shingle_fingerprint, FINGERPRINT_BYTES);
            assert_int_equal(sketch.form.type,
                             documents[j].form == PLANTED_HTML ? TEXT_HTML : TEXT_PLAIN);
        }
        bool same_text = documents[0].n_repeats == documents[1].n_repeats;
        bool same_content = same_text && documents[0].form == documents[1].form;
        assert_memory_equal(seen[0].shingles, seen[1].shingles, FINGERPRINT_BYTES);
        assert_int_equal(memcmp(seen[0].text, seen[1].text, FINGERPRINT_BYTES) == 0, same_text);
        assert_int_equal(memcmp(seen[0].content, seen[1].content, FINGERPRINT_BYTES) == 0,
                         same_content);
        identical += same_content;
        lexical += same_text && !same_content;
        shingles += !same_text;
        forms[documents[0].form]++;
    }
    assert_true(identical > 1000 && lexical > 50 && shingles > 50);
    assert_true(forms[PLANTED_PLAIN] && forms[PLANTED_HTML] && forms[PLANTED_UPPER]);
}

/* X2: as many clusters, and documents in them, as of 30 million documents; numbers and members are
 * each other's inverses. */
static void test_planted__clusters_are_as_many_as_were_found(void **state)
{
    (void)state;
    enum { N = 300000 };
    _cleanup_(planted_free_p) struct planted *planted = plant(N, 10);
    uint64_t clusters[2] = {0}, documents[2] = {0}, single = 0, largest = 0;
    for (uint32_t i = 0; i < N; i++) {
        struct planted_document document;
        planted_describe(planted, i, &document);
        assert_true(document.member < document.cluster_size);
        assert_int_equal(planted_number(planted, document.cluster, document.member), i);
        if (document.cluster_size == 1) {
            assert_int_equal(document.flavour, PLANTED_SINGLE);
            single++;
            continue;
        }
        bool mixed = document.flavour != PLANTED_IDENTICAL;
        clusters[mixed] += document.member == 0;
        documents[mixed]++;
        if (document.cluster_size > largest)
            largest = document.cluster_size;
    }
    expect_ratio((double)clusters[0], 21000, 0.02);
    expect_ratio((double)documents[0], 53000, 0.05);
    expect_ratio((double)clusters[1], 15000, 0.02);
    expect_ratio((double)documents[1], 70000, 0.10);
    expect_ratio((double)single, 177000, 0.05);
    assert_true(largest > 1000);
}

static void test_planted__documents_depend_on_seed_and_number_alone(void **state)
{
    (void)state;
    _cleanup_(planted_free_p) struct planted *once = plant(5000, 5), *again = plant(5000, 5);
    _cleanup_(planted_free_p) struct planted *other = NULL;
    assert_int_equal(planted_new(SEED + 1, 5000, 5, &other), 0);
    size_t most = planted_most_bytes(once);
    _cleanup_free_ char *a = malloc(most), *b = malloc(most);
    for (uint32_t i = 0; i < 5000; i += 7) {
        struct planted_document x, y;
        planted_describe(once, i, &x);
        planted_describe(again, i, &y);
        size_t size = planted_write(once, &x, a);
        assert_int_equal(planted_write(again, &y, b), size);
        assert_memory_equal(a, b, size);
        planted_describe(other, i, &y);
        assert_false(planted_write(other, &y, b) == size && memcmp(a, b, size) == 0);
    }
}

static void test_planted__refuses_what_it_cannot_make(void **state)
{
    (void)state;
    struct planted *planted = NULL;
    assert_int_equal(planted_new(SEED, 1, 5, &planted), -EINVAL);
    assert_int_equal(planted_new(SEED, UINT32_MAX, 5, &planted), -EINVAL);
    assert_int_equal(planted_new(SEED, 100, 0, &planted), -EINVAL);
    assert_int_equal(planted_new(SEED, 100, 65, &planted), -EINVAL);
    assert_null(planted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted__resemblance_is_exact),
        cmocka_unit_test(test_planted__boilerplate_is_all_that_clusters_share),
        cmocka_unit_test(test_planted__copies_are_equivalent_as_planted),
        cmocka_unit_test(test_planted__clusters_are_as_many_as_were_found),
        cmocka_unit_test(test_planted__documents_depend_on_seed_and_number_alone),
        cmocka_unit_test(test_planted__refuses_what_it_cannot_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
