#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/scratch.h"
#include "tools/options/configuration.h"

static char root[64];

static int setup(void **state)
{
    (void)state;
    scratch_make(root);
    scratch_write(scratch_path(root, "program"), "#!/bin/sh\n");
    assert_int_equal(chmod(scratch_path(root, "program"), 0755), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(root);
    return 0;
}

/* %s in the text is the directory. */
static int read_text(const char *format, struct configuration *ret_configuration, char **ret_error)
{
    char text[2048];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof(text), format, root, root);
#pragma GCC diagnostic pop
    scratch_write(scratch_path(root, "conf"), text);
    return configuration_read(scratch_path(root, "conf"), ret_configuration, ret_error);
}

static void test_configuration__extractors_are_read(void **state)
{
    (void)state;
    struct configuration configuration;
    assert_int_equal(read_text("# a comment\n\n"
                               "[extractor \"audio/midi\"]\n"
                               "  command = %s/program -q 'two words' \"a \\\"b\\\"\" c\\ d ''\r\n"
                               "; another\n"
                               "[extractor \"image/*\"]\n"
                               "output=text\nseconds = 5\nmemory_mb=64\noutput_mb = 2\n"
                               "command=%s/program",
                               &configuration, NULL),
                     0);
    assert_int_equal(configuration.n_extractors, 2);
    const struct index_extractor *midi = &configuration.extractors[0], *image = midi + 1;
    assert_string_equal(midi->media_type, "audio/midi");
    assert_string_equal(midi->command[0], scratch_path(root, "program"));
    static const char *const words[] = {"-q", "two words", "a \"b\"", "c d", ""};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        assert_string_equal(midi->command[i + 1], words[i]);
    assert_null(midi->command[6]);
    assert_false(midi->is_text);
    assert_true(!midi->seconds && !midi->memory_mb && !midi->output_mb);
    assert_string_equal(image->media_type, "image/*");
    assert_null(image->command[1]);
    assert_true(image->is_text);
    assert_int_equal(image->seconds, 5);
    assert_int_equal(image->memory_mb, 64);
    assert_int_equal(image->output_mb, 2);
    configuration_done(&configuration);
}

static void expect_split(const char *line, const char *wanted)
{
    char found[256] = "";
    char **words = configuration_split(line);
    if (!wanted) {
        assert_null(words);
        return;
    }
    assert_non_null(words);
    for (char **word = words; *word; word++) {
        sprintf(found + strlen(found), "<%s>", *word);
        free(*word);
    }
    free(words);
    assert_string_equal(found, wanted);
}

static void test_configuration__clusterings_are_read(void **state)
{
    (void)state;
    struct configuration configuration;
    assert_int_equal(read_text("[clustering \"near\"]\n  rule=components:0.9\n"
                               "[extractor \"audio/midi\"]\ncommand=%s/program\n"
                               "[clustering \"loose\"]\nrule = components:0.2:containment:0.8\n",
                               &configuration, NULL),
                     0);
    assert_int_equal(configuration.n_clusterings, 2);
    assert_int_equal(configuration.n_extractors, 1);
    assert_string_equal(configuration.clusterings[0].name, "near");
    assert_string_equal(configuration.clusterings[1].name, "loose");
    assert_true(configuration.clusterings[1].containment == 0.8);
    configuration_done(&configuration);
}

static void test_configuration__words_of_documents_are_wanted_or_not(void **state)
{
    (void)state;
    struct configuration configuration;
    assert_int_equal(read_text("[topics]\nwords = content\n", &configuration, NULL), 0);
    assert_int_equal(configuration.topics, INDEX_TOPICS_CONTENT);
    configuration_done(&configuration);
    assert_int_equal(read_text("[topics]\nwords=anchor\n", &configuration, NULL), 0);
    assert_int_equal(configuration.topics, INDEX_TOPICS_ANCHOR);
    configuration_done(&configuration);
    assert_int_equal(read_text("[topics]\nwords=off\n", &configuration, NULL), 0);
    assert_int_equal(configuration.topics, INDEX_TOPICS_OFF);
    configuration_done(&configuration);
    assert_int_equal(read_text("", &configuration, NULL), 0);
    assert_int_equal(configuration.topics, INDEX_TOPICS_AS_STORED);
    configuration_done(&configuration);
}

static void test_configuration__a_command_is_split_but_not_expanded(void **state)
{
    (void)state;
    expect_split("", "");
    expect_split(" \t ", "");
    expect_split("a", "<a>");
    expect_split(" a  b\tc ", "<a><b><c>");
    expect_split("a'b c'd\"e f\"", "<ab cde f>");
    expect_split("'a\\b' \"a\\\\b\" a\\\\b", "<a\\b><a\\b><a\\b>");
    expect_split("$HOME ~ * `x` $(x) ; | > &", "<$HOME><~><*><`x`><$(x)><;><|><>><&>");
    expect_split("'' \"\"", "<><>");
    expect_split("a b c d e f g h i", "<a><b><c><d><e><f><g><h><i>");
    expect_split("'a", NULL);
    expect_split("a \"b'", NULL);
    expect_split("a\\", NULL);
}

