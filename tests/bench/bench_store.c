/* What the store's calls cost, as the index makes them: a table of microseconds.
 *
 *   bench_store [DIRECTORY]     a new directory below /tmp by default, removed at the end
 */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/mix.h"
#include "store/kv.h"
#include "tests/bench/clock.h"

enum {
    RECORDS,
    POSTINGS,
    N_TABLES,
    RECORD_BYTES = 1200, /* of a default sketch and its fingerprints */
    N_RECORDS = 40000,
    N_POSTINGS = 1600000, /* of 100,000 documents in tier R */
    RUN_POSTINGS = 1000000,
    POSTING_BYTES = 16,
    N_RANGES = 16,
    N_QUERIES = 2000,
};

static const struct kv_table tables[N_TABLES] = {
    [RECORDS] = {.name = "records"},
    [POSTINGS] = {.name = "postings",
                  .partition = KV_PARTITION_FIXED,
                  .partition_bytes = 8,
                  .scans_only = true},
};

static double begun_s, begun_cpu_s;

static void begin(void)
{
    begun_s = clock_wall_s();
    begun_cpu_s = clock_thread_s();
}

static void end(const char *what, double n)
{
    double wall_us = (clock_wall_s() - begun_s) * 1e6;
    double cpu_us = (clock_thread_s() - begun_cpu_s) * 1e6;
    printf("%-48s %10.0f %10.2f %10.2f\n", what, n, wall_us / n, cpu_us / n);
    fflush(stdout);
}

static void check(int r, const char *what)
{
    if (r >= 0)
        return;
    fprintf(stderr, "bench_store: %s: %s\n", what, strerror(-r));
    exit(1);
}

static struct kv_slice record(uint64_t n)
{
    static uint8_t bytes[RECORD_BYTES];
    for (size_t i = 0; i < RECORD_BYTES; i += 8)
        put_be64(bytes + i, mix64(n * RECORD_BYTES + i));
    return (struct kv_slice){bytes, sizeof(bytes)};
}

static void bench_put(struct kv *kv)
{
    struct kv_batch *batch = kv_batch_new();
    begin();
    for (uint64_t n = 0; n < N_RECORDS; n++) {
        uint8_t key[8];
        put_be64(key, n);
        kv_batch_clear(batch);
        kv_batch_put(batch, RECORDS, (struct kv_slice){key, sizeof(key)}, record(n));
        check(kv_apply(kv, batch), "kv_apply");
    }
    end("kv_apply of one record (1.2 KB)", N_RECORDS);
    kv_batch_free(batch);
}

/* A document committed: its record and some rows about it. */
static void bench_small_batches(struct kv *kv)
{
    enum { N = 20000, N_ROWS = 5 };
    struct kv_batch *batch = kv_batch_new();
    begin();
    for (uint64_t n = 0; n < N; n++) {
        uint8_t key[9];
        put_be64(key, N_RECORDS + n);
        kv_batch_clear(batch);
        kv_batch_put(batch, RECORDS, (struct kv_slice){key, 8}, record(n));
        for (key[8] = 0; key[8] < N_ROWS; key[8]++)
            kv_batch_put(batch, RECORDS, (struct kv_slice){key, 9}, (struct kv_slice){key, 9});
        check(kv_apply(kv, batch), "kv_apply");
    }
    end("kv_apply of a record and 5 small rows", N);
    kv_batch_free(batch);
}

static void bench_get(struct kv *kv)
{
    begin();
    for (uint64_t n = 0; n < N_QUERIES; n++) {
        uint8_t key[8];
        struct kv_buf value;
        put_be64(key, mix64(n) % N_RECORDS);
        check(kv_get(kv, RECORDS, (struct kv_slice){key, 8}, &value), "kv_get");
        kv_buf_done(&value);
    }
    end("kv_get of a record", N_QUERIES);
    begin();
    for (uint64_t n = 0; n < N_QUERIES; n++) {
        uint8_t keys[N_RANGES][8];
        struct kv_slice slices[N_RANGES];
        struct kv_buf values[N_RANGES];
        for (uint64_t i = 0; i < N_RANGES; i++) {
            put_be64(keys[i], mix64(n * N_RANGES + i) % N_RECORDS);
            slices[i] = (struct kv_slice){keys[i], 8};
        }
        check(kv_multi_get(kv, RECORDS, slices, N_RANGES, values), "kv_multi_get");
        for (size_t i = 0; i < N_RANGES; i++)
            kv_buf_done(&values[i]);
    }
    end("kv_multi_get of 16 records", N_QUERIES);
    begin();
    for (uint64_t n = 0; n < N_QUERIES; n++) {
        uint8_t key[8];
        struct kv_buf value;
        put_be64(key, mix64(n) | 1ull << 63); /* far above every record */
        if (kv_get(kv, RECORDS, (struct kv_slice){key, 8}, &value) != -ENOENT)
            check(-EIO, "kv_get");
    }
    end("kv_get of an absent key", N_QUERIES);
}

