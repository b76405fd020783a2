/* Names of targets come back by the order of their fingerprints, documents by their numbers,
 * however little memory there is; sketches by the numbers of their nodes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/scratch.h"
#include "engine/topic/links/link_place.h"
#include "tools/commands/cluster/topics_names.h"
#include "engine/topic/near/node_sketches.h"

enum { NAMES = 60000, DOCUMENTS = 5000, TIMES = 3 };

struct named {
    uint64_t fingerprint;
    uint32_t number; /* below DOCUMENTS: a document */
};

static int compare(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return (x->fingerprint > y->fingerprint) - (x->fingerprint < y->fingerprint);
}

static void name_of(uint32_t i, char name[80])
{
    snprintf(name, 80, "%s%u/%.*s", i % 3 ? "docs/" : "https://example.org/", i, (int)(i % 40),
             "0123456789012345678901234567890123456789");
}

static bool is_outside(uint32_t i)
{
    return i % 3 == 0;
}

static struct named *make_names(void)
{
    struct named *all = calloc(NAMES, sizeof(*all));
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[80];
        name_of(i, name);
        all[i] = (struct named){link_name_fingerprint(is_outside(i), name), i};
        assert_int_not_equal(all[i].fingerprint, 0);
    }
    return all;
}

/* Each as often as TIMES, documents among them, in an order in which no name comes twice soon. */
static void add_all(struct topics_names *names, const struct named *all)
{
    for (uint32_t j = 0; j < NAMES * TIMES; j++) {
        const uint32_t i = (uint32_t)(j * 7919ull % NAMES);
        char name[80];
        name_of(i, name);
        if (j < NAMES && i < DOCUMENTS)
            assert_int_equal(topics_names_add_document(names, all[i].fingerprint, i), 0);
        assert_int_equal(topics_names_add(names, all[i].fingerprint, is_outside(i), name), 0);
    }
}

static void test_topics_names__come_back_in_the_order_of_fingerprints(void **state)
{
    static const size_t memories[] = {TOPICS_NAMES_LEAST_BYTES, 64 << 20};
    struct named *all = make_names();
    for (unsigned i = 0; i < 2; i++) {
        struct topics_names *names;
        assert_int_equal(topics_names_new(*state, memories[i], &names), 0);
        add_all(names, all);
        struct named *sorted = calloc(NAMES, sizeof(*sorted));
        memcpy(sorted, all, NAMES * sizeof(*sorted));
        qsort(sorted, NAMES, sizeof(*sorted), compare);
        assert_int_equal(topics_names_begin(names), 0);
        uint32_t n_others = 0;
        uint32_t *others = calloc(NAMES, sizeof(*others));
        /* Some are not asked for: they have no bag. */
        for (uint32_t j = 0; j < NAMES; j += 1 + j % 2) {
            const int64_t document = topics_names_next(names, sorted[j].fingerprint);
            if (sorted[j].number < DOCUMENTS) {
                assert_int_equal(document, sorted[j].number);
                continue;
            }
            assert_true(document == TOPICS_NO_DOCUMENT);
            others[n_others++] = sorted[j].number;
        }
        assert_in_range(n_others, NAMES / 3, NAMES);
        for (uint32_t j = 0; j < n_others; j++) {
            char expected[80], *name;
            bool outside;
            name_of(others[j], expected);
            assert_int_equal(topics_names_of(names, j, &outside, &name), 0);
            assert_string_equal(name, expected);
            assert_int_equal(outside, is_outside(others[j]));
            free(name);
        }
        assert_int_equal(topics_names_next(names, UINT64_MAX), -ENOENT);
        free(others);
        free(sorted);
        topics_names_free(names);
    }
    free(all);
}

static void test_topics_names__tell_a_file_from_a_url_of_its_name(void **state)
{
    (void)state;
    assert_true(link_name_fingerprint(false, "a") != link_name_fingerprint(true, "a"));
}

static struct bag_sketch sketch_of(uint32_t node)
{
    struct bag_sketch sketch;
    for (unsigned i = 0; i < BAG_SIGNATURES; i++)
        bag_sketch_set(&sketch, i, node * 131 + i);
    return sketch;
}

/* Documents come in any order, some never; others in theirs. */
static void test_node_sketches__are_by_the_numbers_of_nodes(void **state)
{
    enum { FEW = 5000, ALL = 13000 };
    static struct node_sketches sketches;
    assert_int_equal(node_sketches_init(FEW, *state, &sketches), 0);
    for (uint32_t i = FEW; i < ALL; i++) {
        const uint32_t document = (uint32_t)(i * 3ull % FEW);
        const struct bag_sketch of_document = sketch_of(document), sketch = sketch_of(i);
        assert_int_equal(node_sketches_add(&sketches, &sketch), 0);
        if (document % 10 != 0)
            assert_int_equal(node_sketches_set(&sketches, document, &of_document), 0);
    }
    struct signatures signatures = {0};
    assert_int_equal(node_sketches_turn(&sketches, *state, 0, &signatures), 0);
    assert_int_equal(signatures.n_nodes, ALL);
    for (uint32_t i = 0; i < ALL; i++) {
        static uint8_t buffer[SIGNATURES_BLOCK];
        const uint8_t *low;
        const unsigned j = i % BAG_SIGNATURES;
        const struct bag_sketch sketch = sketch_of(i);
        if (i % SIGNATURES_BLOCK % 100 != 0)
            continue;
        assert_int_equal(signatures_low(&signatures, i / SIGNATURES_BLOCK, j, buffer, &low), 0);
        assert_int_equal(low[i % SIGNATURES_BLOCK], i < FEW && i % 10 == 0 ? 0xff : sketch.low[j]);
    }
    signatures_done(&signatures);
    node_sketches_done(&sketches);
}

/* Names that were made to have one hash, by a function without a secret (XXH3): the second, of a
 * file of somebody else's, would take the place of the first. */
static void test_topics_names__of_others_are_no_documents_names(void **state)
{
    (void)state;
    static const char made[] =
        "bob/spphkniglnak\337\324m\351\203\220\227\333\220\022h\204\201\210\315"
        "\276";
    assert_int_not_equal(link_name_fingerprint(false, "ann/one.html"),
                         link_name_fingerprint(false, made));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topics_names__come_back_in_the_order_of_fingerprints),
        cmocka_unit_test(test_topics_names__tell_a_file_from_a_url_of_its_name),
        cmocka_unit_test(test_topics_names__of_others_are_no_documents_names),
        cmocka_unit_test(test_node_sketches__are_by_the_numbers_of_nodes),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
