/* Winnowing keeps few of the numbers of a sequence, and of each run that two sequences share, if it
 * is as long as a window, at least one that the other keeps too.
 *
 * Idea: a choice that depends on a window alone is made alike wherever the window occurs. The
 * smallest number of each window is such a choice, and windows that overlap mostly have the same
 * one. Choosing what is 0 mod p, as sketches do, has the same density and no bound: a gap may be of
 * any length.
 *
 * Example, window 4:
 *
 *   numbers   77 74 42 17 98 50 17 98  8 88
 *   windows   77 74 42 17    -> 17 at 3
 *                74 42 17 98 -> 17 at 3 again
 *                   42 17 98 50 -> 17 at 3 again
 *                      17 98 50 17 -> 17, and the one at 3 is still there: it stays
 *                         98 50 17 98 -> 17 at 6
 *                            50 17 98  8 -> 8 at 8
 *                               17 98  8 88 -> 8 at 8 again
 *   chosen    17 at 3, 17 at 6, 8 at 8
 *
 * Of equal smallest numbers the one chosen before stays while it is in the window, and else the
 * last one is taken ("robust winnowing"): a text that repeats itself has one choice a window
 * instead of one a number. Which place is chosen then depends on more than the window; the number
 * does not, and only numbers are compared.
 *
 * Density: a window has a choice of its own when its smallest number is the first or the last of
 * w + 1 consecutive ones, so of random numbers 2 / (w + 1) are chosen; no way of choosing by
 * windows alone has less than 1.5 / (w + 1) (theorem 1 and 3 of the paper).
 *
 * Cost: a comparison a number, and a search through the window when its smallest number leaves it,
 * once in (w + 1) / 2 numbers or less: two or three comparisons a number in all.
 *
 * Left out: a queue of ascending numbers, which never searches and takes longer where windows are
 * short; and vectors, as winnowing takes a tenth of what hashing the words does.
 */
#include "engine/sketch/minima/winnowing.h"

#include <assert.h>

void winnowing_begin(struct winnowing *winnowing, size_t window)
{
    assert(window >= 1 && window <= WINNOWING_WINDOW_MAX);
    winnowing->window = window;
    winnowing->n = winnowing->smallest = 0;
}

static uint64_t value_at(const struct winnowing *winnowing, size_t at)
{
    return winnowing->values[at % WINNOWING_WINDOW_MAX];
}

/* The last of the smallest in the window that ends before `end`. */
static size_t find_smallest(const struct winnowing *winnowing, size_t end)
{
    size_t smallest = end - 1;
    for (size_t at = end - 1; at-- > end - winnowing->window;)
        if (value_at(winnowing, at) < value_at(winnowing, smallest))
            smallest = at;
    return smallest;
}

static struct winnowed chosen(const struct winnowing *winnowing)
{
    return (struct winnowed){winnowing->smallest, value_at(winnowing, winnowing->smallest)};
}

/* The next number. Returns whether another is chosen than before. */
static int add(struct winnowing *winnowing, uint64_t value)
{
    const size_t at = winnowing->n++, window = winnowing->window;
    const uint64_t smallest = value_at(winnowing, winnowing->smallest);
    winnowing->values[at % WINNOWING_WINDOW_MAX] = value;
    if (at < window) {
        if (at == 0 || value <= smallest)
            winnowing->smallest = at;
        return at + 1 == window;
    }
    if (winnowing->smallest + window > at && value >= smallest)
        return 0;
    winnowing->smallest = value < smallest ? at : find_smallest(winnowing, at + 1);
    return 1;
}

size_t winnowing_add(struct winnowing *winnowing, const uint64_t *values, size_t n,
                     struct winnowed *ret_chosen)
{
    size_t n_chosen = 0;
    for (size_t i = 0; i < n; i++)
        if (add(winnowing, values[i]))
            ret_chosen[n_chosen++] = chosen(winnowing);
    return n_chosen;
}

size_t winnowing_finish(struct winnowing *winnowing, struct winnowed *ret_chosen)
{
    if (winnowing->n == 0 || winnowing->n >= winnowing->window)
        return 0;
    *ret_chosen = chosen(winnowing);
    return 1;
}
