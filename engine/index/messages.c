/* What the index says: to the log, and to whom it refuses something. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/index/index_private.h"

void index_log(struct index *index, enum index_log_level level, const char *format, ...)
{
    char message[sizeof(index->last_error)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (level != INDEX_LOG_INFO) {
        LOCKED(&index->error_lock);
        memcpy(index->last_error, message, sizeof(index->last_error));
    }
    if (index->log)
        index->log(index->log_user, level, message);
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
