#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "engine/text/encoding/decoder.h"
#include "tests/lib/share.h"
#include "tests/unit/engine/text/canonical.h"

enum { PACKED_MAX = 1 << 19, N_PIECES = 5 };
static const size_t pieces[N_PIECES] = {1 << 20, 0, 1, 7, 4096};

struct packed {
    enum text_codec codec;
    size_t size;
    uint8_t bytes[PACKED_MAX];
};

static void add_gzip(struct packed *packed, const void *text, size_t size)
{
    z_stream z = {.next_in = (void *)(uintptr_t)text, .avail_in = (uInt)size};
    z.next_out = packed->bytes + packed->size;
    z.avail_out = (uInt)(PACKED_MAX - packed->size);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed->size += z.total_out;
    deflateEnd(&z);
}

static void add_xz(struct packed *packed, const void *text, size_t size)
{
    assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, text, size, packed->bytes,
                                             &packed->size, PACKED_MAX),
                     LZMA_OK);
}

static void add_zstd(struct packed *packed, const void *text, size_t size)
{
    size_t n =
        ZSTD_compress(packed->bytes + packed->size, PACKED_MAX - packed->size, text, size, 1);
    assert_false(ZSTD_isError(n));
    packed->size += n;
}

static void add_bzip2(struct packed *packed, const void *text, size_t size)
{
    unsigned n = (unsigned)(PACKED_MAX - packed->size);
    assert_int_equal(BZ2_bzBuffToBuffCompress((char *)packed->bytes + packed->size, &n,
                                              (char *)(uintptr_t)text, (unsigned)size, 1, 0, 0),
                     BZ_OK);
    packed->size += n;
}

static void add_lz4(struct packed *packed, const void *text, size_t size)
{
    const LZ4F_preferences_t checked = {
        .frameInfo = {.contentChecksumFlag = LZ4F_contentChecksumEnabled}};
    size_t n = LZ4F_compressFrame(packed->bytes + packed->size, PACKED_MAX - packed->size, text,
                                  size, &checked);
    assert_false(LZ4F_isError(n));
    packed->size += n;
}

static void add(struct packed *packed, const void *text, size_t size)
{
    switch (packed->codec) {
    case TEXT_CODEC_BZIP2: add_bzip2(packed, text, size); break;
    case TEXT_CODEC_LZ4: add_lz4(packed, text, size); break;
    case TEXT_CODEC_GZIP: add_gzip(packed, text, size); break;
    case TEXT_CODEC_XZ: add_xz(packed, text, size); break;
    default: add_zstd(packed, text, size); break;
    }
}

/* Words, with some that are not ASCII; never two documents the same. */
static size_t make_text(char *text, size_t room)
{
    static unsigned seed = 1;
    size_t size = 0;
    while (size + 32 < room)
        size += (size_t)snprintf(text + size, room - size, "%s%x%s", rand_r(&seed) % 9 ? "" : "é",
                                 rand_r(&seed), rand_r(&seed) % 2 ? " " : ", ");
    return size;
}

static void expect(const struct packed *packed, const char *tokens, bool damaged)
{
    for (size_t i = 0; i < N_PIECES; i++) {
        struct canonical found = canonical_of(packed->bytes, packed->size, pieces[i]);
        assert_string_equal(found.text, tokens);
        assert_int_equal(found.form.codec, packed->codec);
        assert_int_equal(found.form.damaged, damaged);
        assert_false(found.form.cut);
        canonical_done(&found);
    }
}

static void test_decoder__packed_text_has_the_tokens_of_the_text(void **state)
{
    (void)state;
    static const size_t sizes[] = {40, 1000, 8192, 16 * 1024 + 33, 100000};
    static char text[100000];
    static struct packed packed;
    for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            size_t size = make_text(text, sizes[i]);
            struct canonical plain = canonical_of(text, size, 0);
            assert_true(plain.size > 0);
            packed = (struct packed){.codec = codec};
            add(&packed, text, size);
            expect(&packed, plain.text, false);
            /* Two members, or frames, are the text twice. */
            add(&packed, text, size);
            char *twice = NULL;
            assert_true(asprintf(&twice, "%s%s", plain.text, plain.text) > 0);
            text[size - 1] = ' ';
            expect(&packed, twice, false);
            free(twice);
            canonical_done(&plain);
        }
    }
}

/* What there is when a piece ends may fill the decoder's buffer to the last byte. */
static void test_decoder__output_that_just_fills_the_buffer_is_whole(void **state)
{
    (void)state;
    enum { BUFFER_BYTES = 16 * 1024, N_BUFFERS = 24 };
    static char text[N_BUFFERS * BUFFER_BYTES];
    static struct packed packed;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 8 ? 'x' : ' ';
    for (size_t size = BUFFER_BYTES; size <= sizeof(text); size += 23 * BUFFER_BYTES) {
        struct canonical plain = canonical_of(text, size, 0);
        for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
            packed = (struct packed){.codec = codec};
            add(&packed, text, size);
            expect(&packed, plain.text, false);
        }
        canonical_done(&plain);
    }
}

