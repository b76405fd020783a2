/* counted(2, "row") is "2 rows", and counted(1, "row") is "1 row". */
#include "base/counted.h"

#include <inttypes.h>
#include <stdio.h>

struct counted counted(uint64_t n, const char *noun)
{
    struct counted said;

    snprintf(said.text, sizeof(said.text), "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
    return said;
}
