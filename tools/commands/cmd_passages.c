/* kinfs passages: which documents have passages of one, and where they stand in both. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/room.h"
#include "tools/commands/asked_document.h"
#include "tools/commands/shared_texts.h"
#include "tools/commands/work_kin.h"
#include "tools/documents/regular_file.h"
#include "tools/questions/patience.h"
#include "tools/show/json_path.h"

/* Documents that are read for one question, those with the longest passages: minutes. */
enum { COMPARED_MAX = 1000, DEFAULT_LIMIT = 100, MOST_LEAST = 1000, IGNORED_MAX = 64 };

/* -- with the index -- */

static int emit_all(const struct kin_list *list, row_fn row, void *user)
{
    int r = *list->incomplete ? row(user, question_incomplete_row(list->incomplete)) : 0;
    if (r == 0)
        r = row(user, question_common_row(list));
    for (size_t i = 0; r == 0 && i < list->n_kin; i++)
        r = row(user, question_passages_row(&list->kin[i]));
    return r;
}

static int refuse_passages(int r, bool is_foreign, const char *shown, char **ret_error)
{
    (void)is_foreign;
    if (r == -EOPNOTSUPP)
        return refuse(ret_error, r, "%s: " QUESTION_NO_PASSAGES, shown);
    if (r == -ENOENT)
        return refuse(ret_error, r,
                      "%s: its passages are not indexed yet; kinfs settle waits for it", shown);
    return refuse(ret_error, r, "%s: %s", shown, error_text(r));
}

int work_passages(const struct work_context *context, struct json_object *request, row_fn row,
                  void *user, char **ret_error)
{
    const struct index_query query = {
        .relation = INDEX_SHARES,
        .limit = work_count(request, "limit", COMPARED_MAX),
        .common = work_count(request, "common", INDEX_PASSAGES_COMMON),
        .wait_ms = WORK_SETTLE_MS,
        .stop = context->stop,
        .stop_user = context->stop_user,
    };
    _cleanup_(kin_list_done) struct kin_list list = {0};
    int r = work_kin(context, request, &query, refuse_passages, &list, ret_error);
    return r < 0 ? r : emit_all(&list, row, user);
}

/* -- the command -- */

struct passages_options {
    struct command_options common;
    const char *tree, *config, *ignored[IGNORED_MAX];
    size_t n_ignored, limit, ignore_common;
    bool absolute;
};

/* The answer of the index. */
struct answered {
    struct shared_texts shared;
    char **paths; /* of documents that may share passages */
    size_t n_paths, room;
    uint64_t n_words; /* of the document, as the index knows it */
    uint64_t *common; /* pairs: words of it that are common text */
    size_t n_common, common_room;
    char *incomplete;
};

static void answered_done(struct answered *answered)
{
    for (size_t i = 0; i < answered->n_paths; i++)
        free(answered->paths[i]);
    free(answered->paths);
    free(answered->common);
    free(answered->incomplete);
    shared_texts_done(&answered->shared);
}

enum { OPTION_WORDS = 0x100, OPTION_IGNORE_COMMON, OPTION_IGNORE };

