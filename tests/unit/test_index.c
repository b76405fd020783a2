/* The index as a whole, on a real tree and a real store. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/index/index_private.h"
#include "engine/sketch/documents/exact_set.h"
#include "tests/lib/scratch.h"

struct fixture {
    char root[64];
    char tree[80], store[80];
    struct backing *backing;
    struct index *index;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    scratch_make(f->root);
    snprintf(f->tree, sizeof(f->tree), "%s/tree", f->root);
    snprintf(f->store, sizeof(f->store), "%s/store", f->root);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    *state = f;
    return 0;
}

static struct index_options options_of(struct fixture *f)
{
    return (struct index_options){
        .backing = f->backing, .source = f->tree, .store_path = f->store, .create = true};
}

static void start(struct fixture *f)
{
    char *error = NULL;
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = options_of(f);
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    assert_int_equal(index_start(f->index), 0);
}

static void settle(struct fixture *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 600000), 0);
}

static void stop(struct fixture *f)
{
    index_close(f->index, 5000);
    backing_close(f->backing);
    f->index = NULL;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    if (f->index)
        stop(f);
    scratch_remove(f->root);
    free(f);
    return 0;
}

static void write_text(struct fixture *f, const char *name, unsigned family, unsigned version,
                       unsigned edits)
{
    char *text = scratch_text(family, version, 600, edits);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static struct file_key key_of(struct fixture *f, const char *name)
{
    struct file_key key;
    assert_int_equal(backing_key_at(f->backing, backing_root_fd(f->backing), name, &key), 0);
    return key;
}

/* What a mount does after close(2). */
static void note_written(struct fixture *f, const char *name)
{
    struct file_key key = key_of(f, name);
    index_note_entry(f->index, backing_root_key(f->backing), name);
    index_note_content(f->index, &key);
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
}

static void note_gone(struct fixture *f, const char *name)
{
    index_note_entry(f->index, backing_root_key(f->backing), name);
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
}

static struct kin_list similar_to(struct fixture *f, const char *name)
{
    struct file_key key = key_of(f, name);
    struct index_query query = {.threshold = 0.4};
    struct kin_list list = {0};
    assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
    return list;
}

/* Names of kin, in their order, with blanks between. */
static void assert_similar(struct fixture *f, const char *name, const char *expected)
{
    char names[4096] = "";
    struct kin_list list = similar_to(f, name);
    for (size_t i = 0; i < list.n_kin; i++) {
        strcat(names, i ? " " : "");
        strcat(names, list.kin[i].path);
    }
    kin_list_done(&list);
    assert_string_equal(names, expected);
}

static uint64_t cluster_of(struct fixture *f, const char *name)
{
    struct file_key key = key_of(f, name);
    struct document_info info;
    assert_int_equal(index_document(f->index, &key, &(struct index_query){.wait_ms = 10000}, &info),
                     0);
    assert_int_equal(info.state, DOCUMENT_CURRENT);
    return info.cluster_id;
}

static uint64_t n_documents(struct fixture *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status.documents;
}

static void test_index__first_scan_finds_what_resembles(void **state)
{
    struct fixture *f = *state;
    mkdir(scratch_path(f->tree, "sub"), 0755);
    write_text(f, "a", 1, 0, 0);
    write_text(f, "sub/b", 1, 1, 10);
    write_text(f, "other", 2, 0, 0);
    write_text(f, "twin", 2, 0, 0);
    start(f);
    settle(f);
    assert_similar(f, "a", "sub/b");
    assert_similar(f, "sub/b", "a");
    assert_similar(f, "other", "twin");
    assert_int_equal(n_documents(f), 4);
    assert_int_equal(cluster_of(f, "a"), cluster_of(f, "sub/b"));
    assert_int_not_equal(cluster_of(f, "a"), cluster_of(f, "twin"));

    struct kin_list list = similar_to(f, "other");
    assert_true(list.kin[0].resemblance == 1.0 && list.kin[0].exact);
    kin_list_done(&list);
}

