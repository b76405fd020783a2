/* An index is told that something happened in the tree, and waited for until its answers have it. A
 * part of index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_NOTICES_H
#define KINFS_ENGINE_INDEX_INDEX_NOTICES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/files/file_key.h"

struct index;

/* -- notices: something happened in the tree -- */

/* Any thread, which does not wait. Notices are taken up in turns of the users who caused them, and
 * have room by user. Where that is not known, nobody's are as of one user. */

/* The entry `name` of a directory came, went, or means another inode now. "." and "..", and what is
 * a path, are no entries: nothing is done. */
void index_note_entry_by(struct index *index, uid_t user, const struct file_key *parent,
                         const char *name);
void index_note_entry(struct index *index, const struct file_key *parent, const char *name);
/* As two entries, so ordered that the inode is not taken for deleted in between. */
void index_note_rename(struct index *index, uid_t user, const struct file_key *old_parent,
                       const char *old_name, const struct file_key *new_parent,
                       const char *new_name);
/* The content (or size, or times) of a regular file may be another now. */
void index_note_content_by(struct index *index, uid_t user, const struct file_key *file);
void index_note_content(struct index *index, const struct file_key *file);
/* Somebody else than the mount has written into a regular file: it is read, whatever its times and
 * its size say. They are changed before the bytes are, and of stores through a mapping not at all
 * but by the first into a page since that was last written back. */
void index_note_written(struct index *index, uid_t user, const struct file_key *file);
/* The same of whatever file is at a name, and the name as by index_note_entry(). */
void index_note_entry_written(struct index *index, const struct file_key *parent, const char *name);
/* A file was opened for writing (+1), or such an opening ended (-1). While positive the scan leaves
 * the document to the notice that will follow. */
void index_note_writing(struct index *index, uid_t user, const struct file_key *file, int change);

/* Somebody uses the tree right now: what was noted, and nobody asks for, can wait a moment. Takes
 * nanoseconds. */
void index_note_use(struct index *index);

/* The root, a directory or a file is, by one name at least, part of what is indexed; what is not
 * needs no notice, and what will be is looked at when it comes to be. Waits for a read. */
bool index_has(struct index *index, const struct file_key *key);
/* Whose a file was when it was last looked at, for index_note_written(). Waits for a read. */
uid_t index_owner(struct index *index, const struct file_key *file);
/* The file that a name meant when it was last looked at; false: none. Waits for a read. */
bool index_file_at(struct index *index, const struct file_key *parent, const char *name,
                   struct file_key *ret_file);

/* From now on `see` is called with each directory that is about to be listed: what is in it by the
 * time it returns is found, and what comes after is to be noted. By threads that do nothing else
 * than look at directories, one at a time. It returns 0, or an error: it is listed again, and seen,
 * some time later. NULL: it is called no more, and no call of it runs. */
void index_see_listings(struct index *index,
                        int (*see)(void *user, int fd, const struct file_key *directory),
                        void *user);

/* -- settling -- */

enum index_lane { INDEX_LANE_FOREGROUND, INDEX_LANE_ALL };

/* Wait until all that was noted before the call is reflected in the answers; INDEX_LANE_ALL: until
 * the running scan is done too, and what is repaired in the background. wait_ms < 0: no bound. Any
 * thread but the index's own; those that serve the kernel leave it to others (fs/views/views.h).
 * Returns 0, also where index_start() was not called yet, -ETIMEDOUT, -ESHUTDOWN (the index is
 * closed), or, of INDEX_LANE_ALL, -EUCLEAN: the store is damaged, and no scan will be. */
int index_settle(struct index *index, enum index_lane lane, int wait_ms);

/* The same in slices: what was noted before the first one is waited for, and not what comes between
 * two of them. All of it 0 before the first. */
struct index_settling {
    uint64_t ticket, n_scans, n_removals, n_scans_begun;
    unsigned n_passes;
    bool has_begun, background_is_over;
};
int index_settle_on(struct index *index, enum index_lane lane, struct index_settling *settling,
                    int wait_ms);

/* A number that is another one after every change of what answers say: two answers asked for
 * between two equal readings are the same if the number is even; while it is odd, a change is being
 * made. Any thread, nanoseconds. */
uint64_t index_generation(struct index *index);

#endif
