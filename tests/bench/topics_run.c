#include "tests/bench/topics_run.h"

#include <errno.h>
#include <pthread.h>

#include "base/clock.h"
#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"
#include "engine/cluster/large/sorted_partition.h"
#include "engine/topic/near/centres.h"
#include "engine/topic/weighted/flat.h"
#include "tests/bench/topics_graph.h"
#include "tests/bench/topics_sample.h"

enum {
    LEAST_LINKS = 3, /* of a target that is clustered */
    PAGES_AT_ONCE = 4096,
    MOST_BAG_WORDS = 4096,
    SAMPLED = 500, /* topics */
};

struct run {
    const struct topics_options *options;
    struct topics_result *result;
    struct flat_hash *hash;
    uint32_t n_targets, n_blocks, n_partitions; /* of nodes; and behind them of other targets */
    uint8_t *n_links;                           /* of a target, at most LEAST_LINKS */
    uint32_t *nodes;                            /* of targets; those of few links come behind */
    uint32_t *targets;                          /* of nodes */
    struct scratch_file file, runs;
    struct spill *words; /* node << GRAPH_WORD_BITS | word */
    struct signatures signatures;
    struct relations relations;
    size_t room_bytes;
    uint32_t next;
    struct topics_sample sample; /* whose mutex guards the following, too */
    double sketch_cpu_s;
};

static void run_done(struct run *run)
{
    flat_hash_free(run->hash);
    large_array_free(run->n_links, run->n_targets);
    large_array_free(run->nodes, run->n_targets * sizeof(uint32_t));
    large_array_free(run->targets, run->n_targets * sizeof(uint32_t));
    spill_free(run->words);
    scratch_file_done(&run->file);
    scratch_file_done(&run->runs);
    signatures_done(&run->signatures);
    relations_done(&run->relations);
    sample_done(&run->sample);
}

/* The numbers of targets, what stands in no relation to their number, and near_find(). */
static uint64_t own_bytes(uint32_t n_targets)
{
    return 8 * (uint64_t)n_targets + ((uint64_t)64 << 20);
}

static uint64_t least_bytes(uint32_t n_targets)
{
    return own_bytes(n_targets) + near_least_bytes(n_targets);
}

/* -- bags -- */

static int count_links(void *user, unsigned thread, const bool *stop)
{
    struct run *run = user;
    const struct topics_options *options = run->options;
    (void)thread;
    for (uint64_t from;
         !parallel_stopped(stop) &&
         (from = parallel_next(&run->next) * (uint64_t)PAGES_AT_ONCE) < options->n_pages;)
        for (uint64_t page = from; page < from + PAGES_AT_ONCE && page < options->n_pages; page++)
            for (unsigned i = 0; i < GRAPH_LINKS; i++) {
                uint32_t target =
                    graph_link(options->seed, (uint32_t)page, i, run->n_targets).target;
                if (__atomic_load_n(&run->n_links[target], __ATOMIC_RELAXED) < LEAST_LINKS)
                    __atomic_fetch_add(&run->n_links[target], 1, __ATOMIC_RELAXED);
            }
    return 0;
}

/* Targets of enough links are the first nodes. */
static void number_nodes(struct run *run)
{
    uint32_t n_nodes = 0;
    for (unsigned few = 0; few < 2; few++) {
        for (uint32_t target = 0; target < run->n_targets; target++)
            if ((run->n_links[target] < LEAST_LINKS) == few) {
                run->targets[n_nodes] = target;
                run->nodes[target] = n_nodes++;
            }
        if (few == 0)
            run->result->n_nodes = n_nodes;
    }
    run->n_blocks = (run->result->n_nodes + SIGNATURES_BLOCK - 1) / SIGNATURES_BLOCK;
    uint32_t n_others = run->n_targets - run->result->n_nodes;
    run->n_partitions = run->n_blocks + (n_others + SIGNATURES_BLOCK - 1) / SIGNATURES_BLOCK;
}

