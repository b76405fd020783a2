/* The catalogue: which name of which directory is which inode, and back. Every row names its
 * neighbour by file key, never by path, so renaming a directory changes one entry whatever is
 * below.
 *
 *   names   parent key | name                  -> type (1) | child key
 *   links   child key | parent key | name      -> nothing
 *   files   file key                           -> struct file_row
 * Keys stand with their size in one byte before them.
 *
 * Threads: any reads; who adds to a batch is the committer. An error is one of kv.h, -ENOMEM, or
 * -EUCLEAN of a damaged row.
 */
#ifndef KINFS_ENGINE_INDEX_CATALOGUE_CATALOGUE_H
#define KINFS_ENGINE_INDEX_CATALOGUE_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/files/file_key.h"
#include "store/kv.h"

enum entry_type { ENTRY_DIRECTORY = 'd', ENTRY_FILE = 'f' };

/* -- entries -- */

/* The entry that the catalogue has for a name. Returns 0, -ENOENT, -EUCLEAN or a store error. */
int catalogue_get(struct kv *kv, const struct file_key *parent, const char *name,
                  struct file_key *ret_child, enum entry_type *ret_type);

/* Add to a batch: the entry and its way back; or their removal. */
void catalogue_put(struct kv_batch *batch, const struct file_key *parent, const char *name,
                   const struct file_key *child, enum entry_type type);
void catalogue_delete(struct kv_batch *batch, const struct file_key *parent, const char *name,
                      const struct file_key *child);

/* The way back only: the name is another inode's already. */
void catalogue_delete_link(struct kv_batch *batch, const struct file_key *parent, const char *name,
                           const struct file_key *child);

/* The key of a link, and back. out has CATALOGUE_LINK_KEY_MAX bytes; returns those used. Decoding
 * returns 0, -EUCLEAN or -ENOMEM and fills all but the type; end with catalogue_entry_done(). */
enum { CATALOGUE_LINK_KEY_MAX = 2 * (1 + FILE_KEY_MAX_BYTES) + 255 };
struct catalogue_entry;
size_t catalogue_link_key(const struct file_key *child, const struct file_key *parent,
                          const char *name, uint8_t *out);
/* True: an entry can have such a name, which is any but "", "." and "..", without a NUL or a slash.
 * Others would lead to a directory itself, above it, or far below. */
bool catalogue_is_name(const char *name, size_t size_bytes);
int catalogue_decode_link(struct kv_slice key, struct catalogue_entry *ret_entry);
/* A row of names, likewise, the type too. */
int catalogue_decode_name(const struct kv_entry *entry, struct catalogue_entry *ret_entry);
void catalogue_entry_done(struct catalogue_entry *entry);
/* Take a key, with its size before it, off the front of some bytes. Returns 0 or -EUCLEAN. */
int catalogue_take_key(struct kv_slice *bytes, struct file_key *ret_key);

struct catalogue_entry {
    struct file_key parent, child;
    enum entry_type type;
    char *name;
};

struct catalogue_list {
    struct catalogue_entry *entries;
    size_t n_entries;
};

void catalogue_list_done(struct catalogue_list *list);

/* The meanings of names, all by one look; ret_meanings[i]: of names[i]. 0, -EUCLEAN, -ENOMEM or a
 * store error. */
struct catalogue_name {
    const struct file_key *parent;
    const char *name;
};
struct catalogue_meaning {
    bool exists;
    enum entry_type type;
    struct file_key child;
};
int catalogue_get_all(struct kv *kv, const struct catalogue_name *names, size_t n,
                      struct catalogue_meaning *ret_meanings);

/* Up to limit entries of a directory whose names come after `after` (NULL: from the first), in
 * byte order. Returns 0 or an error; fewer than limit means the end. */
int catalogue_children(struct kv *kv, const struct file_key *parent, const char *after,
                       size_t limit, struct catalogue_list *ret_list);

/* Up to limit entries that name an inode, in (parent key, name) order; type is not filled. */
int catalogue_links(struct kv *kv, const struct file_key *child, size_t limit,
                    struct catalogue_list *ret_list);

/* Files have a name, or not; and a certain one is the first of them (NULL: none is asked about).
 * One multi_scan. 0, -ENOMEM, -EUCLEAN or a store error. */
enum catalogue_naming { CATALOGUE_NAMELESS, CATALOGUE_NAMED, CATALOGUE_NAMED_SO };
int catalogue_have_names(struct kv *kv, const struct file_key *const *files, size_t n,
                         const char *certain, enum catalogue_naming *ret_have);

/* The same of many inodes, at most CATALOGUE_AT_ONCE, by one look: ret_lists[i], to be ended each.
 * On failure all are empty. */
enum { CATALOGUE_AT_ONCE = 64 };
int catalogue_links_of_all(struct kv *kv, const struct file_key *const *children, size_t n,
                           size_t limit, struct catalogue_list *ret_lists);

