/* The group of a user that nobody else is in, as many systems make one with each user, whose files
 * that group may then write.
 *
 * Example: of "ann:x:1000:1000:..." and "ann:x:1000:" it is 1000, and no more once somebody is
 * added to the second line, or has that number in another of the first. */
#ifndef KINFS_BASE_FILES_OWN_GROUP_H
#define KINFS_BASE_FILES_OWN_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

/* The group has the user's name, is the one that the user has by the table of users, and nobody
 * else has it, or is in it. By files alone: of users that a directory server knows nothing is said,
 * so that no answer waits for one. root has none.
 *
 * passwd, group  paths; NULL: those of the system
 *
 * Returns whether that is so; false also where a file cannot be read. Any thread. Reads both files:
 * a tenth of a millisecond where they have a hundred lines. */
bool own_group_is(const char *passwd, const char *group, uid_t user, gid_t number);

#endif
