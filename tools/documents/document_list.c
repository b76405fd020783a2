#include "tools/documents/document_list.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "base/trust.h"
#include "tools/show/message.h"
#include "tools/questions/patience.h"

void document_list_done(struct document_list *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct document_list){0};
}

static int add(struct document_list *list, const char *path)
{
    if (list->n == UINT32_MAX - 1)
        return -EOVERFLOW;
    if (list->n == list->room) {
        uint32_t room = list->room < 512        ? 1024
                        : list->room < 1u << 31 ? 2 * list->room
                                                : UINT32_MAX - 1;
        char **paths = reallocarray(list->paths, room, sizeof(*paths));
        if (!paths)
            return -ENOMEM;
        list->paths = paths;
        list->room = room;
    }
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    list->paths[list->n++] = copy;
    return 0;
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void close_walk(FTS **walk)
{
    if (*walk)
        fts_close(*walk);
}

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

static int walk_directory(struct document_list *list, const struct left_out *left_out,
                          const char *path)
{
    char *const roots[] = {(char *)path, NULL};
    _cleanup_(close_walk) FTS *walk =
        fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare_names);
    if (!walk)
        return -errno;
    int r = 0;
    errno = 0;
    for (FTSENT *entry; r == 0 && (entry = fts_read(walk)); errno = 0) {
        switch (entry->fts_info) {
        case FTS_F: r = add(list, entry->fts_path); break;
        case FTS_D:
            if (left_out->is_there && entry->fts_level > 0 &&
                entry->fts_statp->st_dev == left_out->dev &&
                entry->fts_statp->st_ino == left_out->ino)
                fts_set(walk, entry, FTS_SKIP);
            break;
        case FTS_DNR:
        case FTS_ERR:
        case FTS_NS:
            complain("%s: %s; left out", entry->fts_path, strerror(entry->fts_errno));
            list->n_unread++;
            break;
        default: break;
        }
    }
    return r < 0 ? r : -errno;
}

static int add_path(struct document_list *list, const struct left_out *left_out, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return walk_directory(list, left_out, path);
    return S_ISREG(st.st_mode) ? add(list, path) : -EINVAL;
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
            r = add(list, path);
    if (r == 0 && ferror(from))
        r = errno ? -errno : -EIO;
    return r;
}

int document_list_append(struct document_list *list, const char *directory, const char *path)
{
    _cleanup_free_ char *whole = message("%s/%s", directory, path);
    return add(list, whole);
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
