/* The experiment of Haveliwala, Gionis and Indyk 2000 with a planted link graph (topics_run.h).
 *
 *   bench_topics [--memory=2G] [--threads=2] [--scratch=/var/tmp] [--draws=125] [--k=3]
 *                [--heads=100] [--threshold=0.2] PAGES...
 *
 * For each number of pages: a line a phase with processor and wall time, bytes of scratch files
 * read and written, and what the paper's computers took of processor time, by its figures for 12
 * million pages (section 6); then what was found. From the second number on, how much longer it
 * took than the one before. Words are drawn, not read from pages: the first phase has no HTML.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/bench/size_argument.h"
#include "tests/bench/topics_run.h"

static const struct {
    const char *name;
    double hours; /* of a processor, for 12 million pages */
} phases[TOPICS_N_PHASES] = {
    [TOPICS_BAGS] = {"bags", 46},
    [TOPICS_SORT_BAGS] = {"sort bags", 9.4},
    [TOPICS_SIGNATURES] = {"signatures", 26},
    [TOPICS_CANDIDATES] = {"pairs", 16},
    [TOPICS_FILTER] = {"filter", 83},
    [TOPICS_SORT] = {"sort", 107},
    [TOPICS_CENTER] = {"CENTER", 18},
};

static void print_row(const char *name, const struct near_cost *cost, double hours, uint32_t n)
{
    double paper_s = hours * 3600 * n / 12e6;
    printf("%-11s %9.2f %9.2f %9.0f %9.0f %11.0f %8.0f\n", name, cost->cpu_s, cost->wall_s,
           (double)cost->read_bytes / 1e6, (double)cost->written_bytes / 1e6, paper_s,
           cost->cpu_s > 0 ? paper_s / cost->cpu_s : 0);
}

static double print_costs(const struct topics_result *result, uint32_t n)
{
    struct near_cost all = {.wall_s = result->all_wall_s};
    double hours = 0;
    printf("%-11s %9s %9s %9s %9s %11s %8s\n", "phase", "CPU s", "wall s", "MB read", "MB writ.",
           "2000, CPU s", "times");
    for (enum topics_phase phase = 0; phase < TOPICS_N_PHASES; phase++) {
        const struct near_cost *cost = &result->cost[phase];
        print_row(phases[phase].name, cost, phases[phase].hours, n);
        all.cpu_s += cost->cpu_s;
        all.read_bytes += cost->read_bytes;
        all.written_bytes += cost->written_bytes;
        hours += phases[phase].hours;
    }
    print_row("all", &all, hours, n);
    return all.cpu_s;
}

static void print_result(const struct topics_result *result)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("targets %u, words %lu; clustered %u of enough links, signatures %.2f GB; resident at "
           "most %.2f GB (of this run and those before)\n",
           result->n_targets, result->n_words, result->n_nodes,
           (double)result->signature_bytes / 1e9, (double)usage.ru_maxrss / 1e6);
    printf("candidates %lu, different %lu of %.3g in all, kept %lu in %u passes; places of more "
           "nodes than heads %lu, longest %u\n",
           result->near.n_candidates, result->near.n_different,
           (double)result->n_nodes * (result->n_nodes - 1.0) / 2, result->near.n_kept,
           result->near.n_passes, result->near.n_shortened, result->near.longest);
    printf("clusters %lu of %lu nodes, of their centre's topic %.3f %%; digest %016lx\n",
           result->n_centres, result->n_clustered,
           100.0 * (double)result->n_right / (double)result->n_clustered, result->digest);
    printf("%-18s", "similarity, from");
    for (unsigned i = 0; i < SAMPLE_SIMILARITIES; i++)
        printf(" %7.2f", 0.1 + 0.05 * i);
    printf("\n%-18s", "pairs of a sample");
    for (unsigned i = 0; i < SAMPLE_SIMILARITIES; i++)
        printf(" %7lu", result->pairs[i]);
    printf("\n%-18s", "found");
    for (unsigned i = 0; i < SAMPLE_SIMILARITIES; i++)
        printf(" %7.3f",
               result->pairs[i] ? (double)result->found[i] / (double)result->pairs[i] : 0);
    printf("\n\n");
}

static void usage(void)
{
    fputs("Usage: bench_topics [--memory=2G] [--threads=2] [--scratch=/var/tmp] [--draws=125] "
          "[--k=3] [--heads=100] [--threshold=0.2] PAGES...\n",
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

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"memory", required_argument, NULL, 'M'},    {"threads", required_argument, NULL, 't'},
        {"scratch", required_argument, NULL, 's'},   {"draws", required_argument, NULL, 'l'},
        {"k", required_argument, NULL, 'k'},         {"heads", required_argument, NULL, 'h'},
        {"threshold", required_argument, NULL, 'T'}, {0}};
    struct topics_options options = {.seed = 2000,
                                     .memory_bytes = (uint64_t)2 << 30,
                                     .n_threads = 2,
                                     .n_draws = 125,
                                     .k = 3,
                                     .heads = 100,
                                     .threshold = 0.2,
                                     .scratch = "/var/tmp"};
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (option) {
        case 'M': options.memory_bytes = parse_size(optarg); break;
        case 't': options.n_threads = (unsigned)atoi(optarg); break;
        case 's': options.scratch = optarg; break;
        case 'l': options.n_draws = (unsigned)atoi(optarg); break;
        case 'k': options.k = (unsigned)atoi(optarg); break;
        case 'h': options.heads = (unsigned)atoi(optarg); break;
        case 'T': options.threshold = atof(optarg); break;
        default: usage();
        }
    }
    if (optind == argc || options.n_threads < 1)
        usage();
    double cpu_before = 0, wall_before = 0;
    for (int i = optind; i < argc; i++) {
        struct topics_result result;
        options.n_pages = (uint32_t)strtoul(argv[i], NULL, 10);
        int r = topics_run(&options, &result);
        if (r < 0) {
            fprintf(stderr, "bench_topics: %u: %s\n", options.n_pages, strerror(-r));
            return 1;
        }
        printf("%u pages, %u threads, %.2f GB\n", options.n_pages, options.n_threads,
               (double)options.memory_bytes / (1 << 30));
        double cpu_s = print_costs(&result, options.n_pages);
        print_result(&result);
        if (i > optind)
            printf("CPU time %.2f times, wall %.2f times that of the one before\n\n",
                   cpu_s / cpu_before, result.all_wall_s / wall_before);
        cpu_before = cpu_s;
        wall_before = result.all_wall_s;
        fflush(stdout);
    }
    return 0;
}
