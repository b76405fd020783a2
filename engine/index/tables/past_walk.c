/* Events of the past as they are asked for: by time, by document, by place. */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "engine/index/tables/past_private.h"
#include "engine/index/tables/schema.h"

enum { ROWS_AT_ONCE = 256 };

/* -- walks -- */

static int visit_row(struct past_walk *walk, const struct kv_entry *row)
{
    _cleanup_(past_event_done) struct past_event event = {0};
    int r = past_decode(row, &event);
    walk->n_damaged += r == -EUCLEAN;
    if (r < 0)
        return r == -EUCLEAN ? 0 : r;
    return event.time_ns < walk->since_ns ? 0 : walk->visit(walk->user, &event);
}

static bool is_stopped(const struct past_walk *walk)
{
    return walk->stop && walk->stop(walk->stop_user);
}

int past_each_row(const struct past_walk *walk, struct kv_range range,
                  int (*visit)(void *user, const struct kv_entry *row), void *user)
{
    _cleanup_(kv_buf_done) struct kv_buf from = {0};
    int r = 0;
    for (bool more = true; r == 0 && more;) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        r = is_stopped(walk) ? -EINTR : kv_scan(walk->kv, TABLE_PAST, &range, ROWS_AT_ONCE, &page);
        for (size_t i = 0; r == 0 && i < page.n_entries; i++)
            r = visit(user, &page.entries[i]);
        more = r == 0 && page.more && page.n_entries > 0;
        if (more) {
            kv_buf_done(&from);
            r = kv_page_cursor(&page, &from);
            range.from = kv_buf_slice(&from);
        }
    }
    return r;
}

static int visit_event_row(void *user, const struct kv_entry *row)
{
    return visit_row(user, row);
}

void past_events_of(uid_t owner, uint64_t from_ns, struct past_key keys[2],
                    struct kv_range *ret_range)
{
    past_key_event(&keys[0], owner, from_ns, 0);
    past_key_begin(&keys[1], owner, PAST_ROW_EVENT + 1);
    *ret_range = (struct kv_range){past_key_slice(&keys[0]), past_key_slice(&keys[1])};
}

int past_each_of_owner(struct past_walk *walk, uid_t owner)
{
    struct past_key keys[2];
    struct kv_range range;
    past_events_of(owner, walk->since_ns, keys, &range);
    return past_each_row(walk, range, visit_event_row, walk);
}

int past_each_owner(const struct past_walk *walk, int (*visit)(void *user, uid_t owner), void *user)
{
    int64_t after = -1;
    uid_t owner;
    int r;
    while ((r = past_next_owner(walk->kv, after, &owner)) > 0) {
        r = is_stopped(walk) ? -EINTR : visit(user, owner);
        if (r != 0)
            return r;
        after = owner;
    }
    return r;
}

static int walk_owner(void *user, uid_t owner)
{
    return past_each_of_owner(user, owner);
}

int past_each(struct past_walk *walk)
{
    return past_each_owner(walk, walk_owner, walk);
}

/* -- lines -- */

void past_take_place(const struct kv_entry *row, struct past_place *ret_place)
{
    const uint8_t *at = (const uint8_t *)row->key.data + row->key.size_bytes - PAST_PLACE_BYTES;
    *ret_place =
        (struct past_place){get_be64(at), get_be64(at + 8),
                            row->value.size_bytes == 1 ? *(const uint8_t *)row->value.data : 0};
}

int past_line(struct kv *kv, uid_t owner, const struct file_key *file, const char *path,
              size_t limit, struct past_place *ret_places, size_t *ret_n)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    _cleanup_(kv_buf_done) struct kv_buf to = {0};
    struct past_key prefix;
    struct kv_range range;
    past_key_line(&prefix, owner, file, path);
    int r = kv_prefix_range(past_key_slice(&prefix), &range, &to);
    if (r == 0)
        r = kv_scan(kv, TABLE_PAST, &range, limit, &page);
    if (r < 0)
        return r;
    size_t n = 0;
    for (size_t i = 0; i < page.n_entries; i++)
        if (page.entries[i].key.size_bytes == prefix.size_bytes + PAST_PLACE_BYTES)
            past_take_place(&page.entries[i], &ret_places[n++]);
    *ret_n = n;
    return 0;
}

int past_get(struct kv *kv, uid_t owner, const struct past_place *place,
             struct past_event *ret_event)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct past_key key;
    past_key_event(&key, owner, place->time_ns, place->number);
    int r = kv_get(kv, TABLE_PAST, past_key_slice(&key), &value);
    if (r < 0)
        return r;
    const struct kv_entry row = {past_key_slice(&key), kv_buf_slice(&value)};
    return past_decode(&row, ret_event);
}

struct line_walk {
    struct past_walk *walk;
    const struct file_key *file;
    const char *path;
};

/* More than the committer leaves there, as bounds may change. */
enum { LINE_MAX_ROWS = 256 };

static int walk_line(void *user, uid_t owner)
{
    const struct line_walk *line = user;
    struct past_walk *walk = line->walk;
    struct past_place places[LINE_MAX_ROWS];
    size_t n = 0;
    int r = past_line(walk->kv, owner, line->file, line->path, LINE_MAX_ROWS, places, &n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        _cleanup_(past_event_done) struct past_event event = {0};
        if (places[i].time_ns < walk->since_ns)
            continue;
        r = past_get(walk->kv, owner, &places[i], &event);
        walk->n_damaged += r == -EUCLEAN || r == -ENOENT;
        r = r == -EUCLEAN || r == -ENOENT ? 0 : r < 0 ? r : walk->visit(walk->user, &event);
    }
    return r;
}

int past_of_file(struct past_walk *walk, const struct file_key *file)
{
    struct line_walk line = {walk, file, NULL};
    return past_each_owner(walk, walk_line, &line);
}

int past_of_file_by(struct past_walk *walk, const struct file_key *file, uid_t owner)
{
    struct line_walk line = {walk, file, NULL};
    return is_stopped(walk) ? -EINTR : walk_line(&line, owner);
}

int past_of_path(struct past_walk *walk, const char *path)
{
    struct line_walk line = {walk, NULL, path};
    return past_is_path(path, strlen(path)) ? past_each_owner(walk, walk_line, &line) : 0;
}

struct below {
    const struct past_walk *walk;
    const char *path;
};

static int is_young(void *user, const struct kv_entry *row)
{
    const struct below *below = user;
    struct past_place place;
    if (row->key.size_bytes < PAST_OWNER_BYTES + 1 + PAST_PLACE_BYTES)
        return 0;
    past_take_place(row, &place);
    return place.time_ns >= below->walk->since_ns;
}

static int has_below(void *user, uid_t owner)
{
    const struct below *below = user;
    _cleanup_(kv_buf_done) struct kv_buf to = {0};
    struct past_key prefix;
    struct kv_range range;
    past_key_path(&prefix, owner, below->path);
    prefix.bytes[prefix.size_bytes - 1] = '/';
    int r = kv_prefix_range(past_key_slice(&prefix), &range, &to);
    return r < 0 ? r : past_each_row(below->walk, range, is_young, user);
}

int past_has_below(const struct past_walk *walk, const char *path)
{
    struct below below = {walk, path};
    return past_is_path(path, strlen(path)) ? past_each_owner(walk, has_below, &below) : 0;
}
