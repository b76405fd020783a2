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

#include "engine/index/zip_directory.h"

enum { ARCHIVE_MAX = 4096 };

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

/* Members without content: what is not said of them is zero. */
static void make(struct archive *archive, const char *const *names, const char *comment)
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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make(&archive, cases[i].names, "");
        assert_int_equal(type_of(&archive), cases[i].type);
        make(&archive, cases[i].names, "a comment, PK\5\6 and more of it, to be passed over");
        assert_int_equal(type_of(&archive), cases[i].type);
        assert_int_equal(zip_directory_may_be(archive.bytes, archive.size),
                         cases[i].names[0] != NULL);
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
        make(&archive, cases[round % 6].names, round % 2 ? "comment" : "");
        for (unsigned i = 0; i < 1 + round % 3; i++)
            archive.bytes[(size_t)rand_r(&seed) % archive.size] = (uint8_t)rand_r(&seed);
        if (round % 4 == 0)
            archive.size = (size_t)rand_r(&seed) % archive.size;
        const enum text_type type = type_of(&archive);
        assert_true(type == TEXT_OFFICE || type == TEXT_EPUB || type == TEXT_BINARY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip_directory__names_decide_in_any_order),
        cmocka_unit_test(test_zip_directory__what_is_damaged_is_some_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
