/* Room for more items of an array, which grows by doubling. */
#ifndef KINFS_BASE_ROOM_H
#define KINFS_BASE_ROOM_H

#include <stddef.h>
#include <stdlib.h>

/* An array of `room` items that needs room for n has this much then. */
static inline size_t room_for(size_t room, size_t n)
{
    const size_t more = room < 8 ? 16 : 2 * room;
    return more < n ? n : more;
}

/* The array, NULL for 0, has room for `room` items. Where these are fewer than n, it is allocated
 * anew, and both are set. True when it has room for n. False when there is no memory, and nothing
 * has changed. */
#define MAKE_ROOM(array, room, n)                                                                  \
    ((n) <= (room) || ({                                                                           \
         const size_t room_ = room_for(room, n);                                                   \
         void *larger_ = reallocarray(array, room_, sizeof(*(array)));                             \
         if (larger_) {                                                                            \
             (array) = larger_;                                                                    \
             (room) = room_;                                                                       \
         }                                                                                         \
         larger_ != NULL;                                                                          \
     }))

#endif
