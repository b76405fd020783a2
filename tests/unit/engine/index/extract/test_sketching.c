/* A file to its sketch: how much of it is read, and what of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "engine/index/index_state.h"
#include "tests/lib/fixtures/indexed_tree.h"

static bool never(void *user)
{
    (void)user;
    return false;
}

static int sketch(struct sketching *sketching, int fd, uint64_t most_bytes,
                  struct document_sketch *ret_sketch)
{
    char reason[FILE_ROW_REASON_BYTES];
    return sketching_run(sketching, fd, most_bytes, ret_sketch, reason);
}

/* A piece of 4 KiB, each another, at each of these KiB, and holes between them. */
static void write_pieces(int fd, const unsigned *at_kib, size_t n)
{
    uint8_t piece[4096];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < sizeof(piece); j++)
            piece[j] = (uint8_t)((i + 1) * 251 * (j * j + j / 7 + 1) >> 3);
        assert_int_equal(pwrite(fd, piece, sizeof(piece), (off_t)at_kib[i] * 1024), sizeof(piece));
    }
}

static void fill(int from, int to)
{
    static uint8_t bytes[1 << 16];
    ssize_t n;
    assert_int_equal(lseek(from, 0, SEEK_SET), 0);
    while ((n = read(from, bytes, sizeof(bytes))) > 0)
        assert_int_equal(write(to, bytes, (size_t)n), n);
    assert_int_equal(n, 0);
}

static int make(struct indexed_tree *f, const char *name)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s", f->root, name);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    return fd;
}

/* With a hole at the beginning, between, across what is read at once, and at the end. */
static void test_sketching__a_hole_is_its_zeros(void **state)
{
    static const unsigned at_kib[][3] = {{0, 64, 700}, {300, 304, 900}, {252, 256, 260}, {0, 4, 8}};
    struct indexed_tree *f = *state;
    struct sketching *sketching;
    const struct sketching_by by = index_sketching_by(f->index, false);
    assert_int_equal(sketching_new(&by, never, NULL, &sketching), 0);
    for (size_t i = 0; i < sizeof(at_kib) / sizeof(at_kib[0]); i++) {
        char names[2][16];
        snprintf(names[0], sizeof(names[0]), "holes%zu", i);
        snprintf(names[1], sizeof(names[1]), "zeros%zu", i);
        int holes = make(f, names[0]), zeros = make(f, names[1]);
        write_pieces(holes, at_kib[i], 3);
        assert_int_equal(ftruncate(holes, (960 << 10) + 77 * (off_t)i), 0);
        fill(holes, zeros);
        struct document_sketch read, skipped;
        assert_int_equal(sketch(sketching, zeros, SKETCHING_SHORT_BYTES, &read), 0);
        assert_int_not_equal(read.sketch.n_values, 0);
        for (int j = 0; j < 2; j++) {
            assert_int_equal(sketch(sketching, j ? zeros : holes, SKETCHING_MOST_BYTES, &skipped),
                             0);
            assert_int_equal(skipped.size_bytes, read.size_bytes);
            assert_memory_equal(skipped.content_fingerprint, read.content_fingerprint,
                                FINGERPRINT_BYTES);
            assert_memory_equal(skipped.text_fingerprint, read.text_fingerprint, FINGERPRINT_BYTES);
            assert_memory_equal(skipped.shingle_fingerprint, read.shingle_fingerprint,
                                FINGERPRINT_BYTES);
        }
        close(holes);
        close(zeros);
    }
    sketching_free(sketching);
}

/* Also one that grows while it is read: the bytes are counted. */
static void test_sketching__no_more_is_read_than_is_asked_for(void **state)
{
    struct indexed_tree *f = *state;
    struct sketching *sketching;
    struct document_sketch found;
    const uint64_t most = SKETCHING_SHORT_BYTES;
    const struct sketching_by by = index_sketching_by(f->index, false);
    assert_int_equal(sketching_new(&by, never, NULL, &sketching), 0);
    int fd = make(f, "long");
    assert_int_equal(ftruncate(fd, (off_t)most), 0);
    assert_int_equal(sketch(sketching, fd, most, &found), 0);
    assert_int_equal(found.size_bytes, most);
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    assert_int_equal(sketch(sketching, fd, most, &found), SKETCHING_TOO_LONG);
    assert_int_equal(sketch(sketching, fd, SKETCHING_LONG_BYTES + 1, &found), SKETCHING_TOO_LONG);
    close(fd);
    sketching_free(sketching);
}

/* -- what is packed -- */

enum { MIB = 1 << 20 };

