/* How fast documents become sketches, and sketches estimates, on one core, with the kernel in use.
 *
 *   bench_sketch FILE...    files are read into memory first, each is one document
 *
 * Prints lines of tab separated fields, for ASCII text, other text, HTML, roff and mail:
 *   sketch  kernel  what  bytes  tokens  documents  MB/s of all that is done, of memcpy, of XXH3
 *   stage   kernel  what  ns a token: canonical form, fingerprints of tokens, of windows, all
 *   parities  kernel  what  MB/s of 1 MiB in memory to its Hamming sketch of 500 parities, k = 10
 *   pairs   kernel  what  millions of estimates, and of decisions against 0.5, a second, between
 *                         sketches of s values
 * Each figure is the best of as many passes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/kernel.h"
#include "engine/sketch/documents/document_elements.h"
#include "engine/sketch/documents/document_sketch.h"
#include "engine/sketch/families/element_set.h"
#include "engine/sketch/families/hamming.h"
#include "tests/bench/clock.h"
#include "tests/bench/documents.h"

enum { PASSES = 5, PIECE_BYTES = 128 * 1024, SAMPLE_BLOCKS = 64, N_PAIRS = 100000 };

/* Blocks of tokens, for the stages that take these. */
struct sample {
    struct token_block blocks[SAMPLE_BLOCKS];
    size_t n_blocks, n_tokens;
};

static uint8_t piece[PIECE_BYTES];
static struct canon *canon;
static struct document_sketcher *sketcher;
static struct shingle_hash *hash;
static struct sample sample;
static size_t n_canonical;
static struct min_sketch *sketches; /* of the documents of a kind */

static void *copy_of(const void *from, size_t size_bytes, size_t slack)
{
    void *copy = calloc(1, size_bytes + slack);
    if (!copy)
        exit(1);
    return memcpy(copy, from, size_bytes);
}

static void take_tokens(void *user, const struct token_block *block)
{
    (void)user;
    n_canonical += block->n_tokens;
    if (sample.n_blocks == SAMPLE_BLOCKS)
        return;
    sample.n_tokens += block->n_tokens;
    sample.blocks[sample.n_blocks++] = (struct token_block){
        copy_of(block->bytes, block->ends[block->n_tokens - 1], TOKEN_BLOCK_SLACK_BYTES),
        copy_of(block->ends, block->n_tokens * sizeof(uint32_t), 0), block->n_tokens};
}

static void ignore_features(void *user, const struct feature *features, size_t n_features)
{
    (void)user;
    (void)features;
    (void)n_features;
}

static void drop_sample(void)
{
    for (size_t i = 0; i < sample.n_blocks; i++) {
        free((void *)sample.blocks[i].bytes);
        free((void *)sample.blocks[i].ends);
    }
    sample = (struct sample){0};
}

/* Call something with all documents, piece by piece. */
#define FOR_EACH_PIECE(kind, document, at, size)                                                   \
    for (size_t at = 0, size; at < (document)->size_bytes; at += PIECE_BYTES)                      \
        if ((size = (document)->size_bytes - at < PIECE_BYTES ? (document)->size_bytes - at        \
                                                              : PIECE_BYTES))

static void canonicalise(struct kind *kind)
{
    n_canonical = 0;
    for (size_t i = 0; i < kind->n; i++) {
        const struct document *document = &kind->documents[i];
        struct text_form form;
        canon_begin(canon);
        FOR_EACH_PIECE(kind, document, at, size)
        canon_feed(canon, document->bytes + at, size);
        canon_finish(canon, &form);
    }
    kind->n_tokens = n_canonical;
}

static void sketch(struct kind *kind)
{
    for (size_t i = 0; i < kind->n; i++) {
        const struct document *document = &kind->documents[i];
        struct document_sketch sketch;
        document_sketcher_begin(sketcher);
        FOR_EACH_PIECE(kind, document, at, size)
        document_sketcher_feed(sketcher, document->bytes + at, size);
        document_sketcher_finish(sketcher, &sketch);
        if (!sketches[i].values && min_sketch_copy(&sketch.sketch, &sketches[i]) < 0)
            exit(1);
    }
}

static void copy(struct kind *kind)
{
    for (size_t i = 0; i < kind->n; i++) {
        FOR_EACH_PIECE(kind, &kind->documents[i], at, size)
        {
            memcpy(piece, kind->documents[i].bytes + at, size);
            __asm__ volatile("" ::"r"(piece) : "memory");
        }
    }
}

static void xxh3(struct kind *kind)
{
    for (size_t i = 0; i < kind->n; i++) {
        FOR_EACH_PIECE(kind, &kind->documents[i], at, size)
        {
            XXH64_hash_t value = XXH3_64bits(kind->documents[i].bytes + at, size);
            __asm__ volatile("" ::"r"(value));
        }
    }
}

static void hash_tokens(struct kind *kind)
{
    uint64_t tokens[TOKEN_BLOCK_MAX];
    (void)kind;
    for (size_t i = 0; i < sample.n_blocks; i++)
        shingle_hash_tokens(hash, &sample.blocks[i], tokens);
}

static void hash_windows(struct kind *kind)
{
    static uint64_t tokens[TOKEN_BLOCK_MAX + POLICY_W_MAX];
    uint64_t windows[TOKEN_BLOCK_MAX];
    (void)kind;
    for (size_t i = 0; i < sample.n_blocks; i++)
        shingle_hash_windows(hash, tokens, sample.blocks[i].n_tokens, windows);
}

static double seconds(void (*what)(struct kind *kind), struct kind *kind)
{
    double best = 1e9;
    for (int pass = 0; pass < PASSES; pass++) {
        double begin = clock_thread_s();
        what(kind);
        double taken = clock_thread_s() - begin;
        best = taken < best ? taken : best;
    }
    return best;
}

