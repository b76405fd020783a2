/* A gold standard: which documents of a collection have which labels. Two documents with a label in
 * common are about the same, others are not; of a document without labels nothing is known. */
#ifndef KINFS_TESTS_BENCH_TOPICS_GOLD_H
#define KINFS_TESTS_BENCH_TOPICS_GOLD_H

#include <stdint.h>

#define GOLD_NONE UINT32_MAX

struct gold_pair {
    uint32_t document, label;
};

struct gold {
    uint32_t n_documents, n_labels, n_pairs;
    uint32_t n_labelled;         /* documents that have a label */
    char **names;                /* of labels, sorted */
    struct gold_pair *labels;    /* by documents, and the same */
    struct gold_pair *documents; /* by labels */
    uint32_t *labels_of;         /* of each document the first of its labels; one more */
    uint32_t *documents_of;      /* of each label the first of its documents; one more */
};

/* Reads lines of a name, a tab and a label, each once; names that no document has are passed over.
 *
 * names  of n documents
 * Returns 0 or an errno; ret_gold gives. */
int gold_read(const char *path, char *const *names, uint32_t n, struct gold *ret_gold);
void gold_done(struct gold *gold); /* of zeroes, too */

/* The first label of a document by the alphabet, or GOLD_NONE. */
uint32_t gold_label(const struct gold *gold, uint32_t document);

/* Sets `value` for each document that is about the same as one, without it. Returns how many. */
uint32_t gold_mark(const struct gold *gold, uint32_t document, uint8_t value, uint8_t *marks);

#endif
