#include "base/mount_user.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* Whether it is the option, and its whole value a number that a user can have. */
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
    if (strcmp(type, "fuse") != 0 && strncmp(type, "fuse.", 5) != 0 &&
        strcmp(type, "fuseblk") != 0) {
        *ret_uid = 0;
        return 0;
    }
    /* The last one: behind it the kernel writes numbers alone, before it what others may have
     * named.
     */
    while (*options && *options != '\n') {
        size_t n = strcspn(options, ",\n");
        found = take_user_id(options, n, ret_uid) || found;
        options += n + (options[n] == ',');
    }
    return found ? 0 : -ENOENT;
}

int mount_user_of_id(uint64_t mount_id, uid_t *ret_uid)
{
    _cleanup_fclose_ FILE *file = fopen("/proc/self/mountinfo", "re");
    _cleanup_free_ char *line = NULL;
    size_t line_bytes = 0;
    if (!file)
        return -errno;
    while (getline(&line, &line_bytes, file) > 0) {
        char *rest = strstr(line, " - ");
        if (!rest || strtoull(line, NULL, 10) != mount_id)
            continue;
        rest += 3;
        const char *type = strsep(&rest, " ");
        return strsep(&rest, " ") && rest ? mount_user_of_options(type, rest, ret_uid) : -ENOENT;
    }
    return -ENOENT;
}

bool mount_user_is_trusted(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}
