/* Bags are weighed, sketched, and their relations found; CENTER makes sub-topics of them. Then the
 * bags of each sub-topic are added up, and those of documents that are in none taken as they are;
 * these sums are sketched once more, and CENTER makes topics of them: clusters of clusters (section
 * 5 there), by what all members say and not the centre alone.
 */
#include "engine/index/topics/topics_finding.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/cluster/large/parallel.h"
#include "engine/index/topics/topics_private.h"
#include "engine/index/topics/weighed_bags.h"
#include "engine/topic/bags/target_bags.h"
#include "engine/topic/near/centres.h"
#include "engine/topic/near/near.h"
#include "engine/topic/near/node_sketches.h"
#include "engine/topic/weighted/flat.h"

enum { HEADS = 100, BLOCK_WORDS = 1 << 13 };
enum { NEAR_BYTES = 64 << 20, UNION_BYTES = 32 << 20 };

static const uint8_t key[SKETCH_KEY_BYTES] = {20, 00};

struct finding {
    struct topics_finding_task *task;
    struct weighed_bags bags;
    /* Weighed bags, one after the other, in blocks: of each its number, how many words it has, and
     * these with their weights, in the bits that a word leaves free. A zero ends a block */
    struct scratch_file file;
    uint32_t n_blocks, n_waiting;
    uint64_t waiting[BLOCK_WORDS];
    struct flat_hash *hash;
    struct node_sketches sketches;
    struct signatures signatures;
    struct relations relations;
    uint32_t *units; /* the first documents of what is clustered in the second round */
    uint32_t n_units;
};

static void finding_free(struct finding *finding)
{
    if (!finding)
        return;
    scratch_file_done(&finding->file);
    flat_hash_free(finding->hash);
    node_sketches_done(&finding->sketches);
    signatures_done(&finding->signatures);
    relations_done(&finding->relations);
    free(finding->units);
    free(finding);
}
DEFINE_CLEANUP(struct finding *, finding_free);

/* -- bags -- */

static int write_block(struct finding *finding)
{
    const size_t size = sizeof(finding->waiting);
    const uint64_t at = scratch_file_reserve(&finding->file, size);
    if (finding->n_waiting < BLOCK_WORDS)
        finding->waiting[finding->n_waiting] = 0;
    finding->n_waiting = 0;
    finding->n_blocks++;
    return scratch_file_write(&finding->file, at, finding->waiting, size);
}

static int keep_bag(struct finding *finding, uint32_t number, const struct bag *bag)
{
    int r = finding->n_waiting + 1 + bag->n_words > BLOCK_WORDS ? write_block(finding) : 0;
    uint64_t *at = finding->waiting + finding->n_waiting;
    *at++ = (uint64_t)number << 32 | bag->n_words;
    for (uint32_t i = 0; i < bag->n_words; i++)
        *at++ = bag->words[i].word | (uint64_t)bag->words[i].weight;
    finding->n_waiting += 1 + bag->n_words;
    return r;
}

static int take_row(void *user, uint64_t sid)
{
    struct finding *finding = user;
    return number_vector_push(&finding->task->sids, sid);
}

static int sketch_node(struct finding *finding, uint32_t node, const struct bag *bag)
{
    struct bag_sketch sketch;
    int r = flat_sketch(finding->hash, bag, &sketch);
    return r < 0 ? r : node_sketches_set(&finding->sketches, node, &sketch);
}

static int take_bag(void *user, uint64_t sid, const struct bag *bag)
{
    struct finding *finding = user;
    const size_t number = number_vector_place(&finding->task->sids, sid);
    if (number == SIZE_MAX) /* it is gone, and others spoke of it */
        return 0;
    int r = keep_bag(finding, (uint32_t)number, bag);
    return r < 0 ? r : sketch_node(finding, (uint32_t)number, bag);
}

/* What others say is of the epoch that is read. */
static int read_kind(struct kv *kv, enum topics_kind *ret_kind, uint32_t *ret_epoch)
{
    struct topics_epoch epoch;
    uint64_t kind;
    int r = optional_tables_read(kv, &topics_tables, &kind);
    if (r == 0)
        r = topics_read_epoch(kv, &epoch);
    *ret_kind = (enum topics_kind)kind;
    *ret_epoch = epoch.epoch;
    return r;
}