static uint32_t partition_of(const struct run *run, uint32_t node)
{
    uint32_t n = run->result->n_nodes;
    return node < n ? node / SIGNATURES_BLOCK : run->n_blocks + (node - n) / SIGNATURES_BLOCK;
}

static int write_words(void *user, unsigned thread, const bool *stop)
{
    struct run *run = user;
    const struct topics_options *options = run->options;
    _cleanup_(spill_writer_done) struct spill_writer writer = {0};
    (void)thread;
    int r = spill_writer_init(run->words, &writer);
    for (uint64_t from;
         r == 0 && !parallel_stopped(stop) &&
         (from = parallel_next(&run->next) * (uint64_t)PAGES_AT_ONCE) < options->n_pages;)
        for (uint64_t page = from; page < from + PAGES_AT_ONCE && page < options->n_pages; page++)
            for (unsigned i = 0; r == 0 && i < GRAPH_LINKS; i++) {
                struct graph_link link =
                    graph_link(options->seed, (uint32_t)page, i, run->n_targets);
                uint32_t node = run->nodes[link.target], partition = partition_of(run, node);
                for (unsigned j = 0; r == 0 && j < GRAPH_LINK_WORDS; j++) {
                    uint64_t record = (uint64_t)node << GRAPH_WORD_BITS | graph_word(&link);
                    r = spill_add(&writer, partition, &record);
                }
            }
    return r < 0 ? r : spill_writer_flush(&writer);
}

static int make_bags(struct run *run, struct near_cost *cost)
{
    const struct topics_options *options = run->options;
    int r = parallel_run(options->n_threads, count_links, run, &cost->cpu_s);
    double begin_s = parallel_cpu_s();
    number_nodes(run);
    cost->cpu_s += parallel_cpu_s() - begin_s;
    if (r == 0)
        r = spill_new(&run->file, sizeof(uint64_t), run->n_partitions,
                      options->memory_bytes / 4 / options->n_threads, options->memory_bytes / 4,
                      &run->words);
    run->next = 0;
    if (r == 0)
        r = parallel_run(options->n_threads, write_words, run, &cost->cpu_s);
    run->result->n_words = r < 0 ? 0 : spill_count(run->words);
    cost->written_bytes = run->file.written_bytes;
    return r;
}

/* -- signatures -- */

/* A bag of sum 100: the largest remainders get what is left over. */
static void normalise(struct bag *bag, double *remainders)
{
    double sum = 0, left = 100;
    for (uint32_t i = 0; i < bag->n_words; i++)
        sum += bag->words[i].weight;
    for (uint32_t i = 0; i < bag->n_words; i++) {
        double exact = bag->words[i].weight * 100 / sum;
        bag->words[i].weight = (double)(uint32_t)exact;
        remainders[i] = exact - bag->words[i].weight;
        left -= bag->words[i].weight;
    }
    for (; left >= 0.5; left--) {
        uint32_t largest = 0;
        for (uint32_t i = 1; i < bag->n_words; i++)
            largest = remainders[i] > remainders[largest] ? i : largest;
        bag->words[largest].weight++;
        remainders[largest] = -1;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < bag->n_words; i++)
        if (bag->words[i].weight > 0)
            bag->words[n++] = bag->words[i];
    bag->n_words = n;
}

struct bag_maker {
    struct sorted_partition sorted;
    struct signatures_block *block;
    struct bag_word words[MOST_BAG_WORDS];
    double remainders[MOST_BAG_WORDS], sketch_cpu_s;
    uint32_t partition, node;
    struct bag bag;
};

static int end_bag(struct run *run, struct bag_maker *maker)
{
    struct bag_sketch sketch;
    if (maker->bag.n_words == 0)
        return 0;
    normalise(&maker->bag, maker->remainders);
    int r = 0;
    if (maker->node < run->result->n_nodes) {
        double begin_s = parallel_cpu_s();
        r = flat_sketch(run->hash, &maker->bag, &sketch);
        signatures_set(maker->block, maker->node % SIGNATURES_BLOCK, &sketch);
        maker->sketch_cpu_s += parallel_cpu_s() - begin_s;
        uint32_t topic = graph_topic(run->targets[maker->node]);
        if (r == 0 && mix64(topic) % graph_topics(run->n_targets) < SAMPLED)
            r = sample_add(&run->sample, maker->node, topic, &maker->bag);
    }
    maker->bag.n_words = 0;
    return r;
}

