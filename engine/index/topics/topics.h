/* What a store keeps so that documents are found that are about the same as one: the bag of each
 * document (tables/bags.h) or what it says of others (tables/fragments.h), or both, which come and
 * go with it; and what others say of it (tables/bags.h) and the lists of words (tables/
 * word_lists.h), which a batch makes anew in the background when documents, or names that links
 * lead by, have changed. There is no such thing in a store unless it is wanted, and then it costs
 * nothing.
 *
 * TABLE_META
 *
 *   "topics"        kind 8: enum topics_kind; none are kept without it (tables/optional_tables.h)
 *   "topics_epoch"  epoch 8 | bags 8: of the lists that are read, and of how many bags they are
 *   "remade"        clusters/remade.h, of the lists
 *
 * Lists are of the bags of one moment: a document that came since is in none, and one that went may
 * be in some. Weights are made of df and the number of bags of that moment, also of a document that
 * came since, of which it is not known yet what others say.
 */
#ifndef KINFS_ENGINE_INDEX_TOPICS_TOPICS_H
#define KINFS_ENGINE_INDEX_TOPICS_TOPICS_H

#include "base/niceness.h"
#include "engine/index/messages.h"
#include "engine/index/tables/bags.h"
#include "engine/index/tables/optional_tables.h"
#include "store/kv.h"

#define TOPICS_META "topics"
#define TOPICS_EPOCH_META "topics_epoch"

/* The words that are a document's: its own, those by which others link to it and its title, or
 * all. Stored. */
enum topics_kind {
    TOPICS_OFF,
    TOPICS_CONTENT = 1,
    TOPICS_ANCHOR = 2,
    TOPICS_BOTH = TOPICS_CONTENT | TOPICS_ANCHOR,
    TOPICS_AS_STORED,
};

struct topics;

/* The things they are made of, and with; all borrowed. */
struct topics_of {
    struct kv *kv;
    const struct file_key *root; /* of the tree */
    const char *scratch;         /* the directory for what a batch does not keep in memory */
    struct niceness *niceness;
    struct messages *messages;
};

extern const struct optional_tables topics_tables; /* enum topics_kind */

/* ret_topics  NULL where none are wanted
 *
 * Rows that are not wanted any more are removed. Before any thread runs. Returns 0, -ENOMEM,
 * -EUCLEAN or a store error. */
int topics_open(const struct topics_of *of, enum topics_kind wanted, struct topics **ret_topics);
void topics_close(struct topics *topics); /* NULL allowed */

/* Something else is made of the bags, and not of now when they change (borrowed): at most
 * TOPICS_DECIDES_MOST. Before any thread runs. */
enum { TOPICS_DECIDES_MOST = 2 };
struct remade;
void topics_decide(struct topics *topics, struct remade *remade);
/* It can be made: what others say of documents is said as it is now, or does not matter. Any
 * thread. */
bool topics_may_decide(const struct topics *topics);
/* Why the lists could not be made the last time, or 0. */
int topics_error(const struct topics *topics);

/* -- bags; the committer's -- */

struct topics_row {
    uint64_t sid;
    struct kv_slice bag, fragments; /* rows of both tables; data NULL: none */
};

/* Return 0, -ENOMEM or a store error; can be repeated. */
int topics_put(struct topics *topics, const struct topics_row *rows, size_t n);
int topics_remove(struct topics *topics, const uint64_t *sids, size_t n);
/* Names of the tree are about to come or go. Returns as remade_changed(). */
int topics_names_change(struct topics *topics);

/* -- lists; the committer's, as of named clusterings (named/named_clusterings.h) -- */

bool topics_is_idle(const struct topics *topics);
bool topics_has_work(const struct topics *topics, bool rests, bool wanted);
/* Some of that work. 0, or a store error. */
int topics_step(struct topics *topics, bool rests, bool wanted);
/* The work that another thread does ends; the committer is no more, or calls. */
void topics_stop(struct topics *topics);

/* -- any thread -- */

/* Lists that could not be made are to be tried once more. Returns whether there are any. */
bool topics_retry(struct topics *topics);
enum topics_kind topics_kind(const struct topics *topics); /* not off */
/* A document has all rows of its own: 1, 0 or a store error. */
int topics_has(const struct topics *topics, uint64_t sid);
/* The words of a document: its own of now, and what others said of it in an epoch. Returns 0,
 * -ENOENT, -EUCLEAN, -ENOMEM or a store error; ret_bag gives. */
int topics_get(const struct topics *topics, uint32_t epoch, uint64_t sid, struct bag *ret_bag);

/* What is said now of a name of the tree, as a row of TABLE_ANCHORS (anchors_making.h); stop may be
 * NULL. Returns 0, also where nothing is, -EINTR, or an error; ret_row gives. */
int topics_said_of(const struct topics *topics, const char *name, bool (*stop)(void *user),
                   void *user, struct kv_buf *ret_row);

/* The lists that are to be read: of so many bags. epoch 0: none were made yet. */
struct topics_epoch {
    uint32_t epoch;
    uint64_t n_bags;
};
struct topics_epoch topics_epoch(struct topics *topics);
/* They are of all bags as they are now. */
bool topics_is_current(const struct topics *topics);

#endif
