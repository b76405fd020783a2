/* What canonical form a document has, as one string: for tests of engine/text. */
#ifndef KINFS_TESTS_UNIT_CANONICAL_H
#define KINFS_TESTS_UNIT_CANONICAL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/canon.h"

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
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++]) {
        fwrite(block->bytes + at, 1, block->ends[i] - at, canonical->file);
        fputc(' ', canonical->file);
    }
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
    if (!result.file || canon_new(&(struct canon_sink){canonical_take, canonical_take_features,
                                                       &result, NULL, tags},
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

#endif
