#include "tools/document_list.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "tools/message.h"

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

static int walk_directory(struct document_list *list, const char *path)
{
    char *const roots[] = {(char *)path, NULL};
    _cleanup_(close_walk) FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, compare_names);
    if (!walk)
        return -errno;
    int r = 0;
    errno = 0;
    for (FTSENT *entry; r == 0 && (entry = fts_read(walk)); errno = 0) {
        switch (entry->fts_info) {
        case FTS_F: r = add(list, entry->fts_path); break;
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

int document_list_add(struct document_list *list, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return walk_directory(list, path);
    return S_ISREG(st.st_mode) ? add(list, path) : -EINVAL;
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

int document_list_save(const struct document_list *list, const char *file)
{
    FILE *to = fopen(file, "we");
    if (!to)
        return -errno;
    for (uint32_t i = 0; i < list->n; i++)
        fwrite(list->paths[i], 1, strlen(list->paths[i]) + 1, to);
    int failed = ferror(to);
    if (fclose(to) < 0)
        return -errno;
    return failed ? -EIO : 0;
}

int document_list_load(struct document_list *list, const char *file)
{
    _cleanup_fclose_ FILE *from = fopen(file, "re");
    return from ? document_list_read(list, from) : -errno;
}
