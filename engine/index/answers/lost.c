/* The last content known of a path that is gone, and the documents that now resemble it.
 *
 * Example: a/x.txt was moved to b/y.txt and edited, and a was renamed c. The last content of
 * a/x.txt is that of the event `moved` at that path. Of a/z.txt, which nobody touched, there is no
 * event; but a went to c at that moment, so the content is that which c/z.txt had then.
 *
 * Documents left the path itself, or went with a directory: the latest counts. Ways by which
 * directories went are followed STEPS_MAX at most, as there may be circles of them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/index/answers/answer.h"
#include "engine/index/answers/past_answer.h"
#include "engine/index/catalogue/stored_row.h"

enum { STEPS_MAX = 64 };

struct seeking {
    struct index *index;
    const struct index_query *query;
    unsigned n_steps;
    struct past_event best; /* kind 0: none yet */
};

static bool is_better(const struct seeking *seeking, const struct past_event *event)
{
    return !seeking->best.kind || seeking->best.time_ns < event->time_ns;
}

/* Takes the event over where it is later than what there is. */
static void offer(struct seeking *seeking, struct past_event *event)
{
    if (!is_better(seeking, event))
        return;
    past_event_done(&seeking->best);
    seeking->best = *event;
    *event = (struct past_event){0};
}

/* The same of one that is visited. */
static int offer_copy(struct seeking *seeking, const struct past_event *event)
{
    struct past_event copy;
    int r = is_better(seeking, event) ? past_event_copy(event, &copy) : 1;
    if (r == 0)
        offer(seeking, &copy);
    return r < 0 ? r : 0;
}

static bool is_of_document(const struct past_event *event)
{
    return event->kind != PAST_DIRECTORY;
}

/* -- what a document was at a moment -- */

static int event_of_now(struct index *index, const struct file_key *key, const char *path,
                        struct past_event *ret_event)
{
    struct past_event event = {.kind = PAST_MOVED, .resemblance = NAN};
    struct stored_row row;
    uint64_t sid;
    int r = stored_row_document(index->kv, key, &row, &sid, &event.record);
    if (r == 0 && sid == 0)
        r = -ENOENT;
    if (r == 0 && !(event.path = strdup(path)))
        r = -ENOMEM;
    if (r < 0)
        past_event_done(&event);
    else
        *ret_event = event;
    return r;
}

struct first_since {
    uint64_t since_ns;
    struct past_event *event;
    bool found;
};

static int take_first(void *user, const struct past_event *event)
{
    struct first_since *first = user;
    struct past_event copy;
    if (event->time_ns < first->since_ns || !is_of_document(event) ||
        (first->found && first->event->time_ns <= event->time_ns))
        return 0;
    int r = past_event_copy(event, &copy);
    if (r < 0)
        return r;
    past_event_done(first->event);
    *first->event = copy;
    first->found = true;
    return 0;
}

/* The event before the first change since then; else ret_event stays. */
static int find_content(struct index *index, const struct file_key *key, uint64_t since_ns,
                        const struct index_query *query, struct past_event *ret_event)
{
    struct first_since first = {.since_ns = since_ns, .event = ret_event};
    struct past_walk walk = past_walk_of(index, query, take_first, &first);
    return past_of_files(&walk, key, 1);
}

/* -- what left the path itself, or went with a directory -- */

/* Those of the nearest directories come first. No more are kept than are followed: each of very
 * many owners may have some. */
struct ways {
    struct seeking *seeking; /* for documents that left the path itself; NULL: the ways of a
                                directory that was there, too */
    const char *path;
    size_t n;
    struct past_event events[STEPS_MAX];
};

static void ways_free(struct ways *ways)
{
    for (size_t i = 0; ways && i < ways->n; i++)
        past_event_done(&ways->events[i]);
    free(ways);
}
DEFINE_CLEANUP(struct ways *, ways_free);

static int add_way(struct ways *ways, const struct past_event *event)
{
    const size_t length = strlen(event->path);
    struct past_event copy;
    size_t at = ways->n;
    while (at > 0 && strlen(ways->events[at - 1].path) < length)
        at--;
    if (at == STEPS_MAX)
        return 0;
    int r = past_event_copy(event, &copy);
    if (r < 0)
        return r;
    if (ways->n == STEPS_MAX)
        past_event_done(&ways->events[--ways->n]);
    memmove(&ways->events[at + 1], &ways->events[at], (ways->n - at) * sizeof(copy));
    ways->events[at] = copy;
    ways->n++;
    return 0;
}

static int take_way(void *user, const struct past_event *event)
{
    struct ways *ways = user;
    const bool is_there = strcmp(event->path, ways->path) == 0;
    if (is_of_document(event))
        return is_there && ways->seeking ? offer_copy(ways->seeking, event) : 0;
    return is_there && ways->seeking ? 0 : add_way(ways, event);
}

/* The ways that lead from the path and from the directories above it. Gives. */
static int find_ways(struct index *index, const char *path, const struct index_query *query,
                     struct seeking *seeking, struct ways **ret_ways)
{
    struct ways *ways = calloc(1, sizeof(*ways));
    struct past_walk walk = past_walk_of(index, query, take_way, ways);
    if (!ways)
        return -ENOMEM;
    ways->seeking = seeking;
    ways->path = path;
    *ret_ways = ways;
    return past_of_way(&walk, path);
}

