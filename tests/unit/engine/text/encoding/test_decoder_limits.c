/* What is unpacked of a document has bounds: bytes, members and blocks, memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>

#include "engine/text/encoding/decoder.h"
#include "tests/lib/share.h"
#include "tests/unit/engine/text/canonical.h"
#include "tests/unit/engine/text/encoding/packed.h"

static void count(void *user, const uint8_t *bytes, size_t size)
{
    (void)bytes;
    *(uint64_t *)user += size;
}

static void test_decoder_limits__a_bomb_is_cut(void **state)
{
    (void)state;
    static uint8_t zeros[1 << 20];
    static struct packed packed; /* a MiB of zeros */
    packed = (struct packed){.codec = TEXT_CODEC_ZSTD};
    packed_add(&packed, zeros, sizeof(zeros));
    uint64_t n = 0;
    bool damaged, cut;
    struct decoder *decoder = decoder_new(&(struct byte_sink){.bytes = count, .user = &n});
    assert_non_null(decoder);
    for (unsigned times = 1023; times <= 1025; times++) {
        n = 0;
        decoder_begin(decoder, TEXT_CODEC_ZSTD);
        for (unsigned i = 0; i < times; i++)
            decoder_feed(decoder, packed.bytes, packed.size);
        decoder_finish(decoder, &damaged, &cut);
        assert_false(damaged);
        assert_int_equal(cut, times == 1025);
        assert_true(n == (uint64_t)(times < 1024 ? times : 1024) << 20);
    }
    decoder_free(decoder);
}

enum { N_PARTS_MAX = DECODER_OUTPUT_MAX_BYTES / DECODER_PART_BYTES };

/* Of so many members, of which each in turn is one of two, the bytes that come out. */
static uint64_t unpack_members(const struct packed members[2], unsigned n_members, bool *ret_cut)
{
    uint64_t n = 0;
    bool damaged;
    struct decoder *decoder = decoder_new(&(struct byte_sink){.bytes = count, .user = &n});
    assert_non_null(decoder);
    decoder_begin(decoder, members->codec);
    for (unsigned i = 0; i < n_members; i++)
        decoder_feed(decoder, members[i % 2].bytes, members[i % 2].size);
    decoder_finish(decoder, &damaged, ret_cut);
    assert_false(damaged);
    decoder_free(decoder);
    return n;
}

/* A member takes time though nothing comes out of it. */
static void test_decoder_limits__many_small_members_are_cut(void **state)
{
    (void)state;
    static struct packed members[2];
    bool cut;
    const unsigned n_codecs = part_of(TEXT_N_CODECS - 1);
    for (unsigned codec = TEXT_CODEC_GZIP; codec < TEXT_CODEC_GZIP + n_codecs; codec++) {
        if (codec == TEXT_CODEC_XZ)
            continue;
        members[0] = members[1] = (struct packed){.codec = codec};
        packed_add(&members[0], "a", 1);
        packed_add(&members[1], "", 0);
        if (codec == TEXT_CODEC_GZIP) {
            assert_int_equal(unpack_members(members, N_PARTS_MAX, &cut), N_PARTS_MAX / 2);
            assert_false(cut);
        }
        assert_int_equal(unpack_members(members, N_PARTS_MAX + 2, &cut), N_PARTS_MAX / 2);
        assert_true(cut);
    }
}

