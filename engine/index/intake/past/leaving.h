/* Notes of documents and directories that leave a place, or are rewritten, with the path of that
 * place. The committer's.
 *
 * A directory that is gone has no link any more; where it was stands in its intent
 * (directory_removal.h) until what hung on it is gone, too, so each document has the path that it
 * had.
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_PAST_LEAVING_H
#define KINFS_ENGINE_INDEX_INTAKE_PAST_LEAVING_H

#include "engine/index/catalogue/stored_row.h"
#include "engine/index/index_state.h"

/* The path of a name, of one that goes or is gone. A read for each directory above, CLIMB_NEAR at
 * most. Returns 0, -ENOENT (none is known, or it is too long, or deep, to be remembered), -ENOMEM
 * or a store error; gives. */
int leaving_path(struct index *index, const struct file_key *parent, const char *name,
                 char **ret_path);

/* Documents lose a name each: their last one (PAST_DIED), or another is left (PAST_MOVED).
 * documents[i]: of places[i], which may be NULL: nothing is noted of it. 0, or a store error. */
int leaving_note_names(struct index *index, enum past_kind kind,
                       const struct catalogue_entry *const *places,
                       const struct stored_document *documents, size_t n);
/* The same of files that live on, whose documents are read. */
int leaving_note_moved(struct index *index, const struct catalogue_entry *const *places, size_t n);

/* A directory that is in the tree is not at that path any more. from NULL: nothing is noted. The
 * event is of the owner that the directory has now; of one that is removed by now there is none. */
int leaving_note_directory(struct index *index, const struct file_key *directory, const char *from);

/* A content is about to be replaced by another one of its file, which is in hand. Makes the event,
 * to be ended; false: nothing is to be noted, as nobody would see a difference. */
bool leaving_changed(struct index *index, const struct record *old, const struct record *record,
                     const struct stored_row *stored, uid_t owner, struct past_event *ret_event);

#endif
