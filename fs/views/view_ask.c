/* Answers of the index, as the one who asks may see them. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fs/views/view.h"
#include "fs/views/view_lost.h"

/* A waiting request looks this often whether it was interrupted. */
enum { SLICE_MS = 50 };

int view_open_node(struct fs *fs, struct looking *looking, const struct view_node *node,
                   int *ret_fd)
{
    _cleanup_free_ char *path = view_node_tree(node, NULL);
    if (!path)
        return -ENOMEM;
    _cleanup_close_ int fd =
        looks_open_path(looking, backing_root_fd(fs->backing), *path ? path : ".");
    struct file_key key;
    int r = fd < 0 ? fd : backing_key_at(fs->backing, fd, "", &key);
    if (r == -ENOENT || r == -ENOTDIR || (fd < 0 && (r == -ELOOP || r == -EXDEV)) ||
        (!r && !file_key_equal(&key, &node->key)))
        return -ESTALE;
    if (!r)
        *ret_fd = TAKE_FD(fd);
    return r;
}

/* An interruption ends the waiting, not the question: a process that was frozen or got a signal is
 * told what is known, where EINTR is an error that no other file system's readdir(3) has. */
static int left_ms(const struct view_task *task)
{
    int64_t left = task->end_ms - clock_now_ms();
    return left < 0 || fuse_req_interrupted(task->req) ? 0 : (int)left;
}

/* The time to wait next, 0 when it is over; -ESHUTDOWN. In between, those that wait in the queue
 * for this very thread are answered if they were interrupted. */
static int next_slice(const struct view_task *task)
{
    struct defer *defer = task->fs->views->defer;
    if (defer_is_ending(defer))
        return -ESHUTDOWN;
    defer_reap(defer);
    int left = left_ms(task);
    return left < SLICE_MS ? left : SLICE_MS;
}

int view_settle(const struct view_task *task)
{
    uint64_t ticket = 0;
    struct index_settling settling = {0};
    bool is_told = false; /* the index, of what was changed beside the mount */
    for (;;) {
        int slice_ms = next_slice(task);
        if (slice_ms < 0)
            return slice_ms;
        int r = is_told
                    ? index_settle_on(task->fs->index, INDEX_LANE_FOREGROUND, &settling, slice_ms)
                    : fs_settle(task->fs, false, &ticket, slice_ms);
        if (!is_told && (r == 0 || slice_ms == 0))
            is_told = true;
        else if (r != -ETIMEDOUT || slice_ms == 0)
            return r == -ETIMEDOUT ? 0 : r;
    }
}

bool view_nobody_waits(void *user)
{
    const struct view_task *task = user;
    return fuse_req_interrupted(task->req) || view_is_late(task) ||
           defer_is_ending(task->fs->views->defer);
}

static enum index_right may_read(void *user, const char *path, const struct file_key *key)
{
    struct view_task *task = user;
    return caller_may_read(&task->caller, &task->way, path, key);
}

static enum index_right may_ask(void *user, const char *path, const struct file_key *key)
{
    const struct view_task *task = user;
    return caller_may_ask(&task->caller, path, key);
}

static bool may_open(void *user, int fd)
{
    const struct view_task *task = user;
    return caller_may_open(&task->caller, fd);
}

/* An answer may be as large as the listings of one user (fs/views/views.c). */
enum { ANSWER_MAX_BYTES = 64 << 20 };

struct index_query view_query_of(const struct view_task *task, size_t limit)
{
    return (struct index_query){.threshold = task->fs->options.threshold,
                                .limit = limit,
                                .bytes_max = task->caller.all ? 0 : ANSWER_MAX_BYTES,
                                .may_read = task->caller.all ? NULL : may_read,
                                .may_ask = task->caller.all ? NULL : may_ask,
                                .may_open = task->caller.all ? NULL : may_open,
                                .user = (void *)task,
                                .looking = task->caller.looking,
                                .wait_ms = left_ms(task),
                                .stop = view_nobody_waits,
                                .stop_user = (void *)task};
}

int view_document(const struct view_task *task, const struct file_key *key,
                  struct document_info *ret_info)
{
    struct index_query query = view_query_of(task, 0);
    struct document_info info;
    int r;
    do {
        query.wait_ms = next_slice(task);
        if (query.wait_ms < 0)
            return query.wait_ms;
        r = index_document(task->fs->index, key, &query, &info);
    } while (!r && info.state == DOCUMENT_PENDING && !info.settled && query.wait_ms);
    if (!r)
        *ret_info = info;
    return r;
}

/* What is related is less alike than what resembles, and there is much of it. */
static void set_relation(struct index_query *query, enum index_relation relation)
{
    enum { RELATED_MOST = 10 };
    query->relation = relation;
    if (relation != INDEX_RELATED)
        return;
    query->threshold = INDEX_RELATED_THRESHOLD;
    query->limit = query->limit && query->limit < RELATED_MOST ? query->limit : RELATED_MOST;
}

int view_kin(const struct view_task *task, enum index_relation relation, const struct file_key *key,
             size_t limit, struct kin_list *ret_list)
{
    struct index_query query = view_query_of(task, limit);
    set_relation(&query, relation);
    int r = index_similar(task->fs->index, key, &query, ret_list);
    if (r != -ENOENT)
        return r;
    *ret_list = (struct kin_list){0};
    return 0;
}

int view_count_similar(const struct view_task *task, const struct file_key *key, size_t *ret_n)
{
    struct index_query query = view_query_of(task, 1);
    _cleanup_(kin_list_done) struct kin_list list = {0};
    query.counts = true;
    int r = index_similar(task->fs->index, key, &query, &list);
    if (r < 0 && r != -ENOENT)
        return r;
    *ret_n = list.n_found;
    return 0;
}

