/* A single document: whether what is known of it is of its content of now. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/mount_point.h"
#include "base/proc_path.h"
#include "engine/index/answer.h"

static int stat_key(struct index *index, const struct file_key *file, struct stat *ret_st)
{
    _cleanup_close_ int fd = worker_open(index, file, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return fd == -ESTALE ? -ENOENT : fd;
    return fstat(fd, ret_st) < 0 ? -errno : 0;
}

static bool is_current(struct index *index, const struct file_key *file, const struct stat *st,
                       struct file_row *ret_row)
{
    if (catalogue_get_file(index->kv, file, ret_row) < 0 || !file_row_matches(ret_row, st))
        return false;
    /* Read while it was written: now that it is not, size and times tell nothing. */
    return !ret_row->racy || writing_set_has(index->writing, file);
}

/* A file that came behind our back, perhaps in a directory that did: note every name on the way to
 * it. Where the kernel does not know its path (any more), the next scan finds it. */
static void note_path(struct index *index, const struct file_key *file)
{
    char root[PATH_MAX], path[PATH_MAX], *name, *rest = NULL;
    struct file_key parent = *backing_root_key(index->backing);
    _cleanup_close_ int file_fd = worker_open(index, file, O_PATH | O_CLOEXEC);
    _cleanup_close_ int dirfd = dup(backing_root_fd(index->backing));
    if (file_fd < 0 || dirfd < 0 || proc_path_read(file_fd, path) < 0 ||
        proc_path_read(dirfd, root) < 0)
        return;
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(path, root, n) != 0 || path[n] != '/')
        return;
    for (name = strtok_r(path + n, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
        index_note_entry(index, &parent, name);
        int fd = mount_point_avoid(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || backing_key_at(index->backing, fd, "", &parent) < 0) {
            if (fd >= 0)
                close(fd);
            return;
        }
        close(dirfd);
        dirfd = fd;
    }
}

/* Have a file looked at again that was changed, or made, by nobody who told us. */
static void note_changed(struct index *index, const struct file_key *file)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    if (catalogue_links(index->kv, file, 1, &links) == 0 && links.n_entries == 0)
        note_path(index, file);
    index_note_content(index, file);
}

bool answer_is_current(struct index *index, const struct file_key *file)
{
    struct file_row row;
    struct stat st;
    if (stat_key(index, file, &st) == 0 && is_current(index, file, &st, &row))
        return true;
    note_changed(index, file);
    return false;
}

int index_document(struct index *index, const struct file_key *file, int wait_ms,
                   struct document_info *ret_info)
{
    _cleanup_(document_done) struct document document = {0};
    struct document_info info = {.state = DOCUMENT_PENDING};
    struct file_row row;
    struct stat st;

    if (backing_key_is_nested(index->backing, file)) {
        info.state = DOCUMENT_SKIPPED;
        info.settled = true;
        snprintf(info.reason, sizeof(info.reason), "in a mount inside the tree");
        *ret_info = info;
        return 0;
    }
    int r = stat_key(index, file, &st);
    if (r == 0 && !S_ISREG(st.st_mode))
        r = -ENOENT;
    if (r < 0)
        return r;
    info.settled = index_settle(index, INDEX_LANE_FOREGROUND, wait_ms) == 0;
    bool current = is_current(index, file, &st, &row);
    if (!current && index->started) {
        note_changed(index, file);
        info.settled = index_settle(index, INDEX_LANE_FOREGROUND, wait_ms) == 0;
        r = stat_key(index, file, &st);
        if (r < 0)
            return r;
        current = is_current(index, file, &st, &row);
    }
    if (current)
        info.state = row.sid ? DOCUMENT_CURRENT : DOCUMENT_SKIPPED;
    if (info.state == DOCUMENT_SKIPPED)
        snprintf(info.reason, sizeof(info.reason), "%s", row.reason);
    r = answer_document(index, file, &document);
    if (r == 0) {
        _Static_assert(sizeof(info.type) == TEXT_FORM_MAX_BYTES, "room");
        text_form_print(&document.record->form, info.type);
        info.n_tokens = document.record->sketch.n_tokens;
        r = living_clusters_of(index->clusters, document.sid, &info.cluster_id, &info.cluster_size);
        info.repairing = living_clusters_is_repairing(index->clusters, info.cluster_id);
        info.cluster_id = shown_ids_show(&index->shown_ids, info.cluster_id);
    }
    if (r < 0 && r != -ENOENT)
        return r;
    *ret_info = info;
    return 0;
}

int index_cluster_of(struct index *index, const struct file_key *file, uint64_t base,
                     uint64_t *ret_id)
{
    _cleanup_(document_done) struct document document = {0};
    uint64_t id = 0, size;
    int r = answer_document(index, file, &document);
    if (r == 0)
        r = living_clusters_of_in(index->clusters, cluster_clustering(base), document.sid, &id,
                                  &size);
    if (r == 0)
        *ret_id = shown_ids_show(&index->shown_ids, id);
    return r;
}
