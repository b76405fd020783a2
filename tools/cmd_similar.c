/* kinfs similar: which documents resemble one. */
#include <stdio.h>
#include <string.h>

#include "tools/command.h"
#include "tools/json_path.h"

/* As the mount's: what clusters at 0.5 shall not be lacking in a list, and an estimate near 0.5 has
 * a standard error of 0.044, so lists go down by more than two of them. */
static const double DEFAULT_THRESHOLD = 0.4;
enum { DEFAULT_LIMIT = 100 };

static int emit_kin(const struct kin *kin, row_fn row, void *user)
{
    struct json_object *object = json_object_new_object();
    int r = json_path_add(object, "path", kin->path);
    if (r < 0) {
        json_object_put(object);
        return r;
    }
    work_add_ratio(object, "resemblance", kin->resemblance);
    work_add_ratio(object, "error", kin->error);
    work_add_ratio(object, "containment", kin->containment);
    work_add_count(object, "containment_samples", kin->containment_samples);
    json_object_object_add(object, "exact", json_object_new_boolean(kin->exact));
    return row(user, object);
}

int work_similar(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error)
{
    _cleanup_free_ char *path = NULL;
    _cleanup_(kin_list_done) struct kin_list list = {0};
    struct file_key key;
    struct document_info info;
    int r = work_document(context, request, "path", &path, &key, &info, ret_error);
    if (r < 0)
        return r;
    if (info.state == DOCUMENT_SKIPPED)
        return refuse(ret_error, -EIO, "%s: not sketched: %s", work_shown(request, "path"),
                      info.reason);
    const struct index_query query = {
        .threshold = work_number(request, "threshold", DEFAULT_THRESHOLD),
        .limit = work_count(request, "limit", DEFAULT_LIMIT),
        .wait_ms = WORK_SETTLE_MS,
    };
    r = work_flag(request, "containing") ? index_containing(context->index, &key, &query, &list)
                                         : index_similar(context->index, &key, &query, &list);
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s: not sketched yet; kinfs settle waits for it",
                      work_shown(request, "path"));
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", work_shown(request, "path"), error_text(r));
    for (size_t i = 0; i < list.n_kin; i++) {
        r = emit_kin(&list.kin[i], row, user);
        if (r < 0)
            return r;
    }
    return 0;
}

struct similar_options {
    struct command_options common;
    const char *base;
    double threshold;
    uint64_t limit;
    bool containing, absolute;
    uint64_t n_rows;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct similar_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 't': options->threshold = command_parse_ratio(state, "--threshold", argument); return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, UINT32_MAX);
        return 0;
    case 'c': options->containing = true; return 0;
    case 'a': options->absolute = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option similar_options[] = {
    {"threshold", 't', "R", 0, "least resemblance, 0 to 1 (default 0.4)", 0},
    {"limit", 'n', "N", 0, "most answers, 0 for all (default 100)", 0},
    {"containing", 'c', NULL, 0,
     "what the document is contained in, instead: at least R of it (the number printed is the "
     "containment)",
     0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {similar_options, parse, "FILE",
                                   "Print the documents that resemble FILE, the best first: "
                                   "resemblance, a tab, the path below the "
                                   "tree. Exit code 1 when there is none.",
                                   children};

static void print_confidence(struct json_object *row)
{
    uint64_t n = command_count(row, "containment_samples");
    if (!work_flag(row, "exact") && n > 0 && n < INDEX_CONFIDENT_SAMPLES)
        printf(" (%llu sample%s: low confidence)", (unsigned long long)n, n == 1 ? "" : "s");
}

static int print_row(void *user, struct json_object *row)
{
    struct similar_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    options->n_rows++;
    if (options->absolute)
        command_make_absolute(taken, "path", options->base);
    if (options->common.json) {
        command_print_json(taken);
        return 0;
    }
    if (!options->common.null) {
        command_print_ratio(taken, options->containing ? "containment" : "resemblance");
        if (options->containing)
            print_confidence(taken);
        putchar('\t');
    }
    command_print_path(taken, "path", options->common.null);
    if (!options->common.null)
        putchar('\n');
    return 0;
}

int cmd_similar(int argc, char **argv)
{
    struct similar_options options = {
        .common.needs_path = true, .threshold = DEFAULT_THRESHOLD, .limit = DEFAULT_LIMIT};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    int r = locate(options.common.path, options.common.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    options.base = location.base;
    _cleanup_json_ struct json_object *request = json_object_new_object();
    command_add_path(request, "path", options.common.path, location.path);
    json_object_object_add(request, "threshold", json_object_new_double(options.threshold));
    work_add_count(request, "limit", options.limit);
    json_object_object_add(request, "containing", json_object_new_boolean(options.containing));
    const struct ask question = {.location = &location, .command = "similar"};
    r = ask(&question, request, print_row, &options, &error);
    int code = command_end(r, error);
    return code == COMMAND_OK && options.n_rows == 0 ? COMMAND_NO_ANSWER : code;
}
