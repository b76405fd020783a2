/* A hash table without collisions: the slot of a name is the upper bits of a product of its first
 * eight letters, and the compiler warns of a slot that is filled twice. An element that is not here
 * separates words and has no other meaning.
 *
 * Example: "b" has the slot of its one letter, where its flags say that it does not separate words;
 * "td" finds another name there, or none. Cost: one multiplication and one comparison.
 */
#include "engine/text/html/html_element.h"

#define LETTERS(a, b, c, d, e, f, g, h, ...)                                                       \
    ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 |              \
     (uint64_t)(e) << 32 | (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)
#define LOW(...) LETTERS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0)
#define ELEMENT(flags, n, ...) [HTML_ELEMENT_SLOT(LOW(__VA_ARGS__))] = {LOW(__VA_ARGS__), n, flags}

const struct html_element html_elements[HTML_ELEMENT_SLOTS] = {
    ELEMENT(ELEMENT_INLINE | ELEMENT_LINK, 1, 'a'),
    ELEMENT(ELEMENT_INLINE, 4, 'a', 'b', 'b', 'r'),
    ELEMENT(ELEMENT_INLINE, 7, 'a', 'c', 'r', 'o', 'n', 'y', 'm'),
    ELEMENT(ELEMENT_INLINE, 1, 'b'),
    ELEMENT(ELEMENT_INLINE, 3, 'b', 'd', 'i'),
    ELEMENT(ELEMENT_INLINE, 3, 'b', 'd', 'o'),
    ELEMENT(ELEMENT_INLINE, 3, 'b', 'i', 'g'),
    ELEMENT(ELEMENT_INLINE, 4, 'c', 'i', 't', 'e'),
    ELEMENT(ELEMENT_INLINE, 4, 'c', 'o', 'd', 'e'),
    ELEMENT(ELEMENT_INLINE, 4, 'd', 'a', 't', 'a'),
    ELEMENT(ELEMENT_INLINE, 3, 'd', 'e', 'l'),
    ELEMENT(ELEMENT_INLINE, 3, 'd', 'f', 'n'),
    ELEMENT(ELEMENT_INLINE, 2, 'e', 'm'),
    ELEMENT(ELEMENT_INLINE, 4, 'f', 'o', 'n', 't'),
    ELEMENT(ELEMENT_INLINE, 1, 'i'),
    ELEMENT(ELEMENT_INLINE, 3, 'i', 'n', 's'),
    ELEMENT(ELEMENT_INLINE, 3, 'k', 'b', 'd'),
    ELEMENT(ELEMENT_INLINE, 4, 'm', 'a', 'r', 'k'),
    ELEMENT(ELEMENT_INLINE, 4, 'n', 'o', 'b', 'r'),
    ELEMENT(ELEMENT_INLINE, 1, 's'),
    ELEMENT(ELEMENT_INLINE, 4, 's', 'a', 'm', 'p'),
    ELEMENT(ELEMENT_INLINE, 5, 's', 'm', 'a', 'l', 'l'),
    ELEMENT(ELEMENT_INLINE, 4, 's', 'p', 'a', 'n'),
    ELEMENT(ELEMENT_INLINE, 6, 's', 't', 'r', 'i', 'k', 'e'),
    ELEMENT(ELEMENT_INLINE, 6, 's', 't', 'r', 'o', 'n', 'g'),
    ELEMENT(ELEMENT_INLINE, 3, 's', 'u', 'b'),
    ELEMENT(ELEMENT_INLINE, 3, 's', 'u', 'p'),
    ELEMENT(ELEMENT_INLINE, 4, 't', 'i', 'm', 'e'),
    ELEMENT(ELEMENT_INLINE, 2, 't', 't'),
    ELEMENT(ELEMENT_INLINE, 1, 'u'),
    ELEMENT(ELEMENT_INLINE, 3, 'v', 'a', 'r'),
    ELEMENT(ELEMENT_INLINE, 3, 'w', 'b', 'r'),

    ELEMENT(ELEMENT_ALT | ELEMENT_LINK, 4, 'a', 'r', 'e', 'a'),
    ELEMENT(ELEMENT_ALT, 3, 'i', 'm', 'g'),
    ELEMENT(ELEMENT_ALT, 5, 'i', 'n', 'p', 'u', 't'),
    ELEMENT(ELEMENT_SCRIPT, 6, 's', 'c', 'r', 'i', 'p', 't'),
    ELEMENT(ELEMENT_RAWTEXT | ELEMENT_HIDDEN, 5, 's', 't', 'y', 'l', 'e'),
    ELEMENT(ELEMENT_RAWTEXT, 3, 'x', 'm', 'p'),
    ELEMENT(ELEMENT_RAWTEXT | ELEMENT_HIDDEN, 6, 'i', 'f', 'r', 'a', 'm', 'e'),
    ELEMENT(ELEMENT_RAWTEXT | ELEMENT_HIDDEN, 7, 'n', 'o', 'e', 'm', 'b', 'e', 'd'),
    ELEMENT(ELEMENT_RAWTEXT | ELEMENT_HIDDEN, 8, 'n', 'o', 'f', 'r', 'a', 'm', 'e', 's'),
    ELEMENT(ELEMENT_RCDATA, 5, 't', 'i', 't', 'l', 'e'),
    ELEMENT(ELEMENT_RCDATA, 8, 't', 'e', 'x', 't', 'a', 'r', 'e', 'a'),
    ELEMENT(ELEMENT_PLAINTEXT, 9, 'p', 'l', 'a', 'i', 'n', 't', 'e', 'x'), /* and a 't' */
};

const struct html_element *html_element(const struct html_name *name)
{
    static const struct html_element other = {0};
    const struct html_element *element = html_element_slot(name->low);
    return element->low == name->low && element->n == name->n &&
                   name->high == (name->n > 8 ? 't' : 0)
               ? element
               : &other;
}
