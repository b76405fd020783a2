/* Large clusters in the living index: whether they are found, and what documents in them cost as
 * they grow, change and go.
 *
 *   bench_families DIRECTORY [LARGEST [HEADS [SHAPE]]]
 *
 * Families (tests/lib/documents/families.h) of 10, 1,000 and so on to LARGEST documents (100,000),
 * and as many unrelated documents as the largest has, come in no order into a new index
 * (tests/lib/documents/fileless.h). HEADS: all documents begin with one of so many texts, and end
 * with the same. SHAPE: stars or chains; else there are both.
 *
 * Then questions are asked, single documents are deleted, put again and rewritten, and half of all
 * goes. Processor time is of the thread that does it all, and of the store's own beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/clock.h"
#include "tests/lib/documents/families.h"
#include "tests/lib/documents/fileless.h"

enum { SEED = 21, STRETCHES = 10, ASKED = 100, SINGLE = 5, MAX_GROUPS = 16 };

/* Families of one shape and size. */
struct group {
    enum family_shape shape;
    uint32_t size;
    size_t first, n;
};

struct bench {
    struct group groups[MAX_GROUPS];
    size_t n_groups, n_families;
    struct families *families;
    struct fileless *fileless;
    struct index *index;
    bool *is_there;
    char *text;
    double writing_s; /* what generating texts took */
};

static const char *const shape_names[] = {"stars", "chains", "alone"};

static void check(int r, const char *what)
{
    if (r >= 0)
        return;
    fprintf(stderr, "bench_families: %s: %s\n", what, strerror(-r));
    exit(1);
}

/* -- families -- */

/* Of 720 words of 7 letters, 5 KB: 144 places. Two copies with 4 changes each differ in 8 places at
 * most, 0.89; two versions next to each other in 8. */
static void plan(struct bench *bench, uint32_t largest, unsigned n_heads, const char *shape)
{
    struct family family = {.n_words = 720, .n_head = 100, .n_tail = n_heads ? 60 : 0};
    struct family *all = calloc(4 * largest + 16, sizeof(*all));
    size_t n = 0;
    check(all ? 0 : -ENOMEM, "memory");
    for (uint32_t size = largest; size >= 10; size = size > 1000 ? size / 10 : size / 100)
        for (family.shape = FAMILY_STAR; family.shape <= FAMILY_CHAIN; family.shape++) {
            size_t n_families = size == 10 ? largest / 100 : 1;
            if (shape && strcmp(shape, shape_names[family.shape]) != 0)
                continue;
            family.size = size;
            family.n_changes = family.shape == FAMILY_STAR ? 4 : 8;
            bench->groups[bench->n_groups++] =
                (struct group){family.shape, size, n, n_families ? n_families : 1};
            for (size_t i = 0; i < n_families; i++, n++) {
                family.head = n_heads ? 1 + (unsigned)(n % n_heads) : 0;
                all[n] = family;
            }
        }
    family.shape = FAMILY_NONE;
    bench->groups[bench->n_groups++] = (struct group){FAMILY_NONE, 1, n, n_heads ? n_heads : 1};
    family.size = largest / (n_heads ? n_heads : 1);
    for (unsigned i = 0; i < (n_heads ? n_heads : 1); i++) {
        family.head = n_heads ? 1 + i : 0;
        all[n++] = family;
    }
    check(families_new(SEED, 5, all, n, &bench->families), "families");
    bench->n_families = n;
    free(all);
    bench->is_there = calloc(families_n_documents(bench->families), sizeof(bool));
    bench->text = malloc(FILELESS_AT_ONCE * families_most_bytes(bench->families));
    check(bench->is_there && bench->text ? 0 : -ENOMEM, "memory");
}

/* A document of a group; the i-th of those looked at. */
static uint32_t pick(const struct bench *bench, const struct group *group, uint32_t i)
{
    uint32_t member = (uint32_t)((i * UINT64_C(2654435761) >> 7) % group->size);
    size_t family = group->first + (group->size == 1 ? 0 : i % group->n);
    if (group->shape == FAMILY_NONE)
        member = i;
    return families_number(bench->families, (struct family_member){(uint32_t)family, member});
}

/* -- what happens -- */

static void put(struct bench *bench, const uint32_t *numbers, size_t n, unsigned rewrites)
{
    struct fileless_text texts[FILELESS_AT_ONCE];
    char *text = bench->text;
    double before = clock_thread_s();
    for (size_t i = 0; i < n; i++) {
        texts[i] = (struct fileless_text){
            numbers[i], text, families_write(bench->families, numbers[i], rewrites, text)};
        text += texts[i].n_bytes;
        bench->is_there[numbers[i]] = true;
    }
    bench->writing_s += clock_thread_s() - before;
    fileless_put(bench->fileless, texts, n);
}

