/* All names of the tree of one moment, by their fingerprints, and the documents at them: links are
 * resolved by it (engine/topic/links/link_place.h).
 *
 * Memory: 16 bytes a slot, of which three quarters are taken at most: some 32 bytes a name. One
 * thread.
 */
#ifndef KINFS_ENGINE_INDEX_TOPICS_TREE_NAMES_H
#define KINFS_ENGINE_INDEX_TOPICS_TREE_NAMES_H

#include <errno.h>

#include "engine/index/catalogue/catalogue.h"
#include "engine/topic/links/link_place.h"

struct tree_names;

/* The one who waits is asked now and then whether he does not any more; then the work ends with
 * -EINTR. is NULL: never. */
struct tree_stop {
    bool (*is)(void *user);
    void *user;
};
static inline int tree_stopped(const struct tree_stop *stop)
{
    return stop->is && stop->is(stop->user) ? -EINTR : 0;
}

/* One walk over the catalogue. root: of the tree. Returns 0, -EINTR, -ENOMEM, -EUCLEAN or a store
 * error; ret_names gives. Linear: some 5 us a name. */
int tree_names_read(struct kv *kv, const struct file_key *root, const struct tree_stop *stop,
                    struct tree_names **ret_names);
void tree_names_free(struct tree_names *names);
DEFINE_CLEANUP(struct tree_names *, tree_names_free);

/* The thing at a name, as of struct link_tree. ret_sid: of the document there, 0: there is none. */
enum link_is tree_names_find(const struct tree_names *names, const char *name, uint64_t *ret_sid);

/* The largest sid of all. */
uint64_t tree_names_last_sid(const struct tree_names *names);

#endif
