#include "tools/commands/topics/word_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/files/file_key.h"

int word_counts_init(struct word_counts *counts, size_t most)
{
    *counts = (struct word_counts){.most = most, .n_slots = 2};
    while (counts->n_slots < 2 * most)
        counts->n_slots *= 2;
    counts->slots = calloc(counts->n_slots, sizeof(*counts->slots));
    return counts->slots ? 0 : -ENOMEM;
}

void word_counts_done(struct word_counts *counts)
{
    for (size_t i = 0; counts->slots && i < counts->n_slots; i++)
        free(counts->slots[i].word);
    free(counts->slots);
    *counts = (struct word_counts){0};
}

static struct word_count *find(const struct word_counts *counts, uint64_t hash, const void *word,
                               size_t n_bytes)
{
    for (size_t at = hash & (counts->n_slots - 1);; at = (at + 1) & (counts->n_slots - 1)) {
        struct word_count *count = &counts->slots[at];
        if (!count->word || (count->hash == hash && strlen(count->word) == n_bytes &&
                             memcmp(count->word, word, n_bytes) == 0))
            return count;
    }
}

static int compare(const void *a, const void *b)
{
    const struct word_count *x = a, *y = b;
    if (!x->word || !y->word)
        return (y->word != NULL) - (x->word != NULL);
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return strcmp(x->word, y->word);
}

static void put_back(struct word_counts *counts, const struct word_count *kept, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *find(counts, kept[i].hash, kept[i].word, strlen(kept[i].word)) = kept[i];
    counts->n = n;
}

static uint64_t most_of(const struct word_count *count)
{
    return count->n + count->missed;
}

/* The half of fewer documents is forgotten, and what may have been in no more than any of these. */
static int make_room(struct word_counts *counts)
{
    struct word_count *all = malloc(counts->n * sizeof(*all));
    size_t n = 0, n_kept = 0;
    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < counts->n_slots; i++)
        if (counts->slots[i].word)
            all[n++] = counts->slots[i];
    qsort(all, n, sizeof(*all), compare);
    uint64_t bound = counts->forgotten;
    for (size_t i = n / 2; i < n; i++)
        if (most_of(&all[i]) > bound)
            bound = most_of(&all[i]);
    for (size_t i = 0; i < n; i++)
        if (i < n / 2 && most_of(&all[i]) > bound)
            all[n_kept++] = all[i];
        else
            free(all[i].word);
    memset(counts->slots, 0, counts->n_slots * sizeof(*counts->slots));
    counts->forgotten = bound;
    put_back(counts, all, n_kept);
    free(all);
    return 0;
}

int word_counts_add(struct word_counts *counts, const void *word, size_t n_bytes)
{
    const uint64_t hash = XXH3_64bits_withSeed(word, n_bytes, file_key_secret);
    struct word_count *count = find(counts, hash, word, n_bytes);
    if (!count->word && counts->n == counts->most) {
        if (make_room(counts) < 0)
            return -ENOMEM;
        count = find(counts, hash, word, n_bytes);
    }
    if (!count->word) {
        char *copy = strndup(word, n_bytes);
        if (!copy)
            return -ENOMEM;
        *count = (struct word_count){.word = copy, .hash = hash, .missed = counts->forgotten};
        counts->n++;
    }
    count->n++;
    return 0;
}

size_t word_counts_sort(struct word_counts *counts)
{
    qsort(counts->slots, counts->n_slots, sizeof(*counts->slots), compare);
    return counts->n;
}
