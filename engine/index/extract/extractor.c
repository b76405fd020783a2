#include "engine/index/extract/extractor.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "engine/index/extract/media_type.h"
#include "engine/index/extract/zip_directory.h"
#include "engine/text/canon.h"

enum {
    SECONDS = 60,
    MEMORY_MB = 1024,
    OUTPUT_MB = 64,
};

struct extractors {
    uint32_t id;
    struct extractor *all;
    size_t n, n_configured;
    unsigned left_out; /* types */
    bool may_be_texts; /* some configured ones are for types that may be texts */
};

static void extractor_done(struct extractor *extractor)
{
    free(extractor->name);
    free(extractor->media_type);
    for (char **word = extractor->argv; word && *word; word++)
        free(*word);
    free(extractor->argv);
}

void extractors_free(struct extractors *extractors)
{
    if (!extractors)
        return;
    for (size_t i = 0; i < extractors->n; i++)
        extractor_done(&extractors->all[i]);
    free(extractors->all);
    free(extractors);
}
DEFINE_CLEANUP(struct extractors *, extractors_free);

uint32_t extractors_id(const struct extractors *extractors)
{
    return extractors->id;
}

bool extractors_are_none(const struct extractors *extractors)
{
    return extractors->n == 0;
}

/* -- where the programs are -- */

/* Beside this program, as in a build directory; else where they are installed. */
static int find_program(char ret_path[PATH_MAX])
{
    const char *named = getenv("KINFS_EXTRACT");
    char own[PATH_MAX];
    if (named) {
        snprintf(ret_path, PATH_MAX, "%s", named);
        return access(ret_path, X_OK) < 0 ? -errno : 0;
    }
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
    if (n > 0) {
        own[n] = '\0';
        n = snprintf(ret_path, PATH_MAX, "%s/kinfs-extract", dirname(own));
    }
    if (n > 0 && n < PATH_MAX && access(ret_path, X_OK) == 0)
        return 0;
    snprintf(ret_path, PATH_MAX, "%s", KINFS_LIBEXEC "/kinfs-extract");
    return access(ret_path, X_OK) < 0 ? -errno : 0;
}

/* -- what is left out -- */

unsigned extractors_left_out(const struct extractors *extractors)
{
    return extractors->left_out;
}

static enum text_type type_of_library(int fd, const void *head, size_t size_bytes)
{
    enum text_type type = text_type_sniff_library(head, size_bytes);
    return type == TEXT_BINARY && zip_directory_may_be(head, size_bytes) ? zip_directory_type(fd)
                                                                         : type;
}

bool extractors_leave_out(const struct extractors *extractors, int fd, const void *head,
                          size_t size_bytes, enum text_type *ret_type)
{
    if (!extractors->left_out || canon_is_packed(head, size_bytes))
        return false;
    enum text_type type =
        text_type_sniff(head, size_bytes < TEXT_SNIFF_BYTES ? size_bytes : TEXT_SNIFF_BYTES);
    if (type == TEXT_BINARY)
        type = type_of_library(fd, head, size_bytes);
    *ret_type = type;
    return extractors->left_out & 1u << type;
}

/* -- the table -- */

static char *print(const char *format, unsigned long long number)
{
    char *text;
    return asprintf(&text, format, number) < 0 ? NULL : text;
}

/* kinfs-extract PARENT SECONDS MEMORY_MB COMMAND...; the parent is of now, not after a fork. */
static int make_argv(const char *program, unsigned memory_mb, const char *const *command,
                     struct extractor *extractor)
{
    enum { BEFORE = 4 };
    size_t n = 0;
    while (command[n])
        n++;
    char **argv = extractor->argv = calloc(BEFORE + n + 1, sizeof(*argv));
    if (!argv)
        return -ENOMEM;
    argv[0] = strdup(program);
    argv[1] = argv[0] ? print("%llu", (unsigned long long)getpid()) : NULL;
    argv[2] = argv[1] ? print("%llu", extractor->seconds) : NULL;
    argv[3] = argv[2] ? print("%llu", memory_mb) : NULL;
    for (size_t i = 0; i < n && argv[BEFORE + i - 1]; i++)
        argv[BEFORE + i] = strdup(command[i]);
    return argv[BEFORE + n - 1] ? 0 : -ENOMEM;
}