/* One member of so many blocks, each of which has one byte. */
static void add_blocks(struct packed *packed, unsigned n_blocks)
{
    z_stream z = {.next_out = packed->bytes, .avail_out = PACKED_MAX};
    bz_stream bzip2 = {.next_out = (char *)packed->bytes, .avail_out = PACKED_MAX};
    lzma_stream xz = LZMA_STREAM_INIT;
    LZ4F_cctx *lz4;
    size_t lz4_bytes;
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    ZSTD_outBuffer out = {packed->bytes, PACKED_MAX, 0};
    xz.next_out = packed->bytes;
    xz.avail_out = PACKED_MAX;
    assert_int_equal(lzma_easy_encoder(&xz, 0, LZMA_CHECK_CRC64), LZMA_OK);
    assert_int_equal(LZ4F_createCompressionContext(&lz4, LZ4F_VERSION), 0);
    lz4_bytes = LZ4F_compressBegin(lz4, packed->bytes, PACKED_MAX, NULL);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(BZ2_bzCompressInit(&bzip2, 1, 0, 0), BZ_OK);
    for (unsigned i = 0; i < n_blocks; i++) {
        const bool is_last = i + 1 == n_blocks;
        char byte = 'a';
        switch (packed->codec) {
        case TEXT_CODEC_GZIP:
            z.next_in = (void *)&byte;
            z.avail_in = 1;
            deflate(&z, is_last ? Z_FINISH : Z_SYNC_FLUSH);
            break;
        case TEXT_CODEC_BZIP2:
            bzip2.next_in = &byte;
            bzip2.avail_in = 1;
            while (BZ2_bzCompress(&bzip2, is_last ? BZ_FINISH : BZ_FLUSH) > BZ_RUN_OK)
                continue;
            break;
        case TEXT_CODEC_LZ4:
            LZ4F_compressUpdate(lz4, packed->bytes + lz4_bytes, PACKED_MAX - lz4_bytes, &byte, 1,
                                NULL);
            lz4_bytes += (is_last ? LZ4F_compressEnd : LZ4F_flush)(lz4, packed->bytes + lz4_bytes,
                                                                   PACKED_MAX - lz4_bytes, NULL);
            break;
        case TEXT_CODEC_XZ:
            xz.next_in = (const uint8_t *)&byte;
            xz.avail_in = 1;
            while (lzma_code(&xz, is_last ? LZMA_FINISH : LZMA_SYNC_FLUSH) == LZMA_OK)
                continue;
            break;
        default:
            ZSTD_compressStream2(zstd, &out, &(ZSTD_inBuffer){&byte, 1, 0},
                                 is_last ? ZSTD_e_end : ZSTD_e_flush);
        }
    }
    packed->size = packed->codec == TEXT_CODEC_GZIP    ? z.total_out
                   : packed->codec == TEXT_CODEC_BZIP2 ? bzip2.total_out_lo32
                   : packed->codec == TEXT_CODEC_XZ    ? xz.total_out
                   : packed->codec == TEXT_CODEC_LZ4   ? lz4_bytes
                                                       : out.pos;
    deflateEnd(&z);
    BZ2_bzCompressEnd(&bzip2);
    lzma_end(&xz);
    LZ4F_freeCompressionContext(lz4);
    ZSTD_freeCCtx(zstd);
}

struct counted {
    uint64_t n_out; /* first, for count() */
    uint64_t n_besides;
};

static void count_besides(void *user, uint64_t n_bytes)
{
    ((struct counted *)user)->n_besides += n_bytes;
}

static struct counted unpack_in_pieces(const struct packed *packed, size_t piece)
{
    struct counted counted = {0};
    bool damaged, cut;
    struct decoder *decoder = decoder_new(&(struct byte_sink){count, &counted, count_besides});
    assert_non_null(decoder);
    decoder_begin(decoder, packed->codec);
    for (size_t at = 0; at < packed->size; at += piece)
        decoder_feed(decoder, packed->bytes + at,
                     piece < packed->size - at ? piece : packed->size - at);
    decoder_finish(decoder, &damaged, &cut);
    assert_false(damaged || cut);
    decoder_free(decoder);
    return counted;
}

