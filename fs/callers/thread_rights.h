/* The capabilities of the calling thread, and as whom it acts on files. All functions are of the
 * calling thread alone, some system calls each (under 1 us).
 */
#ifndef KINFS_FS_CALLERS_THREAD_RIGHTS_H
#define KINFS_FS_CALLERS_THREAD_RIGHTS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct thread_rights {
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
};

/* 0 or a negative errno: -ENOMEM; -EPERM of rights that the thread is not permitted. */
int thread_rights_get(struct thread_rights *ret_rights);
int thread_rights_set(const struct thread_rights *rights);

bool thread_rights_have(const struct thread_rights *rights, int capability);
void thread_rights_drop(struct thread_rights *rights, int capability); /* leaves it permitted */
void thread_rights_add(struct thread_rights *rights, int capability);  /* of a permitted one */
void thread_rights_drop_all(struct thread_rights *rights);

/* Act on files as this user and group. Away from root the thread loses CAP_DAC_OVERRIDE and its
 * kind (capabilities(7), "Effect of user ID changes on capabilities"), unless thread_rights_set()
 * gives them again; CAP_SETGID stays.
 *
 * That loss is of a thread that comes from root without SECBIT_NO_SETUID_FIXUP: do not rely on it.
 *
 * Returns 0; -EPERM without the privilege, and then the thread acts as before.
 */
int thread_rights_become(uid_t uid, gid_t gid);
bool thread_rights_set_fsuid(uid_t uid); /* the user alone; whether it could */

/* Act as the process again, with these rights (a change back to root gives too many). It does not
 * return before it has: a thread must not go on as somebody else, and what was allowed on the way
 * there can only fail for want of memory, which passes. Keeps errno. */
void thread_rights_restore(const struct thread_rights *own);

/* The rights that a thread has by itself; groups are borrowed. */
struct thread_rights_own {
    struct thread_rights rights;
    size_t n_groups;
    const gid_t *groups;
};

/* Act on files as another user and group, with these supplementary groups and rights (NULL: those
 * that a change of user leaves), until thread_rights_restore_all().
 *
 * Returns 0; -EPERM, -ENOMEM, and then the thread is itself again. */
int thread_rights_become_all(uid_t uid, gid_t gid, size_t n_groups, const gid_t *groups,
                             const struct thread_rights *rights,
                             const struct thread_rights_own *own);
void thread_rights_restore_all(
    const struct thread_rights_own *own); /* as thread_rights_restore() */

#endif
