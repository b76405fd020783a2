/* The bytes of a text in any charset to UTF-8. charset.h has the order in which a text's charset is
 * decided; here are the tests of the bytes, and the converters.
 *
 * Example: "caf\xe9 " is ASCII up to the \xe9, which is handed out at once. From there bytes are
 * gathered; \xe9 followed by a space is malformed UTF-8, no sequence is well-formed, and one byte
 * is too little for a guess: the text is Windows-1252, and \xe9 becomes U+00E9.
 *
 * Cost: ASCII is passed on by its address, 32 bytes at a time; UTF-8 is validated for the first
 * 4,096 bytes behind the first that is not ASCII, then passed on as well. Windows-1252 and UTF-16
 * are converted a character at a time, other charsets by iconv(3).
 *
 * Left out: looking further than CHARSET_GUESS_BYTES. A text whose charset changes in the middle
 * keeps the first one.
 */
#include "engine/text/encoding/charset.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "engine/text/encoding/utf8.h"
#include "engine/text/encoding/wide.h"

enum {
    ICONV_LEFT_MAX_BYTES = 16,  /* more than any character and its shift sequences have */
    DECLARED_HEAD_BYTES = 1024, /* as the HTML standard looks at */
    REPLACEMENT = 0xfffd,
};

/* Windows-1252 differs from Latin-1 in 0x80 to 0x9f; the five it leaves open stay controls. */
static const uint16_t windows_1252[32] = {
    0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8d,   0x017d, 0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178,
};

void charset_init(struct charset *charset, const struct byte_sink *sink)
{
    charset->sink = *sink;
}

void charset_done(struct charset *charset)
{
    converters_done(&charset->converters);
    charset_guess_done(&charset->guesser);
}

void charset_document(struct charset *charset)
{
    converters_begin(&charset->converters);
    charset_guess_begin(&charset->guesser);
}

/* -- the charset of a text -- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (converters_is_name(name, *names))
            return true;
    return false;
}

/* Takes the converter of this name. Returns false when there is none. */
static bool find_converter(struct charset *charset, const char *name)
{
    charset->iconv = converters_find(&charset->converters, name);
    return charset->iconv != (iconv_t)-1;
}

static enum text_charset charset_of_name(struct charset *charset, const char *name)
{
    static const char *const latin[] = {"us-ascii",     "ascii",  "iso-8859-1", "latin1",
                                        "windows-1252", "cp1252", NULL};
    static const char *const utf8[] = {"utf-8", NULL};
    /* A declaration in ASCII cannot be in 16 bits: it is left over from before a conversion. */
    static const char *const wide[] = {"utf-16", "utf16",     "utf-32",  "utf32",
                                       "ucs",    "iso-10646", "unicode", "wchar"};
    size_t size = strlen(name);
    if (size == 0 || size > CHARSET_NAME_MAX ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-") != size)
        return TEXT_CHARSET_ASCII;
    if (is_one_of(name, utf8))
        return TEXT_CHARSET_UTF8;
    if (is_one_of(name, latin))
        return TEXT_CHARSET_WINDOWS_1252;
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (strncasecmp(name, wide[i], strlen(wide[i])) == 0)
            return TEXT_CHARSET_ASCII;
    return find_converter(charset, name) ? TEXT_CHARSET_DECLARED : TEXT_CHARSET_ASCII;
}

void charset_begin(struct charset *charset, const uint8_t *head, size_t head_bytes,
                   const char *declared)
{
    charset->n_first = charset->n_window = charset->n_out = charset->surrogate = 0;
    charset->charset = wide_sniff(head, head_bytes);
    if (charset->charset != TEXT_CHARSET_ASCII)
        return;
    if (head_bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0)
        charset->charset = TEXT_CHARSET_UTF8;
    else
        charset->charset = declared ? charset_of_name(charset, declared) : TEXT_CHARSET_ASCII;
}

/* Bytes of the well-formed sequence that p begins with (The Unicode Standard, 3.9), 0 when it
 * begins none, -1 when it ends too early to tell. */
static int sequence_bytes(const uint8_t *p, size_t size_bytes)
{
    uint8_t lead = p[0], least = 0x80, most = 0xbf;
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    int n = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead == 0xe0)
        least = 0xa0;
    else if (lead == 0xed)
        most = 0x9f;
    else if (lead == 0xf0)
        least = 0x90;
    else if (lead == 0xf4)
        most = 0x8f;
    for (int i = 1; i < n; i++) {
        if ((size_t)i == size_bytes)
            return -1;
        if (p[i] < least || p[i] > most)
            return 0;
        least = 0x80;
        most = 0xbf;
    }
    return n;
}

