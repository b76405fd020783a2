/* Stop words and stems: what is handed on against the list and against libstemmer, asked directly;
 * F5, F6. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include <libstemmer.h>

#include "engine/text/words/stop_words.h"
#include "engine/text/words/word_filter.h"

/* Of sb_stemmer_list(), which this program has instead of the library's. */
static bool library_lacks_yiddish;

const char **sb_stemmer_list(void)
{
    /* All that words can be stemmed by, as far as this library has them. */
    static const char *names[N_STEMMERS + 1];
    size_t n = 0;
    for (unsigned i = 1; i < N_STEMMERS; i++) {
        const char *name = stemmer_name(i);
        struct sb_stemmer *stemmer = sb_stemmer_new(name, NULL);
        if (stemmer && !(library_lacks_yiddish && strcmp(name, "yiddish") == 0))
            names[n++] = name;
        sb_stemmer_delete(stemmer);
    }
    names[n] = NULL;
    return names;
}

enum { TEXT_MAX = 1 << 20 };

struct taken {
    char text[TEXT_MAX]; /* the tokens, each followed by a space */
    size_t size, n_tokens, n_blocks, n_features;
};

static void take_tokens(void *user, const struct token_block *block)
{
    struct taken *taken = user;
    size_t at = 0;
    uint8_t slack[TOKEN_BLOCK_SLACK_BYTES];
    assert_in_range(block->n_tokens, 1, TOKEN_BLOCK_MAX);
    /* May be read, whatever it holds. */
    memcpy(slack, block->bytes + block->ends[block->n_tokens - 1], TOKEN_BLOCK_SLACK_BYTES);
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++]) {
        size_t n = block->ends[i] - at;
        assert_in_range(n, 1, CANON_TOKEN_MAX_BYTES);
        assert_true(taken->size + n + 1 < TEXT_MAX);
        memcpy(taken->text + taken->size, block->bytes + at, n);
        taken->size += n;
        taken->text[taken->size++] = ' ';
    }
    taken->text[taken->size] = '\0';
    taken->n_tokens += block->n_tokens;
    taken->n_blocks++;
}

static void take_features(void *user, const struct feature *features, size_t n_features)
{
    (void)features;
    ((struct taken *)user)->n_features += n_features;
}

static struct taken taken;

static struct word_options options_of(const char *stopwords, const char *stemmer)
{
    int stop_list = stop_list_find(stopwords), number = stemmer_find(stemmer);
    assert_true(stop_list >= 0 && number >= 0);
    return (struct word_options){(uint8_t)stop_list, (uint8_t)number, TOKENS_WORDS};
}

static const struct digest_key key;

static struct word_filter *filter_of(const struct word_options *options, struct canon_sink *before)
{
    const struct canon_sink sink = {
        .tokens = take_tokens, .features = take_features, .user = &taken, .key = &key};
    struct word_filter *filter = NULL;
    taken = (struct taken){0};
    assert_int_equal(word_filter_new(options, &sink, &filter, before), 0);
    return filter;
}

/* What becomes of a text, read by canon in pieces of so many bytes. */
static const char *filtered(const char *stopwords, const char *stemmer, const char *text,
                            size_t size, size_t piece)
{
    const struct word_options options = options_of(stopwords, stemmer);
    struct canon_sink before;
    struct word_filter *filter = filter_of(&options, &before);
    struct canon *canon = NULL;
    struct text_form form;
    assert_int_equal(canon_new(&before, &canon), 0);
    canon_begin_as(canon, TEXT_PLAIN);
    for (size_t at = 0; at < size; at += piece)
        canon_feed(canon, text + at, piece < size - at ? piece : size - at);
    canon_finish(canon, &form);
    canon_free(canon);
    word_filter_free(filter);
    return taken.text;
}

static void assert_filtered(const char *stopwords, const char *stemmer, const char *text,
                            const char *expected)
{
    assert_string_equal(filtered(stopwords, stemmer, text, strlen(text), strlen(text)), expected);
}

