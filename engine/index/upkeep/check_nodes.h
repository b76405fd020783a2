/* The graph behind the clusters, read whole: documents as numbers, and the documents of one
 * posting list at a time. For --deep alone. */
#ifndef KINFS_ENGINE_INDEX_UPKEEP_CHECK_NODES_H
#define KINFS_ENGINE_INDEX_UPKEEP_CHECK_NODES_H

#include "engine/cluster/refused_pairs.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/tables/records.h"
#include "engine/index/tables/sid_vector.h"

struct check_nodes {
    struct check *check;
    struct records *records;
    struct sid_vector sids; /* ascending; a document's number is its place */
    uint32_t *firsts;       /* by number: the first of its class */
    uint64_t *clusters;     /* that are stored of the default clustering, by number; 0: none */
    struct refused_pairs refused;
};

/* Returns 0 or an error; what cannot be read has been told. Memory: 28 bytes a
 * document, and 32 MiB. */
int check_nodes_init(struct check_nodes *nodes, struct check *check);
void check_nodes_done(struct check_nodes *nodes);
/* Whether all could be read that says what the clusters are. */
bool check_nodes_are_whole(const struct check_nodes *nodes);

/* Whether an edge is between two different ones: 1, 0 or an error. */
int check_nodes_joined(struct check_nodes *nodes, uint64_t a, uint64_t b);

/* Returns false where no such document was come by. */
bool check_nodes_find(const struct check_nodes *nodes, uint64_t sid, size_t *ret_number);

/* -- check_lists.c -- */

/* Visit the posting lists of a tier, of tier C with who is in tier R; of each the first documents
 * of classes, if there are two. length: with those of documents that are gone. Those of which the
 * same document is the first come together, so that their records need not be read for each: in
 * pieces of 64 MiB, in which there are all lists of some million documents. */
typedef int (*check_list_fn)(void *user, uint64_t *numbers, size_t n, size_t length);
int check_nodes_each_list(struct check_nodes *nodes, unsigned table, check_list_fn visit,
                          void *user);

/* A finding about a document and its cluster. */
int check_nodes_found(struct check_nodes *nodes, size_t number, const char *what);

/* -- what clusters must be; each returns 0 or an error, whatever was found -- */

int check_components(struct check_nodes *nodes);

#endif
