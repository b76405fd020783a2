/* The paper's phases, one after the other (Haveliwala, Gionis and Indyk 2000): fragments of bags,
 * dealt by their targets; the bag of each; its signatures; pairs, filter and sort (near.h); CENTER.
 *
 * What --keep has of a run that came to signatures is begun with behind them.
 *
 * Memory: the names of the documents stay; of the rest each phase has all for itself.
 */
#include "tools/commands/cluster/cluster_topics.h"

#include <errno.h>

#include "base/clock.h"
#include "base/counted.h"
#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"
#include "engine/topic/near/centres.h"
#include "engine/topic/weighted/flat.h"
#include "tools/commands/cluster/cluster_errors.h"
#include "tools/commands/cluster/cluster_list.h"
#include "tools/commands/cluster/cluster_rows.h"
#include "tools/commands/cluster/topics_costs.h"
#include "tools/commands/cluster/topics_keep.h"
#include "tools/commands/cluster/topics_reading.h"
#include "engine/topic/near/node_sketches.h"
#include "tools/commands/links/linked_tree.h"
#include "tools/questions/patience.h"
#include "tools/show/message.h"

enum { DRAWS = 125, OF_A_DRAW = 3, HEADS = 32, SEED = 2000 };

struct topics {
    struct cluster_options *options;
    struct cluster_reading reading;
    struct document_list list;
    struct linked_tree tree;
    const char *directory; /* that the tree is; NULL: all of the file system */
    struct target_bags *bags;
    struct topics_names *names;
    struct node_sketches sketches;
    struct topics_keep keep;
    struct flat_hash *hash;
    double sketch_cpu_s;
    struct signatures signatures;
    struct relations relations;
    struct topics_totals totals;
    struct progress progress;
    uint32_t n_unread;
};

static void topics_free(struct topics *topics)
{
    if (!topics)
        return;
    cluster_reading_done(&topics->reading);
    document_rules_done(&topics->options->documents);
    document_list_done(&topics->list);
    linked_tree_done(&topics->tree);
    target_bags_free(topics->bags);
    topics_names_free(topics->names);
    node_sketches_done(&topics->sketches);
    topics_keep_done(&topics->keep);
    flat_hash_free(topics->hash);
    signatures_done(&topics->signatures);
    relations_done(&topics->relations);
    free(topics);
}
DEFINE_CLEANUP(struct topics *, topics_free);

/* -- memory -- */

/* Without the names of documents. */
static uint64_t memory_of(const struct topics *topics)
{
    return topics->options->batch.memory_bytes - document_list_memory(&topics->list);
}

/* Of n nodes: to find those that are near each other, and then to print the clusters. */
static uint64_t least_bytes(uint32_t n_nodes)
{
    return near_least_bytes(n_nodes) + (sizeof(uint32_t) + CLUSTER_ROWS_BYTES) * (uint64_t)n_nodes;
}

static int check_memory(const struct topics *topics, uint32_t n_nodes, char **ret_error)
{
    const uint64_t least = document_list_memory(&topics->list) + least_bytes(n_nodes);
    if (topics->options->batch.memory_bytes >= least)
        return 0;
    return refuse(ret_error, -E2BIG, "--memory=%lluM is the least for %s and what they link to",
                  (unsigned long long)((least + (1 << 20) - 1) >> 20),
                  counted(topics->list.n, "document").text);
}

/* -- bags -- */

/* One directory is the tree that links lead about in. */
static int open_tree(struct topics *topics, char **ret_error)
{
    const struct cluster_options *options = topics->options;
    if (options->n_paths == 1 && !options->reads_list) {
        int r = linked_tree_open(&topics->tree, options->paths[0], NULL);
        if (r != -ENOTDIR) {
            topics->directory = options->paths[0];
            return r < 0 ? refuse(ret_error, r, "%s: %s", options->paths[0], error_text(r)) : 0;
        }
        linked_tree_done(&topics->tree);
        topics->tree = (struct linked_tree){0};
    }
    return linked_tree_open(&topics->tree, NULL, ret_error);
}

