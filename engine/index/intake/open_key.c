#include "engine/index/intake/open_key.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/open_at.h"
#include "base/proc_path.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/open_soon.h"

/* The owner of a directory on the way can have that lead anywhere by now, and to open a device does
 * something already: so no link is followed, and nothing but the inode is opened. */
static int open_by_path(struct index *index, const char *path, const struct file_key *key,
                        int flags)
{
    struct file_key found;
    _cleanup_close_ int place = flags & O_DIRECTORY
                                    ? open_at(backing_root_fd(index->backing), path,
                                              O_PATH | O_NOFOLLOW | O_CLOEXEC, RESOLVE_IN_TREE)
                                    : open_file_soon(index, key, path);
    if (place < 0)
        return place == -ELOOP ? -ESTALE : place == -EXDEV ? -ENOENT : place;
    int r = backing_key_at(index->backing, place, "", &found);
    if (r < 0)
        return r;
    if (!file_key_equal(&found, key))
        return -ESTALE;
    if (flags & O_PATH)
        return TAKE_FD(place);
    int fd = open(proc_path_of(place).text, flags);
    return fd < 0 ? -errno : fd;
}

static int open_by_name(struct index *index, struct path_cache *paths,
                        const struct catalogue_entry *link, const struct file_key *key, int flags)
{
    _cleanup_free_ char *path = NULL;
    int r = path_cache_entry(paths, &link->parent, link->name, &path);
    if (r == -EUCLEAN)
        index_meet_damage(index);
    return r < 0 ? r : open_by_path(index, path, key, flags);
}

int open_key(struct index *index, const struct file_key *key, int flags)
{
    enum { NAMES_MAX = 8 }; /* what is being renamed has its old name for a moment, too */
    int fd = backing_open_key(index->backing, key, flags);
    if (fd != -EOPNOTSUPP)
        return fd;

    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);
    if (r == 0)
        r = catalogue_links(index->kv, key, NAMES_MAX, &links);
    if (r == -EUCLEAN)
        index_meet_damage(index);
    if (r < 0)
        return r;
    fd = -ENOENT;
    for (size_t i = 0; i < links.n_entries && (fd == -ENOENT || fd == -ESTALE); i++)
        fd = open_by_name(index, paths, &links.entries[i], key, flags);
    return fd;
}

int open_key_to_read(struct index *index, const struct file_key *key)
{
    int fd = open_key(index, key, OPEN_TO_READ | O_NOATIME);
    return fd == -EPERM ? open_key(index, key, OPEN_TO_READ) : fd;
}