/* Hand on tokens one by one or in blocks of so many. */
static void take_in_blocks(const struct canon_sink *sink, const char *const *tokens,
                           size_t n_tokens, size_t n_in_block)
{
    static uint8_t bytes[TOKEN_BLOCK_MAX * CANON_TOKEN_MAX_BYTES + TOKEN_BLOCK_SLACK_BYTES];
    uint32_t ends[TOKEN_BLOCK_MAX];
    for (size_t i = 0; i < n_tokens;) {
        size_t n = 0, at = 0;
        for (; n < n_in_block && i < n_tokens; i++) {
            size_t size = strlen(tokens[i]);
            memcpy(bytes + at, tokens[i], size);
            at += size;
            ends[n++] = (uint32_t)at;
        }
        sink->tokens(sink->user, &(struct token_block){bytes, ends, n});
    }
}

static void test_word_filter__is_not_there_where_nothing_is_wanted(void **state)
{
    (void)state;
    struct canon_sink before;
    const struct word_options none = options_of("none", "none");
    assert_null(filter_of(&none, &before));
    assert_ptr_equal(before.user, &taken);
    assert_true(before.tokens == take_tokens && before.features == take_features);
    assert_filtered("none", "none", "The running dogs", "the running dogs ");
}

static void test_word_filter__leaves_out_and_stems(void **state)
{
    (void)state;
    const char *text = "The dogs were running; it isn't a dog that runs.";
    assert_filtered("english", "none", text, "dogs dog runs ");
    assert_filtered("none", "english", text, "the dog were run it isn t a dog that run ");
    assert_filtered("english", "english", text, "dog dog run ");
    assert_filtered("none", "german", "H\xc3\xa4user, Haus", "haus haus ");
    assert_filtered("none", "porter", "flies dies", "fli di ");
    assert_filtered("none", "russian", "\xd0\xba\xd0\xbd\xd0\xb8\xd0\xb3\xd0\xb8",
                    "\xd0\xba\xd0\xbd\xd0\xb8\xd0\xb3 ");
    assert_filtered("english", "none", "The, and OF", "");
    assert_int_equal(taken.n_blocks, 0); /* none is empty */
}

/* A2 */
static void test_word_filter__leaves_tags_as_they_are(void **state)
{
    (void)state;
    static const char *const tokens[] = {"<p>", "running", "<running>", "</p>", "the"};
    for (int filters = 0; filters < 2; filters++) {
        struct word_options options = options_of("none", filters ? "english" : "none");
        struct canon_sink before;
        options.tokens = TOKENS_WORDS_AND_TAGS;
        struct word_filter *filter = filter_of(&options, &before);
        assert_true(before.tags);
        take_in_blocks(&before, tokens, 5, 2);
        assert_string_equal(taken.text, filters ? "<p> run <running> </p> the "
                                                : "<p> running <running> </p> the ");
        word_filter_free(filter);
    }
}

static void test_word_filter__hands_on_features(void **state)
{
    (void)state;
    struct canon_sink before;
    const struct word_options options = options_of("english", "english");
    struct word_filter *filter = filter_of(&options, &before);
    const struct feature features[3] = {{1, 2}, {3, 4}, {5, 6}};
    before.features(before.user, features, 3);
    assert_int_equal(taken.n_features, 3);
    word_filter_free(filter);
}

/* The words of a list in the tree, sorted, lower-case words that are tokens, each once, are those
 * that are compiled in, and no others. Returns how many. */
