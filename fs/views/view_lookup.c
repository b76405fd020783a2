/* Names of the views: what is looked up, and what it stands for. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fs/views/view.h"
#include "fs/views/view_lost.h"
#include "fs/views/view_metrics.h"
#include "fs/views/view_names.h"
#include "fs/views/view_skipped.h"
#include "fs/views/view_topics.h"
#include "fs/views/views.h"

static const struct root_name {
    const char *name;
    enum view_kind kind;
    unsigned view; /* FS_VIEW_ bit, 0: always */
    enum index_relation relation;
} root_names[] = {
    {".kinfs", VIEW_KINFS, 0, INDEX_RESEMBLES},
    {"similar", VIEW_DIRECTORY, FS_VIEW_SIMILAR, INDEX_RESEMBLES},
    {"contains", VIEW_DIRECTORY, FS_VIEW_CONTAINS, INDEX_PARTS},
    {"within", VIEW_DIRECTORY, FS_VIEW_WITHIN, INDEX_WHOLES},
    {"passages", VIEW_DIRECTORY, FS_VIEW_PASSAGES, INDEX_SHARES},
    {"related", VIEW_DIRECTORY, FS_VIEW_RELATED, INDEX_RELATED},
    {"topics", VIEW_TOPICS, FS_VIEW_TOPICS, INDEX_RELATED},
    {"clusters", VIEW_CLUSTERS, FS_VIEW_CLUSTERS, INDEX_RESEMBLES},
    {"unique", VIEW_UNIQUE, FS_VIEW_UNIQUE, INDEX_RESEMBLES},
    {"lost", VIEW_LOST, FS_VIEW_LOST, INDEX_RESEMBLES},
};

static const struct root_name *find_root_name(const char *name)
{
    for (size_t i = 0; i < sizeof(root_names) / sizeof(root_names[0]); i++)
        if (strcmp(root_names[i].name, name) == 0)
            return &root_names[i];
    return NULL;
}

static bool is_indexed(const struct fs *fs, enum index_relation relation)
{
    return relation == INDEX_SHARES    ? index_passages_words(fs->index) > 0
           : relation == INDEX_RELATED ? index_has_topics(fs->index)
                                       : true;
}

/* NULL: none, or of what is not indexed. */
static const struct root_name *find_shown_name(const struct fs *fs, const char *name)
{
    const struct root_name *root = fs->views ? find_root_name(name) : NULL;
    return root && is_indexed(fs, root->relation) ? root : NULL;
}

bool views_has_root_name(const struct fs *fs, const char *name)
{
    return find_shown_name(fs, name) != NULL;
}

bool views_is_root_name(const struct fs *fs, const char *name)
{
    const struct root_name *root = find_shown_name(fs, name);
    return root && (!root->view || (fs->options.views & root->view));
}

bool views_are_listed(const struct fs *fs)
{
    const unsigned views = fs->options.views;
    return fs->views && !(views & FS_VIEW_HIDDEN) && (!fs->over_itself || views & FS_VIEW_LISTED);
}

/* Others are refused, and no listing of theirs has the name. */
static bool is_of_owners(const struct root_name *root)
{
    return root->kind == VIEW_UNIQUE || root->relation == INDEX_RELATED;
}

bool views_is_listed(const struct fs *fs, const char *name, bool to_owner)
{
    const struct root_name *root = views_is_root_name(fs, name) ? find_root_name(name) : NULL;
    return root && views_are_listed(fs) && (to_owner || !is_of_owners(root)) &&
           (!(root->view & FS_VIEWS_READING) || fs->options.views & FS_VIEW_READING_LISTED);
}

ino_t views_root_ino(const char *name)
{
    return view_ino(NULL, name);
}

static void reply_root_name(struct fs *fs, fuse_req_t req, const struct root_name *root,
                            struct view_node *parent)
{
    struct view_node like = {
        .kind = root->kind, .parent = parent, .name = root->name, .relation = root->relation};
    if (root->kind == VIEW_DIRECTORY || root->kind == VIEW_UNIQUE)
        like.key = *backing_root_key(fs->backing);
    if (root->kind == VIEW_UNIQUE)
        like.inode = fs->inodes.root;
    view_reply_entry(fs, req, &like);
}

void views_lookup_root(struct fs *fs, fuse_req_t req, const char *name)
{
    if (views_is_root_name(fs, name))
        reply_root_name(fs, req, find_root_name(name), NULL);
    else
        fuse_reply_err(req, ENOENT);
}

static void lookup_kinfs(struct fs *fs, fuse_req_t req, struct view_node *parent, const char *name)
{
    const struct root_name *root = find_shown_name(fs, name);
    bool is_query = strcmp(name, "query") == 0;
    bool is_metrics = strcmp(name, VIEW_METRICS_NAME) == 0;
    if (is_metrics)
        view_reply_entry(fs, req,
                         &(struct view_node){.kind = VIEW_METRICS, .parent = parent, .name = name});
    else if (!is_query && (!root || root->kind == VIEW_KINFS))
        fuse_reply_err(req, ENOENT);
    else if (is_query)
        view_reply_entry(
            fs, req, &(struct view_node){.kind = VIEW_QUESTIONS, .parent = parent, .name = name});
    else
        reply_root_name(fs, req, root, parent);
}