/* Those links that stand behind the entry, or before it; name NULL: behind all, or before all, that
 * are in the directory. Names that are removed leave a trace in the store which a scan has to pass,
 * and most often they go in their order, or in none: behind one of them the next is near, while
 * from the first on all that are gone would be passed each time. */
int catalogue_links_beside(struct kv *kv, const struct file_key *child,
                           const struct file_key *parent, const char *name, bool before,
                           size_t limit, struct catalogue_list *ret_list);

/* -- paths -- */

/* Remembers the paths of directories while many paths are made; one thread, short-lived. */
struct path_cache;
int path_cache_new(struct kv *kv, const struct file_key *root, struct path_cache **ret_cache);
void path_cache_free(struct path_cache *cache);
DEFINE_CLEANUP(struct path_cache *, path_cache_free);

/* A file with more directories above it, the root not counted, has no path. */
enum { CATALOGUE_DEPTH_MAX = 256 };

/* The path of an entry relative to the root. Returns 0, -ENOENT when the directory hangs on nothing
 * (any more), or is in a circle, as a damaged store may have; -EPERM: it is refused; -ENAMETOOLONG:
 * it has PATH_MAX bytes or more, or more than CATALOGUE_DEPTH_MAX directories above it, on whatever
 * they hang; -ENOMEM or a store error; gives. At most CATALOGUE_DEPTH_MAX rows. */
int path_cache_entry(struct path_cache *cache, const struct file_key *parent, const char *name,
                     char **ret_path);
/* The rows that the last one would have taken if nothing were remembered, so that what depends on
 * them depends on no other question; CATALOGUE_DEPTH_MAX where there is no path. Links of a file
 * are tried for its path until they have cost CATALOGUE_CLIMB_MAX. */
enum { CATALOGUE_CLIMB_MAX = 4 * CATALOGUE_DEPTH_MAX };
unsigned path_cache_cost(const struct path_cache *cache);

/* The first path, by parent's key and name, of what hangs on the root: of the first links
 * (CATALOGUE_PATHS_TRIED, CATALOGUE_CLIMB_MAX) one that can be told; "": the root's own. Returns as
 * path_cache_entry(); gives. */
enum { CATALOGUE_PATHS_TRIED = 64 };
int catalogue_path(struct kv *kv, const struct file_key *root, const struct file_key *key,
                   char **ret_path);

/* From now on most paths that go by a directory are refused: the memory is small, and may forget
 * one for another. */
void path_cache_refuse(struct path_cache *cache, const struct file_key *directory);

/* -- files -- */

enum { FILE_ROW_REASON_BYTES = 96 }; /* as sketching.h has it */
#define FILE_ROW_NOBODY ((uid_t)-1)

struct file_row {
    uint64_t sid;        /* of its record; 0: none, for the reason below */
    uint64_t size_bytes; /* of the file when looked at, as mtime and ctime */
    struct timespec mtime, ctime;
    bool racy; /* a later change may not show in its times: it was changed shortly before, or was
                  open for writing; or its removal was begun. Read it again when in doubt */
    uint32_t extractors_id, read_by; /* of all there were; of the extractor that read it, 0: none */
    uid_t owner;      /* when it was looked at; FILE_ROW_NOBODY: not known, as after a crash */
    uint64_t born_ns; /* its ctime when it was first looked at; 0: not known, as above */
    char reason[FILE_ROW_REASON_BYTES];
};

/* Returns 0, -ENOENT, -EUCLEAN or a store error. */
int catalogue_get_file(struct kv *kv, const struct file_key *key, struct file_row *ret_row);
/* Rows of many files; ret_exist[i]: it has one. One multi_get. 0, -EUCLEAN, -ENOMEM or a store
 * error. */
int catalogue_get_files(struct kv *kv, const struct file_key *const *files, size_t n,
                        struct file_row *ret_rows, bool *ret_exist);
void catalogue_put_file(struct kv_batch *batch, const struct file_key *key,
                        const struct file_row *row);
void catalogue_delete_file(struct kv_batch *batch, const struct file_key *key);

/* A time as rows have it: nanoseconds since 1970, 0 of what was before. */
uint64_t file_row_ns(const struct timespec *time);

/* The file, as stat shows it, is still the one that the row is about. */
bool file_row_matches(const struct file_row *row, const struct stat *st);

/* A row of files. Returns 0 or -EUCLEAN. */
int catalogue_decode_file(const struct kv_entry *entry, struct file_key *ret_key,
                          struct file_row *ret_row);

/* Files that have a row, in key order, paged: up to limit of them after `after` (NULL: from the
 * first). Returns 0 or an error. */
struct file_list {
    struct file_key *keys;
    struct file_row *rows;
    size_t n_files;
    bool more;
};
void file_list_done(struct file_list *list);
int catalogue_files(struct kv *kv, const struct file_key *after, size_t limit,
                    struct file_list *ret_list);

#endif
