/* Notices tell the index what has changed, or may have. */
#include <errno.h>
#include <string.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/notices.h"

void index_rescan(struct index *index)
{
    LOCKED(&index->lock);
    index->rescan_wanted = !index->damaged;
    pthread_cond_signal(&index->wake_committer);
}

void index_meet_damage(struct index *index)
{
    LOCKED(&index->lock);
    index->damage_is_met = true;
    pthread_cond_signal(&index->wake_committer);
}

bool index_is_rescan_wanted(struct index *index)
{
    return index->rescan_wanted || (!index->damaged && change_queue_wants_scan(index->queue));
}

/* A change for which there was no room is left to a scan. */
static bool is_noted(struct index *index, int noted)
{
    const bool is_full = noted == -ENOBUFS || noted == -ENOMEM;
    if (is_full)
        index_rescan(index);
    return !is_full;
}

bool index_note(struct index *index, enum change_kind kind, const struct file_key *key,
                const char *name, uid_t owner, const struct change *whole)
{
    return is_noted(
        index, change_queue_note(index->queue, LANE_FOREGROUND, kind, key, name, owner, whole));
}

void index_note_unknown(struct index *index, const struct file_key *file, uid_t owner,
                        const struct change *whole)
{
    is_noted(index, change_queue_note_unknown(index->queue, LANE_FOREGROUND, file, owner, whole));
}

void index_note_entry_by(struct index *index, uid_t user, const struct file_key *parent,
                         const char *name)
{
    if (catalogue_is_name(name, strlen(name)))
        index_note(index, CHANGE_ENTRY, parent, name, user, NULL);
}

void index_note_entry(struct index *index, const struct file_key *parent, const char *name)
{
    index_note_entry_by(index, FILE_ROW_NOBODY, parent, name);
}

void index_note_rename(struct index *index, uid_t user, const struct file_key *old_parent,
                       const char *old_name, const struct file_key *new_parent,
                       const char *new_name)
{
    index_note_entry_by(index, user, new_parent, new_name);
    index_note_entry_by(index, user, old_parent, old_name);
}

void index_note_content_by(struct index *index, uid_t user, const struct file_key *file)
{
    /* A mount inside the tree is not read: it may be anybody's, and never answer. */
    if (file_key_same_file_system(file, backing_root_key(index->backing)))
        index_note(index, CHANGE_CONTENT, file, NULL, user, NULL);
}

void index_note_content(struct index *index, const struct file_key *file)
{
    index_note_content_by(index, FILE_ROW_NOBODY, file);
}

void index_note_written_by(struct index *index, const struct file_key *file, uid_t owner,
                           const struct change *whole)
{
    is_noted(index,
             change_queue_note_written(index->queue, CHANGE_CONTENT, file, NULL, owner, whole));
}

void index_note_written(struct index *index, uid_t user, const struct file_key *file)
{
    if (file_key_same_file_system(file, backing_root_key(index->backing)))
        index_note_written_by(index, file, user, NULL);
}

void index_note_entry_written(struct index *index, const struct file_key *parent, const char *name)
{
    if (catalogue_is_name(name, strlen(name)))
        is_noted(index, change_queue_note_written(index->queue, CHANGE_ENTRY, parent, name,
                                                  FILE_ROW_NOBODY, NULL));
}

uid_t index_owner(struct index *index, const struct file_key *file)
{
    struct file_row row;
    return catalogue_get_file(index->kv, file, &row) == 0 ? row.owner : FILE_ROW_NOBODY;
}

void index_note_use(struct index *index)
{
    atomic_fetch_add_explicit(&index->n_uses, 1, memory_order_relaxed);
}

void index_note_writing(struct index *index, uid_t user, const struct file_key *file, int change)
{
    if (writing_set_change(index->writing, file, change))
        index_note_content_by(index, user, file);
}
