/* Clusterings beside the default one, of very many documents: what making one anew costs, the first
 * time and when nothing has changed, and what is said of a large cluster.
 *
 *   bench_clusterings DIRECTORY [N [LARGE]]
 *
 * N documents (200,000) of 5 KB come into a new index (tests/lib/documents/fileless.h): a family of
 * LARGE (10,000), half of the others in families of 10 (tests/lib/documents/families.h), the rest
 * alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/index_state.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/named/remaking.h"
#include "tests/bench/clock.h"
#include "tests/lib/documents/families.h"
#include "tests/lib/documents/fileless.h"

enum { SEED = 31, REMADE = 1, SINGLE = 10, SHINGLES = 100 };

struct bench {
    struct families *families;
    struct fileless *fileless;
    struct index *index;
    struct remade *remade;
    char *text;
};

static void check(int r, const char *what)
{
    if (r >= 0)
        return;
    fprintf(stderr, "bench_clusterings: %s: %s\n", what, strerror(-r));
    exit(1);
}

struct moment {
    double wall_s, cpu_s; /* cpu_s: of the process */
};

static struct moment now(void)
{
    return (struct moment){clock_wall_s(), clock_process_s()};
}

static void print_since(const char *what, struct moment since)
{
    struct moment at = now();
    printf("%-44s%8.3f s, processor %8.3f s\n", what, at.wall_s - since.wall_s,
           at.cpu_s - since.cpu_s);
    fflush(stdout);
}

static void print_each(const char *what, uint32_t n, struct moment since)
{
    struct moment at = now();
    printf("%-44s%8.1f us each, processor %6.1f us\n", what, (at.wall_s - since.wall_s) * 1e6 / n,
           (at.cpu_s - since.cpu_s) * 1e6 / n);
    fflush(stdout);
}

static int recluster(struct bench *bench, void *plan)
{
    (void)plan;
    return living_clusters_recluster(bench->index->clusters);
}

static int carry_out(struct bench *bench, void *plan)
{
    return living_clusters_remake(bench->index->clusters, REMADE, plan);
}

/* Step by step, until there is no more. */
static void do_all(struct bench *bench, int (*step)(struct bench *bench, void *plan), void *plan,
                   const char *what)
{
    double longest_s = 0;
    unsigned n_steps = 0;
    char said[80];
    int r;
    struct moment since = now();
    do {
        double begin_s = clock_wall_s();
        r = step(bench, plan);
        double step_s = clock_wall_s() - begin_s;
        longest_s = step_s > longest_s ? step_s : longest_s;
        n_steps++;
    } while (r > 0);
    check(r, what);
    snprintf(said, sizeof(said), "    %s, %u steps, longest %.1f ms", what, n_steps,
             longest_s * 1e3);
    print_since(said, since);
}

/* What waits for the background. */
static void settle(struct bench *bench)
{
    do_all(bench, recluster, NULL, "what waits");
}

/* -- documents -- */

static void plan(struct bench *bench, uint32_t n, uint32_t large)
{
    uint32_t n_small = (n - large) / 20;
    struct family *all = calloc(n_small + 2, sizeof(*all));
    struct family family = {.shape = FAMILY_STAR, .n_words = 720, .n_changes = 4, .size = large};
    check(all ? 0 : -ENOMEM, "memory");
    all[0] = family;
    family.size = 10;
    for (uint32_t i = 1; i <= n_small; i++)
        all[i] = family;
    family.shape = FAMILY_NONE;
    family.size = n - large - 10 * n_small;
    all[n_small + 1] = family;
    check(families_new(SEED, 5, all, n_small + 2, &bench->families), "families");
    free(all);
    bench->text = malloc(FILELESS_AT_ONCE * families_most_bytes(bench->families));
    check(bench->text ? 0 : -ENOMEM, "memory");
}

