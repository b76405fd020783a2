/* Three walls behind each other. Limits of resources bound what it can use. No privileges, and a
 * user and a tree of directories of its own where root has the choice, bound what it could reach:
 * not even the memory of another run. And seccomp, with Landlock beside it where the kernel has
 * that, bounds what it can ask for.
 *
 * The calls that are forbidden are listed, not those that are allowed: the programs are anybody's,
 * in any language.
 */
#include "tools/extract/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tools/extract/landlock.h"
#include "tools/extract/own_tree.h"
#include "tools/extract/own_user.h"

enum {
    DESCRIPTORS = 64,
    PROCESSES = 64,  /* besides what its user has already */
    NAME_BYTES = 64, /* more than the name of any call has */
};

/* -- resources -- */

static int set_limit(int resource, rlim_t soft, rlim_t hard)
{
    struct rlimit now;
    if (getrlimit(resource, &now) < 0)
        return -errno;
    if (now.rlim_max < hard)
        hard = now.rlim_max;
    if (hard < soft)
        soft = hard;
    return setrlimit(resource, &(struct rlimit){soft, hard}) < 0 ? -errno : 0;
}

/* Threads of this user, in so far as they can be seen: the kernel counts them all together. */
static rlim_t count_threads(void)
{
    DIR *proc = opendir("/proc");
    rlim_t n = 0;
    struct dirent *entry;
    while (proc && (entry = readdir(proc))) {
        char path[300];
        struct stat st;
        snprintf(path, sizeof(path), "/proc/%s/task", entry->d_name);
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || stat(path, &st) < 0)
            continue;
        if (st.st_uid == getuid())
            n += st.st_nlink > 2 ? st.st_nlink - 2 : 1;
    }
    if (proc)
        closedir(proc);
    return n;
}

