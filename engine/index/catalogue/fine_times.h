/* The fineness with which a file system tells changes apart. */
#ifndef KINFS_ENGINE_INDEX_CATALOGUE_FINE_TIMES_H
#define KINFS_ENGINE_INDEX_CATALOGUE_FINE_TIMES_H

#include <stdbool.h>

/* A change that follows a stat(2) of a file always gives it another ctime, however soon it comes:
 * Linux 6.13 and later on ext4, xfs, btrfs and tmpfs ("multigrain timestamps"). fd is any file of
 * the file system. false when in doubt. */
bool fine_times_at(int fd);

#endif
