/* Named clusterings as text. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/messages.h"

#define RATIO_UNIT 1e4
enum { WORDS_MAX = 6 };

/* Names stand beside cluster numbers and CACHEDIR.TAG in clusters/, and behind "cluster." in
 * attributes. */
static int take_name(const char *name, struct index_clustering *clustering, char **ret_error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t n = strlen(name);

    if (n == 0 || n >= sizeof(clustering->name) || !strchr(letters, *name) ||
        strspn(name, others) != n || strcmp(name, "size") == 0)
        return index_refuse(
            ret_error, -EINVAL,
            "\"%s\" is no name of a clustering; one begins with a letter and has up to "
            "%zu letters, digits, _ and - (and is not \"size\")",
            name, sizeof(clustering->name) - 1);
    memcpy(clustering->name, name, n + 1);
    return 0;
}

static int take_ratio(const char *name, const char *what, const char *word, double *ret_ratio,
                      char **ret_error)
{
    char *end = NULL;
    double ratio = word ? strtod(word, &end) : 0;

    ratio = round(ratio * RATIO_UNIT) / RATIO_UNIT;
    if (!word || end == word || *end || !(ratio > 0 && ratio <= 1))
        return index_refuse(ret_error, -EINVAL,
                            "clustering %s: %s takes a number above 0, up to 1, not \"%s\"", name,
                            what, word ? word : "");
    *ret_ratio = ratio;
    return 0;
}

static int take_components(char *const *words, size_t n_words, struct index_clustering *clustering,
                           char **ret_error)
{
    int r = take_ratio(clustering->name, "components", n_words > 0 ? words[0] : NULL,
                       &clustering->resemblance, ret_error);
    if (r < 0 || n_words == 1)
        return r;
    if (strcmp(words[1], "containment") != 0 || n_words > 3)
        return index_refuse(ret_error, -EINVAL,
                            "clustering %s: after components:R comes containment:C or nothing",
                            clustering->name);
    return take_ratio(clustering->name, "containment", n_words > 2 ? words[2] : NULL,
                      &clustering->containment, ret_error);
}

/* The modes of a batch that take nothing but a resemblance. */
static const struct {
    const char *rule;
    enum index_clustering_kind kind;
    double otherwise; /* the resemblance where none is said; 0: one has to be */
} modes[] = {
    {"exact", INDEX_CLUSTERING_EXACT, 0},
    {"fast", INDEX_CLUSTERING_FAST, 0},
    {"center", INDEX_CLUSTERING_CENTER, 0},
    {"broder1997", INDEX_CLUSTERING_BRODER1997, 0.5}, /* the paper's */
};
enum { N_MODES = sizeof(modes) / sizeof(modes[0]) };

static size_t find_mode(const char *rule)
{
    size_t i = 0;
    while (i < N_MODES && strcmp(modes[i].rule, rule) != 0)
        i++;
    return i;
}

static int take_mode(size_t mode, char *const *words, size_t n_words,
                     struct index_clustering *clustering, char **ret_error)
{
    const char *rule = modes[mode].rule;
    clustering->kind = modes[mode].kind;
    clustering->resemblance = modes[mode].otherwise;
    if (n_words > 1)
        return index_refuse(ret_error, -EINVAL, "clustering %s: nothing comes after %s:R",
                            clustering->name, rule);
    if (n_words == 0 && clustering->resemblance > 0)
        return 0;
    return take_ratio(clustering->name, rule, n_words ? words[0] : NULL, &clustering->resemblance,
                      ret_error);
}

int index_clustering_parse(const char *text, struct index_clustering *ret_clustering,
                           char **ret_error)
{
    struct index_clustering clustering = {0};
    char *words[WORDS_MAX], *word;
    _cleanup_free_ char *copy = strdup(text);
    char *rest = copy;
    size_t n_words = 0;

    if (!copy)
        return -ENOMEM;
    while ((word = strsep(&rest, ":")) && n_words < WORDS_MAX)
        words[n_words++] = word;
    int r = take_name(words[0], &clustering, ret_error);
    if (r < 0)
        return r;
    const char *rule = n_words < 2 ? "" : words[1];
    if (strcmp(rule, "components") == 0)
        r = take_components(words + 2, n_words - 2, &clustering, ret_error);
    else if (strcmp(rule, "supershingle") == 0 && n_words == 2)
        clustering.kind = INDEX_CLUSTERING_SUPERSHINGLE;
    else if (find_mode(rule) < N_MODES)
        r = take_mode(find_mode(rule), words + 2, n_words - 2, &clustering, ret_error);
    else
        r = index_refuse(
            ret_error, -EINVAL,
            "clustering %s: \"%s\" is no rule; there are components:R, "
            "components:R:containment:C, center:R, supershingle, exact:R, fast:R and broder1997",
            clustering.name, rule);
    if (r == 0)
        *ret_clustering = clustering;
    return r;
}

static const char *rule_name(enum index_clustering_kind kind)
{
    for (size_t i = 0; i < N_MODES; i++)
        if (modes[i].kind == kind)
            return modes[i].rule;
    return kind == INDEX_CLUSTERING_TOPICS      ? "topics"
           : kind == INDEX_CLUSTERING_SUBTOPICS ? "subtopics"
                                                : "components";
}

void index_clustering_print(const struct index_clustering *clustering,
                            char ret_text[INDEX_CLUSTERING_TEXT_BYTES])
{
    if (clustering->kind == INDEX_CLUSTERING_SUPERSHINGLE) {
        snprintf(ret_text, INDEX_CLUSTERING_TEXT_BYTES, "%s:supershingle", clustering->name);
        return;
    }
    int n = snprintf(ret_text, INDEX_CLUSTERING_TEXT_BYTES, "%s:%s:%.4g", clustering->name,
                     rule_name(clustering->kind), clustering->resemblance);
    if (clustering->containment > 0)
        snprintf(ret_text + n, INDEX_CLUSTERING_TEXT_BYTES - (size_t)n, ":containment:%.4g",
                 clustering->containment);
}
