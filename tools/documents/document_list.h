/* Paths of documents, in the order in which they are numbered. */
#ifndef KINFS_TOOLS_DOCUMENTS_DOCUMENT_LIST_H
#define KINFS_TOOLS_DOCUMENTS_DOCUMENT_LIST_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* What a path leads to. */
struct document_inode {
    dev_t dev;
    ino_t ino;        /* 0: not looked at, or in an earlier run */
    uint32_t n_named; /* bytes of the path that were named, and may have links in them */
    char *real; /* read back: the path of then without links, by which it is opened; or NULL */
};

struct document_list {
    char **paths;
    struct document_inode *inodes; /* as many */
    uint32_t n, room;
    uint32_t
        n_unread; /* directories and files that could not be looked at; each was complained of */
};

void document_list_done(struct document_list *list);

/* Add regular files, and all regular files below directories, sorted by name in each; links are not
 * followed but those named. What several of the paths lead to is added once. without: a directory
 * that is left out with all below it, unless it is one of the paths; NULL, or not there: none.
 * Another user's FUSE mount below a directory is left out unasked, and complained of.
 * Returns 0, -ENOENT or another errno for what does not exist, -EINVAL for what is neither
 * (ret_failed: which of the paths), -ENOMEM, -EOVERFLOW past 2^32 - 2 documents. */
int document_list_add(struct document_list *list, char *const *paths, size_t n, const char *without,
                      size_t *ret_failed);

/* The order in which a walk finds paths: what lies in a directory comes right behind it, before
 * what only begins like it. As strcmp(3). */
int document_list_compare(const char *a, const char *b);

/* Add paths that end with a NUL each (the last may lack it). The same errors, and those of reading.
 */
int document_list_read(struct document_list *list, FILE *from);

/* Add directory/path, unseen. -ENOMEM, -EOVERFLOW. */
int document_list_append(struct document_list *list, const char *directory, const char *path);

/* Write and read back the list as the file `documents` of a directory of the effective user's own
 * (base/trust.h). Return 0, -EPERM (it is not), or an errno of open(2), write(2) or read(2); load
 * -EUCLEAN for what is not as it was written, or as an older version wrote it. */
int document_list_save(const struct document_list *list, const char *directory);
int document_list_load(struct document_list *list, const char *directory);

#endif
