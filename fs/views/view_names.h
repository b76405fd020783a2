/* The names of the links of a view, and where they point.
 *
 * Threads: any.
 */
#ifndef KINFS_FS_VIEWS_VIEW_NAMES_H
#define KINFS_FS_VIEWS_VIEW_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/index/index.h"

/* The names of the links to some documents in one directory: `RRR-basename`, RRR the resemblance in
 * per cent (ratio.h), or of passages `NNNNN-basename`, NNNNN the words shared. Where that name is
 * taken by a document before, `~2`, `~3` and so on is added; what would be longer than NAME_MAX is
 * shortened at the end of a character. Depends on kin alone.
 *
 * ret_names  n_kin strings, each different; gives; end with view_names_free(names, n_kin)
 *
 * Returns 0 or -ENOMEM. Linear in n_kin.
 */
int view_names_make(const struct kin *kin, size_t n_kin, char ***ret_names);
void view_names_free(char **names, size_t n_names);

/* The name may be that of a link: three digits or more and a dash. */
bool view_names_is_link(const char *name);

/* The id that a name of a cluster or topic is: a decimal number without a sign or leading zeros; 0
 * for what is none. */
uint64_t view_names_id(const char *name);

#endif
