/* kinfs similar: which documents resemble one, contain it, or are contained in it. */
#include <errno.h>

#include "tools/commands/kin_answers.h"
#include "tools/commands/work_kin.h"
#include "tools/show/json_path.h"

/* As the mount's: what clusters at 0.5 shall not be lacking in a list, and an estimate near 0.5 has
 * a standard error of 0.044, so lists go down by more than two of them. */
static const double DEFAULT_THRESHOLD = 0.4;
enum { DEFAULT_LIMIT = 100 };

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
    return work_kin_rows(context, request, &query, refuse_similar, row, user, ret_error);
}

struct similar_options {
    struct kin_answers answers;
    enum index_relation relation;
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
    case OPTION_CONTAINING: choose(options, INDEX_WHOLES, state); return 0;
    case OPTION_CONTAINED: choose(options, INDEX_PARTS, state); return 0;
    default: return kin_answers_parse(&options->answers, key, argument, state);
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

int cmd_similar(int argc, char **argv)
{
    struct similar_options options = {.answers = {.common.needs_path = true,
                                                  .threshold = DEFAULT_THRESHOLD,
                                                  .limit = DEFAULT_LIMIT}};
    struct kin_answers *answers = &options.answers;
    _cleanup_(asked_document_done) struct asked_document asked = {
        .command = "similar", .common = &answers->common, .fd = -1};
    _cleanup_json_ struct json_object *request = json_object_new_object();
    command_parse(&parser, argc, argv, &options);
    const bool resembles = options.relation == INDEX_RESEMBLES;
    asked.question.relation = options.relation;
    answers->ratio = resembles ? "resemblance" : "containment";
    answers->note = resembles ? NULL : command_print_confidence;
    json_object_object_add(request, "containing",
                           json_object_new_boolean(options.relation == INDEX_WHOLES));
    json_object_object_add(request, "contained",
                           json_object_new_boolean(options.relation == INDEX_PARTS));
    return kin_answers_print(answers, &asked, request);
}