struct parsing {
    struct passages_options options;
    size_t least;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct parsing *parsing = state->input;
    struct passages_options *options = &parsing->options;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case OPTION_WORDS:
        parsing->least =
            command_parse_count(state, "--words", argument, INDEX_PASSAGES_LEAST, MOST_LEAST);
        return 0;
    case OPTION_IGNORE_COMMON:
        options->ignore_common =
            command_parse_count(state, "--ignore-common", argument, 0, INDEX_PASSAGES_COMMON_MAX);
        return 0;
    case OPTION_IGNORE:
        if (options->n_ignored == IGNORED_MAX)
            argp_error(state, "--ignore is there more than %d times", IGNORED_MAX);
        options->ignored[options->n_ignored++] = argument;
        return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX);
        return 0;
    case 'a': options->absolute = true; return 0;
    case 'T': options->tree = argument; return 0;
    case 'c': options->config = argument; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option passages_options[] = {
    {"words", OPTION_WORDS, "N", 0, "a passage has so many words or more (default 24)", 0},
    {"ignore-common", OPTION_IGNORE_COMMON, "N", 0,
     "leave out text that more than N other documents have, 0: none (default 100)", 0},
    {"ignore", OPTION_IGNORE, "FILE", 0, "leave out text of FILE, a template; again for others", 0},
    {"limit", 'n', "N", 0, "most passages, 0 for all (default 100)", 0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {"tree", 'T', "PATH", 0,
     "FILE need not be in it: any document, which is only read; of the tree that PATH is in", 0},
    {"config", 'c', "FILE", 0, "for the extractors (" CONFIGURATION_FILE ")", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    passages_options, parse, "FILE",
    "Print the passages of FILE that other documents have, the longest first: words, a tab, lines "
    "of FILE, a tab, the path below the tree, a tab, lines there. All of 24 words in a row are "
    "found, or of as many as `kinfs mount -o passages=N` says; shorter ones by chance. FILE - is a "
    "document on standard input, asked about in the tree of the working directory unless --tree "
    "names another. Exit code 1 when there is none.",
    children};

static int take_common(struct answered *answered, struct json_object *row)
{
    struct json_object *common;
    answered->n_words = command_count(row, "n_words");
    if (!json_object_object_get_ex(row, "common", &common) ||
        !json_object_is_type(common, json_type_array))
        return -EPROTO;
    const size_t n = json_object_array_length(common);
    if (!MAKE_ROOM(answered->common, answered->common_room, n))
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        answered->common[i] = json_object_get_uint64(json_object_array_get_idx(common, i));
    answered->n_common = n / 2;
    return 0;
}

/* A way up or from the root is no path of a tree. */
static bool is_below(const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (*at == '/' || strncmp(at, "../", 3) == 0 || strcmp(at, "..") == 0)
            return false;
    return *path;
}

static int take_row(void *user, struct json_object *row)
{
    struct answered *answered = user;
    _cleanup_json_ struct json_object *taken = row;
    _cleanup_free_ char *path = NULL;
    if (!taken)
        return -ENOMEM;
    if (command_take_incomplete(taken, &answered->incomplete))
        return 0;
    if (json_object_object_get_ex(taken, "common", NULL))
        return take_common(answered, taken);
    int r = json_path_get(taken, "path", &path);
    if (r < 0 || !is_below(path))
        return r < 0 ? r : -EPROTO;
    if (!MAKE_ROOM(answered->paths, answered->room, answered->n_paths + 1))
        return -ENOMEM;
    answered->paths[answered->n_paths++] = TAKE_PTR(path);
    return 0;
}

static int open_named(const char *path, char **ret_error)
{
    patience_look(path);
    int fd = regular_file_open(path);
    if (fd == -EINVAL)
        return refuse(ret_error, fd, "%s: not a regular file; name a document", path);
    return fd < 0 ? refuse(ret_error, fd, "%s: %s", path, error_text(fd)) : fd;
}

static int read_document(struct answered *answered, const struct asked_document *asked,
                         char **ret_error)
{
    const char *shown = asked_document_shown(asked);
    if (asked->fd >= 0) {
        if (lseek(asked->fd, 0, SEEK_SET) < 0)
            return refuse(ret_error, -errno, "%s: %s", shown, strerror(errno));
        return shared_texts_read(&answered->shared, asked->fd, shown, ret_error);
    }
    _cleanup_close_ int fd = open_named(asked->common->path, ret_error);
    return fd < 0 ? fd : shared_texts_read(&answered->shared, fd, shown, ret_error);
}

static int leave_out(struct answered *answered, const struct passages_options *options,
                     char **ret_error)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < options->n_ignored; i++) {
        _cleanup_close_ int fd = open_named(options->ignored[i], ret_error);
        r = fd < 0 ? fd
                   : shared_texts_leave_out(&answered->shared, fd, options->ignored[i], ret_error);
        if (r == -ENODATA)
            r = -EINVAL; /* told; an empty answer would pass for one */
    }
    /* By the words of the index; the document may be another by now. */
    if (answered->n_words == answered->shared.words.n)
        for (size_t i = 0; i < answered->n_common; i++)
            shared_texts_leave_out_words(&answered->shared, answered->common[2 * i],
                                         answered->common[2 * i + 1]);
    return r;
}

/* One that cannot be read does not keep the others out. Of what others have cut to pieces no more
 * is kept than is printed, but for some that make sorting worth it. Returns how many could not be
 * read, or an error.
 *
 * most  passages that are wanted, 0 for all */
static int compare_all(struct answered *answered, const char *base, size_t most)
{
    enum { KEPT_BESIDE = 1 << 16 };
    int n_failed = 0;
    for (size_t i = 0; i < answered->n_paths; i++) {
        _cleanup_free_ char *error = NULL;
        int r = shared_texts_compare(&answered->shared, base, answered->paths[i], &error);
        if (r == -ENOMEM)
            return r;
        if (r < 0)
            complain("%s", error ? error : strerror(-r));
        n_failed += r < 0;
        if (most && answered->shared.n_texts / 2 > most && answered->shared.n_texts > KEPT_BESIDE)
            shared_texts_sort(&answered->shared, most);
    }
    shared_texts_sort(&answered->shared, most);
    return n_failed;
}

