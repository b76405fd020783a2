/* Three passes over records (target, word, weight), each dealt by a spill:
 *
 *   add      fragments by ranges of the target: buckets
 *   collapse a bucket at a time, sorted: records of one target and word are added up. How many
 *            targets there are, N, is known at the end. Dealt by the word: the records, and
 *            the words alone
 *   weigh    a partition of words at a time: the words alone, sorted, give df, a table of this
 *            partition's words; then each record has its weight or is dropped. Dealt by the target
 *            again
 *   hand out a bucket at a time, sorted: each target's bag is normalised
 *
 * Example: fragments (x: a 1, b 1), (y: a 1), (x: a 2) collapse to x {a 3, b 1} and y {a 1}. N is
 * 2, df of a 2 and of b 1; with idf a has weight 0 and is dropped, b has log 2; x is handed out as
 * {b 100}, y not at all.
 *
 * Buckets are ranges of the target, so that whatever their number the bags come in the order of
 * targets; frequencies are whole numbers, so that their sums are exact in any order.
 *
 * Cost: a record of 24 bytes is written and read three times where it does not fit into memory.
 * Left out: the table of all df in memory, which would save one of these passes and is as large as
 * a collection's vocabulary; several threads; the passes that nothing is dropped or weighed in.
 */
#include "engine/topic/bags/target_bags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster/large/parallel.h"
#include "engine/topic/bags/target_records.h"

struct word_df {
    uint64_t word, df;
};

enum { FILE_FRAGMENTS, FILE_PAIRS, FILE_WORDS, FILE_WEIGHED, FILE_RUNS, N_FILES };

/* Shares of the memory, in eighths. While fragments are collapsed, the fragments, a bucket that is
 * sorted, and two spills with a writer each have all of it. */
enum { OF_SPILL = 2, OF_ROOM = 2, OF_PART = 1, SHARES = 8 };

struct target_bags {
    struct target_bags_options options;
    struct target_bags_counts counts;
    struct scratch_use use;
    struct scratch_file files[N_FILES];
    struct spill *fragments, *pairs, *words, *weighed;
    struct spill_writer adding, dealing, dealing_words;
    struct word_df *table; /* of one partition, ascending */
    size_t n_table, most_table;
    uint8_t taken[SPILL_CHUNK_MAX_BYTES + SPILL_BEHIND_BYTES];
};

/* -- spills -- */

static size_t share(const struct target_bags *bags, size_t n)
{
    return bags->options.memory_bytes / SHARES * n;
}

size_t target_bags_least(uint32_t n_buckets)
{
    uint32_t n = n_buckets > TARGET_BAGS_WORD_PARTITIONS ? n_buckets : TARGET_BAGS_WORD_PARTITIONS;
    size_t writer = spill_least_buffer(sizeof(struct target_record), n) * SHARES / OF_PART;
    size_t room = (size_t)SORTED_LEAST_BYTES * SHARES / OF_ROOM;
    return writer > room ? writer : room;
}

/* The part of a fingerprint, of so many equal ranges. */
static uint32_t part_of(uint64_t fingerprint, uint32_t n_parts)
{
    return (uint32_t)((unsigned __int128)fingerprint * n_parts >> 64);
}

static int open_spill(struct target_bags *bags, unsigned file, size_t record_bytes,
                      uint32_t n_partitions, size_t of_memory, struct spill **ret_spill,
                      struct spill_writer *ret_writer)
{
    int r = spill_new(&bags->files[file], record_bytes, n_partitions, share(bags, OF_PART),
                      share(bags, of_memory), ret_spill);
    return r < 0 ? r : spill_writer_init(*ret_spill, ret_writer);
}

static int close_writer(struct spill_writer *writer, int r)
{
    if (r == 0)
        r = spill_writer_flush(writer);
    spill_writer_done(writer);
    return r;
}

static void close_spill(struct spill **spill)
{
    spill_end(*spill);
    spill_free(*spill);
    *spill = NULL;
}

/* -- the bag of each target -- */

/* The records of one target, as they are read. */
struct reading {
    target_bag_fn take;
    void *user;
    uint64_t target;
    struct bag bag;
    size_t most_words;
};

static int take_bag(struct reading *reading)
{
    if (reading->bag.n_words == 0)
        return 0;
    int r = reading->take(reading->user, reading->target, &reading->bag);
    reading->bag.n_words = 0;
    return r;
}

