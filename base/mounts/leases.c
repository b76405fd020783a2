/* By the name that the kernel has for the type, since 9p says of itself the number of what its
 * server has, and by that number, too, as a module may be of any name. */
#include "base/mounts/leases.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_table.h"

/* The numbers stand in linux/magic.h and in the sources of the file systems. */
static const struct {
    uint32_t f_type;
    const char *name;
} believed[] = {
    {0xef53, "ext2"},      {0xef53, "ext3"},      {0xef53, "ext4"},     {0x58465342, "xfs"},
    {0x9123683e, "btrfs"}, {0x01021994, "tmpfs"}, {0xf2f52010, "f2fs"}, {0xca451a4e, "bcachefs"},
};

static bool is_believed(uint64_t f_type, const char *name)
{
    for (size_t i = 0; i < sizeof(believed) / sizeof(*believed); i++)
        if (believed[i].f_type == f_type && strcmp(believed[i].name, name) == 0)
            return true;
    return false;
}

bool leases_are_told(int fd, const char *table)
{
    _cleanup_(mount_table_done) struct mount_table rows = {0};
    struct mount_id mount;
    struct mount_row row;
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && mount_id_find(fd, "", &mount) == 0 &&
           mount_table_find(&rows, table, mount.id, &row) == 0 &&
           is_believed((uint32_t)fs.f_type, row.type);
}