static size_t expect_list(unsigned stop_list)
{
    const struct stop_words *list = stop_words_lists[stop_list];
    const char *name = stop_list_name(stop_list);
    char path[4096], line[256], last[256] = "", canonical[260];
    size_t n = 0, n_slots = 0;
    snprintf(path, sizeof(path), "%s/%s.txt", STOP_WORDS, name);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    while (fgets(line, sizeof(line), in)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line == '#') {
            assert_int_equal(n, 0);
            continue;
        }
        size_t size = strlen(line);
        assert_true(strcmp(last, line) < 0);
        strcpy(last, line);
        snprintf(canonical, sizeof(canonical), "%s ", line);
        assert_filtered("none", "none", line, canonical);
        assert_true(stop_words_have(list, (const uint8_t *)line, size));
        assert_filtered(name, "none", line, "");
        line[size] = '7'; /* none ends in it */
        assert_false(stop_words_have(list, (const uint8_t *)line, size + 1));
        n++;
    }
    fclose(in);
    assert_int_equal(n, list->n_words);
    for (size_t i = 0; i < STOP_WORDS_SLOTS; i++)
        n_slots += list->slots[i] != 0;
    assert_int_equal(n_slots, n);
    return n;
}

/* F5 */
static void test_word_filter__stop_words_are_those_of_the_list(void **state)
{
    (void)state;
    const struct stop_words *list = stop_words_lists[STOP_LIST_ENGLISH];
    assert_in_range(expect_list(STOP_LIST_ENGLISH), 600, 800); /* some 750 */
    assert_null(stop_words_lists[STOP_LIST_NONE]);

    size_t n_found = 0;
    char word[4] = "";
    for (word[0] = 'a'; word[0] <= 'z'; word[0]++)
        for (word[1] = 'a'; word[1] <= 'z'; word[1]++) {
            bool listed = false;
            for (const char *known = list->text; *known; known += strlen(known) + 1)
                listed |= strcmp(known, word) == 0;
            assert_int_equal(stop_words_have(list, (const uint8_t *)word, 2), listed);
            n_found += listed;
        }
    assert_in_range(n_found, 10, 100);
}

/* Each language that has stems, but for three that nobody has a list of, and the other algorithm of
 * English. */
static void test_word_filter__languages_have_stop_words(void **state)
{
    (void)state;
    static const char *const without[] = {"porter", "serbian", "tamil", "yiddish"};
    for (unsigned stemmer = 1; stemmer < N_STEMMERS; stemmer++) {
        bool wanted = true;
        for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
            wanted &= strcmp(stemmer_name(stemmer), without[i]) != 0;
        int stop_list = stop_list_find(stemmer_name(stemmer));
        assert_int_equal(stop_list > 0, wanted);
        if (wanted)
            assert_in_range(expect_list((unsigned)stop_list), 40, 800);
    }
    assert_filtered("german", "none", "Der Hund und das Pferd wurden für müde gehalten",
                    "hund pferd wurden müde gehalten ");
    assert_filtered("french", "none", "L'homme qu'il a vu n'est pas là", "homme a vu là ");
    assert_filtered("russian", "none", "Я не знаю, что это было", "знаю это ");
}

static void assert_letters(const char *stopwords, const char *stemmer, const char *text,
                           const char *expected)
{
    struct word_options options = options_of(stopwords, stemmer);
    options.tokens = TOKENS_LETTERS;
    for (size_t piece = 1; piece < 20; piece += 6) {
        struct canon_sink before;
        struct word_filter *filter = filter_of(&options, &before);
        struct canon *canon = NULL;
        struct text_form form;
        assert_int_equal(canon_new(&before, &canon), 0);
        canon_begin_as(canon, TEXT_PLAIN);
        for (size_t at = 0; text[at]; at += strnlen(text + at, piece))
            canon_feed(canon, text + at, strnlen(text + at, piece));
        canon_finish(canon, &form);
        assert_string_equal(taken.text, expected);
        canon_free(canon);
        word_filter_free(filter);
    }
}

static void test_word_filter__letters_are_what_is_alphabetic(void **state)
{
    (void)state;
    assert_letters("none", "none", "In 1997, x86_64 had 64 bits: 1.5e3 of foo_bar2.",
                   "in x had bits e of foo bar ");
    assert_letters("none", "none", "naïve café² 漢字１２ हिन्दी१२ ١٢ Ⅷ _ 7",
                   "naïve café 漢 字 हिन्दी viii ");
    assert_letters("english", "english", "the_hopping 2 hopes42", "hop hope ");
    assert_letters("none", "none", "1234 56_78 1\u0301 a2\u0301", "a "); /* marks of digits */
    /* One token of many letters between digits is more tokens than a block has. */
    char text[3 * 250 * 10 + 1] = "", expected[2 * 125 * 30 + 1] = "";
    for (size_t i = 0; i < 3000; i++)
        strcat(text, i % 125 == 124 ? "a " : "a1"), strcat(expected, "a ");
    assert_letters("none", "none", text, expected);
}

