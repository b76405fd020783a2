/* Seriation by average linkage. Each document begins as a row of one. The two rows whose documents
 * resemble each other most in the mean are put behind each other, until there is one row; of the
 * four ways to do so that one is taken in which the two ends that come to touch resemble most.
 *
 *     a b . c d     a-b, then c-d are joined; then "a b" and "c d", of which b and c touch if they
 *                   resemble more than a-c, a-d and b-d
 *
 * Left out: the best of all orders of the leaves (Bar-Joseph et al. 2001), which takes n^3 steps
 * for each level and moves few documents of a cluster.
 */
#include "tools/commands/report/seriation.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct seriation {
    const double *resemblances;
    size_t n;
    double *means;  /* of two rows, by their first documents */
    uint32_t *next; /* by document the one behind it in its row; NONE: it is the last */
    uint32_t *last; /* by the first of a row its last */
    uint32_t *n_in; /* by the first of a row how many are in it */
    bool *begins;   /* by document: a row begins with it */
};
enum { NONE = UINT32_MAX };

static double at(const struct seriation *s, uint32_t i, uint32_t j)
{
    const double resemblance = s->resemblances[i * s->n + j];
    return isnan(resemblance) ? 0 : resemblance;
}

static void find_closest(const struct seriation *s, uint32_t *ret_a, uint32_t *ret_b)
{
    double most = -1;
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = i + 1; s->begins[i] && j < s->n; j++)
            if (s->begins[j] && s->means[i * s->n + j] > most) {
                most = s->means[i * s->n + j];
                *ret_a = i;
                *ret_b = j;
            }
}

/* The row that begins with `first` begins with its last one then, which is returned. */
static uint32_t turn(struct seriation *s, uint32_t first)
{
    const uint32_t new_first = s->last[first];
    uint32_t before = NONE;
    for (uint32_t i = first, after; i != NONE; before = i, i = after) {
        after = s->next[i];
        s->next[i] = before;
    }
    s->last[new_first] = first;
    return new_first;
}

/* Which row begins with which document changes; the means are kept with the smaller of the two old
 * ones. */
static void join(struct seriation *s, uint32_t a, uint32_t b, uint32_t *row_a, uint32_t *row_b)
{
    uint32_t first_a = *row_a, first_b = *row_b;
    const double ends[4] = {at(s, s->last[first_a], first_b),
                            at(s, s->last[first_a], s->last[first_b]), at(s, first_a, first_b),
                            at(s, first_a, s->last[first_b])};
    unsigned best = 0;
    for (unsigned i = 1; i < 4; i++)
        if (ends[i] > ends[best])
            best = i;
    if (best >= 2)
        first_a = turn(s, first_a);
    if (best % 2)
        first_b = turn(s, first_b);
    s->next[s->last[first_a]] = first_b;
    s->last[first_a] = s->last[first_b];
    for (uint32_t i = 0; i < s->n; i++) {
        const double mean =
            (s->means[a * s->n + i] * s->n_in[a] + s->means[b * s->n + i] * s->n_in[b]) /
            (s->n_in[a] + s->n_in[b]);
        s->means[a * s->n + i] = s->means[i * s->n + a] = mean;
    }
    s->n_in[a] += s->n_in[b];
    s->begins[b] = false;
    *row_a = first_a;
}

static void run(struct seriation *s, uint32_t *rows, uint32_t *ret_order)
{
    for (uint32_t i = 0; i < s->n; i++) {
        s->next[i] = NONE;
        s->last[i] = rows[i] = i;
        s->n_in[i] = 1;
        s->begins[i] = true;
        for (uint32_t j = 0; j < s->n; j++)
            s->means[i * s->n + j] = at(s, i, j);
    }
    for (size_t n = s->n; n > 1; n--) {
        uint32_t a = 0, b = 0;
        find_closest(s, &a, &b);
        join(s, a, b, &rows[a], &rows[b]);
    }
    size_t n = 0;
    for (uint32_t i = s->n ? rows[0] : NONE; i != NONE; i = s->next[i])
        ret_order[n++] = i;
}

int seriation_find(const double *resemblances, size_t n, uint32_t *ret_order)
{
    _cleanup_free_ double *means = calloc(n * n + 1, sizeof(*means));
    _cleanup_free_ uint32_t *numbers = calloc(4 * n + 1, sizeof(*numbers));
    _cleanup_free_ bool *begins = calloc(n + 1, sizeof(*begins));
    if (!means || !numbers || !begins)
        return -ENOMEM;
    struct seriation s = {.resemblances = resemblances,
                          .n = n,
                          .means = means,
                          .next = numbers,
                          .last = numbers + n,
                          .n_in = numbers + 2 * n,
                          .begins = begins};
    run(&s, numbers + 3 * n, ret_order);
    return 0;
}
