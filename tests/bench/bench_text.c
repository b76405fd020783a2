/* How fast documents become canonical tokens, on one core, with the kernel in use.
 *
 *   bench_text FILE...    files are read into memory first, each is one document
 *
 * Prints a line of tab separated fields for ASCII text, other text, HTML, roff and mail: kernel,
 * what, bytes, tokens, and MB/s of canonicalising, of memcpy and of XXH3 over the same bytes, piece
 * by piece: what reading them at all takes. Each figure is the best of as many passes as there is
 * time for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/kernel.h"
#include "engine/text/canon.h"
#include "tests/bench/clock.h"
#include "tests/bench/documents.h"

enum { PASSES = 5, PIECE_BYTES = 128 * 1024 };

static uint8_t piece[PIECE_BYTES];

static void count_tokens(void *user, const struct token_block *block)
{
    *(size_t *)user += block->n_tokens;
}

static void ignore_features(void *user, const struct feature *features, size_t n_features)
{
    (void)user;
    (void)features;
    (void)n_features;
}

static void canonicalise(struct kind *kind)
{
    static struct canon *canon;
    static size_t n_tokens;
    if (!canon &&
        canon_new(&(struct canon_sink){count_tokens, ignore_features, &n_tokens}, &canon) < 0)
        exit(1);
    n_tokens = 0;
    for (size_t i = 0; i < kind->n; i++) {
        const struct document *document = &kind->documents[i];
        canon_begin_as(canon, kind->type);
        for (size_t at = 0; at < document->size_bytes; at += PIECE_BYTES) {
            size_t left = document->size_bytes - at;
            canon_feed(canon, document->bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES);
        }
        struct text_form form;
        canon_finish(canon, &form);
    }
    kind->n_tokens = n_tokens;
}

static void copy(struct kind *kind)
{
    for (size_t i = 0; i < kind->n; i++) {
        const struct document *document = &kind->documents[i];
        for (size_t at = 0; at < document->size_bytes; at += PIECE_BYTES) {
            size_t left = document->size_bytes - at;
            memcpy(piece, document->bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES);
            __asm__ volatile("" ::"r"(piece) : "memory");
        }
    }
}

static void hash(struct kind *kind)
{
    for (size_t i = 0; i < kind->n; i++) {
        const struct document *document = &kind->documents[i];
        for (size_t at = 0; at < document->size_bytes; at += PIECE_BYTES) {
            size_t left = document->size_bytes - at;
            XXH64_hash_t value =
                XXH3_64bits(document->bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES);
            __asm__ volatile("" ::"r"(value));
        }
    }
}

static double mb_a_second(void (*what)(struct kind *kind), struct kind *kind)
{
    double best = 1e9;
    for (int pass = 0; pass < PASSES; pass++) {
        double begin = clock_thread_s();
        what(kind);
        double seconds = clock_thread_s() - begin;
        best = seconds < best ? seconds : best;
    }
    return (double)kind->size_bytes / 1e6 / best;
}

int main(int argc, char **argv)
{
    struct kind kinds[BENCH_N_KINDS];
    if (argc < 2) {
        fprintf(stderr, "usage: bench_text FILE...\n");
        return 2;
    }
    kinds_load(kinds, argv + 1, (size_t)argc - 1);
    for (size_t i = 0; i < BENCH_N_KINDS; i++) {
        struct kind *kind = &kinds[i];
        if (kind->n > 0) {
            double canonical = mb_a_second(canonicalise, kind);
            printf("%s\t%s\t%zu\t%zu\t%.0f\t%.0f\t%.0f\n", kernel_name(kernel_in_use()), kind->name,
                   kind->size_bytes, kind->n_tokens, canonical, mb_a_second(copy, kind),
                   mb_a_second(hash, kind));
        }
    }
    kinds_done(kinds);
    return 0;
}
