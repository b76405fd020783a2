/* What a document costs the living index, and what it answers, at a million documents and more:
 * without files below it.
 *
 *   bench_living DIRECTORY OF [UNTIL [CHANGES]]   generated documents (planted.h) up to number
 *                                                 UNTIL of OF are indexed, those of an earlier run
 *                                                 being there; then questions are asked; then
 *                                                 CHANGES of them are renamed and as many deleted
 *
 * All that is stored is what the committer stores of files, by its own functions: names, rows,
 * records, classes, postings, clusters; texts are sketched as a worker sketches them, but from
 * memory. What is left out is looking at files and reading them (bench_index has it), and the
 * handing over from thread to thread. Phases are told apart by time and scaled to the processor
 * time of the thread; that of the store's own threads stands apart, until they come to rest.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/committer.h"
#include "engine/index/intake/reconcile.h"
#include "tests/bench/clock.h"
#include "tests/bench/phases.h"
#include "tests/lib/documents/planted.h"

enum { DIRECTORY_FILES = 100, QUERIES = 2000, SEED = 11, LINKS_LOOKED_AT = 100000 };

struct bench {
    struct planted *planted;
    struct backing *backing;
    struct index *index;
    struct document_sketcher *sketcher;
    char *text;
    uint64_t text_bytes;
};

static void die(const char *what, int error)
{
    fprintf(stderr, "bench_living: %s: %s\n", what, strerror(error < 0 ? -error : error));
    exit(1);
}

static void check(int r, const char *what)
{
    if (r < 0)
        die(what, r);
}

/* Until compactions have done what they have to. */
static double others_at_rest_s(void)
{
    for (double before = -1, now = clock_others_s();; now = clock_others_s()) {
        if (now - before < 0.002)
            return now;
        before = now;
        usleep(300 * 1000);
    }
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* -- files that are not there -- */

/* As ext4's: a file system, the type of the handle, inode and generation. */
static struct file_key key_of(uint32_t inode)
{
    const uint32_t handle[] = {inode, (uint32_t)mix(inode)};
    struct file_key key;
    file_key_of_handle(0x1122334455667788u, 1, handle, sizeof(handle), &key);
    return key;
}

static struct file_key file_of(uint32_t number)
{
    return key_of(number + 1000);
}

static struct file_key directory_of(uint32_t number)
{
    return key_of(UINT32_MAX - number / DIRECTORY_FILES);
}

static void name_of(uint32_t number, char name[32])
{
    snprintf(name, 32, "%u.txt", number);
}

static struct tree_entry entry_of(uint32_t number, size_t size_bytes)
{
    struct timespec time = {1700000000 + number / 100, number % 100 * 1000};
    return (struct tree_entry){.key = file_of(number),
                               .type = ENTRY_FILE,
                               .st = {.st_mode = S_IFREG | 0644,
                                      .st_size = (off_t)size_bytes,
                                      .st_mtim = time,
                                      .st_ctim = time}};
}

/* -- indexing -- */

static void put_directories(struct bench *bench, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++) {
        if (i % DIRECTORY_FILES)
            continue;
        struct tree_entry entry = {.key = directory_of(i), .type = ENTRY_DIRECTORY};
        char name[32];
        snprintf(name, sizeof(name), "%u", i / DIRECTORY_FILES);
        check(reconcile_put(bench->index, backing_root_key(bench->backing), name, &entry), name);
    }
}

