#include "tools/options/duration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/index.h"

int duration_parse(const char *text, uint64_t *ret_seconds)
{
    static const struct {
        const char *unit;
        uint64_t seconds;
    } units[] = {{"s", 1},     {"m", 60},     {"h", 3600},
                 {"d", 86400}, {"w", 604800}, {"y", UINT64_C(365) * 86400}};
    const uint64_t most = 1000 * UINT64_C(365) * 86400;
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || errno)
        return -EINVAL;
    if (number == 0 && !*end) {
        *ret_seconds = 0;
        return 0;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].unit) == 0) {
            if (number > most / units[i].seconds)
                return -EINVAL;
            *ret_seconds = number * units[i].seconds;
            return 0;
        }
    return -EINVAL;
}

int duration_parse_keep_lost(const char *text, uint64_t *ret_keep_lost_s)
{
    uint64_t seconds;
    int r = duration_parse(text, &seconds);
    if (r == 0)
        *ret_keep_lost_s = seconds ? seconds : INDEX_KEEP_LOST_NONE;
    return r;
}
