#include "tools/commands/skip/keep_list.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "tools/documents/tree_entries.h"
#include "tools/show/message.h"

struct keep_format {
    const char *name;
    bool is_absolute;
    bool recurses;      /* a directory is taken with all that is in it */
    const char *unsaid; /* characters that it cannot say */
};

/* Without a path in front rsync takes a name that begins with "#" or ";" for a comment. */
static const char relative[] = "./";

static const struct keep_format formats[] = {
    {.name = "restic", .is_absolute = true, .recurses = true, .unsaid = ""},
    /* It reads text, in which the end of a line has many forms. */
    {.name = "borg", .is_absolute = true, .unsaid = "\r"},
    {.name = "rsync", .unsaid = ""},
    {.name = "tar", .unsaid = ""},
    {.name = "bsdtar", .unsaid = ""},
    {.name = "plain0", .is_absolute = true, .unsaid = ""},
};

const struct keep_format *keep_format_of(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

struct printing {
    const struct keep_list *list;
    unsigned n_unsaid;
};

static bool leaves_out(void *user, const char *path, bool is_top)
{
    const struct printing *printing = user;
    return printing->list->leaves_out(printing->list->user, path, is_top);
}

static int print(void *user, const char *path, enum tree_entry entry)
{
    struct printing *printing = user;
    const struct keep_list *list = printing->list;
    const struct keep_format *format = list->format;
    const char *above = format->is_absolute ? list->told : relative;
    const bool ends = above[strlen(above) - 1] == '/';
    _cleanup_free_ char *text = message("%s%s%s", above, ends ? "" : "/", path);
    if (format->recurses && entry == TREE_ENTRY_DIRECTORY)
        return 0;
    if (format->recurses && entry == TREE_ENTRY_EMPTIED) {
        complain("%s: all that is in it is left out, and this format cannot name it without; it "
                 "is not in the backup",
                 text);
    } else if (strpbrk(text, format->unsaid)) {
        complain("%s: cannot be said in this format; is not in the backup", text);
        printing->n_unsaid++;
    } else {
        list->print(text, strlen(text) + 1);
    }
    return 0;
}

int keep_list_print(const struct keep_list *list, unsigned *ret_n_lacking)
{
    struct printing printing = {.list = list};
    const struct tree_entries entries = {
        .leaves_out = leaves_out, .tell = print, .user = &printing};
    unsigned n_unread;
    int r = tree_entries_walk(&entries, list->directory, &n_unread);
    if (r == 0)
        *ret_n_lacking = printing.n_unsaid + n_unread;
    return r;
}