/* As reconcile_entries() does of notices, without looking at the files. */
static void put_names(struct bench *bench, const struct tree_entry *entries, uint32_t first,
                      uint32_t n)
{
    static char texts[RESULTS_AT_ONCE][32];
    struct file_key directories[RESULTS_AT_ONCE];
    struct catalogue_name names[RESULTS_AT_ONCE];
    struct catalogue_meaning known[RESULTS_AT_ONCE];
    const struct tree_entry *files[RESULTS_AT_ONCE];
    enum stored_state states[RESULTS_AT_ONCE];
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    put_directories(bench, first, n);
    for (uint32_t i = 0; i < n; i++) {
        directories[i] = directory_of(first + i);
        name_of(first + i, texts[i]);
        names[i] = (struct catalogue_name){&directories[i], texts[i]};
        files[i] = &entries[i];
    }
    check(catalogue_get_all(bench->index->kv, names, n, known), "names");
    for (uint32_t i = 0; i < n; i++)
        check(reconcile_add(&directories[i], texts[i], &entries[i], &known[i], batch), texts[i]);
    reconcile_states(bench->index, files, n, states);
    check(kv_apply(bench->index->kv, batch), "names");
}

static size_t generate(struct bench *bench, uint32_t number)
{
    struct planted_document document;
    planted_describe(bench->planted, number, &document);
    return planted_write(bench->planted, &document, bench->text);
}

static void sketch(struct bench *bench, size_t size_bytes, struct record *ret_record)
{
    struct document_sketch sketch;
    document_sketcher_begin(bench->sketcher);
    document_sketcher_feed(bench->sketcher, bench->text, size_bytes);
    document_sketcher_finish(bench->sketcher, &sketch);
    check(record_take_sketch(ret_record, &sketch), "sketch");
}

static void index_some(struct bench *bench, uint32_t first, uint32_t n)
{
    static struct result results[RESULTS_AT_ONCE];
    struct result *pointers[RESULTS_AT_ONCE];
    struct tree_entry entries[RESULTS_AT_ONCE];
    struct change change = {.kind = CHANGE_CONTENT};
    for (uint32_t i = 0; i < n; i++) {
        phases_switch(PHASE_CALLER);
        size_t size_bytes = generate(bench, first + i);
        bench->text_bytes += size_bytes;
        entries[i] = entry_of(first + i, size_bytes);
        results[i] = (struct result){.change = &change,
                                     .outcome = OUTCOME_SKETCHED,
                                     .record = {.key = entries[i].key,
                                                .size_bytes = size_bytes,
                                                .mtime = entries[i].st.st_mtim,
                                                .ctime = entries[i].st.st_ctim}};
        phases_switch(PHASE_SKETCH);
        sketch(bench, size_bytes, &results[i].record);
        pointers[i] = &results[i];
    }
    phases_switch(PHASE_ENTRIES);
    put_names(bench, entries, first, n);
    phases_switch(PHASE_COMMIT);
    check(commit_results(bench->index, pointers, n), "commit");
    if (postings_flush_due(bench->index->postings))
        check(committer_flush(bench->index), "flush");
    for (uint32_t i = 0; i < n; i++)
        record_done(&results[i].record);
}

/* Scaled to what the thread had of a processor. */
static void print_phases(const struct phases *phases, double cpu_s, double others, uint32_t n)
{
    double wall_s = 0, engine_us = 0;
    for (enum phase i = 0; i < N_PHASES; i++)
        wall_s += phases->wall_s[i];
    double us = cpu_s / wall_s * 1e6 / n;
    for (enum phase i = PHASE_CALLER + 1; i < N_PHASES; i++) {
        engine_us += phases->wall_s[i] * us;
        if (phases->wall_s[i] * us >= 0.05)
            printf("    %-30s %7.1f us, %.2f times\n", phase_names[i], phases->wall_s[i] * us,
                   (double)phases->n[i] / n);
    }
    printf("    %-30s %7.1f us\n", "the store's own threads", others * 1e6 / n);
    printf("    %-30s %7.1f us; without text and sketch %.1f us\n", "all",
           engine_us + others * 1e6 / n,
           engine_us + others * 1e6 / n - phases->wall_s[PHASE_SKETCH] * us);
    printf("    calls of the store: %.2f gets, %.2f multi_gets, %.2f scans, %.2f writes, %.1f us, "
           "of which writes %.1f us\n",
           (double)phases->n_gets / n, (double)phases->n_multi_gets / n,
           (double)phases->n_scans / n, (double)phases->n_writes / n, phases->store_s * us,
           phases->writes_s * us);
    fflush(stdout);
}

