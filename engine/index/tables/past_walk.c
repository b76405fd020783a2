/* Events of the past as they are asked for: by time, by document, by place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/room.h"
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

/* Lines that are asked for together: of documents, or of a path and the directories above it. */
struct lines {
    struct past_walk *walk;
    const struct file_key *files; /* ascending, or NULL */
    const char *path;
    size_t n;
};

/* More than the committer leaves in a line, as bounds may change. */
enum { LINE_MAX_ROWS = 256 };

static int visit_places(struct past_walk *walk, uid_t owner, const struct past_place *places,
                        size_t n)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        _cleanup_(past_event_done) struct past_event event = {0};
        if (places[i].time_ns < walk->since_ns)
            continue;
        if (i % ROWS_AT_ONCE == ROWS_AT_ONCE - 1 && is_stopped(walk))
            return -EINTR;
        r = past_get(walk->kv, owner, &places[i], &event);
        walk->n_damaged += r == -EUCLEAN || r == -ENOENT;
        r = r == -EUCLEAN || r == -ENOENT ? 0 : r < 0 ? r : walk->visit(walk->user, &event);
    }
    return r;
}

static int walk_line(struct past_walk *walk, uid_t owner, const struct file_key *file,
                     const char *path)
{
    struct past_place places[LINE_MAX_ROWS];
    size_t n = 0;
    int r = past_line(walk->kv, owner, file, path, LINE_MAX_ROWS, places, &n);
    return r < 0 ? r : visit_places(walk, owner, places, n);
}

static int walk_each_line(const struct lines *lines, uid_t owner)
{
    char path[PAST_PATH_MAX + 1] = "";
    int r = 0;
    if (!lines->files)
        strcpy(path, lines->path);
    for (size_t i = 0; r == 0 && i < lines->n; i++) {
        if (i % ROWS_AT_ONCE == ROWS_AT_ONCE - 1 && is_stopped(lines->walk))
            return -EINTR;
        r = walk_line(lines->walk, owner, lines->files ? &lines->files[i] : NULL, path);
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    return r;
}

/* The row is in one of the lines. */
static bool is_in_lines(const struct lines *lines, const struct kv_entry *row)
{
    const uint8_t *bytes = (const uint8_t *)row->key.data + PAST_OWNER_BYTES + 1;
    if (row->key.size_bytes <= PAST_OWNER_BYTES + 1 + PAST_PLACE_BYTES)
        return false;
    const size_t n = row->key.size_bytes - PAST_OWNER_BYTES - 1 - PAST_PLACE_BYTES;
    if (lines->files) {
        struct file_key key = {.size_bytes = bytes[0]};
        if (key.size_bytes > FILE_KEY_MAX_BYTES || n != 1u + key.size_bytes)
            return false;
        memcpy(key.bytes, bytes + 1, key.size_bytes);
        return bsearch(&key, lines->files, lines->n, sizeof(key), file_key_order) != NULL;
    }
    return memchr(bytes, '\0', n) == bytes + n - 1 &&
           strncmp(lines->path, (const char *)bytes, n - 1) == 0 &&
           (lines->path[n - 1] == '/' || lines->path[n - 1] == '\0');
}

struct matching {
    const struct lines *lines;
    struct past_place *places;
    size_t n, room, n_rows;
};

/* 1: the owner has more rows than there are lines. */
static int match_row(void *user, const struct kv_entry *row)
{
    struct matching *matching = user;
    if (++matching->n_rows > ROWS_AT_ONCE && matching->n_rows > matching->lines->n)
        return 1;
    if (!is_in_lines(matching->lines, row))
        return 0;
    if (!MAKE_ROOM(matching->places, matching->room, matching->n + 1))
        return -ENOMEM;
    past_take_place(row, &matching->places[matching->n++]);
    return 0;
}

/* The rows of an owner are read where they are few, or fewer than the lines, which are looked for
 * else: so it takes no more than there are rows, however many lines there are. */
static int walk_lines(void *user, uid_t owner)
{
    const struct lines *lines = user;
    const uint8_t row = lines->files ? PAST_ROW_FILE : PAST_ROW_PATH;
    struct matching matching = {.lines = lines};
    struct past_key keys[2];
    if (lines->n == 1)
        return walk_each_line(lines, owner);
    past_key_begin(&keys[0], owner, row);
    past_key_begin(&keys[1], owner, row + 1);
    int r = past_each_row(lines->walk,
                          (struct kv_range){past_key_slice(&keys[0]), past_key_slice(&keys[1])},
                          match_row, &matching);
    if (r == 0)
        r = visit_places(lines->walk, owner, matching.places, matching.n);
    else if (r == 1)
        r = walk_each_line(lines, owner);
    free(matching.places);
    return r;
}

int past_of_files(struct past_walk *walk, const struct file_key *files, size_t n)
{
    struct lines lines = {.walk = walk, .files = files, .n = n};
    return n ? past_each_owner(walk, walk_lines, &lines) : 0;
}

int past_of_path(struct past_walk *walk, const char *path)
{
    struct lines lines = {.walk = walk, .path = path, .n = 1};
    return past_is_path(path, strlen(path)) ? past_each_owner(walk, walk_lines, &lines) : 0;
}

int past_of_way(struct past_walk *walk, const char *path)
{
    _cleanup_free_ char *way = strdup(path);
    struct lines lines = {.walk = walk, .path = way, .n = 1};
    if (!way)
        return -ENOMEM;
    for (char *slash; !past_is_path(way, strlen(way)); *slash = '\0')
        if (!(slash = strrchr(way, '/')))
            return 0;
    for (const char *slash = strchr(way, '/'); slash; slash = strchr(slash + 1, '/'))
        lines.n++;
    return past_each_owner(walk, walk_lines, &lines);
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
