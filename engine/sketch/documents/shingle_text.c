/* The search reads the document once more, keeps the last w tokens as text and as fingerprints, and
 * hashes each window until one has the fingerprint that is wanted.
 *
 * Example with w = 2: for h("quick fox") in "the quick fox" the window holds "the quick ", which
 * does not match, then "quick fox ", which does; "quick fox" is the answer.
 *
 * Cost: linear in the bytes up to the match, fixed memory; a window is moved down by one token at
 * each step, which copies w tokens. Left out: an index from fingerprints to places. It would be
 * larger than the sketches, and the question is asked rarely.
 */
#include "engine/sketch/documents/shingle_text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/files/unlocked_read.h"
#include "engine/text/words/word_filter.h"

enum { READ_BYTES = 64 * 1024, WINDOW_BYTES = POLICY_W_MAX * (CANON_TOKEN_MAX_BYTES + 1) };

/* The window has the last tokens, at most w: their fingerprints, and their text, each token with a
 * blank behind it. */
struct window {
    const struct shingle_hash *hash;
    unsigned w;
    uint64_t wanted;
    bool found;
    unsigned n_tokens;
    uint64_t tokens[POLICY_W_MAX];
    size_t lengths[POLICY_W_MAX], n_bytes; /* blanks included */
    char text[WINDOW_BYTES];
    uint64_t hashed[TOKEN_BLOCK_MAX];
};

static void push(struct window *window, const uint8_t *token, size_t n_bytes, uint64_t hashed)
{
    if (window->n_tokens == window->w) {
        const size_t gone = window->lengths[0], n_left = window->w - 1;
        memmove(window->tokens, window->tokens + 1, n_left * sizeof(*window->tokens));
        memmove(window->lengths, window->lengths + 1, n_left * sizeof(*window->lengths));
        memmove(window->text, window->text + gone, window->n_bytes - gone);
        window->n_bytes -= gone;
        window->n_tokens--;
    }
    memcpy(window->text + window->n_bytes, token, n_bytes);
    window->text[window->n_bytes + n_bytes] = ' ';
    window->n_bytes += n_bytes + 1;
    window->tokens[window->n_tokens] = hashed;
    window->lengths[window->n_tokens++] = n_bytes + 1;
}

static bool is_wanted(const struct window *window)
{
    return shingle_hash_window(window->hash, window->tokens, window->n_tokens) == window->wanted;
}

static void take_tokens(void *user, const struct token_block *block)
{
    struct window *window = user;
    shingle_hash_tokens(window->hash, block, window->hashed);
    for (size_t i = 0, at = 0; i < block->n_tokens && !window->found; at = block->ends[i++]) {
        push(window, block->bytes + at, block->ends[i] - at, window->hashed[i]);
        window->found = window->n_tokens == window->w && is_wanted(window);
    }
}

static void take_features(void *user, const struct feature *features, size_t n_features)
{
    (void)user, (void)features, (void)n_features;
}

static bool goes_on(void *user, uint64_t n_unpacked)
{
    const struct window *window = user;
    return !window->found && n_unpacked < SHINGLE_TEXT_READ_MAX_BYTES;
}

static int search(int fd, struct canon *canon, struct window *window)
{
    _cleanup_free_ uint8_t *bytes = malloc(READ_BYTES);
    struct text_form form;
    if (!bytes)
        return -ENOMEM;
    canon_on_unpacking(canon, goes_on, window);
    canon_begin(canon);
    for (off_t offset = 0; !window->found;) {
        if (offset >= SHINGLE_TEXT_READ_MAX_BYTES)
            return -ENOENT;
        ssize_t n = unlocked_read(fd, bytes, READ_BYTES, offset);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        canon_feed(canon, bytes, (size_t)n);
        offset += n;
    }
    if (!window->found)
        canon_finish(canon, &form);
    /* A document of fewer than w tokens is one shingle. */
    if (!window->found && window->n_tokens > 0 && window->n_tokens < window->w)
        window->found = is_wanted(window);
    return window->found ? 0 : -ENOENT;
}

int shingle_text(int fd, const struct policy *policy, const struct shingle_hash *hash,
                 uint64_t fingerprint, char **ret_text)
{
    _cleanup_(word_filter_free_p) struct word_filter *filter = NULL;
    _cleanup_(canon_free_p) struct canon *canon = NULL;
    _cleanup_free_ struct window *window = calloc(1, sizeof(*window));
    struct canon_sink before;
    struct digest_key key;
    if (!window)
        return -ENOMEM;
    window->hash = hash;
    window->w = policy->w;
    window->wanted = fingerprint;
    policy_digest_key(policy, &key);
    int r = word_filter_new(
        &policy->words,
        &(struct canon_sink){
            .tokens = take_tokens, .features = take_features, .user = window, .key = &key},
        &filter, &before);
    if (r == 0)
        r = canon_new(&before, &canon);
    if (r == 0)
        r = search(fd, canon, window);
    if (r < 0)
        return r;
    char *text = strndup(window->text, window->n_bytes - 1);
    if (!text)
        return -ENOMEM;
    *ret_text = text;
    return 0;
}
