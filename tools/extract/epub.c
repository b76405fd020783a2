/* kinfs-extract-epub: the chapters of the EPUB book on standard input, as the XHTML they are, one
 * behind the other in the order of reading. kinfs takes them for one HTML document, so that a book
 * is read as the same pages are; so those in UTF-16 become UTF-8, which EPUB allows beside it.
 *
 *   META-INF/container.xml    names the package
 *   package (OPF)             manifest: id, href; spine: the ids in their order
 *
 * The page that is for navigation alone is left out.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/uri.h>
#include <libxml/xmlreader.h>

#include "tools/extract/alone.h"
#include "tools/extract/utf16.h"
#include "tools/extract/zip.h"

enum { BLOCK_BYTES = 1 << 16 };

struct item {
    char *id, *member;
};

struct epub {
    struct zip zip;
    char *package, *directory; /* its name, and what its references are relative to, with a '/' */
    size_t n_items, n_chapters;
    struct item items[ZIP_MEMBERS_MAX];
    char *chapters[ZIP_MEMBERS_MAX]; /* of items */
};

static char *attribute(xmlTextReaderPtr reader, const char *name)
{
    return (char *)xmlTextReaderGetAttribute(reader, (const xmlChar *)name);
}

/* The path of a file in the package's directory, without "." and "..". Returns NULL when there is
 * no memory. */
static char *resolve(const struct epub *epub, const char *href)
{
    char *path, *plain = xmlURIUnescapeString(href, 0, NULL);
    if (!plain || asprintf(&path, "%s%.*s", epub->directory, (int)strcspn(plain, "#"), plain) < 0)
        path = NULL;
    xmlFree(plain);
    if (path && xmlNormalizeURIPath(path) != 0)
        *path = '\0';
    return path;
}

/* -- container.xml and the package -- */

static void take_rootfile(struct epub *epub, xmlTextReaderPtr reader)
{
    char *path = epub->package ? NULL : attribute(reader, "full-path");
    if (!path)
        return;
    const char *slash = strrchr(path, '/');
    epub->package = path;
    epub->directory = strndup(path, slash ? (size_t)(slash + 1 - path) : 0);
}

static void take_item(struct epub *epub, xmlTextReaderPtr reader)
{
    char *properties = attribute(reader, "properties"), *type = attribute(reader, "media-type");
    char *href = attribute(reader, "href");
    const bool navigation = properties && strstr(properties, "nav");
    if (href && type && strcmp(type, "application/xhtml+xml") == 0 && !navigation) {
        struct item item = {attribute(reader, "id"), resolve(epub, href)};
        if (epub->n_items == ZIP_MEMBERS_MAX)
            epub->zip.cut = true;
        else if (item.id && item.member)
            epub->items[epub->n_items++] = item;
    }
    xmlFree(href);
    xmlFree(type);
    xmlFree(properties);
}

static int compare_items(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->id, ((const struct item *)b)->id);
}

static void take_itemref(struct epub *epub, xmlTextReaderPtr reader)
{
    const struct item wanted = {.id = attribute(reader, "idref")};
    const struct item *found = wanted.id ? bsearch(&wanted, epub->items, epub->n_items,
                                                   sizeof(epub->items[0]), compare_items)
                                         : NULL;
    if (found && epub->n_chapters == ZIP_MEMBERS_MAX)
        epub->zip.cut = true;
    else if (found)
        epub->chapters[epub->n_chapters++] = found->member;
    xmlFree(wanted.id);
}

static void take_element(struct epub *epub, xmlTextReaderPtr reader)
{
    const char *name = (const char *)xmlTextReaderConstLocalName(reader);
    if (strcmp(name, "rootfile") == 0)
        take_rootfile(epub, reader);
    else if (strcmp(name, "item") == 0 && epub->directory)
        take_item(epub, reader);
    else if (strcmp(name, "spine") == 0 && epub->n_items > 0)
        qsort(epub->items, epub->n_items, sizeof(epub->items[0]), compare_items);
    else if (strcmp(name, "itemref") == 0)
        take_itemref(epub, reader);
}

static int close_part(void *user)
{
    (void)user;
    return 0;
}

static void take_list(void *user, const char *name)
{
    struct epub *epub = user;
    int r = 1;
    /* No network, no entities from elsewhere, and the library's own bounds stay. */
    xmlTextReaderPtr reader =
        xmlReaderForIO(zip_read, close_part, &epub->zip, NULL, NULL,
                       XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    (void)name;
    while (reader && !epub->zip.cut && (r = xmlTextReaderRead(reader)) == 1) {
        if (xmlTextReaderNodeType(reader) == XML_READER_TYPE_ELEMENT)
            take_element(epub, reader);
        epub->zip.cut |= extract_clock_is_over(&epub->zip.clock);
    }
    epub->zip.damaged |= !reader || r < 0;
    xmlFreeTextReader(reader);
}

/* -- chapters -- */

static void take_chapter(void *user, const char *name)
{
    static uint8_t block[BLOCK_BYTES];
    struct epub *epub = user;
    struct utf16 utf16;
    bool is_utf16 = false;
    int n;
    (void)name;
    for (bool is_first = true; !epub->zip.cut; is_first = false) {
        n = zip_read(&epub->zip, (char *)block, BLOCK_BYTES);
        if (n <= 0)
            break;
        if (is_first)
            is_utf16 = utf16_begin(block, (size_t)n, &utf16);
        if (is_utf16)
            utf16_write(&utf16, block, (size_t)n, stdout);
        else
            fwrite(block, 1, (size_t)n, stdout);
        epub->zip.cut = extract_clock_is_over(&epub->zip.clock);
    }
    putchar('\n');
}

int main(void)
{
    static struct epub epub;
    static char container[] = "META-INF/container.xml";
    extract_alone();
    zip_begin(&epub.zip);
    zip_members(&epub.zip, (char *const[]){container}, 1, take_list, &epub);
    if (epub.package)
        zip_members(&epub.zip, &epub.package, 1, take_list, &epub);
    zip_members(&epub.zip, epub.chapters, epub.n_chapters, take_chapter, &epub);
    const xmlError *of_xml = xmlGetLastError();
    if (!epub.zip.cut && !epub.zip.damaged && !epub.zip.encrypted && epub.n_chapters == 0)
        return zip_complain("damaged: it does not say which its chapters are");
    return zip_end(&epub.zip, of_xml ? of_xml->message : NULL);
}
