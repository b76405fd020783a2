/* All that an index says of some documents, as a text to be compared. Included behind cmocka.h. */
#ifndef KINFS_TESTS_LIB_INDEX_ANSWERS_H
#define KINFS_TESTS_LIB_INDEX_ANSWERS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/index/index.h"

static inline void index_answers_add(FILE *out, struct index *index, struct backing *backing,
                                     const char *name, bool ids)
{
    const struct index_query query = {.threshold = 0.0};
    struct document_info info;
    struct file_key key;
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), name, &key), 0);
    int r = index_document(index, &key, &(struct index_query){.wait_ms = 0}, &info);
    fprintf(out, "%s:", name);
    if (r < 0) {
        fprintf(out, " %d\n", r);
        return;
    }
    fprintf(out, " %d %s of %llu", (int)info.state, info.type,
            (unsigned long long)info.cluster_size);
    if (ids)
        fprintf(out, " in %llu", (unsigned long long)info.cluster_id);
    for (int containing = 0; containing < 2; containing++) {
        struct kin_list list = {0};
        r = containing ? index_containing(index, &key, &query, &list)
                       : index_similar(index, &key, &query, &list);
        assert_true(r == 0 || r == -ENOENT);
        for (size_t i = 0; i < list.n_kin; i++)
            fprintf(out, " %.6f %s", list.kin[i].resemblance, list.kin[i].path);
        kin_list_done(&list);
        fputs(containing ? "\n" : " |", out);
    }
}

/* names: of files relative to the tree, the last NULL. ids: those of clusters, too. Heap string. */
static inline char *index_answers(struct index *index, struct backing *backing,
                                  const char *const *names, bool ids)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (; *names; names++)
        index_answers_add(out, index, backing, *names, ids);
    fclose(out);
    return text;
}

#endif