static void test_index__follows_writes_renames_links_and_deletes(void **state)
{
    struct fixture *f = *state;
    start(f);
    settle(f);
    write_text(f, "a", 1, 0, 0);
    note_written(f, "a");
    assert_similar(f, "a", "");
    write_text(f, "b", 1, 1, 10);
    note_written(f, "b");
    assert_similar(f, "a", "b");

    assert_int_equal(rename(scratch_path(f->tree, "b"), scratch_path(f->tree, "c")), 0);
    index_note_rename(f->index, backing_root_key(f->backing), "b", backing_root_key(f->backing),
                      "c");
    index_settle(f->index, INDEX_LANE_FOREGROUND, 600000);
    assert_similar(f, "a", "c");

    assert_int_equal(link(scratch_path(f->tree, "c"), scratch_path(f->tree, "d")), 0);
    note_gone(f, "d");
    assert_similar(f, "a", "c"); /* one document, by its first name */
    unlink(scratch_path(f->tree, "c"));
    note_gone(f, "c");
    assert_similar(f, "a", "d");

    write_text(f, "d", 9, 0, 0); /* rewritten in place as something else */
    note_written(f, "d");
    assert_similar(f, "a", "");
    write_text(f, "d", 1, 3, 20);
    note_written(f, "d");
    assert_similar(f, "a", "d");
    unlink(scratch_path(f->tree, "d"));
    note_gone(f, "d");
    assert_similar(f, "a", "");
    assert_int_equal(n_documents(f), 1);
}

static void test_index__renaming_a_directory_renames_every_answer(void **state)
{
    struct fixture *f = *state;
    mkdir(scratch_path(f->tree, "old"), 0755);
    write_text(f, "old/b", 1, 1, 10);
    write_text(f, "a", 1, 0, 0);
    start(f);
    settle(f);
    assert_similar(f, "a", "old/b");
    assert_int_equal(rename(scratch_path(f->tree, "old"), scratch_path(f->tree, "new")), 0);
    index_note_rename(f->index, backing_root_key(f->backing), "old", backing_root_key(f->backing),
                      "new");
    index_settle(f->index, INDEX_LANE_FOREGROUND, 600000);
    assert_similar(f, "a", "new/b");
    struct index_status status;
    index_get_status(f->index, &status);
    assert_int_equal(status.sketched_documents, 2);
}

static void test_index__a_later_start_sketches_only_what_changed(void **state)
{
    struct fixture *f = *state;
    struct index_status status;
    mkdir(scratch_path(f->tree, "sub"), 0755);
    write_text(f, "a", 1, 0, 0);
    write_text(f, "b", 1, 1, 10);
    write_text(f, "sub/c", 1, 2, 10);
    write_text(f, "gone", 1, 3, 10);
    start(f);
    settle(f);
    uint64_t cluster = cluster_of(f, "a");
    stop(f);

    /* Behind its back: one moved, one changed, one new, one deleted. */
    assert_int_equal(rename(scratch_path(f->tree, "b"), scratch_path(f->tree, "sub/moved")), 0);
    write_text(f, "sub/c", 2, 0, 0);
    write_text(f, "new", 2, 1, 10);
    unlink(scratch_path(f->tree, "gone"));
    start(f);
    settle(f);
    index_get_status(f->index, &status);
    assert_int_equal(status.sketched_documents, 3); /* a rename moves the ctime: read, not new */
    assert_int_equal(status.documents, 4);
    assert_similar(f, "a", "sub/moved");
    assert_similar(f, "new", "sub/c");
    assert_int_equal(cluster_of(f, "a"), cluster);
}

static void test_index__a_change_behind_its_back_is_seen_when_asked(void **state)
{
    struct fixture *f = *state;
    write_text(f, "a", 1, 0, 0);
    write_text(f, "b", 2, 0, 0);
    start(f);
    settle(f);
    assert_similar(f, "a", "");
    write_text(f, "b", 1, 1, 10);
    cluster_of(f, "b"); /* asserts that it is current */
    assert_similar(f, "b", "a");
}

static void test_index__empty_and_binary_resemble_their_twins_only(void **state)
{
    struct fixture *f = *state;
    scratch_write(scratch_path(f->tree, "e1"), "");
    scratch_write(scratch_path(f->tree, "e2"), "");
    scratch_write(scratch_path(f->tree, "punctuation"), "...!");
    write_text(f, "a", 1, 0, 0);
    start(f);
    settle(f);
    assert_similar(f, "e1", "e2");
    assert_similar(f, "punctuation", "");
    assert_similar(f, "a", "");
}

static void test_index__what_cannot_be_answered_is_enoent(void **state)
{
    struct fixture *f = *state;
    struct index_query query = {.threshold = 0.5};
    struct kin_list list;
    struct document_info info;
    struct cluster_info cluster;
    start(f);
    settle(f);
    struct file_key key = *backing_root_key(f->backing); /* of an inode that there is not */
    key.bytes[key.size_bytes - 1] ^= 0x55;
    assert_int_equal(index_similar(f->index, &key, &query, &list), -ENOENT);
    assert_int_equal(index_has_kin(f->index, &key, &query), 0);
    assert_true(index_document(f->index, &key, &(struct index_query){.wait_ms = 0}, &info) < 0);
    assert_int_equal(index_cluster(f->index, 77, &query, &cluster, NULL), -ENOENT);
}

