/* Words with their df, and the bags of one moment (weighed_bags.h), go to one spill by words, a df
 * as an entry of sid 0, which no document has: sorted, it is what comes first of its word.
 *
 * Example: bags 3 {a 40, b 60} and 7 {a 100} give the records (a, 0, df 2), (a, 3, 40), (a, 7,
 * 100), (b, 3, 60) and, were b in another bag that it weighs nothing in, (b, 0, df 2). The rows are
 * a: 2 | 3:40 7:100 and b: 2 | 3:60.
 *
 * Cost: linear; each word of a bag is sorted three times, with 24 bytes. Left out: taking up what
 * has changed alone; a word's df changes the weights of all that have it.
 */
#include "engine/index/topics/lists_making.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "engine/cluster/large/parallel.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"
#include "engine/index/tables/word_lists.h"
#include "engine/index/topics/anchors_making.h"
#include "engine/index/topics/weighed_bags.h"
#include "engine/topic/bags/record_sort.h"
#include "engine/topic/bags/target_bags.h"

enum { PARTITIONS = TARGET_BAGS_WORD_PARTITIONS, ANCHORS_BYTES = 32 << 20 };

struct lists_making {
    struct lists_making_task *task;
    const bool *stop;
    struct kv *snapshot;
    struct weighed_bags bags;
    struct record_sort sort; /* the rows, on their way to the store */
    uint64_t word;           /* of the row, as is: */
    uint32_t part;
    uint64_t last_sid;
    uint8_t key[WORD_LISTS_KEY_BYTES], value[WORD_LISTS_VALUE_MAX_BYTES];
};

static void parts_done(struct lists_making *making)
{
    if (making->snapshot)
        kv_close(making->snapshot);
    record_sort_done(&making->sort);
}

static int is_stopped(void *user)
{
    const struct lists_making *making = user;
    return parallel_told(making->stop) ? -ESHUTDOWN : 0;
}

/* -- records by words -- */

static int add_record(struct lists_making *making, uint64_t word, uint64_t sid, double weight)
{
    const struct target_record record = {word, sid, weight};
    const uint32_t partition = (uint32_t)((unsigned __int128)word * PARTITIONS >> 64);
    return record_sort_add(&making->sort, partition, &record);
}

static int take_word(void *user, uint64_t word, uint64_t df)
{
    return add_record(user, word, 0, (double)df);
}

static int take_weighed(void *user, uint64_t sid, const struct bag *bag)
{
    struct lists_making *making = user;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < bag->n_words; i++)
        r = add_record(making, bag->words[i].word, sid, bag->words[i].weight);
    return r;
}

/* -- rows -- */

/* A row is a word's df and entries, as far as they go into one part. */
static int next_row(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct lists_making *making = user;
    const struct target_record *record = NULL;
    size_t n_bytes = 0;
    int r;
    while ((r = record_sort_peek(&making->sort, is_stopped, making, &record)) > 0) {
        const bool begins = record->word == 0; /* its sid is: this is df */
        if (n_bytes && (begins || n_bytes >= WORD_LISTS_PART_BYTES))
            break;
        if (begins) {
            making->word = record->target;
            making->part = 0;
            put_be32(making->value, (uint32_t)record->weight);
            n_bytes = WORD_LISTS_DF_BYTES;
        } else {
            n_bytes += word_lists_put(making->value + n_bytes, making->last_sid, record->word,
                                      (uint8_t)record->weight);
        }
        making->last_sid = record->word;
        record_sort_pass(&making->sort);
    }
    if (r < 0 || n_bytes == 0)
        return r;
    *ret_entry = (struct kv_entry){
        .key = word_lists_key(making->key, making->task->epoch + 1, making->word, making->part++),
        .value = {making->value, n_bytes}};
    *ret_delete = false;
    making->last_sid = 0;
    return 1;
}

static int put_rows(struct lists_making *making)
{
    int r = record_sort_turn(&making->sort, weighed_bags_memory(making->bags.n_bags) / 4);
    return r < 0 ? r : kv_bulk_load(making->task->kv, TABLE_WORD_LISTS, next_row, making);
}

