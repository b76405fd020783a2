/* The document sketcher makes three things of the canonical tokens as they come: the fingerprint of
 * the text, token fingerprints, and from these the fingerprints of the shingles, which the builder
 * samples (min_sketch_build.c).
 *
 * Example with w = 2: the block "the quick" gives the token fingerprints t1 t2 and the shingle
 * h(t1 t2); t2 is carried over, so that the block "fox" gives t3 and the shingle h(t2 t3).
 *
 * Texts and contents are called equal by their fingerprints, so none can be made that has
 * another's: all depend on the policy's key. The fingerprint of the text is XXH3-128 under a
 * secret, over the fingerprints of the tokens one after the other. Two different tokens have one
 * with probability 2^-64 (shingle_hash.c); and nobody who writes a text knows any of them, so that
 * XXH3 has no input that somebody chose, which under a secret alone would be too little
 * (digest_key.h). In a document of features it is over the features, digests under the key, and a
 * second stream of the digests of their order (canon.h); the two are hashed apart and then
 * together.
 *
 * The fingerprint of the content has bytes that others choose: its halves are of XXH3-128 under two
 * secrets.
 *
 * Cost: linear in the bytes, one pass, fixed memory. Left out: a cryptographic hash of bytes and
 * text, which takes longer than all else; and the text's own bytes and the lengths of its tokens,
 * which under two secrets are more to hash than the fingerprints.
 */
#include "engine/sketch/documents/document_sketch.h"

#include <errno.h>
#include <string.h>

#include <openssl/crypto.h>
#include <xxhash.h>

#include "engine/sketch/hash/stream_hash.h"
#include "engine/text/canon.h"
#include "engine/text/words/word_filter.h"

_Static_assert((int)FINGERPRINT_BYTES == (int)STREAM_HASH_BYTES, "");

struct document_sketcher {
    const struct shingle_hash *hash;
    unsigned w;
    enum text_type type;      /* with a text that is given */
    enum document_text given; /* of the document */
    struct canon *canon;
    struct word_filter *filter; /* between canon and this; NULL: none */
    struct min_sketch_builder *builder;
    const struct stream_hash_kernel *stream_hash;
    void *contents[DIGEST_SECRETS], *text, *order; /* states of stream_hash */
    struct digest_key key;
    void (*on_shingles)(void *user, const uint64_t *fingerprints, size_t n); /* or NULL */
    void *on_shingles_user;
    struct document_words on_words;   /* take NULL: none */
    struct document_tokens on_tokens; /* likewise */
    void (*on_links)(void *user, const struct canon_link *link);
    void *on_links_user;
    bool filters_words;                        /* or has tags among them */
    struct canon_sink next;                    /* where words and features go from canon */
    uint64_t size_bytes, n_tokens, n_features; /* a document has either tokens or features */
    size_t n_carried; /* the last min(w - 1, n_tokens) token fingerprints begin the next window */
    uint64_t tokens[POLICY_W_MAX + TOKEN_BLOCK_MAX];
    uint64_t windows[TOKEN_BLOCK_MAX];
};

static void add_fingerprints(struct document_sketcher *sketcher, const uint64_t *fingerprints,
                             size_t n)
{
    min_sketch_builder_add(sketcher->builder, fingerprints, n);
    if (sketcher->on_shingles)
        sketcher->on_shingles(sketcher->on_shingles_user, fingerprints, n);
}

static void add_shingles(struct document_sketcher *sketcher, size_t n_new)
{
    size_t n = sketcher->n_carried + n_new;
    size_t n_kept = n < sketcher->w - 1 ? n : sketcher->w - 1;
    if (n >= sketcher->w) {
        size_t n_windows = n - (sketcher->w - 1);
        shingle_hash_windows(sketcher->hash, sketcher->tokens, n_windows, sketcher->windows);
        add_fingerprints(sketcher, sketcher->windows, n_windows);
    }
    memmove(sketcher->tokens, sketcher->tokens + n - n_kept, n_kept * sizeof(uint64_t));
    sketcher->n_carried = n_kept;
    sketcher->n_tokens += n_new;
}

static void take_tokens(void *user, const struct token_block *block)
{
    struct document_sketcher *sketcher = user;
    uint64_t *tokens = sketcher->tokens + sketcher->n_carried;
    shingle_hash_tokens(sketcher->hash, block, tokens);
    sketcher->stream_hash->update(sketcher->text, tokens, block->n_tokens * sizeof(*tokens));
    if (sketcher->on_words.take && !sketcher->filters_words)
        sketcher->on_words.take(sketcher->on_words.user, tokens, block->n_tokens);
    if (sketcher->on_tokens.take && !sketcher->filters_words)
        sketcher->on_tokens.take(sketcher->on_tokens.user, block, tokens);
    add_shingles(sketcher, block->n_tokens);
}

