/* A directory in which what a run has made is kept for another one: files, each described by a
 * head.
 *
 * The directory is marked by an empty file, and everything in it may be overwritten by who has the
 * same mark; it is locked while a run has it, and all in it is the effective user's own
 * (base/files/trust.h). A head is written after all data that it describes, and removed before any
 * of that data is changed: a head that is there describes complete data. Nothing is forced to the
 * disk, as it can be made again: checksums tell what a machine that went down has lost. Numbers
 * have the byte order of this machine; a head of another order has another magic number.
 */
#ifndef KINFS_ENGINE_CLUSTER_LARGE_KEPT_DIRECTORY_H
#define KINFS_ENGINE_CLUSTER_LARGE_KEPT_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/cluster/large/scratch_file.h"

/* fresh  to be written anew: made where it is missing; one that is not empty and has no such mark
 * is refused, and nothing in it is touched
 *
 * Returns a descriptor the caller closes; -EBUSY, -ENOTEMPTY, or an error of trust_open_directory()
 * or trust_open_file(). */
int kept_directory_open(const char *path, const char *mark, bool fresh);

/* A file of it, emptied where it is fresh. Returns 0 or an error of trust_open_file(). */
int kept_directory_file(int directory, const char *name, bool fresh, struct scratch_file *ret_file);

/* A head is a struct that begins with a magic number and ends with a checksum, 8 bytes each; it is
 * there completely or not at all.
 *
 * Read: 0, -ENOENT, -EUCLEAN, or another errno. Write sets the checksum: 0, -ENOSPC, or another
 * errno. Remove: 0, also where there is none, or an errno of unlink(2). */
int kept_head_read(int directory, const char *name, uint64_t magic, void *ret_head,
                   size_t size_bytes);
int kept_head_write(int directory, const char *name, void *head, size_t size_bytes);
int kept_head_remove(int directory, const char *name);

#endif
