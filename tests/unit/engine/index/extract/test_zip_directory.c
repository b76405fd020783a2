/* Documents that are ZIP archives are known by the names in their directory, in any order. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/index/extract/zip_directory.h"

enum { ARCHIVE_MAX = 4096 + 65536 };

struct archive {
    size_t size;
    uint8_t bytes[ARCHIVE_MAX];
};

static void put(struct archive *archive, const void *bytes, size_t n)
{
    assert_true(archive->size + n <= ARCHIVE_MAX);
    memcpy(archive->bytes + archive->size, bytes, n);
    archive->size += n;
}

static void put_le(uint8_t *p, size_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

/* The two records of a ZIP64 archive. */
static void put_ends64(struct archive *archive, size_t directory_bytes)
{
    uint8_t end64[56] = "PK\6\6", locator[20] = "PK\6\7";
    put_le(end64 + 4, sizeof(end64) - 12, 8);
    put_le(end64 + 40, directory_bytes, 8);
    put_le(end64 + 48, archive->size - directory_bytes, 8);
    put_le(locator + 8, archive->size, 8);
    put(archive, end64, sizeof(end64));
    put(archive, locator, sizeof(locator));
}

enum { PLAIN, ZIP64, ZIP64_ONES, N_FORMS }; /* with all ones in the end record */

/* Members without content: what is not said of them is zero. */
static void make(struct archive *archive, const char *const *names, const char *comment,
                 unsigned form)
{
    uint8_t local[30] = "PK\3\4", entry[46] = "PK\1\2", end[22] = "PK\5\6";
    archive->size = 0;
    for (size_t i = 0; names[i]; i++) {
        put_le(local + 26, strlen(names[i]), 2);
        put(archive, local, sizeof(local));
        put(archive, names[i], strlen(names[i]));
    }
    const size_t directory = archive->size;
    for (size_t i = 0; names[i]; i++) {
        put_le(entry + 28, strlen(names[i]), 2);
        put_le(entry + 30, 3, 2);
        put(archive, entry, sizeof(entry));
        put(archive, names[i], strlen(names[i]));
        put(archive, "xyz", 3);
    }
    put_le(end + 12, archive->size - directory, 4);
    put_le(end + 16, directory, 4);
    if (form == ZIP64_ONES)
        memset(end + 8, 0xff, 12);
    if (form != PLAIN)
        put_ends64(archive, archive->size - directory);
    put_le(end + 20, strlen(comment), 2);
    put(archive, end, sizeof(end));
    put(archive, comment, strlen(comment));
}

static enum text_type type_of(const struct archive *archive)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, archive->bytes, archive->size), archive->size);
    assert_int_equal(lseek(fd, 7, SEEK_SET), 7);
    enum text_type type = zip_directory_type(fd);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 7);
    close(fd);
    return type;
}

static const struct {
    const char *names[6];
    enum text_type type;
} cases[] = {
    {{"word/document.xml", "_rels/.rels", "[Content_Types].xml"}, TEXT_OFFICE},
    {{"docProps/app.xml", "ppt/slides/slide1.xml", "[Content_Types].xml"}, TEXT_OFFICE},
    {{"xl/workbook.xml", "[Content_Types].xml"}, TEXT_OFFICE},
    {{"content.xml", "META-INF/manifest.xml", "mimetype"}, TEXT_OFFICE},
    {{"OEBPS/a.xhtml", "OEBPS/content.opf", "META-INF/container.xml", "mimetype"}, TEXT_EPUB},
    {{"META-INF/MANIFEST.MF", "content.xml"}, TEXT_BINARY},
    {{"word/document.xml"}, TEXT_BINARY},
    {{"[Content_Types].xml", "a.nuspec"}, TEXT_BINARY},
    {{"x/[Content_Types].xml", "word/document.xml"}, TEXT_BINARY},
    {{"META-INF/container.xml"}, TEXT_BINARY},
    {{NULL}, TEXT_BINARY},
};

static void test_zip_directory__names_decide_in_any_order(void **state)
{
    (void)state;
    static struct archive archive;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) * N_FORMS; i++) {
        const unsigned form = i % N_FORMS;
        const size_t n = i / N_FORMS;
        make(&archive, cases[n].names, "", form);
        assert_int_equal(type_of(&archive), cases[n].type);
        make(&archive, cases[n].names, "a comment, PK\5\6 and more of it, to be passed over", form);
        assert_int_equal(type_of(&archive), cases[n].type);
        assert_int_equal(zip_directory_may_be(archive.bytes, archive.size),
                         cases[n].names[0] != NULL);
    }
    assert_false(zip_directory_may_be("PK\3", 3));
}

/* Cut or changed anywhere it is some type, and nothing outside of it is read. */
static void test_zip_directory__what_is_damaged_is_some_type(void **state)
{
    (void)state;
    static struct archive archive;
    unsigned seed = 5;
    for (unsigned round = 0; round < 20000; round++) {
        make(&archive, cases[round % 6].names, round % 2 ? "comment" : "", round / 12 % N_FORMS);
        for (unsigned i = 0; i < 1 + round % 3; i++)
            archive.bytes[(size_t)rand_r(&seed) % archive.size] = (uint8_t)rand_r(&seed);
        if (round % 4 == 0)
            archive.size = (size_t)rand_r(&seed) % archive.size;
        const enum text_type type = type_of(&archive);
        assert_true(type == TEXT_OFFICE || type == TEXT_EPUB || type == TEXT_BINARY);
    }
}

/* The longest comment, and lengths of the directory that are not. */
static void test_zip_directory__zip64_is_bounded(void **state)
{
    (void)state;
    static struct archive archive;
    static char comment[65536];
    static const uint64_t lengths[] = {1 << 20 | 1, (uint64_t)1 << 32, INT64_MAX, (uint64_t)1 << 63,
                                       UINT64_MAX};
    memset(comment, 'c', sizeof(comment) - 1);
    make(&archive, cases[0].names, comment, ZIP64_ONES);
    assert_int_equal(type_of(&archive), TEXT_OFFICE);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        make(&archive, cases[0].names, "", ZIP64);
        put_le(archive.bytes + archive.size - 22 - 20 - 56 + 40, lengths[i], 8);
        assert_int_equal(type_of(&archive), TEXT_BINARY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip_directory__names_decide_in_any_order),
        cmocka_unit_test(test_zip_directory__what_is_damaged_is_some_type),
        cmocka_unit_test(test_zip_directory__zip64_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
