/* kinfs classify: the classes of the documents that are nearest to one by their words (Haveliwala,
 * Gionis and Indyk 2000, section 7: documents into classes that exist already).
 *
 * Each of the nearest has as many votes for its class as it resembles the document. Example: the
 * nearest are in mail/lists by .40 and .20, and in mail/work by .30: lists has two thirds of the
 * votes, work a third.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "tools/commands/asked_document.h"
#include "tools/commands/topics/document_class.h"
#include "tools/show/json_path.h"

enum { DEFAULT_LIMIT = 10, MOST_LIMIT = 10000 };

struct classify_options {
    struct command_options common;
    const char *by, *tree;
    char **paths;
    size_t n_paths;
    double threshold;
    uint64_t limit;
    bool best;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct classify_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'b': options->by = argument; return 0;
    case 't': options->threshold = command_parse_ratio(state, "--threshold", argument); return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 1, MOST_LIMIT);
        return 0;
    case '1': options->best = true; return 0;
    case 'T': options->tree = argument; return 0;
    case ARGP_KEY_ARGS:
        options->paths = state->argv + state->next;
        options->n_paths = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!options->by)
            argp_error(state, "--by=DIR or --by=user.ATTRIBUTE says what the classes are");
        if (!options->n_paths)
            argp_usage(state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option classify_options[] = {
    {"by", 'b', "DIR|ATTRIBUTE", 0,
     "the classes: the directories in DIR, or the values of an attribute, user.NAME", 0},
    {"limit", 'n', "N", 0, "of so many documents that are nearest (default 10)", 0},
    {"threshold", 't', "R", 0, "least resemblance of their words, 0 to 1 (default 0.1)", 0},
    {"best", '1', NULL, 0, "only the class with most votes", 0},
    {"tree", 'T', "PATH", 0,
     "FILE need not be in it: any document, which is only read; of the tree that PATH is in", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    classify_options, parse, "FILE...",
    "Print which classes the documents are in that are about the same as FILE (kinfs related), the "
    "likeliest first: its share of the votes, a tab, the class, a tab, FILE. Each document has as "
    "many votes as it resembles FILE; one that is in no class has none. With -0 the class and "
    "FILE, "
    "a NUL behind each. FILE - is a document on standard input. It takes a store that keeps words "
    "(-o topics=content, kinfs scan --topics=content). Exit code 1 when some FILE has no class, 4 "
    "when that may be because words of documents are still to be counted.",
    children};

/* -- votes -- */

struct class_votes {
    char *class;
    double votes;
    uint64_t n_documents;
};

struct voting {
    const struct document_classes *classes;
    const struct asked_document *asked;
    struct class_votes *found;
    size_t n, room;
    double n_votes;
    char *incomplete; /* why somebody may have been left out, or NULL */
};

static void voting_done(struct voting *voting)
{
    for (size_t i = 0; i < voting->n; i++)
        free(voting->found[i].class);
    free(voting->found);
    free(voting->incomplete);
}

/* Takes the class. */
static int vote(struct voting *voting, char *class, double votes)
{
    size_t i = 0;
    while (i < voting->n && strcmp(voting->found[i].class, class) != 0)
        i++;
    if (i < voting->n) {
        free(class);
    } else if (MAKE_ROOM(voting->found, voting->room, voting->n + 1)) {
        voting->found[voting->n++] = (struct class_votes){.class = class};
    } else {
        free(class);
        return -ENOMEM;
    }
    voting->found[i].votes += votes;
    voting->found[i].n_documents++;
    voting->n_votes += votes;
    return 0;
}

static int take_row(void *user, struct json_object *row)
{
    struct voting *voting = user;
    _cleanup_json_ struct json_object *taken = row;
    _cleanup_free_ char *path = NULL;
    struct json_object *resemblance;
    char *class;
    if (!taken)
        return -ENOMEM;
    if (command_take_incomplete(taken, &voting->incomplete))
        return 0;
    if (json_path_get(taken, "path", &path) < 0 ||
        !json_object_object_get_ex(taken, "resemblance", &resemblance))
        return -EPROTO;
    const double votes = json_object_get_double(resemblance);
    int r = document_class(voting->classes, voting->asked->base, path, &class);
    return r > 0 && votes > 0 ? vote(voting, class, votes) : r < 0 ? r : 0;
}

