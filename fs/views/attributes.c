#include "fs/views/attributes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/counted.h"
#include "base/escape.h"
#include "fs/views/attribute_text.h"
#include "fs/views/view.h"
#include "fs/views/view_topics.h"
#include "fs/views/views.h"

struct value {
    char *text; /* owned */
    size_t n_bytes;
};

static void value_done(struct value *value)
{
    free(value->text);
}

#define _cleanup_value_ _cleanup_(value_done) struct value

bool attributes_is_name(const char *name)
{
    return strncmp(name, ATTRIBUTE_PREFIX, strlen(ATTRIBUTE_PREFIX)) == 0 &&
           strcmp(name, INDEX_KEEP_ATTRIBUTE) != 0;
}

bool attributes_may_add(const struct fs *fs, const struct inode *inode, const char *name)
{
    return fs->options.robots && fs->views && S_ISREG(inode->type) &&
           strcmp(name, ATTRIBUTE_ROBOTS_NAME) == 0;
}

__attribute__((format(printf, 2, 3))) static int set(struct value *value, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vasprintf(&value->text, format, args);
    va_end(args);
    if (n < 0) {
        value->text = NULL;
        return -ENOMEM;
    }
    value->n_bytes = (size_t)n;
    return 0;
}

static int set_number(struct value *value, double number)
{
    char text[ATTRIBUTE_NUMBER_BYTES];
    int r = attribute_number(number, text);
    return r < 0 ? r : set(value, "%s", text);
}

/* A standard error, and what it is worth where it rests on few samples. */
static int set_error(struct value *value, double error, uint32_t n_samples)
{
    char text[ATTRIBUTE_NUMBER_BYTES];
    int r = attribute_number(error, text);
    if (r < 0 || n_samples >= INDEX_CONFIDENT_SAMPLES)
        return r < 0 ? r : set(value, "%s", text);
    return set(value, "%s (%s: low confidence)", text, counted(n_samples, "sample").text);
}

static int set_path(struct value *value, const char *path)
{
    _cleanup_free_ char *escaped = NULL;
    if (!path)
        return -ENODATA;
    int r = escape_name(path, &escaped);
    return r < 0 ? r : set(value, "%s", escaped);
}

static void reply(fuse_req_t req, int r, const struct value *value, size_t size)
{
    if (r < 0) /* what is not known has no answer */
        fuse_reply_err(req, r == -ENOENT || r == -ESTALE ? ENODATA : -of_daemon(r));
    else if (!size)
        fuse_reply_xattr(req, value->n_bytes);
    else if (size < value->n_bytes)
        fuse_reply_err(req, ERANGE);
    else
        fuse_reply_buf(req, value->text, value->n_bytes);
}

/* -- of a document -- */

static int answer_state(const struct view_task *task, const struct document_info *info,
                        struct value *value)
{
    switch (info->state) {
    case DOCUMENT_CURRENT:
        /* Repairs are of clusters among all documents. */
        return set(value, task->caller.all && info->repairing ? "repairing" : "current");
    case DOCUMENT_PENDING: return set(value, "pending");
    case DOCUMENT_SKIPPED: return set(value, "skipped: %s", info->reason);
    }
    return -ENODATA;
}

/* The document a cluster is named by, or how much this one resembles it. */
static int answer_representative(const struct view_task *task, enum attribute attribute,
                                 const struct cluster_info *cluster, struct value *value)
{
    struct comparison comparison;
    if (attribute == ATTRIBUTE_REPRESENTATIVE)
        return set_path(value, cluster->representative.path);
    int r = view_compare(task, &task->key, &cluster->representative.key, &comparison);
    if (r < 0)
        return r;
    if (attribute == ATTRIBUTE_RESEMBLANCE)
        return set_number(value, comparison.resemblance);
    return comparison.exact
               ? -ENODATA
               : set_error(value, comparison.resemblance_error, comparison.resemblance_samples);
}

/* The cluster of the document; of what is stored of it only as much is read as the attribute needs.
 */
