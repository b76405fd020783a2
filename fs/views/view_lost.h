/* lost/<path>/: links to what now resembles a document that was at a path, for root and the owner
 * of the mount alone. Nothing of it is listed but the links; a path that nothing is remembered of
 * is not found, and is no node.
 *
 * A directory of the tree that once was a document is that document here: what was in it is asked
 * about by `kinfs lost`.
 */
#ifndef KINFS_FS_VIEWS_VIEW_LOST_H
#define KINFS_FS_VIEWS_VIEW_LOST_H

#include "fs/views/view.h"

/* 0, or -EACCES: the caller is another user. */
int view_lost_allows(const struct view_task *task);

/* The kind of node that a name in a VIEW_LOST, task->node, is: VIEW_LOST or VIEW_LOST_DOCUMENT. 0,
 * -ENOENT, or as view_lost_allows(), view_settle() or index_lost_look(). */
int view_lost_find(const struct view_task *task, struct view_node *like);

/* The documents that resemble the one of task->node, a VIEW_LOST_DOCUMENT. As index_lost(). */
int view_lost_kin(const struct view_task *task, size_t limit, struct kin_list *ret_list);

#endif
