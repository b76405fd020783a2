/* One decoder for five libraries, which are all fed alike: bytes left, room left, go on.
 *
 * They differ in what they call the end. Members of gzip and bzip2 are counted here, as their
 * libraries stop behind each; bytes behind the last member that begin no other are passed over, as
 * gzip(1) does with padding. liblzma, libzstd and liblz4 go on to the next frame by themselves.
 *
 * Example: two gzip files one behind the other are two members. The first step ends with
 * Z_STREAM_END in state BETWEEN; the next byte, 0x1f, begins another member, and zlib is reset.
 *
 * Cost: that of the library, bounded by what comes out, to which small members and blocks count as
 * more than is in them; 16 KiB of output at a time, and at most DECODER_MEMORY_MAX_BYTES within the
 * library. Left out: processes of their own for these libraries, as the readers of tools/extract
 * have.
 */
#include "engine/text/encoding/decoder.h"

#include <string.h>

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    OUT_BYTES = 16 * 1024,
    ZSTD_WINDOW_LOG = 27,  /* of DECODER_MEMORY_MAX_BYTES */
    ZSTD_BEGIN_BYTES = 5,  /* of a frame, by which the library knows how much more it wants */
    ZSTD_HEADER_TAKES = 2, /* then the rest of the header with that of the first block */
    ZLIB_GZIP = 16 + MAX_WBITS,
    LZ4_BETWEEN_BYTES = 4, /* the size of the next block, which the library adds to this block */
    LZ4_CALL_BYTES = 512,  /* that a block, and the size of one, count as besides */
};
_Static_assert(1 << ZSTD_WINDOW_LOG == DECODER_MEMORY_MAX_BYTES, "one limit");

enum state { INSIDE, BETWEEN /* members, or frames */, ENDED };

struct decoder {
    struct byte_sink sink;
    enum text_codec codec;
    enum state state;
    bool damaged, cut;
    bool full;          /* the last step filled `out`: more may come out without further bytes */
    bool whole;         /* decoder_begin_whole() */
    uint64_t n_out;     /* as it counts */
    uint64_t part_at;   /* n_out where the member or block began */
    uint64_t n_in;      /* of xz, what was taken */
    uint64_t n_besides; /* of n_out, not told yet */
    z_stream zlib;
    bool has_zlib;
    lzma_stream lzma;
    lzma_allocator lzma_allocator;
    ZSTD_DCtx *zstd;
    bool is_in_blocks; /* gzip: the member's header has been read */
    bz_stream bzip2;
    bool has_bzip2;
    uint64_t bzip2_bytes;  /* the last eight that were taken */
    uint64_t bzip2_blocks; /* of the member, that have begun */
    size_t zstd_wants;     /* the most bytes that the next call is given: to the end of a block */
    unsigned zstd_taken;   /* how often it got all of them since the frame began */
    LZ4F_dctx *lz4;
    size_t lz4_wants; /* the most bytes that the next call is given */
    uint8_t out[OUT_BYTES];
};

enum text_codec decoder_sniff(const uint8_t *head, size_t size_bytes)
{
    static const struct {
        enum text_codec codec;
        size_t n;
        uint8_t magic[6];
    } codecs[] = {
        {TEXT_CODEC_GZIP, 3, {0x1f, 0x8b, 0x08}},
        {TEXT_CODEC_XZ, 6, {0xfd, '7', 'z', 'X', 'Z', 0x00}},
        {TEXT_CODEC_ZSTD, 4, {0x28, 0xb5, 0x2f, 0xfd}},
        {TEXT_CODEC_LZ4, 4, {0x04, 0x22, 0x4d, 0x18}},
    };
    /* A block or the end of the stream follows the level. "BZh" alone might begin a word. */
    if (size_bytes >= 6 && memcmp(head, "BZh", 3) == 0 && head[3] >= '1' && head[3] <= '9' &&
        (memcmp(head + 4, "\x31\x41", 2) == 0 || memcmp(head + 4, "\x17\x72", 2) == 0))
        return TEXT_CODEC_BZIP2;
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
        if (size_bytes >= codecs[i].n && memcmp(head, codecs[i].magic, codecs[i].n) == 0)
            return codecs[i].codec;
    return TEXT_CODEC_NONE;
}

