#include "tools/options/configuration.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/proc_path.h"
#include "base/files/trust.h"
#include "tools/show/message.h"
#include "tools/options/mount_options.h"
#include "tools/options/duration.h"
#include "tools/options/topics_choice.h"

enum { SECONDS_MOST = 86400, MEMORY_LEAST = 16, MEMORY_MOST = 1 << 20, OUTPUT_MOST = 4096 };

/* The place in the file, and what is made of it. */
struct reading {
    const char *path;
    unsigned line, section; /* the latter: the line where the open section begins; 0: none */
    bool output_said;
    char clustering[64];                  /* the name of the open section, "": it is another */
    bool documents, unique, past, topics; /* the open section is that */
    bool rule_said;
    struct configuration *configuration;
    char **ret_error;
};

static void words_free(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

void configuration_done(struct configuration *configuration)
{
    for (size_t i = 0; i < configuration->n_extractors; i++) {
        free((char *)configuration->extractors[i].media_type);
        words_free((char **)configuration->extractors[i].command);
    }
    free(configuration->extractors);
    document_rules_done(&configuration->documents);
    unique_rules_done(&configuration->unique);
    *configuration = (struct configuration){0};
}

/* -- words -- */

/* One word into `word`; returns what is behind it, or NULL when a quotation does not end. */
static const char *take_word(const char *from, char *word)
{
    char quote = 0;
    for (; *from && (quote || !isblank((unsigned char)*from)); from++) {
        if (*from == quote) {
            quote = 0;
        } else if (!quote && (*from == '\'' || *from == '"')) {
            quote = *from;
        } else if (*from == '\\' && quote != '\'') {
            if (!*++from)
                return NULL;
            *word++ = *from;
        } else {
            *word++ = *from;
        }
    }
    *word = '\0';
    return quote ? NULL : from;
}

char **configuration_split(const char *line)
{
    size_t n = 0, room = strlen(line) + 1;
    _cleanup_free_ char *word = malloc(room);
    char **words = calloc(room / 2 + 2, sizeof(*words)); /* each takes two bytes, but the last */
    while (words && word && line) {
        while (isblank((unsigned char)*line))
            line++;
        if (!*line)
            return words;
        line = take_word(line, word);
        if (line)
            words[n++] = message("%s", word);
    }
    words_free(words);
    return NULL;
}

/* -- sections -- */

__attribute__((format(printf, 3, 4))) static int refuse_line(const struct reading *reading,
                                                             unsigned line, const char *format, ...)
{
    _cleanup_free_ char *what = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&what, format, arguments) < 0)
        what = NULL;
    va_end(arguments);
    return refuse(reading->ret_error, -EINVAL, "%s:%u: %s", reading->path, line,
                  what ? what : strerror(ENOMEM));
}

static struct index_extractor *open_extractor(const struct reading *reading)
{
    return &reading->configuration->extractors[reading->configuration->n_extractors - 1];
}

static int end_section(const struct reading *reading)
{
    if (*reading->clustering && !reading->rule_said)
        return refuse_line(reading, reading->section, "clustering \"%s\" has no rule",
                           reading->clustering);
    if (reading->section && !*reading->clustering && !reading->documents && !reading->unique &&
        !reading->past && !reading->topics && !open_extractor(reading)->command)
        return refuse_line(reading, reading->section, "extractor \"%s\" has no command",
                           open_extractor(reading)->media_type);
    return 0;
}

/* "audio/midi", "audio/" and a star. */
static bool is_media_type(const char *text)
{
    const char *slash = strchr(text, '/'), *star = strchr(text, '*');
    return slash && slash != text && slash[1] && !strchr(slash + 1, '/') &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$&-^_.+/"
                        "*") == strlen(text) &&
           (!star || (star == slash + 1 && !star[1]));
}

