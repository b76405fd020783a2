/* The directory stands at the end, with a record behind it that says where it begins (APPNOTE.TXT
 * 4.3.12 and 4.3.16); the order of the members, and whether they are packed, is any. What programs
 * put into every document of a kind decides:
 *
 *   OpenDocument     content.xml and META-INF/manifest.xml
 *   EPUB             META-INF/container.xml and a package, *.opf
 *   Office Open XML  [Content_Types].xml and a directory word, ppt or xl
 *
 * In a ZIP64 archive two more records stand before the last one, of which the first has the length
 * that counts (4.3.14 and 4.3.15); the last may have all ones in its place. With data behind its
 * fields (as for a directory that is encrypted) the archive is none of these.
 */
#include "engine/index/extract/zip_directory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/files/unlocked_read.h"

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR64_BYTES = 20,
    ENDS64_BYTES = END64_BYTES + LOCATOR64_BYTES,
    COMMENT_MAX_BYTES = 65535,
    ENTRY_BYTES = 46,
    DIRECTORY_MAX_BYTES = 1 << 20,
};

static uint64_t get_le(const uint8_t *p, unsigned n)
{
    uint64_t value = 0;
    while (n-- > 0)
        value = value << 8 | p[n];
    return value;
}

bool zip_directory_may_be(const void *head, size_t size_bytes)
{
    return size_bytes >= 4 && memcmp(head, "PK\3\4", 4) == 0;
}

static bool read_all(int fd, uint8_t *bytes, size_t n, off_t at)
{
    while (n > 0) {
        ssize_t r = unlocked_read(fd, bytes, n, at);
        if (r <= 0)
            return false;
        bytes += r;
        at += r;
        n -= (size_t)r;
    }
    return true;
}

static bool is_end64(const uint8_t *p)
{
    return memcmp(p, "PK\6\6", 4) == 0 && get_le(p + 4, 8) == END64_BYTES - 12 &&
           memcmp(p + END64_BYTES, "PK\6\7", 4) == 0;
}

/* The directory is before its end records, so that bytes in front of the archive, which its numbers
 * do not count, make no difference. */
static bool find_directory(int fd, uint8_t *buffer, off_t *ret_at, size_t *ret_bytes)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_size < END_BYTES)
        return false;
    const off_t most = ENDS64_BYTES + END_BYTES + COMMENT_MAX_BYTES;
    const size_t n = (size_t)(st.st_size < most ? st.st_size : most);
    const off_t from = st.st_size - (off_t)n;
    if (!read_all(fd, buffer, n, from))
        return false;
    for (size_t at = n - END_BYTES + 1; at-- > 0;) {
        const uint8_t *p = buffer + at;
        if (memcmp(p, "PK\5\6", 4) != 0 || get_le(p + 20, 2) != n - END_BYTES - at)
            continue;
        const bool is_zip64 = at >= ENDS64_BYTES && is_end64(p - ENDS64_BYTES);
        const off_t end = from + (off_t)at - (is_zip64 ? ENDS64_BYTES : 0);
        const uint64_t bytes = is_zip64 ? get_le(p - ENDS64_BYTES + 40, 8) : get_le(p + 12, 4);
        if (bytes > DIRECTORY_MAX_BYTES || (off_t)bytes > end)
            return false;
        *ret_bytes = (size_t)bytes;
        *ret_at = end - (off_t)bytes;
        return true;
    }
    return false;
}

struct names {
    bool content, manifest, container, package, types, parts;
};

static bool is(const uint8_t *name, size_t n, const char *text)
{
    return n == strlen(text) && memcmp(name, text, n) == 0;
}

static bool begins(const uint8_t *name, size_t n, const char *text)
{
    return n > strlen(text) && memcmp(name, text, strlen(text)) == 0;
}

static void take_name(struct names *names, const uint8_t *name, size_t n)
{
    names->content |= is(name, n, "content.xml");
    names->manifest |= is(name, n, "META-INF/manifest.xml");
    names->container |= is(name, n, "META-INF/container.xml");
    names->package |= n > 4 && is(name + n - 4, 4, ".opf");
    names->types |= is(name, n, "[Content_Types].xml");
    names->parts |= begins(name, n, "word/") || begins(name, n, "ppt/") || begins(name, n, "xl/");
}

static struct names read_names(const uint8_t *directory, size_t size_bytes)
{
    struct names names = {0};
    const uint8_t *p = directory, *end = directory + size_bytes;
    while (end - p >= ENTRY_BYTES && memcmp(p, "PK\1\2", 4) == 0) {
        size_t n = get_le(p + 28, 2), behind = get_le(p + 30, 2) + get_le(p + 32, 2);
        p += ENTRY_BYTES;
        if ((size_t)(end - p) < n)
            break;
        take_name(&names, p, n);
        p += n;
        p += behind < (size_t)(end - p) ? behind : (size_t)(end - p);
    }
    return names;
}

enum text_type zip_directory_type(int fd)
{
    _cleanup_free_ uint8_t *buffer = malloc(DIRECTORY_MAX_BYTES);
    off_t at;
    size_t size_bytes;
    if (!buffer || !find_directory(fd, buffer, &at, &size_bytes) ||
        !read_all(fd, buffer, size_bytes, at))
        return TEXT_BINARY;
    const struct names names = read_names(buffer, size_bytes);
    if (names.container && names.package)
        return TEXT_EPUB;
    const bool opendocument = names.content && names.manifest, ooxml = names.types && names.parts;
    return opendocument || ooxml ? TEXT_OFFICE : TEXT_BINARY;
}