static int read_bags(struct finding *finding)
{
    const struct topics_finding_task *task = finding->task;
    enum topics_kind kind;
    uint32_t epoch;
    int r = read_kind(task->kv, &kind, &epoch);
    if (r < 0)
        return r;
    finding->bags = (struct weighed_bags){.kind = kind,
                                          .kv = task->kv,
                                          .anchors = task->kv,
                                          .epoch = epoch,
                                          .scratch = task->scratch,
                                          .stop = task->stop,
                                          .row = take_row,
                                          .bag = take_bag,
                                          .user = finding};
    r = weighed_bags_begin(&finding->bags);
    if (r == 0 && finding->task->sids.n_numbers > SIGNATURES_MOST)
        r = -E2BIG;
    if (r == 0)
        r = scratch_file_open(task->scratch, &finding->file);
    if (r == 0)
        r = flat_hash_new(key, 1, &finding->hash);
    if (r == 0)
        r = node_sketches_init((uint32_t)finding->task->sids.n_numbers, task->scratch,
                               &finding->sketches);
    if (r == 0)
        r = weighed_bags_each(&finding->bags);
    return r < 0 ? r : write_block(finding);
}

/* -- clusters of what is sketched -- */

static int find_centres(struct finding *finding, double resemblance, uint32_t n, uint32_t *centres)
{
    const char *scratch = finding->task->scratch;
    struct near_totals totals;
    const struct near_options options = {
        .n_draws = TOPICS_DRAWS,
        .k = TOPICS_OF_A_DRAW,
        .seed = TOPICS_SEED,
        .heads = HEADS,
        .n_compared = BAG_SIGNATURES,
        .least_agreeing = signatures_expected(resemblance, BAG_SIGNATURES),
        .memory_bytes = near_least_bytes(n) + NEAR_BYTES,
        .n_threads = 1,
        .scratch = scratch,
        .stop = finding->task->stop,
    };
    int r = node_sketches_turn(&finding->sketches, scratch, NEAR_BYTES, &finding->signatures);
    node_sketches_done(&finding->sketches);
    finding->sketches = (struct node_sketches){0};
    if (r == 0)
        r = near_find(&finding->signatures, &options, &finding->relations, &totals);
    signatures_done(&finding->signatures);
    finding->signatures = (struct signatures){0};
    if (r == 0)
        r = centres_by_degree(&finding->relations, n, centres);
    relations_done(&finding->relations);
    finding->relations = (struct relations){0};
    return r == -ECANCELED ? -ESHUTDOWN : r;
}

/* A group is told by the smallest of its numbers. */
static int name_groups(uint32_t *centres, uint32_t n)
{
    _cleanup_free_ uint32_t *smallest = malloc(((size_t)n + 1) * sizeof(*smallest));
    if (!smallest)
        return -ENOMEM;
    memset(smallest, 0xff, ((size_t)n + 1) * sizeof(*smallest));
    for (uint32_t i = 0; i < n; i++) {
        if (centres[i] == CENTRES_NONE)
            centres[i] = i;
        if (smallest[centres[i]] == UINT32_MAX)
            smallest[centres[i]] = i;
    }
    for (uint32_t i = 0; i < n; i++)
        centres[i] = smallest[centres[i]];
    return 0;
}

static int find_subtopics(struct finding *finding)
{
    const uint32_t n = (uint32_t)finding->task->sids.n_numbers;
    uint32_t *groups = calloc((size_t)n + 1, sizeof(*groups));
    finding->task->subtopics = groups;
    int r = groups ? find_centres(finding, SUBTOPICS_RESEMBLANCE, n, groups) : -ENOMEM;
    return r < 0 ? r : name_groups(groups, n);
}

/* -- sums -- */

/* Units are numbered by their first documents. */
static int number_units(struct finding *finding)
{
    const uint32_t n = (uint32_t)finding->task->sids.n_numbers;
    finding->units = calloc((size_t)n + 1, sizeof(*finding->units));
    if (!finding->units)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (finding->task->subtopics[i] == i)
            finding->units[finding->n_units++] = i;
    return 0;
}

