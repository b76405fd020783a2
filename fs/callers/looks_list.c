/* Reading directories. */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "fs/callers/looks.h"

struct list_look {
    struct look look;
    int fd; /* owned */
    off_t from;
    long result;
    size_t size;
    _Alignas(8) char buffer[];
};

/* Some file systems lock the directory for the offset, too. */
static void work(struct look *look)
{
    struct list_look *list = (struct list_look *)look;
    list->result = list->from >= 0 && lseek(list->fd, list->from, SEEK_SET) < 0 ? -errno : 0;
    if (list->result == 0) {
        list->result = syscall(SYS_getdents64, list->fd, list->buffer, list->size);
        if (list->result < 0)
            list->result = -errno;
    }
}

static void free_look(struct look *look)
{
    struct list_look *list = (struct list_look *)look;
    close_p(&list->fd);
    free(list);
}

int looks_list(struct looking *looking, int dir_fd, off_t from, void *buffer, size_t size)
{
    struct list_look *list = malloc(sizeof(*list) + size);
    if (!list)
        return -ENOMEM;
    *list = (struct list_look){.look = {.work = work, .free = free_look},
                               .fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0),
                               .from = from,
                               .size = size};
    int r = list->fd < 0 ? -errno : 0;
    if (r < 0) {
        free_look(&list->look);
        return r;
    }
    r = looks_do(looking, dir_fd, &list->look);
    if (r < 0)
        return r;
    r = (int)list->result;
    if (r > 0)
        memcpy(buffer, list->buffer, (size_t)r);
    free_look(&list->look);
    return r;
}
