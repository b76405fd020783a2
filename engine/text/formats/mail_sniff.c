/* Mail is told by its header: all lines up to the first empty one are header fields, and fields
 * that only mail has are among them.
 *
 * Example: "From: a@b" and "Date: ..." with an empty line behind are mail; "Name: x" and "Age: 7"
 * are not. A mailbox begins with a line "From " and then a header. Cost: a look at each line up to
 * the first that is no field. */
#include "engine/text/formats/mail.h"

#include <string.h>
#include <strings.h>

enum {
    FROM = 1,       /* who, in a field of its own */
    WHEN = 2,       /* a date, or a field that only mail on its way has */
    ON_ITS_WAY = 4, /* a field that programs that carry mail write */
    ABOUT = 8,      /* to whom, or about what */
};

static unsigned meaning_of(const uint8_t *name, size_t n_bytes)
{
    static const struct {
        char name[16];
        unsigned meaning;
    } fields[] = {
        {"From", FROM},
        {"Sender", FROM},
        {"Date", WHEN},
        {"Message-ID", WHEN | ON_ITS_WAY},
        {"MIME-Version", WHEN},
        {"Received", WHEN | ON_ITS_WAY},
        {"Return-Path", WHEN | ON_ITS_WAY},
        {"Delivered-To", WHEN | ON_ITS_WAY},
        {"Subject", ABOUT},
        {"To", ABOUT},
        {"Cc", ABOUT},
        {"Newsgroups", ABOUT},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (n_bytes == strlen(fields[i].name) &&
            strncasecmp((const char *)name, fields[i].name, n_bytes) == 0)
            return fields[i].meaning;
    return 0;
}

/* The name of a line's field: letters, digits and dashes up to a colon. */
static size_t name_bytes(const uint8_t *line, size_t n_bytes)
{
    size_t n = 0;
    while (n < n_bytes && (html_is_letter(line[n]) || line[n] == '-' ||
                           (n > 0 && line[n] >= '0' && line[n] <= '9')))
        n++;
    return n < n_bytes && line[n] == ':' ? n : 0;
}

/* "From address Mon Sep 17 00:00:00 2001": there is a time in it. */
static bool begins_mailbox(const uint8_t *line, size_t n_bytes)
{
    if (n_bytes < 5 || memcmp(line, "From ", 5) != 0)
        return false;
    for (size_t i = 7; i + 2 < n_bytes; i++)
        if (line[i] == ':' && line[i - 1] >= '0' && line[i - 1] <= '9' && line[i + 1] >= '0' &&
            line[i + 1] <= '9')
            return true;
    return false;
}

bool mail_sniff(const uint8_t *head, size_t head_bytes)
{
    unsigned meanings = 0;
    bool mailbox = false;
    for (size_t at = 0, n_lines = 0; at < head_bytes; n_lines++) {
        const uint8_t *line = head + at;
        const uint8_t *newline = memchr(line, '\n', head_bytes - at);
        size_t n = newline ? (size_t)(newline - line) : head_bytes - at;
        at += n + 1;
        if (n > 0 && line[n - 1] == '\r')
            n--;
        if (n == 0 && n_lines > 0)
            break;
        if (n_lines == 0 && begins_mailbox(line, n)) {
            mailbox = true;
            continue;
        }
        if (n_lines > 0 && n > 0 && (line[0] == ' ' || line[0] == '\t'))
            continue;
        size_t name = name_bytes(line, n);
        if (name == 0 && newline)
            return false;
        meanings |= meaning_of(line, name);
    }
    if (mailbox)
        return meanings != 0;
    return meanings & WHEN && (meanings & ON_ITS_WAY ? meanings & (FROM | ABOUT)
                                                     : meanings & FROM && meanings & ABOUT);
}
