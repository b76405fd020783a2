/* The words of a document to the fingerprints of its passages. Of one that comes again and again
 * the first PASSAGE_PLACES_MOST places are kept: a document of one word a million times is found by
 * that, and costs no more than a short one.
 *
 * Example with 3 words in a row and a bound of 5: "a rose is a rose is a rose" has 6 windows of 3
 * words, of which those that begin at 0 and 3, at 1 and 4, and at 2 and 5 are equal; of each 3 of
 * them (5 words) the smallest is chosen, so at most one in each 3 places.
 *
 * The lowest 40 bits of a fingerprint are kept: the upper ones are small in what is chosen for
 * being the smallest. Two of different words are equal with probability 2^-40, so one of a question
 * is found in vain once in ten thousand where a hundred million are stored; who needs to know reads
 * both texts.
 *
 * Cost: 8 multiplications in the field of 2^64 a word, 3 to 6 ns, and the winnowing. Left out: to
 * choose words in place of windows of 8, which are the same in too many documents.
 */
#include "engine/sketch/documents/passage_sketch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/room.h"
#include "engine/sketch/minima/winnowing.h"

enum {
    CARRIED = PASSAGE_WORDS - 1,
    FLAG_CUT = 1,
    VERSION = 1,
    FAR = 255, /* words on the way to the next place, of a gap that is no less */
    FINGERPRINT_BYTES_KEPT = PASSAGE_FINGERPRINT_BITS / 8,
};
static const uint64_t KEPT = (UINT64_C(1) << PASSAGE_FINGERPRINT_BITS) - 1;

_Static_assert((int)PASSAGE_BOUND_MAX - (int)CARRIED <= (int)WINNOWING_WINDOW_MAX, "it fits");

struct passage_sketcher {
    const struct shingle_hash *hash;
    size_t window;
    struct winnowing winnowing;
    struct passage_sketch sketch;
    size_t room, n_carried;
    int error;
    uint64_t words[CARRIED + TOKEN_BLOCK_MAX], windows[TOKEN_BLOCK_MAX];
    struct winnowed chosen[TOKEN_BLOCK_MAX];
};

void passage_sketch_done(struct passage_sketch *sketch)
{
    free(sketch->fingerprints);
    *sketch = (struct passage_sketch){0};
}

int passage_hash_new(const struct policy *policy, struct shingle_hash **ret_hash)
{
    struct policy of_passages = *policy;
    of_passages.w = PASSAGE_WORDS;
    return shingle_hash_new(&of_passages, ret_hash);
}

int passage_sketcher_new(const struct shingle_hash *hash, unsigned bound,
                         struct passage_sketcher **ret_sketcher)
{
    assert(bound >= PASSAGE_WORDS && bound <= PASSAGE_BOUND_MAX);
    struct passage_sketcher *sketcher = calloc(1, sizeof(*sketcher));
    if (!sketcher)
        return -ENOMEM;
    sketcher->hash = hash;
    sketcher->window = bound - CARRIED;
    passage_sketcher_begin(sketcher);
    *ret_sketcher = sketcher;
    return 0;
}

void passage_sketcher_free(struct passage_sketcher *sketcher)
{
    if (!sketcher)
        return;
    passage_sketch_done(&sketcher->sketch);
    free(sketcher);
}

/* One that was long does not keep its memory. */
void passage_sketcher_begin(struct passage_sketcher *sketcher)
{
    enum { KEPT_ROOM = 1 << 16 };
    if (sketcher->room > KEPT_ROOM) {
        passage_sketch_done(&sketcher->sketch);
        sketcher->room = 0;
    }
    sketcher->sketch.n_fingerprints = 0;
    sketcher->sketch.n_words = 0;
    sketcher->sketch.cut = false;
    sketcher->n_carried = 0;
    sketcher->error = 0;
    winnowing_begin(&sketcher->winnowing, sketcher->window);
}

static void take(struct passage_sketcher *sketcher, size_t n_chosen)
{
    struct passage_sketch *sketch = &sketcher->sketch;
    if (n_chosen > PASSAGE_FINGERPRINTS_MAX - sketch->n_fingerprints) {
        n_chosen = PASSAGE_FINGERPRINTS_MAX - sketch->n_fingerprints;
        sketch->cut = true;
    }
    if (!MAKE_ROOM(sketch->fingerprints, sketcher->room, sketch->n_fingerprints + n_chosen)) {
        sketcher->error = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < n_chosen; i++)
        sketch->fingerprints[sketch->n_fingerprints++] =
            (struct passage_fingerprint){sketcher->chosen[i].at, sketcher->chosen[i].value & KEPT};
}

void passage_sketcher_add(struct passage_sketcher *sketcher, const uint64_t *words, size_t n_new)
{
    const size_t n = sketcher->n_carried + n_new, n_kept = n < CARRIED ? n : CARRIED;
    assert(n_new <= TOKEN_BLOCK_MAX);
    sketcher->sketch.n_words += n_new;
    if (sketcher->sketch.cut || sketcher->error)
        return;
    memcpy(sketcher->words + sketcher->n_carried, words, n_new * sizeof(*words));
    if (n >= PASSAGE_WORDS) {
        const size_t n_windows = n - CARRIED;
        shingle_hash_windows(sketcher->hash, sketcher->words, n_windows, sketcher->windows);
        take(sketcher,
             winnowing_add(&sketcher->winnowing, sketcher->windows, n_windows, sketcher->chosen));
    }
    memmove(sketcher->words, sketcher->words + n - n_kept, n_kept * sizeof(uint64_t));
    sketcher->n_carried = n_kept;
}

