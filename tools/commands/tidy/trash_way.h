/* Documents that are in a trash: what is there is about to be lost, so it is not tidied, and stays
 * for nothing. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TRASH_WAY_H
#define KINFS_TOOLS_COMMANDS_TIDY_TRASH_WAY_H

#include <stdbool.h>

#include "tools/commands/tidy/tidy_look.h"
#include "tools/commands/tidy/trash.h"

/* A directory on a way is called as a trash is: .Trash, .Trash-UID or Trash. The last name of a
 * document's path is no directory. Any thread. */
bool trash_way_is_named(const char *path);
bool trash_way_is_named_so(const char *directory);

/* A document that has been looked at is in a trash, whatever that is called, as things are now: in
 * the one of this run, or in one that says so of it (info/NAME.trashinfo).
 *
 * path  of the document in the tree
 *
 * Returns 1, 0, -EXDEV or -ELOOP (its directory has left the tree), or an errno of open(2) or
 * fstat(2). A few system calls for each directory on the way. */
int trash_way_leads_in(const struct trash *trash, int tree_fd, const char *path,
                       const struct tidy_look *look);

#endif
