/* O_PATH descriptors of inodes, so many at most: those used longest ago are closed first.
 *
 * For inodes that their key does not open (no CAP_DAC_READ_SEARCH, or a file system without
 * handles): a descriptor that is closed is opened again by name, see fs/inodes/inode_path.h. A
 * pinned one is never closed to make room: its inode has no name any more.
 *
 * No locks: the caller's lock guards a cache and all that is in it. So nothing is closed here:
 * where it is the last descriptor of a removed file, the file system frees the file first. The
 * caller closes what path_fd_cache_take_closing() gives, without its lock, each time it has let go
 * of it.
 *
 * Whoever is done with a descriptor may close it himself, as in the tree itself. One that makes
 * room for another's is nobody's, and may be of what was removed beside the mount, whose owner can
 * make the close wait: it is closed late (fs/inodes/late_close.h), and counts until then, as one
 * that is kept does. Where these are too many, what is new is not kept.
 */
#ifndef KINFS_FS_INODES_PATH_FD_CACHE_H
#define KINFS_FS_INODES_PATH_FD_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct path_fd {
    int fd; /* or -1 */
    unsigned n_users;
    bool pinned;
    bool brief; /* closed as soon as nobody uses it: it is on a mount inside the tree, which could
                   not be unmounted */
    struct path_fd *newer, *older; /* while it is open, not pinned, and nobody uses it */
};
#define PATH_FD_NONE ((struct path_fd){.fd = -1})

enum { PATH_FDS_CLOSING = 64 };
struct path_fd_closing {
    int fd;
    uid_t payer; /* who has it of the room for descriptors until it is closed; or USER_NOBODY */
    enum {
        CLOSE_NOW,
        CLOSE_LATE,           /* counts in n_late */
        CLOSE_LATE_IF_REMOVED /* counts too; else now: somebody wants a descriptor */
    } how;
};

struct path_fd_cache {
    struct path_fd *newest, *oldest;
    size_t n_open, n_max; /* pinned ones do not count */
    /* Until they are closed, without the lock too. */
    atomic_size_t n_pinned, n_late; /* late: that were neither pinned nor in use */
    size_t n_pinned_max;
    struct path_fd_closing closing[PATH_FDS_CLOSING]; /* what is to be closed */
    size_t n_closing;
};

/* The number of descriptors and of pins for a process that may have so many descriptors
 * (RLIMIT_NOFILE). */
size_t path_fd_cache_bound(size_t n_descriptors);
size_t path_fd_cache_pins(size_t n_descriptors);

/* The descriptor, not to be closed until path_fd_release(); or -1 when it is closed. */
int path_fd_use(struct path_fd_cache *cache, struct path_fd *path_fd);
/* The same, of one that may be closed: then it gets this descriptor, else that is closed. */
int path_fd_use_new(struct path_fd_cache *cache, struct path_fd *path_fd, int fd, bool brief);
void path_fd_release(struct path_fd_cache *cache, struct path_fd *path_fd);

/* A path_fd that is in use is dropped: it is closed when nobody uses it any more. */
void path_fd_drop(struct path_fd *path_fd);

/* A path_fd that is in use is pinned. When n_pinned_max are pinned it is not, and stays as it was:
 * a file without a name is held by anybody who stands in it, and without a bound that would be a
 * way to take them all. */
void path_fd_pin(struct path_fd_cache *cache, struct path_fd *path_fd);
void path_fd_unpin(struct path_fd_cache *cache, struct path_fd *path_fd);

/* Takes the descriptor of one that nobody uses out of the cache, to be closed late; -1 when it had
 * none. ret_count: where it counts until then. */
int path_fd_take(struct path_fd_cache *cache, struct path_fd *path_fd, atomic_size_t **ret_count);

/* Gives up what nobody uses, because descriptors have run out: some, to be closed before the next
 * are asked for. Whether there were any. */
bool path_fd_cache_shed(struct path_fd_cache *cache);

/* There are as many as may be, those that wait to be closed late among them. */
bool path_fd_cache_is_full(const struct path_fd_cache *cache);

/* All that is to be closed is closed late, and paid for until then: the asker waits for nobody. But
 * where the cache is full what has a name is closed at once, as any number of these could wait
 * behind one that takes its time. Whether there is any of which the asker alone was a user. */
bool path_fd_cache_close_late(struct path_fd_cache *cache, uid_t payer);

/* Takes the descriptors that are to be closed. Returns how many. */
size_t path_fd_cache_take_closing(struct path_fd_cache *cache,
                                  struct path_fd_closing ret_closing[PATH_FDS_CLOSING]);

#endif
