/* Two documents that are the same byte for byte, and keep what they have of that in one place. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TIDY_SHARE_H
#define KINFS_TOOLS_COMMANDS_TIDY_TIDY_SHARE_H

#include <json-c/json.h>

struct tidy_run;
struct tidy_item;
struct tidy_look;

/* Put a further name of what is kept in the place of a document that has the same owner, mode, time
 * and attributes. Both are held. Returns 0, or an error, with *ret_why: then it is as it was, or
 * *ret_why says where. */
int tidy_link(struct tidy_run *run, const struct tidy_item *item, struct tidy_look *look,
              struct tidy_look *keep, char **ret_why);

/* Make it a file of its own again, by the line of that. Returns 1; 0: it had not been linked, or is
 * a file of its own; or an error, with *ret_why. */
int tidy_link_back(int tree_fd, const char *path, struct json_object *line, char **ret_why);

/* Have the kernel compare both, and store once what is the same, as some file systems can: to
 * whoever looks, nothing has changed. Returns 0, or an error, with *ret_why. */
int tidy_reflink(struct tidy_run *run, const struct tidy_item *item, const struct tidy_look *look,
                 const struct tidy_look *keep, char **ret_why);

#endif
