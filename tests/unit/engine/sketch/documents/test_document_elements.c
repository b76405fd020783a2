/* The elements of a document by other routes: the sketch that the index makes of it, and Rabin's
 * fingerprints of its shingles' text from scratch. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/proc_path.h"
#include "engine/sketch/documents/document_elements.h"
#include "engine/sketch/documents/document_sketch.h"
#include "engine/sketch/families/element_set.h"
#include "engine/sketch/hash/rabin.h"
#include "tests/lib/trials.h"

static int open_text(const char *text, size_t size)
{
    int fd = memfd_create("document", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static int gather(void *user, const uint64_t *elements, size_t n_elements)
{
    return element_set_add(user, elements, n_elements);
}

static struct element_set elements_of(const char *text, size_t size, unsigned w, bool rabin)
{
    struct element_set set = {0};
    uint8_t key[SKETCH_KEY_BYTES];
    _cleanup_close_ int fd = open_text(text, size);
    trial_key(1, key);
    assert_int_equal(document_elements(fd, NULL, w, NULL, key, rabin, gather, &set), 0);
    element_set_sort(&set);
    return set;
}

static size_t make_text(char *text, unsigned n_words)
{
    size_t size = 0;
    for (unsigned i = 0; i < n_words; i++)
        size += (size_t)sprintf(text + size, "w%u ", i * i % 1009);
    return size;
}

/* Long and short ones, and a binary: the sketch of the elements is that of document_sketch.c. */
static void test_document_elements__make_the_sketch_of_the_index(void **state)
{
    (void)state;
    enum { ROOM = 60000 };
    _cleanup_free_ char *text = malloc(ROOM);
    const unsigned lengths[] = {0, 1, 3, 4, 5, 6, 100, 1030, 9000};
    assert_non_null(text);
    for (unsigned i = 0; i < 10; i++) {
        size_t size = i < 9 ? make_text(text, lengths[i]) : ROOM;
        uint64_t random = 1;
        for (size_t at = 0; i == 9 && at < size; at++)
            text[at] = (char)mix64_next(&random);
        struct policy policy;
        struct document_sketch expected;
        struct min_sketch sketch;
        _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
        _cleanup_(document_sketcher_free_p) struct document_sketcher *sketcher = NULL;
        _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder = NULL;
        assert_int_equal(policy_preset("default", &policy), 0);
        policy.w = 5;
        trial_key(1, policy.key);
        assert_int_equal(shingle_hash_new(&policy, &hash), 0);
        assert_int_equal(document_sketcher_new(&policy, hash, &sketcher), 0);
        document_sketcher_feed(sketcher, text, size);
        document_sketcher_finish(sketcher, &expected);

        _cleanup_(element_set_done) struct element_set set = elements_of(text, size, 5, false);
        assert_int_equal(min_sketch_builder_new(&policy, &builder), 0);
        min_sketch_builder_add(builder, set.elements, set.n_elements);
        min_sketch_builder_finish(builder, expected.sketch.n_tokens, &sketch);
        assert_int_equal(sketch.n_values, expected.sketch.n_values);
        assert_int_equal(sketch.n_values == 0, i == 0);
        for (uint32_t j = 0; j < sketch.n_values; j++)
            assert_true(sketch.values[j] == expected.sketch.values[j]);
    }
}

/* B12, B14: of the words, each with a byte behind it that ends it, from scratch. */
static void test_document_elements__are_rabin_fingerprints_of_the_text(void **state)
{
    (void)state;
    static const char text[] = "A rose is -- a ROSE, is a rose";
    static const char *const shingles[] = {"a\xffrose\xffis\xff",
                                           "rose\xffis\xff"
                                           "a\xff",
                                           "is\xff"
                                           "a\xffrose\xff"};
    struct rabin rabin;
    uint8_t key[SKETCH_KEY_BYTES];
    uint64_t expected[3];
    trial_key(1, key);
    assert_int_equal(rabin_init(&rabin, key), 0);
    for (unsigned i = 0; i < 3; i++)
        expected[i] = rabin_of_bytes(&rabin, shingles[i], strlen(shingles[i]));
    qsort(expected, 3, sizeof(*expected), trial_compare);
    _cleanup_(element_set_done) struct element_set set = elements_of(text, strlen(text), 3, true);
    assert_int_equal(set.n_elements, 3);
    assert_memory_equal(set.elements, expected, sizeof(expected));

    /* shorter than w: one, of all */
    _cleanup_(element_set_done) struct element_set one = elements_of("is a", 4, 3, true);
    assert_int_equal(one.n_elements, 1);
    assert_true(one.elements[0] == rabin_of_bytes(&rabin, "is\xff\x61\xff", 5));
    _cleanup_(element_set_done) struct element_set none = elements_of("", 0, 3, true);
    assert_int_equal(none.n_elements, 0);
}

