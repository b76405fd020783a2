#include "tests/bench/phases.h"

#include <stdbool.h>
#include <string.h>

#include "engine/index/tables/classes.h"
#include "engine/index/clusters/cluster_insert.h"
#include "engine/index/clusters/cluster_delete.h"
#include "engine/index/index_state.h"
#include "engine/index/clusters/neighbours.h"
#include "engine/index/clusters/recluster.h"
#include "engine/index/catalogue/stored_row.h"
#include "tests/bench/clock.h"

const char *const phase_names[N_PHASES] = {
    [PHASE_NONE] = "",
    [PHASE_CALLER] = "the benchmark",
    [PHASE_SKETCH] = "text and sketch",
    [PHASE_ENTRIES] = "names",
    [PHASE_COMMIT] = "committer's own",
    [PHASE_LOOK] = "what the file was",
    [PHASE_RECORD] = "record",
    [PHASE_FILE_ROW] = "row of the file",
    [PHASE_CLASS] = "class",
    [PHASE_CANDIDATES] = "posting lists read",
    [PHASE_READ_RECORDS] = "records of candidates read",
    [PHASE_READ_CLUSTERS] = "clusters of candidates read",
    [PHASE_COMPARE] = "candidates compared",
    [PHASE_POST] = "postings into memory",
    [PHASE_INTENT] = "intent of a change",
    [PHASE_JOIN] = "clusters joined",
    [PHASE_DELETE] = "clusters left",
    [PHASE_RECLUSTER] = "clustered anew",
    [PHASE_FLUSH] = "postings into the store",
};

enum { DEPTH_MAX = 64 };

static __thread struct {
    bool on, in_store;
    struct phases phases;
    enum phase stack[DEPTH_MAX];
    unsigned depth;
    double since_s;
} now;

static void account(void)
{
    double t = clock_wall_s();
    now.phases.wall_s[now.stack[now.depth]] += t - now.since_s;
    now.since_s = t;
}

void phases_begin(enum phase phase)
{
    memset(&now, 0, sizeof(now));
    now.on = true;
    now.stack[0] = phase;
    now.since_s = clock_wall_s();
}

void phases_switch(enum phase phase)
{
    account();
    now.stack[now.depth] = phase;
    now.phases.n[phase]++;
}

struct phases phases_end(void)
{
    account();
    now.on = false;
    return now.phases;
}

static void enter(enum phase phase)
{
    if (!now.on)
        return;
    account();
    now.stack[++now.depth] = phase;
    now.phases.n[phase]++;
}

static void leave(void)
{
    if (!now.on)
        return;
    account();
    now.depth--;
}

/* -- what is wrapped -- */

#define WRAP(phase, name, parameters, arguments)                                                   \
    __typeof__(name) __real_##name, __wrap_##name;                                                 \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        enter(phase);                                                                              \
        int r = __real_##name arguments;                                                           \
        leave();                                                                                   \
        return r;                                                                                  \
    }

WRAP(PHASE_LOOK, catalogue_links,
     (struct kv * kv, const struct file_key *child, size_t limit, struct catalogue_list *ret_list),
     (kv, child, limit, ret_list))
WRAP(PHASE_LOOK, catalogue_have_names,
     (struct kv * kv, const struct file_key *const *files, size_t n, const char *certain,
      enum catalogue_naming *ret_have),
     (kv, files, n, certain, ret_have))
WRAP(PHASE_LOOK, catalogue_get_files,
     (struct kv * kv, const struct file_key *const *files, size_t n, struct file_row *ret_rows,
      bool *ret_exist),
     (kv, files, n, ret_rows, ret_exist))
WRAP(PHASE_LOOK, stored_row_document,
     (struct kv * kv, const struct file_key *key, struct stored_row *ret_row, uint64_t *ret_sid,
      struct record *ret_record),
     (kv, key, ret_row, ret_sid, ret_record))
WRAP(PHASE_LOOK, stored_row_documents,
     (struct kv * kv, const struct file_key *keys, size_t n, struct stored_document *ret_documents),
     (kv, keys, n, ret_documents))
WRAP(PHASE_LOOK, catalogue_links_of_all,
     (struct kv * kv, const struct file_key *const *children, size_t n, size_t limit,
      struct catalogue_list *ret_lists),
     (kv, children, n, limit, ret_lists))
WRAP(PHASE_FILE_ROW, document_counts_apply,
     (struct document_counts * counts, struct kv_batch *batch,
      const struct document_change *change),
     (counts, batch, change))
WRAP(PHASE_CLASS, classes_add,
     (struct classes * classes, const uint8_t (*class_ids)[CLASS_BYTES], const uint64_t *sids,
      const bool *is_alone, size_t n, uint64_t *ret_firsts),
     (classes, class_ids, sids, is_alone, n, ret_firsts))
WRAP(PHASE_CLASS, classes_others,
     (struct classes * classes, const uint8_t (*class_ids)[CLASS_BYTES], const uint64_t *sids,
      size_t n, uint64_t *ret_others),
     (classes, class_ids, sids, n, ret_others))
WRAP(PHASE_CLASS, classes_list,
     (struct kv * kv, const uint8_t class_id[CLASS_BYTES], uint64_t after, size_t limit,
      struct number_vector *sids),
     (kv, class_id, after, limit, sids))
