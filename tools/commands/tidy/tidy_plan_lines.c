/* A plan, printed and read. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/ratio.h"
#include "tools/commands/command.h"
#include "tools/commands/tidy/tidy_lines.h"
#include "tools/commands/tidy/tidy_plan.h"
#include "tools/documents/tree_place.h"
#include "tools/show/json_path.h"

enum { VERSION = 1 };

/* -- printing -- */

static void print_json(const struct tidy_plan *plan, const struct tidy_item *item)
{
    _cleanup_json_ struct json_object *line = json_object_new_object();
    work_add_count(line, "kinfs_tidy", VERSION);
    json_object_object_add(line, "do", json_object_new_string(tidy_acts[item->act]));
    json_path_add(line, "directory", plan->directory);
    json_path_add(line, "path", item->path);
    json_path_add(line, "keep", item->keep);
    work_add_ratio(line, "resemblance", item->resemblance);
    json_object_object_add(line, "equal", json_object_new_boolean(item->is_equal));
    work_add_count(line, "saves", tidy_item_saves(item));
    if (item->why)
        json_object_object_add(line, "why", json_object_new_string(item->why));
    tidy_state_add(line, "is", &item->is);
    tidy_state_add(line, "keep_is", &item->keep_is);
    command_print_json(line);
}

static void print_line(const struct tidy_item *item, const struct tidy_item *before)
{
    _cleanup_free_ char *path = NULL, *keep = NULL;
    if (escape_name(item->path, &path) < 0 || escape_name(item->keep, &keep) < 0)
        return;
    if (!before || strcmp(item->keep, before->keep) != 0)
        printf("keep\t%s\n", keep);
    printf("%s\t%s\t%s\t%" PRIu64 "%s%s\n", tidy_acts[item->act], path,
           item->is_equal ? "equal" : ratio_text(item->resemblance).text, item->is.size_bytes,
           item->why ? "\t" : "", item->why ? item->why : "");
}

static void print_sums(const struct tidy_plan *plan)
{
    static const char *const words[N_TIDY_ACTS] = {"only listed", "to the trash", "to be linked",
                                                   "to be reflinked"};
    uint64_t n[N_TIDY_ACTS] = {0}, saves[N_TIDY_ACTS] = {0};
    for (size_t i = 0; i < plan->n; i++) {
        n[plan->items[i].act]++;
        saves[plan->items[i].act] += tidy_item_saves(&plan->items[i]);
    }
    putchar('\n');
    for (enum tidy_act act = 0; act < N_TIDY_ACTS; act++)
        if (n[act])
            printf("%s: %" PRIu64 ", %" PRIu64 " bytes\n", words[act], n[act], saves[act]);
    puts("nothing has been changed");
}

void tidy_plan_print(const struct tidy_plan *plan, bool json)
{
    for (size_t i = 0; i < plan->n; i++)
        if (json)
            print_json(plan, &plan->items[i]);
        else
            print_line(&plan->items[i], i ? &plan->items[i - 1] : NULL);
    if (!json && plan->n)
        print_sums(plan);
}

/* -- reading -- */

static bool read_act(struct json_object *line, enum tidy_act *ret_act)
{
    struct json_object *member;
    if (!json_object_object_get_ex(line, "do", &member) ||
        !json_object_is_type(member, json_type_string))
        return false;
    *ret_act = tidy_act_of(json_object_get_string(member));
    return *ret_act != N_TIDY_ACTS;
}

static int add_line(void *user, struct json_object *line)
{
    struct tidy_plan *plan = user;
    _cleanup_free_ char *path = NULL, *keep = NULL, *directory = NULL;
    struct tidy_item item = {0};
    if (command_count(line, "kinfs_tidy") != VERSION || !read_act(line, &item.act) ||
        json_path_get(line, "directory", &directory) < 0 || *directory != '/' ||
        json_path_get(line, "path", &path) < 0 || json_path_get(line, "keep", &keep) < 0 ||
        !tree_place_is_path(path) || !tree_place_is_path(keep) ||
        tidy_state_get(line, "is", &item.is) < 0 ||
        tidy_state_get(line, "keep_is", &item.keep_is) < 0)
        return -EINVAL;
    if (plan->directory && strcmp(plan->directory, directory) != 0)
        return -EXDEV;
    if (!plan->directory)
        plan->directory = TAKE_PTR(directory);
    item.path = TAKE_PTR(path);
    item.keep = TAKE_PTR(keep);
    item.is_equal = work_flag(line, "equal");
    return tidy_plan_add(plan, &item);
}

int tidy_plan_read(struct tidy_plan *plan, const char *file, char **ret_error)
{
    unsigned long number = 0;
    int r = tidy_lines_read(file, add_line, plan, &number, ret_error);
    if (r == -EXDEV && number)
        return refuse(ret_error, r,
                      "%s:%lu: of another directory than the lines before; apply them one by one",
                      file, number);
    if (r < 0)
        return r == -EINVAL && number
                   ? refuse(ret_error, r, "%s:%lu: no line of a plan of kinfs tidy --json", file,
                            number)
                   : r;
    tidy_plan_sort(plan);
    return 0;
}