/* No word begins as a tag does. */
static size_t keep_words(const struct token_block *block, uint64_t *fingerprints)
{
    size_t n = 0;
    for (size_t i = 0, at = 0; i < block->n_tokens; at = block->ends[i++])
        if (block->bytes[at] != '<')
            fingerprints[n++] = fingerprints[i];
    return n;
}

/* A block that canon hands out goes to the sketcher in another form. */
static void take_before(void *user, const struct token_block *block)
{
    struct document_sketcher *sketcher = user;
    if (sketcher->on_words.take || sketcher->on_tokens.take)
        shingle_hash_tokens(sketcher->hash, block, sketcher->windows);
    if (sketcher->on_tokens.take)
        sketcher->on_tokens.take(sketcher->on_tokens.user, block, sketcher->windows);
    if (sketcher->on_words.take) {
        sketcher->on_words.take(sketcher->on_words.user, sketcher->windows,
                                keep_words(block, sketcher->windows));
    }
    sketcher->next.tokens(sketcher->next.user, block);
}

static void take_features(void *user, const struct feature *features, size_t n_features)
{
    struct document_sketcher *sketcher = user;
    sketcher->stream_hash->update(sketcher->text, features, n_features * sizeof(*features));
    while (n_features > 0) {
        size_t n = n_features < TOKEN_BLOCK_MAX ? n_features : TOKEN_BLOCK_MAX;
        shingle_hash_features(sketcher->hash, features, n, sketcher->windows);
        add_fingerprints(sketcher, sketcher->windows, n);
        sketcher->n_features += n;
        features += n;
        n_features -= n;
    }
}

static void take_order(void *user, const struct feature *digests, size_t n_digests)
{
    struct document_sketcher *sketcher = user;
    sketcher->stream_hash->update(sketcher->order, digests, n_digests * sizeof(*digests));
}

int document_sketcher_new(const struct policy *policy, const struct shingle_hash *hash,
                          struct document_sketcher **ret_sketcher)
{
    _cleanup_(document_sketcher_free_p) struct document_sketcher *sketcher =
        calloc(1, sizeof(*sketcher));
    if (!sketcher)
        return -ENOMEM;

    int r = min_sketch_builder_new(policy, &sketcher->builder);
    if (r < 0)
        return r;
    policy_digest_key(policy, &sketcher->key);
    const struct canon_sink sink = {.tokens = take_tokens,
                                    .features = take_features,
                                    .user = sketcher,
                                    .order = take_order,
                                    .key = &sketcher->key};
    r = word_filter_new(&policy->words, &sink, &sketcher->filter, &sketcher->next);
    struct canon_sink before = sink;
    sketcher->filters_words = sketcher->filter || sketcher->next.tags;
    before.tags = sketcher->next.tags;
    if (sketcher->filters_words)
        before.tokens = take_before;
    if (r == 0)
        r = canon_new(&before, &sketcher->canon);
    if (r < 0)
        return r;
    sketcher->stream_hash = stream_hash_of(kernel_in_use());
    void **states[] = {&sketcher->contents[0], &sketcher->contents[1], &sketcher->text,
                       &sketcher->order};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        *states[i] = sketcher->stream_hash->new ();
        if (!*states[i])
            return -ENOMEM;
    }
    sketcher->hash = hash;
    sketcher->w = policy->w;
    document_sketcher_begin(sketcher);
    *ret_sketcher = TAKE_PTR(sketcher);
    return 0;
}

void document_sketcher_free(struct document_sketcher *sketcher)
{
    if (!sketcher)
        return;
    void *states[] = {sketcher->contents[0], sketcher->contents[1], sketcher->text,
                      sketcher->order};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (states[i])
            sketcher->stream_hash->free(states[i]);
    canon_free(sketcher->canon);
    word_filter_free(sketcher->filter);
    min_sketch_builder_free(sketcher->builder);
    OPENSSL_cleanse(&sketcher->key, sizeof(sketcher->key));
    free(sketcher);
}

void document_sketcher_on_unpacking(struct document_sketcher *sketcher,
                                    bool (*goes_on)(void *user, uint64_t n_bytes), void *user)
{
    canon_on_unpacking(sketcher->canon, goes_on, user);
}

void document_sketcher_on_shingles(struct document_sketcher *sketcher,
                                   void (*take)(void *user, const uint64_t *fingerprints, size_t n),
                                   void *user)
{
    sketcher->on_shingles = take;
    sketcher->on_shingles_user = user;
}

void document_sketcher_on_words(struct document_sketcher *sketcher,
                                const struct document_words *words)
{
    sketcher->on_words = *words;
}

void document_sketcher_on_tokens(struct document_sketcher *sketcher,
                                 const struct document_tokens *tokens)
{
    sketcher->on_tokens = *tokens;
}