struct stretch {
    double others_s, cpu_s, wall_s;
};

static struct stretch begin_stretch(void)
{
    struct stretch stretch = {clock_others_s(), clock_thread_s(), clock_wall_s()};
    phases_begin(PHASE_CALLER);
    return stretch;
}

static void end_stretch(const struct stretch *stretch, const char *what, uint32_t n)
{
    struct phases phases = phases_end();
    double cpu_s = clock_thread_s() - stretch->cpu_s;
    double wall_s = clock_wall_s() - stretch->wall_s;
    double others = others_at_rest_s() - stretch->others_s;
    printf("%s: %u documents, %.0f us of time each\n", what, n, wall_s * 1e6 / n);
    print_phases(&phases, cpu_s, others, n);
}

static void index_documents(struct bench *bench, uint32_t from, uint32_t until)
{
    uint32_t step = until - from > 1000000 ? 1000000 : (until - from + 1) / 2;
    for (uint32_t at = from; at < until;) {
        uint32_t end = until - at < step ? until : at + step, begin = at;
        char what[64];
        struct stretch stretch = begin_stretch();
        for (uint32_t n; at < end; at += n) {
            n = end - at < RESULTS_AT_ONCE ? end - at : RESULTS_AT_ONCE;
            index_some(bench, at, n);
        }
        snprintf(what, sizeof(what), "indexed, %u to %u", begin, end);
        end_stretch(&stretch, what, end - begin);
    }
    if (until > from)
        printf("%-34s %.2f KB\n", "text of a document",
               (double)bench->text_bytes / (until - from) / 1e3);
}

/* -- questions -- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *s, size_t n)
{
    qsort(s, n, sizeof(*s), compare);
    printf("%-34s p50 %8.3f   p90 %8.3f   p99 %8.3f   max %8.3f ms\n", what, s[n / 2] * 1e3,
           s[n * 90 / 100] * 1e3, s[n * 99 / 100] * 1e3, s[n - 1] * 1e3);
    fflush(stdout);
}

static void ask(struct bench *bench, const char *what, bool containing, uint32_t n_documents)
{
    static double times[QUERIES];
    struct index_query query = {.relation = containing ? INDEX_WHOLES : INDEX_RESEMBLES,
                                .threshold = containing ? 0.8 : 0.4,
                                .limit = 100};
    uint64_t n_kin = 0, n_large = 0;
    double slowest_s = 0;
    uint32_t slowest = 0;
    for (unsigned i = 0; i < QUERIES; i++) {
        uint32_t number = (uint32_t)(mix(i + (containing ? 1u << 20 : 0)) % n_documents);
        struct file_key key = file_of(number);
        struct kin_list list = {0};
        struct planted_document document;
        double t = clock_wall_s();
        int r = index_similar(bench->index, &key, &query, &list);
        times[i] = clock_wall_s() - t;
        if (r < 0 && r != -ENOENT)
            die(what, r);
        if (times[i] > slowest_s) {
            slowest_s = times[i];
            slowest = number;
        }
        planted_describe(bench->planted, number, &document);
        n_large += document.cluster_size > 1000;
        n_kin += list.n_kin;
        kin_list_done(&list);
    }
    struct planted_document document;
    planted_describe(bench->planted, slowest, &document);
    report(what, times, QUERIES);
    printf(
        "    %.2f answers each, %.1f %% about one of a planted cluster above 1,000; the slowest of "
        "one of %u\n",
        (double)n_kin / QUERIES, 100.0 * (double)n_large / QUERIES, document.cluster_size);
}

/* -- whether the clusters are those planted -- */

static uint64_t cluster_of(struct bench *bench, uint32_t number)
{
    struct file_key key = file_of(number);
    struct file_row row;
    uint64_t id = 0, size;
    check(catalogue_get_file(bench->index->kv, &key, &row), "row");
    check(living_clusters_of(bench->index->clusters, row.sid, &id, &size), "cluster");
    return id;
}