static void charge(struct decoder *decoder, uint64_t n_bytes)
{
    decoder->n_out += n_bytes;
    decoder->n_besides += n_bytes;
}

/* Another member begins, which ends the one before. */
static void begin_part(struct decoder *decoder)
{
    uint64_t n = decoder->n_out - decoder->part_at;
    if (n < DECODER_PART_BYTES)
        charge(decoder, DECODER_PART_BYTES - n);
    decoder->part_at = decoder->n_out;
}

/* liblzma tells of no streams and blocks, but allocates what the filters of each block take. */
static void *allocate_counted(void *user, size_t n, size_t size_bytes)
{
    void *bytes = reallocarray(NULL, n, size_bytes);
    begin_part(user);
    charge(user, bytes ? n * size_bytes / DECODER_MEMORY_SHARE : 0);
    return bytes;
}

struct decoder *decoder_new(const struct byte_sink *sink)
{
    struct decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return NULL;
    decoder->sink = *sink;
    decoder->lzma = (lzma_stream)LZMA_STREAM_INIT;
    decoder->lzma_allocator = (lzma_allocator){.alloc = allocate_counted, .opaque = decoder};
    decoder->lzma.allocator = &decoder->lzma_allocator;
    return decoder;
}

static void end_bzip2(struct decoder *decoder)
{
    if (decoder->has_bzip2)
        BZ2_bzDecompressEnd(&decoder->bzip2);
    decoder->has_bzip2 = false;
}

static void end_lz4(struct decoder *decoder)
{
    LZ4F_freeDecompressionContext(decoder->lz4);
    decoder->lz4 = NULL;
}

void decoder_free(struct decoder *decoder)
{
    if (!decoder)
        return;
    if (decoder->has_zlib)
        inflateEnd(&decoder->zlib);
    lzma_end(&decoder->lzma);
    ZSTD_freeDCtx(decoder->zstd);
    end_bzip2(decoder);
    end_lz4(decoder);
    free(decoder);
}

void decoder_rest(struct decoder *decoder)
{
    /* bzip2 begins anew each time and lz4 takes little for it, and neither tells its memory. What
     * xz allocates counts, and is not to depend on the document before. */
    end_bzip2(decoder);
    end_lz4(decoder);
    lzma_end(&decoder->lzma);
    if (ZSTD_sizeof_DCtx(decoder->zstd) > DECODER_KEPT_MAX_BYTES) {
        ZSTD_freeDCtx(decoder->zstd);
        decoder->zstd = NULL;
    }
}

static bool begin_gzip(struct decoder *decoder)
{
    decoder->is_in_blocks = false;
    if (decoder->has_zlib)
        return inflateReset(&decoder->zlib) == Z_OK;
    decoder->has_zlib = inflateInit2(&decoder->zlib, ZLIB_GZIP) == Z_OK;
    return decoder->has_zlib;
}

static bool begin_xz(struct decoder *decoder)
{
    return lzma_stream_decoder(&decoder->lzma, DECODER_MEMORY_MAX_BYTES, LZMA_CONCATENATED) ==
           LZMA_OK;
}

static bool begin_zstd(struct decoder *decoder)
{
    if (!decoder->zstd)
        decoder->zstd = ZSTD_createDCtx();
    decoder->zstd_wants = ZSTD_BEGIN_BYTES;
    decoder->zstd_taken = 0;
    return decoder->zstd &&
           !ZSTD_isError(ZSTD_DCtx_reset(decoder->zstd, ZSTD_reset_session_only)) &&
           !ZSTD_isError(
               ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG));
}

/* bzip2 is begun between members, too, as the library cannot be reset. It allocates the memory for
 * blocks only when it comes to one. */
