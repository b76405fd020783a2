#include "engine/index/answers/unique/unique_memory.h"

#include "engine/index/answers/unique/unique_private.h"

#include <stdlib.h>
#include <string.h>

enum { N_BUCKETS = 1 << 13 };

SLIST_HEAD(unique_texts, unique_text);

struct unique_memory {
    pthread_mutex_t lock; /* of all below but n_refs */
    unsigned n_refs;      /* atomic */
    uid_t owner;
    uint64_t generation, used;
    uint64_t n_askings;
    size_t n_bytes, n_others_bytes; /* of texts that the owner has, and others */
    bool is_closed;
    struct unique_texts buckets[N_BUCKETS];
};

void unique_memories_init(struct unique_memories *memories)
{
    *memories = (struct unique_memories){0};
    pthread_mutex_init(&memories->lock, NULL);
}

void unique_memories_done(struct unique_memories *memories)
{
    for (int i = 0; i < UNIQUE_MEMORIES; i++)
        unique_memory_put(memories->places[i]);
    pthread_mutex_destroy(&memories->lock);
}

void unique_text_free(struct unique_text *text)
{
    if (text) {
        free(text->rank.path);
        free(text->better);
    }
    free(text);
}

static size_t bytes_of(const struct unique_text *text)
{
    return sizeof(*text) + (text->rank.path ? strlen(text->rank.path) + 1 : 0);
}

static struct unique_memory *make(uid_t owner, uint64_t generation)
{
    struct unique_memory *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return NULL;
    memory->n_refs = 1;
    memory->owner = owner;
    memory->generation = generation;
    pthread_mutex_init(&memory->lock, NULL);
    return memory;
}

static struct unique_memory *ref(struct unique_memory *memory)
{
    __atomic_add_fetch(&memory->n_refs, 1, __ATOMIC_RELAXED);
    return memory;
}

