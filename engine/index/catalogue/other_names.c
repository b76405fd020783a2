#include "engine/index/catalogue/other_names.h"

#include <errno.h>
#include <string.h>

static bool goes(const struct catalogue_entry *link, const struct catalogue_name *going,
                 size_t n_going)
{
    for (size_t i = 0; i < n_going; i++)
        if (strcmp(link->name, going[i].name) == 0 &&
            file_key_equal(&link->parent, going[i].parent))
            return true;
    return false;
}

/* Whether one of some links, but for those that go, leads to the inode. A link counts only if its
 * name leads back: the two rows are written together, but a store need not keep them together. */
static int lead_back(struct kv *kv, const struct catalogue_list *links,
                     const struct file_key *child, const struct catalogue_name *going,
                     size_t n_going)
{
    for (size_t i = 0; i < links->n_entries; i++) {
        const struct catalogue_entry *link = &links->entries[i];
        struct file_key back;
        enum entry_type type;
        if (goes(link, going, n_going))
            continue;
        int r = catalogue_get(kv, &link->parent, link->name, &back, &type);
        if (r == 0 && file_key_equal(&back, child))
            return 1;
        if (r < 0 && r != -ENOENT)
            return r;
    }
    return 0;
}

int other_names_exist_beside(struct kv *kv, const struct catalogue_list *links,
                             const struct file_key *child, const struct catalogue_name *going,
                             size_t n_going)
{
    _cleanup_(catalogue_list_done) struct catalogue_list more = {0};
    int r = lead_back(kv, links, child, going, n_going);
    if (r != 0 || links->n_entries < OTHER_NAMES_LINKS)
        return r;
    r = catalogue_links(kv, child, OTHER_NAMES_LINKS + n_going, &more);
    return r < 0 ? r : lead_back(kv, &more, child, going, n_going);
}

int other_names_exist(struct kv *kv, const struct file_key *child,
                      const struct catalogue_name *going, size_t n_going)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(kv, child, OTHER_NAMES_LINKS, &links);
    return r < 0 ? r : other_names_exist_beside(kv, &links, child, going, n_going);
}
