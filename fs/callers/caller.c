/* The identity is switched around the one system call that needs it and not around a query, whose
 * store reads need the daemon's own rights.
 *
 * All capabilities are taken out of the thread's effective set for that call: setfsuid() takes out
 * CAP_DAC_OVERRIDE and its kind of a thread that comes from root alone, and not where a securebit
 * forbids it (capabilities(7), "Effect of user ID changes on capabilities"). setfsuid() back to
 * root puts in more than a thread that serves has: without care it would have CAP_FSETID from then
 * on, and what other users write or truncate would keep its suid bit (fs/inodes/identity.h).
 */
#include "fs/callers/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/callers/thread_rights.h"

bool caller_is_restricted(uid_t uid)
{
    return uid != 0 && uid != geteuid();
}

static int copy_groups(const gid_t *groups, size_t n_groups, gid_t **ret_copy)
{
    gid_t *copy = calloc(n_groups ? n_groups : 1, sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    if (n_groups)
        memcpy(copy, groups, n_groups * sizeof(*copy));
    *ret_copy = copy;
    return 0;
}

int caller_init(struct caller *caller, struct backing *backing, uid_t uid, gid_t gid,
                const gid_t *groups, size_t n_groups)
{
    struct caller c = {.backing = backing, .uid = uid, .gid = gid};
    c.all = !caller_is_restricted(uid);
    if (!c.all) {
        int n_own = getgroups(0, NULL);
        if (n_own < 0)
            return -errno;
        c.own_groups = calloc((size_t)n_own + 1, sizeof(gid_t));
        if (!c.own_groups)
            return -ENOMEM;
        n_own = getgroups(n_own, c.own_groups);
        int r = n_own < 0 ? -errno : copy_groups(groups, n_groups, &c.groups);
        if (r < 0) {
            caller_done(&c);
            return r;
        }
        c.n_own_groups = (size_t)n_own;
        c.n_groups = n_groups;
    }
    *caller = c;
    return 0;
}

void caller_done(struct caller *caller)
{
    free(caller->groups);
    free(caller->own_groups);
    *caller = (struct caller){0};
}

static struct thread_rights_own own_of(const struct caller *caller)
{
    return (struct thread_rights_own){.n_groups = caller->n_own_groups,
                                      .groups = caller->own_groups};
}

static bool become_caller(const struct caller *caller, struct thread_rights_own *own)
{
    if (thread_rights_get(&own->rights) < 0)
        return false;
    struct thread_rights none = own->rights;
    thread_rights_drop_all(&none);
    return thread_rights_become_all(caller->uid, caller->gid, caller->n_groups, caller->groups,
                                    &none, own) == 0;
}

int caller_access(const struct caller *caller, int dirfd, const char *path, int mode)
{
    int flags = AT_EACCESS | AT_SYMLINK_NOFOLLOW | (*path ? 0 : AT_EMPTY_PATH);
    if (caller->all)
        return syscall(SYS_faccessat2, dirfd, path, mode, flags) < 0 ? -errno : 0;
    struct thread_rights_own own = own_of(caller);
    if (!become_caller(caller, &own))
        return -EACCES;
    int r = syscall(SYS_faccessat2, dirfd, path, mode, flags) < 0 ? -errno : 0;
    thread_rights_restore_all(&own);
    return r;
}

/* On a thread that is the caller; way NULL: the directories need not be listed. */
static int open_path(struct listed_way *way, struct looking *looking, int root_fd, const char *path)
{
    return way ? listed_way_open(way, looking, root_fd, path)
               : looks_open_path(looking, root_fd, path);
}

/* *ret_fd is -1 where the path leads to nothing that the caller can reach. Returns 0 where that can
 * be read. */
static int reach(const struct caller *caller, struct listed_way *way, const char *path, int *ret_fd)
{
    const int root_fd = backing_root_fd(caller->backing);
    struct thread_rights_own own = own_of(caller);
    if (!caller->all && !become_caller(caller, &own))
        return -EACCES;
    int fd = open_path(caller->all ? NULL : way, caller->looking, root_fd, path);
    int r = fd < 0 ? fd : listed_way_check_readable(fd);
    if (!caller->all)
        thread_rights_restore_all(&own);
    *ret_fd = fd < 0 ? -1 : fd;
    return r;
}

static int open_readable(const struct caller *caller, struct listed_way *way, const char *path)
{
    _cleanup_close_ int fd = -1;
    int r = reach(caller, way, path, &fd);
    return r < 0 ? r : TAKE_FD(fd);
}

int caller_open_readable(const struct caller *caller, const char *path)
{
    return open_readable(caller, NULL, path);
}

int caller_open_listed(const struct caller *caller, const char *path)
{
    struct listed_way way = {0};
    int fd = open_readable(caller, &way, path);
    listed_way_done(&way);
    return fd;
}

/* All names of a file have its one mode and its lists; only a directory on the way refuses what
 * cannot be reached. A look that did not come back is of a name that is not shown. */
static enum index_right right_to(const struct caller *caller, struct listed_way *way,
                                 const char *path, const struct file_key *key)
{
    _cleanup_close_ int fd = -1;
    struct file_key found;
    if (caller->all)
        return INDEX_ALLOWED;
    int r = reach(caller, way, path, &fd);
    if (fd < 0)
        return r == -EACCES ? INDEX_DIRECTORY_REFUSED : INDEX_NAME_REFUSED;
    if (backing_key_at(caller->backing, fd, "", &found) < 0 || !file_key_equal(&found, key))
        return INDEX_NAME_REFUSED;
    return r < 0 ? INDEX_FILE_REFUSED : INDEX_ALLOWED;
}

enum index_right caller_may_read(const struct caller *caller, struct listed_way *way,
                                 const char *path, const struct file_key *key)
{
    return right_to(caller, way, path, key);
}

enum index_right caller_may_ask(const struct caller *caller, const char *path,
                                const struct file_key *key)
{
    return right_to(caller, NULL, path, key);
}

bool caller_may_open(const struct caller *caller, int fd)
{
    return caller->all || caller_access(caller, fd, "", R_OK) == 0;
}

void caller_numbers_init(struct caller_numbers *numbers)
{
    *numbers = (struct caller_numbers){0};
    pthread_mutex_init(&numbers->lock, NULL);
}

void caller_numbers_done(struct caller_numbers *numbers)
{
    for (size_t i = 0; i < CALLERS_REMEMBERED; i++)
        caller_done(&numbers->places[i].caller);
    pthread_mutex_destroy(&numbers->lock);
}

static bool is_same(const struct caller *a, const struct caller *b)
{
    return a->uid == b->uid && a->gid == b->gid && a->n_groups == b->n_groups &&
           (!a->n_groups || memcmp(a->groups, b->groups, a->n_groups * sizeof(a->groups[0])) == 0);
}

/* One that is free, or of the user who has most the one that was given first. */
static size_t find_place(const struct caller_numbers *numbers)
{
    size_t found = 0, most = 0;
    for (size_t i = 0; i < CALLERS_REMEMBERED; i++) {
        const uint64_t number = numbers->places[i].number;
        size_t n = 0;
        if (!number)
            return i;
        for (size_t j = 0; j < CALLERS_REMEMBERED; j++)
            n += numbers->places[j].number &&
                 numbers->places[j].caller.uid == numbers->places[i].caller.uid;
        if (n > most || (n == most && number < numbers->places[found].number)) {
            found = i;
            most = n;
        }
    }
    return found;
}

uint64_t caller_number(struct caller_numbers *numbers, const struct caller *caller)
{
    if (caller->all)
        return 0;
    LOCKED(&numbers->lock);
    for (size_t i = 0; i < CALLERS_REMEMBERED; i++)
        if (numbers->places[i].number && is_same(&numbers->places[i].caller, caller))
            return numbers->places[i].number;
    struct caller copy = {.uid = caller->uid, .gid = caller->gid, .n_groups = caller->n_groups};
    const uint64_t number = ++numbers->last;
    if (copy_groups(caller->groups, caller->n_groups, &copy.groups) < 0)
        return number; /* nobody's again */
    size_t place = find_place(numbers);
    caller_done(&numbers->places[place].caller);
    numbers->places[place].caller = copy;
    return numbers->places[place].number = number;
}
