/* Topics and sub-topics against CENTER by its definition, over all pairs of bags that are weighed
 * and added up by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mix.h"
#include "engine/index/tables/bags.h"
#include "engine/index/tables/meta.h"
#include "engine/index/topics/topics.h"
#include "engine/index/topics/topics_finding.h"
#include "engine/topic/near/centres.h"
#include "engine/topic/near/draws.h"
#include "engine/topic/weighted/flat.h"
#include "tests/lib/fixtures/memory_store.h"
#include "tests/lib/scratch.h"

enum { MOST = 160, ALONE = UINT32_MAX };

static uint64_t seed;

static unsigned draw(unsigned n)
{
    return (unsigned)(mix64_next(&seed) % n);
}

static uint64_t word(unsigned number)
{
    uint64_t of = number;
    return bags_word(mix64_next(&of)) | (uint64_t)1 << 63;
}

static uint64_t sid_of(unsigned i)
{
    return 1000 + 7 * i;
}

/* -- documents -- */

/* The store keeps words of documents. */
static int set_up(void **state)
{
    int r = setup(state);
    return r < 0 ? r : meta_put_number(*state, TOPICS_META, TOPICS_CONTENT);
}

static void put_bag(struct kv *kv, uint64_t sid, uint64_t *counted, size_t n)
{
    uint64_t scratch[256];
    uint8_t row[BAGS_ROW_MAX_BYTES], key[8];
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    const size_t size = bags_encode(counted, n, scratch, row);
    kv_batch_put(batch, TABLE_BAGS, bags_key(key, sid), (struct kv_slice){row, size});
    assert_int_equal(kv_apply(kv, batch), 0);
}

static void count(uint64_t *counted, size_t *n, uint64_t of)
{
    for (size_t i = 0; i < *n; i++)
        if (bags_word(counted[i]) == of) {
            counted[i]++;
            return;
        }
    counted[(*n)++] = of | 1;
}

/* A document of one of 12 narrow subjects, of which three each are of one broad one: of a hundred
 * words so many are of the narrow and of the broad one. */
static void put_document(struct kv *kv, unsigned i, unsigned narrow, unsigned n_narrow,
                         unsigned n_broad)
{
    uint64_t counted[256];
    size_t n = 0;
    for (unsigned k = 0; k < 100; k++) {
        const unsigned number = k < n_narrow             ? 1000 + 100 * narrow + draw(20)
                                : k < n_narrow + n_broad ? 5000 + 100 * (narrow / 3) + draw(30)
                                                         : 9000 + draw(400);
        count(counted, &n, word(number));
    }
    put_bag(kv, sid_of(i), counted, n);
}

/* -- by hand -- */

static struct bag bags[MOST]; /* weighed; then sums of those of groups */

static void done(void)
{
    for (unsigned i = 0; i < MOST; i++)
        bag_done(&bags[i]);
}

static unsigned df_of(const struct bag *raw, unsigned n, uint64_t of)
{
    unsigned df = 0;
    for (unsigned i = 0; i < n; i++)
        for (uint32_t k = 0; k < raw[i].n_words; k++)
            df += raw[i].words[k].word == of;
    return df;
}

static void weigh_by_hand(struct kv *kv, unsigned n)
{
    struct bag raw[MOST] = {0};
    unsigned n_bags = 0;
    done();
    for (unsigned i = 0; i < n; i++) {
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        uint8_t key[8];
        assert_int_equal(kv_get(kv, TABLE_BAGS, bags_key(key, sid_of(i)), &value), 0);
        assert_int_equal(bags_decode(kv_buf_slice(&value), &raw[i]), 0);
        assert_int_equal(bags_decode(kv_buf_slice(&value), &bags[i]), 0);
        n_bags += raw[i].n_words > 0;
    }
    for (unsigned i = 0; i < n; i++) {
        uint32_t n_kept = 0;
        for (uint32_t k = 0; k < bags[i].n_words; k++) {
            const unsigned df = df_of(raw, n, bags[i].words[k].word);
            if (df < 2 || df > 64 || df == n_bags)
                continue;
            bags[i].words[n_kept] = bags[i].words[k];
            bags[i].words[n_kept++].weight *= log((double)n_bags / df);
        }
        bags[i].n_words = n_kept;
        assert_int_equal(bag_normalise(&bags[i], BAG_WHOLE), 0);
    }
    for (unsigned i = 0; i < n; i++)
        bag_done(&raw[i]);
}

/* Two bags are near each other. */
typedef bool (*near_fn)(unsigned a, unsigned b, double resemblance);

