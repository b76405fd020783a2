#include "tools/commands/pairs/pair_row.h"

#include <errno.h>
#include <stdio.h>

int pair_row_note(struct json_object *row, struct progress *progress,
                  struct json_object **ret_counts)
{
    struct json_object *member;
    const bool is_progress = json_object_object_get_ex(row, "progress", &member);
    *ret_counts = NULL;
    if (!is_progress && !json_object_object_get_ex(row, "counts", &member))
        return 0;
    if (!json_object_is_type(member, json_type_object))
        return -EPROTO;
    if (is_progress)
        progress_phase(progress, command_text(member, "phase"), command_count(member, "done"),
                       command_count(member, "of"));
    else
        *ret_counts = member;
    return 1;
}

void pair_row_make_absolute(struct json_object *row, const char *base)
{
    command_make_absolute(row, "a", base);
    command_make_absolute(row, "b", base);
}

void pair_row_print_paths(struct json_object *row)
{
    command_print_path(row, "a", false);
    putchar('\t');
    command_print_path(row, "b", false);
}
