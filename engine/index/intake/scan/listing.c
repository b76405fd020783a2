#include "engine/index/intake/scan/listing.h"

#include <errno.h>
#include <fcntl.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/open_key.h"

void index_see_listings(struct index *index,
                        int (*see)(void *user, int fd, const struct file_key *directory),
                        void *user)
{
    LOCKED(&index->listing_lock);
    index->see_listing = see;
    index->see_listing_user = user;
}

static int see_listing(struct index *index, int fd, const struct file_key *directory)
{
    LOCKED(&index->listing_lock);
    return index->see_listing ? index->see_listing(index->see_listing_user, fd, directory) : 0;
}

int listing_open(struct index *index, const struct file_key *directory)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    _cleanup_close_ int fd = open_key(index, directory, flags | O_NOATIME);
    if (fd == -EPERM)
        fd = open_key(index, directory, flags);
    int r = fd < 0 ? fd : see_listing(index, fd, directory);
    return r < 0 ? r : TAKE_FD(fd);
}
