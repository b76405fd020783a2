#include "tools/documents/fresh_compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/ratio.h"
#include "engine/sketch/documents/document_elements.h"
#include "engine/sketch/families/element_set.h"
#include "engine/sketch/families/hamming.h"
#include "tools/show/message.h"
#include "tools/questions/work.h"

/* The chance that the answer to --within is wrong. */
static const double WITHIN_DELTA = 0.01;
enum { BRODER_SHINGLE = 10 };

void fresh_families(void)
{
    for (size_t i = 0; sketch_families[i]; i++)
        printf("%-22s%s\n", sketch_families[i]->name, sketch_families[i]->summary);
}

bool fresh_family_is_known(const char *name)
{
    return sketch_family_find(name) != NULL;
}

unsigned fresh_family_shingle(const char *name)
{
    return strcmp(name, "broder1997") == 0 ? BRODER_SHINGLE : 0;
}

static const char *measure_name(enum sketch_measure measure)
{
    switch (measure) {
    case SKETCH_RESEMBLANCE: return "resemblance";
    case SKETCH_SUPER:
    case SKETCH_RUNS: return "super_shingles";
    case SKETCH_HAMMING: return "distance";
    case SKETCH_COSINE: return "cosine";
    }
    return "";
}

/* A count has one decimal: it is an estimate. */
static void add_number(struct json_object *row, const char *name, double value, bool is_count)
{
    char text[32];
    if (is_count) {
        snprintf(text, sizeof(text), "%.1f", value);
        json_object_object_add(row, name, json_object_new_double_s(value, text));
    } else {
        work_add_ratio(row, name, value);
    }
}

/* r: of the estimate. Equal documents are equal whatever a sketch could tell of them, and what it
 * has a sample of is not. */
static void add_estimate(struct json_object *row, const char *name, bool is_count, int r,
                         struct estimate estimate, bool same)
{
    _cleanup_free_ char *error = message("%s_error", name), *samples = message("%s_samples", name);
    if (same)
        estimate = (struct estimate){.value = is_count ? 0 : 1, .exact = true};
    else if (r < 0)
        estimate = (struct estimate){.value = NAN, .error = NAN};
    else if (!is_count && !estimate.exact && estimate.value > RATIO_BELOW_ONE)
        estimate.value = RATIO_BELOW_ONE;
    if (isnan(estimate.value))
        json_object_object_add(row, name, NULL);
    else
        add_number(row, name, estimate.value, is_count);
    if (!estimate.exact && !isnan(estimate.error))
        add_number(row, error, estimate.error, is_count);
    work_add_count(row, samples, estimate.n_samples);
    json_object_object_add(row, "exact", json_object_new_boolean(estimate.exact));
}

static int add_estimates(const struct sketch_family *family, const struct sketch *a,
                         const struct sketch *b, bool same, struct json_object *row)
{
    struct estimate estimate = {0};
    int r = sketch_estimate(a, b, &estimate);
    if (r < 0 && r != -ENODATA)
        return r;
    add_estimate(row, measure_name(family->measure), family->measure == SKETCH_HAMMING, r, estimate,
                 same);
    if (family->containment) {
        r = sketch_containment(a, b, &estimate);
        add_estimate(row, "containment_ab", false, r, estimate, same);
        r = sketch_containment(b, a, &estimate);
        add_estimate(row, "containment_ba", false, r, estimate, same);
    }
    work_add_count(row, "sketch_bytes_a", a->size_bytes);
    work_add_count(row, "sketch_bytes_b", b->size_bytes);
    return 0;
}

/* -- within a distance -- */

static int add_to_set(void *user, const uint64_t *elements, size_t n_elements)
{
    return element_set_add(user, elements, n_elements);
}

static int parities_of(const struct text_source *text, const struct fresh_comparison *comparison,
                       const uint8_t key[SKETCH_KEY_BYTES], const struct hamming *hamming,
                       uint64_t *parities)
{
    _cleanup_(element_set_done) struct element_set set = {0};
    int r = document_elements(text->fd, text->as, comparison->w, &comparison->words, key, false,
                              add_to_set, &set);
    if (r < 0)
        return r;
    element_set_sort(&set);
    hamming_flip(hamming, set.elements, set.n_elements, parities);
    return 0;
}

static int add_within(const struct fresh_comparison *comparison, const uint8_t *key,
                      const struct text_source *text_a, const struct text_source *text_b,
                      struct json_object *row)
{
    struct hamming hamming;
    uint32_t t;
    int r = hamming_parities(comparison->within, WITHIN_DELTA, &t);
    if (r == 0)
        r = hamming_init(&hamming, key, comparison->within, t);
    if (r < 0)
        return r;
    _cleanup_free_ uint64_t *a = calloc(hamming.n_words, sizeof(*a));
    _cleanup_free_ uint64_t *b = calloc(hamming.n_words, sizeof(*b));
    if (!a || !b)
        return -ENOMEM;
    r = parities_of(text_a, comparison, key, &hamming, a);
    if (r == 0)
        r = parities_of(text_b, comparison, key, &hamming, b);
    if (r < 0)
        return r;
    work_add_count(row, "parities", t);
    work_add_count(row, "distance_at_most", comparison->within);
    json_object_object_add(row, "within", json_object_new_boolean(hamming_accepts(&hamming, a, b)));
    return 0;
}

int fresh_compare(const struct fresh_comparison *comparison, const struct text_source *text_a,
                  const struct text_source *text_b, bool same, struct json_object *row)
{
    const struct sketch_family *family = sketch_family_find(comparison->family);
    _cleanup_(sketch_done) struct sketch a = {0}, b = {0};
    uint8_t key[SKETCH_KEY_BYTES];
    if (getrandom(key, sizeof(key), 0) != sizeof(key))
        return -EIO;
    json_object_object_add(row, "sketch", json_object_new_string(family->name));
    json_object_object_add(row, "measure", json_object_new_string(measure_name(family->measure)));
    if (comparison->within)
        return add_within(comparison, key, text_a, text_b, row);
    int r =
        sketch_document(text_a->fd, text_a->as, comparison->w, &comparison->words, family, key, &a);
    if (r == 0)
        r = sketch_document(text_b->fd, text_b->as, comparison->w, &comparison->words, family, key,
                            &b);
    return r < 0 ? r : add_estimates(family, &a, &b, same, row);
}