static bool begin_bzip2(struct decoder *decoder)
{
    end_bzip2(decoder);
    decoder->bzip2 = (bz_stream){0};
    decoder->bzip2_bytes = decoder->bzip2_blocks = 0;
    decoder->has_bzip2 = BZ2_bzDecompressInit(&decoder->bzip2, 0, 0) == BZ_OK;
    return decoder->has_bzip2;
}

static bool begin_lz4(struct decoder *decoder)
{
    if (!decoder->lz4 && LZ4F_isError(LZ4F_createDecompressionContext(&decoder->lz4, LZ4F_VERSION)))
        decoder->lz4 = NULL;
    if (decoder->lz4)
        LZ4F_resetDecompressionContext(decoder->lz4);
    decoder->lz4_wants = LZ4F_HEADER_SIZE_MIN;
    return decoder->lz4;
}

static bool begin_codec(struct decoder *decoder)
{
    switch (decoder->codec) {
    case TEXT_CODEC_GZIP: return begin_gzip(decoder);
    case TEXT_CODEC_XZ: return begin_xz(decoder);
    case TEXT_CODEC_BZIP2: return begin_bzip2(decoder);
    case TEXT_CODEC_LZ4: return begin_lz4(decoder);
    default: return begin_zstd(decoder);
    }
}

static void end(struct decoder *decoder, bool *reason)
{
    decoder->state = ENDED;
    if (reason)
        *reason = true;
}

void decoder_begin(struct decoder *decoder, enum text_codec codec)
{
    decoder->codec = codec;
    decoder->state = INSIDE;
    decoder->damaged = decoder->cut = decoder->whole = false;
    decoder->n_out = decoder->part_at = decoder->n_besides = decoder->n_in = 0;
    if (!begin_codec(decoder))
        end(decoder, &decoder->cut);
}

void decoder_begin_whole(struct decoder *decoder, enum text_codec codec)
{
    decoder_begin(decoder, codec);
    decoder->whole = true;
}

void decoder_stop(struct decoder *decoder)
{
    end(decoder, &decoder->cut);
}

static void hand_out(struct decoder *decoder, size_t n)
{
    decoder->full = n == OUT_BYTES;
    if (!decoder->whole && decoder->n_out + n > DECODER_OUTPUT_MAX_BYTES) {
        n = decoder->n_out < DECODER_OUTPUT_MAX_BYTES
                ? (size_t)(DECODER_OUTPUT_MAX_BYTES - decoder->n_out)
                : 0;
        end(decoder, &decoder->cut);
    }
    decoder->n_out += n;
    if (n > 0)
        decoder->sink.bytes(decoder->sink.user, decoder->out, n);
    if (decoder->n_besides > 0 && decoder->sink.besides)
        decoder->sink.besides(decoder->sink.user, decoder->n_besides);
    decoder->n_besides = 0;
}

/* Other bytes behind a member. Zeroes are padding. */
static void end_members(struct decoder *decoder, uint8_t first)
{
    end(decoder, decoder->whole && first ? &decoder->damaged : NULL);
}

/* The steps decode as much as `out` has room for. They return the number of bytes taken. */

/* zlib stops behind the header and behind each block. */
static void count_gzip_block(struct decoder *decoder)
{
    enum { IS_LAST = 64, AT_END = 128 };
    if (!(decoder->zlib.data_type & AT_END))
        return;
    if (decoder->is_in_blocks && !(decoder->zlib.data_type & IS_LAST))
        begin_part(decoder);
    decoder->is_in_blocks = true;
}

