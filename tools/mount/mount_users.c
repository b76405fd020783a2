#include "tools/mount/mount_users.h"

#include <fcntl.h>
#include <string.h>

#include "tools/show/message.h"

enum { MOST = 3 }; /* named; then "and others" */

/* A text in parts, with what separates them. */
struct naming {
    char *text;
    int n;
};

static void name_one(struct naming *naming, const char *what)
{
    if (++naming->n > MOST)
        return;
    char *longer =
        message("%s%s%s", naming->n == 1 ? "" : naming->text, naming->n == 1 ? " " : ", ", what);
    free(naming->text);
    naming->text = longer;
}

static char *end_naming(struct naming *naming)
{
    char *all =
        message("%s%s", naming->text ? naming->text : "", naming->n > MOST ? " and others" : "");
    free(naming->text);
    return all;
}

/* Calls of with a descriptor of /proc/N of each process but this one, in the order of their
 * numbers. */
static void for_each_process(void (*of)(void *user, int process, const char *pid), void *user)
{
    _cleanup_closedir_ DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || atoi(entry->d_name) == getpid())
            continue;
        _cleanup_close_ int process =
            openat(dirfd(processes), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (process >= 0)
            of(user, process, entry->d_name);
    }
}

/* "bash (process 7)"; gives. */
static char *describe(int process, const char *pid)
{
    char name[64] = "?";
    _cleanup_close_ int comm = openat(process, "comm", O_RDONLY | O_CLOEXEC);
    ssize_t got = comm >= 0 ? read(comm, name, sizeof(name) - 1) : 0;
    if (got > 1)
        name[got - 1] = '\0';
    return message("%s (process %s)", name, pid);
}

/* -- here -- */

/* A link in /proc points into the mount; its text is read, nothing is opened. */
static bool points_into(int directory, const char *name, const char *point)
{
    char target[4096];
    ssize_t n = readlinkat(directory, name, target, sizeof(target) - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    return path_within(target, point, NULL);
}

static bool has_open_file(int process, const char *point)
{
    int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_closedir_ DIR *files = fd >= 0 ? fdopendir(fd) : NULL;
    if (!files) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    for (struct dirent *entry; (entry = readdir(files));)
        if (points_into(dirfd(files), entry->d_name, point))
            return true;
    return false;
}

struct here {
    const char *point;
    struct naming by;
};

static void look_here(void *user, int process, const char *pid)
{
    struct here *here = user;
    if (!points_into(process, "cwd", here->point) && !points_into(process, "root", here->point) &&
        !points_into(process, "exe", here->point) && !has_open_file(process, here->point))
        return;
    _cleanup_free_ char *who = describe(process, pid), *by = message("by %s", who);
    name_one(&here->by, here->by.n == 0 ? by : who);
}

char *mount_users_here(const char *point)
{
    struct here here = {.point = point};
    for_each_process(look_here, &here);
    return end_naming(&here.by);
}

/* -- elsewhere -- */

static bool is_same(const struct mount *a, const struct mount *b)
{
    return a->device == b->device && mount_is_kinfs(a) && strcmp(a->source, b->source) == 0;
}

/* A mount namespace, as the link ns/mnt of a process says it. */
struct namespace
{
    char text[64];
};

struct elsewhere {
    const struct mount *mount;
    struct namespace *seen; /* this process's own first */
    size_t n_seen;
    struct naming in;
};

/* The process is the first of its namespace to be looked at; it then has been. */
static bool see(struct elsewhere *elsewhere, int process)
{
    struct namespace namespace = {0};
    if (readlinkat(process, "ns/mnt", namespace.text, sizeof(namespace.text) - 1) <= 0)
        return false;
    for (size_t i = 0; i < elsewhere->n_seen; i++)
        if (strcmp(elsewhere->seen[i].text, namespace.text) == 0)
            return false;
    struct namespace *grown =
        reallocarray(elsewhere->seen, elsewhere->n_seen + 1, sizeof(*elsewhere->seen));
    if (!grown)
        return false;
    elsewhere->seen = grown;
    elsewhere->seen[elsewhere->n_seen++] = namespace;
    return true;
}

static void look_elsewhere(void *user, int process, const char *pid)
{
    struct elsewhere *elsewhere = user;
    if (!see(elsewhere, process))
        return;
    _cleanup_(mounts_done) struct mounts mounts = {0};
    _cleanup_free_ char *file = message("/proc/%s/mountinfo", pid);
    if (mounts_read(file, &mounts) < 0)
        return;
    for (size_t i = 0; i < mounts.n_mounts; i++)
        if (is_same(&mounts.mounts[i], elsewhere->mount)) {
            _cleanup_free_ char *who = describe(process, pid),
                                *in = message("in the mount namespace of %s", who);
            name_one(&elsewhere->in, in);
            return;
        }
}

char *mount_users_elsewhere(const struct mount *mount)
{
    struct elsewhere elsewhere = {.mount = mount};
    _cleanup_(mounts_done) struct mounts own = {0};
    if (mounts_read(NULL, &own) < 0)
        own = (struct mounts){0};
    for (size_t i = 0; i < own.n_mounts; i++)
        if (is_same(&own.mounts[i], mount)) {
            _cleanup_free_ char *on = message("on %s", own.mounts[i].point);
            name_one(&elsewhere.in, on);
        }
    _cleanup_close_ int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self >= 0)
        (void)see(&elsewhere, self);
    for_each_process(look_elsewhere, &elsewhere);
    free(elsewhere.seen);
    return end_naming(&elsewhere.in);
}
