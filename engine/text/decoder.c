/* One decoder for three libraries, which agree on how they are fed: bytes left, room left, go on.
 *
 * What each calls the end differs: gzip members are counted here, as zlib stops behind each, and
 * what stands behind the last and is no other is passed over, as gzip(1) does with padding; liblzma
 * and libzstd go on by themselves.
 */
#include "engine/text/decoder.h"

#include <string.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    OUT_BYTES = 16 * 1024,
    ZSTD_WINDOW_LOG = 27, /* of DECODER_MEMORY_MAX_BYTES */
    ZLIB_GZIP = 16 + MAX_WBITS,
};
_Static_assert(1 << ZSTD_WINDOW_LOG == DECODER_MEMORY_MAX_BYTES, "one limit");

enum state { INSIDE, BETWEEN /* members, or frames */, ENDED };

struct decoder {
    struct byte_sink sink;
    enum text_codec codec;
    enum state state;
    bool damaged, cut;
    bool full; /* the last step filled out: there may be more without further bytes */
    uint64_t n_out;
    z_stream zlib;
    bool has_zlib;
    lzma_stream lzma;
    ZSTD_DCtx *zstd;
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
    };
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
        if (size_bytes >= codecs[i].n && memcmp(head, codecs[i].magic, codecs[i].n) == 0)
            return codecs[i].codec;
    return TEXT_CODEC_NONE;
}

struct decoder *decoder_new(const struct byte_sink *sink)
{
    struct decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return NULL;
    decoder->sink = *sink;
    decoder->lzma = (lzma_stream)LZMA_STREAM_INIT;
    return decoder;
}

void decoder_free(struct decoder *decoder)
{
    if (!decoder)
        return;
    if (decoder->has_zlib)
        inflateEnd(&decoder->zlib);
    lzma_end(&decoder->lzma);
    ZSTD_freeDCtx(decoder->zstd);
    free(decoder);
}

static bool begin_gzip(struct decoder *decoder)
{
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
    return decoder->zstd &&
           !ZSTD_isError(ZSTD_DCtx_reset(decoder->zstd, ZSTD_reset_session_only)) &&
           !ZSTD_isError(
               ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG));
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
    decoder->damaged = decoder->cut = false;
    decoder->n_out = 0;
    bool begun = codec == TEXT_CODEC_GZIP ? begin_gzip(decoder)
                 : codec == TEXT_CODEC_XZ ? begin_xz(decoder)
                                          : begin_zstd(decoder);
    if (!begun)
        end(decoder, &decoder->cut);
}

static void hand_out(struct decoder *decoder, size_t n)
{
    decoder->full = n == OUT_BYTES;
    if (n > DECODER_OUTPUT_MAX_BYTES - decoder->n_out) {
        n = (size_t)(DECODER_OUTPUT_MAX_BYTES - decoder->n_out);
        end(decoder, &decoder->cut);
    }
    decoder->n_out += n;
    if (n > 0)
        decoder->sink.bytes(decoder->sink.user, decoder->out, n);
}

/* The steps: decode what fits into out. Return how many of the bytes were taken. */

static size_t step_gzip(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    /* Between members zlib would take what is no member for a damaged one. */
    if (decoder->state == BETWEEN && bytes[0] != 0x1f) {
        end(decoder, NULL);
        return size_bytes;
    }
    if (decoder->state == BETWEEN)
        inflateReset(&decoder->zlib);
    decoder->state = INSIDE;

    z_stream *z = &decoder->zlib;
    z->next_in = (uint8_t *)bytes;
    z->avail_in = size_bytes < UINT32_MAX ? (uInt)size_bytes : UINT32_MAX;
    z->next_out = decoder->out;
    z->avail_out = OUT_BYTES;
    uInt before = z->avail_in;
    int r = inflate(z, Z_NO_FLUSH);
    size_t n = before - z->avail_in;
    if (r == Z_STREAM_END)
        decoder->state = BETWEEN;
    else if (r == Z_MEM_ERROR)
        end(decoder, &decoder->cut);
    else if (r != Z_OK && r != Z_BUF_ERROR)
        end(decoder, &decoder->damaged);
    hand_out(decoder, OUT_BYTES - z->avail_out);
    return n;
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
    return size_bytes - lzma->avail_in;
}

static size_t step_zstd(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    ZSTD_inBuffer in = {bytes, size_bytes, 0};
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
    return in.pos;
}

static size_t step(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    switch (decoder->codec) {
    case TEXT_CODEC_GZIP: return step_gzip(decoder, bytes, size_bytes);
    case TEXT_CODEC_XZ: return step_xz(decoder, bytes, size_bytes, LZMA_RUN);
    default: return step_zstd(decoder, bytes, size_bytes);
    }
}

void decoder_feed(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes)
{
    decoder->full = false;
    while (decoder->state != ENDED && (size_bytes > 0 || decoder->full)) {
        if (size_bytes == 0 && decoder->state == BETWEEN)
            break;
        size_t n = step(decoder, bytes, size_bytes);
        if (n == 0 && size_bytes > 0 && !decoder->full && decoder->state == INSIDE)
            end(decoder, &decoder->damaged); /* takes nothing and gives nothing */
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
