/* Patterns of backup tools.
 *
 * A pattern is made of a path character by character. Most stand for themselves. Of the rest a tool
 * has its own ways: it takes a backslash for an escape, or none; it strips white space at the end
 * of a line, for which a class of one character stands, "[ ]"; it cannot have the end of a line
 * within one.
 *
 * Example: "/srv/a b*.txt " is "/srv/a b\*.txt[ ]" for restic, "pf:srv/a b*.txt" of a name without
 * the blank at its end for borg, and "re:^srv/a b\x2a\.txt\x20\Z" with it.
 *
 * Cost: linear in the path. A pattern without a wildcard costs the tools little, so nothing is
 * escaped that need not be. Left out: names that a tool can only name together with others, as by
 * "?" for a byte that is no UTF-8.
 */
#include "tools/show/exclude_pattern.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "base/cleanup.h"

/* A character of a path. */
struct character {
    const char *bytes;
    int n_bytes;
    utf8proc_int32_t code; /* -1: a byte that is no UTF-8 */
    bool is_last;          /* of the path */
};

struct exclude_format {
    const char *name;
    const char *before, *after; /* the path; after: NULL for nothing */
    char end;
    bool is_absolute, drops_slash; /* drops_slash: the one that begins an absolute path */
    /* Returns 0 or -EILSEQ. */
    int (*print)(const struct character *character, bool has_wildcard, FILE *out);
    /* A path needs the other form of the format. NULL: there is none */
    bool (*needs_other)(const struct character *character);
    const struct exclude_format *other;
};

static struct character character_at(const char *at)
{
    struct character character = {.bytes = at};
    const size_t n = strnlen(at, 4);
    const utf8proc_ssize_t taken =
        utf8proc_iterate((const utf8proc_uint8_t *)at, (utf8proc_ssize_t)n, &character.code);
    character.n_bytes = taken > 0 ? (int)taken : 1;
    if (taken <= 0)
        character.code = -1;
    character.is_last = at[character.n_bytes] == '\0';
    return character;
}

static bool is_control(const struct character *character)
{
    return character->code >= 0 && utf8proc_category(character->code) == UTF8PROC_CATEGORY_CC;
}

