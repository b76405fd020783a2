/* kinfs compare: how alike two documents are, by their sketches or by their texts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "base/files/fd_whole.h"
#include "engine/sketch/documents/exact_set.h"
#include "engine/sketch/policy.h"
#include "tools/commands/command.h"
#include "tools/commands/store_words.h"
#include "tools/documents/fresh_compare.h"
#include "tools/show/json_path.h"
#include "tools/questions/patience.h"
#include "tools/documents/regular_file.h"
#include "tools/options/word_choice.h"

int work_compare(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error)
{
    _cleanup_free_ char *path_a = NULL, *path_b = NULL;
    struct file_key a, b;
    struct document_info info;
    struct comparison comparison;
    int r = work_document(context, request, "a", &path_a, &a, &info, ret_error);
    if (r >= 0)
        r = work_document(context, request, "b", &path_b, &b, &info, ret_error);
    if (r < 0)
        return r;
    r = index_compare(context->index, &a, &b, &(struct index_query){0}, &comparison);
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s, %s: not both sketched; --exact compares the texts",
                      work_shown(request, "a"), work_shown(request, "b"));
    if (r < 0)
        return refuse(ret_error, r, "%s, %s: %s", work_shown(request, "a"),
                      work_shown(request, "b"), error_text(r));
    struct json_object *object = json_object_new_object();
    json_path_add(object, "a", path_a);
    json_path_add(object, "b", path_b);
    work_add_ratio(object, "resemblance", comparison.resemblance);
    work_add_ratio(object, "resemblance_error", comparison.resemblance_error);
    work_add_count(object, "resemblance_samples", comparison.resemblance_samples);
    work_add_ratio(object, "containment_ab", comparison.containment_ab);
    work_add_ratio(object, "containment_ab_error", comparison.containment_ab_error);
    work_add_count(object, "containment_ab_samples", comparison.containment_ab_samples);
    work_add_ratio(object, "containment_ba", comparison.containment_ba);
    work_add_ratio(object, "containment_ba_error", comparison.containment_ba_error);
    work_add_count(object, "containment_ba_samples", comparison.containment_ba_samples);
    json_object_object_add(object, "exact", json_object_new_boolean(comparison.exact));
    json_object_object_add(object, "same_content",
                           json_object_new_boolean(comparison.same_content));
    json_object_object_add(object, "same_text", json_object_new_boolean(comparison.same_text));
    json_object_object_add(object, "same_shingles",
                           json_object_new_boolean(comparison.same_shingles));
    return row(user, object);
}

/* Different shingles of a document, all of which --exact holds: 4 GiB of them, and as much again
 * while they are sorted. */
enum { EXACT_MOST_MILLIONS = 250 };

/* no letters */
enum {
    OPTION_RESAMPLE = 0x100,
    OPTION_SKETCH,
    OPTION_WITHIN,
    OPTION_SHINGLE,
    OPTION_TOKENS,
    OPTION_STOPWORDS,
    OPTION_STEMMER
};

struct compare_options {
    struct command_options common;
    const char *a, *b, *config;
    bool exact, resample;
    struct fresh_comparison fresh;
    unsigned w;
    bool tokens_given, stopwords_given, stemmer_given;
    struct word_options words;
};

