/* A document to its text, and that to the reader of its format:
 *
 *   bytes -> decoder -> type -> charset -> text -> one of links_*.c, links_list.c
 *
 * A format that a name tells comes first, as reStructuredText and Org look like Markdown, and
 * programs like anything; then the type that the bytes have (engine/text/type.h). All of the text
 * is held, so that a link is found that goes on in the next line.
 *
 * Example: "notes.org" is Org, whatever is in it; "ls.1.gz" is unpacked, and is roff by its bytes;
 * "README" has what its type has, and the files it lists.
 *
 * Left out: the parts of a mail, documents that a library reads, and what is packed twice.
 */
#include "engine/topic/links/links.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/room.h"
#include "engine/text/encoding/charset.h"
#include "engine/text/encoding/decoder.h"
#include "engine/topic/links/link_text.h"

struct buffer {
    char *bytes;
    size_t n, room;
    bool cut, failed;        /* there was more; there was no memory */
    struct decoder *decoder; /* that is stopped when there is more; NULL: none */
};

static void take(void *user, const uint8_t *bytes, size_t n)
{
    struct buffer *buffer = user;
    if (n > LINKS_MOST_BYTES - buffer->n) {
        n = LINKS_MOST_BYTES - buffer->n;
        buffer->cut = true;
        if (buffer->decoder)
            decoder_stop(buffer->decoder);
    }
    if (buffer->failed || n == 0)
        return;
    if (!MAKE_ROOM(buffer->bytes, buffer->room, buffer->n + n)) {
        buffer->failed = true;
        return;
    }
    memcpy(buffer->bytes + buffer->n, bytes, n);
    buffer->n += n;
}

enum { PIECE_BYTES = 64 << 10 };

static int unpack(const uint8_t *bytes, size_t n, enum text_codec codec, struct buffer *buffer)
{
    bool damaged, cut;
    _cleanup_(decoder_free_p) struct decoder *decoder =
        decoder_new(&(struct byte_sink){.bytes = take, .user = buffer});
    if (!decoder)
        return -ENOMEM;
    buffer->decoder = decoder;
    decoder_begin(decoder, codec);
    for (size_t at = 0, piece; at < n && !buffer->cut; at += piece) {
        piece = n - at < PIECE_BYTES ? n - at : PIECE_BYTES;
        decoder_feed(decoder, bytes + at, piece);
    }
    decoder_finish(decoder, &damaged, &cut);
    buffer->decoder = NULL;
    buffer->cut |= damaged || cut;
    return buffer->failed ? -ENOMEM : 0;
}

static void charset_free(struct charset *charset)
{
    charset_done(charset);
    free(charset);
}
DEFINE_CLEANUP(struct charset *, charset_free);

static int to_utf8(const uint8_t *bytes, size_t n, enum text_type type, struct buffer *buffer)
{
    char name[CHARSET_NAME_MAX + 1];
    const size_t head = n < TEXT_SNIFF_BYTES ? n : TEXT_SNIFF_BYTES;
    const char *declared = type == TEXT_MAIL ? "utf-8" : NULL;
    _cleanup_(charset_free_p) struct charset *charset = calloc(1, sizeof(*charset));
    if (!charset)
        return -ENOMEM;
    if ((type == TEXT_HTML || type == TEXT_XML) && charset_declared(bytes, head, name))
        declared = name;
    charset_init(charset, &(struct byte_sink){.bytes = take, .user = buffer});
    charset_document(charset);
    charset_begin(charset, bytes, head, declared);
    charset_feed(charset, bytes, n);
    charset_finish(charset);
    return buffer->failed ? -ENOMEM : 0;
}

/* -- the format -- */

enum format {
    FORMAT_NONE,
    FORMAT_HTML,
    FORMAT_MARKDOWN,
    FORMAT_WIKI,
    FORMAT_ORG,
    FORMAT_RST,
    FORMAT_MANUAL,
    FORMAT_MAIL,
    FORMAT_INCLUDE,
    FORMAT_LATEX,
};

static bool drop_ending(struct span *name, const char *ending)
{
    const size_t n = strlen(ending);
    if (name->n <= n || strncasecmp(name->p + name->n - n, ending, n) != 0)
        return false;
    name->n -= n;
    return true;
}

/* The last component, without the endings that packers add. */
static struct span plain_name(const char *path)
{
    static const char *const packed[] = {".gz", ".xz", ".zst", ".bz2", ".lz4"};
    const char *slash = strrchr(path, '/');
    struct span name = {slash ? slash + 1 : path, strlen(slash ? slash + 1 : path)};
    for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
        if (drop_ending(&name, packed[i]))
            break;
    return name;
}

