/* The nodes of the views that the kernel knows. Equal in kind, parent, name and what they stand
 * for, they are one node as long as it is looked up.
 *
 * Nodes that somebody holds by thousands have no paths in memory: a node has its last name, and
 * paths are made when they are asked for. So of a link it is kept where in the tree its document
 * is: by nodes too, of which the kernel knows nothing.
 *
 * Threads: any.
 */
#ifndef KINFS_FS_VIEWS_VIEW_NODE_H
#define KINFS_FS_VIEWS_VIEW_NODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/files/file_key.h"
#include "engine/index/index.h"
#include "fs/inodes/node.h"

struct inode;
struct view_skipped;

enum view_kind {
    VIEW_KINFS,     /* .kinfs */
    VIEW_DIRECTORY, /* similar, contains, within, passages, and each directory below them: key,
                       relation */
    VIEW_DOCUMENT,  /* a document's directory of links: key, relation */
    VIEW_CLUSTERS, /* of the default clustering, and the named ones; or of one of those: its base is
                      the cluster_id */
    VIEW_CLUSTER,  /* a cluster's directory of links: cluster_id */
    VIEW_LINK,     /* target; or, without, a cluster's other name, beside it: cluster_id */
    VIEW_TAG,      /* CACHEDIR.TAG */
    VIEW_QUESTIONS,     /* .kinfs/query, where nothing is found */
    VIEW_QUESTION,      /* a file opened in it (view_question.h): question */
    VIEW_METRICS,       /* .kinfs/metrics (view_metrics.h) */
    VIEW_UNIQUE,        /* unique and each directory below it: key, inode */
    VIEW_SKIPPED,       /* the list at the top of it (view_skipped.h): skipped, question */
    VIEW_LOST,          /* lost and each path in it that is no document (view_lost.h) */
    VIEW_LOST_DOCUMENT, /* a directory of links to what resembles one that was there */
    VIEW_TOPICS,        /* topics (view_topics.h) */
    VIEW_TOPIC,       /* a topic, or in one a sub-topic: links, and VIEW_TOPIC_WORDS; cluster_id */
    VIEW_TOPIC_WORDS, /* a file with its words */
    VIEW_PART,        /* on a path of the tree; the kernel knows of none */
};

struct view_node {
    struct node node; /* first; the kernel's node id stands for it */
    enum view_kind kind;
    struct view_node *parent; /* there for as long as the node; NULL: the root of the mount */
    const char *name;
    struct view_node *target;     /* as the parent; of the kind VIEW_PART, or NULL */
    enum index_relation relation; /* of the links to the document; follows from the first name */
    uint64_t cluster_id;
    uint64_t question;            /* which one of a name */
    struct inode *inode;          /* of a directory that is shown as it is; the node holds it */
    struct view_skipped *skipped; /* likewise */
    struct file_key key;
    ino_t ino;
    uint64_t generation; /* differs for two nodes at one address; tells nothing else */
    uint64_t n_refs;     /* lookups of the kernel, and nodes that have it; under the table's lock */
    uint64_t path_hash;
    uint64_t hash;
    struct view_node *next; /* in its bucket */
};

struct view_table {
    pthread_mutex_t lock; /* of all below, and of the counts */
    struct view_node **buckets;
    size_t n_buckets, n_nodes;
    /* A node came to be, and holds what it has of `inode` and `skipped`, under the lock; it is
     * gone, without. NULL: none has any. Set before there are nodes. */
    void (*hold)(void *user, const struct view_node *node);
    void (*let_go)(void *user, const struct view_node *node);
    void *user;
    uint64_t last_generation; /* before it is concealed */
};

int view_table_init(struct view_table *table); /* 0, -ENOMEM */
void view_table_done(struct view_table *table);

/* The node equal to another that is only filled in so far as it is told by (kind, parent, name, and
 * target, cluster_id, question, inode or key); its count one higher. like is borrowed, its name
 * copied.
 *
 * Returns 0 or -ENOMEM. Undo with view_table_forget(table, node, 1).
 */
int view_table_lookup(struct view_table *table, const struct view_node *like,
                      struct view_node **ret_node);
/* The node of a path of the tree, as a target; the same. */
int view_table_part(struct view_table *table, const char *path, struct view_node **ret_part);
/* Equal for equal nodes, and of 64 bits: different for others, also where somebody chooses names to
 * be alike (node_secret). */
uint64_t view_node_hash(const struct view_node *like);
void view_table_forget(struct view_table *table, struct view_node *node, uint64_t n_lookups);

/* The path in the tree that a name in a node mirrors, relative to the root; name NULL: the node
 * itself, "" is that root. Of a node below a VIEW_DIRECTORY or VIEW_UNIQUE, or such a one. */
char *view_node_tree(const struct view_node *node, const char *name); /* gives; NULL: no memory */
bool view_node_is_top(const struct view_node *directory);             /* which mirrors that root */
char *view_node_target(const struct view_node *link); /* what a link reads; gives, as above */
size_t view_node_depth(const struct view_node *node); /* 0 of NULL */

/* The inode number of a name below a node of a view, or, NULL, of the mount's root
 * (base/view_number.h). */
ino_t view_ino(const struct view_node *parent, const char *name);

#endif
