/* Rights and contents that change while an answer is made. A document holds a secret that another
 * one, of the asker's, guesses; or a text that nothing resembles. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/fixtures/indexed_tree.h"

enum { PUBLIC, SECRET };

struct world {
    struct indexed_tree *tree;
    struct file_key asked, guess;
    bool is_readable;                /* the document asked about */
    unsigned n_paths;                /* that were asked for */
    bool is_listed;                  /* it can be read by a name that can be listed */
    bool (*happens)(struct world *); /* as soon as the right is asked for, once; says what it is */
    struct index_query query;
};

/* -- the documents: pages of one family, and a text of another -- */

static void write_page(struct world *w, const char *name, unsigned version)
{
    char *text = scratch_text(SECRET, version, 600, version), *page;
    assert_true(asprintf(&page, "<html><body>%s</body></html>", text) > 0);
    scratch_write(scratch_path(w->tree->tree, "%s", name), page);
    free(page);
    free(text);
}

static void hold(struct world *w, unsigned what)
{
    if (what == SECRET)
        write_page(w, "asked", 1);
    else
        indexed_tree_write(w->tree, "asked", PUBLIC, 0, 0);
    index_note_entry(w->tree->index, backing_root_key(w->tree->backing), "asked");
    w->asked = indexed_tree_key(w->tree, "asked");
    index_note_content(w->tree->index, &w->asked);
    indexed_tree_settle(w->tree);
}

static enum index_right right_of(bool is_allowed)
{
    return is_allowed ? INDEX_ALLOWED : INDEX_FILE_REFUSED;
}

static enum index_right may_read(void *user, const char *path, const struct file_key *key)
{
    struct world *w = user;
    bool (*happens)(struct world *) = w->happens;
    (void)key;
    if (strcmp(path, "asked") != 0)
        return INDEX_ALLOWED;
    w->happens = NULL;
    return right_of(happens ? happens(w) : w->is_readable && w->is_listed);
}

static enum index_right may_ask(void *user, const char *path, const struct file_key *key)
{
    struct world *w = user;
    return w->happens || strcmp(path, "asked") != 0 ? may_read(w, path, key)
                                                    : right_of(w->is_readable);
}

static void world_init(struct world *w, void **state)
{
    *w = (struct world){.tree = *state, .is_listed = true};
    w->query =
        (struct index_query){.threshold = 0.3, .may_read = may_read, .may_ask = may_ask, .user = w};
    write_page(w, "guess", 2);
    index_note_entry(w->tree->index, backing_root_key(w->tree->backing), "guess");
    w->guess = indexed_tree_key(w->tree, "guess");
}

/* -- answers: whether one tells of the secret -- */

static bool has_kin(int r, struct kin_list *list)
{
    if (r < 0)
        return false;
    const bool has = list->n_kin > 0;
    kin_list_done(list);
    return has;
}

static bool similar_tells(struct world *w)
{
    struct kin_list list;
    return has_kin(index_similar(w->tree->index, &w->asked, &w->query, &list), &list);
}

static bool relation_tells(struct world *w, enum index_relation relation)
{
    struct index_query query = w->query;
    struct kin_list list;
    query.relation = relation;
    return has_kin(index_similar(w->tree->index, &w->asked, &query, &list), &list);
}

static bool containing_tells(struct world *w)
{
    return relation_tells(w, INDEX_WHOLES);
}

static bool contained_tells(struct world *w)
{
    return relation_tells(w, INDEX_PARTS);
}

static bool has_kin_tells(struct world *w)
{
    return index_has_kin(w->tree->index, &w->asked, &w->query) == 1;
}

static bool comparison_tells(struct world *w)
{
    struct comparison out;
    return index_compare(w->tree->index, &w->asked, &w->guess, &w->query, &out) == 0 &&
           out.resemblance > 0.5;
}

static bool reverse_comparison_tells(struct world *w)
{
    struct comparison out;
    return index_compare(w->tree->index, &w->guess, &w->asked, &w->query, &out) == 0 &&
           out.resemblance > 0.5;
}

/* That it has been looked at tells of what it holds, too: not all is sketched. */
static bool document_tells(struct world *w)
{
    struct document_info info;
    if (index_document(w->tree->index, &w->asked, &w->query, &info) < 0)
        return false;
    const bool may = w->is_readable && (w->is_listed || w->query.may_ask);
    return strcmp(info.type, "html") == 0 || (!may && info.state != DOCUMENT_PENDING);
}

