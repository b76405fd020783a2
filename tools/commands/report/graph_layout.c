/* Layout by stress majorization (Gansner, Koren, North 2004): two documents of resemblance r are to
 * be 1 - r apart, and a little more, so that equal ones do not lie on each other. The stress
 *
 *     sum over pairs of  w (|p_i - p_j| - d_ij)^2,   w = 1 / d_ij^2
 *
 * never rises when each document moves to the weighted mean of where each of the others would have
 * it: d_ij away from that one, in the direction in which it is. It begins on a circle, in an order
 * in which those that resemble each other are neighbours, and so needs no random numbers.
 *
 * Example: three documents of 1 - r = 0.5 each become a triangle of equal sides; two pairs of equal
 * ones that have nothing in common become two dots each, at two ends.
 *
 * Left out: a stop when the stress falls no more; at most 64 documents are a millisecond or two.
 */
#include "tools/commands/report/graph_layout.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { ROUNDS = 300 };
static const double LEAST_APART = 0.06; /* of equal ones; of those with nothing in common 1.06 */

static double apart(const double *resemblances, size_t n, size_t i, size_t j)
{
    const double resemblance = resemblances[i * n + j];
    return LEAST_APART + 1 - (isnan(resemblance) ? 0 : resemblance);
}

static struct graph_place moved(const double *resemblances, const struct graph_place *places,
                                size_t n, size_t i)
{
    double weight = 0, x = 0, y = 0;
    for (size_t j = 0; j < n; j++) {
        if (j == i)
            continue;
        const double d = apart(resemblances, n, i, j), w = 1 / (d * d);
        const double dx = places[i].x - places[j].x, dy = places[i].y - places[j].y;
        const double is = hypot(dx, dy), factor = is > 1e-9 ? d / is : 0;
        weight += w;
        x += w * (places[j].x + dx * factor);
        y += w * (places[j].y + dy * factor);
    }
    return weight > 0 ? (struct graph_place){x / weight, y / weight} : places[i];
}

/* The larger of width and height becomes 1, and the picture is in the middle. */
static void fit(struct graph_place *places, size_t n)
{
    double x_min = INFINITY, x_max = -INFINITY, y_min = INFINITY, y_max = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        x_min = fmin(x_min, places[i].x);
        x_max = fmax(x_max, places[i].x);
        y_min = fmin(y_min, places[i].y);
        y_max = fmax(y_max, places[i].y);
    }
    const double span = fmax(fmax(x_max - x_min, y_max - y_min), 1e-9);
    for (size_t i = 0; i < n; i++) {
        places[i].x = 0.5 + (places[i].x - (x_min + x_max) / 2) / span;
        places[i].y = 0.5 + (places[i].y - (y_min + y_max) / 2) / span;
    }
}

int graph_layout(const double *resemblances, const uint32_t *order, size_t n,
                 struct graph_place *ret_places)
{
    _cleanup_free_ struct graph_place *next = calloc(n + 1, sizeof(*next));
    if (!next)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const double angle = 2 * M_PI * (double)i / (double)n;
        ret_places[order[i]] = (struct graph_place){0.5 * cos(angle), 0.5 * sin(angle)};
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < n; i++)
            next[i] = moved(resemblances, ret_places, n, i);
        memcpy(ret_places, next, n * sizeof(*next));
    }
    fit(ret_places, n);
    return 0;
}