static int read_bags(struct topics *topics)
{
    const struct cluster_options *options = topics->options;
    const uint64_t memory = memory_of(topics);
    const uint64_t of_threads = memory / 4 / TOPICS_READING_THREAD_BYTES;
    const struct target_bags_options bags = {
        .directory = options->scratch,
        .n_buckets = TARGET_BAGS_BUCKETS,
        .memory_bytes = memory / 2,
        .weighing = {.least_df = 1, .most_df_share = 1, .idf = true},
        .numbers = BAG_WHOLE,
    };
    int r = target_bags_new(&bags, &topics->bags);
    if (r == 0)
        r = topics_names_new(options->scratch, memory / 4, &topics->names);
    if (r < 0)
        return r;
    struct topics_reading reading = {
        .list = &topics->list,
        .extractors = topics->reading.extractors,
        .tree = topics->directory,
        .kind = options->bags,
        .window = options->window,
        .n_threads = of_threads < 1                          ? 1
                     : of_threads < options->batch.n_threads ? (unsigned)of_threads
                                                             : options->batch.n_threads,
        .bags = topics->bags,
        .names = topics->names,
        .progress = &topics->progress,
    };
    r = topics_reading_run(&reading);
    topics->n_unread = reading.n_unread + topics->list.n_unread;
    topics->totals.n_links = reading.n_links;
    topics->totals.n_windows = reading.n_windows;
    topics->totals.cost[TOPICS_BAGS] = (struct near_cost){
        .cpu_s = reading.cpu_s, .wall_s = reading.wall_s, .read_bytes = reading.n_bytes};
    return r;
}

/* -- signatures -- */

static int take_bag(void *user, uint64_t target, const struct bag *bag)
{
    struct topics *topics = user;
    struct bag_sketch sketch;
    const double begin_s = parallel_cpu_s();
    const int64_t document = topics_names_next(topics->names, target);
    int r = document < 0 ? (int)document : flat_sketch(topics->hash, bag, &sketch);
    if (r == 0)
        r = document == TOPICS_NO_DOCUMENT
                ? node_sketches_add(&topics->sketches, &sketch)
                : node_sketches_set(&topics->sketches, (uint32_t)document, &sketch);
    topics->sketch_cpu_s += parallel_cpu_s() - begin_s;
    return r;
}

static int open_sketches(struct topics *topics)
{
    const char *path = topics->options->batch.keep;
    if (!path)
        return node_sketches_init(topics->list.n, topics->options->scratch, &topics->sketches);
    struct scratch_file file = {0};
    int r = topics_keep_begin(&topics->keep, &file);
    if (r == 0)
        r = document_list_save(&topics->list, path);
    if (r == 0)
        r = node_sketches_init_kept(topics->list.n, &file, &topics->sketches);
    scratch_file_done(&file);
    return r;
}

/* Bags are sorted and sketched in one pass, the time of which is shared out by that of the
 * processor. */
static int sketch_bags(struct topics *topics)
{
    static const uint8_t key[SKETCH_KEY_BYTES] = {20, 00};
    struct topics_totals *totals = &topics->totals;
    const double begin_s = parallel_cpu_s();
    const int64_t begin_us = clock_now_us();
    progress_stage(&topics->progress, topics_phase_name(TOPICS_SORT_BAGS), NULL, 0);
    int r = topics_names_begin(topics->names);
    if (r == 0)
        r = flat_hash_new(key, 1, &topics->hash);
    if (r == 0)
        r = open_sketches(topics);
    if (r == 0)
        r = target_bags_finish(topics->bags, take_bag, topics, &totals->bags);
    target_bags_free(TAKE_PTR(topics->bags));
    totals->n_others = topics->sketches.n_nodes - topics->list.n;
    const double all_s = parallel_cpu_s() - begin_s;
    const double wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    const double share = all_s > 0 ? topics->sketch_cpu_s / all_s : 0;
    struct near_cost *sort = &totals->cost[TOPICS_SORT_BAGS];
    *sort =
        (struct near_cost){.cpu_s = all_s - topics->sketch_cpu_s, .wall_s = wall_s * (1 - share)};
    topics_names_cost(topics->names, &sort->written_bytes, &sort->read_bytes);
    sort->written_bytes += totals->bags.written_bytes;
    sort->read_bytes += totals->bags.read_bytes;
    totals->cost[TOPICS_SIGNATURES] = (struct near_cost){
        .cpu_s = topics->sketch_cpu_s,
        .wall_s = wall_s * share,
        .written_bytes = topics->sketches.file.written_bytes,
    };
    return r;
}

