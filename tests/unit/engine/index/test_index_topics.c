/* Topics as the index keeps and tells them: those of a batch, whatever happened before. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/index/clusters/remade.h"
#include "engine/index/topics/topics_finding.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/fixtures/subjects_fixture.h"
#include "tests/lib/scratch.h"

enum { N_DOCUMENTS = 60, N_SUBJECTS = 5 };

static void write_all(struct indexed_tree *f)
{
    for (unsigned i = 0; i < N_DOCUMENTS; i++)
        write_document(f, name_of(i), i % N_SUBJECTS, 300 + draw(MOST_LENGTH - 300));
}

static struct index_topics_status topics_of(struct indexed_tree *f)
{
    struct index_topics_status status;
    assert_true(index_get_topics(f->index, &status));
    return status;
}

static struct index_topic_size topic_of(struct indexed_tree *f, const char *name, bool fine)
{
    struct file_key key = indexed_tree_key(f, name);
    struct index_topic_size topic;
    assert_int_equal(index_topic_of(f->index, &key, fine, &topic), 0);
    return topic;
}

/* Each document is in the topic that the batch finds for it, and none else is. */
static void assert_as_batch(struct indexed_tree *f)
{
    _cleanup_(topics_finding_done) struct topics_finding_task found = {.kv = f->index->kv,
                                                                       .scratch = f->root};
    assert_true(topics_of(f).current);
    assert_int_equal(topics_find(&found), 0);
    for (unsigned fine = 0; fine < 2; fine++) {
        const uint32_t *groups = fine ? found.subtopics : found.topics;
        const unsigned number =
            cluster_clustering(fine ? topics_of(f).sub_base : topics_of(f).base);
        uint64_t ids[1024] = {0};
        unsigned sizes[1024] = {0};
        assert_true(found.sids.n_numbers < 1024);
        for (size_t i = 0; i < found.sids.n_numbers; i++)
            sizes[groups[i]]++;
        for (size_t i = 0; i < found.sids.n_numbers; i++) {
            uint64_t id, size;
            assert_int_equal(living_clusters_of_in(f->index->clusters, number,
                                                   found.sids.numbers[i], &id, &size),
                             0);
            assert_int_equal(size, sizes[groups[i]] > 1 ? sizes[groups[i]] : 0);
            assert_int_equal(id != 0, sizes[groups[i]] > 1);
            if (groups[i] == i)
                ids[i] = id;
            assert_int_equal(id, ids[groups[i]]);
        }
    }
}

static void test_index_topics__are_those_of_the_batch_and_say_what_they_are_about(void **state)
{
    struct indexed_tree *f = *state;
    _cleanup_free_ struct index_topic_size *topics = NULL;
    const struct index_query query = {0};
    uint64_t n_documents = 0;
    seed = 1;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    assert_as_batch(f);
    const int64_t n = index_topics(f->index, 0, 0, &topics);
    assert_in_range(n, N_SUBJECTS, 2 * N_SUBJECTS);
    assert_int_equal(topics_of(f).topics, n);
    for (int64_t i = 0; i < n; i++) {
        _cleanup_(kin_list_done) struct kin_list members = {0};
        struct index_topic topic;
        assert_true(i == 0 || topics[i].size <= topics[i - 1].size);
        assert_int_equal(index_topic(f->index, topics[i].id, 5, &query, &topic, &members), 0);
        assert_int_equal(topic.size, topics[i].size);
        assert_int_equal(members.n_kin, topic.size);
        assert_string_equal(members.kin[0].path, topic.centre.path);
        assert_true(members.kin[0].resemblance == 1);
        const unsigned subject = (unsigned)atoi(topic.centre.path + 1) % N_SUBJECTS;
        for (size_t k = 0; k < members.n_kin; k++) {
            assert_int_equal((unsigned)atoi(members.kin[k].path + 1) % N_SUBJECTS, subject);
            assert_int_equal(topic_of(f, members.kin[k].path, false).id, topics[i].id);
            assert_true(k < 2 || members.kin[k].resemblance <= members.kin[k - 1].resemblance);
            n_documents++;
        }
        /* The words are those that the subject alone has. */
        assert_int_equal(topic.words.n, 5);
        for (size_t k = 0; k < 5; k++) {
            unsigned own = 0;
            for (unsigned j = 0; j < 40; j++)
                own += strcmp(word(1000 * (subject + 1) + j), topic.words.words[k].text) == 0;
            assert_int_equal(own, 1);
            assert_true(k == 0 || topic.words.words[k].weight <= topic.words.words[k - 1].weight);
        }
        index_topic_done(&topic);
    }
    assert_int_equal(topics_of(f).documents, n_documents);
    index_stop(f->index);
    assert_right(f, true);
}

