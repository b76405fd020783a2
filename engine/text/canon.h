/* Canonical form: the bytes of a document to its sequence of canonical tokens.
 *
 * What the canonical form keeps is words in their order; what it drops is layout, letter case,
 * punctuation and, in HTML, markup, comments, scripts and styles. Two documents with the same
 * canonical form are *lexically equivalent* (Broder et al. 1997, sections 2 and 5.2).
 *
 * A token is a maximal run of word characters (Unicode letters, marks, numbers and the underscore),
 * case folded, in UTF-8; a Han, Hiragana or Katakana character is a token of its own. A run longer
 * than CANON_TOKEN_MAX_BYTES is cut there into several tokens. Malformed bytes separate words.
 */
#ifndef KINFS_ENGINE_TEXT_CANON_H
#define KINFS_ENGINE_TEXT_CANON_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum { CANON_SNIFF_BYTES = 8192, CANON_TOKEN_MAX_BYTES = 256 };

enum text_type {
    TEXT_PLAIN,
    TEXT_HTML,
    TEXT_BINARY, /* has no canonical form */
};

/* What kind of document begins with these bytes: binary when there is a NUL among the first
 * CANON_SNIFF_BYTES, HTML by its first markup. Pass the first min(size, CANON_SNIFF_BYTES) bytes of
 * the document. Any thread.
 */
enum text_type text_sniff(const void *head, size_t size_bytes);
const char *text_type_name(enum text_type type); /* "text", "html", "binary" */

/* Some consecutive tokens: token i is bytes[ends[i-1] .. ends[i]), with ends[-1] taken as 0; none
 * is empty. The TOKEN_BLOCK_SLACK_BYTES behind the last token may be read (of any value), so that
 * the words of a token can be loaded whole. */
enum { TOKEN_BLOCK_SLACK_BYTES = 8, TOKEN_BLOCK_MAX = 1024 };
struct token_block {
    const uint8_t *bytes;
    const uint32_t *ends;
    size_t n_tokens; /* 1 to TOKEN_BLOCK_MAX */
};

/* Called with each block in order; the block is valid during the call. */
typedef void (*token_block_fn)(void *user, const struct token_block *block);

struct canon;

/* Prepare to canonicalise documents.
 *
 * tokens, user  where the tokens go
 * ret_canon     gives
 *
 * Returns 0 or -ENOMEM. The only allocation: feeding needs fixed memory whatever the document.
 */
int canon_new(token_block_fn tokens, void *user, struct canon **ret_canon);
void canon_free(struct canon *canon);
DEFINE_CLEANUP(struct canon *, canon_free);

/* Begin a document (any unfinished one is dropped). type is not TEXT_BINARY. */
void canon_begin(struct canon *canon, enum text_type type);

/* The next bytes of it, any number; where the document is cut into calls makes no difference. */
void canon_feed(struct canon *canon, const void *bytes, size_t size_bytes);

/* No more bytes: the last tokens are handed out before this returns. */
void canon_finish(struct canon *canon);

#endif