static int read_record(void *user, const void *read)
{
    struct reading *reading = user;
    const struct target_record *record = read;
    struct bag *bag = &reading->bag;
    if (bag->n_words && record->target != reading->target) {
        int r = take_bag(reading);
        if (r < 0)
            return r;
    }
    reading->target = record->target;
    if (bag->n_words && bag->words[bag->n_words - 1].word == record->word) {
        bag->words[bag->n_words - 1].weight += record->weight;
        return 0;
    }
    if (bag->n_words == UINT32_MAX)
        return -EOVERFLOW;
    if (bag->n_words == reading->most_words) {
        size_t most = reading->most_words ? 2 * reading->most_words : 256;
        struct bag_word *words = realloc(bag->words, most * sizeof(*words));
        if (!words)
            return -ENOMEM;
        bag->words = words;
        reading->most_words = most;
    }
    bag->words[bag->n_words++] = (struct bag_word){record->word, record->weight};
    return 0;
}

/* Hands out a bag of each target, in their order, and what the spill has is gone. */
static int each_bag(struct target_bags *bags, struct spill **spill, target_bag_fn take, void *user)
{
    struct sorted_partition sorted;
    struct reading reading = {.take = take, .user = user};
    int r = sorted_partition_init(&target_records_sorting, *spill, &bags->files[FILE_RUNS],
                                  share(bags, OF_ROOM), &sorted);
    if (r < 0)
        return r;
    for (uint32_t i = 0; r == 0 && i < bags->options.n_buckets; i++)
        r = parallel_told(bags->options.stop)
                ? -ECANCELED
                : sorted_partition_each(&sorted, i, read_record, &reading);
    if (r == 0)
        r = take_bag(&reading);
    bag_done(&reading.bag);
    sorted_partition_done(&sorted);
    close_spill(spill);
    return r;
}

/* -- collapse -- */

static int deal_by_word(void *user, uint64_t target, const struct bag *bag)
{
    struct target_bags *bags = user;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < bag->n_words; i++) {
        const struct bag_word *word = &bag->words[i];
        uint32_t partition = part_of(word->word, TARGET_BAGS_WORD_PARTITIONS);
        r = spill_add(&bags->dealing, partition,
                      &(struct target_record){target, word->word, word->weight});
        if (r == 0)
            r = spill_add(&bags->dealing_words, partition, &word->word);
    }
    bags->counts.n_targets++;
    bags->counts.n_pairs += bag->n_words;
    return r;
}

static int collapse(struct target_bags *bags)
{
    int r = open_spill(bags, FILE_PAIRS, sizeof(struct target_record), TARGET_BAGS_WORD_PARTITIONS,
                       OF_PART, &bags->pairs, &bags->dealing);
    if (r == 0)
        r = open_spill(bags, FILE_WORDS, sizeof(uint64_t), TARGET_BAGS_WORD_PARTITIONS, OF_PART,
                       &bags->words, &bags->dealing_words);
    if (r == 0)
        r = each_bag(bags, &bags->fragments, deal_by_word, bags);
    r = close_writer(&bags->dealing, r);
    return close_writer(&bags->dealing_words, r);
}

/* -- weigh -- */

static int table_add(void *user, const void *record)
{
    struct target_bags *bags = user;
    const uint64_t word = *(const uint64_t *)record;
    if (bags->n_table && bags->table[bags->n_table - 1].word == word) {
        bags->table[bags->n_table - 1].df++;
        return 0;
    }
    if (bags->n_table == bags->most_table) {
        size_t most = bags->most_table ? 2 * bags->most_table : 1024;
        struct word_df *table = realloc(bags->table, most * sizeof(*table));
        if (!table)
            return -ENOMEM;
        bags->table = table;
        bags->most_table = most;
    }
    bags->table[bags->n_table++] = (struct word_df){word, 1};
    return 0;
}

static int use_word(struct target_bags *bags, const struct word_df *word)
{
    const struct target_bags_options *options = &bags->options;
    if (!(bag_weight(&options->weighing, 1, word->df, bags->counts.n_targets) > 0))
        return 0;
    bags->counts.n_used_words++;
    return options->word ? options->word(options->word_user, word->word, word->df) : 0;
}

/* The df of each word of a partition. */
static int count_words(struct target_bags *bags, struct sorted_partition *sorted,
                       uint32_t partition)
{
    bags->n_table = 0;
    int r = sorted_partition_each(sorted, partition, table_add, bags);
    bags->counts.n_words += bags->n_table;
    for (size_t i = 0; r == 0 && i < bags->n_table; i++)
        r = use_word(bags, &bags->table[i]);
    return r;
}

static uint64_t df_of(const struct target_bags *bags, uint64_t word)
{
    size_t from = 0, to = bags->n_table;
    while (from + 1 < to) {
        size_t middle = from + (to - from) / 2;
        if (bags->table[middle].word <= word)
            from = middle;
        else
            to = middle;
    }
    return bags->table[from].df;
}

