/* A bounded wait for a mount that may not answer. A call whose request a daemon has read, and
 * leaves without an answer, keeps the process that made it until the daemon ends, even when it is
 * killed: a child makes it, and is left behind.
 */
#ifndef KINFS_TOOLS_QUESTIONS_PATIENCE_H
#define KINFS_TOOLS_QUESTIONS_PATIENCE_H

/* The first look at a path that a person named: returns when its file system has answered, whatever
 * that is; when 20 s have passed the program ends with COMMAND_FAILED and a line that names the
 * path, the mount it is in and the remedy. Forks; where there is no child to be had, there is no
 * bound. Not in a daemon, and not before a daemon's mount is to be ended by force.
 *
 * Another user's FUSE mount is not asked, nor may it be later, when the server that answered first
 * may not any more: what has been looked at is opened by base/files/trust.h. */
void patience_look(const char *path);

/* The same of what leads to a mount point: what is mounted there is not asked itself. */
void patience_look_at_way(const char *path);

/* The same of each mount at or below a directory, as realpath(3) gives it, before what is below it
 * is walked: the line names the mount. One after the other; mounts nothing. */
void patience_look_below(const char *directory);

/* A directory is there, as a child sees it, after which nobody looks: 1 or 0; -ETIMEDOUT: it has
 * not answered for so long; -EAGAIN: no child is to be had. Another user's FUSE mount is none. */
int patience_is_directory(const char *path, int wait_ms);

#endif
