/* The body of a part: its lines are decoded by quoted-printable or base64 (RFC 2045, 6.7 and 6.8),
 * then by the charset, then read as HTML or words.
 *
 * Example: "caf=C3=A9=" is decoded to "caf\xc3\xa9", and its line goes on, as "=" at the end is a
 * soft break. "Y2Fm" is "caf" by four digits of six bits. */
#include "engine/text/formats/mail.h"

static void take_text(void *user, const uint8_t *bytes, size_t size_bytes)
{
    struct mail *mail = user;
    if (mail->is_html)
        html_feed(mail->html, bytes, size_bytes);
    else
        words_feed(mail->words, bytes, size_bytes);
}

void mail_init(struct mail *mail)
{
    charset_init(&mail->charset, &(struct byte_sink){take_text, mail});
}

void mail_done(struct mail *mail)
{
    charset_done(&mail->charset);
}

void mail_text_begins(struct mail *mail, const char *charset, bool is_html)
{
    mail->is_html = is_html;
    mail->bits = mail->n_bits = mail->n_decoded = 0;
    charset_begin(&mail->charset, NULL, 0, *charset ? charset : NULL);
    if (is_html)
        html_begin(mail->html, mail->words, kernel_in_use());
    if (is_html && mail->tags)
        html_want_tags(mail->html);
}

static void flush(struct mail *mail)
{
    if (mail->n_decoded > 0)
        charset_feed(&mail->charset, mail->decoded, mail->n_decoded);
    mail->n_decoded = 0;
}

void mail_text_ends(struct mail *mail)
{
    flush(mail);
    charset_finish(&mail->charset);
    if (mail->is_html)
        html_finish(mail->html);
}

void mail_put(struct mail *mail, uint8_t byte)
{
    if (mail->n_decoded == MAIL_DECODED_BYTES)
        flush(mail);
    mail->decoded[mail->n_decoded++] = byte;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int mail_hex(const uint8_t digits[2])
{
    int high = hex_digit(digits[0]), low = hex_digit(digits[1]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static int base64_digit(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Bytes that are no digits are passed over, as the RFC has it; padding ends a piece of base64, and
 * another piece may follow. */
void mail_put_base64(struct mail *mail, const uint8_t *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        int digit = base64_digit(bytes[i]);
        if (bytes[i] == '=')
            mail->n_bits = 0;
        if (digit < 0)
            continue;
        mail->bits = mail->bits << 6 | (uint32_t)digit;
        mail->n_bits += 6;
        if (mail->n_bits >= 8) {
            mail->n_bits -= 8;
            mail_put(mail, (uint8_t)(mail->bits >> mail->n_bits));
        }
    }
}

static void put_quoted_printable(struct mail *mail, const struct line *line)
{
    const uint8_t *p = line->bytes;
    size_t n_bytes = line->n_bytes;
    while (line->whole && n_bytes > 0 && (p[n_bytes - 1] == ' ' || p[n_bytes - 1] == '\t'))
        n_bytes--;
    bool soft = line->whole && n_bytes > 0 && p[n_bytes - 1] == '=';
    n_bytes -= soft;
    for (size_t i = 0; i < n_bytes; i++) {
        int byte = p[i] == '=' && n_bytes - i > 2 ? mail_hex(p + i + 1) : -1;
        mail_put(mail, byte < 0 ? p[i] : (uint8_t)byte);
        i += byte < 0 ? 0 : 2;
    }
    if (line->whole && !soft)
        mail_put(mail, '\n');
}

void mail_put_line(struct mail *mail, enum mail_encoding encoding, const struct line *line)
{
    switch (encoding) {
    case MAIL_QUOTED_PRINTABLE: put_quoted_printable(mail, line); break;
    case MAIL_BASE64: mail_put_base64(mail, line->bytes, line->n_bytes); break;
    default:
        flush(mail);
        charset_feed(&mail->charset, line->bytes, line->n_bytes);
        if (line->whole)
            mail_put(mail, '\n');
        break;
    }
}
