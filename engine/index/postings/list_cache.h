/* Posting lists of tier R in memory, those asked for lately: of a list its first sids, mostly all
 * there are. It mirrors the table and nothing else: postings.c puts in what it read, and tells it
 * of each posting that is added or removed.
 *
 * Memory: 54 to 107 bytes a list of up to three documents, 8 more for each further one; bounded,
 * what was not asked for lately goes first. Of one thread, the writer of postings. */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_LIST_CACHE_H
#define KINFS_ENGINE_INDEX_POSTINGS_LIST_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct list_cache;

/* A list is known by so many sids at most, and read again when removals leave fewer than
 * LIST_CACHE_LEAST of a longer one. */
enum { LIST_CACHE_MOST = 1100, LIST_CACHE_LEAST = 1040 };

/* The beginning of a list, ascending; whole: there is no more of it. */
struct posting_list {
    const uint64_t *sids;
    size_t n;
    bool whole;
};

/* max_bytes  of all lists. Returns 0, -ENOMEM. */
int list_cache_new(size_t max_bytes, struct list_cache **ret_cache);
void list_cache_free(struct list_cache *cache);

/* Returns whether it is there; valid until the cache is next changed. 50 ns. */
bool list_cache_find(struct list_cache *cache, uint64_t fingerprint, struct posting_list *ret_list);
/* A list that was read, its first LIST_CACHE_MOST sids or all. Without memory it is not kept.
 * Returns whether it is there now, as list_cache_find(). */
bool list_cache_put(struct list_cache *cache, uint64_t fingerprint, const struct posting_list *list,
                    struct posting_list *ret_list);

/* A list changes, be it there or not. */
void list_cache_add(struct list_cache *cache, uint64_t fingerprint, uint64_t sid);
void list_cache_remove(struct list_cache *cache, uint64_t fingerprint, uint64_t sid);
/* Anything may have happened. */
void list_cache_clear(struct list_cache *cache);

#endif
