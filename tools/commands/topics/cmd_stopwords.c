/* kinfs stopwords: the words that most documents have, which tell nothing of any. */
#include <errno.h>
#include <stdio.h>

#include "base/counted.h"
#include "base/ratio.h"
#include "tools/commands/command.h"
#include "tools/commands/topics/word_counts.h"
#include "tools/documents/document_bag.h"
#include "tools/documents/regular_file.h"
#include "tools/options/word_choice.h"
#include "tools/show/json_path.h"
#include "tools/show/progress.h"

enum { DEFAULT_TOP = 500, WORDS_IN_MEMORY = 1 << 20 };

struct stopwords_options {
    char **paths;
    size_t n_paths;
    const char *config;
    struct word_options words;
    uint64_t top;
    bool json, plain;
};

enum { OPTION_TOP = 0x100, OPTION_PLAIN, OPTION_TOKENS, OPTION_STEMMER };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct stopwords_options *options = state->input;
    _cleanup_free_ char *error = NULL;
    switch (key) {
    case OPTION_TOP:
        options->top = command_parse_count(state, "--top", argument, 0, UINT32_MAX);
        return 0;
    case OPTION_TOKENS:
        if (word_choice_tokens("--tokens=", argument, &options->words.tokens, &error) < 0)
            argp_error(state, "%s", error);
        if (options->words.tokens == TOKENS_WORDS_AND_TAGS)
            argp_error(state, "--tokens=%s: tags are no words; say words or letters", argument);
        return 0;
    case OPTION_STEMMER:
        if (word_choice_stemmer("--stemmer=", argument, &options->words.stemmer, &error) < 0)
            argp_error(state, "%s", error);
        return 0;
    case OPTION_PLAIN: options->plain = true; return 0;
    case 'c': options->config = argument; return 0;
    case 'j': command_set_json(&options->json); return 0;
    case ARGP_KEY_ARGS:
        options->paths = state->argv + state->next;
        options->n_paths = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!options->n_paths)
            argp_usage(state);
        if (options->json && options->plain)
            argp_error(state, "--json and --plain exclude each other");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option stopwords_options[] = {
    {"top", OPTION_TOP, "N", 0, "so many words, 0 for all (default 500)", 0},
    {"plain", OPTION_PLAIN, NULL, 0, "print the words alone, one a line", 0},
    {"tokens", OPTION_TOKENS, "KIND", 0, "words or letters (default letters)", 0},
    {"stemmer", OPTION_STEMMER, "NAME", 0, "how words become stems (default none)", 0},
    {"config", 'c', "FILE", 0, "for the extractors (" CONFIGURATION_FILE ")", 0},
    {"json", 'j', NULL, 0, "print JSON, an object a line", 10},
    {0},
};
static const struct argp parser = {
    stopwords_options, parse, "PATH...",
    "Print the words that stand in most documents, of files and of all documents below "
    "directories: how many documents have it, their share, and the word, with tabs between. "
    "Memory is bounded, whatever there is to be read: where words had to be forgotten, the numbers "
    "of words that came late may be too small, and --json says by how much. Exit code 1 when there "
    "is none.",
    NULL};

struct counting {
    const struct stopwords_options *options;
    struct configuration configuration;
    struct document_list documents;
    struct word_counts counts;
    struct bag_reader reader;
    struct progress progress;
    uint64_t n_read, n_unread;
    int error;
};

static void counting_done(struct counting *counting)
{
    bag_reader_done(&counting->reader);
    word_counts_done(&counting->counts);
    document_list_done(&counting->documents);
    configuration_done(&counting->configuration);
}

/* Each word of a document comes once. */
static void take_word(void *user, uint64_t word, const uint8_t *text, size_t n_bytes)
{
    struct counting *counting = user;
    (void)word;
    int r = word_counts_add(&counting->counts, text, n_bytes);
    if (r < 0)
        counting->error = r;
}

static int unread(struct counting *counting, const char *path, int error, const char *why)
{
    if (error == -ENOMEM)
        return error;
    if (why)
        complain("%s", why);
    else
        complain("%s: %s", path, error_text(error));
    counting->n_unread++;
    return 0;
}