static int add_word(struct run *run, struct bag_maker *maker, uint64_t record)
{
    uint32_t node = (uint32_t)(record >> GRAPH_WORD_BITS);
    uint64_t word = record & (((uint64_t)1 << GRAPH_WORD_BITS) - 1);
    int r = 0;
    if (maker->bag.n_words && node != maker->node)
        r = end_bag(run, maker);
    maker->node = node;
    if (maker->bag.n_words && maker->words[maker->bag.n_words - 1].word == word)
        maker->words[maker->bag.n_words - 1].weight++;
    else if (maker->bag.n_words < MOST_BAG_WORDS)
        maker->words[maker->bag.n_words++] = (struct bag_word){word, 1};
    return r;
}

static int sketch_partition(struct run *run, struct bag_maker *maker)
{
    const void *records;
    int64_t n = 0;
    int r = 0;
    sorted_partition_begin(&maker->sorted, maker->partition);
    while (r == 0 && (n = sorted_partition_next(&maker->sorted, &records)) > 0)
        for (int64_t i = 0; r == 0 && i < n; i++)
            r = add_word(run, maker, ((const uint64_t *)records)[i]);
    r = n < 0 ? (int)n : r;
    if (r == 0)
        r = end_bag(run, maker);
    if (r == 0 && maker->partition < run->n_blocks) {
        double begin_s = parallel_cpu_s();
        r = signatures_put(&run->signatures, maker->partition, maker->block);
        maker->sketch_cpu_s += parallel_cpu_s() - begin_s;
    }
    return r;
}

static int sketch_partitions(void *user, unsigned thread, const bool *stop)
{
    struct run *run = user;
    struct bag_maker *maker = calloc(1, sizeof(*maker));
    (void)thread;
    if (!maker)
        return -ENOMEM;
    maker->bag.words = maker->words;
    maker->block = calloc(1, sizeof(*maker->block));
    int r = maker->block ? sorted_partition_init(&sorting_numbers, run->words, &run->runs,
                                                 run->room_bytes, &maker->sorted)
                         : -ENOMEM;
    while (r == 0 && !parallel_stopped(stop) &&
           (maker->partition = parallel_next(&run->next)) < run->n_partitions)
        r = sketch_partition(run, maker);
    pthread_mutex_lock(&run->sample.mutex);
    run->sketch_cpu_s += maker->sketch_cpu_s;
    pthread_mutex_unlock(&run->sample.mutex);
    sorted_partition_done(&maker->sorted);
    free(maker->block);
    free(maker);
    return r;
}

/* Sorting bags and signatures are one phase here; its time is shared out by that of processors. */
static int sketch_bags(struct run *run, struct topics_result *result)
{
    struct near_cost all = {0};
    const int64_t begin_us = clock_now_us();
    int r = signatures_init(result->n_nodes, run->options->scratch,
                            (run->options->memory_bytes - least_bytes(run->n_targets)) / 2,
                            &run->signatures);
    run->next = 0;
    run->room_bytes = run->options->memory_bytes / 8 / run->options->n_threads;
    if (r == 0)
        r = parallel_run(run->options->n_threads, sketch_partitions, run, &all.cpu_s);
    all.wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    double share = all.cpu_s > 0 ? run->sketch_cpu_s / all.cpu_s : 0;
    result->cost[TOPICS_SIGNATURES] = (struct near_cost){run->sketch_cpu_s, all.wall_s * share, 0,
                                                         run->signatures.file.written_bytes};
    result->cost[TOPICS_SORT_BAGS] =
        (struct near_cost){all.cpu_s - run->sketch_cpu_s, all.wall_s * (1 - share),
                           run->file.read_bytes + run->runs.read_bytes, run->runs.written_bytes};
    spill_end(run->words);
    return r;
}

/* -- what was found -- */

