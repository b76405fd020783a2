/* Things the parts of the views share. Private to fs/views/.
 *
 * Threads: what is given a task is for the thread of the views that runs it, but for view_defer()
 * and view_caller(), which are for those that serve, and view_nobody_waits(). The rest: any; who
 * serves waits by itself, without `looking`.
 */
#ifndef KINFS_FS_VIEWS_VIEW_H
#define KINFS_FS_VIEWS_VIEW_H

#include <stdatomic.h>
#include <time.h>

#include "fs/callers/caller.h"
#include "fs/views/defer.h"
#include "fs/inodes/user_room.h"
#include "fs/views/slow_turns.h"
#include "fs/views/view_room.h"
#include "fs/state.h"
#include "fs/views/view_file.h"
#include "fs/views/view_links.h"
#include "fs/views/view_node.h"
#include "fs/views/view_skipped.h"

#define VIEW_TAG_NAME "CACHEDIR.TAG"
/* The first line is what makes it one (the Cache Directory Tagging Specification): backup programs
 * that honour it leave the views out. */
#define VIEW_TAG_TEXT                                                                              \
    "Signature: 8a477f597d28d172789f06886806bc55\n"                                                \
    "# Links computed by kinfs; nothing here is worth a copy.\n"

struct views {
    struct defer *defer;
    struct index_unique *unique;
    atomic_int_fast64_t impatient_until_ms; /* view_unique_settle(); of clock_now_ms() */
    struct view_skipped_memory skipped;
    struct looks *looks;
    struct user_room groups; /* of those who wait */
    struct slow_turns slow_turns;
    struct view_table nodes;
    struct view_links_memory memory;
    struct caller_numbers callers; /* of the memory's keys */
    atomic_uint_fast64_t n_questions;
    struct view_file_rooms questions, lists; /* open ones (view_question.c, view_skipped.c) */
    struct view_room listings;               /* likewise (view_listing.c) */
    struct timespec since;                   /* times of what mirrors nothing */
};

/* -- requests that wait (view_task.c) -- */

struct view_task {
    void (*run)(struct view_task *task); /* replies, and the task is freed after it */
    bool is_long;                        /* it may take minutes */
    /* The kernel holds the directory's lock until the reply: for a name and for a part of a
     * listing. */
    bool holds_lock;
    struct fs *fs;
    fuse_req_t req;
    const struct caller *as; /* of the handle, which opened it; NULL: who sends this request */
    struct caller caller;    /* the one who is answered; borrowed where there is `as` */
    uid_t asker;             /* who sends this request, where there is no `as` */
    size_t n_room;           /* which that one has taken for groups */
    struct listed_way way;   /* to what is answered; the task's own */
    struct looking looking;  /* the caller's */
    int64_t come_ms;         /* of clock_now_ms() */
    int64_t begun_ms;        /* likewise; 0: it is still in the queue */
    int64_t end_ms;          /* how long it may wait, all its waits together; of clock_now_ms() */
    struct view_node *node;  /* of the request, or NULL; the kernel holds it until the reply */
    struct file_key key;     /* of the document or directory of the tree that is asked about */
    char *name;              /* owned; or several, each with its NUL: */
    size_t n_name_bytes;     /* of all of them, 0: it is one */
    size_t size;
    off_t offset;
    struct fuse_file_info fi;
    bool plus;
    struct index_equal *equal;     /* of what is listed, or NULL (struct index_query) */
    struct fuse_entry_param entry; /* of what is looked up */
    struct inode
        *inode; /* which was looked up for the kernel, and is forgotten if not told; or NULL */
};

/* Run a task on a thread of the views, with fs, req and caller filled in; task is copied, name too.
 * task->as is borrowed until the reply: of a handle, which the kernel releases after it. The
 * contents of a handle are for its opener alone: the descriptor may have become the standard input
 * of a program that is allowed more. Replies the error itself when it cannot. */
void view_defer(struct fs *fs, fuse_req_t req, const struct view_task *task);

/* The sender of a request; end with caller_done(). Returns 0, -ENOMEM, or -EACCES of one who is not
 * known to be the thread that sent it, whose groups cannot be known, or whom the tree's own file
 * system judges by itself (base/mounts/judges.h). */
int view_caller(struct fs *fs, fuse_req_t req, struct caller *ret_caller);

int view_tasks_new(struct views *views); /* views->defer */

/* -- answers of the index, for a caller (view_ask.c) -- */

/* Wait until what was closed before, in the mount or beside it, is in the answers, until
 * task->end_ms or an interruption at most. Returns 0 (also when that was not enough), -ESHUTDOWN.
 */