static size_t step_gzip(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    /* zlib would take other bytes between members for a damaged member. */
    if (decoder->state == BETWEEN && bytes[0] != 0x1f) {
        end_members(decoder, bytes[0]);
        return size_bytes;
    }
    if (decoder->state == BETWEEN)
        begin_gzip(decoder);
    decoder->state = INSIDE;

    z_stream *z = &decoder->zlib;
    z->next_in = (uint8_t *)bytes;
    z->avail_in = size_bytes < UINT32_MAX ? (uInt)size_bytes : UINT32_MAX;
    z->next_out = decoder->out;
    z->avail_out = OUT_BYTES;
    uInt before = z->avail_in;
    int r = inflate(z, Z_BLOCK);
    size_t n = before - z->avail_in;
    if (r == Z_STREAM_END)
        decoder->state = BETWEEN;
    else if (r == Z_MEM_ERROR)
        end(decoder, &decoder->cut);
    else if (r != Z_OK && r != Z_BUF_ERROR)
        end(decoder, &decoder->damaged);
    hand_out(decoder, OUT_BYTES - z->avail_out);
    count_gzip_block(decoder);
    return n;
}

/* Nor does it tell of chunks in a block, of a dozen bytes each, which may have it forget all that
 * it has learned: some microseconds for each. */
static void count_xz(struct decoder *decoder, size_t n_bytes)
{
    decoder->n_in += n_bytes;
    const uint64_t least = decoder->n_in * DECODER_XZ_TIMES;
    if (decoder->n_out < least)
        charge(decoder, least - decoder->n_out);
}

static size_t step_xz(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes,
                      lzma_action action)
{
    lzma_stream *lzma = &decoder->lzma;
    lzma->next_in = bytes;
    lzma->avail_in = size_bytes;
    lzma->next_out = decoder->out;
    lzma->avail_out = OUT_BYTES;
    lzma_ret r = lzma_code(lzma, action);
    if (r == LZMA_STREAM_END)
        decoder->state = BETWEEN;
    else if (r == LZMA_MEM_ERROR || r == LZMA_MEMLIMIT_ERROR)
        end(decoder, &decoder->cut);
    else if (r != LZMA_OK && r != LZMA_BUF_ERROR)
        end(decoder, &decoder->damaged);
    hand_out(decoder, OUT_BYTES - lzma->avail_out);
    count_xz(decoder, size_bytes - lzma->avail_in);
    return size_bytes - lzma->avail_in;
}

/* The first block counts with the frame. */
static void count_zstd_block(struct decoder *decoder)
{
    if (++decoder->zstd_taken > ZSTD_HEADER_TAKES + 1)
        begin_part(decoder);
}

/* No call is given more than the rest of one block, with the header of the next one. */
static size_t step_zstd(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    const size_t wants = decoder->zstd_wants;
    ZSTD_inBuffer in = {bytes, decoder->full ? 0 : wants < size_bytes ? wants : size_bytes, 0};
    ZSTD_outBuffer out = {decoder->out, OUT_BYTES, 0};
    size_t r = ZSTD_decompressStream(decoder->zstd, &out, &in);
    decoder->state = r == 0 ? BETWEEN : INSIDE;
    if (ZSTD_isError(r)) {
        ZSTD_ErrorCode code = ZSTD_getErrorCode(r);
        bool memory = code == ZSTD_error_frameParameter_windowTooLarge ||
                      code == ZSTD_error_memory_allocation;
        end(decoder, memory ? &decoder->cut : &decoder->damaged);
    }
    hand_out(decoder, out.pos);
    if (r == 0)
        decoder->zstd_taken = 0;
    else if (in.pos == wants)
        count_zstd_block(decoder);
    decoder->zstd_wants = r == 0 ? ZSTD_BEGIN_BYTES : r;
    return in.pos;
}

/* The library tells of no blocks. Each begins with the same 48 bits, at any bit; the first of a
 * member counts with that. */
static void count_bzip2_blocks(struct decoder *decoder, const uint8_t *bytes, size_t n_bytes)
{
    const uint64_t magic = 0x314159265359, mask = ((uint64_t)1 << 48) - 1;
    for (size_t i = 0; i < n_bytes; i++) {
        const uint64_t last = decoder->bzip2_bytes = decoder->bzip2_bytes << 8 | bytes[i];
        bool begins = false;
        for (unsigned shift = 0; shift < 8; shift++)
            begins |= ((last >> shift) & mask) == magic;
        if (begins && decoder->bzip2_blocks++ > 0)
            charge(decoder, DECODER_PART_BYTES);
    }
}

