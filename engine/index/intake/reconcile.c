/* One entry of the tree against the catalogue. The tree is always right: whatever a notice said,
 * the entry is looked at as it is now, so notices may come late, twice or not at all.
 *
 * Removal goes from below: first the document that hangs on an entry, then the entry itself. A
 * crash in between leaves an entry that the next scan removes again. Only what hangs on a directory
 * goes after its entry (directory_removal.h). A directory that lives on elsewhere is moved, not
 * removed. Two that changed places have for a moment one name between them, and of what lies far
 * down it takes time to tell whether it is in the tree: such a directory is let go, and looked for
 * later.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/mounts/mount_point.h"
#include "base/proc_path.h"
#include "base/room.h"
#include "engine/index/catalogue/other_names.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/declared.h"
#include "engine/index/intake/directory_removal.h"
#include "engine/index/intake/open_soon.h"
#include "engine/index/intake/past/leaving.h"
#include "engine/index/intake/moved_directory.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/reconcile_private.h"
#include "engine/index/intake/told_path.h"

int reconcile_write(struct index *index, const struct kv_batch *batch)
{
    int r = index->topics && kv_batch_count(batch) ? topics_names_change(index->topics) : 0;
    return r < 0 ? r : kv_apply(index->kv, batch);
}

static int put_entry(struct index *index, const struct file_key *parent, const char *name,
                     const struct file_key *child, enum entry_type type)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    catalogue_put(batch, parent, name, child, type);
    return reconcile_write(index, batch);
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
    return reconcile_write(index, batch);
}

int reconcile_is_known(struct index *index, const struct file_key *directory)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    if (file_key_equal(directory, backing_root_key(index->backing)))
        return 1;
    int r = catalogue_links(index->kv, directory, 1, &links);
    return r < 0 ? r : links.n_entries > 0;
}

bool index_has(struct index *index, const struct file_key *key)
{
    return reconcile_is_known(index, key) != 0; /* in doubt a notice too many */
}

bool index_file_at(struct index *index, const struct file_key *parent, const char *name,
                   struct file_key *ret_file)
{
    enum entry_type type;
    return catalogue_get(index->kv, parent, name, ret_file, &type) == 0 && type == ENTRY_FILE;
}

/* The path of a name that is about to go; NULL: it is not known. 0, or a store error. */
static int path_of_going(struct index *index, const struct file_key *parent, const char *name,
                         char **ret_path)
{
    int r = leaving_path(index, parent, name, ret_path);
    return r == -ENOENT ? 0 : r;
}

/* Returns enum place, PLACE_HERE when the name is right and else it is to go, or an error. */
static int release_directory(struct index *index, const struct file_key *parent, const char *name,
                             const struct file_key *directory, bool parent_goes, const char *path)
{
    const struct catalogue_name going = {parent, name};
    int r = moved_directory_look(index, directory, &going, parent_goes, false);
    int noted = 0;
    if (r == PLACE_GONE)
        noted = directory_removal_add(index, directory, path);
    else if (r == -E2BIG)
        noted = directory_removal_let_go(index, directory, path);
    return noted < 0 ? noted : r == -E2BIG ? PLACE_GONE : r;
}

static int remove_directory(struct index *index, const struct file_key *parent, const char *name,
                            const struct file_key *child, bool parent_goes)
{
    _cleanup_free_ char *path = NULL;
    int r = path_of_going(index, parent, name, &path);
    if (r < 0)
        return r;
    const int place = release_directory(index, parent, name, child, parent_goes, path);
    if (place < 0 || place == PLACE_HERE)
        return place < 0 ? place : 0;
    r = drop_entry(index, parent, name, child);
    return r < 0 || place == PLACE_GONE ? r : leaving_note_directory(index, child, path);
}

static int remove_file(struct index *index, const struct file_key *parent, const char *name,
                       const struct file_key *child)
{
    const struct catalogue_entry entry = {*parent, *child, ENTRY_FILE, (char *)name};
    const struct catalogue_entry *const place = &entry;
    int r = other_names_exist(index->kv, child, &(struct catalogue_name){parent, name}, 1);
    if (r == 0)
        r = commit_drop_documents(index, child, &place, 1);
    else if (r > 0)
        r = leaving_note_moved(index, &place, 1);
    return r < 0 ? r : drop_entry(index, parent, name, child);
}

int reconcile_remove_entry(struct index *index, const struct file_key *parent, const char *name,
                           const struct file_key *child, enum entry_type type, bool parent_goes)
{
    return type == ENTRY_DIRECTORY ? remove_directory(index, parent, name, child, parent_goes)
                                   : remove_file(index, parent, name, child);
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
    if (catalogue_get(index->kv, parent, name, &known, &type) != 0)
        return;
    _cleanup_free_ char *told = told_path_below(index, parent, name);
    if (told)
        messages_warn(
            &index->messages,
            "%s: left out while something is mounted over it; unmount that to have it back", told);
}

/* As it is known here: a server that does not answer is not asked. */
static uint64_t born_ns(int fd)
{
    struct statx sx;
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BTIME, &sx) == 0 &&
                   sx.stx_mask & STATX_BTIME
               ? (uint64_t)sx.stx_btime.tv_sec * 1000000000u + sx.stx_btime.tv_nsec
               : 0;
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
    _cleanup_(opened_close) struct opened opened = {
        index, (may_wait ? mount_point_avoid
                         : mount_point_avoid_cached)(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    const int fd = opened.fd;
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
    entry.born_ns = directory ? born_ns(fd) : 0;
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

/* A name means another inode now; it was a directory's, which may live on. */
static int replace_directory(struct index *index, const struct file_key *parent, const char *name,
                             const struct file_key *directory, const struct tree_entry *entry)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_free_ char *path = NULL;
    int r = batch ? path_of_going(index, parent, name, &path) : -ENOMEM;
    if (r == 0)
        r = directory_removal_let_go(index, directory, path);
    if (r < 0)
        return r;
    catalogue_delete_link(batch, parent, name, directory);
    catalogue_put(batch, parent, name, &entry->key, entry->type);
    return reconcile_write(index, batch);
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
    r = there && type == ENTRY_FILE && entry->type == ENTRY_FILE
            ? declared_carry(index, parent, name, &known, &entry->key, false)
            : 0;
    if (r == 0 && there)
        r = reconcile_remove(index, parent, name, &known, type);
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
    const bool is_whole = row->sid ? index_has_all(index, row->sid) : index_left_out_type(row);
    return !is_whole || row->racy || row->extractors_id != extractors_id(index->extractors) ||
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
