/* The elements of a document: canonical tokens come in blocks, each window of w tokens becomes one
 * fingerprint, and the fingerprints go to a sink in pieces. The last w - 1 token fingerprints of a
 * block are carried to the front of the next one, so that no window is lost between blocks.
 *
 * Example with w = 2: the blocks "a b c" and "d" give the elements ab, bc and then cd. A document
 * "a" is shorter than w and has the one element a; an empty one has none.
 *
 * Cost: linear in the bytes, fixed memory. Left out: anything about which elements are kept;
 * that is the business of the families (family.h).
 */
#include "engine/sketch/documents/document_elements.h"

#include <errno.h>
#include <string.h>

#include "base/files/fd_whole.h"
#include "engine/sketch/hash/rabin.h"
#include "engine/sketch/hash/shingle_hash.h"
#include "engine/text/canon.h"
#include "engine/text/words/word_filter.h"

enum { READ_BYTES = 64 * 1024 };

struct reader {
    unsigned w;
    element_sink sink;
    void *user;
    int result; /* of the sink, the first that is not 0 */
    uint64_t n_tokens;
    struct digest_key key; /* of features */
    /* exactly one of hash and window is there */
    struct shingle_hash *hash;
    struct rabin_window *window;
    struct rabin rabin;
    size_t n_carried; /* the last min(w - 1, n_tokens) tokens begin the next window */
    uint64_t tokens[POLICY_W_MAX + TOKEN_BLOCK_MAX];
    uint64_t elements[TOKEN_BLOCK_MAX];
    uint8_t bytes[READ_BYTES];
};

static void reader_done(struct reader **reader)
{
    if (!*reader)
        return;
    shingle_hash_free((*reader)->hash);
    rabin_window_free((*reader)->window);
    free(*reader);
}

static void hand_out(struct reader *reader, size_t n)
{
    if (n > 0 && reader->result == 0)
        reader->result = reader->sink(reader->user, reader->elements, n);
}

static void take_hashed(struct reader *reader, const struct token_block *block)
{
    unsigned w = reader->w;
    size_t n = reader->n_carried + block->n_tokens;
    shingle_hash_tokens(reader->hash, block, reader->tokens + reader->n_carried);
    if (n >= w) {
        shingle_hash_windows(reader->hash, reader->tokens, n - (w - 1), reader->elements);
        hand_out(reader, n - (w - 1));
    }
    reader->n_carried = n < w - 1 ? n : w - 1;
    memmove(reader->tokens, reader->tokens + n - reader->n_carried,
            reader->n_carried * sizeof(uint64_t));
}

static void take_rabin(struct reader *reader, const struct token_block *block)
{
    size_t n = 0;
    for (size_t i = 0, at = 0; i < block->n_tokens; at = block->ends[i++])
        n += rabin_window_add(reader->window, block->bytes + at, block->ends[i] - at,
                              &reader->elements[n]);
    hand_out(reader, n);
}

static void take_tokens(void *user, const struct token_block *block)
{
    struct reader *reader = user;
    reader->n_tokens += block->n_tokens;
    if (reader->window)
        take_rabin(reader, block);
    else
        take_hashed(reader, block);
}

static void take_features(void *user, const struct feature *features, size_t n_features)
{
    struct reader *reader = user;
    while (n_features > 0) {
        size_t n = n_features < TOKEN_BLOCK_MAX ? n_features : TOKEN_BLOCK_MAX;
        if (reader->hash)
            shingle_hash_features(reader->hash, features, n, reader->elements);
        else
            for (size_t i = 0; i < n; i++)
                reader->elements[i] = rabin_of_bytes(&reader->rabin, &features[i], 16);
        hand_out(reader, n);
        features += n;
        n_features -= n;
    }
}

/* The one shingle of a document that is shorter than w. */
static void take_end(struct reader *reader)
{
    if (reader->n_tokens == 0 || reader->n_tokens >= reader->w)
        return;
    reader->elements[0] = reader->window
                              ? rabin_window_all(reader->window)
                              : shingle_hash_window(reader->hash, reader->tokens, reader->n_tokens);
    hand_out(reader, 1);
}

static int read_document(int fd, const enum text_type *as, struct reader *reader,
                         struct canon *canon)
{
    struct text_form form;
    struct fd_whole whole;
    int r = fd_whole_begin(&whole, fd);
    if (r < 0)
        return r;
    canon_begin_known(canon, as);
    while (reader->result == 0) {
        ssize_t n = fd_whole_read(&whole, reader->bytes, READ_BYTES);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        canon_feed(canon, reader->bytes, (size_t)n);
    }
    canon_finish(canon, &form);
    take_end(reader);
    return reader->result;
}

int document_elements(int fd, const enum text_type *as, unsigned w,
                      const struct word_options *words, const uint8_t key[SKETCH_KEY_BYTES],
                      bool rabin, element_sink sink, void *user)
{
    struct policy policy;
    struct canon_sink before;
    _cleanup_(word_filter_free_p) struct word_filter *filter = NULL;
    _cleanup_(canon_free_p) struct canon *canon = NULL;
    _cleanup_(reader_done) struct reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return -ENOMEM;
    if (w < 1 || w > POLICY_W_MAX)
        return -EINVAL;
    reader->w = w;
    reader->sink = sink;
    reader->user = user;
    int r = policy_preset("default", &policy);
    policy.w = w;
    memcpy(policy.key, key, POLICY_KEY_BYTES);
    policy_digest_key(&policy, &reader->key);
    if (r == 0 && rabin)
        r = rabin_init(&reader->rabin, key);
    if (r == 0)
        r = rabin ? rabin_window_new(&reader->rabin, w, &reader->window)
                  : shingle_hash_new(&policy, &reader->hash);
    if (r == 0)
        r = word_filter_new(words ? words : &(struct word_options){0},
                            &(struct canon_sink){.tokens = take_tokens,
                                                 .features = take_features,
                                                 .user = reader,
                                                 .key = &reader->key},
                            &filter, &before);
    if (r == 0)
        r = canon_new(&before, &canon);
    return r < 0 ? r : read_document(fd, as, reader, canon);
}

static int add_to_sketcher(void *user, const uint64_t *elements, size_t n_elements)
{
    return sketcher_add(user, elements, n_elements);
}

int sketch_document(int fd, const enum text_type *as, unsigned w, const struct word_options *words,
                    const struct sketch_family *family, const uint8_t key[SKETCH_KEY_BYTES],
                    struct sketch *ret_sketch)
{
    _cleanup_(sketcher_free_p) struct sketcher *sketcher = NULL;
    int r = sketcher_new(family, key, &sketcher);
    if (r == 0)
        r = document_elements(fd, as, w, words, key, family->of_rabin_elements, add_to_sketcher,
                              sketcher);
    return r < 0 ? r : sketcher_finish(sketcher, ret_sketch);
}