static size_t step_bzip2(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    if (decoder->state == BETWEEN && bytes[0] != 'B') {
        end_members(decoder, bytes[0]);
        return size_bytes;
    }
    if (decoder->state == BETWEEN && !begin_bzip2(decoder)) {
        end(decoder, &decoder->cut);
        return size_bytes;
    }
    decoder->state = INSIDE;

    bz_stream *bzip2 = &decoder->bzip2;
    bzip2->next_in = (char *)(uintptr_t)bytes;
    bzip2->avail_in = size_bytes < UINT32_MAX ? (unsigned)size_bytes : UINT32_MAX;
    bzip2->next_out = (char *)decoder->out;
    bzip2->avail_out = OUT_BYTES;
    unsigned before = bzip2->avail_in;
    int r = BZ2_bzDecompress(bzip2);
    size_t n = before - bzip2->avail_in;
    if (r == BZ_STREAM_END)
        decoder->state = BETWEEN;
    else if (r == BZ_MEM_ERROR)
        end(decoder, &decoder->cut);
    else if (r != BZ_OK)
        end(decoder, &decoder->damaged);
    count_bzip2_blocks(decoder, bytes, n);
    hand_out(decoder, OUT_BYTES - bzip2->avail_out);
    return n;
}

/* A call that fails does not tell how much it had put out before. No call is therefore given more
 * than the rest of one block: bytes between blocks are a call of their own, and so is output that
 * is still to come. */
static size_t step_lz4(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    const size_t wants = decoder->lz4_wants;
    size_t n_in = decoder->full ? 0 : wants, n_out = OUT_BYTES;
    if (n_in > size_bytes)
        n_in = size_bytes;
    size_t r = LZ4F_decompress(decoder->lz4, decoder->out, &n_out, bytes, &n_in, NULL);
    if (LZ4F_isError(r)) {
        end(decoder, &decoder->damaged);
        return size_bytes;
    }
    decoder->state = r == 0 ? BETWEEN : INSIDE;
    decoder->lz4_wants = r == 0                  ? LZ4F_HEADER_SIZE_MIN
                         : r > LZ4_BETWEEN_BYTES ? r - LZ4_BETWEEN_BYTES
                                                 : r;
    if (n_in > 0 && n_in == wants)
        charge(decoder, LZ4_CALL_BYTES);
    hand_out(decoder, n_out);
    return n_in;
}

static size_t step(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    switch (decoder->codec) {
    case TEXT_CODEC_GZIP: return step_gzip(decoder, bytes, size_bytes);
    case TEXT_CODEC_XZ: return step_xz(decoder, bytes, size_bytes, LZMA_RUN);
    case TEXT_CODEC_BZIP2: return step_bzip2(decoder, bytes, size_bytes);
    case TEXT_CODEC_LZ4: return step_lz4(decoder, bytes, size_bytes);
    default: return step_zstd(decoder, bytes, size_bytes);
    }
}

void decoder_feed(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    decoder->full = false;
    while (decoder->state != ENDED && (size_bytes > 0 || decoder->full)) {
        if (decoder->state == BETWEEN) {
            if (size_bytes == 0)
                break;
            begin_part(decoder);
        }
        const bool was_full = decoder->full;
        size_t n = step(decoder, bytes, size_bytes);
        if (n == 0 && size_bytes > 0 && !was_full && !decoder->full && decoder->state == INSIDE)
            end(decoder, &decoder->damaged); /* the library takes nothing and gives nothing */
        bytes += n;
        size_bytes -= n;
    }
}

void decoder_finish(struct decoder *decoder, bool *ret_damaged, bool *ret_cut)
{
    if (decoder->codec == TEXT_CODEC_XZ && decoder->state == INSIDE) {
        do
            step_xz(decoder, NULL, 0, LZMA_FINISH);
        while (decoder->state == INSIDE && decoder->full);
    }
    *ret_damaged = decoder->damaged || decoder->state == INSIDE;
    *ret_cut = decoder->cut;
}
