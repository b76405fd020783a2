/* Lists of what stays, which backup tools read as what they are to take: paths as they are, each
 * with a NUL behind it. */
#ifndef KINFS_TOOLS_COMMANDS_SKIP_KEEP_LIST_H
#define KINFS_TOOLS_COMMANDS_SKIP_KEEP_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct keep_format;

/* The names of all, for a message. */
#define KEEP_FORMATS "restic, borg, rsync, tar, bsdtar or plain0"

/* Returns NULL for a name of none: a tool that has no such list, or none that says all names. */
const struct keep_format *keep_format_of(const char *name);

struct keep_list {
    const struct keep_format *format;
    const char *directory; /* that is walked */
    const char *told;      /* its path as the tool is told it; counts where paths are absolute */
    /* As of struct tree_entries, and of the path from the directory on. */
    bool (*leaves_out)(void *user, const char *path, bool is_top);
    void (*print)(char *text, size_t n_bytes);
    void *user;
};

/* Print all that is below the directory, of every kind, and is not left out. What a tool would
 * take with all that is in it, has no line of its own; so a directory of which all is left out is
 * none for such a tool, which is complained of. Each name that the format cannot say, and what
 * could not be looked at, is complained of and counted. Returns 0 or -ENOMEM. */
int keep_list_print(const struct keep_list *list, unsigned *ret_n_lacking);

#endif
