/* The stable identity of an inode of the backing tree.
 *
 *   +----------+---------------+------------------------+
 *   | fsid (8) | handle type(4)| handle bytes (0..128)  |   big endian, 12 to 140 bytes
 *   +----------+---------------+------------------------+
 *
 * The handle is name_to_handle_at(2)'s and holds the inode's generation: a reused inode number is
 * another key. A key survives a rename and a restart; it is never a FUSE inode number nor a path.
 *
 * Handles are mostly made of numbers of four bytes, the first of them the inode's, and little
 * endian; in a key each is turned round, so that files that were made together, whose inodes are
 * neighbours, are neighbours in a store that is ordered by keys.
 */
#ifndef KINFS_BASE_FILES_FILE_KEY_H
#define KINFS_BASE_FILES_FILE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mix.h"

enum { FILE_KEY_MAX_BYTES = 140, FILE_KEY_MIN_BYTES = 12 };

struct file_key {
    uint8_t size_bytes;
    uint8_t bytes[FILE_KEY_MAX_BYTES];
};

/* The key of a handle of n_bytes (at most FILE_KEY_MAX_BYTES - FILE_KEY_MIN_BYTES), and back: as
 * many bytes as the key has beyond FILE_KEY_MIN_BYTES. */
void file_key_of_handle(uint64_t fsid, uint32_t type, const void *handle, size_t n_bytes,
                        struct file_key *ret_key);
void file_key_handle(const struct file_key *key, void *ret_handle);

static inline bool file_key_equal(const struct file_key *a, const struct file_key *b)
{
    return a->size_bytes == b->size_bytes && memcmp(a->bytes, b->bytes, a->size_bytes) == 0;
}

/* The order of their rows in the store: shorter ones first. */
static inline int file_key_compare(const struct file_key *a, const struct file_key *b)
{
    const int by_size = (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes);
    return by_size ? by_size : memcmp(a->bytes, b->bytes, a->size_bytes);
}

/* The same for qsort(3) and bsearch(3), of an array of keys. */
static inline int file_key_order(const void *a, const void *b)
{
    return file_key_compare(a, b);
}

static inline bool file_key_same_file_system(const struct file_key *a, const struct file_key *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(uint64_t)) == 0;
}

/* A hash for tables in memory, by a secret that each process draws when it begins: a user who makes
 * files until their keys suit cannot have them collide in a table. Never stored, nor compared with
 * another process's. */
extern uint64_t file_key_secret;
static inline uint64_t file_key_hash(const struct file_key *key)
{
    uint64_t h = file_key_secret ^ key->size_bytes;
    for (size_t i = 0; i < key->size_bytes; i += sizeof(h)) {
        const size_t left = key->size_bytes - i;
        uint64_t word = 0;
        memcpy(&word, key->bytes + i, left < sizeof(word) ? left : sizeof(word));
        h = mix64(h ^ word);
    }
    return h;
}

#endif