static int weigh_partition(struct target_bags *bags, uint32_t partition)
{
    int64_t n;
    while ((n = spill_take(bags->pairs, partition, bags->taken, sizeof(bags->taken))) > 0) {
        for (int64_t i = 0; i < n; i++) {
            struct target_record record;
            memcpy(&record, bags->taken + (size_t)i * sizeof(record), sizeof(record));
            record.weight = bag_weight(&bags->options.weighing, record.weight,
                                       df_of(bags, record.word), bags->counts.n_targets);
            if (!(record.weight > 0))
                continue;
            int r =
                spill_add(&bags->dealing, part_of(record.target, bags->options.n_buckets), &record);
            if (r < 0)
                return r;
        }
    }
    return (int)n;
}

static int weigh(struct target_bags *bags)
{
    struct sorted_partition sorted = {0};
    int r = open_spill(bags, FILE_WEIGHED, sizeof(struct target_record), bags->options.n_buckets,
                       OF_SPILL, &bags->weighed, &bags->dealing);
    if (r == 0)
        r = sorted_partition_init(&sorting_numbers, bags->words, &bags->files[FILE_RUNS],
                                  share(bags, OF_ROOM), &sorted);
    for (uint32_t i = 0; r == 0 && i < TARGET_BAGS_WORD_PARTITIONS; i++) {
        r = parallel_told(bags->options.stop) ? -ECANCELED : count_words(bags, &sorted, i);
        if (r == 0)
            r = weigh_partition(bags, i);
    }
    sorted_partition_done(&sorted);
    close_spill(&bags->words);
    close_spill(&bags->pairs);
    return close_writer(&bags->dealing, r);
}

/* -- hand out -- */

struct handing {
    struct target_bags *bags;
    target_bag_fn take;
    void *user;
};

static int hand_out(void *user, uint64_t target, const struct bag *bag)
{
    struct handing *handing = user;
    struct bag normalised = *bag; /* in the memory of the other, which is read no more */
    int r = bag_normalise(&normalised, handing->bags->options.numbers);
    if (r < 0)
        return r;
    handing->bags->counts.n_bags++;
    handing->bags->counts.n_bag_words += normalised.n_words;
    return handing->take(handing->user, target, &normalised);
}

/* -- all of it -- */

int target_bags_new(const struct target_bags_options *options, struct target_bags **ret_bags)
{
    if (options->n_buckets < 1 || options->n_buckets > TARGET_BAGS_MOST_BUCKETS)
        return -EINVAL;
    if (options->memory_bytes < target_bags_least(options->n_buckets))
        return -E2BIG;
    _cleanup_(target_bags_free_p) struct target_bags *bags = calloc(1, sizeof(*bags));
    if (!bags)
        return -ENOMEM;
    bags->options = *options;
    bags->options.directory = NULL;
    int r = 0;
    for (unsigned i = 0; r == 0 && i < N_FILES; i++) {
        r = scratch_file_open(options->directory, &bags->files[i]);
        bags->files[i].use = &bags->use;
    }
    if (r == 0)
        r = open_spill(bags, FILE_FRAGMENTS, sizeof(struct target_record), options->n_buckets,
                       OF_SPILL, &bags->fragments, &bags->adding);
    if (r < 0)
        return r;
    *ret_bags = TAKE_PTR(bags);
    return 0;
}

void target_bags_free(struct target_bags *bags)
{
    if (!bags)
        return;
    spill_writer_done(&bags->adding);
    spill_writer_done(&bags->dealing);
    spill_writer_done(&bags->dealing_words);
    spill_free(bags->fragments);
    spill_free(bags->pairs);
    spill_free(bags->words);
    spill_free(bags->weighed);
    for (unsigned i = 0; i < N_FILES; i++)
        scratch_file_done(&bags->files[i]);
    free(bags->table);
    free(bags);
}

int target_bags_add(struct target_bags *bags, uint64_t target, const struct bag *fragment)
{
    uint32_t bucket = part_of(target, bags->options.n_buckets);
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < fragment->n_words; i++)
        r = spill_add(
            &bags->adding, bucket,
            &(struct target_record){target, fragment->words[i].word, fragment->words[i].weight});
    bags->counts.n_records += fragment->n_words;
    return r;
}

int target_bags_finish(struct target_bags *bags, target_bag_fn take, void *user,
                       struct target_bags_counts *ret_counts)
{
    struct handing handing = {bags, take, user};
    int r = close_writer(&bags->adding, 0);
    if (r == 0)
        r = collapse(bags);
    if (r == 0)
        r = weigh(bags);
    if (r == 0)
        r = each_bag(bags, &bags->weighed, hand_out, &handing);
    bags->counts.most_file_bytes = bags->use.most_bytes;
    for (unsigned i = 0; i < N_FILES; i++) {
        bags->counts.written_bytes += bags->files[i].written_bytes;
        bags->counts.read_bytes += bags->files[i].read_bytes;
    }
    *ret_counts = bags->counts;
    return r;
}
