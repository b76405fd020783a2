/* Bloom filters of one cache line for each fingerprint, the next one as large as all before it, or
 * seven times that while they are small, so that what is there never moves and there are few. A
 * fingerprint that is in one of them is not added again: long posting lists have one entry. */
#include "engine/index/postings/fingerprint_filter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    PARTS_MAX = 64,
    /* 32 KiB, which every opening of a store clears; 2 MiB are no longer small. Each part is asked.
     */
    FIRST_FINGERPRINTS = 1 << 14,
    FEW_FINGERPRINTS = 1 << 20,
    FEW_GROWTH = 7,
    BITS_EACH = 16,
    BITS_SET = 7,   /* nine bits of a place each */
    LINE_WORDS = 8, /* 64 bytes */
    LINE_BITS = 512,
    ASKED_AT_ONCE = 64,
};

struct part {
    atomic_uint_fast64_t *lines;
    uint64_t n_lines;
    size_t n_fingerprints, capacity; /* who adds knows */
};

struct fingerprint_filter {
    struct part parts[PARTS_MAX];
    atomic_uint n_parts;
    size_t n_fingerprints, capacity;
};

int fingerprint_filter_new(struct fingerprint_filter **ret_filter)
{
    struct fingerprint_filter *filter = calloc(1, sizeof(*filter));
    if (!filter)
        return -ENOMEM;
    *ret_filter = filter;
    return 0;
}

void fingerprint_filter_free(struct fingerprint_filter *filter)
{
    if (!filter)
        return;
    for (unsigned i = 0; i < filter->n_parts; i++)
        free(filter->parts[i].lines);
    free(filter);
}

/* Fingerprints of tier R are small numbers: their upper bits say little. */
struct place {
    uint64_t line, bits;
};

static struct place place_of(uint64_t fingerprint)
{
    uint64_t x = (fingerprint ^ fingerprint >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return (struct place){x >> 32, (x ^ x >> 29) * 0x9e3779b97f4a7c15u};
}

static atomic_uint_fast64_t *line_of(const struct part *part, const struct place *place)
{
    return &part->lines[((place->line * part->n_lines) >> 32) * LINE_WORDS];
}

static bool part_has(const struct part *part, const struct place *place)
{
    const atomic_uint_fast64_t *line = line_of(part, place);
    uint64_t bits = place->bits;
    for (unsigned i = 0; i < BITS_SET; i++, bits >>= 9) {
        uint64_t bit = bits % LINE_BITS;
        uint64_t word = atomic_load_explicit(&line[bit / 64], memory_order_relaxed);
        if (!(word >> bit % 64 & 1))
            return false;
    }
    return true;
}

static void part_add(struct part *part, const struct place *place)
{
    atomic_uint_fast64_t *line = line_of(part, place);
    uint64_t bits = place->bits;
    for (unsigned i = 0; i < BITS_SET; i++, bits >>= 9) {
        uint64_t bit = bits % LINE_BITS;
        uint64_t word = atomic_load_explicit(&line[bit / 64], memory_order_relaxed);
        atomic_store_explicit(&line[bit / 64], word | UINT64_C(1) << bit % 64,
                              memory_order_relaxed);
    }
    part->n_fingerprints++;
}

static int add_part(struct fingerprint_filter *filter)
{
    const size_t before = filter->capacity;
    const size_t capacity = before == 0                 ? FIRST_FINGERPRINTS
                            : before < FEW_FINGERPRINTS ? FEW_GROWTH * before
                                                        : before;
    uint64_t n_lines = (uint64_t)capacity * BITS_EACH / LINE_BITS;
    void *lines;
    if (filter->n_parts == PARTS_MAX ||
        posix_memalign(&lines, LINE_BITS / 8, n_lines * LINE_BITS / 8) != 0)
        return -ENOMEM;
    atomic_uint_fast64_t *words = lines;
    for (uint64_t i = 0; i < n_lines * LINE_WORDS; i++)
        atomic_init(&words[i], 0);
    filter->parts[filter->n_parts] = (struct part){words, n_lines, 0, capacity};
    filter->capacity += capacity;
    atomic_fetch_add_explicit(&filter->n_parts, 1, memory_order_release);
    return 0;
}

int fingerprint_filter_add(struct fingerprint_filter *filter, uint64_t fingerprint)
{
    bool has;
    fingerprint_filter_ask(filter, &fingerprint, 1, &has);
    if (has)
        return 0;
    unsigned n = filter->n_parts;
    if (n == 0 || filter->parts[n - 1].n_fingerprints == filter->parts[n - 1].capacity) {
        int r = add_part(filter);
        if (r < 0)
            return r;
        n++;
    }
    struct place place = place_of(fingerprint);
    part_add(&filter->parts[n - 1], &place);
    return 0;
}

void fingerprint_filter_ask(const struct fingerprint_filter *filter, const uint64_t *fingerprints,
                            size_t n, bool *ret_may_have)
{
    unsigned n_parts =
        atomic_load_explicit(&((struct fingerprint_filter *)filter)->n_parts, memory_order_acquire);
    for (size_t at = 0; at < n; at += ASKED_AT_ONCE) {
        struct place places[ASKED_AT_ONCE];
        size_t n_some = n - at < ASKED_AT_ONCE ? n - at : ASKED_AT_ONCE;
        for (size_t i = 0; i < n_some; i++) {
            places[i] = place_of(fingerprints[at + i]);
            ret_may_have[at + i] = false;
        }
        /* All lines are on their way before the first is looked at. */
        for (unsigned k = 0; k < n_parts; k++)
            for (size_t i = 0; i < n_some; i++)
                __builtin_prefetch(line_of(&filter->parts[k], &places[i]));
        for (unsigned k = 0; k < n_parts; k++)
            for (size_t i = 0; i < n_some; i++)
                ret_may_have[at + i] |= part_has(&filter->parts[k], &places[i]);
    }
}

size_t fingerprint_filter_bytes(const struct fingerprint_filter *filter)
{
    size_t bytes = sizeof(*filter);
    unsigned n_parts =
        atomic_load_explicit(&((struct fingerprint_filter *)filter)->n_parts, memory_order_acquire);
    for (unsigned i = 0; i < n_parts; i++)
        bytes += filter->parts[i].n_lines * LINE_BITS / 8;
    return bytes;
}
