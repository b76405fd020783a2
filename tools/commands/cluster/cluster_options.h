/* The options of `kinfs cluster`. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_OPTIONS_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/cluster/batch.h"
#include "tools/options/document_rules.h"
#include "tools/show/progress.h"

/* Of what bags are made: what a document says, what others say of it and its title, or both. */
enum topics_bags { TOPICS_ANCHOR, TOPICS_CONTENT, TOPICS_BOTH };

struct cluster_options {
    bool json, null, costs, reads_list, stored;
    bool threshold_given;
    bool resketches; /* the documents whose names are kept */
    bool resumes;    /* from what is kept, from the phase: */
    enum batch_phase phase;
    const char *phase_said;
    const char *policy, *scratch;    /* policy NULL: the default one */
    const char *config;              /* the configuration, NULL: the usual one */
    struct document_rules documents; /* beside those of the configuration; the caller's to end */
    const char *store;               /* of stored, NULL: where the tree has it */
    bool jsonl, zst, strict;         /* the paths are of a corpus (cluster_corpus.h) */
    const char *text_field, *id_field, *kept, *dropped; /* NULL: not wanted, of the first: "text" */
    const char **against;                               /* the caller's to free */
    size_t n_against, against_room;
    char **paths; /* borrowed */
    size_t n_paths;
    bool topics;           /* by topics (cluster_topics.h), and not by resemblance */
    enum topics_bags bags; /* of topics, as is the following */
    uint32_t window;       /* words before and behind a link */
    bool topics_said;      /* one of both was given */
    struct batch_options batch;
};

/* Fill in defaults and parse, or end with a usage error. Strings are of argv, or static. */
void cluster_options_parse(int argc, char **argv, struct cluster_options *ret_options);

/* The policy of documents that are sketched. Returns 0 or an error of policy_preset(). */
int cluster_options_policy(const struct cluster_options *options, struct policy *ret_policy);

/* Hand scratch directory and progress to the options of the batch. Returns 0, or -EXDEV with a line
 * in *ret_error. */
int cluster_options_use(struct cluster_options *options, struct progress *progress,
                        char **ret_error);

#endif