int view_compare(const struct view_task *task, const struct file_key *a, const struct file_key *b,
                 struct comparison *ret_comparison)
{
    const struct index_query query = view_query_of(task, 0);
    return index_compare(task->fs->index, a, b, &query, ret_comparison);
}

int view_has_kin(const struct view_task *task, const struct file_key *key)
{
    struct index_query query = view_query_of(task, 1);
    set_relation(&query, task->node->relation);
    query.equal = task->equal;
    int r = index_has_kin(task->fs->index, key, &query);
    return r == -ENOENT ? 0 : r;
}

int view_cluster(const struct view_task *task, uint64_t id, size_t limit,
                 struct cluster_info *ret_info, struct kin_list *ret_members)
{
    struct index_query query = view_query_of(task, limit);
    _cleanup_(cluster_info_done) struct cluster_info info = {0};
    int r = index_cluster(task->fs->index, id, &query, &info, ret_members);
    if (r < 0)
        return r;
    if (info.size < 2) {
        if (ret_members)
            kin_list_done(ret_members);
        return -ENOENT;
    }
    *ret_info = info;
    info = (struct cluster_info){0};
    return 0;
}

int view_cluster_of(const struct view_task *task, const struct file_key *key, uint64_t base,
                    struct cluster_info *ret_info)
{
    struct index_query query = view_query_of(task, 1);
    return index_readable_cluster(task->fs->index, key, base, &query, ret_info, NULL);
}

bool view_link_is_alive(const struct view_task *task, const struct view_link *link)
{
    _cleanup_close_ int fd = caller_open_listed(&task->caller, link->path);
    struct file_key key;
    return fd >= 0 && backing_key_at(task->fs->backing, fd, "", &key) == 0 &&
           file_key_equal(&key, &link->key);
}

/* Tells whether the caller can read two documents of the cluster at least. What can be read is a
 * list, which is remembered; permissions can change without the index knowing, so two of the list
 * are looked at, or it is made anew. */
static int has_readable_cluster(const struct view_task *task)
{
    for (int fresh = 0; fresh < 2; fresh++) {
        _cleanup_(view_links_unref_p) struct view_links *links = NULL;
        int r = view_links(task, fresh, &links);
        if (r < 0)
            return r == -ENOENT ? 0 : r;
        size_t n_alive = 0;
        for (size_t i = 0; i < links->n_links; i++) {
            n_alive += view_link_is_alive(task, &links->links[i]);
            if (n_alive == 2)
                return 1;
        }
    }
    return 0;
}

int view_has_cluster(const struct view_task *task, uint64_t id)
{
    return task->caller.all ? index_has_cluster(task->fs->index, id) : has_readable_cluster(task);
}

static int topic_members(const struct view_task *task, size_t limit, struct kin_list *ret_list)
{
    const struct index_query query = view_query_of(task, limit);
    struct index_topic topic;
    int r = index_topic(task->fs->index, task->node->cluster_id, 0, &query, &topic, ret_list);
    if (r == 0)
        index_topic_done(&topic);
    return r == -ENODATA || r == -EOPNOTSUPP ? -ENOENT : r;
}

static int ask_for_links(const struct view_task *task, struct view_links **ret_links)
{
    const struct view_node *node = task->node;
    const size_t limit = task->fs->options.limit;
    _cleanup_(kin_list_done) struct kin_list list = {0};
    int r;
    if (node->kind == VIEW_CLUSTER) {
        _cleanup_(cluster_info_done) struct cluster_info info = {0};
        r = view_cluster(task, node->cluster_id, limit, &info, &list);
    } else if (node->kind == VIEW_LOST_DOCUMENT) {
        r = view_lost_kin(task, limit, &list);
    } else if (node->kind == VIEW_TOPIC) {
        r = topic_members(task, limit, &list);
    } else {
        r = view_kin(task, node->relation, &node->key, limit, &list);
        if (node->relation != INDEX_RESEMBLES &&
            node->relation != INDEX_RELATED) /* links are named by what is asked for */
            for (size_t i = 0; i < list.n_kin; i++)
                list.kin[i].resemblance = list.kin[i].containment;
    }
    return r < 0 ? r : view_links_new(view_node_depth(node), list.kin, list.n_kin, ret_links);
}

int view_links(const struct view_task *task, bool fresh, struct view_links **ret_links)
{
    const enum view_kind kind = task->node->kind;
    int r = 0;
    if ((kind == VIEW_LOST_DOCUMENT || kind == VIEW_TOPIC) && !task->caller.all)
        return -EACCES;
    if (task->node->kind == VIEW_DOCUMENT) {
        _cleanup_close_ int fd = -1;
        struct document_info info;
        r = view_open_node(task->fs, task->caller.looking, task->node, &fd);
        if (!r)
            r = caller_access(&task->caller, fd, "", R_OK);
        if (!r) /* asked for its content of now to be known; what it says is of no interest */
            r = view_document(task, &task->node->key, &info);
        if (r < 0 && r != -ENOENT)
            return r;
    }
    struct view_links_memory *memory = &task->fs->views->memory;
    const struct view_links_key key = {.node = view_node_hash(task->node),
                                       .caller =
                                           caller_number(&task->fs->views->callers, &task->caller),
                                       .generation = index_generation(task->fs->index),
                                       .user = task->caller.uid};
    struct view_links *links = fresh ? NULL : view_links_recall(memory, &key);
    if (!links) {
        r = ask_for_links(task, &links);
        if (r < 0)
            return r;
        if (key.generation % 2 == 0) /* else of two states of the index, perhaps */
            view_links_remember(memory, &key, links);
    }
    *ret_links = links;
    return 0;
}
