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

static int add_pattern(struct unique_rules *rules, const char *pattern)
{
    char **larger = reallocarray(rules->prefer, rules->n_prefer + 1, sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    rules->prefer = larger;
    larger[rules->n_prefer] = strdup(pattern);
    if (!larger[rules->n_prefer])
        return -ENOMEM;
    rules->n_prefer++;
    return 0;
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
                                         .stand_in_anyone = rules->stand_in_anyone};
}
