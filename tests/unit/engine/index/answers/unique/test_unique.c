/* Which documents are left out for which. A document is a text of words of its family, some of them
 * changed, each of which is in five shingles: two texts with n changes between them resemble each
 * other by (596 - 5n) / (596 + 5n): 1 0.983, 2 0.967, 3 0.951, 4 0.935, 5 0.919. The second route
 * to what the index says is to compare all files in full. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "engine/index/index_state.h"
#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/fixtures/compared_fixture.h"
#include "tests/lib/fixtures/unique_fixture.h"
#include "tests/lib/share.h"

/* -- tests -- */

static void test_unique__of_equal_documents_the_oldest_stays(void **state)
{
    struct indexed_tree *f = *state;
    for (int i = 0; i < 3; i++)
        add(f, (const char *const[]){"first", "second", "third"}[i], 1, "");
    add(f, "other", 2, "");
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    assert_stands_in(f, unique, "first", "");
    assert_stands_in(f, unique, "second", "first");
    assert_stands_in(f, unique, "third", "first");
    assert_stands_in(f, unique, "other", "");
}

/* The middle one is left out for the first, and does not stand in for the last. */
static void test_unique__a_chain_is_not_followed(void **state)
{
    struct indexed_tree *f = *state;
    add(f, "a", 1, "");
    add(f, "b", 1, "af");
    add(f, "c", 1, "afkp");
    add(f, "d", 1, "afkpt");
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    assert_stands_in(f, unique, "c", "");
    assert_stands_in(f, unique, "b", "a");
    assert_stands_in(f, unique, "a", "");
    assert_stands_in(f, unique, "d", "c");
}

static void test_unique__who_stays_is_chosen(void **state)
{
    struct indexed_tree *f = *state;
    static const struct {
        enum index_representative representative;
        const char *stays;
    } choices[] = {
        {INDEX_STAYS_OLDEST, "the-oldest"},
        {INDEX_STAYS_NEWEST, "youngest"},
        {INDEX_STAYS_SHORTEST_PATH, "s"},
        {INDEX_STAYS_LARGEST, "largest-of-them"},
        {INDEX_STAYS_MOST_CENTRAL, "in-the-middle"},
    };
    add(f, "the-oldest", 1, "A");
    add(f, "s", 1, "B");
    add(f, "in-the-middle", 1, "");
    add(f, "largest-of-them", 1, "Cabd"); /* "changed" is longer than "word" */
    add(f, "youngest", 1, "D");
    settle(f);
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        _cleanup_(index_unique_free_p) struct index_unique *unique =
            make_unique(f, 0.60, choices[i].representative, NULL, 0);
        assert_stands_in(f, unique, choices[i].stays, "");
        if (choices[i].representative == INDEX_STAYS_MOST_CENTRAL)
            for (size_t j = 0; j < i; j++)
                assert_stands_in(f, unique, choices[j].stays, "in-the-middle");
    }
}

static void test_unique__who_is_preferred_or_to_be_kept_stays(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const prefer[] = {"*.tex", "/prefer*"};
    add(f, "oldest", 1, "");
    add(f, "preferred", 1, "a");
    add(f, "paper.tex", 1, "b");
    add(f, "kept", 1, "c");
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, prefer, 2);
    assert_stands_in(f, unique, "oldest", "paper.tex");
    assert_stands_in(f, unique, "preferred", "paper.tex");
    assert_stands_in(f, unique, "paper.tex", "");
    assert_stands_in(f, unique, "kept", "paper.tex");
    if (setxattr(scratch_path(f->tree, "kept"), "user.kinfs.keep", "", 0, 0) < 0) {
        assert_int_equal(errno, EOPNOTSUPP);
        return;
    }
    note(f, "kept");
    settle(f);
    assert_stands_in(f, unique, "kept", "");
    assert_stands_in(f, unique, "paper.tex", "kept");
}