void unique_memory_put(struct unique_memory *memory)
{
    if (!memory || __atomic_sub_fetch(&memory->n_refs, 1, __ATOMIC_ACQ_REL))
        return;
    for (size_t i = 0; i < N_BUCKETS; i++) {
        struct unique_text *text;
        while ((text = SLIST_FIRST(&memory->buckets[i]))) {
            SLIST_REMOVE_HEAD(&memory->buckets[i], next);
            unique_text_free(text);
        }
    }
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static bool is_full(struct unique_memory *memory)
{
    LOCKED(&memory->lock);
    return !memory->is_closed && memory->n_bytes >= UNIQUE_BYTES_MAX;
}

static size_t all_bytes_of(struct unique_memory *memory)
{
    LOCKED(&memory->lock);
    return sizeof(*memory) + memory->n_bytes + memory->n_others_bytes;
}

/* The one that was used last the longest ago; NULL: there is none. Under the lock. */
static struct unique_memory **find_oldest(struct unique_memories *memories)
{
    struct unique_memory **oldest = NULL;
    for (int i = 0; i < UNIQUE_MEMORIES; i++) {
        struct unique_memory **place = &memories->places[i];
        if (*place && (!oldest || (*place)->used < (*oldest)->used))
            oldest = place;
    }
    return oldest;
}

/* That of the owner, or one for it. Under the lock. */
static struct unique_memory **find_place(struct unique_memories *memories, uid_t owner)
{
    struct unique_memory **empty = NULL;
    for (int i = 0; i < UNIQUE_MEMORIES; i++) {
        struct unique_memory **place = &memories->places[i];
        if (*place && (*place)->owner == owner)
            return place;
        if (!*place)
            empty = place;
    }
    return empty ? empty : find_oldest(memories);
}

/* One, where all have no room; or NULL. Under the lock. */
static struct unique_memory *take_one_too_many(struct unique_memories *memories)
{
    size_t n_bytes = 0, n = 0;
    for (int i = 0; i < UNIQUE_MEMORIES; i++) {
        n += memories->places[i] != NULL;
        n_bytes += memories->places[i] ? all_bytes_of(memories->places[i]) : 0;
    }
    return n > 1 && n_bytes > UNIQUE_ALL_BYTES ? TAKE_PTR(*find_oldest(memories)) : NULL;
}

struct unique_memory *unique_memory_get(struct unique_memories *memories, uid_t owner,
                                        uint64_t generation)
{
    struct unique_memory *dropped = NULL, *too_many, *memory = NULL;
    {
        LOCKED(&memories->lock);
        struct unique_memory **place = find_place(memories, owner), *there = *place;
        if (there && there->owner == owner && there->generation == generation && !is_full(there)) {
            memory = ref(there);
        } else if ((memory = make(owner, generation))) {
            dropped = there;
            *place = ref(memory);
        }
        if (memory)
            memory->used = ++memories->clock;
        too_many = take_one_too_many(memories);
    }
    unique_memory_put(dropped);
    unique_memory_put(too_many);
    return memory;
}

static struct unique_text *find(struct unique_memory *memory, uint64_t number)
{
    struct unique_text *text;
    SLIST_FOREACH(text, &memory->buckets[number % N_BUCKETS], next)
    {
        if (text->number == number)
            return text;
    }
    return NULL;
}

struct unique_text *unique_memory_find(struct unique_memory *memory,
                                       const uint8_t class_id[CLASS_BYTES])
{
    LOCKED(&memory->lock);
    return find(memory, record_class_number(class_id));
}

struct unique_text *unique_memory_add(struct unique_memory *memory, struct unique_text *text)
{
    struct unique_text *there;
    {
        LOCKED(&memory->lock);
        there = find(memory, text->number);
        if (!there && (text->sid || memory->n_others_bytes < UNIQUE_OTHERS_BYTES)) {
            SLIST_INSERT_HEAD(&memory->buckets[text->number % N_BUCKETS], text, next);
            *(text->sid ? &memory->n_bytes : &memory->n_others_bytes) += bytes_of(text);
            return text;
        }
    }
    unique_text_free(text);
    return there;
}

bool unique_memory_has_room(struct unique_memory *memory, size_t more_bytes, size_t most_bytes)
{
    LOCKED(&memory->lock);
    memory->is_closed |= memory->n_bytes + more_bytes > most_bytes;
    return !memory->is_closed;
}

uint64_t unique_memory_begin(struct unique_memory *memory, size_t *ret_bytes)
{
    LOCKED(&memory->lock);
    *ret_bytes = memory->n_bytes;
    return ++memory->n_askings;
}

enum unique_verdict unique_memory_verdict(struct unique_memory *memory,
                                          const struct unique_text *text,
                                          struct unique_text **ret_origin)
{
    LOCKED(&memory->lock);
    *ret_origin = text->origin;
    return text->origin && text->origin->origin == text->origin ? UNIQUE_IN_DOUBT : text->verdict;
}

void unique_memory_decide(struct unique_memory *memory, struct unique_text *text,
                          enum unique_verdict verdict, uint64_t stand_in, double resemblance)
{
    LOCKED(&memory->lock);
    if (text->verdict == UNIQUE_UNKNOWN) {
        text->verdict = verdict;
        text->stand_in = stand_in;
        text->resemblance = resemblance;
        text->origin = NULL;
    }
}

void unique_memory_put_in_doubt(struct unique_memory *memory, struct unique_text *text,
                                struct unique_text *origin, struct unique_text *about)
{
    LOCKED(&memory->lock);
    if (text->verdict != UNIQUE_UNKNOWN)
        return;
    text->origin = origin;
    if (text == origin) {
        text->about = about;
        text->tried = memory->n_askings;
    }
}

struct unique_text *unique_memory_doubt(struct unique_memory *memory,
                                        const struct unique_text *origin, uint64_t asking)
{
    LOCKED(&memory->lock);
    return origin->tried >= asking ? NULL : origin->about;
}

void unique_memory_end_doubt(struct unique_memory *memory, struct unique_text *origin)
{
    LOCKED(&memory->lock);
    origin->origin = NULL;
}

const struct unique_better *unique_memory_better(struct unique_memory *memory,
                                                 const struct unique_text *text)
{
    LOCKED(&memory->lock);
    return text->better;
}

void unique_memory_keep_better(struct unique_memory *memory, struct unique_text *text,
                               struct unique_better *better)
{
    {
        LOCKED(&memory->lock);
        if (text->verdict == UNIQUE_UNKNOWN && !text->better) {
            text->better = better;
            memory->n_bytes += unique_better_bytes(better->n);
            return;
        }
    }
    free(better);
}

bool unique_memory_is_counted(struct unique_memory *memory, const struct unique_text *text)
{
    LOCKED(&memory->lock);
    return text->is_counted;
}

void unique_memory_count(struct unique_memory *memory, struct unique_text *text, int64_t first)
{
    LOCKED(&memory->lock);
    if (!text->is_counted)
        text->rank.first = first;
    text->is_counted = true;
}

uint64_t index_unique_state(const struct index_unique *unique)
{
    struct index *index = unique->index;
    return index_generation(index) + (atomic_load(&index->n_declared) << 40);
}