static void put_range(struct bench *bench, uint32_t from, uint32_t until)
{
    for (uint32_t at = from; at < until;) {
        uint32_t numbers[FILELESS_AT_ONCE];
        size_t n = 0;
        while (at < until && n < FILELESS_AT_ONCE)
            numbers[n++] = at++;
        put(bench, numbers, n, 0);
    }
}

static void put_all(struct bench *bench)
{
    uint32_t n = families_n_documents(bench->families);
    printf("%u documents; us of processor time each, and of the store's threads:\n", n);
    for (uint64_t i = 0; i < STRETCHES; i++) {
        uint32_t from = (uint32_t)(i * n / STRETCHES), until = (uint32_t)((i + 1) * n / STRETCHES);
        double cpu = clock_thread_s(), others = clock_others_s();
        bench->writing_s = 0;
        put_range(bench, from, until);
        cpu = clock_thread_s() - cpu - bench->writing_s;
        printf("    to %8u  %7.1f  %7.1f\n", until, cpu * 1e6 / (until - from),
               (clock_others_s() - others) * 1e6 / (until - from));
        fflush(stdout);
    }
}

static void print_found(struct bench *bench, const char *when)
{
    uint32_t n = families_n_documents(bench->families);
    uint64_t *clusters = calloc(n, sizeof(*clusters));
    struct family_found *found = calloc(bench->n_families, sizeof(*found));
    check(clusters && found ? 0 : -ENOMEM, "memory");
    for (uint32_t i = 0; i < n; i++) {
        uint64_t id = bench->is_there[i] ? fileless_cluster(bench->fileless, i) : 0;
        clusters[i] = !bench->is_there[i] ? FAMILIES_NOT_THERE : id ? id + 1 : FAMILIES_ALONE;
    }
    check(families_check(bench->families, clusters, found), "check");
    printf("%s:\n", when);
    for (size_t i = 0; i < bench->n_groups; i++) {
        const struct group *group = &bench->groups[i];
        uint64_t members = 0, together = 0, wrong = 0;
        for (size_t k = group->first; k < group->first + group->n; k++) {
            members += found[k].n_members;
            together += found[k].n_together;
            wrong += found[k].n_wrong;
        }
        printf("    %-6s of %6u: %7llu documents, ", shape_names[group->shape], group->size,
               (unsigned long long)members);
        if (group->shape != FAMILY_NONE)
            printf("%.4f %% together, ", 100.0 * (double)together / (double)(members + !members));
        printf("%llu wrong\n", (unsigned long long)wrong);
    }
    fflush(stdout);
    free(clusters);
    free(found);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const struct group *group, const char *what, double *s, size_t n,
                   const char *rest)
{
    qsort(s, n, sizeof(*s), compare);
    printf("    %-6s of %6u: %-28s p50 %9.3f  max %9.3f ms%s\n", shape_names[group->shape],
           group->size, what, s[n / 2] * 1e3, s[n - 1] * 1e3, rest);
    fflush(stdout);
}

static void ask(struct bench *bench, const struct group *group, size_t limit, unsigned n)
{
    struct index_query query = {.threshold = 0.4, .limit = limit};
    double times[ASKED];
    char what[64], rest[64];
    size_t n_kin = 0;
    for (unsigned i = 0; i < n; i++) {
        struct file_key key = fileless_key(pick(bench, group, i));
        struct kin_list list = {0};
        double before = clock_thread_s();
        check(index_similar(bench->index, &key, &query, &list), "similar");
        times[i] = clock_thread_s() - before;
        n_kin += list.n_kin;
        kin_list_done(&list);
    }
    snprintf(what, sizeof(what), limit ? "similar, limit %zu" : "similar, all", limit);
    snprintf(rest, sizeof(rest), ", %.1f answers", (double)n_kin / n);
    report(group, what, times, n, rest);
}

/* What an owner asks of the whole store and of whole clusters. */
static void explain(struct bench *bench, const struct group *group)
{
    struct cluster_explanation explanation = {0};
    /* index_document() would look at the file. */
    uint64_t id = fileless_cluster(bench->fileless, pick(bench, group, 0));
    if (id == 0)
        return;
    double t = clock_thread_s();
    check(index_explain(bench->index, shown_ids_show(&bench->index->shown_ids, id), &explanation),
          "explain");
    double times[1] = {clock_thread_s() - t};
    report(group, "explained", times, 1, "");
    cluster_explanation_done(&explanation);
}

