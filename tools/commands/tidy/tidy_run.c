#include "tools/commands/tidy/tidy_run.h"

#include <errno.h>
#include <search.h>
#include <signal.h>
#include <string.h>

#include "base/cleanup.h"
#include "tools/commands/tidy/tidy_lines.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

void tidy_run_done(struct tidy_run *run)
{
    tdestroy(run->changed, free);
    close_p(&run->tree_fd);
    close_p(&run->undo_fd);
    trash_done(&run->trash);
}

/* -- what the run has changed -- */

static int compare(const void *a, const void *b)
{
    const struct tidy_state *state_a = a, *state_b = b;
    return (state_a->inode > state_b->inode) - (state_a->inode < state_b->inode);
}

bool tidy_run_is_as_planned(const struct tidy_run *run, const struct tidy_state *planned,
                            const struct tidy_state *is)
{
    struct tidy_state *const *changed = tfind(planned, &run->changed, compare);
    return tidy_state_is_same(changed ? *changed : planned, is);
}

int tidy_run_has_changed(struct tidy_run *run, const struct tidy_state *is)
{
    _cleanup_free_ struct tidy_state *copy = malloc(sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    *copy = *is;
    struct tidy_state **node = tsearch(copy, &run->changed, compare);
    if (!node)
        return -ENOMEM;
    if (*node == copy)
        copy = NULL;
    else
        **node = *is;
    return 0;
}

/* -- an act -- */

static void block(int how)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaddset(&set, signals[i]);
    sigprocmask(how, &set, NULL);
}

struct json_object *tidy_run_line(const struct tidy_item *item, const struct tidy_state *is)
{
    struct json_object *line = json_object_new_object();
    json_object_object_add(line, "do", json_object_new_string(tidy_acts[item->act]));
    json_path_add(line, "path", item->path);
    json_path_add(line, "keep", item->keep);
    tidy_state_add(line, "is", is);
    return line;
}

int tidy_run_begin(struct tidy_run *run, struct json_object *line, char **ret_why)
{
    block(SIG_BLOCK);
    const int r = tidy_lines_append(run->undo_fd, line);
    if (r == 0)
        return 0;
    run->is_over = true; /* where a line is not whole no other may follow */
    return refuse(ret_why, r, "the list to undo it by: %s", strerror(-r));
}

void tidy_run_end(void)
{
    block(SIG_UNBLOCK);
}

int tidy_run_keep_is_there(const struct tidy_run *run, const struct tidy_item *item,
                           const struct tidy_look *keep, char **ret_why)
{
    struct tidy_state is;
    if (tidy_look_at_path(run->tree_fd, item->keep, &is) == 0 &&
        tidy_state_has_same_content(&is, &keep->is))
        return 0;
    return refuse(ret_why, -ESTALE, "%s, which was to be kept, has just been changed", item->keep);
}