static void lookup_tag(struct fs *fs, fuse_req_t req, struct view_node *parent)
{
    view_reply_entry(
        fs, req, &(struct view_node){.kind = VIEW_TAG, .parent = parent, .name = VIEW_TAG_NAME});
}

/* The file a name of a mirrored directory mirrors; -ENOENT for what is neither directory nor
 * document.
 */
static int find_mirrored(struct fs *fs, fuse_req_t req, const struct view_node *parent,
                         const char *name, struct view_node *ret_like)
{
    _cleanup_(caller_done) struct caller caller = {0};
    _cleanup_close_ int dir = -1, fd = -1;
    struct stat st;
    int r = view_caller(fs, req, &caller);
    if (!r)
        r = view_open_node(fs, NULL, parent, &dir);
    if (!r)
        r = caller_access(&caller, dir, "", X_OK);
    if (!r)
        r = fd = looks_open(NULL, dir, name, 0);
    if (r == -EXDEV)
        return -ENOENT; /* what is mounted there is not indexed */
    if (r >= 0 && fstat(fd, &st) < 0)
        r = -errno;
    if (r >= 0)
        r = backing_key_at(fs->backing, fd, "", &ret_like->key);
    if (r < 0)
        return r;
    if (S_ISDIR(st.st_mode) && !file_key_equal(&ret_like->key, &fs->store_key))
        ret_like->kind = VIEW_DIRECTORY;
    else if (S_ISREG(st.st_mode))
        ret_like->kind = VIEW_DOCUMENT;
    else
        return -ENOENT;
    return 0;
}

static void lookup_mirrored(struct fs *fs, fuse_req_t req, struct view_node *parent,
                            const char *name)
{
    if (view_node_is_top(parent) && strcmp(name, VIEW_TAG_NAME) == 0) {
        lookup_tag(fs, req, parent);
        return;
    }
    struct view_node like = {.parent = parent, .name = name, .relation = parent->relation};
    int r = find_mirrored(fs, req, parent, name, &like);
    if (r < 0)
        fuse_reply_err(req, -of_daemon(r));
    else
        view_reply_entry(fs, req, &like);
}

static int find_link(const struct view_task *task, struct view_links **ret_links,
                     const struct view_link **ret_link)
{
    /* Permissions can change without the index knowing: then the list is made anew. */
    const int n_tries = task->caller.all ? 1 : 2;
    int r = view_settle(task);
    for (int fresh = 0; !r && fresh < n_tries; fresh++) {
        _cleanup_(view_links_unref_p) struct view_links *links = NULL;
        r = view_links(task, fresh, &links);
        if (r < 0)
            return r;
        const struct view_link *link = view_links_find(links, task->name);
        if (link && view_link_is_alive(task, link)) {
            *ret_link = link;
            *ret_links = TAKE_PTR(links);
            return 0;
        }
    }
    return r < 0 ? r : -ENOENT;
}

static void lookup_link(struct view_task *task)
{
    _cleanup_(view_links_unref_p) struct view_links *links = NULL;
    struct view_table *nodes = &task->fs->views->nodes;
    struct view_node like = {.kind = VIEW_LINK, .parent = task->node, .name = task->name};
    const struct view_link *link;
    int r = find_link(task, &links, &link);
    if (!r)
        r = view_table_part(nodes, link->path, &like.target);
    if (r < 0) {
        view_reply_err(task, r);
        return;
    }
    view_reply_entry(task->fs, task->req, &like);
    view_table_forget(nodes, like.target, 1);
}

/* The caller sees a cluster: 1, 0 or an error. */
static int sees_cluster(struct view_task *task, uint64_t id)
{
    struct view_node *const clusters = task->node;
    char name[24];
    snprintf(name, sizeof(name), "%" PRIu64, id & INDEX_CLUSTER_MAX);
    struct view_node like = {
        .kind = VIEW_CLUSTER, .parent = clusters, .name = name, .cluster_id = id};
    task->node = &like;
    int r = view_has_cluster(task, id);
    task->node = clusters;
    return r;
}

/* An id that a cluster had before it became part of another is a link to that, for who may read
 * everything. It is not listed. */
static int find_alias(struct view_task *task, uint64_t id, uint64_t *ret_named)
{
    uint64_t cluster;
    if (!task->caller.all)
        return 0; /* ids of such callers lead nowhere else */
    int r = index_cluster_alias(task->fs->index, id, &cluster);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    *ret_named = cluster & INDEX_CLUSTER_MAX;
    return sees_cluster(task, cluster);
}

static void lookup_cluster(struct view_task *task)
{
    struct view_node like = {.kind = VIEW_CLUSTER,
                             .parent = task->node,
                             .name = task->name,
                             .cluster_id = task->node->cluster_id | view_names_id(task->name)};
    int r = view_settle(task);
    if (!r)
        r = sees_cluster(task, like.cluster_id);
    if (!r && (r = find_alias(task, like.cluster_id, &like.cluster_id)) > 0)
        like.kind = VIEW_LINK;
    if (r <= 0)
        view_reply_err(task, r ? r : -ENOENT);
    else
        view_reply_entry(task->fs, task->req, &like);
}

