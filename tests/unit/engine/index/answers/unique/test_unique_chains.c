/* Chains of versions that come before each other. A document is a window of words, the next one
 * begins a word later: of 116 shingles each, two that are k apart resemble each other by
 * (116 - k) / (116 + k), six by 0.902. As many shingles are in a sketch whole, so that estimates
 * are exact. The second route to what the index says is to ask each pair of files, recursively. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/index/answers/unique/unique_private.h"
#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/fixtures/indexed_tree.h"
#include "tests/lib/share.h"

enum { N_MAX = 600, N_WORDS = 120, REACH = 12 };
static const double near = 0.9;

/* -- the chain -- */

struct chain {
    struct indexed_tree *f;
    unsigned n;
    struct exact_set *sets[N_MAX];
    int stands_in[N_MAX]; /* by the second route; STAYS, or UNKNOWN */
};
enum { STAYS = -1, UNKNOWN = -2 };

static const char *name_of(unsigned i)
{
    static char name[16];
    snprintf(name, sizeof(name), "d%05u", i);
    return name;
}

static void write_window(struct indexed_tree *f, unsigned i)
{
    const struct timespec times[2] = {{.tv_sec = 1000000000 + i}, {.tv_sec = 1000000000 + i}};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (unsigned word = i; word < i + N_WORDS; word++)
        fprintf(out, "word%05u\n", word);
    fclose(out);
    scratch_write(scratch_path(f->tree, "%s", name_of(i)), text);
    free(text);
    assert_int_equal(utimensat(AT_FDCWD, scratch_path(f->tree, "%s", name_of(i)), times, 0), 0);
}

/* Of n files, made newest first. */
static void make_chain(struct indexed_tree *f, unsigned n, struct chain *chain)
{
    *chain = (struct chain){.f = f, .n = n};
    for (unsigned i = n; i-- > 0;) {
        chain->stands_in[i] = UNKNOWN;
        write_window(f, i);
        int fd = open(scratch_path(f->tree, "%s", name_of(i)), O_RDONLY | O_CLOEXEC);
        const struct policy *policy = &f->index->policy;
        assert_int_equal(
            exact_set_read(fd, NULL, policy->w, &policy->words, SIZE_MAX, &chain->sets[i]), 0);
        close(fd);
        const struct file_key key = indexed_tree_key(f, name_of(i));
        index_note_entry(f->index, backing_root_key(f->backing), name_of(i));
        index_note_content(f->index, &key);
    }
    indexed_tree_settle(f);
}

static void chain_done(struct chain *chain)
{
    for (unsigned i = 0; i < chain->n; i++)
        exact_set_free(chain->sets[i]);
}

/* The first one that stays and resembles it. */
static int find_stand_in(struct chain *chain, int i)
{
    if (chain->stands_in[i] != UNKNOWN)
        return chain->stands_in[i];
    chain->stands_in[i] = STAYS;
    for (int other = i < REACH ? 0 : i - REACH; other < i; other++) {
        double resemblance;
        assert_int_equal(exact_set_resemblance(chain->sets[i], chain->sets[other], &resemblance),
                         0);
        if (resemblance >= near && find_stand_in(chain, other) == STAYS) {
            chain->stands_in[i] = other;
            break;
        }
    }
    return chain->stands_in[i];
}

/* -- questions -- */

static struct index_unique *make_unique(struct indexed_tree *f)
{
    const struct index_unique_options options = {.near = near,
                                                 .representative = INDEX_STAYS_OLDEST};
    struct index_unique *unique;
    assert_int_equal(index_unique_new(f->index, &options, &unique), 0);
    return unique;
}

static int asked(struct chain *chain, struct index_unique *unique, unsigned i)
{
    _cleanup_(index_stand_in_done) struct index_stand_in stand_in = {0};
    const struct file_key key = indexed_tree_key(chain->f, name_of(i));
    int r = index_unique_left_out(unique, backing_root_key(chain->f->backing), name_of(i), &key,
                                  &(struct index_query){0}, &stand_in);
    assert_true(r >= 0);
    return r ? atoi(stand_in.path + 1) : STAYS;
}

static void assert_all(struct chain *chain, struct index_unique *unique)
{
    for (unsigned i = 0; i < chain->n; i++)
        assert_int_equal(asked(chain, unique, i), find_stand_in(chain, (int)i));
    assert_true(unique->n_searches <= chain->n);
}

/* -- tests -- */

struct listing {
    struct chain *chain;
    unsigned n;
};

static int take(void *user, const char *path, const struct index_stand_in *stand_in)
{
    struct listing *listing = user;
    assert_int_equal(find_stand_in(listing->chain, atoi(path + 1)), atoi(stand_in->path + 1));
    listing->n++;
    return 0;
}

