/* kinfs related: which documents are about the same as one, in other words perhaps. */
#include <errno.h>

#include "tools/commands/kin_answers.h"
#include "tools/commands/work_kin.h"
#include "tools/show/json_path.h"

enum { DEFAULT_LIMIT = 10 };

static int refuse_related(int r, bool is_foreign, const char *shown, char **ret_error)
{
    if (r == -EOPNOTSUPP)
        return refuse(ret_error, r, "%s: " QUESTION_NO_TOPICS, shown);
    if (r == -ENOENT && !is_foreign)
        return refuse(ret_error, r, "%s: its words are not known yet; kinfs settle waits for it",
                      shown);
    return refuse(ret_error, r, "%s: %s", shown, error_text(r));
}

static bool is_missing(const struct work_context *context, struct json_object *request)
{
    _cleanup_free_ char *path = NULL;
    struct file_key key;
    struct stat st;
    work_catch_up(context);
    return json_path_get(request, "path", &path) == 0 &&
           work_find(context, path, &key, &st) == -ENOENT;
}

static int related_to_name(const struct work_context *context, struct json_object *request,
                           const struct index_query *query, row_fn row, void *user,
                           char **ret_error)
{
    _cleanup_(kin_list_done) struct kin_list list = {0};
    _cleanup_free_ char *path = NULL;
    const char *shown = work_shown(request, "path");
    int r = json_path_get(request, "path", &path);
    if (r == 0)
        r = index_related_to_name(context->index, path, query, &list);
    if (r == -EOPNOTSUPP)
        return refuse(ret_error, -ENOENT,
                      "%s: nothing is there; of what others say of it mount the tree with -o "
                      "topics=anchor or both, or kinfs scan --topics=anchor",
                      shown);
    if (r == -ENODATA)
        return refuse(ret_error, -ENOENT, "%s: nothing is there, and no document links to it",
                      shown);
    return r < 0 ? refuse_related(r, true, shown, ret_error) : work_kin_list(&list, row, user);
}

int work_related(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error)
{
    const struct index_query query = {
        .relation = INDEX_RELATED,
        .threshold = work_number(request, "threshold", INDEX_RELATED_THRESHOLD),
        .limit = work_count(request, "limit", DEFAULT_LIMIT),
        .wait_ms = WORK_SETTLE_MS,
        .stop = context->stop,
        .stop_user = context->stop_user,
    };
    if (!context->document && is_missing(context, request))
        return related_to_name(context, request, &query, row, user, ret_error);
    return work_kin_rows(context, request, &query, refuse_related, row, user, ret_error);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    return kin_answers_parse(state->input, key, argument, state);
}

static const struct argp_option related_options[] = {
    {"threshold", 't', "R", 0, "least resemblance of the words, 0 to 1 (default 0.1)", 0},
    {"limit", 'n', "N", 0, "most answers, 0 for all (default 10)", 0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {"tree", 'T', "PATH", 0,
     "FILE need not be in it: any document, which is only read; of the tree that PATH is in", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    related_options, parse, "FILE",
    "Print the documents that are about the same as FILE, by the words of both, in whatever order "
    "they stand there, the nearest first: resemblance of the words, a tab, the path below the "
    "tree. Rare words count for more. Of documents of one text one is shown; copies of FILE are "
    "not: kinfs similar finds those. FILE - is a document on standard input, asked about in the "
    "tree of the working directory unless --tree names another. It takes a store that keeps words "
    "(-o topics=, kinfs scan --topics=). FILE may be a name where nothing is, of which others say "
    "something (topics=anchor or both). Exit code 1 when there is none, 4 when none "
    "was found but words of documents are still to be counted.",
    children};

/* Members that say nothing of a resemblance by words. */
static void strip(struct json_object *row)
{
    static const char *const others[] = {"error", "containment", "containment_samples", "exact"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        json_object_object_del(row, others[i]);
}

int cmd_related(int argc, char **argv)
{
    struct kin_answers answers = {.common.needs_path = true,
                                  .threshold = INDEX_RELATED_THRESHOLD,
                                  .limit = DEFAULT_LIMIT,
                                  .ratio = "resemblance",
                                  .strip = strip};
    _cleanup_(asked_document_done) struct asked_document asked = {
        .command = "related", .common = &answers.common, .fd = -1};
    _cleanup_json_ struct json_object *request = json_object_new_object();
    command_parse(&parser, argc, argv, &answers);
    asked.question.relation = INDEX_RELATED;
    asked.may_be_missing = true;
    return kin_answers_print(&answers, &asked, request);
}
