/* The type of a document by its content. File names do not count, as users change them. */
#ifndef KINFS_ENGINE_TEXT_TYPE_H
#define KINFS_ENGINE_TEXT_TYPE_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_SNIFF_BYTES = 8192 };

/* The numbers are stored in records: new ones are added at the end. */
enum text_type {
    TEXT_PLAIN,
    TEXT_HTML,
    TEXT_BINARY, /* no text: its features are chunks (chunks.h) */
    TEXT_XML,
    TEXT_TABLE,     /* its features are cells, and pairs of cells of a row (table.h) */
    TEXT_PDF,       /* read by a library: binary to canon.h, unless its text is given */
    TEXT_OFFICE,    /* the same; OpenDocument and Office Open XML */
    TEXT_EXTRACTED, /* text or features of it are made by a program; never sniffed */
    TEXT_ROFF,
    TEXT_MAIL, /* its charsets are those of its parts */
    TEXT_MARKDOWN,
    TEXT_EPUB, /* as TEXT_OFFICE; given, it is HTML */
    TEXT_JSON,
    TEXT_NOTEBOOK, /* Jupyter's, which is JSON */
    TEXT_RTF,
    TEXT_LATEX,
    TEXT_WIKI,
    TEXT_N_TYPES,
};

/* The charset of a text; ASCII is a part of each. The numbers are stored in records: new ones are
 * added at the end. */
enum text_charset {
    TEXT_CHARSET_ASCII,
    TEXT_CHARSET_UTF8,
    TEXT_CHARSET_UTF16LE,
    TEXT_CHARSET_UTF16BE,
    TEXT_CHARSET_WINDOWS_1252,
    TEXT_CHARSET_DECLARED, /* another, which the document names */
    TEXT_CHARSET_GUESSED,  /* another, which its bytes show */
    TEXT_CHARSET_UTF32LE,
    TEXT_CHARSET_UTF32BE,
    TEXT_N_CHARSETS,
};

/* The compression of a document, the outermost one; numbered as the types are. */
enum text_codec {
    TEXT_CODEC_NONE,
    TEXT_CODEC_GZIP,
    TEXT_CODEC_XZ,
    TEXT_CODEC_ZSTD,
    TEXT_CODEC_BZIP2,
    TEXT_CODEC_LZ4,
    TEXT_N_CODECS,
};

/* The form of a document, as reading it has shown. */
struct text_form {
    enum text_type type; /* of the unpacked document, where it is packed */
    enum text_charset charset;
    enum text_codec codec;
    bool cut;     /* a limit was reached; the text before it counts */
    bool damaged; /* it could not be unpacked to its end; the text before counts */
};

/* The type of a document with this head, which is not packed: binary when there is a NUL
 * character (a byte, where it is not UTF-16 or UTF-32: wide.h) among the first TEXT_SNIFF_BYTES, or
 * other control characters among such as are not ASCII, HTML and XML by their first markup, RTF and
 * LaTeX by how they begin, JSON by its grammar, roff by its first macros, mail by its header,
 * Markdown by its headings, fences and links, a wiki by its links, a table by rows of as many
 * fields each, PDF, office documents and books by their marks. Pass the first min(size,
 * TEXT_SNIFF_BYTES) bytes of the document. Any thread.
 */
enum text_type text_type_sniff(const void *head, size_t size_bytes);
/* TEXT_PDF, TEXT_OFFICE or TEXT_EPUB where it would be, else TEXT_BINARY: a part of it that takes
 * less than a microsecond. */
enum text_type text_type_sniff_library(const void *head, size_t size_bytes);
const char *text_type_name(enum text_type type); /* "text", "html", "binary", ... */
/* The type of such a name, or TEXT_N_TYPES. */
enum text_type text_type_of_name(const char *name);

/* The separator of fields of the table that begins with these bytes, 0 when they begin none. */
char text_type_separator(const void *head, size_t size_bytes);

/* Prints "html", "text, windows-1252, gzip, damaged": the type, then everything unusual. */
enum { TEXT_FORM_MAX_BYTES = 64 };
void text_form_print(const struct text_form *form, char ret_text[TEXT_FORM_MAX_BYTES]);

#endif
