/* The comparisons that lists of documents make necessary (links.h), many at a time: for several
 * lists, or several documents of a long one, the filters and the sets first tell which sketches are
 * needed; the disk is then asked together for those that are only in the file; and then they are
 * compared. One by one, each would be waited for alone.
 *
 * A struct comparisons belongs to one thread. */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_COMPARISONS_H
#define KINFS_ENGINE_CLUSTER_PAIRS_COMPARISONS_H

#include "engine/cluster/pairs/links.h"
#include "engine/cluster/pairs/refused_pairs.h"

enum { COMPARISONS_AT_ONCE = 128 };

/* A document that others of its list are compared with. */
struct held_document {
    struct min_sketch sketch; /* n_values 0: not read yet */
    bool is_asked_for;
};

/* A document of a list, and how far it has been compared with those before it. */
struct link_cursor {
    uint32_t list, at;   /* its list, and where in it */
    uint32_t root, next; /* next: the place in the list to be looked at next */
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
    struct spill_writer *pairs; /* the caller's; NULL: documents are joined */
    struct list_counts *counts;
    struct compared_list lists[COMPARISONS_AT_ONCE];
    uint32_t documents[COMPARISONS_AT_ONCE]; /* of short lists */
    uint32_t n_lists, n_documents;
    struct link_cursor cursors[COMPARISONS_AT_ONCE];
    uint32_t n_cursors;
    /* All held documents, list by list. */
    struct held_document *held;
    struct overlap_filter *filters;
    uint32_t *roots; /* may be those of a while ago */
    size_t most_held;
    struct byte_room sketches[2]; /* of those that are held, and of the cursors' */
    uint8_t *spare[2];            /* for a sketch that has no room there, however long */
    size_t spare_bytes;
};

/* linking and refused are borrowed, counts added to. linking->sketch_bytes: the room for
 * sketches that are not in memory. Returns 0, -ENOMEM. */
int comparisons_init(const struct linking *linking, const struct refused_pairs *refused,
                     struct list_counts *counts, struct comparisons *ret_comparisons);
void comparisons_done(struct comparisons *comparisons); /* of zeroes, too */

/* The most memory it takes beside linking->sketch_bytes, itself included. */
uint64_t comparisons_bytes(size_t most_held, size_t longest_sketch_bytes);

/* Adds a list of n documents, at least 2, all of which are to be compared with the first n_held, at
 * most linking->most_held of them. The list is not borrowed and may be compared later. Returns 0,
 * -ENOMEM, an error of scratch_file_read(). */
int comparisons_add(struct comparisons *comparisons, const uint32_t *list, size_t n, size_t n_held);
int comparisons_flush(struct comparisons *comparisons); /* all that were added; the same */

#endif