static void look_at_links(struct bench *bench, uint32_t n_documents)
{
    uint32_t n_links = 0, n_found = 0;
    for (uint32_t i = 0; i < LINKS_LOOKED_AT; i++) {
        struct planted_document document, parent;
        uint32_t number = (uint32_t)(mix(i + (1u << 21)) % n_documents);
        planted_describe(bench->planted, number, &document);
        uint32_t other =
            planted_number(bench->planted, document.cluster, planted_parent(&document));
        if (other == number || other >= n_documents)
            continue;
        planted_describe(bench->planted, other, &parent);
        if (planted_resemblance(bench->planted, &document, &parent) < 0.6)
            continue;
        uint64_t id = cluster_of(bench, number);
        n_links++;
        n_found += id && id == cluster_of(bench, other);
    }
    printf("%-34s %u of %u links of r >= 0.6 found: %.3f %%\n", "planted", n_found, n_links,
           100.0 * n_found / n_links);
}

/* -- changes -- */

static struct catalogue_entry name_entry(uint32_t number, char *name)
{
    return (struct catalogue_entry){directory_of(number), file_of(number), ENTRY_FILE, name};
}

/* As reconcile_entries() does of both names' notices, without looking at the file. */
static void rename_some(struct bench *bench, const uint32_t *numbers, uint32_t n)
{
    static char old_names[RECONCILE_AT_ONCE][32], new_names[RECONCILE_AT_ONCE][48];
    static struct catalogue_entry entries[RECONCILE_AT_ONCE], put[RECONCILE_AT_ONCE];
    static struct catalogue_name names[2 * RECONCILE_AT_ONCE];
    static struct catalogue_meaning known[2 * RECONCILE_AT_ONCE];
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    for (uint32_t i = 0; i < n; i++) {
        name_of(numbers[i], old_names[i]);
        snprintf(new_names[i], sizeof(new_names[i]), "renamed-%u.txt", numbers[i]);
        put[i] = name_entry(numbers[i], new_names[i]);
        entries[i] = name_entry(numbers[i], old_names[i]);
        names[i] = (struct catalogue_name){&put[i].parent, new_names[i]};
        names[n + i] = (struct catalogue_name){&entries[i].parent, old_names[i]};
    }
    check(catalogue_get_all(bench->index->kv, names, 2 * n, known), "rename");
    for (uint32_t i = 0; i < n; i++) {
        struct tree_entry entry = entry_of(numbers[i], 5000);
        check(reconcile_add(&put[i].parent, new_names[i], &entry, &known[i], batch), "rename");
        check(known[n + i].exists ? 0 : -ENOENT, "rename");
    }
    check(kv_apply(bench->index->kv, batch), "rename");
    check(reconcile_remove_all(bench->index, entries, n, put, n), "rename");
}

static void delete_some(struct bench *bench, const uint32_t *numbers, uint32_t n)
{
    static char names[RECONCILE_AT_ONCE][48];
    struct catalogue_entry entries[RECONCILE_AT_ONCE];
    for (uint32_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "renamed-%u.txt", numbers[i]);
        entries[i] = name_entry(numbers[i], names[i]);
    }
    check(reconcile_remove_all(bench->index, entries, n, NULL, 0), "delete");
    if (postings_flush_due(bench->index->postings))
        check(committer_flush(bench->index), "flush");
}

static void change(struct bench *bench, const char *what, const uint32_t *numbers, uint32_t n,
                   uint32_t at_once,
                   void (*some)(struct bench *bench, const uint32_t *numbers, uint32_t n))
{
    struct stretch stretch = begin_stretch();
    phases_switch(PHASE_ENTRIES);
    for (uint32_t at = 0; at < n; at += at_once)
        some(bench, numbers + at, n - at < at_once ? n - at : at_once);
    phases_switch(PHASE_CALLER);
    end_stretch(&stretch, what, n);
}

