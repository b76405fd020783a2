/* The place of a directory that may have lost its name: under another name that the catalogue has,
 * the one that the file system says it has now, or nowhere in the tree.
 *
 * Example: a/x and b/y change places. Once b/y is known to be what was a/x, the other of the two
 * has no name; it is asked where it is, and put at a/x. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_MOVED_DIRECTORY_H
#define KINFS_ENGINE_INDEX_INTAKE_MOVED_DIRECTORY_H

#include "engine/index/catalogue/other_names.h"
#include "engine/index/index_state.h"

enum place { PLACE_GONE, PLACE_ELSEWHERE, PLACE_HERE };

/* Looks, and enters a place that the catalogue has not into it. The committer's.
 *
 * old              the name that is in doubt, still in the catalogue; NULL: it is no more
 * old_parent_goes  its directory is on its way out with all that is in it
 * far              climbs as far as there are directories (CLIMB_FAR rows, and as many looks), else
 *                  CLIMB_NEAR
 *
 * Returns PLACE_HERE (old is right), PLACE_ELSEWHERE, PLACE_GONE, -E2BIG (to be looked for far), or
 * an error. */
int moved_directory_look(struct index *index, const struct file_key *directory,
                         const struct catalogue_name *old, bool old_parent_goes, bool far);

#endif
