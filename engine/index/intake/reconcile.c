/* One entry of the tree against the catalogue. The tree is always right: whatever a notice said,
 * the entry is looked at as it is now, so notices may come late, twice or not at all.
 *
 * What is removed is removed from below: first the document that hangs on an entry, then the entry
 * itself. A crash in between leaves an entry that the next scan removes again. Only what hangs on a
 * directory goes after its entry (directory_removal.h). A directory that lives on elsewhere is
 * moved, not removed; two that changed places have for a moment one name between them, and of what
 * lies far down it takes time to tell whether it is in the tree, so TABLE_INTENTS keeps what is to
 * be taken off:
 *
 *   "moved" | child key | parent key | name -> nothing        (keys with their size before them)
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/escape.h"
#include "base/mounts/mount_point.h"
#include "base/proc_path.h"
#include "base/room.h"
#include "engine/index/catalogue/other_names.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/reconcile_private.h"
#include "engine/index/intake/directory_removal.h"

static int put_entry(struct index *index, const struct file_key *parent, const char *name,
                     const struct file_key *child, enum entry_type type)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    catalogue_put(batch, parent, name, child, type);
    return kv_apply(index->kv, batch);
}

/* Take an inode off a name, which may be another's already. */
static int drop_entry(struct index *index, const struct file_key *parent, const char *name,
                      const struct file_key *child)
{
    struct file_key known;
    enum entry_type type;
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    int r = catalogue_get(index->kv, parent, name, &known, &type);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == 0 && !file_key_equal(&known, child))
        catalogue_delete_link(batch, parent, name, child);
    else
        catalogue_delete(batch, parent, name, child);
    return kv_apply(index->kv, batch);
}

int reconcile_is_known(struct index *index, const struct file_key *directory)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    if (file_key_equal(directory, backing_root_key(index->backing)))
        return 1;
    int r = catalogue_links(index->kv, directory, 1, &links);
    return r < 0 ? r : links.n_entries > 0;
}

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

