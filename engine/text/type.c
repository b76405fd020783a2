/* The type of a document by its first 8 KiB. The tests go from the certain to the likely: marks of
 * formats (PDF, ZIP, RTF), then bytes that no text has, then the first markup, then grammars and
 * habits of the other formats, and tables last.
 *
 * The first markup decides as in the WHATWG MIME sniffing standard (section 7.1) but with comments
 * and processing instructions passed over, so that XHTML counts as HTML.
 *
 * Example: "<?xml version='1.0'?><!-- x --><html ..." is HTML; "<?xml ...?><feed ..." is XML;
 * "<3 you" is text. Cost: some microseconds; most tests end within the first lines. Left out: file
 * names, which users change.
 */
#include "engine/text/type.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "engine/text/formats/json.h"
#include "engine/text/formats/latex.h"
#include "engine/text/formats/mail.h"
#include "engine/text/formats/markdown.h"
#include "engine/text/formats/roff.h"
#include "engine/text/formats/rtf.h"
#include "engine/text/features/table.h"
#include "engine/text/encoding/wide.h"
#include "engine/text/formats/wiki.h"

/* A cursor over the head of a document. */
struct head {
    const char *p, *end;
};

static bool at_space(const struct head *head)
{
    return head->p < head->end && memchr(" \t\n\f\r", *head->p, 5);
}

static void skip_spaces(struct head *head)
{
    while (at_space(head))
        head->p++;
}

static bool skip(struct head *head, const char *text)
{
    size_t size = strlen(text);
    if ((size_t)(head->end - head->p) < size || strncasecmp(head->p, text, size) != 0)
        return false;
    head->p += size;
    return true;
}

/* Skips to behind the next `text`, or to the end. */
static void skip_past(struct head *head, const char *text)
{
    const char *found = memmem(head->p, (size_t)(head->end - head->p), text, strlen(text));
    head->p = found ? found + strlen(text) : head->end;
}

/* True at the root of an HTML document that begins as XML does. */
static bool at_xhtml(struct head head)
{
    if (skip(&head, "<!doctype")) {
        skip_spaces(&head);
        return skip(&head, "html");
    }
    return skip(&head, "<html") &&
           (head.p == head.end || at_space(&head) || *head.p == '>' || *head.p == '/');
}

/* True at an element with a namespace: a word beginning with xmlns in the first tag. */
static bool at_xml_root(struct head head)
{
    if (!skip(&head, "<") || head.p == head.end ||
        !(((*head.p | 0x20) >= 'a' && (*head.p | 0x20) <= 'z') || *head.p == '_'))
        return false;
    const char *end = memchr(head.p, '>', (size_t)(head.end - head.p));
    for (head.end = end ? end : head.end; head.p < head.end; head.p++) {
        if (at_space(&head)) {
            struct head name = {head.p + 1, head.end};
            if (skip(&name, "xmlns=") || skip(&name, "xmlns:"))
                return true;
        }
    }
    return false;
}

static bool at_html_tag(struct head head)
{
    static const char tags[][8] = {"html",   "head",  "body", "title",  "meta",  "link", "base",
                                   "script", "style", "div",  "table",  "h1",    "p",    "br",
                                   "a",      "b",     "font", "center", "iframe"};
    if (skip(&head, "<!doctype")) {
        skip_spaces(&head);
        return skip(&head, "html");
    }
    if (!skip(&head, "<"))
        return false;
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        struct head after = head;
        if (skip(&after, tags[i]) &&
            (after.p == after.end || at_space(&after) || *after.p == '>' || *after.p == '/'))
            return true;
    }
    return false;
}

/* -- bytes that are text in no charset -- */

/* True when a head has many control characters that are in no text (The WHATWG MIME sniffing
 * standard, 3; but the backspace, by which pages for terminals are bold); one in ten of random
 * bytes is such a character. Only heads that are not all ASCII are looked at: small binary files,
 * such as git's objects, may have no NUL. Of 457 such files of up to 3 KB on a development machine
 * 392, all of them text, had none of these characters; 63 had more than one in 20, and were no
 * text; and of the two between one was. */
static bool has_controls(const uint8_t *head, size_t size_bytes)
{
    enum { WITHIN_BYTES = 1024, MOST_SHARE = 20 };
    size_t within = size_bytes < WITHIN_BYTES ? size_bytes : WITHIN_BYTES, n = 0, at = 0;
    uint64_t all = 0;
    for (uint64_t word; at + sizeof(word) <= within; at += sizeof(word)) {
        memcpy(&word, head + at, sizeof(word));
        all |= word;
    }
    for (; at < within; at++)
        all |= head[at];
    if (!(all & 0x8080808080808080))
        return false;
    for (size_t i = 0; i < within; i++)
        n += head[i] < 0x20 && (0xf7ffc8ffu >> head[i] & 1);
    return n > 1 && n * MOST_SHARE > within;
}

