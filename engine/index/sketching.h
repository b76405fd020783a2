/* A readable file to its sketch, by the text engine or by the extractor that its content asks for.
 * Nothing here knows of the store. */
#ifndef KINFS_ENGINE_INDEX_SKETCHING_H
#define KINFS_ENGINE_INDEX_SKETCHING_H

#include "engine/index/index_private.h"

struct sketching; /* one per thread */

/* Under the policy and with the extractors of an index, which outlives it.
 *
 * extracts  whether it runs extractors itself
 * stop      asked now and then whether nobody waits for the end any more
 *
 * Returns 0, -ENOMEM. */
int sketching_new(const struct index *index, bool extracts, bool (*stop)(void *user), void *user,
                  struct sketching **ret_sketching);
void sketching_free(struct sketching *sketching);
DEFINE_CLEANUP(struct sketching *, sketching_free);

/* From fd's offset, its beginning, to its end; an extractor makes it begin anew.
 *
 * ret_sketch  its values stay valid until the next run
 *
 * Returns 0; 1: it takes an extractor, and this one runs none; -ESHUTDOWN: stopped; -EBADMSG, with
 * the reason: its extractor failed; -ENOMEM, -EMFILE, -ENFILE; or an errno of read(2). Time is
 * linear in the bytes, memory bounded. */
int sketching_run(struct sketching *sketching, int fd, struct document_sketch *ret_sketch,
                  char ret_reason[FILE_ROW_REASON_BYTES]);

#endif