/* Checks CHECKED_AT_ONCE bytes, of which each must be what the three before it demand (The Unicode
 * Standard, 3.9): p has three more in front. There is no branch, so that compilers use vectors. */
enum { CHECKED_AT_ONCE = 64, BEFORE = UTF8_MAX_BYTES - 1 };

static bool is_well_formed(const uint8_t p[BEFORE + CHECKED_AT_ONCE])
{
    uint8_t bad = 0;
    for (size_t i = 0; i < CHECKED_AT_ONCE; i++) {
        uint8_t byte = p[i + 3], first = p[i + 2], second = p[i + 1], third = p[i];
        uint8_t inside = (byte & 0xc0) == 0x80;
        uint8_t expected = (first >= 0xc2) | (second >= 0xe0) | (third >= 0xf0);
        bad |= inside ^ expected;
        bad |= (byte == 0xc0) | (byte == 0xc1) | (byte > 0xf4);
        bad |= ((first == 0xe0) & (byte < 0xa0)) | ((first == 0xed) & (byte > 0x9f)) |
               ((first == 0xf0) & (byte < 0x90)) | ((first == 0xf4) & (byte > 0x8f));
    }
    return !bad;
}

/* The number of first bytes, in whole blocks, that are well-formed or may be the beginning of a
 * well-formed sequence. */
static size_t well_formed_bytes(const uint8_t *p, size_t size_bytes)
{
    uint8_t begin[BEFORE + CHECKED_AT_ONCE] = {0};
    if (size_bytes < CHECKED_AT_ONCE)
        return 0;
    memcpy(begin + BEFORE, p, CHECKED_AT_ONCE);
    if (!is_well_formed(begin))
        return 0;
    size_t n = CHECKED_AT_ONCE;
    while (n + CHECKED_AT_ONCE <= size_bytes && is_well_formed(p + n - BEFORE))
        n += CHECKED_AT_ONCE;
    return n;
}

static enum text_charset charset_of_bytes(const uint8_t *p, size_t size_bytes, bool all)
{
    size_t n_good = 0, n_bad = 0, n_well_formed = well_formed_bytes(p, size_bytes);
    size_t from = n_well_formed > UTF8_MAX_BYTES ? n_well_formed - UTF8_MAX_BYTES : 0;
    bool half = false; /* a sequence is cut off at the end, as where a file is damaged */
    while (from > 0 && (p[from] & 0xc0) == 0x80)
        from--;
    for (size_t at = from; at < size_bytes;) {
        int n = sequence_bytes(p + at, size_bytes - at);
        if (n < 0) {
            half = all;
            break;
        }
        n_good += n > 1;
        n_bad += n <= 0;
        at += n > 0 ? (size_t)n : 1;
    }
    if (n_bad == 0 && !half)
        return TEXT_CHARSET_UTF8;
    for (size_t i = 0; i < from; i++)
        n_good += p[i] >= 0xc0;
    return n_good > n_bad ? TEXT_CHARSET_UTF8 : TEXT_CHARSET_WINDOWS_1252;
}

/* Folds the case of ASCII letters, without a branch, so that compilers use vectors. */
static void fold(char *text, const uint8_t *bytes, size_t size_bytes)
{
    memset(text, ' ', DECLARED_HEAD_BYTES);
    memcpy(text, bytes, size_bytes);
    for (size_t i = 0; i < DECLARED_HEAD_BYTES; i++) {
        uint8_t byte = (uint8_t)text[i], is_upper = (uint8_t)(byte - 'A') < 26;
        text[i] = (char)(byte + (is_upper << 5) + ((byte == 0) << 5)); /* a NUL is a space */
    }
    text[size_bytes] = '\0';
}

