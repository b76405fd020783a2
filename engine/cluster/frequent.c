/* The summary of Misra and Gries: a counter for each of the values seen; when there are too many
 * counters all are lowered by the same amount, and those that reach 0 are dropped. A value loses at
 * most the sum of all lowerings.
 *
 * Example with n_counters = 1, the stream a b a a c: a 1, b 1 are two values, and both are lowered
 * by 1 and dropped; then a 2; with c 1 there are two again, and a keeps 1. a came three times, its
 * counter says 1, and 2 may be missed.
 *
 * Cost: amortised constant, as a lowering of n counters comes after n new values at least. Left
 * out: the Count-Min sketch, which overestimates and has to be asked about each value.
 */
#include "engine/cluster/frequent.h"

#include <errno.h>
#include <string.h>

enum { COUNTERS_MAX = 1 << 24 };

/* A hash table by linear probing. It has at least four times n_counters slots and is lowered when
 * there are twice n_counters values in it, so that it is never more than half full. */
struct frequent {
    size_t n_counters, n_used, n_slots; /* a power of two */
    struct frequent_value *slots;       /* count 0: free */
    struct frequent_value *sorted;      /* room for lowering */
    uint64_t missed;
};

int frequent_new(size_t n_counters, struct frequent **ret_frequent)
{
    _cleanup_(frequent_free_p) struct frequent *frequent = calloc(1, sizeof(*frequent));
    if (!frequent)
        return -ENOMEM;
    if (n_counters == 0 || n_counters > COUNTERS_MAX)
        return -EINVAL;
    frequent->n_counters = n_counters;
    frequent->n_slots = 4;
    while (frequent->n_slots < 4 * n_counters)
        frequent->n_slots *= 2;
    frequent->slots = calloc(frequent->n_slots, sizeof(*frequent->slots));
    frequent->sorted = calloc(2 * n_counters, sizeof(*frequent->sorted));
    if (!frequent->slots || !frequent->sorted)
        return -ENOMEM;
    *ret_frequent = TAKE_PTR(frequent);
    return 0;
}

void frequent_free(struct frequent *frequent)
{
    if (!frequent)
        return;
    free(frequent->slots);
    free(frequent->sorted);
    free(frequent);
}

/* The kept fingerprints are below a bound, so only their low bits are uniform; the multiplication
 * brings these into the bits that choose a slot. */
static struct frequent_value *slot_of(struct frequent *frequent, uint64_t value)
{
    size_t mask = frequent->n_slots - 1,
           at = (size_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
    while (frequent->slots[at].count && frequent->slots[at].value != value)
        at = (at + 1) & mask;
    return &frequent->slots[at];
}

static int compare_counts(const void *a, const void *b)
{
    const struct frequent_value *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1)
                                : (x->value > y->value) - (x->value < y->value);
}

/* Sorts the counters, the largest first, and returns their number. */
static size_t sort(struct frequent *frequent)
{
    size_t n = 0;
    for (size_t i = 0; i < frequent->n_slots; i++)
        if (frequent->slots[i].count)
            frequent->sorted[n++] = frequent->slots[i];
    qsort(frequent->sorted, n, sizeof(*frequent->sorted), compare_counts);
    return n;
}

/* All counters are lowered by the (n_counters + 1)-th largest one, which leaves n_counters at most.
 * Each lowering takes its amount from at least n_counters + 1 values, so all of them together come
 * to less than one in n_counters of all values added. */
static void lower(struct frequent *frequent)
{
    size_t n = sort(frequent);
    uint64_t by = frequent->sorted[frequent->n_counters].count;
    memset(frequent->slots, 0, frequent->n_slots * sizeof(*frequent->slots));
    frequent->n_used = 0;
    frequent->missed += by;
    for (size_t i = 0; i < n && frequent->sorted[i].count > by; i++, frequent->n_used++) {
        frequent->sorted[i].count -= by;
        *slot_of(frequent, frequent->sorted[i].value) = frequent->sorted[i];
    }
}

void frequent_add(struct frequent *frequent, uint64_t value)
{
    struct frequent_value *slot = slot_of(frequent, value);
    if (slot->count++ > 0)
        return;
    slot->value = value;
    if (++frequent->n_used == 2 * frequent->n_counters)
        lower(frequent);
}

uint64_t frequent_missed(const struct frequent *frequent)
{
    return frequent->missed;
}

size_t frequent_candidates(struct frequent *frequent, size_t n, struct frequent_value *ret_values,
                           size_t max)
{
    size_t n_all = sort(frequent), n_taken = 0;
    uint64_t least = n && n <= n_all ? frequent->sorted[n - 1].count : 0;
    while (n_taken < n_all && n_taken < max &&
           (n_taken < n || frequent->sorted[n_taken].count + frequent->missed > least))
        n_taken++;
    if (n_taken)
        memcpy(ret_values, frequent->sorted, n_taken * sizeof(*ret_values));
    return n_taken;
}
