/* A plan of what becomes of near-duplicates: of each document that unique/ leaves out one line of
 * JSON, which people read and change, and take lines from. Of one thread at a time. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TIDY_PLAN_H
#define KINFS_TOOLS_COMMANDS_TIDY_TIDY_PLAN_H

#include <stddef.h>

#include "tools/commands/tidy/tidy_state.h"
#include "tools/questions/locate.h"

enum tidy_act {
    TIDY_LIST,    /* nothing is done */
    TIDY_TRASH,   /* it is moved to the trash */
    TIDY_LINK,    /* its name becomes one of the document that is kept (a hard link) */
    TIDY_REFLINK, /* it stays a file of its own, and shares the room */
    N_TIDY_ACTS
};
extern const char *const tidy_acts[N_TIDY_ACTS];
/* Returns N_TIDY_ACTS for a word of none. */
enum tidy_act tidy_act_of(const char *word);

struct tidy_item {
    char *path, *keep; /* from the plan's directory on */
    double resemblance;
    bool is_equal; /* byte for byte */
    enum tidy_act act;
    const char *why; /* of TIDY_LIST, why nothing else may be done; not owned, or NULL */
    struct tidy_state is, keep_is; /* when that was decided */
};

/* Zero-initialised; ends with tidy_plan_done(). */
struct tidy_plan {
    char *directory; /* absolute: the tree itself, never a mount of it elsewhere */
    struct tidy_item *items;
    size_t n, room;
};

void tidy_plan_done(struct tidy_plan *plan);

/* Takes what the item has, in either case. Returns 0 or -ENOMEM. */
int tidy_plan_add(struct tidy_plan *plan, struct tidy_item *item);
/* By what is kept, then by path: before tidy_plan_find(). */
void tidy_plan_sort(struct tidy_plan *plan);

/* Ask which documents of a directory unique/ leaves out for others in it, as they are now: all to
 * be listed, by what is kept, then by path. Nothing of a trash, by its name, is among them. A
 * near-duplicate that unique/ would leave out for an equal one, if it left out nothing but equal
 * texts, is there once more for that: where it stays, its equal need not.
 *
 * at                  as locate() finds the directory
 * configuration_file  where nothing is mounted: has the rules; NULL: that of no name
 *
 * Returns 0, -EINVAL in a trash, or an error of ask(), with *ret_error. */
int tidy_plan_ask(struct tidy_plan *plan, const struct location *at, const char *configuration_file,
                  char **ret_error);

/* Drop what is left out for a document that is left out itself, and so stays. An answer is of more
 * than one state where the index changes meanwhile. Returns 0 or -ENOMEM. */
int tidy_plan_drop_chains(struct tidy_plan *plan);

/* Several that are left out for one and no equal of it have one size: they may be equal to each
 * other. Sorts anew. */
bool tidy_plan_may_have_more(struct tidy_plan *plan);
/* Add of what is equal to another one, byte for byte, and left out for that, what the plan has as a
 * near-duplicate: it is in the plan twice then. Empties equal. Returns 0 or -ENOMEM. */
int tidy_plan_add_equal(struct tidy_plan *plan, struct tidy_plan *equal);
/* Of what is in the plan twice keep the line by which it goes: with near that of the
 * near-duplicate, which goes with its equals, else that of its equal, which stays. Sorted as by
 * tidy_plan_sort(). Returns 0 or -ENOMEM. */
int tidy_plan_choose(struct tidy_plan *plan, bool near);

/* Decide what is to be done of each: act with what is equal byte for byte, and with other
 * near-duplicates where near is set; and nothing with what the act cannot be done with. */
void tidy_plan_decide(struct tidy_plan *plan, enum tidy_act act, bool near);

/* The bytes that are free once it is done, and the trash is empty: none of a file with other names.
 */
uint64_t tidy_item_saves(const struct tidy_item *item);

void tidy_plan_print(const struct tidy_plan *plan, bool json);

/* Read what tidy_plan_print() has printed as JSON: a file of root's or one's own that others cannot
 * write. Returns 0, -EINVAL for another file, or an errno of trust_open_order(), with *ret_error.
 */
int tidy_plan_read(struct tidy_plan *plan, const char *file, char **ret_error);

/* The item that a plan which was asked for now has of a path; NULL: nothing. */
const struct tidy_item *tidy_plan_find(const struct tidy_plan *plan, const char *path,
                                       const char *keep);

#endif
