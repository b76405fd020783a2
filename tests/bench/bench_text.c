/* How fast documents become canonical tokens, on one core, with the kernel in use.
 *
 *   bench_text FILE...          files are read into memory first, each is one document
 *   bench_text --each FILE...   each file by itself and as it comes, whatever it is, packed or not:
 *                               a line of kernel, form, bytes, tokens, features and MB/s
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

static struct found {
    size_t n_tokens, n_features;
    struct text_form form; /* of the last */
} found;

static void count_tokens(void *user, const struct token_block *block)
{
    ((struct found *)user)->n_tokens += block->n_tokens;
}

static void count_features(void *user, const struct feature *features, size_t n_features)
{
    (void)features;
    ((struct found *)user)->n_features += n_features;
}

static void feed_all(struct kind *kind, bool as_it_comes)
{
    static const struct digest_key key;
    static struct canon *canon;
    if (!canon && canon_new(&(struct canon_sink){.tokens = count_tokens,
                                                 .features = count_features,
                                                 .user = &found,
                                                 .key = &key},
                            &canon) < 0)
        exit(1);
    found = (struct found){0};
    for (size_t i = 0; i < kind->n; i++) {
        const struct document *document = &kind->documents[i];
        if (as_it_comes)
            canon_begin(canon);
        else
            canon_begin_as(canon, kind->type);
        for (size_t at = 0; at < document->size_bytes; at += PIECE_BYTES) {
            size_t left = document->size_bytes - at;
            canon_feed(canon, document->bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES);
        }
        canon_finish(canon, &found.form);
    }
    kind->n_tokens = found.n_tokens;
}

static void canonicalise(struct kind *kind)
{
    feed_all(kind, false);
}

static void canonicalise_as_it_comes(struct kind *kind)
{
    feed_all(kind, true);
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

static int measure_each(char **paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct document document;
        char form[TEXT_FORM_MAX_BYTES];
        if (!document_load(paths[i], &document)) {
            fprintf(stderr, "bench_text: %s: cannot be read\n", paths[i]);
            return 1;
        }
        struct kind kind = {.documents = &document, .n = 1, .size_bytes = document.size_bytes};
        double canonical = mb_a_second(canonicalise_as_it_comes, &kind);
        text_form_print(&found.form, form);
        printf("%s\t%s\t%zu\t%zu\t%zu\t%.1f\n", kernel_name(kernel_in_use()), form, kind.size_bytes,
               found.n_tokens, found.n_features, canonical);
        free(document.bytes);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct kind kinds[BENCH_N_KINDS];
    if (argc < 2) {
        fprintf(stderr, "usage: bench_text [--each] FILE...\n");
        return 2;
    }
    if (strcmp(argv[1], "--each") == 0)
        return measure_each(argv + 2, (size_t)argc - 2);
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
