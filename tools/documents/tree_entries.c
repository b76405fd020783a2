#include "tools/documents/tree_entries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/room.h"
#include "tools/documents/place.h"
#include "tools/show/message.h"

struct walk {
    const struct tree_entries *entries;
    const char *directory;
    struct place_way way;
    unsigned n_unread;
};

struct entry {
    char *name;
    bool is_directory;
};

struct list {
    struct entry *entries;
    size_t n, room;
    bool had_more; /* that are left out */
};

static void list_done(struct list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->entries[i].name);
    free(list->entries);
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static int unread(struct walk *walk, const char *path, int error)
{
    complain("%s/%s: %s", walk->directory, path,
             error == -EXDEV ? "another user's mount, which can show anything" : strerror(-error));
    walk->n_unread++;
    return 0;
}

static char *path_of(const char *above, const char *name)
{
    return message("%s%s%s", above, *above ? "/" : "", name);
}

/* A name that is gone meanwhile is none. */
static int is_directory(int fd, const struct dirent *entry, bool *ret_is)
{
    struct stat st;
    *ret_is = entry->d_type == DT_DIR;
    if (entry->d_type != DT_UNKNOWN)
        return 0;
    if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? -ENOENT : 0;
    *ret_is = S_ISDIR(st.st_mode);
    return 0;
}

static int add(struct walk *walk, struct list *list, const char *above, int fd,
               const struct dirent *entry)
{
    struct entry added = {0};
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
        is_directory(fd, entry, &added.is_directory) < 0)
        return 0;
    _cleanup_free_ char *path = path_of(above, entry->d_name);
    if (walk->entries->leaves_out(walk->entries->user, path, !*above)) {
        list->had_more = true;
        return 0;
    }
    if (!MAKE_ROOM(list->entries, list->room, list->n + 1) || !(added.name = strdup(entry->d_name)))
        return -ENOMEM;
    list->entries[list->n++] = added;
    return 0;
}

static int read_directory(struct walk *walk, const char *path, struct list *list)
{
    _cleanup_free_ char *whole = path_of(walk->directory, path);
    if (strlen(whole) >= PATH_MAX)
        return -ENAMETOOLONG;
    _cleanup_close_ int place =
        place_open(&walk->way, *path ? whole : walk->directory, (uint32_t)strlen(walk->directory));
    if (place < 0)
        return place;
    int fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
    _cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return -errno;
    errno = 0;
    for (struct dirent *entry; r == 0 && (entry = readdir(dir)); errno = 0)
        r = add(walk, list, path, fd, entry);
    if (r == 0 && errno)
        r = -errno;
    if (list->n)
        qsort(list->entries, list->n, sizeof(*list->entries), compare);
    return r;
}

static int visit(struct walk *walk, const char *path)
{
    const struct tree_entries *entries = walk->entries;
    _cleanup_(list_done) struct list list = {0};
    enum tree_entry is = TREE_ENTRY_DIRECTORY;
    int r = read_directory(walk, path, &list);
    if (r == 0 && !list.n)
        is = list.had_more ? TREE_ENTRY_EMPTIED : TREE_ENTRY_EMPTY;
    if (r == -ENOENT && *path) /* gone meanwhile */
        return 0;
    if (r == -EXDEV)
        return unread(walk, path, r);
    if (r < 0 && r != -ENOMEM)
        r = unread(walk, path, r);
    if (r == 0 && *path)
        r = entries->tell(entries->user, path, is);
    for (size_t i = 0; r == 0 && i < list.n; i++) {
        _cleanup_free_ char *below = path_of(path, list.entries[i].name);
        r = list.entries[i].is_directory ? visit(walk, below)
                                         : entries->tell(entries->user, below, TREE_ENTRY_OTHER);
    }
    return r;
}

int tree_entries_walk(const struct tree_entries *entries, const char *directory,
                      unsigned *ret_n_unread)
{
    struct walk walk = {.entries = entries, .directory = directory};
    int r = visit(&walk, "");
    place_way_done(&walk.way);
    if (r == 0)
        *ret_n_unread = walk.n_unread;
    return r;
}
