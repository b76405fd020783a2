#include "engine/index/tables/largest_modulus.h"

#include <errno.h>

#include "engine/index/tables/meta.h"
#include "engine/index/tables/records.h"

static int look_at_record(void *user, uint64_t sid, const struct record *record)
{
    uint32_t *largest = user, modulus = min_sketch_modulus(&record->sketch);
    (void)sid;
    if (modulus > *largest)
        *largest = modulus;
    return 0;
}

static int put(struct kv *kv, atomic_uint *largest, uint32_t modulus)
{
    int r = meta_put_number(kv, LARGEST_MODULUS, modulus);
    if (r == 0)
        atomic_store(largest, modulus);
    return r;
}

int largest_modulus_read(struct kv *kv, uint32_t m, atomic_uint *ret_largest)
{
    uint64_t stored;
    uint32_t largest = m;
    int r = meta_get_number(kv, LARGEST_MODULUS, &stored);
    if (r == 0 && (stored < largest || stored > UINT32_MAX))
        return -EUCLEAN;
    if (r == 0)
        atomic_store(ret_largest, (unsigned)stored);
    if (r != -ENOENT)
        return r;
    r = records_each(kv, 0, look_at_record, &largest);
    return r < 0 ? r : put(kv, ret_largest, largest);
}

int largest_modulus_raise(struct kv *kv, atomic_uint *largest, uint32_t modulus)
{
    return modulus > atomic_load(largest) ? put(kv, largest, modulus) : 0;
}