static error_t check(struct compare_options *options, struct argp_state *state)
{
    struct fresh_comparison *fresh = &options->fresh;
    if (options->exact + options->resample + (fresh->family != NULL) > 1)
        argp_error(state, "one of --exact, --resample and --sketch at a time");
    if (fresh->within && (!fresh->family || strcmp(fresh->family, "hamming") != 0))
        argp_error(state, "--within is for --sketch=hamming");
    if (options->resample) /* what the index keeps, under another key */
        fresh->family = "bottom-k";
    if (options->w && !options->exact && !fresh->family)
        argp_error(state, "--shingle is for --exact and --sketch: the index has its policy's");
    if ((options->tokens_given || options->stopwords_given || options->stemmer_given) &&
        !options->exact && !fresh->family)
        argp_error(state, "--tokens, --stopwords and --stemmer are for --exact and --sketch: the "
                          "index has its policy's");
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct compare_options *options = state->input;
    _cleanup_free_ char *error = NULL;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'e': options->exact = true; return 0;
    case OPTION_RESAMPLE: options->resample = true; return 0;
    case 'c': options->config = argument; return 0;
    case OPTION_SKETCH:
        if (strcmp(argument, "help") == 0) {
            fresh_families();
            exit(command_end(0, NULL));
        }
        if (!fresh_family_is_known(argument))
            argp_error(state, "--sketch=%s: none of this name; --sketch=help lists them", argument);
        options->fresh.family = argument;
        return 0;
    case OPTION_WITHIN:
        options->fresh.within =
            (uint32_t)command_parse_count(state, "--within", argument, 0, UINT32_MAX);
        if (options->fresh.within < 2)
            argp_error(state,
                       "parities cannot tell a distance of 1 from one of 2; compare by --exact");
        return 0;
    case OPTION_SHINGLE:
        options->w = (unsigned)command_parse_count(state, "--shingle", argument, 0, 64);
        if (!options->w)
            argp_error(state, "a shingle has at least one token");
        return 0;
    case OPTION_TOKENS:
        if (word_choice_tokens("--tokens=", argument, &options->words.tokens, &error) < 0)
            argp_error(state, "%s", error);
        options->tokens_given = true;
        return 0;
    case OPTION_STOPWORDS:
        if (word_choice_stopwords("--stopwords=", argument, &options->words.stop_list, &error) < 0)
            argp_error(state, "%s", error);
        options->stopwords_given = true;
        return 0;
    case OPTION_STEMMER:
        if (word_choice_stemmer("--stemmer=", argument, &options->words.stemmer, &error) < 0)
            argp_error(state, "%s", error);
        options->stemmer_given = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->b)
            argp_usage(state);
        *(options->a ? &options->b : &options->a) = argument;
        return 0;
    case ARGP_KEY_END:
        if (!options->b)
            argp_usage(state);
        return check(options, state);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option compare_options[] = {
    {"exact", 'e', NULL, 0, "compute from the texts, not from sketches; any two files", 0},
    {"resample", OPTION_RESAMPLE, NULL, 0,
     "sketch the two files anew under a fresh secret key: who has edited a text so that the stored "
     "sketch does not show it cannot have known this one",
     0},
    {"sketch", OPTION_SKETCH, "NAME", 0,
     "sketch the two files anew by this family, under a fresh key; --sketch=help lists them", 0},
    {"within", OPTION_WITHIN, "K", 0,
     "with --sketch=hamming: whether at most K shingles are in one of them only; wrong once in a "
     "hundred times, or where it is more than K and less than 2K",
     0},
    {"shingle", OPTION_SHINGLE, "TOKENS", 0,
     "with these: tokens in a shingle (default: as the store of A has it, or of B, else 5; 10 for "
     "broder1997)",
     0},
    {"tokens", OPTION_TOKENS, "KIND", 0,
     "with these: words, letters, or words+tags of HTML and XML (default: as the store has it, "
     "where "
     "--shingle is left to it too, else words)",
     0},
    {"stopwords", OPTION_STOPWORDS, "LIST", 0,
     "with these: words that are left out (default: the same, or none)", 0},
    {"stemmer", OPTION_STEMMER, "NAME", 0, "with these: how words become stems (default: the same)",
     0},
    {"config", 'c', "FILE", 0,
     "with these: the configuration, for its extractors (" CONFIGURATION_FILE ")", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    compare_options, parse, "A B",
    "Print the resemblance of two documents, and how much of each is contained in the other, with "
    "the standard error where it is an estimate. Exit code 1 where it is undefined: a document "
    "without words.",
    children};

static bool has(struct json_object *row, const char *name)
{
    struct json_object *member;
    return json_object_object_get_ex(row, name, &member) && member;
}

static void print_count(struct json_object *row, const char *name)
{
    struct json_object *member;
    if (json_object_object_get_ex(row, name, &member) && member)
        printf("%.1f", json_object_get_double(member));
    else
        putchar('-');
}

/* Nothing where the row does not know of such a member. */
static void print_line(struct json_object *row, const char *label, const char *name,
                       void (*print)(struct json_object *, const char *))
{
    _cleanup_free_ char *error = message("%s_error", name), *samples = message("%s_samples", name);
    if (!json_object_object_get_ex(row, name, NULL))
        return;
    printf("%-24s", label);
    print(row, name);
    if (has(row, name) && !work_flag(row, "exact") && has(row, samples)) {
        uint64_t n = command_count(row, samples);
        if (has(row, error)) {
            fputs(" +- ", stdout);
            print(row, error);
        }
        printf(" (%s%s)", counted(n, "sample").text,
               n < INDEX_CONFIDENT_SAMPLES ? ": low confidence" : "");
    }
    putchar('\n');
}

static void print_lines(struct json_object *row)
{
    print_line(row, "resemblance", "resemblance", command_print_ratio);
    print_line(row, "common super shingles", "super_shingles", command_print_ratio);
    print_line(row, "cosine", "cosine", command_print_ratio);
    print_line(row, "shingles of one only", "distance", print_count);
    print_line(row, "containment of A in B", "containment_ab", command_print_ratio);
    print_line(row, "containment of B in A", "containment_ba", command_print_ratio);
    if (has(row, "within"))
        printf("%s %s differ%s (%llu parities)\n",
               work_flag(row, "within") ? "at most" : "more than",
               counted(command_count(row, "distance_at_most"), "shingle").text,
               command_count(row, "distance_at_most") == 1 ? "s" : "",
               (unsigned long long)command_count(row, "parities"));
    if (work_flag(row, "same_content"))
        puts("the same content");
    else if (work_flag(row, "same_text"))
        puts("the same text");
    else if (work_flag(row, "same_shingles"))
        puts("the same shingles");
}

static int print_row(void *user, struct json_object *row)
{
    struct compare_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (options->common.json)
        command_print_json(taken);
    else
        print_lines(taken);
    const char *measure = has(taken, "measure") ? command_text(taken, "measure") : "resemblance";
    return has(taken, measure) || has(taken, "within") ? 0 : -ENODATA;
}

static int open_file(const char *path, int *ret_fd, char **ret_error)
{
    patience_look(path);
    int fd = regular_file_open(path);
    if (fd == -ENOENT)
        return refuse(ret_error, fd, "%s: no such file; correct the name", path);
    if (fd == -EINVAL)
        return refuse(ret_error, fd, "%s: not a regular file; name a document", path);
    if (fd < 0)
        return refuse(ret_error, fd, "%s: %s", path, error_text(fd));
    *ret_fd = fd;
    return 0;
}

static int read_set(const struct compare_options *options, const char *path,
                    const struct text_source *text, struct exact_set **ret_set, char **ret_error)
{
    int r = exact_set_read(text->fd, text->as, options->w, &options->words,
                           EXACT_MOST_MILLIONS * (size_t)1000000, ret_set);
    if (r == -E2BIG)
        return refuse(ret_error, r,
                      "%s: more than %d million different shingles; compare by --resample", path,
                      EXACT_MOST_MILLIONS);
    return r < 0 ? refuse(ret_error, r, "%s: %s", path, strerror(-r)) : 0;
}

/* The two files hold the same bytes, and any. */
static bool same_bytes(int fd_a, int fd_b)
{
    struct fd_whole whole_a, whole_b;
    char a[16 << 10], b[16 << 10];
    if (fd_whole_begin(&whole_a, fd_a) < 0 || fd_whole_begin(&whole_b, fd_b) < 0)
        return false;
    for (;;) {
        ssize_t n = fd_whole_read(&whole_a, a, sizeof(a)),
                m = fd_whole_read(&whole_b, b, sizeof(b));
        if (n < 0 || n != m || memcmp(a, b, (size_t)n) != 0)
            return false;
        if (n == 0)
            return whole_a.at > 0;
    }
}

typedef int (*exact_fn)(const struct exact_set *a, const struct exact_set *b, double *ret_value);

/* NAN where it is undefined. A binary document has no shingles, but is what its twin is. */
static double exact_ratio(bool same, exact_fn ratio, const struct exact_set *a,
                          const struct exact_set *b)
{
    double value;
    if (same)
        return 1;
    return ratio(a, b, &value) == 0 ? value : NAN;
}

/* The store that a is in, or b, or 1: neither is in one. */
static int find_store(const struct compare_options *options, struct location *ret_location,
                      char **ret_error)
{
    const char *const paths[] = {options->a, options->b};
    for (unsigned i = 0; i < 2; i++) {
        _cleanup_free_ char *error = NULL;
        int r = locate(paths[i], options->common.store, ret_location, &error);
        if (r == 0)
            return 0;
        if (r != -ENOENT || options->common.store)
            return refuse(ret_error, r, "%s", error ? error : strerror(-r));
    }
    return 1;
}

/* A store says what a document is to it: the tokens in a shingle and, where nothing else is said,
 * what becomes of words. Without one it is what a new store would have. */
static int ask_store(struct compare_options *options, char **ret_error)
{
    _cleanup_(location_done) struct location location = {0};
    int r = find_store(options, &location, ret_error);
    if (r == 1) {
        struct policy policy;
        r = policy_preset("default", &policy);
        options->w = policy.w;
        return r;
    }
    if (r < 0)
        return r;
    struct word_options words = options->words;
    r = store_words_ask(&location, &options->w, &words, ret_error);
    if (r < 0)
        return r;
    if (!options->tokens_given)
        options->words.tokens = words.tokens;
    if (!options->stopwords_given)
        options->words.stop_list = words.stop_list;
    if (!options->stemmer_given)
        options->words.stemmer = words.stemmer;
    return 0;
}

struct pair {
    int fd_a, fd_b;
    struct text_source a, b;
    bool same, same_text; /* of the same bytes, or of the same text: equal */
};
#define NO_PAIR                                                                                    \
    {                                                                                              \
        .fd_a = -1, .fd_b = -1, .a.fd = -1, .b.fd = -1                                             \
    }

static void pair_done(struct pair *pair)
{
    close_p(&pair->fd_a);
    close_p(&pair->fd_b);
    text_source_done(&pair->a);
    text_source_done(&pair->b);
}

/* Their texts, as the index would read them. */
static int read_texts(const struct compare_options *options, struct pair *pair, char **ret_error)
{
    _cleanup_(configuration_done) struct configuration configuration = {0};
    command_configuration(options->config, &configuration);
    int r = text_source_open(options->a, pair->fd_a, &configuration, 0, &pair->a, ret_error);
    if (r >= 0)
        r = text_source_open(options->b, pair->fd_b, &configuration, 0, &pair->b, ret_error);
    if (r < 0)
        return r;
    pair->same = same_bytes(pair->fd_a, pair->fd_b);
    r = text_source_equal(&pair->a, &pair->b, &options->words);
    pair->same_text = r == 1;
    return r < 0 ? refuse(ret_error, r, "%s, %s: %s", options->a, options->b, strerror(-r)) : 0;
}

/* Open both, find out how long a shingle is to be, and begin the answer. */
static int open_pair(struct compare_options *options, struct pair *pair, struct json_object *object,
                     char **ret_error)
{
    int r = open_file(options->a, &pair->fd_a, ret_error);
    if (r >= 0)
        r = open_file(options->b, &pair->fd_b, ret_error);
    if (r >= 0 && !options->w && options->fresh.family)
        options->w = fresh_family_shingle(options->fresh.family);
    if (r >= 0 && !options->w)
        r = ask_store(options, ret_error);
    if (r >= 0)
        r = read_texts(options, pair, ret_error);
    if (r < 0)
        return r;
    json_path_add(object, "a", options->a);
    json_path_add(object, "b", options->b);
    work_add_count(object, "w", options->w);
    if (options->words.tokens)
        json_object_object_add(object, "tokens",
                               json_object_new_string(token_choice_name(options->words.tokens)));
    if (options->words.stop_list)
        json_object_object_add(object, "stopwords",
                               json_object_new_string(stop_list_name(options->words.stop_list)));
    if (options->words.stemmer)
        json_object_object_add(object, "stemmer",
                               json_object_new_string(stemmer_name(options->words.stemmer)));
    json_object_object_add(object, "same_content", json_object_new_boolean(pair->same));
    json_object_object_add(object, "same_text", json_object_new_boolean(pair->same_text));
    return 0;
}

static int compare_exactly(struct compare_options *options, char **ret_error)
{
    _cleanup_(exact_set_free_p) struct exact_set *a = NULL, *b = NULL;
    _cleanup_(pair_done) struct pair pair = NO_PAIR;
    _cleanup_json_ struct json_object *object = json_object_new_object();
    int r = open_pair(options, &pair, object, ret_error);
    if (r >= 0)
        r = read_set(options, options->a, &pair.a, &a, ret_error);
    if (r >= 0)
        r = read_set(options, options->b, &pair.b, &b, ret_error);
    if (r < 0)
        return r;
    bool same = pair.same, same_text = pair.same_text && exact_set_equal(a, b);
    json_object_object_add(object, "same_text", json_object_new_boolean(same_text));
    work_add_count(object, "shingles_a", exact_set_count(a));
    work_add_count(object, "shingles_b", exact_set_count(b));
    work_add_ratio(object, "resemblance", exact_ratio(same, exact_set_resemblance, a, b));
    work_add_ratio(object, "containment_ab", exact_ratio(same, exact_set_containment, a, b));
    work_add_ratio(object, "containment_ba", exact_ratio(same, exact_set_containment, b, a));
    json_object_object_add(object, "exact", json_object_new_boolean(true));
    return print_row(options, TAKE_PTR(object));
}

static int compare_freshly(struct compare_options *options, char **ret_error)
{
    _cleanup_(pair_done) struct pair pair = NO_PAIR;
    _cleanup_json_ struct json_object *object = json_object_new_object();
    int r = open_pair(options, &pair, object, ret_error);
    if (r < 0)
        return r;
    options->fresh.w = options->w;
    options->fresh.words = options->words;
    r = fresh_compare(&options->fresh, &pair.a, &pair.b, pair.same || pair.same_text, object);
    if (r < 0)
        return refuse(ret_error, r, "%s, %s: %s", options->a, options->b, strerror(-r));
    return print_row(options, TAKE_PTR(object));
}

static int compare_sketches(struct compare_options *options, char **ret_error)
{
    _cleanup_(location_done) struct location a = {0}, b = {0};
    int r = locate(options->a, options->common.store, &a, ret_error);
    if (r >= 0)
        r = locate(options->b, options->common.store, &b, ret_error);
    if (r < 0)
        return r;
    if (strcmp(a.store, b.store) != 0)
        return refuse(ret_error, -EXDEV,
                      "%s and %s are in different trees; --exact compares any two "
                      "files",
                      options->a, options->b);
    _cleanup_json_ struct json_object *request = json_object_new_object();
    command_add_path(request, "a", options->a, a.path);
    command_add_path(request, "b", options->b, b.path);
    const struct ask question = {.location = &a, .command = "compare"};
    return ask(&question, request, print_row, options, ret_error);
}

int cmd_compare(int argc, char **argv)
{
    struct compare_options options = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = options.exact          ? compare_exactly(&options, &error)
            : options.fresh.family ? compare_freshly(&options, &error)
                                   : compare_sketches(&options, &error);
    return command_end(r, error);
}
