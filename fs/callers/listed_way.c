#include "fs/callers/listed_way.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

int listed_way_check_readable(int fd)
{
    int r = syscall(SYS_faccessat2, fd, "", R_OK, AT_EACCESS | AT_EMPTY_PATH);
    return r < 0 ? -errno : 0;
}

void listed_way_done(struct listed_way *way)
{
    way_done(&way->way);
}

/* Takes one step, to what a name means in a directory. */
static int open_listed(struct looking *looking, int dir_fd, const char *name)
{
    _cleanup_close_ int fd = looks_open(looking, dir_fd, name, O_DIRECTORY);
    int r = fd < 0 ? fd : listed_way_check_readable(fd);
    return r < 0 ? r : TAKE_FD(fd);
}

int listed_way_open(struct listed_way *listed, struct looking *looking, int root_fd,
                    const char *path)
{
    struct way *way = &listed->way;
    if (clock_now_ms() - listed->since_ms > LISTED_WAY_MS)
        way_done(way);
    int r = way_turn(way, path, 0);
    if (r == 0 && !way->n_kept) {
        r = way_keep(way, open_listed(looking, root_fd, "."), 0);
        listed->since_ms = clock_now_ms();
    }
    while (r == 0 && (r = way_next(way)) > 0)
        r = way_keep(way, open_listed(looking, way_last(way)->fd, way->name), 0);
    return r < 0 ? r : looks_open(looking, way_last(way)->fd, way->name, 0);
}