/* The path by a way that was found of it. Gives, or NULL. */
static char *path_by_way(const char *path, const struct past_event *way)
{
    char *there;
    return asprintf(&there, "%s%s", way->to, path + strlen(way->path)) < 0 ? NULL : there;
}

static int seek_at(struct seeking *seeking, const char *path);

/* From `at` on another path led to what the first one had: the content of that moment. */
static int offer_moved(struct seeking *seeking, const char *path, const char *now_at,
                       uint64_t at_ns)
{
    _cleanup_(past_event_done) struct past_event event = {0};
    struct file_key key;
    bool is_file = false;
    int r = index_find(seeking->index, now_at, &key, &is_file);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == 0 && !is_file)
        return 0;
    if (r == 0) {
        r = event_of_now(seeking->index, &key, path, &event);
    } else {
        struct seeking there = {seeking->index, seeking->query, .n_steps = seeking->n_steps};
        r = seek_at(&there, now_at);
        seeking->n_steps = there.n_steps;
        event = there.best;
        key = event.record.key;
        if (r == 0 && (!event.kind || event.time_ns < at_ns))
            r = -ENOENT;
    }
    if (r == 0)
        r = find_content(seeking->index, &key, at_ns, seeking->query, &event);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    free(event.path);
    event.path = copy;
    event.time_ns = at_ns;
    event.kind = PAST_MOVED;
    offer(seeking, &event);
    return 0;
}

static int seek_at(struct seeking *seeking, const char *path)
{
    _cleanup_(ways_free_p) struct ways *ways = NULL;
    int r = find_ways(seeking->index, path, seeking->query, seeking, &ways);
    for (size_t i = 0; r == 0 && i < ways->n && seeking->n_steps++ < STEPS_MAX; i++) {
        _cleanup_free_ char *there = path_by_way(path, &ways->events[i]);
        r = there ? offer_moved(seeking, path, there, ways->events[i].time_ns) : -ENOMEM;
    }
    return r;
}

static int take_changed(void *user, const struct past_event *event)
{
    return event->kind == PAST_CHANGED ? offer_copy(user, event) : 0;
}

/* The last content at a path, or -ENOENT. Gives. */
static int find_last(struct index *index, const char *path, const struct index_query *query,
                     struct past_event *ret_event)
{
    struct seeking seeking = {.index = index, .query = query};
    struct file_key now;
    bool is_file = false;
    int r = seek_at(&seeking, path);
    if (r == 0 && !seeking.best.kind && index_find(index, path, &now, &is_file) == 0 && is_file) {
        struct past_walk walk = past_walk_of(index, query, take_changed, &seeking);
        r = past_of_files(&walk, &now, 1);
    }
    if (r == 0 && !seeking.best.kind)
        r = -ENOENT;
    if (r < 0)
        past_event_done(&seeking.best);
    else
        *ret_event = seeking.best;
    return r;
}

/* -- questions -- */

int index_lost(struct index *index, const char *path, const struct index_query *query,
               struct index_past *ret_was, char **ret_path, struct kin_list *ret_list)
{
    _cleanup_(past_event_done) struct past_event event = {0};
    int r = find_last(index, path, query, &event);
    if (r < 0)
        return r;
    if (event.record.sketch.policy_id != index->policy_id)
        return -ENOENT;
    const struct document document = {.record = &event.record};
    r = answer_foreign(index, &document, NULL, query, ret_list);
    if (r < 0)
        return r;
    *ret_was = past_shown(&event);
    *ret_path = event.path;
    ret_was->path = *ret_path;
    ret_was->to = NULL;
    event.path = NULL;
    return 0;
}

/* Something was below the path; or it, or a directory above, went elsewhere, and there it leads to
 * a directory. 1, 0 or an error. */
static int leads_to_directory(struct index *index, const char *path,
                              const struct index_query *query, unsigned *n_steps)
{
    const struct past_walk walk = past_walk_of(index, query, NULL, NULL);
    _cleanup_(ways_free_p) struct ways *ways = NULL;
    int r = past_has_below(&walk, path);
    if (r == 0)
        r = find_ways(index, path, query, NULL, &ways);
    for (size_t i = 0; r == 0 && i < ways->n && (*n_steps)++ < STEPS_MAX; i++) {
        _cleanup_free_ char *there = path_by_way(path, &ways->events[i]);
        struct file_key key;
        bool is_file = false;
        r = there ? index_find(index, there, &key, &is_file) : -ENOMEM;
        if (r == 0)
            r = !is_file;
        else if (r == -ENOENT)
            r = leads_to_directory(index, there, query, n_steps);
    }
    return r;
}

int index_lost_look(struct index *index, const char *path, const struct index_query *query)
{
    _cleanup_(past_event_done) struct past_event event = {0};
    int r = find_last(index, path, query, &event);
    if (r != -ENOENT)
        return r < 0 ? r : INDEX_LOST_DOCUMENT;
    unsigned n_steps = 0;
    r = leads_to_directory(index, path, query, &n_steps);
    return r < 0 ? r : r > 0 ? INDEX_LOST_DIRECTORY : INDEX_LOST_NOTHING;
}