static void test_unique__what_is_in_a_reference_directory_stays(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const reference[] = {"ref", "deep/er"}, *const prefer[] = {"oldest"};
    const struct index_unique_options options = {
        .near = 0.95, .prefer = prefer, .n_prefer = 1, .reference = reference, .n_reference = 2};
    assert_true(index_unique_is_reference(&options, "ref/a"));
    assert_true(index_unique_is_reference(&options, "deep/er/still/a"));
    assert_false(index_unique_is_reference(&options, "reference/a"));
    assert_false(index_unique_is_reference(&options, "ref"));
    assert_false(index_unique_is_reference(&options, "x/ref/a"));
    assert_false(index_unique_is_reference(&(struct index_unique_options){0}, "ref/a"));
    for (size_t i = 0; i < 3; i++) {
        static const char *const directories[] = {"ref", "deep", "deep/er"};
        assert_int_equal(mkdir(scratch_path(f->tree, "%s", directories[i]), 0755), 0);
    }
    add(f, "oldest", 1, "");
    write_file(f, "ref/equal", 1, "");
    write_file(f, "deep/er/equal", 1, "");
    write_file(f, "ref/version", 1, "a");
    add(f, "version", 1, "b");
    add(f, "linked", 1, "");
    assert_int_equal(link(scratch_path(f->tree, "linked"), scratch_path(f->tree, "ref/linked")), 0);
    index_rescan(f->index);
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique = NULL;
    assert_int_equal(index_unique_new(f->index, &options, &unique), 0);
    assert_stands_in(f, unique, "ref/equal", "");
    assert_stands_in(f, unique, "deep/er/equal", "");
    assert_stands_in(f, unique, "ref/version", "");
    assert_stands_in(f, unique, "ref/linked", "");
    assert_stands_in(f, unique, "linked", "");
    assert_true(index_unique_is_reference(&options, asked(f, unique, "oldest")) ||
                strcmp(asked(f, unique, "oldest"), "linked") == 0);
    assert_string_not_equal(asked(f, unique, "version"), "");
    assert_string_not_equal(asked(f, unique, "version"), "oldest");
}

static void test_unique__the_distinct_do_not_stand_in_for_each_other(void **state)
{
    struct indexed_tree *f = *state;
    add(f, "a", 1, "");
    add(f, "b", 1, "a");
    add(f, "copy", 1, "");
    settle(f);
    const struct file_key a = indexed_tree_key(f, "a"), b = indexed_tree_key(f, "b"),
                          copy = indexed_tree_key(f, "copy");
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    assert_stands_in(f, unique, "b", "a");
    assert_stands_in(f, unique, "copy", "a");
    assert_int_equal(index_set_distinct(f->index, &b, &a, true), 0);
    assert_int_equal(index_set_distinct(f->index, &a, &copy, true), 0);
    assert_int_equal(index_set_distinct(f->index, &a, &a, true), -EINVAL);
    assert_stands_in(f, unique, "b", "");
    assert_stands_in(f, unique, "copy", "");
    assert_stands_in(f, unique, "a", "");

    /* Over an edit and a rename. */
    write_file(f, "b", 1, "b");
    assert_int_equal(rename(scratch_path(f->tree, "b"), scratch_path(f->tree, "renamed")), 0);
    note(f, "renamed");
    index_note_entry(f->index, backing_root_key(f->backing), "b");
    settle(f);
    assert_stands_in(f, unique, "renamed", "");
    assert_int_equal(index_set_distinct(f->index, &a, &b, false), 0);
    assert_stands_in(f, unique, "renamed", "a");
}

static void assert_distinct_after(struct indexed_tree *f)
{
    indexed_tree_start(f);
    settle(f);
    {
        _cleanup_(index_unique_free_p) struct index_unique *unique =
            make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
        assert_stands_in(f, unique, "b", "");
        assert_stands_in(f, unique, "c", "a");
    }
    indexed_tree_stop(f);
}

