/* Bytes of a file stand in a buffer, of which lines are handed out where they are; what is left of
 * the last one goes to its beginning before more is read behind it.
 *
 * Example of parts of at most 4 bytes: "ab\ncdefgh\n" gives "ab\n", "cdef" (begins), "gh\n" (ends).
 *
 * Cost: each byte is looked at once for the newline. Memory: twice the longest part and what
 * one step of a decoder puts out; after a long line the buffer is as it was. */
#include "tools/documents/file_lines.h"

#include <errno.h>
#include <string.h>

#include "base/files/fd_whole.h"
#include "base/room.h"
#include "engine/text/encoding/decoder.h"

enum {
    READ_BYTES = 256 * 1024,
    PACKED_BYTES = 4096, /* what is unpacked of so many may be a thousand times as long */
    KEPT_BYTES = 4 << 20,
};

struct file_lines {
    size_t most_bytes, padding;
    struct fd_whole file;
    bool ended;                        /* all of the file is in the buffer */
    bool inside;                       /* of a line, parts of which were handed out */
    int error;                         /* told behind the lines before it */
    struct decoder *decoder;           /* NULL: never needed */
    bool packed;                       /* the file is */
    uint8_t *bytes;                    /* begin .. end are to be handed out */
    size_t room, begin, end, n_looked; /* n_looked bytes from begin on have no newline */
};

static bool make_room(struct file_lines *reader, size_t n_more)
{
    return MAKE_ROOM(reader->bytes, reader->room, reader->end + n_more + reader->padding);
}

static void take_unpacked(void *user, const uint8_t *bytes, size_t n_bytes)
{
    struct file_lines *reader = user;
    if (!make_room(reader, n_bytes)) {
        reader->error = -ENOMEM;
        decoder_stop(reader->decoder);
        return;
    }
    memcpy(reader->bytes + reader->end, bytes, n_bytes);
    reader->end += n_bytes;
}

struct file_lines *file_lines_new(size_t most_bytes, size_t padding)
{
    struct file_lines *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return NULL;
    reader->most_bytes = most_bytes;
    reader->padding = padding;
    return reader;
}

void file_lines_free(struct file_lines *reader)
{
    if (!reader)
        return;
    decoder_free(reader->decoder);
    free(reader->bytes);
    free(reader);
}

int file_lines_begin(struct file_lines *reader, int fd, bool is_zstd)
{
    uint8_t head[8];
    reader->ended = reader->inside = false;
    reader->begin = reader->end = reader->n_looked = 0;
    reader->error = 0;
    int r = fd_whole_begin(&reader->file, fd);
    ssize_t n = r < 0 ? r : fd_whole_read(&reader->file, head, sizeof(head));
    if (n < 0)
        return (int)n;
    reader->file.at = 0;
    const enum text_codec codec =
        is_zstd && n > 0 ? TEXT_CODEC_ZSTD : decoder_sniff(head, (size_t)n);
    reader->packed = codec != TEXT_CODEC_NONE;
    if (!reader->packed)
        return 0;
    if (!reader->decoder)
        reader->decoder = decoder_new(&(struct byte_sink){.bytes = take_unpacked, .user = reader});
    if (!reader->decoder)
        return -ENOMEM;
    decoder_begin_whole(reader->decoder, codec);
    return 0;
}

static ssize_t fill_plain(struct file_lines *reader)
{
    if (!make_room(reader, READ_BYTES))
        return -ENOMEM;
    ssize_t n = fd_whole_read(&reader->file, reader->bytes + reader->end, READ_BYTES);
    reader->end += n > 0 ? (size_t)n : 0;
    return n;
}

static ssize_t fill_packed(struct file_lines *reader)
{
    uint8_t packed[PACKED_BYTES];
    ssize_t n = fd_whole_read(&reader->file, packed, sizeof(packed));
    if (n > 0)
        decoder_feed(reader->decoder, packed, (size_t)n);
    if (n != 0 || reader->error)
        return reader->error ? reader->error : n;
    bool damaged, cut;
    decoder_finish(reader->decoder, &damaged, &cut);
    return reader->error ? reader->error : cut ? -EFBIG : damaged ? -EBADMSG : 0;
}

/* More of the file, behind what is left in the buffer. */
static void fill(struct file_lines *reader)
{
    size_t n_left = reader->end - reader->begin;
    if (n_left > 0 && reader->begin > 0)
        memmove(reader->bytes, reader->bytes + reader->begin, n_left);
    reader->begin = 0;
    reader->end = n_left;
    if (reader->room > KEPT_BYTES && n_left < KEPT_BYTES / 4) {
        uint8_t *smaller = realloc(reader->bytes, KEPT_BYTES / 2 + reader->padding);
        reader->room = smaller ? KEPT_BYTES / 2 + reader->padding : reader->room;
        reader->bytes = smaller ? smaller : reader->bytes;
    }
    ssize_t n = reader->packed ? fill_packed(reader) : fill_plain(reader);
    reader->error = n < 0 ? (int)n : 0;
    reader->ended = n <= 0;
}

static int hand_out(struct file_lines *reader, size_t n_bytes, bool ends,
                    struct file_line *ret_line)
{
    *ret_line = (struct file_line){reader->bytes + reader->begin, n_bytes, !reader->inside, ends};
    reader->begin += n_bytes;
    reader->n_looked = 0;
    reader->inside = !ends;
    return 1;
}

int file_lines_next(struct file_lines *reader, struct file_line *ret_line)
{
    for (;;) {
        size_t n = reader->end - reader->begin;
        const size_t most = reader->most_bytes;
        const uint8_t *from = reader->bytes + reader->begin;
        const size_t looked = reader->n_looked, n_here = n < most ? n : most;
        const uint8_t *newline =
            n_here > looked ? memchr(from + looked, '\n', n_here - looked) : NULL;
        if (newline)
            return hand_out(reader, (size_t)(newline - from) + 1, true, ret_line);
        if (n > most)
            return hand_out(reader, most, false, ret_line);
        reader->n_looked = n;
        if (reader->ended && reader->error)
            return reader->error;
        if (reader->ended)
            return n > 0 ? hand_out(reader, n, true, ret_line) : 0;
        fill(reader);
    }
}
