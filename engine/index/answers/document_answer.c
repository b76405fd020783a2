/* A single document: whether what is known of it is of its content of now. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/mounts/mount_point.h"
#include "base/proc_path.h"
#include "engine/index/answers/answer.h"
#include "engine/index/intake/open_soon.h"

static int stat_key(struct index *index, const struct file_key *file, struct looking *looking,
                    struct stat *ret_st)
{
    _cleanup_(opened_close) struct opened opened = {
        index, open_document_soon(index, looking, file, O_PATH | O_CLOEXEC)};
    if (opened.fd < 0)
        return opened.fd == -ESTALE ? -ENOENT : opened.fd;
    return fstat(opened.fd, ret_st) < 0 ? -errno : 0;
}

int index_look(struct index *index, const struct file_key *file, struct stat *ret_st)
{
    return stat_key(index, file, NULL, ret_st);
}

static bool is_of_now(struct index *index, const struct file_key *file, const struct file_row *row,
                      const struct stat *st)
{
    /* Read while it was written: now that it is not, size and times tell nothing. */
    return file_row_matches(row, st) && (!row->racy || writing_set_has(index->writing, file));
}

/* A file that came behind our back, perhaps in a directory that did: note every name on the way to
 * it. Where the kernel does not know its path (any more), the next scan finds it, or whoever looks
 * at the last name that was noted: one who asks waits for no directory that may be locked. True:
 * one of the names is left out, as far as that is known, and so is the file. */
static bool note_path(struct index *index, const struct file_key *file, struct looking *looking)
{
    char root[PATH_MAX], path[PATH_MAX], *name, *rest = NULL;
    struct file_key parent = *backing_root_key(index->backing);
    _cleanup_(opened_close) struct opened opened = {
        index, open_document_soon(index, looking, file, O_PATH | O_CLOEXEC)};
    _cleanup_close_ int dirfd = dup(backing_root_fd(index->backing));
    if (opened.fd < 0 || dirfd < 0 || proc_path_read(opened.fd, path) < 0 ||
        proc_path_read(dirfd, root) < 0)
        return false;
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(path, root, n) != 0 || path[n] != '/')
        return false;
    for (name = strtok_r(path + n, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
        if (ignored_ask(index, &parent, name, *rest, false) == 1)
            return true;
        index_note_entry(index, &parent, name);
        int fd = mount_point_avoid_cached(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || backing_key_at(index->backing, fd, "", &parent) < 0) {
            if (fd >= 0)
                close(fd);
            return false;
        }
        close(dirfd);
        dirfd = fd;
    }
    return false;
}

/* Have a file looked at again that was changed, or made, by nobody who told us. True: it is left
 * out. */
static bool note_changed(struct index *index, const struct file_key *file, struct looking *looking)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    if (catalogue_links(index->kv, file, 1, &links) == 0 && links.n_entries == 0 &&
        note_path(index, file, looking))
        return true;
    index_note_content(index, file);
    return false;
}

static void say_left_out(struct document_info *info)
{
    info->state = DOCUMENT_SKIPPED;
    info->settled = true;
    snprintf(info->reason, sizeof(info->reason),
             "left out (by .kinfsignore, by exclude, or as never a document)");
}

static bool is_current(struct index *index, const struct file_key *file, uint64_t sid,
                       struct looking *looking, struct stat *ret_st)
{
    struct file_row row;
    if (stat_key(index, file, looking, ret_st) == 0 &&
        catalogue_get_file(index->kv, file, &row) == 0 && row.sid == sid &&
        is_of_now(index, file, &row, ret_st))
        return true;
    note_changed(index, file, looking);
    return false;
}

bool answer_is_current(struct index *index, const struct file_key *file, uint64_t sid,
                       struct looking *looking)
{
    struct stat st;
    return is_current(index, file, sid, looking, &st);
}

bool answer_is_certain(struct index *index, const struct file_key *file, uint64_t sid,
                       struct looking *looking, struct stat *ret_st)
{
    return !writing_set_has(index->writing, file) && is_current(index, file, sid, looking, ret_st);
}

/* The row of a file, in the order of answer.h as if it were its record: the reason for which a
 * document was skipped tells of its contents, too. Returns 1, 0 when the row is not of the file as
 * it is now, -ENOENT when the asker may not be told of it, or an error. */
static int get_row(struct index *index, const struct file_key *file,
                   const struct index_query *query, struct file_row *ret_row)
{
    struct stat st;
    int r = catalogue_get_file(index->kv, file, ret_row);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    const int may = answer_may_ask(index, file, query);
    r = stat_key(index, file, query->looking, &st);
    if (r < 0 || !is_of_now(index, file, ret_row, &st))
        return r;
    return may < 0 ? may : 1;
}

int index_document(struct index *index, const struct file_key *file,
                   const struct index_query *query, struct document_info *ret_info)
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
    int r = stat_key(index, file, query->looking, &st);
    if (r == 0 && !S_ISREG(st.st_mode))
        r = -ENOENT;
    if (r < 0)
        return r;
    info.settled = index_settle(index, INDEX_LANE_FOREGROUND, query->wait_ms) == 0;
    r = get_row(index, file, query, &row);
    if (r == 0 && index->started) {
        if (note_changed(index, file, query->looking)) {
            say_left_out(&info);
            *ret_info = info;
            return 0;
        }
        info.settled = index_settle(index, INDEX_LANE_FOREGROUND, query->wait_ms) == 0;
        r = get_row(index, file, query, &row);
    }
    if (r < 0)
        return r;
    if (r > 0)
        info.state = row.sid ? DOCUMENT_CURRENT : DOCUMENT_SKIPPED;
    if (info.state == DOCUMENT_SKIPPED)
        snprintf(info.reason, sizeof(info.reason), "%s", row.reason);
    r = answer_document(index, file, query, &document);
    if (r == 0) {
        _Static_assert(sizeof(info.type) == TEXT_FORM_MAX_BYTES, "room");
        text_form_print(&document.record->form, info.type);
        info.n_tokens = document.record->sketch.n_tokens;
    }
    if (r == 0 && !query->may_read) {
        r = living_clusters_of(index->clusters, document.sid, &info.cluster_id, &info.cluster_size);
        info.repairing = living_clusters_is_dirty(index->clusters, info.cluster_id);
        info.cluster_id = shown_ids_show(&index->shown_ids, info.cluster_id);
    }
    if (r < 0 && r != -ENOENT && r != -ESTALE)
        return r;
    *ret_info = info;
    return 0;
}

int index_cluster_of(struct index *index, const struct file_key *file, uint64_t base,
                     uint64_t *ret_id)
{
    _cleanup_(document_done) struct document document = {0};
    uint64_t id = 0, size;
    int r = answer_document(index, file, &(struct index_query){0}, &document);
    if (r == 0)
        r = living_clusters_of_in(index->clusters, cluster_clustering(base), document.sid, &id,
                                  &size);
    if (r == 0)
        *ret_id = shown_ids_show(&index->shown_ids, id);
    return r;
}
