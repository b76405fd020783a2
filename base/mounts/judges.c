/* Two lists of what is known: types that leave all to mode and POSIX access control list, and types
 * that decide by the identity which a thread has for file systems. What is in neither may decide by
 * anything: by who the process is otherwise, or who opened a file, or for whom it may trace (proc,
 * cgroup, keys of AFS). Such a file system is for who owns the mount.
 *
 * In the first: overlayfs, which compares the caller with its own inode's mode and list, and asks
 * what is below as who mounted it; virtiofs, for which the kernel compares. In neither: ecryptfs,
 * which may lie over anything.
 *
 * FUSE with allow_other is asked as the caller even where it has default_permissions: its server
 * may tell each user something else, as kinfs does. Without allow_other the kernel admits none but
 * the owner of the mount, for which it takes the daemon.
 *
 * Example: "rw,user_id=0,group_id=0,allow_other" of type fuse.sshfs is JUDGES_BY_CALLER.
 */
#include "base/mounts/judges.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mounts/mount_table.h"

/* The numbers stand in linux/magic.h and in the sources of the file systems. */
static const uint32_t by_mode[] = {
    0xef53,     /* ext2, ext3, ext4 */
    0x01021994, /* tmpfs, devtmpfs */
    0x58465342, /* xfs */
    0x9123683e, /* btrfs */
    0xf2f52010, /* f2fs */
    0x794c7630, /* overlayfs */
    0xca451a4e, /* bcachefs */
    0x858458f6, /* ramfs */
    0x73717368, /* squashfs */
    0xe0f5e1e2, /* erofs */
    0x28cd3d45, /* cramfs */
    0x9660,     /* iso9660 */
    0x15013346, /* udf */
    0x4d44,     /* vfat */
    0x2011bab0, /* exfat */
    0x7366746e, /* ntfs3 */
    0x482b,     /* hfsplus */
    0x3153464a, /* jfs */
    0x52654973, /* reiserfs */
    0x3434,     /* nilfs2 */
};

/* By fsuid, fsgid, supplementary groups and capabilities alone. */
static const char *const by_fsuid[] = {
    "nfs",      "nfs4", "cifs", "smb3", "9p",    "ceph",   "lustre",
    "orangefs", "coda", "zfs",  "gfs2", "ocfs2", "autofs", "ubifs",
    "jffs2",    "hfs",  "ufs",  "ntfs", "minix", "romfs",  "vboxsf",
};

static bool judges_by_mode(uint64_t f_type)
{
    for (size_t i = 0; i < sizeof(by_mode) / sizeof(*by_mode); i++)
        if (by_mode[i] == f_type)
            return true;
    return false;
}

static bool has_option(const char *options, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = options; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || !at[n]))
            return true;
    }
    return false;
}

static bool goes_by_fsuid(const char *type)
{
    for (size_t i = 0; i < sizeof(by_fsuid) / sizeof(*by_fsuid); i++)
        if (strcmp(type, by_fsuid[i]) == 0)
            return true;
    return false;
}

/* The name of the type comes first: 9p says of itself the number of what its server has. */
static enum judges judges_of_row(const struct mount_row *row, uint64_t f_type)
{
    if (strcmp(row->type, "virtiofs") == 0 ||
        (strcmp(row->type, "zfs") == 0 && has_option(row->options, "posixacl")))
        return JUDGES_BY_MODE;
    if (mount_type_is_fuse(row->type) ? has_option(row->options, "allow_other")
                                      : goes_by_fsuid(row->type))
        return JUDGES_BY_CALLER;
    return judges_by_mode(f_type) ? JUDGES_BY_MODE : JUDGES_BY_OWNER;
}

enum judges judges_of_mount(uint64_t mount_id, uint64_t f_type, const char *table)
{
    _cleanup_(mount_table_done) struct mount_table rows = {0};
    struct mount_row row;
    if (mount_table_find(&rows, table, mount_id, &row) == 0)
        return judges_of_row(&row, f_type);
    return judges_by_mode(f_type) ? JUDGES_BY_MODE : JUDGES_BY_OWNER;
}
