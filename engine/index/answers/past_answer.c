/* History and changes: what documents were, told in order. */
#include "engine/index/answers/past_answer.h"
#include "engine/index/answers/answer.h"
#include "engine/index/catalogue/stored_row.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/room.h"

enum { FILES_AT_ONCE = 256 };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return file_row_ns(&now);
}

uint64_t index_keep_lost(struct index *index)
{
    return atomic_load(&index->past.keep_s);
}

struct past_walk past_walk_of(struct index *index, const struct index_query *query, past_fn visit,
                              void *user)
{
    return (struct past_walk){.kv = index->kv,
                              .visit = visit,
                              .user = user,
                              .since_ns = past_notes_since(&index->past, now_ns()),
                              .stop = query->stop,
                              .stop_user = query->stop_user};
}

void past_list_done(struct past_list *list)
{
    for (size_t i = 0; i < list->n_events; i++)
        past_event_done(&list->events[i]);
    free(list->events);
    *list = (struct past_list){0};
}

int past_list_take(void *user, const struct past_event *event)
{
    struct past_list *list = user;
    if (!MAKE_ROOM(list->events, list->room, list->n_events + 1))
        return -ENOMEM;
    struct past_event copy = *event;
    copy.path = strdup(event->path);
    copy.to = event->to ? strdup(event->to) : NULL;
    copy.record.sketch = (struct min_sketch){0};
    int r = copy.path && (copy.to || !event->to)
                ? min_sketch_copy(&event->record.sketch, &copy.record.sketch)
                : -ENOMEM;
    if (r < 0)
        past_event_done(&copy);
    else
        list->events[list->n_events++] = copy;
    return r;
}

struct index_past past_shown(const struct past_event *event)
{
    const struct record *record = &event->record;
    return (struct index_past){
        .kind = event->kind == PAST_CHANGED ? INDEX_PAST_CHANGED
                : event->kind == PAST_MOVED ? INDEX_PAST_MOVED
                : event->kind == PAST_DIED  ? INDEX_PAST_DIED
                                            : INDEX_PAST_DIRECTORY,
        .time_ns = event->time_ns,
        .mtime_ns = file_row_ns(&record->mtime),
        .size_bytes = record->size_bytes,
        .n_tokens = record->sketch.n_tokens,
        .path = event->path,
        .to = event->to,
        .resemblance = event->resemblance,
        .key = record->key,
    };
}

/* -- history -- */

static int compare_events(const void *a, const void *b)
{
    const struct past_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    const uint64_t n = past_number(x), m = past_number(y);
    return n < m ? -1 : n > m;
}

static bool is_known(const struct past_list *list, const struct past_event *event)
{
    for (size_t i = 0; i < list->n_events; i++)
        if (list->events[i].time_ns == event->time_ns &&
            past_number(&list->events[i]) == past_number(event))
            return true;
    return false;
}

static int take_new(void *user, const struct past_event *event)
{
    struct past_list *list = user;
    return is_known(list, event) ? 0 : past_list_take(list, event);
}

static bool has_file_before(const struct past_list *list, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (file_key_equal(&list->events[i].record.key, &list->events[at].record.key))
            return true;
    return false;
}

/* The history of a path: events that left it, all events of these documents, and the document that
 * is there now. */
static int gather_history(struct index *index, const char *path, const struct file_key *now,
                          const struct index_query *query, struct past_list *list,
                          uint64_t *n_damaged)
{
    struct past_walk walk = past_walk_of(index, query, take_new, list);
    int r = past_of_path(&walk, path);
    const size_t n_left = list->n_events;
    for (size_t i = 0; r == 0 && i < n_left; i++) {
        const struct file_key key = list->events[i].record.key;
        if (list->events[i].kind != PAST_DIRECTORY && !has_file_before(list, i))
            r = past_of_file(&walk, &key);
    }
    if (r == 0 && now)
        r = past_of_file(&walk, now);
    *n_damaged += walk.n_damaged;
    return r;
}

static int tell_now(struct index *index, const char *path, const struct file_key *key,
                    index_past_fn visit, void *user)
{
    _cleanup_(record_done) struct record record = {0};
    struct stored_row row;
    uint64_t sid;
    int r = stored_row_document(index->kv, key, &row, &sid, &record);
    if (r < 0 || sid == 0)
        return r;
    const struct index_past past = {.kind = INDEX_PAST_NOW,
                                    .time_ns = file_row_ns(&record.mtime),
                                    .mtime_ns = file_row_ns(&record.mtime),
                                    .size_bytes = record.size_bytes,
                                    .n_tokens = record.sketch.n_tokens,
                                    .path = path,
                                    .resemblance = NAN,
                                    .key = *key};
    return visit(user, &past);
}

