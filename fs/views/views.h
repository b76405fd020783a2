/* The views: directories and links made up from the answers of the index.
 *
 *   similar/                  mirrors the tree; each document is a directory of links
 *   similar/a/b.txt/093-c.txt -> ../../../a/c.txt
 *   contains/a/book.txt/099-chapter.txt -> ../../../a/chapter.txt   what is contained in it
 *   within/a/chapter.txt/099-book.txt   -> ../../../a/book.txt      what it is contained in
 *   passages/a/b.txt/00123-c.txt        -> ../../../a/c.txt         what has passages of it
 *   related/a/b.txt/017-c.txt           -> ../../../a/c.txt         what is about the same
 *   clusters/17/087-c.txt     -> ../../a/c.txt
 *   clusters/near/5/097-c.txt -> ../../../a/c.txt   of a named clustering
 *   unique/                   the tree itself, without what another document stands in for
 *   unique/.kinfs-skipped.tsv what that is
 *   .kinfs/similar, .kinfs/contains and so on    the same, whatever the tree has in its root
 *   .kinfs/query/NAME        takes a document and answers what resembles it (view_question.h)
 *
 * Every operation on a NODE_VIEW is handed to the function of its name, which replies itself: at
 * once, or from a thread of the views' own when the answer may wait for the index. So a thread that
 * serves never stands behind the index. What is not here (whatever changes something) the mount
 * refuses: attributes with EPERM, all else with EROFS (fs/ops/ops.h).
 *
 * The kernel is told to keep nothing: entry, attribute and negative timeouts are 0.
 *
 * A caller is shown what the caller could reach and read in the tree.
 *
 * Threads: those that serve; views_new() and views_free() that of fs_serve(), while none does.
 */
#ifndef KINFS_FS_VIEWS_VIEWS_H
#define KINFS_FS_VIEWS_VIEWS_H

#include "fs/state.h"

/* Make the views' state. Starts threads: call it after the daemon has gone into the background.
 * Returns 0, -ENOMEM, -EINVAL (options.unique) or -EAGAIN; gives. */
int views_new(struct fs *fs, struct views **ret_views);

/* Answer whatever still waits, end the threads, free all nodes. Call when no operation can come any
 * more and before fuse_session_destroy(). NULL allowed. */
void views_free(struct views *views);

/* A name looked up in the root of the mount: .kinfs always; the others when they are among
 * options.views. ENOENT for any other. The caller has seen to it that the tree wins where it has an
 * entry of that name. */
void views_lookup_root(struct fs *fs, fuse_req_t req, const char *name);

/* The name is one that views_lookup_root() has an answer for; for a readdir of the root where they
 * are listed, and for the refusal to create such an entry. */
bool views_is_root_name(const struct fs *fs, const char *name);

/* Listings of the root have the names of views, or these are found by name alone. Of `unique`,
 * `contains`, `within` and `passages`, of which a walk reads documents, listings have those that
 * were asked for by name and as listed; and `unique` and `related` those that are to_owner, for
 * root and the owner. */
bool views_are_listed(const struct fs *fs);
bool views_is_listed(const struct fs *fs, const char *name, bool to_owner);
/* .kinfs/ has it: what it would show is indexed. */
bool views_has_root_name(const struct fs *fs, const char *name);

/* The inode number of a name of the root in a directory listing; that of its attributes too. */
ino_t views_root_ino(const char *name);

/* -- unique/: its directories are nodes of the views, which answer as the directories of the tree
 * do that they stand for; what is in them is the tree's own -- */

/* The directory of the tree that a node of unique/ is, borrowed; NULL: the node is another. */
struct inode *views_unique_directory(const struct view_node *node);
/* True: unique/ is not for the sender of a request. */
bool views_unique_refuses(fuse_req_t req);
/* The stat of the top of unique/ differs in some attributes: the top is not the root. */
void views_unique_stat(const struct view_node *node, struct stat *st);
/* The name of a directory of unique/ that is the views' own. */
bool views_unique_is_own(const struct view_node *parent, const char *name);
/* Replies to a look-up of a name in it, whose entry was looked up in the tree; that lookup is
 * taken. */
void views_unique_reply(struct fs *fs, fuse_req_t req, struct view_node *parent, const char *name,
                        const struct fuse_entry_param *entry);

void views_lookup(struct fs *fs, fuse_req_t req, struct view_node *parent, const char *name);
/* Without a reply: of forget and of forget_multi. */
void views_forget(struct fs *fs, struct view_node *node, uint64_t n_lookups);
/* Its attributes, of which the kernel may keep nothing. Returns 0 or an errno. */
int views_stat(struct fs *fs, const struct view_node *node, struct stat *ret_stat);
void views_readlink(struct fs *fs, fuse_req_t req, struct view_node *node);
void views_statfs(struct fs *fs, fuse_req_t req, struct view_node *node);

void views_opendir(struct fs *fs, fuse_req_t req, struct view_node *node,
                   const struct fuse_file_info *fi);
void views_readdir(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size, off_t offset,
                   const struct fuse_file_info *fi);
void views_readdirplus(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size,
                       off_t offset, const struct fuse_file_info *fi);
void views_releasedir(struct fs *fs, fuse_req_t req, struct view_node *node,
                      const struct fuse_file_info *fi);

/* The file is CACHEDIR.TAG, .kinfs/metrics, or one that is opened in .kinfs/query. */
void views_create(struct fs *fs, fuse_req_t req, struct view_node *parent, const char *name,
                  const struct fuse_file_info *fi);
void views_open(struct fs *fs, fuse_req_t req, struct view_node *node,
                const struct fuse_file_info *fi);
void views_read(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size, off_t offset,
                const struct fuse_file_info *fi);
/* Without a reply: how many bytes, or an errno. */
ssize_t views_write(fuse_req_t req, const struct view_node *node, const struct fuse_file_info *fi,
                    struct fuse_bufvec *in, off_t offset);
void views_release(struct fs *fs, fuse_req_t req, struct view_node *node,
                   const struct fuse_file_info *fi);

/* The attributes of a cluster's directory; ENODATA for all else. */
void views_getxattr(struct fs *fs, fuse_req_t req, struct view_node *node, const char *name,
                    size_t size);
/* Without a reply: one of the access control lists of a node, as getxattr(2), or an errno. */
int views_access_list(struct fs *fs, const struct view_node *node, const char *name, void *value,
                      size_t size);
void views_listxattr(struct fs *fs, fuse_req_t req, struct view_node *node, size_t size);

#endif
