/* Documents that are moved to the trash, and back. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TIDY_TRASH_H
#define KINFS_TOOLS_COMMANDS_TIDY_TIDY_TRASH_H

#include <json-c/json.h>

struct tidy_run;
struct tidy_item;
struct tidy_look;

/* Move a document there. Returns 0, or an error, with *ret_why: then it is where it was, or
 * *ret_why says where. */
int trash_move(struct tidy_run *run, const struct tidy_item *item, const struct tidy_look *look,
               const struct tidy_look *keep, char **ret_why);

/* Move it back, by the line of that. Returns 1; 0: it had not been moved; or an error, with
 * *ret_why. */
int trash_move_back(int tree_fd, const char *path, struct json_object *line, char **ret_why);

#endif