static int compare_votes(const void *a, const void *b)
{
    const struct class_votes *x = a, *y = b;
    if (x->votes != y->votes)
        return x->votes < y->votes ? 1 : -1;
    return strcmp(x->class, y->class);
}

/* -- printing -- */

static void print_class(const struct classify_options *options, const struct voting *voting,
                        size_t i, const char *shown)
{
    const struct class_votes *found = &voting->found[i];
    _cleanup_json_ struct json_object *row = json_object_new_object();
    json_path_add(row, "path", shown);
    json_path_add(row, "class", found->class);
    work_add_ratio(row, "share", found->votes / voting->n_votes);
    json_object_object_add(row, "documents", json_object_new_uint64(found->n_documents));
    json_object_object_add(row, "complete", json_object_new_boolean(!voting->incomplete));
    if (options->common.json) {
        command_print_json(row);
        return;
    }
    if (!options->common.null) {
        command_print_ratio(row, "share");
        putchar('\t');
    }
    command_print_path(row, "class", options->common.null);
    if (!options->common.null)
        putchar('\t');
    command_print_path(row, "path", options->common.null);
    if (!options->common.null)
        putchar('\n');
}

static int print(const struct classify_options *options, struct voting *voting, const char *shown)
{
    if (voting->n)
        qsort(voting->found, voting->n, sizeof(*voting->found), compare_votes);
    for (size_t i = 0; i < voting->n && (i == 0 || !options->best); i++)
        print_class(options, voting, i, shown);
    if (voting->incomplete)
        complain("%s: %s", shown, voting->incomplete);
    return voting->n ? COMMAND_OK : voting->incomplete ? COMMAND_UNCERTAIN : COMMAND_NO_ANSWER;
}

static bool is_of_another_tree(const struct document_classes *classes,
                               const struct asked_document *asked)
{
    const char *source = classes->location.source, *asked_source = asked->location.source;
    return source && asked_source && strcmp(source, asked_source) != 0;
}

static int classify(const struct classify_options *options, const struct document_classes *classes,
                    char *path)
{
    const struct command_options common = {.path = path, .store = options->common.store};
    _cleanup_(asked_document_done) struct asked_document asked = {
        .command = "related",
        .common = &common,
        .tree = options->tree,
        .fd = -1,
        .question = {
            .relation = INDEX_RELATED, .threshold = options->threshold, .limit = options->limit}};
    _cleanup_(voting_done) struct voting voting = {.classes = classes, .asked = &asked};
    _cleanup_json_ struct json_object *request = json_object_new_object();
    _cleanup_free_ char *error = NULL;
    json_object_object_add(request, "threshold", json_object_new_double(options->threshold));
    work_add_count(request, "limit", options->limit);
    int r = asked_document_ask(&asked, request, take_row, &voting, &error);
    if (r == 0 && is_of_another_tree(classes, &asked))
        r = refuse(&error, -EXDEV, "%s: not in the tree that %s is in",
                   asked_document_shown(&asked), options->by);
    if (r < 0)
        return command_end(r, error);
    int code = print(options, &voting, asked_document_shown(&asked));
    const int ended = command_end(0, NULL);
    return ended == COMMAND_OK ? code : ended;
}

/* Of several codes one is told, whatever the order of the files. */
static int weight_of(int code)
{
    return code == COMMAND_FAILED ? 3 : code == COMMAND_NO_ANSWER ? 2 : code == COMMAND_UNCERTAIN;
}

int cmd_classify(int argc, char **argv)
{
    struct classify_options options = {.threshold = INDEX_RELATED_THRESHOLD,
                                       .limit = DEFAULT_LIMIT};
    _cleanup_free_ char *error = NULL;
    struct document_classes classes;
    command_parse(&parser, argc, argv, &options);
    int r = document_classes_open(options.by, options.common.store, &classes, &error);
    int code = r < 0 ? command_end(r, error) : COMMAND_OK;
    for (size_t i = 0; r == 0 && i < options.n_paths; i++) {
        const int of_one = classify(&options, &classes, options.paths[i]);
        if (weight_of(of_one) > weight_of(code))
            code = of_one;
        if (code == COMMAND_FAILED)
            break;
    }
    document_classes_done(&classes);
    return code;
}
