/* The stems of bags against the algorithm as it is printed (Porter 1980, "An algorithm for suffix
 * stripping"), written here anew; F6. It departs in one place, as Snowball's does: of the double
 * consonants that -ed and -ing leave, only bb dd ff gg mm nn pp rr tt become one (the paper has cc,
 * hh, jj, kk, qq, vv, ww and xx as well, which no English word has there). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/topic/bags/bag_words.h"

enum { WORD_BYTES = 128 };
#define VOCABULARY "/usr/share/snowball/data/porter/"

/* -- as it is printed -- */

struct rule {
    const char *suffix, *with;
};

static bool is_consonant(const char *word, int i)
{
    if (strchr("aeiou", word[i]))
        return false;
    return word[i] != 'y' || i == 0 || !is_consonant(word, i - 1);
}

/* m of the first n letters: how often a vowel is followed by a consonant. */
static int measure(const char *word, int n)
{
    int m = 0;
    for (int i = 1; i < n; i++)
        m += !is_consonant(word, i - 1) && is_consonant(word, i);
    return m;
}

static bool has_vowel(const char *word, int n)
{
    for (int i = 0; i < n; i++)
        if (!is_consonant(word, i))
            return true;
    return false;
}

/* *o: consonant, vowel, consonant but w, x and y. */
static bool ends_cvc(const char *word, int n)
{
    return n >= 3 && is_consonant(word, n - 3) && !is_consonant(word, n - 2) &&
           is_consonant(word, n - 1) && !strchr("wxy", word[n - 1]);
}

/* The letters before a suffix, or -1. */
static int before(const char *word, const char *suffix)
{
    int n = (int)strlen(word) - (int)strlen(suffix);
    return n >= 0 && strcmp(word + n, suffix) == 0 ? n : -1;
}

/* The rule with the longest suffix that the word has, if any. */
static const struct rule *longest(const char *word, const struct rule *rules)
{
    const struct rule *best = NULL;
    for (; rules->suffix; rules++)
        if (before(word, rules->suffix) >= 0 &&
            (!best || strlen(rules->suffix) > strlen(best->suffix)))
            best = rules;
    return best;
}

static void apply(char *word, const struct rule *rules, int least_measure)
{
    const struct rule *rule = longest(word, rules);
    if (!rule)
        return;
    int n = before(word, rule->suffix);
    bool is_ion = strcmp(rule->suffix, "ion") == 0;
    if (measure(word, n) >= least_measure &&
        (!is_ion || (n > 0 && (word[n - 1] == 's' || word[n - 1] == 't'))))
        strcpy(word + n, rule->with);
}

static void step_1b(char *word)
{
    static const struct rule back[] = {{"at", "ate"}, {"bl", "ble"}, {"iz", "ize"}, {0}};
    int n;
    if ((n = before(word, "eed")) >= 0) {
        if (measure(word, n) > 0)
            word[n + 2] = '\0';
        return;
    }
    if ((n = before(word, "ed")) < 0)
        n = before(word, "ing");
    if (n < 0 || !has_vowel(word, n))
        return;
    word[n] = '\0';
    if (longest(word, back))
        apply(word, back, 0);
    else if (n >= 2 && word[n - 1] == word[n - 2] && strchr("bdfgmnprt", word[n - 1]))
        word[n - 1] = '\0';
    else if (measure(word, n) == 1 && ends_cvc(word, n))
        strcpy(word + n, "e");
}

static void step_5(char *word)
{
    int n = before(word, "e");
    if (n >= 0 && (measure(word, n) > 1 || (measure(word, n) == 1 && !ends_cvc(word, n))))
        word[n] = '\0';
    n = before(word, "ll");
    if (n >= 0 && measure(word, (int)strlen(word)) > 1)
        word[n + 1] = '\0';
}

