/* Messages of the index: to the log, to whoever asks for the last error, and to whom something is
 * refused. Any thread; the lock is a leaf. */
#ifndef KINFS_ENGINE_INDEX_MESSAGES_H
#define KINFS_ENGINE_INDEX_MESSAGES_H

#include <pthread.h>

#include "engine/index/index.h"

/* Warnings that who writes in the tree brings about: the log has so many in an hour. */
enum { MESSAGES_WARNINGS_MAX = 1000, MESSAGES_BYTES = 256 };

struct messages {
    void (*log)(void *user, enum index_log_level level, const char *message); /* or NULL */
    void *user;
    pthread_mutex_t lock;            /* of what follows */
    char last_error[MESSAGES_BYTES]; /* "": none */
    int64_t warned_since_ms;         /* the hour that is counted; 0: none yet */
    unsigned n_warned;
};

void messages_init(struct messages *messages,
                   void (*log)(void *user, enum index_log_level level, const char *message),
                   void *user);
void messages_done(struct messages *messages);

/* A message that is no information becomes the last error, too. */
void messages_log(struct messages *messages, enum index_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A warning about the tree, as often as wanted: the log has MESSAGES_WARNINGS_MAX in an hour. */
void messages_warn(struct messages *messages, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* True: the log has had all of this hour. Whoever would have to look for a path first, which others
 * make long, need not. */
bool messages_are_full(struct messages *messages);
/* A warning that was to be, and has no path, counts as one: its path was looked for. */
void messages_warn_nothing(struct messages *messages);
/* Such an error is over: the last error is none, unless something was said since. */
void messages_over(struct messages *messages, const char *message);

/* The reason for which something is not done, for whoever wants to know (ret_error; without memory
 * NULL). Returns error. */
int index_refuse(char **ret_error, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
