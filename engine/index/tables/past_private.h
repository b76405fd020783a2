/* Keys of the rows of the past, which the files that read, check and copy them share. */
#ifndef KINFS_ENGINE_INDEX_TABLES_PAST_PRIVATE_H
#define KINFS_ENGINE_INDEX_TABLES_PAST_PRIVATE_H

#include "engine/index/tables/past.h"

enum { PAST_OWNER_BYTES = 4, PAST_PLACE_BYTES = 16 };
enum { PAST_ROW_EVENT = 'e', PAST_ROW_FILE = 'f', PAST_ROW_PATH = 'p', PAST_ROW_COUNT = 'n' };
enum { PAST_KEY_MAX_BYTES = PAST_OWNER_BYTES + 1 + PAST_PATH_MAX + 1 + PAST_PLACE_BYTES };

struct past_key {
    uint8_t bytes[PAST_KEY_MAX_BYTES];
    size_t size_bytes;
};

static inline struct kv_slice past_key_slice(const struct past_key *key)
{
    return (struct kv_slice){key->bytes, key->size_bytes};
}

void past_key_begin(struct past_key *key, uid_t owner, uint8_t row);
void past_key_event(struct past_key *key, uid_t owner, uint64_t time_ns, uint64_t number);
/* Without the place, which is added. */
void past_key_file(struct past_key *key, uid_t owner, const struct file_key *file);
void past_key_path(struct past_key *key, uid_t owner, const char *path);
void past_key_add_place(struct past_key *key, uint64_t time_ns, uint64_t number);
/* By the one or, NULL, by the other. */
static inline void past_key_line(struct past_key *key, uid_t owner, const struct file_key *file,
                                 const char *path)
{
    if (file)
        past_key_file(key, owner, file);
    else
        past_key_path(key, owner, path);
}

/* There is a row by path. */
static inline bool past_leaves_place(enum past_kind kind)
{
    return kind != PAST_CHANGED;
}

/* Relative, without ".", ".." and empty names. */
bool past_is_path(const char *path, size_t size_bytes);

/* The place at the end of a row that leads to an event. */
void past_take_place(const struct kv_entry *row, struct past_place *ret_place);

/* A row of an event. Returns 0, -EUCLEAN or -ENOMEM; end with past_event_done(). */
int past_decode(const struct kv_entry *row, struct past_event *ret_event);

/* All rows of a range, or all owners. What visit returns but 0 ends it and is returned. Of the walk
 * only the store and stop are used. */
int past_each_row(const struct past_walk *walk, struct kv_range range,
                  int (*visit)(void *user, const struct kv_entry *row), void *user);
int past_each_owner(const struct past_walk *walk, int (*visit)(void *user, uid_t owner),
                    void *user);
/* Events of an owner; keys are what the range points to. */
void past_events_of(uid_t owner, uint64_t from_ns, struct past_key keys[2],
                    struct kv_range *ret_range);
int past_each_of_owner(struct past_walk *walk, uid_t owner);

#endif
