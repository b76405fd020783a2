/* The class that a document is in: by where it is, or by what an attribute of it says. */
#ifndef KINFS_TOOLS_COMMANDS_TOPICS_DOCUMENT_CLASS_H
#define KINFS_TOOLS_COMMANDS_TOPICS_DOCUMENT_CLASS_H

#include "tools/questions/locate.h"

enum { DOCUMENT_CLASS_BYTES = 255 }; /* a longer name is none */

/* The classes: the directories in one, or the values of an extended attribute. */
struct document_classes {
    const char *attribute;    /* "user.subject", borrowed; or NULL */
    struct location location; /* of the directory */
};

/* by  the name of an attribute, which begins with "user.", else a directory of a tree
 *
 * Returns 0, or an error of locate(), or -ENOTDIR, with a line in
 * *ret_error; ret_classes gives, in any case. */
int document_classes_open(const char *by, const char *store, struct document_classes *ret_classes,
                          char **ret_error);
void document_classes_done(struct document_classes *classes);

/* The class of the document at base/path, path as answers of the tree have it. Waits for the file
 * where it is by an attribute. Returns 1; 0: it is in none; or -ENOMEM. ret_class gives. */
int document_class(const struct document_classes *classes, const char *base, const char *path,
                   char **ret_class);

#endif