/* With a limit the representative and the size are those of the whole cluster, without that all of
 * it is read. */
static void test_index__a_limit_bounds_how_much_of_a_cluster_is_read(void **state)
{
    enum { N = 1300 };
    struct fixture *f = *state;
    const struct index_query all = {0}, one = {.limit = 1}, ten = {.limit = 10};
    struct cluster_info whole, first, listed;
    struct kin_list members = {0}, some = {0};
    char name[16];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "%d", i);
        write_text(f, name, 1, 0, 0);
    }
    start(f);
    settle(f);
    const uint64_t id = cluster_of(f, "0");
    assert_int_equal(index_cluster(f->index, id, &all, &whole, &members), 0);
    assert_int_equal(whole.size, N);
    assert_int_equal(members.n_kin, N);
    assert_true(whole.resemblance_min == 1.0 && whole.resemblance_mean == 1.0);

    assert_int_equal(index_cluster(f->index, id, &one, &first, NULL), 0);
    assert_int_equal(first.size, N);
    assert_string_equal(first.representative.path, whole.representative.path);
    assert_true(isnan(first.resemblance_min) && isnan(first.resemblance_mean));

    assert_int_equal(index_cluster(f->index, id, &ten, &listed, &some), 0);
    assert_int_equal(listed.size, N);
    assert_int_equal(some.n_kin, 10);
    assert_string_equal(some.kin[0].path, whole.representative.path);
    assert_true(isnan(listed.resemblance_min));
    kin_list_done(&members);
    kin_list_done(&some);
    cluster_info_done(&whole);
    cluster_info_done(&first);
    cluster_info_done(&listed);

    /* The representative goes, and so many before the next one. */
    for (int i = 0; i < N - 20; i++) {
        snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(unlink(scratch_path(f->tree, "%s", name)), 0);
        index_note_entry(f->index, backing_root_key(f->backing), name);
    }
    settle(f);
    assert_int_equal(index_cluster(f->index, id, &one, &first, NULL), 0);
    assert_int_equal(index_cluster(f->index, id, &all, &whole, NULL), 0);
    assert_int_equal(first.size, 20);
    assert_int_equal(whole.size, 20);
    assert_string_equal(first.representative.path, whole.representative.path);
    cluster_info_done(&whole);
    cluster_info_done(&first);
}

static void note_rename(struct fixture *f, const char *old, const char *new)
{
    index_note_rename(f->index, backing_root_key(f->backing), old, backing_root_key(f->backing),
                      new);
}

static void settle_foreground(struct fixture *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
}

static uint64_t n_sketched(struct fixture *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status.sketched_documents;
}

static void make_two_directories(struct fixture *f)
{
    mkdir(scratch_path(f->tree, "x"), 0755);
    mkdir(scratch_path(f->tree, "y"), 0755);
    mkdir(scratch_path(f->tree, "x/deep"), 0755);
    write_text(f, "a", 1, 0, 0);
    write_text(f, "x/deep/b", 1, 1, 10);
    write_text(f, "y/c", 1, 2, 40);
    start(f);
    settle(f);
    assert_similar(f, "a", "x/deep/b y/c");
}

static void test_index__exchanged_directories_keep_all_that_is_below(void **state)
{
    struct fixture *f = *state;
    make_two_directories(f);
    uint64_t cluster = cluster_of(f, "a");
    for (int round = 0; round < 4; round++) {
        assert_int_equal(renameat2(AT_FDCWD, scratch_path(f->tree, "x"), AT_FDCWD,
                                   scratch_path(f->tree, "y"), RENAME_EXCHANGE),
                         0);
        /* In either order, or only one of them yet. */
        if (round % 2)
            note_rename(f, "x", "y");
        else
            note_rename(f, "y", "x");
        settle_foreground(f);
        assert_similar(f, "a", round % 2 ? "x/deep/b y/c" : "y/deep/b x/c");
    }
    assert_int_equal(n_sketched(f), 3);
    assert_int_equal(cluster_of(f, "a"), cluster);
}

