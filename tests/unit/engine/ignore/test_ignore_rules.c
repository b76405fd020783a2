/* Lines of ignore files, against what gitignore(5) says and against git itself. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/mix.h"
#include "engine/ignore/glob.h"
#include "engine/ignore/ignore_rules.h"
#include "tests/lib/scratch.h"

static enum ignore_verdict ask(const char *text, const char *path, bool is_directory)
{
    struct ignore_rules *rules = ignore_rules_new();
    size_t steps = IGNORE_STEPS;
    assert_non_null(rules);
    assert_int_equal(ignore_rules_add_text(rules, text, strlen(text)), 0);
    const enum ignore_verdict verdict = ignore_rules_ask(rules, path, is_directory, &steps);
    ignore_rules_free(rules);
    return verdict;
}

static void test_ignore_rules__say_what_the_manual_of_gitignore_says(void **state)
{
    (void)state;
    static const struct {
        const char *text, *path;
        bool is_directory;
        enum ignore_verdict verdict;
    } cases[] = {
        {"", "a", false, IGNORE_UNSAID},
        {"# a\n\n   \n", "# a", false, IGNORE_UNSAID},
        {"\\#a", "#a", false, IGNORE_OUT},
        {"\\!a", "!a", false, IGNORE_OUT},
        {"a ", "a", false, IGNORE_OUT},
        {"a\\ ", "a ", false, IGNORE_OUT},
        {"a\\ ", "a", false, IGNORE_UNSAID},
        {"*.o\n!keep.o", "x/y.o", false, IGNORE_OUT},
        {"*.o\n!keep.o", "x/keep.o", false, IGNORE_IN},
        {"!keep.o\n*.o", "keep.o", false, IGNORE_OUT},
        {"a/", "a", false, IGNORE_UNSAID},
        {"a/", "x/a", true, IGNORE_OUT},
        {"/a", "a", false, IGNORE_OUT},
        {"/a", "x/a", false, IGNORE_UNSAID},
        {"doc/a", "doc/a", false, IGNORE_OUT},
        {"doc/a", "x/doc/a", false, IGNORE_UNSAID},
        {"/doc/*", "doc/a", false, IGNORE_OUT},
        {"/doc/*", "doc/a/b", false, IGNORE_UNSAID},
        {"**/a", "a", false, IGNORE_OUT},
        {"**/a", "x/y/a", false, IGNORE_OUT},
        {"**/x/a", "y/x/a", false, IGNORE_OUT},
        {"x/**", "x", true, IGNORE_UNSAID},
        {"x/**", "x/y/z", false, IGNORE_OUT},
        {"a/**/b", "a/b", false, IGNORE_OUT},
        {"a/**/b", "a/x/y/b", false, IGNORE_OUT},
        {"a/**/b", "a/x/y/c", false, IGNORE_UNSAID},
        {"[a-c]?[!x]", "bxy", false, IGNORE_OUT},
        {"[a-c]?[!x]", "bxx", false, IGNORE_UNSAID},
        {"[]]", "]", false, IGNORE_OUT},
        {"[[:digit:]]", "7", false, IGNORE_OUT},
        {"[a", "[a", false, IGNORE_UNSAID},
        {"a\\*", "a*", false, IGNORE_OUT},
        {"a\\*", "ab", false, IGNORE_UNSAID},
        {"\xef\xbb\xbf"
         "a",
         "a", false, IGNORE_OUT},
        {"a\xff*",
         "a\xff"
         "b",
         false, IGNORE_OUT},
        {"/\n!\n!/", "a", true, IGNORE_UNSAID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (ask(cases[i].text, cases[i].path, cases[i].is_directory) != cases[i].verdict)
            fail_msg("'%s' of %s", cases[i].text, cases[i].path);
}

/* -- beside git -- */

enum { PATHS = 6 * 6 * 6, ROUNDS = 100, LINES = 6 };
static const char *const names[] = {"a", "b", "ab", "ba", "a*", "a b"};

/* A tree of all names three deep; those of odd number in the last directory are files. */
static bool is_file(unsigned third)
{
    return third % 2;
}

static void make_tree(const char *root)
{
    for (unsigned i = 0; i < PATHS; i++) {
        const char *first = names[i / 36], *second = names[i / 6 % 6], *third = names[i % 6];
        mkdir(scratch_path(root, "%s", first), 0755);
        mkdir(scratch_path(root, "%s/%s", first, second), 0755);
        if (is_file(i % 6))
            scratch_write(scratch_path(root, "%s/%s/%s", first, second, third), "");
        else
            mkdir(scratch_path(root, "%s/%s/%s", first, second, third), 0755);
    }
}

