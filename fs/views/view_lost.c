#include "fs/views/view_lost.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

int view_lost_allows(const struct view_task *task)
{
    return task->caller.all ? 0 : -EACCES;
}

int view_lost_find(const struct view_task *task, struct view_node *like)
{
    int r = view_lost_allows(task);
    if (r == 0)
        r = view_settle(task);
    _cleanup_free_ char *path = r == 0 ? view_node_tree(task->node, task->name) : NULL;
    const struct index_query query = view_query_of(task, 0);
    if (r == 0)
        r = path ? index_lost_look(task->fs->index, path, &query) : -ENOMEM;
    if (r < 0)
        return r;
    like->kind = r == INDEX_LOST_DOCUMENT ? VIEW_LOST_DOCUMENT : VIEW_LOST;
    return r == INDEX_LOST_NOTHING ? -ENOENT : 0;
}

int view_lost_kin(const struct view_task *task, size_t limit, struct kin_list *ret_list)
{
    const struct index_query query = view_query_of(task, limit);
    _cleanup_free_ char *path = view_node_tree(task->node, NULL), *was_path = NULL;
    struct index_past was;
    return path ? index_lost(task->fs->index, path, &query, &was, &was_path, ret_list) : -ENOMEM;
}