/* -- ids: of what is said of an extractor, never 0 -- */

static uint32_t add_bytes(uint32_t id, const void *bytes, size_t n)
{
    uint32_t more = (uint32_t)XXH3_64bits_withSeed(bytes, n, id);
    return more ? more : 1;
}

static uint32_t add_text(uint32_t id, const char *text)
{
    return add_bytes(id, text, strlen(text) + 1);
}

static uint32_t id_of(const struct extractor *extractor, unsigned memory_mb,
                      const char *const *command)
{
    const unsigned numbers[] = {extractor->type, extractor->lines, extractor->seconds,
                                extractor->output_mb, memory_mb};
    uint32_t id = add_bytes(add_text(0, extractor->name), numbers, sizeof(numbers));
    for (; *command; command++)
        id = add_text(id, *command);
    return id;
}

static int add_configured(struct extractors *extractors, const char *program,
                          const struct index_extractor *from)
{
    struct extractor *extractor = &extractors->all[extractors->n++];
    size_t n = strlen(from->media_type);
    *extractor = (struct extractor){
        .name = strdup(from->media_type),
        .media_type = strdup(from->media_type),
        .type = TEXT_EXTRACTED,
        .lines = !from->is_text,
        .seconds = from->seconds ? from->seconds : SECONDS,
        .output_mb = from->output_mb ? from->output_mb : OUTPUT_MB,
    };
    if (!extractor->name || !extractor->media_type)
        return -ENOMEM;
    if (n > 1 && strcmp(extractor->media_type + n - 2, "/*") == 0)
        extractor->media_type[n - 1] = '\0';
    extractors->may_be_texts |= !media_type_is_of_bytes(extractor->media_type);
    const unsigned memory_mb = from->memory_mb ? from->memory_mb : MEMORY_MB;
    extractor->id = id_of(extractor, memory_mb, from->command);
    return make_argv(program, memory_mb, from->command, extractor);
}

/* Documents of an extractor that is not installed are bytes. */
static int add_built_in(struct extractors *extractors, const char *program, enum text_type type)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s-%s", program, text_type_name(type));
    if (access(path, X_OK) < 0)
        return 0;
    struct extractor *extractor = &extractors->all[extractors->n++];
    *extractor = (struct extractor){.name = strdup(text_type_name(type)),
                                    .type = type,
                                    .seconds = SECONDS,
                                    .output_mb = OUTPUT_MB};
    if (!extractor->name)
        return -ENOMEM;
    /* Wherever it is installed. */
    extractor->id = id_of(extractor, MEMORY_MB, (const char *const[]){NULL});
    return make_argv(program, MEMORY_MB, (const char *const[]){path, NULL}, extractor);
}

static int refuse_missing(const char *program, int error, char **ret_error)
{
    char *text;
    if (ret_error && asprintf(&text,
                              "%s: %s; extractors are configured, and this is what runs them: "
                              "install it, or take them out of the configuration",
                              program, strerror(-error)) >= 0)
        *ret_error = text;
    return error;
}

static const enum text_type built_in[] = {TEXT_PDF, TEXT_OFFICE, TEXT_EPUB};
enum { N_BUILT_IN = sizeof(built_in) / sizeof(built_in[0]) };
_Static_assert((int)N_BUILT_IN == (int)INDEX_UNREAD_MAX, "each may be missing");

void extractors_unread(const struct extractors *extractors,
                       const char *ret_names[INDEX_UNREAD_MAX + 1])
{
    size_t n_unread = 0;
    for (size_t i = 0; i < N_BUILT_IN; i++) {
        size_t at = extractors->n_configured;
        while (at < extractors->n && extractors->all[at].type != built_in[i])
            at++;
        if (at == extractors->n)
            ret_names[n_unread++] = text_type_name(built_in[i]);
    }
    ret_names[n_unread] = NULL;
}

