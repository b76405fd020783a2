/* Mail (RFC 5322, MIME: RFC 2045 to 2047), a message or a mailbox of them (mbox), to the text of
 * its subjects and readable parts; private to engine/text.
 *
 * mail.c         messages, parts and which of them are read
 * mail_header.c  header fields
 * mail_body.c    the encodings of parts
 * mail_sniff.c   tells mail from other texts
 */
#ifndef KINFS_ENGINE_TEXT_FORMATS_MAIL_H
#define KINFS_ENGINE_TEXT_FORMATS_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/encoding/charset.h"
#include "engine/text/html/html.h"
#include "engine/text/formats/line.h"
#include "engine/text/words/words.h"

enum {
    MAIL_HEADER_MAX_BYTES = 4096, /* of a longer one the rest is dropped */
    MAIL_BOUNDARY_MAX_BYTES = 70, /* RFC 2046, 5.1.1 */
    MAIL_DEPTH_MAX = 8,           /* parts that are nested deeper are dropped */
    MAIL_DECODED_BYTES = 1024,
};

enum mail_state { MAIL_HEADERS, MAIL_BODY, MAIL_DROPPED };

enum mail_type { MAIL_TEXT, MAIL_HTML, MAIL_MULTIPART, MAIL_MESSAGE, MAIL_OTHER };

enum mail_encoding { MAIL_IDENTITY, MAIL_QUOTED_PRINTABLE, MAIL_BASE64, MAIL_UNKNOWN };

/* The properties of a part, by its header. */
struct mail_part {
    enum mail_type type;
    enum mail_encoding encoding;
    bool alternative, digest, attachment;
    uint8_t n_boundary;
    char charset[CHARSET_NAME_MAX + 1];
    char boundary[MAIL_BOUNDARY_MAX_BYTES];
};

/* A multipart that is open. */
struct mail_level {
    bool alternative, digest;
    bool taken;   /* one of its parts was read */
    bool dropped; /* its present part is not to be read */
    uint8_t n_boundary;
    char boundary[MAIL_BOUNDARY_MAX_BYTES];
};

struct mail {
    struct words *words;
    struct html *html;
    bool tags; /* of HTML are wanted */
    struct charset charset;
    bool is_html; /* the text that the charset hands out is HTML */

    bool began, is_mailbox;
    bool after_empty; /* the line before was empty */
    enum mail_state state;
    struct mail_part part;
    uint32_t depth;
    struct mail_level levels[MAIL_DEPTH_MAX];

    uint32_t bits, n_bits; /* of base64, not yet bytes */
    uint32_t n_decoded, n_header;
    uint8_t decoded[MAIL_DECODED_BYTES];
    uint8_t header[MAIL_HEADER_MAX_BYTES]; /* the field that may go on in the next line */
    struct line_reader reader;
};

/* A mailbox, or a message that begins with its header, in which there are a sender and a date or
 * their like. */
bool mail_sniff(const uint8_t *head, size_t head_bytes);

/* mail is zeroed memory. Takes memory only for iconv. */
void mail_init(struct mail *mail);
void mail_done(struct mail *mail);

/* html, words: borrowed; html reads the parts that are HTML, whose tags are tokens if `tags`. */
void mail_begin(struct mail *mail, struct html *html, struct words *words, bool tags);
void mail_feed(struct mail *mail, const uint8_t *bytes, size_t size_bytes);
void mail_finish(struct mail *mail);

/* -- between the files of mail -- */

/* Reads the header field that was gathered. */
void mail_header_ends(struct mail *mail);

/* A text begins, in a charset of this name, or "" where its bytes decide; and ends. */
void mail_text_begins(struct mail *mail, const char *charset, bool is_html);
void mail_text_ends(struct mail *mail);
/* These put a byte of the text; a line, with its end when whole; the bytes that base64 stands for.
 */
void mail_put(struct mail *mail, uint8_t byte);
void mail_put_line(struct mail *mail, enum mail_encoding encoding, const struct line *line);
void mail_put_base64(struct mail *mail, const uint8_t *bytes, size_t n_bytes);
/* The byte that two hexadecimal digits stand for, -1 when they are none. */
int mail_hex(const uint8_t digits[2]);

#endif
