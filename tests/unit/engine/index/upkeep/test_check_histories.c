/* Checking a store that came to be by any history: nothing is wrong in it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "engine/index/members/cluster_aliases.h"
#include "engine/index/index_state.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/indexed_tree.h"

/* Entries below the root of a tree, and distinct regular files. */
static void count_tree(const char *path, uint64_t *n_names, uint64_t *n_links_more)
{
    DIR *dir = opendir(path);
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const char *below = scratch_path(path, "%s", entry->d_name);
        char copy[512];
        snprintf(copy, sizeof(copy), "%s", below);
        assert_int_equal(lstat(copy, &st), 0);
        ++*n_names;
        if (S_ISDIR(st.st_mode))
            count_tree(copy, n_names, n_links_more);
        else
            *n_links_more += st.st_nlink;
    }
    closedir(dir);
}

static unsigned random_below(uint64_t *state, unsigned n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((*state >> 33) % n);
}

static void note(struct indexed_tree *f, const char *directory, const char *name)
{
    struct file_key key;
    if (backing_key_at(f->backing, backing_root_fd(f->backing), directory, &key) == 0)
        index_note_entry(f->index, &key, name);
}

/* Create, rewrite, rename, link or remove something, and say so as the mount does. */
static void change_something(struct indexed_tree *f, uint64_t *random)
{
    char directory[32], name[32], other_directory[32], other[32], path[256], other_path[256];
    struct stat st;
    snprintf(directory, sizeof(directory), "d%u", random_below(random, 4));
    snprintf(other_directory, sizeof(other_directory), "d%u", random_below(random, 4));
    snprintf(name, sizeof(name), "f%u", random_below(random, 12));
    snprintf(other, sizeof(other), "f%u", random_below(random, 12));
    snprintf(path, sizeof(path), "%s/%s/%s", f->tree, directory, name);
    snprintf(other_path, sizeof(other_path), "%s/%s/%s", f->tree, other_directory, other);
    (void)mkdir(scratch_path(f->tree, "%s", directory), 0755);
    (void)mkdir(scratch_path(f->tree, "%s", other_directory), 0755);
    note(f, "", directory);
    note(f, "", other_directory);
    switch (random_below(random, 9)) {
    case 0: (void)unlink(path); break;
    case 1: (void)rename(path, other_path); break;
    case 2: (void)link(path, other_path); break;
    case 3:
        if (random_below(random, 4) == 0) {
            char moved[256];
            snprintf(moved, sizeof(moved), "%s/%s", f->tree, other_directory);
            snprintf(path, sizeof(path), "%s/%s", f->tree, directory);
            if (rename(path, moved) < 0) /* not over one with entries: into it */
                (void)rename(path, scratch_path(f->tree, "%s/%s", other_directory, directory));
            note(f, other_directory, directory);
        }
        break;
    case 4: scratch_write(path, random_below(random, 2) ? "" : "two words"); break;
    default: {
        unsigned family = random_below(random, 5);
        char *text =
            scratch_text(family, random_below(random, 30), 400, random_below(random, 3) * 6);
        char *more = scratch_text((family + 1) % 5, random_below(random, 30), 400, 6);
        char *both = NULL;
        assert_true(asprintf(&both, "%s %s", text, more) > 0);
        scratch_write(path, random_below(random, 8) ? text : both); /* makes two clusters one */
        free(text);
        free(more);
        free(both);
    }
    }
    note(f, directory, name);
    note(f, other_directory, other);
    note(f, "", directory);
    note(f, "", other_directory);
    struct file_key key;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
        backing_key_at(f->backing, AT_FDCWD, path, &key) == 0)
        index_note_content(f->index, &key);
}

static int count_alias(void *user, uint64_t alias, uint64_t cluster)
{
    (void)alias, (void)cluster;
    ++*(uint64_t *)user;
    return 0;
}

/* D1: names and links are a bijection after whatever is created, renamed and removed; and so is all
 * the rest as it should be. The tree itself says how many there are. */
static void assert_right_over_history(struct indexed_tree *f, unsigned n_changes)
{
    uint64_t random = 11, n_aliases = 0;
    /* Whether clusters become one is decided by when each change comes: a history without goes on.
     */
    for (unsigned i = 1; i <= n_changes || (n_aliases == 0 && i <= 5 * n_changes); i++) {
        change_something(f, &random);
        if (i % 60)
            continue;
        if (i % 120) /* in the midst of its work */
            (void)assert_right(f, false);
        index_rescan(f->index);
        indexed_tree_settle(f);
        struct report report = assert_right(f, true);
        uint64_t n_names = 0, n_links = 0;
        count_tree(f->tree, &n_names, &n_links);
        assert_int_equal(report.counts.names, n_names);
        assert_int_equal(report.counts.links, n_names);
        assert_int_equal(report.counts.records, report.counts.documents);
        assert_int_equal(report.counts.classes, report.counts.documents);
        assert_int_equal(report.counts.intents, 0);
        struct index_status status;
        index_get_status(f->index, &status);
        assert_int_equal(report.counts.documents, status.documents);
        assert_int_equal(report.counts.clusters, status.clusters);
        assert_int_equal(report.counts.members, status.clustered_documents);
        assert_int_equal(cluster_aliases_each(f->index->kv, count_alias, &n_aliases), 0);
    }
    assert_true(n_aliases > 0); /* clusters became one */
}

static void test_check__nothing_is_wrong_after_any_history(void **state)
{
    assert_right_over_history(*state, 600);
}

static void test_check__nothing_is_wrong_with_named_clusterings_either(void **state)
{
    open_with_clusterings(*state);
    assert_right_over_history(*state, 240);
}

/* Sids on both sides of the first 2^28, up to which more is kept in memory. */
static void test_check__any_number_of_sids_may_have_been_given(void **state)
{
    struct indexed_tree *f = *state;
    f->index->next_sid = f->index->sid_end = (1 << 28) - 5;
    write_some(f);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_check__nothing_is_wrong_after_any_history),
        CASE(test_check__nothing_is_wrong_with_named_clusterings_either),
        CASE(test_check__any_number_of_sids_may_have_been_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
