/* What is known of texts for one asker in one state of the index: which document of each comes
 * first among those the asker may see, and whether it stays.
 *
 * A text is found by the number of its class, and once found stays where it is until the memory is
 * put back by all: what is said of it is said once, and first wins. The last UNIQUE_MEMORIES are
 * kept; of a state in which the index is changing none is. One that is full is begun anew by who
 * asks next.
 *
 * Threads: any. Leaf locks, held for some steps.
 */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_UNIQUE_MEMORY_H
#define KINFS_ENGINE_INDEX_ANSWERS_UNIQUE_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <time.h>

#include "base/cleanup.h"
#include "engine/index/tables/record.h"

/* 160 bytes a text and its path. */
enum { UNIQUE_MEMORIES = 4, UNIQUE_TEXTS_MAX = 1 << 17 };

/* How a document stands in the order of those that stay. */
struct unique_rank {
    bool kept;
    size_t prefer;         /* the first pattern it is named by; their number: none */
    int64_t first, second; /* smaller ones come first */
    char *path;
};

enum unique_verdict {
    UNIQUE_UNKNOWN,
    UNIQUE_STAYS,
    UNIQUE_LEFT_OUT,
    UNIQUE_IN_DOUBT, /* shown, and stands in for nothing */
};

struct unique_text {
    SLIST_ENTRY(unique_text) next;
    uint64_t number;
    uint8_t class_id[CLASS_BYTES];
    uint64_t sid; /* of the document that comes first; 0: the asker may be shown none of it */
    struct unique_rank rank;
    /* Under the memory's lock, and set once: */
    bool is_counted; /* what rank.first of UNIQUE_MOST_CENTRAL is */
    enum unique_verdict verdict;
    uint64_t stand_in; /* sid of the one that stands in for it */
    double resemblance;
};

struct unique_memory;
struct unique_memories {
    pthread_mutex_t lock;
    struct unique_memory *places[UNIQUE_MEMORIES];
    uint64_t clock;
};
void unique_memories_init(struct unique_memories *memories);
void unique_memories_done(struct unique_memories *memories);

/* That of an asker in a state of the index. Returns NULL without memory. */
struct unique_memory *unique_memory_get(struct unique_memories *memories, uint64_t asker,
                                        uint64_t generation);
void unique_memory_put(struct unique_memory *memory);
DEFINE_CLEANUP(struct unique_memory *, unique_memory_put);

/* A text by its class, or NULL; for as long as the memory is held. */
struct unique_text *unique_memory_find(struct unique_memory *memory,
                                       const uint8_t class_id[CLASS_BYTES]);
/* Takes a text; gives it, or the one that was there before. */
struct unique_text *unique_memory_add(struct unique_memory *memory, struct unique_text *text);
void unique_text_free(struct unique_text *text);

enum unique_verdict unique_memory_verdict(struct unique_memory *memory,
                                          const struct unique_text *text);
/* Returns the one that holds. */
enum unique_verdict unique_memory_decide(struct unique_memory *memory, struct unique_text *text,
                                         enum unique_verdict verdict, uint64_t stand_in,
                                         double resemblance);
/* True: rank.first has been set. */
bool unique_memory_is_counted(struct unique_memory *memory, const struct unique_text *text);
void unique_memory_count(struct unique_memory *memory, struct unique_text *text, int64_t first);

#endif
