/* How fast documents are indexed and questions answered, on generated documents of about 5 KB.
 *
 *   bench_index DIRECTORY [N_DOCUMENTS [FAMILY]]   20,000 in families of ten; DIRECTORY must not
 *                                                  exist
 *
 * Documents are of families of ten: nine are the tenth with up to a fifth of its words replaced; in
 * larger families each has a fiftieth of the words replaced, so that all resemble each other. They
 * are written first, timed apart, and are in the page cache when they are indexed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/mix.h"
#include "engine/index/index.h"
#include "tests/bench/clock.h"

enum { SMALL_FAMILY = 10, DIRECTORY_FILES = 100, WORDS = 700, QUERIES = 2000, STEPS = 8 };

static unsigned family_size = SMALL_FAMILY;

static void die(const char *what, int error)
{
    fprintf(stderr, "bench_index: %s: %s\n", what, strerror(error < 0 ? -error : error));
    exit(1);
}

static void write_document(int dirfd, unsigned n)
{
    static char text[WORDS * 12];
    char *p = text, path[64];
    uint64_t family = n / family_size, version = n % family_size;
    uint64_t replaced = family_size == SMALL_FAMILY ? version * 2 : 2; /* per cent */
    for (uint64_t i = 0; i < WORDS; i++) {
        uint64_t word = mix64(family << 20 | i);
        if (version && mix64(mix64(family << 32 | version) + i) % 100 < replaced)
            word = mix64(word + version);
        for (uint64_t c = 0, x = word % 100000; c < 3 + word % 7; c++, x = mix64(x))
            *p++ = (char)('a' + x % 26);
        *p++ = i % 12 == 11 ? '\n' : ' ';
    }
    snprintf(path, sizeof(path), "%u", n / DIRECTORY_FILES);
    if (n % DIRECTORY_FILES == 0 && mkdirat(dirfd, path, 0755) < 0)
        die(path, errno);
    snprintf(path, sizeof(path), "%u/%u", n / DIRECTORY_FILES, n);
    int fd = openat(dirfd, path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0 || write(fd, text, (size_t)(p - text)) != p - text || close(fd) < 0)
        die(path, errno);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *seconds, size_t n)
{
    qsort(seconds, n, sizeof(*seconds), compare);
    printf("%-34s p50 %8.3f ms   p99 %8.3f ms\n", what, seconds[n / 2] * 1e3,
           seconds[n * 99 / 100] * 1e3);
}

/* Until all is indexed; how fast, for each part of the documents. */
static int watch_indexing(struct index *index, unsigned n)
{
    struct index_status status;
    double t = clock_wall_s();
    uint64_t before = 0;
    for (unsigned step = 1; step <= STEPS; step++) {
        int r;
        do {
            r = index_settle(index, INDEX_LANE_ALL, 20);
            index_get_status(index, &status);
        } while (r == -ETIMEDOUT && status.documents < (uint64_t)n * step / STEPS);
        if (r < 0 && r != -ETIMEDOUT)
            return r;
        double t2 = clock_wall_s();
        printf("  %10llu documents: %.0f documents/s\n", (unsigned long long)status.documents,
               (double)(status.documents - before) / (t2 - t));
        fflush(stdout);
        before = status.documents;
        t = t2;
        if (r == 0)
            break;
    }
    return index_settle(index, INDEX_LANE_ALL, -1);
}

static void time_questions(struct index *index, struct backing *backing, unsigned n_documents)
{
    static double similar[QUERIES], has_kin[QUERIES];
    size_t n_kin = 0;
    unsigned n_queries = family_size == SMALL_FAMILY ? QUERIES : QUERIES / 20;
    for (unsigned i = 0; i < n_queries; i++) {
        struct index_query query = {.threshold = 0.4, .limit = 100};
        struct kin_list list = {0};
        struct file_key key;
        char path[64];
        unsigned n = (unsigned)(mix64(i) % n_documents);
        snprintf(path, sizeof(path), "%u/%u", n / DIRECTORY_FILES, n);
        int r = backing_key_at(backing, backing_root_fd(backing), path, &key);
        double t = clock_wall_s();
        if (r == 0)
            r = index_similar(index, &key, &query, &list);
        similar[i] = clock_wall_s() - t;
        t = clock_wall_s();
        if (r == 0)
            r = index_has_kin(index, &key, &query);
        has_kin[i] = clock_wall_s() - t;
        if (r < 0)
            die(path, r);
        n_kin += list.n_kin;
        kin_list_done(&list);
    }
    printf("%-34s %.2f\n", "answers a question", (double)n_kin / n_queries);
    report("index_similar", similar, n_queries);
    report("index_has_kin", has_kin, n_queries);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 20000;
    char tree[4096], store[4096], *error = NULL;
    struct backing *backing;
    struct index *index;
    if (argc > 3)
        family_size = (unsigned)atoi(argv[3]);
    if (argc < 2 || !n || !family_size) {
        fprintf(stderr, "usage: bench_index DIRECTORY [N_DOCUMENTS [FAMILY]]\n");
        return 2;
    }
    snprintf(tree, sizeof(tree), "%s/tree", argv[1]);
    snprintf(store, sizeof(store), "%s/store", argv[1]);
    if (mkdir(argv[1], 0755) < 0 || mkdir(tree, 0755) < 0)
        die(argv[1], errno);
    int r = backing_open(tree, &backing);
    if (r < 0)
        die(tree, r);
    double t = clock_wall_s();
    for (unsigned i = 0; i < n; i++)
        write_document(backing_root_fd(backing), i);
    printf("%-34s %.0f documents/s\n", "written (not kinfs)", n / (clock_wall_s() - t));

    struct index_options options = {
        .backing = backing, .source = tree, .store_path = store, .create = true};
    r = index_open(&options, &index, &error);
    if (r < 0)
        die(error ? error : store, r);
    double c = clock_process_s();
    t = clock_wall_s();
    r = index_start(index);
    if (r == 0)
        r = watch_indexing(index, n);
    if (r < 0)
        die("indexing", r);
    t = clock_wall_s() - t;
    c = clock_process_s() - c;
    struct index_status status;
    index_get_status(index, &status);
    printf("%-34s %.0f documents/s, %.1f MB/s, %.0f us of CPU a document\n", "indexed", n / t,
           (double)status.sketched_bytes / t / 1e6, c / n * 1e6);
    printf("%-34s %llu documents, %llu in %llu clusters\n", "holds",
           (unsigned long long)status.documents, (unsigned long long)status.clustered_documents,
           (unsigned long long)status.clusters);
    time_questions(index, backing, n);
    t = clock_wall_s();
    index_close(index, 0);
    printf("%-34s %.2f s\n", "closed", clock_wall_s() - t);

    t = clock_wall_s();
    r = index_open(&options, &index, &error);
    if (r == 0)
        r = index_start(index);
    if (r == 0)
        r = index_settle(index, INDEX_LANE_ALL, -1);
    if (r < 0)
        die(error ? error : "the second start", r);
    printf("%-34s %.2f s\n", "started again and reconciled", clock_wall_s() - t);
    time_questions(index, backing, n);
    index_get_status(index, &status);
    printf("%-34s %.2f KB a document\n", "store", (double)status.store_bytes / n / 1e3);
    index_close(index, 0);
    backing_close(backing);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-34s %.0f MB\n", "peak memory", (double)usage.ru_maxrss / 1e3);
    return 0;
}
