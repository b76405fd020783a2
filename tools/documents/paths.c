#include "tools/documents/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/files/file_key.h"
#include "base/room.h"

enum { NONE = PATHS_NO_DIRECTORY };

/* A name below a directory, which is kept once: the path is made when it is asked for. */
struct directory {
    uint64_t name;   /* in the text */
    uint32_t parent; /* NONE: the path begins with it */
    uint32_t depth, hash;
};

void paths_done(struct paths *paths)
{
    free(paths->text);
    free(paths->directories);
    free(paths->slots);
    *paths = (struct paths){0};
}

uint64_t paths_memory(const struct paths *paths)
{
    return paths->text_bytes + paths->n_directories * sizeof(struct directory) +
           paths->n_slots * sizeof(uint32_t);
}

static int put_text(struct paths *paths, const char *name, size_t n, uint64_t *ret_at)
{
    if (!MAKE_ROOM(paths->text, paths->text_room, paths->text_bytes + n + 1))
        return -ENOMEM;
    *ret_at = paths->text_bytes;
    *(char *)mempcpy(paths->text + paths->text_bytes, name, n) = '\0';
    paths->text_bytes += n + 1;
    return 0;
}

static bool is_path_of(const struct paths *paths, uint32_t number, const char *path, size_t n)
{
    for (;;) {
        const struct directory *directory = &paths->directories[number];
        const char *name = paths->text + directory->name;
        size_t n_name = strlen(name);
        if (n_name > n || memcmp(path + n - n_name, name, n_name) != 0)
            return false;
        n -= n_name;
        if (directory->parent == NONE)
            return n == 0;
        if (n == 0 || path[--n] != '/')
            return false;
        number = directory->parent;
    }
}

/* Others choose the names, and could choose those that fall on one slot. */
static uint32_t hash_path(const char *path, size_t n)
{
    return (uint32_t)XXH3_64bits_withSeed(path, n, file_key_secret);
}

static uint32_t look_up(const struct paths *paths, const char *path, size_t n)
{
    uint32_t hash = hash_path(path, n);
    for (uint64_t i = hash; paths->n_slots; i++) {
        uint32_t number = paths->slots[i & (paths->n_slots - 1)];
        if (number == NONE)
            break;
        if (paths->directories[number].hash == hash && is_path_of(paths, number, path, n))
            return number;
    }
    return NONE;
}

static void take_slot(struct paths *paths, uint32_t number)
{
    uint64_t i = paths->directories[number].hash;
    while (paths->slots[i & (paths->n_slots - 1)] != NONE)
        i++;
    paths->slots[i & (paths->n_slots - 1)] = number;
}

/* Half of them at least are free. */
static int grow_slots(struct paths *paths)
{
    if (paths->n_directories < paths->n_slots / 2)
        return 0;
    uint64_t n = paths->n_slots ? 2 * paths->n_slots : 16;
    uint32_t *slots = reallocarray(paths->slots, n, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    paths->slots = slots;
    paths->n_slots = n;
    memset(slots, 0xff, n * sizeof(*slots)); /* NONE */
    for (uint32_t i = 0; i < paths->n_directories; i++)
        take_slot(paths, i);
    return 0;
}

/* The directory path[0..end), whose name begins at `begin`, below the parent. */
static int add_directory(struct paths *paths, const char *path, size_t begin, size_t end,
                         uint32_t *number)
{
    struct directory directory = {.parent = *number, .hash = hash_path(path, end)};
    if (*number != NONE)
        directory.depth = paths->directories[*number].depth + 1;
    if (paths->n_directories == NONE)
        return -EOVERFLOW;
    if (!MAKE_ROOM(paths->directories, paths->directories_room, paths->n_directories + 1))
        return -ENOMEM;
    int r = grow_slots(paths);
    if (r == 0)
        r = put_text(paths, path + begin, end - begin, &directory.name);
    if (r < 0)
        return r;
    *number = paths->n_directories++;
    paths->directories[*number] = directory;
    take_slot(paths, *number);
    return 0;
}

/* From the deepest that is known on. */
static int find_directory(struct paths *paths, const char *path, size_t n, uint32_t *ret_number)
{
    size_t begin = n + 1; /* of the first that is not known */
    int r = 0;
    while ((*ret_number = look_up(paths, path, begin - 1)) == NONE) {
        const char *slash = memrchr(path, '/', begin - 1);
        begin = slash ? (size_t)(slash - path) + 1 : 0;
        if (!slash)
            break;
    }
    while (r == 0 && begin <= n) {
        const char *slash = memchr(path + begin, '/', n - begin);
        size_t end = slash ? (size_t)(slash - path) : n;
        r = add_directory(paths, path, begin, end, ret_number);
        begin = end + 1;
    }
    return r;
}

/* A path that is too long to lead anywhere is kept as a name. */
static const char *last_slash(const char *path)
{
    return strlen(path) < PATH_MAX ? strrchr(path, '/') : NULL;
}

int paths_put_directory(struct paths *paths, const char *path, uint32_t *ret_number)
{
    const char *slash = last_slash(path);
    *ret_number = NONE;
    return slash ? find_directory(paths, path, (size_t)(slash - path), ret_number) : 0;
}

int paths_put(struct paths *paths, const char *path, struct path *ret_path)
{
    const char *slash = last_slash(path), *name = slash ? slash + 1 : path;
    int r = paths_put_directory(paths, path, &ret_path->directory);
    return r < 0 ? r : put_text(paths, name, strlen(name), &ret_path->name);
}

char *paths_get(const struct paths *paths, const struct path *path)
{
    size_t n = strlen(paths->text + path->name) + 1;
    for (uint32_t i = path->directory; i != NONE; i = paths->directories[i].parent)
        n += strlen(paths->text + paths->directories[i].name) + 1;
    char *whole = malloc(n), *at = whole ? whole + n : NULL;
    const char *name = paths->text + path->name;
    for (uint32_t i = path->directory; at; i = paths->directories[i].parent) {
        size_t n_name = strlen(name) + 1;
        at -= n_name;
        memcpy(at, name, n_name);
        if (at + n_name < whole + n)
            at[n_name - 1] = '/';
        if (i == NONE)
            break;
        name = paths->text + paths->directories[i].name;
    }
    return whole;
}

struct path paths_directory(const struct paths *paths, uint32_t number)
{
    const struct directory *directory = &paths->directories[number];
    return (struct path){.name = directory->name, .directory = directory->parent};
}

static uint32_t depth_of(const struct paths *paths, uint32_t directory)
{
    return directory == NONE ? 0 : paths->directories[directory].depth + 1;
}

static uint32_t up(const struct paths *paths, uint32_t directory, const char **name)
{
    *name = paths->text + paths->directories[directory].name;
    return paths->directories[directory].parent;
}

/* By what lies in the deepest directory that they have in common. */
int paths_compare(const struct paths *paths, const struct path *a, const struct path *b)
{
    uint32_t x = a->directory, y = b->directory;
    const char *left = paths->text + a->name, *right = paths->text + b->name;
    while (x != y) {
        uint32_t x_depth = depth_of(paths, x), y_depth = depth_of(paths, y);
        if (x_depth >= y_depth)
            x = up(paths, x, &left);
        if (y_depth >= x_depth)
            y = up(paths, y, &right);
    }
    int r = strcmp(left, right);
    if (r == 0) { /* the same path, or one is on the way to the other */
        x = depth_of(paths, a->directory);
        y = depth_of(paths, b->directory);
        r = (x > y) - (x < y);
    }
    return (r > 0) - (r < 0);
}