static void test_decoder_limits__blocks_of_a_member_count_by_their_number(void **state)
{
    (void)state;
    enum { NOT_TOLD = 4 /* at the ends of a member */, XZ_BLOCK_BYTES = 4 };
    static const struct {
        enum text_codec codec;
        unsigned n_blocks, block_counts;
    } codecs[] = {{TEXT_CODEC_GZIP, 300, DECODER_PART_BYTES - 1},
                  {TEXT_CODEC_BZIP2, 300, DECODER_PART_BYTES},
                  {TEXT_CODEC_ZSTD, 300, DECODER_PART_BYTES - 1},
                  {TEXT_CODEC_LZ4, 300, 1000},
                  {TEXT_CODEC_XZ, 20000, DECODER_XZ_TIMES * XZ_BLOCK_BYTES - 1}};
    static char text[400 * 1024];
    static struct packed packed;
    const size_t size = packed_make_text(text, sizeof(text));
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
        const unsigned n = codecs[i].n_blocks, least = (n - NOT_TOLD) * codecs[i].block_counts;
        packed = (struct packed){.codec = codecs[i].codec};
        add_blocks(&packed, n);
        for (size_t k = 0; k < PACKED_N_PIECES; k++) {
            const struct counted found =
                unpack_in_pieces(&packed, packed_pieces[k] ? packed_pieces[k] : 3);
            assert_int_equal(found.n_out, n);
            assert_in_range(found.n_besides, least, 3 * least);
        }
    }
    /* Those that packers write are large, and count as what is in them. */
    for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
        packed = (struct packed){.codec = codec};
        packed_add(&packed, text, size);
        const struct counted found = unpack_in_pieces(&packed, 1 << 16);
        assert_int_equal(found.n_out, size);
        if (codec != TEXT_CODEC_XZ)
            assert_in_range(found.n_besides, 0, size / 20);
    }
}

/* As bgzip(1) and pigz(1) make them: they count as what is in them. */
static void test_decoder_limits__many_large_members_are_whole(void **state)
{
    (void)state;
    enum { MEMBER = 512 << 10, MEMBERS = DECODER_OUTPUT_MAX_BYTES / MEMBER };
    static const uint8_t zeros[MEMBER];
    static struct packed members[2];
    bool cut;
    members[0] = (struct packed){.codec = TEXT_CODEC_GZIP};
    packed_add(&members[0], zeros, sizeof(zeros));
    members[1] = members[0];
    assert_true(unpack_members(members, MEMBERS + 1, &cut) == DECODER_OUTPUT_MAX_BYTES);
    assert_true(cut);
}

/* An xz block whose header asks for a dictionary of 1 << log bytes. */
static void add_xz_of(struct packed *packed, unsigned log)
{
    enum { HEADER = 12 };
    *packed = (struct packed){.codec = TEXT_CODEC_XZ};
    packed_add(packed, "word", 4);
    size_t header_bytes = 4 * (packed->bytes[HEADER] + 1u);
    uint8_t *dictionary = memmem(packed->bytes + HEADER, header_bytes, "\x21\x01", 2);
    assert_non_null(dictionary);
    dictionary[2] = (uint8_t)(2 * (log - 12)); /* 2 << (this / 2 + 11) */
    uint32_t crc = lzma_crc32(packed->bytes + HEADER, header_bytes - 4, 0);
    for (int i = 0; i < 4; i++)
        packed->bytes[HEADER + header_bytes - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
}

static void test_decoder_limits__what_wants_too_much_memory_is_cut(void **state)
{
    (void)state;
    /* A zstd frame with a window of 256 MiB and one raw block. */
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 4 << 3 | 1,
                                   0,    0,    'w',  'o',  'r',  'd'};
    struct canonical found = canonical_of(zstd, sizeof(zstd), 1);
    assert_true(found.form.cut);
    assert_string_equal(found.text, "");
    canonical_done(&found);

    static struct packed packed;
    add_xz_of(&packed, 30);
    found = canonical_of(packed.bytes, packed.size, 0);
    assert_true(found.form.cut);
    assert_false(found.form.damaged);
    canonical_done(&found);
}

/* The library allocates another for each. */
static void test_decoder_limits__many_dictionaries_are_cut(void **state)
{
    (void)state;
    static struct packed members[2];
    bool cut;
    add_xz_of(&members[0], 25);
    add_xz_of(&members[1], 26);
    const unsigned n_most = DECODER_OUTPUT_MAX_BYTES / ((32 << 20) / DECODER_MEMORY_SHARE);
    assert_true(unpack_members(members, n_most, &cut) < 4 * n_most);
    assert_true(cut);
    /* One after the other of the same size it keeps. */
    members[1] = members[0];
    assert_int_equal(unpack_members(members, N_PARTS_MAX / 2, &cut), 4 * N_PARTS_MAX / 2);
    assert_false(cut);
}

