#include "tools/documents/word_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/files/fd_whole.h"
#include "base/files/file_key.h"
#include "base/room.h"
#include "engine/text/canon.h"

enum { READ_BYTES = 64 * 1024 };

struct reading {
    struct word_places places;
    size_t most_bytes, n_bytes, text_room, words_room, places_room;
    size_t n_begun, n_ended, n_of_lines, n_places;
    size_t changed; /* the end of the last piece with which a word began or ended */
    uint32_t line;
    int64_t until_ms;
    int error;
};

static void take_tokens(void *user, const struct token_block *block)
{
    struct reading *reading = user;
    struct word_places *places = &reading->places;
    if (!MAKE_ROOM(places->words, reading->words_room, places->n + block->n_tokens)) {
        reading->error = -ENOMEM;
        return;
    }
    for (size_t i = 0, at = 0; i < block->n_tokens; at = block->ends[i++])
        places->words[places->n++] =
            XXH3_64bits_withSeed(block->bytes + at, block->ends[i] - at, file_key_secret);
}

static bool has_room(struct reading *reading, size_t n_places)
{
    if (!reading->error && !MAKE_ROOM(reading->places.places, reading->places_room, n_places))
        reading->error = -ENOMEM;
    for (; !reading->error && reading->n_places < n_places; reading->n_places++)
        reading->places.places[reading->n_places] = (struct word_place){0};
    return !reading->error;
}

static void put_text(struct reading *reading, const uint8_t *bytes, size_t size_bytes)
{
    char **text = &reading->places.text;
    if (reading->n_bytes + size_bytes > reading->most_bytes)
        reading->error = -E2BIG;
    else if (!MAKE_ROOM(*text, reading->text_room, reading->n_bytes + size_bytes + 1))
        reading->error = -ENOMEM;
    if (reading->error)
        return;
    for (size_t i = 0; i < size_bytes; i++)
        (*text)[reading->n_bytes++] = bytes[i] ? (char)bytes[i] : ' ';
    (*text)[reading->n_bytes] = '\0';
}

static void take_text(void *user, const uint8_t *bytes, size_t size_bytes, uint64_t n_begun,
                      uint64_t n_ended)
{
    struct reading *reading = user;
    if (!has_room(reading, n_begun))
        return;
    put_text(reading, bytes, size_bytes);
    if (reading->error || (n_begun == reading->n_begun && n_ended == reading->n_ended))
        return;
    struct word_place *places = reading->places.places;
    size_t begin = reading->changed;
    while (begin > 0 && ((uint8_t)reading->places.text[begin] & 0xc0) == 0x80)
        begin--; /* the piece before ended within a character */
    for (; reading->n_begun < n_begun; reading->n_begun++)
        places[reading->n_begun].begin = (uint32_t)begin;
    for (; reading->n_ended < n_ended; reading->n_ended++)
        places[reading->n_ended].end = (uint32_t)reading->n_bytes;
    reading->changed = reading->n_bytes;
}

static void take_line(void *user, uint64_t n_begun)
{
    struct reading *reading = user;
    if (!has_room(reading, n_begun))
        return;
    for (; reading->n_of_lines < n_begun; reading->n_of_lines++)
        reading->places.places[reading->n_of_lines].line = reading->line;
    reading->line += reading->line < UINT32_MAX;
}

static void take_features(void *user, const struct feature *features, size_t n_features)
{
    (void)user, (void)features, (void)n_features;
}

static bool goes_on(void *user, uint64_t n_unpacked)
{
    struct reading *reading = user;
    if (!reading->error && n_unpacked > (uint64_t)WORD_PLACES_UNPACKED * reading->most_bytes)
        reading->error = -E2BIG;
    if (!reading->error && reading->until_ms && clock_now_ms() >= reading->until_ms)
        reading->error = -ETIMEDOUT;
    return !reading->error;
}

static int read_all(const struct text_source *source, struct canon *canon, struct reading *reading)
{
    _cleanup_free_ uint8_t *bytes = malloc(READ_BYTES);
    struct fd_whole whole;
    struct text_form form;
    ssize_t n;
    int r = bytes ? fd_whole_begin(&whole, source->fd) : -ENOMEM;
    if (r < 0)
        return r;
    canon_on_unpacking(canon, goes_on, reading);
    canon_begin_known(canon, source->as);
    while (goes_on(reading, 0) && (n = fd_whole_read(&whole, bytes, READ_BYTES)) != 0) {
        if (n < 0)
            return (int)n;
        canon_feed(canon, bytes, (size_t)n);
    }
    canon_finish(canon, &form);
    take_line(reading, reading->n_begun);
    if (!reading->error && reading->places.n != reading->n_ended)
        return -EPROTO; /* words of which nobody was told where they stand */
    reading->places.has_words =
        form.type != TEXT_BINARY && form.type != TEXT_EXTRACTED && form.type != TEXT_TABLE;
    return reading->error;
}

int word_places_read(const struct text_source *source, size_t most_bytes, int64_t until_ms,
                     struct word_places *ret_places)
{
    struct reading reading = {.line = 1, .most_bytes = most_bytes, .until_ms = until_ms};
    _cleanup_(canon_free_p) struct canon *canon = NULL;
    static const struct digest_key unused = {0};
    const struct canon_sink sink = {.tokens = take_tokens,
                                    .features = take_features,
                                    .text = take_text,
                                    .line = take_line,
                                    .key = &unused,
                                    .user = &reading};
    int r = canon_new(&sink, &canon);
    if (r == 0)
        r = read_all(source, canon, &reading);
    if (r < 0)
        word_places_done(&reading.places);
    *ret_places = reading.places;
    return r;
}

void word_places_done(struct word_places *places)
{
    free(places->text);
    free(places->words);
    free(places->places);
    *places = (struct word_places){0};
}