static void test_index__directories_renamed_faster_than_noted_are_followed(void **state)
{
    struct fixture *f = *state;
    make_two_directories(f);
    /* x -> t, y -> x, t -> y, and nothing looked at before all is done; the notices come in the
     * worst order: old names first. */
    rename(scratch_path(f->tree, "x"), scratch_path(f->tree, "t"));
    rename(scratch_path(f->tree, "y"), scratch_path(f->tree, "x"));
    rename(scratch_path(f->tree, "t"), scratch_path(f->tree, "y"));
    note_gone(f, "t");
    note_gone(f, "y");
    note_gone(f, "x");
    assert_similar(f, "a", "y/deep/b x/c");

    /* Away and back again, under the eyes of the one who looks. */
    for (int i = 0; i < 200; i++) {
        rename(scratch_path(f->tree, "y"), scratch_path(f->tree, "t"));
        note_rename(f, "y", "t");
        rename(scratch_path(f->tree, "t"), scratch_path(f->tree, "y"));
        note_rename(f, "t", "y");
    }
    settle_foreground(f);
    assert_similar(f, "a", "y/deep/b x/c");

    /* Into another directory, and only its old name is noted. */
    rename(scratch_path(f->tree, "y"), scratch_path(f->tree, "x/inner"));
    note_gone(f, "y");
    assert_similar(f, "a", "x/inner/deep/b x/c");
    assert_int_equal(n_sketched(f), 3);

    /* Out of the tree. */
    rename(scratch_path(f->tree, "x/inner"), scratch_path(f->root, "outside"));
    struct file_key x = key_of(f, "x");
    index_note_entry(f->index, &x, "inner");
    settle_foreground(f);
    assert_similar(f, "a", "x/c");
    settle(f); /* what hung on it goes later */
    assert_int_equal(n_documents(f), 2);
}

static void test_index__a_file_made_behind_its_back_is_found_when_asked(void **state)
{
    struct fixture *f = *state;
    write_text(f, "a", 1, 0, 0);
    start(f);
    settle(f);
    mkdir(scratch_path(f->tree, "new"), 0755);
    mkdir(scratch_path(f->tree, "new/deep"), 0755);
    write_text(f, "new/deep/b", 1, 1, 10);
    cluster_of(f, "new/deep/b"); /* asserts that it is current */
    assert_similar(f, "a", "new/deep/b");
}

static void test_index__answers_that_changed_behind_its_back_are_looked_at_again(void **state)
{
    struct fixture *f = *state;
    struct index_query query = {.threshold = 0.4, .wait_ms = 600000};
    struct kin_list list;
    write_text(f, "a", 1, 0, 0);
    write_text(f, "b", 1, 1, 10);
    write_text(f, "c", 1, 2, 10);
    write_text(f, "d", 1, 3, 10);
    start(f);
    settle(f);
    write_text(f, "b", 2, 0, 0);
    unlink(scratch_path(f->tree, "c"));
    struct file_key key = key_of(f, "a");
    assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
    assert_int_equal(list.n_kin, 1);
    assert_string_equal(list.kin[0].path, "d");
    kin_list_done(&list);
}

static void test_index__a_store_through_a_mapping_before_close_is_seen(void **state)
{
    struct fixture *f = *state;
    char *one = scratch_text(1, 0, 600, 0), *two = scratch_text(2, 0, 600, 0);
    write_text(f, "like one", 1, 1, 10);
    write_text(f, "like two", 2, 1, 10);
    scratch_write(scratch_path(f->tree, "a"), one);
    start(f);
    settle(f);

    struct file_key key = key_of(f, "a");
    int fd = open(scratch_path(f->tree, "a"), O_RDWR);
    size_t size = strlen(one);
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    index_note_writing(f->index, &key, +1);
    memcpy(map, two, size);
    cluster_of(f, "a"); /* sketched in the midst of it */
    assert_similar(f, "a", "like two");
    memcpy(map, one, size); /* into pages that are dirty already: no time moves */
    munmap(map, size);
    close(fd);
    index_note_content(f->index, &key);
    index_note_writing(f->index, &key, -1);
    settle_foreground(f);
    assert_similar(f, "a", "like one");
    free(one);
    free(two);
}

static void test_index__another_tree_at_the_same_path_is_not_the_old_one(void **state)
{
    struct fixture *f = *state;
    make_two_directories(f);
    stop(f);
    assert_int_equal(rename(f->tree, scratch_path(f->root, "old")), 0);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    write_text(f, "other", 7, 0, 0);
    assert_int_equal(rename(scratch_path(f->root, "old/a"), scratch_path(f->tree, "a")), 0);
    start(f);
    settle(f);
    assert_int_equal(n_documents(f), 2);
    assert_similar(f, "a", "");
    assert_int_equal(cluster_of(f, "a"), 0);
}

