/* The best few answers to a question, against all answers and against all pairs of sketches: the
 * same, but for what engine/index/postings/candidates.h says is passed over, and that is as it
 * says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ratio.h"
#include "engine/index/postings/candidates.h"
#include "tests/lib/documents/family_world.h"
#include "tests/lib/share.h"

enum { KEYS = POSTINGS_TIER_R_KEYS, MOST = 100, ASKED = 12 };
static const double threshold = 0.4;

/* -- all pairs -- */

struct pairs {
    struct family_world *world;
    struct record *records; /* by number */
    uint32_t n;
};

static void sketch_all(struct family_world *world, struct pairs *pairs)
{
    *pairs = (struct pairs){world, NULL, families_n_documents(world->families)};
    pairs->records = calloc(pairs->n, sizeof(*pairs->records));
    assert_non_null(pairs->records);
    for (uint32_t i = 0; i < pairs->n; i++) {
        size_t n = families_write(world->families, i, 0, world->text);
        fileless_sketch(world->fileless, &(struct fileless_text){i, world->text, n},
                        &pairs->records[i]);
    }
}

static void pairs_done(struct pairs *pairs)
{
    for (uint32_t i = 0; i < pairs->n; i++)
        record_done(&pairs->records[i]);
    free(pairs->records);
}

static bool has_key(const struct min_sketch *sketch, uint64_t key)
{
    for (size_t i = 0; i < KEYS && i < sketch->n_values; i++)
        if (sketch->values[i] == key)
            return true;
    return false;
}

/* How a document's lists are, and who is in them. */
struct lists {
    size_t length[KEYS], n_long, longest;
    uint8_t *n_in_short, *n_in_long; /* by number */
};

static void read_lists(const struct pairs *pairs, uint32_t asked, struct lists *lists)
{
    const struct min_sketch *sketch = &pairs->records[asked].sketch;
    *lists = (struct lists){.n_long = 0};
    lists->n_in_short = calloc(pairs->n, 1);
    lists->n_in_long = calloc(pairs->n, 1);
    assert_true(lists->n_in_short && lists->n_in_long && sketch->n_values >= KEYS);
    for (size_t k = 0; k < KEYS; k++)
        for (uint32_t i = 0; i < pairs->n; i++)
            lists->length[k] += has_key(&pairs->records[i].sketch, sketch->values[k]);
    for (size_t k = 0; k < KEYS; k++) {
        bool is_long = lists->length[k] > POSTINGS_PIECE;
        lists->n_long += is_long;
        lists->longest = lists->length[k] > lists->longest ? lists->length[k] : lists->longest;
        for (uint32_t i = 0; i < pairs->n; i++)
            if (has_key(&pairs->records[i].sketch, sketch->values[k]))
                (is_long ? lists->n_in_long : lists->n_in_short)[i]++;
    }
}

static void lists_done(struct lists *lists)
{
    free(lists->n_in_short);
    free(lists->n_in_long);
}

struct answer {
    uint32_t number;
    double resemblance;
    char path[32];
};

static int compare_answers(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;
    if (x->resemblance != y->resemblance)
        return x->resemblance < y->resemblance ? 1 : -1;
    return strcmp(x->path, y->path);
}

/* Of those in a short list, or in so many long ones: what resembles it, best first. */
static size_t best_of(const struct pairs *pairs, uint32_t asked, const struct lists *lists,
                      unsigned n_long_least, struct answer *answers)
{
    size_t n = 0;
    for (uint32_t i = 0; i < pairs->n; i++) {
        struct estimate estimate;
        if (i == asked || (!lists->n_in_short[i] && lists->n_in_long[i] < n_long_least))
            continue;
        assert_int_equal(min_sketch_resemblance(&pairs->records[asked].sketch,
                                                &pairs->records[i].sketch, &estimate),
                         0);
        if (estimate.value < threshold)
            continue;
        /* No two of a world are equal. */
        answers[n] =
            (struct answer){.number = i, .resemblance = fmin(estimate.value, RATIO_BELOW_ONE)};
        snprintf(answers[n++].path, sizeof(answers->path), "%u/%u.txt", i / 100, i);
    }
    qsort(answers, n, sizeof(*answers), compare_answers);
    return n;
}