static int turn_sketches(struct topics *topics)
{
    struct near_cost *cost = &topics->totals.cost[TOPICS_SIGNATURES];
    const double begin_s = parallel_cpu_s();
    const int64_t begin_us = clock_now_us();
    const uint64_t memory = memory_of(topics), least = least_bytes(topics->sketches.n_nodes);
    int r = node_sketches_turn(&topics->sketches, topics->options->scratch, (memory - least) / 2,
                               &topics->signatures);
    cost->cpu_s += parallel_cpu_s() - begin_s;
    cost->wall_s += (double)(clock_now_us() - begin_us) * 1e-6;
    cost->read_bytes += topics->sketches.file.read_bytes;
    cost->written_bytes += topics->signatures.file.written_bytes;
    return r;
}

/* -- clusters -- */

static int find_near(struct topics *topics)
{
    const struct batch_options *batch = &topics->options->batch;
    struct topics_totals *totals = &topics->totals;
    const uint64_t in_memory =
        topics->signatures.blocks
            ? topics->signatures.n_blocks * (uint64_t)sizeof(struct signatures_block)
            : 0;
    const struct near_options near = {
        .n_draws = DRAWS,
        .k = OF_A_DRAW,
        .seed = SEED,
        .heads = HEADS,
        .n_compared = BAG_SIGNATURES,
        .least_agreeing = signatures_expected(batch->threshold, BAG_SIGNATURES),
        .memory_bytes = memory_of(topics) - in_memory,
        .n_threads = batch->n_threads,
        .scratch = topics->options->scratch,
    };
    progress_stage(&topics->progress, topics_phase_name(TOPICS_PAIRS), NULL, 0);
    int r = near_find(&topics->signatures, &near, &topics->relations, &totals->near);
    for (enum near_phase phase = 0; phase < NEAR_N_PHASES; phase++)
        totals->cost[TOPICS_PAIRS + phase] = totals->near.cost[phase];
    signatures_done(&topics->signatures);
    return r;
}

static int find_centres(struct topics *topics, uint32_t *centres, uint32_t n)
{
    struct topics_totals *totals = &topics->totals;
    const double begin_s = parallel_cpu_s();
    const int64_t begin_us = clock_now_us();
    int r = centres_scan(&topics->relations, 0, NULL, n, centres);
    for (uint32_t i = 0; r == 0 && i < n; i++)
        if (centres[i] == CENTRES_NONE)
            centres[i] = i;
    totals->cost[TOPICS_CENTER] = (struct near_cost){
        .cpu_s = parallel_cpu_s() - begin_s,
        .wall_s = (double)(clock_now_us() - begin_us) * 1e-6,
        .read_bytes = topics->relations.n * sizeof(uint64_t),
    };
    return r;
}

static char *name_of(void *user, uint32_t number, const char **ret_member)
{
    struct topics *topics = user;
    _cleanup_free_ char *name = NULL;
    bool outside;
    if (number < topics->list.n)
        return document_list_path(&topics->list, number);
    *ret_member = "target";
    if (!topics->names)
        return topics_keep_target(&topics->keep, number - topics->list.n, &name) < 0
                   ? NULL
                   : TAKE_PTR(name);
    if (topics_names_of(topics->names, number - topics->list.n, &outside, &name) < 0)
        return NULL;
    return outside ? TAKE_PTR(name) : linked_tree_path(&topics->tree, name);
}

static int print_clusters(struct topics *topics)
{
    const uint32_t n = topics->sketches.n_nodes;
    const size_t size = ((size_t)n + 1) * sizeof(uint32_t);
    uint32_t *centres = large_array_new(size);
    int r = centres ? find_centres(topics, centres, n) : -ENOMEM;
    progress_done(&topics->progress);
    if (r == 0) {
        const struct cluster_rows rows = {topics->options, n, centres, name_of, topics};
        r = cluster_rows_print(&rows, &topics->totals.printed);
    }
    large_array_free(centres, size);
    return r;
}

/* -- what is kept -- */

