/* The exact set of a document's shingles, by a way of its own: it shares the canonical form with
 * the sketches and nothing else, no shingle_hash.c and no sampling, so that each can be a test of
 * the other.
 *
 * A shingle is the text of its tokens, each followed by a byte that UTF-8 does not have. The texts
 * of the last tokens stand one after the other in a buffer, so that a shingle is a part of it, and
 * its 128-bit hash is that of the part, under a key of the process: no document has one shingle
 * in place of two because somebody made it so.
 *
 * Example with w = 2 and | for the byte: the tokens "a b a b" stand in the buffer as a|b|a|b| and
 * the shingles are a|b|, b|a|, a|b|: two different ones. Without the byte, "ab c" and "a bc" would
 * be one shingle.
 *
 * Cost: each token is hashed w times, and n distinct shingles take 16 n to 32 n bytes. Left out: a
 * rolling hash, which would be faster and no independent test.
 */
#include "engine/sketch/documents/exact_set.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

#include "base/files/fd_whole.h"
#include "base/room.h"
#include "engine/sketch/policy.h"
#include "engine/text/canon.h"
#include "engine/text/words/word_filter.h"

enum {
    END_OF_TOKEN = 0xff,
    SHINGLE_MAX_BYTES = POLICY_W_MAX * (CANON_TOKEN_MAX_BYTES + 1),
    READ_BYTES = 64 * 1024,
};

struct exact_set {
    XXH128_hash_t *shingles; /* ascending, unique */
    size_t n_shingles;
};

struct reader {
    unsigned w;
    const struct digest_key *key;
    int error; /* the first one: -ENOMEM, or of the bounds */
    const struct exact_set_bounds *bounds;
    uint64_t n_fed; /* bytes */
    struct exact_set *set;
    size_t room;
    uint64_t n_tokens;
    size_t starts[POLICY_W_MAX]; /* of token i in text: starts[i % w], of the last w */
    size_t size_bytes;
    uint8_t text[4 * SHINGLE_MAX_BYTES];
};

/* The key of all sets of the process. */
static struct digest_key key;
static bool has_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void draw_key(void)
{
    for (size_t i = 0; i < DIGEST_SECRETS; i++)
        if (getrandom(key.secrets[i], DIGEST_SECRET_BYTES, 0) != DIGEST_SECRET_BYTES)
            return;
    has_key = true;
}

/* Here rather than in the library: all that n_common() does is this. */
static int order_of(const XXH128_hash_t *a, const XXH128_hash_t *b)
{
    if (a->high64 != b->high64)
        return a->high64 < b->high64 ? -1 : 1;
    return (a->low64 > b->low64) - (a->low64 < b->low64);
}

static int compare(const void *a, const void *b)
{
    return order_of(a, b);
}

static void sort_unique(struct exact_set *set)
{
    size_t n = 0;
    if (set->n_shingles)
        qsort(set->shingles, set->n_shingles, sizeof(*set->shingles), compare);
    for (size_t i = 0; i < set->n_shingles; i++)
        if (n == 0 || !XXH128_isEqual(set->shingles[n - 1], set->shingles[i]))
            set->shingles[n++] = set->shingles[i];
    set->n_shingles = n;
}

/* Memory grows with the set, as that of element_set.c does. */
static int grow(struct reader *reader)
{
    struct exact_set *set = reader->set;
    sort_unique(set);
    if (set->n_shingles > reader->bounds->most_shingles)
        return -E2BIG;
    if (set->n_shingles < reader->room / 2)
        return 0;
    return MAKE_ROOM(set->shingles, reader->room, reader->room + 1) ? 0 : -ENOMEM;
}

static void add(struct reader *reader, XXH128_hash_t shingle)
{
    struct exact_set *set = reader->set;
    if (reader->error == 0 && set->n_shingles == reader->room)
        reader->error = grow(reader);
    if (reader->error == 0)
        set->shingles[set->n_shingles++] = shingle;
}

static void add_shingle(struct reader *reader, const uint8_t *text, size_t size_bytes)
{
    add(reader, digest_key_apply(reader->key, text, size_bytes));
}

/* Makes room for a token, by dropping all but the last w. */
static void make_room(struct reader *reader)
{
    if (reader->size_bytes + CANON_TOKEN_MAX_BYTES + 1 <= sizeof(reader->text))
        return;
    unsigned w = reader->w;
    size_t first = reader->starts[reader->n_tokens % w]; /* the buffer holds more than w tokens */
    memmove(reader->text, reader->text + first, reader->size_bytes - first);
    reader->size_bytes -= first;
    for (unsigned i = 0; i < w; i++)
        reader->starts[i] -= first;
}

static void add_token(struct reader *reader, const uint8_t *bytes, size_t size_bytes)
{
    make_room(reader);
    reader->starts[reader->n_tokens++ % reader->w] = reader->size_bytes;
    memcpy(reader->text + reader->size_bytes, bytes, size_bytes);
    reader->size_bytes += size_bytes;
    reader->text[reader->size_bytes++] = END_OF_TOKEN;
    if (reader->n_tokens >= reader->w) {
        size_t start = reader->starts[reader->n_tokens % reader->w];
        add_shingle(reader, reader->text + start, reader->size_bytes - start);
    }
}

