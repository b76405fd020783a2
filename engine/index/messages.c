/* What the index says: to the log, and to whom it refuses something. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/index/index_private.h"

static void take_error(struct index *index, const char message[sizeof(index->last_error)])
{
    LOCKED(&index->error_lock);
    memcpy(index->last_error, message, sizeof(index->last_error));
}

void index_log(struct index *index, enum index_log_level level, const char *format, ...)
{
    char message[sizeof(index->last_error)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (level != INDEX_LOG_INFO)
        take_error(index, message);
    if (index->log)
        index->log(index->log_user, level, message);
}

/* How many warnings of the tree there were this hour, this one included. */
static unsigned count_warning(struct index *index)
{
    enum { HOUR_MS = 3600 * 1000 };
    const int64_t now_ms = clock_now_ms();
    LOCKED(&index->error_lock);
    if (!index->warned_since_ms || now_ms - index->warned_since_ms >= HOUR_MS) {
        index->warned_since_ms = now_ms;
        index->n_warned = 0;
    }
    if (index->n_warned <= INDEX_WARNINGS_MAX)
        index->n_warned++;
    return index->n_warned;
}

void index_warn(struct index *index, const char *format, ...)
{
    char message[sizeof(index->last_error)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    take_error(index, message);
    const unsigned n = count_warning(index);
    if (index->log && n <= INDEX_WARNINGS_MAX)
        index->log(index->log_user, INDEX_LOG_WARNING, message);
    if (index->log && n == INDEX_WARNINGS_MAX)
        index->log(index->log_user, INDEX_LOG_WARNING,
                   "more of what cannot be read is not told for an hour; kinfs status FILE does");
}

void index_error_over(struct index *index, const char *message)
{
    LOCKED(&index->error_lock);
    if (strcmp(index->last_error, message) == 0)
        *index->last_error = '\0';
}

int index_refuse(char **ret_error, int error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (ret_error && vasprintf(ret_error, format, arguments) < 0)
        *ret_error = NULL;
    va_end(arguments);
    return error;
}