static bool cluster_of(struct world *w, const struct file_key *file)
{
    struct cluster_info info;
    if (index_readable_cluster(w->tree->index, file, 0, &w->query, &info, NULL) < 0)
        return false;
    cluster_info_done(&info);
    return true;
}

static bool cluster_tells(struct world *w)
{
    return cluster_of(w, &w->asked);
}

static bool cluster_of_guess_tells(struct world *w)
{
    return cluster_of(w, &w->guess);
}

static bool clusters_tell(struct world *w)
{
    _cleanup_(index_readable_clusters_free_p) struct index_readable_clusters *clusters = NULL;
    const uint64_t *ids;
    assert_int_equal(index_readable_clusters_new(w->tree->index, 0, &clusters), 0);
    while (index_readable_clusters_step(clusters, &w->query) > 0)
        ;
    return index_readable_clusters_ids(clusters, &ids) > 0;
}

static bool similar_to_guess_tells(struct world *w)
{
    struct kin_list list;
    return has_kin(index_similar(w->tree->index, &w->guess, &w->query, &list), &list);
}

static bool never(void *user)
{
    (void)user;
    return false;
}

/* A document outside of the tree is among its own answers where it is a copy of one in it. */
static bool question_tells(struct world *w)
{
    _cleanup_(index_foreign_free_p) struct index_foreign *foreign = NULL;
    struct kin_list list;
    int fd = open(scratch_path(w->tree->tree, "guess"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(index_read_foreign(w->tree->index, fd, INDEX_PARTS, never, NULL, &foreign), 0);
    close(fd);
    assert_int_equal(index_foreign_similar(foreign, &w->query, &list), 0);
    const bool tells = list.n_kin > 1;
    kin_list_done(&list);
    return tells;
}

static const struct answer {
    const char *name;
    bool (*tells)(struct world *w);
    bool is_of_asked; /* the document is asked about; else it is shown */
} answers[] = {
    {"similar", similar_tells, true},
    {"containing", containing_tells, true},
    {"contained", contained_tells, true},
    {"has_kin", has_kin_tells, true},
    {"compare", comparison_tells, true},
    {"compare, the other", reverse_comparison_tells, true},
    {"document", document_tells, true},
    {"cluster", cluster_tells, false},
    {"cluster of another", cluster_of_guess_tells, false},
    {"clusters", clusters_tell, false},
    {"similar to another", similar_to_guess_tells, false},
    {"question", question_tells, false},
};
enum { N_ANSWERS = sizeof(answers) / sizeof(answers[0]) };

static void expect_tells(struct world *w, const struct answer *answer, bool expected)
{
    if (answer->tells(w) != expected)
        fail_msg("%s: %s of the secret", answer->name, expected ? "nothing" : "tells");
}

/* -- what happens -- */

static bool is_published(struct world *w)
{
    hold(w, PUBLIC);
    return w->is_readable = true;
}

static bool is_closed(struct world *w)
{
    const bool was_readable = w->is_readable;
    w->is_readable = false;
    hold(w, SECRET);
    return was_readable;
}

/* Each answer, of a document that holds something when it begins, with what happens while it is
 * made; once with time to look again, once without. */
static void expect_each_tells_nothing(struct world *w, unsigned held, bool is_readable,
                                      bool (*happens)(struct world *))
{
    for (unsigned i = 0; i < 2 * N_ANSWERS; i++) {
        w->query.wait_ms = i % 2 ? 60000 : 0;
        hold(w, held);
        w->is_readable = is_readable;
        w->happens = happens;
        expect_tells(w, &answers[i / 2], false);
        assert_true(!w->happens || held == PUBLIC); /* which nobody asks about by the guess */
    }
}

static void test_answer__tells_of_what_can_be_read(void **state)
{
    struct world w;
    world_init(&w, state);
    hold(&w, SECRET);
    w.is_readable = true;
    for (unsigned i = 0; i < N_ANSWERS; i++)
        expect_tells(&w, &answers[i], true);
}

/* The right that there was when the question came is not asked for here at all: it was one to what
 * the document held then. */
static void test_answer__tells_nothing_of_what_cannot_be_read_when_it_is_made(void **state)
{
    struct world w;
    world_init(&w, state);
    expect_each_tells_nothing(&w, SECRET, false, NULL);
}

/* The record is loaded while the document holds the secret, the right asked for when it holds it
 * no more. */
static void test_answer__tells_nothing_of_what_was_replaced_and_published(void **state)
{
    struct world w;
    world_init(&w, state);
    expect_each_tells_nothing(&w, SECRET, false, is_published);
}

static void test_answer__tells_nothing_of_what_was_closed_and_written(void **state)
{
    struct world w;
    world_init(&w, state);
    expect_each_tells_nothing(&w, PUBLIC, true, is_closed);
}

static void test_answer__is_of_what_is_asked_about_and_not_listed(void **state)
{
    struct world w;
    world_init(&w, state);
    hold(&w, SECRET);
    w.is_readable = true;
    w.is_listed = false;
    for (unsigned i = 0; i < N_ANSWERS; i++)
        expect_tells(&w, &answers[i], answers[i].is_of_asked);
}

/* A query that says nothing of what is asked about needs no lesser right for it. */
static void test_answer__asks_for_one_right_where_there_is_one(void **state)
{
    struct world w;
    world_init(&w, state);
    w.query.may_ask = NULL;
    hold(&w, SECRET);
    w.is_readable = true;
    w.is_listed = false;
    for (unsigned i = 0; i < N_ANSWERS; i++)
        expect_tells(&w, &answers[i], false);
}

static bool nobody_waits(void *user)
{
    (void)user;
    return true;
}

static void test_answer__ends_when_nobody_waits_for_it(void **state)
{
    struct world w;
    struct kin_list list;
    world_init(&w, state);
    hold(&w, SECRET);
    w.is_readable = true;
    w.query.stop = nobody_waits;
    struct index *index = w.tree->index;
    for (int relation = INDEX_RESEMBLES; relation <= INDEX_PARTS; relation++) {
        w.query.relation = relation;
        assert_int_equal(index_similar(index, &w.asked, &w.query, &list), -EINTR);
    }
    w.query.relation = INDEX_RESEMBLES;
    assert_int_equal(index_has_kin(index, &w.asked, &w.query), -EINTR);
    struct comparison comparison;
    assert_int_equal(index_compare(index, &w.asked, &w.guess, &w.query, &comparison), -EINTR);
    struct cluster_info info;
    assert_int_equal(index_readable_cluster(index, &w.asked, 0, &w.query, &info, NULL), -EINTR);
}

/* Equal documents, which the one that guesses resembles. */
static void write_copies(struct world *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof(name), "copy%03u", i);
        write_page(w, name, 1);
        index_note_entry(w->tree->index, backing_root_key(w->tree->backing), name);
    }
    indexed_tree_settle(w->tree);
}

