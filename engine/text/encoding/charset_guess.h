/* The charset of a text by its bytes, as libuchardet tells it. Private to engine/text.
 *
 * libuchardet is C++, and takes the memory of its models, some hundred KB that no text makes more,
 * at the first guesses of a guesser. Where there is none it ends the program, as RocksDB does. */
#ifndef KINFS_ENGINE_TEXT_ENCODING_CHARSET_GUESS_H
#define KINFS_ENGINE_TEXT_ENCODING_CHARSET_GUESS_H

#include <stddef.h>
#include <stdint.h>

struct uchardet;

enum {
    CHARSET_GUESS_BYTES = 64 * 1024,    /* of a text, as many are looked at */
    CHARSET_GUESSES_BYTES = 256 * 1024, /* of the texts of one document; the last may go past it */
};

struct charset_guesser {
    struct uchardet *detector; /* NULL: none was needed yet */
    size_t n_bytes;            /* that were looked at of this document */
    const char *found;         /* the last */
};

/* Begins another document. The guesser is zeroed memory before the first one. */
void charset_guess_begin(struct charset_guesser *guesser);
void charset_guess_done(struct charset_guesser *guesser);

/* The name that iconv has for the charset of a text, which is not UTF-8, from its first character
 * on that is not ASCII; NULL where it is Windows-1252 or there is too little to tell. It is valid
 * until the next guess. Behind CHARSET_GUESSES_BYTES of a document a further text is taken to be as
 * the last.
 *
 * Up to half a microsecond for a byte, of few as of many.
 */
const char *charset_guess(struct charset_guesser *guesser, const uint8_t *bytes, size_t size_bytes);

#endif
