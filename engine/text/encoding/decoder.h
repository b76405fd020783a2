/* Decompression, streaming: gzip (RFC 1952), xz, zstd (RFC 8878), bzip2 and lz4 (its frames), by
 * their libraries, with all members or frames that are one after the other. Private to engine/text,
 * and to what reads the lines of a corpus (tools/documents/file_lines.c). */
#ifndef KINFS_ENGINE_TEXT_ENCODING_DECODER_H
#define KINFS_ENGINE_TEXT_ENCODING_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/text/type.h"

enum {
    DECODER_MEMORY_MAX_BYTES = 128 << 20, /* enough for `xz -9` and `zstd --long`, and no more */
    DECODER_KEPT_MAX_BYTES = 4 << 20,     /* kept by a decoder between documents */
};

/* The most bytes that are unpacked: the rest is cut off, which bounds time whatever the input is.
 */
#define DECODER_OUTPUT_MAX_BYTES ((uint64_t)1 << 30)

/* Each member or frame, and each block in one, counts as so many bytes at least, and so does
 * whatever liblzma allocates memory for: a block, and its dictionary where that is of another size.
 * They take up to some ten microseconds each, however little comes out of them: as long as some KiB
 * of text. Members and blocks of what packers write (16 KiB of gzip, 64 of bgzip, 900 kB of pbzip2)
 * hold more, so that they count by what is in them; but for blocks of bzip2, which count so much
 * besides, and those of lz4, which take less. Of the memory a share counts besides, as there may be
 * time to clear it. What is in a block of xz counts as so many times what it takes, at least. */
enum { DECODER_PART_BYTES = 4 << 10, DECODER_MEMORY_SHARE = 16, DECODER_XZ_TIMES = 8 };

/* The receiver of bytes. */
struct byte_sink {
    void (*bytes)(void *user, const uint8_t *bytes, size_t size_bytes);
    void *user;
    /* So much counts as unpacked besides, of small members; NULL: not wanted. Of decoders only. */
    void (*besides)(void *user, uint64_t n_bytes);
};

/* The codec of a document with this head; TEXT_CODEC_NONE when it is not compressed. */
enum text_codec decoder_sniff(const uint8_t *head, size_t size_bytes);

struct decoder;

/* Returns NULL when there is no memory. sink is copied. */
struct decoder *decoder_new(const struct byte_sink *sink);
void decoder_free(struct decoder *decoder);
DEFINE_CLEANUP(struct decoder *, decoder_free);

/* codec is not TEXT_CODEC_NONE. The libraries allocate here, and while they learn what they are to
 * decode, up to DECODER_MEMORY_MAX_BYTES. */
void decoder_begin(struct decoder *decoder, enum text_codec codec);
/* The same of a file that is unpacked however much is in it, and in which nothing may be passed
 * over: other bytes than zeroes behind the last member are a damage. */
void decoder_begin_whole(struct decoder *decoder, enum text_codec codec);
void decoder_feed(struct decoder *decoder, const uint8_t *bytes, size_t size_bytes);

/* Stops decoding: bytes that are fed from now on are passed over. The sink may call it. */
void decoder_stop(struct decoder *decoder);

/* Gives back memory of the libraries, of which at most DECODER_KEPT_MAX_BYTES is kept for the next
 * document. Not called while something is decoded. */
void decoder_rest(struct decoder *decoder);

/* No more bytes come. *ret_damaged: something could not be decoded, or bytes are missing; *ret_cut:
 * there was more than counts as DECODER_OUTPUT_MAX_BYTES, or the library would need more memory
 * than it may have. Bytes that were handed out before stay valid. */
void decoder_finish(struct decoder *decoder, bool *ret_damaged, bool *ret_cut);

#endif