static uint32_t unit_of(const struct finding *finding, uint32_t first)
{
    uint32_t least = 0, most = finding->n_units;
    while (most - least > 1) {
        const uint32_t middle = least + (most - least) / 2;
        if (finding->units[middle] <= first)
            least = middle;
        else
            most = middle;
    }
    return least;
}

static uint64_t unit_target(const struct finding *finding, uint32_t number)
{
    return target_of_number(unit_of(finding, finding->task->subtopics[number]) + 1);
}

static int add_block(struct finding *finding, uint32_t block, struct target_bags *sums)
{
    struct bag_word words[BAG_SUM];
    const uint64_t *at = finding->waiting, *end = at + BLOCK_WORDS;
    int r = scratch_file_read(&finding->file, block * (uint64_t)sizeof(finding->waiting),
                              finding->waiting, sizeof(finding->waiting));
    while (r == 0 && at < end && *at) {
        const uint64_t number = *at >> 32;
        const struct bag bag = {words, (uint32_t)*at++};
        if (number >= finding->task->sids.n_numbers || bag.n_words > BAG_SUM)
            return -EIO; /* the disk has made it so */
        for (uint32_t i = 0; i < bag.n_words; i++, at++)
            words[i] = (struct bag_word){*at & ~(uint64_t)0xff, (double)(*at & 0xff)};
        r = parallel_told(finding->task->stop)
                ? -ESHUTDOWN
                : target_bags_add(sums, unit_target(finding, (uint32_t)number), &bag);
    }
    return r;
}

static int take_sum(void *user, uint64_t target, const struct bag *bag)
{
    return sketch_node(user, (uint32_t)number_of_target(target) - 1, bag);
}

static int add_up(struct finding *finding)
{
    _cleanup_(target_bags_free_p) struct target_bags *sums = NULL;
    struct target_bags_counts counts;
    const struct target_bags_options options = {.directory = finding->task->scratch,
                                                .n_buckets = TARGET_BAGS_BUCKETS,
                                                .memory_bytes = UNION_BYTES,
                                                .weighing = {.most_df_share = 1},
                                                .numbers = BAG_REAL,
                                                .stop = finding->task->stop};
    int r = number_units(finding);
    flat_hash_free(TAKE_PTR(finding->hash));
    if (r == 0)
        r = flat_hash_new(key, TOPICS_SUM_SCALE, &finding->hash);
    if (r == 0)
        r = node_sketches_init(finding->n_units, finding->task->scratch, &finding->sketches);
    if (r == 0)
        r = target_bags_new(&options, &sums);
    for (uint32_t i = 0; r == 0 && i < finding->n_blocks; i++)
        r = add_block(finding, i, sums);
    if (r == 0)
        r = target_bags_finish(sums, take_sum, finding, &counts);
    return r == -ECANCELED ? -ESHUTDOWN : r;
}

static int find_topics(struct finding *finding)
{
    struct topics_finding_task *task = finding->task;
    const uint32_t n = (uint32_t)finding->task->sids.n_numbers;
    int r = add_up(finding);
    _cleanup_free_ uint32_t *centres = calloc((size_t)finding->n_units + 1, sizeof(*centres));
    task->topics = calloc((size_t)n + 1, sizeof(*task->topics));
    if (r == 0 && (!centres || !task->topics))
        r = -ENOMEM;
    if (r == 0)
        r = find_centres(finding, TOPICS_RESEMBLANCE, finding->n_units, centres);
    if (r == 0)
        r = name_groups(centres, finding->n_units);
    /* Units are in the order of their first documents, so the smallest unit has the smallest. */
    for (uint32_t i = 0; r == 0 && i < n; i++)
        task->topics[i] = finding->units[centres[unit_of(finding, task->subtopics[i])]];
    return r;
}

int topics_find(struct topics_finding_task *task)
{
    _cleanup_(finding_free_p) struct finding *finding = calloc(1, sizeof(*finding));
    if (!finding)
        return -ENOMEM;
    finding->task = task;
    int r = read_bags(finding);
    if (r == 0)
        r = find_subtopics(finding);
    if (r == 0)
        r = find_topics(finding);
    return r == -ESTALE ? -EAGAIN : r; /* the store was opened anew */
}

void topics_finding_done(struct topics_finding_task *task)
{
    number_vector_done(&task->sids);
    free(task->topics);
    free(task->subtopics);
    task->topics = task->subtopics = NULL;
}
