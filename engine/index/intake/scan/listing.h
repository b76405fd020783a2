/* Listings of directories of the tree, which somebody may see before they are read (the watch,
 * which has to watch a directory before its names are known). */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SCAN_LISTING_H
#define KINFS_ENGINE_INDEX_INTAKE_SCAN_LISTING_H

struct file_key;
struct index;

/* A directory to be listed; its access time stays as it is where the kernel lets us. Any thread.
 * Returns the descriptor or an errno. */
int listing_open(struct index *index, const struct file_key *directory);

#endif