static bool by_resemblance(unsigned a, unsigned b, double resemblance)
{
    double value;
    return bag_resemblance(&bags[a], &bags[b], &value) == 0 && value >= resemblance;
}

static struct bag_sketch sketches[MOST];

static void sketch_by_hand(unsigned n, double scale)
{
    static const uint8_t key[SKETCH_KEY_BYTES] = {20};
    struct flat_hash *hash;
    assert_int_equal(flat_hash_new(key, scale, &hash), 0);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(flat_sketch(hash, &bags[i], &sketches[i]), 0);
    flat_hash_free(hash);
}

/* Some draw finds them, and enough lowest bytes agree. */
static bool by_sketches(unsigned a, unsigned b, double resemblance)
{
    struct draws draws;
    assert_int_equal(draws_init(TOPICS_DRAWS, TOPICS_OF_A_DRAW, TOPICS_SEED, &draws), 0);
    if (bag_sketch_is_empty(&sketches[a]) || bag_sketch_is_empty(&sketches[b]) ||
        signatures_agreeing(sketches[a].low, sketches[b].low, BAG_SIGNATURES) <
            signatures_expected(resemblance, BAG_SIGNATURES))
        return false;
    for (unsigned i = 0; i < draws.n; i++)
        if (draw_of(&draws, i, &sketches[a]) == draw_of(&draws, i, &sketches[b]))
            return true;
    return false;
}

static void center_by_hand(unsigned n, near_fn near, double resemblance, uint32_t *ret_centres)
{
    unsigned degrees[MOST] = {0};
    for (unsigned a = 0; a < n; a++) {
        ret_centres[a] = ALONE;
        for (unsigned b = 0; b < n; b++)
            degrees[a] += a != b && near(a, b, resemblance);
    }
    for (;;) {
        unsigned next = n;
        for (unsigned a = 0; a < n; a++)
            if (ret_centres[a] == ALONE && degrees[a] && (next == n || degrees[a] > degrees[next]))
                next = a;
        if (next == n)
            return;
        for (unsigned b = 0; b < n; b++)
            if (ret_centres[b] == ALONE && (b == next || near(next, b, resemblance)))
                ret_centres[b] = next;
    }
}

static void name_by_hand(unsigned n, uint32_t *centres)
{
    uint32_t named[MOST];
    for (unsigned i = 0; i < n; i++) {
        named[i] = i;
        for (unsigned k = i; centres[i] != ALONE && k-- > 0;)
            if (centres[k] == centres[i])
                named[i] = k;
    }
    memcpy(centres, named, n * sizeof(*named));
}

/* The bags of groups, those of their first documents in front; returns how many. */
static unsigned add_up_by_hand(unsigned n, const uint32_t *groups, unsigned *ret_units)
{
    unsigned n_units = 0;
    struct bag sums[MOST] = {0};
    for (unsigned i = 0; i < n; i++) {
        if (groups[i] != i)
            continue;
        for (unsigned k = i; k < n; k++) {
            struct bag sum;
            if (groups[k] != i)
                continue;
            assert_int_equal(bag_merge(&sums[n_units], &bags[k], &sum), 0);
            bag_done(&sums[n_units]);
            sums[n_units] = sum;
        }
        if (sums[n_units].n_words)
            assert_int_equal(bag_normalise(&sums[n_units], BAG_REAL), 0);
        ret_units[n_units++] = i;
    }
    done();
    memcpy(bags, sums, sizeof(bags));
    return n_units;
}

static void find_by_hand(struct kv *kv, unsigned n, near_fn near, uint32_t *topics,
                         uint32_t *subtopics)
{
    unsigned units[MOST];
    uint32_t centres[MOST];
    weigh_by_hand(kv, n);
    sketch_by_hand(n, 1);
    center_by_hand(n, near, SUBTOPICS_RESEMBLANCE, subtopics);
    name_by_hand(n, subtopics);
    const unsigned n_units = add_up_by_hand(n, subtopics, units);
    sketch_by_hand(n_units, TOPICS_SUM_SCALE);
    center_by_hand(n_units, near, TOPICS_RESEMBLANCE, centres);
    name_by_hand(n_units, centres);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n_units; k++)
            if (units[k] == subtopics[i])
                topics[i] = units[centres[k]];
}

/* -- tests -- */

static unsigned n_groups(const uint32_t *groups, unsigned n)
{
    unsigned n_found = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = i + 1; k < n && groups[i] == i; k++)
            if (groups[k] == i) {
                n_found++;
                break;
            }
    return n_found;
}

