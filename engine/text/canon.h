/* Canonical form: the bytes of a document to its sequence of canonical tokens.
 *
 * The canonical form keeps words in their order; it drops layout, letter case, punctuation and, in
 * HTML, markup, comments, scripts and styles. Two documents with the same canonical form are
 * *lexically equivalent* (Broder et al. 1997, sections 2 and 5.2).
 *
 * A token is a maximal run of word characters (Unicode letters, marks, numbers and the underscore),
 * case folded, in UTF-8 and composed (NFC), with compatibility forms of letters folded and without
 * characters that have no width; in scripts that do not set words apart it is a character: in Han,
 * Hiragana and Katakana any, in Thai, Lao, Khmer and Burmese a letter with its marks (words.c has
 * it to the letter). A run longer than CANON_TOKEN_MAX_BYTES is cut there into several tokens.
 * Malformed bytes separate words.
 */
#ifndef KINFS_ENGINE_TEXT_CANON_H
#define KINFS_ENGINE_TEXT_CANON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/text/digest_key.h"
#include "engine/text/type.h"

enum { CANON_TOKEN_MAX_BYTES = 256 };

/* Some consecutive tokens: token i is bytes[ends[i-1] .. ends[i]), with ends[-1] taken as 0; none
 * is empty. The TOKEN_BLOCK_SLACK_BYTES behind the last token may be read (of any value), so that
 * tokens can be loaded by vectors. */
enum { TOKEN_BLOCK_SLACK_BYTES = 64, TOKEN_BLOCK_MAX = 1024 };
struct token_block {
    const uint8_t *bytes;
    const uint32_t *ends;
    size_t n_tokens; /* 1 to TOKEN_BLOCK_MAX */
};

/* A feature of a document without words: the digest of a chunk, a cell, a pair of cells or a line
 * (digest_key.h). */
struct feature {
    uint64_t low, high;
};

/* A link of an HTML document (a, area). Its text is the tokens [first, end) of the document,
 * counted from 0; a token that only begins or ends in it belongs to it. The title is a link of the
 * document to itself, with no bytes of href (as `<a href="">` has). */
enum { CANON_HREF_MAX_BYTES = 2048 }; /* a longer address makes no link */
struct canon_link {
    const char *href; /* as it stands there, references replaced; not NUL-terminated */
    size_t href_bytes;
    uint64_t first, end;
    bool title;
};

/* The receiver of the canonical form. A document has tokens or features, by its type. Arguments are
 * valid during the call. */
struct canon_sink {
    void (*tokens)(void *user, const struct token_block *block); /* in order */
    void (*features)(void *user, const struct feature *features, size_t n_features);
    void *user;
    /* Links come in the order of their ends; their last tokens may come later. NULL: not wanted. */
    void (*links)(void *user, const struct canon_link *link);
    /* Each tag of HTML and XML is a token too, "<p>" or "</p>", where its name has ended. Not
     * together with links. */
    bool tags;
    /* The text that the words are taken from, in UTF-8, without the markup and with a blank where
     * that separates, in pieces; and how many tokens have begun and have ended with this piece. A
     * piece ends behind white space, or where it would be long or the document's bytes end for now,
     * also within a character. NULL: not wanted. Not together with
     * links.
     */
    void (*text)(void *user, const uint8_t *bytes, size_t size_bytes, uint64_t n_begun,
                 uint64_t n_ended);
    /* A line of the document, unpacked and in UTF-8, has ended; so many tokens have begun, but
     * those that a filter keeps until it has seen more. NULL: not wanted. Not together with links.
     */
    void (*line)(void *user, uint64_t n_begun);
    /* Digests of the order of features, where these do not tell it themselves: two tables have the
     * digests in common as far as they are the same text. NULL: not wanted. */
    void (*order)(void *user, const struct feature *digests, size_t n_digests);
    const struct digest_key *key; /* of features; borrowed. NULL only where none are wanted */
};

struct canon;

/* Prepare to canonicalise documents.
 *
 * sink       copied, but for the key
 * ret_canon  gives
 *
 * Returns 0, -EINVAL (links are wanted together with tags, text or lines, or features without a
 * key) or -ENOMEM.
 */
int canon_new(const struct canon_sink *sink, struct canon **ret_canon);
void canon_free(struct canon *canon);

/* From the next document on links are wanted, as in the sink. Returns 0, or -EINVAL together with
 * tags, text or lines. */
int canon_want_links(struct canon *canon, void (*links)(void *user, const struct canon_link *link));
DEFINE_CLEANUP(struct canon *, canon_free);

/* True when a document that begins with this head (8 bytes, or all) is compressed; canon_feed()
 * then takes time and memory by its unpacked size. */
bool canon_is_packed(const void *head, size_t head_bytes);

/* Sets a function that is asked whether to go on, after each CANON_UNPACKED_STEP_BYTES that are
 * unpacked from a document.
 *
 * n_bytes  unpacked from this document so far; from one that is packed twice, at both levels;
 *          small members as DECODER_PART_BYTES
 *
 * When it returns false nothing more of the document is unpacked, and the document is cut. */
enum { CANON_UNPACKED_STEP_BYTES = 256 * 1024 };
void canon_on_unpacking(struct canon *canon, bool (*goes_on)(void *user, uint64_t n_bytes),
                        void *user);

/* Begin a document (any unfinished one is dropped, and the memory it took), whose form shows when
 * its first bytes are there; or one known to be of this type, not packed, and in UTF-8. Each line
 * of TEXT_EXTRACTED that is not empty is a feature; TEXT_PDF and TEXT_OFFICE are fed as the text
 * that an extractor made of them, TEXT_EPUB as HTML. type NULL: it is not known. */
void canon_begin(struct canon *canon);
void canon_begin_as(struct canon *canon, enum text_type type);
static inline void canon_begin_known(struct canon *canon, const enum text_type *type)
{
    if (type)
        canon_begin_as(canon, *type);
    else
        canon_begin(canon);
}

/* The next bytes of it, any number; where the document is cut into calls makes no difference. Takes
 * memory only from the libraries that unpack, and from iconv for a charset the document declares.
 */
void canon_feed(struct canon *canon, const void *bytes, size_t size_bytes);

/* No more bytes: the last tokens are handed out before this returns. */
void canon_finish(struct canon *canon, struct text_form *ret_form);

#endif
