#include "tools/documents/document_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "base/mount_user.h"
#include "base/trust.h"
#include "tools/show/message.h"
#include "tools/questions/patience.h"

void document_list_done(struct document_list *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        free(list->paths[i]);
    free(list->paths);
    free(list->inodes);
    *list = (struct document_list){0};
}

static int grow(struct document_list *list)
{
    uint32_t room = list->room < 512        ? 1024
                    : list->room < 1u << 31 ? 2 * list->room
                                            : UINT32_MAX - 1;
    char **paths = reallocarray(list->paths, room, sizeof(*paths));
    if (paths)
        list->paths = paths;
    struct document_inode *inodes =
        paths ? reallocarray(list->inodes, room, sizeof(*inodes)) : NULL;
    if (!inodes)
        return -ENOMEM;
    list->inodes = inodes;
    list->room = room;
    return 0;
}

static int add(struct document_list *list, const char *path, struct document_inode inode)
{
    if (list->n == UINT32_MAX - 1)
        return -EOVERFLOW;
    int r = list->n == list->room ? grow(list) : 0;
    char *copy = r < 0 ? NULL : strdup(path);
    if (!copy)
        return -ENOMEM;
    list->inodes[list->n] = inode;
    list->paths[list->n++] = copy;
    return 0;
}

static const struct document_inode unseen;

/* A directory that is not walked: none where the path is NULL or nothing is there yet. */
struct left_out {
    bool is_there;
    dev_t dev;
    ino_t ino;
};

static struct left_out left_out_of(const char *path)
{
    struct stat st;
    if (!path || stat(path, &st) < 0)
        return (struct left_out){.is_there = false};
    return (struct left_out){true, st.st_dev, st.st_ino};
}

/* -- the walk -- */

struct walk {
    struct document_list *list;
    const struct left_out *left_out;
    uint32_t n_named; /* bytes of the path that is walked */
};

struct entries {
    char **names;
    size_t n, room;
};

static void entries_done(struct entries *entries)
{
    for (size_t i = 0; i < entries->n; i++)
        free(entries->names[i]);
    free(entries->names);
}

static int add_entry(struct entries *entries, const char *name)
{
    if (entries->n == entries->room) {
        size_t room = 2 * entries->room + 16;
        char **names = reallocarray(entries->names, room, sizeof(*names));
        if (!names)
            return -ENOMEM;
        entries->names = names;
        entries->room = room;
    }
    char *copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    entries->names[entries->n++] = copy;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_entries(int fd, struct entries *entries)
{
    int list_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
    _cleanup_closedir_ DIR *dir = list_fd < 0 ? NULL : fdopendir(list_fd);
    if (!dir)
        return -errno;
    errno = 0;
    for (struct dirent *entry; r == 0 && (entry = readdir(dir)); errno = 0)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = add_entry(entries, entry->d_name);
    if (r == 0 && errno)
        r = -errno;
    qsort(entries->names, entries->n, sizeof(*entries->names), compare_names);
    return r;
}

/* The mount of what is open, which need not answer for that. */
static int find_mount(int fd, uint64_t *ret_id)
{
    struct statx st;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) < 0)
        return -errno;
    *ret_id = st.stx_mnt_id;
    return 0;
}

static bool is_anothers(uint64_t mount_id)
{
    uid_t uid;
    return mount_user_of_id(mount_id, &uid) < 0 || !mount_user_is_trusted(uid);
}

static int leave_out(struct document_list *list, const char *path, const char *why)
{
    complain("%s: %s; left out", path, why);
    list->n_unread++;
    return 0;
}

static bool is_left_out(const struct left_out *left_out, const struct stat *st)
{
    return left_out->is_there && st->st_dev == left_out->dev && st->st_ino == left_out->ino;
}

/* Adds a file, gives the entries of a directory. Nothing is open afterwards: directories may be
 * deeper than a process may have descriptors. above: the mount that the directory above is in; NULL
 * for what was named, which is followed whosever it is. */
static int look_at(struct walk *walk, const char *path, const uint64_t *above, uint64_t *ret_mount,
                   struct entries *entries)
{
    struct stat st;
    _cleanup_close_ int fd = open(path, O_PATH | (above ? O_NOFOLLOW : 0) | O_CLOEXEC);
    int r = fd < 0 ? -errno : find_mount(fd, ret_mount);
    if (r < 0)
        return leave_out(walk->list, path, strerror(-r));
    if (above && *ret_mount != *above && is_anothers(*ret_mount))
        return leave_out(walk->list, path, "another user's mount, which can show anything");
    if (fstat(fd, &st) < 0)
        return leave_out(walk->list, path, strerror(errno));
    if (S_ISREG(st.st_mode))
        return add(walk->list, path, (struct document_inode){st.st_dev, st.st_ino, walk->n_named});
    if (!S_ISDIR(st.st_mode) || (above && is_left_out(walk->left_out, &st)))
        return 0;
    r = read_entries(fd, entries);
    return r < 0 && r != -ENOMEM ? leave_out(walk->list, path, strerror(-r)) : r;
}

static int visit(struct walk *walk, const char *path, const uint64_t *above)
{
    _cleanup_(entries_done) struct entries entries = {0};
    const size_t n = strlen(path);
    uint64_t mount;
    int r = look_at(walk, path, above, &mount, &entries);
    for (size_t i = 0; r == 0 && i < entries.n; i++) {
        const bool ends = path[n - 1] == '/';
        _cleanup_free_ char *below = message("%s%s%s", path, ends ? "" : "/", entries.names[i]);
        r = visit(walk, below, &mount);
    }
    return r;
}

