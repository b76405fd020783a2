/* Families of documents that resemble each other, as large as one likes, whose resemblances are
 * known; beside planted.h, which deals out what the Web had, and whose largest are of thousands.
 *
 * All words are drawn from 300 million, so that no two documents share a shingle by chance that
 * they do not share by what they were made from. Each is made of (plan, number) alone; numbers are
 * dealt to the members of all families at random.
 */
#ifndef KINFS_TESTS_LIB_DOCUMENTS_FAMILIES_H
#define KINFS_TESTS_LIB_DOCUMENTS_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum family_shape {
    FAMILY_STAR,  /* copies of one text, each with changes of its own */
    FAMILY_CHAIN, /* versions, each made from the one before: neighbours resemble, ends do not */
    FAMILY_NONE,  /* each alone */
};

struct family {
    enum family_shape shape;
    uint32_t size;
    unsigned n_words;   /* of each document, without boilerplate */
    unsigned n_changes; /* words that a copy or a version has changed; a shingle's width apart */
    unsigned head;      /* which text of n_head words stands before; 0: none */
    unsigned n_head;
    unsigned n_tail; /* words of a text, the same for all that have one, behind */
};

struct families; /* immutable: any threads */

/* w  tokens in a shingle. The plan is copied. Returns 0, -EINVAL, -ENOMEM; ret_families gives. */
int families_new(uint64_t seed, unsigned w, const struct family *plan, size_t n_families,
                 struct families **ret_families);
void families_free(struct families *families);
DEFINE_CLEANUP(struct families *, families_free);

uint32_t families_n_documents(const struct families *families);

struct family_member {
    uint32_t family, member; /* of a chain the member is the version */
};
struct family_member families_member(const struct families *families, uint32_t number);
uint32_t families_number(const struct families *families, struct family_member member);

/* The text of a document, after it was rewritten `rewrites` times: then it has one changed word
 * more, or another set of changes. `out` has room for families_most_bytes(); returns how many. */
size_t families_write(const struct families *families, uint32_t number, unsigned rewrites,
                      char *out);
size_t families_most_bytes(const struct families *families);

/* How clusters that were found agree with a family. */
struct family_found {
    uint32_t n_members;  /* that are there */
    uint32_t n_together; /* in the cluster that has most of them */
    uint32_t n_wrong;    /* in a cluster that has more of another family; of those who are each
                            alone: in any */
};
enum { FAMILIES_NOT_THERE = 0, FAMILIES_ALONE = 1 };
/* clusters  by number the id of its cluster, or one of the above
 * Returns 0, -ENOMEM; ret_found has one for each family. */
int families_check(const struct families *families, const uint64_t *clusters,
                   struct family_found *ret_found);

#endif
