#include "tools/options/document_rules.h"

#include <errno.h>
#include <string.h>

#include "engine/ignore/ignore_rules.h"
#include "engine/text/type.h"
#include "tools/options/byte_count.h"
#include "tools/show/message.h"

void document_rules_done(struct document_rules *rules)
{
    ignore_rules_free(rules->exclude);
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

static int exclude_type(struct document_rules *rules, const char *name, char **ret_error)
{
    _cleanup_free_ char *names = NULL;
    const enum text_type type = text_type_of_name(name);
    if (type < TEXT_N_TYPES) {
        rules->types |= 1u << type;
        return 0;
    }
    for (enum text_type t = 0; t < TEXT_N_TYPES; t++) {
        char *more = message("%s%s%s", names ? names : "", names ? ", " : "", text_type_name(t));
        free(names);
        names = more;
    }
    return refuse(ret_error, -EINVAL, "exclude_type=%s: takes one of %s", name,
                  names ? names : "the types");
}

int document_rules_take(struct document_rules *rules, const char *name, const char *value,
                        char **ret_error)
{
    int r;
    if (strcmp(name, "exclude") == 0)
        r = exclude(rules, value, ret_error);
    else if (strcmp(name, "exclude_type") == 0)
        r = exclude_type(rules, value, ret_error);
    else if (strcmp(name, "min_size") == 0)
        r = take_bytes(name, value, &rules->least_bytes, ret_error);
    else if (strcmp(name, "max_size") == 0)
        r = take_bytes(name, value, &rules->most_bytes, ret_error);
    else
        return 0;
    return r < 0 ? r : 1;
}

int document_rules_join(const struct document_rules *configured, const struct document_rules *given,
                        struct document_rules *ret_rules, char **ret_error)
{
    struct document_rules rules = {
        .least_bytes = given->least_bytes ? given->least_bytes : configured->least_bytes,
        .most_bytes = given->most_bytes ? given->most_bytes : configured->most_bytes,
        .types = given->types | configured->types,
        .exclude = ignore_rules_new()};
    int r = rules.exclude ? 0 : -ENOMEM;
    if (r == 0 && configured->exclude)
        r = ignore_rules_add_all(rules.exclude, configured->exclude);
    if (r == 0 && given->exclude)
        r = ignore_rules_add_all(rules.exclude, given->exclude);
    if (r == 0) {
        *ret_rules = rules;
        return 0;
    }
    document_rules_done(&rules);
    return refuse(ret_error, r, "exclude: %s",
                  r == -E2BIG ? "there are too many, of the configuration and of the command"
                              : strerror(-r));
}

void document_rules_apply(const struct document_rules *rules, struct index_options *options)
{
    options->ignore = rules->exclude;
    options->least_bytes = rules->least_bytes;
    options->most_bytes = rules->most_bytes;
    options->left_out_types = rules->types;
}
