/* Descriptors of inodes that are closed: those that the table gives up, and those that were
 * borrowed or paid for. */
#include <unistd.h>

#include "fs/inodes/inode_path.h"

struct inode_table *inode_paths_lock(struct inode_table *table)
{
    pthread_mutex_lock(&table->lock);
    return table;
}

void inode_paths_unlock(struct inode_table *table)
{
    struct path_fd_closing closing[PATH_FDS_CLOSING];
    const size_t n = path_fd_cache_take_closing(&table->path_fds, closing);
    pthread_mutex_unlock(&table->lock);
    for (size_t i = 0; i < n; i++) {
        const int fd = closing[i].fd;
        if (closing[i].how == CLOSE_NOW)
            close(fd);
        else if (closing[i].how == CLOSE_LATE)
            inode_close_late(table, fd, closing[i].payer);
        else
            inode_close_if_named(table, fd, closing[i].payer);
    }
}

static struct late_count count_of(struct inode_table *table, uid_t payer)
{
    return (struct late_count){
        .n = &table->path_fds.n_late, .room = &table->descriptors, .payer = payer};
}

void inode_close_late(struct inode_table *table, int fd, uid_t payer)
{
    late_close(table->late, fd, count_of(table, payer));
}

void inode_close_if_named(struct inode_table *table, int fd, uid_t payer)
{
    late_close_removed(table->late, fd, count_of(table, payer), true);
}

bool inode_table_shed(struct inode_table *table)
{
    bool any = false;
    for (bool more = true; more; any |= more) {
        PATHS_LOCKED(table);
        more = path_fd_cache_shed(&table->path_fds);
    }
    return any;
}

void inode_close_paid(struct inode_table *table, int fd, uid_t payer, bool is_last)
{
    const struct late_count count = {.room = &table->descriptors, .payer = payer};
    late_close_removed(table->late, fd, count, is_last);
}
