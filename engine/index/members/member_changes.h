/* The last changes of who is in which cluster, for whoever watches.
 *
 * Each row of a member that comes or goes is a change, and has a number, one more than that of the
 * one before; so a document that moves is two, and one that is written anew, which is another sid
 * of the same file, too. Numbers are given all the time, changes are kept only while somebody has
 * asked for them a short while ago: when nobody has, a change costs the adding of one. What is kept
 * has a bound, beyond which the oldest goes; who asks for more than there is sees by the numbers
 * how many are missing.
 *
 * Left out: to keep them in the store, for a watcher that ends and comes again. The rows are there,
 * and to compare two readings of them is what such a one can do.
 */
#ifndef KINFS_ENGINE_INDEX_MEMBERS_MEMBER_CHANGES_H
#define KINFS_ENGINE_INDEX_MEMBERS_MEMBER_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/index/members/member.h"

enum {
    MEMBER_CHANGES_BYTES = 8 << 20, /* of memory, for those that are kept */
    MEMBER_CHANGES_KEPT_MS = 60000, /* after the last question */
    MEMBER_CHANGES_AT_ONCE = 256,   /* given, and those of their last step that come behind */
};

enum member_change_kind {
    MEMBER_CAME,     /* from none */
    MEMBER_MOVED_IN, /* from another cluster, which it leaves by a change of its own */
    MEMBER_LEFT,     /* it is there still */
    MEMBER_REMOVED,  /* the document is going, or this content of it */
    MEMBERS_MERGED,  /* all of `cluster` are in `to`, by changes of their own; no file */
};

struct member_change {
    uint64_t number;
    enum member_change_kind kind;
    uint64_t cluster, to; /* stored ids */
    uint64_t sid;
    struct file_key file, above;
    char path[]; /* MEMBER_REMOVED: the one it had, from the directory `above` on; "": none */
};

struct member_changes;

/* The last names of the path of a file that is going, and the directory that they begin in. Gives,
 * NULL: none. It keeps the committer, so it looks at a few rows, however far down the file is:
 * whoever is told of it looks for that directory. */
typedef char *(*member_path_fn)(void *user, const struct file_key *file,
                                struct file_key *ret_above);

/* Returns 0 or -ENOMEM. */
int member_changes_new(member_path_fn path, void *user, struct member_changes **ret_changes);
void member_changes_free(struct member_changes *changes); /* NULL allowed */

/* -- the committer's; NULL allowed: nothing is done. Never fail: a change that there is no memory
 * for is one that is missing -- */

void member_changes_note(struct member_changes *changes, enum member_change_kind kind,
                         uint64_t cluster, const struct member *member);
void member_changes_note_merge(struct member_changes *changes, uint64_t cluster, uint64_t to);
/* Changes that were noted can be seen from now on: never the half of a step.
 *
 * is_sure  false: the store may have changed in ways that nobody was told of; one is missing */
void member_changes_publish(struct member_changes *changes, bool is_sure);

/* -- anyone's -- */

/* Drawn by chance, below 2^53, not 0: numbers are of this instance alone. */
uint64_t member_changes_instance(const struct member_changes *changes);

struct member_change_list {
    struct member_change **changes; /* in order of their numbers */
    size_t n_changes;
    uint64_t n_missing;
    uint64_t next; /* to ask with the next time */
    bool more;     /* there are others, which can be asked for at once */
};
void member_change_list_done(struct member_change_list *list);

/* The first ones since a number, whole steps of them; 0: none, and `next` is that of the first to
 * come. Returns 0 or -ENOMEM. */
int member_changes_since(struct member_changes *changes, uint64_t since,
                         struct member_change_list *ret_list);

#endif
