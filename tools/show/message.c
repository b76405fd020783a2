#include "tools/show/message.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "tools/show/json_line.h"

static char *format_all(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) {
        fputs("kinfs: out of memory\n", stderr);
        exit(3);
    }
    return text;
}

char *message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_all(format, args);
    va_end(args);
    return text;
}

static bool in_json;

void complain_in_json(void)
{
    in_json = true;
}

static void print_object(const char *member, const char *text)
{
    struct json_object *object = json_object_new_object();
    json_object_object_add(object, member, json_object_new_string(text));
    json_line_print(stderr, object);
    json_object_put(object);
}

static void say(const char *member, const char *format, va_list args)
{
    _cleanup_free_ char *text = format_all(format, args);
    escape_make_plain(text);
    if (in_json)
        print_object(member, text);
    else
        fprintf(stderr, "kinfs: %s\n", text);
}

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("error", format, args);
    va_end(args);
}

void remark(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("note", format, args);
    va_end(args);
}

/* Each line by itself: newlines stay. */
static ssize_t write_plain(void *user, const char *bytes, size_t n)
{
    (void)user;
    _cleanup_free_ char *text = message("%.*s", (int)n, bytes);
    for (char *line = text, *end; *line; line = end) {
        end = strchrnul(line, '\n');
        const bool ends = *end;
        *end = '\0';
        (void)!write(STDERR_FILENO, line, strlen(escape_make_plain(line)));
        if (ends)
            (void)!write(STDERR_FILENO, "\n", 1);
        end += ends;
    }
    return (ssize_t)n;
}

FILE *message_stream(void)
{
    return fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_plain});
}

int refuse(char **ret_error, int code, const char *format, ...)
{
    if (!ret_error)
        return code;
    va_list args;
    va_start(args, format);
    *ret_error = format_all(format, args);
    va_end(args);
    return code;
}

const char *error_text(int error)
{
    switch (error) {
    case -EUCLEAN: return "the store is damaged; unmount the tree, then run kinfs check --repair";
    case -ENOSPC: return "no room for the store; make room, and it goes on by itself";
    case -ESHUTDOWN: return "the index is being closed";
    case -EXDEV:
        return "in another user's mount, which can show anything or never answer; run this as that "
               "user";
    default: return strerror(-error);
    }
}