static int limit_resources(const struct sandbox_limits *limits)
{
    const rlim_t memory = (rlim_t)limits->memory_mb << 20, processes = count_threads() + PROCESSES;
    const struct {
        int resource;
        rlim_t soft, hard;
    } all[] = {
        /* At the soft limit a signal says what it died of. */
        {RLIMIT_CPU, limits->seconds, (rlim_t)limits->seconds + 1},
        {RLIMIT_AS, memory, memory},
        {RLIMIT_FSIZE, 0, 0},
        {RLIMIT_CORE, 0, 0},
        {RLIMIT_MEMLOCK, 0, 0},
        {RLIMIT_MSGQUEUE, 0, 0},
        {RLIMIT_NOFILE, DESCRIPTORS, DESCRIPTORS},
        {RLIMIT_NPROC, processes, processes},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int r = set_limit((int)all[i].resource, all[i].soft, all[i].hard);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Should memory run out, this is to go before anything else. */
static void prefer_to_be_killed(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, "1000", 4);
    close(fd);
}

/* -- privileges -- */

static int drop_privileges(void)
{
    int r = own_user_become(getpid(), false);
    if (r < 0)
        return r;
    /* Capabilities that a service was given beside its user, who may not be root. */
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
        return -errno;
    /* Nobody of the same user looks into it; a program that can be read ends that when it begins,
     * and the built-in ones begin with it once more. */
    return prctl(PR_SET_DUMPABLE, 0) < 0 ? -errno : 0;
}

/* -- what can be read -- */

enum { READABLE_MAX = 128 }; /* more than this of what its command names is not */

struct readable {
    int proc; /* of a tree of its own; negative: there is none */
    struct own_tree_part parts[READABLE_MAX];
    size_t n;
};

static void add(struct readable *readable, const char *path)
{
    int fd = readable->proc < 0 ? open(path, O_PATH | O_CLOEXEC) : own_tree_open(path);
    if (fd >= 0 && readable->n < READABLE_MAX)
        readable->parts[readable->n++] = (struct own_tree_part){path, fd};
    else if (fd >= 0)
        close(fd);
}

/* The directory of a program has what belongs to it; not where others put theirs beside it, as in
 * /tmp, and not the root, which has all there is. */
static void add_beside(struct readable *readable, const char *program)
{
    struct stat st;
    const char *slash = strrchr(program, '/');
    char *path = slash && slash != program ? strndup(program, (size_t)(slash - program)) : NULL;
    if (path && stat(path, &st) == 0 && !(st.st_mode & S_IWOTH))
        add(readable, path); /* which it keeps */
    else
        free(path);
}

/* The files that its command names. A path may be a link, as /etc/alternatives has them. */
static void add_named(struct readable *readable, char *const command[])
{
    char program[PATH_MAX];
    for (char *const *word = command; *word; word++)
        if (**word == '/' && strspn(*word, "/") < strlen(*word))
            add(readable, *word);
    add_beside(readable, command[0]);
    if (realpath(command[0], program))
        add_beside(readable, program);
}

/* The directories and files that the system is made of: programs, libraries, fonts and settings.
 * Files of other users, who could watch which of them are opened, are not there; nor is what makes
 * or takes something by being opened: who opens /dev/ptmx has one of the terminals of the whole
 * machine. */
static const char *const read_below[] = {
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt",
    /* distributions that have their programs there */
    "/nix/store", "/gnu/store",
    /* what packages put together when they are installed */
    "/var/cache/fontconfig", "/var/lib/ghostscript", "/var/lib/texmf",
    "/var/lib/ca-certificates-java", "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
    "/dev/urandom", "/sys/devices/system"};

static void add_all(struct readable *readable, char *const command[])
{
    for (size_t i = 0; i < sizeof(read_below) / sizeof(read_below[0]); i++)
        add(readable, read_below[i]);
    if (command)
        add_named(readable, command);
}

/* -- Landlock: no write access below any path, no device opened, and nothing read or listed but
 * what can be read; the kernel may have none -- */

#ifdef SYS_landlock_create_ruleset

/* The rights that are handled are refused wherever a rule does not allow them. Programs list
 * directories of the system: those of fonts, and of modules of interpreters. */
static void allow_reading(int rules, int fd)
{
    struct stat st;
    const bool is_directory = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    const struct landlock_path_beneath_attr below = {
        .allowed_access =
            LANDLOCK_ACCESS_FS_READ_FILE | (is_directory ? LANDLOCK_ACCESS_FS_READ_DIR : 0),
        .parent_fd = fd};
    (void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
}

/* The files of /proc that may be read are those of the machine, and of the program itself; a
 * process that it starts has to do without. */
static void allow_reading_proc(int rules)
{
    static const char *const paths[] = {"/proc/self",        "/proc/sys",     "/proc/cpuinfo",
                                        "/proc/filesystems", "/proc/meminfo", "/proc/stat",
                                        "/proc/uptime",      "/proc/version"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        _cleanup_close_ int fd = open(paths[i], O_PATH | O_CLOEXEC);
        if (fd >= 0)
            allow_reading(rules, fd);
    }
}

/* A descriptor of the rules; -1: there is no Landlock. The document may be where no name leads. */
static int make_path_rules(const struct readable *readable)
{
    static const uint64_t of_version[] = {
        LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE |
            LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
            LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
            LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
            LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
            LANDLOCK_ACCESS_FS_MAKE_SYM,
        1ULL << 13, /* LANDLOCK_ACCESS_FS_REFER */
        1ULL << 14, /* LANDLOCK_ACCESS_FS_TRUNCATE */
    };
    const long version = landlock_version();
    struct landlock_ruleset_attr attr = {0};
    for (long i = 0; i < version && i < (long)(sizeof(of_version) / sizeof(of_version[0])); i++)
        attr.handled_access_fs |= of_version[i];
    if (version < 1)
        return -1;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (rules < 0)
        return -1;
    for (size_t i = 0; i < readable->n; i++)
        allow_reading(rules, readable->parts[i].fd);
    allow_reading_proc(rules);
    allow_reading(rules, STDIN_FILENO);
    return rules;
}

static void forbid_paths(int rules)
{
    if (rules < 0)
        return;
    (void)syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
}

#else

static int make_path_rules(const struct readable *readable)
{
    (void)readable;
    return -1;
}

static void forbid_paths(int rules)
{
    (void)rules;
}

#endif

/* -- seccomp -- */

/* A newer call does not exist (forbid_newer()), so the library knows all of these that the
 * architecture has. With each those go that do the same with wider ids, sizes or times, which
 * machines of 32 bits have. */
static const char *const widths[] = {"", "32", "64", "_time64"};
static const char *const forbidden[] = {
    /* the network, and whoever listens on this machine */
    "socket", "socketpair", "socketcall", "connect", "bind", "listen", "accept", "accept4",
    /* other processes, and the group that all ends with */
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open", "pidfd_getfd",
    "pidfd_send_signal", "kcmp", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "setsid",
    "setpgid", "setpriority", "ioprio_set", "sched_setaffinity", "sched_setattr", "sched_setparam",
    "sched_setscheduler", "migrate_pages", "move_pages",
    /* what goes around a filter of calls, or makes the kernel's own surface larger */
    "io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit", "bpf",
    "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "unshare", "setns",
    "kexec_load", "init_module", "finit_module", "delete_module",
    /* queues, semaphores and memory of others, whose numbers can be guessed, and queues that can be
     * opened as files */
    "ipc", "shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop",
    "semtimedop", "semctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify",
    "mq_getsetattr",
    /* memory that counts for nobody: a pipe keeps the page that it was given, however large, after
     * whoever gave it has let go of it, and so does a file without a name */
    "vmsplice", "splice", "tee", "memfd_create", "memfd_secret",
    /* the kernel's log, and what others do with files */
    "syslog", "inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init",
    "fanotify_mark",
    /* files */
    "creat", "open_by_handle_at", "name_to_handle_at", "truncate", "ftruncate", "fallocate",
    "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "link",
    "linkat", "symlink", "symlinkat", "mknod", "mknodat", "chmod", "fchmod", "fchmodat", "chown",
    "lchown", "fchown", "fchownat", "utime", "utimes", "futimesat", "utimensat", "setxattr",
    "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "flock",
    "copy_file_range", "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount",
    "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "swapon", "swapoff", "quotactl", "sync",
    "syncfs", "acct",
    /* file systems by the number of their device, which can be guessed: a server of another user's
     * would be asked, and might not answer */
    "ustat", "sysfs"};

static int forbid(scmp_filter_ctx filter, int error, const char *name)
{
    int call = seccomp_syscall_resolve_name(name);
    return call == __NR_SCMP_ERROR
               ? 0
               : seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint16_t)error), call, 0);
}