/* -- documents that a library reads -- */

/* True for a PDF, as its readers take it: other bytes may be in front of the mark. In a file
 * without a NUL, which may be a text about PDF, the mark must be the first thing. */
static bool is_pdf(const uint8_t *head, size_t size_bytes)
{
    enum { WITHIN_BYTES = 1024 };
    static const char mark[] = "%PDF-";
    size_t first = bytes_begin(head, size_bytes, "\xef\xbb\xbf") ? 3 : 0;
    while (first < size_bytes && memchr(" \t\r\n", head[first], 4))
        first++;
    if (bytes_begin(head + first, size_bytes - first, mark))
        return true;
    size_t within = size_bytes < WITHIN_BYTES ? size_bytes : WITHIN_BYTES;
    return memchr(head, '\0', size_bytes) && memmem(head, within, mark, strlen(mark));
}

/* The type of a ZIP archive that names its type in its first entry, not packed (OpenDocument,
 * EPUB), or that begins as programs write Office Open XML. An archive that begins otherwise may
 * still be a document, by its directory. */
static enum text_type type_of_zip(const uint8_t *head, size_t size_bytes)
{
    enum { FIXED_BYTES = 30, NAME_SIZE = 26, EXTRA_SIZE = 28 };
    static const char mimetype[] = "mimetype",
                      opendocument[] = "application/vnd.oasis.opendocument.",
                      epub[] = "application/epub+zip";
    static const char *const names[] = {"[Content_Types].xml", "_rels/.rels"};
    if (size_bytes < FIXED_BYTES || !bytes_begin(head, size_bytes, "PK\3\4"))
        return TEXT_BINARY;
    size_t name_bytes = head[NAME_SIZE] | (size_t)head[NAME_SIZE + 1] << 8;
    size_t extra_bytes = head[EXTRA_SIZE] | (size_t)head[EXTRA_SIZE + 1] << 8;
    const uint8_t *name = head + FIXED_BYTES;
    if (name_bytes > size_bytes - FIXED_BYTES)
        return TEXT_BINARY;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (name_bytes == strlen(names[i]) && bytes_begin(name, name_bytes, names[i]))
            return TEXT_OFFICE;
    size_t content = FIXED_BYTES + name_bytes + extra_bytes;
    if (name_bytes != strlen(mimetype) || !bytes_begin(name, name_bytes, mimetype) ||
        content >= size_bytes)
        return TEXT_BINARY;
    if (bytes_begin(head + content, size_bytes - content, epub))
        return TEXT_EPUB;
    return bytes_begin(head + content, size_bytes - content, opendocument) ? TEXT_OFFICE
                                                                           : TEXT_BINARY;
}

/* -- all types -- */

char text_type_separator(const void *head_bytes, size_t size_bytes)
{
    bool whole = size_bytes < TEXT_SNIFF_BYTES;
    uint8_t narrowed[TEXT_SNIFF_BYTES / 2];
    enum text_charset wide = wide_sniff(head_bytes, size_bytes);
    if (wide != TEXT_CHARSET_ASCII)
        return table_sniff(narrowed, wide_narrow(wide, head_bytes, size_bytes, narrowed), whole);
    return table_sniff(head_bytes, size_bytes, whole);
}

enum text_type text_type_sniff_library(const void *head_bytes, size_t size_bytes)
{
    if (size_bytes > TEXT_SNIFF_BYTES)
        size_bytes = TEXT_SNIFF_BYTES;
    if (is_pdf(head_bytes, size_bytes))
        return TEXT_PDF;
    return type_of_zip(head_bytes, size_bytes);
}

enum text_type text_type_sniff(const void *head_bytes, size_t size_bytes)
{
    if (size_bytes > TEXT_SNIFF_BYTES)
        size_bytes = TEXT_SNIFF_BYTES;
    if (size_bytes == 0)
        return TEXT_PLAIN;
    enum text_type of_library = text_type_sniff_library(head_bytes, size_bytes);
    if (of_library != TEXT_BINARY)
        return of_library;
    if (rtf_sniff(head_bytes, size_bytes)) /* there may be bytes of pictures in it */
        return TEXT_RTF;
    uint8_t narrowed[TEXT_SNIFF_BYTES / 2];
    enum text_charset wide = wide_sniff(head_bytes, size_bytes);
    if (wide != TEXT_CHARSET_ASCII) {
        size_bytes = wide_narrow(wide, head_bytes, size_bytes, narrowed);
        head_bytes = narrowed;
    } else if (has_controls(head_bytes, size_bytes)) {
        return TEXT_BINARY;
    }
    if (memchr(head_bytes, '\0', size_bytes))
        return TEXT_BINARY;