static void make_lines(uint64_t *random, char *text)
{
    static const char *const pieces[] = {"a", "b", "ab",  "*",    "?",   "[ab]", "[!a]",
                                         "/", "/", "**",  "/**/", "\\*", " ",    "\\ ",
                                         "!", "#", "**/", "/**",  "a/b", "]"};
    *text = '\0';
    for (unsigned line = 0; line < LINES; line++) {
        for (unsigned n = 1 + mix64_next(random) % 5; n > 0; n--) {
            const char *piece = pieces[mix64_next(random) % (sizeof(pieces) / sizeof(pieces[0]))];
            const size_t n_text = strlen(text);
            const char before = n_text ? text[n_text - 1] : '\n';
            /* Two slashes match nothing, here, and two stars behind a name are one, as the manual
             * has it; git does as it comes. */
            if (*piece == '/' ? before != '/' : strncmp(piece, "**", 2) != 0 || before == '\n')
                strcat(text, piece);
        }
        strcat(text, "\n");
    }
}

/* What is in a directory that is left out is not asked. */
static bool is_out(const struct ignore_rules *rules, unsigned i)
{
    const char *first = names[i / 36], *second = names[i / 6 % 6], *third = names[i % 6];
    char path[64];
    size_t steps = IGNORE_STEPS;
    snprintf(path, sizeof(path), "%s", first);
    if (ignore_rules_ask(rules, path, true, &steps) == IGNORE_OUT)
        return true;
    snprintf(path, sizeof(path), "%s/%s", first, second);
    if (ignore_rules_ask(rules, path, true, &steps) == IGNORE_OUT)
        return true;
    snprintf(path, sizeof(path), "%s/%s/%s", first, second, third);
    return ignore_rules_ask(rules, path, !is_file(i % 6), &steps) == IGNORE_OUT;
}

/* Those of all paths that git ignores. */
static void ask_git(const char *root, bool *ret_out)
{
    _cleanup_free_ char *command = NULL, *path = NULL;
    size_t room = 0;
    memset(ret_out, 0, PATHS);
    assert_true(asprintf(&command,
                         "cd %s && git check-ignore --no-index -z --stdin < paths > ignored; "
                         "[ $? -le 1 ]",
                         root) > 0);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(scratch_path(root, "ignored"), "r");
    assert_non_null(file);
    while (getdelim(&path, &room, '\0', file) > 0)
        for (unsigned i = 0; i < PATHS; i++) {
            char known[64];
            snprintf(known, sizeof(known), "%s/%s/%s", names[i / 36], names[i / 6 % 6],
                     names[i % 6]);
            ret_out[i] |= strcmp(known, path) == 0;
        }
    fclose(file);
}

static void test_ignore_rules__leave_out_what_git_ignores(void **state)
{
    (void)state;
    char root[64];
    _cleanup_free_ char *command = NULL;
    unsigned n_out = 0;
    scratch_make(root);
    make_tree(root);
    assert_true(asprintf(&command, "git init -q %s", root) > 0);
    assert_int_equal(system(command), 0);
    FILE *paths = fopen(scratch_path(root, "paths"), "w");
    for (unsigned i = 0; i < PATHS; i++)
        fprintf(paths, "%s/%s/%s%c", names[i / 36], names[i / 6 % 6], names[i % 6], '\0');
    fclose(paths);
    uint64_t random = 20;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char text[512];
        bool by_git[PATHS];
        make_lines(&random, text);
        scratch_write(scratch_path(root, ".gitignore"), text);
        ask_git(root, by_git);
        struct ignore_rules *rules = ignore_rules_new();
        assert_int_equal(ignore_rules_add_text(rules, text, strlen(text)), 0);
        for (unsigned i = 0; i < PATHS; i++) {
            if (is_out(rules, i) != by_git[i])
                fail_msg("%s/%s/%s: git says %d of\n%s", names[i / 36], names[i / 6 % 6],
                         names[i % 6], by_git[i], text);
            n_out += by_git[i];
        }
        ignore_rules_free(rules);
    }
    assert_in_range(n_out, PATHS * ROUNDS / 20, PATHS * ROUNDS * 19 / 20);
    scratch_remove(root);
}

/* -- bounds -- */

/* The same by trying each way there is. */
static bool matches_slowly(const char *pattern, const char *name)
{
    if (*pattern == '*')
        return matches_slowly(pattern + 1, name) || (*name && matches_slowly(pattern, name + 1));
    if (!*pattern || !*name)
        return *pattern == *name;
    return *pattern == *name && matches_slowly(pattern + 1, name + 1);
}