static void test_configuration__what_is_wrong_is_told_by_file_and_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line, *what;
    } cases[] = {
        {"colour = red\n", "1", "colour: stands in no section"},
        {"\n[colours]\n", "2", "no such section"},
        {"[topics]\nwords = all\n", "2", "takes off, content, anchor or both"},
        {"[topics]\nstems = content\n", "2", "there is words"},
        {"[extractor audio/midi]\n", "1", "no such section"},
        {"[clustering near]\n", "1", "no such section"},
        {"[clustering \"near\"]\n", "1", "has no rule"},
        {"[clustering \"near\"]\ncommand = x\n", "2", "no such name; there is rule"},
        {"[clustering \"near\"]\nrule = components\n", "2", "takes a number"},
        {"[clustering \"7\"]\nrule = components:0.5\n", "2", "no name of a clustering"},
        {"[clustering \"a\"]\nrule = components:0.5\nrule = components:0.5\n", "3",
         "a second time"},
        {"[clustering \"a\"]\nrule = components:0.5\n[clustering \"a\"]\nrule = components:0.6\n",
         "4", "a second time"},
        {"[extractor \"audio/midi\"] x\n", "1", "no such section"},
        {"[extractor \"midi\"]\n", "1", "\"midi\": no media type"},
        {"[extractor \"*/*\"]\n", "1", "no media type"},
        {"[extractor \"audio/m*\"]\n", "1", "no media type"},
        {"[extractor \"a/b\"]\nwhat\n", "2", "what: neither"},
        {"[extractor \"a/b\"]\ncolour = red\n", "2", "colour: no such name"},
        {"# x\n[extractor \"a/b\"]\nseconds=1\n", "2", "extractor \"a/b\" has no command"},
        {"[extractor \"a/b\"]\n[extractor \"b/c\"]\n", "1", "has no command"},
        {"[extractor \"a/b\"]\ncommand=%s/program\n[extractor \"A/B\"]\n", "3", "a second time"},
        {"[extractor \"a/b\"]\ncommand=%s/program\ncommand=x\n", "3", "a second time"},
        {"[extractor \"a/b\"]\noutput=text\noutput=text\n", "3", "a second time"},
        {"[extractor \"a/b\"]\nseconds=1\nseconds=1\n", "3", "a second time"},
        {"[extractor \"a/b\"]\ncommand=program\n", "2", "absolute path"},
        {"[extractor \"a/b\"]\ncommand=\n", "2", "absolute path"},
        {"[extractor \"a/b\"]\ncommand=%s/none\n", "2", "No such file"},
        {"[extractor \"a/b\"]\ncommand=%s\n", "2", "not a program"},
        {"[extractor \"a/b\"]\ncommand=%s/conf\n", "2", "not a program"},
        {"[extractor \"a/b\"]\ncommand=%s/program 'x\n", "2", "quotation"},
        {"[extractor \"a/b\"]\noutput=words\n", "2", "features or text, not \"words\""},
        {"[extractor \"a/b\"]\nseconds=0\n", "2", "from 1 to 86400, not \"0\""},
        {"[extractor \"a/b\"]\nseconds=1s\n", "2", "not \"1s\""},
        {"[extractor \"a/b\"]\nmemory_mb=-1\n", "2", "not \"-1\""},
        {"[extractor \"a/b\"]\noutput_mb=99999999999999999999\n", "2", "from 1 to 4096"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct configuration configuration;
        char *error = NULL, where[128];
        assert_int_equal(read_text(cases[i].text, &configuration, &error), -EINVAL);
        snprintf(where, sizeof(where), "%s:%s: ", scratch_path(root, "conf"), cases[i].line);
        if (strncmp(error, where, strlen(where)) != 0 || !strstr(error, cases[i].what))
            fail_msg("%s\nexpected %s...%s", error, where, cases[i].what);
        assert_int_equal(configuration.n_extractors, 0);
        free(error);
    }
}

static void test_configuration__a_file_that_is_named_must_be_there(void **state)
{
    (void)state;
    struct configuration configuration;
    char *error = NULL;
    assert_int_equal(configuration_read(scratch_path(root, "none"), &configuration, &error),
                     -ENOENT);
    assert_non_null(strstr(error, "none: No such file"));
    free(error);
    error = NULL;
    assert_int_equal(configuration_read(root, &configuration, &error), -EISDIR);
    free(error);
    assert_int_equal(setenv("KINFS_CONFIG", scratch_path(root, "none"), 1), 0);
    assert_int_equal(configuration_read(NULL, &configuration, NULL), -ENOENT);
    scratch_write(scratch_path(root, "none"), "# nothing\n");
    assert_int_equal(configuration_read(NULL, &configuration, NULL), 0);
    assert_int_equal(configuration.n_extractors, 0);
    unsetenv("KINFS_CONFIG");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_configuration__extractors_are_read),
        cmocka_unit_test(test_configuration__clusterings_are_read),
        cmocka_unit_test(test_configuration__words_of_documents_are_wanted_or_not),
        cmocka_unit_test(test_configuration__a_command_is_split_but_not_expanded),
        cmocka_unit_test(test_configuration__what_is_wrong_is_told_by_file_and_line),
        cmocka_unit_test(test_configuration__a_file_that_is_named_must_be_there),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
