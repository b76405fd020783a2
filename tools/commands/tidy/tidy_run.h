/* A run has what all its acts share: the tree, the list by which they are undone, and what they
 * themselves have changed. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TIDY_RUN_H
#define KINFS_TOOLS_COMMANDS_TIDY_TIDY_RUN_H

#include <json-c/json.h>

#include "tools/commands/tidy/tidy_look.h"
#include "tools/commands/tidy/tidy_plan.h"
#include "tools/commands/tidy/trash.h"

struct tidy_run {
    const char *directory;
    int tree_fd, undo_fd;
    bool is_over;       /* the disk takes no more: no other document has a better chance */
    bool has_displaced; /* the last act moved what was not meant, and *ret_why says where it is */
    void *changed;      /* of tsearch(3): states in which the run has left files */
    struct trash trash;
};

void tidy_run_done(struct tidy_run *run);

/* A file is as a plan has it, but for what this run has done to it. */
bool tidy_run_is_as_planned(const struct tidy_run *run, const struct tidy_state *planned,
                            const struct tidy_state *is);
/* Note what the run has made of a file. Returns 0 or -ENOMEM. */
int tidy_run_has_changed(struct tidy_run *run, const struct tidy_state *is);

/* A line of what is undone, before it is done: it is on the disk when this returns, and from then
 * on to tidy_run_end() no signal but SIGKILL ends the program. What is begun of an object is added
 * to. Returns 0, or an error of tidy_lines_append(). */
struct json_object *tidy_run_line(const struct tidy_item *item, const struct tidy_state *is);
int tidy_run_begin(struct tidy_run *run, struct json_object *line, char **ret_why);
void tidy_run_end(void);

/* The file that is kept is where it was, with the content that it had. Returns 0, or -ESTALE with
 * *ret_why. */
int tidy_run_keep_is_there(const struct tidy_run *run, const struct tidy_item *item,
                           const struct tidy_look *keep, char **ret_why);

#endif
