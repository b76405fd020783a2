#include "tools/commands/settling.h"

#include <stdio.h>
#include <time.h>

#include "base/counted.h"
#include "tools/show/json_path.h"
#include "tools/show/progress.h"

/* The time between two moves of a bar; also the longest that a daemon told to end waits for us. */
enum { STEP_MS = 200 };

static int emit_progress(const struct work_context *context, row_fn row, void *user)
{
    struct index_status status;
    index_get_status(context->index, &status);
    struct json_object *object = json_object_new_object(), *progress = json_object_new_object();
    work_add_count(progress, "done", status.scan_done);
    work_add_count(progress, "total", status.scan_found);
    json_object_object_add(progress, "scanning", json_object_new_boolean(status.scanning));
    json_object_object_add(object, "progress", progress);
    return row(user, object);
}

int work_settle(const struct work_context *context, struct json_object *request, row_fn row,
                void *user, char **ret_error)
{
    uint64_t left_ms = work_count(request, "timeout_ms", UINT64_MAX);
    uint64_t ticket = 0;
    struct index_settling settling = {0};
    bool is_told = !context->settle_mount; /* the index, of what was changed beside the mount */
    for (;;) {
        int step_ms = left_ms < STEP_MS ? (int)left_ms : STEP_MS;
        int r = is_told ? index_settle_on(context->index, INDEX_LANE_ALL, &settling, step_ms)
                        : context->settle_mount(context->user, true, &ticket, step_ms);
        if (r == 0 && !is_told) {
            is_told = true;
            continue;
        }
        if (r == 0)
            return work_status(context, request, row, user, ret_error);
        if (r != -ETIMEDOUT)
            return refuse(ret_error, r, "%s", error_text(r));
        if (left_ms != UINT64_MAX)
            left_ms -= (uint64_t)step_ms;
        if (left_ms == 0)
            return refuse(ret_error, r, "not settled in the time given");
        struct index_status status;
        index_get_status(context->index, &status);
        if (status.store_error) /* it would be waited for until somebody does something */
            return refuse(ret_error, status.store_error, "%s: %s", status.store,
                          error_text(status.store_error));
        r = emit_progress(context, row, user);
        if (r < 0)
            return r;
    }
}

struct settling {
    struct progress progress;
    bool json;
};

static int print_row(void *user, struct json_object *row)
{
    struct settling *settling = user;
    _cleanup_json_ struct json_object *taken = row;
    struct json_object *progress;
    if (!taken)
        return -ENOMEM;
    if (json_object_object_get_ex(taken, "progress", &progress)) {
        progress_update(&settling->progress, command_count(progress, "done"),
                        command_count(progress, "total"), work_flag(progress, "scanning"));
        return 0;
    }
    progress_done(&settling->progress);
    if (settling->json)
        command_print_json(taken);
    else
        printf("%s in %s%s%s\n", counted(command_count(taken, "documents"), "document").text,
               counted(command_count(taken, "clusters"), "cluster").text,
               command_count(taken, "skipped") ? "; some could not be read: " : "",
               command_count(taken, "skipped") ? command_text(taken, "last_error") : "");
    return 0;
}

int settling_run(const struct ask *question, struct json_object *request, bool json)
{
    struct settling settling = {.json = json};
    _cleanup_free_ char *error = NULL;
    progress_init(&settling.progress);
    int r = ask(question, request, print_row, &settling, &error);
    progress_done(&settling.progress);
    return command_end(r, error);
}