static void bench_documents(struct kind *kind)
{
    const char *kernel = kernel_name(kernel_in_use());
    double canonical = seconds(canonicalise, kind), all = seconds(sketch, kind);
    double megabytes = (double)kind->size_bytes / 1e6, ns = 1e9 / (double)kind->n_tokens;
    double ns_sample = 1e9 / (double)sample.n_tokens;
    printf("sketch\t%s\t%s\t%zu\t%zu\t%zu\t%.0f\t%.0f\t%.0f\n", kernel, kind->name,
           kind->size_bytes, kind->n_tokens, kind->n, megabytes / all,
           megabytes / seconds(copy, kind), megabytes / seconds(xxh3, kind));
    printf("stage\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\n", kernel, kind->name, canonical * ns,
           seconds(hash_tokens, kind) * ns_sample, seconds(hash_windows, kind) * ns_sample,
           all * ns);
}

static void bench_pairs(const struct kind *kind)
{
    const struct min_sketch **full = calloc(kind->n, sizeof(const struct min_sketch *));
    double best[2] = {1e9, 1e9}, sum = 0;
    size_t n = 0;
    if (!full)
        exit(1);
    for (size_t i = 0; i < kind->n; i++)
        if (sketches[i].n_values == sketches[i].s)
            full[n++] = &sketches[i];
    for (int pass = 0; n > 1 && pass < 2 * PASSES; pass++) {
        int decide = pass % 2;
        double begin = clock_thread_s();
        for (size_t i = 0; i < N_PAIRS; i++) {
            const struct min_sketch *a = full[i % n], *b = full[(i + 1 + i / n) % n];
            struct estimate estimate = {0};
            if (decide)
                min_sketch_reaches(a, b, 0.5, &estimate);
            else
                min_sketch_resemblance(a, b, &estimate);
            sum += estimate.value;
        }
        double taken = clock_thread_s() - begin;
        best[decide] = taken < best[decide] ? taken : best[decide];
    }
    __asm__ volatile("" ::"x"(sum));
    if (n > 1)
        printf("pairs\t%s\t%s\t%.1f\t%.1f\n", kernel_name(kernel_in_use()), kind->name,
               N_PAIRS / best[0] / 1e6, N_PAIRS / best[1] / 1e6);
    free(full);
}

/* -- 1 MiB of a kind to parities -- */

static int add_to_set(void *user, const uint64_t *elements, size_t n_elements)
{
    return element_set_add(user, elements, n_elements);
}

static void make_parities(int fd, const struct hamming *hamming, struct element_set *set,
                          uint64_t *parities)
{
    const uint8_t key[SKETCH_KEY_BYTES] = {1};
    element_set_clear(set);
    if (lseek(fd, 0, SEEK_SET) < 0 ||
        document_elements(fd, NULL, 5, NULL, key, false, add_to_set, set) < 0)
        exit(1);
    element_set_sort(set);
    memset(parities, 0, hamming->n_words * sizeof(*parities));
    hamming_flip(hamming, set->elements, set->n_elements, parities);
}

static void bench_parities(const struct kind *kind)
{
    enum { SIZE = 1 << 20, K = 10, T = 500 };
    const uint8_t key[SKETCH_KEY_BYTES] = {1};
    struct hamming hamming;
    struct element_set set = {0};
    uint64_t parities[(T + 63) / 64];
    size_t size = 0;
    double best = 1e9;
    int fd = memfd_create("documents", MFD_CLOEXEC);
    for (size_t i = 0; i < kind->n && size < SIZE; i++) {
        size_t left = SIZE - size, n = kind->documents[i].size_bytes;
        ssize_t written = write(fd, kind->documents[i].bytes, n < left ? n : left);
        if (written < 0)
            exit(1);
        size += (size_t)written;
    }
    if (hamming_init(&hamming, key, K, T) < 0)
        exit(1);
    for (int pass = 0; size == SIZE && pass < PASSES; pass++) {
        double begin = clock_thread_s();
        make_parities(fd, &hamming, &set, parities);
        double taken = clock_thread_s() - begin;
        best = taken < best ? taken : best;
    }
    if (size == SIZE)
        printf("parities\t%s\t%s\t%.0f\n", kernel_name(kernel_in_use()), kind->name,
               SIZE / 1e6 / best);
    element_set_done(&set);
    close(fd);
}

int main(int argc, char **argv)
{
    struct kind kinds[BENCH_N_KINDS];
    static const struct digest_key key;
    const struct canon_sink sink = {
        .tokens = take_tokens, .features = ignore_features, .key = &key};
    struct policy policy;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_sketch FILE...\n");
        return 2;
    }
    if (policy_preset("default", &policy) < 0 || shingle_hash_new(&policy, &hash) < 0 ||
        document_sketcher_new(&policy, hash, &sketcher) < 0 || canon_new(&sink, &canon) < 0)
        return 1;

    kinds_load(kinds, argv + 1, (size_t)argc - 1);
    for (size_t i = 0; i < BENCH_N_KINDS; i++) {
        sketches = calloc(kinds[i].n + 1, sizeof(*sketches));
        if (!sketches)
            return 1;
        if (kinds[i].n > 0) {
            bench_documents(&kinds[i]);
            bench_parities(&kinds[i]);
            bench_pairs(&kinds[i]);
        }
        drop_sample();
        for (size_t j = 0; j < kinds[i].n; j++)
            min_sketch_done(&sketches[j]);
        free(sketches);
    }
    kinds_done(kinds);
    canon_free(canon);
    document_sketcher_free(sketcher);
    shingle_hash_free(hash);
    return 0;
}