static void test_index__what_the_mount_hides_is_not_indexed(void **state)
{
    struct fixture *f = *state;
    mkdir(scratch_path(f->tree, ".kinfs"), 0755);
    mkdir(scratch_path(f->tree, "sub"), 0755);
    mkdir(scratch_path(f->tree, "sub/.kinfs"), 0755);
    write_text(f, "a", 1, 0, 0);
    write_text(f, ".kinfs/b", 1, 1, 10);
    write_text(f, "sub/.kinfs/c", 1, 2, 10);
    start(f);
    settle(f);
    assert_similar(f, "a", "sub/.kinfs/c");
}

static void test_index__a_short_document_is_found_in_what_contains_it(void **state)
{
    struct fixture *f = *state;
    struct index_query query = {.threshold = 0.9};
    struct kin_list list;
    scratch_write(scratch_path(f->tree, "a"), "one two three four five six seven eight nine ten");
    scratch_write(scratch_path(f->tree, "b"),
                  "zero one two three four five six seven eight nine ten eleven");
    start(f);
    settle(f);
    struct file_key key = key_of(f, "a");
    assert_int_equal(index_containing(f->index, &key, &query, &list), 0);
    assert_int_equal(list.n_kin, 1);
    assert_string_equal(list.kin[0].path, "b");
    assert_true(list.kin[0].containment == 0.9999); /* 1 is what is equal */
    kin_list_done(&list);
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Answers are ordered and cut by what is asked for. A book that has all of the document resembles
 * it by less than any of 30 versions do, which have parts of it; by the other route, each is
 * compared with it. */
static void test_index__what_contains_most_comes_first(void **state)
{
    enum { VERSIONS = 30, WORDS = 400 };
    struct fixture *f = *state;
    const struct index_query query = {.threshold = 0.3, .limit = 10};
    char *text = scratch_text(1, 0, WORDS, 0), *more = scratch_text(2, 0, 10 * WORDS, 0), *book;
    double containments[VERSIONS + 1];
    struct kin_list list;
    scratch_write(scratch_path(f->tree, "asked"), text);
    assert_true(asprintf(&book, "%s %s", text, more) > 0);
    scratch_write(scratch_path(f->tree, "zz book"), book);
    for (unsigned i = 0; i < VERSIONS; i++) {
        char *version = scratch_text(1, i + 1, WORDS, 1 + i / 2);
        scratch_write(scratch_path(f->tree, "v%02u", i), version);
        free(version);
    }
    start(f);
    settle(f);
    struct file_key key = key_of(f, "asked");
    for (unsigned i = 0; i <= VERSIONS; i++) {
        char name[16] = "zz book";
        struct comparison comparison;
        if (i < VERSIONS)
            snprintf(name, sizeof(name), "v%02u", i);
        struct file_key other = key_of(f, name);
        assert_int_equal(
            index_compare(f->index, &key, &other, &(struct index_query){0}, &comparison), 0);
        containments[i] = comparison.containment_ab;
    }
    qsort(containments, VERSIONS + 1, sizeof(*containments), compare_numbers);
    assert_int_equal(index_containing(f->index, &key, &query, &list), 0);
    assert_int_equal(list.n_kin, query.limit);
    bool has_book = false; /* whose sample may miss as much as that of a version with one edit */
    for (size_t i = 0; i < list.n_kin; i++) {
        has_book |= strcmp(list.kin[i].path, "zz book") == 0;
        assert_true(list.kin[i].containment == containments[i]);
        assert_true(i == 0 || list.kin[i - 1].containment > list.kin[i].containment ||
                    strcmp(list.kin[i - 1].path, list.kin[i].path) < 0);
    }
    assert_true(has_book);
    kin_list_done(&list);
    free(text);
    free(more);
    free(book);
}

/* count words of a numbering of their own, with commas where a sentence might have them. */
static void write_numbers(struct fixture *f, const char *name, unsigned from, unsigned count)
{
    char text[8192];
    size_t n = 0;
    for (unsigned i = from; i < from + count; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "number%u%s", i, i % 7 ? " " : ", ");
    scratch_write(scratch_path(f->tree, "%s", name), text);
}

static void test_index__no_document_is_too_short_for_its_containment(void **state)
{
    enum { PAIRS = 250 }; /* by V alone one of 33 was missed */
    struct fixture *f = *state;
    struct index_query query = {.threshold = 0.5};
    struct kin_list list;
    char name[32], other[32];
    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(name, sizeof(name), "a%u", i);
        write_numbers(f, name, 1000 * i, 100);
        snprintf(other, sizeof(other), "b%u", i);
        write_numbers(f, other, 1000 * i + 10, 100);
    }
    start(f);
    settle(f);
    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(name, sizeof(name), "a%u", i);
        snprintf(other, sizeof(other), "b%u", i);
        struct file_key key = key_of(f, name);
        assert_int_equal(index_containing(f->index, &key, &query, &list), 0);
        assert_int_equal(list.n_kin, 1);
        assert_string_equal(list.kin[0].path, other);
        kin_list_done(&list);
    }
}