static void test_decoder__empty_members_and_padding_are_nothing(void **state)
{
    (void)state;
    static struct packed packed;
    for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
        packed = (struct packed){.codec = codec};
        add(&packed, "", 0);
        expect(&packed, "", false);
        add(&packed, "one ", 4);
        add(&packed, "", 0);
        add(&packed, "two", 3);
        expect(&packed, "one two ", false);
        if (codec == TEXT_CODEC_ZSTD || codec == TEXT_CODEC_LZ4)
            continue;
        memset(packed.bytes + packed.size, 0, 512);
        packed.size += 512;
        expect(&packed, "one two ", false);
    }
}

/* Cut short anywhere: what came before counts, and is said to be not all. */
static void test_decoder__what_is_cut_short_is_a_beginning(void **state)
{
    (void)state;
    static char text[2000];
    static struct packed packed;
    size_t size = make_text(text, sizeof(text));
    struct canonical plain = canonical_of(text, size, 0);
    for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
        packed = (struct packed){.codec = codec};
        add(&packed, text, size);
        for (size_t n = 6; n < packed.size; n++) {
            struct canonical found = canonical_of(packed.bytes, n, n % 3 ? 0 : 1 << 20);
            assert_true(found.form.damaged);
            assert_int_equal(found.form.codec, codec);
            /* The last word may be half of one, and a character half of one. */
            size_t common = found.size;
            while (common > 0 && memcmp(found.text, plain.text, common) != 0)
                common--;
            assert_true(found.size - common < 8);
            canonical_done(&found);
        }
    }
    canonical_done(&plain);
}

/* Of what was packed twice all may be there but the sum behind it. */
static void test_decoder__damage_of_the_outer_packing_is_told(void **state)
{
    (void)state;
    static struct packed once, twice;
    once = (struct packed){.codec = TEXT_CODEC_GZIP};
    add(&once, "packed words", 12);
    twice = (struct packed){.codec = TEXT_CODEC_GZIP};
    add(&twice, once.bytes, once.size);
    twice.bytes[twice.size - 8] ^= 1;
    expect(&twice, "packed words ", true);
}

static void test_decoder__damage_is_told_and_does_not_depend_on_the_pieces(void **state)
{
    (void)state;
    static char text[20000];
    static struct packed packed;
    unsigned seed = 3, n_damaged = 0;
    for (unsigned round = 0; round < 200; round++) {
        size_t size = make_text(text, sizeof(text));
        packed = (struct packed){.codec = TEXT_CODEC_GZIP + round % (TEXT_N_CODECS - 1)};
        add(&packed, text, size);
        packed.bytes[6 + (size_t)rand_r(&seed) % (packed.size - 6)] ^=
            (uint8_t)(1 + rand_r(&seed) % 255);
        struct canonical whole = canonical_of(packed.bytes, packed.size, 1 << 20);
        struct canonical parts = canonical_of(packed.bytes, packed.size, 0);
        assert_string_equal(whole.text, parts.text);
        assert_int_equal(whole.form.damaged, parts.form.damaged);
        n_damaged += packed.codec != TEXT_CODEC_ZSTD && whole.form.damaged;
        canonical_done(&whole);
        canonical_done(&parts);
    }
    /* Of 160: gzip's header has bytes that nothing checks. (zstd checks nothing unless told to.) */
    assert_true(n_damaged > 145);
}

static void test_decoder__packed_twice_is_text_and_three_times_binary(void **state)
{
    (void)state;
    static struct packed once, twice, thrice;
    once = (struct packed){.codec = TEXT_CODEC_ZSTD};
    add(&once, "packed words", 12);
    twice = (struct packed){.codec = TEXT_CODEC_XZ};
    add(&twice, once.bytes, once.size);
    expect(&twice, "packed words ", false);
    thrice = (struct packed){.codec = TEXT_CODEC_GZIP};
    add(&thrice, twice.bytes, twice.size);
    struct canonical found = canonical_of(thrice.bytes, thrice.size, 0);
    assert_int_equal(found.form.type, TEXT_BINARY);
    assert_int_equal(found.form.codec, TEXT_CODEC_GZIP);
    canonical_done(&found);
}

static void test_decoder__markup_inside_is_seen(void **state)
{
    (void)state;
    static struct packed packed;
    packed = (struct packed){.codec = TEXT_CODEC_GZIP};
    add(&packed, "<html><b>x</b> y", 16);
    expect(&packed, "x y ", false);
    struct canonical found = canonical_of(packed.bytes, packed.size, 0);
    char form[TEXT_FORM_MAX_BYTES];
    text_form_print(&found.form, form);
    assert_string_equal(form, "html, gzip");
    canonical_done(&found);
}

/* -- limits -- */

static void count(void *user, const uint8_t *bytes, size_t size)
{
    (void)bytes;
    *(uint64_t *)user += size;
}