static void take_link(void *user, const struct canon_link *link)
{
    struct document_sketcher *sketcher = user;
    sketcher->on_links(sketcher->on_links_user, link);
}

int document_sketcher_on_links(struct document_sketcher *sketcher,
                               void (*take)(void *user, const struct canon_link *link), void *user)
{
    sketcher->on_links = take;
    sketcher->on_links_user = user;
    return canon_want_links(sketcher->canon, take_link);
}

void document_sketcher_begin(struct document_sketcher *sketcher)
{
    if (sketcher->on_words.take)
        sketcher->on_words.begin(sketcher->on_words.user);
    if (sketcher->on_tokens.take)
        sketcher->on_tokens.begin(sketcher->on_tokens.user);
    for (size_t i = 0; i < DIGEST_SECRETS; i++)
        sketcher->stream_hash->reset(sketcher->contents[i], sketcher->key.secrets[i]);
    sketcher->stream_hash->reset(sketcher->text, sketcher->key.secrets[0]);
    sketcher->stream_hash->reset(sketcher->order, sketcher->key.secrets[1]);
    min_sketch_builder_begin(sketcher->builder);
    canon_begin(sketcher->canon);
    sketcher->size_bytes = sketcher->n_tokens = sketcher->n_features = 0;
    sketcher->n_carried = 0;
    sketcher->given = DOCUMENT_TEXT_IN_IT;
}

void document_sketcher_begin_given(struct document_sketcher *sketcher, enum text_type type,
                                   enum document_text text)
{
    document_sketcher_begin(sketcher);
    canon_begin_as(sketcher->canon, text == DOCUMENT_LINES_GIVEN ? TEXT_EXTRACTED
                                    : type == TEXT_EXTRACTED     ? TEXT_PLAIN
                                                                 : type);
    sketcher->type = type;
    sketcher->given = text;
}

void document_sketcher_feed_text(struct document_sketcher *sketcher, const void *bytes,
                                 size_t size_bytes)
{
    canon_feed(sketcher->canon, bytes, size_bytes);
}

void document_sketcher_feed(struct document_sketcher *sketcher, const void *bytes,
                            size_t size_bytes)
{
    if (size_bytes == 0)
        return;
    for (size_t i = 0; i < DIGEST_SECRETS; i++)
        sketcher->stream_hash->update(sketcher->contents[i], bytes, size_bytes);
    sketcher->size_bytes += size_bytes;
    if (sketcher->given == DOCUMENT_TEXT_IN_IT)
        canon_feed(sketcher->canon, bytes, size_bytes);
}

static void text_digest(const struct document_sketcher *sketcher,
                        uint8_t fingerprint[FINGERPRINT_BYTES])
{
    uint8_t both[2 * FINGERPRINT_BYTES];
    XXH128_canonical_t canonical;
    sketcher->stream_hash->digest(sketcher->text, both);
    sketcher->stream_hash->digest(sketcher->order, both + FINGERPRINT_BYTES);
    XXH128_canonicalFromHash(
        &canonical,
        XXH3_128bits_withSecret(both, sizeof(both), sketcher->key.secrets[0], DIGEST_SECRET_BYTES));
    memcpy(fingerprint, canonical.digest, FINGERPRINT_BYTES);
}

static void content_digest(const struct document_sketcher *sketcher,
                           uint8_t fingerprint[FINGERPRINT_BYTES])
{
    enum { PART_BYTES = FINGERPRINT_BYTES / DIGEST_SECRETS };
    for (size_t i = 0; i < DIGEST_SECRETS; i++) {
        uint8_t digest[STREAM_HASH_BYTES];
        sketcher->stream_hash->digest(sketcher->contents[i], digest);
        memcpy(fingerprint + i * PART_BYTES, digest, PART_BYTES);
    }
}

void document_sketcher_finish(struct document_sketcher *sketcher,
                              struct document_sketch *ret_sketch)
{
    struct text_form form;
    canon_finish(sketcher->canon, &form);
    if (sketcher->given != DOCUMENT_TEXT_IN_IT)
        form = (struct text_form){.type = sketcher->type};
    if (sketcher->n_tokens > 0 && sketcher->n_tokens < sketcher->w) {
        uint64_t only = shingle_hash_window(sketcher->hash, sketcher->tokens, sketcher->n_tokens);
        add_fingerprints(sketcher, &only, 1);
    }

    *ret_sketch = (struct document_sketch){.form = form, .size_bytes = sketcher->size_bytes};
    min_sketch_builder_finish(sketcher->builder, sketcher->n_tokens + sketcher->n_features,
                              &ret_sketch->sketch);
    content_digest(sketcher, ret_sketch->content_fingerprint);
    text_digest(sketcher, ret_sketch->text_fingerprint);
    if (ret_sketch->sketch.n_values > 0)
        min_sketch_fingerprint(&ret_sketch->sketch, ret_sketch->shingle_fingerprint);
}
