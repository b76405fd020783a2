/* The bags of all that documents link to, out of fragments in any order: those of one target are
 * added up, words of few and of many bags are dropped, frequencies are weighed by how many bags
 * have a word, and each bag is made to sum to 100 (Haveliwala, Gionis and Indyk 2000, section 2.2:
 * M = 256 files by a hash of the target, each sorted in memory).
 *
 * The bags do not depend on the number of buckets, on the memory, or on the order of the
 * fragments. The memory is bounded whatever comes: a bucket that does not fit is sorted in parts.
 * Beside the given memory there is that of one bag, 16 bytes a word, and of 16 bytes for one in
 * TARGET_BAGS_WORD_PARTITIONS of all different words. One thread at a time.
 */
#ifndef KINFS_ENGINE_TOPIC_BAGS_TARGET_BAGS_H
#define KINFS_ENGINE_TOPIC_BAGS_TARGET_BAGS_H

#include "base/cleanup.h"
#include "engine/topic/bags/bag.h"

enum {
    TARGET_BAGS_BUCKETS = 256,       /* the paper's */
    TARGET_BAGS_MOST_BUCKETS = 1024, /* each takes some memory of a writer */
    TARGET_BAGS_WORD_PARTITIONS = 256,
};

struct target_bags_options {
    const char *directory; /* for files without names; borrowed until target_bags_new() returns */
    uint32_t n_buckets;    /* 1 to TARGET_BAGS_MOST_BUCKETS */
    size_t memory_bytes;   /* target_bags_least() or more */
    struct bag_weighing weighing;
    enum bag_numbers numbers;
    /* Takes each word that is not dropped, with its df, ascending, before the first bag; an error
     * ends all. NULL: not wanted */
    int (*word)(void *user, uint64_t word, uint64_t df);
    void *word_user;
    const bool *stop; /* -ECANCELED soon after it becomes true, by an atomic write; NULL: never */
};

/* The least memory for so many buckets. */
size_t target_bags_least(uint32_t n_buckets);

struct target_bags_counts {
    uint64_t n_records;                 /* words of all fragments */
    uint64_t n_targets;                 /* N: those that have a fragment with a word */
    uint64_t n_pairs;                   /* (target, word), each once: the sum of all df */
    uint64_t n_words, n_used_words;     /* different ones; and those that are not dropped */
    uint64_t n_bags, n_bag_words;       /* handed out: those in which a word is left */
    uint64_t most_file_bytes;           /* of the directory, at one time */
    uint64_t written_bytes, read_bytes; /* of files, in all */
};

struct target_bags;

/* Numbers as targets, which are to be uniform: times an odd number, modulo 2^64, they nearly are,
 * and times its inverse they are what they were. */
static inline uint64_t target_of_number(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t number_of_target(uint64_t target)
{
    return target * UINT64_C(0xf1de83e19937733d);
}

/* Returns 0, -EINVAL, -E2BIG for less memory than the least, -ENOMEM, an error of
 * scratch_file_open(); gives. */
int target_bags_new(const struct target_bags_options *options, struct target_bags **ret_bags);
void target_bags_free(struct target_bags *bags);
DEFINE_CLEANUP(struct target_bags *, target_bags_free);

/* Adds a fragment, as whole frequencies below 2^53 in all. target: a fingerprint, uniform. Returns
 * 0 or an error of scratch_file_write(). */
int target_bags_add(struct target_bags *bags, uint64_t target, const struct bag *fragment);

/* Takes a bag, which is valid during the call; its order is that of targets. Returns 0 or an error,
 * which ends it. */
typedef int (*target_bag_fn)(void *user, uint64_t target, const struct bag *bag);

/* Hands out all bags, once. Returns 0, what take returned, -ENOMEM, -EOVERFLOW for a bag of more
 * than 2^32-1 words, -ECANCELED, an error of scratch_file_read() or scratch_file_write(). Cost:
 * each record is sorted twice, and of each pair of a target and a word 8 bytes once. */
int target_bags_finish(struct target_bags *bags, target_bag_fn take, void *user,
                       struct target_bags_counts *ret_counts);

#endif
