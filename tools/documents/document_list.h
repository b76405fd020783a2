/* Paths of documents, in the order in which they are numbered. */
#ifndef KINFS_TOOLS_DOCUMENTS_DOCUMENT_LIST_H
#define KINFS_TOOLS_DOCUMENTS_DOCUMENT_LIST_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "tools/documents/paths.h"
#include "tools/options/document_rules.h"

struct document {
    struct path path; /* n_named: bytes of it that were named, and may have links in them */
    dev_t dev;        /* of what it leads to */
    ino_t ino;        /* 0: not looked at, or in an earlier run */
};

/* Zero-initialised. */
struct document_list {
    struct document *documents;
    struct path *reals; /* as many, where the list was read back: without links; or NULL */
    uint32_t n;
    uint32_t
        n_unread; /* directories and files that could not be looked at; each was complained of */
    uint64_t most_bytes; /* of memory, beyond which adding is refused (-E2BIG); 0: no bound */
    /* private */
    size_t documents_room, reals_room;
    uint64_t listing_bytes; /* of the directories that a walk is in, whose names it has */
    struct paths paths;
};

void document_list_done(struct document_list *list);

/* The bytes that it takes: of each document, its name, and of each directory. */
uint64_t document_list_memory(const struct document_list *list);

/* The path of document i; and, of a list that was read back, that of then without links, by which
 * it is opened (empty: there is none). Gives; NULL: no memory, or none was read back. */
char *document_list_path(const struct document_list *list, uint32_t i);
char *document_list_real(const struct document_list *list, uint32_t i);

/* Add regular files, and all regular files below directories, sorted by name in each; links are not
 * followed but those named. What several of the paths lead to is added once. without: a directory
 * that is left out with all below it, unless it is one of the paths; NULL, or not there: none.
 * Another user's FUSE mount below a directory is left out unasked, and complained of. What is below
 * a directory that was named, and is no document by rules, ignore files or by default, is left out.
 * Returns 0, -ENOENT or another errno for what does not exist, -EINVAL for what is neither
 * (ret_failed: which of the paths), -ENOMEM, -EOVERFLOW past 2^32 - 2 documents, -E2BIG past
 * most_bytes. */
int document_list_add(struct document_list *list, char *const *paths, size_t n, const char *without,
                      const struct document_rules *rules, size_t *ret_failed);

/* Says why document_list_add() failed, with r, as refuse() does; 0 where r is. */
int document_list_refuse(int r, char *const *paths, size_t n, size_t failed, char **ret_error);

/* The order in which a walk finds paths: what lies in a directory comes right behind it, before
 * what only begins like it. As strcmp(3). */
int document_list_compare(const char *a, const char *b);

/* The same of documents i and j of a list, and by their numbers where the paths are equal. */
int document_list_order(const struct document_list *list, uint32_t i, uint32_t j);

/* Add paths that end with a NUL each (the last may lack it). The same errors, those of reading, and
 * -ENAMETOOLONG for one of a mebibyte or more, at which reading ends. */
int document_list_read(struct document_list *list, FILE *from);

/* Add directory/path, unseen. -ENOMEM, -EOVERFLOW, -E2BIG. */
int document_list_append(struct document_list *list, const char *directory, const char *path);

/* Write and read back the list as the file `documents` of a directory of the effective user's own
 * (base/files/trust.h). Return 0, -EPERM (it is not), or an errno of open(2), write(2) or read(2);
 * load -EUCLEAN for what is not as it was written, or as an older version wrote it. */
int document_list_save(const struct document_list *list, const char *directory);
int document_list_load(struct document_list *list, const char *directory);

#endif
