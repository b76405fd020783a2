/* The experiment of Broder et al. 1997 with planted documents (tests/lib/documents/planted.h).
 *
 *   bench_broder [--memory=2G] [--mode=MODE] [--divide] [--threads=2] [--scratch=/var/tmp]
 *                [--keep=DIRECTORY [--resume] [--again=MODE:MEMORY]...] N...
 *
 * --again: once more, in that mode and memory, from the sketches that the first run left in the
 * directory; --resume: the first one, too, from those of a run before; --divide: loose clusters of
 * mode fast become stars.
 *
 * For each N: a line a phase with processor and wall time, bytes of scratch files read and written,
 * and what the paper's computers took of processor time, by its figures for 30 million documents;
 * then what was found of what was planted. From the second N on, how much longer it took than the
 * one before.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/bench/size_argument.h"
#include "tests/bench/broder_run.h"

/* Days of processor time for 30 million documents (section 4.1). */
static const double paper_sketch_days = 4.6;
static const double paper_days[BATCH_N_PHASES] = {
    [BATCH_DUPLICATES] = 0.3, [BATCH_SORT] = 1.7,     [BATCH_PAIRS] = 0.7,
    [BATCH_MERGE] = 2.6,      [BATCH_CLUSTERS] = 0.5,
};

static void print_row(const char *name, const struct batch_cost *cost, double paper_days_of_30m,
                      uint32_t n)
{
    double paper_s = paper_days_of_30m * 86400 * n / 30e6;
    printf("%-11s %9.2f %9.2f %9.0f %9.0f", name, cost->cpu_s, cost->wall_s,
           (double)cost->read_bytes / 1e6, (double)cost->written_bytes / 1e6);
    if (paper_s > 0)
        printf(" %11.0f %8.0f", paper_s, cost->cpu_s > 0 ? paper_s / cost->cpu_s : 0);
    putchar('\n');
}

static double print_costs(const struct broder_result *result, uint32_t n)
{
    const struct batch_totals *totals = &result->totals;
    double stream_cpu_s = result->generate_cpu_s + result->sketch_cpu_s;
    double generate_share = result->generate_cpu_s / stream_cpu_s;
    struct batch_cost generate = {.cpu_s = result->generate_cpu_s,
                                  .wall_s = result->stream_wall_s * generate_share};
    struct batch_cost sketch = {.cpu_s = result->sketch_cpu_s,
                                .wall_s = result->stream_wall_s * (1 - generate_share),
                                .written_bytes = totals->sketch_written_bytes};
    struct batch_cost all = sketch;
    const struct batch_cost *load = &totals->load;
    bool resumed = load->wall_s > 0;
    printf("%-11s %9s %9s %9s %9s %11s %8s\n", "phase", "CPU s", "wall s", "MB read", "MB writ.",
           "1996, CPU s", "times");
    if (!resumed) {
        print_row("(generate)", &generate, 0, n);
        print_row("sketch", &sketch, paper_sketch_days, n);
    } else {
        print_row("(read back)", load, 0, n);
        all = *load;
    }
    double paper_all = resumed ? 0 : paper_sketch_days, later_cpu_s = 0;
    for (enum batch_phase phase = 0; phase < BATCH_N_PHASES; phase++) {
        const struct batch_cost *cost = &totals->cost[phase];
        print_row(batch_phase_name(phase), cost, paper_days[phase], n);
        all.cpu_s += cost->cpu_s;
        later_cpu_s += cost->cpu_s;
        all.wall_s += cost->wall_s;
        all.read_bytes += cost->read_bytes;
        all.written_bytes += cost->written_bytes;
        paper_all += paper_days[phase];
    }
    print_row("all", &all, paper_all, n);
    printf("all phases after sketching: %.1f CPU s\n", later_cpu_s);
    return all.cpu_s;
}

static void print_result(const struct broder_result *result)
{
    const struct batch_totals *totals = &result->totals;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (result->text_bytes)
        printf("text %.2f GB, generated at %.2f GB/s, sketched at %.0f MB/s of a core\n",
               (double)result->text_bytes / 1e9,
               (double)result->text_bytes / 1e9 / result->generate_cpu_s,
               (double)result->text_bytes / 1e6 / result->sketch_cpu_s);
    printf("wall with generating, if any, %.1f s; scratch %.2f GB; resident at most %.2f GB (of "
           "this run and those before)\n",
           result->all_wall_s, (double)totals->scratch_bytes / 1e9, (double)usage.ru_maxrss / 1e6);
    printf("equal: %lu contents, %lu texts, %lu sets of shingles; nodes %lu\n",
           totals->equivalence.n_identical, totals->equivalence.n_lexical,
           totals->equivalence.n_shingles, totals->equivalence.n_nodes);
    printf("postings %lu, lists %lu, longest %lu", totals->lists.n_postings, totals->lists.n_lists,
           totals->lists.longest_list);
    if (totals->lists.n_pairs)
        printf(", left out %lu lists of %lu postings; pairs %lu, different %lu\n",
               totals->lists.n_left_out, totals->lists.n_postings_left_out, totals->lists.n_pairs,
               totals->lists.n_counted);
    else
        printf(", %lu with heads only; candidates %lu pairs, sketches compared %lu\n",
               totals->lists.n_shortened, totals->lists.n_candidates, totals->lists.n_compared);
    printf("clusters %lu of %lu documents, largest %lu; of one content %lu of %lu\n",
           totals->n_clusters, totals->n_clustered, totals->largest, totals->n_identical_clusters,
           totals->n_identical_clustered);
    printf("planted links of 0.6 and more: %lu of %lu found, %.3f %%; wrong %lu; clusters' digest "
           "%016lx\n",
           result->check.n_found, result->check.n_links,
           100.0 * (double)result->check.n_found / (double)result->check.n_links,
           result->check.n_wrong, result->digest);
}

