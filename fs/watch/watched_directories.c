#include "fs/watch/watched_directories.h"

#include <errno.h>
#include <stdlib.h>

enum { LEAST_BUCKETS = 64 };

/* The place of what has the number, or of what is to have it. Others choose which numbers stay, by
 * the directories that they remove. */
static struct watched_directory **place_of(const struct watched_directories *directories,
                                           int watch_id)
{
    uint64_t hash = mix64(file_key_secret ^ (uint64_t)watch_id);
    struct watched_directory **link = &directories->buckets[hash & (directories->n_buckets - 1)];
    while (*link && (*link)->watch_id != watch_id)
        link = &(*link)->next;
    return link;
}

static int grow(struct watched_directories *directories)
{
    struct watched_directories more = {
        .n_buckets = directories->n_buckets ? 2 * directories->n_buckets : LEAST_BUCKETS};
    more.buckets = calloc(more.n_buckets, sizeof(struct watched_directory *));
    if (!more.buckets)
        return -ENOMEM;
    for (size_t i = 0; i < directories->n_buckets; i++) {
        for (struct watched_directory *one = directories->buckets[i], *next; one; one = next) {
            next = one->next;
            one->next = NULL;
            *place_of(&more, one->watch_id) = one;
        }
    }
    more.n = directories->n;
    free(directories->buckets);
    *directories = more;
    return 0;
}

void watched_directories_done(struct watched_directories *directories)
{
    for (size_t i = 0; i < directories->n_buckets; i++) {
        for (struct watched_directory *one = directories->buckets[i], *next; one; one = next) {
            next = one->next;
            free(one);
        }
    }
    free(directories->buckets);
    *directories = (struct watched_directories){0};
}

int watched_directories_put(struct watched_directories *directories, int watch_id,
                            const struct file_key *key)
{
    if (watched_directories_find(directories, watch_id))
        return 0;
    if (directories->n == directories->n_buckets && grow(directories) < 0)
        return -ENOMEM;
    struct watched_directory *one = malloc(sizeof(*one));
    if (!one)
        return -ENOMEM;
    *one = (struct watched_directory){.watch_id = watch_id, .key = *key};
    *place_of(directories, watch_id) = one;
    directories->n++;
    return 0;
}

const struct watched_directory *
watched_directories_find(const struct watched_directories *directories, int watch_id)
{
    return directories->n_buckets ? *place_of(directories, watch_id) : NULL;
}

void watched_directories_forget(struct watched_directories *directories, int watch_id)
{
    if (!directories->n_buckets)
        return;
    struct watched_directory **link = place_of(directories, watch_id), *one = *link;
    if (!one)
        return;
    *link = one->next;
    free(one);
    directories->n--;
}
