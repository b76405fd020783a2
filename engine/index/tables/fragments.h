/* What documents say of others: of each its links as they are written, with the words around them,
 * and its title (engine/topic/bags/link_windows.h). Where a link leads is found out when it is
 * asked for (topics/anchors_making.c), as the same document links elsewhere when it is moved. Empty
 * unless topics are wanted that others say.
 *
 * Row of TABLE_FRAGMENTS:
 *
 *   key    sid 8
 *   value  version 1 (1), then of each target, each once: kind 1 (enum link_kind) | its length 2 |
 *          the target | words 1 | each, ascending: word 5 (bags.h), count 1
 *
 * A target without bytes is the document itself, and has its title. Numbers of kinds are stored.
 *
 * Derived data, of the document's bytes and the ending of its name. A document without a row is
 * read again by the next scan. All numbers big endian.
 */
#ifndef KINFS_ENGINE_INDEX_TABLES_FRAGMENTS_H
#define KINFS_ENGINE_INDEX_TABLES_FRAGMENTS_H

#include "engine/index/tables/bags.h"
#include "engine/topic/links/link.h"

enum {
    FRAGMENTS_MOST_TARGETS = 256, /* beside the document itself */
    FRAGMENTS_MOST_WORDS = 32,    /* of a target */
    FRAGMENTS_COUNT_MOST = UINT8_MAX,
    FRAGMENTS_ENTRY_BYTES = BAGS_WORD_BYTES + 1,
    FRAGMENTS_ROW_MAX_BYTES = 64 << 10,
    FRAGMENT_MAX_BYTES = 4 + LINK_TARGET_MAX_BYTES + FRAGMENTS_MOST_WORDS * FRAGMENTS_ENTRY_BYTES,
};

struct fragment {
    enum link_kind kind;
    const char *target; /* borrowed */
    size_t target_bytes;
    uint32_t n_words;
    struct bag_word words[FRAGMENTS_MOST_WORDS];
};

enum { FRAGMENTS_VERSION_BYTES = 1 };
/* Puts the beginning of a row. */
void fragments_put_version(uint8_t *at);
/* Puts the next target of a row, with its words in any order, each once with its count in the last
 * bits (bags.h), 1 to FRAGMENTS_COUNT_MOST. Sorts them. Returns its bytes, FRAGMENT_MAX_BYTES at
 * most. */
size_t fragments_put(uint8_t *at, enum link_kind kind, const char *target, size_t target_bytes,
                     uint64_t *counted, size_t n);

struct fragments {
    const uint8_t *at, *end;
};

/* Begins with a row, which is borrowed. Returns 0, -EUCLEAN. */
int fragments_begin(struct fragments *fragments, struct kv_slice row);
/* Returns 1 with the next target, 0 at the end, -EUCLEAN. */
int fragments_next(struct fragments *fragments, struct fragment *ret_fragment);

#endif