static int find_cluster(const struct view_task *task, enum attribute attribute,
                        const struct document_info *info, struct cluster_info *ret_cluster)
{
    if (!task->caller.all)
        return view_cluster_of(task, &task->key, 0, ret_cluster);
    if (!info->cluster_id)
        return -ENODATA;
    if (attribute != ATTRIBUTE_CLUSTER && attribute != ATTRIBUTE_CLUSTER_SIZE)
        return view_cluster(task, info->cluster_id, 1, ret_cluster, NULL);
    *ret_cluster = (struct cluster_info){.id = info->cluster_id, .size = info->cluster_size};
    return 0;
}

static int answer_cluster(const struct view_task *task, enum attribute attribute,
                          const struct document_info *info, struct value *value)
{
    _cleanup_(cluster_info_done) struct cluster_info cluster = {0};
    int r = find_cluster(task, attribute, info, &cluster);
    if (r < 0)
        return r;
    if (attribute == ATTRIBUTE_CLUSTER)
        return set(value, "%" PRIu64, cluster.id);
    if (attribute == ATTRIBUTE_CLUSTER_SIZE)
        return set(value, "%" PRIu64, cluster.size);
    return answer_representative(task, attribute, &cluster, value);
}

/* The cluster of the document in a named clustering, of what the caller may read. */
static int answer_cluster_in(const struct view_task *task, const char *name, struct value *value)
{
    _cleanup_(cluster_info_done) struct cluster_info seen = {0};
    struct index_clustering_status clustering;
    uint64_t id = 0;
    int r = index_find_clustering(task->fs->index, name, &clustering);
    if (r == 0 && task->caller.all)
        r = index_cluster_of(task->fs->index, &task->key, clustering.base, &id);
    else if (r == 0)
        r = view_cluster_of(task, &task->key, clustering.base, &seen);
    if (r < 0)
        return r;
    id |= seen.id;
    return id ? set(value, "%" PRIu64, id & INDEX_CLUSTER_MAX) : -ENODATA;
}

static int answer_kin(const struct view_task *task, enum attribute attribute, struct value *value)
{
    const bool nearest = attribute == ATTRIBUTE_NEAREST;
    _cleanup_(kin_list_done) struct kin_list list = {0};
    int r =
        view_kin(task, INDEX_RESEMBLES, &task->key, nearest ? 1 : task->fs->options.limit, &list);
    if (r < 0)
        return r;
    if (!list.n_kin)
        return -ENODATA;
    return nearest ? set_path(value, list.kin[0].path)
                   : attribute_lines(&list, &value->text, &value->n_bytes, NULL);
}

/* For who may read everything, where words of documents are kept. */
static int answer_related(const struct view_task *task, struct value *value)
{
    _cleanup_(kin_list_done) struct kin_list list = {0};
    if (!task->caller.all || !index_has_topics(task->fs->index))
        return -ENODATA;
    int r = view_kin(task, INDEX_RELATED, &task->key, task->fs->options.limit, &list);
    if (r < 0)
        return r;
    return list.n_kin ? attribute_lines(&list, &value->text, &value->n_bytes, NULL) : -ENODATA;
}

/* Of a document, or of a directory of topics/. */
static int answer_topic(const struct view_task *task, enum attribute attribute, struct value *value)
{
    int r = view_topics_attribute(task, attribute, &value->text);
    value->n_bytes = r < 0 ? 0 : strlen(value->text);
    return r;
}

/* The number of documents more that resemble it than user.kinfs.similar has lines, because of the
 * limit of views and of what an attribute can hold. */
static int answer_left_out(const struct view_task *task, struct value *value)
{
    _cleanup_(kin_list_done) struct kin_list shown = {0};
    _cleanup_free_ char *lines = NULL;
    const size_t limit = task->fs->options.limit;
    size_t n_bytes, n_lines = 0;
    int r = view_kin(task, INDEX_RESEMBLES, &task->key, limit, &shown);
    size_t n_found = shown.n_kin;
    if (!r && limit && n_found == limit)
        r = view_count_similar(task, &task->key, &n_found);
    if (!r)
        r = attribute_lines(&shown, &lines, &n_bytes, &n_lines);
    if (r < 0)
        return r;
    return n_found > n_lines ? set(value, "%zu", n_found - n_lines) : -ENODATA;
}

