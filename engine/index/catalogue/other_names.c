#include "engine/index/catalogue/other_names.h"

#include <errno.h>
#include <string.h>

#include "base/room.h"

static bool goes(const struct catalogue_entry *link, const struct catalogue_name *going,
                 size_t n_going)
{
    for (size_t i = 0; i < n_going; i++)
        if (strcmp(link->name, going[i].name) == 0 &&
            file_key_equal(&link->parent, going[i].parent))
            return true;
    return false;
}

/* A link counts only if its name leads back: the two rows are written together, but a store need
 * not keep them together. */
static int leads_back(struct kv *kv, const struct catalogue_entry *link,
                      const struct file_key *child)
{
    struct file_key back;
    enum entry_type type;
    int r = catalogue_get(kv, &link->parent, link->name, &back, &type);
    return r == -ENOENT ? 0 : r < 0 ? r : file_key_equal(&back, child);
}

/* One of some links, but for those that go, leads to the inode. */
static int lead_back(struct kv *kv, const struct catalogue_list *links,
                     const struct file_key *child, const struct catalogue_name *going,
                     size_t n_going)
{
    for (size_t i = 0; i < links->n_entries; i++) {
        const struct catalogue_entry *link = &links->entries[i];
        int r = goes(link, going, n_going) ? 0 : leads_back(kv, link, child);
        if (r != 0)
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

/* -- directories -- */

/* Directories to climb from, the lowest first: one that has the root above it is found, though
 * others of its names are parts of circles. */
struct climb {
    struct file_key *directories;
    size_t at, n, room;
};

/* Adds what is above one, no more than is too much to be climbed. Returns 1 when that is the root,
 * 0, or an error. */
static int climb_one(struct kv *kv, const struct file_key *root, const struct file_key *without,
                     unsigned left, struct climb *climb)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(kv, &climb->directories[climb->at++], OTHER_NAMES_LINKS, &links);
    if (climb->at == climb->n)
        climb->at = climb->n = 0;
    for (size_t i = 0; r == 0 && i < links.n_entries && climb->n - climb->at <= left; i++) {
        const struct file_key *above = &links.entries[i].parent;
        if (file_key_equal(above, root))
            return 1;
        if (without && file_key_equal(above, without))
            continue;
        if (!MAKE_ROOM(climb->directories, climb->room, climb->n + 1))
            return -ENOMEM;
        climb->directories[climb->n++] = *above;
    }
    return r;
}

int directory_leads_up(struct kv *kv, const struct file_key *root, const struct file_key *directory,
                       const struct file_key *without, unsigned *left)
{
    struct climb climb = {0};
    int r = 0;
    if (file_key_equal(directory, root))
        return 1;
    if (without && file_key_equal(directory, without))
        return 0;
    if (!MAKE_ROOM(climb.directories, climb.room, 1))
        return -ENOMEM;
    climb.directories[climb.n++] = *directory;
    while (r == 0 && climb.n) {
        r = *left ? climb_one(kv, root, without, *left - 1, &climb) : -E2BIG;
        *left -= *left > 0;
    }
    free(climb.directories);
    return r;
}

int other_names_lead_up(struct kv *kv, const struct file_key *root,
                        const struct file_key *directory, const struct catalogue_name *going,
                        unsigned *left)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(kv, directory, OTHER_NAMES_LINKS, &links);
    for (size_t i = 0; r == 0 && i < links.n_entries; i++) {
        const struct catalogue_entry *link = &links.entries[i];
        r = goes(link, going, going != NULL) ? 0 : leads_back(kv, link, directory);
        /* Renamed where it is, it is below the root as it was. */
        if (r > 0 && !(going && file_key_equal(&link->parent, going->parent)))
            r = directory_leads_up(kv, root, &link->parent, directory, left);
    }
    return r;
}
