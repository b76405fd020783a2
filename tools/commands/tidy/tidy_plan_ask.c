/* A plan is made of what unique/ leaves out of a directory. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "tools/commands/command.h"
#include "tools/commands/skip/skip_work.h"
#include "tools/commands/tidy/tidy_plan.h"
#include "tools/commands/tidy/trash_way.h"
#include "tools/questions/mounts.h"
#include "tools/show/json_path.h"

struct asking {
    struct tidy_plan *plan;
    const char *below;
    bool equal_alone;
};

static bool is_below(const struct asking *asking, char **path)
{
    const char *rest = *path;
    if (*asking->below && !path_within(*path, asking->below, &rest))
        return false;
    memmove(*path, rest, strlen(rest) + 1);
    return true;
}

static int add_row(void *user, struct json_object *row)
{
    struct asking *asking = user;
    _cleanup_json_ struct json_object *taken = row;
    _cleanup_free_ char *path = NULL, *keep = NULL;
    struct tidy_item item = {0};
    if (!taken || json_path_get(taken, "path", &path) < 0 ||
        json_path_get(taken, "stand_in", &keep) < 0 || tidy_state_get(taken, "is", &item.is) < 0 ||
        tidy_state_get(taken, "stand_in_is", &item.keep_is) < 0)
        return -EPROTO;
    if (asking->equal_alone && !work_flag(taken, "equal"))
        return 0;
    if (trash_way_is_named(path) || trash_way_is_named(keep))
        return 0;
    if (!is_below(asking, &path) || !is_below(asking, &keep))
        return 0;
    item.path = TAKE_PTR(path);
    item.keep = TAKE_PTR(keep);
    item.resemblance = work_number(taken, "resemblance", 0);
    item.is_equal = work_flag(taken, "equal");
    return tidy_plan_add(asking->plan, &item);
}

int tidy_plan_ask(struct tidy_plan *plan, const struct location *at, const char *configuration_file,
                  char **ret_error)
{
    _cleanup_(configuration_done) struct configuration configuration = {0};
    _cleanup_json_ struct json_object *request = json_object_new_object();
    _cleanup_(tidy_plan_done) struct tidy_plan equal = {0};
    struct asking asking = {plan, at->path ? at->path : "", false};
    command_configuration(configuration_file, &configuration);
    skip_add_rules(request, &configuration.unique);
    json_object_object_add(request, "states", json_object_new_boolean(true));
    const char *root = strcmp(at->source, "/") == 0 ? "" : at->source;
    plan->directory =
        *asking.below ? message("%s/%s", root, asking.below) : message("%s", at->source);
    if (trash_way_is_named_so(plan->directory))
        return refuse(ret_error, -EINVAL, "%s: is a trash, or in one, where nothing is tidied",
                      plan->directory);
    const struct ask question = {.location = at, .command = "skip"};
    int r = ask(&question, request, add_row, &asking, ret_error);
    if (r == 0)
        r = tidy_plan_drop_chains(plan);
    if (r == 0 && tidy_plan_may_have_more(plan)) {
        asking.plan = &equal;
        asking.equal_alone = true;
        json_object_object_add(request, "equal", json_object_new_boolean(true));
        r = ask(&question, request, add_row, &asking, ret_error);
        if (r == 0)
            r = tidy_plan_drop_chains(&equal);
        if (r == 0)
            r = tidy_plan_add_equal(plan, &equal);
    }
    tidy_plan_sort(plan);
    return r;
}
