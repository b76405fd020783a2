/* Asking what contains files, one after the other: each may be in a tree, or anywhere and asked
 * about in one, as by kinfs similar --containing. A store that no daemon has is opened once for
 * files of its tree that follow one another. */
#ifndef KINFS_TOOLS_COMMANDS_CONTAINING_CONTAINING_H
#define KINFS_TOOLS_COMMANDS_CONTAINING_CONTAINING_H

#include <sys/stat.h>

#include "tools/commands/command.h"

/* A file that is asked about, for the time of a call. */
struct contained {
    const char *file; /* as it was named */
    const char *base; /* where the tree is seen that is asked */
    int tree_fd;      /* the same, O_PATH; negative where it cannot be opened */
    char *incomplete; /* why answers may be missing, or NULL */
};

struct containing {
    const char *tree;  /* a path in the tree that is asked, of which a file need not be; or NULL */
    const char *store; /* or NULL */
    double least;      /* containment */
    size_t limit;      /* most answers for a file, 0: all */
    /* A document that contains so much of the file: a row of work_similar(), borrowed. It is never
     * the file itself. Returns 0 or an error, which ends all. */
    int (*row)(void *user, const struct contained *of, struct json_object *row);
    /* There are no more. */
    void (*end)(void *user, const struct contained *of);
    void *user;
};

/* Ask about each. "-" is a document on standard input. What cannot be asked about is complained of,
 * and the next one is asked about. Returns 0, or the first error there was. */
int containing_ask(const struct containing *containing, char *const *files, size_t n);

/* The file that a path of an answer leads to, no link followed. What somebody has mounted in the
 * tree is not asked; where a directory does not answer, the program ends as by patience_look().
 * Returns 0, -EXDEV or another errno of openat2(2). */
int containing_stat(const struct contained *of, const char *path, struct stat *ret_st);

/* The reason for which answers may be missing: a line on standard error, or a row. */
void containing_say_incomplete(const struct contained *of, bool json);

#endif