static int begin_section(struct reading *reading, const char *text)
{
    struct configuration *configuration = reading->configuration;
    char type[128];
    int end = 0;
    int r = end_section(reading);
    if (r < 0)
        return r;
    reading->clustering[0] = '\0';
    reading->documents = strcmp(text, "[documents]") == 0;
    reading->unique = strcmp(text, "[unique]") == 0;
    reading->past = strcmp(text, "[past]") == 0;
    reading->topics = strcmp(text, "[topics]") == 0;
    if (reading->documents || reading->unique || reading->past || reading->topics) {
        reading->section = reading->line;
        return 0;
    }
    if (sscanf(text, "[clustering \"%63[^\"]\"]%n", reading->clustering, &end) == 1 && end &&
        !text[end]) {
        reading->section = reading->line;
        reading->rule_said = false;
        return 0;
    }
    reading->clustering[0] = '\0';
    end = 0;
    if (sscanf(text, "[extractor \"%127[^\"]\"]%n", type, &end) != 1 || !end || text[end])
        return refuse_line(
            reading, reading->line,
            "%s: no such section; there are [documents], [unique], [past], [topics], "
            "[extractor \"TYPE\"] and "
            "[clustering \"NAME\"]",
            text);
    if (!is_media_type(type))
        return refuse_line(reading, reading->line,
                           "\"%s\": no media type; one is audio/midi, or audio/* for all of audio",
                           type);
    for (size_t i = 0; i < configuration->n_extractors; i++)
        if (strcasecmp(configuration->extractors[i].media_type, type) == 0)
            return refuse_line(reading, reading->line, "extractor \"%s\" is there a second time",
                               type);
    struct index_extractor *larger =
        reallocarray(configuration->extractors, configuration->n_extractors + 1, sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    configuration->extractors = larger;
    configuration->extractors[configuration->n_extractors++] =
        (struct index_extractor){.media_type = message("%s", type)};
    reading->section = reading->line;
    reading->output_said = false;
    return 0;
}

static int take_command(const struct reading *reading, struct index_extractor *extractor,
                        const char *value)
{
    struct stat st;
    char **words = configuration_split(value);
    if (!words)
        return refuse_line(reading, reading->line, "command: a quotation does not end");
    extractor->command = (const char *const *)words;
    if (!words[0] || words[0][0] != '/')
        return refuse_line(reading, reading->line,
                           "command: begin it with the absolute path of a program");
    if (stat(words[0], &st) < 0)
        return refuse_line(reading, reading->line, "command: %s: %s", words[0], strerror(errno));
    if (!S_ISREG(st.st_mode) || !(st.st_mode & 0111))
        return refuse_line(reading, reading->line, "command: %s: not a program", words[0]);
    return 0;
}

static int take_number(const struct reading *reading, const char *name, const char *value,
                       unsigned least, unsigned most, unsigned *number)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || errno || n < least || n > most)
        return refuse_line(reading, reading->line, "%s: takes a number from %u to %u, not \"%s\"",
                           name, least, most, value);
    *number = (unsigned)n;
    return 0;
}

static int take_clustering_value(struct reading *reading, const char *name, const char *value)
{
    struct configuration *configuration = reading->configuration;
    _cleanup_free_ char *error = NULL, *text = message("%s:%s", reading->clustering, value);
    if (strcmp(name, "rule") != 0)
        return refuse_line(reading, reading->line, "%s: no such name; there is rule", name);
    if (reading->rule_said)
        return refuse_line(reading, reading->line, "rule is there a second time");
    reading->rule_said = true;
    return mount_options_clustering(text, configuration->clusterings, &configuration->n_clusterings,
                                    &error) < 0
               ? refuse_line(reading, reading->line, "%s", error)
               : 0;
}

static int take_document_rule(const struct reading *reading, const char *name, const char *value)
{
    _cleanup_free_ char *error = NULL;
    int r = document_rules_take(&reading->configuration->documents, name, value, &error);
    if (r == 0)
        return refuse_line(
            reading, reading->line,
            "%s: no such name; there are exclude, type, exclude_type, min_size and max_size", name);
    return r < 0 && error ? refuse_line(reading, reading->line, "%s", error) : r < 0 ? r : 0;
}

static int take_unique_rule(const struct reading *reading, const char *name, const char *value)
{
    _cleanup_free_ char *error = NULL;
    int r = unique_rules_take(&reading->configuration->unique, name, value, &error);
    if (r == 0)
        return refuse_line(
            reading, reading->line,
            "%s: no such name; there are near, representative, stand_in, prefer and reference",
            name);
    return r < 0 && error ? refuse_line(reading, reading->line, "%s", error) : r < 0 ? r : 0;
}

static int take_past_rule(const struct reading *reading, const char *name, const char *value)
{
    if (strcmp(name, "keep_lost") != 0)
        return refuse_line(reading, reading->line, "%s: no such name; there is keep_lost", name);
    return duration_parse_keep_lost(value, &reading->configuration->keep_lost_s) == 0
               ? 0
               : refuse_line(reading, reading->line,
                             "keep_lost: takes " DURATION_FORMS
                             ", or 0 to keep nothing, not \"%s\"",
                             value);
}

