/* In how many documents words stand, in bounded memory: those of very many words that are in most
 * documents (Manku and Motwani, Approximate Frequency Counts over Data Streams, 2002).
 *
 * The words of a document are added once each. Where there is no more room, words that few
 * documents have had are forgotten, and a word that comes from then on may have been one of them:
 * it is known in how many documents it may have been missed. As long as nothing is forgotten, all
 * numbers are exact.
 *
 * Cost: a look into a hash table for each word of a document; the table is looked through each time
 * it is full, after which a half of it is free. One thread.
 */
#ifndef KINFS_TOOLS_COMMANDS_TOPICS_WORD_COUNTS_H
#define KINFS_TOOLS_COMMANDS_TOPICS_WORD_COUNTS_H

#include <stddef.h>
#include <stdint.h>

struct word_count {
    char *word; /* NULL: nothing is here */
    uint64_t hash;
    uint64_t n;      /* documents that were counted; */
    uint64_t missed; /* so many may have come before */
};

struct word_counts {
    struct word_count *slots;
    size_t n_slots; /* a power of two */
    size_t n, most;
    uint64_t forgotten; /* words of so many documents, or fewer, have been */
};

/* most: words in memory, 1 to 2^30, of some 60 bytes each. Returns 0 or -ENOMEM. */
int word_counts_init(struct word_counts *counts, size_t most);
void word_counts_done(struct word_counts *counts);

/* One more document has the word. Returns 0 or -ENOMEM. */
int word_counts_add(struct word_counts *counts, const void *word, size_t n_bytes);

/* Brings the words together, those of most documents first, of as many the first one by its bytes.
 * Nothing may be added any more. Returns how many there are, from slots[0] on. */
size_t word_counts_sort(struct word_counts *counts);

#endif