static void list_common_shingles(struct bench *bench)
{
    struct common_shingles list = {0};
    double t = clock_thread_s();
    check(index_common_shingles(bench->index, 20, &list), "shingles");
    printf("    the 20 commonest shingles: %.0f ms, the first of %llu documents\n",
           (clock_thread_s() - t) * 1e3,
           (unsigned long long)(list.n_shingles ? list.shingles[0].n_documents : 0));
    common_shingles_done(&list);
}

static void change_singly(struct bench *bench, const struct group *group)
{
    double deleted[SINGLE], reclustered[SINGLE], put_again[SINGLE], rewritten[SINGLE];
    unsigned n_steps = 0;
    for (unsigned i = 0; i < SINGLE; i++) {
        uint32_t number = pick(bench, group, i);
        double t = clock_thread_s();
        fileless_remove(bench->fileless, &number, 1);
        deleted[i] = clock_thread_s() - t;
        t = clock_thread_s();
        n_steps += fileless_recluster(bench->fileless);
        reclustered[i] = clock_thread_s() - t;
        t = clock_thread_s();
        put(bench, &number, 1, 0);
        put_again[i] = clock_thread_s() - t;
        t = clock_thread_s();
        put(bench, &number, 1, 1);
        rewritten[i] = clock_thread_s() - t;
        n_steps += fileless_recluster(bench->fileless);
    }
    char rest[64];
    snprintf(rest, sizeof(rest), ", %u steps", n_steps);
    report(group, "deleted", deleted, SINGLE, "");
    report(group, "reclustered after it", reclustered, SINGLE, rest);
    report(group, "put again", put_again, SINGLE, "");
    report(group, "rewritten", rewritten, SINGLE, "");
}

/* What is dirty after n changes is clustered anew. */
static void recluster(struct bench *bench, uint32_t n)
{
    double cpu = clock_thread_s();
    unsigned n_steps = fileless_recluster(bench->fileless);
    printf("    reclustered: %.1f us each, %u steps\n", (clock_thread_s() - cpu) * 1e6 / n,
           n_steps);
}

/* Of each family every other member. */
static void remove_half(struct bench *bench)
{
    uint32_t n = families_n_documents(bench->families), numbers[RECONCILE_AT_ONCE], n_removed = 0;
    size_t n_numbers = 0;
    double cpu = clock_thread_s(), others = clock_others_s();
    for (uint32_t i = 0; i < n; i++) {
        if (families_member(bench->families, i).member % 2) {
            numbers[n_numbers++] = i;
            bench->is_there[i] = false;
        }
        if (n_numbers == RECONCILE_AT_ONCE || (i == n - 1 && n_numbers)) {
            fileless_remove(bench->fileless, numbers, n_numbers);
            n_removed += (uint32_t)n_numbers;
            n_numbers = 0;
        }
    }
    printf("half removed: %.1f us each, and %.1f of the store's threads\n",
           (clock_thread_s() - cpu) * 1e6 / n_removed,
           (clock_others_s() - others) * 1e6 / n_removed);
    fflush(stdout);
    recluster(bench, n_removed);
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    uint32_t largest = argc > 2 ? (uint32_t)atol(argv[2]) : 100000;
    unsigned n_heads = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    if (argc < 2 || largest < 1000 || largest > 1000000 || n_heads > 1000 || argc > 5) {
        fprintf(stderr, "usage: bench_families DIRECTORY [LARGEST [HEADS [SHAPE]]]\n");
        return 2;
    }
    plan(&bench, largest, n_heads, argc > 4 ? argv[4] : NULL);
    bench.fileless = fileless_open(argv[1]);
    bench.index = fileless_index(bench.fileless);
    put_all(&bench);
    recluster(&bench, families_n_documents(bench.families));
    print_found(&bench, "found");
    for (size_t i = 0; i < bench.n_groups; i++) {
        ask(&bench, &bench.groups[i], 100, ASKED);
        ask(&bench, &bench.groups[i], 0, 3);
    }
    for (size_t i = 0; i < bench.n_groups; i++)
        if (bench.groups[i].shape != FAMILY_NONE)
            explain(&bench, &bench.groups[i]);
    list_common_shingles(&bench);
    for (size_t i = 0; i < bench.n_groups; i++)
        change_singly(&bench, &bench.groups[i]);
    print_found(&bench, "found after that");
    remove_half(&bench);
    print_found(&bench, "found of the other half");
    fileless_close(bench.fileless);
    families_free(bench.families);
    free(bench.is_there);
    free(bench.text);
    return 0;
}
