/* Text, whole tags and references at a stride: the tokenizer over 64 bytes at once, in place of a
 * state at a time as in html_tokenizer.c, wherever a tag is all there and means nothing but a
 * separator or not even that. The stride stops at the beginning of anything else. Both ways have
 * one result.
 *
 * Bytes are looked at as bits, one for each byte of a block. Where all attributes of a tag have the
 * usual form (no value, or one in quotation marks right behind the equals sign), a byte is within
 * quotation marks when their number before it is odd, and the tag ends at the first '>' outside: a
 * few operations a tag, with no branch that depends on its content. Other tags are gone through an
 * attribute at a time.
 *
 * Example: in <a title="x > y">z the quotation marks are odd at the first '>' and even at the
 * second, which ends the tag.
 *
 * A file that includes this has defined: block (64 bytes), block_load(), block_store(), and two
 * functions that give a bit for each byte, the first one lowest: block_equal() (is this one) and
 * block_space() (is white space of HTML). And STRIDE, the name of the result. */
#include <string.h>

#include "engine/text/html/html.h"

enum {
    BLOCK_BYTES = 64,
    /* Bytes that are read from the beginning of a block on: itself, and a copy that begins at its
     * last byte. */
    AHEAD_BYTES = 2 * BLOCK_BYTES,
    /* The most that a block adds to the text: itself, a separator for each tag, a reference. */
    ROOM_BYTES = 3 * BLOCK_BYTES,
};

struct bits {
    uint64_t markup; /* '<' and '&' */
    uint64_t space, slash, greater, equals, quote, apostrophe;
    uint64_t quoted; /* quotation marks up to here, modulo two */
};

static inline struct bits bits_at(const uint8_t *p)
{
    block b = block_load(p);
    struct bits bits = {
        .markup = block_equal(b, '<') | block_equal(b, '&'),
        .space = block_space(b),
        .slash = block_equal(b, '/'),
        .greater = block_equal(b, '>'),
        .equals = block_equal(b, '='),
        .quote = block_equal(b, '"'),
        .apostrophe = block_equal(b, '\''),
    };
    uint64_t quoted = bits.quote;
    quoted ^= quoted << 1;
    quoted ^= quoted << 2;
    quoted ^= quoted << 4;
    quoted ^= quoted << 8;
    quoted ^= quoted << 16;
    bits.quoted = quoted ^ quoted << 32;
    return bits;
}

/* The first bit from a place on, 64 when there is none. */
static inline unsigned first_from(uint64_t bits, unsigned at)
{
    bits &= at < 64 ? ~0ull << at : 0; /* a shift by 64 is none */
    return bits ? (unsigned)__builtin_ctzll(bits) : 64;
}

static inline uint64_t below(unsigned at)
{
    return at < 64 ? ~(~0ull << at) : ~0ull;
}

static inline const uint8_t *find(const uint8_t *p, const uint8_t *last, char byte)
{
    for (; p <= last; p += BLOCK_BYTES) {
        uint64_t found = block_equal(block_load(p), byte);
        if (found)
            return p + __builtin_ctzll(found);
    }
    return NULL;
}

/* Goes through attributes from p on, where the state is "before attribute name". Returns the '>' of
 * the tag, or NULL when the state machine must find it: an attribute is longer than a block, or the
 * end is too near. */
static __attribute__((noinline)) const uint8_t *skip_attributes(const uint8_t *p,
                                                                const uint8_t *last)
{
    while (p <= last) {
        struct bits b = bits_at(p);
        unsigned name = first_from(~(b.space | b.slash), 0);
        if (name == 64) {
            p += 64;
            continue;
        }
        if (b.greater >> name & 1)
            return p + name;
        unsigned ends = first_from(b.space | b.slash | b.greater | b.equals, name + 1);
        unsigned at = first_from(~b.space, ends);
        if (at < 64 && b.equals >> at & 1) {
            at = first_from(~b.space, at + 1);
            if (at < 64 && (b.quote | b.apostrophe) >> at & 1) {
                p = find(p + at + 1, last, (char)p[at]);
                if (!p)
                    return NULL;
                p++;
                continue;
            }
            at = first_from(b.space | b.greater, at);
        }
        if (at == 64 && name == 0)
            return NULL;
        p += at == 64 ? name : at;
    }
    return NULL;
}

/* Eight bytes with their letters in lower case. */
static inline uint64_t lower_8(uint64_t bytes)
{
    const uint64_t ones = 0x0101010101010101, high = 0x80 * ones;
    uint64_t low = bytes & ~high;
    uint64_t from_a = low + (0x80 - 'A') * ones, past_z = low + (0x7f - 'Z') * ones;
    return bytes | ((from_a & ~past_z & ~bytes & high) >> 2);
}

