/* kinfs-extract-office: the text of the OpenDocument or Office Open XML document on standard input,
 * paragraph by paragraph, in UTF-8. Both are ZIP archives; of each part that has text the XML is
 * read as it is unpacked, so that memory does not grow with the document. One that was packed anew
 * in another order has the same text.
 *
 *   OpenDocument        content.xml       text in elements p and h
 *   Office Open XML     word/, ppt/, xl/  text in elements t; a paragraph is p, si or is
 */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/xmlreader.h>

#include "tools/extract/alone.h"
#include "tools/extract/zip.h"

/* In the order in which they are read, wherever they are in the archive. */
static const char *const parts[] = {
    "content.xml",      "word/document*.xml",   "word/footnotes.xml",  "word/endnotes.xml",
    "ppt/slides/*.xml", "xl/sharedStrings.xml", "xl/worksheets/*.xml", "ppt/notesSlides/*.xml"};

struct office {
    struct zip zip;
    int in_text; /* how many elements whose text counts are open */
    int skipped; /* depth of the element that is left out with all in it, or -1 */
    size_t n_names;
    char *names[ZIP_MEMBERS_MAX];
};

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* The element was deleted while changes are tracked, or is there a second time for older programs.
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

static int close_part(void *user)
{
    (void)user;
    return 0;
}

static void take_part(void *user, const char *name)
{
    struct office *office = user;
    const bool opendocument = strcmp(name, "content.xml") == 0;
    int r = 1;
    /* No network, no entities from elsewhere, and the library's own bounds stay. */
    xmlTextReaderPtr reader =
        xmlReaderForIO(zip_read, close_part, &office->zip, NULL, NULL,
                       XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    office->in_text = 0;
    office->skipped = -1;
    while (reader && !office->zip.cut && (r = xmlTextReaderRead(reader)) == 1) {
        take_node(office, reader, opendocument);
        office->zip.cut = extract_clock_is_over(&office->zip.clock);
    }
    office->zip.damaged |= !reader || r < 0;
    putchar('\n');
    xmlFreeTextReader(reader);
}

/* The number of the part, or -1. */
static int part_of(const char *name)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (fnmatch(parts[i], name, FNM_PATHNAME) == 0)
            return (int)i;
    return -1;
}

static void list_part(void *user, const char *name)
{
    struct office *office = user;
    if (part_of(name) < 0)
        return;
    if (office->n_names == ZIP_MEMBERS_MAX || !(office->names[office->n_names] = strdup(name)))
        office->zip.cut = true;
    else
        office->n_names++;
}

/* Slides, and sheets, by their number. */
static int compare_parts(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    const int i = part_of(x), j = part_of(y);
    return i != j ? i - j : strverscmp(x, y);
}

int main(void)
{
    static struct office office;
    extract_alone();
    zip_begin(&office.zip);
    /* A document that is damaged behind some parts has these. */
    zip_names(&office.zip, list_part, &office);
    const bool damaged = office.zip.damaged;
    office.zip.damaged = false;
    if (office.n_names > 0)
        qsort(office.names, office.n_names, sizeof(office.names[0]), compare_parts);
    zip_members(&office.zip, office.names, office.n_names, take_part, &office);
    office.zip.damaged |= damaged;
    const xmlError *of_xml = xmlGetLastError();
    return zip_end(&office.zip, of_xml ? of_xml->message : NULL);
}
