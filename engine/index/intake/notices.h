/* Notices that the index gives itself, beside those of others (index_notices.h). */
#ifndef KINFS_ENGINE_INDEX_INTAKE_NOTICES_H
#define KINFS_ENGINE_INDEX_INTAKE_NOTICES_H

#include <stdbool.h>

#include "engine/index/queue/change_queue.h"

struct index;

/* Under the index's lock. Somebody asked for a scan of the whole tree, or the queue has room again
 * for what it dropped. */
bool index_is_rescan_wanted(struct index *index);

/* A row was met that is damaged: the committer gives the store up, and tells. Any thread. */
void index_meet_damage(struct index *index);

/* Note a change in the foreground, as of an owner and, as change_queue_note() has it, a part of
 * another one; where there is no room for it, a scan finds it, and all others: false then. Any
 * thread. */
bool index_note(struct index *index, enum change_kind kind, const struct file_key *key,
                const char *name, uid_t owner, const struct change *whole);
/* The same of the content of a file of which the store has nothing. */
void index_note_unknown(struct index *index, const struct file_key *file, uid_t owner,
                        const struct change *whole);
/* The same of the content of a file into which somebody else than the mount has written. */
void index_note_written_by(struct index *index, const struct file_key *file, uid_t owner,
                           const struct change *whole);

#endif
