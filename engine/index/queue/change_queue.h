/* Changes still to be looked at: one entry for each file or directory entry, a foreground lane
 * ahead of a scan lane, both bounded. The foreground is shared out by owner: changes are taken in
 * turns of their owners, and where it is full, the newest one goes of who has most.
 *
 * A change names a thing, not an event: "look again at this file", "look again at this name". So a
 * change noted twice before it is taken up is one change, and a change noted while it is being
 * worked on is worked on once more, as a change of its own ticket.
 *
 * Settling: every change gets a ticket; who wants to see its effect waits until no change of that
 * ticket or an older one is outstanding (queued or in work).
 *
 * Holding back: what users do comes in bursts, and taking it up in the midst of one slows it down
 * and shares less. So the foreground can be held back until somebody says otherwise, or wants to
 * see an effect.
 *
 * Threads: any. One lock, held for some steps; what waits says so.
 */
#ifndef KINFS_ENGINE_INDEX_QUEUE_CHANGE_QUEUE_H
#define KINFS_ENGINE_INDEX_QUEUE_CHANGE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/files/file_key.h"

enum change_kind {
    CHANGE_ENTRY,        /* key is a directory, name an entry of it */
    CHANGE_CONTENT,      /* key is a file */
    CHANGE_SLOW_CONTENT, /* to be taken only: a CHANGE_CONTENT that was passed on */
    CHANGE_BELOW,        /* key is a directory, all that is in it; to be taken: a CHANGE_ENTRY that
                            was passed on, too */
    CHANGE_N_KINDS
};

enum change_lane { LANE_FOREGROUND, LANE_SCAN, LANE_N };

struct change {
    enum change_kind kind;
    enum change_lane lane; /* that it was taken from; it may be in one ahead by now */
    struct file_key key;
    const char *name; /* of CHANGE_ENTRY, else NULL */
    uid_t owner;      /* as of whom it was first noted */
    /* The number of times it was put back with change_queue_retry(), and of the changes it is a
     * part of; and how many of those were contents that led to an entry: each of the two can lead
     * to the other. */
    unsigned n_tries;
    unsigned n_wholes; /* changes that it is a part of, each of the next, when it was taken */
    bool is_unknown;   /* of change_queue_note_unknown(), and nobody else since */
    bool is_written;   /* of change_queue_note_written() at least */
    bool is_long;      /* as it was passed on */
};

struct change_queue;

/* max_changes  bound of each lane. Returns 0, -EINVAL, -ENOMEM; ret_queue gives. */
int change_queue_new(const size_t max_changes[LANE_N], struct change_queue **ret_queue);
void change_queue_free(struct change_queue *queue); /* no thread may be in a call */

/* Note a change. A change of the scan lane that is noted in the foreground moves there.
 *
 * owner   whose share of the foreground it takes
 * whole   NULL, or a change in work of which this one is a part: it settles together with it
 * name    borrowed; NULL for CHANGE_CONTENT
 *
 * Returns 1 when it was new, 0 when it was noted already, -ENOBUFS when the lane is full and, of
 * the foreground, no other owner has more than one more than this one would have; -ENOMEM,
 * -ESHUTDOWN. For what was dropped of another a scan is wanted (change_queue_wants_scan()). Any
 * thread; takes the queue's lock for less than a microsecond, never waits.
 */
int change_queue_note(struct change_queue *queue, enum change_lane lane, enum change_kind kind,
                      const struct file_key *key, const char *name, uid_t owner,
                      const struct change *whole);

/* The same of the content of a file of which the store had nothing when this was called: who takes
 * it need not look there. */
int change_queue_note_unknown(struct change_queue *queue, enum change_lane lane,
                              const struct file_key *key, uid_t owner, const struct change *whole);

/* The same in the foreground of the content of a file, or of an entry that is one, into which
 * somebody has written: that times and size are those of the last reading proves nothing, if that
 * was before. */
int change_queue_note_written(struct change_queue *queue, enum change_kind kind,
                              const struct file_key *key, const char *name, uid_t owner,
                              const struct change *whole);

/* The same of all that is in a directory, in the foreground. Of these each is taken whose owner has
 * fewest in work, as of what was passed on. Its effects are noted as parts of it.
 *
 * owner  of the directory */
int change_queue_note_below(struct change_queue *queue, const struct file_key *directory,
                            uid_t owner, const struct change *whole);

/* Take the next change of a kind, foreground first, and work on it; waits for one when wait is
 * true. The change stays the queue's, valid until change_queue_done() or _retry(). Returns 1, 0
 * when there is none and wait is false, -ESHUTDOWN.
 */