/* A name in clusters/, or in the directory of a named clustering. */
static void lookup_in_clusters(struct fs *fs, fuse_req_t req, struct view_node *parent,
                               const char *name)
{
    const struct view_task task = {
        .node = parent, .name = (char *)name, .run = lookup_cluster, .holds_lock = true};
    const bool is_default = parent->cluster_id == 0;
    struct index_clustering_status clustering;
    if (is_default && strcmp(name, VIEW_TAG_NAME) == 0)
        lookup_tag(fs, req, parent);
    else if (view_names_id(name))
        view_defer(fs, req, &task);
    else if (!is_default || index_find_clustering(fs->index, name, &clustering) < 0)
        fuse_reply_err(req, ENOENT);
    else
        view_reply_entry(fs, req,
                         &(struct view_node){.kind = VIEW_CLUSTERS,
                                             .parent = parent,
                                             .name = name,
                                             .cluster_id = clustering.base});
}

static void look_up_lost(struct view_task *task)
{
    struct view_node like = {.parent = task->node, .name = task->name};
    int r = view_lost_find(task, &like);
    if (r < 0)
        view_reply_err(task, r);
    else
        view_reply_entry(task->fs, task->req, &like);
}

static void lookup_lost(struct fs *fs, fuse_req_t req, struct view_node *parent, const char *name)
{
    view_defer(fs, req,
               &(struct view_task){
                   .node = parent, .name = (char *)name, .run = look_up_lost, .holds_lock = true});
}

static void look_up_topic(struct view_task *task)
{
    struct view_node like = {.parent = task->node, .name = task->name};
    int r = view_topics_find(task, &like);
    if (r < 0)
        view_reply_err(task, r);
    else
        view_reply_entry(task->fs, task->req, &like);
}

static void lookup_topic(struct fs *fs, fuse_req_t req, struct view_node *parent, const char *name)
{
    view_defer(fs, req,
               &(struct view_task){
                   .node = parent, .name = (char *)name, .run = look_up_topic, .holds_lock = true});
}

static void look_up_list(struct view_task *task)
{
    _cleanup_(view_skipped_unref_p) struct view_skipped *skipped = NULL;
    int r = view_skipped_find(task, &skipped);
    if (r < 0) {
        view_reply_err(task, r);
        return;
    }
    view_reply_entry(task->fs, task->req,
                     &(struct view_node){.kind = VIEW_SKIPPED,
                                         .parent = task->node,
                                         .name = INDEX_UNIQUE_SKIPPED,
                                         .question = view_skipped_number(skipped),
                                         .skipped = skipped});
}

/* The list of what unique/ leaves out, below a directory of that. */
static void lookup_list(struct fs *fs, fuse_req_t req, struct view_node *parent)
{
    view_defer(fs, req,
               &(struct view_task){
                   .run = look_up_list, .node = parent, .is_long = true, .holds_lock = true});
}

void views_lookup(struct fs *fs, fuse_req_t req, struct view_node *parent, const char *name)
{
    const struct view_task task = {
        .node = parent, .name = (char *)name, .run = lookup_link, .holds_lock = true};
    if (strlen(name) > NAME_MAX) {
        fuse_reply_err(req, ENAMETOOLONG);
        return;
    }
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        fuse_reply_err(req, ENOENT); /* only asked for to export the mount, which is not offered */
        return;
    }
    switch (parent->kind) {
    case VIEW_KINFS: lookup_kinfs(fs, req, parent, name); break;
    case VIEW_DIRECTORY: lookup_mirrored(fs, req, parent, name); break;
    case VIEW_CLUSTERS: lookup_in_clusters(fs, req, parent, name); break;
    case VIEW_LOST: lookup_lost(fs, req, parent, name); break;
    case VIEW_TOPICS: lookup_topic(fs, req, parent, name); break;
    case VIEW_TOPIC:
        if (view_names_is_link(name))
            view_defer(fs, req, &task);
        else
            lookup_topic(fs, req, parent, name);
        break;
    case VIEW_DOCUMENT:
    case VIEW_LOST_DOCUMENT:
    case VIEW_CLUSTER:
        if (view_names_is_link(name))
            view_defer(fs, req, &task);
        else
            fuse_reply_err(req, ENOENT);
        break;
    case VIEW_UNIQUE: lookup_list(fs, req, parent); break;   /* what else is in it is no view */
    case VIEW_QUESTIONS: fuse_reply_err(req, ENOENT); break; /* a question is its opener's alone */
    case VIEW_LINK:
    case VIEW_QUESTION:
    case VIEW_SKIPPED:
    case VIEW_METRICS:
    case VIEW_TOPIC_WORDS:
    case VIEW_PART:
    case VIEW_TAG: fuse_reply_err(req, ENOTDIR); break;
    }
}
