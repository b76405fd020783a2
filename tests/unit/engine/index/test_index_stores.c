/* Stores that an index is opened on: refused, rebuilt, made with words of a choice, given up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/index/index_state.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/scratch.h"

static void assert_refused(struct indexed_tree *f, const struct index_options *options, int error,
                           const char *words)
{
    (void)f;
    struct index *index;
    char *message = NULL;
    assert_int_equal(index_open(options, &index, &message), error);
    assert_non_null(message);
    if (!strstr(message, words) || strchr(message, '\n'))
        fail_msg("'%s' should say '%s'", message, words);
    free(message);
}

static struct index *open_offline(struct indexed_tree *f)
{
    const struct index_options options = indexed_tree_options(f);
    struct index *index;
    char *error = NULL;
    if (index_open(&options, &index, &error) < 0)
        fail_msg("%s", error);
    return index;
}

/* Only what index_open() itself has made goes, and only while nothing is in it. */
static void test_index__a_store_that_came_to_no_use_is_not_left_behind(void **state)
{
    struct indexed_tree *f = *state;
    assert_int_equal(backing_open(f->tree, &f->backing), 0);

    index_abandon(NULL, NULL);
    struct index *index = open_offline(f);
    scratch_write(scratch_path(f->store, "holder"), "this process");
    index_abandon(index, "holder");
    assert_int_equal(access(f->store, F_OK), -1);
    assert_int_equal(errno, ENOENT);

    index = open_offline(f); /* somebody's file in it */
    scratch_write(scratch_path(f->store, "mine"), "precious");
    index_abandon(index, "holder");
    assert_int_equal(unlink(scratch_path(f->store, "mine")), 0);
    assert_int_equal(rmdir(f->store), 0);

    assert_int_equal(mkdir(f->store, 0700), 0); /* the directory was there */
    index_abandon(open_offline(f), NULL);
    assert_int_equal(access(scratch_path(f->store, "policy"), F_OK), 0);

    index_abandon(open_offline(f), NULL); /* so was the store */
    assert_int_equal(access(scratch_path(f->store, "policy"), F_OK), 0);
    scratch_remove(f->store);

    index = open_offline(f); /* it was used */
    assert_int_equal(index_start(index), 0);
    assert_int_equal(index_settle(index, INDEX_LANE_ALL, 600000), 0);
    index_abandon(index, NULL);
    assert_int_equal(access(scratch_path(f->store, "policy"), F_OK), 0);
    backing_close(f->backing);
}

/* As a kinfs left it whose fingerprints or tokens were others: refused with advice, which helps;
 * parameters and secret key stay. */
static void rebuild_one_of_another_version(struct indexed_tree *f, uint32_t tokeniser,
                                           uint32_t hash)
{
    indexed_tree_start(f);
    indexed_tree_settle(f);
    uint64_t documents = n_documents(f);
    indexed_tree_stop(f);
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index *index = open_offline(f);
    struct policy policy = index->policy, other = policy, found;
    uint8_t encoded[POLICY_ENCODED_BYTES];
    other.tokeniser = tokeniser;
    other.hash = hash;
    policy_encode(&other, encoded);
    struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, TABLE_META, (struct kv_slice){"policy", 6},
                 (struct kv_slice){encoded, sizeof(encoded)});
    assert_int_equal(kv_apply(index->kv, batch), 0);
    kv_batch_free(batch);
    index_close(index, 0);
    int fd = open(scratch_path(f->store, "policy"), O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, encoded, sizeof(encoded)), sizeof(encoded));
    close(fd);
    assert_int_equal(store_identity_read_policy_file(f->store, &found), 1);

    struct index_options options = indexed_tree_options(f);
    assert_refused(f, &options, -EUCLEAN, "kinfs rebuild");
    assert_int_equal(index_rebuild(&options, NULL, NULL, NULL), 0);
    assert_int_equal(store_identity_read_policy_file(f->store, &found), 0);
    assert_true(policy_id(&found) == policy_id(&policy));
    backing_close(f->backing);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), documents);
    indexed_tree_stop(f);
    scratch_remove(f->store);
}