/* -- sweeping -- */

/* Keys of both tables begin with the epoch. */
struct sweep {
    struct lists_making *making;
    struct table_walk walk;
    uint32_t until; /* the first epoch that stays */
};

static int next_swept(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct sweep *sweep = user;
    *ret_delete = true;
    int r = is_stopped(sweep->making);
    if (r == 0)
        r = table_walk_next(&sweep->walk, ret_entry);
    if (r <= 0)
        return r;
    /* A row that has no epoch is nobody's, and goes as well. */
    return ret_entry->key.size_bytes < 4 || get_be32(ret_entry->key.data) < sweep->until;
}

static int sweep_epochs(struct lists_making *making, unsigned table, uint32_t from, uint32_t until)
{
    struct sweep sweep = {.making = making, .until = until};
    uint8_t key[4];
    put_be32(key, from);
    int r = table_walk_begin(&sweep.walk, making->task->kv, table, (struct kv_slice){key, 4});
    if (r == 0)
        r = kv_bulk_load(making->task->kv, table, next_swept, &sweep);
    table_walk_done(&sweep.walk);
    return r;
}

static int sweep_others(struct lists_making *making)
{
    static const unsigned tables[] = {TABLE_WORD_LISTS, TABLE_ANCHORS};
    const uint32_t epoch = making->task->epoch;
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
        r = sweep_epochs(making, tables[i], 0, epoch);
        if (r == 0)
            r = sweep_epochs(making, tables[i], epoch + 1, UINT32_MAX);
    }
    return r;
}

/* -- what others say -- */

static bool is_over(void *user)
{
    return is_stopped(user) < 0;
}

static int put_anchors(struct lists_making *making, struct kv *snapshot)
{
    const struct lists_making_task *task = making->task;
    const struct anchors_making_of of = {.kv = task->kv,
                                         .snapshot = snapshot,
                                         .root = task->root,
                                         .scratch = task->scratch,
                                         .epoch = task->epoch + 1,
                                         .memory_bytes = ANCHORS_BYTES,
                                         .stop = {is_over, making}};
    int r = task->kind & TOPICS_ANCHOR ? anchors_making_run(&of) : 0;
    return r == -EINTR ? -ESHUTDOWN : r;
}

/* -- all of it -- */

/* Rows of the next epoch are those of a making that was not completed. */
static int make(struct lists_making *making)
{
    int r = sweep_others(making);
    if (r == 0)
        r = kv_snapshot(making->task->kv, &making->snapshot);
    if (r == 0)
        r = put_anchors(making, making->snapshot);
    if (r < 0)
        return r == -ESTALE ? -EAGAIN : r; /* the store was opened anew */
    making->bags = (struct weighed_bags){.kind = making->task->kind,
                                         .kv = making->snapshot,
                                         .anchors = making->task->kv,
                                         .epoch = making->task->epoch + 1,
                                         .scratch = making->task->scratch,
                                         .stop = making->stop,
                                         .word = take_word,
                                         .bag = take_weighed,
                                         .user = making};
    r = weighed_bags_begin(&making->bags);
    making->task->n_bags = making->bags.n_bags;
    const size_t memory_bytes = weighed_bags_memory(making->bags.n_bags);
    if (r == 0)
        r = record_sort_begin(&making->sort, making->task->scratch, PARTITIONS, memory_bytes / 8,
                              memory_bytes / 4);
    if (r == 0)
        r = weighed_bags_each(&making->bags);
    return r < 0 ? r : put_rows(making);
}

int lists_making_work(void *user, const bool *stop)
{
    struct lists_making_task *task = user;
    _cleanup_free_ struct lists_making *making = calloc(1, sizeof(*making));
    if (!making)
        return -ENOMEM;
    making->task = task;
    making->stop = stop;
    int r = task->sweeps ? sweep_others(making) : make(making);
    parts_done(making);
    return r;
}
