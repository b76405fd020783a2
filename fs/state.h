/* One mount: what its operations share. Private to fs/. */
#ifndef KINFS_FS_STATE_H
#define KINFS_FS_STATE_H

#define FUSE_USE_VERSION 317
#include <errno.h>
#include <fuse_lowlevel.h>
#include <semaphore.h>

#include "base/files/backing.h"
#include "fs/fs.h"
#include "fs/inodes/inode.h"
#include "fs/kernel_order.h"
#include "fs/inodes/node.h"
#include "fs/own_mount.h"

struct views; /* the views' own state, made by views_new() */

struct fs {
    struct fs_options options; /* its strings are copies of the mount's own */
    struct backing *backing;
    struct index *index; /* NULL: no views, no notices */
    struct fuse_session *session;
    struct own_mount own; /* where it is mounted */
    bool over_itself;     /* which is the tree's own root */
    sem_t end;            /* fs_exit() */
    struct views *views;  /* NULL: none, or not yet served */
    struct inode_table inodes;
    struct file_key store_key; /* the store's directory, never shown; size 0: not in the tree */
    ino_t store_ino;
    pthread_mutex_t status_lock; /* of status: it may be asked for before the kernel has begun */
    struct fs_status status;
    atomic_uint protocol_minor; /* of the kernel, once it has introduced itself */
    struct waiters *waiters;    /* fs/inodes/waiter.h */
    struct watch *watch;        /* fs/watch/watch.h */
};

/* The file system a request is for. */
static inline struct fs *fs_of(fuse_req_t req)
{
    struct fs *fs = fuse_req_userdata(req);
    KERNEL_ORDER_LEARN(fs);
    gone_ask(fuse_req_ctx(req)->pid, fuse_req_ctx(req)->uid);
    return fs;
}

/* A bound of the daemon's own descriptors is none of the caller's, who would close some of his:
 * what to tell him instead of -EMFILE. */
static inline int of_daemon(int r)
{
    return r == -EMFILE ? -ENFILE : r;
}

/* Take room for so many descriptors for who asks, before anything is done; to be given back by
 * user_room_leave() as the payer's. Returns 0, or -ENFILE: others are to have some as well. */
static inline int fs_take_descriptors(fuse_req_t req, size_t n, uid_t *ret_payer)
{
    struct user_room *room = &((struct fs *)fuse_req_userdata(req))->inodes.descriptors;
    const struct fuse_ctx *asker = fuse_req_ctx(req);
    *ret_payer = user_room_payer(room, asker->uid, asker->pid);
    return user_room_enter(room, *ret_payer, n) ? 0 : -ENFILE;
}

static inline struct node *node_of(struct fs *fs, fuse_ino_t ino)
{
    return ino == FUSE_ROOT_ID ? &fs->inodes.root->node : node_of_id(ino);
}

static inline fuse_ino_t ino_of(struct fs *fs, const struct inode *inode)
{
    return inode == fs->inodes.root ? FUSE_ROOT_ID : node_id(inode);
}

#define _cleanup_inode_fd_ __attribute__((cleanup(inode_return_fd)))

/* Borrows a descriptor of an inode. Returns it, or a negative errno. */
static inline int borrow_fd(struct fs *fs, struct inode *inode, struct inode_fd *ret_fd)
{
    return inode_borrow_fd(&fs->inodes, inode, ret_fd);
}

#endif