static void test_index__a_store_with_other_fingerprints_is_rebuilt(void **state)
{
    rebuild_one_of_another_version(*state, POLICY_TOKENISER_WORDS, 1);
}

static void test_index__a_store_with_other_tokens_is_rebuilt(void **state)
{
    rebuild_one_of_another_version(*state, 1, POLICY_HASH_GF64);
    rebuild_one_of_another_version(*state, 2, POLICY_HASH_GF64);
    rebuild_one_of_another_version(*state, POLICY_TOKENISER_WORDS + 1, POLICY_HASH_GF64);
}

static void test_index__words_are_chosen_when_a_store_is_made(void **state)
{
    struct indexed_tree *f = *state;
    struct index_status status;
    struct index *index = NULL;
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = indexed_tree_options(f);
    options.tokens = "klingon";
    assert_refused(f, &options, -EINVAL, "there are: words, words+tags");
    options.tokens = "words+tags";
    options.stopwords = "klingon";
    assert_refused(f, &options, -EINVAL, "there are: none, english");
    options.stopwords = "english";
    options.stemmer = "klingon";
    assert_refused(f, &options, -EINVAL, "english, ");
    options.stemmer = "german";
    assert_int_equal(index_open(&options, &index, NULL), 0);
    index_get_status(index, &status);
    assert_string_equal(status.tokens, "words+tags");
    assert_string_equal(status.stopwords, "english");
    assert_string_equal(status.stemmer, "german");
    assert_non_null(strstr(status.policy, " tokens=words+tags stopwords=english stemmer=german)"));
    index_close(index, 0);

    /* Chosen once: kept by what does not name them, also by a rebuild. */
    options.tokens = "words";
    options.stopwords = options.stemmer = "none";
    assert_int_equal(index_rebuild(&options, NULL, NULL, NULL), 0);
    assert_refused(f, &options, -EPROTO, "tokens=words+tags, not words");
    options.tokens = NULL;
    assert_refused(f, &options, -EPROTO, "stopwords=english, not none");
    options.stopwords = options.stemmer = NULL;
    assert_int_equal(index_open(&options, &index, NULL), 0);
    index_get_status(index, &status);
    assert_string_equal(status.stemmer, "german");
    index_close(index, 0);
    backing_close(f->backing);
}

static void test_index__a_store_of_something_else_is_refused_with_advice(void **state)
{
    struct indexed_tree *f = *state;
    char other[128];
    indexed_tree_start(f);
    indexed_tree_settle(f);
    struct index_options options = indexed_tree_options(f);
    assert_refused(f, &options, -EBUSY, "in use");
    indexed_tree_stop(f);

    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    options = indexed_tree_options(f);
    options.policy = "broder1997";
    assert_refused(f, &options, -EPROTO, "was made with policy 'default'");
    options.policy = NULL;
    options.stopwords = "english";
    assert_refused(f, &options, -EPROTO, "was made with stopwords=none, not english");
    options.stopwords = "none";
    options.stemmer = "german";
    assert_refused(f, &options, -EPROTO, "was made with stemmer=none, not german");
    options.stopwords = options.stemmer = NULL;
    options.store_path = "/proc/nowhere";
    assert_refused(f, &options, -ENOENT, "/proc/nowhere");
    options.store_path = f->store;
    options.policy = "no such thing";
    assert_refused(f, &options, -EPROTO, "policy");
    backing_close(f->backing);

    snprintf(other, sizeof(other), "%s/other", f->root);
    mkdir(other, 0755);
    assert_int_equal(backing_open(other, &f->backing), 0);
    options = indexed_tree_options(f);
    options.source = other;
    assert_refused(f, &options, -EPROTO, "is that of");
    backing_close(f->backing);
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_index__a_store_that_came_to_no_use_is_not_left_behind),
        ON_A_TREE(test_index__a_store_with_other_fingerprints_is_rebuilt),
        ON_A_TREE(test_index__a_store_with_other_tokens_is_rebuilt),
        ON_A_TREE(test_index__words_are_chosen_when_a_store_is_made),
        ON_A_TREE(test_index__a_store_of_something_else_is_refused_with_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
