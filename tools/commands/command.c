#include "tools/commands/command.h"

#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "base/escape.h"
#include "base/ratio.h"
#include "tools/show/json_line.h"
#include "tools/show/json_path.h"
#include "tools/questions/patience.h"

void command_set_json(bool *json)
{
    *json = true;
    complain_in_json();
}

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
    struct command_options *options = state->input;
    switch (key) {
    case 's': options->store = argument; return 0;
    case 'j': command_set_json(&options->json); return 0;
    case '0': options->null = true; return 0;
    case ARGP_KEY_ARG:
        if (options->path)
            argp_usage(state);
        options->path = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->needs_path && !options->path)
            argp_usage(state);
        if (options->json && options->null)
            argp_error(state, "--json and -0 exclude each other");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

#define STORE_OPTION                                                                               \
    {                                                                                              \
        "store", 's', "DIRECTORY", 0, "the store, where the path does not tell", 10                \
    }

static const struct argp_option options_of_one[] = {
    {"json", 'j', NULL, 0, "print JSON", 10},
    STORE_OPTION,
    {0},
};
static const struct argp_option options_of_paths[] = {
    {"json", 'j', NULL, 0, "print JSON, an object a line", 10},
    {"null", '0', NULL, 0, "print only paths, unescaped, each with a NUL behind it", 10},
    STORE_OPTION,
    {0},
};
static const struct argp_option options_of_none[] = {
    {"json", 'j', NULL, 0, "say in JSON what goes wrong", 10},
    {0},
};
static const struct argp_option options_of_file[] = {
    {"json", 'j', NULL, 0, "say in JSON what goes wrong", 10},
    STORE_OPTION,
    {0},
};
const struct argp command_plain_argp = {options_of_none, parse_common};
const struct argp command_file_argp = {options_of_file, parse_common};
const struct argp command_argp = {options_of_one, parse_common};
const struct argp command_paths_argp = {options_of_paths, parse_common};

void command_add_path(struct json_object *request, const char *name, const char *written,
                      const char *path)
{
    _cleanup_free_ char *as = message("%s" WORK_AS, name);
    json_path_add(request, name, path);
    json_path_add(request, as, written);
}

void command_print_json(struct json_object *row)
{
    json_line_print(stdout, row);
}

void command_print_path(struct json_object *row, const char *name, bool null)
{
    _cleanup_free_ char *path = NULL, *escaped = NULL;
    if (json_path_get(row, name, &path) < 0)
        return;
    if (null) {
        fwrite(path, 1, strlen(path) + 1, stdout);
        return;
    }
    if (escape_name(path, &escaped) == 0)
        fputs(escaped, stdout);
}

void command_make_absolute(struct json_object *row, const char *name, const char *base)
{
    _cleanup_free_ char *path = NULL;
    if (json_path_get(row, name, &path) < 0)
        return;
    _cleanup_free_ char *absolute = message("%s/%s", strcmp(base, "/") == 0 ? "" : base, path);
    json_path_add(row, name, absolute);
}

bool command_is_confident(struct json_object *row)
{
    const uint64_t n = command_count(row, "containment_samples");
    return work_flag(row, "exact") || n == 0 || n >= INDEX_CONFIDENT_SAMPLES;
}

void command_print_confidence(struct json_object *row)
{
    if (!command_is_confident(row))
        printf(" (%s: low confidence)",
               counted(command_count(row, "containment_samples"), "sample").text);
}

void command_print_ratio(struct json_object *row, const char *name)
{
    struct json_object *member;
    if (!json_object_object_get_ex(row, name, &member) || !member) {
        putchar('-');
        return;
    }
    fputs(ratio_text(json_object_get_double(member)).text, stdout);
}

uint64_t command_count(struct json_object *row, const char *name)
{
    struct json_object *member;
    return json_object_object_get_ex(row, name, &member) ? json_object_get_uint64(member) : 0;
}

bool command_is_list(struct json_object *row, const char *name, enum json_type type)
{
    struct json_object *list;
    if (!json_object_object_get_ex(row, name, &list))
        return true;
    if (!json_object_is_type(list, json_type_array))
        return false;
    for (size_t i = 0; i < json_object_array_length(list); i++)
        if (!json_object_is_type(json_object_array_get_idx(list, i), type))
            return false;
    return true;
}

const char *command_text(struct json_object *row, const char *name)
{
    struct json_object *member;
    if (!json_object_object_get_ex(row, name, &member) || !member)
        return "";
    return command_plain(member);
}

bool command_take_incomplete(struct json_object *row, char **incomplete)
{
    if (!json_object_object_get_ex(row, "incomplete", NULL))
        return false;
    free(*incomplete);
    *incomplete = message("%s", command_text(row, "incomplete"));
    return true;
}

const char *command_plain(struct json_object *member)
{
    const bool is_text = !json_object_is_type(member, json_type_object) &&
                         !json_object_is_type(member, json_type_array);
    const char *text = is_text ? json_object_get_string(member) : "";
    _cleanup_free_ char *plain = message("%s", text ? text : "");
    escape_make_plain(plain);
    if (json_object_is_type(member, json_type_string) && strcmp(plain, text) != 0) {
        json_object_set_string(member, plain);
        text = json_object_get_string(member);
    }
    return text ? text : "";
}

int command_end(int code, const char *error)
{
    bool failed = ferror(stdout); /* before: nobody knows why any more */
    if (fflush(stdout) != 0 || failed) {
        complain("cannot write the output%s%s", failed ? "" : ": ", failed ? "" : strerror(errno));
        return COMMAND_FAILED;
    }
    if (code >= 0)
        return COMMAND_OK;
    if (error || code != -ENODATA)
        complain("%s", error ? error : strerror(-code));
    return code == -ENODATA ? COMMAND_NO_ANSWER : COMMAND_FAILED;
}

void command_configuration(const char *path, struct configuration *ret_configuration)
{
    _cleanup_free_ char *error = NULL;
    if (path)
        patience_look(path);
    int r = configuration_read(path, ret_configuration, &error);
    if (r == 0)
        return;
    complain("%s", error ? error : strerror(-r));
    exit(COMMAND_USAGE);
}

void command_parse(const struct argp *parser, int argc, char **argv, void *input)
{
    FILE *plain = message_stream(), *raw = stderr;
    if (plain)
        stderr = plain; /* to which getopt_long(3), by which argp reads options, complains, too */
    argp_parse(parser, argc, argv, 0, NULL, input);
    stderr = raw;
    if (plain)
        fclose(plain);
}

double command_parse_ratio(struct argp_state *state, const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value <= 1))
        argp_error(state, "%s takes a number from 0 to 1, not '%s'", option, text);
    return value;
}

void command_take_rule(struct argp_state *state, struct document_rules *rules, const char *name,
                       const char *value)
{
    _cleanup_free_ char *error = NULL;
    if (document_rules_take(rules, name, value, &error) < 0)
        argp_error(state, "--%s", error ? error : name);
}

uint64_t command_parse_count(struct argp_state *state, const char *option, const char *text,
                             uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end || *text == '-' || errno || value < least || value > most)
        argp_error(state, "%s takes a number from %llu to %llu, not '%s'", option,
                   (unsigned long long)least, (unsigned long long)most, text);
    return value;
}
