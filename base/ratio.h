/* A resemblance or a containment as it is shown, in every name, attribute, line and JSON number.
 * 1 is shown for equal documents, and for an exact value of 1. A smaller value is never rounded up
 * to it, so that nobody takes two documents for one. */
#ifndef KINFS_BASE_RATIO_H
#define KINFS_BASE_RATIO_H

#include <stdio.h>

/* The greatest value that is shown below 1: the last number of four decimals. */
#define RATIO_BELOW_ONE 0.9999

static inline double ratio_shown(double ratio)
{
    return ratio >= 1 ? 1 : ratio > RATIO_BELOW_ONE ? RATIO_BELOW_ONE : ratio;
}

/* "0.8113"; of numbers, not of NAN. */
struct ratio_text {
    char text[16];
};
static inline struct ratio_text ratio_text(double ratio)
{
    struct ratio_text text;
    snprintf(text.text, sizeof(text.text), "%.4f", ratio_shown(ratio));
    return text;
}

/* 0 to 100, rounded down. (0.29 * 100 is 28.999999999999996, hence the 1e-9. Ratios are fractions
 * of small numbers, and none is so close below a whole per cent that this would lift it there.) */
static inline unsigned ratio_percent(double ratio)
{
    return ratio > 0 ? (unsigned)(ratio_shown(ratio) * 100 + 1e-9) : 0;
}

#endif
