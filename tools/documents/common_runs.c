/* A table has the first place in b of all different k words in a row; from there a chain leads to
 * the others of the same. A hash of k words is taken on from that of the k before.
 *
 * Example with k = 2: a is "one two three one two", b "two three one two four". "one two" stands in
 * b at 2 and goes on no further: a run of two. At 2 stands "three one": that is in b at 1, and goes
 * on to "three one two", a run of three. All five words of a are shared, and four of b.
 *
 * Cost: a run of n words has taken 64 n comparisons at most, since none of the places goes on for
 * longer than the one that is chosen. Left out: the longest of more places, for which there is a
 * suffix tree; what is repeated so often is the same text at each of them.
 */
#include "tools/documents/common_runs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const uint32_t NONE = UINT32_MAX;
static const uint64_t FACTOR = 0x9e3779b97f4a7c15u; /* odd; the words are hashes already */

struct places {
    const uint64_t *b;
    size_t n_b, k, n_slots;
    uint32_t *slots; /* the first place of each k words */
    uint32_t *first; /* by place: of the same k words */
    uint32_t *next;
};

static void places_done(struct places *places)
{
    free(places->slots);
    free(places->first);
    free(places->next);
}

/* The hash of k words, taken on: their number in base FACTOR. */
struct rolling {
    const uint64_t *words;
    size_t k;
    uint64_t hash, power; /* FACTOR to the k - 1 */
};

static struct rolling roll_from(const uint64_t *words, size_t k)
{
    struct rolling rolling = {.words = words, .k = k, .power = 1};
    for (size_t i = 0; i < k; i++) {
        rolling.hash = rolling.hash * FACTOR + words[i];
        rolling.power *= i ? FACTOR : 1;
    }
    return rolling;
}

static void roll(struct rolling *rolling)
{
    rolling->hash =
        (rolling->hash - rolling->words[0] * rolling->power) * FACTOR + rolling->words[rolling->k];
    rolling->words++;
}

/* The slot of k words: where they are, or NONE. */
static uint32_t *slot_of(const struct places *places, uint64_t hash, const uint64_t *words)
{
    const size_t mask = places->n_slots - 1;
    for (size_t i = (hash * FACTOR >> 20) & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &places->slots[i];
        if (*slot == NONE || memcmp(places->b + *slot, words, places->k * sizeof(*words)) == 0)
            return slot;
    }
}

static int places_make(const uint64_t *b, size_t n_b, size_t k, struct places *places)
{
    *places = (struct places){.b = b, .n_b = n_b, .k = k, .n_slots = 16};
    const size_t n = n_b < k ? 0 : n_b - k + 1;
    if (n_b > INT32_MAX)
        return -EOVERFLOW;
    while (places->n_slots < 2 * n)
        places->n_slots *= 2;
    places->slots = malloc(places->n_slots * sizeof(*places->slots));
    places->first = malloc((n + 1) * sizeof(*places->first));
    places->next = malloc((n + 1) * sizeof(*places->next));
    if (!places->slots || !places->first || !places->next)
        return -ENOMEM;
    memset(places->slots, 0xff, places->n_slots * sizeof(*places->slots));
    if (n == 0)
        return 0;
    /* From the end, so that each chain begins with the first place. */
    struct rolling rolling = roll_from(b, k);
    uint64_t *hashes = malloc(n * sizeof(*hashes));
    if (!hashes)
        return -ENOMEM;
    for (size_t j = 0; j < n; j++) {
        hashes[j] = rolling.hash;
        if (j + 1 < n)
            roll(&rolling);
    }
    for (size_t j = n; j-- > 0;) {
        uint32_t *slot = slot_of(places, hashes[j], b + j);
        places->next[j] = *slot;
        *slot = (uint32_t)j;
    }
    for (size_t j = 0; j < n; j++)
        places->first[j] = *slot_of(places, hashes[j], b + j);
    free(hashes);
    return 0;
}

static size_t goes_on(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
    const size_t most = n_a < n_b ? n_a : n_b;
    size_t n = 0;
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

static struct common_run longest_at(const struct places *places, const uint64_t *a, size_t n_a,
                                    size_t i, uint32_t place)
{
    struct common_run best = {.a = i};
    for (unsigned n = 0; n < COMMON_RUNS_PLACES && place != NONE; n++) {
        const size_t length =
            places->k + goes_on(a + i + places->k, n_a - i - places->k,
                                places->b + place + places->k, places->n_b - place - places->k);
        if (length > best.n) {
            best.b = place;
            best.n = length;
        }
        place = places->next[place];
    }
    return best;
}

static int compare_runs(const void *x, const void *y)
{
    const struct common_run *a = x, *b = y;
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return (a->a > b->a) - (a->a < b->a);
}

void common_runs_done(struct common_runs *runs)
{
    free(runs->runs);
    *runs = (struct common_runs){0};
}

/* Counts words behind `until` that k words from i on have. */
static size_t count_new(size_t i, size_t k, size_t *until)
{
    const size_t begin = i > *until ? i : *until;
    *until = i + k;
    return i + k - begin;
}

static int add_run(struct common_runs *runs, size_t *room, const struct common_run *run)
{
    if (runs->n_runs == *room) {
        const size_t more = *room ? 2 * *room : 16;
        void *larger = reallocarray(runs->runs, more, sizeof(*runs->runs));
        if (!larger)
            return -ENOMEM;
        runs->runs = larger;
        *room = more;
    }
    runs->runs[runs->n_runs++] = *run;
    return 0;
}

/* found: by place, whether the k words there stand in a, at the first place of the same. */
static int find(const struct places *places, const uint64_t *a, size_t n_a, uint8_t *found,
                struct common_runs *runs)
{
    const size_t k = places->k;
    size_t room = 0, counted = 0, behind = 0;
    if (n_a < k)
        return 0;
    struct rolling rolling = roll_from(a, k);
    for (size_t i = 0; i + k <= n_a; i++) {
        if (i)
            roll(&rolling);
        const uint32_t place = *slot_of(places, rolling.hash, a + i);
        if (place == NONE)
            continue;
        found[place] = 1;
        runs->n_shared_a += count_new(i, k, &counted);
        if (i < behind)
            continue;
        const struct common_run run = longest_at(places, a, n_a, i, place);
        int r = add_run(runs, &room, &run);
        if (r < 0)
            return r;
        behind = i + run.n;
    }
    return 0;
}

int common_runs_find(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t k,
                     struct common_runs *ret_runs)
{
    struct common_runs runs = {0};
    struct places places;
    int r = places_make(b, n_b, k, &places);
    _cleanup_free_ uint8_t *found = r == 0 ? calloc(n_b + 1, 1) : NULL;
    if (r == 0)
        r = found ? find(&places, a, n_a, found, &runs) : -ENOMEM;
    for (size_t j = 0, counted = 0; r == 0 && j + k <= n_b; j++)
        if (found[places.first[j]])
            runs.n_shared_b += count_new(j, k, &counted);
    places_done(&places);
    if (r < 0) {
        common_runs_done(&runs);
        return r;
    }
    if (runs.n_runs)
        qsort(runs.runs, runs.n_runs, sizeof(*runs.runs), compare_runs);
    *ret_runs = runs;
    return 0;
}