    struct head head = {head_bytes, (const char *)head_bytes + size_bytes};
    skip(&head, "\xef\xbb\xbf");
    bool comment = false, xml = false;
    for (;;) {
        skip_spaces(&head);
        if (skip(&head, "<!--")) {
            skip_past(&head, "-->");
            comment = true;
        } else if (skip(&head, "<?xml")) {
            skip_past(&head, "?>");
            xml = true;
        } else {
            break;
        }
    }
    if (xml)
        return at_xhtml(head) ? TEXT_HTML : TEXT_XML;
    /* A comment is markup too, unless another language follows it. */
    if (at_html_tag(head) || (comment && head.p == head.end))
        return TEXT_HTML;
    if (at_xml_root(head))
        return TEXT_XML;
    const enum json_is json = json_sniff(head_bytes, size_bytes);
    if (json != JSON_IS_NONE)
        return json == JSON_IS_NOTEBOOK ? TEXT_NOTEBOOK : TEXT_JSON;
    if (roff_sniff(head_bytes, size_bytes))
        return TEXT_ROFF;
    if (latex_sniff(head_bytes, size_bytes))
        return TEXT_LATEX;
    if (mail_sniff(head_bytes, size_bytes))
        return TEXT_MAIL;
    if (markdown_sniff(head_bytes, size_bytes))
        return TEXT_MARKDOWN;
    if (wiki_sniff(head_bytes, size_bytes))
        return TEXT_WIKI;
    if (latex_sniff_part(head_bytes, size_bytes))
        return TEXT_LATEX;
    return text_type_separator(head_bytes, size_bytes) ? TEXT_TABLE : TEXT_PLAIN;
}

const char *text_type_name(enum text_type type)
{
    switch (type) {
    case TEXT_PLAIN: return "text";
    case TEXT_HTML: return "html";
    case TEXT_BINARY: return "binary";
    case TEXT_XML: return "xml";
    case TEXT_TABLE: return "table";
    case TEXT_PDF: return "pdf";
    case TEXT_OFFICE: return "office";
    case TEXT_EXTRACTED: return "extracted";
    case TEXT_ROFF: return "roff";
    case TEXT_MAIL: return "mail";
    case TEXT_MARKDOWN: return "markdown";
    case TEXT_EPUB: return "epub";
    case TEXT_RTF: return "rtf";
    case TEXT_WIKI: return "wiki";
    case TEXT_LATEX: return "latex";
    case TEXT_JSON: return "json";
    case TEXT_NOTEBOOK: return "notebook";
    case TEXT_N_TYPES: break;
    }
    return "unknown";
}

enum text_type text_type_of_name(const char *name)
{
    enum text_type type = 0;
    while (type < TEXT_N_TYPES && strcmp(text_type_name(type), name) != 0)
        type++;
    return type;
}

void text_form_print(const struct text_form *form, char ret_text[TEXT_FORM_MAX_BYTES])
{
    static const char *const charsets[TEXT_N_CHARSETS] = {
        [TEXT_CHARSET_UTF16LE] = ", utf-16le",
        [TEXT_CHARSET_UTF16BE] = ", utf-16be",
        [TEXT_CHARSET_WINDOWS_1252] = ", windows-1252",
        [TEXT_CHARSET_DECLARED] = ", charset as declared",
        [TEXT_CHARSET_GUESSED] = ", charset by its bytes",
        [TEXT_CHARSET_UTF32LE] = ", utf-32le",
        [TEXT_CHARSET_UTF32BE] = ", utf-32be",
    };
    static const char *const codecs[TEXT_N_CODECS] = {
        [TEXT_CODEC_GZIP] = ", gzip",   [TEXT_CODEC_XZ] = ", xz",   [TEXT_CODEC_ZSTD] = ", zstd",
        [TEXT_CODEC_BZIP2] = ", bzip2", [TEXT_CODEC_LZ4] = ", lz4",
    };
    const char *charset = charsets[form->charset], *codec = codecs[form->codec];
    snprintf(ret_text, TEXT_FORM_MAX_BYTES, "%s%s%s%s%s", text_type_name(form->type),
             charset ? charset : "", codec ? codec : "", form->cut ? ", cut" : "",
             form->damaged ? ", damaged" : "");
}
