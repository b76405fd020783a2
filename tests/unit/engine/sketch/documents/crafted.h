/* Two texts that differ in two letters and have one XXH3-128 under the secret that the library has
 * for all.
 *
 * To lane i of its sums, XXH3 adds the product of the two halves of the 8 bytes exclusive or'd with
 * 8 bytes of the secret, other ones in each stripe of 64 bytes. In two words of 8 letters in one
 * lane the lower halves are chosen so that they agree once that is done. A letter of one upper half
 * and one of the other, which differ in a bit that the secret has alike in both places, then change
 * places, and the sum is what it was. */
#ifndef KINFS_TESTS_UNIT_ENGINE_SKETCH_DOCUMENTS_CRAFTED_H
#define KINFS_TESTS_UNIT_ENGINE_SKETCH_DOCUMENTS_CRAFTED_H

#ifndef XXH_INLINE_ALL
#error "the secret of the library is in the header alone"
#endif

#include <stdbool.h>
#include <string.h>

#include <xxhash.h>

enum { CRAFTED_WORD = 8, CRAFTED_WORDS = 400, CRAFTED_BYTES = CRAFTED_WORD * CRAFTED_WORDS };
enum { CRAFTED_LANES = 8, CRAFTED_STRIPES = 15, CRAFTED_HALF = 4 };

static const char crafted_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

/* Two letters that have this as their exclusive or. */
static inline bool crafted_letters_of(uint8_t difference, char *ret_x, char *ret_y)
{
    for (const char *x = crafted_letters; *x; x++) {
        const char y = (char)((uint8_t)*x ^ difference);
        if (!y || !strchr(crafted_letters, y))
            continue;
        *ret_x = *x;
        *ret_y = y;
        return true;
    }
    return false;
}

/* Two words of these places in the secret; in the second text they have two letters the other way
 * round. */
static inline bool crafted_words(const uint8_t *secret_x, const uint8_t *secret_y,
                                 char x[CRAFTED_WORD], char y[CRAFTED_WORD], size_t *ret_at)
{
    for (size_t i = 0; i < CRAFTED_HALF; i++)
        if (!crafted_letters_of(secret_x[i] ^ secret_y[i], &x[i], &y[i]))
            return false;
    for (size_t i = CRAFTED_HALF; i < CRAFTED_WORD; i++)
        for (unsigned bit = 1; bit < 32; bit *= 2)
            if (!((secret_x[i] ^ secret_y[i]) & bit) &&
                crafted_letters_of((uint8_t)bit, &x[i], &y[i])) {
                *ret_at = i;
                return true;
            }
    return false;
}

/* Words of 8 letters without anything between them. */
static inline bool crafted_texts(char a[CRAFTED_BYTES], char b[CRAFTED_BYTES])
{
    uint64_t state = 1;
    for (size_t i = 0; i < CRAFTED_BYTES; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        a[i] = (char)('a' + (state >> 33) % 26);
    }
    for (size_t lane = 0; lane < CRAFTED_LANES; lane++)
        for (size_t s = 0; s < CRAFTED_STRIPES; s++)
            for (size_t t = s + 1; t < CRAFTED_STRIPES; t++) {
                char x[CRAFTED_WORD], y[CRAFTED_WORD];
                char *at_x = a + CRAFTED_WORD * (CRAFTED_LANES * s + lane);
                char *at_y = a + CRAFTED_WORD * (CRAFTED_LANES * t + lane);
                size_t at;
                memcpy(x, at_x, CRAFTED_WORD);
                memcpy(y, at_y, CRAFTED_WORD);
                if (!crafted_words(XXH3_kSecret + 8 * (s + lane), XXH3_kSecret + 8 * (t + lane), x,
                                   y, &at))
                    continue;
                memcpy(at_x, x, CRAFTED_WORD);
                memcpy(at_y, y, CRAFTED_WORD);
                memcpy(b, a, CRAFTED_BYTES);
                b[at_x - a + (ptrdiff_t)at] = y[at];
                b[at_y - a + (ptrdiff_t)at] = x[at];
                return true;
            }
    return false;
}

#endif
