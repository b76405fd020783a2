/* The secret that decides all random choices of a sketch. */
#ifndef KINFS_ENGINE_SKETCH_HASH_SKETCH_KEY_H
#define KINFS_ENGINE_SKETCH_HASH_SKETCH_KEY_H

#include <stddef.h>
#include <stdint.h>

enum { SKETCH_KEY_BYTES = 32 };

/* Random bytes for a purpose, any number, which tell nothing of the key nor of those for another
 * purpose. Returns 0 or -ENOMEM.
 *
 * purpose  a string that no other use has
 */
int sketch_key_derive(const uint8_t key[SKETCH_KEY_BYTES], const char *purpose, void *out,
                      size_t size_bytes);

#endif
