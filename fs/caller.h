/* What the user who asks may see: decided by the kernel, on a thread that for the moment has that
 * user's identity, so that modes, ACLs and security modules all count.
 */
#ifndef KINFS_FS_CALLER_H
#define KINFS_FS_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct caller {
    int root_fd; /* borrowed: what paths are relative to */
    uid_t uid;
    gid_t gid;
    bool all;      /* may read whatever the daemon may */
    gid_t *groups; /* supplementary ones; owned */
    size_t n_groups;
    gid_t *own_groups; /* the thread's, to come back to; owned */
    size_t n_own_groups;
};

/* uid, gid, groups  of the user; groups are copied. Root and the user the daemon runs as may read
 *                   all, and their groups are of no interest.
 *
 * Returns 0 or -ENOMEM; end with caller_done().
 */
int caller_init(struct caller *caller, int root_fd, uid_t uid, gid_t gid, const gid_t *groups,
                size_t n_groups);
void caller_done(struct caller *caller); /* one that is all zero allowed */

/* Whether groups matter to caller_init(). */
bool caller_is_restricted(uid_t uid);

/* access(2) with the caller's rights: mode is of R_OK, X_OK; path "" means dirfd itself (which may
 * be O_PATH); a symbolic link at the end is not followed.
 *
 * Returns 0, -EACCES (also when the daemon has no right to act as another user), -ENOENT or another
 * errno of faccessat2(2). Any thread; about 5 us.
 */
int caller_access(const struct caller *caller, int dirfd, const char *path, int mode);

/* An index_may_read_fn; user is a struct caller. */
bool caller_may_read(void *user, const char *path);

/* Equal for callers that see the same. */
uint64_t caller_hash(const struct caller *caller);

#endif
