#include "tools/commands/past/past_row.h"

#include <stdio.h>
#include <time.h>

#include "base/counted.h"
#include "tools/show/json_path.h"

#define SECOND_NS 1000000000

static const char *event_of(enum index_past_kind kind)
{
    switch (kind) {
    case INDEX_PAST_BORN: return "born";
    case INDEX_PAST_CHANGED: return "changed";
    case INDEX_PAST_MOVED: return "moved";
    case INDEX_PAST_DIED: return "died";
    case INDEX_PAST_DIRECTORY: return "directory";
    case INDEX_PAST_NOW: break;
    }
    return "now";
}

struct json_object *past_row(const struct index_past *past)
{
    struct json_object *row = json_object_new_object();
    json_object_object_add(row, "event", json_object_new_string(event_of(past->kind)));
    json_object_object_add(row, "time",
                           json_object_new_int64((int64_t)(past->time_ns / SECOND_NS)));
    json_path_add(row, "path", past->path);
    if (past->to)
        json_path_add(row, "to", past->to);
    work_add_count(row, "size_bytes", past->size_bytes);
    work_add_count(row, "tokens", past->n_tokens);
    json_object_object_add(row, "mtime",
                           json_object_new_int64((int64_t)(past->mtime_ns / SECOND_NS)));
    return row;
}

struct json_object *past_damaged_row(uint64_t n_damaged)
{
    struct json_object *row = json_object_new_object();
    work_add_count(row, "damaged_rows", n_damaged);
    return row;
}

bool past_row_is_damage(struct json_object *row, const char *base)
{
    if (!json_object_object_get_ex(row, "damaged_rows", NULL))
        return false;
    complain("%s: %s of the past cannot be read and are left out; kinfs check --repair drops them",
             base, counted(command_count(row, "damaged_rows"), "row").text);
    return true;
}

struct past_time past_time_text(int64_t seconds)
{
    struct past_time time;
    struct tm local;
    const time_t t = (time_t)seconds;
    if (!localtime_r(&t, &local) ||
        !strftime(time.text, sizeof(time.text), "%Y-%m-%d %H:%M", &local))
        snprintf(time.text, sizeof(time.text), "@%lld", (long long)seconds);
    return time;
}
