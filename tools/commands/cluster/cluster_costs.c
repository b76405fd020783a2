#include "tools/commands/cluster/cluster_costs.h"

#include <stdio.h>

#include "base/counted.h"
#include "tools/show/json_line.h"
#include "tools/show/json_path.h"
#include "tools/questions/work.h"

/* The paper's days of processor time for 30 million documents (Broder et al. 1997, section 4.1). */
static const double paper_sketch_days = 4.6;
static const double paper_days[BATCH_N_PHASES] = {
    [BATCH_DUPLICATES] = 0.3, [BATCH_SORT] = 1.7,     [BATCH_PAIRS] = 0.7,
    [BATCH_MERGE] = 2.6,      [BATCH_CLUSTERS] = 0.5,
};

struct row {
    const char *phase;
    const struct batch_cost *cost;
    double paper_days;
};

static void add_seconds(struct json_object *object, const char *name, double seconds)
{
    char text[32];
    snprintf(text, sizeof(text), "%.3f", seconds);
    json_object_object_add(object, name, json_object_new_double_s(seconds, text));
}

static void print_row(const struct row *row, uint64_t n_documents, bool json)
{
    const struct batch_cost *cost = row->cost;
    double paper_s = row->paper_days * 86400 * (double)n_documents / 30e6;
    if (!json) {
        fprintf(stderr, "%-11s %9.2f %9.2f %9.0f %9.0f %14.1f\n", row->phase, cost->cpu_s,
                cost->wall_s, (double)cost->read_bytes / 1e6, (double)cost->written_bytes / 1e6,
                paper_s);
        return;
    }
    _cleanup_json_ struct json_object *object = json_object_new_object();
    json_object_object_add(object, "phase", json_object_new_string(row->phase));
    add_seconds(object, "cpu_seconds", cost->cpu_s);
    add_seconds(object, "wall_seconds", cost->wall_s);
    work_add_count(object, "read_bytes", cost->read_bytes);
    work_add_count(object, "written_bytes", cost->written_bytes);
    add_seconds(object, "cpu_seconds_1996", paper_s);
    json_line_print(stderr, object);
}

static void print_totals_json(const struct batch_totals *totals)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"documents", totals->n_documents},
        {"without_words", totals->n_empty},
        {"equal_content", totals->equivalence.n_identical},
        {"equal_text", totals->equivalence.n_lexical},
        {"equal_shingles", totals->equivalence.n_shingles},
        {"clusters", totals->n_clusters},
        {"clustered_documents", totals->n_clustered},
        {"largest_cluster", totals->largest},
        {"identical_clusters", totals->n_identical_clusters},
        {"identical_clustered_documents", totals->n_identical_clustered},
        {"lists", totals->lists.n_lists},
        {"shortened_lists", totals->lists.n_shortened},
        {"lists_left_out", totals->lists.n_left_out},
        {"scratch_bytes", totals->scratch_bytes},
    };
    _cleanup_json_ struct json_object *object = json_object_new_object();
    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        work_add_count(object, counts[i].name, counts[i].value);
    json_line_print(stderr, object);
}

static void print_totals(const struct batch_totals *totals)
{
    fprintf(stderr,
            "%s, %llu without words; equal to another: content %llu, else text %llu, else shingles "
            "%llu\n",
            counted(totals->n_documents, "document").text, (unsigned long long)totals->n_empty,
            (unsigned long long)totals->equivalence.n_identical,
            (unsigned long long)totals->equivalence.n_lexical,
            (unsigned long long)totals->equivalence.n_shingles);
    fprintf(stderr, "%s of %s, the largest of %llu; of one content %llu of %llu\n",
            counted(totals->n_clusters, "cluster").text,
            counted(totals->n_clustered, "document").text, (unsigned long long)totals->largest,
            (unsigned long long)totals->n_identical_clusters,
            (unsigned long long)totals->n_identical_clustered);
    if (totals->lists.n_shortened)
        fprintf(stderr, "%s so long that all were compared with its first documents only\n",
                counted(totals->lists.n_shortened, "list").text);
    if (totals->lists.n_left_out)
        fprintf(stderr, "%s of more than 1,000 documents left out\n",
                counted(totals->lists.n_left_out, "shingle").text);
}

void cluster_costs_print(const struct batch_cost *sketch, const struct batch_totals *totals,
                         bool json)
{
    if (!json)
        fprintf(stderr, "%-11s %9s %9s %9s %9s %14s\n", "phase", "CPU s", "wall s", "MB read",
                "MB writ.", "in 1996, CPU s");
    if (sketch->wall_s > 0)
        print_row(&(struct row){"sketch", sketch, paper_sketch_days}, totals->n_documents, json);
    if (totals->load.wall_s > 0)
        print_row(&(struct row){"read back", &totals->load, 0}, totals->n_documents, json);
    for (enum batch_phase phase = 0; phase < BATCH_N_PHASES; phase++)
        print_row(&(struct row){batch_phase_name(phase), &totals->cost[phase], paper_days[phase]},
                  totals->n_documents, json);
    if (json)
        print_totals_json(totals);
    else
        print_totals(totals);
}