static int find_directory(struct index *index, const struct file_key *directory,
                          struct file_key *ret_parent, char **ret_name, struct stat *ret_stat)
{
    enum { TRIES = 100 };
    _cleanup_close_ int fd =
        backing_open_key(index->backing, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 ? fd : -EAGAIN;
    for (int i = 0; r == -EAGAIN && i < TRIES; i++)
        r = try_to_find(index, directory, fd, ret_parent, ret_name, ret_stat);
    return r;
}

static int note_moved(struct index *index, bool put, const struct file_key *parent,
                      const char *name, const struct file_key *directory);
static int push_moved(struct index *index, const struct file_key *parent, const char *name,
                      const struct file_key *directory);

static unsigned climb_max(const struct index *index)
{
    return index->climbs_far ? CLIMB_FAR : CLIMB_NEAR;
}

/* What is too far to climb is no path to the root; -E2BIG: to be climbed later. */
static int as_far(const struct index *index, int r)
{
    return r == -E2BIG && index->climbs_far ? 0 : r;
}

/* The place of a directory that may have lost its name. */
enum place { PLACE_GONE, PLACE_ELSEWHERE, PLACE_HERE };

/* A directory that lives on is put where it is, with all that is below it: in an exchange, or when
 * names change faster than they are looked at, the notice of its new name is still to come, or it
 * is back before it was missed. Not in what was below itself: that has moved, too, perhaps out of
 * the tree, and else a scan finds both. Returns an enum place, -E2BIG (climb_max()), or an error.
 */
static int follow_directory(struct index *index, const struct file_key *directory,
                            const struct file_key *old_parent, const char *old_name,
                            bool old_parent_goes)
{
    struct file_key parent;
    struct tree_entry entry = {.key = *directory, .type = ENTRY_DIRECTORY};
    _cleanup_free_ char *name = NULL;
    int r = find_directory(index, directory, &parent, &name, &entry.st);
    if (r == -EAGAIN) { /* it never stands still; what moves it notes it */
        index_rescan(index);
        return old_parent_goes ? PLACE_GONE : PLACE_HERE;
    }
    if (r < 0)
        return r == -ENOMEM ? r : PLACE_GONE;
    bool same_parent = file_key_equal(&parent, old_parent);
    if (same_parent && old_parent_goes)
        return PLACE_GONE;
    unsigned left = climb_max(index);
    r = as_far(index, directory_leads_up(index->kv, backing_root_key(index->backing), &parent,
                                         directory, &left));
    if (r == 0 && (r = reconcile_is_known(index, &parent)) > 0) {
        index_rescan(index);
        return PLACE_GONE;
    }
    if (r <= 0)
        return r < 0 ? r : PLACE_GONE;
    /* Where that is not known without waiting, a scan finds it. */
    r = ignored_ask(index, &parent, name, true, false);
    if (r == -EAGAIN)
        index_rescan(index);
    else if (r != 0)
        return r < 0 ? r : PLACE_GONE;
    r = reconcile_put(index, &parent, name, &entry);
    if (r > 0)
        r = scan_join_moved(index, directory, entry.st.st_uid);
    if (r < 0)
        return r;
    return same_parent && strcmp(name, old_name) == 0 ? PLACE_HERE : PLACE_ELSEWHERE;
}

/* Returns 1 when the name is to go, 0 when it is right, -E2BIG (climb_max()), or an error. */
static int release_directory(struct index *index, const struct file_key *parent, const char *name,
                             const struct file_key *directory, bool parent_goes)
{
    unsigned left = climb_max(index);
    int r =
        as_far(index, other_names_lead_up(index->kv, backing_root_key(index->backing), directory,
                                          &(struct catalogue_name){parent, name}, &left));
    if (r != 0)
        return r;
    ignored_forget(index->ignored, directory);
    r = follow_directory(index, directory, parent, name, parent_goes);
    if (r == PLACE_HERE)
        return 0;
    if (r == PLACE_GONE)
        r = directory_removal_add(index, directory);
    return r < 0 ? r : 1;
}

/* Behind what users do. */
static int take_off_later(struct index *index, const struct file_key *parent, const char *name,
                          const struct file_key *directory)
{
    int r = note_moved(index, true, parent, name, directory);
    if (r == 0)
        r = push_moved(index, parent, name, directory);
    if (r == 0)
        directory_removal_go_on(index);
    return r;
}

int reconcile_remove_entry(struct index *index, const struct file_key *parent, const char *name,
                           const struct file_key *child, enum entry_type type, bool parent_goes)
{
    int r;
    if (type == ENTRY_DIRECTORY) {
        r = release_directory(index, parent, name, child, parent_goes);
        if (r == -E2BIG && !index->takes_off)
            return take_off_later(index, parent, name, child);
        if (r == 0)
            return 0;
    } else {
        r = other_names_exist(index->kv, child, &(struct catalogue_name){parent, name}, 1);
        if (r == 0)
            r = commit_drop_document(index, child);
    }
    return r < 0 ? r : drop_entry(index, parent, name, child);
}

int reconcile_remove(struct index *index, const struct file_key *parent, const char *name,
                     const struct file_key *child, enum entry_type type)
{
    return reconcile_remove_entry(index, parent, name, child, type, false);
}

void reconcile_tell_covered(struct index *index, const struct file_key *parent, const char *name)
{
    struct file_key known;
    enum entry_type type;
    _cleanup_free_ char *directory = NULL, *path = NULL, *escaped = NULL;
    if (catalogue_get(index->kv, parent, name, &known, &type) == 0 &&
        index_path(index, parent, &directory) == 0 &&
        asprintf(&path, "%s%s%s", directory, *directory ? "/" : "", name) >= 0 &&
        escape_name(path, &escaped) == 0)
        messages_warn(
            &index->messages,
            "%s: left out while something is mounted over it; unmount that to have it back",
            escaped);
}

static int look_as(bool may_wait, struct index *index, const struct file_key *parent, int dirfd,
                   const char *name, struct tree_entry *ret_entry)
{
    struct tree_entry entry = {0};
    struct stat st;
    /* The mount has its own of that name, so nobody could follow a link there. */
    if (strcmp(name, ".kinfs") == 0 && file_key_equal(parent, backing_root_key(index->backing)))
        return -ENOENT;
    /* Another file system, or a part of this one seen a second time: served, but not indexed. */
    _cleanup_close_ int fd = (may_wait ? mount_point_avoid : mount_point_avoid_cached)(
        dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    bool directory = S_ISDIR(st.st_mode);
    if (!directory && !S_ISREG(st.st_mode))
        return -ENOENT;
    int r = ignored_ask(index, parent, name, directory, may_wait);
    if (r != 0)
        return r > 0 ? -ENOENT : r;
    r = backing_key_at(index->backing, fd, "", &entry.key);
    if (r < 0)
        return r;
    if (index->store_key.size_bytes && file_key_equal(&entry.key, &index->store_key))
        return -ENOENT;
    entry.type = directory ? ENTRY_DIRECTORY : ENTRY_FILE;
    entry.st = st;
    *ret_entry = entry;
    return 0;
}

int reconcile_look(struct index *index, const struct file_key *parent, int dirfd, const char *name,
                   struct tree_entry *ret_entry)
{
    return look_as(true, index, parent, dirfd, name, ret_entry);
}

int reconcile_look_cached(struct index *index, const struct file_key *parent, int dirfd,
                          const char *name, struct tree_entry *ret_entry)
{
    return look_as(false, index, parent, dirfd, name, ret_entry);
}

/* -- what is to be taken off a name -- */

static const char moved[] = "moved"; /* without its NUL */

struct moved_key {
    uint8_t bytes[CATALOGUE_LINK_KEY_MAX + sizeof(moved)];
    size_t size_bytes;
};

static struct moved_key moved_key(const struct file_key *parent, const char *name,
                                  const struct file_key *child)
{
    struct moved_key key = {.size_bytes = sizeof(moved) - 1};
    memcpy(key.bytes, moved, sizeof(moved) - 1);
    key.size_bytes += catalogue_link_key(child, parent, name, key.bytes + key.size_bytes);
    return key;
}

int reconcile_intend(struct index *index, bool put, struct kv_slice key)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    if (put)
        kv_batch_put(batch, TABLE_INTENTS, key, (struct kv_slice){"", 0});
    else
        kv_batch_delete(batch, TABLE_INTENTS, key);
    return kv_apply(index->kv, batch);
}

static int note_moved(struct index *index, bool put, const struct file_key *parent,
                      const char *name, const struct file_key *directory)
{
    struct moved_key key = moved_key(parent, name, directory);
    return reconcile_intend(index, put, (struct kv_slice){key.bytes, key.size_bytes});
}

static int push_moved(struct index *index, const struct file_key *parent, const char *name,
                      const struct file_key *directory)
{
    if (!MAKE_ROOM(index->moved, index->max_moved, index->n_moved + 1))
        return -ENOMEM;
    struct catalogue_entry *entry = &index->moved[index->n_moved];
    *entry = (struct catalogue_entry){*parent, *directory, ENTRY_DIRECTORY, strdup(name)};
    if (!entry->name)
        return -ENOMEM;
    index->n_moved++;
    return 0;
}

/* Where one is put in the place of another that is put in the place of a third, and so on, each is
 * the next to be taken off: of any number, and not one within the other. */
int reconcile_take_off_moved(struct index *index, size_t most, bool far)
{
    int r = 0;
    index->takes_off = true;
    index->climbs_far = far;
    for (; r == 0 && index->n_moved && most; most--) {
        struct catalogue_entry entry = index->moved[--index->n_moved];
        r = reconcile_remove(index, &entry.parent, entry.name, &entry.child, ENTRY_DIRECTORY);
        if (r == 0)
            r = note_moved(index, false, &entry.parent, entry.name, &entry.child);
        if (r < 0) /* when the store can be written again, or it is climbed far */
            (void)push_moved(index, &entry.parent, entry.name, &entry.child);
        free(entry.name);
    }
    index->takes_off = index->climbs_far = false;
    return r == -E2BIG ? 0 : r;
}

void reconcile_moved_done(struct index *index)
{
    while (index->n_moved)
        free(index->moved[--index->n_moved].name);
    free(index->moved);
    index->moved = NULL;
    index->max_moved = 0;
}

int reconcile_each_intent(struct index *index, const char *prefix,
                          int (*take)(struct index *index, struct kv_slice rest))
{
    enum { PAGE_ENTRIES = 256 };
    const size_t n_prefix = strlen(prefix);
    struct kv_range range;
    _cleanup_(kv_buf_done) struct kv_buf to = {0}, from = {0};
    int r = kv_prefix_range((struct kv_slice){prefix, n_prefix}, &range, &to);
    for (bool more = true; r == 0 && more;) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        r = kv_scan(index->kv, TABLE_INTENTS, &range, PAGE_ENTRIES, &page);
        for (size_t i = 0; r == 0 && i < page.n_entries; i++) {
            const struct kv_slice key = page.entries[i].key;
            r = take(index, (struct kv_slice){(const uint8_t *)key.data + n_prefix,
                                              key.size_bytes - n_prefix});
        }
        more = r == 0 && page.more && page.n_entries > 0;
        if (more) {
            kv_buf_done(&from);
            r = kv_page_cursor(&page, &from);
            range.from = kv_buf_slice(&from);
        }
    }
    return r;
}