static void test_unique__what_is_distinct_stays_so_over_a_rebuild_and_a_repair(void **state)
{
    struct indexed_tree *f = *state;
    char *error = NULL;
    add(f, "a", 1, "");
    add(f, "b", 1, "a");
    add(f, "c", 1, "b");
    settle(f);
    const struct file_key a = indexed_tree_key(f, "a"), b = indexed_tree_key(f, "b");
    assert_int_equal(index_set_distinct(f->index, &a, &b, true), 0);
    indexed_tree_stop(f);
    assert_distinct_after(f);

    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    const struct index_options options = indexed_tree_options(f);
    assert_int_equal(index_rebuild(&options, NULL, NULL, &error), 0);
    backing_close(f->backing);
    assert_distinct_after(f);

    /* A row that is none is told of, and gone after a repair; the other one stays. */
    indexed_tree_start(f);
    settle(f);
    for (unsigned table = TABLE_COMPARED; table <= TABLE_DISTINCT; table++) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        kv_batch_put(batch, table, (struct kv_slice){"no row", 6}, (struct kv_slice){"", 0});
        assert_int_equal(kv_apply(f->index->kv, batch), 0);
    }
    indexed_tree_stop(f);
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    const struct index_options again = indexed_tree_options(f);
    assert_int_equal(index_repair(&again, &(struct index_repair_options){0}, &error),
                     INDEX_MENDING_DERIVED);
    backing_close(f->backing);
    assert_distinct_after(f);
}

static void test_unique__what_is_not_as_it_was_sketched_is_shown(void **state)
{
    struct indexed_tree *f = *state;
    add(f, "a", 1, "");
    add(f, "b", 1, "a");
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    assert_stands_in(f, unique, "b", "a");

    /* While one of them is open for writing. */
    for (int i = 0; i < 2; i++) {
        const struct file_key key = indexed_tree_key(f, i ? "a" : "b");
        index_note_writing(f->index, 0, &key, 1);
        assert_stands_in(f, unique, "b", "");
        index_note_writing(f->index, 0, &key, -1);
        settle(f);
        assert_stands_in(f, unique, "b", "a");
    }

    /* Changed by somebody of whom nobody tells: until that has been looked at, and then by what
     * it is. */
    write_file(f, "a", 2, "");
    assert_string_equal(asked_within(f, unique, "b", 0), "");
    settle(f);
    assert_stands_in(f, unique, "b", "");
    write_file(f, "a", 1, "");
    settle(f);
    assert_stands_in(f, unique, "a", "b");
    write_file(f, "a", 2, "");
    assert_string_equal(asked_within(f, unique, "a", 0), "");

    /* One that is gone stands in for nothing. */
    write_file(f, "a", 1, "");
    settle(f);
    assert_stands_in(f, unique, "a", "b");
    assert_int_equal(unlink(scratch_path(f->tree, "b")), 0);
    assert_string_equal(asked_within(f, unique, "a", 0), "");
}

static void test_unique__a_name_that_is_no_document_s_is_shown(void **state)
{
    struct indexed_tree *f = *state;
    add(f, "a", 1, "");
    add(f, "b", 1, "");
    scratch_write(scratch_path(f->tree, "empty"), "");
    scratch_write(scratch_path(f->tree, "empty too"), "");
    note(f, "empty");
    note(f, "empty too");
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    assert_stands_in(f, unique, "b", "a");
    assert_stands_in(f, unique, "empty", "");
    assert_stands_in(f, unique, "empty too", "");
    /* All names of a document are left out together; of which the index does not know is shown. */
    assert_int_equal(link(scratch_path(f->tree, "b"), scratch_path(f->tree, "linked")), 0);
    assert_stands_in(f, unique, "linked", "");
    note(f, "linked");
    settle(f);
    assert_stands_in(f, unique, "linked", "a");
    assert_stands_in(f, unique, "b", "a");
    /* One document with two names stands in for others, and has both. */
    assert_int_equal(link(scratch_path(f->tree, "a"), scratch_path(f->tree, "a too")), 0);
    note(f, "a too");
    settle(f);
    assert_stands_in(f, unique, "a", "");
    assert_stands_in(f, unique, "a too", "");
}

/* -- against all pairs of files -- */