static void assert_as_by_hand(struct kv *kv, unsigned n, near_fn near, unsigned *ret_topics,
                              unsigned *ret_subtopics)
{
    _cleanup_(topics_finding_done) struct topics_finding_task found = {.kv = kv, .scratch = "/tmp"};
    uint32_t topics[MOST], subtopics[MOST];
    assert_int_equal(topics_find(&found), 0);
    find_by_hand(kv, n, near, topics, subtopics);
    assert_int_equal(found.sids.n_numbers, n);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(found.sids.numbers[i], sid_of(i));
    assert_memory_equal(found.subtopics, subtopics, n * sizeof(*subtopics));
    assert_memory_equal(found.topics, topics, n * sizeof(*topics));
    for (unsigned i = 0; i < n; i++) /* a sub-topic is of one topic */
        assert_int_equal(topics[i], topics[subtopics[i]]);
    *ret_topics = n_groups(topics, n);
    *ret_subtopics = n_groups(subtopics, n);
    done();
}

/* Of what is much alike, or hardly, no sketch is in doubt. */
static void test_topics_find__is_center_over_all_pairs_where_sketches_leave_no_doubt(void **state)
{
    unsigned topics, subtopics;
    seed = 1;
    for (unsigned i = 0; i < 96; i++)
        put_document(*state, i, i % 12, 99, 0);
    assert_as_by_hand(*state, 96, by_resemblance, &topics, &subtopics);
    assert_int_equal(subtopics, 12);
    assert_int_equal(topics, 12);
}

static void test_topics_find__is_center_of_sketches_whatever_they_say(void **state)
{
    unsigned topics = 0, subtopics = 0, n_broader = 0;
    for (unsigned round = 0; round < 6; round++) {
        seed = 10 + round;
        for (unsigned i = 0; i < 150; i++)
            put_document(*state, i, draw(12), 20 + draw(30), 10 + draw(30));
        assert_as_by_hand(*state, 150, by_sketches, &topics, &subtopics);
        assert_true(subtopics > 8);
        n_broader += topics < subtopics;
    }
    assert_int_equal(n_broader, 6);
}

static void test_topics_find__documents_without_words_are_alone(void **state)
{
    _cleanup_(topics_finding_done) struct topics_finding_task none = {.kv = *state,
                                                                      .scratch = "/tmp"};
    _cleanup_(topics_finding_done) struct topics_finding_task found = none;
    uint64_t counted[1];
    assert_int_equal(topics_find(&none), 0);
    assert_int_equal(none.sids.n_numbers, 0);
    seed = 2;
    for (unsigned i = 0; i < 40; i++)
        if (i % 4)
            put_document(*state, i, 3 * (i % 4), 99, 0);
        else
            put_bag(*state, sid_of(i), counted, 0);
    assert_int_equal(topics_find(&found), 0);
    assert_int_equal(found.sids.n_numbers, 40);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(found.topics[i], i % 4 ? i % 4 : i);
        assert_int_equal(found.subtopics[i], i % 4 ? i % 4 : i);
    }
}

static void test_topics_find__stops_and_fails_as_it_is_told(void **state)
{
    static const bool stop = true;
    struct topics_finding_task found = {.kv = *state, .scratch = "/tmp", .stop = &stop};
    seed = 3;
    for (unsigned i = 0; i < 20; i++)
        put_document(*state, i, i % 2, 60, 10);
    assert_int_equal(topics_find(&found), -ESHUTDOWN);
    topics_finding_done(&found);
    found = (struct topics_finding_task){.kv = *state, .scratch = "/nowhere/at/all"};
    assert_int_equal(topics_find(&found), -ENOENT);
    topics_finding_done(&found);
    uint8_t key[8];
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, TABLE_BAGS, bags_key(key, sid_of(3)), (struct kv_slice){"??", 2});
    assert_int_equal(kv_apply(*state, batch), 0);
    found = (struct topics_finding_task){.kv = *state, .scratch = "/tmp"};
    assert_int_equal(topics_find(&found), -EUCLEAN);
    topics_finding_done(&found);
}

#define with_store(test) cmocka_unit_test_setup_teardown(test, set_up, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_store(test_topics_find__is_center_over_all_pairs_where_sketches_leave_no_doubt),
        with_store(test_topics_find__is_center_of_sketches_whatever_they_say),
        with_store(test_topics_find__documents_without_words_are_alone),
        with_store(test_topics_find__stops_and_fails_as_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
