/* A user for one run of a program, whom nothing else belongs to: no file, no account, and no other
 * run that lives at the same time. */
#ifndef KINFS_TOOLS_EXTRACT_OWN_USER_H
#define KINFS_TOOLS_EXTRACT_OWN_USER_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    /* Above all that systemd, subuid(5), SSSD and Samba give to accounts and containers, below the
     * numbers that are negative to some programs; and as many as there can be processes. */
    OWN_USER_FIRST = 2100000000,
    OWN_USERS = 1 << 22,
    OWN_USER_NOBODY = 65534, /* where a user namespace has none of these */
};

/* Root becomes the user and the group of the run whose process group is `group`, or nobody where
 * there is no such user here; without other groups. Anybody else stays who he is.
 *
 * as_killer  stays what root itself can end and that user cannot, and may end what is of that user;
 *            only the effective user becomes another
 *
 * Returns 0, or a negative errno of setresuid(2). */
int own_user_become(pid_t group, bool as_killer);

/* The process is given such a user by own_user_become(), or would be. Reads two files of /proc. */
bool own_user_is_to_be_had(void);

#endif
