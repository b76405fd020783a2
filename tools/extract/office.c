/* kinfs-extract-office: the text of the OpenDocument or Office Open XML document on standard input,
 * paragraph by paragraph, in UTF-8. Both are ZIP archives; of each part that has text the XML is
 * read as it is unpacked, so that memory does not grow with the document.
 *
 *   OpenDocument        content.xml       text in elements p and h
 *   Office Open XML     word/, ppt/, xl/  text in elements t; a paragraph is p, si or is
 */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>
#include <libxml/xmlreader.h>

#include "tools/extract/clock.h"
#include "tools/extract/extract.h"

enum { BLOCK_BYTES = 1 << 16 };

static const char *const parts[] = {
    "content.xml",      "word/document.xml",    "word/footnotes.xml",  "word/endnotes.xml",
    "ppt/slides/*.xml", "xl/sharedStrings.xml", "xl/worksheets/*.xml", "ppt/notesSlides/*.xml"};

struct office {
    struct archive *archive;
    struct extract_clock clock;
    bool cut, damaged; /* the time is over; it cannot be read on */
    int in_text;       /* how many elements whose text counts are open */
    int skipped;       /* depth of the element that is left out with all in it, or -1 */
};

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* What was deleted while changes are tracked, and what is there a second time for older programs.
 */
static bool is_left_out(const char *name)
{
    static const char *const names[] = {"tracked-changes", "Fallback", "delText", NULL};
    return is_one_of(name, names);
}

static bool is_paragraph(const char *name)
{
    static const char *const names[] = {"p", "h", "si", "is", NULL};
    return is_one_of(name, names);
}

static bool is_space(const char *name)
{
    static const char *const names[] = {"s", "tab", "br", "cr", "line-break", NULL};
    return is_one_of(name, names);
}

static bool has_text(const char *name, bool opendocument)
{
    static const char *const of_opendocument[] = {"p", "h", NULL}, *const of_ooxml[] = {"t", NULL};
    return is_one_of(name, opendocument ? of_opendocument : of_ooxml);
}

static void take_node(struct office *office, xmlTextReaderPtr reader, bool opendocument)
{
    const int type = xmlTextReaderNodeType(reader), depth = xmlTextReaderDepth(reader);
    const char *name = (const char *)xmlTextReaderConstLocalName(reader);
    const bool ends = type == XML_READER_TYPE_END_ELEMENT, begins = type == XML_READER_TYPE_ELEMENT;
    if (office->skipped >= 0) {
        if (ends && depth == office->skipped)
            office->skipped = -1;
        return;
    }
    if (begins && is_left_out(name) && !xmlTextReaderIsEmptyElement(reader)) {
        office->skipped = depth;
        return;
    }
    if (begins && is_space(name))
        putchar(' ');
    if (begins && has_text(name, opendocument) && !xmlTextReaderIsEmptyElement(reader))
        office->in_text++;
    if (ends && has_text(name, opendocument))
        office->in_text--;
    if (ends && is_paragraph(name))
        putchar('\n');
    if (office->in_text > 0 &&
        (type == XML_READER_TYPE_TEXT || type == XML_READER_TYPE_CDATA ||
         type == XML_READER_TYPE_SIGNIFICANT_WHITESPACE || type == XML_READER_TYPE_WHITESPACE))
        fputs((const char *)xmlTextReaderConstValue(reader), stdout);
}

static int read_part(void *user, char *buffer, int size_bytes)
{
    struct office *office = user;
    la_ssize_t n = archive_read_data(office->archive, buffer, (size_t)size_bytes);
    if (n < 0)
        office->damaged = true;
    return n < 0 ? -1 : (int)n;
}

static int close_part(void *user)
{
    (void)user;
    return 0;
}

static void take_part(struct office *office, bool opendocument)
{
    int r = 1;
    /* No network, no entities from elsewhere, and the library's own bounds stay. */
    xmlTextReaderPtr reader =
        xmlReaderForIO(read_part, close_part, office, NULL, NULL,
                       XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    office->in_text = 0;
    office->skipped = -1;
    while (reader && !office->cut && (r = xmlTextReaderRead(reader)) == 1) {
        take_node(office, reader, opendocument);
        office->cut = extract_clock_is_over(&office->clock);
    }
    office->damaged |= !reader || r < 0;
    putchar('\n');
    xmlFreeTextReader(reader);
}

static bool is_part(const char *name)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (fnmatch(parts[i], name, FNM_PATHNAME) == 0)
            return true;
    return false;
}

static int complain(const char *what)
{
    fprintf(stderr, "\n%s\n", what);
    return 1;
}

/* By what the library that could not go on says of it; of XML also when there was too much of it.
 */
static int explain(const struct office *office)
{
    const xmlError *of_xml = xmlGetLastError();
    const char *why = of_xml ? of_xml->message : NULL;
    if (!why && office->archive)
        why = archive_error_string(office->archive);
    fprintf(stderr, "\ndamaged%s%s\n", why ? ": " : "", why ? why : "");
    return 1;
}

int main(void)
{
    struct office office = {.archive = archive_read_new(), .clock = extract_clock_start()};
    struct archive_entry *entry;
    int r = ARCHIVE_FATAL;
    prctl(PR_SET_DUMPABLE, 0); /* before there is anything to be seen */
    if (office.archive && archive_read_support_format_zip(office.archive) == ARCHIVE_OK &&
        archive_read_open_fd(office.archive, STDIN_FILENO, BLOCK_BYTES) == ARCHIVE_OK)
        while (!office.cut && !office.damaged &&
               ((r = archive_read_next_header(office.archive, &entry)) == ARCHIVE_OK ||
                r == ARCHIVE_WARN)) {
            const char *name = archive_entry_pathname(entry);
            if (name && is_part(name))
                take_part(&office, strcmp(name, "content.xml") == 0);
        }
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    bool encrypted = office.archive && archive_read_has_encrypted_entries(office.archive) > 0;
    if (!written)
        return complain("standard output cannot be written");
    if (office.cut)
        return EXTRACT_CUT;
    if (encrypted)
        return complain("encrypted");
    if (office.damaged || r != ARCHIVE_EOF)
        return explain(&office);
    return 0;
}