/* Numbers in no order, each once. */
static void change_documents(struct bench *bench, uint32_t n_documents, uint32_t n_changes)
{
    _cleanup_free_ uint32_t *numbers = calloc(n_documents, sizeof(*numbers));
    if (!numbers)
        die("memory", ENOMEM);
    for (uint32_t i = 0; i < n_documents; i++)
        numbers[i] = i;
    for (uint32_t i = 0; i < n_changes && i < n_documents; i++) {
        uint32_t k = i + (uint32_t)(mix(i + (1u << 22)) % (n_documents - i));
        uint32_t number = numbers[k];
        numbers[k] = numbers[i];
        numbers[i] = number;
    }
    uint32_t alone = n_changes / 10;
    change(bench, "renamed, 512 at once", numbers, n_changes - alone, RECONCILE_AT_ONCE,
           rename_some);
    change(bench, "renamed, one by one", numbers + n_changes - alone, alone, 1, rename_some);
    change(bench, "deleted, 512 at once", numbers, n_changes - alone, RECONCILE_AT_ONCE,
           delete_some);
    change(bench, "deleted, one by one", numbers + n_changes - alone, alone, 1, delete_some);
}

/* -- -- */

static void print_state(struct bench *bench, const char *when)
{
    struct index_status status;
    char line[256];
    index_get_status(bench->index, &status);
    printf("%-34s %llu documents, %llu in %llu clusters; %.2f KB of store a document\n", when,
           (unsigned long long)status.documents, (unsigned long long)status.clustered_documents,
           (unsigned long long)status.clusters,
           (double)status.store_bytes / (double)(status.documents + !status.documents) / 1e3);
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "VmHWM:", 6) == 0 || strncmp(line, "VmRSS:", 6) == 0)
            printf("    %s", line);
    if (file)
        fclose(file);
    fflush(stdout);
}

static void make_directory(char path[4096], const char *above, const char *name)
{
    snprintf(path, 4096, "%s%s%s", above, *name ? "/" : "", name);
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        die(path, errno);
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    char tree[4096], store[8192], *error = NULL;
    uint32_t of = argc > 2 ? (uint32_t)atol(argv[2]) : 0,
             until = argc > 3 ? (uint32_t)atol(argv[3]) : of;
    uint32_t changes = argc > 4 ? (uint32_t)atol(argv[4]) : 0;
    if (of < 2 || until > of || until < 2 || changes > until) {
        fprintf(stderr, "usage: bench_living DIRECTORY OF [UNTIL [CHANGES]]\n");
        return 2;
    }
    make_directory(store, argv[1], "");
    make_directory(tree, argv[1], "tree");
    snprintf(store, sizeof(store), "%s/store", argv[1]);
    check(backing_open(tree, &bench.backing), tree);
    struct index_options options = {
        .backing = bench.backing, .source = tree, .store_path = store, .create = true};
    if (getenv("CACHE_MB"))
        options.cache_bytes = (size_t)atoi(getenv("CACHE_MB")) << 20;
    int r = index_open(&options, &bench.index, &error);
    if (r < 0)
        die(error ? error : store, r);
    check(planted_new_longer(SEED, of, bench.index->policy.w, &bench.planted), "planted");
    check(document_sketcher_new(&bench.index->policy, bench.index->hash, &bench.sketcher),
          "sketcher");
    bench.text = malloc(planted_most_bytes(bench.planted));

    struct index_status status;
    index_get_status(bench.index, &status);
    index_documents(&bench, (uint32_t)status.documents, until);
    print_state(&bench, "indexed");
    ask(&bench, "similar", false, until);
    ask(&bench, "similar, again", false, until);
    ask(&bench, "containing", true, until);
    look_at_links(&bench, until);
    if (changes)
        change_documents(&bench, until, changes);
    print_state(&bench, "at the end");

    document_sketcher_free(bench.sketcher);
    free(bench.text);
    planted_free(bench.planted);
    index_close(bench.index, 0);
    backing_close(bench.backing);
    return 0;
}