static int forbid_if(scmp_filter_ctx filter, int error, const char *name,
                     struct scmp_arg_cmp condition)
{
    int call = seccomp_syscall_resolve_name(name);
    return call == __NR_SCMP_ERROR
               ? 0
               : seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint16_t)error), call, 1, condition);
}

/* An argument that is an int. The kernel takes the lower half of what a filter sees, so the upper
 * half must not make a difference; SCMP_CMP32() is of no help, which shortens the other side. */
static struct scmp_arg_cmp is_int(unsigned argument, int value)
{
    return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, (uint32_t)value);
}

static int forbid_all(scmp_filter_ctx filter)
{
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++)
        for (size_t j = 0; j < sizeof(widths) / sizeof(widths[0]); j++) {
            char name[NAME_BYTES];
            snprintf(name, sizeof(name), "%s%s", forbidden[i], widths[j]);
            int r = forbid(filter, EPERM, name);
            if (r < 0)
                return r;
        }
    /* Their flags are where a filter cannot see them; without them programs use others. */
    int r = forbid(filter, ENOSYS, "openat2");
    return r < 0 ? r : forbid(filter, ENOSYS, "clone3");
}

static int forbid_opening(scmp_filter_ctx filter, const char *name, unsigned argument)
{
    const struct {
        unsigned mask, flags;
    } writing[] = {{O_ACCMODE, O_WRONLY},
                   {O_ACCMODE, O_RDWR},
                   {O_ACCMODE, O_ACCMODE},
                   {O_CREAT, O_CREAT},
                   {O_TRUNC, O_TRUNC}};
    for (size_t i = 0; i < sizeof(writing) / sizeof(writing[0]); i++) {
        int r =
            forbid_if(filter, EPERM, name,
                      SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, writing[i].mask, writing[i].flags));
        if (r < 0)
            return r;
    }
    return 0;
}

