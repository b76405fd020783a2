/* kinfs topics: what the documents of a tree are about, and which are about the same. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "tools/commands/command.h"
#include "tools/questions/question.h"
#include "tools/show/json_path.h"

enum { DEFAULT_LIMIT = 20, DEFAULT_WORDS = 6, WORDS_MOST = 100 };

struct topics_options {
    struct command_options common;
    const char *base;
    uint64_t limit, words, n_rows;
    uint64_t topic, subtopic;           /* of --id */
    uint64_t explained, explained_part; /* 0: of the topic itself */
    bool absolute;
    char *incomplete; /* why something may be missing; or NULL */
};

enum { OPTION_EXPLAIN = 0x100, OPTION_WORDS };

/* ID, or ID/ID of a sub-topic, as directories of topics/ are called. */
static void parse_id(struct argp_state *state, const char *option, const char *text,
                     uint64_t *ret_topic, uint64_t *ret_subtopic)
{
    const char *slash = strchr(text, '/');
    _cleanup_free_ char *topic = strndup(text, slash ? (size_t)(slash - text) : strlen(text));
    *ret_topic = command_parse_count(state, option, topic ? topic : "", 1, INT64_MAX);
    *ret_subtopic = slash ? command_parse_count(state, option, slash + 1, 1, INT64_MAX) : 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct topics_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'i': parse_id(state, "--id", argument, &options->topic, &options->subtopic); return 0;
    case OPTION_EXPLAIN:
        parse_id(state, "--explain", argument, &options->explained, &options->explained_part);
        return 0;
    case OPTION_WORDS:
        options->words = command_parse_count(state, "--words", argument, 0, WORDS_MOST);
        return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX);
        return 0;
    case 'a': options->absolute = true; return 0;
    case ARGP_KEY_END:
        if (options->topic && options->explained)
            argp_error(state, "--id and --explain exclude each other");
        if (options->subtopic)
            argp_error(state,
                       "--id: a sub-topic has no sub-topics; say --explain=%" PRIu64 "/%" PRIu64
                       " for its documents",
                       options->topic, options->subtopic);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option topics_options[] = {
    {"id", 'i', "ID", 0, "the sub-topics of this topic", 0},
    {"explain", OPTION_EXPLAIN, "ID[/ID]", 0,
     "what this topic, or sub-topic, is about: its words with their weights, and its documents, "
     "those first whose words are nearest to the document in its centre",
     0},
    {"words", OPTION_WORDS, "N", 0, "most words of each, up to 100 (default 6)", 0},
    {"limit", 'n', "N", 0, "most topics, or documents of one, 0 for all (default 20)", 0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    topics_options, parse, "[PATH]",
    "Print the topics of the tree that PATH (or the working directory) is in, the largest first: "
    "id, number of documents, the words that tell it from others, the heaviest first, and the path "
    "of the document in its centre, with tabs between. A topic is documents about the same, in "
    "other words perhaps; one that nothing is near to is in none. With a document as PATH its "
    "topic and sub-topic. It takes a store that keeps words (-o topics=content, kinfs scan "
    "--topics=content). Exit code 1 when there is none, 4 when none was found but topics are still "
    "to be made.",
    children};

/* -- rows -- */

static void print_id(struct json_object *row)
{
    printf("%" PRIu64, command_count(row, "topic"));
    if (json_object_object_get_ex(row, "subtopic", NULL))
        printf("/%" PRIu64, command_count(row, "subtopic"));
}

static void print_words(struct json_object *row)
{
    struct json_object *words;
    json_object_object_get_ex(row, "words", &words);
    for (size_t i = 0; words && i < json_object_array_length(words); i++)
        printf("%s%s", i ? " " : "", command_text(json_object_array_get_idx(words, i), "word"));
}

static void print_topic(struct json_object *row)
{
    print_id(row);
    printf("\t%" PRIu64 "\t", command_count(row, "size"));
    print_words(row);
    putchar('\t');
    command_print_path(row, "centre", false);
    putchar('\n');
}

static void print_weights(struct json_object *row)
{
    struct json_object *words;
    json_object_object_get_ex(row, "words", &words);
    for (size_t i = 0; words && i < json_object_array_length(words); i++) {
        struct json_object *word = json_object_array_get_idx(words, i);
        printf("%s%3" PRIu64 "  %s\n", i ? "                " : "words           ",
               command_count(word, "weight"), command_text(word, "word"));
    }
}

static void print_explanation(struct json_object *row)
{
    struct json_object *members, *parts;
    printf("topic           ");
    print_id(row);
    printf("\ndocuments       %" PRIu64 "\ncentre          ", command_count(row, "size"));
    command_print_path(row, "centre", false);
    printf("\nresemblance     mean ");
    command_print_ratio(row, "resemblance_mean");
    printf(" to the centre\n");
    print_weights(row);
    json_object_object_get_ex(row, "subtopics", &parts);
    for (size_t i = 0; parts && i < json_object_array_length(parts); i++) {
        struct json_object *part = json_object_array_get_idx(parts, i);
        printf("%s%" PRIu64 "/%" PRIu64 ", of %s\n", i ? "                " : "sub-topics      ",
               command_count(row, "topic"), command_count(part, "subtopic"),
               counted(command_count(part, "size"), "document").text);
    }
    json_object_object_get_ex(row, "documents", &members);
    for (size_t i = 0; members && i < json_object_array_length(members); i++) {
        struct json_object *member = json_object_array_get_idx(members, i);
        command_print_ratio(member, "resemblance");
        putchar('\t');
        command_print_path(member, "path", false);
        putchar('\n');
    }
}

static void make_absolute(struct topics_options *options, struct json_object *row)
{
    struct json_object *members;
    command_make_absolute(row, "centre", options->base);
    json_object_object_get_ex(row, "documents", &members);
    for (size_t i = 0; members && i < json_object_array_length(members); i++)
        command_make_absolute(json_object_array_get_idx(members, i), "path", options->base);
}

static void print_paths(struct json_object *row, bool of_members)
{
    struct json_object *members;
    if (!of_members) {
        command_print_path(row, "centre", true);
        return;
    }
    json_object_object_get_ex(row, "documents", &members);
    for (size_t i = 0; members && i < json_object_array_length(members); i++)
        command_print_path(json_object_array_get_idx(members, i), "path", true);
}

static int print_row(void *user, struct json_object *row)
{
    struct topics_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (command_take_incomplete(taken, &options->incomplete))
        return 0;
    if (!command_is_list(taken, "words", json_type_object) ||
        !command_is_list(taken, "subtopics", json_type_object) ||
        !command_is_list(taken, "documents", json_type_object))
        return -EPROTO;
    options->n_rows++;
    if (options->absolute)
        make_absolute(options, taken);
    if (options->common.json) {
        json_object_object_add(taken, "complete", json_object_new_boolean(!options->incomplete));
        command_print_json(taken);
    } else if (options->common.null) {
        print_paths(taken, options->explained);
    } else if (options->explained) {
        print_explanation(taken);
    } else {
        print_topic(taken);
    }
    return 0;
}

/* The reason is said beside the rows, and in them; without any row it is all there is to say. */
static int end_incomplete(const struct topics_options *options)
{
    if (options->common.json && options->n_rows == 0) {
        _cleanup_json_ struct json_object *row = question_incomplete_row(options->incomplete);
        json_object_object_add(row, "complete", json_object_new_boolean(false));
        command_print_json(row);
    } else if (!options->common.json) {
        complain("%s", options->incomplete);
    }
    return options->n_rows == 0 ? COMMAND_UNCERTAIN : COMMAND_OK;
}

static void make_request(const struct topics_options *options, const struct location *location,
                         struct json_object *request)
{
    if (options->explained) {
        work_add_count(request, "explain", options->explained);
        work_add_count(request, "part", options->explained_part);
    } else if (options->topic) {
        work_add_count(request, "id", options->topic);
    } else if (location->is_file) {
        command_add_path(request, "path", options->common.path, location->path);
    }
    work_add_count(request, "limit", options->limit);
    work_add_count(request, "words", options->words);
}

int cmd_topics(int argc, char **argv)
{
    struct topics_options options = {.limit = DEFAULT_LIMIT, .words = DEFAULT_WORDS};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = locate(options.common.path, options.common.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    options.base = location.base;
    _cleanup_json_ struct json_object *request = json_object_new_object();
    make_request(&options, &location, request);
    const struct ask question = {.location = &location, .command = "topics"};
    r = ask(&question, request, print_row, &options, &error);
    int code = command_end(r, error);
    if (code == COMMAND_OK && options.incomplete)
        code = end_incomplete(&options);
    else if (code == COMMAND_OK && options.n_rows == 0)
        code = COMMAND_NO_ANSWER;
    free(options.incomplete);
    return code;
}