static void take_features(void *user, const struct feature *features, size_t n_features)
{
    struct reader *reader = user;
    for (size_t i = 0; i < n_features; i++)
        add(reader, (XXH128_hash_t){features[i].low, features[i].high});
}

static void take_tokens(void *user, const struct token_block *block)
{
    uint32_t at = 0;
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++])
        add_token(user, block->bytes + at, block->ends[i] - at);
}

static bool goes_on(void *user, uint64_t n_unpacked)
{
    struct reader *reader = user;
    const struct exact_set_bounds *bounds = reader->bounds;
    if (reader->error == 0 && reader->n_fed + n_unpacked > bounds->most_bytes)
        reader->error = -EFBIG;
    if (reader->error == 0 && bounds->stop && bounds->stop(bounds->user))
        reader->error = -EINTR;
    return reader->error == 0;
}

static int read_document(int fd, const enum text_type *as, struct reader *reader,
                         struct canon *canon)
{
    _cleanup_free_ uint8_t *buffer = malloc(READ_BYTES);
    struct fd_whole whole;
    if (!buffer)
        return -ENOMEM;
    int r = fd_whole_begin(&whole, fd);
    if (r < 0)
        return r;

    canon_begin_known(canon, as);
    canon_on_unpacking(canon, goes_on, reader);
    while (goes_on(reader, 0)) {
        ssize_t n = fd_whole_read(&whole, buffer, READ_BYTES);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        reader->n_fed += (uint64_t)n;
        canon_feed(canon, buffer, (size_t)n);
    }
    struct text_form form;
    canon_finish(canon, &form);
    return 0;
}

int exact_set_read(int fd, const enum text_type *as, unsigned w, const struct word_options *words,
                   size_t most, struct exact_set **ret_set)
{
    const struct exact_set_bounds bounds = {.most_shingles = most, .most_bytes = UINT64_MAX};
    return exact_set_read_within(fd, as, w, words, &bounds, ret_set);
}

int exact_set_read_within(int fd, const enum text_type *as, unsigned w,
                          const struct word_options *words, const struct exact_set_bounds *bounds,
                          struct exact_set **ret_set)
{
    if (w < 1 || w > POLICY_W_MAX)
        return -EINVAL;

    _cleanup_(exact_set_free_p) struct exact_set *set = calloc(1, sizeof(*set));
    _cleanup_free_ struct reader *reader = calloc(1, sizeof(*reader));
    if (!set || !reader)
        return -ENOMEM;
    pthread_once(&key_once, draw_key);
    if (!has_key)
        return -EIO;
    reader->w = w;
    reader->key = &key;
    reader->set = set;
    reader->bounds = bounds;

    _cleanup_(word_filter_free_p) struct word_filter *filter = NULL;
    _cleanup_(canon_free_p) struct canon *canon = NULL;
    const struct canon_sink sink = {
        .tokens = take_tokens, .features = take_features, .user = reader, .key = reader->key};
    struct canon_sink before;
    int r = word_filter_new(words ? words : &(struct word_options){0}, &sink, &filter, &before);
    if (r == 0)
        r = canon_new(&before, &canon);
    if (r < 0)
        return r;
    r = read_document(fd, as, reader, canon);
    if (r < 0)
        return r;
    if (reader->n_tokens > 0 && reader->n_tokens < w)
        add_shingle(reader, reader->text, reader->size_bytes);
    if (reader->error < 0)
        return reader->error;
    sort_unique(set);
    if (set->n_shingles > bounds->most_shingles)
        return -E2BIG;
    *ret_set = TAKE_PTR(set);
    return 0;
}

void exact_set_free(struct exact_set *set)
{
    if (!set)
        return;
    free(set->shingles);
    free(set);
}

size_t exact_set_count(const struct exact_set *set)
{
    return set->n_shingles;
}

void exact_set_features(const struct exact_set *set, struct feature *ret_features)
{
    for (size_t i = 0; i < set->n_shingles; i++)
        ret_features[i] = (struct feature){set->shingles[i].low64, set->shingles[i].high64};
}

static size_t n_common(const struct exact_set *a, const struct exact_set *b)
{
    size_t n = 0;
    for (size_t i = 0, j = 0; i < a->n_shingles && j < b->n_shingles;) {
        int order = order_of(&a->shingles[i], &b->shingles[j]);
        n += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return n;
}

bool exact_set_equal(const struct exact_set *a, const struct exact_set *b)
{
    return a->n_shingles == b->n_shingles && n_common(a, b) == a->n_shingles;
}

int exact_set_resemblance(const struct exact_set *a, const struct exact_set *b, double *ret_value)
{
    size_t common = n_common(a, b), n_union = a->n_shingles + b->n_shingles - common;
    if (n_union == 0)
        return -ENODATA;
    *ret_value = (double)common / (double)n_union;
    return 0;
}

int exact_set_containment(const struct exact_set *a, const struct exact_set *b, double *ret_value)
{
    if (a->n_shingles == 0)
        return -ENODATA;
    *ret_value = (double)n_common(a, b) / (double)a->n_shingles;
    return 0;
}