static int push_intent(struct index *index, struct kv_slice link)
{
    _cleanup_(catalogue_entry_done) struct catalogue_entry entry = {0};
    int r = catalogue_decode_link(link, &entry);
    return r < 0 ? r : push_moved(index, &entry.parent, entry.name, &entry.child);
}

int reconcile_recover(struct index *index)
{
    int r = reconcile_each_intent(index, moved, push_intent);
    if (r == 0)
        r = reconcile_take_off_moved(index, SIZE_MAX, false);
    if (index->n_moved)
        directory_removal_go_on(index);
    return r;
}

/* A name means another inode now; it was a directory's, which may live on. Of very many that follow
 * each from another some are taken off at once. */
static int replace_directory(struct index *index, const struct file_key *parent, const char *name,
                             const struct file_key *directory, const struct tree_entry *entry)
{
    enum { AT_ONCE = 8 };
    int r = note_moved(index, true, parent, name, directory);
    if (r == 0)
        r = put_entry(index, parent, name, &entry->key, entry->type);
    if (r == 0)
        r = push_moved(index, parent, name, directory);
    if (r < 0 || index->takes_off)
        return r;
    r = reconcile_take_off_moved(index, AT_ONCE, false);
    if (index->n_moved)
        directory_removal_go_on(index);
    return r;
}

