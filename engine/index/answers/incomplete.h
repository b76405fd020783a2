/* An answer may be incomplete: miss documents by more than chance allows. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_INCOMPLETE_H
#define KINFS_ENGINE_INDEX_ANSWERS_INCOMPLETE_H

#include "engine/index/index_state.h"

/* Says it, whatever the answer turns out to be; leaves "" where nothing is missed.
 *
 * sketch     of the document asked about
 * all_known  all its shingles were there to find its parts by, not the sketch alone */
void incomplete_say(struct index *index, const struct min_sketch *sketch, bool all_known,
                    const struct index_query *query, char ret_why[KIN_LIST_WHY_BYTES]);

#endif