struct listed {
    char name[32], stand_in[32];
    double resemblance, sizes;
    bool same_content;
    uint8_t sha256[32];
    struct exact_set *set;
};

struct all {
    struct listed *files;
    size_t n;
};

static struct listed *find_file(const struct all *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->files[i].name, name) == 0)
            return &all->files[i];
    return NULL;
}

static int take(void *user, const char *path, const struct index_stand_in *stand_in)
{
    struct listed *file = find_file(user, path);
    assert_non_null(file);
    assert_string_equal(file->stand_in, "");
    snprintf(file->stand_in, sizeof(file->stand_in), "%s", stand_in->path);
    file->resemblance = stand_in->resemblance;
    file->same_content = stand_in->same_content;
    memcpy(file->sha256, stand_in->sha256, sizeof(file->sha256));
    return 0;
}

static double resemblance_of(const struct listed *a, const struct listed *b)
{
    double resemblance;
    assert_int_equal(exact_set_resemblance(a->set, b->set, &resemblance), 0);
    return resemblance;
}

static void test_unique__what_is_left_out_resembles_one_that_is_not(void **state)
{
    struct indexed_tree *f = *state;
    enum { N_FAMILIES = 12, N_VERSIONS = 8 };
    const double near = 0.93;
    const unsigned n_families = part_of(N_FAMILIES);
    struct listed files[N_FAMILIES * N_VERSIONS] = {0};
    struct all all = {files, 0};
    unsigned seed = 1;
    for (unsigned family = 0; family < n_families; family++)
        for (unsigned version = 0; version < N_VERSIONS; version++) {
            char changes[8] = "";
            for (unsigned i = 0, n = (unsigned)rand_r(&seed) % 4; i < n; i++)
                changes[i] = (char)('a' + rand_r(&seed) % 12);
            struct listed *file = &files[all.n++];
            snprintf(file->name, sizeof(file->name), "%u-%u", family, version);
            add(f, file->name, family, changes);
            int fd = open(scratch_path(f->tree, "%s", file->name), O_RDONLY | O_CLOEXEC);
            const struct word_options *words = &f->index->policy.words;
            assert_int_equal(exact_set_read(fd, NULL, 5, words, SIZE_MAX, &file->set), 0);
            close(fd);
        }
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, near, INDEX_STAYS_OLDEST, NULL, 0);
    assert_int_equal(index_unique_each(unique, &(struct index_query){.wait_ms = 60000}, take, &all),
                     0);
    size_t n_left_out = 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct listed *file = &files[i];
        assert_stands_in(f, unique, file->name, file->stand_in);
        if (!*file->stand_in)
            continue;
        const struct listed *other = find_file(&all, file->stand_in);
        n_left_out++;
        assert_string_equal(other->stand_in, "");
        assert_true(fabs(resemblance_of(file, other) - file->resemblance) < 1e-9);
        assert_true(file->resemblance >= near);
        assert_int_equal(file->same_content, exact_set_equal(file->set, other->set));
        if (file->same_content)
            assert_digest(f, file->name, file->sha256);
    }
    /* Equal ones are always found, and of others most: an estimate may be below. */
    size_t n_near = 0;
    for (size_t i = 0; i < all.n; i++)
        for (size_t j = 0; j < i && !*files[i].stand_in; j++)
            if (!*files[j].stand_in) {
                const double r = resemblance_of(&files[i], &files[j]);
                assert_true(r < 1);
                n_near += r >= near;
            }
    assert_true(n_left_out > n_families);
    assert_true(n_near <= n_families);

    /* What was compared is written down: nothing is read again. */
    uint64_t n_compared, n_again;
    n_compared = compared_count(f->index->kv);
    assert_true(n_compared > 0);
    index_unique_free(unique);
    unique = make_unique(f, near, INDEX_STAYS_OLDEST, NULL, 0);
    for (size_t i = 0; i < all.n; i++)
        files[i].stand_in[0] = '\0';
    assert_int_equal(index_unique_each(unique, &(struct index_query){.wait_ms = 60000}, take, &all),
                     0);
    n_again = compared_count(f->index->kv);
    assert_int_equal(n_compared, n_again);
    /* And stays as long as it is asked for: two generations later only that. */
    for (int i = 0; i < 2; i++) {
        compared_begin_generation(f->index->kv, geteuid());
        index_unique_free(unique);
        unique = make_unique(f, near, INDEX_STAYS_OLDEST, NULL, 0);
        for (size_t k = 0; k < all.n; k++)
            files[k].stand_in[0] = '\0';
        assert_int_equal(
            index_unique_each(unique, &(struct index_query){.wait_ms = 60000}, take, &all), 0);
    }
    for (size_t i = 0; i < all.n; i++)
        if (*files[i].stand_in && files[i].same_content)
            assert_digest(f, files[i].name, files[i].sha256);
    n_again = compared_count(f->index->kv);
    assert_in_range(n_again, 1, 2 * n_compared);
    for (size_t i = 0; i < all.n; i++)
        exact_set_free(files[i].set);
}

