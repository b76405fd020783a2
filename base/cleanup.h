/* Scope-bound destructors: a function releases everything that it acquires on every way out. */
#ifndef KINFS_BASE_CLEANUP_H
#define KINFS_BASE_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* Defines f_p(T *p), which calls f(*p) when *p is not NULL, for use with _cleanup_(f_p). */
#define DEFINE_CLEANUP(T, f)                                                                       \
    static inline void f##_p(T *p)                                                                 \
    {                                                                                              \
        if (*p)                                                                                    \
            f(*p);                                                                                 \
    }                                                                                              \
    struct f##_swallow_semicolon

static inline void free_p(void *p)
{
    free(*(void **)p);
}

/* Keeps errno, so that it can stand between a failed call and the return of its error. */
static inline void close_p(int *fd)
{
    if (*fd >= 0) {
        int saved = errno;
        close(*fd);
        errno = saved;
    }
}

static inline void unlock_p(pthread_mutex_t **mutex)
{
    if (*mutex)
        pthread_mutex_unlock(*mutex);
}

static inline pthread_mutex_t *lock_mutex(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    return mutex;
}

DEFINE_CLEANUP(DIR *, closedir);
DEFINE_CLEANUP(FILE *, fclose);

#define _cleanup_free_ _cleanup_(free_p)
#define _cleanup_close_ _cleanup_(close_p)
#define _cleanup_closedir_ _cleanup_(closedir_p)
#define _cleanup_fclose_ _cleanup_(fclose_p)

/* Holds the mutex until the end of the scope. */
#define LOCKED_CONCAT_(a, b) a##b
#define LOCKED_NAME_(line) LOCKED_CONCAT_(locked_, line)
#define LOCKED(mutex)                                                                              \
    _cleanup_(unlock_p) pthread_mutex_t *LOCKED_NAME_(__LINE__) __attribute__((unused)) =          \
        lock_mutex(mutex)

/* Gives the pointer away: the variable's cleanup then has nothing to do. */
#define TAKE_PTR(p)                                                                                \
    ({                                                                                             \
        __typeof__(p) taken_ = (p);                                                                \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    })

#define TAKE_FD(fd)                                                                                \
    ({                                                                                             \
        int taken_ = (fd);                                                                         \
        (fd) = -1;                                                                                 \
        taken_;                                                                                    \
    })

#endif
