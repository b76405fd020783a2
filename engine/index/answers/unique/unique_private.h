/* Things that the parts of unique/ share (unique.c says how they go together). Any thread that asks
 * may call their functions, and those of an asking the one that makes it. All of them may wait for
 * the store. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_UNIQUE_UNIQUE_PRIVATE_H
#define KINFS_ENGINE_INDEX_ANSWERS_UNIQUE_UNIQUE_PRIVATE_H

#include "engine/index/answers/answer.h"
#include "engine/index/answers/unique/unique_memory.h"

struct index_unique {
    struct index *index;
    struct index_unique_options options;
    char **prefer, **reference;
    double estimated; /* least estimate of what may reach `near` */
    struct unique_memories memories;
    size_t answer_bytes; /* that one may add to a memory */
    /* While the index changes too often for long answers, of clock_now_ms(); and how much time went
     * to such since the last time. */
    atomic_int_fast64_t hurried_until_ms, lost_us;
    atomic_uint_fast64_t n_searches; /* for neighbours, since it was made */
};

/* An answer in the making. */
struct unique_asking {
    struct index_unique *unique;
    struct index *index;
    struct index_query query; /* with the threshold of estimates */
    struct path_cache *paths;
    uid_t owner; /* of the document that is asked about: those of others count for nothing */
    gid_t group; /* looked at last (unique_way.c), once group_is_known: it is that owner's own */
    bool group_is_known, group_is_own;
    struct unique_memory *memory;
    uint64_t state;        /* of the index, that it is of */
    uint64_t number;       /* of those that asked the memory */
    size_t memory_bytes;   /* that the memory may have at the end of it */
    size_t decision_bytes; /* of what is being decided */
    size_t n_searches_left;
    bool stale; /* something was passed over that is looked at again */
};

/* Functions that take an asking fail with errors of the store, -ENOMEM, -EINTR (stopped), -EBUSY
 * (the index is in another state by now), or -ENOBUFS: one answer may not take so much, or a
 * document of the owner cannot be looked at in time; texts that are not decided yet stay in doubt.
 */

/* -- who comes first (unique_order.c) -- */

/* The keeping of a file that has this path (enum unique_keeping). */
int unique_keeping(struct unique_asking *asking, const struct file_key *file, const char *path);
/* The rank of a document with its path, which is taken on success. */
int unique_rank_make(struct unique_asking *asking, const struct record *record, char *path,
                     struct unique_rank *ret_rank);
/* A strict order: of two paths none is equal to the other. */
int unique_rank_compare(const struct unique_rank *a, const struct unique_rank *b);

/* -- the documents of a text (unique_text.c) -- */

/* Certain, and of the owner. */
bool unique_is_certain(struct unique_asking *asking, const struct document *document);
/* A document that may stand in for others, with its owner and path. Returns 1, 0 or an error. */
int unique_look_at(struct unique_asking *asking, const struct document *document, uid_t *ret_owner,
                   char **ret_path);
/* A text, with the document of it that comes first; NULL: the owner has none of it. */
int unique_text_get(struct unique_asking *asking, const uint8_t class_id[CLASS_BYTES],
                    struct unique_text **ret_text);

/* -- its neighbours (unique_neighbours.c) -- */

/* Texts are equal in their first bytes (tables/record.h); what has none is not compared in full. */
static inline bool unique_is_text(const struct unique_text *text)
{
    return text->class_id[0] == 'T';
}

/* Those that come before the text, the first one first. One search, and for the most central ones
 * one for each that was not counted. */
int unique_find_better(struct unique_asking *asking, struct unique_text *text,
                       struct unique_better **ret_better);

/* -- who could take one away (unique_way.c) -- */

/* Whether nobody but root and the owner can write a stand-in, or take it away who could not do so
 * to the document: 1, 0, -EAGAIN (one of them changes) or an error. */
int unique_is_as_safe(struct unique_asking *asking, const struct file_key *file, const char *path,
                      const struct file_key *stand_in, const char *stand_in_path);

/* -- whether it stays (unique_decision.c) -- */

/* UNIQUE_STAYS, UNIQUE_LEFT_OUT or UNIQUE_IN_DOUBT, of a text that the owner has. */
int unique_decide(struct unique_asking *asking, struct unique_text *text,
                  enum unique_verdict *ret_verdict);

#endif
