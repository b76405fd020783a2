/* kinfs explain: the passages that two documents share. */
#include <string.h>

#include "tools/commands/command.h"
#include "tools/commands/explained.h"
#include "tools/documents/regular_file.h"
#include "tools/questions/patience.h"

enum { DEFAULT_LEAST = 8, MOST_LEAST = 1000 };

struct explain_options {
    const char *paths[2], *config;
    unsigned n_paths;
    size_t least, limit;
    bool json, html;
};

enum { OPTION_WORDS = 0x100, OPTION_HTML };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct explain_options *options = state->input;
    switch (key) {
    case OPTION_WORDS:
        options->least = command_parse_count(state, "--words", argument, 1, MOST_LEAST);
        return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX);
        return 0;
    case 'c': options->config = argument; return 0;
    case 'j': command_set_json(&options->json); return 0;
    case OPTION_HTML: options->html = true; return 0;
    case ARGP_KEY_ARG:
        if (options->n_paths == 2)
            argp_usage(state);
        options->paths[options->n_paths++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->n_paths < 2)
            argp_usage(state);
        if (options->json && options->html)
            argp_error(state, "--json and --html exclude each other");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option explain_options[] = {
    {"words", OPTION_WORDS, "N", 0, "a passage has so many words or more (default 8)", 0},
    {"limit", 'n', "N", 0, "most passages, 0 for all (default 0)", 0},
    {"config", 'c', "FILE", 0, "for the extractors (" CONFIGURATION_FILE ")", 0},
    {"json", 'j', NULL, 0, "print JSON", 10},
    {"html", OPTION_HTML, NULL, 0, "print a page with the passages side by side", 10},
    {0},
};
static const struct argp parser = {
    explain_options, parse, "A B",
    "Print the passages that two documents share, in an index or not, the longest first, side by "
    "side with the numbers of their lines, and which part of the words of each is in such. Exit "
    "code 1 when there is none.",
    NULL};

static int read_document(const char *path, unsigned side, const struct configuration *configuration,
                         struct explained *explained, char **ret_error)
{
    patience_look(path);
    _cleanup_close_ int fd = regular_file_open(path);
    if (fd == -EINVAL)
        return refuse(ret_error, fd, "%s: not a regular file; name a document", path);
    if (fd < 0)
        return refuse(ret_error, fd, "%s: %s", path, error_text(fd));
    return explained_read(explained, side, path, fd, configuration, ret_error);
}

static int explain(const struct explain_options *options, struct explained *explained,
                   char **ret_error)
{
    _cleanup_(configuration_done) struct configuration configuration = {0};
    command_configuration(options->config, &configuration);
    int r = 0;
    for (unsigned side = 0; r == 0 && side < 2; side++)
        r = read_document(options->paths[side], side, &configuration, explained, ret_error);
    if (r < 0)
        return r;
    r = explained_find(explained, options->least);
    return r < 0 ? refuse(ret_error, r, "%s", strerror(-r)) : 0;
}

int cmd_explain(int argc, char **argv)
{
    struct explain_options options = {.least = DEFAULT_LEAST};
    _cleanup_(explained_done) struct explained explained = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    explained.limit = options.limit;
    int r = explain(&options, &explained, &error);
    if (r == 0) {
        if (options.json)
            explained_print_json(&explained);
        else if (options.html)
            explained_print_html(&explained);
        else
            explained_print(&explained);
        r = explained.runs.n_runs ? 0 : -ENODATA;
    }
    return command_end(r, error);
}
