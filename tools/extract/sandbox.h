/* The sandbox bounds what a program that reads documents may do: compute, read, and write to what
 * it was given open.
 */
#ifndef KINFS_TOOLS_EXTRACT_SANDBOX_H
#define KINFS_TOOLS_EXTRACT_SANDBOX_H

struct sandbox_limits {
    unsigned seconds;   /* of the processor, of each process */
    unsigned memory_mb; /* of address space, of each process */
};

/* Confine this process, which leads a process group, and all that it will ever execute: root
 * becomes a user of this group alone (own_user.h), and nobody keeps capabilities; where a tree of
 * its own is to be had (own_tree.h), nothing is there but what may be read; nothing can be opened
 * for writing, made, removed, renamed or changed; where the kernel has Landlock, nothing is opened
 * but what the system is made of, /dev/null and its like, standard input, and what the command, the
 * program and its arguments (NULL: none), names by absolute paths; there are no sockets, no other
 * processes to be traced, signalled or limited, and no leaving of the process group; its parent's
 * death is its own. What cannot be done is EPERM, and what kernels can do since 2020 is ENOSYS.
 * Descriptors that are open stay as they are.
 *
 * Returns 0, or a negative errno with *ret_step, what could not be had. */
int sandbox_enter(const struct sandbox_limits *limits, char *const command[],
                  const char **ret_step);

#endif
