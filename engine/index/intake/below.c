/* Directories that came to be: what is in them; and names in directories that the kernel has to
 * look into. That may take for ever, as a directory's user can keep it locked; so it is done by
 * threads that do nothing else, in turns of the directories' owners, who never have all of them.
 *
 * A look at a name may be old when the committer takes it. Whatever changed the name since was, or
 * will be, noted, and then it is looked at again. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "engine/index/intake/below.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/scan/listing.h"
#include "engine/index/intake/scan/scan_sets.h"
#include "engine/index/intake/open_key.h"

/* Owns what cannot be opened. */
#define NOBODY_KNOWN ((uid_t)-1)

/* Notes the names of a directory as parts of the change: who waits for that waits for what was in
 * it by then, too. Returns 1 when that was all, 0 when there is more than somebody should wait for,
 * or an error. */
static int note_names(struct index *index, const struct change *change, uid_t *ret_owner)
{
    enum { NAMES_MAX = 1024, OUTSTANDING_MAX = 4096, WHOLES_MAX = 256 };
    struct stat st;
    int fd = listing_open(index, &change->key);
    if (fd < 0)
        return fd;
    *ret_owner = fstat(fd, &st) == 0 ? st.st_uid : NOBODY_KNOWN;
    _cleanup_closedir_ DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return -ENOMEM;
    }
    /* Nor for who makes directories in each other faster than they are listed. */
    if (change->n_wholes > WHOLES_MAX ||
        change_queue_outstanding(index->queue, LANE_FOREGROUND) > OUTSTANDING_MAX)
        return 0;
    for (size_t n = 0; n < NAMES_MAX; n++) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            return errno ? -errno : 1;
        bool is_indexed =
            entry->d_type == DT_DIR || entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN;
        if (is_indexed && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            index_note(index, CHANGE_ENTRY, &change->key, entry->d_name, change->owner, change);
    }
    return 0;
}

/* Waits while the committer has enough to do, so that memory stays bounded. */
static void hand_over(struct index *index, struct name_look *look)
{
    enum { LOOKS_MAX = 2 * RECONCILE_AT_ONCE };
    LOCKED(&index->lock);
    while (index->n_looks >= LOOKS_MAX && !index->stop)
        pthread_cond_wait(&index->results_taken, &index->lock);
    STAILQ_INSERT_TAIL(&index->looks, look, next);
    index->n_looks++;
    pthread_cond_signal(&index->wake_committer);
}

void below_look(struct index *index, struct name_look *look)
{
    const struct change *change = look->change;
    _cleanup_close_ int fd = open_key(index, &change->key, O_PATH | O_DIRECTORY | O_CLOEXEC);
    look->is_directory_gone = fd == -ENOENT || fd == -ESTALE || fd == -ENOTDIR;
    look->result =
        fd < 0 ? fd : reconcile_look(index, &change->key, fd, change->name, &look->entry);
}

static void look_at_name(struct index *index, struct change *change)
{
    struct name_look *look = calloc(1, sizeof(*look));
    if (!look) {
        index_rescan(index);
        change_queue_done(index->queue, change);
        return;
    }
    look->change = change;
    below_look(index, look);
    change_queue_end_turn(index->queue, change);
    hand_over(index, look);
}

void below_list(struct index *index, struct change *change)
{
    uid_t owner = NOBODY_KNOWN;
    /* A scan finds the rest, and whatever stood in the way. */
    if (note_names(index, change, &owner) != 1)
        scan_want_directory(index, &change->key, owner);
    change_queue_done(index->queue, change);
}

void *below_run(void *user)
{
    struct index *index = user;
    struct change *change;
    niceness_join(&index->niceness);
    while (change_queue_take(index->queue, CHANGE_BELOW, true, &change) == 1) {
        if (change->kind == CHANGE_ENTRY)
            look_at_name(index, change);
        else
            below_list(index, change);
    }
    niceness_leave(&index->niceness);
    return NULL;
}
