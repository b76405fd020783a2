/* A small world of documents that come, change and go, and what living clusters must make of them,
 * computed the slow way: all pairs, breadth first, from the definition in living_clusters.h.
 * In the test of living clusters alone; its functions fail the test where the store does, but for
 * those that return an int. */
#ifndef KINFS_TESTS_LIB_HISTORIES_CLUSTER_WORLD_H
#define KINFS_TESTS_LIB_HISTORIES_CLUSTER_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mix.h"
#include "engine/index/members/cluster_aliases.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/clusters/living_clusters.h"
#include "engine/index/members/member.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/tables/schema.h"
#include "tests/lib/stores/kv_fault.h"

/* Fewer records are kept than there are documents. */
enum { WORLD_RECORDS_BYTES = 64 << 10 };
enum { WORLD_DOCUMENTS = 512, WORLD_TOKENS = 64, WORLD_W = 3 };
/* More than all of them have. Room for as many is made at every opening and flush. */
enum { WORLD_POSTINGS = 1 << 12 };

/* Two documents of one length, one after the other, resemble each of them by nearly one half. */
#define WORLD_THRESHOLD 0.4
/* Ids of the model for clusters that are new in this step: any id never seen will do. */
#define WORLD_FRESH ((uint64_t)1 << 62)

struct world_document {
    bool live;
    uint64_t sid;
    uint64_t model_id;     /* 0: in none */
    uint64_t dissolved_id; /* of the last cluster that dissolved around it */
    unsigned n_tokens;     /* 0: binary, by its content only */
    uint64_t tokens[WORLD_TOKENS];
    uint64_t content;
    struct record record;
};

/* An id that became another; of ids that were seen. */
struct world_alias {
    uint64_t id, leads_to;
};

enum { WORLD_NAMED = 7 };

struct world {
    uint64_t random;
    struct world_alias aliases[WORLD_DOCUMENTS];
    unsigned n_aliases, n_alias_rows;
    struct kv *inner, *kv; /* kv fails on purpose, and is patient */
    struct records *records, *reader_records;
    struct postings *postings;
    struct living_clusters *clusters;
    struct cluster_bounds bounds;   /* of living_clusters_open(); no member is 0 */
    struct living_clusters *reader; /* over inner: its questions meet no fault */
    struct policy policy;
    struct min_sketch_builder *builder;
    struct world_document *documents; /* in order of sid */
    unsigned n_documents;
    uint64_t max_id, fresh, flushed_sid;
    unsigned named[WORLD_NAMED];            /* numbers of clusterings beside the default one */
    unsigned n_named, n_divided;            /* n_divided: components, at any check */
    struct remade *remades[WORLD_NAMED][2]; /* of the clusters, and of the reader */
};

/* Seeds from here on are of worlds in which posting lists of a few documents are long; and of those
 * in which loose components are divided (in every other one of these lists are long, too). Their
 * ids are not checked: the model does not follow who keeps which. */
enum { WORLD_LONG_LISTS = 2000, WORLD_DIVIDED = 4000 };

enum { WORLD_OLD = 12, WORLD_NEW = 4 };

/* One thing that happens. */
struct world_step {
    struct world_document *old[WORLD_OLD], *new[WORLD_NEW]; /* none: a flush */
    unsigned n_old, n_new; /* one of each: a rewrite; new ones have sids one after the other */
};

/* -- opening (cluster_world.c) -- */

/* From 0 to n - 1, the same in every run of a seed. */
uint64_t world_random(struct world *world, uint64_t n);

/* Empty, over a store in memory that fails by the plan. bounds and named may be changed between a
 * stop and a start. */
void world_open(struct world *world, uint64_t seed, const struct kv_fault_plan *plan);
/* Where nothing is clustered anew at once. */
void world_open_reclustering(struct world *world, uint64_t seed);
void world_close(struct world *world);
void world_start(struct world *world, const struct kv_fault_plan *plan);
/* As after kill -9: what was in memory only is lost. */
void world_stop(struct world *world);

/* -- documents -- */

/* Without content yet. */
struct world_document *world_new_document(struct world *world);
/* A live one; NULL when there is none. */
struct world_document *world_pick(struct world *world);
/* n times a token, any, becomes another. */
void world_edit(struct world *world, struct world_document *document, unsigned n);
/* Make the record of the newest document from its tokens and content; or from fingerprints. */
void world_finish_document(struct world *world, struct world_document *document);
void world_finish_record(struct world *world, struct world_document *document,
                         const uint64_t *fingerprints, size_t n, uint64_t text);

/* So many fingerprints, one after the other, from one on. */
struct world_stretch {
    uint64_t from;
    unsigned n;
};
/* A new one, complete, of the fingerprints of some stretches, at most 512 in all. */
struct world_document *world_new_of_stretches(struct world *world,
                                              const struct world_stretch *stretches, unsigned n);

/* -- the slow way (cluster_world_truth.c) -- */

/* Whether the first n_a values of a and the first n_b of b have one in common. */
bool world_share(const struct min_sketch *a, uint32_t n_a, const struct min_sketch *b,
                 uint32_t n_b);
/* component[i]: the smallest document i is connected with, for live ones; UINT32_MAX for others. */
void world_components(const struct world *world, unsigned component[WORLD_DOCUMENTS]);
/* The same of clusters: stars of those components that are loose. Returns how many are; ret_n: how
 * many documents these have. */
unsigned world_clusters(const struct world *world, unsigned cluster[WORLD_DOCUMENTS],
                        unsigned *ret_n);
/* -- what must happen to ids (cluster_world_model.c) -- */

void world_model_step(struct world *world, const struct world_step *step);

/* -- comparing (cluster_world_check.c) -- */

/* Everything that can be asked, against the slow way; and no row too many. Fresh ids of the model
 * become those that were given. Of named clusterings nothing. Where lists may be long or components
 * divided (bounds), as world_check_partition(): the model does not follow. */
void world_check(struct world *world);
/* The clusters alone, whatever their ids. */
void world_check_partition(struct world *world);
/* Each id that became another leads to it, and none leads to what is not there. */
void world_check_aliases(struct world *world);
size_t world_count_rows(struct world *world, unsigned table);

/* -- steps (cluster_world_steps.c) -- */

/* Something that may happen, by chance; documents become n_target, by and by. */
struct world_step world_choose(struct world *world, unsigned n_target);
/* One document comes, or goes; nothing fails. The clusters and the model. */
void world_insert(struct world *world, struct world_document *document);
void world_delete(struct world *world, struct world_document *document);
/* The cluster of a document, 0: none. */
uint64_t world_id_of(struct world *world, const struct world_document *document);
/* May be repeated after a failure. */
int world_do(struct world *world, const struct world_step *step);
/* What is dirty is clustered anew. May be repeated after a failure. */
int world_recluster(struct world *world);
/* Both. */
int world_do_all(struct world *world, const struct world_step *step);
/* What the index does after a crash, in the step if not NULL. */
int world_recover(struct world *world, const struct world_step *step);

#endif
