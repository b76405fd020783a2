/* Documents that have numbers for names, of words that do. */
#ifndef KINFS_TESTS_UNIT_ENGINE_INDEX_ANSWERS_NUMBERED_H
#define KINFS_TESTS_UNIT_ENGINE_INDEX_ANSWERS_NUMBERED_H

#include "tests/lib/fixtures/indexed_tree.h"

static inline void numbered_name(unsigned i, char name[16])
{
    snprintf(name, 16, "d%u", i);
}

static inline void numbered_write(struct indexed_tree *f, const char *name, unsigned from,
                                  unsigned n)
{
    char *text = malloc((size_t)n * 12 + 1), *at = text;
    for (unsigned i = from; i < from + n; i++)
        at += sprintf(at, "w%u ", i);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

#endif
