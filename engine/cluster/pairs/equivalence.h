/* Documents that are the same: the three equivalences, identical, lexical and of shingles, each
 * implying the next (Broder et al. 1997, section 5.2). Documents of equal shingles become one node
 * of the phases that follow; the other documents of a class are put back by being in its set.
 *
 * A document without shingles is like none by its shingles or its words: "the empty set never
 * counts". Empty documents of the same bytes are identical for all that, and nothing else is
 * compared with them. */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_EQUIVALENCE_H
#define KINFS_ENGINE_CLUSTER_PAIRS_EQUIVALENCE_H

#include "engine/cluster/large/spill.h"
#include "engine/cluster/large/union_find.h"
#include "engine/sketch/documents/document_sketch.h"

enum { EQUIVALENCE_PARTITIONS = 256 };

struct equivalence_record {
    uint8_t class[FINGERPRINT_BYTES]; /* of the shingles or the text; where there are none, of the
                                         content */
    uint64_t text, content; /* the first 64 bits of these fingerprints, compared within a class */
    uint32_t document;
    uint32_t is_empty;
};

struct equivalence_counts {
    uint64_t n_identical; /* documents whose content another one before has */
    uint64_t n_lexical;   /* further ones whose text another one before has */
    uint64_t n_shingles;  /* further ones whose shingles another one before has */
    uint64_t n_nodes;     /* classes that have shingles */
};

struct equivalence_marks {
    uint64_t *node;  /* a bit a document: the first of its class */
    uint64_t *mixed; /* a bit a node: its class has several contents */
};

/* Adds a document. by_text: a class is of one text (document_equality()), not of equal shingles,
 * which are known by a sample only. Returns 0 or an error of spill_add(). */
int equivalence_add(struct spill_writer *writer, uint32_t document,
                    const struct document_sketch *sketch, bool by_text);

struct equivalence_joining {
    struct spill *spill;       /* of EQUIVALENCE_PARTITIONS; is used up */
    struct scratch_file *runs; /* for partitions that do not fit into a room; used by nobody else */
    struct union_find *sets;
    struct equivalence_marks *marks; /* bits that are 0 before */
    unsigned n_threads;
    size_t room_bytes; /* of each; SORTED_LEAST_BYTES at least */
};

/* Join the documents of each class, set the marks, count. Returns 0, -ENOMEM, an error of reading
 * or writing a scratch file. */
int equivalence_join(const struct equivalence_joining *joining,
                     struct equivalence_counts *ret_counts, double *cpu_s);

/* The room in which a partition of so many records needs no file. */
uint64_t equivalence_partition_bytes(uint64_t n_records);

static inline bool mark_is_set(const uint64_t *marks, uint32_t i)
{
    return marks[i / 64] >> (i % 64) & 1;
}

static inline void mark_set(uint64_t *marks, uint32_t i) /* by any threads */
{
    __atomic_fetch_or(&marks[i / 64], (uint64_t)1 << (i % 64), __ATOMIC_RELAXED);
}

#endif
