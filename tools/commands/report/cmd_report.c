/* kinfs report: a page that shows what near-duplicates cost, and where. */
#include <errno.h>
#include <string.h>

#include "tools/commands/command.h"
#include "tools/commands/report/report_data.h"
#include "tools/commands/report/report_file.h"
#include "tools/commands/report/report_page.h"
#include "tools/show/json_path.h"

enum { CLUSTERS_USUAL = 200, CLUSTERS_MOST = 2000, PASSAGES_USUAL = 40, PASSAGES_MOST = 1000 };

struct report_options {
    struct command_options common;
    const char *output, *config;
    struct report_most most;
    bool force;
};

enum { OPTION_CLUSTERS = 0x100, OPTION_MEMBERS, OPTION_PASSAGES, OPTION_FORCE };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct report_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'o': options->output = argument; return 0;
    case 'c': options->config = argument; return 0;
    case OPTION_CLUSTERS:
        options->most.clusters =
            command_parse_count(state, "--clusters", argument, 1, CLUSTERS_MOST);
        return 0;
    case OPTION_MEMBERS:
        options->most.members =
            command_parse_count(state, "--members", argument, 1, PICTURE_MEMBERS_MOST);
        return 0;
    case OPTION_PASSAGES:
        options->most.passages =
            command_parse_count(state, "--passages", argument, 0, PASSAGES_MOST);
        return 0;
    case OPTION_FORCE: options->force = true; return 0;
    case ARGP_KEY_END:
        if (!options->output)
            argp_error(state, "name the page with -o FILE; -o - is standard output");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option report_options[] = {
    {"output", 'o', "FILE", 0, "where the page goes; - is standard output", 0},
    {"clusters", OPTION_CLUSTERS, "N", 0, "most clusters that are shown (default 200)", 0},
    {"members", OPTION_MEMBERS, "N", 0,
     "most documents of a cluster that are drawn, evenly taken by their resemblance (default 40)",
     0},
    {"passages", OPTION_PASSAGES, "N", 0,
     "most pairs of documents whose passages are shown, which are read for that (default 40); 0: "
     "nothing of the contents is on the page",
     0},
    {"force", OPTION_FORCE, NULL, 0, "replace FILE, whatever it is", 0},
    {"config", 'c', "FILE", 0, "for the extractors (" CONFIGURATION_FILE ")", 0},
    {0},
};
static const struct argp_child children[] = {{&command_file_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    report_options, parse, "[PATH]",
    "Write a page that shows what near-duplicates cost in the tree that PATH (or the working "
    "directory) is in: by directory and type, the clusters whose copies take most, each as a "
    "graph, "
    "a matrix and in time, and passages of pairs. It is one file, which a browser opens without a "
    "network.",
    children};

static int make(const struct report_options *options, struct report *report, char **ret_error)
{
    _cleanup_(location_done) struct location location = {0};
    _cleanup_(configuration_done) struct configuration configuration = {0};
    command_configuration(options->config, &configuration);
    int r = locate(options->common.path, options->common.store, &location, ret_error);
    if (r == 0)
        r = report_ask(report, &location, ret_error);
    return r < 0 ? r : report_read_passages(report, &location, &configuration, ret_error);
}

static int write_page(const struct report_options *options, struct report *report, char **ret_error)
{
    _cleanup_(report_file_done) struct report_file file = {.directory_fd = -1};
    int r = report_file_open(options->output, REPORT_PAGE_MARK, options->force, &file, ret_error);
    if (r == 0)
        r = make(options, report, ret_error);
    if (r < 0)
        return r;
    _cleanup_json_ struct json_object *data = report_json(report);
    r = data ? report_page_print(file.stream, data) : -ENOMEM;
    return r < 0 ? r : report_file_finish(&file, ret_error);
}

int cmd_report(int argc, char **argv)
{
    struct report_options options = {
        .most = {CLUSTERS_USUAL, PICTURE_MEMBERS_USUAL, PASSAGES_USUAL}};
    _cleanup_(report_done) struct report report = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    report.most = options.most;
    int r = write_page(&options, &report, &error);
    return command_end(r, error);
}
