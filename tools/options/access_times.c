#include "tools/options/access_times.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_table.h"
#include "tools/show/message.h"

static const char *const rules[] = {[ACCESS_TIMES_ANY] = "atime",
                                    [ACCESS_TIMES_NONE] = "noatime",
                                    [ACCESS_TIMES_RELATIVE] = "relatime",
                                    [ACCESS_TIMES_STRICT] = "strictatime",
                                    [ACCESS_TIMES_NOT_RELATIVE] = "norelatime",
                                    [ACCESS_TIMES_NOT_STRICT] = "nostrictatime"};

bool access_times_option(struct access_times *times, const char *name)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (strcmp(name, rules[i]) == 0) {
            times->rule = (unsigned)i;
            return true;
        }
    if (strcmp(name, "diratime") == 0 || strcmp(name, "nodiratime") == 0)
        times->not_of_directories = *name == 'n';
    else if (strcmp(name, "lazytime") == 0 || strcmp(name, "nolazytime") == 0)
        times->lazy = *name == 'l';
    else
        return false;
    return true;
}

static unsigned rule_of(const struct statvfs *st)
{
    return st->f_flag & ST_NOATIME    ? ACCESS_TIMES_NONE
           : st->f_flag & ST_RELATIME ? ACCESS_TIMES_RELATIVE
                                      : ACCESS_TIMES_STRICT;
}

static bool is_kept(unsigned wanted, unsigned rule)
{
    switch (wanted) {
    case ACCESS_TIMES_ANY: return true;
    case ACCESS_TIMES_NOT_RELATIVE: return rule != ACCESS_TIMES_RELATIVE;
    case ACCESS_TIMES_NOT_STRICT: return rule != ACCESS_TIMES_STRICT;
    default: return wanted == rule;
    }
}

static bool has_option(const char *options, const char *name)
{
    const size_t n_name = strlen(name);
    while (*options) {
        size_t n = strcspn(options, ",");
        if (n == n_name && strncmp(options, name, n) == 0)
            return true;
        options += n + (options[n] == ',');
    }
    return false;
}

/* The option lazytime is the file system's, so that only the table of mounts has it. */
static bool is_lazy(int source_fd)
{
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    struct mount_id mount;
    return mount_id_find(source_fd, "", &mount) == 0 &&
           mount_table_find(&table, NULL, mount.id, &row) == 0 &&
           has_option(row.options, "lazytime");
}

static int refuse_option(const char *name, const char *source, const char *does, char **ret_error)
{
    return refuse(ret_error, -EINVAL,
                  "-o %s: through kinfs access times are kept as by the mount that %s is on, which "
                  "has %s; leave the option out, or remount that with it",
                  name, source, does);
}

int access_times_check(const struct access_times *times, int source_fd, const char *source,
                       char **ret_error)
{
    struct statvfs st;
    if (fstatvfs(source_fd, &st) < 0)
        return refuse(ret_error, -errno, "%s: %s", source, strerror(errno));
    const unsigned rule = rule_of(&st);
    if (!is_kept(times->rule, rule))
        return refuse_option(rules[times->rule], source, rules[rule], ret_error);
    if (times->not_of_directories && rule != ACCESS_TIMES_NONE && !(st.f_flag & ST_NODIRATIME))
        return refuse_option("nodiratime", source, "diratime", ret_error);
    if (times->lazy && !is_lazy(source_fd))
        return refuse_option("lazytime", source, "nolazytime", ret_error);
    return 0;
}

char *access_times_for_kernel(const struct access_times *times, const char *extra)
{
    const char *rule = times->rule == ACCESS_TIMES_NONE ? ",noatime" : "";
    const char *directories = times->not_of_directories ? ",nodiratime" : "";
    _cleanup_free_ char *all = message("%s%s%s", extra ? extra : "", rule, directories);
    return *all ? message("%s", *all == ',' ? all + 1 : all) : NULL;
}
