/* The comparisons that lists of documents make necessary (links.h), many at a time: of several
 * lists, or of several documents of a long one, it is first found out which sketches are wanted, by
 * the filters and by what is joined already; those that are in the file only are then asked of the
 * disk together; and then they are compared. One by one a disk would have each of them read while
 * nobody does anything.
 *
 * Belongs to one thread. */
#ifndef KINFS_ENGINE_CLUSTER_COMPARISONS_H
#define KINFS_ENGINE_CLUSTER_COMPARISONS_H

#include "engine/cluster/links.h"
#include "engine/cluster/refused_pairs.h"

enum { COMPARISONS_AT_ONCE = 128 };

/* Of a document that others of its list are compared with. */
struct held_document {
    struct min_sketch sketch; /* n_values 0: not read yet */
    bool is_asked_for;
};

/* A document of a list, and with which of those before it it has been compared. */
struct link_cursor {
    uint32_t list, at;   /* its list, and where in it */
    uint32_t root, next; /* next: of the list, to be looked at */
    uint32_t other;      /* to be compared with now */
    bool is_asked_for;
    struct overlap_filter filter;
    struct min_sketch sketch; /* where it is not held; n_values 0: not read yet */
};

struct compared_list {
    const uint32_t *documents;
    uint32_t n, n_held;  /* the others are compared with the first n_held */
    uint32_t held_begin; /* where these are */
};

struct byte_room {
    uint8_t *bytes;
    size_t n, room;
};

struct comparisons {
    const struct linking *linking;
    overlap_scan_fn *scan;
    const struct refused_pairs *refused;
    struct list_counts *counts;
    struct compared_list lists[COMPARISONS_AT_ONCE];
    uint32_t documents[COMPARISONS_AT_ONCE]; /* of short lists */
    uint32_t n_lists, n_documents;
    struct link_cursor cursors[COMPARISONS_AT_ONCE];
    uint32_t n_cursors;
    /* Of all that are held, list by list. */
    struct held_document *held;
    struct overlap_filter *filters;
    uint32_t *roots; /* may be those of a while ago */
    size_t most_held;
    struct byte_room sketches[2]; /* of those that are held, and of the cursors' */
    uint8_t *spare[2];            /* for what has no room there, however long */
    size_t spare_bytes;
};

/* linking and refused are borrowed, counts added to. linking->sketch_bytes is what sketches take
 * that are not in memory. Returns 0, -ENOMEM. */
int comparisons_init(const struct linking *linking, const struct refused_pairs *refused,
                     struct list_counts *counts, struct comparisons *ret_comparisons);
void comparisons_done(struct comparisons *comparisons); /* of zeroes, too */

/* All it takes at most beside linking->sketch_bytes, itself included. */
uint64_t comparisons_bytes(size_t most_held, size_t longest_sketch_bytes);

/* A list of n documents, at least 2, of which all are to be compared with the first n_held, no more
 * of these than linking->most_held. Not
 * borrowed; may be compared later. Returns 0, -ENOMEM, an error of scratch_file_read(). */
int comparisons_add(struct comparisons *comparisons, const uint32_t *list, size_t n, size_t n_held);
int comparisons_flush(struct comparisons *comparisons); /* all that were added; the same */

#endif