static int check(struct run *run, const uint32_t *centres)
{
    struct topics_result *result = run->result;
    for (uint32_t node = 0; node < result->n_nodes; node++) {
        result->digest = mix64(result->digest ^ centres[node]);
        if (centres[node] == CENTRES_NONE)
            continue;
        result->n_clustered++;
        result->n_centres += centres[node] == node;
        result->n_right +=
            graph_topic(run->targets[node]) == graph_topic(run->targets[centres[node]]);
    }
    return sample_check(&run->sample, &run->relations, result->pairs, result->found);
}

static int find_centres(struct run *run, struct near_cost *cost)
{
    const size_t size = ((size_t)run->result->n_nodes + 1) * sizeof(uint32_t);
    uint32_t *centres = large_array_new(size);
    if (!centres)
        return -ENOMEM;
    const uint64_t read_before = run->relations.file.read_bytes;
    const int64_t begin_us = clock_now_us();
    double begin_s = parallel_cpu_s();
    int r = centres_scan(&run->relations, 0, NULL, run->result->n_nodes, centres);
    *cost =
        (struct near_cost){parallel_cpu_s() - begin_s, (double)(clock_now_us() - begin_us) * 1e-6,
                           run->relations.file.read_bytes - read_before, 0};
    if (r == 0)
        r = check(run, centres);
    large_array_free(centres, size);
    return r;
}

static int run_init(struct run *run)
{
    static const uint8_t key[SKETCH_KEY_BYTES] = {20, 00};
    const struct topics_options *options = run->options;
    const size_t n = run->n_targets;
    run->n_links = large_array_new(n);
    run->nodes = large_array_new(n * sizeof(uint32_t));
    run->targets = large_array_new(n * sizeof(uint32_t));
    if (!run->n_links || !run->nodes || !run->targets)
        return -ENOMEM;
    int r = flat_hash_new(key, 1, &run->hash);
    if (r == 0)
        r = scratch_file_open(options->scratch, &run->file);
    return r < 0 ? r : scratch_file_open(options->scratch, &run->runs);
}

int topics_run(const struct topics_options *options, struct topics_result *ret_result)
{
    const uint32_t n_targets = options->n_pages * 3;
    *ret_result = (struct topics_result){.n_targets = n_targets};
    _cleanup_(run_done) struct run run = {.options = options,
                                          .result = ret_result,
                                          .n_targets = n_targets,
                                          .sample.mutex = PTHREAD_MUTEX_INITIALIZER};
    const int64_t begin_us = clock_now_us();
    if (options->memory_bytes < least_bytes(n_targets))
        return -E2BIG;
    int r = run_init(&run);
    if (r == 0)
        r = make_bags(&run, &ret_result->cost[TOPICS_BAGS]);
    ret_result->cost[TOPICS_BAGS].wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    if (r == 0)
        r = sketch_bags(&run, ret_result);
    if (r < 0)
        return r;
    uint64_t in_memory = run.signatures.blocks
                             ? run.signatures.n_blocks * (uint64_t)sizeof(struct signatures_block)
                             : 0;
    ret_result->signature_bytes =
        run.signatures.n_blocks * (uint64_t)sizeof(struct signatures_block);
    struct near_options near = {
        .n_draws = options->n_draws,
        .k = options->k,
        .seed = options->seed,
        .heads = options->heads,
        .n_compared = BAG_SIGNATURES,
        .least_agreeing = signatures_expected(options->threshold, BAG_SIGNATURES),
        .memory_bytes = options->memory_bytes - own_bytes(n_targets) - in_memory,
        .n_threads = options->n_threads,
        .scratch = options->scratch,
    };
    r = near_find(&run.signatures, &near, &run.relations, &ret_result->near);
    for (enum near_phase phase = 0; phase < NEAR_N_PHASES; phase++)
        ret_result->cost[TOPICS_CANDIDATES + phase] = ret_result->near.cost[phase];
    if (r == 0)
        r = find_centres(&run, &ret_result->cost[TOPICS_CENTER]);
    ret_result->all_wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    return r;
}
