/* A tree of generated documents with an index that follows it, for a test's setup and teardown.
 * Included behind cmocka.h. */
#ifndef KINFS_TESTS_LIB_INDEXED_TREE_H
#define KINFS_TESTS_LIB_INDEXED_TREE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine/index/index.h"
#include "tests/lib/scratch.h"

struct indexed_tree {
    char root[64], tree[80], store[80];
    struct backing *backing;
    struct index *index;
};

/* The index is opened, and not started. */
static inline void indexed_tree_open(struct indexed_tree *f)
{
    char *error = NULL;
    const struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store, .create = true};
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
}

static inline void indexed_tree_settle(struct indexed_tree *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 600000), 0);
}

static inline int indexed_tree_setup(void **state)
{
    struct indexed_tree *f = calloc(1, sizeof(*f));
    scratch_make(f->root);
    snprintf(f->tree, sizeof(f->tree), "%s/tree", f->root);
    snprintf(f->store, sizeof(f->store), "%s/store", f->root);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    indexed_tree_open(f);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    *state = f;
    return 0;
}

static inline int indexed_tree_teardown(void **state)
{
    struct indexed_tree *f = *state;
    index_close(f->index, 5000);
    backing_close(f->backing);
    scratch_remove(f->root);
    free(f);
    return 0;
}

/* As scratch_text(), of 600 words. */
static inline void indexed_tree_write(struct indexed_tree *f, const char *name, unsigned family,
                                      unsigned version, unsigned edits)
{
    char *text = scratch_text(family, version, 600, edits);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static inline struct file_key indexed_tree_key(struct indexed_tree *f, const char *name)
{
    struct file_key key;
    assert_int_equal(backing_key_at(f->backing, backing_root_fd(f->backing), name, &key), 0);
    return key;
}

#endif
