/* kinfs similar: which documents resemble one, contain it, or are contained in it. */
#include <errno.h>
#include <stdio.h>

#include "base/counted.h"
#include "tools/commands/asked_document.h"
#include "tools/commands/work_kin.h"
#include "tools/show/json_path.h"

/* As the mount's: what clusters at 0.5 shall not be lacking in a list, and an estimate near 0.5 has
 * a standard error of 0.044, so lists go down by more than two of them. */
static const double DEFAULT_THRESHOLD = 0.4;
enum { DEFAULT_LIMIT = 100 };

static int emit_all(const struct kin_list *list, row_fn row, void *user)
{
    int r = *list->incomplete ? row(user, question_incomplete_row(list->incomplete)) : 0;
    for (size_t i = 0; r == 0 && i < list->n_kin; i++)
        r = row(user, question_row(&list->kin[i]));
    return r;
}

static enum index_relation relation_of(struct json_object *request)
{
    return work_flag(request, "containing")  ? INDEX_WHOLES
           : work_flag(request, "contained") ? INDEX_PARTS
                                             : INDEX_RESEMBLES;
}

static int refuse_similar(int r, bool is_foreign, const char *shown, char **ret_error)
{
    if (r == -ENOENT && !is_foreign)
        return refuse(ret_error, r, "%s: not sketched yet; kinfs settle waits for it", shown);
    return refuse(ret_error, r, "%s: %s", shown, error_text(r));
}

int work_similar(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error)
{
    const struct index_query query = {
        .relation = relation_of(request),
        .threshold = work_number(request, "threshold", DEFAULT_THRESHOLD),
        .limit = work_count(request, "limit", DEFAULT_LIMIT),
        .wait_ms = WORK_SETTLE_MS,
        .stop = context->stop,
        .stop_user = context->stop_user,
    };
    _cleanup_(kin_list_done) struct kin_list list = {0};
    int r = work_kin(context, request, &query, refuse_similar, &list, ret_error);
    return r < 0 ? r : emit_all(&list, row, user);
}

struct similar_options {
    struct command_options common;
    const char *tree;
    const char *const *base; /* of what is asked */
    double threshold;
    uint64_t limit;
    enum index_relation relation;
    bool absolute;
    char *incomplete; /* why something may be missing, or NULL */
    uint64_t n_rows;
};

enum { OPTION_CONTAINING = 0x100, OPTION_CONTAINED };

static void choose(struct similar_options *options, enum index_relation relation,
                   struct argp_state *state)
{
    if (options->relation != INDEX_RESEMBLES && options->relation != relation)
        argp_error(state, "either --containing or --contained");
    options->relation = relation;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct similar_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 't': options->threshold = command_parse_ratio(state, "--threshold", argument); return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX);
        return 0;
    case OPTION_CONTAINING: choose(options, INDEX_WHOLES, state); return 0;
    case OPTION_CONTAINED: choose(options, INDEX_PARTS, state); return 0;
    case 'a': options->absolute = true; return 0;
    case 'T': options->tree = argument; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option similar_options[] = {
    {"threshold", 't', "R", 0, "least resemblance, 0 to 1 (default 0.4)", 0},
    {"limit", 'n', "N", 0, "most answers, 0 for all (default 100)", 0},
    {"containing", OPTION_CONTAINING, NULL, 0,
     "what the document is contained in, instead: at least R of it (the number printed is the "
     "containment)",
     0},
    {"contained", OPTION_CONTAINED, NULL, 0,
     "what is contained in the document, instead: of which at least R is in it (the number printed "
     "is that containment)",
     0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {"tree", 'T', "PATH", 0,
     "FILE need not be in it: any document, which is only read; of the tree that PATH is in", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {similar_options, parse, "FILE",
                                   "Print the documents that resemble FILE, the best first: "
                                   "resemblance, a tab, the path below the "
                                   "tree. FILE - is a document on standard input, "
                                   "asked about in the tree of the working directory unless "
                                   "--tree names another. Exit code 1 when there is none, 4 "
                                   "when none was found but cannot be told: FILE is too short, or "
                                   "the threshold too low.",
                                   children};

static void print_confidence(struct json_object *row)
{
    uint64_t n = command_count(row, "containment_samples");
    if (!work_flag(row, "exact") && n > 0 && n < INDEX_CONFIDENT_SAMPLES)
        printf(" (%s: low confidence)", counted(n, "sample").text);
}

static int print_row(void *user, struct json_object *row)
{
    struct similar_options *options = user;
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
        json_object_object_add(taken, "complete", json_object_new_boolean(!options->incomplete));
        command_print_json(taken);
        return 0;
    }
    if (!options->common.null) {
        const bool resembles = options->relation == INDEX_RESEMBLES;
        command_print_ratio(taken, resembles ? "resemblance" : "containment");
        if (!resembles)
            print_confidence(taken);
        putchar('\t');
    }
    command_print_path(taken, "path", options->common.null);
    if (!options->common.null)
        putchar('\n');
    return 0;
}

/* Said beside the rows, and in them; without any row it is all there is to say. */
static int end_incomplete(const struct similar_options *options, const char *shown)
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

int cmd_similar(int argc, char **argv)
{
    struct similar_options options = {
        .common.needs_path = true, .threshold = DEFAULT_THRESHOLD, .limit = DEFAULT_LIMIT};
    _cleanup_(asked_document_done) struct asked_document asked = {
        .command = "similar", .common = &options.common, .fd = -1};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    asked.tree = options.tree;
    asked.question = (struct question){
        .threshold = options.threshold, .limit = options.limit, .relation = options.relation};
    options.base = &asked.base;
    _cleanup_json_ struct json_object *request = json_object_new_object();
    json_object_object_add(request, "threshold", json_object_new_double(options.threshold));
    work_add_count(request, "limit", options.limit);
    json_object_object_add(request, "containing",
                           json_object_new_boolean(options.relation == INDEX_WHOLES));
    json_object_object_add(request, "contained",
                           json_object_new_boolean(options.relation == INDEX_PARTS));
    int r = asked_document_ask(&asked, request, print_row, &options, &error);
    int code = command_end(r, error);
    if (code == COMMAND_OK && options.incomplete)
        code = end_incomplete(&options, asked_document_shown(&asked));
    else if (code == COMMAND_OK && options.n_rows == 0)
        code = COMMAND_NO_ANSWER;
    free(options.incomplete);
    return code;
}
