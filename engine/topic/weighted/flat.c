/* Flattening and 80 functions h(x) = ax + b mod P: a signature is the least value of one of them.
 *
 * P is 2^31 - 1, so that a product takes 64 bits, which vector instructions have (flat_take.h).
 * Such a function is no random permutation (linear_hash.h), so elements come hashed, to 31 bits:
 * words by tabulation, their copies by mix64(). Two different elements of two bags are the same
 * with probability 2^-31, which makes bags of 100 that have nothing in common agree in one
 * signature of 200,000 more; the 3 bytes make it one of 16 million.
 *
 * Example: the bag {rose: 2, is: 1.5} becomes rose/1, rose/2, is/1 and, as the number of is/2 is
 * below a half or not, is/2.
 *
 * Of the least value the lowest 3 bytes are kept: among 100 elements it is near P / 100, and the
 * highest bytes would be the same for many.
 *
 * Cost: 80 products an element, whatever the weights are; a weight of a million is refused rather
 * than flattened. Left out: skipping the copies of a word that cannot be least (Gollapudi and
 * Panigrahy 2006), as bags have few copies.
 */
#include "engine/topic/weighted/flat.h"

#include "base/mix.h"
#include "engine/sketch/hash/tabulation.h"
#include "engine/topic/weighted/flat_take.h"

enum {
    AT_ONCE = 256,
    NOTHING = INT32_MAX, /* above all values */
};

_Static_assert((NOTHING & 0xffffff) == BAG_NO_SIGNATURE, "");

struct flat_hash {
    struct flat_functions functions;
    flat_take take;
    double scale;
    struct tabulation words;
};

int flat_hash_new(const uint8_t key[SKETCH_KEY_BYTES], double scale, struct flat_hash **ret_hash)
{
    uint64_t random[2 * BAG_SIGNATURES];
    if (!(scale > 0))
        return -EINVAL;
    _cleanup_(flat_hash_free_p) struct flat_hash *hash = malloc(sizeof(*hash));
    if (!hash)
        return -ENOMEM;
    int r = sketch_key_derive(key, "functions of flat bags", random, sizeof(random));
    if (r == 0)
        r = tabulation_init(&hash->words, key, "words of flat bags");
    if (r < 0)
        return r;
    for (unsigned i = 0; i < BAG_SIGNATURES; i++) {
        hash->functions.a[i] = (uint32_t)(1 + random[2 * i] % (FLAT_PRIME - 1));
        hash->functions.b[i] = (uint32_t)(random[2 * i + 1] % FLAT_PRIME);
    }
    hash->scale = scale;
    hash->take = flat_take_of(kernel_in_use());
    *ret_hash = TAKE_PTR(hash);
    return 0;
}

void flat_hash_free(struct flat_hash *hash)
{
    free(hash);
}

/* -- elements -- */

/* The number that a copy draws: the highest bits decide whether a fraction of it is there. */
static uint64_t copy_of(uint64_t word, uint32_t copy)
{
    return mix64(word + copy * UINT64_C(0x9e3779b97f4a7c15));
}

static uint32_t element_of(uint64_t copy)
{
    uint32_t x = (uint32_t)copy & FLAT_PRIME;
    return x == FLAT_PRIME ? 0 : x;
}

/* The whole copies of a word, and one more where its fraction is there. */
static uint32_t copies_of(const struct flat_hash *hash, uint64_t word, double weight)
{
    double scaled = weight * hash->scale;
    uint32_t whole = (uint32_t)scaled;
    double number = (double)(copy_of(word, whole) >> 32) * 0x1p-32;
    return whole + (number < scaled - whole);
}

static bool is_too_big(const struct flat_hash *hash, const struct bag *bag)
{
    double sum = 0;
    for (uint32_t i = 0; i < bag->n_words; i++)
        sum += bag->words[i].weight;
    return !(sum * hash->scale + bag->n_words <= FLAT_MOST_ELEMENTS);
}

int64_t flat_elements(const struct flat_hash *hash, const struct bag *bag, uint32_t *ret_elements,
                      size_t most)
{
    size_t n = 0;
    if (is_too_big(hash, bag))
        return -E2BIG;
    for (uint32_t i = 0; i < bag->n_words; i++) {
        uint64_t word = tabulate(&hash->words, bag->words[i].word);
        uint32_t copies = copies_of(hash, word, bag->words[i].weight);
        for (uint32_t copy = 0; copy < copies; copy++, n++)
            if (n < most)
                ret_elements[n] = element_of(copy_of(word, copy));
    }
    return (int64_t)n;
}

/* -- signatures -- */

/* Elements on the way to their values. */
struct gathered {
    uint32_t elements[AT_ONCE];
    size_t n;
    int32_t least[BAG_SIGNATURES];
};

static void pass_on(const struct flat_hash *hash, struct gathered *gathered)
{
    hash->take(&hash->functions, gathered->elements, gathered->n, gathered->least);
    gathered->n = 0;
}

int flat_sketch(const struct flat_hash *hash, const struct bag *bag, struct bag_sketch *ret_sketch)
{
    struct gathered gathered = {.n = 0};
    if (is_too_big(hash, bag))
        return -E2BIG;
    for (unsigned i = 0; i < BAG_SIGNATURES; i++)
        gathered.least[i] = NOTHING;
    for (uint32_t i = 0; i < bag->n_words; i++) {
        uint64_t word = tabulate(&hash->words, bag->words[i].word);
        uint32_t copies = copies_of(hash, word, bag->words[i].weight);
        for (uint32_t copy = 0; copy < copies; copy++) {
            gathered.elements[gathered.n++] = element_of(copy_of(word, copy));
            if (gathered.n == AT_ONCE)
                pass_on(hash, &gathered);
        }
    }
    pass_on(hash, &gathered);
    for (unsigned i = 0; i < BAG_SIGNATURES; i++)
        bag_sketch_set(ret_sketch, i, (uint32_t)gathered.least[i]);
    return 0;
}