static int compare_fingerprints(const void *a, const void *b, void *user)
{
    const struct passage_fingerprint *all = user;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (all[i].fingerprint != all[j].fingerprint)
        return all[i].fingerprint < all[j].fingerprint ? -1 : 1;
    return (i > j) - (i < j);
}

static int drop_repeated(struct passage_sketch *sketch)
{
    struct passage_fingerprint *all = sketch->fingerprints;
    const size_t n = sketch->n_fingerprints;
    _cleanup_free_ uint32_t *order = malloc((n + 1) * sizeof(*order));
    _cleanup_free_ bool *drops = calloc(n + 1, sizeof(*drops));
    if (!order || !drops)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof(*order), compare_fingerprints, all);
    for (size_t i = PASSAGE_PLACES_MOST; i < n; i++)
        drops[order[i]] =
            all[order[i - PASSAGE_PLACES_MOST]].fingerprint == all[order[i]].fingerprint;
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!drops[i])
            all[n_kept++] = all[i];
    sketch->n_fingerprints = n_kept;
    return 0;
}

int passage_sketcher_finish(struct passage_sketcher *sketcher, struct passage_sketch *ret_sketch)
{
    const struct passage_sketch *sketch = &sketcher->sketch;
    if (!sketch->cut && !sketcher->error)
        take(sketcher, winnowing_finish(&sketcher->winnowing, sketcher->chosen));
    if (sketcher->error)
        return sketcher->error;
    struct passage_sketch copy = *sketch;
    copy.fingerprints = malloc((sketch->n_fingerprints + 1) * sizeof(*copy.fingerprints));
    if (!copy.fingerprints)
        return -ENOMEM;
    if (sketch->n_fingerprints)
        memcpy(copy.fingerprints, sketch->fingerprints,
               sketch->n_fingerprints * sizeof(*copy.fingerprints));
    int r = drop_repeated(&copy);
    if (r < 0) {
        passage_sketch_done(&copy);
        return r;
    }
    *ret_sketch = copy;
    return 0;
}

/* -- as it is stored -- */

int passage_sketch_encode(const struct passage_sketch *sketch, uint8_t **ret_bytes,
                          size_t *ret_size_bytes)
{
    const size_t n = sketch->n_fingerprints, n_far = n ? sketch->fingerprints[n - 1].word / FAR : 0;
    uint8_t *bytes = malloc(PASSAGE_SKETCH_HEAD_BYTES + n * PASSAGE_SKETCH_ENTRY_BYTES + n_far);
    uint8_t *at = bytes + PASSAGE_SKETCH_HEAD_BYTES;
    if (!bytes)
        return -ENOMEM;
    bytes[0] = VERSION;
    bytes[1] = sketch->cut ? FLAG_CUT : 0;
    put_be64(bytes + 2, sketch->n_words);
    uint64_t next = 0; /* behind the place before */
    for (size_t i = 0; i < n; i++, at += PASSAGE_SKETCH_ENTRY_BYTES) {
        const struct passage_fingerprint *of = &sketch->fingerprints[i];
        uint8_t fingerprint[8];
        for (; of->word - next >= FAR; next += FAR)
            *at++ = FAR;
        at[0] = (uint8_t)(of->word - next);
        next = of->word + 1;
        put_be64(fingerprint, of->fingerprint);
        memcpy(at + 1, fingerprint + 8 - FINGERPRINT_BYTES_KEPT, FINGERPRINT_BYTES_KEPT);
    }
    *ret_bytes = bytes;
    *ret_size_bytes = (size_t)(at - bytes);
    return 0;
}

/* The number of entries, or -EUCLEAN. */
static ssize_t count_entries(const uint8_t *at, const uint8_t *end)
{
    ssize_t n = 0;
    while (at < end) {
        while (at < end && *at == FAR)
            at++;
        if (end - at < PASSAGE_SKETCH_ENTRY_BYTES)
            return -EUCLEAN;
        at += PASSAGE_SKETCH_ENTRY_BYTES;
        n++;
    }
    return n > PASSAGE_FINGERPRINTS_MAX ? -EUCLEAN : n;
}

int passage_sketch_decode(const void *bytes, size_t size_bytes, struct passage_sketch *ret_sketch)
{
    const uint8_t *at = bytes;
    if (size_bytes < PASSAGE_SKETCH_HEAD_BYTES || at[0] != VERSION || at[1] & ~FLAG_CUT)
        return -EUCLEAN;
    const ssize_t n = count_entries(at + PASSAGE_SKETCH_HEAD_BYTES, at + size_bytes);
    if (n < 0)
        return (int)n;
    struct passage_sketch sketch = {
        .n_fingerprints = (size_t)n, .n_words = get_be64(at + 2), .cut = at[1] & FLAG_CUT};
    sketch.fingerprints = malloc(((size_t)n + 1) * sizeof(*sketch.fingerprints));
    if (!sketch.fingerprints)
        return -ENOMEM;
    at += PASSAGE_SKETCH_HEAD_BYTES;
    uint64_t next = 0;
    for (ssize_t i = 0; i < n; i++, at += PASSAGE_SKETCH_ENTRY_BYTES) {
        uint8_t fingerprint[8] = {0};
        for (; *at == FAR; at++)
            next += FAR;
        memcpy(fingerprint + 8 - FINGERPRINT_BYTES_KEPT, at + 1, FINGERPRINT_BYTES_KEPT);
        sketch.fingerprints[i] = (struct passage_fingerprint){next + at[0], get_be64(fingerprint)};
        next += at[0] + 1u;
    }
    if (n && (sketch.n_words < PASSAGE_WORDS || next + CARRIED > sketch.n_words)) {
        passage_sketch_done(&sketch);
        return -EUCLEAN;
    }
    *ret_sketch = sketch;
    return 0;
}