/* F6: every algorithm against the library, asked directly, on words of many forms. */
static void test_word_filter__stems_are_those_of_the_library(void **state)
{
    (void)state;
    static const char *const roots[] = {"hop",
                                        "argu",
                                        "caress",
                                        "pon",
                                        "relat",
                                        "condition",
                                        "rational",
                                        "vietnam",
                                        "sensib",
                                        "gener",
                                        "adopt",
                                        "fil",
                                        "agre",
                                        "lauf",
                                        "h\xc3\xa4us",
                                        "stra\xc3\x9f",
                                        "cant",
                                        "habl",
                                        "\xd0\xba\xd0\xbd\xd0\xb8\xd0\xb3",
                                        "\xce\xbb\xcf\x8c\xce\xb3",
                                        "kitap",
                                        "talo",
                                        "x",
                                        "y",
                                        "\xd7\x94\xd7\x95\xd7\x99\xd7\x96",
                                        "\xd9\x83\xd8\xaa\xd8\xa7\xd8\xa8",
                                        "_",
                                        "7",
                                        "q7_"};
    static const char *const endings[] = {"",
                                          "s",
                                          "es",
                                          "ed",
                                          "ing",
                                          "ies",
                                          "ization",
                                          "fulness",
                                          "ement",
                                          "er",
                                          "en",
                                          "ern",
                                          "lich",
                                          "keit",
                                          "ar",
                                          "amos",
                                          "ation",
                                          "ment",
                                          "\xd0\xb8",
                                          "\xd0\xb0\xd0\xbc\xd0\xb8",
                                          "lar",
                                          "lar\xc4\xb1n",
                                          "ssa",
                                          "ous",
                                          "y",
                                          "ly",
                                          "\xce\xbf\xcf\x82"};
    enum {
        N_ROOTS = sizeof(roots) / sizeof(*roots),
        N_ENDINGS = sizeof(endings) / sizeof(*endings)
    };
    static char words[N_ROOTS * N_ENDINGS][64], expected[TEXT_MAX];
    const char *tokens[N_ROOTS * N_ENDINGS];
    for (size_t i = 0; i < N_ROOTS * N_ENDINGS; i++) {
        snprintf(words[i], sizeof(words[i]), "%s%s", roots[i / N_ENDINGS], endings[i % N_ENDINGS]);
        tokens[i] = words[i];
    }
    size_t n_changed = 0, n_stemmers = 0;
    for (unsigned number = 1; number < N_STEMMERS; number++) {
        const char *name = stemmer_name(number);
        if (stemmer_find(name) < 0)
            continue;
        n_stemmers++;
        struct sb_stemmer *stemmer = sb_stemmer_new(name, "UTF_8");
        size_t at = 0;
        for (size_t i = 0; i < N_ROOTS * N_ENDINGS; i++) {
            int size = (int)strlen(words[i]);
            const sb_symbol *stem = sb_stemmer_stem(stemmer, (const sb_symbol *)words[i], size);
            int stem_size = sb_stemmer_length(stemmer);
            if (stem_size == 0) {
                stem = (const sb_symbol *)words[i];
                stem_size = size;
            }
            n_changed += stem_size != size;
            at += (size_t)snprintf(expected + at, TEXT_MAX - at, "%.*s ", stem_size, stem);
        }
        sb_stemmer_delete(stemmer);
        for (size_t n_in_block = 1; n_in_block <= TOKEN_BLOCK_MAX; n_in_block += 341) {
            const struct word_options options = options_of("none", name);
            struct canon_sink before;
            struct word_filter *filter = filter_of(&options, &before);
            take_in_blocks(&before, tokens, N_ROOTS * N_ENDINGS, n_in_block);
            assert_string_equal(taken.text, expected);
            word_filter_free(filter);
        }
    }
    assert_true(n_stemmers >= 20);
    assert_true(n_changed > 2000);
}

