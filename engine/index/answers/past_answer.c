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

int past_event_copy(const struct past_event *event, struct past_event *ret_event)
{
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
        *ret_event = copy;
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

/* Where an event is: of a path there may be some from each of very many owners. */
struct found {
    uid_t owner;
    struct past_place place;
    struct file_key key;
};
struct history {
    struct found *found;
    size_t n, room;
};

static void history_done(struct history *history)
{
    free(history->found);
}

static int take_found(void *user, const struct past_event *event)
{
    struct history *history = user;
    if (event->kind == PAST_DIRECTORY)
        return 0;
    if (!MAKE_ROOM(history->found, history->room, history->n + 1))
        return -ENOMEM;
    history->found[history->n++] =
        (struct found){event->owner,
                       {event->time_ns, past_number(event), (uint8_t)event->kind},
                       event->record.key};
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->place.time_ns != y->place.time_ns)
        return x->place.time_ns < y->place.time_ns ? -1 : 1;
    return x->place.number < y->place.number ? -1 : x->place.number > y->place.number;
}

/* The documents of what was found and `now`, which may be NULL, ascending, each once. Gives. */
static int documents_of(const struct history *history, const struct file_key *now,
                        struct file_key **ret_files, size_t *ret_n)
{
    struct file_key *files = malloc((history->n + 1) * sizeof(*files));
    size_t n = 0, kept = 0;
    if (!files)
        return -ENOMEM;
    for (size_t i = 0; i < history->n; i++)
        files[n++] = history->found[i].key;
    if (now)
        files[n++] = *now;
    qsort(files, n, sizeof(*files), file_key_order);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !file_key_equal(&files[kept - 1], &files[i]))
            files[kept++] = files[i];
    *ret_files = files;
    *ret_n = kept;
    return 0;
}

/* The history of a path: all events of the documents that left it, and of the one that is there
 * now, whosever they were. */
static int gather_history(struct index *index, const char *path, const struct file_key *now,
                          const struct index_query *query, struct history *history,
                          uint64_t *n_damaged)
{
    _cleanup_free_ struct file_key *files = NULL;
    struct past_walk walk = past_walk_of(index, query, take_found, history);
    size_t n = 0;
    int r = past_of_path(&walk, path);
    if (r == 0)
        r = documents_of(history, now, &files, &n);
    if (r == 0)
        r = past_of_files(&walk, files, n);
    if (history->n)
        qsort(history->found, history->n, sizeof(history->found[0]), compare_times);
    *n_damaged += walk.n_damaged;
    return r;
}

static int tell_history(struct index *index, const struct history *history,
                        const struct index_query *query, index_past_fn visit, void *user,
                        bool *ret_is_told)
{
    for (size_t i = 0; i < history->n; i++) {
        const struct found *found = &history->found[i];
        _cleanup_(past_event_done) struct past_event event = {0};
        if (i > 0 && compare_times(found - 1, found) == 0)
            continue;
        int r = answer_is_stopped(query) ? -EINTR
                                         : past_get(index->kv, found->owner, &found->place, &event);
        if (r == -ENOENT || r == -EUCLEAN)
            continue; /* since it was found */
        if (r == 0) {
            const struct index_past past = past_shown(&event);
            r = visit(user, &past);
        }
        if (r != 0)
            return r;
        *ret_is_told = true;
    }
    return 0;
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
    _cleanup_(history_done) struct history history = {0};
    struct file_key now;
    bool is_file = false;
    uint64_t n_damaged = 0;
    int r = index_find(index, path, &now, &is_file);
    if (r < 0 && r != -ENOENT)
        return r;
    const bool is_there = r == 0 && is_file;
    r = gather_history(index, path, is_there ? &now : NULL, query, &history, &n_damaged);
    if (r < 0)
        return r;
    *ret_n_damaged = n_damaged;
    bool is_told = false;
    r = tell_history(index, &history, query, visit, user, &is_told);
    if (r == 0 && is_there)
        r = tell_now(index, path, &now, visit, user);
    return r == 0 && !is_told && !is_there ? -ENOENT : r;
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