static int keep_names(struct topics *topics)
{
    struct topics_keep *keep = &topics->keep;
    keep->head.n_documents = topics->list.n;
    keep->head.n_nodes = topics->sketches.n_nodes;
    keep->head.n_bags = topics->totals.bags.n_bags;
    keep->head.n_unread = topics->n_unread;
    keep->head.signatures_checksum = topics->sketches.checksum;
    return topics_keep_write(keep, name_of, topics);
}

static int load_sketches(struct topics *topics, char **ret_error)
{
    const char *path = topics->options->batch.keep;
    struct node_sketches *sketches = &topics->sketches;
    int r = topics_keep_open(path, &topics->keep, &sketches->file);
    if (r == 0)
        r = document_list_load(&topics->list, path);
    if (r == -E2BIG)
        return cluster_list_explain(&topics->list, ret_error);
    const struct topics_keep_head *head = &topics->keep.head;
    if (r == 0 && topics->list.n != head->n_documents)
        r = -EUCLEAN;
    if (r < 0)
        return cluster_explain_kept(&topics->options->batch, r, ret_error);
    sketches->is_kept = true;
    sketches->n_documents = topics->list.n;
    sketches->n_nodes = (uint32_t)head->n_nodes;
    topics->totals.bags.n_bags = head->n_bags;
    topics->n_unread = (uint32_t)head->n_unread;
    topics->totals.n_others = head->n_nodes - head->n_documents;
    return 0;
}

/* -- all of it -- */

static int make_sketches(struct topics *topics, char **ret_error)
{
    int r = cluster_reading_begin(topics->options, &topics->reading, ret_error);
    if (r == 0)
        r = cluster_list_documents(topics->options, &topics->reading.documents, &topics->list,
                                   ret_error);
    if (r == 0)
        r = check_memory(topics, topics->list.n, ret_error);
    if (r == 0)
        r = open_tree(topics, ret_error);
    if (r < 0)
        return r;
    if (topics->options->batch.keep)
        r = topics_keep_take(topics->options->batch.keep, &topics->keep);
    if (r == 0)
        r = read_bags(topics);
    if (r == 0)
        r = sketch_bags(topics);
    progress_done(&topics->progress);
    if (r == -EOVERFLOW)
        return refuse(ret_error, r, "more than %d documents and targets of links; name fewer",
                      SIGNATURES_MOST);
    return r < 0 ? cluster_explain(&topics->options->batch, r, ret_error) : 0;
}

static int cluster_nodes(struct topics *topics, char **ret_error)
{
    const struct batch_options *batch = &topics->options->batch;
    const bool resumes = topics->options->resumes;
    int r = check_memory(topics, topics->sketches.n_nodes, ret_error);
    if (r < 0)
        return r;
    r = turn_sketches(topics);
    if (r == 0 && resumes && topics->sketches.checksum != topics->keep.head.signatures_checksum)
        return cluster_explain_kept(batch, -EUCLEAN, ret_error);
    if (r == 0 && batch->keep && !resumes)
        r = keep_names(topics);
    if (r == 0)
        r = find_near(topics);
    if (r == 0)
        r = print_clusters(topics);
    progress_done(&topics->progress);
    return r < 0 ? cluster_explain(batch, r, ret_error) : 0;
}

int cluster_topics(struct cluster_options *options, char **ret_error)
{
    _cleanup_(topics_free_p) struct topics *topics = calloc(1, sizeof(*topics));
    if (!topics)
        return -ENOMEM;
    topics->options = options;
    topics->list.most_bytes = options->batch.memory_bytes;
    if (options->batch.keep)
        patience_look(options->batch.keep);
    int r = cluster_options_use(options, &topics->progress, ret_error);
    if (r == 0)
        r = options->resumes ? load_sketches(topics, ret_error) : make_sketches(topics, ret_error);
    if (r == 0)
        r = cluster_nodes(topics, ret_error);
    if (r < 0)
        return r;
    topics->totals.n_documents = topics->list.n;
    if (options->costs)
        topics_costs_print(&topics->totals, options->json);
    if (topics->n_unread)
        return refuse(ret_error, -EIO, "%u of the documents could not be read", topics->n_unread);
    return topics->totals.printed.n_clusters ? 0 : -ENODATA;
}