/* Not that of the stand-in, and read once in the life of the store. */
static void test_unique__what_is_left_out_is_described(void **state)
{
    struct indexed_tree *f = *state;
    uint8_t noted[COMPARED_DIGEST_BYTES] = "noted";
    uint64_t n;
    add(f, "a", 1, "");
    add(f, "b", 1, "");
    assert_int_equal(chmod(scratch_path(f->tree, "b"), 0640), 0);
    note(f, "b");
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    const struct index_query query = {.wait_ms = 60000};
    const struct file_key b = indexed_tree_key(f, "b");
    const struct file_key *parent = backing_root_key(f->backing);
    for (int i = 0; i < 2; i++) {
        _cleanup_(index_stand_in_done) struct index_stand_in stand_in = {0};
        struct stat st;
        assert_int_equal(index_unique_left_out(unique, parent, "b", &b, &query, &stand_in), 1);
        assert_int_equal(stat(scratch_path(f->tree, "b"), &st), 0);
        assert_int_equal(stand_in.left_out.st_ino, st.st_ino);
        assert_int_equal(stand_in.left_out.st_mode, S_IFREG | 0640);
        assert_int_equal(stand_in.left_out.st_mtim.tv_sec, st.st_mtim.tv_sec);
        assert_int_equal(stand_in.left_out.st_size, st.st_size);
        assert_true(stand_in.same_content);
        if (i == 0)
            assert_digest(f, "b", stand_in.sha256);
        else
            assert_memory_equal(stand_in.sha256, noted, sizeof(noted));

        struct file_row row;
        const struct record *record;
        assert_int_equal(catalogue_get_file(f->index->kv, &b, &row), 0);
        assert_int_equal(records_borrow(f->index->records, &row.sid, 1, &record), 0);
        assert_int_equal(compared_put_digest(f->index->kv, getuid(), record, noted), 0);
        records_return(f->index->records, &record, 1);
        n = compared_count(f->index->kv);
        assert_int_equal(n, 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)

static int teardown_stopped(void **state)
{
    struct indexed_tree *f = *state;
    f->index = NULL;
    return indexed_tree_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unique__of_equal_documents_the_oldest_stays),
        TEST(test_unique__a_chain_is_not_followed),
        TEST(test_unique__who_stays_is_chosen),
        TEST(test_unique__who_is_preferred_or_to_be_kept_stays),
        TEST(test_unique__what_is_in_a_reference_directory_stays),
        TEST(test_unique__the_distinct_do_not_stand_in_for_each_other),
        cmocka_unit_test_setup_teardown(
            test_unique__what_is_distinct_stays_so_over_a_rebuild_and_a_repair, indexed_tree_setup,
            teardown_stopped),
        TEST(test_unique__what_is_not_as_it_was_sketched_is_shown),
        TEST(test_unique__a_name_that_is_no_document_s_is_shown),
        TEST(test_unique__what_is_left_out_resembles_one_that_is_not),
        TEST(test_unique__what_is_left_out_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
