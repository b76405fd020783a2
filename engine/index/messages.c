#include "engine/index/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

void messages_init(struct messages *messages,
                   void (*log)(void *user, enum index_log_level level, const char *message),
                   void *user)
{
    *messages = (struct messages){.log = log, .user = user};
    pthread_mutex_init(&messages->lock, NULL);
}

void messages_done(struct messages *messages)
{
    pthread_mutex_destroy(&messages->lock);
}

static void take_error(struct messages *messages, const char message[MESSAGES_BYTES])
{
    LOCKED(&messages->lock);
    memcpy(messages->last_error, message, MESSAGES_BYTES);
}

void messages_log(struct messages *messages, enum index_log_level level, const char *format, ...)
{
    char message[MESSAGES_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (level != INDEX_LOG_INFO)
        take_error(messages, message);
    if (messages->log)
        messages->log(messages->user, level, message);
}

/* Under the lock. */
static bool is_hour_over(const struct messages *messages, int64_t now_ms)
{
    enum { HOUR_MS = 3600 * 1000 };
    return !messages->warned_since_ms || now_ms - messages->warned_since_ms >= HOUR_MS;
}

bool messages_are_full(struct messages *messages)
{
    const int64_t now_ms = clock_now_ms();
    LOCKED(&messages->lock);
    return messages->n_warned >= MESSAGES_WARNINGS_MAX && !is_hour_over(messages, now_ms);
}

/* The number of warnings of the tree this hour, this one included. */
static unsigned count_warning(struct messages *messages)
{
    const int64_t now_ms = clock_now_ms();
    LOCKED(&messages->lock);
    if (is_hour_over(messages, now_ms)) {
        messages->warned_since_ms = now_ms;
        messages->n_warned = 0;
    }
    if (messages->n_warned <= MESSAGES_WARNINGS_MAX)
        messages->n_warned++;
    return messages->n_warned;
}

static void warn(struct messages *messages, const char *message)
{
    const unsigned n = count_warning(messages);
    if (messages->log && message && n <= MESSAGES_WARNINGS_MAX)
        messages->log(messages->user, INDEX_LOG_WARNING, message);
    if (messages->log && n == MESSAGES_WARNINGS_MAX)
        messages->log(
            messages->user, INDEX_LOG_WARNING,
            "more of what cannot be read is not told for an hour; kinfs status FILE does");
}

void messages_warn(struct messages *messages, const char *format, ...)
{
    char message[MESSAGES_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    take_error(messages, message);
    warn(messages, message);
}

void messages_warn_nothing(struct messages *messages)
{
    warn(messages, NULL);
}

void messages_over(struct messages *messages, const char *message)
{
    LOCKED(&messages->lock);
    if (strcmp(messages->last_error, message) == 0)
        *messages->last_error = '\0';
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
