/* The links of one directory of a view, and a small memory of the last such lists: `ls -l` asks for
 * each link once more by name, and must not query the index each time.
 *
 * Threads: any.
 */
#ifndef KINFS_FS_VIEWS_VIEW_LINKS_H
#define KINFS_FS_VIEWS_VIEW_LINKS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "engine/index/index.h"

struct view_link {
    char *name, *path; /* path: relative to the root of the tree */
    struct file_key key;
};

/* Immutable but for the count of its users. */
struct view_links {
    unsigned n_refs;
    size_t n_links;
    size_t n_bytes;           /* of memory, but for what malloc(3) adds to each name and path */
    struct view_link links[]; /* by name, descending: best first */
};

/* n_up  directories from that they are in to the root of the mount
 * kin   borrowed; what a symbolic link cannot hold the way to, which is longer than 4,095 bytes, is
 *       left out
 * Returns 0 or -ENOMEM; gives one reference. */
int view_links_new(size_t n_up, const struct kin *kin, size_t n_kin, struct view_links **ret_links);
struct view_links *view_links_ref(struct view_links *links);
void view_links_unref(struct view_links *links); /* NULL allowed */
DEFINE_CLEANUP(struct view_links *, view_links_unref);

const struct view_link *view_links_find(const struct view_links *links, const char *name);

/* The directory that a list is of, whom it is for, and as of when: a list is good for as long as
 * the index has not changed since. */
struct view_links_key {
    uint64_t node;       /* its view_node_hash() */
    uint64_t caller;     /* its caller_number() */
    uint64_t generation; /* index_generation(), read before the query */
    uid_t user;          /* the caller's: whose share of the memory it takes */
};

/* Lists; who reads more directories than that at once only queries more. A user who does leaves
 * others theirs: the one who has most loses the list that was not used for longest. */
enum { VIEW_LINKS_REMEMBERED = 64 };

struct view_links_memory {
    pthread_mutex_t lock;
    uint64_t clock;
    struct {
        uint64_t used;
        struct view_links_key key;
        struct view_links *links;
    } places[VIEW_LINKS_REMEMBERED];
};

void view_links_memory_init(struct view_links_memory *memory);
void view_links_memory_done(struct view_links_memory *memory);
/* Gives a reference, or NULL. */
struct view_links *view_links_recall(struct view_links_memory *memory,
                                     const struct view_links_key *key);
void view_links_remember(struct view_links_memory *memory, const struct view_links_key *key,
                         struct view_links *links);

#endif