/* -- what is promised -- */

/* In long lists alone, at least in so many of them. */
static size_t count_in_long(const struct pairs *pairs, const struct lists *lists, unsigned least)
{
    size_t n = 0;
    for (uint32_t i = 0; i < pairs->n; i++)
        n += lists->n_in_long[i] >= least;
    return n;
}

/* Whether nothing is passed over but what is in too few lists. */
static bool all_are_taken(const struct pairs *pairs, const struct lists *lists, unsigned least,
                          size_t limit)
{
    size_t enough = 2 * limit > CANDIDATES_ENOUGH ? 2 * limit : CANDIDATES_ENOUGH;
    return lists->longest <= CANDIDATES_LIST && count_in_long(pairs, lists, least) <= enough;
}

static void expect_same(const struct kin_list *list, const struct answer *answers, size_t n)
{
    assert_int_equal(list->n_kin, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(list->kin[i].path, answers[i].path);
        assert_float_equal(list->kin[i].resemblance, answers[i].resemblance, 0);
    }
}

/* Some of the best may be missing, but none that is in a short list, and each is what it is. */
static void expect_likeliest(const struct lists *lists, const struct kin_list *list,
                             const struct answer *all, size_t n_all)
{
    size_t k = 0;
    assert_true(list->n_kin > 0 && list->n_kin <= n_all);
    double worst = list->kin[list->n_kin - 1].resemblance;
    for (size_t i = 0; i < list->n_kin; i++) {
        while (k < n_all && strcmp(all[k].path, list->kin[i].path) != 0) {
            bool missing = lists->n_in_short[all[k].number] > 0 && all[k].resemblance > worst;
            assert_false(missing);
            k++;
        }
        assert_true(k < n_all);
        assert_float_equal(list->kin[i].resemblance, all[k++].resemblance, 0);
    }
}

struct seen {
    unsigned n_all, n_likeliest, n_long, n_few;
};

static void ask(const struct pairs *pairs, uint32_t asked, size_t limit, struct answer *answers,
                struct seen *seen)
{
    struct index *index = fileless_index(pairs->world->fileless);
    struct index_query query = {.threshold = threshold};
    struct file_key key = fileless_key(asked);
    struct kin_list list = {0};
    struct lists lists;

    read_lists(pairs, asked, &lists);
    size_t n = best_of(pairs, asked, &lists, 1, answers);
    assert_int_equal(index_similar(index, &key, &query, &list), 0);
    expect_same(&list, answers, n);
    kin_list_done(&list);

    query.limit = limit;
    assert_int_equal(index_similar(index, &key, &query, &list), 0);
    unsigned least = KEYS - lists.n_long >= CANDIDATES_KEYS ? 2 : 1;
    if (all_are_taken(pairs, &lists, least, limit)) {
        n = best_of(pairs, asked, &lists, least, answers);
        expect_same(&list, answers, n < limit ? n : limit);
        seen->n_all++;
    } else {
        expect_likeliest(&lists, &list, answers, n);
        assert_int_equal(list.n_kin, n < limit ? n : limit);
        seen->n_likeliest++;
    }
    seen->n_long += lists.n_long > 0;
    seen->n_few += least == 2;
    kin_list_done(&list);
    lists_done(&lists);
}

static struct seen ask_some(struct family_world *world, uint32_t family, size_t limit)
{
    struct seen seen = {0};
    struct pairs pairs;
    sketch_all(world, &pairs);
    struct answer *answers = calloc(pairs.n, sizeof(*answers));
    assert_non_null(answers);
    for (uint32_t i = 0; i < ASKED; i++) {
        uint32_t member = (uint32_t)(i * UINT64_C(2654435761) % world->plan[family].size);
        ask(&pairs, families_number(world->families, (struct family_member){family, member}), limit,
            answers, &seen);
    }
    free(answers);
    pairs_done(&pairs);
    return seen;
}

/* -- worlds -- */

/* Returns how many were asked for that have boilerplate among their sixteen smallest fingerprints.
 */