int view_settle(const struct view_task *task);

/* The state of a document, of its content of now if that can be had until task->end_ms.
 * Returns 0, -ENOENT, -ESHUTDOWN or an error. */
int view_document(const struct view_task *task, const struct file_key *key,
                  struct document_info *ret_info);

/* True: the kernel has held a lock for the request of a task for too long (view_task.c). Any
 * thread.
 */
bool view_is_late(const struct view_task *task);
/* True: the request of a task, which is user, was given up, or is late, or all ends. Any thread. */
bool view_nobody_waits(void *user);
/* The reply to a task that failed. */
void view_reply_err(const struct view_task *task, int error);

/* A question as the caller of a task may ask it, with the threshold of views. */
struct index_query view_query_of(const struct view_task *task, size_t limit);

/* Documents that resemble one, or are in another relation to it, and that the caller may read;
 * limit 0: all. One not known has no kin. */
int view_kin(const struct view_task *task, enum index_relation relation, const struct file_key *key,
             size_t limit, struct kin_list *ret_list);
/* The number of documents that resemble one. */
int view_count_similar(const struct view_task *task, const struct file_key *key, size_t *ret_n);

/* As index_compare(). */
int view_compare(const struct view_task *task, const struct file_key *a, const struct file_key *b,
                 struct comparison *ret_comparison);

/* view_kin() would have an answer, of the relation of task->node: 1, 0 or an error. */
int view_has_kin(const struct view_task *task, const struct file_key *key);

/* A cluster as the caller sees it: who may not read everything is shown clusters of what can be
 * read, under ids of their own (index_readable_cluster()). -ENOENT when there is none of two
 * documents or more. limit 0: all members; ret_members may be NULL. Reads as many members as
 * index_cluster() and index_readable_cluster() do. */
int view_cluster(const struct view_task *task, uint64_t id, size_t limit,
                 struct cluster_info *ret_info, struct kin_list *ret_members);

/* The same of a document, in the clustering of a base; for who may not read everything. */
int view_cluster_of(const struct view_task *task, const struct file_key *key, uint64_t base,
                    struct cluster_info *ret_info);

/* There is such a cluster for the caller, at less cost: 1, 0 or an error. task->node is as
 * for view_links(). */
int view_has_cluster(const struct view_task *task, uint64_t id);

/* The links of a VIEW_DOCUMENT or VIEW_CLUSTER, task->node, which may be one only filled in so far
 * as for view_table_lookup(). fresh: not from memory. Gives a reference.
 * Returns 0, -ENOENT (no such cluster), -ESTALE or an error. */
int view_links(const struct view_task *task, bool fresh, struct view_links **ret_links);

/* As view_settle(), for a name in unique/, of which a walk asks thousands: where the wait has once
 * run out nobody waits for half a minute. What is not settled is shown. */
int view_unique_settle(const struct view_task *task);
/* As view_query_of(), for what is decided in unique/: an interruption ends it after a second. */
struct index_query view_unique_query(const struct view_task *task);
/* An entry of a directory of unique/ is left out: 1, 0, -ESHUTDOWN, or -EACCES for a caller who may
 * not read everything; in doubt 0. */
int view_is_left_out(const struct view_task *task, const struct view_node *directory,
                     const char *name, const struct file_key *key);
/* The same of a file, task->key, by all its names; for who may not read everything 0. */
int view_leaves_out(const struct view_task *task);

/* True: the document of a link is still where the link says, and the caller may list and read it.
 */
bool view_link_is_alive(const struct view_task *task, const struct view_link *link);

/* -- the tree (view_ask.c) -- */

/* The file a node mirrors, as O_PATH: -ESTALE when its path means something else now. No symbolic
 * link on the way is followed, none leads out, nor into what is mounted inside. looking NULL: of a
 * thread that serves, and waits. */
int view_open_node(struct fs *fs, struct looking *looking, const struct view_node *node,
                   int *ret_fd);

/* -- nodes (views.c) -- */

/* Its type in a listing: S_IFDIR and so on. */
mode_t view_type(enum view_kind kind);

/* True: it stands for a directory or a document of the tree, and may be opened by who may read that
 * one (view_modes.c). */
bool view_is_mirror(const struct view_node *node);

/* The mode of a mirror by that of what it mirrors: of all bits of a mode, or of one entry of an
 * access control list. */
mode_t view_mode(const struct view_node *mirror, mode_t mirrored);

/* Replies an entry for what is described as for view_table_lookup(). */
void view_reply_entry(struct fs *fs, fuse_req_t req, const struct view_node *like);

#endif
