/* Paths in memory: each directory on them is kept once, so that many far down take little more than
 * their last names. A path is made whole when it is asked for. Of one thread at a time. */
#ifndef KINFS_TOOLS_DOCUMENTS_PATHS_H
#define KINFS_TOOLS_DOCUMENTS_PATHS_H

#include <stddef.h>
#include <stdint.h>

enum { PATHS_NO_DIRECTORY = UINT32_MAX };

struct path {
    uint64_t name;
    uint32_t directory; /* its number, PATHS_NO_DIRECTORY: it is a name alone */
    uint32_t n_named;   /* the caller's, left as it is */
};

/* Zero-initialised; ends with paths_done(). */
struct paths {
    char *text; /* names, with a NUL behind each */
    size_t text_bytes, text_room;
    struct directory *directories;
    size_t directories_room;
    uint32_t n_directories;
    uint32_t *slots; /* of directories, by hashes of their paths */
    uint64_t n_slots;
};

void paths_done(struct paths *paths);
uint64_t paths_memory(const struct paths *paths); /* bytes that are used */

/* Keep a path, as it is written. Returns 0, -ENOMEM, or -EOVERFLOW past 2^32 - 1 directories. */
int paths_put(struct paths *paths, const char *path, struct path *ret_path);

/* Keep the directory alone that a path is in: its number, PATHS_NO_DIRECTORY for none. */
int paths_put_directory(struct paths *paths, const char *path, uint32_t *ret_number);

char *paths_get(const struct paths *paths, const struct path *path); /* gives; NULL: no memory */

/* A directory that a path is in, below n_directories, as a path itself: with the directory that it
 * is in, whose number is smaller. */
struct path paths_directory(const struct paths *paths, uint32_t number);

/* In the order in which a walk finds them (document_list_compare()). */
int paths_compare(const struct paths *paths, const struct path *a, const struct path *b);

#endif
