/* A document's bytes to its sketch and its three fingerprints, streaming, in fixed memory. All
 * depend on the policy's key: nobody without it makes two documents of one fingerprint, and those
 * of two keys do not compare. (The one place where text and sketch meet.) */
#ifndef KINFS_ENGINE_SKETCH_DOCUMENTS_DOCUMENT_SKETCH_H
#define KINFS_ENGINE_SKETCH_DOCUMENTS_DOCUMENT_SKETCH_H

#include "engine/sketch/minima/min_sketch.h"
#include "engine/sketch/hash/shingle_hash.h"
#include "engine/text/canon.h"

enum { FINGERPRINT_BYTES = 16 };

struct document_sketch {
    struct text_form form;
    uint64_t size_bytes;                            /* bytes fed */
    uint8_t content_fingerprint[FINGERPRINT_BYTES]; /* of the bytes */
    uint8_t text_fingerprint[FINGERPRINT_BYTES]; /* of the canonical tokens, or features in order */
    uint8_t shingle_fingerprint[FINGERPRINT_BYTES]; /* of the sketch; zeroes when it is empty */
    struct min_sketch sketch;                       /* values are the sketcher's */
};

/* True when the fingerprint of the text is that of all the text, and there is any. Behind a cut or
 * a damage two documents could differ. */
static inline bool document_text_is_known(const struct text_form *form,
                                          const struct min_sketch *sketch)
{
    return sketch->n_values > 0 && !form->cut && !form->damaged;
}

/* The fingerprint by which documents are equal: that of the text where it is known, else that of
 * the content. Borrowed. */
static inline const uint8_t *document_equality(const struct document_sketch *document)
{
    return document_text_is_known(&document->form, &document->sketch)
               ? document->text_fingerprint
               : document->content_fingerprint;
}

/* The ways in which the text of a document comes to the sketcher. */
enum document_text {
    DOCUMENT_TEXT_IN_IT, /* as canon.h finds it in its bytes */
    DOCUMENT_TEXT_GIVEN, /* apart, UTF-8, of TEXT_EPUB HTML: document_sketcher_feed_text() */
    DOCUMENT_LINES_GIVEN /* apart, a feature a line */
};

struct document_sketcher; /* one per thread */

/* hash is borrowed and outlives the sketcher. Returns 0, -EINVAL, -ENOMEM. */
int document_sketcher_new(const struct policy *policy, const struct shingle_hash *hash,
                          struct document_sketcher **ret_sketcher);
void document_sketcher_free(struct document_sketcher *sketcher);
DEFINE_CLEANUP(struct document_sketcher *, document_sketcher_free);

/* Passed on to canon_on_unpacking(). */
void document_sketcher_on_unpacking(struct document_sketcher *sketcher,
                                    bool (*goes_on)(void *user, uint64_t n_bytes), void *user);

/* The fingerprints of all shingles of the documents that follow, as they come, those that come
 * again too: the set that the sketch is a sample of. */
void document_sketcher_on_shingles(struct document_sketcher *sketcher,
                                   void (*take)(void *user, const uint64_t *fingerprints, size_t n),
                                   void *user);

/* The fingerprints of all words of the documents that follow, as they come: of the canonical form,
 * without tags, and before any of them is left out or stemmed. Where some are each is fingerprinted
 * twice.
 *
 * begin  called when a document begins: what came before is to be forgotten
 * n      of the words, at most TOKEN_BLOCK_MAX */
struct document_words {
    void (*begin)(void *user);
    void (*take)(void *user, const uint64_t *fingerprints, size_t n);
    void *user;
};
void document_sketcher_on_words(struct document_sketcher *sketcher,
                                const struct document_words *words);

/* All tokens of the documents that follow, as they come and each with its fingerprint: of the
 * canonical form, before any is left out or stemmed, with tags, which begin with '<', where the
 * policy has them.
 *
 * begin  called when a document begins: what came before is to be forgotten */
struct document_tokens {
    void (*begin)(void *user);
    void (*take)(void *user, const struct token_block *block, const uint64_t *fingerprints);
    void *user;
};
void document_sketcher_on_tokens(struct document_sketcher *sketcher,
                                 const struct document_tokens *tokens);

/* The links of the documents that follow, as canon.h has them: their places are numbers of the
 * tokens above. Returns 0, or -EINVAL where the policy has tags. */
int document_sketcher_on_links(struct document_sketcher *sketcher,
                               void (*take)(void *user, const struct canon_link *link), void *user);

/* Begin a document; then feed its bytes in order, in pieces of any size; then finish. The result
 * does not depend on the pieces. ret_sketch->sketch.values stay valid until the next begin. */
void document_sketcher_begin(struct document_sketcher *sketcher);

/* A document whose text or features are given apart: begin; then feed its bytes, of which the
 * content fingerprint is made, and feed_text, in any order; then finish. The document is shown as
 * one of this type. */
void document_sketcher_begin_given(struct document_sketcher *sketcher, enum text_type type,
                                   enum document_text text);
void document_sketcher_feed_text(struct document_sketcher *sketcher, const void *bytes,
                                 size_t size_bytes);

void document_sketcher_feed(struct document_sketcher *sketcher, const void *bytes,
                            size_t size_bytes);
void document_sketcher_finish(struct document_sketcher *sketcher,
                              struct document_sketch *ret_sketch);

#endif
