/* The properties of a file system, as one of its files or directories shows them. */
#ifndef KINFS_BASE_MOUNTS_FILE_SYSTEM_H
#define KINFS_BASE_MOUNTS_FILE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/statvfs.h>

#include "base/mounts/judges.h"

enum { FILE_SYSTEM_DENIABLE = ST_NOSUID | ST_NODEV };

struct file_system {
    unsigned long denies; /* those of FILE_SYSTEM_DENIABLE that its mount has; all: not known */
    uint64_t type;        /* statfs(2)'s; 0: it does not say */
    enum judges judges;
    bool opens_handles; /* those it makes can be opened */
};

/* Ask the file system of what is open (O_PATH will do) for the first two, which its server may have
 * to answer; the others are left as they are. Returns its id: statfs(2)'s, or the number of its
 * device where that is 0. Any thread. */
uint64_t file_system_ask(int fd, struct file_system *ret_file_system);

/* The file system opens files by their handles, as an open directory of it shows. Any thread. */
bool file_system_opens_handles(int fd);

#endif
