/* The stored form of a sketch (big endian):
 *
 *   0   version    2   MIN_SKETCH_VERSION
 *   2   0          2
 *   4   s          4
 *   8   m          4
 *   12  n_values   4
 *   16  policy id  8
 *   24  n_tokens   8
 *   32  below      8
 *   40  v_below    8
 *   48  values     8 each
 *
 * Example: a document of one shingle, s = 128 and m = 25, has n_values 1, below 0 (complete) and
 * 56 bytes. A sketch of 128 values has 1072.
 *
 * Left out: packing the differences of the values. It would save about 6 % (the values are random:
 * 128 of 64 bits hold 128*64 - log2(128!) bits).
 *
 * Decoding believes nothing: min_sketch_is_sound() checks every relation between the fields that
 * the estimates rely on. Both directions are linear in the values.
 */
#include "engine/sketch/minima/min_sketch.h"

#include <errno.h>

#include "base/bytes.h"

enum { MIN_SKETCH_VERSION = 1, HEAD_BYTES = 48 };

size_t min_sketch_encoded_bytes(const struct min_sketch *sketch)
{
    return HEAD_BYTES + (size_t)sketch->n_values * 8;
}

void min_sketch_encode(const struct min_sketch *sketch, void *out)
{
    uint8_t *p = out;
    put_be16(p, MIN_SKETCH_VERSION);
    put_be16(p + 2, 0);
    put_be32(p + 4, sketch->s);
    put_be32(p + 8, sketch->m);
    put_be32(p + 12, sketch->n_values);
    put_be64(p + 16, sketch->policy_id);
    put_be64(p + 24, sketch->n_tokens);
    put_be64(p + 32, sketch->below);
    put_be64(p + 40, sketch->v_below);
    for (uint32_t i = 0; i < sketch->n_values; i++)
        put_be64(p + HEAD_BYTES + 8 * (size_t)i, sketch->values[i]);
}

/* v_below is 2^64/m or a smaller power of two; 0 stands for 2^64. */
static bool v_below_valid(uint64_t v_below, uint32_t m)
{
    uint64_t modulus = (uint64_t)(((unsigned __int128)1 << 64) / m);
    if (v_below == modulus)
        return true;
    return v_below && (v_below & (v_below - 1)) == 0 && v_below - 1 < modulus - 1;
}

bool min_sketch_is_sound(const struct min_sketch *sketch)
{
    const uint64_t *values = sketch->values;
    uint32_t n = sketch->n_values;

    if (sketch->s < 2 || sketch->s > POLICY_S_MAX || sketch->m < 1 || sketch->m > POLICY_M_MAX)
        return false;
    if (n > POLICY_V_MAX || !v_below_valid(sketch->v_below, sketch->m))
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (values[i] <= values[i - 1])
            return false;
    if (sketch->below == 0)
        return n <= sketch->s || sketch->v_below == 0;
    if (n < sketch->s || sketch->v_below == 0 || values[n - 1] >= sketch->below)
        return false;
    uint64_t after_s = values[sketch->s - 1] + 1;
    return sketch->below == (sketch->v_below > after_s ? sketch->v_below : after_s);
}

int min_sketch_decode(const void *data, size_t size_bytes, struct min_sketch *ret_sketch)
{
    const uint8_t *p = data;
    if (size_bytes < HEAD_BYTES || get_be16(p) != MIN_SKETCH_VERSION || get_be16(p + 2) != 0)
        return -EUCLEAN;

    struct min_sketch sketch = {
        .s = get_be32(p + 4),
        .m = get_be32(p + 8),
        .n_values = get_be32(p + 12),
        .policy_id = get_be64(p + 16),
        .n_tokens = get_be64(p + 24),
        .below = get_be64(p + 32),
        .v_below = get_be64(p + 40),
    };
    if (size_bytes != min_sketch_encoded_bytes(&sketch))
        return -EUCLEAN;

    _cleanup_free_ uint64_t *values = malloc(size_bytes);
    if (!values)
        return -ENOMEM;
    for (uint32_t i = 0; i < sketch.n_values; i++)
        values[i] = get_be64(p + HEAD_BYTES + 8 * (size_t)i);
    sketch.values = values;
    bool has_values = sketch.n_values > 0, has_tokens = sketch.n_tokens > 0;
    if (!min_sketch_is_sound(&sketch) || sketch.n_values > sketch.n_tokens ||
        has_values != has_tokens)
        return -EUCLEAN;
    sketch.values = TAKE_PTR(values);
    *ret_sketch = sketch;
    return 0;
}
