/* A tree with an index of it, which a test starts and stops, and what it answers. Included behind
 * cmocka.h. */
#ifndef KINFS_TESTS_LIB_INDEX_FIXTURE_H
#define KINFS_TESTS_LIB_INDEX_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/index/index_private.h"
#include "tests/lib/scratch.h"

struct fixture {
    char root[64];
    char tree[80], store[80];
    struct backing *backing;
    struct index *index;
};

static inline int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    scratch_make(f->root);
    snprintf(f->tree, sizeof(f->tree), "%s/tree", f->root);
    snprintf(f->store, sizeof(f->store), "%s/store", f->root);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    *state = f;
    return 0;
}

static inline struct index_options options_of(struct fixture *f)
{
    return (struct index_options){
        .backing = f->backing, .source = f->tree, .store_path = f->store, .create = true};
}

static inline void start(struct fixture *f)
{
    char *error = NULL;
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    struct index_options options = options_of(f);
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
    assert_int_equal(index_start(f->index), 0);
}

static inline void settle(struct fixture *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 600000), 0);
}

static inline void stop(struct fixture *f)
{
    index_close(f->index, 5000);
    backing_close(f->backing);
    f->index = NULL;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    if (f->index)
        stop(f);
    scratch_remove(f->root);
    free(f);
    return 0;
}

static inline void write_text(struct fixture *f, const char *name, unsigned family,
                              unsigned version, unsigned edits)
{
    char *text = scratch_text(family, version, 600, edits);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static inline struct file_key key_of(struct fixture *f, const char *name)
{
    struct file_key key;
    assert_int_equal(backing_key_at(f->backing, backing_root_fd(f->backing), name, &key), 0);
    return key;
}

static inline void note_gone(struct fixture *f, const char *name)
{
    index_note_entry(f->index, backing_root_key(f->backing), name);
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
}

static inline struct kin_list similar_to(struct fixture *f, const char *name)
{
    struct file_key key = key_of(f, name);
    struct index_query query = {.threshold = 0.4};
    struct kin_list list = {0};
    assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
    return list;
}

/* Names of kin, in their order, with blanks between. */
static inline void assert_similar(struct fixture *f, const char *name, const char *expected)
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

static inline uint64_t cluster_of(struct fixture *f, const char *name)
{
    struct file_key key = key_of(f, name);
    struct document_info info;
    assert_int_equal(index_document(f->index, &key, &(struct index_query){.wait_ms = 10000}, &info),
                     0);
    assert_int_equal(info.state, DOCUMENT_CURRENT);
    return info.cluster_id;
}

static inline uint64_t n_documents(struct fixture *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status.documents;
}

static inline void settle_foreground(struct fixture *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
}

#endif
