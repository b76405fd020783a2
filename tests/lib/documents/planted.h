/* Documents whose resemblances are known, any number of them, nothing stored: each is made of
 * (seed, number) alone, by a generator that counts instead of remembering.
 *
 * What there is: clusters as many and as large as Broder et al. 1997 found (section 5: of 30
 * million documents 17.7 million resemble no other; 2.1 million clusters of 5.3 million identical
 * ones, 1.5 million other clusters of 7 million), with a power law's tail; in them edited copies of
 * a first document, chains of versions, identical copies, copies in another markup or letter case,
 * copies of the same shingles in another text, documents that contain the first; and texts that are
 * at the beginning of the documents of many clusters. Numbers are dealt to clusters at random.
 *
 * Why the resemblances are exact, and not by chance: planted.c.
 */
#ifndef KINFS_TESTS_LIB_DOCUMENTS_PLANTED_H
#define KINFS_TESTS_LIB_DOCUMENTS_PLANTED_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct planted; /* immutable: any threads */

enum planted_flavour {
    PLANTED_SINGLE,    /* of one document */
    PLANTED_IDENTICAL, /* all of the same bytes */
    PLANTED_EDITED,    /* around a first document */
    PLANTED_CHAIN,     /* each a version of the one before */
};

enum planted_form { PLANTED_PLAIN, PLANTED_HTML, PLANTED_UPPER, PLANTED_N_FORMS };

struct planted_document {
    uint32_t number;
    uint32_t cluster, member; /* member 0 is the first */
    uint32_t cluster_size;
    enum planted_flavour flavour;
    enum planted_form form;
    uint32_t n_slots;     /* parts of w words that are the cluster's own */
    uint32_t boilerplate; /* 0: none; else which text it begins with */
    uint32_t source;      /* the member whose shingles these are: itself, unless it is a copy */
    uint32_t n_repeats;   /* of the last word, at the end: another text of the same shingles */
    uint32_t n_changed;   /* slots in which it differs from the first; in a chain, from version 0 */
    uint32_t n_extra;     /* slots behind all of the first document: it contains that one */
};

/* n_documents  2 to 2^31 - 1
 * w            tokens in a shingle, for which the resemblances hold, 1 to 64
 * Returns 0, -EINVAL, -ENOMEM; ret_planted gives. */
int planted_new(uint64_t seed, uint32_t n_documents, unsigned w, struct planted **ret_planted);
/* The same with documents of twice as many slots, so that those of w = 5 have 5 KB as well. */
int planted_new_longer(uint64_t seed, uint32_t n_documents, unsigned w,
                       struct planted **ret_planted);
void planted_free(struct planted *planted);
DEFINE_CLEANUP(struct planted *, planted_free);

/* What a document is; number < n_documents. */
void planted_describe(const struct planted *planted, uint32_t number,
                      struct planted_document *ret_document);

/* The number of a member of a cluster that there is. */
uint32_t planted_number(const struct planted *planted, uint32_t cluster, uint32_t member);

/* Its bytes. `out` has room for planted_most_bytes(); returns how many there are. */
size_t planted_write(const struct planted *planted, const struct planted_document *document,
                     char *out);
size_t planted_most_bytes(const struct planted *planted);

/* Sizes of the shingle sets of two documents and of what is in both, exactly. */
struct planted_shingles {
    uint32_t a, b, both;
};
struct planted_shingles planted_compare(const struct planted *planted,
                                        const struct planted_document *a,
                                        const struct planted_document *b);
double planted_resemblance(const struct planted *planted, const struct planted_document *a,
                           const struct planted_document *b);

/* The member that a document of a cluster was made from: the first, or the version before. Itself
 * for a first document. */
uint32_t planted_parent(const struct planted_document *document);

/* How clusters that were found agree with those planted. */
struct planted_check {
    uint64_t n_links; /* of a document with its parent, of a resemblance that was asked for */
    uint64_t n_found; /* of them, both in one cluster */
    uint64_t n_wrong; /* documents in a cluster that is named by one of another planted cluster */
};

/* clusters  by document the first of its cluster, as batch_clusters() has it */
struct planted_check planted_check(const struct planted *planted, const uint32_t *clusters,
                                   double at_least);

#endif
