/* Paths from the catalogue: from an entry up to the root, one row of `links` a directory. Answers
 * to one question mostly lie in few directories, so their paths are kept for the question's
 * duration. No path is longer than a system call takes: directories made in each other by their
 * descriptors can be, and would fill the memory.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/catalogue/catalogue.h"

/* A path of more names is too long. Climbed are twice as many, so that of those below a directory
 * that has no path half know it without climbing again. */
enum { N_SLOTS = 1024, NAMES_MAX = PATH_MAX / 2, CLIMB_MAX = 2 * NAMES_MAX };

struct slot {
    struct file_key directory;
    char *path; /* or NULL: */
    int error;  /* 0: the slot is free */
};

struct path_cache {
    struct kv *kv;
    struct file_key root;
    struct slot slots[N_SLOTS]; /* direct mapped: a clash forgets the older */
};

int path_cache_new(struct kv *kv, const struct file_key *root, struct path_cache **ret_cache)
{
    struct path_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return -ENOMEM;
    cache->kv = kv;
    cache->root = *root;
    *ret_cache = cache;
    return 0;
}

void path_cache_free(struct path_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < N_SLOTS; i++)
        free(cache->slots[i].path);
    free(cache);
}

static int join(const char *directory, const char *name, char **ret_path)
{
    char *path;
    if (strlen(directory) + 1 + strlen(name) >= PATH_MAX)
        return -ENAMETOOLONG;
    if (asprintf(&path, "%s%s%s", directory, *directory ? "/" : "", name) < 0)
        return -ENOMEM;
    *ret_path = path;
    return 0;
}

static struct slot *slot_of(struct path_cache *cache, const struct file_key *directory)
{
    return &cache->slots[file_key_hash(directory) % N_SLOTS];
}

/* Takes the path. */
static void fill(struct slot *slot, const struct file_key *directory, char *path, int error)
{
    free(slot->path);
    *slot = (struct slot){.directory = *directory, .path = path, .error = error};
}

void path_cache_refuse(struct path_cache *cache, const struct file_key *directory)
{
    fill(slot_of(cache, directory), directory, NULL, -EPERM);
}

/* *ret_path is borrowed until the next call. Returns -ELOOP where there are too many above to tell
 * how many, and depth is too large to say that they are too many for this one. */
static int directory_path(struct path_cache *cache, const struct file_key *directory,
                          unsigned depth, const char **ret_path)
{
    if (file_key_equal(directory, &cache->root)) {
        *ret_path = "";
        return 0;
    }
    struct slot *slot = slot_of(cache, directory);
    if ((slot->path || slot->error) && file_key_equal(&slot->directory, directory)) {
        *ret_path = slot->path;
        return slot->error;
    }
    if (depth == CLIMB_MAX)
        return -ELOOP;

    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(cache->kv, directory, 1, &links);
    if (r < 0)
        return r;
    if (links.n_entries == 0)
        return -ENOENT;
    const char *above;
    char *path = NULL;
    fill(slot, directory, NULL, -ENOENT); /* as one is that is met again further up: in a circle */
    r = directory_path(cache, &links.entries[0].parent, depth + 1, &above);
    if (r == 0)
        r = join(above, links.entries[0].name, &path);
    if (r == -ELOOP && depth <= CLIMB_MAX - NAMES_MAX)
        r = -ENAMETOOLONG;
    fill(slot, directory, path, r == -ENAMETOOLONG || r == -ENOENT ? r : 0);
    if (r < 0)
        return r;
    *ret_path = path;
    return 0;
}

int path_cache_entry(struct path_cache *cache, const struct file_key *parent, const char *name,
                     char **ret_path)
{
    const char *above;
    int r = directory_path(cache, parent, 0, &above);
    return r < 0 ? r : join(above, name, ret_path);
}

int catalogue_path(struct kv *kv, const struct file_key *root, const struct file_key *key,
                   char **ret_path)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    if (file_key_equal(key, root)) {
        char *path = strdup("");
        if (path)
            *ret_path = path;
        return path ? 0 : -ENOMEM;
    }
    int r = catalogue_links(kv, key, CATALOGUE_PATHS_TRIED, &links);
    if (r == 0)
        r = path_cache_new(kv, root, &paths);
    if (r < 0)
        return r;
    r = -ENOENT;
    for (size_t i = 0; (r == -ENOENT || r == -ENAMETOOLONG) && i < links.n_entries; i++)
        r = path_cache_entry(paths, &links.entries[i].parent, links.entries[i].name, ret_path);
    return r == -ENAMETOOLONG ? -ENOENT : r;
}
