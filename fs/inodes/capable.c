#include "fs/inodes/capable.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_path.h"
#include "fs/inodes/identity.h"

enum { STACK_BYTES = 128 << 10 };

/* Capabilities that decide about attributes and names. */
static const uint64_t deciding = UINT64_C(1) << CAP_CHOWN | UINT64_C(1) << CAP_DAC_OVERRIDE |
                                 UINT64_C(1) << CAP_FOWNER | UINT64_C(1) << CAP_FSETID |
                                 UINT64_C(1) << CAP_LINUX_IMMUTABLE;

/* The lines of /proc/PID/status, as this process sees it. */
struct status {
    uid_t fsuid;
    gid_t fsgid;
    uint64_t effective;
};

static FILE *open_stream(int dir_fd, const char *name)
{
    _cleanup_close_ int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    if (stream)
        (void)TAKE_FD(fd);
    return stream;
}

static bool read_status(int dir_fd, struct status *ret_status)
{
    _cleanup_fclose_ FILE *stream = open_stream(dir_fd, "status");
    _cleanup_free_ char *line = NULL;
    size_t size = 0;
    int n_found = 0;
    while (stream && getline(&line, &size, stream) > 0) {
        n_found += sscanf(line, "Uid: %*u %*u %*u %u", &ret_status->fsuid) == 1;
        n_found += sscanf(line, "Gid: %*u %*u %*u %u", &ret_status->fsgid) == 1;
        n_found += sscanf(line, "CapEff: %" SCNx64, &ret_status->effective) == 1;
    }
    return n_found == 3;
}

/* Numbers of a user namespace, by which they are there and by which here. */
struct id_range {
    uint32_t there, here, n;
};
struct id_map {
    struct id_range *ranges;
    size_t n;
};
struct capable_ids {
    struct id_map uids, gids;
};

static uint32_t find_id(const struct id_map *map, uint32_t here)
{
    for (size_t i = 0; i < map->n; i++)
        if (here >= map->ranges[i].here && here - map->ranges[i].here < map->ranges[i].n)
            return map->ranges[i].there + (here - map->ranges[i].here);
    return (uint32_t)-1;
}

uid_t capable_uid(const struct capable_ids *ids, uid_t uid)
{
    return ids ? find_id(&ids->uids, uid) : uid;
}

gid_t capable_gid(const struct capable_ids *ids, gid_t gid)
{
    return ids ? find_id(&ids->gids, gid) : gid;
}

static bool read_map(int dir_fd, const char *name, struct id_map *map)
{
    _cleanup_fclose_ FILE *stream = open_stream(dir_fd, name);
    struct id_range range;
    while (stream && fscanf(stream, "%u %u %u", &range.there, &range.here, &range.n) == 3) {
        struct id_range *more = reallocarray(map->ranges, map->n + 1, sizeof(*more));
        if (!more)
            return false;
        map->ranges = more;
        map->ranges[map->n++] = range;
    }
    return map->n > 0;
}

/* The descriptors that a child takes with it, which leaves this process's: what is below a number,
 * each of which it is then to close, so they are among the lowest; one child at a time. */
enum slot { SLOT_FD, SLOT_OTHER_FD, SLOT_NAMESPACE, N_SLOTS };
static struct {
    sem_t free; /* from when they are filled until the child has left with them */
    int nothing_fd;
    int fds[N_SLOTS]; /* the lowest first; of nothing, when no child is there */
    uint64_t n_fills;
    bool are_there;
} slots;

void capable_begin(void)
{
    sem_init(&slots.free, 0, 1);
    int lowest = slots.nothing_fd = open("/", O_PATH | O_CLOEXEC);
    for (int i = 0; i < N_SLOTS; i++)
        lowest = slots.fds[i] =
            lowest < 0 ? -1 : fcntl(slots.nothing_fd, F_DUPFD_CLOEXEC, lowest + 1);
    slots.are_there = lowest >= 0;
}

void capable_end(void)
{
    close_p(&slots.nothing_fd);
    for (int i = 0; i < N_SLOTS; i++)
        close_p(&slots.fds[i]);
    slots.are_there = false;
    sem_destroy(&slots.free);
}

struct child {
    const struct fuse_ctx *ctx;
    const struct thread_rights_own *own;
    const struct change_fds *fds;
    change_fn *make;
    const void *what;
    gid_t *groups;
    size_t n_groups;
    uint64_t effective; /* capabilities of the caller that decide */
    int namespace_fd;   /* -1: the namespace of this process */
    struct capable_ids ids;
    uint64_t n_fill;
    bool has_slots;
    int result;
};

static bool find_namespace(int dir_fd, struct child *child)
{
    struct stat of_caller, own;
    _cleanup_close_ int fd = openat(dir_fd, "ns/user", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &of_caller) < 0 || stat("/proc/self/ns/user", &own) < 0)
        return false;
    if (of_caller.st_dev == own.st_dev && of_caller.st_ino == own.st_ino)
        return true;
    child->namespace_fd = TAKE_FD(fd);
    return read_map(dir_fd, "uid_map", &child->ids.uids) &&
           read_map(dir_fd, "gid_map", &child->ids.gids);
}

/* The caller has capabilities that count, and is known well enough to be acted as: a worker of
 * io_uring is not (thread_groups.h), which may act with less than it has. A file system stacked on
 * the mount asks as whoever mounted it, whom /proc does not show. */