static void test_index__closing_does_not_wait_for_a_large_document(void **state)
{
    struct fixture *f = *state;
    struct index_status status;
    start(f);
    settle(f);
    int fd = open(scratch_path(f->tree, "large"), O_WRONLY | O_CREAT, 0644);
    assert_int_equal(ftruncate(fd, (off_t)60 << 30), 0); /* a minute to read */
    close(fd);
    struct file_key key = key_of(f, "large");
    index_note_entry(f->index, backing_root_key(f->backing), "large");
    index_note_content(f->index, &key);
    do
        index_get_status(f->index, &status);
    while (!status.pending_slow);
    index_close(f->index, 0);
    backing_close(f->backing);
    f->index = NULL; /* the test's own time limit is the assertion */
}

/* -- against brute force -- */

enum { N_FAMILIES = 12, N_VERSIONS = 8, SAMPLES = 128 };

static void make_families(struct fixture *f)
{
    for (unsigned family = 0; family < N_FAMILIES; family++)
        for (unsigned version = 0; version < N_VERSIONS; version++) {
            char name[32];
            snprintf(name, sizeof(name), "f%02u-v%u", family, version);
            write_text(f, name, family, version, version * (family + 1));
        }
}

static double exact_resemblance(struct fixture *f, const char *a, const char *b)
{
    struct exact_set *sets[2];
    const char *names[2] = {a, b};
    double r;
    for (int i = 0; i < 2; i++) {
        int fd = open(scratch_path(f->tree, "%s", names[i]), O_RDONLY);
        assert_int_equal(exact_set_read(fd, NULL, 5, NULL, SIZE_MAX, &sets[i]), 0);
        close(fd);
    }
    assert_int_equal(exact_set_resemblance(sets[0], sets[1], &r), 0);
    exact_set_free(sets[0]);
    exact_set_free(sets[1]);
    return r;
}

static bool has_kin_named(const struct kin_list *list, const char *name)
{
    for (size_t i = 0; i < list->n_kin; i++)
        if (strcmp(list->kin[i].path, name) == 0)
            return true;
    return false;
}

static void test_index__agrees_with_exact_resemblance(void **state)
{
    struct fixture *f = *state;
    unsigned n_far = 0, n_answers = 0;
    make_families(f);
    start(f);
    settle(f);
    for (unsigned i = 0; i < N_FAMILIES * N_VERSIONS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "f%02u-v%u", i / N_VERSIONS, i % N_VERSIONS);
        struct kin_list list = similar_to(f, name);
        for (size_t k = 0; k < list.n_kin; k++) {
            double exact = exact_resemblance(f, name, list.kin[k].path);
            double off = fabs(exact - list.kin[k].resemblance);
            /* What is claimed is an estimate, too, and near 1 by chance next to nothing. */
            double error = fmax(list.kin[k].error, sqrt(exact * (1 - exact) / SAMPLES));
            n_answers++;
            n_far += off > 3 * list.kin[k].error + 1e-9;
            assert_true(off <= 5 * error + 1e-9);
        }
        for (unsigned other = 0; other < N_VERSIONS; other++) {
            char sibling[32];
            snprintf(sibling, sizeof(sibling), "f%02u-v%u", i / N_VERSIONS, other);
            if (other != i % N_VERSIONS && exact_resemblance(f, name, sibling) >= 0.6)
                assert_true(has_kin_named(&list, sibling));
        }
        kin_list_done(&list);
    }
    assert_true(n_answers > 100);
    /* Of some two hundred pairs, each asked about from both sides, one is expected beyond three
     * standard errors; eleven are by chance once in 10^8 keys. */
    assert_true(n_far * 100 <= n_answers * 5);
}

/* -- incremental = rebuilt, whatever happened in between -- */

