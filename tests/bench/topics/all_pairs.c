#include "tests/bench/topics/all_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t word;
    uint32_t document;
    uint8_t weight;
};

struct all_pairs {
    const struct bag *bags;
    uint32_t n;
    struct entry *entries; /* by words */
    size_t n_entries;
    size_t *lists;  /* of each word of each bag, in their order, where its list begins */
    size_t *firsts; /* of each bag its first of these */
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

void all_pairs_free(struct all_pairs *pairs)
{
    if (!pairs)
        return;
    free(pairs->entries);
    free(pairs->lists);
    free(pairs->firsts);
    free(pairs);
}

/* Words of a bag ascend, as do lists: each bag takes its next word where a list has it. */
static int find_lists(struct all_pairs *pairs)
{
    _cleanup_free_ size_t *next = calloc((size_t)pairs->n + 1, sizeof(*next));
    if (!next)
        return -ENOMEM;
    memcpy(next, pairs->firsts, pairs->n * sizeof(*next));
    for (size_t i = 0, first = 0; i < pairs->n_entries; i++) {
        if (pairs->entries[i].word != pairs->entries[first].word)
            first = i;
        pairs->lists[next[pairs->entries[i].document]++] = first;
    }
    return 0;
}

int all_pairs_new(const struct bag *bags, uint32_t n, struct all_pairs **ret_pairs)
{
    _cleanup_(all_pairs_free_p) struct all_pairs *pairs = calloc(1, sizeof(*pairs));
    if (!pairs)
        return -ENOMEM;
    pairs->bags = bags;
    pairs->n = n;
    for (uint32_t i = 0; i < n; i++)
        pairs->n_entries += bags[i].n_words;
    pairs->entries = calloc(pairs->n_entries + 1, sizeof(*pairs->entries));
    pairs->lists = calloc(pairs->n_entries + 1, sizeof(*pairs->lists));
    pairs->firsts = calloc((size_t)n + 1, sizeof(*pairs->firsts));
    if (!pairs->entries || !pairs->lists || !pairs->firsts)
        return -ENOMEM;
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        pairs->firsts[i] = at;
        for (uint32_t j = 0; j < bags[i].n_words; j++)
            pairs->entries[at++] =
                (struct entry){bags[i].words[j].word, i, (uint8_t)bags[i].words[j].weight};
    }
    qsort(pairs->entries, pairs->n_entries, sizeof(*pairs->entries), compare_entries);
    int r = find_lists(pairs);
    if (r == 0)
        *ret_pairs = TAKE_PTR(pairs);
    return r;
}

void all_pairs_of(const struct all_pairs *pairs, uint32_t one, uint8_t *ret_common)
{
    const struct bag *bag = &pairs->bags[one];
    memset(ret_common, 0, pairs->n);
    for (uint32_t i = 0; i < bag->n_words; i++) {
        const uint8_t weight = (uint8_t)bag->words[i].weight;
        for (size_t at = pairs->lists[pairs->firsts[one] + i];
             at < pairs->n_entries && pairs->entries[at].word == bag->words[i].word; at++) {
            const uint8_t other = pairs->entries[at].weight;
            ret_common[pairs->entries[at].document] += weight < other ? weight : other;
        }
    }
    ret_common[one] = 0;
}

unsigned common_least(double resemblance)
{
    unsigned common = 0;
    while (common < BAG_SUM && common_resemblance(common) < resemblance)
        common++;
    return common;
}
