/* The nodes of the views that the kernel knows. Equal in kind, path and what they stand for, they
 * are one node as long as it is looked up.
 *
 * Threads: any.
 */
#ifndef KINFS_FS_VIEWS_VIEW_NODE_H
#define KINFS_FS_VIEWS_VIEW_NODE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/files/file_key.h"
#include "fs/inodes/node.h"

enum view_kind {
    VIEW_KINFS,     /* .kinfs */
    VIEW_DIRECTORY, /* similar and each directory below it: key */
    VIEW_DOCUMENT,  /* a document's directory of links: key */
    VIEW_CLUSTERS, /* of the default clustering, and the named ones; or of one of those: its base is
                      the cluster_id */
    VIEW_CLUSTER,  /* a cluster's directory of links: cluster_id */
    VIEW_LINK,     /* target */
    VIEW_TAG,      /* CACHEDIR.TAG */
    VIEW_QUESTIONS, /* .kinfs/query, where nothing is found */
    VIEW_QUESTION,  /* a file opened in it (view_question.h): question */
};

struct view_node {
    struct node node; /* first; the kernel's node id stands for it */
    enum view_kind kind;
    const char *path; /* in the mount: "similar/a/b.txt", ".kinfs/clusters/17" */
    const char *tree; /* end of path: what it mirrors, relative to the root of the tree; "" is that
                         root, and what a node has that mirrors nothing */
    const char *target; /* or NULL */
    uint64_t cluster_id;
    uint64_t question; /* which one of a name */
    struct file_key key;
    ino_t ino;
    uint64_t generation; /* differs for two nodes at one address; tells nothing else */
    uint64_t n_lookups;  /* the kernel's; under the table's lock */
    uint64_t hash;
    struct view_node *next; /* in its bucket */
};

struct view_table {
    pthread_mutex_t lock; /* of all below, and of lookup counts */
    struct view_node **buckets;
    size_t n_buckets, n_nodes;
    uint64_t last_generation; /* before it is concealed */
};

int view_table_init(struct view_table *table); /* 0, -ENOMEM */
void view_table_done(struct view_table *table);

/* The node equal to another that is only filled in so far as it is told by (kind, path, tree, and
 * target, cluster_id, question or key); its lookup count one higher. like is borrowed, its strings
 * copied.
 *
 * Returns 0 or -ENOMEM. Undo with view_table_forget(table, node, 1).
 */
int view_table_lookup(struct view_table *table, const struct view_node *like,
                      struct view_node **ret_node);
/* Equal for equal nodes, and of 64 bits: different for others, also where somebody chooses paths to
 * be alike (node_secret). */
uint64_t view_node_hash(const struct view_node *like);
void view_table_forget(struct view_table *table, struct view_node *node, uint64_t n_lookups);

/* The inode number of a path of a view: the same at every mount, in a range of its own (bit 62 set,
 * bit 63 not, so that it is positive where a number is signed) and so neither 0 nor 1. name may be
 * NULL, else it is that of an entry of the directory path. */
ino_t view_ino(const char *path, const char *name);

#endif
