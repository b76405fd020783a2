#include "fs/inodes/inode_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fs/inodes/inode_path.h"

static struct inode_place **find_place(struct inode_path *path, const struct inode *parent,
                                       const char *name)
{
    struct inode_place **link = &path->places;
    while (*link && ((*link)->parent != parent || strcmp((*link)->name, name) != 0))
        link = &(*link)->next;
    return link;
}

static struct inode_place *take_place(struct inode_place **link)
{
    struct inode_place *place = *link;
    if (place) {
        *link = place->next;
        place->next = NULL;
    }
    return place;
}

struct inode_place *inode_place_take(struct inode *inode, const struct inode *parent,
                                     const char *name)
{
    return take_place(find_place(inode->path, parent, name));
}

static struct inode_place *new_place(struct inode *parent, const char *name)
{
    size_t n_bytes = strlen(name) + 1;
    struct inode_place *place = malloc(sizeof(*place) + n_bytes);
    if (!place)
        return NULL;
    *place = (struct inode_place){.parent = parent};
    memcpy(place->name, name, n_bytes);
    parent->n_refs++;
    return place;
}

struct inode_place *inode_place_add(struct inode *inode, struct inode *parent, const char *name,
                                    size_t n_max)
{
    struct inode_path *path = inode->path;
    struct inode_place *place = inode_place_take(inode, parent, name);
    if (!place)
        place = new_place(parent, name);
    if (!place)
        return NULL;
    place->next = path->places;
    path->places = place;
    struct inode_place **link = &path->places;
    for (size_t n = 0; *link && n < n_max; n++)
        link = &(*link)->next;
    struct inode_place *dropped = *link;
    *link = NULL;
    return dropped;
}

void inode_places_free(struct inode_table *table, struct inode_place *places)
{
    while (places) {
        struct inode_place *next = places->next;
        inode_unref(table, places->parent);
        free(places);
        places = next;
    }
}

void inode_place_move(struct inode_table *table, struct inode *inode, struct inode *old_parent,
                      const char *old_name, struct inode *new_parent, const char *new_name)
{
    struct inode_place *old, *dropped;
    {
        LOCKED(&table->lock);
        old = inode_place_take(inode, old_parent, old_name);
        dropped = inode_place_add(inode, new_parent, new_name, INODE_PLACES_MAX);
    }
    inode_places_free(table, old);
    inode_places_free(table, dropped);
}

bool inode_place_drop(struct inode_table *table, struct inode *inode, const struct inode *parent,
                      const char *name)
{
    struct inode_place *wrong;
    {
        LOCKED(&table->lock);
        struct inode_path *path = inode->path;
        struct inode_place **tried = find_place(path, parent, name);
        /* The only one is kept: what was moved may come back. */
        if (!path->places || (*tried && !path->places->next))
            return path->fd.fd >= 0;
        wrong = take_place(tried);
    }
    inode_places_free(table, wrong);
    return true;
}