static unsigned ask_among_hundreds(void)
{
    struct family_world world = {.n_families = 0};

    family_world_add(&world, (struct family){FAMILY_STAR, 900, 300, 2, 0, 0, 0}, 1, 0);
    family_world_add(&world, (struct family){FAMILY_CHAIN, 900, 300, 3, 0, 40, 20}, 1, 1);
    family_world_begin(&world);
    family_world_put_all(&world);
    struct seen seen = ask_some(&world, 0, MOST);
    assert_int_equal(seen.n_all, ASKED);
    assert_int_equal(seen.n_long, ASKED);
    seen = ask_some(&world, 1, MOST);
    assert_int_equal(seen.n_all, ASKED);
    family_world_end(&world);
    return seen.n_long;
}

/* Lists of up to a thousand: everything that is in some of them is compared. Of the boilerplate of
 * a world none may have small fingerprints, by its key. */
static void test_limited_answers__of_hundreds_are_the_best(void **state)
{
    unsigned n_long = 0;
    (void)state;

    for (unsigned tries = 0; n_long == 0 && tries < 5; tries++)
        n_long = ask_among_hundreds();
    assert_in_range(n_long, 1, ASKED);
}

/* Chains, all with one head and tail, of which each list has more than are read. */
static void test_limited_answers__behind_boilerplate_are_the_best(void **state)
{
    /* Each world has a key of its own, and by it some of the boilerplate among the sixteen smallest
     * fingerprints, or none: what is asked for is looked at in any of them. */
    enum { WORLDS = 40 };
    struct seen seen = {0};
    (void)state;

    for (unsigned i = 0; i < WORLDS && seen.n_likeliest < ASKED; i++) {
        struct family_world world = {.n_families = 0};
        family_world_add(&world, (struct family){FAMILY_CHAIN, 300, 100, 1, 0, 15, 10}, 3, 1);
        family_world_add(&world, (struct family){FAMILY_NONE, CANDIDATES_LIST, 100, 0, 0, 15, 10},
                         1, 1);
        family_world_begin(&world);
        family_world_put_all(&world);
        /* There are fewer than a hundred answers, so that all of them are expected. */
        seen = ask_some(&world, 0, MOST);
        assert_int_equal(seen.n_all + seen.n_likeliest, ASKED);
        assert_true(seen.n_long >= seen.n_likeliest);
        family_world_end(&world);
    }
    assert_int_equal(seen.n_likeliest, ASKED);
}

/* So long, and so little of it changed, that many a sketch is another's: no two of them are equal,
 * and none is said to be. */
static void test_limited_answers__of_those_that_sketches_take_for_equal_are_below_one(void **state)
{
    struct family_world world = {.n_families = 0};
    (void)state;

    family_world_add(&world, (struct family){FAMILY_STAR, 100, 3000, 1, 0, 0, 0}, 1, 0);
    family_world_begin(&world);
    family_world_put_all(&world);
    struct seen seen = ask_some(&world, 0, MOST);
    assert_int_equal(seen.n_all, ASKED);
    family_world_end(&world);
}

/* Thousands that resemble each other: of the best some may be missing, and only such. */
static void test_limited_answers__of_thousands_are_the_likeliest(void **state)
{
    struct family_world world = {.n_families = 0};
    (void)state;

    family_world_add(&world, (struct family){FAMILY_STAR, part_of(6000), 200, 2, 0, 0, 0}, 1, 0);
    family_world_begin(&world);
    family_world_put_all(&world);
    struct seen seen = ask_some(&world, 0, MOST);
    assert_int_equal(seen.n_likeliest, ASKED);
    /* When all of them are wanted they come. */
    seen = ask_some(&world, 0, 5000);
    assert_int_equal(seen.n_all, ASKED);
    family_world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limited_answers__of_hundreds_are_the_best),
        cmocka_unit_test(test_limited_answers__behind_boilerplate_are_the_best),
        cmocka_unit_test(test_limited_answers__of_those_that_sketches_take_for_equal_are_below_one),
        cmocka_unit_test(test_limited_answers__of_thousands_are_the_likeliest),
    };
    return cmocka_run_group_tests_name("limited_answers", tests, NULL, NULL);
}
