#include "tools/mount/background.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>

#include "base/escape.h"
#include "base/files/fd_read.h"
#include "base/files/trust.h"
#include "tools/show/message.h"

enum { LINE_BYTES = 8192 };

/* The message that the child writes when it serves. Before that come errors that it logs, each with
 * its NUL; the last is what it died of. */
static const char READY[] = "\n";

/* The socket that the C library's syslog(3) sends to; itself it may not be called in a handler. */
static const char SYSLOG_SOCKET[] = "/dev/log";

static int ready_fd = -1; /* the child's end, until it is ready */
static int log_fd = -1;   /* -1: syslog */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER; /* of ready_fd, and of whole lines */

static int wait_for_child(pid_t child, int fd)
{
    char said[2 * LINE_BYTES];
    size_t n = 0;
    for (;;) {
        if (n > LINE_BYTES) { /* the end is enough */
            memmove(said, said + n - LINE_BYTES, LINE_BYTES);
            n = LINE_BYTES;
        }
        ssize_t got = fd_read(fd, said + n, sizeof(said) - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    while (n && !said[n - 1])
        n--;
    said[n] = '\0';
    const char *before = memrchr(said, '\0', n), *line = before ? before + 1 : said;
    if (strcmp(line, READY) == 0)
        return 0;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (*line)
        complain("%s", line);
    if (WIFSIGNALED(status))
        complain("the daemon died of %s while it started; kinfs mount -f shows more",
                 strsignal(WTERMSIG(status)));
    else if (!*line)
        complain("the daemon ended while it started; kinfs mount -f shows more");
    return 3;
}

int background_start(int *ret_code)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    pid_t child = fork();
    if (child < 0) {
        int r = -errno;
        close(fds[0]);
        close(fds[1]);
        return r;
    }
    close(fds[child == 0 ? 0 : 1]);
    if (child > 0) {
        *ret_code = wait_for_child(child, fds[0]);
        close(fds[0]);
        return 1;
    }
    setsid();
    if (chdir("/") < 0)
        complain("/: %s", strerror(errno));
    ready_fd = fds[1];
    return 0;
}

void background_ready(const char *error)
{
    LOCKED(&log_lock);
    if (ready_fd < 0)
        return;
    const char *line = error ? error : READY;
    ssize_t written = write(ready_fd, line, strlen(line));
    (void)written; /* whoever started us has gone: nobody to tell */
    if (!error) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int fd = 0; fd <= 2 && null >= 0; fd++) /* what assert(3) says is for the log */
            dup2(fd == STDERR_FILENO && log_fd >= 0 ? log_fd : null, fd);
        if (null > 2)
            close(null);
    }
    close(TAKE_FD(ready_fd));
}

/* Only root makes names in /dev itself: a device, or a link to what this process has open. */
static bool is_in_dev(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 && !strchr(path + 5, '/');
}

static int open_log(const char *path, char **ret_why)
{
    const char *slash = strrchr(path, '/');
    _cleanup_close_ int directory = trust_open_parent(path, ret_why);
    if (directory < 0)
        return directory;
    if (is_in_dev(path)) {
        int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
        return fd < 0 ? -errno : fd;
    }
    return trust_open_file(directory, slash ? slash + 1 : path, O_WRONLY | O_CREAT | O_APPEND,
                           ret_why);
}

int background_open_log(const char *log, bool in_front, char **ret_why)
{
    if (log) {
        int fd = open_log(log, ret_why);
        log_fd = fd < 0 ? -1 : fd;
        return fd < 0 ? fd : 0;
    }
    if (in_front)
        log_fd = STDERR_FILENO;
    else
        openlog("kinfs", LOG_PID, LOG_DAEMON);
    return 0;
}

static const char *level_name(enum index_log_level level)
{
    switch (level) {
    case INDEX_LOG_ERROR: return "error: ";
    case INDEX_LOG_WARNING: return "warning: ";
    case INDEX_LOG_INFO: return "";
    }
    return "";
}

static int syslog_priority(enum index_log_level level)
{
    switch (level) {
    case INDEX_LOG_ERROR: return LOG_ERR;
    case INDEX_LOG_WARNING: return LOG_WARNING;
    case INDEX_LOG_INFO: return LOG_INFO;
    }
    return LOG_INFO;
}

void background_log(void *user, enum index_log_level level, const char *text)
{
    (void)user;
    _cleanup_free_ char *copy = strdup(text);
    const char *plain = copy ? escape_make_plain(copy) : strerror(ENOMEM);
    LOCKED(&log_lock);
    if (ready_fd >= 0 && level == INDEX_LOG_ERROR)
        (void)!write(ready_fd, plain, strlen(plain) + 1);
    if (log_fd < 0) {
        syslog(syslog_priority(level), "%s", plain);
        return;
    }
    char stamp[32] = "";
    if (log_fd != STDERR_FILENO) {
        time_t now = time(NULL);
        struct tm parts;
        strftime(stamp, sizeof(stamp), "%F %T ", localtime_r(&now, &parts));
    }
    dprintf(log_fd, "%skinfs[%d]: %s%s\n", stamp, getpid(), level_name(level), plain);
}

static int connect_to_syslog(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, SYSLOG_SOCKET, sizeof(SYSLOG_SOCKET));
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        close(TAKE_FD(fd));
    return fd;
}

/* Only what signal-safety(7) allows: no formatting, no allocation, no lock. */
void background_log_crash(const char *name, const char *line)
{
    char pid[12], *digits = pid + sizeof(pid);
    for (pid_t rest = getpid(); rest || digits == pid + sizeof(pid); rest /= 10)
        *--digits = (char)('0' + rest % 10);
    int fd = log_fd >= 0 ? log_fd : connect_to_syslog();
    if (fd < 0)
        return;
    const char *const texts[] = {log_fd >= 0 ? "" : "<27>", /* daemon, error */
                                 "kinfs[",
                                 digits,
                                 "]: error: ended by SIG",
                                 name ? name : "?",
                                 "; ",
                                 line,
                                 "\n"};
    enum { N_TEXTS = sizeof(texts) / sizeof(texts[0]) };
    struct iovec parts[N_TEXTS];
    for (size_t i = 0; i < N_TEXTS; i++)
        parts[i] = (struct iovec){(void *)texts[i], texts[i] == digits
                                                        ? (size_t)(pid + sizeof(pid) - digits)
                                                        : strlen(texts[i])};
    (void)!writev(fd, parts, N_TEXTS);
}
