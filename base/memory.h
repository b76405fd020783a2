/* The memory that this process may have. */
#ifndef KINFS_BASE_MEMORY_H
#define KINFS_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the machine's memory, or less where a control group (version 2) that the process is
 * in, or one above it, has a bound. 0 when not even the machine's are known. Reads some small
 * files; any thread. */
uint64_t memory_of_process(void);

/* bytes within [least, most] */
size_t memory_within(uint64_t bytes, size_t least, size_t most);

/* The least bound of a control group and of those above it, UINT64_MAX where there is none.
 *
 * root   the directory of the control groups, such as "/sys/fs/cgroup"
 * group  a path below it, such as "/system.slice/kinfs.service", as /proc/self/cgroup has it */
uint64_t memory_of_group(const char *root, const char *group);

#endif
