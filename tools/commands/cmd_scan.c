/* kinfs scan: index a tree without a mount, or look at all of it again. */
#include <stdio.h>

#include "base/proc_path.h"
#include "base/files/trust.h"
#include "tools/show/json_path.h"
#include "tools/questions/mounts.h"
#include "tools/questions/patience.h"
#include "tools/options/policy_choice.h"
#include "tools/commands/settling.h"
#include "tools/options/topics_choice.h"
#include "tools/options/word_choice.h"

int work_scan(const struct work_context *context, struct json_object *request, row_fn row,
              void *user, char **ret_error)
{
    if (work_flag(request, "rules") && !context->scan_is_new)
        return refuse(
            ret_error, -EBUSY,
            "%s: is being followed already, by rules of its own; end that first, or mount "
            "it with -o exclude= and the like",
            context->source);
    const size_t passages = work_count(request, "passages", 0);
    if (passages && !context->scan_is_new && passages != index_passages_words(context->index))
        return refuse(ret_error, -EBUSY,
                      "%s: is being followed already, without these passages; end that first, or "
                      "mount it with -o passages=%zu",
                      context->source, passages);
    const enum index_topics topics =
        (enum index_topics)work_count(request, "topics", INDEX_TOPICS_AS_STORED);
    if (topics > INDEX_TOPICS_OFF && topics <= INDEX_TOPICS_BOTH && !context->scan_is_new &&
        topics != index_topics_kept(context->index))
        return refuse(ret_error, -EBUSY,
                      "%s: is being followed already, without these words of documents; end that "
                      "first, or mount it with -o topics=%s",
                      context->source, topics_choice_word(topics));
    if (!context->scan_is_new)
        index_rescan(context->index);
    return work_settle(context, request, row, user, ret_error);
}

enum {
    OPTION_TOKENS = 0x100, /* no letters */
    OPTION_STOPWORDS,
    OPTION_STEMMER,
    OPTION_EXCLUDE,
    OPTION_TYPE,
    OPTION_EXCLUDE_TYPE,
    OPTION_MIN_SIZE,
    OPTION_MAX_SIZE,
    OPTION_PASSAGES,
    OPTION_TOPICS
};