static void test_index_topics__follow_what_happens_and_keep_their_ids(void **state)
{
    struct indexed_tree *f = *state;
    uint64_t ids[N_SUBJECTS];
    seed = 2;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    for (unsigned i = 0; i < N_SUBJECTS; i++) {
        ids[i] = topic_of(f, name_of(i + 20), false).id;
        assert_true(ids[i] != 0);
    }
    /* Renamed: it is the same document. */
    assert_int_equal(rename(scratch_path(f->tree, "d20"), scratch_path(f->tree, "moved")), 0);
    note_gone(f, "moved");
    note_gone(f, "d20");
    assert_int_equal(topic_of(f, "moved", false).id, ids[0]);
    assert_true(topics_of(f).current);
    /* Removed and rewritten, as one of another subject: not of now until made anew. */
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(unlink(scratch_path(f->tree, "%s", name_of(i))), 0);
        note_gone(f, name_of(i));
    }
    write_document(f, "d40", 1, 600);
    note_gone(f, "d40");
    indexed_tree_settle(f);
    assert_as_batch(f);
    assert_int_equal(topic_of(f, "d40", false).id, ids[1]);
    for (unsigned i = 0; i < N_SUBJECTS; i++)
        assert_int_equal(topic_of(f, i ? name_of(i + 20) : "moved", false).id, ids[i]);
    indexed_tree_stop(f);
    open_with(f, INDEX_TOPICS_AS_STORED);
    assert_as_batch(f);
    for (unsigned i = 0; i < N_SUBJECTS; i++)
        assert_int_equal(topic_of(f, i ? name_of(i + 20) : "moved", false).id, ids[i]);
}

/* Not made at all, one of two made, stopped while documents come: the next start makes them. */
static void test_index_topics__are_made_after_an_end_at_any_time(void **state)
{
    struct indexed_tree *f = *state;
    char *error = NULL;
    seed = 3;
    write_all(f);
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(backing_open(f->tree, &f->backing), 0);
        struct index_options options = indexed_tree_options(f);
        options.topics = INDEX_TOPICS_CONTENT;
        assert_int_equal(index_open(&options, &f->index, &error), 0);
        assert_int_equal(index_start(f->index), 0);
        usleep(i * 15000);
        indexed_tree_stop(f);
        write_document(f, name_of(i), i % N_SUBJECTS, 400);
    }
    open_with(f, INDEX_TOPICS_AS_STORED);
    assert_as_batch(f);
    index_stop(f->index);
    for (size_t i = 0; i < f->index->named.n_wanted; i++) {
        assert_int_equal(remade_changed(f->index->named.wanted[i].remade), 0);
        assert_false(topics_of(f).current);
        indexed_tree_stop(f);
        open_with(f, INDEX_TOPICS_AS_STORED);
        assert_as_batch(f);
        index_stop(f->index);
        assert_right(f, true);
    }
}

