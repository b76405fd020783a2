#include "tools/mount_helper.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mounts/mount_user.h"
#include "tools/commands/command.h"
#include "tools/questions/mounts.h"

enum { MOUNT_USAGE = 1, MOUNT_FAILED = 32, MOST_ARGUMENTS = 16 };

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_umount(const char *program)
{
    const char *name = name_of(program);
    return strcmp(name, "umount.kinfs") == 0 || strcmp(name, "umount.fuse.kinfs") == 0;
}

bool mount_helper_is_called(int argc, char **argv)
{
    const char *name = argc > 0 ? name_of(argv[0]) : "";
    return is_umount(name) || strcmp(name, "mount.kinfs") == 0 ||
           strcmp(name, "mount.fuse.kinfs") == 0 || (argc > 2 && argv[1][0] == '/');
}

static bool has_word(const char *options, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = options; (at = strstr(at, word)); at += n)
        if ((at == options || at[-1] == ',') && (!at[n] || at[n] == ','))
            return true;
    return false;
}

/* The flags of the mount that the tree of a mount is in, by the table alone: on the way to the tree
 * another user may by now have put a link, or a mount that never answers. */
static const char *flags_of_tree(const struct mounts *mounts, const struct mount *of)
{
    const char *flags = "";
    for (size_t i = 0; i < mounts->n_mounts; i++) {
        const struct mount *mount = &mounts->mounts[i];
        if (mount != of && mount_user_is_trusted(mount->user) &&
            path_within(of->source, mount->point, NULL))
            flags = mount->flags;
    }
    return flags;
}

/* -o remount is of flags that the kernel keeps, the daemon has no part in it. With "bind" they are
 * changed where it is mounted: of the file system itself newer kernels and mount(8) change nothing.
 * All of them are replaced, so that what the mount, and that of the tree, keeps files from is named
 * again, behind all others.
 */
static int remount(const char *point, const char *options)
{
    static const char *const denials[] = {",nosuid", ",nodev", ",noexec", ",nosymfollow"};
    const char *kept[4];
    _cleanup_(mounts_done) struct mounts mounts = {0};
    int r = mounts_read(NULL, &mounts);
    if (r < 0) {
        complain("/proc/self/mountinfo: %s", strerror(-r));
        return MOUNT_FAILED;
    }
    const struct mount *mount = mounts_at(&mounts, point);
    if (!mount_is_kinfs(mount)) {
        complain("%s: not a mount point of kinfs; findmnt -t fuse.kinfs lists them", point);
        return MOUNT_FAILED;
    }
    const char *of_tree = flags_of_tree(&mounts, mount);
    for (size_t i = 0; i < 4; i++) {
        const char *word = denials[i] + 1;
        kept[i] = has_word(mount->flags, word) || has_word(of_tree, word) ? denials[i] : "";
    }
    _cleanup_free_ char *here =
        message("bind,%s%s%s%s%s", options, kept[0], kept[1], kept[2], kept[3]);
    execlp("mount", "mount", "-i", "-o", here, "--", point, NULL);
    complain("%s: cannot run mount(8): %s", point, strerror(errno));
    return MOUNT_FAILED;
}

struct call {
    bool fake, lazy, force, sloppy, other_namespace;
    char *options;
};

static int parse(int argc, char **argv, struct call *call)
{
    int option;
    opterr = 0;
    while ((option = getopt(argc, argv, "sfnvlrwN:o:t:")) != -1)
        switch (option) {
        case 's': call->sloppy = true; break;
        case 'f': call->fake = call->force = true; break;
        case 'l': call->lazy = true; break;
        case 'N': call->other_namespace = true; break;
        case 'o': call->options = optarg; break;
        case 'n': /* there is no /etc/mtab to be written */
        case 'v':
        case 'r': /* what cannot be unmounted stays as it is */
        case 'w':
        case 't': break;
        default: return -EINVAL;
        }
    return argc - optind;
}

int mount_helper_run(int argc, char **argv)
{
    struct call call = {0};
    const bool is_unmounting = is_umount(argv[0]);
    const char *arguments[MOST_ARGUMENTS] = {is_unmounting ? "kinfs umount" : "kinfs mount"};
    int n_named = parse(argc, argv, &call), n = 1;
    char **named = argv + optind;
    argp_err_exit_status = MOUNT_USAGE;
    if (n_named != (is_unmounting ? 1 : 2)) {
        complain("usage: %s, run by %s(8)",
                 is_unmounting ? "umount.fuse.kinfs MOUNTPOINT [-flnrv]"
                               : "mount.fuse.kinfs SOURCE MOUNTPOINT [-fnsv] [-o OPTION,...]",
                 is_unmounting ? "umount" : "mount");
        return MOUNT_USAGE;
    }
    if (call.other_namespace) {
        complain("-N: cannot work in another namespace; enter it with nsenter(1)");
        return MOUNT_USAGE;
    }
    if (is_unmounting) {
        if (call.lazy)
            arguments[n++] = "--lazy";
        if (call.force)
            arguments[n++] = "--force";
    } else {
        if (call.fake)
            return COMMAND_OK;
        if (call.options && has_word(call.options, "remount"))
            return remount(named[1], call.options);
        if (call.sloppy)
            arguments[n++] = "--sloppy";
        /* mount(8) tells of no option that is its default, and these are not those of FUSE; what it
         * tells, as nosuid for users' mounts, comes after. */
        if (geteuid() == 0) {
            arguments[n++] = "-o";
            arguments[n++] = "suid,dev";
        }
        if (call.options) {
            arguments[n++] = "-o";
            arguments[n++] = call.options;
        }
    }
    arguments[n++] = "--";
    for (int i = 0; i < n_named; i++)
        arguments[n++] = named[i];
    int code = is_unmounting ? cmd_umount(n, (char **)arguments) : cmd_mount(n, (char **)arguments);
    return code == COMMAND_OK ? COMMAND_OK : MOUNT_FAILED;
}
