#include "base/files/refusal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/proc_path.h"

int refusal(char **ret_why, const char *format, ...)
{
    va_list arguments;
    char *why = NULL;
    if (!ret_why)
        return -EPERM;
    va_start(arguments, format);
    if (vasprintf(&why, format, arguments) < 0)
        why = NULL;
    va_end(arguments);
    free(*ret_why);
    *ret_why = why ? escape_make_plain(why) : NULL;
    return -EPERM;
}

struct refusal_path refusal_path(int fd, const char *name)
{
    struct refusal_path path = {""};
    ssize_t n = proc_path_read(fd, path.text);
    size_t at = n > 0 ? (size_t)n : 0;
    snprintf(path.text + at, sizeof(path.text) - at, "%s%s", name && at != 1 ? "/" : "",
             name ? name : "");
    return path;
}

struct refusal_user refusal_user(uid_t uid)
{
    struct refusal_user user = {"root"};
    if (uid != 0)
        snprintf(user.text, sizeof(user.text), "user %u", (unsigned)uid);
    return user;
}
