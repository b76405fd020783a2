#include "tools/documents/left_out_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "tools/documents/tree_place.h"

/* Digits alone, and not too many. */
static bool take_number(const char *digits, int base, uint64_t most, uint64_t *ret_number)
{
    char *end;
    errno = 0;
    *ret_number = strtoull(digits, &end, base);
    return *digits >= '0' && *digits <= '9' && !*end && errno == 0 && *ret_number <= most;
}

/* Seconds since 1970, a dot, and nanoseconds after these. */
static bool take_time(char *text, struct timespec *ret_time)
{
    const bool is_before = *text == '-';
    char *seconds = strsep(&text, ".");
    uint64_t s, ns;
    if (!text || strlen(text) != 9 || !take_number(seconds + is_before, 10, INT64_MAX, &s) ||
        !take_number(text, 10, 999999999, &ns))
        return false;
    *ret_time =
        (struct timespec){.tv_sec = is_before ? -(time_t)s : (time_t)s, .tv_nsec = (long)ns};
    return true;
}

static bool is_digest(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

int left_out_parse(char *line, struct left_out *ret_left_out)
{
    enum {
        PATH,
        STAND_IN,
        RESEMBLANCE,
        SIZE,
        WHAT,
        OLD_N,
        MODE = OLD_N,
        UID,
        GID,
        MTIME,
        SHA256,
        INODE,
        N
    };
    struct left_out left_out = {0};
    char *fields[N], *rest = line;
    int n = 0;
    while (n < N && (fields[n] = strsep(&rest, "\t")))
        n++;
    if (n != N || rest)
        return n == OLD_N || n == INODE ? -EPROTO : -EINVAL;
    left_out.path = fields[PATH];
    left_out.stand_in = fields[STAND_IN];
    left_out.is_equal = strcmp(fields[WHAT], "equal") == 0;
    left_out.sha256 = fields[SHA256];
    uint64_t mode, uid, gid;
    if (!take_number(fields[SIZE], 10, INT64_MAX, &left_out.size_bytes) ||
        (!left_out.is_equal && strcmp(fields[WHAT], "similar") != 0) ||
        !(left_out.is_equal ? is_digest(left_out.sha256) : strcmp(left_out.sha256, "-") == 0) ||
        !take_number(fields[MODE], 8, 07777, &mode) ||
        !take_number(fields[UID], 10, UINT32_MAX - 1, &uid) ||
        !take_number(fields[GID], 10, UINT32_MAX - 1, &gid) ||
        !take_number(fields[INODE], 10, UINT64_MAX, &left_out.inode) ||
        !take_time(fields[MTIME], &left_out.mtime) || escape_take_back(left_out.path) < 0 ||
        escape_take_back(left_out.stand_in) < 0 || !tree_place_is_path(left_out.path) ||
        !tree_place_is_path(left_out.stand_in))
        return -EINVAL;
    left_out.mode = (mode_t)mode;
    left_out.uid = (uid_t)uid;
    left_out.gid = (gid_t)gid;
    *ret_left_out = left_out;
    return 0;
}