int reconcile_put(struct index *index, const struct file_key *parent, const char *name,
                  const struct tree_entry *entry)
{
    struct file_key known;
    enum entry_type type;
    int r = catalogue_get(index->kv, parent, name, &known, &type);
    if (r < 0 && r != -ENOENT)
        return r;
    bool there = r == 0, same = there && file_key_equal(&known, &entry->key) && type == entry->type;
    if (same)
        return 0;
    if (there && type == ENTRY_DIRECTORY && !file_key_equal(&known, &entry->key)) {
        r = replace_directory(index, parent, name, &known, entry);
        return r < 0 ? r : 1;
    }
    r = there ? reconcile_remove(index, parent, name, &known, type) : 0;
    if (r == 0)
        r = put_entry(index, parent, name, &entry->key, entry->type);
    return r < 0 ? r : 1;
}

int reconcile_add(const struct file_key *parent, const char *name, const struct tree_entry *entry,
                  const struct catalogue_meaning *known, struct kv_batch *batch)
{
    if (known->exists)
        return file_key_equal(&known->child, &entry->key) && known->type == entry->type ? 0
                                                                                        : -EEXIST;
    catalogue_put(batch, parent, name, &entry->key, entry->type);
    return 1;
}

static enum stored_state state_by(const struct index *index, const struct file_row *row,
                                  const struct tree_entry *entry)
{
    return !row->sid || row->racy || row->extractors_id != extractors_id(index->extractors) ||
                   !file_row_matches(row, &entry->st) ||
                   index_leaves_out_size(index, (uint64_t)entry->st.st_size)
               ? STORED_OLD
               : STORED_CURRENT;
}

static enum stored_state state_of(struct index *index, const struct tree_entry *entry)
{
    struct file_row row;
    int r = catalogue_get_file(index->kv, &entry->key, &row);
    return r == -ENOENT ? STORED_NOT : r < 0 ? STORED_OLD : state_by(index, &row, entry);
}

void reconcile_states(struct index *index, const struct tree_entry *const *entries, size_t n,
                      enum stored_state *ret_states)
{
    const struct file_key *files[CATALOGUE_AT_ONCE];
    struct file_row rows[CATALOGUE_AT_ONCE];
    bool exist[CATALOGUE_AT_ONCE];
    for (size_t at = 0; at < n; at += CATALOGUE_AT_ONCE) {
        size_t n_some = n - at < CATALOGUE_AT_ONCE ? n - at : CATALOGUE_AT_ONCE;
        for (size_t i = 0; i < n_some; i++)
            files[i] = &entries[at + i]->key;
        int r = catalogue_get_files(index->kv, files, n_some, rows, exist);
        for (size_t i = 0; i < n_some; i++)
            ret_states[at + i] = r < 0      ? state_of(index, entries[at + i])
                                 : exist[i] ? state_by(index, &rows[i], entries[at + i])
                                            : STORED_NOT;
    }
}

bool reconcile_may_pass_over(int error)
{
    switch (error) {
    case -EACCES:
    case -EPERM:
    case -ENOENT:
    case -ESTALE:
    case -ENOTDIR:
    case -ELOOP:
    case -ENAMETOOLONG: return true;
    default: return false;
    }
}
