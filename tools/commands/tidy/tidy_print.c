#include "tools/commands/tidy/tidy_print.h"

#include <string.h>

#include "base/escape.h"
#include "tools/commands/command.h"
#include "tools/show/json_path.h"

void tidy_print(bool json, const char *what, const char *path, int error, const char *why)
{
    _cleanup_free_ char *escaped = NULL;
    if (error < 0 && !why)
        why = strerror(-error);
    if (json) {
        _cleanup_json_ struct json_object *line = json_object_new_object();
        json_object_object_add(line, "what", json_object_new_string(what));
        json_path_add(line, "path", path);
        if (error < 0)
            json_path_add(line, "why", why);
        command_print_json(line);
    } else if (escape_name(path, &escaped) == 0) {
        printf("%s\t%s\n", what, escaped);
    }
    if (error < 0 && !json && escaped)
        complain("%s: %s", escaped, why);
}