static int read_document(struct counting *counting, uint32_t i, struct place_way *way)
{
    _cleanup_(text_source_done) struct text_source text = {.fd = -1};
    _cleanup_(bag_done) struct bag content = {0}, title = {0};
    _cleanup_free_ char *path = document_list_path(&counting->documents, i), *why = NULL;
    struct bag_document_counts counts;
    if (!path)
        return -ENOMEM;
    _cleanup_close_ int fd = regular_file_open_found(&counting->documents, i, way);
    if (fd < 0)
        return unread(counting, path, fd, NULL);
    int r = text_source_open(path, fd, &counting->configuration, 0, &text, &why);
    if (r == 0)
        r = bag_reader_read(&counting->reader, &text, &counting->error, &content, &title, &counts);
    if (r < 0)
        return unread(counting, path, r, why);
    if (counts.cut)
        remark("%s: too long for what it takes on the disk; the rest does not count", path);
    counting->n_read++;
    return 0;
}

static int read_all(struct counting *counting)
{
    struct place_way way = {0};
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < counting->documents.n; i++) {
        progress_update(&counting->progress, i, counting->documents.n, false);
        r = read_document(counting, i, &way);
    }
    progress_done(&counting->progress);
    place_way_done(&way);
    return r;
}

static int list_documents(struct counting *counting, char **ret_error)
{
    const struct stopwords_options *options = counting->options;
    size_t failed;
    int r = document_list_add(&counting->documents, options->paths, options->n_paths, NULL,
                              &counting->configuration.documents, &failed);
    counting->n_unread = counting->documents.n_unread;
    return document_list_refuse(r, options->paths, options->n_paths, failed, ret_error);
}

/* -- printing -- */

static void print_json(const struct counting *counting, const struct word_count *count)
{
    _cleanup_json_ struct json_object *row = json_object_new_object();
    json_object_object_add(row, "word", json_object_new_string(count->word));
    work_add_count(row, "documents", count->n);
    work_add_ratio(row, "share", (double)count->n / (double)counting->n_read);
    work_add_count(row, "missed", count->missed);
    command_print_json(row);
}

static void print_text(const struct counting *counting, const struct word_count *count)
{
    printf("%llu\t%s\t%s\n", (unsigned long long)count->n,
           ratio_text((double)count->n / (double)counting->n_read).text, count->word);
}

static void print(struct counting *counting)
{
    const struct stopwords_options *options = counting->options;
    size_t n = word_counts_sort(&counting->counts);
    if (options->top && options->top < n)
        n = options->top;
    for (size_t i = 0; i < n; i++)
        if (options->json)
            print_json(counting, &counting->counts.slots[i]);
        else if (options->plain)
            puts(counting->counts.slots[i].word);
        else
            print_text(counting, &counting->counts.slots[i]);
}

static int count_words(struct counting *counting, char **ret_error)
{
    const struct bag_document_options options = {.words = counting->options->words,
                                                 .most_words = DOCUMENT_BAG_MOST_WORDS};
    const struct bag_document_sink sink = {.word = take_word, .user = counting};
    int r = list_documents(counting, ret_error);
    if (r == 0)
        r = word_counts_init(&counting->counts, WORDS_IN_MEMORY);
    if (r == 0)
        r = bag_reader_new(&options, &sink, &counting->reader);
    if (r == 0)
        r = read_all(counting);
    if (r < 0)
        return r;
    print(counting);
    if (counting->n_unread)
        return refuse(ret_error, -EIO, "%s could not be read",
                      counted(counting->n_unread, "document").text);
    return counting->counts.n ? 0 : -ENODATA;
}

int cmd_stopwords(int argc, char **argv)
{
    struct stopwords_options options = {.top = DEFAULT_TOP, .words = bag_words_default()};
    _cleanup_(counting_done) struct counting counting = {.options = &options};
    _cleanup_free_ char *error = NULL;
    options.words.stop_list = STOP_LIST_NONE;
    options.words.stemmer = 0;
    command_parse(&parser, argc, argv, &options);
    command_configuration(options.config, &counting.configuration);
    progress_init(&counting.progress);
    int r = count_words(&counting, &error);
    return command_end(r, error);
}
