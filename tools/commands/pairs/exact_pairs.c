/* Pairs are numbers of documents, each of which has its path once; and of each the set is read
 * once, as long as those that were read fit SETS_BYTES: when they do not, all but the one at hand
 * go.
 *
 * A document is reached from the tree's directory by no link and in no other user's mount: who can
 * write there may have put one in its place since it was indexed.
 *
 * Example: of a family of N documents there are N (N - 1) / 2 pairs, of 16 bytes each, and N are
 * read. More than MOST_PAIRS are refused. */
#include "tools/commands/pairs/exact_pairs.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/ratio.h"
#include "base/room.h"
#include "engine/sketch/documents/exact_set.h"
#include "tools/commands/store_words.h"
#include "tools/documents/regular_file.h"
#include "tools/documents/text_source.h"
#include "tools/questions/patience.h"
#include "tools/show/json_path.h"

enum {
    /* Shingles of a document, which nobody has named: 256 MiB, as much again while they are sorted,
     * and two such at a time. */
    MOST_MILLIONS = 16,
    MOST_PAIRS = 1 << 24, /* 256 MiB */
    SETS_BYTES = 256 << 20,
    SHINGLE_BYTES = 16,
};

struct read_document {
    char *path;
    size_t number;
    struct exact_set *set; /* or NULL */
    bool is_unreadable;    /* which was said */
};

struct pair {
    uint32_t a, b;
    double resemblance; /* of the sample, then of the texts; NAN: not known */
};

struct exact_pairs {
    const struct location *location;
    struct configuration configuration;
    unsigned w;
    struct word_options words;
    struct read_document **documents;
    void *by_path; /* of tsearch(3) */
    size_t n_documents, max_documents;
    struct pair *pairs;
    size_t n, room;
    uint64_t sets_bytes;
    struct place_way way;
};

static void keep(void *document)
{
    (void)document; /* the list has it */
}

