/* What canonical form a document has, as one string: for tests of engine/text. */
#ifndef KINFS_TESTS_UNIT_ENGINE_TEXT_CANONICAL_H
#define KINFS_TESTS_UNIT_ENGINE_TEXT_CANONICAL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/canon.h"

/* What features are digested under here. */
static const struct digest_key canonical_key = {{{1, 2, 3}, {[100] = 4, [191] = 5}}};

/* The digest of a feature, by its definition. */
static inline XXH128_hash_t canonical_digest(const void *bytes, size_t size)
{
    return (XXH128_hash_t){
        XXH3_64bits_withSecret(bytes, size, canonical_key.secrets[0], DIGEST_SECRET_BYTES),
        XXH3_64bits_withSecret(bytes, size, canonical_key.secrets[1], DIGEST_SECRET_BYTES)};
}

struct canonical {
    struct text_form form;
    char *text; /* the tokens, each followed by a space */
    size_t size;
    FILE *file;
};

static inline void canonical_done(struct canonical *canonical)
{
    free(canonical->text);
}

static inline void canonical_take(void *user, const struct token_block *block)
{
    struct canonical *canonical = user;
    uint32_t at = 0;
    uint8_t slack[TOKEN_BLOCK_SLACK_BYTES];
    if (block->n_tokens < 1 || block->n_tokens > TOKEN_BLOCK_MAX)
        abort();
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++]) {
        if (block->ends[i] <= at || block->ends[i] - at > CANON_TOKEN_MAX_BYTES)
            abort();
        fwrite(block->bytes + at, 1, block->ends[i] - at, canonical->file);
        fputc(' ', canonical->file);
    }
    memcpy(slack, block->bytes + at, sizeof(slack)); /* may be read */
}

static inline void canonical_take_features(void *user, const struct feature *features, size_t n)
{
    struct canonical *canonical = user;
    for (size_t i = 0; i < n; i++)
        fprintf(canonical->file, "%016llx%016llx ", (unsigned long long)features[i].high,
                (unsigned long long)features[i].low);
}

/* A document of this type (TEXT_N_TYPES: the one that it shows) fed in pieces of piece_bytes, or,
 * for 0, of random size. */
static inline struct canonical canonical_with(enum text_type type, bool tags, const void *bytes,
                                              size_t size, size_t piece_bytes)
{
    static unsigned seed;
    struct canonical result = {0};
    struct canon *canon = NULL;
    result.file = open_memstream(&result.text, &result.size);
    if (!result.file || canon_new(&(struct canon_sink){.tokens = canonical_take,
                                                       .features = canonical_take_features,
                                                       .user = &result,
                                                       .tags = tags,
                                                       .key = &canonical_key},
                                  &canon) < 0)
        abort();
    canon_begin(canon);
    canon_feed(canon, "left over <a", 12); /* an unfinished one leaves nothing */
    if (type == TEXT_N_TYPES)
        canon_begin(canon);
    else
        canon_begin_as(canon, type);
    for (size_t at = 0, n; at < size; at += n) {
        n = piece_bytes ? piece_bytes : (size_t)rand_r(&seed) % 600;
        if (n > size - at)
            n = size - at;
        /* Of its own allocation, so that a byte read past the piece is noticed. */
        void *piece = malloc(n ? n : 1);
        memcpy(piece, (const char *)bytes + at, n);
        canon_feed(canon, piece, n);
        free(piece);
    }
    canon_finish(canon, &result.form);
    canon_free(canon);
    fclose(result.file);
    return result;
}

static inline struct canonical canonical_as(enum text_type type, const void *bytes, size_t size,
                                            size_t piece_bytes)
{
    return canonical_with(type, false, bytes, size, piece_bytes);
}

static inline struct canonical canonical_of(const void *bytes, size_t size, size_t piece_bytes)
{
    return canonical_as(TEXT_N_TYPES, bytes, size, piece_bytes);
}

/* Whether these are the tokens of a document, in pieces of whatever size; if not, says so. */
static inline bool canonical_is_with(enum text_type type, bool tags, const void *bytes, size_t size,
                                     const char *tokens)
{
    static const size_t pieces[] = {1 << 20, 1, 2, 7, 0, 0};
    bool same = true;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]) && same; i++) {
        struct canonical found = canonical_with(type, tags, bytes, size, pieces[i]);
        same = strcmp(found.text, tokens) == 0;
        if (!same)
            fprintf(stderr, "%.*s\n  in pieces of %zu: '%s', not '%s'\n", (int)size,
                    (const char *)bytes, pieces[i], found.text, tokens);
        canonical_done(&found);
    }
    return same;
}

static inline bool canonical_is(enum text_type type, const void *bytes, size_t size,
                                const char *tokens)
{
    return canonical_is_with(type, false, bytes, size, tokens);
}

/* The pieces make no difference, whatever the tokens are. */
static inline bool canonical_is_one(enum text_type type, const void *bytes, size_t size)
{
    struct canonical whole = canonical_as(type, bytes, size, 1 << 20);
    bool same = canonical_is(type, bytes, size, whole.text);
    canonical_done(&whole);
    return same;
}

/* Some of these parts in a row, with a byte of any value here and there. Returns the size. */
static inline size_t canonical_soup(char *out, size_t room, const char *const *parts,
                                    size_t n_parts, unsigned *seed)
{
    size_t size = 0;
    while (rand_r(seed) % 200) {
        const char *part = parts[(size_t)rand_r(seed) % n_parts];
        size_t n = strlen(part);
        if (size + n >= room)
            break;
        memcpy(out + size, part, n);
        size += n;
        if (rand_r(seed) % 9 == 0)
            out[size++] = (char)rand_r(seed);
    }
    return size;
}

#endif
