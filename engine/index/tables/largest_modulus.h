/* The largest modulus is that of the longest document, whose V is thinnest: a question that is
 * contained in it has to be as much longer to be sure of a key in common. The number only grows,
 * and is stored before the first record that has it: a question is rather said to be too short once
 * the document is gone than found certain while it is there.
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_LARGEST_MODULUS_H
#define KINFS_ENGINE_INDEX_TABLES_LARGEST_MODULUS_H

#include <stdatomic.h>
#include <stdint.h>

#include "store/kv.h"

#define LARGEST_MODULUS "largest_modulus" /* a row of TABLE_META */

/* The largest min_sketch_modulus() of any record there is or was, at the opening; of the thread
 * that changes the store. In a store that does not say, all records are looked at. m: the policy's,
 * the least. Returns 0, -EUCLEAN, -ENOMEM or a store error. */
int largest_modulus_read(struct kv *kv, uint32_t m, atomic_uint *ret_largest);
/* Before records that have it are written. Returns 0, -ENOMEM or a store error. */
int largest_modulus_raise(struct kv *kv, atomic_uint *largest, uint32_t modulus);

#endif
