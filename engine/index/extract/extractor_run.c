/* One run: kinfs-extract with the document as standard input, a pipe for what the program puts out,
 * and one for the line in which kinfs-extract says what went wrong, whose end is its own. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "base/files/unlocked_read.h"
#include "base/proc_path.h"
#include "engine/index/extract/extractor.h"

enum {
    READ_BYTES = 64 << 10,
    COPY_MOST_BYTES = 64 << 20, /* of a longer document the program has the file itself */
    STEP_MS = 100,
    GRACE_SECONDS = 10, /* for kinfs-extract, which keeps the time, to bury what it has killed */
    SAID_CUT = 3,       /* its exit code, EXTRACT_CUT of tools/extract/extract.h */
};

/* It goes to its end whatever the caller's locale and paths are. */
static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", locale[] = "LC_ALL=C.UTF-8";
static char *const environment[] = {path, locale, NULL};

struct running {
    const struct extractor_run *run;
    pid_t pid;
    int output, words; /* to read from; output is -1 when no more is wanted */
    uint64_t room;     /* bytes that may still be put out */
    bool cut, stopped, late, left;
    size_t n_words;
    char *reason;
};

/* The document's bytes in memory: who keeps the file locked would keep the program from ending.
 * Returns a descriptor to be closed, -EFBIG, or an error of unlocked_read(), memfd_create(2) or
 * write(2). */
static int copy_of(int document)
{
    char bytes[READ_BYTES];
    _cleanup_close_ int copy = memfd_create("kinfs-document", MFD_CLOEXEC);
    if (copy < 0)
        return -errno;
    for (off_t size_bytes = 0; size_bytes <= COPY_MOST_BYTES;) {
        const ssize_t n = unlocked_read(document, bytes, sizeof(bytes), size_bytes);
        if (n <= 0)
            return n < 0 ? (int)n : TAKE_FD(copy);
        const ssize_t n_written = pwrite(copy, bytes, (size_t)n, size_bytes);
        if (n_written < 0)
            return errno == ENOSPC ? -ENOMEM : -errno;
        size_bytes += n_written;
    }
    return -EFBIG;
}

/* A program that has this may not change the file, nor find a way to. */
static int reopen(int file)
{
    int fd = open(proc_path_of(file).text, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* The document for a program; one that is open for writing is a question's, which nobody locks.
 * Returns a descriptor to be closed, or an error. */
static int open_for_reading(int document)
{
    const int flags = fcntl(document, F_GETFL);
    if (flags < 0)
        return -errno;
    if ((flags & O_ACCMODE) != O_RDONLY)
        return reopen(document);
    _cleanup_close_ int copy = copy_of(document);
    if (copy != -EFBIG)
        return copy < 0 ? copy : reopen(copy);
    int fd = lseek(document, 0, SEEK_SET) < 0 ? -1 : fcntl(document, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? -errno : fd;
}

static int spawn(const struct extractor_run *run, int output, int words, pid_t *ret_pid)
{
    _cleanup_close_ int document = open_for_reading(run->document);
    if (document < 0)
        return document;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files) != 0)
        return -ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -ENOMEM;
    }
    int r = posix_spawn_file_actions_adddup2(&files, document, STDIN_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&files, words, STDERR_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_addchdir_np(&files, "/");
    if (r == 0)
        r = posix_spawnattr_setsigmask(&attributes, &none);
    if (r == 0)
        r = posix_spawnattr_setsigdefault(&attributes, &all);
    if (r == 0)
        r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                      POSIX_SPAWN_SETSIGDEF);
    if (r == 0)
        r = posix_spawn(ret_pid, run->extractor->argv[0], &files, &attributes, run->extractor->argv,
                        environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return r == EAGAIN ? -ENOMEM : -r;
}

static void end_output(struct running *running)
{
    close(TAKE_FD(running->output));
}

static void take_output(struct running *running)
{
    uint8_t bytes[READ_BYTES];
    ssize_t n = read(running->output, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        end_output(running);
        return;
    }
    size_t taken = (uint64_t)n < running->room ? (size_t)n : (size_t)running->room;
    running->run->output(running->run->user, bytes, taken);
    running->room -= taken;
    if (taken == (size_t)n)
        return;
    running->cut = true;
    kill(running->pid, SIGTERM);
    end_output(running);
}

/* Returns whether kinfs-extract is still there. */
static bool take_words(struct running *running)
{
    char words[EXTRACTOR_REASON_BYTES];
    ssize_t n = read(running->words, words, sizeof(words));
    if (n < 0)
        return errno == EINTR;
    for (ssize_t i = 0; i < n && running->n_words < EXTRACTOR_REASON_BYTES - 1; i++)
        if (words[i] != '\n')
            running->reason[running->n_words++] = words[i];
    return n > 0;
}

static struct timespec seconds_from_now(unsigned seconds)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += seconds;
    return time;
}

