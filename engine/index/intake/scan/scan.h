/* The scan: the catalogue against the tree; the committer's, but where it is said otherwise. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SCAN_SCAN_H
#define KINFS_ENGINE_INDEX_INTAKE_SCAN_SCAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/files/file_key.h"
#include "engine/index/intake/scan/owner_stacks.h"
#include "engine/index/intake/scan/scan_members.h"

struct index;
struct visit; /* visit.h */

/* Directories that are compared with the catalogue, and such as are still to be; the committer's,
 * but for the state, which is under the lock, and the visit while that is SLOT_LOOKS. */
enum { N_SCANNERS = 8 };
enum { N_SLOW_OWNERS = 64 };
struct scan {
    /* Directories of the scan that runs, and those that came since it began, and are looked at
     * beside it: so its end comes. */
    struct scan_set {
        struct owner_stacks directories;
        struct owner_stacks lossy; /* read, and found to have lost entries: for the second pass */
        struct scan_members members;
        uint64_t begun_ns; /* since when it runs: time of day; of the other set, none */
    } sets[2];
    struct owner_stacks later; /* joined the set that does not run, were taken, and join again */
    unsigned now;              /* of the sets, that runs */
    unsigned next;             /* of the stacks of both, that a directory is taken from next */
    struct scan_slot {
        struct visit *visit; /* or NULL; of the three below: */
        uid_t owner;
        unsigned set;
        bool removing; /* in the second pass */
        enum slot_state { SLOT_RESTS, SLOT_WAITS, SLOT_LOOKS, SLOT_BACK } state;
        bool is_out, is_dropped, is_told; /* is_out: it is with a scanner, or waits for one */
        int64_t out_at_ms;
        /* From the scanner, or 0; the committer may take it in much later. */
        atomic_int_fast64_t back_at_ms;
    } slots[N_SCANNERS];
    size_t turn;    /* of the slots, which is gone on with first */
    bool left_some; /* of an owner who was stuck */
    /* An owner whose directories took longer than their names explain, since the scan began, or of
     * whom more joined than are known of. */
    struct slow_owner {
        uid_t owner;
        int64_t ms;
        bool is_crowded;
    } slow[N_SLOW_OWNERS];
    size_t n_slow;
};

/* Begin a scan of the whole tree. */
int scan_begin(struct index *index);
/* A step of the scan is there to be made now; else scanners have it all. */
bool scan_has_step(struct index *index);
/* Some names of a directory, where there is such. Returns 1 when the scan is not idle after it, 0,
 * or an error. */
int scan_step(struct index *index);
/* Ends it half-way; what scanners look at comes to nothing. */
void scan_done(struct index *index);
/* The meaning of a name of a directory has been looked at just now. */
void scan_touch(struct index *index, const struct file_key *directory, const char *name);
/* Looks at what the scan hands out, one directory. False: there is none, and it should not be
 * waited for, or the index ends. A scanner's. */
bool scan_look(struct index *index, bool wait);
void *scan_run(void *index);

#endif
