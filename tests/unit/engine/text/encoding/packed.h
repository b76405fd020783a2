/* Text packed by each codec, for tests of what unpacks it. Included behind cmocka.h. */
#ifndef KINFS_TESTS_UNIT_ENGINE_TEXT_ENCODING_PACKED_H
#define KINFS_TESTS_UNIT_ENGINE_TEXT_ENCODING_PACKED_H

#include <stdio.h>
#include <stdlib.h>

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "engine/text/type.h"

enum { PACKED_MAX = 1 << 19, PACKED_N_PIECES = 5 };
static const size_t packed_pieces[PACKED_N_PIECES] = {1 << 20, 0, 1, 7, 4096};

struct packed {
    enum text_codec codec;
    size_t size;
    uint8_t bytes[PACKED_MAX];
};

static inline void packed_add_gzip(struct packed *packed, const void *text, size_t size)
{
    z_stream z = {.next_in = (void *)(uintptr_t)text, .avail_in = (uInt)size};
    z.next_out = packed->bytes + packed->size;
    z.avail_out = (uInt)(PACKED_MAX - packed->size);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed->size += z.total_out;
    deflateEnd(&z);
}

static inline void packed_add_xz(struct packed *packed, const void *text, size_t size)
{
    assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, text, size, packed->bytes,
                                             &packed->size, PACKED_MAX),
                     LZMA_OK);
}

static inline void packed_add_zstd(struct packed *packed, const void *text, size_t size)
{
    size_t n =
        ZSTD_compress(packed->bytes + packed->size, PACKED_MAX - packed->size, text, size, 1);
    assert_false(ZSTD_isError(n));
    packed->size += n;
}

static inline void packed_add_bzip2(struct packed *packed, const void *text, size_t size)
{
    unsigned n = (unsigned)(PACKED_MAX - packed->size);
    assert_int_equal(BZ2_bzBuffToBuffCompress((char *)packed->bytes + packed->size, &n,
                                              (char *)(uintptr_t)text, (unsigned)size, 1, 0, 0),
                     BZ_OK);
    packed->size += n;
}

static inline void packed_add_lz4(struct packed *packed, const void *text, size_t size)
{
    const LZ4F_preferences_t checked = {
        .frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled}};
    size_t n = LZ4F_compressFrame(packed->bytes + packed->size, PACKED_MAX - packed->size, text,
                                  size, &checked);
    assert_false(LZ4F_isError(n));
    packed->size += n;
}

static inline void packed_add(struct packed *packed, const void *text, size_t size)
{
    switch (packed->codec) {
    case TEXT_CODEC_BZIP2: packed_add_bzip2(packed, text, size); break;
    case TEXT_CODEC_LZ4: packed_add_lz4(packed, text, size); break;
    case TEXT_CODEC_GZIP: packed_add_gzip(packed, text, size); break;
    case TEXT_CODEC_XZ: packed_add_xz(packed, text, size); break;
    default: packed_add_zstd(packed, text, size); break;
    }
}

/* Words, with some that are not ASCII; never two documents the same. */
static inline size_t packed_make_text(char *text, size_t room)
{
    static unsigned seed = 1;
    size_t size = 0;
    while (size + 32 < room)
        size += (size_t)snprintf(text + size, room - size, "%s%x%s", rand_r(&seed) % 9 ? "" : "é",
                                 rand_r(&seed), rand_r(&seed) % 2 ? " " : ", ");
    return size;
}

#endif