/* Numbers are dealt at random: each tenth of them has as many of each family. */
static void put_all(struct bench *bench)
{
    const uint32_t n = families_n_documents(bench->families), tenth = (n + 9) / 10;
    struct moment since = now();
    uint32_t told = 0;
    for (uint32_t at = 0; at < n;) {
        struct fileless_text texts[FILELESS_AT_ONCE];
        char *text = bench->text;
        size_t n_texts = 0;
        if (at >= told + tenth) {
            print_each("    a tenth of them", at - told, since);
            since = now();
            told = at;
        }
        for (; at < n && n_texts < FILELESS_AT_ONCE; at++, n_texts++) {
            size_t n_bytes = families_write(bench->families, at, 0, text);
            texts[n_texts] = (struct fileless_text){at, text, n_bytes};
            text += n_bytes;
        }
        fileless_put(bench->fileless, texts, n_texts);
    }
    print_each("    a tenth of them", n - told, since);
}

/* A document of the large family. */
static uint32_t of_large(const struct bench *bench, uint32_t member)
{
    return families_number(bench->families, (struct family_member){0, member});
}

/* -- making anew -- */

static void remake(struct bench *bench, enum batch_mode mode, const char *scratch)
{
    struct remaking_task task = {.kv = bench->index->kv,
                                 .policy = &bench->index->policy,
                                 .scratch = scratch,
                                 .number = REMADE,
                                 .how = {.mode = mode, .threshold = 0.5}};
    char what[64];
    struct moment since = now();
    check(remaking_work(&task, NULL), "batch");
    snprintf(what, sizeof(what), "%s: batch, %zu moves", batch_mode_name(mode), task.plan.n_moves);
    print_since(what, since);
    do_all(bench, carry_out, &task.plan, "carried out");
    move_plan_done(&task.plan);
}

/* -- what is said -- */

static void explain(struct bench *bench)
{
    struct cluster_explanation explanation;
    struct common_shingles shingles;
    char what[64];
    struct file_key key = fileless_key(of_large(bench, 2));
    uint64_t id;
    check(index_cluster_of(bench->index, &key, 0, &id), "cluster");
    struct moment since = now();
    check(index_explain(bench->index, id, &explanation), "explain");
    snprintf(what, sizeof(what), "clusters --explain among %llu",
             (unsigned long long)explanation.size);
    print_since(what, since);
    cluster_explanation_done(&explanation);
    since = now();
    check(index_common_shingles(bench->index, SHINGLES, &shingles), "shingles");
    snprintf(what, sizeof(what), "shingles --top of %llu",
             (unsigned long long)shingles.n_documents);
    print_since(what, since);
    common_shingles_done(&shingles);
}

int main(int argc, char **argv)
{
    static const enum batch_mode modes[] = {BATCH_EXACT, BATCH_FAST, BATCH_CENTER,
                                            BATCH_BRODER1997};
    enum { N_MODES = sizeof(modes) / sizeof(*modes) };
    struct bench bench = {0};
    if (argc < 2 || argc > 4) {
        fputs("Usage: bench_clusterings DIRECTORY [N [LARGE]]\n", stderr);
        return 2;
    }
    plan(&bench, argc > 2 ? (uint32_t)atoi(argv[2]) : 200000,
         argc > 3 ? (uint32_t)atoi(argv[3]) : 10000);
    bench.fileless = fileless_open(argv[1]);
    bench.index = fileless_index(bench.fileless);
    check(remade_open(bench.index->kv, REMADE, &bench.remade), "remade");
    check(living_clusters_add(bench.index->clusters, REMADE, bench.remade), "remade");
    struct moment since = now();
    put_all(&bench);
    print_since("documents come", since);
    settle(&bench);
    for (unsigned i = 0; i < N_MODES; i++)
        for (unsigned again = 0; again < 2; again++)
            remake(&bench, modes[i], argv[1]);
    explain(&bench);
    fileless_close(bench.fileless);
    remade_close(bench.remade);
    families_free(bench.families);
    free(bench.text);
    return 0;
}
