/* kinfs related: which documents are about the same as one, in other words perhaps. */
#include <errno.h>
#include <stdio.h>

#include "tools/commands/asked_document.h"
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
    _cleanup_(kin_list_done) struct kin_list list = {0};
    int r = work_kin(context, request, &query, refuse_related, &list, ret_error);
    if (r == 0 && *list.incomplete)
        r = row(user, question_incomplete_row(list.incomplete));
    for (size_t i = 0; r == 0 && i < list.n_kin; i++)
        r = row(user, question_row(&list.kin[i]));
    return r;
}

struct related_options {
    struct command_options common;
    const char *tree;
    const char *const *base; /* of what is asked */
    double threshold;
    uint64_t limit;
    bool absolute;
    char *incomplete; /* why something may be missing, or NULL */
    uint64_t n_rows;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct related_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 't': options->threshold = command_parse_ratio(state, "--threshold", argument); return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX);
        return 0;
    case 'a': options->absolute = true; return 0;
    case 'T': options->tree = argument; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
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
    "(-o topics=content, kinfs scan --topics=content). Exit code 1 when there is none, 4 when none "
    "was found but words of documents are still to be counted.",
    children};

static int print_row(void *user, struct json_object *row)
{
    static const char *const others[] = {"error", "containment", "containment_samples", "exact"};
    struct related_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (json_object_object_get_ex(taken, "incomplete", NULL)) {
        free(options->incomplete);
        options->incomplete = message("%s", command_text(taken, "incomplete"));
        return 0;
    }
    options->n_rows++;
    if (options->absolute)
        command_make_absolute(taken, "path", *options->base);
    if (options->common.json) {
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            json_object_object_del(taken, others[i]);
        json_object_object_add(taken, "complete", json_object_new_boolean(!options->incomplete));
        command_print_json(taken);
        return 0;
    }
    if (!options->common.null) {
        command_print_ratio(taken, "resemblance");
        putchar('\t');
    }
    command_print_path(taken, "path", options->common.null);
    if (!options->common.null)
        putchar('\n');
    return 0;
}

/* Said beside the rows, and in them; without any row it is all there is to say. */
static int end_incomplete(const struct related_options *options, const char *shown)
{
    if (options->common.json && options->n_rows == 0) {
        _cleanup_json_ struct json_object *row = question_incomplete_row(options->incomplete);
        json_object_object_add(row, "complete", json_object_new_boolean(false));
        command_print_json(row);
    } else if (!options->common.json) {
        complain("%s: %s", shown, options->incomplete);
    }
    return options->n_rows == 0 ? COMMAND_UNCERTAIN : COMMAND_OK;
}

int cmd_related(int argc, char **argv)
{
    struct related_options options = {
        .common.needs_path = true, .threshold = INDEX_RELATED_THRESHOLD, .limit = DEFAULT_LIMIT};
    _cleanup_(asked_document_done) struct asked_document asked = {
        .command = "related", .common = &options.common, .fd = -1};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    asked.tree = options.tree;
    asked.question = (struct question){
        .threshold = options.threshold, .limit = options.limit, .relation = INDEX_RELATED};
    options.base = &asked.base;
    _cleanup_json_ struct json_object *request = json_object_new_object();
    json_object_object_add(request, "threshold", json_object_new_double(options.threshold));
    work_add_count(request, "limit", options.limit);
    int r = asked_document_ask(&asked, request, print_row, &options, &error);
    int code = command_end(r, error);
    if (code == COMMAND_OK && options.incomplete)
        code = end_incomplete(&options, asked_document_shown(&asked));
    else if (code == COMMAND_OK && options.n_rows == 0)
        code = COMMAND_NO_ANSWER;
    free(options.incomplete);
    return code;
}
