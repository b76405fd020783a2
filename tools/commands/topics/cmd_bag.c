/* kinfs bag: the words that a document is about, and what it says of those it links to. */
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "base/escape.h"
#include "tools/commands/command.h"
#include "tools/documents/document_bag.h"
#include "tools/documents/regular_file.h"
#include "tools/options/word_choice.h"
#include "tools/questions/patience.h"
#include "tools/show/json_path.h"

enum { MOST_WINDOW = 1000 };

struct bag_options {
    const char *path, *config;
    size_t limit;
    uint32_t window;
    struct word_options words;
    bool json;
};

enum { OPTION_WINDOW = 0x100, OPTION_TOKENS, OPTION_STOPWORDS, OPTION_STEMMER };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct bag_options *options = state->input;
    _cleanup_free_ char *error = NULL;
    switch (key) {
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX);
        return 0;
    case OPTION_WINDOW:
        options->window =
            (uint32_t)command_parse_count(state, "--window", argument, 0, MOST_WINDOW);
        return 0;
    case OPTION_TOKENS:
        if (word_choice_tokens("--tokens=", argument, &options->words.tokens, &error) < 0)
            argp_error(state, "%s", error);
        if (options->words.tokens == TOKENS_WORDS_AND_TAGS)
            argp_error(state, "--tokens=%s: tags are no words; say words or letters", argument);
        return 0;
    case OPTION_STOPWORDS:
        if (word_choice_stopwords("--stopwords=", argument, &options->words.stop_list, &error) < 0)
            argp_error(state, "%s", error);
        return 0;
    case OPTION_STEMMER:
        if (word_choice_stemmer("--stemmer=", argument, &options->words.stemmer, &error) < 0)
            argp_error(state, "%s", error);
        return 0;
    case 'c': options->config = argument; return 0;
    case 'j': command_set_json(&options->json); return 0;
    case ARGP_KEY_ARG:
        if (options->path)
            argp_usage(state);
        options->path = argument;
        return 0;
    case ARGP_KEY_END:
        if (!options->path)
            argp_usage(state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option bag_options[] = {
    {"limit", 'n', "N", 0, "most words of each list, 0 for all (default 0)", 0},
    {"window", OPTION_WINDOW, "N", 0, "words before and behind the text of a link (default 8)", 0},
    {"tokens", OPTION_TOKENS, "KIND", 0, "words or letters (default letters)", 0},
    {"stopwords", OPTION_STOPWORDS, "LIST", 0, "words that are left out (default english)", 0},
    {"stemmer", OPTION_STEMMER, "NAME", 0, "how words become stems (default porter)", 0},
    {"config", 'c', "FILE", 0, "for the extractors (" CONFIGURATION_FILE ")", 0},
    {"json", 'j', NULL, 0, "print JSON", 10},
    {0},
};
static const struct argp parser = {
    bag_options, parse, "FILE",
    "Print how often a document has which words, as stems, without stop words, the most frequent "
    "first; those of its title; and of each link of an HTML document the words around it. Exit "
    "code 1 when it has no words.",
    NULL};

/* -- words in order -- */

struct spelled {
    const char *text;
    double weight;
};

static int compare_spelled(const void *a, const void *b)
{
    const struct spelled *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight)
                                  : strcmp(x->text, y->text);
}

/* The heaviest words of a bag, of equal ones by the alphabet; gives. Words past those that are
 * spelled are left out. */
static struct spelled *heaviest(const struct bag_options *options, const struct document_bag *all,
                                const struct bag *bag, size_t *ret_n)
{
    struct spelled *words = calloc(bag->n_words + 1, sizeof(*words));
    size_t n = 0;
    for (uint32_t i = 0; words && i < bag->n_words; i++) {
        const char *text = spellings_of(&all->stems, bag->words[i].word);
        if (text)
            words[n++] = (struct spelled){text, bag->words[i].weight};
    }
    if (words)
        qsort(words, n, sizeof(*words), compare_spelled);
    *ret_n = options->limit && options->limit < n ? options->limit : n;
    return words;
}

/* -- text -- */

static void print_words(const struct bag_options *options, const struct document_bag *all,
                        const struct bag *bag)
{
    size_t n;
    _cleanup_free_ struct spelled *words = heaviest(options, all, bag, &n);
    for (size_t i = 0; i < n; i++)
        printf("%8.0f  %s\n", words[i].weight, words[i].text);
}

