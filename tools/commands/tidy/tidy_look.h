/* A document that something is to be done with, looked at right before: reached by no link and in
 * no mount below the tree, open, and held while it is compared. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TIDY_LOOK_H
#define KINFS_TOOLS_COMMANDS_TIDY_TIDY_LOOK_H

#include "tools/commands/tidy/tidy_state.h"

struct tidy_look {
    int directory_fd, fd; /* it is open for reading, and its last access is not noted */
    const char *name;     /* in the directory; of the path that was given */
    bool is_held;
    struct tidy_state is;
};
#define TIDY_LOOK_NONE                                                                             \
    {                                                                                              \
        .directory_fd = -1, .fd = -1                                                               \
    }

/* Returns 0, -EINVAL for what is no regular file, or an errno of openat2(2). */
int tidy_look_open(int tree_fd, const char *path, struct tidy_look *ret_look);
void tidy_look_done(struct tidy_look *look);

/* The state of what a name in a directory, or a path of the tree, leads to now; of no link. */
int tidy_look_at(int directory_fd, const char *name, struct tidy_state *ret_is);
int tidy_look_at_path(int tree_fd, const char *path, struct tidy_state *ret_is);

/* Hold it by a lease: whoever opens it for writing waits, and is seen by tidy_look_is_free() being
 * false. SIGIO has to be ignored. Returns 0, -ETXTBSY where it is open for writing, -EOPNOTSUPP on
 * a file system whose leases do not tell (base/mounts/leases.h), or another errno of fcntl(2) where
 * that cannot be told. */
int tidy_look_hold(struct tidy_look *look);
void tidy_look_let_go(struct tidy_look *look);
/* Nobody has opened it for writing since it is held; true where it is not. */
bool tidy_look_is_free(const struct tidy_look *look);

/* Both have the same bytes. Returns 0, -ESTALE (they have not), -ETXTBSY (one that is held has been
 * opened for writing), or an errno of unlocked_read(). */
int tidy_look_compare(const struct tidy_look *a, const struct tidy_look *b);

/* The SHA-256 of the names and values of all extended attributes, access control lists among them,
 * in hexadecimal digits: equal for files that have the same ones. What a mount of kinfs answers is
 * not among them. Returns 0, -ENOMEM or an errno of flistxattr(2) or fgetxattr(2). */
enum { TIDY_LOOK_DIGITS = 2 * 32 };
int tidy_look_digest_attributes(int fd, char ret_sha256[TIDY_LOOK_DIGITS + 1]);

/* Both have the same extended attributes, by their digests. Returns 0, -ESTALE, or an error as
 * above. */
int tidy_look_compare_attributes(const struct tidy_look *a, const struct tidy_look *b);

/* Give a file those of another one. Returns 0 or an errno as above, or of fsetxattr(2). */
int tidy_look_copy_attributes(int from, int to);

#endif
