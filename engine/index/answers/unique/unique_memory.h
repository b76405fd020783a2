/* The memory of unique/: the texts of the documents of one owner in one state of the index, which
 * document of each comes first, and whether it stays.
 *
 * A text is found by the number of its class, and once found stays where it is until the memory is
 * put back by all: what is said of it is said once, and first wins. UNIQUE_MEMORIES are kept, of
 * them as many as have room in UNIQUE_ALL_BYTES, those used last, for one walk comes by the files
 * of many owners in turn. One that is full is begun anew by who asks next. One that a single answer
 * has filled is closed: what is in it is known, and the rest stays in doubt as long as the index is
 * in that state, so that the same is not begun over and over.
 *
 * Threads: any. Leaf locks, held for some steps.
 */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_UNIQUE_UNIQUE_MEMORY_H
#define KINFS_ENGINE_INDEX_ANSWERS_UNIQUE_UNIQUE_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <time.h>

#include "base/cleanup.h"
#include "engine/index/index.h"
#include "engine/index/tables/record.h"

/* An answer may add half as much to one as it has. A text takes 200 bytes and its path, and eight
 * more for each of those before it while it is decided or in doubt. Texts of which the owner has no
 * document are counted apart, and those beyond are not remembered, so that others take nothing from
 * what is said of that one's. */
enum {
    UNIQUE_MEMORIES = 64,
    UNIQUE_ALL_BYTES = 100 << 20,
    UNIQUE_BYTES_MAX = 20 << 20,
    UNIQUE_ANSWER_BYTES = 10 << 20,
    UNIQUE_OTHERS_BYTES = 5 << 20,
};

/* The owner of all; no user has this number. */
static const uid_t UNIQUE_ANYONE = UINT32_MAX;
static inline bool unique_is_of(uid_t owner, uid_t user)
{
    return owner == UNIQUE_ANYONE || owner == user;
}

/* The larger comes first; neither is left out. */
enum unique_keeping { UNIQUE_NOT_KEPT, UNIQUE_KEPT, UNIQUE_REFERENCE };

/* How a document stands in the order of those that stay. */
struct unique_rank {
    enum unique_keeping kept;
    size_t prefer;         /* the first pattern it is named by; their number: none */
    int64_t first, second; /* smaller ones come first */
    char *path;
};

enum unique_verdict {
    UNIQUE_UNKNOWN,
    UNIQUE_STAYS,
    UNIQUE_LEFT_OUT,
    UNIQUE_IN_DOUBT, /* shown, and stands in for nothing; never stored */
};

/* The neighbours of a text that come before it, the first one first. */
struct unique_better {
    size_t n;
    struct unique_text *texts[];
};
static inline size_t unique_better_bytes(size_t n)
{
    return sizeof(struct unique_better) + n * sizeof(struct unique_text *);
}

struct unique_text {
    SLIST_ENTRY(unique_text) next;
    uint64_t number;
    uint8_t class_id[CLASS_BYTES];
    uint64_t sid; /* of the document that comes first; 0: the owner has none of it */
    struct unique_rank rank;
    uint32_t n_seen; /* documents of it that count */
    /* Under the memory's lock, and set once: */
    bool is_counted; /* what rank.first of INDEX_STAYS_MOST_CENTRAL is */
    enum unique_verdict verdict;
    uint64_t stand_in; /* sid of the one that stands in for it */
    double resemblance;
    struct unique_better *better; /* of one that is not decided; or NULL */
    /* Under the lock too, of one that is not decided: where its doubt began, which may be here;
     * NULL: it is in none. Where that one's is over, or began elsewhere, this one's is over too. */
    struct unique_text *origin;
    struct unique_text *about; /* of a doubt that began here: what it could not be compared with */
    uint64_t tried;            /* the last asking that had begun when it was tried */
};

struct unique_memory;
struct unique_memories {
    pthread_mutex_t lock;
    struct unique_memory *places[UNIQUE_MEMORIES];
    uint64_t clock;
};
void unique_memories_init(struct unique_memories *memories);
void unique_memories_done(struct unique_memories *memories);

/* That of an owner in a state of the index. Returns NULL without memory. */
struct unique_memory *unique_memory_get(struct unique_memories *memories, uid_t owner,
                                        uint64_t generation);
void unique_memory_put(struct unique_memory *memory);
DEFINE_CLEANUP(struct unique_memory *, unique_memory_put);

/* A text by its class, or NULL; for as long as the memory is held. */
struct unique_text *unique_memory_find(struct unique_memory *memory,
                                       const uint8_t class_id[CLASS_BYTES]);
/* Takes a text; gives it, or the one that was there before; NULL: it is of others, and not
 * remembered. */
struct unique_text *unique_memory_add(struct unique_memory *memory, struct unique_text *text);
void unique_text_free(struct unique_text *text);

/* Whether there is room for more_bytes within most_bytes; without, it is closed. False: it is. */
bool unique_memory_has_room(struct unique_memory *memory, size_t more_bytes, size_t most_bytes);
/* Another asking begins: its number, from 1 on, and how many bytes there are. */
uint64_t unique_memory_begin(struct unique_memory *memory, size_t *ret_bytes);

/* The verdict on a text so far; with UNIQUE_IN_DOUBT also the text that the doubt began with. */
enum unique_verdict unique_memory_verdict(struct unique_memory *memory,
                                          const struct unique_text *text,
                                          struct unique_text **ret_origin);
void unique_memory_decide(struct unique_memory *memory, struct unique_text *text,
                          enum unique_verdict verdict, uint64_t stand_in, double resemblance);

/* about  where it begins with the text itself, which is the origin then */
void unique_memory_put_in_doubt(struct unique_memory *memory, struct unique_text *text,
                                struct unique_text *origin, struct unique_text *about);
/* The text that the doubt which began with another is about; NULL: it was tried since an asking
 * began. */
struct unique_text *unique_memory_doubt(struct unique_memory *memory,
                                        const struct unique_text *origin, uint64_t asking);
void unique_memory_end_doubt(struct unique_memory *memory, struct unique_text *origin);

/* For as long as the memory is held, or NULL. */
const struct unique_better *unique_memory_better(struct unique_memory *memory,
                                                 const struct unique_text *text);
/* Takes it; of a text that is decided it is not needed. */
void unique_memory_keep_better(struct unique_memory *memory, struct unique_text *text,
                               struct unique_better *better);

/* True: rank.first has been set. */
bool unique_memory_is_counted(struct unique_memory *memory, const struct unique_text *text);
void unique_memory_count(struct unique_memory *memory, struct unique_text *text, int64_t first);

#endif
