#include "base/files/own_group.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static void close_stream(FILE **stream)
{
    if (*stream)
        fclose(*stream);
}

enum { LINE_BYTES = 1 << 16 }; /* a group of some thousand members; a longer line is no answer */

/* The name of the user whose group it is, and nobody else's by the table of users; or NULL. */
static char *name_of_only_user(const char *path, uid_t user, gid_t number)
{
    _cleanup_(close_stream) FILE *stream = fopen(path, "re");
    _cleanup_free_ char *line = malloc(LINE_BYTES), *name = NULL;
    struct passwd entry, *found;
    int r = stream && line ? 0 : -1;
    while (r == 0 && (r = fgetpwent_r(stream, &entry, line, LINE_BYTES, &found)) == 0) {
        if (entry.pw_gid != number)
            continue;
        if (entry.pw_uid != user || name)
            return NULL;
        name = strdup(entry.pw_name);
    }
    return r == ENOENT ? TAKE_PTR(name) : NULL;
}

bool own_group_is(const char *passwd, const char *group, uid_t user, gid_t number)
{
    if (user == 0)
        return false;
    _cleanup_free_ char *name = name_of_only_user(passwd ? passwd : "/etc/passwd", user, number);
    _cleanup_(close_stream) FILE *stream = fopen(group ? group : "/etc/group", "re");
    _cleanup_free_ char *line = malloc(LINE_BYTES);
    struct group entry, *found;
    bool is_own = false;
    int r = name && stream && line ? 0 : -1;
    while (r == 0 && (r = fgetgrent_r(stream, &entry, line, LINE_BYTES, &found)) == 0) {
        if (entry.gr_gid != number)
            continue;
        is_own = strcmp(entry.gr_name, name) == 0;
        for (char **member = entry.gr_mem; is_own && *member; member++)
            is_own = strcmp(*member, name) == 0;
        if (!is_own)
            return false;
    }
    return r == ENOENT && is_own;
}