void exact_pairs_free(struct exact_pairs *pairs)
{
    if (!pairs)
        return;
    tdestroy(pairs->by_path, keep);
    for (size_t i = 0; i < pairs->n_documents; i++) {
        free(pairs->documents[i]->path);
        exact_set_free(pairs->documents[i]->set);
        free(pairs->documents[i]);
    }
    free(pairs->documents);
    free(pairs->pairs);
    configuration_done(&pairs->configuration);
    place_way_done(&pairs->way);
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

static int compare_documents(const void *x, const void *y)
{
    return strcmp(((const struct read_document *)x)->path, ((const struct read_document *)y)->path);
}

/* The document of a path, which is taken. NULL without memory. */
static struct read_document *document_of(struct exact_pairs *pairs, char *path)
{
    struct read_document *document = calloc(1, sizeof(*document));
    if (!document || !MAKE_ROOM(pairs->documents, pairs->max_documents, pairs->n_documents + 1)) {
        free(document);
        free(path);
        return NULL;
    }
    document->path = path;
    document->number = pairs->n_documents;
    struct read_document **found = tsearch(document, &pairs->by_path, compare_documents);
    if (found && *found == document) {
        pairs->documents[pairs->n_documents++] = document;
        return document;
    }
    free(document->path);
    free(document);
    return found ? *found : NULL;
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
    if (pairs->n == MOST_PAIRS)
        return -EFBIG;
    const struct read_document *of_a = document_of(pairs, TAKE_PTR(a)),
                               *of_b = document_of(pairs, TAKE_PTR(b));
    if (!of_a || !of_b || !MAKE_ROOM(pairs->pairs, pairs->room, pairs->n + 1))
        return -ENOMEM;
    pairs->pairs[pairs->n++] = (struct pair){(uint32_t)of_a->number, (uint32_t)of_b->number,
                                             work_number(taken, "resemblance", NAN)};
    return 0;
}

/* -- comparing -- */

/* Returns 0, also where it cannot be read: then *ret_set is NULL, and that is said. */
static int read_set(struct exact_pairs *pairs, const char *path, struct exact_set **ret_set)
{
    _cleanup_(text_source_done) struct text_source text = {.fd = -1};
    _cleanup_free_ char *error = NULL, *whole = NULL;
    const char *base = strcmp(pairs->location->base, "/") == 0 ? "" : pairs->location->base;
    *ret_set = NULL;
    whole = message("%s/%s", base, path);
    patience_look(whole);
    _cleanup_close_ int place = place_open(&pairs->way, whole, (uint32_t)strlen(base)),
                        fd = place < 0 ? place : regular_file_open_place(place);
    int r = fd < 0 ? fd : text_source_open(whole, fd, &pairs->configuration, 0, &text, &error);
    if (r >= 0)
        r = exact_set_read(text.fd, text.as, pairs->w, &pairs->words,
                           MOST_MILLIONS * (size_t)1000000, ret_set);
    if (r == -E2BIG && !error)
        error = message("%s: more than %d million different shingles; kinfs compare --exact takes "
                        "more",
                        whole, MOST_MILLIONS);
    if (r < 0 && !error)
        error = message("%s: %s", whole, error_text(r));
    if (r < 0 && r != -ENOMEM)
        complain("%s; left out", error);
    return r == -ENOMEM ? r : 0;
}

static void drop_sets(struct exact_pairs *pairs, const struct read_document *but)
{
    for (size_t i = 0; i < pairs->n_documents; i++)
        if (pairs->documents[i] != but)
            exact_set_free(TAKE_PTR(pairs->documents[i]->set));
    pairs->sets_bytes = but->set ? exact_set_count(but->set) * SHINGLE_BYTES : 0;
}

/* Returns 1, 0 where it cannot be read, or -ENOMEM.
 *
 * other  whose set stays
 */
static int get_set(struct exact_pairs *pairs, struct read_document *document,
                   const struct read_document *other)
{
    if (document->set || document->is_unreadable)
        return !document->is_unreadable;
    if (pairs->sets_bytes > SETS_BYTES)
        drop_sets(pairs, other);
    int r = read_set(pairs, document->path, &document->set);
    document->is_unreadable = r == 0 && !document->set;
    if (document->set)
        pairs->sets_bytes += exact_set_count(document->set) * SHINGLE_BYTES;
    return r < 0 ? r : document->set != NULL;
}

static int compare_pairs(struct exact_pairs *pairs, struct progress *progress)
{
    for (size_t i = 0; i < pairs->n; i++) {
        struct pair *pair = &pairs->pairs[i];
        struct read_document *a = pairs->documents[pair->a], *b = pairs->documents[pair->b];
        progress_phase(progress, "compare", i, pairs->n);
        if (pair->resemblance >= 1) /* equal, as all of the texts says */
            continue;
        int r = get_set(pairs, a, a);
        if (r > 0)
            r = get_set(pairs, b, a);
        if (r < 0)
            return r;
        if (r == 0 || exact_set_resemblance(a->set, b->set, &pair->resemblance) < 0)
            pair->resemblance = NAN;
    }
    return 0;
}

static int compare_paths(const void *x, const void *y, void *user)
{
    const struct exact_pairs *pairs = user;
    const struct pair *one = x, *other = y;
    const int r = compare_documents(pairs->documents[one->a], pairs->documents[other->a]);
    return r ? r : compare_documents(pairs->documents[one->b], pairs->documents[other->b]);
}

static int compare_resemblance(const void *x, const void *y, void *user)
{
    const struct pair *a = x, *b = y;
    const double of_a = isnan(a->resemblance) ? -1 : a->resemblance,
                 of_b = isnan(b->resemblance) ? -1 : b->resemblance;
    return of_a != of_b ? (of_a > of_b ? -1 : 1) : compare_paths(x, y, user);
}

int exact_pairs_each(struct exact_pairs *pairs, double least, struct progress *progress,
                     row_fn print, void *user, char **ret_error)
{
    if (pairs->n)
        qsort_r(pairs->pairs, pairs->n, sizeof(*pairs->pairs), compare_paths, pairs);
    int r = compare_pairs(pairs, progress);
    if (r < 0)
        return refuse(ret_error, r, "%s", strerror(-r));
    if (pairs->n)
        qsort_r(pairs->pairs, pairs->n, sizeof(*pairs->pairs), compare_resemblance, pairs);
    for (size_t i = 0; r == 0 && i < pairs->n && pairs->pairs[i].resemblance >= least; i++) {
        struct json_object *row = json_object_new_object();
        json_path_add(row, "a", pairs->documents[pairs->pairs[i].a]->path);
        json_path_add(row, "b", pairs->documents[pairs->pairs[i].b]->path);
        work_add_ratio(row, "resemblance", pairs->pairs[i].resemblance);
        r = print(user, row);
    }
    return r;
}
