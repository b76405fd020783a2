/* A plan is a wish: it may be old, or have been changed. So nothing it says of documents is
 * believed. unique/ is asked once more, as it is now, and only what it leaves out, for the one that
 * the plan keeps, is acted upon: so one of each stays, is none that is left out itself, is of the
 * same owner, and resembles it by what was read of both. By their states (tidy_state.h) both are
 * what the plan was made of, and what unique/ was asked about, when they are looked at, right
 * before. */
#include "tools/commands/tidy/tidy_apply.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/files/trust.h"
#include "tools/commands/command.h"
#include "tools/commands/tidy/tidy_lines.h"
#include "tools/commands/tidy/tidy_print.h"
#include "tools/commands/tidy/tidy_run.h"
#include "tools/commands/tidy/tidy_share.h"
#include "tools/commands/tidy/tidy_trash.h"
#include "tools/commands/tidy/trash_way.h"
#include "tools/show/json_path.h"

/* -- one document -- */

static int refuse_trash(const struct tidy_item *item, char **ret_why)
{
    return refuse(ret_why, -EINVAL, "it or %s is in a trash, which may be emptied", item->keep);
}

static int check_planned(const struct tidy_plan *now, const struct tidy_item *item, char **ret_why)
{
    const struct tidy_item *found = tidy_plan_find(now, item->path, item->keep);
    if (trash_way_is_named(item->path) || trash_way_is_named(item->keep))
        return refuse_trash(item, ret_why);
    if (!found)
        return refuse(ret_why, -ESTALE, "unique/ does not leave it out for %s now", item->keep);
    if (!tidy_state_is_same(&found->is, &item->is) ||
        !tidy_state_is_same(&found->keep_is, &item->keep_is))
        return refuse(ret_why, -ESTALE, "it or %s has been changed since the plan was made",
                      item->keep);
    if (item->act != TIDY_TRASH && !found->is_equal)
        return refuse(ret_why, -EINVAL, "is not the same byte for byte");
    return 0;
}

static int check_look(const struct tidy_run *run, const struct tidy_item *item,
                      const struct tidy_look *look, const struct tidy_look *keep, char **ret_why)
{
    if (look->is.inode == keep->is.inode)
        return refuse(ret_why, -EINVAL, "is one file with %s", item->keep);
    if (!tidy_run_is_as_planned(run, &item->is, &look->is) ||
        !tidy_run_is_as_planned(run, &item->keep_is, &keep->is))
        return refuse(ret_why, -ESTALE, "it or %s has been changed since the plan was made",
                      item->keep);
    return 0;
}

static int check_way(const struct tidy_run *run, const struct tidy_item *item,
                     const struct tidy_look *look, const struct tidy_look *keep, char **ret_why)
{
    int r = trash_way_leads_in(&run->trash, run->tree_fd, item->path, look);
    if (r == 0)
        r = trash_way_leads_in(&run->trash, run->tree_fd, item->keep, keep);
    return r > 0 ? refuse_trash(item, ret_why) : r;
}

/* A move does no harm to a file of which it cannot be told who has it open: it stays the same file;
 * nor do shared bytes, which the kernel compares. */
static int hold(struct tidy_look *look, struct tidy_look *keep, char **ret_why)
{
    if (tidy_look_hold(look) == -ETXTBSY || tidy_look_hold(keep) == -ETXTBSY)
        return refuse(ret_why, -ETXTBSY, "it or what is kept is open for writing");
    return 0;
}

static int act(struct tidy_run *run, const struct tidy_item *item, bool is_equal,
               struct tidy_look *look, struct tidy_look *keep, char **ret_why)
{
    int r = hold(look, keep, ret_why);
    if (item->act == TIDY_REFLINK)
        return r < 0 ? r : tidy_reflink(run, item, look, keep, ret_why);
    if (r == 0 && is_equal)
        r = tidy_look_compare(look, keep);
    if (r == -ESTALE)
        return refuse(ret_why, r, "is not the same byte for byte");
    if (r == -ETXTBSY && !*ret_why)
        return refuse(ret_why, r, "it or what is kept has just been opened for writing");
    if (r < 0)
        return r;
    return item->act == TIDY_LINK ? tidy_link(run, item, look, keep, ret_why)
                                  : trash_move(run, item, look, keep, ret_why);
}

