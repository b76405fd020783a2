/* How fast documents become sketches, and sketches estimates, on one core.
 *
 *   bench_sketch FILE...    files are read into memory first, each is one document
 *
 * Prints, for plain text and HTML files apart, MB/s of all that is done (canonicalise,
 * fingerprints, sketch; bench_text has the first alone) and documents a second; and pairs a second
 * of the estimates between neighbouring documents. Each figure is the best of three passes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sketch/document_sketch.h"
#include "tests/bench/documents.h"

enum { PASSES = 3, FEED_BYTES = 128 * 1024 };

struct document {
    uint8_t *bytes;
    size_t size_bytes;
    struct min_sketch sketch;
};

struct corpus {
    const char *name;
    struct document *documents;
    size_t n, size_bytes;
};

static double time_sketch(struct corpus *corpus, struct document_sketcher *sketcher, bool keep)
{
    double begin = thread_seconds();
    for (size_t i = 0; i < corpus->n; i++) {
        struct document *document = &corpus->documents[i];
        struct document_sketch sketch;
        document_sketcher_begin(sketcher);
        for (size_t at = 0; at < document->size_bytes; at += FEED_BYTES) {
            size_t left = document->size_bytes - at;
            document_sketcher_feed(sketcher, document->bytes + at,
                                   left < FEED_BYTES ? left : FEED_BYTES);
        }
        document_sketcher_finish(sketcher, &sketch);
        if (keep && min_sketch_copy(&sketch.sketch, &document->sketch) < 0)
            exit(1);
    }
    return thread_seconds() - begin;
}

static void bench_documents(struct corpus *corpus, struct document_sketcher *sketcher)
{
    double all = 1e9;
    if (corpus->n == 0)
        return;
    for (int pass = 0; pass < PASSES; pass++) {
        double seconds = time_sketch(corpus, sketcher, pass == 0);
        all = seconds < all ? seconds : all;
    }
    double mb = (double)corpus->size_bytes / 1e6;
    printf("%-5s %8zu documents %9.1f MB | sketch %6.0f MB/s %8.0f documents/s\n", corpus->name,
           corpus->n, mb, mb / all, (double)corpus->n / all);
}

static void bench_estimates(const struct corpus *corpus)
{
    double best[2] = {1e9, 1e9}, sum = 0;
    if (corpus->n < 2)
        return;
    size_t rounds = 1 + 200000 / corpus->n;
    for (int pass = 0; pass < PASSES; pass++) {
        for (int early = 0; early < 2; early++) {
            double begin = thread_seconds();
            for (size_t i = 0; i < rounds * (corpus->n - 1); i++) {
                const struct min_sketch *a = &corpus->documents[i % (corpus->n - 1)].sketch;
                const struct min_sketch *b = &corpus->documents[i % (corpus->n - 1) + 1].sketch;
                struct estimate estimate = {0};
                if (early)
                    min_sketch_reaches(a, b, 0.5, &estimate);
                else
                    min_sketch_resemblance(a, b, &estimate);
                sum += estimate.value;
            }
            double seconds = thread_seconds() - begin;
            best[early] = seconds < best[early] ? seconds : best[early];
        }
    }
    double n = (double)rounds * (double)(corpus->n - 1);
    printf("%-5s %8.1f M estimates/s | %8.1f M threshold decisions/s | mean %.3f\n", corpus->name,
           n / best[0] / 1e6, n / best[1] / 1e6, sum / (n * 2 * PASSES));
}

int main(int argc, char **argv)
{
    struct corpus corpora[] = {{"text"}, {"html"}};
    struct policy policy;
    struct shingle_hash *hash;
    struct document_sketcher *sketcher;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_sketch FILE...\n");
        return 2;
    }
    if (policy_preset("default", &policy) < 0 || shingle_hash_new(&policy, &hash) < 0 ||
        document_sketcher_new(&policy, hash, &sketcher) < 0)
        return 1;

    for (size_t i = 0; i < 2; i++)
        corpora[i].documents = calloc((size_t)argc, sizeof(struct document));
    for (int i = 1; i < argc; i++) {
        struct document document = {0};
        if (!document_load(argv[i], &document.bytes, &document.size_bytes))
            continue;
        enum text_type type = text_type_sniff(document.bytes, document.size_bytes);
        if (type == TEXT_BINARY || type == TEXT_PDF || type == TEXT_OFFICE) {
            free(document.bytes);
            continue;
        }
        struct corpus *corpus = &corpora[type == TEXT_HTML];
        corpus->documents[corpus->n++] = document;
        corpus->size_bytes += document.size_bytes;
    }
    bench_documents(&corpora[0], sketcher);
    bench_documents(&corpora[1], sketcher);
    for (size_t i = 0; i < 2; i++)
        bench_estimates(&corpora[i]);

    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < corpora[i].n; j++) {
            min_sketch_done(&corpora[i].documents[j].sketch);
            free(corpora[i].documents[j].bytes);
        }
        free(corpora[i].documents);
    }
    document_sketcher_free(sketcher);
    shingle_hash_free(hash);
    return 0;
}
