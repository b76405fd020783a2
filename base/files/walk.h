/* A walk along a path, which is at a directory or at what the path leads to. Private to trust.c;
 * trust.h has the rules, and what errors and ret_why are. */
#ifndef KINFS_BASE_FILES_WALK_H
#define KINFS_BASE_FILES_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* The parts of a way that have to be root's or the effective user's; its mounts always have to.
 * OWN_NOT_EVEN_WORDS: the path is what others say, and has nothing mounted or made up for it. */
enum own { OWN_ALL, OWN_LINKS, OWN_NOTHING, OWN_NOT_EVEN_WORDS };

struct walk {
    int fd;            /* what was reached, O_PATH */
    uint64_t mount_id; /* the mount that was checked last */
    uint64_t root_id;  /* the one of "/", where it needs no check */
    char *rest;        /* the rest of the path, from there */
    unsigned n_links, n_steps;
    enum own own;
    bool is_directory; /* what was reached, as far as that is known */
    char **ret_why;
};

enum making { MAKE_NONE, MAKE_LAST, MAKE_PARENTS, STOP_ABOVE };

/* Walk a path by directories that can be trusted, and make some that are missing. ret_made as of
 * trust_make_directory(). */
int walk_own(struct walk *walk, const char *path, enum making making, bool *ret_made,
             char **ret_why);

/* Walk a path by directories that may be anybody's.
 *
 * dirfd     a directory where a path begins that has no slash in front, or AT_FDCWD
 * own       not OWN_ALL
 * mount_id  of a mount that is trusted; 0: none */
int walk_anybodys(struct walk *walk, int dirfd, const char *path, enum own own, uint64_t mount_id,
                  char **ret_why);

/* The caller ends with it, whatever a walk returned. */
void walk_done(struct walk *walk);

/* A look-up in the directory may have something mounted. */
bool walk_is_automounter(int fd);

/* Check whose the mount is in which a descriptor is, before anything in it is asked. */
int walk_check_mount(struct walk *walk, int fd);

/* Check that a directory is one for a way to end at: the effective user's, and others cannot write
 * it. */
int walk_check_end(int fd, char **ret_why);

#endif