bool charset_declared(const uint8_t *head, size_t head_bytes, char ret_name[CHARSET_NAME_MAX + 1])
{
    char text[DECLARED_HEAD_BYTES + 1];
    size_t size = head_bytes < DECLARED_HEAD_BYTES ? head_bytes : DECLARED_HEAD_BYTES;
    fold(text, head, size);

    const char *found = NULL;
    char *p = text;
    p += strspn(p, " \t\r\n");
    if (strncmp(p, "<?xml", 5) == 0) {
        char *end = strstr(p, "?>");
        if (end)
            *end = '\0';
        found = strstr(p, "encoding");
        found = found ? found + strlen("encoding") : NULL;
        if (end)
            p = end + 1;
    }
    for (char *meta = p; !found && (meta = strstr(meta, "<meta")); meta++) {
        char *end = strchr(meta, '>');
        if (end)
            *end = '\0';
        found = strstr(meta, "charset");
        found = found ? found + strlen("charset") : NULL;
        if (!end)
            break;
        meta = end;
    }
    if (!found)
        return false;
    found += strspn(found, " \t\r\n");
    if (*found != '=')
        return false;
    found += 1 + strspn(found + 1, " \t\r\n\"'");
    size_t n = strcspn(found, " \t\r\n\"';/>?");
    if (n == 0 || n > CHARSET_NAME_MAX)
        return false;
    memcpy(ret_name, found, n);
    ret_name[n] = '\0';
    return true;
}

/* -- to UTF-8 -- */

static void flush(struct charset *charset)
{
    if (charset->n_out > 0)
        charset->sink.bytes(charset->sink.user, charset->out, charset->n_out);
    charset->n_out = 0;
}

static void put(struct charset *charset, uint32_t code)
{
    if (charset->n_out > CHARSET_OUT_BYTES - UTF8_MAX_BYTES)
        flush(charset);
    charset->n_out += utf8_put(charset->out + charset->n_out, code);
}

uint32_t charset_windows_1252(uint8_t byte)
{
    return byte >= 0x80 && byte < 0xa0 ? windows_1252[byte - 0x80] : byte;
}

static void feed_windows_1252(struct charset *charset, const uint8_t *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        put(charset, charset_windows_1252(bytes[i]));
}

static void put_utf16(struct charset *charset, uint32_t unit)
{
    if (charset->surrogate) {
        uint32_t high = charset->surrogate;
        charset->surrogate = 0;
        if (unit >= 0xdc00 && unit <= 0xdfff) {
            put(charset, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
            return;
        }
        put(charset, REPLACEMENT);
    }
    if (unit >= 0xd800 && unit <= 0xdbff)
        charset->surrogate = unit;
    else
        put(charset, unit >= 0xdc00 && unit <= 0xdfff ? REPLACEMENT : unit);
}

static void feed_wide(struct charset *charset, const uint8_t *bytes, size_t size_bytes)
{
    const bool is_32 =
        charset->charset == TEXT_CHARSET_UTF32LE || charset->charset == TEXT_CHARSET_UTF32BE;
    const bool big =
        charset->charset == TEXT_CHARSET_UTF16BE || charset->charset == TEXT_CHARSET_UTF32BE;
    const unsigned unit_bytes = is_32 ? 4 : 2;
    for (size_t i = 0; i < size_bytes; i++) {
        charset->window[charset->n_window++] = bytes[i];
        if (charset->n_window < unit_bytes)
            continue;
        uint32_t unit = wide_unit(charset->window, unit_bytes, big);
        charset->n_window = 0;
        if (!is_32)
            put_utf16(charset, unit);
        else
            put(charset,
                unit >= 0x110000 || (unit >= 0xd800 && unit <= 0xdfff) ? REPLACEMENT : unit);
    }
}

/* Converts a piece, except for a beginning of a character at its end. Returns the number of bytes
 * that are left. */
static size_t convert(struct charset *charset, uint8_t *bytes, size_t size_bytes)
{
    char *in = (char *)bytes;
    while (size_bytes > 0) {
        const size_t n_before = size_bytes;
        const bool is_empty = charset->n_out == 0;
        char *out = (char *)charset->out + charset->n_out;
        size_t room = CHARSET_OUT_BYTES - charset->n_out;
        size_t r = iconv(charset->iconv, &in, &size_bytes, &out, &room);
        int error = r == (size_t)-1 ? errno : 0;
        charset->n_out = CHARSET_OUT_BYTES - (uint32_t)room;
        /* A converter that fills the room and takes nothing would do so for ever. */
        const bool stands = error == E2BIG && is_empty && size_bytes == n_before;
        if (error == E2BIG && !stands) {
            flush(charset);
        } else if (error == EINVAL && size_bytes <= ICONV_LEFT_MAX_BYTES) {
            break;
        } else if (error) {
            if (stands)
                iconv(charset->iconv, NULL, NULL, NULL, NULL);
            put(charset, REPLACEMENT);
            if (size_bytes == 0) /* it failed at bytes that it had taken already */
                break;
            in++;
            size_bytes--;
        }
    }
    memmove(bytes, in, size_bytes);
    return size_bytes;
}

static void feed_declared(struct charset *charset, const uint8_t *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        size_t n = CHARSET_WINDOW_BYTES - charset->n_window;
        if (n > size_bytes)
            n = size_bytes;
        memcpy(charset->window + charset->n_window, bytes, n);
        bytes += n;
        size_bytes -= n;
        charset->n_window = (uint32_t)convert(charset, charset->window, charset->n_window + n);
    }
}

