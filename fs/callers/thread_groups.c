#include "fs/callers/thread_groups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define GROUPS "Groups:"
#define NUMBERS "NSpid:" /* of each pid namespace, from that of /proc down to its own */

/* The line of the groups, in a thread that has the ids: access(2) asks by the real ones, all else
 * by those for file systems. The line of the name, which is the thread's to choose, has no newline
 * in it: the kernel writes that as two characters. */
static bool find_line(FILE *file, uid_t uid, gid_t gid, bool real_will_do, char **line,
                      size_t *line_bytes)
{
    bool is_real = real_will_do, is_for_files = true;
    int n_ids = 0;
    for (ssize_t n; (n = getline(line, line_bytes, file)) > 0;) {
        unsigned real, for_files;
        if (strncmp(*line, GROUPS, strlen(GROUPS)) == 0)
            return n_ids == 2 && (is_real || is_for_files) && (*line)[n - 1] == '\n';
        bool is_uid = sscanf(*line, "Uid: %u %*u %*u %u", &real, &for_files) == 2;
        if (!is_uid && sscanf(*line, "Gid: %u %*u %*u %u", &real, &for_files) != 2)
            continue;
        n_ids++;
        is_real = is_real && real == (is_uid ? uid : gid);
        is_for_files = is_for_files && for_files == (is_uid ? uid : gid);
    }
    return false;
}

static size_t count_words(const char *text)
{
    size_t n = 0;
    for (text += strspn(text, " \t\n"); *text; n++) {
        text += strcspn(text, " \t\n");
        text += strspn(text, " \t\n");
    }
    return n;
}

/* A worker of io_uring is what its process was when the worker was begun, and acts for each request
 * as somebody else whom /proc does not show. */
static bool is_io_worker(int dir_fd)
{
    enum { PF_IO_WORKER = 0x10 };
    char text[512];
    _cleanup_close_ int fd = openat(dir_fd, "stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    text[n < 0 ? 0 : n] = '\0';
    const char *name_end = strrchr(text, ')');
    unsigned flags;
    return !name_end || sscanf(name_end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
           flags & PF_IO_WORKER;
}

static size_t count_own_numbers(void)
{
    _cleanup_fclose_ FILE *file = fopen("/proc/self/status", "re");
    _cleanup_free_ char *line = NULL;
    size_t size = 0, n = 1; /* a kernel without pid namespaces does not say */
    while (file && getline(&line, &size, file) > 0)
        if (strncmp(line, NUMBERS, strlen(NUMBERS)) == 0)
            n = count_words(line + strlen(NUMBERS));
    return file ? n : 0;
}

/* The threads in /proc are numbered in the pid namespace of this process, as the kernel numbers
 * those who ask. Where it once does it is taken to go on so. */
static bool thread_is_of_proc(void)
{
    static atomic_bool is_known;
    if (!atomic_load_explicit(&is_known, memory_order_relaxed) && count_own_numbers() == 1)
        atomic_store_explicit(&is_known, true, memory_order_relaxed);
    return atomic_load_explicit(&is_known, memory_order_relaxed);
}

static FILE *open_status(pid_t thread)
{
    char path[64];
    if (!thread_is_of_proc())
        return NULL;
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)thread, (int)thread);
    _cleanup_close_ int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 || is_io_worker(dir_fd))
        return NULL;
    _cleanup_close_ int fd = openat(dir_fd, "status", O_RDONLY | O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (file)
        (void)TAKE_FD(fd);
    return file;
}

/* The thread is not the one that asks if nothing else is known. A bound of the daemon's on
 * descriptors is never said to be the caller's own. */
static int why_unknown(int error)
{
    if (error == EMFILE || error == ENFILE)
        return -ENFILE;
    return error == ENOMEM ? -ENOMEM : -EACCES;
}

int thread_check_ids(pid_t thread, uid_t uid, gid_t gid)
{
    _cleanup_free_ char *line = NULL;
    size_t line_bytes = 0;
    errno = 0;
    _cleanup_fclose_ FILE *file = open_status(thread);
    bool is_right = file && find_line(file, uid, gid, false, &line, &line_bytes);
    return is_right ? 0 : why_unknown(errno);
}

int thread_real_uid(pid_t thread, uid_t *ret_uid)
{
    _cleanup_free_ char *line = NULL;
    size_t line_bytes = 0;
    errno = 0;
    _cleanup_fclose_ FILE *file = open_status(thread);
    while (file && getline(&line, &line_bytes, file) > 0)
        if (sscanf(line, "Uid: %u", ret_uid) == 1)
            return 0;
    return why_unknown(errno);
}

int thread_groups(pid_t thread, uid_t uid, gid_t gid, gid_t **ret_groups, size_t *ret_n_groups)
{
    _cleanup_free_ char *line = NULL;
    size_t line_bytes = 0;
    errno = 0;
    _cleanup_fclose_ FILE *file = open_status(thread);
    if (!file || !find_line(file, uid, gid, true, &line, &line_bytes))
        return why_unknown(errno);
    const char *text = line + strlen(GROUPS);
    const size_t n_groups = count_words(text);
    gid_t *groups = calloc(n_groups + 1, sizeof(*groups));
    if (!groups)
        return -ENOMEM;
    for (size_t i = 0; i < n_groups; i++) {
        char *end;
        groups[i] = (gid_t)strtoul(text, &end, 10);
        text = end;
    }
    *ret_groups = groups;
    *ret_n_groups = n_groups;
    return 0;
}
