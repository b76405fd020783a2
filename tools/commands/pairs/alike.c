#include "tools/commands/pairs/alike.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/files/file_key.h"

enum { NONE = UINT32_MAX };

/* Most have one number. */
struct set {
    union {
        uint32_t one;
        uint32_t *many; /* in order; room for the next power of two */
    };
    uint32_t n;
};

struct alike {
    const uint32_t *directories, *classes;
    const bool *in;
    uint32_t n, most;
    uint64_t n_kept;
    /* By the first document of a class: the directories of the class itself, and with those of all
     * that it is like. */
    struct set *own, *all;
    uint32_t *same; /* the first class of the same set; NONE: it has none */
};

static void free_sets(struct set *sets, uint32_t n)
{
    for (uint32_t i = 0; sets && i < n; i++)
        if (sets[i].n > 1)
            free(sets[i].many);
    free(sets);
}

void alike_free(struct alike *alike)
{
    if (!alike)
        return;
    free_sets(alike->own, alike->n);
    free_sets(alike->all, alike->n);
    free(alike->same);
    free(alike);
}

static const uint32_t *numbers_of(const struct set *set)
{
    return set->n > 1 ? set->many : &set->one;
}

/* The place of a number, or where it belongs. */
static uint32_t place_of(const struct set *set, uint32_t number)
{
    const uint32_t *numbers = numbers_of(set);
    uint32_t low = 0, high = set->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int grow(struct set *set)
{
    const size_t n = set->n;
    uint32_t *larger = reallocarray(n > 1 ? set->many : NULL, 2 * n, sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    if (n == 1)
        larger[0] = set->one;
    set->many = larger;
    return 0;
}

static int add(struct alike *alike, struct set *set, uint32_t number)
{
    const uint32_t at = place_of(set, number), n = set->n;
    if (n > alike->most || (at < n && numbers_of(set)[at] == number))
        return 0;
    if (n == 0) {
        set->one = number;
        set->n = 1;
        return 0;
    }
    if (alike->n_kept == ALIKE_MOST_KEPT)
        return -EOVERFLOW;
    if ((n & (n - 1)) == 0 && grow(set) < 0) /* a power of two: full */
        return -ENOMEM;
    memmove(set->many + at + 1, set->many + at, (n - at) * sizeof(*set->many));
    set->many[at] = number;
    set->n = n + 1;
    alike->n_kept++;
    return 0;
}

static int add_all(struct alike *alike, struct set *set, const struct set *more)
{
    const uint32_t *numbers = numbers_of(more);
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < more->n; i++)
        r = add(alike, set, numbers[i]);
    return r;
}

int alike_new(const uint32_t *directories, const uint32_t *classes, const bool *in, uint32_t n,
              uint32_t most, struct alike **ret_alike)
{
    _cleanup_(alike_free_p) struct alike *alike = calloc(1, sizeof(*alike));
    if (!alike)
        return -ENOMEM;
    *alike = (struct alike){
        .directories = directories, .classes = classes, .in = in, .n = n, .most = most};
    alike->own = calloc(n + (size_t)1, sizeof(*alike->own));
    alike->all = calloc(n + (size_t)1, sizeof(*alike->all));
    alike->same = malloc((n + (size_t)1) * sizeof(*alike->same));
    int r = alike->own && alike->all && alike->same ? 0 : -ENOMEM;
    for (uint32_t i = 0; r == 0 && i < n; i++)
        if (in[i])
            r = add(alike, &alike->own[classes[i]], directories[i]);
    for (uint32_t i = 0; r == 0 && i < n; i++)
        r = add_all(alike, &alike->all[i], &alike->own[i]);
    if (r < 0)
        return r;
    *ret_alike = TAKE_PTR(alike);
    return 0;
}

int alike_add_pair(struct alike *alike, uint32_t a, uint32_t b)
{
    int r = add_all(alike, &alike->all[a], &alike->own[b]);
    return r == 0 ? add_all(alike, &alike->all[b], &alike->own[a]) : r;
}

static bool is_kept(const struct alike *alike, uint32_t class)
{
    return alike->all[class].n > 1 && alike->all[class].n <= alike->most;
}

static bool is_same(const struct set *a, const struct set *b)
{
    return a->n == b->n && memcmp(a->many, b->many, a->n * sizeof(*a->many)) == 0;
}

int alike_finish(struct alike *alike)
{
    uint64_t n_slots = 16;
    while (n_slots < 2 * (uint64_t)alike->n)
        n_slots *= 2;
    _cleanup_free_ uint32_t *slots = malloc(n_slots * sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    memset(slots, 0xff, n_slots * sizeof(*slots)); /* NONE */
    for (uint32_t i = 0; i < alike->n; i++) {
        alike->same[i] = NONE;
        if (!is_kept(alike, i))
            continue;
        const struct set *set = &alike->all[i];
        uint64_t slot =
            XXH3_64bits_withSeed(set->many, set->n * sizeof(*set->many), file_key_secret);
        while (slots[slot & (n_slots - 1)] != NONE &&
               !is_same(set, &alike->all[slots[slot & (n_slots - 1)]]))
            slot++;
        uint32_t *found = &slots[slot & (n_slots - 1)];
        if (*found == NONE)
            *found = i;
        alike->same[i] = *found;
    }
    return 0;
}

enum alike_kind alike_kind(const struct alike *alike, uint32_t document)
{
    if (!alike->in[document])
        return ALIKE_OUT;
    const uint32_t n = alike->all[alike->classes[document]].n;
    return n > alike->most ? ALIKE_COMMON : n > 1 ? ALIKE_SOME : ALIKE_ALONE;
}

uint32_t alike_set(const struct alike *alike, uint32_t document)
{
    return alike->same[alike->classes[document]];
}

const uint32_t *alike_directories(const struct alike *alike, uint32_t set, uint32_t *ret_n)
{
    *ret_n = alike->all[set].n;
    return numbers_of(&alike->all[set]);
}
