/* A readable file to its sketch, by the text engine or by the extractor that its content asks for.
 * Nothing here knows of the store. */
#ifndef KINFS_ENGINE_INDEX_EXTRACT_SKETCHING_H
#define KINFS_ENGINE_INDEX_EXTRACT_SKETCHING_H

#include <stdbool.h>

#include "engine/index/extract/extractor.h"
#include "engine/index/tables/left_out.h"
#include "engine/sketch/documents/document_sketch.h"

struct sketching; /* one per thread */

/* The means by which documents are read; they outlive who reads. */
struct sketching_by {
    const struct policy *policy;
    const struct shingle_hash *hash; /* of the policy */
    const struct extractors *extractors;
    bool takes_slow; /* whether what is SKETCHING_SLOW is read; else refused */
    bool runs_none;  /* what takes an extractor is refused all the same */
};

/* stop  asked now and then whether nobody waits for the end any more
 *
 * Returns 0, -ENOMEM. */
int sketching_new(const struct sketching_by *by, bool (*stop)(void *user), void *user,
                  struct sketching **ret_sketching);
void sketching_free(struct sketching *sketching);
DEFINE_CLEANUP(struct sketching *, sketching_free);

/* As document_sketcher_on_shingles(). */
void sketching_on_shingles(struct sketching *sketching,
                           void (*take)(void *user, const uint64_t *fingerprints, size_t n),
                           void *user);

/* As document_sketcher_on_words(). */
void sketching_on_words(struct sketching *sketching, const struct document_words *words);

/* As document_sketcher_on_tokens(). */
void sketching_on_tokens(struct sketching *sketching, const struct document_tokens *tokens);

/* As document_sketcher_on_links(). */
int sketching_on_links(struct sketching *sketching,
                       void (*take)(void *user, const struct canon_link *link), void *user);

enum { SKETCHING_REASON_BYTES = 96 };
/* The reason is a rule: the file is to be no document. */
static inline bool sketching_is_left_out(const char *reason)
{
    return is_left_out(reason);
}

enum {
    /* Longer ones are slow: of a text it takes three milliseconds, so that a thousand, made in no
     * time with holes, are over in some seconds. */
    SKETCHING_SHORT_MIB = 1,
    /* Longer ones are long: of a text it takes a fifth of a second, so that who waits for what was
     * just written waits for all up to this. */
    SKETCHING_LONG_MIB = 64,
    /* None is read beyond: it takes minutes. */
    SKETCHING_MOST_GIB = 64,
};
#define SKETCHING_SHORT_BYTES ((uint64_t)SKETCHING_SHORT_MIB << 20)
#define SKETCHING_LONG_BYTES ((uint64_t)SKETCHING_LONG_MIB << 20)
#define SKETCHING_MOST_BYTES ((uint64_t)SKETCHING_MOST_GIB << 30)

/* Other results than 0 and errors. */
enum {
    SKETCHING_SLOW = 1,     /* it takes an extractor, may take one that it takes long to tell, or is
                               packed, and this one takes none of these */
    SKETCHING_TOO_LONG = 2, /* it is longer than most_bytes, which have been read */
    SKETCHING_LEFT_OUT = 3,
};

/* All of the document that is open as fd. Locks of the file are not waited for.
 *
 * most_bytes  of it and of what is unpacked of it, together
 * ret_sketch  its values stay valid until the next run
 *
 * Returns 0; SKETCHING_SLOW, _TOO_LONG; -ESHUTDOWN: stopped; -EBADMSG, with the reason: its
 * extractor failed, or its type is left out; -ENOMEM, -EMFILE, -ENFILE; or an error of
 * unlocked_read(). Time is linear in the bytes, holes and what is unpacked included; memory is
 * bounded. Whether to stop is asked for every 256 KiB of these. */
int sketching_run(struct sketching *sketching, int fd, uint64_t most_bytes,
                  struct document_sketch *ret_sketch, char ret_reason[SKETCHING_REASON_BYTES]);

/* The same of all of it: one that is longer than SKETCHING_MOST_BYTES is -EBADMSG, at once where
 * fstat(2) says so; neither SLOW nor TOO_LONG where slow ones are taken. */
int sketching_run_whole(struct sketching *sketching, int fd, struct document_sketch *ret_sketch,
                        char ret_reason[SKETCHING_REASON_BYTES]);

/* All of the document of the last run, which was 0, where it is short enough to be at hand, less
 * than 256 KiB; else NULL. Borrowed until the next run. */
const void *sketching_bytes(const struct sketching *sketching, size_t *ret_n_bytes);

/* The id of the extractor that read the document of the last run, 0: none. */
uint32_t sketching_extractor(const struct sketching *sketching);

/* The same of a document that is not read, but for its first 8 KiB: of the one that would. Returns
 * 0, SKETCHING_SLOW, SKETCHING_LEFT_OUT: its type is or may be, or an error of unlocked_read(). */
int sketching_find_extractor(struct sketching *sketching, int fd, uint32_t *ret_extractor);

/* The reason for one that is longer than SKETCHING_MOST_BYTES. Returns -EBADMSG. */
int sketching_refuse(char ret_reason[SKETCHING_REASON_BYTES]);

#endif