static void test_decoder__a_bomb_is_cut(void **state)
{
    (void)state;
    static uint8_t zeros[1 << 20];
    static struct packed packed; /* a MiB of zeros */
    packed = (struct packed){.codec = TEXT_CODEC_ZSTD};
    add(&packed, zeros, sizeof(zeros));
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
static void test_decoder__many_small_members_are_cut(void **state)
{
    (void)state;
    static struct packed members[2];
    bool cut;
    const unsigned n_codecs = part_of(TEXT_N_CODECS - 1);
    for (unsigned codec = TEXT_CODEC_GZIP; codec < TEXT_CODEC_GZIP + n_codecs; codec++) {
        if (codec == TEXT_CODEC_XZ)
            continue;
        members[0] = members[1] = (struct packed){.codec = codec};
        add(&members[0], "a", 1);
        add(&members[1], "", 0);
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

static void test_decoder__blocks_of_a_member_count_by_their_number(void **state)
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
    const size_t size = make_text(text, sizeof(text));
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
        const unsigned n = codecs[i].n_blocks, least = (n - NOT_TOLD) * codecs[i].block_counts;
        packed = (struct packed){.codec = codecs[i].codec};
        add_blocks(&packed, n);
        for (size_t k = 0; k < N_PIECES; k++) {
            const struct counted found = unpack_in_pieces(&packed, pieces[k] ? pieces[k] : 3);
            assert_int_equal(found.n_out, n);
            assert_in_range(found.n_besides, least, 3 * least);
        }
    }
    /* Those that packers write are large, and count as what is in them. */
    for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
        packed = (struct packed){.codec = codec};
        add(&packed, text, size);
        const struct counted found = unpack_in_pieces(&packed, 1 << 16);
        assert_int_equal(found.n_out, size);
        if (codec != TEXT_CODEC_XZ)
            assert_in_range(found.n_besides, 0, size / 20);
    }
}

/* As bgzip(1) and pigz(1) make them: they count as what is in them. */
static void test_decoder__many_large_members_are_whole(void **state)
{
    (void)state;
    enum { MEMBER = 512 << 10, MEMBERS = DECODER_OUTPUT_MAX_BYTES / MEMBER };
    static const uint8_t zeros[MEMBER];
    static struct packed members[2];
    bool cut;
    members[0] = (struct packed){.codec = TEXT_CODEC_GZIP};
    add(&members[0], zeros, sizeof(zeros));
    members[1] = members[0];
    assert_true(unpack_members(members, MEMBERS + 1, &cut) == DECODER_OUTPUT_MAX_BYTES);
    assert_true(cut);
}

/* An xz block whose header asks for a dictionary of 1 << log bytes. */
static void add_xz_of(struct packed *packed, unsigned log)
{
    enum { HEADER = 12 };
    *packed = (struct packed){.codec = TEXT_CODEC_XZ};
    add(packed, "word", 4);
    size_t header_bytes = 4 * (packed->bytes[HEADER] + 1u);
    uint8_t *dictionary = memmem(packed->bytes + HEADER, header_bytes, "\x21\x01", 2);
    assert_non_null(dictionary);
    dictionary[2] = (uint8_t)(2 * (log - 12)); /* 2 << (this / 2 + 11) */
    uint32_t crc = lzma_crc32(packed->bytes + HEADER, header_bytes - 4, 0);
    for (int i = 0; i < 4; i++)
        packed->bytes[HEADER + header_bytes - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
}

static void test_decoder__what_wants_too_much_memory_is_cut(void **state)
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
static void test_decoder__many_dictionaries_are_cut(void **state)
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
static void test_decoder__members_count_as_unpacked(void **state)
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
        add(&packed, "", 0);
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
static void test_decoder__what_took_much_memory_leaves_little(void **state)
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
        cmocka_unit_test(test_decoder__packed_text_has_the_tokens_of_the_text),
        cmocka_unit_test(test_decoder__output_that_just_fills_the_buffer_is_whole),
        cmocka_unit_test(test_decoder__empty_members_and_padding_are_nothing),
        cmocka_unit_test(test_decoder__what_is_cut_short_is_a_beginning),
        cmocka_unit_test(test_decoder__damage_of_the_outer_packing_is_told),
        cmocka_unit_test(test_decoder__damage_is_told_and_does_not_depend_on_the_pieces),
        cmocka_unit_test(test_decoder__packed_twice_is_text_and_three_times_binary),
        cmocka_unit_test(test_decoder__markup_inside_is_seen),
        cmocka_unit_test(test_decoder__a_bomb_is_cut),
        cmocka_unit_test(test_decoder__many_small_members_are_cut),
        cmocka_unit_test(test_decoder__blocks_of_a_member_count_by_their_number),
        cmocka_unit_test(test_decoder__many_large_members_are_whole),
        cmocka_unit_test(test_decoder__many_dictionaries_are_cut),
        cmocka_unit_test(test_decoder__members_count_as_unpacked),
        cmocka_unit_test(test_decoder__what_wants_too_much_memory_is_cut),
        cmocka_unit_test(test_decoder__what_took_much_memory_leaves_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
