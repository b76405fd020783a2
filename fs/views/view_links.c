#include "fs/views/view_links.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fs/views/view_names.h"

static int descending(const void *a, const void *b)
{
    return strcmp(((const struct view_link *)b)->name, ((const struct view_link *)a)->name);
}

int view_links_new(size_t n_up, const struct kin *kin, size_t n_kin, struct view_links **ret_links)
{
    char **names;
    int r = view_names_make(kin, n_kin, &names);
    if (r < 0)
        return r;
    struct view_links *links = malloc(sizeof(*links) + n_kin * sizeof(links->links[0]));
    if (!links) {
        view_names_free(names, n_kin);
        return -ENOMEM;
    }
    links->n_refs = 1;
    links->n_links = 0;
    links->n_bytes = sizeof(*links) + n_kin * sizeof(links->links[0]);
    for (size_t i = 0; r == 0 && i < n_kin; i++) {
        const size_t n_bytes = strlen(kin[i].path);
        if (n_up * (sizeof("../") - 1) + n_bytes >= PATH_MAX)
            continue;
        char *path = strdup(kin[i].path);
        if (!path) {
            r = -ENOMEM;
            continue;
        }
        links->n_bytes += strlen(names[i]) + 1 + n_bytes + 1;
        links->links[links->n_links++] =
            (struct view_link){.name = TAKE_PTR(names[i]), .path = path, .key = kin[i].key};
    }
    view_names_free(names, n_kin);
    if (r < 0) {
        view_links_unref(links);
        return r;
    }
    qsort(links->links, links->n_links, sizeof(links->links[0]), descending);
    *ret_links = links;
    return 0;
}

struct view_links *view_links_ref(struct view_links *links)
{
    __atomic_add_fetch(&links->n_refs, 1, __ATOMIC_RELAXED);
    return links;
}

void view_links_unref(struct view_links *links)
{
    if (!links || __atomic_sub_fetch(&links->n_refs, 1, __ATOMIC_ACQ_REL))
        return;
    for (size_t i = 0; i < links->n_links; i++) {
        free(links->links[i].name);
        free(links->links[i].path);
    }
    free(links);
}

const struct view_link *view_links_find(const struct view_links *links, const char *name)
{
    struct view_link wanted = {.name = (char *)name};
    return bsearch(&wanted, links->links, links->n_links, sizeof(wanted), descending);
}

void view_links_memory_init(struct view_links_memory *memory)
{
    *memory = (struct view_links_memory){0};
    pthread_mutex_init(&memory->lock, NULL);
}

void view_links_memory_done(struct view_links_memory *memory)
{
    for (int i = 0; i < VIEW_LINKS_REMEMBERED; i++)
        view_links_unref(memory->places[i].links);
    pthread_mutex_destroy(&memory->lock);
}

static bool same_directory(const struct view_links_key *a, const struct view_links_key *b)
{
    return a->node == b->node && a->caller == b->caller;
}

struct view_links *view_links_recall(struct view_links_memory *memory,
                                     const struct view_links_key *key)
{
    LOCKED(&memory->lock);
    for (int i = 0; i < VIEW_LINKS_REMEMBERED; i++) {
        if (memory->places[i].links && same_directory(&memory->places[i].key, key) &&
            memory->places[i].key.generation == key->generation) {
            memory->places[i].used = ++memory->clock;
            return view_links_ref(memory->places[i].links);
        }
    }
    return NULL;
}

static size_t count_of(const struct view_links_memory *memory, uid_t user)
{
    size_t n = 0;
    for (size_t i = 0; i < VIEW_LINKS_REMEMBERED; i++)
        n += memory->places[i].links && memory->places[i].key.user == user;
    return n;
}

/* That of the directory, one that is free, or the oldest of the user who has most. */
static size_t find_place(const struct view_links_memory *memory, const struct view_links_key *key)
{
    size_t found = 0, most = 0;
    for (size_t i = 0; i < VIEW_LINKS_REMEMBERED; i++) {
        const bool is_free = !memory->places[i].links;
        if (!is_free && same_directory(&memory->places[i].key, key))
            return i;
        const size_t n = is_free ? SIZE_MAX : count_of(memory, memory->places[i].key.user);
        if (n > most || (n == most && memory->places[i].used < memory->places[found].used)) {
            found = i;
            most = n;
        }
    }
    return found;
}

void view_links_remember(struct view_links_memory *memory, const struct view_links_key *key,
                         struct view_links *links)
{
    struct view_links *dropped;
    {
        LOCKED(&memory->lock);
        const size_t place = find_place(memory, key);
        dropped = memory->places[place].links;
        memory->places[place].links = view_links_ref(links);
        memory->places[place].key = *key;
        memory->places[place].used = ++memory->clock;
    }
    view_links_unref(dropped);
}