/* No more are kept than are wanted. */
static void test_answer__takes_as_much_memory_as_it_may(void **state)
{
    enum { N = 300 };
    struct world w;
    struct kin_list list;
    world_init(&w, state);
    struct index *index = w.tree->index;
    write_copies(&w, N);
    w.query.bytes_max = (N - 30) * (sizeof(struct kin) + sizeof("copy000"));
    assert_int_equal(index_similar(index, &w.guess, &w.query, &list), -EDQUOT);
    for (unsigned i = 0; i < 2; i++) {
        w.query.limit = i + 1;
        w.query.counts = i;
        assert_int_equal(index_similar(index, &w.guess, &w.query, &list), 0);
        assert_int_equal(list.n_kin, w.query.limit);
        assert_string_equal(list.kin[i].path, i ? "copy001" : "copy000");
        assert_int_equal(list.n_bytes, (i + 1) * (sizeof(struct kin) + sizeof("copy000")));
        assert_true(!i || list.n_found == N);
        kin_list_done(&list);
    }
    w.query.limit = SIZE_MAX;
    assert_int_equal(index_similar(index, &w.guess, &w.query, &list), -EDQUOT);
    w.query.bytes_max = 0;
    assert_int_equal(index_similar(index, &w.guess, &w.query, &list), 0);
    assert_int_equal(list.n_kin, N);
    kin_list_done(&list);
}

/* What resembles it less is counted, too. */
static void test_answer__counts_what_is_beyond_the_limit(void **state)
{
    enum { N = 8 };
    struct world w;
    struct kin_list list;
    world_init(&w, state);
    for (unsigned i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof(name), "other%u", i);
        write_page(&w, name, 3 + i);
        index_note_entry(w.tree->index, backing_root_key(w.tree->backing), name);
    }
    indexed_tree_settle(w.tree);
    w.query.threshold = 0.05;
    w.query.limit = 1;
    w.query.counts = true;
    for (unsigned all = 0; all < 2; all++) {
        w.query.may_read = all ? NULL : may_read;
        assert_int_equal(index_similar(w.tree->index, &w.guess, &w.query, &list), 0);
        assert_int_equal(list.n_kin, 1);
        assert_int_equal(list.n_found, N);
        kin_list_done(&list);
    }
}