static int tidy_one(struct tidy_run *run, const struct tidy_plan *now, const struct tidy_item *item,
                    char **ret_why)
{
    _cleanup_(tidy_look_done) struct tidy_look look = TIDY_LOOK_NONE, keep = TIDY_LOOK_NONE;
    int r = check_planned(now, item, ret_why);
    if (r < 0)
        return r;
    r = tidy_look_open(run->tree_fd, item->keep, &keep);
    if (r < 0)
        return refuse(ret_why, r, "%s, which is to be kept: %s", item->keep, strerror(-r));
    r = tidy_look_open(run->tree_fd, item->path, &look);
    if (r == 0)
        r = check_look(run, item, &look, &keep, ret_why);
    if (r == 0)
        r = check_way(run, item, &look, &keep, ret_why);
    const bool is_equal = tidy_plan_find(now, item->path, item->keep)->is_equal;
    return r < 0 ? r : act(run, item, is_equal, &look, &keep, ret_why);
}

/* -- all of them -- */

static int begin(struct tidy_run *run, const struct tidy_plan *plan,
                 const struct tidy_options *options, char **ret_error)
{
    bool has_trash = false;
    for (size_t i = 0; i < plan->n; i++)
        has_trash |= plan->items[i].act == TIDY_TRASH;
    run->directory = plan->directory;
    run->tree_fd = trust_open_anybodys(plan->directory, ret_error);
    if (run->tree_fd < 0)
        return *ret_error ? run->tree_fd
                          : refuse(ret_error, run->tree_fd, "%s: %s", plan->directory,
                                   strerror(-run->tree_fd));
    int r = has_trash
                ? trash_find(run->tree_fd, plan->directory, options->trash, &run->trash, ret_error)
                : 0;
    if (r < 0)
        return r;
    _cleanup_free_ char *beside = message("%s.undo", options->plan);
    if (!options->undo_file && strncmp(options->plan, "/dev/", strlen("/dev/")) == 0)
        return refuse(ret_error, -EINVAL,
                      "%s: nothing can be put beside it; name a list with --undo-file=FILE",
                      options->plan);
    run->undo_fd = tidy_lines_make(options->undo_file ? options->undo_file : beside, ret_error);
    if (run->undo_fd < 0)
        return run->undo_fd;
    _cleanup_json_ struct json_object *line = json_object_new_object();
    work_add_count(line, "kinfs_tidy_undo", 1);
    json_path_add(line, "directory", plan->directory);
    r = tidy_lines_append(run->undo_fd, line);
    return r < 0 ? refuse(ret_error, r, "the list to undo it by: %s", strerror(-r)) : 0;
}

static int apply(const struct tidy_plan *plan, const struct tidy_plan *now,
                 const struct tidy_options *options, char **ret_error)
{
    static const char *const done[N_TIDY_ACTS] = {"listed", "trashed", "linked", "reflinked"};
    _cleanup_(tidy_run_done) struct tidy_run run = {
        .tree_fd = -1, .undo_fd = -1, .trash = TRASH_NONE};
    bool left = false;
    int r = begin(&run, plan, options, ret_error);
    for (size_t i = 0; r == 0 && i < plan->n; i++) {
        const struct tidy_item *item = &plan->items[i];
        _cleanup_free_ char *why = NULL;
        if (item->act == TIDY_LIST)
            continue;
        run.has_displaced = false;
        const int one = tidy_one(&run, now, item, &why);
        left |= one < 0;
        tidy_print(options->json,
                   run.has_displaced ? "displaced"
                   : one < 0         ? "left"
                                     : done[item->act],
                   item->path, one, why);
        if (run.is_over)
            r = refuse(ret_error, -ENOSPC, "the rest is left alone");
        else if (one == -ENOMEM)
            r = one;
    }
    return r < 0 ? r : left ? -ENODATA : 0;
}

int tidy_apply(const struct tidy_options *options, char **ret_error)
{
    _cleanup_(tidy_plan_done) struct tidy_plan plan = {0}, now = {0};
    _cleanup_(location_done) struct location at = {0};
    signal(SIGIO, SIG_IGN); /* a lease that is being broken is looked at */
    int r = tidy_plan_read(&plan, options->plan, ret_error);
    if (r < 0 || plan.n == 0)
        return r;
    r = locate(plan.directory, options->store, &at, ret_error);
    if (r == 0 && at.is_file)
        r = refuse(ret_error, -ENOTDIR, "%s: no directory", plan.directory);
    if (r == 0)
        r = tidy_plan_ask(&now, &at, options->configuration_file, ret_error);
    if (r == 0 && strcmp(now.directory, plan.directory) != 0)
        r = refuse(ret_error, -ESTALE, "%s is now %s; make a new plan", plan.directory,
                   now.directory);
    return r < 0 ? r : apply(&plan, &now, options, ret_error);
}
