/* A number and what it counts, as they are said: "1 cluster", "2 clusters". */
#ifndef KINFS_BASE_COUNTED_H
#define KINFS_BASE_COUNTED_H

#include <stdint.h>

struct counted {
    char text[64];
};

/* noun  of one; the others have an s, at its end. Used at once: printf("%s", counted(n,
 * "row").text)
 */
struct counted counted(uint64_t n, const char *noun);

#endif
