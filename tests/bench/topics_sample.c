#include "tests/bench/topics_sample.h"

#include "base/cleanup.h"

void sample_done(struct topics_sample *sample)
{
    for (size_t i = 0; i < sample->n; i++)
        free(sample->bags[i].bag.words);
    free(sample->bags);
}

int sample_add(struct topics_sample *sample, uint32_t node, uint32_t topic, const struct bag *bag)
{
    LOCKED(&sample->mutex);
    if (sample->n == sample->most) {
        size_t most = sample->most ? 2 * sample->most : 1024;
        struct sampled_bag *bags = realloc(sample->bags, most * sizeof(*bags));
        if (!bags)
            return -ENOMEM;
        sample->bags = bags;
        sample->most = most;
    }
    struct bag_word *words = malloc((bag->n_words + 1) * sizeof(*words));
    if (!words)
        return -ENOMEM;
    memcpy(words, bag->words, bag->n_words * sizeof(*words));
    sample->bags[sample->n++] = (struct sampled_bag){node, topic, {words, bag->n_words}};
    return 0;
}

static double similarity(const struct bag *a, const struct bag *b)
{
    double lesser = 0, all = 0;
    for (uint32_t i = 0; i < a->n_words; i++)
        all += a->words[i].weight;
    for (uint32_t i = 0; i < b->n_words; i++)
        all += b->words[i].weight;
    for (uint32_t i = 0, j = 0; i < a->n_words && j < b->n_words;) {
        uint64_t x = a->words[i].word, y = b->words[j].word;
        if (x == y)
            lesser +=
                a->words[i].weight < b->words[j].weight ? a->words[i].weight : b->words[j].weight;
        i += x <= y;
        j += y <= x;
    }
    return lesser / (all - lesser);
}

static int compare_sampled(const void *a, const void *b)
{
    const struct sampled_bag *x = a, *y = b;
    return x->topic != y->topic ? (x->topic > y->topic) - (x->topic < y->topic)
                                : (x->node > y->node) - (x->node < y->node);
}

static int check_bag(const struct topics_sample *sample, size_t at, struct relations *relations,
                     uint64_t *pairs, uint64_t *found)
{
    enum { MOST = 16384 };
    static uint64_t near[MOST];
    const struct sampled_bag *bag = &sample->bags[at];
    int64_t n = relations_of(relations, bag->node, near, MOST);
    if (n < 0)
        return (int)n;
    for (size_t i = at + 1; i < sample->n && sample->bags[i].topic == bag->topic; i++) {
        double value = similarity(&bag->bag, &sample->bags[i].bag);
        unsigned column = value < 0.1 ? 0 : (unsigned)((value - 0.1) / 0.05);
        column = column < SAMPLE_SIMILARITIES ? column : SAMPLE_SIMILARITIES - 1;
        if (value < 0.1)
            continue;
        pairs[column]++;
        for (int64_t j = 0; j < n && j < MOST; j++)
            found[column] += relation_to(near[j]) == sample->bags[i].node;
    }
    return 0;
}

int sample_check(struct topics_sample *sample, struct relations *relations,
                 uint64_t pairs[SAMPLE_SIMILARITIES], uint64_t found[SAMPLE_SIMILARITIES])
{
    int r = 0;
    if (sample->n)
        qsort(sample->bags, sample->n, sizeof(*sample->bags), compare_sampled);
    for (size_t i = 0; r == 0 && i < sample->n; i++)
        r = check_bag(sample, i, relations, pairs, found);
    return r;
}
