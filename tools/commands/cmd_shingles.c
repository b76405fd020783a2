/* kinfs shingles: what most documents have in common. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "tools/commands/command.h"
#include "tools/show/json_path.h"

enum { DEFAULT_TOP = 20 };

static int emit_shingle(const struct common_shingle *shingle, uint64_t n_documents, row_fn row,
                        void *user)
{
    char fingerprint[17];
    struct json_object *object = json_object_new_object(), *paths = json_object_new_array();
    snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, shingle->fingerprint);
    json_object_object_add(object, "fingerprint", json_object_new_string(fingerprint));
    work_add_count(object, "documents", shingle->n_documents);
    work_add_ratio(object, "share", (double)shingle->n_documents / (double)n_documents);
    if (shingle->text) /* of tags it may be bytes, as of paths */
        json_path_add(object, "text", shingle->text);
    else
        json_object_object_add(object, "text", NULL);
    for (size_t i = 0; i < shingle->n_paths; i++) {
        struct json_object *of = json_object_new_object();
        json_path_add(of, "path", shingle->paths[i]);
        json_object_array_add(paths, of);
    }
    json_object_object_add(object, "samples", paths);
    return row(user, object);
}

int work_shingles(const struct work_context *context, struct json_object *request, row_fn row,
                  void *user, char **ret_error)
{
    _cleanup_(common_shingles_done) struct common_shingles list = {0};
    work_catch_up(context);
    int r = index_common_shingles(context->index, work_count(request, "top", DEFAULT_TOP), &list);
    if (r < 0)
        return refuse(ret_error, r, "shingles: %s", error_text(r));
    for (size_t i = 0; r == 0 && i < list.n_shingles; i++)
        r = emit_shingle(&list.shingles[i], list.n_documents, row, user);
    return r;
}

struct shingles_options {
    struct command_options common;
    uint64_t top, n_rows;
};

enum { OPTION_TOP = 0x100 };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct shingles_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case OPTION_TOP:
        options->top = command_parse_count(state, "--top", argument, 1, COMMON_SHINGLES_MAX);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option shingles_options[] = {
    {"top", OPTION_TOP, "N", 0, "how many (default 20)", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    shingles_options, parse, "[PATH]",
    "Print the shingles that most documents have of the tree that PATH (or the working directory) "
    "is in: headers, licences, what programs generate. Number of documents, share of all, the "
    "words, and a document that has it, with tabs between. Of all shingles those are looked at "
    "that sketches keep for containment, one in 25. Exit code 1 when no two documents share one.",
    children};

/* Tags have whatever characters their documents have, those that control a terminal too. */
static void print_text(struct json_object *row)
{
    _cleanup_free_ char *text = NULL;
    if (json_path_get(row, "text", &text) < 0) {
        putchar('-');
        return;
    }
    char *rest = text;
    for (const char *word; (word = strsep(&rest, " "));) {
        _cleanup_free_ char *escaped = NULL;
        if (word != text)
            putchar(' ');
        if (escape_name(word, &escaped) == 0)
            fputs(escaped, stdout);
    }
}

static int print_row(void *user, struct json_object *row)
{
    struct shingles_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    struct json_object *samples;
    if (!taken)
        return -ENOMEM;
    if (!command_is_list(taken, "samples", json_type_object))
        return -EPROTO;
    options->n_rows++;
    if (options->common.json) {
        command_print_json(taken);
        return 0;
    }
    printf("%" PRIu64 "\t", command_count(taken, "documents"));
    command_print_ratio(taken, "share");
    putchar('\t');
    print_text(taken);
    putchar('\t');
    if (json_object_object_get_ex(taken, "samples", &samples) && json_object_array_length(samples))
        command_print_path(json_object_array_get_idx(samples, 0), "path", false);
    putchar('\n');
    return 0;
}

int cmd_shingles(int argc, char **argv)
{
    struct shingles_options options = {.top = DEFAULT_TOP};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = locate(options.common.path, options.common.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    _cleanup_json_ struct json_object *request = json_object_new_object();
    work_add_count(request, "top", options.top);
    const struct ask question = {.location = &location, .command = "shingles"};
    r = ask(&question, request, print_row, &options, &error);
    int code = command_end(r, error);
    return code == COMMAND_OK && options.n_rows == 0 ? COMMAND_NO_ANSWER : code;
}
