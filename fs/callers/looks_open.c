/* Opening by names, first as far as the kernel knows them. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/fsuid.h>

#include "base/open_at.h"
#include "fs/callers/looks.h"
#include "fs/callers/thread_rights.h"

static int open_beneath(int dir_fd, const char *path, uint64_t flags, uint64_t resolve)
{
    return open_at(dir_fd, path, flags | O_PATH | O_NOFOLLOW | O_CLOEXEC,
                   RESOLVE_IN_TREE | resolve);
}

/* -EAGAIN where the kernel would have to look itself. */
static int open_known(int dir_fd, const char *path, uint64_t flags)
{
    int fd = open_beneath(dir_fd, path, flags, RESOLVE_CACHED);
    return fd == -EINVAL ? -EAGAIN : fd; /* Linux before 5.12 */
}

/* The identity that a thread acts on files as. */
struct identity {
    uid_t uid;
    gid_t gid;
    size_t n_groups;
    gid_t *groups; /* owned */
};

static int get_identity(struct identity *ret_identity)
{
    struct identity identity = {.uid = (uid_t)setfsuid((uid_t)-1),
                                .gid = (gid_t)setfsgid((gid_t)-1)};
    int n = getgroups(0, NULL);
    if (n < 0)
        return -errno;
    identity.groups = calloc((size_t)n + 1, sizeof(gid_t));
    if (!identity.groups)
        return -ENOMEM;
    n = getgroups(n, identity.groups);
    if (n < 0) {
        free(identity.groups);
        return -EACCES;
    }
    identity.n_groups = (size_t)n;
    *ret_identity = identity;
    return 0;
}

struct name_look {
    struct look look;
    struct identity as;
    int dir_fd, result; /* owned; a descriptor, too */
    uint64_t flags;
    char name[NAME_MAX + 1];
};

static int open_as(const struct name_look *look, const struct identity *own)
{
    struct thread_rights_own rights = {.n_groups = own->n_groups, .groups = own->groups};
    if (look->as.uid == own->uid)
        return open_beneath(look->dir_fd, look->name, look->flags, 0);
    if (thread_rights_get(&rights.rights) < 0)
        return -EACCES;
    struct thread_rights none = rights.rights;
    thread_rights_drop_all(&none);
    if (thread_rights_become_all(look->as.uid, look->as.gid, look->as.n_groups, look->as.groups,
                                 &none, &rights) < 0)
        return -EACCES;
    int fd = open_beneath(look->dir_fd, look->name, look->flags, 0);
    thread_rights_restore_all(&rights);
    return fd;
}

static void work(struct look *look)
{
    struct name_look *name_look = (struct name_look *)look;
    struct identity own = {0};
    int r = get_identity(&own);
    name_look->result = r < 0 ? r : open_as(name_look, &own);
    free(own.groups);
}

static void free_look(struct look *look)
{
    struct name_look *name_look = (struct name_look *)look;
    close_p(&name_look->dir_fd);
    close_p(&name_look->result);
    free(name_look->as.groups);
    free(name_look);
}

static int make_look(int dir_fd, const char *name, uint64_t flags, struct name_look **ret_look)
{
    if (strlen(name) > NAME_MAX)
        return -ENAMETOOLONG;
    struct name_look *look = malloc(sizeof(*look));
    if (!look)
        return -ENOMEM;
    *look = (struct name_look){.look = {.work = work, .free = free_look},
                               .dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0),
                               .result = -1,
                               .flags = flags};
    strcpy(look->name, name);
    int r = look->dir_fd < 0 ? -errno : get_identity(&look->as);
    if (r < 0)
        free_look(&look->look);
    else
        *ret_look = look;
    return r;
}

int looks_open(struct looking *looking, int dir_fd, const char *name, uint64_t flags)
{
    if (!looking || !looking->looks)
        return open_beneath(dir_fd, name, flags, 0);
    int fd = open_known(dir_fd, name, flags);
    if (fd != -EAGAIN)
        return fd;
    struct name_look *look;
    int r = make_look(dir_fd, name, flags, &look);
    if (r == 0)
        r = looks_do(looking, dir_fd, &look->look);
    if (r < 0)
        return r;
    fd = look->result < 0 ? look->result : TAKE_FD(look->result);
    free_look(&look->look);
    return fd;
}

/* Name by name: each directory has its owner. */
static int walk(struct looking *looking, int root_fd, const char *path)
{
    _cleanup_close_ int dir_fd = -1;
    for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
        char name[NAME_MAX + 1];
        const size_t n = (size_t)(slash - path);
        if (n >= sizeof(name))
            return -ENAMETOOLONG;
        memcpy(name, path, n);
        name[n] = '\0';
        int fd = looks_open(looking, dir_fd < 0 ? root_fd : dir_fd, name, O_DIRECTORY);
        if (fd < 0)
            return fd;
        close_p(&dir_fd);
        dir_fd = fd;
    }
    return looks_open(looking, dir_fd < 0 ? root_fd : dir_fd, path, 0);
}

int looks_open_path(struct looking *looking, int root_fd, const char *path)
{
    if (!looking || !looking->looks)
        return open_beneath(root_fd, path, 0, 0);
    int fd = open_known(root_fd, path, 0);
    return fd == -EAGAIN ? walk(looking, root_fd, path) : fd;
}