/* A store that has been moved has no place for scratch files. */
static void stay_and_say_why(struct indexed_tree *f, unsigned kind)
{
    seed = 8;
    write_all(f);
    open_with(f, kind);
    const uint64_t id = topic_of(f, "d01", false).id;
    _cleanup_free_ char *moved = strdup(scratch_path(f->root, "moved"));
    assert_int_equal(rename(f->store, moved), 0);
    write_document(f, "d00", 1, 600);
    note_gone(f, "d00");
    indexed_tree_settle(f);
    assert_false(topics_of(f).current);
    assert_int_equal(topics_of(f).error, -ENOENT);
    assert_int_equal(topic_of(f, "d01", false).id, id);
    assert_int_equal(rename(moved, f->store), 0);
    indexed_tree_settle(f);
    assert_int_equal(topics_of(f).error, 0);
    assert_as_batch(f);
    assert_int_equal(topic_of(f, "d00", false).id, topic_of(f, "d01", false).id);
}

static void test_index_topics__that_cannot_be_made_stay_and_say_why(void **state)
{
    stay_and_say_why(*state, INDEX_TOPICS_CONTENT);
}

/* Those of what others say wait for lists, which cannot be made either. */
static void test_index_topics__that_wait_for_lists_say_why(void **state)
{
    stay_and_say_why(*state, INDEX_TOPICS_BOTH);
}

static enum index_right may_read_all(void *user, const char *path, const struct file_key *key)
{
    (void)user, (void)path, (void)key;
    return INDEX_ALLOWED;
}

static void test_index_topics__are_told_nobody_who_may_not_read_everything(void **state)
{
    struct indexed_tree *f = *state;
    const struct index_query query = {.may_read = may_read_all};
    struct index_topic_words words;
    struct index_topic topic;
    struct cluster_info info;
    seed = 4;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    const uint64_t id = topic_of(f, "d00", false).id;
    struct file_key key = indexed_tree_key(f, "d00");
    assert_true(id != 0);
    assert_int_equal(index_topic(f->index, id, 5, &query, &topic, NULL), -EACCES);
    assert_int_equal(index_document_words(f->index, &key, 5, &query, &words), -EACCES);
    assert_int_equal(index_cluster(f->index, id, &query, &info, NULL), -ENOENT);
    assert_int_equal(index_readable_cluster(f->index, &key, topics_of(f).base, &query, &info, NULL),
                     -ENOENT);
}

