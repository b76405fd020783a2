#include "tools/commands/pairs/exact_pairs.h"

#include <math.h>
#include <string.h>

#include "base/ratio.h"
#include "base/room.h"
#include "engine/sketch/documents/exact_set.h"
#include "tools/commands/store_words.h"
#include "tools/documents/regular_file.h"
#include "tools/documents/text_source.h"
#include "tools/questions/patience.h"
#include "tools/show/json_path.h"

enum { MOST_SHINGLES = 250 * 1000 * 1000 }; /* of a document, as kinfs compare --exact */

struct pair {
    char *a, *b;
    double resemblance; /* of the sample, then of the texts; NAN: not known */
};

struct exact_pairs {
    const struct location *location;
    struct configuration configuration;
    unsigned w;
    struct word_options words;
    struct pair *pairs;
    size_t n, room;
};

void exact_pairs_free(struct exact_pairs *pairs)
{
    if (!pairs)
        return;
    for (size_t i = 0; i < pairs->n; i++) {
        free(pairs->pairs[i].a);
        free(pairs->pairs[i].b);
    }
    free(pairs->pairs);
    configuration_done(&pairs->configuration);
    free(pairs);
}

int exact_pairs_new(const struct location *location, struct exact_pairs **ret_pairs,
                    char **ret_error)
{
    _cleanup_(exact_pairs_free_p) struct exact_pairs *pairs = calloc(1, sizeof(*pairs));
    if (!pairs)
        return -ENOMEM;
    pairs->location = location;
    command_configuration(NULL, &pairs->configuration);
    int r = store_words_ask(location, &pairs->w, &pairs->words, ret_error);
    if (r < 0)
        return r;
    *ret_pairs = TAKE_PTR(pairs);
    return 0;
}

double exact_pairs_least_estimate(double least)
{
    static const double LEAST_ASKED = 0.05, STANDARD_ERRORS = 3.1, SAMPLE = 128;
    const double error = sqrt(least * (1 - least) / SAMPLE);
    return fmax(LEAST_ASKED, fmin(RATIO_BELOW_ONE, least - STANDARD_ERRORS * error));
}

int exact_pairs_add(struct exact_pairs *pairs, struct json_object *row)
{
    _cleanup_json_ struct json_object *taken = row;
    _cleanup_free_ char *a = NULL, *b = NULL;
    int r = json_path_get(taken, "a", &a);
    if (r == 0)
        r = json_path_get(taken, "b", &b);
    if (r < 0)
        return r == -ENOMEM ? r : -EPROTO;
    if (!MAKE_ROOM(pairs->pairs, pairs->room, pairs->n + 1))
        return -ENOMEM;
    pairs->pairs[pairs->n++] =
        (struct pair){TAKE_PTR(a), TAKE_PTR(b), work_number(taken, "resemblance", NAN)};
    return 0;
}

/* -- comparing -- */

/* Returns 0, also where it cannot be read: then *ret_set is NULL, and that is said. */
static int read_set(const struct exact_pairs *pairs, const char *path, struct exact_set **ret_set)
{
    _cleanup_(text_source_done) struct text_source text = {.fd = -1};
    _cleanup_free_ char *error = NULL, *whole = NULL;
    *ret_set = NULL;
    whole = message("%s/%s", pairs->location->base, path);
    patience_look(whole);
    _cleanup_close_ int fd = regular_file_open(whole);
    int r = fd < 0 ? fd : text_source_open(whole, fd, &pairs->configuration, &text, &error);
    if (r >= 0)
        r = exact_set_read(text.fd, text.as, pairs->w, &pairs->words, MOST_SHINGLES, ret_set);
    if (r < 0 && !error)
        error = message("%s: %s", whole, error_text(r));
    if (r < 0 && r != -ENOMEM)
        complain("%s; left out", error);
    return r == -ENOMEM ? r : 0;
}

static int compare_pairs(struct exact_pairs *pairs, struct progress *progress)
{
    _cleanup_(exact_set_free_p) struct exact_set *a = NULL;
    const char *of_a = NULL;
    for (size_t i = 0; i < pairs->n; i++) {
        struct pair *pair = &pairs->pairs[i];
        _cleanup_(exact_set_free_p) struct exact_set *b = NULL;
        progress_phase(progress, "compare", i, pairs->n);
        if (pair->resemblance >= 1) /* equal, as all of the texts says */
            continue;
        int r = 0;
        if (!of_a || strcmp(of_a, pair->a) != 0) {
            exact_set_free(TAKE_PTR(a));
            r = read_set(pairs, pair->a, &a);
            of_a = pair->a;
        }
        if (r == 0 && a)
            r = read_set(pairs, pair->b, &b);
        if (r < 0)
            return r;
        if (!a || !b || exact_set_resemblance(a, b, &pair->resemblance) < 0)
            pair->resemblance = NAN;
    }
    return 0;
}

static int compare_paths(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    const int r = strcmp(a->a, b->a);
    return r ? r : strcmp(a->b, b->b);
}

static int compare_resemblance(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    const double of_a = isnan(a->resemblance) ? -1 : a->resemblance,
                 of_b = isnan(b->resemblance) ? -1 : b->resemblance;
    return of_a != of_b ? (of_a > of_b ? -1 : 1) : compare_paths(x, y);
}

int exact_pairs_each(struct exact_pairs *pairs, double least, struct progress *progress,
                     row_fn print, void *user, char **ret_error)
{
    if (pairs->n)
        qsort(pairs->pairs, pairs->n, sizeof(*pairs->pairs), compare_paths);
    int r = compare_pairs(pairs, progress);
    if (r < 0)
        return refuse(ret_error, r, "%s", strerror(-r));
    if (pairs->n)
        qsort(pairs->pairs, pairs->n, sizeof(*pairs->pairs), compare_resemblance);
    for (size_t i = 0; r == 0 && i < pairs->n && pairs->pairs[i].resemblance >= least; i++) {
        struct json_object *row = json_object_new_object();
        json_path_add(row, "a", pairs->pairs[i].a);
        json_path_add(row, "b", pairs->pairs[i].b);
        work_add_ratio(row, "resemblance", pairs->pairs[i].resemblance);
        r = print(user, row);
    }
    return r;
}
