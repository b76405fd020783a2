/* The lines are asked from the last to the first: the first that matches decides. A path is matched
 * as glob.c matches a name, with its parts in the place of bytes and two stars in that of one.
 */
#include "engine/ignore/ignore_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/room.h"
#include "engine/ignore/glob.h"

struct rule {
    const char *pattern; /* without what the others say */
    size_t n_bytes;
    bool negated, only_directories;
    bool is_path; /* from the directory of the rules; else a name */
};

struct ignore_rules {
    struct rule *rules;
    size_t n, room;
};

struct ignore_rules *ignore_rules_new(void)
{
    return calloc(1, sizeof(struct ignore_rules));
}

void ignore_rules_free(struct ignore_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->n; i++)
        free((char *)rules->rules[i].pattern);
    free(rules->rules);
    free(rules);
}

bool ignore_rules_any(const struct ignore_rules *rules)
{
    return rules->n > 0;
}

bool ignore_rules_have_paths(const struct ignore_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        if (rules->rules[i].is_path)
            return true;
    return false;
}

static int add_rule(struct ignore_rules *rules, struct rule rule)
{
    if (rules->n == IGNORE_LINES_MAX)
        return -E2BIG;
    if (!MAKE_ROOM(rules->rules, rules->room, rules->n + 1))
        return -ENOMEM;
    char *copy = malloc(rule.n_bytes);
    if (!copy)
        return -ENOMEM;
    rule.pattern = memcpy(copy, rule.pattern, rule.n_bytes);
    rules->rules[rules->n++] = rule;
    return 0;
}

/* Blanks at the end do not count, but one behind a backslash. */
static size_t without_blanks(const char *line, size_t n_bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        if (line[i] == '\\' && i + 1 < n_bytes)
            i++;
        else if (line[i] == ' ')
            continue;
        n = i + 1;
    }
    return n;
}

int ignore_rules_add(struct ignore_rules *rules, const char *line, size_t n_bytes)
{
    struct rule rule = {0};
    n_bytes = without_blanks(line, n_bytes);
    if (n_bytes == 0 || *line == '#')
        return 0;
    rule.negated = *line == '!';
    line += rule.negated;
    n_bytes -= rule.negated;
    rule.only_directories = n_bytes && line[n_bytes - 1] == '/';
    n_bytes -= rule.only_directories;
    rule.is_path = memchr(line, '/', n_bytes);
    if (n_bytes && *line == '/') {
        line++;
        n_bytes--;
    }
    /* No name is empty, so that two slashes match nothing. */
    if (n_bytes == 0 || line[0] == '/' || line[n_bytes - 1] == '/' ||
        memmem(line, n_bytes, "//", 2))
        return 0;
    rule.pattern = line;
    rule.n_bytes = n_bytes;
    return add_rule(rules, rule);
}

int ignore_rules_add_text(struct ignore_rules *rules, const char *text, size_t n_bytes)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as some editors begin a file */
    const char *end = text + n_bytes;
    int r = 0;
    if (n_bytes >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0)
        text += sizeof(mark) - 1;
    while (r == 0 && text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (!line_end)
            line_end = end;
        r = ignore_rules_add(rules, text, (size_t)(line_end - text));
        text = line_end + 1;
    }
    return r;
}

/* -- paths -- */

struct part {
    const char *at, *end; /* of the part; at behind the path: there is none */
    const char *path_end;
};

static void end_part(struct part *part)
{
    const char *slash = part->at < part->path_end
                            ? memchr(part->at, '/', (size_t)(part->path_end - part->at))
                            : NULL;
    part->end = slash ? slash : part->path_end;
}

static struct part first_part(const char *path, size_t n_bytes)
{
    struct part part = {.at = path, .path_end = path + n_bytes};
    end_part(&part);
    return part;
}

static void next_part(struct part *part)
{
    part->at = part->end + 1;
    end_part(part);
}

static bool is_over(const struct part *part)
{
    return part->at >= part->path_end;
}

static bool is_two_stars(const struct part *part)
{
    const char *at = part->at;
    while (at < part->end && *at == '*')
        at++;
    return at == part->end && at - part->at >= 2; /* or more, as git has it */
}

static bool parts_match(const struct part *pattern, const struct part *part, size_t *steps)
{
    return glob_matches(pattern->at, (size_t)(pattern->end - pattern->at), part->at,
                        (size_t)(part->end - part->at), steps);
}

/* A step for some bytes of the path that are looked for slashes. */
static bool path_matches(const struct rule *rule, const char *path, size_t n_path, size_t *steps)
{
    enum { BYTES_A_STEP = 16 };
    const size_t n_steps = n_path / BYTES_A_STEP;
    struct part pattern = first_part(rule->pattern, rule->n_bytes);
    struct part part = first_part(path, n_path);
    struct part behind_stars = {0}, stars_took = {0};
    *steps -= n_steps < *steps ? n_steps : *steps;
    while (*steps) {
        if (!is_over(&pattern) && is_two_stars(&pattern)) {
            next_part(&pattern);
            if (is_over(&pattern))
                return !is_over(&part);
            behind_stars = pattern;
            stars_took = part;
        } else if (is_over(&pattern) && is_over(&part)) {
            return true;
        } else if (!is_over(&pattern) && !is_over(&part) && parts_match(&pattern, &part, steps)) {
            next_part(&pattern);
            next_part(&part);
        } else if (behind_stars.at && !is_over(&stars_took)) {
            next_part(&stars_took);
            pattern = behind_stars;
            part = stars_took;
        } else {
            return false;
        }
        *steps -= *steps > 0;
    }
    return false;
}

enum ignore_verdict ignore_rules_ask(const struct ignore_rules *rules, const char *path,
                                     bool is_directory, size_t *steps)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n_name = strlen(name), n_path = (size_t)(name - path) + n_name;
    for (size_t i = rules->n; i-- > 0 && *steps;) {
        const struct rule *rule = &rules->rules[i];
        --*steps;
        if (rule->only_directories && !is_directory)
            continue;
        if (rule->is_path ? path_matches(rule, path, n_path, steps)
                          : glob_matches(rule->pattern, rule->n_bytes, name, n_name, steps))
            return rule->negated ? IGNORE_IN : IGNORE_OUT;
    }
    return IGNORE_UNSAID;
}