static void dump_answers(struct fixture *f, char *out, size_t size)
{
    size_t n = 0;
    for (unsigned i = 0; i < N_FAMILIES * N_VERSIONS; i++) {
        char name[32];
        struct stat st;
        snprintf(name, sizeof(name), "f%02u-v%u", i / N_VERSIONS, i % N_VERSIONS);
        if (stat(scratch_path(f->tree, "%s", name), &st) < 0)
            continue;
        struct kin_list list = similar_to(f, name);
        n += (size_t)snprintf(out + n, size - n, "%s %llu:", name,
                              (unsigned long long)cluster_of(f, name));
        for (size_t k = 0; k < list.n_kin; k++)
            n += (size_t)snprintf(out + n, size - n, " %.4f %s", list.kin[k].resemblance,
                                  list.kin[k].path);
        n += (size_t)snprintf(out + n, size - n, "\n");
        kin_list_done(&list);
        assert_true(n < size);
    }
}

static void assert_rebuilt_is_the_same(struct fixture *f)
{
    enum { SIZE = 1 << 20 };
    char *before = malloc(SIZE), *after = malloc(SIZE), *error = NULL;
    dump_answers(f, before, SIZE);
    stop(f);
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = options_of(f);
    if (index_rebuild(&options, NULL, NULL, &error) < 0)
        fail_msg("%s", error);
    backing_close(f->backing);
    start(f);
    settle(f);
    dump_answers(f, after, SIZE);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void change_at_random(struct fixture *f, unsigned seed, unsigned n_changes)
{
    srand(seed);
    for (unsigned i = 0; i < n_changes; i++) {
        char name[32], other[32];
        unsigned family = (unsigned)rand() % N_FAMILIES, version = (unsigned)rand() % N_VERSIONS;
        snprintf(name, sizeof(name), "f%02u-v%u", family, version);
        snprintf(other, sizeof(other), "f%02u-v%u", (unsigned)rand() % N_FAMILIES,
                 (unsigned)rand() % N_VERSIONS);
        switch (rand() % 4) {
        case 0:
            unlink(scratch_path(f->tree, "%s", name));
            index_note_entry(f->index, backing_root_key(f->backing), name);
            break;
        case 1:
            if (rename(scratch_path(f->tree, "%s", name), scratch_path(f->tree, "%s", other)) == 0)
                index_note_rename(f->index, backing_root_key(f->backing), name,
                                  backing_root_key(f->backing), other);
            break;
        default:
            write_text(f, name, (unsigned)rand() % N_FAMILIES, (unsigned)rand() % 50,
                       (unsigned)rand() % 60);
            index_note_entry(f->index, backing_root_key(f->backing), name);
            struct file_key key = key_of(f, name);
            index_note_content(f->index, &key);
        }
    }
}

static void test_index__incremental_equals_rebuilt(void **state)
{
    struct fixture *f = *state;
    make_families(f);
    start(f);
    settle(f);
    for (unsigned round = 0; round < 3; round++) {
        change_at_random(f, round, 120);
        assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
        assert_rebuilt_is_the_same(f);
    }
}

static void test_index__killed_at_any_moment_equals_rebuilt(void **state)
{
    struct fixture *f = *state;
    make_families(f);
    for (unsigned round = 0; round < 6; round++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            start(f);
            change_at_random(f, 100 + round, 30 * round);
            usleep(3000 * round); /* somewhere in the midst of it */
            kill(getpid(), SIGKILL);
        }
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        if (round % 2)
            continue; /* sometimes twice in a row */
        start(f);
        settle(f);
        assert_rebuilt_is_the_same(f);
        stop(f);
    }
}

/* -- settling -- */

enum { MOVED_DEPTH = 20, MOVED_FILES = 20 };

/* Directories in each other, with documents, that come to the tree all at once. */
static void move_directories_in(struct fixture *f)
{
    char directory[256] = "moved", name[300];
    for (unsigned depth = 0; depth < MOVED_DEPTH; depth++) {
        mkdir(scratch_path(f->tree, "%s", directory), 0755);
        for (unsigned i = 0; i < MOVED_FILES; i++) {
            snprintf(name, sizeof(name), "%s/f%u", directory, i);
            write_text(f, name, depth * MOVED_FILES + i, 0, 0);
        }
        strcat(directory, "/sub");
    }
    index_note_entry(f->index, backing_root_key(f->backing), "moved");
}

static void test_index__settling_waits_for_what_came_with_a_directory(void **state)
{
    struct fixture *f = *state;
    start(f);
    settle(f);
    move_directories_in(f);
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
    assert_int_equal(n_documents(f), MOVED_DEPTH * MOVED_FILES);
}

