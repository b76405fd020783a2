/* A tree of files on the disk, about which links lead. */
#ifndef KINFS_TOOLS_COMMANDS_LINKS_LINKED_TREE_H
#define KINFS_TOOLS_COMMANDS_LINKS_LINKED_TREE_H

#include <pthread.h>
#include <sys/stat.h>

#include "base/files/trust.h"
#include "engine/topic/links/link_place.h"
#include "tools/documents/document_list.h"

/* The memory of a list of documents: for some millions of them. */
enum { LINKED_TREE_LIST_BYTES = 512 << 20 };

/* The owners of documents whose links took long in a run. Zero-initialised but for the mutex; ends
 * with linked_owners_done(). */
struct linked_owners {
    pthread_mutex_t mutex;
    struct linked_owner *owners;
    size_t n, room;
};
void linked_owners_done(struct linked_owners *owners);

/* Zero-initialised; ends with linked_tree_done(). */
struct linked_tree {
    bool is_open;
    int fd;       /* of the directory, O_PATH, where it is open */
    bool is_fuse; /* it may be the top of a mount of kinfs, whose views the kernel has at hand */
    char *top;    /* its path without links; "" for all of the file system */
    const char *shown; /* what stands before its names when they are shown, borrowed */
    uint32_t n_shown;
    struct trusted_mount trusted;
    int64_t until_thread_us, until_ms; /* what is asked for later is not looked for */
    bool is_late;
    struct linked_owners *owners;      /* borrowed, of all threads; for linked_tree_begin() */
    uid_t owner;                       /* of the document */
    bool is_over;                      /* the owner's time is */
    int64_t begin_thread_us, spent_us; /* of the document; spent: looking, or a part of all */
    int64_t free_us;                   /* that do not count */
    struct document_list documents;    /* all below it, where they were listed */
    struct base_name *bases;           /* as many, sorted */
    char *named, *named_real; /* the last part of a path that was named, and without links */
};

/* directory: borrowed; NULL: all of the file system. Returns 0, -ENOTDIR, -ENOMEM or an errno, with
 * a line in *ret_error. */
int linked_tree_open(struct linked_tree *tree, const char *directory, char **ret_error);
void linked_tree_done(struct linked_tree *tree);

/* A document of an owner begins, of which linked_tree_is() takes no more than LINKED_TREE_S of the
 * processor's time, and LINKED_TREE_WAIT_S in all: each of thousands of links may have hundreds of
 * names looked for, and each of these lead through forty symbolic links that somebody has made as
 * long as can be, or to where a file system takes its time. is_late says that this was not enough:
 * what was said then is not so. Nor has an owner more than LINKED_TREE_OWNER_S for all documents,
 * their reading included; of each LINKED_TREE_FREE_MS do not count, and LINKED_TREE_FREE_NS for
 * each byte on the disk, which is more than reading takes but of what is packed to take long.
 * is_over: the document need not be read for its links. */
enum {
    LINKED_TREE_S = 3,
    LINKED_TREE_WAIT_S = 60,
    LINKED_TREE_OWNER_S = 60,
    LINKED_TREE_FREE_MS = 10,
    LINKED_TREE_FREE_NS = 250
};
void linked_tree_begin(struct linked_tree *tree, const struct stat *document);

/* The document ends; says of it, or once of its owner, that links are left out. */
void linked_tree_end(struct linked_tree *tree, const char *path);

/* The interface of link_place_find(); user is a struct linked_tree. What cannot be looked at, as it
 * is in another user's mount or not to be searched, or would have to be mounted or made up first
 * (trust_open_by_word()), counts as a file: nobody knows better. */
enum link_is linked_tree_is(void *user, const char *name);

/* List the documents below it, in memory that is bounded. The errors of document_list_add(), with a
 * line in *ret_error. */
int linked_tree_list(struct linked_tree *tree, char **ret_error);

/* The name in the tree of document i of a list; ret_name gives. Returns 0, -EXDEV (it is not in the
 * tree), -ENOMEM or an errno. */
int linked_tree_name_of(struct linked_tree *tree, const struct document_list *list, uint32_t i,
                        char **ret_name);

/* The same of a path that somebody named, at which nothing need be, but in a directory. Also
 * -ENOENT: there is no such directory. */
int linked_tree_name_path(struct linked_tree *tree, const char *path, char **ret_name);

/* The only document of the listed tree that is called as the last component of a name, ret_name
 * gives. Returns 0, -ENOENT (there is none, or there are several) or -ENOMEM. Some microseconds. */
int linked_tree_find_base(struct linked_tree *tree, const char *name, char **ret_name);

/* A name as people are shown it, below the directory as it was named. Gives. */
char *linked_tree_path(const struct linked_tree *tree, const char *name);

#endif