static void feed_known(struct charset *charset, const uint8_t *bytes, size_t size_bytes)
{
    switch (charset->charset) {
    case TEXT_CHARSET_UTF16LE:
    case TEXT_CHARSET_UTF16BE:
    case TEXT_CHARSET_UTF32LE:
    case TEXT_CHARSET_UTF32BE: feed_wide(charset, bytes, size_bytes); break;
    case TEXT_CHARSET_WINDOWS_1252: feed_windows_1252(charset, bytes, size_bytes); break;
    case TEXT_CHARSET_GUESSED:
    case TEXT_CHARSET_DECLARED: feed_declared(charset, bytes, size_bytes); break;
    default: charset->sink.bytes(charset->sink.user, bytes, size_bytes); return;
    }
    flush(charset);
}

/* Decides by the bytes from the first one that is not ASCII on; all: no more come behind them. For
 * a window that is not UTF-8 the guess waits for more bytes. */
static void decide(struct charset *charset, bool all)
{
    uint32_t n_window = charset->n_first;
    if (n_window > CHARSET_WINDOW_BYTES)
        n_window = CHARSET_WINDOW_BYTES;
    enum text_charset found =
        charset_of_bytes(charset->first, n_window, all && n_window == charset->n_first);
    if (found == TEXT_CHARSET_WINDOWS_1252) {
        if (!all && charset->n_first < CHARSET_GUESS_BYTES)
            return;
        const char *name = charset_guess(&charset->guesser, charset->first, charset->n_first);
        if (name && strlen(name) <= CHARSET_NAME_MAX && find_converter(charset, name))
            found = TEXT_CHARSET_GUESSED;
    }
    charset->charset = found;
    feed_known(charset, charset->first, charset->n_first);
}

static size_t ascii_bytes(const uint8_t *bytes, size_t size_bytes)
{
    size_t n = 0;
    for (uint64_t words[4]; n + sizeof(words) <= size_bytes; n += sizeof(words)) {
        memcpy(words, bytes + n, sizeof(words));
        if ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080)
            break;
    }
    while (n < size_bytes && bytes[n] < 0x80)
        n++;
    return n;
}

void charset_feed(struct charset *charset, const uint8_t *bytes, size_t size_bytes)
{
    while (charset->charset == TEXT_CHARSET_ASCII && size_bytes > 0) {
        size_t n = charset->n_first ? 0 : ascii_bytes(bytes, size_bytes);
        if (n > 0)
            charset->sink.bytes(charset->sink.user, bytes, n);
        bytes += n;
        size_bytes -= n;

        uint32_t wanted =
            charset->n_first < CHARSET_WINDOW_BYTES ? CHARSET_WINDOW_BYTES : CHARSET_GUESS_BYTES;
        n = wanted - charset->n_first;
        if (n > size_bytes)
            n = size_bytes;
        memcpy(charset->first + charset->n_first, bytes, n);
        charset->n_first += (uint32_t)n;
        bytes += n;
        size_bytes -= n;
        if (charset->n_first == wanted)
            decide(charset, false);
    }
    if (size_bytes > 0)
        feed_known(charset, bytes, size_bytes);
}

enum text_charset charset_finish(struct charset *charset)
{
    if (charset->charset == TEXT_CHARSET_ASCII && charset->n_first > 0)
        decide(charset, true);
    if (charset->n_window > 0 || charset->surrogate)
        put(charset, REPLACEMENT); /* half a character */
    flush(charset);
    return charset->charset;
}
