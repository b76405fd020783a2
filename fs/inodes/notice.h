/* The notices of the mount tell the index of changes: queue insertions, made before the reply, so
 * that the next look at a view waits for them. Nothing where there is no index.
 *
 * Threads: any; waits for nothing.
 */
#ifndef KINFS_FS_INODES_NOTICE_H
#define KINFS_FS_INODES_NOTICE_H

#include "fs/state.h"

static inline void notice_entry(fuse_req_t req, const struct inode *parent, const char *name)
{
    struct index *index = fs_of(req)->index;
    if (index)
        index_note_entry_by(index, fuse_req_ctx(req)->uid, &parent->key, name);
}

static inline void notice_rename(fuse_req_t req, const struct inode *old_parent,
                                 const char *old_name, const struct inode *new_parent,
                                 const char *new_name)
{
    struct index *index = fs_of(req)->index;
    if (index)
        index_note_rename(index, fuse_req_ctx(req)->uid, &old_parent->key, old_name,
                          &new_parent->key, new_name);
}

/* Content, size or times: of regular files only. */
static inline void notice_content(struct fs *fs, uid_t user, const struct inode *inode)
{
    if (fs->index && inode->type == S_IFREG)
        index_note_content_by(fs->index, user, &inode->key);
}

static inline void notice_writing(struct fs *fs, uid_t user, const struct inode *inode, int change)
{
    if (fs->index)
        index_note_writing(fs->index, user, &inode->key, change);
}

#endif
