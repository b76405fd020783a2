/* Winnowing: of each `window` consecutive numbers the smallest is chosen, so that what two
 * sequences have in common for that long has a choice in common, wherever it stands in them.
 *
 * Schleimer, Wilkerson, Aiken 2003, "Winnowing: local algorithms for document fingerprinting".
 */
#ifndef KINFS_ENGINE_SKETCH_MINIMA_WINNOWING_H
#define KINFS_ENGINE_SKETCH_MINIMA_WINNOWING_H

#include <stddef.h>
#include <stdint.h>

enum { WINNOWING_WINDOW_MAX = 256 };

/* Begun by winnowing_begin(); holds no memory of its own. */
struct winnowing {
    uint64_t values[WINNOWING_WINDOW_MAX]; /* the last ones, as a ring */
    size_t window, n, smallest;            /* n: numbers so far; smallest: where that is in them */
};

struct winnowed {
    uint64_t at; /* its place in the sequence, from 0 */
    uint64_t value;
};

/* window  1 to WINNOWING_WINDOW_MAX numbers */
void winnowing_begin(struct winnowing *winnowing, size_t window);

/* The next numbers of the sequence, in pieces of any size.
 *
 * ret_chosen  room for n; ascending by place over all calls
 *
 * Returns how many are chosen: of random numbers 2 / (window + 1) of them. Linear, 2 ns a number;
 * only its arguments. */
size_t winnowing_add(struct winnowing *winnowing, const uint64_t *values, size_t n,
                     struct winnowed *ret_chosen);

/* No more of them: the smallest of a sequence that is shorter than a window. Returns 1, or 0 where
 * all is chosen already. */
size_t winnowing_finish(struct winnowing *winnowing, struct winnowed *ret_chosen);

#endif
