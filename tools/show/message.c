#include "tools/show/message.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

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

char *message_make_plain(char *text)
{
    for (uint8_t *c = (uint8_t *)text; *c; c++)
        if (*c < ' ' || *c == 0x7f)
            *c = '?';
        else if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) /* as terminals have them in UTF-8 */
            c[0] = c[1] = '?';
    return text;
}

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    _cleanup_free_ char *text = format_all(format, args);
    va_end(args);
    fprintf(stderr, "kinfs: %s\n", message_make_plain(text));
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
    default: return strerror(-error);
    }
}