WRAP(PHASE_CANDIDATES, postings_with,
     (struct postings * postings, enum postings_tier tier, const uint64_t *fingerprints,
      size_t n_fingerprints, size_t most, struct sid_list *ret_list, size_t *ret_lengths),
     (postings, tier, fingerprints, n_fingerprints, most, ret_list, ret_lengths))
WRAP(PHASE_CANDIDATES, postings_first,
     (struct postings * postings, enum postings_tier tier, uint64_t fingerprint, size_t most,
      struct sid_list *ret_list),
     (postings, tier, fingerprint, most, ret_list))
WRAP(PHASE_CANDIDATES, postings_candidates,
     (struct postings * postings, enum postings_tier tier, const struct min_sketch *sketch,
      struct sid_list *ret_list),
     (postings, tier, sketch, ret_list))
WRAP(PHASE_READ_RECORDS, records_borrow,
     (struct records * records, const uint64_t *sids, size_t n_sids,
      const struct record **ret_refs),
     (records, sids, n_sids, ret_refs))
WRAP(PHASE_READ_RECORDS, graph_record,
     (const struct graph *graph, uint64_t sid, struct record *ret_record), (graph, sid, ret_record))
WRAP(PHASE_READ_CLUSTERS, membership_look_up,
     (struct membership * membership, const uint64_t *sids, size_t n_sids, uint64_t *ret_ids),
     (membership, sids, n_sids, ret_ids))
WRAP(PHASE_CANDIDATES, neighbours_candidates,
     (const struct graph *graph, uint64_t sid, const struct min_sketch *sketch,
      struct number_vector *candidates, struct number_vector *grown),
     (graph, sid, sketch, candidates, grown))
WRAP(PHASE_COMPARE, neighbours_compare,
     (const struct graph *graph, const struct min_sketch *sketch,
      const struct number_vector *candidates, neighbours_wanted_fn wanted, neighbour_found_fn found,
      void *user),
     (graph, sketch, candidates, wanted, found, user))
WRAP(PHASE_POST, postings_add,
     (struct postings * postings, uint64_t sid, const struct min_sketch *sketch),
     (postings, sid, sketch))
WRAP(PHASE_POST, postings_remove,
     (struct postings * postings, uint64_t sid, const struct min_sketch *sketch),
     (postings, sid, sketch))
WRAP(PHASE_INTENT, dirty_mark, (struct dirty * dirty, const uint64_t *clusters, size_t n),
     (dirty, clusters, n))
WRAP(PHASE_INTENT, dirty_clear,
     (struct dirty * dirty, const uint64_t *clusters, size_t n, uint64_t up_to),
     (dirty, clusters, n, up_to))
WRAP(PHASE_JOIN, cluster_insert, (const struct graph *graph, const struct coming *coming),
     (graph, coming))
WRAP(PHASE_DELETE, cluster_delete,
     (const struct graph *graph, const uint64_t *sids, const struct record *const *records,
      size_t n),
     (graph, sids, records, n))
WRAP(PHASE_RECLUSTER, recluster_small,
     (const struct graph *graph, const struct number_vector *clusters), (graph, clusters))
WRAP(PHASE_RECLUSTER, recluster_step, (struct recluster * run, const struct graph *graph),
     (run, graph))
WRAP(PHASE_FLUSH, living_clusters_flush_postings, (struct living_clusters * clusters), (clusters))

/* Calls of the store, which are counted apart; the committer's own write is that of records. */
#define WRAP_STORE(counter, name, parameters, arguments)                                           \
    __typeof__(name) __real_##name, __wrap_##name;                                                 \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        if (!now.on || now.in_store)                                                               \
            return __real_##name arguments;                                                        \
        bool write = &now.phases.counter == &now.phases.n_writes;                                  \
        bool record = write && now.stack[now.depth] == PHASE_COMMIT;                               \
        if (record)                                                                                \
            enter(PHASE_RECORD);                                                                   \
        double begin_s = clock_wall_s();                                                           \
        now.in_store = true;                                                                       \
        int r = __real_##name arguments;                                                           \
        now.in_store = false;                                                                      \
        double s = clock_wall_s() - begin_s;                                                       \
        now.phases.store_s += s;                                                                   \
        now.phases.writes_s += write ? s : 0;                                                      \
        now.phases.counter++;                                                                      \
        if (record)                                                                                \
            leave();                                                                               \
        return r;                                                                                  \
    }

WRAP_STORE(n_gets, kv_get,
           (struct kv * kv, unsigned table, struct kv_slice key, struct kv_buf *ret_value),
           (kv, table, key, ret_value))
WRAP_STORE(n_multi_gets, kv_multi_get,
           (struct kv * kv, unsigned table, const struct kv_slice *keys, size_t n_keys,
            struct kv_buf *ret_values),
           (kv, table, keys, n_keys, ret_values))
WRAP_STORE(n_scans, kv_multi_scan,
           (struct kv * kv, unsigned table, const struct kv_range *ranges, size_t n_ranges,
            size_t limit, struct kv_page *ret_pages),
           (kv, table, ranges, n_ranges, limit, ret_pages))
WRAP_STORE(n_scans, kv_scan,
           (struct kv * kv, unsigned table, const struct kv_range *range, size_t limit,
            struct kv_page *ret_page),
           (kv, table, range, limit, ret_page))
WRAP_STORE(n_writes, kv_apply, (struct kv * kv, const struct kv_batch *batch), (kv, batch))
WRAP_STORE(n_writes, kv_bulk_load,
           (struct kv * kv, unsigned table, kv_run_next_fn next, void *user),
           (kv, table, next, user))
