/* Paths in JSON. A path is bytes; a JSON string is Unicode. A path that is valid UTF-8 is the
 * member `name` as it is. Any other is there twice: `name` escaped as `ls -b` does, to be read by
 * people, and `name_bytes`, its exact bytes in base64. So: name_bytes if there is one, else name.
 */
#ifndef KINFS_TOOLS_SHOW_JSON_PATH_H
#define KINFS_TOOLS_SHOW_JSON_PATH_H

#include <json-c/json.h>

#include "base/cleanup.h"

DEFINE_CLEANUP(struct json_object *, json_object_put);
#define _cleanup_json_ _cleanup_(json_object_put_p)

/* Returns 0 or -ENOMEM. */
int json_path_add(struct json_object *object, const char *name, const char *path);

/* Returns 0, -ENOENT when there is no such member, -EINVAL when it is no path, -ENOMEM; gives. */
int json_path_get(struct json_object *object, const char *name, char **ret_path);

#endif