/* -- postings: of a fingerprint in 1 to 7 documents each -- */

struct postings_run {
    uint8_t (*keys)[POSTING_BYTES];
    size_t next, end;
};

static int postings_next(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct postings_run *run = user;
    if (run->next == run->end)
        return 0;
    *ret_entry = (struct kv_entry){{run->keys[run->next++], POSTING_BYTES}, {"", 0}};
    *ret_delete = false;
    return 1;
}

static int compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, POSTING_BYTES);
}

static uint64_t fingerprint(uint64_t n)
{
    return mix64(n % (N_POSTINGS / 4));
}

static void bench_bulk_load(struct kv *kv)
{
    uint8_t(*keys)[POSTING_BYTES] = malloc((size_t)N_POSTINGS * POSTING_BYTES);
    if (!keys)
        check(-ENOMEM, "malloc");
    for (size_t i = 0; i < N_POSTINGS; i++) {
        put_be64(keys[i], fingerprint(i));
        put_be64(keys[i] + 8, i);
    }
    for (size_t at = 0; at < N_POSTINGS; at += RUN_POSTINGS) {
        size_t n = N_POSTINGS - at < RUN_POSTINGS ? N_POSTINGS - at : RUN_POSTINGS;
        qsort(keys[at], n, POSTING_BYTES, compare_keys);
        struct postings_run run = {keys, at, at + n};
        begin();
        check(kv_bulk_load(kv, POSTINGS, postings_next, &run), "kv_bulk_load");
        end("kv_bulk_load of a run, a posting", (double)n);
    }
    free(keys);
}

static void bench_multi_scan(struct kv *kv, bool present, const char *what)
{
    size_t n_found = 0;
    begin();
    for (uint64_t q = 0; q < N_QUERIES; q++) {
        uint8_t bounds[N_RANGES][2][8];
        struct kv_range ranges[N_RANGES];
        struct kv_page pages[N_RANGES];
        for (uint64_t i = 0; i < N_RANGES; i++) {
            uint64_t n = mix64(q * N_RANGES + i);
            uint64_t print = present ? fingerprint(n) : mix64(n | 1ull << 63);
            put_be64(bounds[i][0], print);
            put_be64(bounds[i][1], print + 1);
            ranges[i] = (struct kv_range){{bounds[i][0], 8}, {bounds[i][1], 8}};
        }
        check(kv_multi_scan(kv, POSTINGS, ranges, N_RANGES, 1024, pages), "kv_multi_scan");
        for (size_t i = 0; i < N_RANGES; i++) {
            n_found += pages[i].n_entries;
            kv_page_done(&pages[i]);
        }
    }
    end(what, N_QUERIES);
    if ((n_found > 0) != present)
        check(-EIO, "kv_multi_scan found what it should not");
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/kinfs-bench-XXXXXX";
    const char *path = argc > 1 ? argv[1] : mkdtemp(directory);
    const struct kv_options options = {.tables = tables, .n_tables = N_TABLES, .create = true};
    struct kv *kv;
    char *error;
    if (kv_rocksdb_open(path, &options, &kv, &error) < 0) {
        fprintf(stderr, "bench_store: %s\n", error);
        return 1;
    }
    printf("%-48s %10s %10s %10s\n", "", "times", "wall us", "thread us");
    bench_put(kv);
    bench_small_batches(kv);
    begin();
    check(kv_checkpoint(kv), "kv_checkpoint");
    end("kv_checkpoint", 1);
    bench_get(kv);
    bench_bulk_load(kv);
    bench_multi_scan(kv, true, "kv_multi_scan of 16 present fingerprints, first");
    bench_multi_scan(kv, true, "kv_multi_scan of 16 present fingerprints, again");
    bench_multi_scan(kv, false, "kv_multi_scan of 16 absent fingerprints");
    uint64_t size_bytes;
    struct rusage usage;
    check(kv_usage(kv, &size_bytes), "kv_usage");
    getrusage(RUSAGE_SELF, &usage);
    printf("on disk %.1f MB; most memory %.1f MB (25.6 of them the bench's own postings)\n",
           (double)size_bytes / 1e6, (double)usage.ru_maxrss / 1e3);
    begin();
    kv_close(kv);
    end("kv_close", 1);
    begin();
    check(kv_rocksdb_open(path, &options, &kv, NULL), "kv_rocksdb_open");
    end("kv_rocksdb_open", 1);
    kv_close(kv);
    if (argc <= 1)
        nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