static void print_text(const struct bag_options *options, const struct document_bag *bag)
{
    printf("%s, %u different%s\n", counted(bag->counts.n_words, "word").text, bag->content.n_words,
           bag->counts.cut ? ", and more that are not counted" : "");
    print_words(options, bag, &bag->content);
    if (bag->title.n_words) {
        puts("\ntitle");
        print_words(options, bag, &bag->title);
    }
    for (size_t i = 0; i < bag->n_windows; i++) {
        _cleanup_free_ char *escaped = NULL;
        if (escape_name(spellings_of(&bag->targets, bag->windows[i].target), &escaped) == 0)
            printf("\nto %s\n", escaped);
        print_words(options, bag, &bag->windows[i].words);
    }
    if (bag->counts.n_windows > bag->n_windows)
        printf("\nand %llu more\n", (unsigned long long)(bag->counts.n_windows - bag->n_windows));
}

/* -- JSON -- */

static struct json_object *make_words(const struct bag_options *options,
                                      const struct document_bag *all, const struct bag *bag)
{
    struct json_object *array = json_object_new_array();
    size_t n;
    _cleanup_free_ struct spelled *words = heaviest(options, all, bag, &n);
    for (size_t i = 0; i < n; i++) {
        struct json_object *word = json_object_new_object();
        json_object_object_add(word, "word", json_object_new_string(words[i].text));
        work_add_count(word, "count", (uint64_t)words[i].weight);
        json_object_array_add(array, word);
    }
    return array;
}

static void print_json(const struct bag_options *options, const struct document_bag *bag)
{
    _cleanup_json_ struct json_object *object = json_object_new_object();
    struct json_object *windows = json_object_new_array();
    json_path_add(object, "path", options->path);
    work_add_count(object, "tokens", bag->counts.n_tokens);
    work_add_count(object, "words", bag->counts.n_words);
    work_add_count(object, "different_words", bag->content.n_words);
    json_object_object_add(object, "cut", json_object_new_boolean(bag->counts.cut));
    work_add_count(object, "links", bag->counts.n_links);
    work_add_count(object, "links_to_itself", bag->counts.n_own);
    work_add_count(object, "links_left_out",
                   bag->counts.n_left_out + bag->counts.n_windows - bag->n_windows);
    json_object_object_add(object, "content", make_words(options, bag, &bag->content));
    json_object_object_add(object, "title", make_words(options, bag, &bag->title));
    for (size_t i = 0; i < bag->n_windows; i++) {
        struct json_object *window = json_object_new_object();
        json_path_add(window, "target", spellings_of(&bag->targets, bag->windows[i].target));
        json_object_object_add(window, "content", make_words(options, bag, &bag->windows[i].words));
        json_object_array_add(windows, window);
    }
    json_object_object_add(object, "windows", windows);
    command_print_json(object);
}

static int read_bag(const struct bag_options *options, struct document_bag *bag, char **ret_error)
{
    _cleanup_(configuration_done) struct configuration configuration = {0};
    _cleanup_(text_source_done) struct text_source text = {.fd = -1};
    command_configuration(options->config, &configuration);
    patience_look(options->path);
    _cleanup_close_ int fd = regular_file_open(options->path);
    if (fd == -EINVAL)
        return refuse(ret_error, fd, "%s: not a regular file; name a document", options->path);
    if (fd < 0)
        return refuse(ret_error, fd, "%s: %s", options->path, error_text(fd));
    int r = text_source_open(options->path, fd, &configuration, 0, &text, ret_error);
    if (r < 0)
        return r;
    r = document_bag_read(&text, &options->words, options->window, bag);
    return r < 0 ? refuse(ret_error, r, "%s: %s", options->path, strerror(-r)) : 0;
}

int cmd_bag(int argc, char **argv)
{
    struct bag_options options = {.window = BAG_WINDOW_TOKENS, .words = bag_words_default()};
    _cleanup_(document_bag_done) struct document_bag bag = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = read_bag(&options, &bag, &error);
    if (r == 0) {
        if (options.json)
            print_json(&options, &bag);
        else
            print_text(&options, &bag);
        r = bag.content.n_words ? 0 : -ENODATA;
    }
    return command_end(r, error);
}