static int refuse_second(void *user, const uint64_t *elements, size_t n_elements)
{
    (void)elements;
    unsigned *n_calls = user;
    assert_true(n_elements > 0);
    return ++*n_calls == 2 ? -ENOSPC : 0;
}

static void test_document_elements__hand_on_errors(void **state)
{
    (void)state;
    enum { ROOM = 60000 };
    _cleanup_free_ char *text = malloc(ROOM);
    uint8_t key[SKETCH_KEY_BYTES] = {0};
    struct sketch sketch;
    unsigned n_calls = 0;
    assert_non_null(text);
    _cleanup_close_ int fd = open_text(text, make_text(text, 9000));
    assert_int_equal(document_elements(fd, NULL, 5, NULL, key, false, refuse_second, &n_calls),
                     -ENOSPC);
    assert_int_equal(n_calls, 2); /* and no more */
    assert_int_equal(document_elements(fd, NULL, 0, NULL, key, false, gather, NULL), -EINVAL);
    assert_int_equal(document_elements(fd, NULL, POLICY_W_MAX + 1, NULL, key, true, gather, NULL),
                     -EINVAL);
    _cleanup_close_ int directory = open(".", O_RDONLY | O_CLOEXEC);
    assert_int_equal(document_elements(directory, NULL, 5, NULL, key, false, gather, NULL),
                     -EISDIR);
    assert_int_equal(sketch_document(directory, NULL, 5, NULL, sketch_families[0], key, &sketch),
                     -EISDIR);
}

struct growing {
    int fd;
    uint64_t n_elements;
};

/* Appends as much as was handed out and more, up to a hundred times what there was. */
static int append(void *user, const uint64_t *elements, size_t n_elements)
{
    struct growing *growing = user;
    (void)elements;
    growing->n_elements += n_elements;
    for (size_t i = 0; i < n_elements && growing->n_elements < 100 * 9000; i++)
        assert_int_equal(write(growing->fd, " appended", 9), 9);
    return 0;
}

static void test_document_elements__what_is_appended_meanwhile_is_not_read(void **state)
{
    (void)state;
    enum { ROOM = 60000 };
    _cleanup_free_ char *text = malloc(ROOM);
    uint8_t key[SKETCH_KEY_BYTES] = {0};
    assert_non_null(text);
    _cleanup_close_ int fd = open_text(text, make_text(text, 9000));
    struct growing growing = {.fd = open(proc_path_of(fd).text, O_WRONLY | O_APPEND | O_CLOEXEC)};
    assert_int_equal(document_elements(fd, NULL, 1, NULL, key, false, append, &growing), 0);
    assert_int_equal(growing.n_elements, 9000);
    close(growing.fd);
}

/* Few and many, elements that come often, that differ in some bits only; in several goes. */
static void test_element_set__is_sorted_and_has_each_once(void **state)
{
    (void)state;
    enum { MOST = 20000 };
    static const uint64_t masks[] = {UINT64_MAX, 0xff, 0x7ff00, 0xffff000000000000, 0};
    static const size_t numbers[] = {1, 100, 2047, 2048, 2049, MOST};
    _cleanup_free_ uint64_t *expected = calloc(2 * MOST, sizeof(*expected));
    assert_non_null(expected);
    for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++)
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
            struct element_set set = {0};
            uint64_t random = i;
            size_t n = 0, n_expected = 0;
            for (; n < 2 * numbers[i]; n++) {
                expected[n] = mix64_next(&random) & masks[m];
                assert_int_equal(element_set_add(&set, &expected[n], 1), 0);
                if (n == numbers[i])
                    element_set_sort(&set);
            }
            element_set_sort(&set);
            qsort(expected, n, sizeof(*expected), trial_compare);
            for (size_t j = 0; j < n; j++)
                if (j == 0 || expected[j] != expected[j - 1])
                    assert_true(set.n_elements > n_expected &&
                                set.elements[n_expected++] == expected[j]);
            assert_int_equal(set.n_elements, n_expected);
            element_set_done(&set);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_element_set__is_sorted_and_has_each_once),
        cmocka_unit_test(test_document_elements__make_the_sketch_of_the_index),
        cmocka_unit_test(test_document_elements__are_rabin_fingerprints_of_the_text),
        cmocka_unit_test(test_document_elements__hand_on_errors),
        cmocka_unit_test(test_document_elements__what_is_appended_meanwhile_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