static bool find_caller(struct child *child)
{
    char path[32];
    struct status status;
    snprintf(path, sizeof(path), "/proc/%d", child->ctx->pid);
    _cleanup_close_ int dir_fd =
        child->ctx->pid > 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir_fd < 0 || !read_status(dir_fd, &status))
        return false;
    child->effective = status.effective & deciding;
    return child->effective && status.fsuid == child->ctx->uid && status.fsgid == child->ctx->gid &&
           identity_groups_of(child->ctx, &child->groups, &child->n_groups) == 0 &&
           find_namespace(dir_fd, child);
}

static bool fill_slot(enum slot slot, int fd, bool as_it_is)
{
    _cleanup_close_ int path_fd = as_it_is ? -1 : open(proc_path_of(fd).text, O_PATH | O_CLOEXEC);
    return dup3(as_it_is ? fd : path_fd, slots.fds[slot], O_CLOEXEC) >= 0;
}

static bool fill_slots(struct child *child)
{
    const struct change_fds *fds = child->fds;
    if (!slots.are_there)
        return false;
    while (sem_wait(&slots.free) < 0)
        continue;
    child->has_slots = true;
    child->n_fill = ++slots.n_fills;
    return fill_slot(SLOT_FD, fds->fd, fds->is_open) &&
           (fds->other_fd < 0 || fill_slot(SLOT_OTHER_FD, fds->other_fd, false)) &&
           fill_slot(SLOT_NAMESPACE, child->namespace_fd, true);
}

/* When the child has ended, if no other has filled them since. */
static void empty_slots(struct child *child)
{
    if (!child->n_fill)
        return;
    while (!child->has_slots && sem_wait(&slots.free) < 0)
        continue;
    for (int i = 0; i < N_SLOTS && child->n_fill == slots.n_fills; i++)
        dup3(slots.nothing_fd, slots.fds[i], O_CLOEXEC);
    sem_post(&slots.free);
}

/* The child's descriptors are its own from then on, and no others than it takes. */
static bool leave_descriptors(const struct change_fds *fds)
{
    unsigned next = 0;
    if (close_range((unsigned)slots.fds[N_SLOTS - 1] + 1, ~0U, CLOSE_RANGE_UNSHARE) < 0)
        return false;
    for (int i = 0; i < N_SLOTS; i++) {
        const unsigned kept = (unsigned)slots.fds[i];
        if (i == SLOT_OTHER_FD && fds->other_fd < 0)
            continue;
        if (kept > next && close_range(next, kept - 1, 0) < 0)
            return false;
        next = kept + 1;
    }
    return true;
}

static bool set_capabilities(uint64_t effective)
{
    struct thread_rights rights;
    if (thread_rights_get(&rights) < 0)
        return false;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        uint32_t kept = (uint32_t)(effective >> (32 * i)) & rights.caps[i].permitted;
        rights.caps[i] = (struct __user_cap_data_struct){.effective = kept, .permitted = kept};
    }
    return thread_rights_set(&rights) == 0;
}

/* User and groups come first: what they are does not change with the namespace, which gives all of
 * its capabilities to who enters. */
static bool become_caller(const struct child *child)
{
    return thread_rights_become_all(child->ctx->uid, child->ctx->gid, child->n_groups,
                                    child->groups, NULL, child->own) == 0 &&
           prctl(PR_GET_DUMPABLE) != 1 &&
           (child->namespace_fd < 0 || setns(slots.fds[SLOT_NAMESPACE], CLONE_NEWUSER) == 0) &&
           set_capabilities(child->effective);
}

static int run_child(void *user)
{
    struct child *child = user;
    struct change_fds fds = *child->fds;
    const struct capable_ids *ids = NULL;
    if (child->namespace_fd >= 0) {
        bool has_left = leave_descriptors(&fds);
        child->has_slots = false;
        sem_post(&slots.free);
        if (!has_left)
            return 0;
        fds.fd = slots.fds[SLOT_FD];
        fds.other_fd = fds.other_fd < 0 ? -1 : slots.fds[SLOT_OTHER_FD];
        ids = &child->ids;
    }
    if (become_caller(child))
        child->result = child->make(&fds, child->what, ids);
    return 0;
}

/* The thread does nothing else until the child has ended, with whom it shares errno, too. */
static void await_child(pid_t pid)
{
    int status = 0;
    do {
        while (waitpid(pid, &status, __WALL | WUNTRACED) != pid)
            continue;
        if (WIFSTOPPED(status))
            kill(pid, SIGKILL);
    } while (WIFSTOPPED(status));
}

int capable_change(const struct fuse_ctx *ctx, int refused, const struct thread_rights_own *own,
                   const struct change_fds *fds, change_fn *make, const void *what)
{
    struct child child = {.ctx = ctx,
                          .own = own,
                          .fds = fds,
                          .make = make,
                          .what = what,
                          .namespace_fd = -1,
                          .result = refused};
    _cleanup_free_ char *stack = malloc(STACK_BYTES);
    if (stack && find_caller(&child) && (child.namespace_fd < 0 || fill_slots(&child))) {
        /* No signal tells of its end: no other wait(2) of this process takes it. */
        pid_t pid = clone(run_child, stack + STACK_BYTES, CLONE_VM | CLONE_FILES, &child);
        if (pid > 0)
            await_child(pid);
    }
    empty_slots(&child);
    free(child.groups);
    free(child.ids.uids.ranges);
    free(child.ids.gids.ranges);
    if (child.namespace_fd >= 0)
        close(child.namespace_fd);
    return child.result;
}
