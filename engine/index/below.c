/* Directories that came to be: what is in them. To read one may take for ever, as its user can keep
 * it locked; so it is done by threads that do nothing else, in turns of the directories' owners,
 * who never have all of them. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "engine/index/index_private.h"

/* Notes the names of a directory as parts of the change: who waits for that waits for what was in
 * it by then, too. Returns 1 when that was all, 0 when there is more than somebody should wait for,
 * or an error. */
static int note_names(struct index *index, const struct change *change)
{
    enum { NAMES_MAX = 1024, OUTSTANDING_MAX = 4096 };
    if (change_queue_outstanding(index->queue, LANE_FOREGROUND) > OUTSTANDING_MAX)
        return 0;
    int fd = scan_open_directory(index, &change->key);
    if (fd < 0)
        return fd;
    _cleanup_closedir_ DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return -ENOMEM;
    }
    for (size_t n = 0; n < NAMES_MAX; n++) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            return errno ? -errno : 1;
        bool is_indexed =
            entry->d_type == DT_DIR || entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN;
        if (is_indexed && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            index_note(index, CHANGE_ENTRY, &change->key, entry->d_name, change);
    }
    return 0;
}

void below_list(struct index *index, struct change *change)
{
    /* A scan finds the rest, and whatever stood in the way. */
    if (note_names(index, change) != 1)
        scan_want_directory(index, &change->key);
    change_queue_done(index->queue, change);
}

void *below_run(void *user)
{
    struct index *index = user;
    struct change *change;
    niceness_join(&index->niceness);
    while (change_queue_take(index->queue, CHANGE_BELOW, true, &change) == 1)
        below_list(index, change);
    niceness_leave(&index->niceness);
    return NULL;
}
