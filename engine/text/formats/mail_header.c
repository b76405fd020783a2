/* Header fields: the subject is text, with its encoded words decoded (RFC 2047), and fields of the
 * content set the properties of the part.
 *
 * Example: "Subject: =?utf-8?q?caf=C3=A9?= open" has the words "café" and "open". */
#include "engine/text/formats/mail.h"

#include <string.h>
#include <strings.h>

/* A field's rest, read from its beginning. */
struct value {
    const uint8_t *p, *end;
};

static size_t size_of(const struct value *value)
{
    return (size_t)(value->end - value->p);
}

static bool is(const struct value *value, const char *text)
{
    return size_of(value) == strlen(text) &&
           strncasecmp((const char *)value->p, text, size_of(value)) == 0;
}

static bool begins(const struct value *value, const char *text)
{
    return size_of(value) >= strlen(text) &&
           strncasecmp((const char *)value->p, text, strlen(text)) == 0;
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct value take_until(struct value *value, const char *ends)
{
    struct value taken = *value;
    while (value->p < value->end && !(*value->p && strchr(ends, *value->p)))
        value->p++;
    taken.end = value->p;
    return taken;
}

/* -- the subject (RFC 2047) -- */

struct encoded_word {
    struct value charset, text;
    bool base64;
};

static bool take_encoded_word(struct value *value, struct encoded_word *ret_word)
{
    struct value at = *value;
    if (!begins(&at, "=?"))
        return false;
    at.p += 2;
    ret_word->charset = take_until(&at, "?* \t");
    if (at.p < at.end && *at.p == '*')
        take_until(&at, "? \t");
    if (at.end - at.p < 3 || at.p[0] != '?' || at.p[2] != '?' || !strchr("bBqQ", at.p[1]))
        return false;
    ret_word->base64 = (at.p[1] | 0x20) == 'b';
    at.p += 3;
    ret_word->text = take_until(&at, "? \t");
    if (!begins(&at, "?="))
        return false;
    value->p = at.p + 2;
    return true;
}

/* Copies a name as a string; one that is too long becomes "". */
static void copy_name(const struct value *value, char ret_name[CHARSET_NAME_MAX + 1])
{
    size_t n = size_of(value) <= CHARSET_NAME_MAX ? size_of(value) : 0;
    memcpy(ret_name, value->p, n);
    ret_name[n] = '\0';
}

static void show_encoded_word(struct mail *mail, const struct encoded_word *word)
{
    char charset[CHARSET_NAME_MAX + 1];
    copy_name(&word->charset, charset);
    mail_text_begins(mail, charset, false);
    const uint8_t *p = word->text.p, *end = word->text.end;
    if (word->base64)
        mail_put_base64(mail, p, (size_t)(end - p));
    else
        for (; p < end; p++) {
            int byte = *p == '=' && end - p > 2 ? mail_hex(p + 1) : -1;
            mail_put(mail, byte >= 0 ? (uint8_t)byte : *p == '_' ? ' ' : *p);
            p += byte >= 0 ? 2 : 0;
        }
    mail_text_ends(mail);
}

static void show_subject(struct mail *mail, struct value subject)
{
    struct encoded_word word;
    struct value text = subject;
    bool after_word = false;
    words_separate(mail->words);
    while (subject.p < subject.end) {
        text.p = subject.p;
        bool blank = true;
        while (subject.p < subject.end && !begins(&subject, "=?"))
            blank &= is_space(*subject.p++);
        text.end = subject.p;
        bool is_word = take_encoded_word(&subject, &word);
        if (!is_word && subject.p < subject.end)
            text.end = subject.p += 2;
        /* Blanks between two encoded words are no text. */
        if (size_of(&text) > 0 && !(blank && after_word && is_word)) {
            mail_text_begins(mail, "", false);
            mail_put_line(mail, MAIL_IDENTITY,
                          &(struct line){.bytes = text.p, .n_bytes = size_of(&text)});
            mail_text_ends(mail);
        }
        if (is_word)
            show_encoded_word(mail, &word);
        after_word = is_word;
    }
    words_separate(mail->words);
}

/* -- the properties of the part -- */

static void skip_spaces(struct value *value)
{
    while (value->p < value->end && is_space(*value->p))
        value->p++;
}

/* Takes "; name=value", where the value may be quoted. Returns false when there are no more. */
static bool take_parameter(struct value *rest, struct value *ret_name, struct value *ret_value)
{
    take_until(rest, ";");
    if (rest->p == rest->end)
        return false;
    rest->p++;
    skip_spaces(rest);
    *ret_name = take_until(rest, "=; \t");
    skip_spaces(rest);
    *ret_value = (struct value){rest->p, rest->p};
    if (rest->p == rest->end || *rest->p != '=')
        return true;
    rest->p++;
    skip_spaces(rest);
    bool quoted = rest->p < rest->end && *rest->p == '"';
    rest->p += quoted;
    *ret_value = take_until(rest, quoted ? "\"" : "; \t");
    return true;
}

static void read_type(struct mail_part *part, struct value value)
{
    struct value type = take_until(&value, "; \t"), name, parameter;
    if (is(&type, "text/html"))
        part->type = MAIL_HTML;
    else if (is(&type, "text/plain") || is(&type, "text"))
        part->type = MAIL_TEXT;
    else if (is(&type, "message/rfc822") || is(&type, "message/global"))
        part->type = MAIL_MESSAGE;
    else
        part->type = begins(&type, "multipart/") ? MAIL_MULTIPART : MAIL_OTHER;
    part->alternative = is(&type, "multipart/alternative");
    part->digest = is(&type, "multipart/digest");
    part->n_boundary = 0;
    part->charset[0] = '\0';
    while (take_parameter(&value, &name, &parameter)) {
        if (is(&name, "charset"))
            copy_name(&parameter, part->charset);
        if (is(&name, "boundary") && size_of(&parameter) <= MAIL_BOUNDARY_MAX_BYTES) {
            part->n_boundary = (uint8_t)size_of(&parameter);
            memcpy(part->boundary, parameter.p, part->n_boundary);
        }
    }
}

static enum mail_encoding encoding_of(struct value value)
{
    struct value name = take_until(&value, "; \t");
    if (is(&name, "quoted-printable"))
        return MAIL_QUOTED_PRINTABLE;
    if (is(&name, "base64"))
        return MAIL_BASE64;
    bool identity = is(&name, "7bit") || is(&name, "8bit") || is(&name, "binary") || is(&name, "");
    return identity ? MAIL_IDENTITY : MAIL_UNKNOWN;
}

void mail_header_ends(struct mail *mail)
{
    struct value value = {mail->header, mail->header + mail->n_header};
    struct value name = take_until(&value, ": \t");
    mail->n_header = 0;
    skip_spaces(&value);
    if (value.p == value.end || *value.p != ':')
        return;
    value.p++;
    skip_spaces(&value);
    if (is(&name, "Subject"))
        show_subject(mail, value);
    else if (is(&name, "Content-Type"))
        read_type(&mail->part, value);
    else if (is(&name, "Content-Transfer-Encoding"))
        mail->part.encoding = encoding_of(value);
    else if (is(&name, "Content-Disposition"))
        mail->part.attachment = begins(&value, "attachment");
}