static struct json_object *side_of(uint32_t line, uint32_t last_line)
{
    struct json_object *object = json_object_new_object();
    work_add_count(object, "line", line);
    work_add_count(object, "last_line", last_line);
    return object;
}

static void print_json(const struct answered *answered, const struct shared_text *text,
                       const char *path)
{
    _cleanup_json_ struct json_object *object = json_object_new_object();
    _cleanup_free_ char *passage = shared_texts_text(&answered->shared, text);
    work_add_count(object, "words", text->n);
    json_path_add(object, "path", path);
    json_object_object_add(object, "asked", side_of(text->line_a, text->last_line_a));
    json_object_object_add(object, "found", side_of(text->line, text->last_line));
    json_path_add(object, "text", passage);
    json_object_object_add(object, "complete", json_object_new_boolean(!answered->incomplete));
    command_print_json(object);
}

static void print_lines(uint32_t first, uint32_t last)
{
    printf(first == last ? "%u" : "%u-%u", first, last);
}

static void print(const struct answered *answered, const struct passages_options *options,
                  const char *base)
{
    const struct shared_texts *shared = &answered->shared;
    for (size_t i = 0; i < shared->n_texts && (!options->limit || i < options->limit); i++) {
        const struct shared_text *text = &shared->texts[i];
        _cleanup_free_ char *path = options->absolute
                                        ? message("%s/%s", base, shared->paths[text->document])
                                        : message("%s", shared->paths[text->document]);
        _cleanup_free_ char *escaped = NULL;
        if (options->common.json) {
            print_json(answered, text, path);
            continue;
        }
        if (options->common.null) {
            fwrite(path, 1, strlen(path) + 1, stdout);
            continue;
        }
        if (escape_name(path, &escaped) < 0)
            continue;
        printf("%zu\t", text->n);
        print_lines(text->line_a, text->last_line_a);
        printf("\t%s\t", escaped);
        print_lines(text->line, text->last_line);
        putchar('\n');
    }
}

static int find(struct asked_document *asked, const struct passages_options *options,
                struct answered *answered, char **ret_error)
{
    _cleanup_json_ struct json_object *request = json_object_new_object();
    work_add_count(request, "limit", asked->question.limit);
    work_add_count(request, "common", asked->question.common);
    int r = asked_document_is_apart(asked) ? asked_document_open(asked, ret_error) : 0;
    if (r == 0)
        r = asked_document_ask(asked, request, take_row, answered, ret_error);
    if (r == 0)
        r = read_document(answered, asked, ret_error);
    if (r == 0)
        r = leave_out(answered, options, ret_error);
    return r < 0 ? r : compare_all(answered, asked->base, options->limit);
}

int cmd_passages(int argc, char **argv)
{
    struct parsing parsing = {.options = {.common.needs_path = true,
                                          .limit = DEFAULT_LIMIT,
                                          .ignore_common = INDEX_PASSAGES_COMMON},
                              .least = INDEX_PASSAGES_USUAL};
    struct passages_options *options = &parsing.options;
    _cleanup_(configuration_done) struct configuration configuration = {0};
    _cleanup_(answered_done) struct answered answered = {0};
    _cleanup_(asked_document_done) struct asked_document asked = {
        .command = "passages", .common = &options->common, .fd = -1};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &parsing);
    command_configuration(options->config, &configuration);
    answered.shared.configuration = &configuration;
    answered.shared.least = parsing.least;
    asked.tree = options->tree;
    asked.question = (struct question){
        .limit = COMPARED_MAX,
        .relation = INDEX_SHARES,
        .common = options->ignore_common ? options->ignore_common : INDEX_PASSAGES_COMMON_MAX};
    int r = find(&asked, options, &answered, &error);
    if (r < 0)
        return command_end(r, error);
    if (!answered.incomplete && answered.n_paths == COMPARED_MAX)
        answered.incomplete =
            message("not complete: only the %d documents with the longest passages were read",
                    COMPARED_MAX);
    if (!answered.incomplete && r > 0)
        answered.incomplete =
            message("not complete: %d document%s not compared", r, r == 1 ? " was" : "s were");
    print(&answered, options, asked.base);
    if (answered.incomplete && !options->common.json)
        complain("%s: %s", asked_document_shown(&asked), answered.incomplete);
    if (answered.shared.n_texts)
        return COMMAND_OK;
    return r > 0 || answered.incomplete ? COMMAND_UNCERTAIN : COMMAND_NO_ANSWER;
}
