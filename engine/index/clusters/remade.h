/* A clustering whose clusters are those that a batch (engine/cluster/batch.h) makes of all records:
 * it cannot follow a change, it is made anew as a whole, in the background. Between two times its
 * clusters are those of the last one, less the documents that are gone; who comes is in none, and
 * what was rewritten stays where it was. Whether they are those of now is known at any moment.
 *
 * TABLE_META
 *
 *   "remade.N"   version 1 (1) | current 1 | postings 8 | lists 8 | left out: lists 8, postings 8
 *
 * N is the number of the clustering; of the lists of words (topics/topics.h) the row is "remade".
 * No row: it was never made. A change of the documents puts
 * current to 0 before its first write. All numbers big endian.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_REMADE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_REMADE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/index.h"
#include "store/kv.h"

struct remade;

/* number  0: of the lists of words
 * Returns 0, -ENOMEM, -EUCLEAN or a store error; ret_remade gives. kv is borrowed. */
int remade_open(struct kv *kv, unsigned number, struct remade **ret_remade);
void remade_close(struct remade *remade); /* NULL allowed */
/* There is no such thing any more. Before it is opened. Returns 0, -ENOMEM or a store error. */
int remade_forget(struct kv *kv, unsigned number);

/* -- the committer's -- */

/* Documents are about to come or go. Returns 0, -ENOMEM or a store error; then nothing has changed
 * and nothing may. A write when it was current, else nanoseconds. */
int remade_changed(struct remade *remade);
/* A number that is another one after every change. */
uint64_t remade_n_changes(const struct remade *remade);

/* The clusters are those of all records as they were when there had been so many changes, and what
 * it took to make them so. Returns 0, -ENOMEM or a store error. */
int remade_complete(struct remade *remade, uint64_t n_changes,
                    const struct index_clustering_loss *loss, int64_t cost_ms);
/* The error says what is in the way of making it, want of room or scratch files that have no
 * directory, and not that the store is damaged, or fails, for all; and that in words. */
bool remade_is_obstacle(int error);
const char *remade_obstacle(int error);
/* It could not be made: not again until something changes, or somebody asks for it; and after
 * changes the later the more often it could not. error: why. Returns whether it is another error
 * than that of the time before. */
bool remade_failed(struct remade *remade, int error);

/* The time to make it anew has come.
 *
 * rests   nothing is known that will change it
 * wanted  somebody waits for it
 *
 * It waits until changes have rested for as long as making it takes, but for no longer than some
 * twenty times that, and half a minute where it has failed: so it takes a twentieth of a processor
 * at most. */
bool remade_is_due(struct remade *remade, bool rests, bool wanted, int64_t now_ms);
/* Its clusters are current, or cannot be made so for now. */
bool remade_is_idle(struct remade *remade);

/* -- anyone's -- */

bool remade_is_current(struct remade *remade);
/* The error by which it could not be made the last time it was to be: 0 when it was, or never was
 * to be. */
int remade_error(struct remade *remade);
/* The obstacle that kept it from being made may be over. Returns whether it is to be tried
 * again. */
bool remade_retry(struct remade *remade);
/* Returns false when it was never made. */
bool remade_get_loss(struct remade *remade, struct index_clustering_loss *ret_loss);

/* A row of a clustering, for who checks a store: 1 when it says current, 0, or
 * -EUCLEAN. */
int remade_read_row(const struct kv_buf *value);

#endif
