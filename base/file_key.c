#include "base/file_key.h"

#include <sys/random.h>

#include "base/bytes.h"

uint64_t file_key_secret;

/* Before there is a table. A kernel without getrandom(2) does without the secret. */
__attribute__((constructor)) static void draw_secret(void)
{
    if (getrandom(&file_key_secret, sizeof(file_key_secret), 0) < 0)
        file_key_secret = 0;
}

/* Its own inverse. What is left over at the end stays. */
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
