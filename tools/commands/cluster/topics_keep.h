/* What --mode=haveliwala2000 leaves in a directory by --keep: the signatures of all nodes, and
 * their names, so that pairs, filter, sort and CENTER are run again with another threshold, and no
 * document is read.
 *
 *   kinfs-topics  empty: the mark (engine/cluster/large/kept_directory.h)
 *   documents     the names of documents, which are the first nodes (document_list.h)
 *   signatures    240 bytes a node, as node_sketches.h has them
 *   targets       of each node behind the documents the path or URL, with a NUL
 *   places        of each of these 8 bytes: where in `targets` it begins
 *   topics.head   how many there are, and checksums
 *
 * One thread.
 */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_TOPICS_KEEP_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_TOPICS_KEEP_H

#include <stdint.h>

#include "engine/cluster/large/scratch_file.h"

struct topics_keep_head {
    uint64_t magic;
    uint64_t n_documents, n_nodes, n_bags, n_unread;
    uint64_t targets_bytes;
    uint64_t signatures_checksum, targets_checksum;
    uint64_t checksum; /* of all before */
};

/* Zero-initialised: nothing is kept. */
struct topics_keep {
    int directory;
    struct topics_keep_head head; /* of what is there, or is to be written */
    struct scratch_file targets, places;
};

/* What is there. Returns 0; -ENOENT (nothing was kept), -EUCLEAN (damaged), or an error of
 * kept_directory_open(); ret_signatures gives. */
int topics_keep_open(const char *path, struct topics_keep *ret_keep,
                     struct scratch_file *ret_signatures);

/* A directory that is to be written anew is looked at, and locked; what is there stays until it is
 * begun: then ret_signatures is empty, and to be written by the caller (gives). Return 0, or as
 * above. */
int topics_keep_take(const char *path, struct topics_keep *ret_keep);
int topics_keep_begin(struct topics_keep *keep, struct scratch_file *ret_signatures);
void topics_keep_done(struct topics_keep *keep);

/* Write the names of all nodes behind the documents and, when all else is written, the head.
 *
 * name  of a node, and the member of a row that it has; gives, NULL: no memory
 *
 * Returns 0, -ENOMEM, or an errno of write(2). */
int topics_keep_write(struct topics_keep *keep,
                      char *(*name)(void *user, uint32_t node, const char **ret_member),
                      void *user);

/* The name of the i-th node behind the documents; gives. Returns 0, -ENOMEM, or an error of
 * scratch_file_read(). */
int topics_keep_target(struct topics_keep *keep, uint32_t i, char **ret_name);

#endif