static void test_index__settling_waits_for_the_scan_that_an_entry_begins(void **state)
{
    enum { NAMES = 1100 }; /* more than are noted with the entry */
    struct fixture *f = *state;
    start(f);
    settle(f);
    mkdir(scratch_path(f->tree, "moved"), 0755);
    for (unsigned i = 0; i < NAMES; i++)
        assert_int_equal(symlink("nowhere", scratch_path(f->tree, "moved/link%u", i)), 0);
    move_directories_in(f);
    settle(f);
    assert_int_equal(n_documents(f), MOVED_DEPTH * MOVED_FILES);
}

/* -- what is refused -- */

static void assert_refused(struct fixture *f, const struct index_options *options, int error,
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

static struct index *open_offline(struct fixture *f)
{
    const struct index_options options = options_of(f);
    struct index *index;
    char *error = NULL;
    if (index_open(&options, &index, &error) < 0)
        fail_msg("%s", error);
    return index;
}

/* Only what index_open() itself has made goes, and only while nothing is in it. */
static void test_index__a_store_that_came_to_no_use_is_not_left_behind(void **state)
{
    struct fixture *f = *state;
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
static void rebuild_one_of_another_version(struct fixture *f, uint32_t tokeniser, uint32_t hash)
{
    start(f);
    settle(f);
    uint64_t documents = n_documents(f);
    stop(f);
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
    assert_int_equal(identity_read_policy_file(f->store, &found), 1);

    struct index_options options = options_of(f);
    assert_refused(f, &options, -EUCLEAN, "kinfs rebuild");
    assert_int_equal(index_rebuild(&options, NULL, NULL, NULL), 0);
    assert_int_equal(identity_read_policy_file(f->store, &found), 0);
    assert_true(policy_id(&found) == policy_id(&policy));
    backing_close(f->backing);
    start(f);
    settle(f);
    assert_int_equal(n_documents(f), documents);
    stop(f);
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
    struct fixture *f = *state;
    struct index_status status;
    struct index *index = NULL;
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = options_of(f);
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
    struct fixture *f = *state;
    char other[128];
    start(f);
    settle(f);
    struct index_options options = options_of(f);
    assert_refused(f, &options, -EBUSY, "in use");
    stop(f);

    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    options = options_of(f);
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
    options = options_of(f);
    options.source = other;
    assert_refused(f, &options, -EPROTO, "is that of");
    backing_close(f->backing);
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_index__first_scan_finds_what_resembles),
        ON_A_TREE(test_index__follows_writes_renames_links_and_deletes),
        ON_A_TREE(test_index__renaming_a_directory_renames_every_answer),
        ON_A_TREE(test_index__a_later_start_sketches_only_what_changed),
        ON_A_TREE(test_index__a_change_behind_its_back_is_seen_when_asked),
        ON_A_TREE(test_index__empty_and_binary_resemble_their_twins_only),
        ON_A_TREE(test_index__what_cannot_be_answered_is_enoent),
        ON_A_TREE(test_index__a_limit_bounds_how_much_of_a_cluster_is_read),
        ON_A_TREE(test_index__exchanged_directories_keep_all_that_is_below),
        ON_A_TREE(test_index__directories_renamed_faster_than_noted_are_followed),
        ON_A_TREE(test_index__a_file_made_behind_its_back_is_found_when_asked),
        ON_A_TREE(test_index__answers_that_changed_behind_its_back_are_looked_at_again),
        ON_A_TREE(test_index__a_store_through_a_mapping_before_close_is_seen),
        ON_A_TREE(test_index__another_tree_at_the_same_path_is_not_the_old_one),
        ON_A_TREE(test_index__what_the_mount_hides_is_not_indexed),
        ON_A_TREE(test_index__a_short_document_is_found_in_what_contains_it),
        ON_A_TREE(test_index__what_contains_most_comes_first),
        ON_A_TREE(test_index__no_document_is_too_short_for_its_containment),
        ON_A_TREE(test_index__closing_does_not_wait_for_a_large_document),
        ON_A_TREE(test_index__agrees_with_exact_resemblance),
        ON_A_TREE(test_index__incremental_equals_rebuilt),
        ON_A_TREE(test_index__killed_at_any_moment_equals_rebuilt),
        ON_A_TREE(test_index__settling_waits_for_what_came_with_a_directory),
        ON_A_TREE(test_index__settling_waits_for_the_scan_that_an_entry_begins),
        ON_A_TREE(test_index__a_store_that_came_to_no_use_is_not_left_behind),
        ON_A_TREE(test_index__a_store_with_other_fingerprints_is_rebuilt),
        ON_A_TREE(test_index__a_store_with_other_tokens_is_rebuilt),
        ON_A_TREE(test_index__words_are_chosen_when_a_store_is_made),
        ON_A_TREE(test_index__a_store_of_something_else_is_refused_with_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
