/* The user of a FUSE mount is in its options, as user_id=N, which the kernel writes.
 *
 * Example: "rw,user_id=1000,group_id=1000" is a mount of user 1000. Text that others have chosen
 * may look like the option; the kernel's own comes last, and counts.
 */
#include "base/mounts/mount_user.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_table.h"

/* True when this is the option, and its whole value is a number that a user can have. */
static bool take_user_id(const char *option, size_t n, uid_t *ret_uid)
{
    static const char name[] = "user_id=";
    const size_t n_name = sizeof(name) - 1;
    uint64_t value = 0;
    if (n <= n_name || strncmp(option, name, n_name) != 0)
        return false;
    for (size_t i = n_name; i < n; i++) {
        if (option[i] < '0' || option[i] > '9' || value >= UINT32_MAX)
            return false;
        value = value * 10 + (uint64_t)(option[i] - '0');
    }
    if (value >= UINT32_MAX)
        return false;
    *ret_uid = (uid_t)value;
    return true;
}

int mount_user_of_options(const char *type, const char *options, uid_t *ret_uid)
{
    bool found = false;
    if (!mount_type_is_fuse(type)) {
        *ret_uid = 0;
        return 0;
    }
    /* The last option of this name counts: behind it the kernel writes only numbers, before it
     * there may be text that others have chosen. */
    while (*options) {
        size_t n = strcspn(options, ",");
        found = take_user_id(options, n, ret_uid) || found;
        options += n + (options[n] == ',');
    }
    return found ? 0 : -ENOENT;
}

/* The one mount that need not be in the table: that of a changed root is outside of it. */
static bool is_of_root(uint64_t mount_id)
{
    struct mount_id root;
    return mount_id_find(AT_FDCWD, "/", &root) == 0 && root.id == mount_id;
}

int mount_user_of_id(uint64_t mount_id, uid_t *ret_uid)
{
    _cleanup_(mount_table_done) struct mount_table table;
    struct mount_row row;
    int r = mount_table_find(&table, NULL, mount_id, &row);
    if (r == -ENOENT && is_of_root(mount_id)) {
        *ret_uid = 0;
        return 0;
    }
    return r < 0 ? r : mount_user_of_options(row.type, row.options, ret_uid);
}

bool mount_user_is_trusted(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

bool mount_is_anothers(uint64_t mount_id)
{
    uid_t uid;
    return mount_user_of_id(mount_id, &uid) < 0 || !mount_user_is_trusted(uid);
}
