/* The directories of a set of the scan, each once, and what became of them; of one thread. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SCAN_SCAN_MEMBERS_H
#define KINFS_ENGINE_INDEX_INTAKE_SCAN_SCAN_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/files/file_key.h"

/* COMES_LATER: it was taken, and joins the set behind this one, too. */
enum scan_member { SCAN_NO_MEMBER, SCAN_WAITS, SCAN_TAKEN, SCAN_COMES_LATER };

/* {0} is an empty one; ends with scan_members_done(). Open addressing, 8 bytes a slot, at most
 * three quarters of them full: 11 to 21 bytes a directory. */
struct scan_members {
    uint64_t *slots; /* hashes of keys; the lowest two bits are an enum scan_member; 0: empty */
    size_t n_slots, n;
};
void scan_members_done(struct scan_members *members);

enum scan_member scan_members_get(const struct scan_members *members,
                                  const struct file_key *directory);
/* state  not SCAN_NO_MEMBER
 *
 * Returns 0 or -ENOMEM, which it never does of a member. */
int scan_members_set(struct scan_members *members, const struct file_key *directory,
                     enum scan_member state);
/* Those that do not wait are none any more. Returns 0 or -ENOMEM. */
int scan_members_forget_taken(struct scan_members *members);

#endif