static void porter(char *word)
{
    static const struct rule step_1a[] = {
        {"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}, {0}};
    static const struct rule step_2[] = {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},
                                         {"anci", "ance"},   {"izer", "ize"},    {"abli", "able"},
                                         {"alli", "al"},     {"entli", "ent"},   {"eli", "e"},
                                         {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
                                         {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"},
                                         {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},
                                         {"iviti", "ive"},   {"biliti", "ble"},  {0}};
    static const struct rule step_3[] = {
        {"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
        {"ical", "ic"},  {"ful", ""},   {"ness", ""},    {0}};
    static const struct rule step_4[] = {{"al", ""},    {"ance", ""}, {"ence", ""}, {"er", ""},
                                         {"ic", ""},    {"able", ""}, {"ible", ""}, {"ant", ""},
                                         {"ement", ""}, {"ment", ""}, {"ent", ""},  {"ion", ""},
                                         {"ou", ""},    {"ism", ""},  {"ate", ""},  {"iti", ""},
                                         {"ous", ""},   {"ive", ""},  {"ize", ""},  {0}};
    apply(word, step_1a, 0);
    step_1b(word);
    int n = before(word, "y");
    if (n >= 0 && has_vowel(word, n))
        word[n] = 'i';
    apply(word, step_2, 1);
    apply(word, step_3, 1);
    apply(word, step_4, 2);
    step_5(word);
}

/* -- what bags have -- */

static char found[WORD_BYTES];

static void take(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes)
{
    (void)user;
    (void)word;
    snprintf(found, sizeof(found), "%.*s", (int)size_bytes, (const char *)stem);
}

static struct shingle_hash *hash;
static struct bag_words *words;

static const char *stem_of(const char *word)
{
    uint8_t bytes[WORD_BYTES + TOKEN_BLOCK_SLACK_BYTES] = {0};
    uint32_t n = (uint32_t)strlen(word);
    memcpy(bytes, word, n);
    found[0] = '\0';
    bag_words_of(words, &(struct token_block){bytes, &n, 1}, 0);
    return found;
}

static void expect_same(const char *word)
{
    char stem[WORD_BYTES];
    strcpy(stem, word);
    porter(stem);
    if (stem[0] && strcmp(stem, stem_of(word)) != 0)
        fail_msg("%s: %s, not %s", word, found, stem);
}

static int set_up(void **state)
{
    (void)state;
    struct policy policy;
    struct word_options options = bag_words_default();
    options.stop_list = STOP_LIST_NONE;
    assert_int_equal(policy_preset("default", &policy), 0);
    assert_int_equal(shingle_hash_new(&policy, &hash), 0);
    assert_int_equal(bag_words_new(&options, hash, take, NULL, &words), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bag_words_free(words);
    shingle_hash_free(hash);
    return 0;
}

/* The paper's examples, stemmed to the end. */
static void test_porter__examples_of_the_paper(void **state)
{
    (void)state;
    static const char *const examples[][2] = {
        {"caresses", "caress"},
        {"ponies", "poni"},
        {"ties", "ti"},
        {"caress", "caress"},
        {"cats", "cat"},
        {"feed", "feed"},
        {"agreed", "agre"},
        {"plastered", "plaster"},
        {"bled", "bled"},
        {"motoring", "motor"},
        {"sing", "sing"},
        {"conflated", "conflat"},
        {"troubled", "troubl"},
        {"sized", "size"},
        {"hopping", "hop"},
        {"tanned", "tan"},
        {"falling", "fall"},
        {"hissing", "hiss"},
        {"fizzed", "fizz"},
        {"failing", "fail"},
        {"filing", "file"},
        {"happy", "happi"},
        {"sky", "sky"},
        {"relational", "relat"},
        {"conditional", "condit"},
        {"rational", "ration"},
        {"valenci", "valenc"},
        {"hesitanci", "hesit"},
        {"digitizer", "digit"},
        {"conformabli", "conform"},
        {"radicalli", "radic"},
        {"differentli", "differ"},
        {"vileli", "vile"},
        {"analogousli", "analog"},
        {"vietnamization", "vietnam"},
        {"predication", "predic"},
        {"operator", "oper"},
        {"feudalism", "feudal"},
        {"decisiveness", "decis"},
        {"hopefulness", "hope"},
        {"callousness", "callous"},
        {"formaliti", "formal"},
        {"sensitiviti", "sensit"},
        {"sensibiliti", "sensibl"},
        {"triplicate", "triplic"},
        {"formative", "form"},
        {"formalize", "formal"},
        {"electriciti", "electr"},
        {"electrical", "electr"},
        {"hopeful", "hope"},
        {"goodness", "good"},
        {"revival", "reviv"},
        {"allowance", "allow"},
        {"inference", "infer"},
        {"airliner", "airlin"},
        {"gyroscopic", "gyroscop"},
        {"adjustable", "adjust"},
        {"defensible", "defens"},
        {"irritant", "irrit"},
        {"replacement", "replac"},
        {"adjustment", "adjust"},
        {"dependent", "depend"},
        {"adoption", "adopt"},
        {"homologou", "homolog"},
        {"communism", "commun"},
        {"activate", "activ"},
        {"angulariti", "angular"},
        {"homologous", "homolog"},
        {"effective", "effect"},
        {"bowdlerize", "bowdler"},
        {"probate", "probat"},
        {"rate", "rate"},
        {"cease", "ceas"},
        {"controll", "control"},
        {"roll", "roll"},
        {"generalizations", "gener"},
        {"oscillators", "oscil"},
    };
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        assert_string_equal(stem_of(examples[i][0]), examples[i][1]);
        expect_same(examples[i][0]);
    }
}

/* All suffixes behind each other, behind beginnings of each measure and shape. */
static void test_porter__any_suffixes_behind_any_beginning(void **state)
{
    (void)state;
    static const char *const beginnings[] = {
        "",     "b",    "a",     "y",     "st",   "tr",   "ee",    "by",   "to",   "ay",
        "yt",   "hop",  "fil",   "fail",  "box",  "saw",  "play",  "syz",  "oat",  "troubl",
        "conv", "oper", "contr", "gener", "tann", "hiss", "syzyg", "ayyy", "hopp", "universal"};
    static const char *const suffixes[] = {
        "",        "s",       "ss",    "sses",  "ies",   "eed",     "ed",      "ing",     "y",
        "ational", "tional",  "enci",  "anci",  "izer",  "abli",    "alli",    "entli",   "eli",
        "ousli",   "ization", "ation", "ator",  "alism", "iveness", "fulness", "ousness", "aliti",
        "iviti",   "biliti",  "icate", "ative", "alize", "iciti",   "ical",    "ful",     "ness",
        "al",      "ance",    "ence",  "er",    "ic",    "able",    "ible",    "ant",     "ement",
        "ment",    "ent",     "sion",  "tion",  "ion",   "ou",      "ism",     "ate",     "iti",
        "ous",     "ive",     "ize",   "e",     "ll",    "li",      "logi",    "at",      "bl",
        "iz",      "t"};
    enum { N = sizeof(suffixes) / sizeof(suffixes[0]) };
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < N; k++) {
                char word[WORD_BYTES];
                snprintf(word, sizeof(word), "%s%s%s", beginnings[i], suffixes[j], suffixes[k]);
                if (word[0])
                    expect_same(word);
            }
}

/* All words of up to four letters of an alphabet that has some of each kind, and some of five. */
static void test_porter__all_short_words(void **state)
{
    (void)state;
    static const char letters[] = "aeylstbdgin";
    enum { N = sizeof(letters) - 1, LENGTH = 5 };
    unsigned n = 1;
    for (unsigned length = 1; length <= LENGTH; length++) {
        n *= N;
        for (unsigned i = 0; i < n; i += length == LENGTH ? 7 : 1) {
            char word[LENGTH + 1] = "";
            for (unsigned j = 0, rest = i; j < length; j++, rest /= N)
                word[j] = letters[rest % N];
            expect_same(word);
        }
    }
}

/* A vocabulary with its stems, where the package snowball-data is (tools/deps --test). */
static void test_porter__vocabulary_of_snowball(void **state)
{
    (void)state;
    _cleanup_fclose_ FILE *words_file = fopen(VOCABULARY "voc.txt", "re"),
                          *stems_file = fopen(VOCABULARY "output.txt", "re");
    char word[WORD_BYTES], stem[WORD_BYTES];
    unsigned n = 0;
    if (!words_file || !stems_file)
        skip();
    for (; fgets(word, sizeof(word), words_file); n++) {
        assert_non_null(fgets(stem, sizeof(stem), stems_file));
        word[strcspn(word, "\n")] = stem[strcspn(stem, "\n")] = '\0';
        if (stem[0])
            assert_string_equal(stem_of(word), stem);
        if (strspn(word, "abcdefghijklmnopqrstuvwxyz") == strlen(word))
            expect_same(word);
    }
    assert_in_range(n, 20000, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_porter__examples_of_the_paper),
        cmocka_unit_test(test_porter__any_suffixes_behind_any_beginning),
        cmocka_unit_test(test_porter__all_short_words),
        cmocka_unit_test(test_porter__vocabulary_of_snowball),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
