#include "tools/options/document_rules.h"

#include <errno.h>
#include <string.h>

#include "base/room.h"
#include "engine/ignore/ignore_rules.h"
#include "engine/text/type.h"
#include "tools/options/byte_count.h"
#include "tools/show/message.h"

void document_rules_done(struct document_rules *rules)
{
    ignore_rules_free(rules->exclude);
    for (size_t i = 0; i < rules->n_said; i++)
        free(rules->said[i]);
    free(rules->said);
    *rules = (struct document_rules){0};
}

static int exclude(struct document_rules *rules, const char *line, char **ret_error)
{
    if (!rules->exclude && !(rules->exclude = ignore_rules_new()))
        return -ENOMEM;
    int r = ignore_rules_add(rules->exclude, line, strlen(line));
    return r == -E2BIG ? refuse(ret_error, -EINVAL, "exclude=%s: is one too many; there can be %d",
                                line, IGNORE_LINES_MAX)
                       : r;
}

static int take_bytes(const char *name, const char *value, uint64_t *bytes, char **ret_error)
{
    if (strcmp(value, "0") == 0) {
        *bytes = 0;
        return 0;
    }
    return byte_count_parse(value, bytes) < 0
               ? refuse(ret_error, -EINVAL,
                        "%s=%s: takes a number of bytes, as 100, 64K or 1G; or 0: no bound", name,
                        value)
               : 0;
}

static int take_type(const char *option, const char *name, unsigned *types, char **ret_error)
{
    _cleanup_free_ char *names = NULL;
    const enum text_type type = text_type_of_name(name);
    if (type < TEXT_N_TYPES) {
        *types |= 1u << type;
        return 0;
    }
    for (enum text_type t = 0; t < TEXT_N_TYPES; t++) {
        char *more = message("%s%s%s", names ? names : "", names ? ", " : "", text_type_name(t));
        free(names);
        names = more;
    }
    return refuse(ret_error, -EINVAL, "%s=%s: takes one of %s", option, name,
                  names ? names : "the types");
}

static int remember(struct document_rules *rules, const char *name, const char *value)
{
    if (!MAKE_ROOM(rules->said, rules->said_room, rules->n_said + 1))
        return -ENOMEM;
    rules->said[rules->n_said++] = message("%s=%s", name, value);
    return 0;
}

int document_rules_take(struct document_rules *rules, const char *name, const char *value,
                        char **ret_error)
{
    int r;
    if (strcmp(name, "exclude") == 0)
        r = exclude(rules, value, ret_error);
    else if (strcmp(name, "exclude_type") == 0)
        r = take_type(name, value, &rules->types, ret_error);
    else if (strcmp(name, "type") == 0)
        r = take_type(name, value, &rules->only_types, ret_error);
    else if (strcmp(name, "min_size") == 0)
        r = take_bytes(name, value, &rules->least_bytes, ret_error);
    else if (strcmp(name, "max_size") == 0)
        r = take_bytes(name, value, &rules->most_bytes, ret_error);
    else
        return 0;
    if (r >= 0)
        r = remember(rules, name, value);
    return r < 0 ? r : 1;
}

static int take_all(struct document_rules *rules, const struct document_rules *more,
                    char **ret_error)
{
    int r = 0;
    for (size_t i = 0; r >= 0 && i < more->n_said; i++) {
        const char *equals = strchr(more->said[i], '=');
        _cleanup_free_ char *name = strndup(more->said[i], (size_t)(equals - more->said[i]));
        r = name ? document_rules_take(rules, name, equals + 1, ret_error) : -ENOMEM;
    }
    return r < 0 ? r : 0;
}

int document_rules_join(const struct document_rules *configured, const struct document_rules *given,
                        struct document_rules *ret_rules, char **ret_error)
{
    struct document_rules rules = {0};
    int r = take_all(&rules, configured, ret_error);
    if (r == 0)
        r = take_all(&rules, given, ret_error);
    if (r == 0)
        *ret_rules = rules;
    else
        document_rules_done(&rules);
    return r;
}

unsigned document_rules_types(const struct document_rules *rules)
{
    const unsigned all = (1u << TEXT_N_TYPES) - 1;
    return rules->types | (rules->only_types ? all & ~rules->only_types : 0);
}

void document_rules_apply(const struct document_rules *rules, struct index_options *options)
{
    options->ignore = rules->exclude;
    options->least_bytes = rules->least_bytes;
    options->most_bytes = rules->most_bytes;
    options->left_out_types = document_rules_types(rules);
}