static int take_topics_rule(const struct reading *reading, const char *name, const char *value)
{
    _cleanup_free_ char *error = NULL;
    if (strcmp(name, "words") != 0)
        return refuse_line(reading, reading->line, "%s: no such name; there is words", name);
    int r = topics_choice("words = ", value, &reading->configuration->topics, &error);
    return r < 0 && error ? refuse_line(reading, reading->line, "%s", error) : r;
}

static int take_value(struct reading *reading, const char *name, const char *value)
{
    if (!reading->section)
        return refuse_line(reading, reading->line, "%s: stands in no section", name);
    if (*reading->clustering)
        return take_clustering_value(reading, name, value);
    if (reading->documents)
        return take_document_rule(reading, name, value);
    if (reading->unique)
        return take_unique_rule(reading, name, value);
    if (reading->past)
        return take_past_rule(reading, name, value);
    if (reading->topics)
        return take_topics_rule(reading, name, value);
    struct index_extractor *extractor = open_extractor(reading);
    const struct {
        const char *name;
        unsigned least, most, *number;
    } numbers[] = {{"seconds", 1, SECONDS_MOST, &extractor->seconds},
                   {"memory_mb", MEMORY_LEAST, MEMORY_MOST, &extractor->memory_mb},
                   {"output_mb", 1, OUTPUT_MOST, &extractor->output_mb}};
    bool is_command = strcmp(name, "command") == 0, is_output = strcmp(name, "output") == 0;
    bool twice = (is_command && extractor->command) || (is_output && reading->output_said);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strcmp(name, numbers[i].name) != 0)
            continue;
        if (!*numbers[i].number)
            return take_number(reading, name, value, numbers[i].least, numbers[i].most,
                               numbers[i].number);
        twice = true;
    }
    if (twice)
        return refuse_line(reading, reading->line, "%s: is there a second time", name);
    if (is_command)
        return take_command(reading, extractor, value);
    if (!is_output)
        return refuse_line(reading, reading->line,
                           "%s: no such name; there are command, output, seconds, memory_mb and "
                           "output_mb",
                           name);
    reading->output_said = true;
    extractor->is_text = strcmp(value, "text") == 0;
    return extractor->is_text || strcmp(value, "features") == 0
               ? 0
               : refuse_line(reading, reading->line, "output: takes features or text, not \"%s\"",
                             value);
}

/* -- lines -- */

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

static int take_line(struct reading *reading, char *line)
{
    line = trim(line);
    if (!*line || *line == '#' || *line == ';')
        return 0;
    if (*line == '[')
        return begin_section(reading, line);
    char *equals = strchr(line, '=');
    if (!equals)
        return refuse_line(reading, reading->line,
                           "%s: neither [section] nor name = value nor # comment", line);
    *equals = '\0';
    return take_value(reading, trim(line), trim(equals + 1));
}

static int read_lines(struct reading *reading, FILE *file)
{
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    ssize_t n;
    errno = 0;
    while ((n = getline(&line, &room, file)) >= 0) {
        reading->line++;
        if (memchr(line, '\0', (size_t)n))
            return refuse_line(reading, reading->line, "a character NUL; is this a text file?");
        int r = take_line(reading, line);
        if (r < 0)
            return r;
    }
    if (!feof(file))
        return refuse(reading->ret_error, -errno, "%s: %s", reading->path, strerror(errno));
    return end_section(reading);
}

int configuration_read(const char *path, struct configuration *ret_configuration, char **ret_error)
{
    struct configuration configuration = {0};
    const char *named = path ? path : getenv("KINFS_CONFIG");
    struct reading reading = {.path = named ? named : CONFIGURATION_FILE,
                              .configuration = &configuration,
                              .ret_error = ret_error};
    *ret_configuration = configuration;
    _cleanup_close_ int place = trust_open_anywhere(reading.path, NULL);
    _cleanup_fclose_ FILE *file = place < 0 ? NULL : fopen(proc_path_of(place).text, "re");
    int r = place < 0 ? place : !file ? -errno : 0;
    if (r == -ENOENT && !named)
        return 0;
    if (r < 0)
        return refuse(ret_error, r, "%s: %s; it is the configuration: %s", reading.path,
                      error_text(r),
                      path    ? "name one that can be read"
                      : named ? "KINFS_CONFIG names it"
                              : "let it be read, or name another by KINFS_CONFIG");
    r = read_lines(&reading, file);
    if (r < 0)
        configuration_done(&configuration);
    else
        *ret_configuration = configuration;
    return r;
}