/* The character is one that any of the tools may take for white space at an end. */
static bool is_blank(const struct character *character)
{
    const int32_t code = character->code;
    if (code < 0)
        return false;
    const utf8proc_category_t category = utf8proc_category(code);
    return is_control(character) || category == UTF8PROC_CATEGORY_ZS ||
           category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

static bool is_any_of(const struct character *character, const char *characters)
{
    return character->code > 0 && character->code < 0x80 && strchr(characters, character->code);
}

static void print_itself(const struct character *character, FILE *out)
{
    fwrite(character->bytes, 1, (size_t)character->n_bytes, out);
}

static void print_class(const struct character *character, FILE *out)
{
    fputc('[', out);
    print_itself(character, out);
    fputc(']', out);
}

/* escaped: the characters that take a backslash. */
static void print_escaped(const struct character *character, const char *escaped, FILE *out)
{
    if (is_any_of(character, escaped))
        fputc('\\', out);
    print_itself(character, out);
}

static int print_restic(const struct character *character, bool has_wildcard, FILE *out)
{
    (void)has_wildcard;
    if (character->code == '\n') /* what is neither before it nor behind it */
        fputs("[^\x01-\t\v-\xf4\x8f\xbf\xbf]", out);
    else if (character->code == '$') /* else a variable */
        fputs("$$", out);
    else if (character->is_last && is_blank(character))
        print_class(character, out);
    else
        print_escaped(character, "*?[\\", out);
    return 0;
}

static int print_literally(const struct character *character, bool has_wildcard, FILE *out)
{
    (void)has_wildcard;
    print_itself(character, out);
    return 0;
}

/* The character is one that is stripped at an end, or that cannot be read. */
static bool borg_needs_other(const struct character *character)
{
    return character->code < 0 || is_control(character) ||
           (character->is_last && is_blank(character));
}

/* As Python has it: a byte that is no UTF-8 is a surrogate. */
static int print_python(const struct character *character, bool has_wildcard, FILE *out)
{
    (void)has_wildcard;
    const int32_t code = character->code;
    if (code < 0)
        fprintf(out, "\\udc%02x", (unsigned char)*character->bytes);
    else if (code >= 0x10000)
        fprintf(out, "\\U%08x", (unsigned)code);
    else if (code >= 0x80)
        fprintf(out, "\\u%04x", (unsigned)code);
    else if ((code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
             (code >= 'a' && code <= 'z') || code == '/')
        fputc(code, out);
    else
        fprintf(out, "\\x%02x", (unsigned)code);
    return 0;
}

/* A backslash counts where there is a wildcard, and nowhere else. */
static int print_rsync(const struct character *character, bool has_wildcard, FILE *out)
{
    print_escaped(character, has_wildcard ? "*?[\\" : "", out);
    return 0;
}

static int print_tar(const struct character *character, bool has_wildcard, FILE *out)
{
    (void)has_wildcard;
    if (character->code == '\n')
        return -EILSEQ;
    if (character->is_last && is_any_of(character, " \t\v\f\r"))
        print_class(character, out);
    else
        print_escaped(character, "*?[\\", out);
    return 0;
}

static int print_bsdtar(const struct character *character, bool has_wildcard, FILE *out)
{
    (void)has_wildcard;
    if (is_any_of(character, "\n\r"))
        return -EILSEQ;
    print_escaped(character, character->is_last ? "*?[\\$" : "*?[\\", out);
    return 0;
}

/* A control character is the picture of it, and what is no UTF-8 one and the same character. */
static int print_rclone(const struct character *character, bool has_wildcard, FILE *out)
{
    (void)has_wildcard;
    const int32_t code = character->code;
    if (code < 0 || code == 0xfffd || code == 0x201b || (code >= 0x2400 && code <= 0x2421))
        return -EILSEQ;
    if (code < 0x20)
        fprintf(out, "\xe2\x90%c", 0x80 + code);
    else if (code == 0x7f)
        fputs("\xe2\x90\xa1", out);
    else if (character->is_last && is_blank(character))
        print_class(character, out);
    else
        print_escaped(character, "*?[]{}\\", out);
    return 0;
}

static int print_duplicity(const struct character *character, bool has_wildcard, FILE *out)
{
    (void)has_wildcard;
    if (character->code < 0 || character->code == '\r')
        return -EILSEQ;
    if (is_any_of(character, "*?[") || (character->is_last && is_blank(character)))
        print_class(character, out);
    else
        print_itself(character, out);
    return 0;
}

static int print_kopia(const struct character *character, bool has_wildcard, FILE *out)
{
    (void)has_wildcard;
    if (character->code < 0 || is_control(character) || (character->is_last && is_blank(character)))
        return -EILSEQ;
    print_escaped(character, "*?[!#\\", out);
    return 0;
}

static const struct exclude_format borg_expression = {
    .before = "re:^", .after = "\\Z", .end = '\n', .print = print_python};

static const struct exclude_format formats[] = {
    {.name = "restic", .before = "", .end = '\n', .is_absolute = true, .print = print_restic},
    {.name = "borg",
     .before = "pf:",
     .end = '\n',
     .is_absolute = true,
     .drops_slash = true,
     .print = print_literally,
     .needs_other = borg_needs_other,
     .other = &borg_expression},
    {.name = "rsync", .before = "/", .end = '\0', .print = print_rsync},
    {.name = "tar", .before = "./", .end = '\n', .print = print_tar},
    {.name = "bsdtar", .before = "^./", .end = '\n', .print = print_bsdtar},
    {.name = "rclone", .before = "/", .end = '\n', .print = print_rclone},
    {.name = "duplicity",
     .before = "- ",
     .end = '\0',
     .is_absolute = true,
     .print = print_duplicity},
    {.name = "kopia", .before = "/", .end = '\n', .print = print_kopia},
    {.name = "plain0", .before = "", .end = '\0', .is_absolute = true, .print = print_literally},
};
enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct exclude_format *exclude_format_of(const char *name)
{
    for (unsigned i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

bool exclude_format_is_absolute(const struct exclude_format *format)
{
    return format->is_absolute;
}

static const struct exclude_format *form_of(const struct exclude_format *format, const char *path)
{
    struct character character;
    for (const char *at = path; format->needs_other && *at; at += character.n_bytes) {
        character = character_at(at);
        if (format->needs_other(&character))
            return format->other;
    }
    return format;
}

int exclude_pattern_make(const struct exclude_format *format, const char *path, char **ret_pattern,
                         size_t *ret_n_bytes)
{
    _cleanup_free_ char *pattern = NULL;
    size_t n_bytes = 0;
    if (format->drops_slash)
        path += *path == '/';
    const struct exclude_format *form = form_of(format, path);
    const bool has_wildcard = strpbrk(path, "*?[") != NULL;
    FILE *memory = open_memstream(&pattern, &n_bytes);
    if (!memory)
        return -ENOMEM;
    int r = 0;
    struct character character;
    fputs(form->before, memory);
    for (const char *at = path; r == 0 && *at; at += character.n_bytes) {
        character = character_at(at);
        r = form->print(&character, has_wildcard, memory);
    }
    if (form->after)
        fputs(form->after, memory);
    fputc(form->end, memory);
    const bool is_full = ferror(memory);
    if (fclose(memory) != 0 || is_full)
        return -ENOMEM;
    if (r < 0)
        return r;
    *ret_pattern = TAKE_PTR(pattern);
    *ret_n_bytes = n_bytes;
    return 0;
}
