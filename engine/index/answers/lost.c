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

/* -- what left the path itself -- */

static int take_document(void *user, const struct past_event *event)
{
    return is_of_document(event) ? offer_copy(user, event) : 0;
}

static int offer_left(struct seeking *seeking, const char *path)
{
    struct past_walk walk = past_walk_of(seeking->index, seeking->query, take_document, seeking);
    return past_of_path(&walk, path);
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
    return past_of_file(&walk, key);
}

/* -- what went with a directory -- */

/* No more than are followed: each of very many owners may have some. */
struct ways {
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

static int take_way(void *user, const struct past_event *event)
{
    struct ways *ways = user;
    if (is_of_document(event))
        return 0;
    int r = past_event_copy(event, &ways->events[ways->n]);
    return r < 0 ? r : ++ways->n == STEPS_MAX;
}

/* Where a directory has gone from there. */
static int find_ways(struct index *index, const char *directory, const struct index_query *query,
                     struct ways *ways)
{
    struct past_walk walk = past_walk_of(index, query, take_way, ways);
    int r = past_of_path(&walk, directory);
    return r < 0 ? r : 0;
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

/* The ways that a directory above has gone. rest: behind its path, from the slash on. */
static int offer_with(struct seeking *seeking, const char *path, const char *directory,
                      const char *rest)
{
    _cleanup_(ways_free_p) struct ways *ways = calloc(1, sizeof(*ways));
    int r = ways ? find_ways(seeking->index, directory, seeking->query, ways) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < ways->n && seeking->n_steps++ < STEPS_MAX; i++) {
        _cleanup_free_ char *there = NULL;
        if (asprintf(&there, "%s%s", ways->events[i].to, rest) < 0)
            return -ENOMEM;
        r = offer_moved(seeking, path, there, ways->events[i].time_ns);
    }
    return r;
}

static int seek_at(struct seeking *seeking, const char *path)
{
    _cleanup_free_ char *above = strdup(path);
    int r = above ? offer_left(seeking, path) : -ENOMEM;
    for (char *slash; r == 0 && (slash = strrchr(above, '/')) != NULL;) {
        *slash = '\0';
        r = offer_with(seeking, path, above, path + (slash - above));
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
        r = past_of_file(&walk, &now);
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

static int leads_to_directory(struct index *index, const char *path,
                              const struct index_query *query, unsigned *n_steps);

/* The ways that a directory at `above`, a beginning of path, has gone. */
static int goes_to_directory(struct index *index, const char *path, const char *above,
                             const struct index_query *query, unsigned *n_steps)
{
    _cleanup_(ways_free_p) struct ways *ways = calloc(1, sizeof(*ways));
    int r = ways ? find_ways(index, above, query, ways) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < ways->n && (*n_steps)++ < STEPS_MAX; i++) {
        _cleanup_free_ char *there = NULL;
        struct file_key key;
        bool is_file = false;
        if (asprintf(&there, "%s%s", ways->events[i].to, path + strlen(above)) < 0)
            return -ENOMEM;
        r = index_find(index, there, &key, &is_file);
        if (r == 0)
            r = !is_file;
        else if (r == -ENOENT)
            r = leads_to_directory(index, there, query, n_steps);
    }
    return r;
}

/* Something was below the path; or it, or a directory above, went elsewhere, and there it leads to
 * a directory. 1, 0 or an error. */
static int leads_to_directory(struct index *index, const char *path,
                              const struct index_query *query, unsigned *n_steps)
{
    const struct past_walk walk = past_walk_of(index, query, NULL, NULL);
    _cleanup_free_ char *above = strdup(path);
    int r = above ? past_has_below(&walk, path) : -ENOMEM;
    for (char *slash = above; r == 0 && slash;) {
        r = goes_to_directory(index, path, above, query, n_steps);
        slash = strrchr(above, '/');
        if (slash)
            *slash = '\0';
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
