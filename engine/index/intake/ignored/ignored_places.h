/* The directories that are known, each by its path and the nearest ignore file that holds in it. A
 * table with a bound; where it is full, who has most in it loses that, so that nobody takes the
 * place of others.
 *
 * Threads: one at a time, under a lock of the caller's. No call waits.
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_IGNORED_IGNORED_PLACES_H
#define KINFS_ENGINE_INDEX_INTAKE_IGNORED_IGNORED_PLACES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/files/file_key.h"
#include "engine/ignore/ignore_file.h"

#define IGNORED_NOBODYS ((uid_t)-2)

enum { IGNORED_PLACES_BUCKETS = 1024 }; /* a power of two */

/* An ignore file; of as many places as it is the nearest of, of files below, and of who asks. */
struct ignore_file {
    struct ignore_level level; /* the first: that above it is one of these, too */
    size_t n_users;
};

struct ignored_place {
    struct ignored_place *next; /* of the bucket */
    struct ignored_place
        *above; /* NULL: of the root, or where it is not known; there for as long as this */
    struct file_key directory;
    uid_t owner; /* of the directory; IGNORED_NOBODYS: not known */
    bool stays;  /* while those of one owner are forgotten */
    unsigned depth;
    bool is_far;              /* beyond the bounds: neither path nor file is kept */
    char *path;               /* from the root, a slash behind each name */
    struct ignore_file *file; /* the nearest that holds, or NULL */
};

struct ignored_places { /* of zeroes: empty */
    struct ignored_place *buckets[IGNORED_PLACES_BUCKETS];
    size_t n, n_files;
    bool has_files; /* one was read, and may be read again */
};

/* NULL: it is not known. */
struct ignored_place *ignored_places_find(const struct ignored_places *places,
                                          const struct file_key *directory);

/* A place, whose directory and owner are set, gets its path and its file.
 *
 * above  NULL: it is the root
 * name   of the directory in that one
 * rules  of its own file, taken where they are kept; or NULL
 *
 * Returns 0, -ENOMEM. */
int ignored_place_fill(struct ignored_places *places, struct ignored_place *place,
                       struct ignored_place *above, const char *name, struct ignore_rules **rules);
void ignored_place_free(struct ignored_places *places, struct ignored_place *place);
/* It has an ignore file of its own that holds. */
bool ignored_place_has_file(const struct ignored_place *place);

/* Takes a place. Where the table is full, and who has most in it has little that can go, all of it
 * goes, and the place is to be learned again: none is there without those above it, by which it is
 * forgotten. */
void ignored_places_put(struct ignored_places *places, struct ignored_place *place);
/* Forgets the directories whose path begins so, and all that are far. "": all. */
void ignored_places_forget_below(struct ignored_places *places, const char *path);
/* A file is used by one less. NULL allowed. */
void ignored_places_let_go(struct ignored_places *places, struct ignore_file *file);

#endif
