/* A tree, and a directory for stores beside it, for tests of what finds, holds and mounts them. */
#ifndef KINFS_TESTS_UNIT_TOOLS_STATE_SCRATCH_H
#define KINFS_TESTS_UNIT_TOOLS_STATE_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tools/show/message.h"

/* A scratch directory as KINFS_STATE_DIR, with a tree beside it. */
struct scratch {
    char *root, *state, *tree;
};

static int set_up(void **state)
{
    struct scratch *scratch = calloc(1, sizeof(*scratch));
    char template[] = "/tmp/kinfs-test.XXXXXX";
    _cleanup_free_ char *made = strdup(mkdtemp(template));
    scratch->root = realpath(made, NULL);
    scratch->state = message("%s/state", scratch->root);
    scratch->tree = message("%s/tree of mine", scratch->root);
    _cleanup_free_ char *below = message("%s/a", scratch->tree);
    _cleanup_free_ char *file = message("%s/a/b.txt", scratch->tree);
    mkdir(scratch->state, 0700);
    mkdir(scratch->tree, 0700);
    mkdir(below, 0700);
    FILE *document = fopen(file, "w");
    fclose(document);
    setenv("KINFS_STATE_DIR", scratch->state, 1);
    *state = scratch;
    return 0;
}

static int tear_down(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_free_ char *remove = message("rm -rf '%s'", scratch->root);
    unsetenv("KINFS_STATE_DIR");
    int r = system(remove);
    free(scratch->root);
    free(scratch->state);
    free(scratch->tree);
    free(scratch);
    return r;
}

#endif
