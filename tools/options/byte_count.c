#include "tools/options/byte_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int byte_count_parse(const char *text, uint64_t *ret_bytes)
{
    static const char units[] = "KMGT";
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        value *= (double)((uint64_t)1 << (10 * (unit - units + 1)));
        end++;
    }
    if (end == text || *end || !(value >= 1 && value <= 0x1p60))
        return -EINVAL;
    *ret_bytes = (uint64_t)value;
    return 0;
}
