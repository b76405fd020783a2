/* Keys are made of handles and turned back into them. The words of a handle are little endian on
 * most machines; turned to big endian, files of neighbouring inodes have neighbouring keys.
 *
 * Example: ext4's handle of inode 0x1234 and generation 0x99 is 34 12 00 00 99 00 00 00; in the key
 * it is 00 00 12 34 00 00 00 99.
 */
#include "base/files/file_key.h"

#include <sys/random.h>

#include "base/bytes.h"

uint64_t file_key_secret;

/* The secret is drawn before any table is made. On a kernel without getrandom(2) it is 0. */
__attribute__((constructor)) static void draw_secret(void)
{
    if (getrandom(&file_key_secret, sizeof(file_key_secret), 0) < 0)
        file_key_secret = 0;
}

/* Turns each word of four bytes round, which is its own inverse. Bytes left over at the end stay.
 */
static void turn_words(uint8_t *to, const uint8_t *from, size_t n_bytes)
{
    size_t i = 0;
    for (; i + 4 <= n_bytes; i += 4) {
        uint32_t word;
        memcpy(&word, from + i, 4);
        put_be32(to + i, word);
    }
    memcpy(to + i, from + i, n_bytes - i);
}

void file_key_of_handle(uint64_t fsid, uint32_t type, const void *handle, size_t n_bytes,
                        struct file_key *ret_key)
{
    put_be64(ret_key->bytes, fsid);
    put_be32(ret_key->bytes + 8, type);
    turn_words(ret_key->bytes + FILE_KEY_MIN_BYTES, handle, n_bytes);
    ret_key->size_bytes = (uint8_t)(FILE_KEY_MIN_BYTES + n_bytes);
}

void file_key_handle(const struct file_key *key, void *ret_handle)
{
    turn_words(ret_handle, key->bytes + FILE_KEY_MIN_BYTES, key->size_bytes - FILE_KEY_MIN_BYTES);
}
