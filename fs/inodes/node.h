/* The thing a FUSE node id stands for: an inode of the backing tree, or a node made up by the
 * views.
 *
 * FUSE_ROOT_ID stands for the root inode, all other ids for the address of a struct node. They are
 * not the address itself: name_to_handle_at(2) shows them to everybody, and addresses tell where
 * the heap is and, from one to the next, how much others have looked up in between. The kind is the
 * first member of both structs, so that the one may be told from the other.
 *
 * Threads: any, after node_secret_draw().
 */
#ifndef KINFS_FS_INODES_NODE_H
#define KINFS_FS_INODES_NODE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum node_kind { NODE_INODE, NODE_VIEW };

struct node {
    enum node_kind kind;
};

struct fs;
struct inode;     /* fs/inodes/inode.h; its first member is struct node */
struct view_node; /* fs/views/views.h; likewise */

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

/* Drawn at random once for the process: before there are ids or a second thread. Until then all are
 * 0, which does for tests. 0, or the negative errno of getrandom(2). */
enum { NODE_ROUNDS = 4 };
struct node_secret {
    struct {
        uint64_t factor, summand;
    } rounds[NODE_ROUNDS];
    uint64_t seed; /* for hashes of what others choose */
};
extern struct node_secret node_secret;
int node_secret_draw(void);

/* Any of 2^32 values from another, by multiplication and shift (Dietzfelbinger 1996). */
static inline uint32_t node_round(int i, uint32_t half)
{
    return (uint32_t)((node_secret.rounds[i].factor * half + node_secret.rounds[i].summand) >> 32);
}

/* A permutation of the numbers above 1 (of all, but those that give 0 or FUSE_ROOT_ID are permuted
 * again), by the secret: four rounds of Feistel, some 10 ns. It keeps from being read what nobody
 * knows the other side of; it is no cipher. */
static inline uint64_t node_conceal(uint64_t number)
{
    do {
        uint32_t left = (uint32_t)(number >> 32), right = (uint32_t)number;
        for (int i = 0; i < NODE_ROUNDS; i += 2) {
            left ^= node_round(i, right);
            right ^= node_round(i + 1, left);
        }
        number = (uint64_t)left << 32 | right;
    } while (number <= 1);
    return number;
}

static inline uint64_t node_reveal(uint64_t number)
{
    do {
        uint32_t left = (uint32_t)(number >> 32), right = (uint32_t)number;
        for (int i = NODE_ROUNDS - 2; i >= 0; i -= 2) {
            right ^= node_round(i + 1, left);
            left ^= node_round(i, right);
        }
        number = (uint64_t)left << 32 | right;
    } while (number <= 1);
    return number;
}

static inline uint64_t node_id(const void *node)
{
    return node_conceal((uintptr_t)node);
}

static inline struct node *node_of_id(uint64_t id)
{
    return (struct node *)(uintptr_t)node_reveal(id);
}

#endif
