/* Escaping goes character by character: one that prints is copied, any other is escaped byte by
 * byte. A byte that begins no valid UTF-8 is a character of its own.
 *
 * Example: "a b\xff\n" becomes "a\ b\377\n", and "\xc3\xa9" (U+00E9) stays. At most 4 bytes for
 * each.
 */
#include "base/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of the character that begins at p, or 0 when none does that is valid UTF-8 (no
 * overlong form, no surrogate, nothing past U+10FFFF). */
static size_t character(const uint8_t *p, uint32_t *ret_code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (size == 0 || p[0] > 0xf4)
        return 0;
    uint32_t code = size == 1 ? p[0] : p[0] & (0xff >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((p[i] & 0xc0) != 0x80) /* the final NUL too */
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret_code = code;
    return size;
}

/* Characters that turn round the order in which a line is shown (Bidi_Control of Unicode), so that
 * a name could be read as another one. */
static bool turns(uint32_t code)
{
    return code == 0x61c || code == 0x200e || code == 0x200f ||
           (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool escape_shows(uint32_t code)
{
    return code >= 0x20 && !(code >= 0x7f && code < 0xa0) && code != 0x2028 && code != 0x2029 &&
           !turns(code);
}

char *escape_make_plain(char *text)
{
    for (uint8_t *p = (uint8_t *)text; *p;) {
        uint32_t code = *p; /* of a byte alone, as charsets of bytes have it */
        size_t size = character(p, &code);
        size += size == 0;
        if (!escape_shows(code))
            memset(p, '?', size);
        p += size;
    }
    return text;
}

static const char escaped_bytes[] = "\a\b\f\n\r\t\v\\ ", escape_letters[] = "abfnrtv\\ ";

static char *put_escape(char *out, uint8_t byte)
{
    const char *known = strchr(escaped_bytes, byte);

    *out++ = '\\';
    if (known) {
        *out++ = escape_letters[known - escaped_bytes];
    } else {
        *out++ = (char)('0' + (byte >> 6));
        *out++ = (char)('0' + (byte >> 3 & 7));
        *out++ = (char)('0' + (byte & 7));
    }
    return out;
}

int escape_name(const char *name, char **ret_escaped)
{
    char *escaped = malloc(4 * strlen(name) + 1), *out = escaped;
    if (!escaped)
        return -ENOMEM;

    for (const uint8_t *p = (const uint8_t *)name; *p;) {
        uint32_t code = 0;
        size_t size = character(p, &code);
        if (size && escape_shows(code) && code != ' ' && code != '\\') {
            memcpy(out, p, size);
            out += size;
        } else {
            size += size == 0;
            for (size_t i = 0; i < size; i++)
                out = put_escape(out, p[i]);
        }
        p += size;
    }
    *out = '\0';
    *ret_escaped = escaped;
    return 0;
}

static bool is_octal(const char *text)
{
    return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' && text[2] >= '0' &&
           text[2] <= '7';
}

int escape_take_back(char *escaped)
{
    char *to = escaped;
    for (const char *from = escaped; *from;) {
        const char *known = from[0] == '\\' && from[1] ? strchr(escape_letters, from[1]) : NULL;
        if (from[0] != '\\') {
            *to++ = *from++;
        } else if (known) {
            *to++ = escaped_bytes[known - escape_letters];
            from += 2;
        } else {
            if (!is_octal(from + 1))
                return -EINVAL;
            *to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
            if (!*to++)
                return -EINVAL;
            from += 4;
        }
    }
    *to = '\0';
    return 0;
}
