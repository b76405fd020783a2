#include "tools/commands/tidy/tidy_state.h"

#include <errno.h>

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

struct tidy_state tidy_state_of(const struct stat *st)
{
    return (struct tidy_state){.inode = st->st_ino,
                               .size_bytes = (uint64_t)st->st_size,
                               .n_links = st->st_nlink,
                               .mtime = st->st_mtim,
                               .ctime = st->st_ctim,
                               .mode = st->st_mode & 07777,
                               .uid = st->st_uid,
                               .gid = st->st_gid};
}

bool tidy_state_has_same_content(const struct tidy_state *a, const struct tidy_state *b)
{
    return a->inode == b->inode && a->size_bytes == b->size_bytes &&
           is_same_time(&a->mtime, &b->mtime);
}

bool tidy_state_is_same(const struct tidy_state *a, const struct tidy_state *b)
{
    return tidy_state_has_same_content(a, b) && is_same_time(&a->ctime, &b->ctime);
}

/* The one table of members: of each the value is signed where it may be before 1970. */
#define MEMBERS(number)                                                                            \
    number("inode", state->inode) number("size", state->size_bytes)                                \
        number("links", state->n_links) number("mtime", state->mtime.tv_sec)                       \
            number("mtime_ns", state->mtime.tv_nsec) number("ctime", state->ctime.tv_sec)          \
                number("ctime_ns", state->ctime.tv_nsec) number("mode", state->mode)               \
                    number("uid", state->uid) number("gid", state->gid)

int tidy_state_add(struct json_object *object, const char *name, const struct tidy_state *state)
{
    struct json_object *member = json_object_new_object();
    bool has_all = member;
#define ADD(name, value)                                                                           \
    has_all = has_all &&                                                                           \
              json_object_object_add(member, name, json_object_new_int64((int64_t)(value))) == 0;
    MEMBERS(ADD)
#undef ADD
    if (has_all && json_object_object_add(object, name, member) == 0)
        return 0;
    json_object_put(member);
    return -ENOMEM;
}

static bool get(struct json_object *object, const char *name, int64_t *ret_value)
{
    struct json_object *member;
    if (!json_object_object_get_ex(object, name, &member) ||
        !json_object_is_type(member, json_type_int))
        return false;
    *ret_value = json_object_get_int64(member);
    return true;
}

int tidy_state_get(struct json_object *object, const char *name, struct tidy_state *ret_state)
{
    struct json_object *member;
    struct tidy_state read = {0}, *state = &read;
    int64_t value;
    if (!json_object_object_get_ex(object, name, &member) ||
        !json_object_is_type(member, json_type_object))
        return -EINVAL;
#define GET(name, to)                                                                              \
    if (!get(member, name, &value))                                                                \
        return -EINVAL;                                                                            \
    to = (__typeof__(to))value;
    MEMBERS(GET)
#undef GET
    *ret_state = read;
    return 0;
}
