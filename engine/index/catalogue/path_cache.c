/* Paths from the catalogue: from an entry up to the root, one row of `links` a directory. Answers
 * to one question mostly lie in few directories, so their paths are kept for the question's
 * duration. What has more than CATALOGUE_DEPTH_MAX directories above it has no path: directories
 * made in each other by their descriptors go down as far as somebody likes, and each of them, and
 * each link there, would be as long a climb.
 *
 * A climb that ends there leaves with each directory on its way how many are above that at least.
 * Example: d is 400 directories down. Its climb ends after 256, at a; of the one above d, 255 are
 * known. So the climb of a sibling of d ends at the next step.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/catalogue/catalogue.h"

/* Four times the directories of one path. */
enum { N_SLOTS = 4 * CATALOGUE_DEPTH_MAX };

struct slot {
    struct file_key directory;
    char *path;     /* or NULL: */
    int error;      /* 0: the slot is free; -E2BIG: it is too far down, or not */
    unsigned depth; /* how many directories down it is, where it has a path; with -E2BIG at least */
    bool is_refused; /* it, or one above it; it has a path nevertheless */
};

struct path_cache {
    struct kv *kv;
    struct file_key root;
    struct slot slots[N_SLOTS]; /* direct mapped: a clash forgets the older */
    char of_root[1];
    struct slot top;
    unsigned cost; /* of the path that was made last */
};

int path_cache_new(struct kv *kv, const struct file_key *root, struct path_cache **ret_cache)
{
    struct path_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return -ENOMEM;
    cache->kv = kv;
    cache->root = *root;
    cache->top.path = cache->of_root;
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

static bool is_of(const struct slot *slot, const struct file_key *directory)
{
    return (slot->path || slot->error) && file_key_equal(&slot->directory, directory);
}

static void fill(struct slot *slot, const struct slot *content)
{
    free(slot->path);
    *slot = *content;
}

void path_cache_refuse(struct path_cache *cache, const struct file_key *directory)
{
    struct slot *slot = slot_of(cache, directory);
    if (is_of(slot, directory))
        slot->is_refused = true;
}

/* *ret_slot is borrowed until the next call. Returns -ELOOP where n_climbed leave no more to be
 * climbed. */
static int directory_path(struct path_cache *cache, const struct file_key *directory,
                          unsigned n_climbed, const struct slot **ret_slot)
{
    struct slot *slot = slot_of(cache, directory);
    const bool is_root = file_key_equal(directory, &cache->root);
    const bool is_known = is_root || is_of(slot, directory);
    if (is_known && (is_root || slot->error != -E2BIG)) {
        *ret_slot = is_root ? &cache->top : slot;
        return (*ret_slot)->error;
    }
    if (n_climbed + (is_known ? slot->depth : 0) >= CATALOGUE_DEPTH_MAX)
        return -ELOOP;

    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(cache->kv, directory, 1, &links);
    if (r < 0)
        return r;
    if (links.n_entries == 0)
        return -ENOENT;
    const struct slot *above;
    struct slot found = {.directory = *directory, .error = -ENOENT};
    fill(slot, &found); /* as one is that is met again further up: in a circle */
    r = directory_path(cache, &links.entries[0].parent, n_climbed + 1, &above);
    if (r == 0) {
        found.depth = above->depth + 1;
        found.is_refused = above->is_refused;
        r = found.depth > CATALOGUE_DEPTH_MAX
                ? -ENAMETOOLONG
                : join(above->path, links.entries[0].name, &found.path);
    }
    if (r == -ELOOP && n_climbed == 0) /* those above it may have a path */
        r = -ENAMETOOLONG;
    found.error = r == -ENAMETOOLONG || r == -ENOENT ? r : 0;
    if (r == -ELOOP) {
        found.error = -E2BIG;
        found.depth = CATALOGUE_DEPTH_MAX - n_climbed;
    }
    fill(slot, &found);
    *ret_slot = slot;
    return r;
}

int path_cache_entry(struct path_cache *cache, const struct file_key *parent, const char *name,
                     char **ret_path)
{
    const struct slot *above;
    _cleanup_free_ char *path = NULL;
    int r = directory_path(cache, parent, 0, &above);
    cache->cost = r == 0 ? above->depth + 1 : CATALOGUE_DEPTH_MAX;
    if (r == 0)
        r = join(above->path, name, &path);
    if (r == 0 && above->is_refused)
        r = -EPERM;
    if (r == 0)
        *ret_path = TAKE_PTR(path);
    return r;
}

unsigned path_cache_cost(const struct path_cache *cache)
{
    return cache->cost;
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
    unsigned cost = 0;
    for (size_t i = 0;
         (r == -ENOENT || r == -ENAMETOOLONG) && i < links.n_entries && cost < CATALOGUE_CLIMB_MAX;
         i++) {
        r = path_cache_entry(paths, &links.entries[i].parent, links.entries[i].name, ret_path);
        cost += path_cache_cost(paths);
    }
    return r == -ENAMETOOLONG ? -ENOENT : r;
}
