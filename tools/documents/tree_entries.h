/* All that is below a directory, of every kind, in order: what a backup could have of it.
 *
 * The entries of a directory are sorted, and it comes before what is in it. Nothing is open between
 * two directories, and memory is that of the entries of those on the way. */
#ifndef KINFS_TOOLS_DOCUMENTS_TREE_ENTRIES_H
#define KINFS_TOOLS_DOCUMENTS_TREE_ENTRIES_H

#include <stdbool.h>

enum tree_entry {
    TREE_ENTRY_OTHER,     /* than a directory */
    TREE_ENTRY_DIRECTORY, /* with something in it that is told next, or was not to be read */
    TREE_ENTRY_EMPTY,     /* a directory that has nothing in it */
    TREE_ENTRY_EMPTIED,   /* one of which everything is left out */
};

struct tree_entries {
    /* An entry is left out, and all below it; asked of each. is_top: of the directory
     * itself that is walked. */
    bool (*leaves_out)(void *user, const char *path, bool is_top);
    /* Returns 0, or an error that ends the walk. */
    int (*tell)(void *user, const char *path, enum tree_entry entry);
    void *user;
};

/* Walk what is below a directory that is trusted to be the one that is meant (place_open()). Paths
 * are relative to it. What cannot be looked at is complained of by its whole path, and counted: it
 * is told as a directory, but for another user's mount, which is left alone as it is for commands
 * that read documents.
 *
 * Returns 0, -ENOMEM, or what `tell` returned; ret_n_unread is 0 where all was seen. */
int tree_entries_walk(const struct tree_entries *entries, const char *directory,
                      unsigned *ret_n_unread);

#endif