/* The resemblance to another document, named by a path that the caller can reach and read. */
static int answer_comparison(const struct view_task *task, enum attribute attribute,
                             const char *path, struct value *value)
{
    _cleanup_close_ int fd = -1;
    struct file_key other;
    struct document_info info;
    struct comparison comparison;
    fd = caller_open_readable(&task->caller, path);
    if (fd < 0)
        return -ENODATA; /* not whether it exists */
    int r = backing_key_at(task->fs->backing, fd, "", &other);
    if (!r)
        r = view_document(task, &other, &info);
    if (!r)
        r = view_compare(task, &task->key, &other, &comparison);
    if (r < 0)
        return r;
    switch (attribute) {
    case ATTRIBUTE_RESEMBLANCE_TO: return set_number(value, comparison.resemblance);
    case ATTRIBUTE_CONTAINMENT_IN: return set_number(value, comparison.containment_ab);
    case ATTRIBUTE_RESEMBLANCE_ERROR_TO:
        return comparison.exact
                   ? -ENODATA
                   : set_error(value, comparison.resemblance_error, comparison.resemblance_samples);
    default: /* an exact one has an error of 0 */
        return comparison.containment_ab_error > 0
                   ? set_error(value, comparison.containment_ab_error,
                               comparison.containment_ab_samples)
                   : -ENODATA;
    }
}

/* No file stays away from a backup by an answer that is not certain. */
static int answer_robots(const struct view_task *task, struct value *value)
{
    int r = task->fs->options.robots ? view_leaves_out(task) : 0;
    return r < 0 ? r : r ? set(value, "false") : -ENODATA;
}

static int answer_document(const struct view_task *task, enum attribute attribute, const char *path,
                           struct value *value)
{
    struct document_info info;
    int r = view_settle(task);
    if (!r)
        r = view_document(task, &task->key, &info);
    if (r < 0)
        return r;
    switch (attribute) {
    case ATTRIBUTE_STATE: return answer_state(task, &info, value);
    case ATTRIBUTE_CLUSTER:
    case ATTRIBUTE_CLUSTER_SIZE:
    case ATTRIBUTE_REPRESENTATIVE:
    case ATTRIBUTE_RESEMBLANCE:
    case ATTRIBUTE_RESEMBLANCE_ERROR: return answer_cluster(task, attribute, &info, value);
    case ATTRIBUTE_CLUSTER_IN: return answer_cluster_in(task, path, value);
    case ATTRIBUTE_NEAREST:
    case ATTRIBUTE_SIMILAR: return answer_kin(task, attribute, value);
    case ATTRIBUTE_RELATED: return answer_related(task, value);
    case ATTRIBUTE_TOPIC:
    case ATTRIBUTE_TOPIC_SIZE:
    case ATTRIBUTE_WORDS: return answer_topic(task, attribute, value);
    case ATTRIBUTE_SIMILAR_LEFT_OUT: return answer_left_out(task, value);
    case ATTRIBUTE_ROBOTS: return answer_robots(task, value);
    case ATTRIBUTE_RESEMBLANCE_TO:
    case ATTRIBUTE_RESEMBLANCE_ERROR_TO:
    case ATTRIBUTE_CONTAINMENT_IN:
    case ATTRIBUTE_CONTAINMENT_ERROR_IN: return answer_comparison(task, attribute, path, value);
    default: return -ENODATA;
    }
}

/* -- of the root -- */