static bool up_to_a_mib(void *user, uint64_t n_bytes)
{
    *(uint64_t *)user = n_bytes;
    return n_bytes < 1 << 20;
}

/* Who is asked whether to go on learns of members out of which nothing came. */
static void test_decoder_limits__members_count_as_unpacked(void **state)
{
    (void)state;
    static struct packed packed;
    struct canon *canon;
    struct text_form form;
    struct canonical found = {0};
    uint64_t n_unpacked = 0;
    found.file = open_memstream(&found.text, &found.size);
    packed = (struct packed){.codec = TEXT_CODEC_GZIP};
    for (unsigned i = 0; i < 1000; i++)
        packed_add(&packed, "", 0);
    assert_int_equal(
        canon_new(&(struct canon_sink){.tokens = canonical_take, .user = &found}, &canon), 0);
    canon_on_unpacking(canon, up_to_a_mib, &n_unpacked);
    canon_begin(canon);
    canon_feed(canon, packed.bytes, packed.size);
    canon_finish(canon, &form);
    assert_true(form.cut);
    assert_in_range(n_unpacked, 1 << 20, (1 << 20) + CANON_UNPACKED_STEP_BYTES);
    canon_free(canon);
    fclose(found.file);
    canonical_done(&found);
}

static size_t memory_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* False where malloc(3) is another's. */
static bool is_memory_counted(void)
{
    const size_t before = memory_in_use();
    uint8_t *volatile bytes = malloc(1 << 20);
    const bool counted = memory_in_use() > before;
    free(bytes);
    return counted;
}

/* Of documents that end, and of one that is dropped. */
static void test_decoder_limits__what_took_much_memory_leaves_little(void **state)
{
    (void)state;
    if (!is_memory_counted())
        skip();
    /* A frame with a window of 128 MiB and a raw block, which is not the last one. */
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 4 << 3,
                                   0,    0,    'w',  'o',  'r',  'd'};
    static struct packed xz;
    add_xz_of(&xz, 26);
    const struct {
        const uint8_t *bytes;
        size_t size, needs;
    } documents[] = {{zstd, sizeof(zstd), 128 << 20}, {xz.bytes, xz.size, 64 << 20}};
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        struct canon *canon;
        struct text_form form;
        struct canonical found = {0};
        found.file = open_memstream(&found.text, &found.size);
        assert_int_equal(
            canon_new(&(struct canon_sink){.tokens = canonical_take, .user = &found}, &canon), 0);
        const size_t before = memory_in_use();
        for (int finishes = 0; finishes < 2; finishes++) {
            uint8_t head[TEXT_SNIFF_BYTES] = {0};
            memcpy(head, documents[i].bytes, documents[i].size);
            canon_begin(canon);
            canon_feed(canon, head, sizeof(head));
            assert_true(memory_in_use() >= before + documents[i].needs);
            if (finishes)
                canon_finish(canon, &form);
            else
                canon_begin(canon);
            assert_true(memory_in_use() <= before + DECODER_KEPT_MAX_BYTES);
        }
        canon_free(canon);
        fclose(found.file);
        canonical_done(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoder_limits__a_bomb_is_cut),
        cmocka_unit_test(test_decoder_limits__many_small_members_are_cut),
        cmocka_unit_test(test_decoder_limits__blocks_of_a_member_count_by_their_number),
        cmocka_unit_test(test_decoder_limits__many_large_members_are_whole),
        cmocka_unit_test(test_decoder_limits__many_dictionaries_are_cut),
        cmocka_unit_test(test_decoder_limits__members_count_as_unpacked),
        cmocka_unit_test(test_decoder_limits__what_wants_too_much_memory_is_cut),
        cmocka_unit_test(test_decoder_limits__what_took_much_memory_leaves_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