int extractors_new(const struct index_extractor *configured, size_t n_configured, unsigned left_out,
                   struct extractors **ret_extractors, char **ret_error)
{
    char program[PATH_MAX];
    _cleanup_(extractors_free_p) struct extractors *extractors = calloc(1, sizeof(*extractors));
    if (!extractors ||
        !(extractors->all = calloc(n_configured + N_BUILT_IN, sizeof(*extractors->all))))
        return -ENOMEM;
#ifndef KINFS_HAVE_MAGIC
    if (n_configured)
        return refuse_missing("kinfs-extract", -EOPNOTSUPP, ret_error);
#endif
    int r = find_program(program);
    if (r < 0 && n_configured)
        return refuse_missing(program, r, ret_error);
    extractors->n_configured = n_configured;
    for (size_t i = 0; r == 0 && i < n_configured; i++) {
        r = add_configured(extractors, program, &configured[i]);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; r == 0 && i < N_BUILT_IN; i++) {
        r = add_built_in(extractors, program, built_in[i]);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < extractors->n; i++)
        extractors->id = add_bytes(extractors->id, &extractors->all[i].id, sizeof(uint32_t));
    extractors->left_out = left_out;
    if (left_out)
        extractors->id = add_bytes(extractors->id, &left_out, sizeof(left_out));
    *ret_extractors = TAKE_PTR(extractors);
    return 0;
}

/* -- choosing -- */

struct extractor_choice {
    const struct extractors *extractors;
    struct media_teller *teller; /* NULL: nobody has to be asked */
    bool takes_slow;
};

int extractor_choice_new(const struct extractors *extractors, bool takes_slow,
                         struct extractor_choice **ret_choice)
{
    struct extractor_choice *choice = calloc(1, sizeof(*choice));
    if (!choice)
        return -ENOMEM;
    choice->extractors = extractors;
    choice->takes_slow = takes_slow;
    int r = extractors->n_configured ? media_teller_new(&choice->teller) : 0;
    if (r < 0) {
        extractor_choice_free(choice);
        return r;
    }
    *ret_choice = choice;
    return 0;
}

void extractor_choice_free(struct extractor_choice *choice)
{
    if (choice)
        media_teller_free(choice->teller);
    free(choice);
}

static bool is_for(const struct extractor *extractor, const char *media_type)
{
    size_t n = strlen(extractor->media_type);
    return extractor->media_type[n - 1] == '/'
               ? strncasecmp(extractor->media_type, media_type, n) == 0
               : strcasecmp(extractor->media_type, media_type) == 0;
}

static int choose_configured(struct extractor_choice *choice, const void *head, size_t size_bytes,
                             const struct extractor **ret_extractor)
{
    const struct extractors *extractors = choice->extractors;
    const char *media_type = media_teller_bytes(choice->teller, head, size_bytes);
    if (!media_type && extractors->may_be_texts && !choice->takes_slow)
        return EXTRACTOR_SLOW;
    if (!media_type && extractors->may_be_texts)
        media_type = media_teller_text(choice->teller, head, size_bytes);
    for (size_t i = 0; media_type && i < extractors->n_configured && !*ret_extractor; i++)
        if (is_for(&extractors->all[i], media_type))
            *ret_extractor = &extractors->all[i];
    return 0;
}

int extractor_choose(struct extractor_choice *choice, int fd, const void *head, size_t size_bytes,
                     const struct extractor **ret_extractor)
{
    const struct extractors *extractors = choice->extractors;
    *ret_extractor = NULL;
    if (size_bytes == 0 || extractors->n == 0)
        return 0;
    int r = choice->teller ? choose_configured(choice, head, size_bytes, ret_extractor) : 0;
    if (r != 0 || *ret_extractor || extractors->n == extractors->n_configured)
        return r;
    const enum text_type type = type_of_library(fd, head, size_bytes);
    for (size_t i = extractors->n_configured; i < extractors->n; i++)
        if (extractors->all[i].type == type) {
            *ret_extractor = &extractors->all[i];
            break;
        }
    return 0;
}
