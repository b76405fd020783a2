/* The bytes of a text to UTF-8, streaming. Private to engine/text.
 *
 * What a byte order mark says counts first (UTF-8, UTF-16), then what the document declares, then
 * what its bytes are: up to the first byte that is not ASCII there is nothing to tell, and from
 * there CHARSET_WINDOW_BYTES are looked at. If they are well-formed UTF-8, or more of their
 * sequences are than are not, it is UTF-8; else Windows-1252 (of which Latin-1 is a part, for every
 * character that is a letter). Text in another charset that declares none so becomes words of the
 * wrong letters, but the same ones in every document that has it.
 */
#ifndef KINFS_ENGINE_TEXT_CHARSET_H
#define KINFS_ENGINE_TEXT_CHARSET_H

#include <iconv.h>

#include "engine/text/decoder.h"

enum { CHARSET_WINDOW_BYTES = 4096, CHARSET_NAME_MAX = 31, CHARSET_OUT_BYTES = 4096 };

struct charset {
    struct byte_sink sink;
    enum text_charset charset;       /* TEXT_CHARSET_ASCII: nothing has told yet */
    iconv_t iconv;                   /* (iconv_t)-1: none */
    char name[CHARSET_NAME_MAX + 1]; /* what iconv is for */
    uint32_t surrogate;              /* the first half of a UTF-16 pair, or 0 */
    uint32_t n_window, n_out;
    uint8_t window[CHARSET_WINDOW_BYTES]; /* also of what is left of a character, for iconv */
    uint8_t out[CHARSET_OUT_BYTES];
};

/* charset is zeroed memory. */
void charset_init(struct charset *charset, const struct byte_sink *sink);
void charset_done(struct charset *charset);

/* Begin a text.
 *
 * head      the first bytes, which are fed later with the others
 * declared  the name of a charset, or NULL; names that nobody knows count for nothing
 */
void charset_begin(struct charset *charset, const uint8_t *head, size_t head_bytes,
                   const char *declared);
void charset_feed(struct charset *charset, const uint8_t *bytes, size_t size_bytes);
/* Returns what it was. */
enum text_charset charset_finish(struct charset *charset);

/* The charset that an HTML or XML document declares among its first bytes: <?xml encoding="...">,
 * <meta charset=...>, <meta ... content="...; charset=...">. false when it declares none. */
bool charset_declared(const uint8_t *head, size_t head_bytes, char ret_name[CHARSET_NAME_MAX + 1]);

/* The character that a byte is in Windows-1252. */
uint32_t charset_windows_1252(uint8_t byte);

#endif