/* Locks and leases on a document would hold up who works with it; owners of a descriptor are sent
 * signals. */
static int forbid_controls(scmp_filter_ctx filter)
{
    static const int commands[] = {F_SETLK,  F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE,
                                   F_NOTIFY, F_SETOWN, F_SETOWN_EX, F_SETSIG,     F_SETPIPE_SZ};
    static const char *const names[] = {"fcntl", "fcntl64"};
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
            int r = forbid_if(filter, EPERM, names[j], is_int(1, commands[i]));
            if (r < 0)
                return r;
        }
    return 0;
}

/* A process may raise a signal of its own and limit itself, but no other; and of all controls of
 * files and devices it is left what isatty(3) asks for. Where all but one value is forbidden, so is
 * that one with anything in the upper half. */
static int forbid_by_argument(scmp_filter_ctx filter)
{
    const struct {
        int error;
        const char *name;
        struct scmp_arg_cmp condition;
    } rules[] = {
        {EPERM, "tgkill", SCMP_CMP(0, SCMP_CMP_NE, (scmp_datum_t)getpid())},
        {EPERM, "prlimit64", SCMP_CMP(0, SCMP_CMP_NE, 0)},
        {ENOTTY, "ioctl", SCMP_CMP(1, SCMP_CMP_NE, TCGETS)},
        {EPERM, "clone", SCMP_CMP(0, SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER)},
        {EPERM, "prctl", is_int(0, PR_SET_CHILD_SUBREAPER)},
        {EPERM, "prctl", is_int(0, PR_SET_PDEATHSIG)},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        int r = forbid_if(filter, rules[i].error, rules[i].name, rules[i].condition);
        if (r < 0)
            return r;
    }
    return 0;
}

static int forbid_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return -ENOMEM;
    int r = forbid_all(filter);
    if (r == 0)
        r = forbid_opening(filter, "open", 1);
    if (r == 0)
        r = forbid_opening(filter, "openat", 2);
    if (r == 0)
        r = forbid_controls(filter);
    if (r == 0)
        r = forbid_by_argument(filter);
    if (r == 0)
        r = seccomp_load(filter);
    seccomp_release(filter);
    return r;
}

/* Every later kernel has calls that no list of today names, and some of them change files: to the
 * program the kernel is one of 2020. faccessat2 is the last call that all libraries of seccomp know
 * that are built with (2.5.0), and programs do without what came after, as there are kernels
 * without it. The numbers are in the order of time, and those of another table than this program's
 * are ended by the other filter. */
static int forbid_newer(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_faccessat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof(steps) / sizeof(steps[0]), .filter = steps};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

/* -- */

int sandbox_enter(const struct sandbox_limits *limits, char *const command[], const char **ret_step)
{
    prefer_to_be_killed(); /* as long as it may write of itself below /proc */
    /* The files that its command names are found as long as this is still whoever the daemon is. */
    struct readable readable = {.proc = own_tree_begin()};
    add_all(&readable, command);
    const int path_rules = make_path_rules(&readable);
    *ret_step = "a tree for each run";
    int r = readable.proc < 0 ? 0 : own_tree_enter(readable.proc, readable.parts, readable.n);
    if (r < 0)
        return r;
    *ret_step = "another user";
    r = drop_privileges();
    if (r < 0)
        return r;
    *ret_step = "limits";
    r = limit_resources(limits);
    if (r < 0)
        return r;
    *ret_step = "no new privileges";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    *ret_step = "an end with its parent";
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) /* not sooner: another user takes it away */
        return -errno;
    forbid_paths(path_rules);
    *ret_step = "seccomp";
    r = forbid_calls();
    return r < 0 ? r : forbid_newer();
}
