#include "tools/documents/document_links.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/files/fd_whole.h"
#include "base/room.h"

/* A byte more than is read of a document, by which a longer one is known. */
enum { MOST_BYTES = LINKS_MOST_BYTES + 1, PIECE_BYTES = 64 << 10 };

int document_links_read(int fd, const char *name, const struct link_sink *sink, bool *ret_cut)
{
    _cleanup_free_ uint8_t *bytes = NULL;
    size_t n = 0, room = 0;
    struct fd_whole whole;
    int r = fd_whole_begin(&whole, fd);
    for (ssize_t n_read = 1; r == 0 && n_read > 0 && n < MOST_BYTES; n += (size_t)n_read) {
        const size_t piece = MOST_BYTES - n < PIECE_BYTES ? MOST_BYTES - n : PIECE_BYTES;
        if (!MAKE_ROOM(bytes, room, n + piece))
            return -ENOMEM;
        n_read = fd_whole_read(&whole, bytes + n, piece);
        if (n_read < 0)
            return (int)n_read;
    }
    return r < 0 ? r : links_read(bytes, n, name, sink, ret_cut);
}