static enum format format_of_name(struct span name)
{
    static const struct {
        const char *ending;
        enum format format;
    } endings[] = {
        {".md", FORMAT_MARKDOWN},    {".markdown", FORMAT_MARKDOWN}, {".wiki", FORMAT_WIKI},
        {".mediawiki", FORMAT_WIKI}, {".org", FORMAT_ORG},           {".rst", FORMAT_RST},
        {".rest", FORMAT_RST},       {".rst.txt", FORMAT_RST},       {".tex", FORMAT_LATEX},
        {".ltx", FORMAT_LATEX},      {".c", FORMAT_INCLUDE},         {".h", FORMAT_INCLUDE},
        {".cc", FORMAT_INCLUDE},     {".hh", FORMAT_INCLUDE},        {".cpp", FORMAT_INCLUDE},
        {".hpp", FORMAT_INCLUDE},    {".cxx", FORMAT_INCLUDE},       {".hxx", FORMAT_INCLUDE},
        {".c++", FORMAT_INCLUDE},    {".h++", FORMAT_INCLUDE},       {".m", FORMAT_INCLUDE},
        {".mm", FORMAT_INCLUDE},     {".s", FORMAT_INCLUDE},         {".html", FORMAT_HTML},
        {".xhtml", FORMAT_HTML},     {".htm", FORMAT_HTML},
    };
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (drop_ending(&name, endings[i].ending))
            return endings[i].format;
    return FORMAT_NONE;
}

static enum format format_of_type(enum text_type type)
{
    switch (type) {
    case TEXT_HTML: return FORMAT_HTML;
    case TEXT_MARKDOWN: return FORMAT_MARKDOWN;
    case TEXT_WIKI: return FORMAT_WIKI;
    case TEXT_ROFF: return FORMAT_MANUAL;
    case TEXT_MAIL: return FORMAT_MAIL;
    case TEXT_LATEX: return FORMAT_LATEX;
    default: return FORMAT_NONE;
    }
}

static bool is_list(struct span name)
{
    static const char *const beginnings[] = {"README",  "INDEX",    "00-INDEX",
                                             "00INDEX", "MANIFEST", "CONTENTS"};
    if (format_of_name(name) == FORMAT_HTML)
        return false;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (span_begins_as(name, beginnings[i]))
            return true;
    return false;
}

static bool is_binary(enum text_type type)
{
    return type == TEXT_BINARY || type == TEXT_PDF || type == TEXT_OFFICE || type == TEXT_EPUB;
}

static int read_as(enum format format, struct link_text *text)
{
    switch (format) {
    case FORMAT_HTML: return links_html(text);
    case FORMAT_MARKDOWN: return links_markdown(text);
    case FORMAT_WIKI: links_wiki(text); break;
    case FORMAT_ORG: links_org(text); break;
    case FORMAT_RST: links_rst(text); break;
    case FORMAT_MANUAL: links_manual(text); break;
    case FORMAT_MAIL: links_mail(text); break;
    case FORMAT_INCLUDE: links_include(text); break;
    case FORMAT_LATEX: links_latex(text); break;
    default: break;
    }
    return 0;
}

static int read_text(const uint8_t *bytes, size_t n, const char *name, const struct link_sink *sink,
                     bool *cut)
{
    const enum text_type type = text_type_sniff(bytes, n < TEXT_SNIFF_BYTES ? n : TEXT_SNIFF_BYTES);
    const struct span plain = plain_name(name);
    struct link_text text;
    struct buffer buffer = {0};
    if (n == 0 || is_binary(type)) {
        *cut = false; /* nothing is missing */
        return 0;
    }
    enum format format = format_of_name(plain);
    if (format == FORMAT_NONE)
        format = format_of_type(type);
    if (format == FORMAT_NONE && !is_list(plain)) {
        *cut = false;
        return 0;
    }
    int r = to_utf8(bytes, n, type, &buffer);
    if (r == 0) {
        link_text_begin(&text, buffer.bytes, buffer.n, sink);
        r = read_as(format, &text);
    }
    if (r == 0 && is_list(plain)) {
        link_text_begin(&text, buffer.bytes, buffer.n, sink);
        links_list(&text);
    }
    *cut |= buffer.cut;
    free(buffer.bytes);
    return r;
}

int links_read(const void *bytes, size_t n_bytes, const char *name, const struct link_sink *sink,
               bool *ret_cut)
{
    const uint8_t *document = bytes;
    const size_t n = n_bytes < LINKS_MOST_BYTES ? n_bytes : LINKS_MOST_BYTES;
    const enum text_codec codec = decoder_sniff(document, n);
    struct buffer buffer = {0};
    *ret_cut = n < n_bytes;
    if (codec == TEXT_CODEC_NONE)
        return read_text(document, n, name, sink, ret_cut);
    int r = unpack(document, n, codec, &buffer);
    *ret_cut |= buffer.cut;
    if (r == 0)
        r = read_text((const uint8_t *)buffer.bytes, buffer.n, name, sink, ret_cut);
    free(buffer.bytes);
    return r;
}
