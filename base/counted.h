/* A number with its noun, in the singular or the plural: "1 cluster", "2 clusters". */
#ifndef KINFS_BASE_COUNTED_H
#define KINFS_BASE_COUNTED_H

#include <stdint.h>

struct counted {
    char text[64];
};

/* noun  in the singular; the plural has an s at its end
 * The result is used at once: printf("%s", counted(n, "row").text)
 */
struct counted counted(uint64_t n, const char *noun);

#endif
