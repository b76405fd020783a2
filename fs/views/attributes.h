/* Computed extended attributes, user.kinfs.*, of documents, of the root and of a cluster's
 * directory.
 *
 * Of a document:
 *   state               "current", "pending" or "skipped: why"
 *   cluster             its id; cluster.size: its documents; cluster.NAME: its id in the named
 *                       clustering NAME
 *   representative      path of the member the cluster is named by
 *   resemblance         to the representative; resemblance.error: its standard error, if estimated
 *   nearest             path of the most resembling document
 *   similar             lines "resemblance TAB path", best first, cut at 64 KiB on a line end
 *   similar.left_out    how many of those are not shown, by the limit of views or the cut
 *   related             lines as of similar, of the ten nearest of what is about the same; for root
 *                       and the mount's owner
 *   topic               id of its topic (view_topics.h); topic.size: the documents of that; words:
 *                       those that tell the document from others, the heaviest first; likewise
 *   xdg.robots.backup   not of user.kinfs., where options.robots, for root and the mount's owner:
 *                       "false" of what unique/ leaves out by all its names, unless the tree has it
 *   resemblance:PATH    to the document at PATH; containment:PATH: of this document in that one;
 *                       resemblance.error:PATH, containment.error:PATH: the standard errors
 * Of a cluster's directory: size, representative, resemblance.min, resemblance.mean, and state:
 * "current", "repairing", or "stale" where its named clustering has not seen the last changes.
 * Of the directory of a clustering, and of topics: state, "current" or "stale".
 * Of the directory of a topic: size, state, words, representative, which is its centre, and
 * resemblance.mean to that, by words.
 * Of the root: version, policy; for root and the mount's owner documents, clusters, pending, store.
 *
 * A PATH asked for is relative to the root of the mount, one leading slash allowed, as it is (not
 * escaped); a path in an answer is relative to the root and escaped as `ls -b` does. Numbers have
 * four decimals; 1.0000 is said only of 1. ENODATA where there is no answer, also where there is
 * one that the caller may not see: documents the caller cannot read are neither named nor counted.
 *
 * Threads: those that serve; the reply may come from one of the views' own.
 */
#ifndef KINFS_FS_VIEWS_ATTRIBUTES_H
#define KINFS_FS_VIEWS_ATTRIBUTES_H

#include "fs/state.h"

/* True: the name is one of these, which nobody may set or remove (EPERM). What a user says of a
 * file (INDEX_KEEP_ATTRIBUTE) is not: it is the tree's. */
bool attributes_is_name(const char *name);

/* True: the attribute is computed where the tree has none of that name. */
bool attributes_may_add(const struct fs *fs, const struct inode *inode, const char *name);

/* Answer getxattr of such a name, maybe later from another thread. size 0 asks for the length. */
void attributes_get(struct fs *fs, fuse_req_t req, const struct inode *inode, const char *name,
                    size_t size);

/* Answer listxattr: the names the backing tree has, and after them those of the attributes that
 * have an answer now, when options.list_xattr; only for regular files and directories.
 *
 * names, n_bytes  borrowed until the return; as listxattr(2) gave them
 */
void attributes_list(struct fs *fs, fuse_req_t req, struct inode *inode, const char *names,
                     size_t n_bytes, size_t size);

#endif