int index_history(struct index *index, const char *path, const struct index_query *query,
                  index_past_fn visit, void *user, uint64_t *ret_n_damaged)
{
    _cleanup_(past_list_done) struct past_list list = {0};
    struct file_key now;
    bool is_file = false;
    uint64_t n_damaged = 0;
    int r = index_find(index, path, &now, &is_file);
    if (r < 0 && r != -ENOENT)
        return r;
    const bool is_there = r == 0 && is_file;
    r = gather_history(index, path, is_there ? &now : NULL, query, &list, &n_damaged);
    if (r < 0)
        return r;
    *ret_n_damaged = n_damaged;
    if (list.n_events)
        qsort(list.events, list.n_events, sizeof(list.events[0]), compare_events);
    size_t n_told = 0;
    for (size_t i = 0; r == 0 && i < list.n_events; i++) {
        if (list.events[i].kind == PAST_DIRECTORY)
            continue;
        const struct index_past past = past_shown(&list.events[i]);
        r = visit(user, &past);
        n_told++;
    }
    if (r == 0 && is_there)
        r = tell_now(index, path, &now, visit, user);
    return r == 0 && n_told == 0 && !is_there ? -ENOENT : r;
}

/* -- changes -- */

struct changes {
    struct index *index;
    const char *path;
    const struct index_query *query;
    uint64_t since_ns;
    index_past_fn visit;
    void *user;
};

static bool is_below(const char *directory, const char *path)
{
    const size_t n = strlen(directory);
    return n == 0 || (strncmp(directory, path, n) == 0 && path[n] == '/');
}

static int tell_born(const struct changes *changes, struct index_past past, uint64_t born_ns)
{
    if (born_ns < changes->since_ns)
        return 0;
    past.kind = INDEX_PAST_BORN;
    past.time_ns = born_ns;
    past.resemblance = NAN;
    return changes->visit(changes->user, &past);
}

/* 1: the file has a name in the tree; 0, or an error. */
static int lives(struct index *index, const struct file_key *key)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(index->kv, key, 1, &links);
    return r < 0 ? r : links.n_entries > 0;
}

static int tell_event(void *user, const struct past_event *event)
{
    const struct changes *changes = user;
    struct index_past past = past_shown(event);
    if (!is_below(changes->path, event->path))
        return 0;
    if (event->kind == PAST_DIED) {
        int r = lives(changes->index, &event->record.key);
        if (r < 0)
            return r;
        past.kind = r ? INDEX_PAST_MOVED : INDEX_PAST_DIED;
        /* A document that lives has its birth in its row. */
        if (r == 0 && (r = tell_born(changes, past, event->born_ns)) != 0)
            return r;
    }
    return changes->visit(changes->user, &past);
}

static int tell_file(const struct changes *changes, struct path_cache *paths,
                     const struct file_key *key, const struct file_row *row)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    _cleanup_free_ char *path = NULL;
    if (!row->sid || row->born_ns < changes->since_ns)
        return 0;
    int r = catalogue_links(changes->index->kv, key, 1, &links);
    if (r < 0 || links.n_entries == 0)
        return r;
    r = path_cache_entry(paths, &links.entries[0].parent, links.entries[0].name, &path);
    if (r < 0)
        return r == -ENOMEM ? r : 0; /* it hangs on nothing for now */
    if (!is_below(changes->path, path))
        return 0;
    const struct index_past past = {.path = path,
                                    .size_bytes = row->size_bytes,
                                    .mtime_ns = file_row_ns(&row->mtime),
                                    .key = *key};
    return tell_born(changes, past, row->born_ns);
}

static int tell_births(const struct changes *changes)
{
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    struct kv *kv = changes->index->kv;
    struct file_key after;
    int r = path_cache_new(kv, backing_root_key(changes->index->backing), &paths);
    for (bool first = true, more = true; r == 0 && more; first = false) {
        _cleanup_(file_list_done) struct file_list list = {0};
        r = answer_is_stopped(changes->query)
                ? -EINTR
                : catalogue_files(kv, first ? NULL : &after, FILES_AT_ONCE, &list);
        for (size_t i = 0; r == 0 && i < list.n_files; i++)
            r = tell_file(changes, paths, &list.keys[i], &list.rows[i]);
        more = r == 0 && list.more && list.n_files > 0;
        if (more)
            after = list.keys[list.n_files - 1];
    }
    return r;
}

int index_changes(struct index *index, const char *path, uint64_t since_ns,
                  const struct index_query *query, index_past_fn visit, void *user,
                  uint64_t *ret_n_damaged)
{
    struct changes changes = {index, path, query, since_ns, visit, user};
    struct past_walk walk = past_walk_of(index, query, tell_event, &changes);
    if (walk.since_ns < since_ns)
        walk.since_ns = since_ns;
    int r = past_each(&walk);
    if (r == 0)
        r = tell_births(&changes);
    *ret_n_damaged = walk.n_damaged;
    return r;
}
