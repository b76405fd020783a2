/* Files of the views whose text is made when they are opened, and is their opening's; its size is
 * not known before, and told as 0. Their readers count among those of listings.
 *
 * Threads: any, but where a task is said.
 */
#ifndef KINFS_FS_VIEWS_VIEW_TEXT_H
#define KINFS_FS_VIEWS_VIEW_TEXT_H

#include "fs/views/view.h"

/* Makes the text: 0 or an error; gives. Asked for root and the owner of the mount alone. */
typedef int (*view_text_fn)(const struct view_task *task, char **ret_text);

/* Replies an opening, for those that serve: EACCES for all but root and the owner, EMFILE and
 * ENFILE as of view_room.h, or what making failed with. */
void view_text_open(struct fs *fs, fuse_req_t req, struct view_node *node,
                    const struct fuse_file_info *fi);
void view_text_read(fuse_req_t req, const struct fuse_file_info *fi, size_t size, off_t offset);
void view_text_release(const struct fuse_file_info *fi);

#endif