static void print_links(const struct broder_result *result)
{
    printf("links found by resemblance, of documents of so many shingles and more\n%12s", "");
    for (unsigned j = 0; j < BRODER_N_LENGTHS; j++)
        printf(" %24u", broder_lengths[j]);
    putchar('\n');
    for (unsigned i = 0; i < BRODER_N_RESEMBLANCES; i++) {
        printf("%12.2f", broder_resemblances[i]);
        for (unsigned j = 0; j < BRODER_N_LENGTHS; j++) {
            const struct planted_check *links = &result->links[i][j];
            printf(" %8.3f %% of %10lu",
                   links->n_links ? 100.0 * (double)links->n_found / (double)links->n_links : 0,
                   links->n_links);
        }
        putchar('\n');
    }
}

static void usage(void)
{
    fputs("Usage: bench_broder [--memory=2G] [--mode=MODE] [--divide] [--threads=2] "
          "[--scratch=/var/tmp] "
          "[--keep=DIRECTORY [--resume] [--again=MODE:MEMORY]...] N...\n",
          stderr);
    exit(2);
}

static uint64_t parse_size(const char *text)
{
    const uint64_t size = size_argument(text);
    if (size == 0)
        usage();
    return size;
}

static enum batch_mode parse_mode(const char *name)
{
    for (enum batch_mode mode = 0; mode < BATCH_N_MODES; mode++)
        if (strcmp(name, batch_mode_name(mode)) == 0)
            return mode;
    usage();
    return BATCH_EXACT;
}

enum { AGAIN_MAX = 8 };

struct again {
    enum batch_mode mode;
    uint64_t memory_bytes;
};

static struct again parse_again(char *text)
{
    char *colon = strchr(text, ':');
    if (!colon)
        usage();
    *colon = '\0';
    return (struct again){parse_mode(text), parse_size(colon + 1)};
}

/* Returns the seconds of processor time; fails as a whole. */
static double run(const struct batch_options *options, bool resume,
                  struct broder_result *ret_result)
{
    int r = (resume ? broder_resume : broder_run)(options, 1996, ret_result);
    if (r < 0) {
        fprintf(stderr, "bench_broder: %u: %s\n", options->n_documents, strerror(-r));
        exit(1);
    }
    printf("%u documents, %s, %u threads, %.2f GB%s\n", options->n_documents,
           batch_mode_name(options->mode), options->n_threads,
           (double)options->memory_bytes / (1 << 30), resume ? ", from the same sketches" : "");
    double cpu_s = print_costs(ret_result, options->n_documents);
    print_result(ret_result);
    if (options->n_documents <= BRODER_MOST_LISTED)
        print_links(ret_result);
    putchar('\n');
    fflush(stdout);
    return cpu_s;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"memory", required_argument, NULL, 'M'},
                                          {"mode", required_argument, NULL, 'm'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"scratch", required_argument, NULL, 's'},
                                          {"keep", required_argument, NULL, 'k'},
                                          {"again", required_argument, NULL, 'a'},
                                          {"resume", no_argument, NULL, 'r'},
                                          {"divide", no_argument, NULL, 'd'},
                                          {0}};
    struct batch_options options = {
        .scratch = "/var/tmp",
        .memory_bytes = (uint64_t)2 << 30,
        .n_threads = 2,
        .threshold = 0.5,
        .whole = true}; /* copies of copies are planted: links, and not stars */
    struct again again[AGAIN_MAX];
    unsigned n_again = 0;
    bool resume = false;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (option) {
        case 'M': options.memory_bytes = parse_size(optarg); break;
        case 'm': options.mode = parse_mode(optarg); break;
        case 't': options.n_threads = (unsigned)atoi(optarg); break;
        case 's': options.scratch = optarg; break;
        case 'k': options.keep = optarg; break;
        case 'r': resume = true; break;
        case 'd': options.whole = false; break;
        case 'a':
            if (n_again == AGAIN_MAX)
                usage();
            again[n_again++] = parse_again(optarg);
            break;
        default: usage();
        }
    }
    if (optind == argc || ((n_again || resume) && !options.keep))
        usage();
    double cpu_before = 0, wall_before = 0;
    for (int i = optind; i < argc; i++) {
        struct broder_result result;
        options.n_documents = (uint32_t)strtoul(argv[i], NULL, 10);
        double cpu_s = run(&options, resume, &result);
        if (i > optind)
            printf("CPU time %.2f times, wall %.2f times that of the one before\n\n",
                   cpu_s / cpu_before, result.all_wall_s / wall_before);
        cpu_before = cpu_s;
        wall_before = result.all_wall_s;
        for (unsigned j = 0; j < n_again; j++) {
            struct batch_options other = options;
            other.mode = again[j].mode;
            other.memory_bytes = again[j].memory_bytes;
            run(&other, true, &result);
        }
    }
    return 0;
}