struct scan_options {
    struct command_options common;
    const char *policy, *tokens, *stopwords, *stemmer, *config;
    struct document_rules documents;
    unsigned n_workers, passages;
    enum index_topics topics;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct scan_options *options = state->input;
    struct document_rules *rules = &options->documents;
    _cleanup_free_ char *error = NULL;
    uint8_t choice;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'c': options->config = argument; return 0;
    case 'p':
        if (policy_choice("--policy=", argument, &error) < 0)
            argp_error(state, "%s", error);
        options->policy = argument;
        return 0;
    case OPTION_STOPWORDS:
        if (word_choice_stopwords("--stopwords=", argument, &choice, &error) < 0)
            argp_error(state, "%s", error);
        options->stopwords = argument;
        return 0;
    case OPTION_TOKENS:
        if (word_choice_tokens("--tokens=", argument, &choice, &error) < 0)
            argp_error(state, "%s", error);
        options->tokens = argument;
        return 0;
    case OPTION_STEMMER:
        if (word_choice_stemmer("--stemmer=", argument, &choice, &error) < 0)
            argp_error(state, "%s", error);
        options->stemmer = argument;
        return 0;
    case OPTION_EXCLUDE: command_take_rule(state, rules, "exclude", argument); return 0;
    case OPTION_TYPE: command_take_rule(state, rules, "type", argument); return 0;
    case OPTION_EXCLUDE_TYPE: command_take_rule(state, rules, "exclude_type", argument); return 0;
    case OPTION_MIN_SIZE: command_take_rule(state, rules, "min_size", argument); return 0;
    case OPTION_MAX_SIZE: command_take_rule(state, rules, "max_size", argument); return 0;
    case OPTION_PASSAGES:
        options->passages =
            argument ? (unsigned)command_parse_count(state, "--passages", argument,
                                                     INDEX_PASSAGES_LEAST, INDEX_PASSAGES_MOST)
                     : INDEX_PASSAGES_USUAL;
        return 0;
    case OPTION_TOPICS:
        if (topics_choice("--topics=", argument, &options->topics, &error) < 0)
            argp_error(state, "%s", error);
        return 0;
    case 'w':
        options->n_workers = (unsigned)command_parse_count(state, "--workers", argument, 0, 256);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option scan_options[] = {
    {"config", 'c', "FILE", 0,
     "the configuration: its extractors, its clusterings, and which files are documents; the "
     "latter two are the store's from then on (" CONFIGURATION_FILE ")",
     0},
    {"policy", 'p', "NAME", 0, "of a new store: default (w=5) or broder1997 (w=10)", 0},
    {"tokens", OPTION_TOKENS, "KIND", 0,
     "of a new store: words (the default), letters (what is not alphabetic is left out), or "
     "words+tags: those of HTML and XML count as words do",
     0},
    {"stopwords", OPTION_STOPWORDS, "LIST", 0,
     "of a new store: words that are left out, none (the default), english, german, ...", 0},
    {"stemmer", OPTION_STEMMER, "NAME", 0,
     "of a new store: words are compared by their stems; none (the default), english, german, ...",
     0},
    {"exclude", OPTION_EXCLUDE, "PATTERN", 0,
     "files and directories that are no documents, as a line of a .kinfsignore; may be said again. "
     "These rules, with those of the configuration, are the store's from then on",
     0},
    {"type", OPTION_TYPE, "TYPE", 0,
     "documents are of such types alone, as html; may be said again", 0},
    {"exclude-type", OPTION_EXCLUDE_TYPE, "TYPE", 0,
     "files of this type are no documents, as binary; may be said again", 0},
    {"min-size", OPTION_MIN_SIZE, "BYTES", 0, "shorter files are no documents", 0},
    {"max-size", OPTION_MAX_SIZE, "BYTES", 0, "longer files are no documents", 0},
    {"passages", OPTION_PASSAGES, "N", OPTION_ARG_OPTIONAL,
     "index passages, for kinfs passages: all of N words in a row (24) are found; the store has "
     "them from then on, until a mount without -o passages",
     0},
    {"topics", OPTION_TOPICS, "KIND", 0,
     "content: keep the words of documents, for kinfs related; anchor: those by which others link "
     "to them; both; the store has them from then on, until --topics=off or a mount without -o "
     "topics",
     0},
    {"workers", 'w', "N", 0, "threads that sketch, 0 (the default) for one a processor", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {scan_options, parse, "SOURCE",
                                   "Index the documents below the directory SOURCE, without a "
                                   "mount; what was indexed before and has "
                                   "not changed is not read again. In a mount (or the source of "
                                   "one) its daemon looks at the whole "
                                   "tree again.",
                                   children};

/* The tree of a mount when the source is in one, else the source itself: it need not have a store.
 */
static int locate_source(const struct scan_options *options, struct location *ret_location,
                         char **ret_error)
{
    _cleanup_(location_done) struct location location = {0};
    _cleanup_(mounts_done) struct mounts mounts = {0};
    const struct mount *mount = NULL;
    patience_look(options->common.path);
    if (options->common.store)
        patience_look(options->common.store);
    _cleanup_close_ int fd = trust_open_anywhere(options->common.path, NULL);
    _cleanup_free_ char *real = NULL;
    struct stat st;
    int r = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : proc_path_real(fd, &real);
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s: no such directory; name the tree to index",
                      options->common.path);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", options->common.path, error_text(r));
    if (!S_ISDIR(st.st_mode))
        return refuse(ret_error, -ENOTDIR, "%s: not a directory; name the tree to index",
                      options->common.path);
    if (!options->common.store && mounts_read(NULL, &mounts) == 0 &&
        mounts_of_open(&mounts, fd, &mount) == 0 && mount_is_kinfs(mount))
        return locate(real, NULL, ret_location, ret_error);
    if (options->common.store) {
        location.store = message("%s", options->common.store);
    } else {
        r = location_default_store(real, &location.store, ret_error);
        if (r < 0)
            return r;
    }
    location.source = message("%s", real);
    location.base = message("%s", real);
    location.path = message("%s", "");
    *ret_location = location;
    location = (struct location){0};
    return 0;
}

int cmd_scan(int argc, char **argv)
{
    struct scan_options options = {.common.needs_path = true};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    _cleanup_(configuration_done) struct configuration configuration = {0};
    _cleanup_(document_rules_done) struct document_rules documents = {0};
    command_parse(&parser, argc, argv, &options);
    command_configuration(options.config, &configuration);
    int r = locate_source(&options, &location, &error);
    if (r == 0)
        r = document_rules_join(&configuration.documents, &options.documents, &documents, &error);
    const bool sets_rules = options.documents.n_said > 0;
    document_rules_done(&options.documents);
    if (r < 0)
        return command_end(r, error);
    _cleanup_json_ struct json_object *request = json_object_new_object();
    if (sets_rules)
        json_object_object_add(request, "rules", json_object_new_boolean(true));
    if (options.passages)
        work_add_count(request, "passages", options.passages);
    if (!options.topics)
        options.topics = configuration.topics;
    if (options.topics)
        work_add_count(request, "topics", options.topics);
    const struct ask question = {
        .location = &location,
        .command = "scan",
        .start = true,
        .create = true,
        .policy = options.policy,
        .tokens = options.tokens,
        .stopwords = options.stopwords,
        .stemmer = options.stemmer,
        .n_workers = options.n_workers,
        .passages = options.passages,
        .topics = options.topics,
        .configuration = &configuration,
        .rules = options.config || documents.n_said ? &documents : NULL,
        /* The store keeps the clusterings of -o clusters= where no configuration was asked for, and
         * the one there is has none. */
        .sets_clusterings = options.config || configuration.n_clusterings,
    };
    return settling_run(&question, request, options.common.json);
}
