/* What checking and mending a store costs.
 *
 *   bench_check DIRECTORY [DAMAGE]   what bench_index left in DIRECTORY; its store is damaged and
 *                                    mended again. DAMAGE: posting (the default: one in a hundred
 *                                    of tier R goes), member (the clusters of one document in a
 *                                    hundred), file (the rows of one file in a hundred); none:
 *                                    it is only checked; all: it is made anew as by a rebuild
 *
 * Each line is a stage of the work, with the time and the processor time it took.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/index/index.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"
#include "tests/bench/clock.h"

enum { EVERY = 100, BATCH_BYTES = 1 << 18 };

static void die(const char *what, int error)
{
    fprintf(stderr, "bench_check: %s: %s\n", what, strerror(error < 0 ? -error : error));
    exit(1);
}

static double begun, begun_cpu;

static void begin(void)
{
    begun = clock_wall_s();
    begun_cpu = clock_process_s();
}

static void end(const char *what)
{
    printf("%-34s %7.2f s %7.2f s of CPU\n", what, clock_wall_s() - begun,
           clock_process_s() - begun_cpu);
    fflush(stdout);
    begin();
}

/* -- damage -- */

/* Every hundredth row of a table goes. */
static uint64_t drop_rows(struct kv *kv, unsigned table)
{
    struct table_walk walk;
    struct kv_entry row;
    struct kv_batch *batch = kv_batch_new();
    uint64_t n = 0;
    int r = batch ? table_walk_begin(&walk, kv, table, (struct kv_slice){0}) : -ENOMEM;
    if (r < 0)
        die("damaging", r);
    while ((r = table_walk_next(&walk, &row)) > 0) {
        if (n++ % EVERY == 0)
            kv_batch_delete(batch, table, row.key);
        if (kv_batch_bytes(batch) > BATCH_BYTES) {
            r = kv_apply(kv, batch);
            kv_batch_clear(batch);
        }
        if (r < 0)
            break;
    }
    if (r == 0)
        r = kv_apply(kv, batch);
    if (r < 0)
        die("damaging", r);
    table_walk_done(&walk);
    kv_batch_free(batch);
    return (n + EVERY - 1) / EVERY;
}

static void damage(const char *store, unsigned table)
{
    const struct kv_options options = {.tables = schema_tables, .n_tables = SCHEMA_N_TABLES};
    char path[4200], *error = NULL;
    struct kv *kv;
    snprintf(path, sizeof(path), "%s/db", store);
    int r = kv_rocksdb_open(path, &options, &kv, &error);
    if (r < 0)
        die(error ? error : path, r);
    uint64_t n = drop_rows(kv, table);
    kv_close(kv);
    printf("%-34s %llu rows of %s\n", "lost", (unsigned long long)n, schema_tables[table].name);
}

/* -- what is timed -- */

static void check(const struct index_options *options, bool deep)
{
    const struct index_check_options check_options = {.deep = deep};
    struct index_check counts;
    struct index *index;
    char *error = NULL;
    int r = index_open(options, &index, &error);
    if (r < 0)
        die(error ? error : options->store_path, r);
    begin();
    r = index_check(index, &check_options, &counts);
    if (r < 0)
        die("checking", r);
    end(deep ? "check --deep" : "check");
    printf("%-34s %llu documents, %llu wrong\n", "", (unsigned long long)counts.documents,
           (unsigned long long)counts.findings);
    index_close(index, 0);
}

static uint64_t sketched;
static char stage[64];

/* What goes on from here; the line is of what ends. */
static void enter(const char *next)
{
    if (*stage && strcmp(stage, next) != 0)
        end(stage);
    snprintf(stage, sizeof(stage), "%s", next);
}

static void note_progress(void *user, const struct index_status *status)
{
    (void)user;
    sketched = status->sketched_documents;
    enter(*stage ? "  scanning" : "  opening");
}

static int note_stage(void *user, const char *name, const char *table, uint64_t n_rows)
{
    char text[sizeof(stage)];
    (void)user, (void)table, (void)n_rows;
    snprintf(text, sizeof(text), "  %s", name);
    enter(text);
    return 0;
}

static void repair(const struct index_options *options)
{
    const struct index_repair_options wanted = {.progress = note_progress, .stage = note_stage};
    double t = clock_wall_s(), c = clock_process_s();
    char *error = NULL;
    begin();
    int r = index_repair(options, &wanted, &error);
    if (r < 0)
        die(error ? error : "mending", r);
    enter("");
    printf("%-34s %7.2f s %7.2f s of CPU; %llu read again\n", "check --repair", clock_wall_s() - t,
           clock_process_s() - c, (unsigned long long)sketched);
}

static void rebuild(const struct index_options *options)
{
    char *error = NULL;
    begin();
    int r = index_rebuild(options, NULL, NULL, &error);
    if (r < 0)
        die(error ? error : "making anew", r);
    end("rebuild");
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "posting";
    char tree[4096], store[4096];
    struct backing *backing;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_check DIRECTORY [posting|member|file|none|all]\n");
        return 2;
    }
    snprintf(tree, sizeof(tree), "%s/tree", argv[1]);
    snprintf(store, sizeof(store), "%s/store", argv[1]);
    int r = backing_open(tree, &backing);
    if (r < 0)
        die(tree, r);
    const struct index_options options = {
        .backing = backing, .source = tree, .store_path = store, .n_workers = 1};
    if (strcmp(what, "posting") == 0)
        damage(store, TABLE_TIER_R);
    else if (strcmp(what, "member") == 0)
        damage(store, TABLE_CLUSTER_OF);
    else if (strcmp(what, "file") == 0)
        damage(store, TABLE_FILES);
    if (strcmp(what, "none") == 0) {
        check(&options, false);
        check(&options, true);
    } else if (strcmp(what, "all") == 0) {
        rebuild(&options);
    } else {
        repair(&options);
    }
    backing_close(backing);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-34s %.0f MB\n", "peak memory", (double)usage.ru_maxrss / 1e3);
    return 0;
}
