#include "tools/options/unique_rules.h"

#include <errno.h>
#include <string.h>

#include "tools/show/message.h"

static const struct {
    const char *name;
    enum index_representative representative;
} representatives[] = {{"oldest", INDEX_STAYS_OLDEST},
                       {"newest", INDEX_STAYS_NEWEST},
                       {"shortest-path", INDEX_STAYS_SHORTEST_PATH},
                       {"largest", INDEX_STAYS_LARGEST},
                       {"most-central", INDEX_STAYS_MOST_CENTRAL}};

/* The least that is left out for another: of a thousand words two or three in a place are others.
 */
static const double default_near = 0.95;

void unique_rules_done(struct unique_rules *rules)
{
    for (size_t i = 0; i < rules->n_prefer; i++)
        free(rules->prefer[i]);
    free(rules->prefer);
    for (size_t i = 0; i < rules->n_reference; i++)
        free(rules->reference[i]);
    free(rules->reference);
    *rules = (struct unique_rules){0};
}

static int take_near(struct unique_rules *rules, const char *value, char **ret_error)
{
    char *end;
    double near = strtod(value, &end);
    if (end == value || *end || !(near >= 0.5 && near <= 1))
        return refuse(ret_error, -EINVAL, "near=%s: takes a number from 0.5 to 1", value);
    rules->near = near;
    return 0;
}

static int take_representative(struct unique_rules *rules, const char *value, char **ret_error)
{
    for (size_t i = 0; i < sizeof(representatives) / sizeof(representatives[0]); i++)
        if (strcmp(representatives[i].name, value) == 0) {
            rules->representative = representatives[i].representative;
            rules->representative_said = true;
            return 0;
        }
    return refuse(ret_error, -EINVAL,
                  "representative=%s: takes oldest, newest, shortest-path, largest or most-central",
                  value);
}

static int take_stand_in(struct unique_rules *rules, const char *value, char **ret_error)
{
    const bool anyone = strcmp(value, "anyone") == 0;
    if (!anyone && strcmp(value, "owner") != 0)
        return refuse(ret_error, -EINVAL, "stand_in=%s: takes owner or anyone", value);
    rules->stand_in_anyone = anyone;
    rules->stand_in_said = true;
    return 0;
}

static int add(char ***texts, size_t *n, const char *text)
{
    char **larger = reallocarray(*texts, *n + 1, sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    *texts = larger;
    larger[*n] = strdup(text);
    if (!larger[*n])
        return -ENOMEM;
    ++*n;
    return 0;
}

static int add_pattern(struct unique_rules *rules, const char *pattern)
{
    return add(&rules->prefer, &rules->n_prefer, pattern);
}

/* Takes a directory off the value, to a colon or the end; without slashes at its ends. */
static char *next_directory(const char **value)
{
    size_t n = 0;
    const char *at = *value + strspn(*value, "/");
    char *directory = malloc(strlen(at) + 1);
    for (; directory && *at && *at != ':'; at++) {
        at += at[0] == '\\' && at[1] == ':';
        directory[n++] = *at;
    }
    *value = *at ? at + 1 : NULL;
    while (directory && n && directory[n - 1] == '/')
        n--;
    if (directory)
        directory[n] = '\0';
    return directory;
}

static bool is_directory(const char *path)
{
    for (const char *at = path, *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, '/');
        const size_t n = (size_t)(end - at);
        if (n == 0 || (n <= 2 && strncmp(at, "..", n) == 0))
            return false;
    }
    return true;
}

static int take_reference(struct unique_rules *rules, const char *value, char **ret_error)
{
    int r = 0;
    for (const char *at = value; r == 0 && at;) {
        _cleanup_free_ char *directory = next_directory(&at);
        if (!directory)
            return -ENOMEM;
        if (!is_directory(directory))
            return refuse(ret_error, -EINVAL,
                          "reference=%s: takes directories from the root of the tree on, with "
                          "colons between",
                          value);
        if (rules->n_reference == UNIQUE_PREFER_MAX)
            return refuse(ret_error, -EINVAL, "reference=%s: is one too many; there can be %d",
                          value, UNIQUE_PREFER_MAX);
        r = add(&rules->reference, &rules->n_reference, directory);
    }
    return r;
}

int unique_rules_take(struct unique_rules *rules, const char *name, const char *value,
                      char **ret_error)
{
    int r;
    if (strcmp(name, "near") == 0)
        r = take_near(rules, value, ret_error);
    else if (strcmp(name, "representative") == 0)
        r = take_representative(rules, value, ret_error);
    else if (strcmp(name, "stand_in") == 0)
        r = take_stand_in(rules, value, ret_error);
    else if (strcmp(name, "reference") == 0)
        r = take_reference(rules, value, ret_error);
    else if (strcmp(name, "prefer") != 0)
        return 0;
    else if (rules->n_prefer == UNIQUE_PREFER_MAX)
        r = refuse(ret_error, -EINVAL, "prefer=%s: is one too many; there can be %d", value,
                   UNIQUE_PREFER_MAX);
    else
        r = add_pattern(rules, value);
    return r < 0 ? r : 1;
}

int unique_rules_join(const struct unique_rules *configured, const struct unique_rules *given,
                      struct unique_rules *ret_rules)
{
    const struct unique_rules *const both[] = {given, configured};
    struct unique_rules rules = {0};
    int r = 0;
    for (int i = 0; i < 2; i++) {
        if (rules.near == 0)
            rules.near = both[i]->near;
        if (!rules.representative_said && both[i]->representative_said) {
            rules.representative = both[i]->representative;
            rules.representative_said = true;
        }
        if (!rules.stand_in_said && both[i]->stand_in_said) {
            rules.stand_in_anyone = both[i]->stand_in_anyone;
            rules.stand_in_said = true;
        }
        for (size_t j = 0; r == 0 && j < both[i]->n_prefer; j++)
            r = add_pattern(&rules, both[i]->prefer[j]);
        for (size_t j = 0; r == 0 && j < both[i]->n_reference; j++)
            r = add(&rules.reference, &rules.n_reference, both[i]->reference[j]);
    }
    if (r < 0)
        unique_rules_done(&rules);
    else
        *ret_rules = rules;
    return r;
}

struct index_unique_options unique_rules_options(const struct unique_rules *rules)
{
    return (struct index_unique_options){.near = rules->near > 0 ? rules->near : default_near,
                                         .representative = rules->representative,
                                         .prefer = (const char *const *)rules->prefer,
                                         .n_prefer = rules->n_prefer,
                                         .reference = (const char *const *)rules->reference,
                                         .n_reference = rules->n_reference,
                                         .stand_in_anyone = rules->stand_in_anyone};
}