static void test_index_topics__are_no_clustering_that_anybody_names(void **state)
{
    struct indexed_tree *f = *state;
    struct index_clustering_status clusterings[INDEX_CLUSTERINGS_MAX];
    struct index_clustering own[INDEX_CLUSTERINGS_MAX];
    _cleanup_free_ struct index_topic_size *topics = NULL;
    struct index_topics_status status;
    char *error = NULL;
    seed = 5;
    write_all(f);
    open_with(f, INDEX_TOPICS_AS_STORED);
    assert_false(index_get_topics(f->index, &status));
    assert_int_equal(index_topics(f->index, 0, 0, &topics), -EOPNOTSUPP);
    indexed_tree_stop(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    assert_as_batch(f);
    assert_int_equal(index_get_clusterings(f->index, clusterings), 0);
    assert_int_equal(index_find_clustering(f->index, ".topics", &clusterings[0]), -ENOENT);
    assert_int_equal(index_clustering_parse(".topics:topics:0.1", &own[0], &error), -EINVAL);
    free(error);
    indexed_tree_stop(f);
    /* As many as there may be stand beside them. */
    for (unsigned i = 0; i < INDEX_CLUSTERINGS_MAX; i++) {
        char text[32];
        snprintf(text, sizeof(text), "topics%u:components:0.%u", i, i + 1);
        assert_int_equal(index_clustering_parse(text, &own[i], &error), 0);
    }
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = indexed_tree_options(f);
    options.clusterings = own;
    options.n_clusterings = INDEX_CLUSTERINGS_MAX;
    assert_int_equal(index_open(&options, &f->index, &error), 0);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_as_batch(f);
    assert_int_equal(index_get_clusterings(f->index, clusterings), INDEX_CLUSTERINGS_MAX);
    for (unsigned i = 0; i < INDEX_CLUSTERINGS_MAX; i++)
        assert_string_equal(clusterings[i].clustering.name, own[i].name);
    index_stop(f->index);
    assert_int_equal(assert_right(f, true).counts.n_named, CLUSTERINGS_MOST);
    indexed_tree_stop(f);
    /* They go with the words. */
    open_with(f, INDEX_TOPICS_OFF);
    assert_false(index_get_topics(f->index, &status));
    index_stop(f->index);
    assert_int_equal(assert_right(f, true).counts.n_named, INDEX_CLUSTERINGS_MAX);
}

static void test_index_topics__words_are_those_of_the_document(void **state)
{
    struct indexed_tree *f = *state;
    const struct index_query query = {0};
    struct index_topic_words words;
    seed = 6;
    write_all(f);
    scratch_write(scratch_path(f->tree, "a"),
                  "Installing INSTALLED_FILES: to install the files, 17 files; gatherings gather");
    scratch_write(scratch_path(f->tree, "b"), "installs gathering");
    scratch_write(scratch_path(f->tree, "c"), "the 17");
    open_with(f, INDEX_TOPICS_CONTENT);
    struct file_key key = indexed_tree_key(f, "a");
    assert_int_equal(index_document_words(f->index, &key, 10, &query, &words), 0);
    assert_int_equal(words.n, 2); /* file is a word of one document alone */
    assert_string_equal(words.words[0].text, "install");
    assert_string_equal(words.words[1].text, "gather");
    assert_true(words.words[0].weight + words.words[1].weight == 100);
    index_topic_words_done(&words);
    assert_int_equal(index_document_words(f->index, &key, 1, &query, &words), 0);
    assert_int_equal(words.n, 1);
    index_topic_words_done(&words);
    key = indexed_tree_key(f, "c");
    assert_int_equal(index_document_words(f->index, &key, 10, &query, &words), 0);
    assert_int_equal(words.n, 0);
    index_topic_words_done(&words);
    assert_int_equal(
        index_document_words(f->index, backing_root_key(f->backing), 10, &query, &words), -ENOENT);
}

static void test_index_topics__a_document_that_is_in_another_topic_is_found(void **state)
{
    struct indexed_tree *f = *state;
    seed = 7;
    write_all(f);
    open_with(f, INDEX_TOPICS_CONTENT);
    index_stop(f->index);
    const unsigned number = cluster_clustering(topics_of(f).base);
    struct move_plan plan = {.a_step = 1};
    struct file_key key = indexed_tree_key(f, "d00");
    struct file_row row;
    assert_int_equal(catalogue_get_file(f->index->kv, &key, &row), 0);
    assert_int_equal(number_vector_push(&plan.sids, row.sid), 0);
    plan.groups = calloc(1, sizeof(*plan.groups));
    assert_int_equal(move_plan_make(&plan, f->index->kv, number, NULL), 0);
    while (living_clusters_remake(f->index->clusters, number, &plan) > 0)
        ;
    move_plan_done(&plan);
    assert_int_equal(topic_of(f, "d00", false).id, 0);
    struct report report = check_now(f, true);
    assert_int_equal(report.counts.findings, 1);
    assert_non_null(strstr(report.first, "is in no cluster of clustering"));
}

#define with_tree(test) cmocka_unit_test_setup_teardown(test, setup, indexed_tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_tree(test_index_topics__are_those_of_the_batch_and_say_what_they_are_about),
        with_tree(test_index_topics__follow_what_happens_and_keep_their_ids),
        with_tree(test_index_topics__are_made_after_an_end_at_any_time),
        with_tree(test_index_topics__that_cannot_be_made_stay_and_say_why),
        with_tree(test_index_topics__that_wait_for_lists_say_why),
        with_tree(test_index_topics__are_told_nobody_who_may_not_read_everything),
        with_tree(test_index_topics__are_no_clustering_that_anybody_names),
        with_tree(test_index_topics__words_are_those_of_the_document),
        with_tree(test_index_topics__a_document_that_is_in_another_topic_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