static inline uint64_t load_8(const uint8_t *p)
{
    uint64_t bytes;
    memcpy(&bytes, p, sizeof(bytes));
    return bytes; /* little endian, as all are that have a kernel */
}

/* Adds the text of the reference that begins with the '&' at p, and returns the byte behind it. */
static inline const uint8_t *replace_reference(const uint8_t *p, uint8_t **out)
{
    /* "lt;", "gt;", "amp;", "nbsp", "quot": nine of ten in real pages, and separators all. */
    uint64_t name = load_8(p + 1);
    uint64_t three = name & 0xffffff, four = name & 0xffffffff, five = name & 0xffffffffff;
    size_t n = (three == 0x3b746c || three == 0x3b7467)         ? 3
               : four == 0x3b706d61                             ? 4
               : (five == 0x3b7073626e || five == 0x3b746f7571) ? 5
                                                                : 0;
    if (n > 0) {
        *(*out)++ = ' ';
        return p + 1 + n;
    }
    struct html_reference reference;
    html_reference_begin(&reference, false);
    for (const uint8_t *limit = ++p + BLOCK_BYTES; p < limit; p++) {
        bool ends, used = html_reference_feed(&reference, *p, &ends);
        if (ends) {
            memcpy(*out, reference.bytes, sizeof(reference.bytes));
            *out += reference.n_bytes;
            return p + used;
        }
    }
    return NULL; /* with that many digits */
}

/* The place of the '>' of the tag that begins at `tag`, when the tag is of the usual form and all
 * in the block, else 64. name_end: the end of the tag's name. */
static inline unsigned usual_tag_end(const struct bits *b, unsigned tag, unsigned name_end)
{
    uint64_t quoted = b->quoted ^ (0 - (b->quoted >> tag & 1));
    unsigned end = first_from(b->greater & ~quoted, tag);
    uint64_t within = below(end) & ~below(tag);
    uint64_t equals = b->equals & ~quoted & within, opening = b->quote & quoted & within;
    uint64_t other = (equals ^ opening >> 1) |
                     (equals & ((b->space | b->slash | b->quote) << 1 | below(name_end))) |
                     (b->apostrophe & ~quoted & within);
    return other ? 64 : end;
}

size_t STRIDE(struct gather *gather, uint8_t element_flags, const uint8_t *bytes, size_t size_bytes)
{
    if (size_bytes < AHEAD_BYTES)
        return 0;
    const uint8_t *p = bytes, *last = bytes + (size_bytes - AHEAD_BYTES);
    uint8_t *out = gather->bytes + gather->n_bytes;
    unsigned at = 0; /* all before it in the block is done */
    while (p <= last) {
        if (out > gather->bytes + GATHER_BYTES - ROOM_BYTES) {
            gather->n_bytes = (size_t)(out - gather->bytes);
            gather_flush(gather);
            out = gather->bytes;
        }
        struct bits b = bits_at(p);
        const uint8_t *next = NULL;
        for (at = 0; !next;) {
            unsigned tag = first_from(b.markup, at);
            block_store(out, block_load(p + at));
            out += tag - at;
            at = tag;
            if (tag == 64) {
                next = p + 64;
                break;
            }
            if (p[tag] == '&') {
                next = replace_reference(p + tag, &out);
                break;
            }
            const uint8_t *name = p + tag + 1;
            bool end_tag = *name == '/';
            name += end_tag;
            if (!html_is_letter(*name))
                break;
            unsigned name_end = first_from(b.space | b.slash | b.greater, tag + 2);
            unsigned end = usual_tag_end(&b, tag, name_end);
            if (end == 64 && tag > 0) {
                next = p + tag; /* a block of its own */
                break;
            }
            if (name_end == 64)
                break;
            size_t n = (size_t)(p + name_end - name);
            uint64_t low = lower_8(load_8(name)) & (n < 8 ? below(8 * (unsigned)n) : ~0ull);
            const struct html_element *element = html_element_slot(low);
            uint8_t flags = element->low == low && element->n == n ? element->flags : 0;
            flags &= element_flags;
            if (flags & (end_tag ? ELEMENT_LINK : ~ELEMENT_INLINE))
                break;
            if (end == 64) {
                next = skip_attributes(p + name_end, last);
                if (!next)
                    break;
                next++;
            }
            *out = ' ';
            out += !(flags & ELEMENT_INLINE);
            at = end + 1;
            if (at == 64)
                next = p + 64;
        }
        if (!next) {
            p += at;
            break;
        }
        p = next;
    }
    gather->n_bytes = (size_t)(out - gather->bytes);
    return (size_t)(p - bytes);
}