/* Blocks of the longest tokens: more than the filter's own block has room for. */
static void test_word_filter__blocks_may_be_as_full_as_they_can(void **state)
{
    (void)state;
    static char token[CANON_TOKEN_MAX_BYTES + 1];
    static const char *tokens[TOKEN_BLOCK_MAX];
    memset(token, 'z', CANON_TOKEN_MAX_BYTES);
    for (size_t i = 0; i < TOKEN_BLOCK_MAX; i++)
        tokens[i] = token;
    for (int stems = 0; stems < 2; stems++) {
        const struct word_options options = options_of("english", stems ? "english" : "none");
        struct canon_sink before;
        struct word_filter *filter = filter_of(&options, &before);
        take_in_blocks(&before, tokens, TOKEN_BLOCK_MAX, TOKEN_BLOCK_MAX);
        assert_int_equal(taken.n_tokens, TOKEN_BLOCK_MAX);
        assert_int_equal(taken.size, TOKEN_BLOCK_MAX * (CANON_TOKEN_MAX_BYTES + 1));
        assert_true(taken.n_blocks > 1);
        word_filter_free(filter);
    }
    /* An e is added to what is left of such a word. */
    for (size_t size = CANON_TOKEN_MAX_BYTES - 4; size <= CANON_TOKEN_MAX_BYTES; size++) {
        char long_word[CANON_TOKEN_MAX_BYTES + 1] = "", text[CANON_TOKEN_MAX_BYTES + 2];
        memset(long_word, 'b', size);
        memcpy(long_word + size - 6, "bating", 6);
        snprintf(text, sizeof(text), "%s", long_word);
        filtered("none", "english", text, size, size);
        assert_int_equal(taken.n_tokens, 1);
    }
}

static void test_word_filter__does_not_depend_on_pieces(void **state)
{
    (void)state;
    static const char *const words[] = {
        "the",   "Runners",         "were", "organizing", "\xc3\xa9t\xc3\xa9", "of", "flies,",
        "don't", "generalizations", "\xff", "\n"};
    static char text[100000], whole[TEXT_MAX];
    size_t size = 0;
    unsigned seed = 5;
    while (size < sizeof(text) - 100)
        size += (size_t)sprintf(text + size, "%s ", words[rand_r(&seed) % 11]);
    strcpy(whole, filtered("english", "english", text, size, size));
    assert_true(taken.n_tokens > 1000);
    for (size_t piece = 1; piece < 5000; piece = piece * 3 + 1)
        assert_string_equal(filtered("english", "english", text, size, piece), whole);
}

static void test_word_filter__takes_no_memory_for_words(void **state)
{
    (void)state;
    for (unsigned number = 1; number < N_STEMMERS; number++) {
        const struct word_options options = {STOP_LIST_ENGLISH, (uint8_t)number};
        struct canon_sink before;
        const char *tokens[] = {"generalizations", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrs",
                                "\xd0\xba\xd0\xbd\xd0\xb8\xd0\xb3\xd0\xb0\xd0\xbc\xd0\xb8",
                                "kitaplar"};
        struct word_filter *filter = filter_of(&options, &before);
        take_in_blocks(&before, tokens, 4,
                       4); /* an algorithm may keep a letter or two of its own */
        size_t used = mallinfo2().uordblks;
        for (int i = 0; i < 100; i++)
            take_in_blocks(&before, tokens, 4, 1 + (size_t)i % 4);
        assert_int_equal(mallinfo2().uordblks, used);
        word_filter_free(filter);
    }
}