static bool is_past(const struct timespec *end)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec >= end->tv_sec;
}

/* -- those that are left -- */

/* A process that waits for an answer of a file system is not ended by any signal. Its kinfs-extract
 * goes on to kill and to bury it, and ends when that is done. */
static pthread_mutex_t left_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t left[INDEX_EXTRACTORS_LEFT_MAX]; /* 0: none */

unsigned extractors_left(void)
{
    unsigned n = 0;
    LOCKED(&left_lock);
    for (size_t i = 0; i < INDEX_EXTRACTORS_LEFT_MAX; i++) {
        if (left[i] && waitpid(left[i], NULL, WNOHANG) != 0)
            left[i] = 0;
        n += left[i] != 0;
    }
    return n;
}

/* False: so many have been left since it began that there is no room for it. */
static bool leave(pid_t pid)
{
    LOCKED(&left_lock);
    for (size_t i = 0; i < INDEX_EXTRACTORS_LEFT_MAX; i++)
        if (!left[i]) {
            left[i] = pid;
            return true;
        }
    return false;
}

/* Until kinfs-extract has ended: nobody else has the writing end of its words. One that is late may
 * have stood still together with the daemon: it is asked to end, and has its time once more.
 * Returns false when it does not end. */
static bool follow(struct running *running)
{
    struct timespec end = seconds_from_now(running->run->extractor->seconds + GRACE_SECONDS);
    for (;;) {
        struct pollfd fds[] = {{.fd = running->words, .events = POLLIN},
                               {.fd = running->output, .events = POLLIN}};
        int n = poll(fds, 2, STEP_MS);
        if (n > 0 && fds[1].revents)
            take_output(running);
        else if (n > 0 && fds[0].revents && !take_words(running))
            return true;
        if (!running->stopped && running->run->stop(running->run->user)) {
            running->stopped = true;
            kill(running->pid, SIGTERM);
            end = seconds_from_now(GRACE_SECONDS);
        }
        if (!is_past(&end))
            continue;
        if (running->late || running->stopped)
            return false;
        running->late = true;
        kill(running->pid, SIGTERM);
        end = seconds_from_now(GRACE_SECONDS);
    }
}

static int judge(struct running *running, int status)
{
    running->reason[running->n_words] = '\0';
    if (running->stopped)
        return -ESHUTDOWN;
    if (running->left) {
        snprintf(running->reason, EXTRACTOR_REASON_BYTES,
                 "cannot be ended; umount -f the FUSE or NFS mount that it waits for");
        return -EBADMSG;
    }
    if (running->cut)
        return 1;
    if (running->late) {
        snprintf(running->reason, EXTRACTOR_REASON_BYTES, "took longer than %u s",
                 running->run->extractor->seconds);
        return -EBADMSG;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == SAID_CUT)
        return 1;
    if (!running->n_words && WIFSIGNALED(status))
        snprintf(running->reason, EXTRACTOR_REASON_BYTES, "kinfs-extract: killed by signal %d",
                 WTERMSIG(status));
    else if (!running->n_words)
        snprintf(running->reason, EXTRACTOR_REASON_BYTES, "kinfs-extract: exit code %d",
                 WEXITSTATUS(status));
    return -EBADMSG;
}

int extractor_run(const struct extractor_run *run, char ret_reason[EXTRACTOR_REASON_BYTES])
{
    int output[2] = {-1, -1}, words[2] = {-1, -1};
    struct running running = {
        .run = run, .room = (uint64_t)run->extractor->output_mb << 20, .reason = ret_reason};
    int r = 0, status = 0;
    if (extractors_left() == INDEX_EXTRACTORS_LEFT_MAX) {
        snprintf(ret_reason, EXTRACTOR_REASON_BYTES,
                 "not run: %d that cannot be ended are left; see kinfs status",
                 INDEX_EXTRACTORS_LEFT_MAX);
        return -EBADMSG;
    }
    if (pipe2(output, O_CLOEXEC) < 0 || pipe2(words, O_CLOEXEC) < 0)
        r = -errno;
    if (r == 0)
        r = spawn(run, output[1], words[1], &running.pid);
    close_p(&output[1]);
    close_p(&words[1]);
    running.output = output[0];
    running.words = words[0];
    if (r == 0) {
        if (!follow(&running) && !(running.left = leave(running.pid)))
            kill(running.pid, SIGKILL);
        while (!running.left && waitpid(running.pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    close_p(&running.output);
    close_p(&running.words);
    if (r == -ENOENT || r == -EACCES || r == -ENOEXEC) {
        snprintf(ret_reason, EXTRACTOR_REASON_BYTES, "kinfs-extract: %s", strerror(-r));
        return -EBADMSG;
    }
    return r < 0 ? r : judge(&running, status);
}