static void test_unique_chains__each_is_searched_for_once_in_any_order(void **state)
{
    static struct chain chain;
    static unsigned order[N_MAX];
    make_chain(*state, part_of(N_MAX), &chain);
    struct listing listing = {&chain, 0};
    unsigned seed = 1, n_left_out = 0;
    for (unsigned i = 0; i < chain.n; i++)
        n_left_out += find_stand_in(&chain, (int)i) != STAYS;
    assert_true(chain.n == 1 || n_left_out > 0);
    for (int way = 0; way < 4; way++) {
        _cleanup_(index_unique_free_p) struct index_unique *unique = make_unique(chain.f);
        for (unsigned i = 0; i < chain.n; i++)
            order[i] = way == 0 ? chain.n - 1 - i : i;
        for (unsigned i = chain.n - 1; way == 2 && i > 0; i--) {
            const unsigned other = (unsigned)rand_r(&seed) % (i + 1), kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
        for (unsigned i = 0; way < 3 && i < chain.n; i++)
            assert_int_equal(asked(&chain, unique, order[i]), find_stand_in(&chain, (int)order[i]));
        if (way == 3) {
            assert_int_equal(index_unique_each(unique, &(struct index_query){0}, take, &listing),
                             0);
            assert_int_equal(listing.n, n_left_out);
        }
        assert_all(&chain, unique);
    }
    chain_done(&chain);
}

/* The oldest one cannot be compared for a while. All that depends on it is shown, which are all
 * behind it; and then nothing is searched for again. */
static void test_unique_chains__a_doubt_at_the_bottom_is_found_once(void **state)
{
    static struct chain chain;
    make_chain(*state, 200, &chain);
    index_stop(chain.f->index); /* the index stays in its state */
    _cleanup_(index_unique_free_p) struct index_unique *unique = make_unique(chain.f);
    const struct file_key oldest = indexed_tree_key(chain.f, name_of(0));
    assert_int_equal(asked(&chain, unique, 0), STAYS);
    index_note_writing(chain.f->index, 0, &oldest, 1);
    for (int round = 0; round < 2; round++)
        for (unsigned i = chain.n; i-- > 0;)
            assert_int_equal(asked(&chain, unique, i), STAYS);
    assert_int_equal(unique->n_searches, chain.n);
    index_note_writing(chain.f->index, 0, &oldest, -1);
    assert_all(&chain, unique);
    chain_done(&chain);
}

/* What is beyond the room of one answer is shown, and what is left out is so rightly; the next
 * questions do not begin the same again. */
static void test_unique_chains__an_answer_has_a_bound(void **state)
{
    static struct chain chain;
    make_chain(*state, 300, &chain);
    _cleanup_(index_unique_free_p) struct index_unique *unique = make_unique(chain.f);
    unique->answer_bytes = 16384;
    assert_int_equal(asked(&chain, unique, chain.n - 1), STAYS);
    const uint64_t n_searches = unique->n_searches;
    assert_true(n_searches > 0 && n_searches < 100);
    for (unsigned i = 0; i < chain.n; i++) {
        const int stand_in = asked(&chain, unique, i);
        assert_true(stand_in == STAYS || stand_in == find_stand_in(&chain, (int)i));
    }
    assert_int_equal(unique->n_searches, n_searches);
    /* In another state of the index there is room again. */
    const struct file_key a = indexed_tree_key(chain.f, name_of(0)),
                          b = indexed_tree_key(chain.f, name_of(100));
    assert_int_equal(index_set_distinct(chain.f->index, &a, &b, true), 0);
    unique->answer_bytes = UNIQUE_ANSWER_BYTES;
    unique->n_searches = 0;
    assert_all(&chain, unique);
    chain_done(&chain);
}

/* What is beyond the room of an answer about one owner's documents has no part in what is said of
 * another's. */
static void test_unique_chains__a_bound_is_of_one_owner(void **state)
{
    static struct chain chain;
    if (geteuid() != 0)
        skip();
    make_chain(*state, part_of(300), &chain);
    for (unsigned i = 0; i < chain.n; i++) {
        assert_int_equal(chown(scratch_path(chain.f->tree, "%s", name_of(i)), 54321, 54321), 0);
        index_note_entry(chain.f->index, backing_root_key(chain.f->backing), name_of(i));
        const struct file_key key = indexed_tree_key(chain.f, name_of(i));
        index_note_content(chain.f->index, &key);
    }
    for (unsigned i = N_MAX; i < N_MAX + 2; i++) {
        write_window(chain.f, i);
        index_note_entry(chain.f->index, backing_root_key(chain.f->backing), name_of(i));
    }
    indexed_tree_settle(chain.f);
    _cleanup_(index_unique_free_p) struct index_unique *unique = make_unique(chain.f);
    unique->answer_bytes = 50 * chain.n; /* a quarter of what they take */
    assert_int_equal(asked(&chain, unique, chain.n - 1), STAYS);
    const uint64_t n_searches = unique->n_searches;
    assert_int_equal(asked(&chain, unique, chain.n - 1), STAYS);
    assert_int_equal(unique->n_searches, n_searches); /* it is closed */
    assert_int_equal(asked(&chain, unique, N_MAX + 1), N_MAX);
    assert_int_equal(asked(&chain, unique, N_MAX), STAYS);
    chain_done(&chain);
}

/* While the index changes too often for a long answer, each does a part of it. */
static void test_unique_chains__one_in_a_hurry_goes_on_where_the_last_one_ended(void **state)
{
    static struct chain chain;
    make_chain(*state, 300, &chain);
    _cleanup_(index_unique_free_p) struct index_unique *unique = make_unique(chain.f);
    unique->hurried_until_ms = INT64_MAX;
    uint64_t before = 0;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(asked(&chain, unique, chain.n - 1), STAYS);
        assert_true(unique->n_searches > before && unique->n_searches <= before + 16);
        before = unique->n_searches;
    }
    unique->hurried_until_ms = 0;
    assert_all(&chain, unique);
    chain_done(&chain);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unique_chains__each_is_searched_for_once_in_any_order),
        TEST(test_unique_chains__a_doubt_at_the_bottom_is_found_once),
        TEST(test_unique_chains__an_answer_has_a_bound),
        TEST(test_unique_chains__a_bound_is_of_one_owner),
        TEST(test_unique_chains__one_in_a_hurry_goes_on_where_the_last_one_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