static void test_glob__matches_what_trying_all_matches(void **state)
{
    (void)state;
    uint64_t random = 21;
    unsigned n_matched = 0;
    for (unsigned round = 0; round < 20000; round++) {
        char pattern[9] = "", name[13] = "";
        size_t n_pattern = mix64_next(&random) % 9, n_name = mix64_next(&random) % 13;
        size_t steps = IGNORE_STEPS;
        for (size_t i = 0; i < n_pattern; i++)
            pattern[i] = "ab**"[mix64_next(&random) % 4];
        for (size_t i = 0; i < n_name; i++)
            name[i] = "ab"[mix64_next(&random) % 2];
        const bool matched = glob_matches(pattern, n_pattern, name, n_name, &steps);
        if (matched != matches_slowly(pattern, name))
            fail_msg("%s of %s", pattern, name);
        n_matched += matched;
    }
    assert_in_range(n_matched, 2000, 18000);
}

static void test_glob__takes_no_more_steps_than_it_may(void **state)
{
    (void)state;
    enum { BYTES = 250 };
    char pattern[2 * BYTES + 1], name[BYTES];
    for (size_t i = 0; i < BYTES; i++)
        memcpy(pattern + 2 * i, "*a", 2);
    pattern[2 * BYTES] = 'b';
    memset(name, 'a', sizeof(name));
    size_t steps = IGNORE_STEPS;
    assert_false(glob_matches(pattern, sizeof(pattern), name, sizeof(name), &steps));
    assert_true(IGNORE_STEPS - steps <= sizeof(pattern) * sizeof(name));
    steps = 10;
    assert_false(glob_matches("*a", 2, name, sizeof(name), &steps));
    assert_int_equal(steps, 0);
}

/* Of a class each byte is a step, whether it matches, or ends, or not. */
static void test_glob__takes_a_step_for_each_byte_of_a_class(void **state)
{
    (void)state;
    enum { CLASS = 10000, NAME = 255 };
    static char pattern[CLASS + 2] = "*[", name[NAME];
    memset(pattern + 2, 'b', CLASS);
    memset(name, 'a', sizeof(name));
    for (unsigned ends = 0; ends < 2; ends++) {
        pattern[CLASS + 1] = ends ? ']' : 'b';
        size_t steps = IGNORE_STEPS;
        assert_false(glob_matches(pattern, sizeof(pattern), name, sizeof(name), &steps));
        assert_int_equal(steps, 0);
        steps = 4 * CLASS;
        assert_false(glob_matches(pattern, sizeof(pattern), name, 1, &steps));
        assert_in_range(4 * CLASS - steps, CLASS - 1, 2 * CLASS + 4);
    }
}

static void test_ignore_rules__take_steps_for_long_paths_and_kinds(void **state)
{
    (void)state;
    enum { PATH = 4000, RULES = 100, KINDS = 1000 };
    static char path[PATH + 1], pattern[2 * KINDS + 2] = "[";
    struct ignore_rules *rules = ignore_rules_new();
    memset(path, 'a', PATH);
    for (unsigned i = 0; i < RULES; i++)
        assert_int_equal(ignore_rules_add(rules, "x/b", 3), 0);
    size_t steps = IGNORE_STEPS;
    assert_int_equal(ignore_rules_ask(rules, path, false, &steps), IGNORE_UNSAID);
    assert_true(IGNORE_STEPS - steps >= RULES * PATH / 16);
    ignore_rules_free(rules);
    for (unsigned i = 0; i < KINDS; i++)
        memcpy(pattern + 1 + 2 * i, "[:", 2);
    steps = IGNORE_STEPS;
    assert_false(glob_matches(pattern, 1 + 2 * KINDS, "a", 1, &steps));
    assert_true(IGNORE_STEPS - steps >= 12 * KINDS);
}

static void test_ignore_rules__are_bounded(void **state)
{
    (void)state;
    struct ignore_rules *rules = ignore_rules_new();
    for (unsigned i = 0; i < IGNORE_LINES_MAX; i++)
        assert_int_equal(ignore_rules_add(rules, "a*", 2), 0);
    assert_int_equal(ignore_rules_add(rules, "#", 1), 0);
    assert_int_equal(ignore_rules_add(rules, "b", 1), -E2BIG);
    ignore_rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ignore_rules__say_what_the_manual_of_gitignore_says),
        cmocka_unit_test(test_ignore_rules__leave_out_what_git_ignores),
        cmocka_unit_test(test_glob__matches_what_trying_all_matches),
        cmocka_unit_test(test_glob__takes_no_more_steps_than_it_may),
        cmocka_unit_test(test_glob__takes_a_step_for_each_byte_of_a_class),
        cmocka_unit_test(test_ignore_rules__take_steps_for_long_paths_and_kinds),
        cmocka_unit_test(test_ignore_rules__are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