static bool may_open_none(void *user, int fd)
{
    (void)user;
    (void)fd;
    return false;
}

static enum index_right count_paths(void *user, const char *path, const struct file_key *key)
{
    struct world *w = user;
    (void)path;
    (void)key;
    w->n_paths++;
    return INDEX_ALLOWED;
}

/* What cannot be read by any path has none looked at, however long they are. */
static void test_answer__asks_for_no_path_of_what_cannot_be_read(void **state)
{
    struct world w;
    struct kin_list list;
    world_init(&w, state);
    hold(&w, SECRET);
    w.query.may_read = count_paths;
    w.query.may_ask = NULL;
    assert_int_equal(index_similar(w.tree->index, &w.guess, &w.query, &list), 0);
    assert_int_equal(list.n_kin, 1);
    kin_list_done(&list);
    assert_int_equal(w.n_paths, 2); /* of the one that is asked about, and of the other */
    w.query.may_open = may_open_none;
    assert_int_equal(index_similar(w.tree->index, &w.guess, &w.query, &list), -ENOENT);
    assert_int_equal(w.n_paths, 2);
}

enum { FIRST_READABLE = 400 };

static enum index_right count_late_paths(void *user, const char *path, const struct file_key *key)
{
    (void)count_paths(user, path, key);
    return right_of(strncmp(path, "copy", 4) != 0 || atoi(path + 4) >= FIRST_READABLE);
}

static void test_answer__of_very_many_equal_documents_looks_at_some(void **state)
{
    enum { N = 1600, LIMIT = 5, LOOKED_AT = 1024 };
    struct world w;
    struct kin_list list;
    world_init(&w, state);
    struct index *index = w.tree->index;
    write_copies(&w, N);
    w.query.limit = LIMIT;
    w.query.may_read = count_paths;
    w.query.may_ask = NULL;
    assert_int_equal(index_similar(index, &w.guess, &w.query, &list), 0);
    assert_int_equal(list.n_kin, LIMIT);
    assert_int_equal(w.n_paths, 1 + LOOKED_AT);
    kin_list_done(&list);

    /* Wherever those that can be read are among them. */
    w.query.may_read = count_late_paths;
    assert_int_equal(index_similar(index, &w.guess, &w.query, &list), 0);
    assert_int_equal(list.n_kin, LIMIT);
    for (unsigned i = 0; i < LIMIT; i++)
        assert_in_range(atoi(list.kin[i].path + 4), FIRST_READABLE, N - 1);
    kin_list_done(&list);
}

/* As a directory of them is listed. */
static void test_answer__of_many_that_are_equal_the_hidden_ones_are_passed_over_once(void **state)
{
    enum { N = 600 };
    struct world w;
    struct index_equal equal = {0};
    world_init(&w, state);
    write_copies(&w, N);
    w.query.may_read = count_late_paths;
    w.query.may_ask = NULL;
    w.query.equal = &equal;
    for (unsigned i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof(name), "copy%03u", i);
        struct file_key key = indexed_tree_key(w.tree, name);
        assert_int_equal(index_has_kin(w.tree->index, &key, &w.query), i >= FIRST_READABLE);
    }
    /* Of each itself and another; and all, at most twice: the last one's next is the first. */
    assert_in_range(w.n_paths, 2 * N - FIRST_READABLE, 2 * N + 2 * N);
    /* Where it is not the same class that is asked about, nothing is known. */
    assert_int_equal(index_has_kin(w.tree->index, &w.guess, &w.query), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_answer__tells_of_what_can_be_read),
        TEST(test_answer__tells_nothing_of_what_cannot_be_read_when_it_is_made),
        TEST(test_answer__tells_nothing_of_what_was_replaced_and_published),
        TEST(test_answer__tells_nothing_of_what_was_closed_and_written),
        TEST(test_answer__is_of_what_is_asked_about_and_not_listed),
        TEST(test_answer__asks_for_one_right_where_there_is_one),
        TEST(test_answer__ends_when_nobody_waits_for_it),
        TEST(test_answer__asks_for_no_path_of_what_cannot_be_read),
        TEST(test_answer__takes_as_much_memory_as_it_may),
        TEST(test_answer__counts_what_is_beyond_the_limit),
        TEST(test_answer__of_very_many_equal_documents_looks_at_some),
        TEST(test_answer__of_many_that_are_equal_the_hidden_ones_are_passed_over_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
