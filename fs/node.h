/* What a FUSE node id points at: an inode of the backing tree, or a node made up by the views.
 *
 * A node id is the address of a struct node; FUSE_ROOT_ID stands for the root inode. The kind is
 * the first member of both structs, so that the one may be told from the other.
 */
#ifndef KINFS_FS_NODE_H
#define KINFS_FS_NODE_H

#include <assert.h>
#include <stddef.h>

enum node_kind { NODE_INODE, NODE_VIEW };

struct node {
    enum node_kind kind;
};

struct fs;
struct inode;     /* fs/inode.h; its first member is struct node */
struct view_node; /* fs/views.h; likewise */

static inline struct inode *node_to_inode(struct node *node)
{
    assert(node->kind == NODE_INODE);
    return (struct inode *)(void *)node;
}

static inline struct view_node *node_to_view(struct node *node)
{
    assert(node->kind == NODE_VIEW);
    return (struct view_node *)(void *)node;
}

#endif
