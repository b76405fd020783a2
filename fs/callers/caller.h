/* The caller is the user who asks, and may see what the kernel lets that user see: decided by the
 * kernel, on a thread that for the moment has that user's ids and groups and no capability, so that
 * modes and ACLs count. What else confines the process that asks does not.
 *
 * Threads: any that acts as itself (fs/inodes/identity.h); a caller may be asked about by several
 * at once, but for its `looking`.
 */
#ifndef KINFS_FS_CALLERS_CALLER_H
#define KINFS_FS_CALLERS_CALLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/files/backing.h"
#include "engine/index/index.h"
#include "fs/callers/listed_way.h"

struct caller {
    struct backing *backing; /* borrowed: what paths are relative to the root of */
    struct looking *looking; /* borrowed: of the question that is answered; NULL: there is none */
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
int caller_init(struct caller *caller, struct backing *backing, uid_t uid, gid_t gid,
                const gid_t *groups, size_t n_groups);
void caller_done(struct caller *caller); /* one that is all zero allowed */

/* The user is restricted, so that groups matter to caller_init(). */
bool caller_is_restricted(uid_t uid);

/* access(2) with the caller's rights: mode is of R_OK, X_OK; path "" means dirfd itself (which may
 * be O_PATH); a symbolic link at the end is not followed.
 *
 * Returns 0, -EACCES (also when the daemon has no right to act as another user), -ENOENT or another
 * errno of faccessat2(2). Any thread; about 5 us.
 */
int caller_access(const struct caller *caller, int dirfd, const char *path, int mode);

/* A document that the caller can reach by a path and read, as an O_PATH descriptor: what was
 * allowed is what was opened, whatever is renamed meanwhile. No symbolic link is followed, none
 * leads out.
 *
 * Returns it, -EACCES, -ENOENT, -ELOOP, -EXDEV or another error of looks_open() or faccessat2(2).
 */
int caller_open_readable(const struct caller *caller, const char *path);

/* The same of a path that the caller could have found by looking: every directory on the way, the
 * root of the tree among them, can be listed, too. Of a name that could not be listed nobody is
 * told. Three calls for each directory. */
int caller_open_listed(const struct caller *caller, const char *path);

/* The right to a path, for caller_open_listed() and caller_open_readable(), as an index_may_read_fn
 * is asked for it.
 *
 * way  of the question, zero-initialised before its first path; no two threads at once
 */
enum index_right caller_may_read(const struct caller *caller, struct listed_way *way,
                                 const char *path, const struct file_key *key);
enum index_right caller_may_ask(const struct caller *caller, const char *path,
                                const struct file_key *key);

/* False: the caller may not read a file that is open with O_PATH, by whichever path. */
bool caller_may_open(const struct caller *caller, int fd);

/* A number that is the same for callers that see the same, and never for others: their identities
 * are compared, since a hash can be chosen by who may choose groups (user namespaces). 0 is of
 * those that see all. Who was not seen for long gets another number; a user of many identities has
 * none of another's forgotten. */
enum { CALLERS_REMEMBERED = 32 };
struct caller_numbers {
    pthread_mutex_t lock;
    uint64_t last;
    struct {
        uint64_t number;
        struct caller caller;
    } places[CALLERS_REMEMBERED];
};
void caller_numbers_init(struct caller_numbers *numbers);
void caller_numbers_done(struct caller_numbers *numbers);
uint64_t caller_number(struct caller_numbers *numbers, const struct caller *caller);

#endif