static int answer_root(const struct view_task *task, enum attribute attribute, struct value *value)
{
    /* All but what is still to come is of the tree as it was when asked. */
    const bool is_of_documents =
        attribute == ATTRIBUTE_DOCUMENTS || attribute == ATTRIBUTE_CLUSTERS;
    int r = is_of_documents ? view_settle(task) : 0;
    if (r < 0)
        return r;
    _cleanup_free_ struct index_status *status = malloc(sizeof(*status));
    if (!status)
        return -ENOMEM;
    index_get_status(task->fs->index, status);
    /* Counts are of all documents. */
    if (!task->caller.all && attribute != ATTRIBUTE_VERSION && attribute != ATTRIBUTE_POLICY)
        return -ENODATA;
    switch (attribute) {
    case ATTRIBUTE_VERSION: return set(value, "%s", status->version);
    case ATTRIBUTE_POLICY: return set(value, "%s", status->policy);
    case ATTRIBUTE_DOCUMENTS: return set(value, "%" PRIu64, status->documents);
    case ATTRIBUTE_CLUSTERS: return set(value, "%" PRIu64, status->clusters);
    case ATTRIBUTE_PENDING:
        return set(value, "%" PRIu64, status->pending_foreground + status->pending_scan);
    case ATTRIBUTE_STORE:
        return task->fs->options.store_path ? set(value, "%s", task->fs->options.store_path)
                                            : -ENODATA;
    default: return -ENODATA;
    }
}

/* -- of a cluster's directory -- */

/* Returns false where only whether there is a value, or how long it is, is asked. */
static bool wants_value(const struct view_task *task)
{
    return task->name && task->size;
}

static int answer_cluster_directory(const struct view_task *task, enum attribute attribute,
                                    struct value *value)
{
    _cleanup_(cluster_info_done) struct cluster_info cluster = {0};
    const bool is_of_all =
        attribute == ATTRIBUTE_RESEMBLANCE_MIN || attribute == ATTRIBUTE_RESEMBLANCE_MEAN;
    const bool reads_all = is_of_all && wants_value(task);
    int r = view_settle(task);
    if (!r)
        r = view_cluster(task, task->node->cluster_id, reads_all ? 0 : 1, &cluster, NULL);
    if (r < 0)
        return r;
    if (is_of_all && !reads_all) /* all numbers are as long */
        return set_number(value, 1.0);
    switch (attribute) {
    case ATTRIBUTE_SIZE: return set(value, "%" PRIu64, cluster.size);
    case ATTRIBUTE_STATE:
        return set(value, cluster.stale ? "stale" : cluster.repairing ? "repairing" : "current");
    case ATTRIBUTE_REPRESENTATIVE: return answer_representative(task, attribute, &cluster, value);
    case ATTRIBUTE_RESEMBLANCE_MIN: return set_number(value, cluster.resemblance_min);
    case ATTRIBUTE_RESEMBLANCE_MEAN: return set_number(value, cluster.resemblance_mean);
    default: return -ENODATA;
    }
}

/* A named clustering is stale until it is made anew after changes; the default one never is. A
 * caller who may not read everything is shown clusters
 * that are found when asked for. */
static int answer_clustering_state(const struct view_task *task, struct value *value)
{
    struct index_clustering_status clusterings[INDEX_CLUSTERINGS_MAX];
    const size_t n = index_get_clusterings(task->fs->index, clusterings);
    for (size_t i = 0; i < n; i++)
        if (clusterings[i].base == task->node->cluster_id && !clusterings[i].current &&
            task->caller.all)
            return set(value, "stale");
    return set(value, "current");
}

/* -- requests -- */

static int answer(const struct view_task *task, enum attribute attribute, const char *path,
                  struct value *value)
{
    if (task->node && (task->node->kind == VIEW_TOPICS || task->node->kind == VIEW_TOPIC))
        return answer_topic(task, attribute, value);
    if (task->node && task->node->kind == VIEW_CLUSTERS)
        return attribute == ATTRIBUTE_STATE ? answer_clustering_state(task, value) : -ENODATA;
    if (task->node)
        return answer_cluster_directory(task, attribute, value);
    if (file_key_equal(&task->key, backing_root_key(task->fs->backing)))
        return answer_root(task, attribute, value);
    return answer_document(task, attribute, path, value);
}

static void get(struct view_task *task)
{
    _cleanup_value_ value = {0};
    const char *path;
    enum attribute attribute = attribute_of_name(task->name, &path);
    reply(task->req, answer(task, attribute, path, &value), &value, task->size);
}

/* True: there is something to ask; nobody waits for a name without an answer. */
static bool has_attribute(const char *name)
{
    const char *path;
    return attribute_of_name(name, &path) != ATTRIBUTE_NONE;
}

