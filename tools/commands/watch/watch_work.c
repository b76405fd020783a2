/* The daemon's side of kinfs watch: what has changed since a cursor, and the next cursor. */
#include <math.h>
#include <string.h>

#include "tools/commands/command.h"
#include "tools/commands/watch/watch_event.h"
#include "tools/show/json_path.h"

enum { SECONDS_A_DAY = 24 * 60 * 60 };

struct rows {
    row_fn row;
    void *user;
};

static const char *const names[] = {
    [INDEX_EVENT_MISSED] = "missed", [INDEX_EVENT_LEFT] = "left",
    [INDEX_EVENT_JOINED] = "joined", [INDEX_EVENT_NEAR] = "near",
    [INDEX_EVENT_MERGED] = "merged",
};

static void add_document(struct json_object *row, const struct index_event *event)
{
    const char *other = event->kind == INDEX_EVENT_NEAR ? "other" : "representative";
    if (event->path)
        json_path_add(row, "path", event->path);
    work_add_count(row, "document", event->document);
    if (event->other)
        json_path_add(row, other, event->other);
    work_add_ratio(row, "resemblance", event->resemblance);
    if (!isnan(event->decayed))
        work_add_ratio(row, "decayed", event->decayed);
}

static int emit(void *user, const struct index_event *event)
{
    const struct rows *rows = user;
    struct json_object *row = json_object_new_object();
    json_object_object_add(row, "event", json_object_new_string(names[event->kind]));
    if (event->kind == INDEX_EVENT_MISSED) {
        work_add_count(row, "missed", event->n_missed);
        return rows->row(rows->user, row);
    }
    work_add_count(row, "cluster", event->cluster & INDEX_CLUSTER_MAX);
    if (event->kind == INDEX_EVENT_MERGED)
        work_add_count(row, "from", event->from & INDEX_CLUSTER_MAX);
    else
        add_document(row, event);
    return rows->row(rows->user, row);
}

int work_watch(const struct work_context *context, struct json_object *request, row_fn row,
               void *user, char **ret_error)
{
    struct index_cursor cursor = {work_count(request, "instance", 0),
                                  work_count(request, "next", 0)};
    const struct index_query query = {.threshold = work_number(request, "near", WATCH_NEAR_DEFAULT),
                                      .decay = work_number(request, "decay", 0) / SECONDS_A_DAY,
                                      .stop = context->stop,
                                      .stop_user = context->stop_user};
    struct rows rows = {row, user};
    int r = index_watch(context->index, &cursor, &query, emit, &rows);
    if (r < 0)
        return refuse(ret_error, r, "watch: %s", error_text(r));
    struct json_object *last = json_object_new_object();
    work_add_count(last, "instance", cursor.instance);
    work_add_count(last, "next", cursor.next);
    if (cursor.more)
        json_object_object_add(last, "more", json_object_new_boolean(true));
    return row(user, last);
}