/* A file of zeros, packed so often; it stays far below a block that is read. */
static int make_packed(struct indexed_tree *f, const char *name, size_t zeros_bytes, int n_times)
{
    uLong size = zeros_bytes;
    uint8_t *bytes = calloc(1, size);
    assert_non_null(bytes);
    for (int i = 0; i < n_times; i++) {
        z_stream z = {.next_in = bytes, .avail_in = (uInt)size};
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                         Z_OK);
        z.avail_out = (uInt)deflateBound(&z, size);
        uint8_t *packed = z.next_out = malloc(z.avail_out);
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        size = z.total_out;
        deflateEnd(&z);
        free(bytes);
        bytes = packed;
    }
    int fd = make(f, name);
    assert_int_equal(write(fd, bytes, size), size);
    free(bytes);
    return fd;
}

static void test_sketching__what_is_packed_is_for_who_takes_what_is_slow(void **state)
{
    struct indexed_tree *f = *state;
    const int results[] = {SKETCHING_SLOW, 0};
    int fd = make_packed(f, "packed", 1000, 1);
    for (int slow = 0; slow < 2; slow++) {
        struct sketching *sketching;
        struct document_sketch found;
        const struct sketching_by by = index_sketching_by(f->index, slow);
        assert_int_equal(sketching_new(&by, never, NULL, &sketching), 0);
        assert_int_equal(sketch(sketching, fd, SKETCHING_SHORT_BYTES, &found), results[slow]);
        sketching_free(sketching);
    }
    close(fd);
}

/* Of what is packed twice both: the outer has some KB, and so has the file. */
static void test_sketching__bytes_count_that_are_unpacked(void **state)
{
    struct indexed_tree *f = *state;
    struct sketching *sketching;
    struct document_sketch found;
    const struct sketching_by by = index_sketching_by(f->index, true);
    assert_int_equal(sketching_new(&by, never, NULL, &sketching), 0);
    for (int n_times = 1; n_times < 3; n_times++) {
        char name[16];
        snprintf(name, sizeof(name), "bomb%d", n_times);
        int fd = make_packed(f, name, 4 * MIB, n_times);
        assert_int_equal(sketch(sketching, fd, 3 * MIB, &found), SKETCHING_TOO_LONG);
        assert_int_equal(sketch(sketching, fd, 5 * MIB, &found), 0);
        assert_int_equal(found.form.codec, TEXT_CODEC_GZIP);
        assert_false(found.form.cut);
        close(fd);
    }
    sketching_free(sketching);
}

struct patience {
    unsigned n_asked, n_most;
};

static bool loses_patience(void *user)
{
    struct patience *patience = user;
    return ++patience->n_asked > patience->n_most;
}

/* Before it is read, and then for each step of what is unpacked; no more, once the answer was yes.
 * Who stopped reads the next document as ever. */
static void test_sketching__an_end_is_asked_for_while_it_is_unpacked(void **state)
{
    enum { N_STEPS = 16 * MIB / CANON_UNPACKED_STEP_BYTES };
    struct indexed_tree *f = *state;
    struct sketching *sketching;
    struct document_sketch found;
    struct patience patience = {0, UINT32_MAX};
    const struct sketching_by by = index_sketching_by(f->index, true);
    assert_int_equal(sketching_new(&by, loses_patience, &patience, &sketching), 0);
    int fd = make_packed(f, "bomb", 16 * MIB, 2);
    assert_int_equal(sketch(sketching, fd, SKETCHING_MOST_BYTES, &found), 0);
    const uint64_t n_tokens = found.sketch.n_tokens;
    assert_in_range(patience.n_asked, N_STEPS * 9 / 10, N_STEPS + 2);
    for (unsigned n = 0; n < 4; n++) {
        patience = (struct patience){0, n};
        assert_int_equal(sketch(sketching, fd, SKETCHING_MOST_BYTES, &found), -ESHUTDOWN);
        assert_int_equal(patience.n_asked, n + 1);
    }
    patience = (struct patience){0, UINT32_MAX};
    assert_int_equal(sketch(sketching, fd, SKETCHING_MOST_BYTES, &found), 0);
    assert_true(found.sketch.n_tokens == n_tokens);
    assert_false(found.form.cut);
    close(fd);
    sketching_free(sketching);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sketching__a_hole_is_its_zeros, indexed_tree_setup,
                                        indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_sketching__no_more_is_read_than_is_asked_for,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_sketching__what_is_packed_is_for_who_takes_what_is_slow, indexed_tree_setup,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_sketching__bytes_count_that_are_unpacked,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_sketching__an_end_is_asked_for_while_it_is_unpacked,
                                        indexed_tree_setup, indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
