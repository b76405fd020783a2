/* From a path a person types, at which nothing need be any more, to the store that knows of it. */
#ifndef KINFS_TOOLS_COMMANDS_PAST_GONE_PATH_H
#define KINFS_TOOLS_COMMANDS_PAST_GONE_PATH_H

#include "tools/questions/locate.h"

/* As locate(), by the nearest directory above that is there. location->path is all of it; a ".." in
 * what is not there is refused (-EINVAL). path NULL: as locate() has it, and the whole tree of a
 * store that is named. */
int gone_path_locate(const char *path, const char *store, struct location *ret_location,
                     char **ret_error);

#endif
