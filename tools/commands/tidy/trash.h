/* The trash, as the Trash specification of freedesktop.org (1.0) has it: files in files/, and of
 * each where it was and when it came in info/. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TRASH_H
#define KINFS_TOOLS_COMMANDS_TIDY_TRASH_H

struct trash {
    char *path; /* of its directory; NULL: none */
    char *top;  /* the directory that paths in it are relative to; NULL: they are absolute */
    int fd, files_fd, info_fd; /* itself, and what is in it */
};
#define TRASH_NONE                                                                                 \
    {                                                                                              \
        .fd = -1, .files_fd = -1, .info_fd = -1                                                    \
    }
void trash_done(struct trash *trash);

/* The trash of who runs this, in the same mount as a tree: that of the home directory, else that of
 * the mount's uppermost directory; made where it is missing. Nobody else can look into it or write
 * there.
 *
 * directory  the path of the tree
 * chosen     its directory where that was said, or NULL
 *
 * Returns 0, -EXDEV (what was chosen is in another mount), -EINVAL (in the tree), -EPERM, or an
 * errno of open(2) or mkdir(2), with *ret_error. */
int trash_find(int tree_fd, const char *directory, const char *chosen, struct trash *ret_trash,
               char **ret_error);

/* One that was found before, by its path. Returns 0, or as above but for -EXDEV; with *ret_why for
 * -EPERM alone. */
int trash_open(const char *path, struct trash *ret_trash, char **ret_why);

#endif