static int add_path(struct document_list *list, const struct left_out *left_out, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return -EINVAL;
    return visit(&(struct walk){list, left_out, (uint32_t)strlen(path)}, path, NULL);
}

/* -- paths that overlap -- */

struct named {
    char *real;
    size_t n_bytes, number;
    bool directory, covered;
};

struct names {
    struct named *names;
    size_t n;
};

static void names_done(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->names[i].real);
    free(names->names);
}

static unsigned rank(uint8_t byte)
{
    return byte == '\0' ? 0 : byte == '/' ? 1 : byte + 1u;
}

int document_list_compare(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    unsigned left = rank((uint8_t)*a), right = rank((uint8_t)*b);
    return (left > right) - (left < right);
}

static int compare_real(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int r = document_list_compare(x->real, y->real);
    return r ? r : (x->number > y->number) - (x->number < y->number);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* What is found by another name as well is covered: the same path again, of which the first counts,
 * and what lies in a directory that is named. */
static void find_covered(struct names *names)
{
    const struct named *last = NULL;
    qsort(names->names, names->n, sizeof(*names->names), compare_real);
    for (size_t i = 0; i < names->n; i++) {
        struct named *name = &names->names[i];
        bool in_last = last && strncmp(name->real, last->real, last->n_bytes) == 0;
        char next = in_last ? name->real[last->n_bytes] : 'x';
        bool root = in_last && last->real[last->n_bytes - 1] == '/';
        name->covered = in_last && (!next || (last->directory && (root || next == '/')));
        if (!name->covered)
            last = name;
    }
    qsort(names->names, names->n, sizeof(*names->names), compare_numbers);
}

int document_list_add(struct document_list *list, char *const *paths, size_t n, const char *without,
                      size_t *ret_failed)
{
    const struct left_out left_out = left_out_of(without);
    _cleanup_(names_done) struct names names = {.names = calloc(n + 1, sizeof(struct named))};
    if (!names.names)
        return -ENOMEM;
    for (*ret_failed = 0; *ret_failed < n; ++*ret_failed) {
        struct named *name = &names.names[*ret_failed];
        struct stat st;
        patience_look(paths[*ret_failed]);
        if (stat(paths[*ret_failed], &st) < 0 || !(name->real = realpath(paths[*ret_failed], NULL)))
            return -errno;
        names.n++;
        name->n_bytes = strlen(name->real);
        name->number = *ret_failed;
        name->directory = S_ISDIR(st.st_mode);
    }
    find_covered(&names);
    int r = 0;
    for (*ret_failed = 0; *ret_failed < n; ++*ret_failed) {
        const struct named *name = &names.names[*ret_failed];
        if (!name->covered && name->directory)
            patience_look_below(name->real);
        if (!name->covered)
            r = add_path(list, &left_out, paths[*ret_failed]);
        if (r < 0)
            break;
    }
    return r;
}

int document_list_read(struct document_list *list, FILE *from)
{
    _cleanup_free_ char *path = NULL;
    size_t room = 0;
    int r = 0;
    errno = 0;
    while (r == 0 && getdelim(&path, &room, '\0', from) > 0)
        if (*path)
            r = add(list, path, unseen);
    if (r == 0 && ferror(from))
        r = errno ? -errno : -EIO;
    return r;
}

int document_list_append(struct document_list *list, const char *directory, const char *path)
{
    _cleanup_free_ char *whole = message("%s/%s", directory, path);
    return add(list, whole, unseen);
}

/* Stands behind the last path, as if it were one. */
static uint64_t checksum(const struct document_list *list)
{
    uint64_t sum = list->n;
    for (uint32_t i = 0; i < list->n; i++)
        sum = XXH3_64bits_withSeed(list->paths[i], strlen(list->paths[i]), sum);
    return sum;
}

static int open_kept(const char *directory, int flags, FILE **ret_file)
{
    _cleanup_close_ int directory_fd = trust_open_directory(directory, NULL);
    return directory_fd < 0 ? directory_fd
                            : trust_open_stream(directory_fd, "documents", flags, ret_file);
}

int document_list_save(const struct document_list *list, const char *directory)
{
    FILE *to;
    int r = open_kept(directory, O_WRONLY | O_CREAT | O_TRUNC, &to);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < list->n; i++)
        fwrite(list->paths[i], 1, strlen(list->paths[i]) + 1, to);
    fprintf(to, "%016llx", (unsigned long long)checksum(list));
    int failed = ferror(to);
    if (fclose(to) < 0)
        return -errno;
    return failed ? -EIO : 0;
}

int document_list_load(struct document_list *list, const char *directory)
{
    char expected[17];
    _cleanup_fclose_ FILE *from = NULL;
    int r = open_kept(directory, O_RDONLY, &from);
    if (r == 0)
        r = document_list_read(list, from);
    if (r < 0)
        return r;
    if (list->n == 0)
        return -EUCLEAN;
    _cleanup_free_ char *sum = list->paths[--list->n];
    snprintf(expected, sizeof(expected), "%016llx", (unsigned long long)checksum(list));
    return strcmp(sum, expected) == 0 ? 0 : -EUCLEAN;
}