void attributes_get(struct fs *fs, fuse_req_t req, const struct inode *inode, const char *name,
                    size_t size)
{
    if (!fs->views || !has_attribute(name))
        fuse_reply_err(req, ENODATA);
    else
        view_defer(
            fs, req,
            &(struct view_task){.run = get, .key = inode->key, .name = (char *)name, .size = size});
}

static bool has_attributes(const struct view_node *node)
{
    return node->kind == VIEW_CLUSTER || node->kind == VIEW_CLUSTERS || node->kind == VIEW_TOPIC ||
           node->kind == VIEW_TOPICS;
}

void views_getxattr(struct fs *fs, fuse_req_t req, struct view_node *node, const char *name,
                    size_t size)
{
    if (!has_attributes(node) || !has_attribute(name))
        fuse_reply_err(req, ENODATA);
    else
        view_defer(
            fs, req,
            &(struct view_task){.run = get, .node = node, .name = (char *)name, .size = size});
}

static int append(struct value *names, const char *more, size_t n_bytes)
{
    char *text = realloc(names->text, names->n_bytes + n_bytes + 1);
    if (!text)
        return -ENOMEM;
    names->text = text;
    memcpy(text + names->n_bytes, more, n_bytes);
    names->n_bytes += n_bytes;
    return 0;
}

/* The tree has one of that name. */
static bool has_name(const struct value *names, const char *name)
{
    for (size_t at = 0; at < names->n_bytes; at += strlen(names->text + at) + 1)
        if (strcmp(names->text + at, name) == 0)
            return true;
    return false;
}

static void list(struct view_task *task)
{
    _cleanup_value_ names = {.text = TAKE_PTR(task->name), .n_bytes = task->n_name_bytes};
    int r = 0;
    for (int i = 1; !r && i < N_ATTRIBUTES; i++) {
        const char *name = attribute_name((enum attribute)i);
        if (!name || has_name(&names, name))
            continue;
        _cleanup_value_ value = {0};
        r = answer(task, (enum attribute)i, NULL, &value);
        if (r == -EINTR || r == -ESHUTDOWN || r == -ENOMEM)
            break;
        r = r < 0 ? 0 : append(&names, name, strlen(name) + 1);
    }
    reply(task->req, r, &names, task->size);
}

/* getxattr(2) asks for the right to read; a list of what has a value tells as much. It is the right
 * of when the question comes: what is told in the end the index decides
 * (engine/index/answers/answer.h). */
static bool may_read_values(struct fs *fs, fuse_req_t req, struct inode *inode)
{
    _cleanup_(caller_done) struct caller caller = {0};
    _cleanup_(inode_return_fd) struct inode_fd borrowed = INODE_FD_NONE;
    int fd = inode_borrow_fd(&fs->inodes, inode, &borrowed);
    return fd >= 0 && view_caller(fs, req, &caller) == 0 &&
           caller_access(&caller, fd, "", R_OK) == 0;
}

void attributes_list(struct fs *fs, fuse_req_t req, struct inode *inode, const char *names,
                     size_t n_bytes, size_t size)
{
    const struct value own = {.text = (char *)names, .n_bytes = n_bytes};
    bool computed =
        fs->views && fs->options.list_xattr &&
        (S_ISREG(inode->type) || file_key_equal(&inode->key, backing_root_key(fs->backing)));
    if (!computed || !may_read_values(fs, req, inode))
        reply(req, 0, &own, size);
    else
        view_defer(fs, req,
                   &(struct view_task){.run = list,
                                       .key = inode->key,
                                       .name = n_bytes ? (char *)names : NULL,
                                       .n_name_bytes = n_bytes,
                                       .size = size});
}

void views_listxattr(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size)
{
    const struct value none = {0};
    if ((node->kind != VIEW_CLUSTER && node->kind != VIEW_TOPIC) || !fs->options.list_xattr)
        reply(req, 0, &none, size);
    else
        view_defer(fs, req, &(struct view_task){.run = list, .node = node, .size = size});
}