static void test_word_filter__has_names_for_numbers(void **state)
{
    (void)state;
    char names[WORD_OPTIONS_NAMES_MAX];
    assert_int_equal(stop_list_find("none"), STOP_LIST_NONE);
    assert_int_equal(stop_list_find("english"), STOP_LIST_ENGLISH);
    assert_int_equal(stop_list_find("klingon"), -EINVAL);
    assert_int_equal(stop_list_find(""), -EINVAL);
    assert_int_equal(stemmer_find("none"), 0);
    /* What is stored stays what it is. */
    assert_int_equal(stemmer_find("arabic"), 1);
    assert_int_equal(stemmer_find("english"), 7);
    assert_int_equal(stemmer_find("german"), 10);
    assert_int_equal(stemmer_find("porter"), 20);
    assert_int_equal(stemmer_find("yiddish"), N_STEMMERS - 1);
    assert_int_equal(stemmer_find("German"), -EINVAL);
    assert_int_equal(stemmer_find(""), -EINVAL);
    for (unsigned i = 0; i < N_STEMMERS; i++)
        if (stemmer_find(stemmer_name(i)) >= 0)
            assert_int_equal(stemmer_find(stemmer_name(i)), i);
    assert_null(stemmer_name(N_STEMMERS));
    assert_null(stop_list_name(N_STOP_LISTS));
    stop_list_names(names);
    assert_memory_equal(names, "none, english, arabic, ", 23);
    assert_string_equal(names + strlen(names) - 18, ", swedish, turkish");
    assert_int_equal(stop_list_find("arabic"), 2); /* what is stored stays what it is */
    assert_int_equal(stop_list_find("turkish"), 25);
    assert_int_equal(token_choice_find("letters"), 2);
    stemmer_names(names);
    assert_memory_equal(names, "none, arabic, ", 14);
    assert_non_null(strstr(names, ", turkish, yiddish"));
}

static void take_link(void *user, const struct canon_link *link)
{
    (void)user;
    (void)link;
}

static void test_word_filter__refuses_what_there_is_not(void **state)
{
    (void)state;
    const struct canon_sink sink = {take_tokens, take_features, &taken, NULL};
    const struct canon_sink with_links = {take_tokens, take_features, &taken, take_link};
    struct word_filter *filter = NULL;
    struct canon_sink before;
    const struct word_options wrong[] = {{N_STOP_LISTS, 0}, {0, N_STEMMERS}, {255, 255}};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(word_filter_new(&wrong[i], &sink, &filter, &before), -EINVAL);
    assert_int_equal(word_filter_new(&(struct word_options){STOP_LIST_ENGLISH, 0}, &with_links,
                                     &filter, &before),
                     -EINVAL);
    library_lacks_yiddish = true;
    const struct word_options yiddish = {0, N_STEMMERS - 1};
    char names[WORD_OPTIONS_NAMES_MAX];
    assert_int_equal(word_options_check(&yiddish), -ENOTSUP);
    assert_int_equal(word_filter_new(&yiddish, &sink, &filter, &before), -ENOTSUP);
    assert_int_equal(stemmer_find("yiddish"), -EINVAL);
    stemmer_names(names);
    assert_null(strstr(names, "yiddish"));
    library_lacks_yiddish = false;
    assert_null(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_filter__is_not_there_where_nothing_is_wanted),
        cmocka_unit_test(test_word_filter__leaves_out_and_stems),
        cmocka_unit_test(test_word_filter__leaves_tags_as_they_are),
        cmocka_unit_test(test_word_filter__hands_on_features),
        cmocka_unit_test(test_word_filter__stop_words_are_those_of_the_list),
        cmocka_unit_test(test_word_filter__languages_have_stop_words),
        cmocka_unit_test(test_word_filter__letters_are_what_is_alphabetic),
        cmocka_unit_test(test_word_filter__stems_are_those_of_the_library),
        cmocka_unit_test(test_word_filter__blocks_may_be_as_full_as_they_can),
        cmocka_unit_test(test_word_filter__does_not_depend_on_pieces),
        cmocka_unit_test(test_word_filter__takes_no_memory_for_words),
        cmocka_unit_test(test_word_filter__has_names_for_numbers),
        cmocka_unit_test(test_word_filter__refuses_what_there_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
