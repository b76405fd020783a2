#include "tools/commands/report/cluster_picture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tools/commands/command.h"
#include "tools/commands/report/report_work.h"
#include "tools/commands/report/seriation.h"
#include "tools/show/json_path.h"

void cluster_picture_done(struct cluster_picture *picture)
{
    for (size_t i = 0; picture->members && i < picture->n; i++)
        free(picture->members[i].path);
    free(picture->members);
    free(picture->resemblances);
    free(picture->order);
    free(picture->places);
    json_object_put(picture->row);
    *picture = (struct cluster_picture){0};
}

static int read_member(struct json_object *from, struct picture_member *member)
{
    int r = json_path_get(from, "path", &member->path);
    if (r < 0)
        return r == -ENOMEM ? r : -EPROTO;
    member->type = command_text(from, "type");
    member->size_bytes = command_count(from, "size");
    member->mtime = json_object_get_int64(json_object_object_get(from, "mtime"));
    member->resemblance = work_number(from, "resemblance", 0);
    member->error = work_number(from, "error", 0);
    return 0;
}

/* The pairs are those of the first member with all behind it, then of the second, and so on. */
static int read_pairs(struct json_object *pairs, struct cluster_picture *picture)
{
    const size_t n = picture->n;
    for (size_t i = 0, at = 0; i < n; i++) {
        picture->resemblances[i * n + i] = 1;
        for (size_t j = i + 1; j < n; j++, at++) {
            const int value = json_object_get_int(json_object_array_get_idx(pairs, at));
            if (value < -1 || value > REPORT_RATIO_UNITS)
                return -EPROTO;
            picture->resemblances[i * n + j] = picture->resemblances[j * n + i] =
                value < 0 ? NAN : (double)value / REPORT_RATIO_UNITS;
        }
    }
    return 0;
}

static int read_picture(struct json_object *row, struct cluster_picture *picture)
{
    struct json_object *members, *pairs;
    if (!json_object_object_get_ex(row, "members", &members) ||
        !json_object_object_get_ex(row, "pairs", &pairs) ||
        !command_is_list(row, "members", json_type_object) ||
        !command_is_list(row, "pairs", json_type_int))
        return -EPROTO;
    const size_t n = json_object_array_length(members);
    if (n == 0 || n > PICTURE_MEMBERS_MOST || json_object_array_length(pairs) != n * (n - 1) / 2)
        return -EPROTO;
    picture->members = calloc(n, sizeof(*picture->members));
    picture->resemblances = calloc(n * n, sizeof(*picture->resemblances));
    picture->order = calloc(n, sizeof(*picture->order));
    picture->places = calloc(n, sizeof(*picture->places));
    if (!picture->members || !picture->resemblances || !picture->order || !picture->places)
        return -ENOMEM;
    picture->row = json_object_get(row);
    picture->id = command_count(row, "cluster");
    picture->size = command_count(row, "size");
    picture->n = n;
    for (size_t i = 0; i < n; i++) {
        int r = read_member(json_object_array_get_idx(members, i), &picture->members[i]);
        if (r < 0)
            return r;
    }
    return read_pairs(pairs, picture);
}

int cluster_picture_read(struct json_object *row, struct cluster_picture *ret_picture)
{
    struct cluster_picture picture = {0};
    int r = read_picture(row, &picture);
    if (r == 0)
        r = seriation_find(picture.resemblances, picture.n, picture.order);
    if (r == 0)
        r = graph_layout(picture.resemblances, picture.order, picture.n, picture.places);
    if (r < 0) {
        cluster_picture_done(&picture);
        return r;
    }
    *ret_picture = picture;
    return 0;
}
