#include "engine/index/catalogue/other_names.h"

#include <errno.h>
#include <string.h>

/* Whether one of some links, but for one name, leads to the inode. A link counts only if its name
 * leads back: the two rows are written together, but a store need not keep them together. */
static int lead_back(struct kv *kv, const struct catalogue_list *links,
                     const struct file_key *child, const struct file_key *parent, const char *name)
{
    for (size_t i = 0; i < links->n_entries; i++) {
        const struct catalogue_entry *link = &links->entries[i];
        struct file_key back;
        enum entry_type type;
        if (strcmp(link->name, name) == 0 && file_key_equal(&link->parent, parent))
            continue;
        int r = catalogue_get(kv, &link->parent, link->name, &back, &type);
        if (r == 0 && file_key_equal(&back, child))
            return 1;
        if (r < 0 && r != -ENOENT)
            return r;
    }
    return 0;
}

/* Whether the inode has another name than this one. Most have few; of very many those next to it in
 * order are looked at.
 *
 * links  the first OTHER_NAMES_LINKS of it */
int other_names_exist_beside(struct kv *kv, const struct catalogue_list *links,
                             const struct file_key *child, const struct file_key *parent,
                             const char *name)
{
    if (links->n_entries < OTHER_NAMES_LINKS)
        return lead_back(kv, links, child, parent, name);
    int r = 0;
    for (int before = 0; before < 2 && r == 0; before++) {
        _cleanup_(catalogue_list_done) struct catalogue_list beside = {0};
        r = catalogue_links_beside(kv, child, parent, name, before, OTHER_NAMES_LINKS, &beside);
        if (r == 0)
            r = lead_back(kv, &beside, child, parent, name);
    }
    return r;
}

int other_names_exist(struct kv *kv, const struct file_key *child, const struct file_key *parent,
                      const char *name)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(kv, child, OTHER_NAMES_LINKS, &links);
    return r < 0 ? r : other_names_exist_beside(kv, &links, child, parent, name);
}