int change_queue_take(struct change_queue *queue, enum change_kind kind, bool wait,
                      struct change **ret_change);
/* The same of the scan lane alone, of a kind that is not taken in turns; does not wait. */
int change_queue_take_found(struct change_queue *queue, enum change_kind kind,
                            struct change **ret_change);

/* The work on a change is over and its effect visible. */
void change_queue_done(struct change_queue *queue, struct change *change);
/* Somebody else is to work on it, who takes CHANGE_SLOW_CONTENT, or CHANGE_BELOW where it is a
 * CHANGE_ENTRY: it takes long. Of these each is taken whose owner has fewest in work; among such
 * the foreground first, then who had none for longest. Of contents an owner has some dozens in the
 * foreground, and what is more is in the scan lane; where that is more than the owner's share
 * (change_queue_bound_slow()), the change is dropped, to be found by a scan
 * (change_queue_wants_scan()).
 *
 * owner    of the file, or of the directory
 * is_long  so long that nobody is to wait for it: it stays in the scan lane, whoever notes it,
 *          until it is done or put back */
void change_queue_pass_on(struct change_queue *queue, struct change *change, uid_t owner,
                          bool is_long);
/* The work could not be completed: it goes to the end of its lane. */
void change_queue_retry(struct change_queue *queue, struct change *change);

/* So many of one owner are in work at a time, at most; at first any number. To be one less than
 * there are who take them.
 *
 * kind  CHANGE_SLOW_CONTENT or CHANGE_BELOW */
void change_queue_bound_turns(struct change_queue *queue, enum change_kind kind,
                              unsigned max_turns);
/* So many slow contents are in the scan lane, at most; at first any number. An owner has as many as
 * are left for others then, and no more, but always some dozens. */
void change_queue_bound_slow(struct change_queue *queue, size_t max_slow);
/* The caller is done with a slow change, though it is not over: it does not count as its owner's in
 * work any more, and whoever waits may take another of that owner's. */
void change_queue_end_turn(struct change_queue *queue, struct change *change);

/* True: a change of the foreground was dropped for another's; or, of an owner of whom slow ones
 * were dropped, an eighth is left of those that were outstanding then, or fewer, so that there is
 * room for what a scan finds that begins now. */
bool change_queue_wants_scan(struct change_queue *queue);
/* Such a scan begins. */
void change_queue_scan_begins(struct change_queue *queue);

/* Called with the lock free whenever there is a CHANGE_ENTRY more to take, a first change is held
 * back, or a scan is wanted: wakes the one who takes them without waiting, ends the holding and
 * scans. */
void change_queue_on_work(struct change_queue *queue, void (*wake)(void *user), void *user);

/* From now on, whenever all of the foreground is done, what is noted in it is held back: not given
 * by change_queue_take() before change_queue_release(), half the lane's bound, or a settling that
 * waits for any of it, or asks and does not wait. */
void change_queue_hold(struct change_queue *queue);
void change_queue_release(struct change_queue *queue);
/* A change that has been released, and not been taken, is held back again, unless since all was
 * done half the bound was reached or somebody asked. */
void change_queue_hold_again(struct change_queue *queue);
/* True: some change is held back now. */
bool change_queue_is_holding(struct change_queue *queue);
/* Notices of the foreground so far, those of what was known included. */
uint64_t change_queue_count_notes(struct change_queue *queue);

/* Wait until all changes of lanes up to and including `lane` that were noted before the call are
 * done. wait_ms < 0: no bound. Returns 0, -ETIMEDOUT, -ESHUTDOWN. */
int change_queue_settle(struct change_queue *queue, enum change_lane lane, int wait_ms);
/* The same in slices. ticket: 0 before the first one, whose moment counts for all. */
int change_queue_settle_on(struct change_queue *queue, enum change_lane lane, uint64_t *ticket,
                           int wait_ms);

/* Outstanding changes of a lane, in work included. */
size_t change_queue_outstanding(struct change_queue *queue, enum change_lane lane);

/* The documents they are of, as far as their number tells. One that is written in a new file has
 * two, of its name and of its contents; so there are as many as of those there are more of. Never 0
 * while a change is outstanding. */
size_t change_queue_documents(struct change_queue *queue, enum change_lane lane);

/* Those of them that are taken in turns. */
size_t change_queue_slow(struct change_queue *queue, enum change_lane lane);

/* Every waiting and later call returns -ESHUTDOWN; done and retry are still allowed. */
void change_queue_shut_down(struct change_queue *queue);
bool change_queue_is_shut_down(struct change_queue *queue);

#endif
