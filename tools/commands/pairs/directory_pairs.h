/* Pairs of directories that have documents in common, neither below the other, with how many.
 *
 * A document anywhere below a is common to a and b when there is one like it anywhere below b. So
 * what is common to a and b is common to the directory above a and b, too, as long as that is not
 * above b: counts are made of each document with the directories that have one like it and those
 * above, and handed up from a to what is above a. As in
 *
 *    top/x/doc   copies/y/doc     of doc: <x, y> and <x, copies>; handed up: <top, y>, <top,
 * copies>
 *
 * Cost: for each document the directories of its set (alike.h) with those above, where documents of
 * one directory and one set are counted together, and one step for each pair. */
#ifndef KINFS_TOOLS_COMMANDS_PAIRS_DIRECTORY_PAIRS_H
#define KINFS_TOOLS_COMMANDS_PAIRS_DIRECTORY_PAIRS_H

#include <stddef.h>

#include "tools/commands/pairs/alike.h"

enum { DIRECTORY_PAIRS_MOST = 1 << 21, DIRECTORY_PAIRS_NONE = UINT32_MAX };

struct directory_pairs_input {
    /* The parent of each directory, in the order of a walk: behind each comes all that is below it.
     * The first is the root, of which no matter */
    const uint32_t *parents;
    uint32_t n_directories;
    /* By document its directory and bytes */
    const uint32_t *directories;
    const uint64_t *sizes;
    uint32_t n_documents;
    const struct alike *alike; /* finished */
    /* The asker waits no longer, asked now and then; or NULL */
    bool (*stop)(void *user);
    void *user;
};

/* From one side: the documents below a that have one like them below b. */
struct directory_pair {
    uint32_t a, b;
    uint64_t common_bytes;
    uint32_t n_common;
    uint32_t next_of_a;            /* another b; DIRECTORY_PAIRS_NONE: none, and so below */
    uint32_t first_below, sibling; /* pairs of a directory in a with the same b */
};

struct paired_directory {
    uint32_t end; /* the first behind it that is not below */
    uint32_t depth;
    uint32_t n_documents; /* anywhere below, but those that are ALIKE_OUT or ALIKE_COMMON */
    uint32_t first;       /* pair of which it is a */
    uint32_t seen;        /* in which round it was met */
};

struct directory_pairs {
    const struct directory_pairs_input *input; /* borrowed */
    struct paired_directory *directories;
    struct directory_pair *entries;
    uint32_t n_entries;
    /* private */
    uint32_t round;
    size_t entries_room;
    uint32_t *slots; /* of entries, by a and b */
    uint64_t n_slots, n_steps;
};

/* Returns 0, -ENOMEM, -ECANCELED (stopped), or -EOVERFLOW: there are more than DIRECTORY_PAIRS_MOST
 * such pairs. Both sides of each are there. 32 bytes for a side of a pair, up to twice for room and
 * 16 to find it; 20 for a directory; 4 for a document. End with directory_pairs_done(). */
int directory_pairs_count(const struct directory_pairs_input *input,
                          struct directory_pairs *ret_pairs);
void directory_pairs_done(struct directory_pairs *pairs);

/* The number of an entry, DIRECTORY_PAIRS_NONE: there is none. */
uint32_t directory_pairs_find(const struct directory_pairs *pairs, uint32_t a, uint32_t b);

/* Neither is the other or below it. */
bool directory_pairs_apart(const struct directory_pairs *pairs, uint32_t a, uint32_t b);

/* A step of work: -ECANCELED where input->stop says so, else 0. */
int directory_pairs_look(struct directory_pairs *pairs);

#endif
