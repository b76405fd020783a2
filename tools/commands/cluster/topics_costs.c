#include "tools/commands/cluster/topics_costs.h"

#include <stdio.h>

#include "base/counted.h"
#include "tools/questions/work.h"
#include "tools/show/json_line.h"
#include "tools/show/json_path.h"

/* Hours of processor time in the paper's table: of 12 million documents that of bags, of 35 million
 * bags that of the others (Haveliwala, Gionis and Indyk 2000, section 6). */
static const struct {
    const char *name;
    double hours;
} phases[TOPICS_N_PHASES] = {
    [TOPICS_BAGS] = {"bags", 2 * 23},         [TOPICS_SORT_BAGS] = {"sort bags", 2 * 4.7},
    [TOPICS_SIGNATURES] = {"signatures", 26}, [TOPICS_PAIRS] = {"pairs", 16},
    [TOPICS_FILTER] = {"filter", 83},         [TOPICS_SORT] = {"sort", 107},
    [TOPICS_CENTER] = {"center", 18},
};

const char *topics_phase_name(enum topics_phase phase)
{
    return phases[phase].name;
}

static void add_seconds(struct json_object *object, const char *name, double seconds)
{
    char text[32];
    snprintf(text, sizeof(text), "%.3f", seconds);
    json_object_object_add(object, name, json_object_new_double_s(seconds, text));
}

static void print_phase(const struct topics_totals *totals, enum topics_phase phase, bool json)
{
    const struct near_cost *cost = &totals->cost[phase];
    const double share = phase == TOPICS_BAGS ? (double)totals->n_documents / 12e6
                                              : (double)totals->bags.n_bags / 35e6;
    const double paper_s = phases[phase].hours * 3600 * share;
    if (!json) {
        fprintf(stderr, "%-11s %9.2f %9.2f %9.0f %9.0f %14.1f\n", phases[phase].name, cost->cpu_s,
                cost->wall_s, (double)cost->read_bytes / 1e6, (double)cost->written_bytes / 1e6,
                paper_s);
        return;
    }
    _cleanup_json_ struct json_object *object = json_object_new_object();
    json_object_object_add(object, "phase", json_object_new_string(phases[phase].name));
    add_seconds(object, "cpu_seconds", cost->cpu_s);
    add_seconds(object, "wall_seconds", cost->wall_s);
    work_add_count(object, "read_bytes", cost->read_bytes);
    work_add_count(object, "written_bytes", cost->written_bytes);
    add_seconds(object, "cpu_seconds_2000", paper_s);
    json_line_print(stderr, object);
}

static void print_json(const struct topics_totals *totals)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        {"documents", totals->n_documents},
        {"links", totals->n_links},
        {"fragments_of_links", totals->n_windows},
        {"bags", totals->bags.n_bags},
        {"targets_without_document", totals->n_others},
        {"words_of_bags", totals->bags.n_bag_words},
        {"different_words", totals->bags.n_words},
        {"candidate_pairs", totals->near.n_different},
        {"near_pairs", totals->near.n_kept},
        {"shortened_lists", totals->near.n_shortened},
        {"clusters", totals->printed.n_clusters},
        {"clustered", totals->printed.n_members},
    };
    _cleanup_json_ struct json_object *object = json_object_new_object();
    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        work_add_count(object, counts[i].name, counts[i].value);
    json_line_print(stderr, object);
}

static void print_text(const struct topics_totals *totals)
{
    fprintf(stderr, "%s, ", counted(totals->n_documents, "document").text);
    fprintf(stderr, "%s; ", counted(totals->n_links, "link").text);
    fprintf(stderr, "%s, of which %llu of what is no document here, with %llu different words\n",
            counted(totals->bags.n_bags, "bag").text, (unsigned long long)totals->n_others,
            (unsigned long long)totals->bags.n_words);
    fprintf(stderr, "%s, of which %llu near; ",
            counted(totals->near.n_different, "candidate pair").text,
            (unsigned long long)totals->near.n_kept);
    fprintf(stderr, "%s of %llu\n", counted(totals->printed.n_clusters, "cluster").text,
            (unsigned long long)totals->printed.n_members);
    if (totals->near.n_shortened)
        fprintf(stderr, "%s so long that all were compared with its first bags only\n",
                counted(totals->near.n_shortened, "list").text);
}

void topics_costs_print(const struct topics_totals *totals, bool json)
{
    if (!json)
        fprintf(stderr, "%-11s %9s %9s %9s %9s %14s\n", "phase", "CPU s", "wall s", "MB read",
                "MB writ.", "in 2000, CPU s");
    for (enum topics_phase phase = 0; phase < TOPICS_N_PHASES; phase++)
        print_phase(totals, phase, json);
    if (json)
        print_json(totals);
    else
        print_text(totals);
}
