/* Shorthands for a queue of changes of numbered files. Included behind cmocka.h. */
#ifndef KINFS_TESTS_LIB_CHANGE_QUEUE_FIXTURE_H
#define KINFS_TESTS_LIB_CHANGE_QUEUE_FIXTURE_H

#include <string.h>

#include "engine/index/queue/change_queue_private.h"

static inline struct file_key key_of(unsigned n)
{
    struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES};
    memcpy(key.bytes, &n, sizeof(n));
    return key;
}

static inline void count_work(void *user)
{
    ++*(unsigned *)user;
}

static inline struct change_queue *new_queue(size_t max)
{
    const size_t max_changes[LANE_N] = {max, max};
    struct change_queue *queue;
    assert_int_equal(change_queue_new(max_changes, &queue), 0);
    return queue;
}

static inline int note(struct change_queue *queue, enum change_lane lane, unsigned n)
{
    struct file_key key = key_of(n);
    return change_queue_note(queue, lane, CHANGE_CONTENT, &key, NULL, NULL);
}

/* The next change, which must be of file n. */
static inline struct change *take(struct change_queue *queue, unsigned n)
{
    struct file_key key = key_of(n);
    struct change *change;
    assert_int_equal(change_queue_take(queue, CHANGE_CONTENT, false, &change), 1);
    assert_true(file_key_equal(&change->key, &key));
    return change;
}

static inline void assert_empty(struct change_queue *queue)
{
    struct change *change;
    assert_int_equal(change_queue_take(queue, CHANGE_CONTENT, false, &change), 0);
}

/* The next slow change, which must be of file n. */
static inline struct change *take_slow(struct change_queue *queue, unsigned n)
{
    struct file_key key = key_of(n);
    struct change *change;
    assert_int_equal(change_queue_take(queue, CHANGE_SLOW_CONTENT, false, &change), 1);
    assert_true(file_key_equal(&change->key, &key));
    return change;
}

static inline void note_slow(struct change_queue *queue, enum change_lane lane, unsigned n,
                             uid_t owner)
{
    assert_int_equal(note(queue, lane, n), 1);
    change_queue_pass_on(queue, take(queue, n), owner, false);
}

static inline int note_below(struct change_queue *queue, unsigned n, uid_t owner,
                             const struct change *parent)
{
    struct file_key key = key_of(n);
    return change_queue_note_below(queue, &key, owner, parent);
}

struct settler {
    struct change_queue *queue;
    int result;
};

static inline void *settle(void *user)
{
    struct settler *settler = user;
    settler->result = change_queue_settle(settler->queue, LANE_FOREGROUND, -1);
    return NULL;
}

#endif
