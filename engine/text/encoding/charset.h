/* The bytes of a text to UTF-8, streaming. Private to engine/text.
 *
 * A head of UTF-16 or UTF-32 counts first (wide.h), and a byte order mark of UTF-8; then the
 * charset that the document declares; then its bytes: up to the first byte that is not ASCII there
 * is nothing to tell, and from there CHARSET_WINDOW_BYTES are looked at. If they are well-formed
 * UTF-8, or more of their sequences are than are not, the text is UTF-8; else it is in the charset
 * that libuchardet guesses from these bytes (charset_guess.h), and Windows-1252 (of which Latin-1
 * is a part, for every character that is a letter) where that cannot tell. Text that is taken for
 * another charset than its own becomes words of the wrong letters.
 */
#ifndef KINFS_ENGINE_TEXT_ENCODING_CHARSET_H
#define KINFS_ENGINE_TEXT_ENCODING_CHARSET_H

#include "engine/text/encoding/charset_guess.h"
#include "engine/text/encoding/converters.h"
#include "engine/text/encoding/decoder.h"

enum { CHARSET_WINDOW_BYTES = 4096, CHARSET_OUT_BYTES = 4096 };

struct charset {
    struct byte_sink sink;
    enum text_charset charset; /* TEXT_CHARSET_ASCII: nothing has told yet */
    struct converters converters;
    iconv_t iconv; /* of the declared or guessed charset, one of the converters */
    struct charset_guesser guesser;
    uint32_t surrogate; /* the first half of a UTF-16 pair, or 0 */
    uint32_t n_first, n_window, n_out;
    uint8_t first[CHARSET_GUESS_BYTES];   /* bytes gathered before the charset is decided */
    uint8_t window[CHARSET_WINDOW_BYTES]; /* the rest of a character, and bytes behind it */
    uint8_t out[CHARSET_OUT_BYTES];
};

/* charset is zeroed memory. */
void charset_init(struct charset *charset, const struct byte_sink *sink);
void charset_done(struct charset *charset);

/* Begins another document, of one text or many; the first one need not be begun. */
void charset_document(struct charset *charset);

/* Begin a text.
 *
 * head      the first bytes, which are fed later with the others
 * declared  the name of a charset, or NULL; unknown names, and more than CONVERTERS_MAX
 *           of one document, count for nothing
 */
void charset_begin(struct charset *charset, const uint8_t *head, size_t head_bytes,
                   const char *declared);
void charset_feed(struct charset *charset, const uint8_t *bytes, size_t size_bytes);
/* Returns the charset that the text was in. */
enum text_charset charset_finish(struct charset *charset);

/* The charset that an HTML or XML document declares among its first bytes: <?xml encoding="...">,
 * <meta charset=...>, <meta ... content="...; charset=...">. false when it declares none. */
bool charset_declared(const uint8_t *head, size_t head_bytes, char ret_name[CHARSET_NAME_MAX + 1]);

/* The character that a byte is in Windows-1252. */
uint32_t charset_windows_1252(uint8_t byte);

#endif
