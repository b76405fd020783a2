/* Asking a mount about a document that is no file of its tree, through a file of .kinfs/query: any
 * user may who can reach the mount, and is told of what he may read. */
#ifndef KINFS_TOOLS_QUESTIONS_QUESTION_H
#define KINFS_TOOLS_QUESTIONS_QUESTION_H

#include "tools/questions/work.h"

/* The mount that a path (NULL: the working directory) is in, or that has the store, by its mount
 * point; NULL when it is none of kinfs, or none with an index. Gives. */
char *question_mountpoint(const char *path);
char *question_mountpoint_of_store(const char *store);

struct question {
    const char *mountpoint;
    int document;      /* read from its beginning, or, a pipe, to its end */
    const char *shown; /* as people are told of it */
    double threshold;
    size_t limit;
    size_t common;                /* as of struct index_query */
    enum index_relation relation; /* of what is asked for to the document */
};

#define QUESTION_NO_TOPICS                                                                         \
    "words of documents are not kept; mount it with -o topics=content, anchor or both, or kinfs "  \
    "scan --topics=content"
#define QUESTION_NOT_ALL "what is related is told to root and the owner of the mount alone"
#define QUESTION_NO_PASSAGES                                                                       \
    "passages are not indexed; mount it with -o passages, or kinfs scan --passages"

/* A row for each answer, as of work_similar(). Returns 0; -EACCES when another user's mount is
 * there by now; -EBUSY when nothing is, or something covers it; -EOPNOTSUPP when it takes no
 * questions; or an errno of open(2), read(2) or write(2); with *ret_error. The document goes to a
 * mount that is the effective user's or root's, and into no file. */
int question_ask(const struct question *question, row_fn row, void *user, char **ret_error);

/* Put a copy without a name in the place of what cannot be read from its beginning again, a pipe.
 * Returns 0 or an errno. */
int question_make_seekable(int *fd);

/* A row of work_similar(). Gives, NULL without memory. */
struct json_object *question_row(const struct kin *kin);

/* The same of INDEX_SHARES: "path", "words", "longest", "containment". */
struct json_object *question_passages_row(const struct kin *kin);
/* The row before those: "n_words" of the document, and "common", pairs of the first word that is
 * common text and the one behind the last. Gives, NULL without memory. */
struct json_object *question_common_row(const struct kin_list *list);

/* The row before all others of an answer that is not complete: "incomplete", with why. Gives. */
struct json_object *question_incomplete_row(const char *why);

#endif
