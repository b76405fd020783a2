/* What bags cost (the phases "bag generation" and "bag sorting" of Haveliwala, Gionis and Indyk
 * 2000).
 *
 *   bench_bags FILE...            files are read into memory first: a line of what kind, bytes,
 *                                 tokens, words, windows, and MB/s of one core
 *   bench_bags N [MIB] [BUCKETS]  N fragments of 16 words, of N / 4 targets: a line of fragments,
 *                                 targets, bags, MiB of memory, of files, and CPU seconds of adding
 *                                 and of the rest; below $TMPDIR or /tmp
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "engine/topic/bags/bag_document.h"
#include "engine/topic/bags/target_bags.h"
#include "tests/bench/clock.h"
#include "tests/bench/documents.h"

enum { PASSES = 5, FRAGMENT_WORDS = 16 };

static uint64_t n_windows;

static uint64_t target_of(void *user, const char *href, size_t href_bytes)
{
    (void)user;
    return 1 + (href_bytes ? (unsigned char)href[0] : 0);
}

static void take_window(void *user, uint64_t target, const struct bag *fragment)
{
    (void)user;
    (void)target;
    n_windows += fragment->n_words > 0;
}

static void read_kind(struct kind *kind, struct bag_document *document, struct canon *canon)
{
    uint64_t n_tokens = 0, n_words = 0;
    double best = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        double begin = clock_thread_s();
        n_tokens = n_words = n_windows = 0;
        for (size_t i = 0; i < kind->n; i++) {
            struct text_form form;
            struct bag content, title;
            struct bag_document_counts counts;
            bag_document_begin(document, BAG_NO_TARGET);
            canon_begin_as(canon, kind->type);
            canon_feed(canon, kind->documents[i].bytes, kind->documents[i].size_bytes);
            canon_finish(canon, &form);
            if (bag_document_finish(document, &content, &title, &counts) < 0)
                exit(1);
            n_tokens += counts.n_tokens;
            n_words += counts.n_words;
            bag_done(&content);
            bag_done(&title);
        }
        double took = clock_thread_s() - begin;
        best = pass == 0 || took < best ? took : best;
    }
    printf("%s\t%zu\t%llu\t%llu\t%llu\t%.0f\n", kind->name, kind->size_bytes,
           (unsigned long long)n_tokens, (unsigned long long)n_words, (unsigned long long)n_windows,
           (double)kind->size_bytes / 1e6 / best);
}

static int read_files(char **paths, size_t n)
{
    static struct kind kinds[BENCH_N_KINDS];
    const struct bag_document_sink sink = {target_of, take_window, NULL, NULL};
    struct policy policy;
    struct shingle_hash *hash;
    struct bag_document *document;
    struct canon *canon;
    if (policy_preset("default", &policy) < 0 || shingle_hash_new(&policy, &hash) < 0)
        return 1;
    const struct bag_document_options options = {.words = bag_words_default(),
                                                 .hash = hash,
                                                 .before = BAG_WINDOW_TOKENS,
                                                 .after = BAG_WINDOW_TOKENS,
                                                 .most_words = 1 << 20};
    if (bag_document_new(&options, &sink, &document) < 0)
        return 1;
    const struct canon_sink to = bag_document_sink(document);
    if (canon_new(&to, &canon) < 0)
        return 1;
    kinds_load(kinds, paths, n);
    for (size_t i = 0; i < BENCH_N_KINDS; i++)
        if (kinds[i].n > 0)
            read_kind(&kinds[i], document, canon);
    kinds_done(kinds);
    canon_free(canon);
    bag_document_free(document);
    shingle_hash_free(hash);
    return 0;
}

static int take_bag(void *user, uint64_t target, const struct bag *bag)
{
    *(uint64_t *)user ^= target + bag->n_words;
    return 0;
}

/* Words by a law of many rare and few frequent ones: the product of two uniform numbers. */
static int plant(uint64_t n_fragments, size_t memory_bytes, uint32_t n_buckets)
{
    const char *directory = getenv("TMPDIR");
    const struct target_bags_options options = {
        .directory = directory ? directory : "/tmp",
        .n_buckets = n_buckets,
        .memory_bytes = memory_bytes,
        .weighing = {.least_df = 2, .most_df_share = .5, .idf = true}};
    struct target_bags *bags;
    struct target_bags_counts counts;
    uint64_t x = 1, words[FRAGMENT_WORDS], seen = 0;
    int r = target_bags_new(&options, &bags);
    double begin = clock_process_s();
    for (uint64_t i = 0; r == 0 && i < n_fragments; i++) {
        struct bag fragment;
        for (unsigned j = 0; j < FRAGMENT_WORDS; j++)
            words[j] = mix64((mix64_next(&x) >> 44) * (mix64_next(&x) >> 44) >> 20);
        r = bag_count(words, FRAGMENT_WORDS, &fragment);
        if (r == 0)
            r = target_bags_add(bags, mix64(mix64_next(&x) % (n_fragments / 4 + 1)), &fragment);
        bag_done(&fragment);
    }
    double added = clock_process_s();
    if (r == 0)
        r = target_bags_finish(bags, take_bag, &seen, &counts);
    if (r < 0) {
        fprintf(stderr, "bench_bags: %s\n", strerror(-r));
        return 1;
    }
    printf("%llu\t%llu\t%llu\t%zu\t%llu\t%.2f\t%.2f\n", (unsigned long long)n_fragments,
           (unsigned long long)counts.n_targets, (unsigned long long)counts.n_bags,
           memory_bytes >> 20, (unsigned long long)counts.most_file_bytes >> 20, added - begin,
           clock_process_s() - added);
    target_bags_free(bags);
    return 0;
}

int main(int argc, char **argv)
{
    char *end;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_bags FILE...\n       bench_bags N [MIB] [BUCKETS]\n");
        return 2;
    }
    uint64_t n = strtoull(argv[1], &end, 10);
    if (*end != '\0')
        return read_files(argv + 1, (size_t)argc - 1);
    return plant(n, (argc > 2 ? strtoull(argv[2], NULL, 10) : 256) << 20,
                 argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : TARGET_BAGS_BUCKETS);
}
