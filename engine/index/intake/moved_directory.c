#include "engine/index/intake/moved_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/mounts/mount_point.h"
#include "base/proc_path.h"
#include "engine/index/catalogue/other_names.h"
#include "engine/index/intake/open_soon.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/scan/scan_sets.h"

static int key_of_name(struct index *index, int dirfd, const char *name, struct file_key *ret_key)
{
    _cleanup_close_ int fd = mount_point_avoid(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? fd : backing_key_at(index->backing, fd, "", ret_key);
}

/* The name a directory has now. -EAGAIN when it moved on while we looked, -ENOENT when it is
 * removed, lies under no name, or something is mounted over it. */
static int try_to_find(struct index *index, const struct file_key *directory, int fd,
                       struct file_key *ret_parent, char **ret_name, struct stat *ret_stat)
{
    char path[PATH_MAX];
    struct file_key parent, found;
    if (fstat(fd, ret_stat) < 0 || ret_stat->st_nlink == 0 || proc_path_read(fd, path) < 0)
        return -ENOENT;
    const char *name = strrchr(path, '/');
    if (!name || !name[1])
        return -ENOENT;
    _cleanup_close_ int above = mount_point_avoid(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool covered = above == -EXDEV;
    if (covered) /* the root, over which kinfs itself is mounted; or nothing of the tree */
        above = fcntl(backing_root_fd(index->backing), F_DUPFD_CLOEXEC, 0);
    if (above < 0)
        return -EAGAIN;
    int r = backing_key_at(index->backing, above, "", &parent);
    if (r == 0)
        r = key_of_name(index, above, name + 1, &found);
    if (r == -EXDEV)
        return -ENOENT;
    if (r == -ENOENT || (r == 0 && !file_key_equal(&found, directory)))
        return covered ? -ENOENT : -EAGAIN;
    if (r < 0)
        return r;
    char *copy = strdup(name + 1);
    if (!copy)
        return -ENOMEM;
    *ret_parent = parent;
    *ret_name = copy;
    return 0;
}

/* A look for a directory that has moved: by then the kernel may have to look for its name in one
 * that somebody keeps locked. */
struct finding {
    struct look look;
    struct index *index;
    struct file_key directory, parent;
    char *name; /* owned; of the look's result 0 */
    struct stat st;
    int result;
};

static void do_finding(struct look *look)
{
    enum { TRIES = 10 };
    struct finding *finding = (struct finding *)look;
    _cleanup_close_ int fd = backing_open_key(finding->index->backing, &finding->directory,
                                              O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 ? fd : -EAGAIN;
    for (int i = 0; r == -EAGAIN && i < TRIES; i++)
        r = try_to_find(finding->index, &finding->directory, fd, &finding->parent, &finding->name,
                        &finding->st);
    finding->result = r;
}

static void finding_free(struct look *look)
{
    struct finding *finding = (struct finding *)look;
    free(finding->name);
    free(finding);
}

/* As try_to_find(); -EAGAIN also where that takes long. */
static int find_directory(struct index *index, const struct file_key *directory,
                          struct file_key *ret_parent, char **ret_name, struct stat *ret_stat)
{
    struct finding *finding = calloc(1, sizeof(*finding));
    if (!finding)
        return -ENOMEM;
    finding->look = (struct look){.work = do_finding, .free = finding_free};
    finding->index = index;
    finding->directory = *directory;
    if (look_soon_committing(index, directory, &finding->look) < 0)
        return -EAGAIN;
    const int r = finding->result;
    if (r == 0) {
        *ret_parent = finding->parent;
        *ret_name = TAKE_PTR(finding->name);
        *ret_stat = finding->st;
    }
    finding_free(&finding->look);
    return r;
}

static unsigned climb_max(bool far)
{
    return far ? CLIMB_FAR : CLIMB_NEAR;
}

/* A climb that is too far is no path to the root; -E2BIG: to be climbed later. */
static int as_far(bool far, int r)
{
    return r == -E2BIG && far ? 0 : r;
}

/* A directory that has no other name that leads to the root. It is put where it is, with all that
 * is below it: in an exchange, or when names change faster than they are looked at, the notice of
 * its new name is still to come, or it is back before it was missed. Not in what was below itself:
 * that has moved, too, perhaps out of the tree, and else a scan finds both. */
static int follow(struct index *index, const struct file_key *directory,
                  const struct catalogue_name *old, bool old_parent_goes, bool far)
{
    struct file_key parent;
    struct tree_entry entry = {.key = *directory, .type = ENTRY_DIRECTORY};
    _cleanup_free_ char *name = NULL;
    int r = find_directory(index, directory, &parent, &name, &entry.st);
    if (r == -EAGAIN) { /* it never stands still, or is kept locked; what moves it notes it */
        index_rescan(index);
        return old && !old_parent_goes ? PLACE_HERE : PLACE_GONE;
    }
    if (r < 0)
        return r == -ENOMEM ? r : PLACE_GONE;
    const bool same_parent = old && file_key_equal(&parent, old->parent);
    if (same_parent && old_parent_goes)
        return PLACE_GONE;
    unsigned left = climb_max(far);
    r = as_far(far, directory_leads_up(index->kv, backing_root_key(index->backing), &parent,
                                       directory, &left));
    if (r == 0 && (r = reconcile_is_known(index, &parent)) > 0) {
        index_rescan(index);
        return PLACE_GONE;
    }
    if (r <= 0)
        return r < 0 ? r : PLACE_GONE;
    /* A scan finds it if that is not known without waiting. */
    r = ignored_ask(index, &parent, name, true, false);
    if (r == -EAGAIN)
        index_rescan(index);
    else if (r != 0)
        return r < 0 ? r : PLACE_GONE;
    r = reconcile_put(index, &parent, name, &entry);
    if (r > 0)
        r = ignored_moved(index, directory, entry.st.st_uid, true);
    if (r == 0)
        r = scan_join_moved(index, directory, entry.st.st_uid);
    if (r < 0)
        return r;
    return same_parent && strcmp(name, old->name) == 0 ? PLACE_HERE : PLACE_ELSEWHERE;
}

/* Which rules hold in a directory may have been learned by the name that goes. */
static int rule_anew(struct index *index, const struct file_key *directory)
{
    struct stat st;
    if (!ignored_by_place(index->ignored))
        return 0;
    _cleanup_close_ int fd = open_soon_committing(index, directory);
    const bool is_known = fd >= 0 && fstat(fd, &st) == 0;
    return ignored_moved(index, directory, is_known ? st.st_uid : FILE_ROW_NOBODY, true);
}

int moved_directory_look(struct index *index, const struct file_key *directory,
                         const struct catalogue_name *old, bool old_parent_goes, bool far)
{
    unsigned left = climb_max(far);
    int r = as_far(far, other_names_lead_up(index->kv, backing_root_key(index->backing), directory,
                                            old, &left));
    if (r > 0 && (r = rule_anew(index, directory)) == 0)
        return PLACE_ELSEWHERE;
    if (r < 0)
        return r;
    ignored_forget(index->ignored, directory);
    return follow(index, directory, old, old_parent_goes, far);
}
