/* The tree without its near-duplicates. A part of index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_UNIQUE_H
#define KINFS_ENGINE_INDEX_INDEX_UNIQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/files/file_key.h"

struct index;
struct index_query; /* index_questions.h */

/* The representative is the document that stays of those that resemble each other: the one that
 * comes first. In this order count: that it is in a reference directory, that its owner wants it
 * kept (INDEX_KEEP_ATTRIBUTE), which pattern of those that are preferred it is the first to be
 * named by, what follows, and its path, bytewise. */
enum index_representative {
    INDEX_STAYS_OLDEST, /* by mtime */
    INDEX_STAYS_NEWEST,
    INDEX_STAYS_SHORTEST_PATH,
    INDEX_STAYS_LARGEST,
    /* which most other texts resemble by `near`, as far as sketches tell */
    INDEX_STAYS_MOST_CENTRAL,
};

struct index_unique_options {
    double near; /* least resemblance, exact; 0.5 to 1 */
    enum index_representative representative;
    /* Patterns of fnmatch(3): with a slash but at its end, of a path from the root of the tree on,
     * or of a directory above; else of a name in it. Copied */
    const char *const *prefer;
    size_t n_prefer;
    /* Directories, from the root of the tree on, without a slash at an end: a document with a name
     * below one of them stays. Copied */
    const char *const *reference;
    size_t n_reference;
    bool stand_in_anyone; /* also what is of another owner */
};

/* A path of the tree is below a reference directory. Any thread, no system call. */
bool index_unique_is_reference(const struct index_unique_options *options, const char *path);

/* Decides which documents may be left out, for those that stand in for them: to tell root and the
 * owner of the index, who may read everything, and nobody else. Any thread; the index outlives it.
 *
 * A document is left out only when all of this holds at one moment, of it and of the one that
 * stands in for it: its row is of the file as it is, it is not pending and not open for writing;
 * both have one owner, unless anyone's may stand in, and nobody but root and that owner can write
 * the other one or take it away (answers/unique/unique_way.c); they have
 * the same bytes or the same text (by digests of 128 bits under the store's secret key), or the
 * full sets of their shingles resemble each other by `near`, never only their sketches; nobody has
 * declared them to be distinct; and the other one is not left out itself. A document that is empty,
 * of which one cannot tell, or that is to be kept or in a reference directory is not left out. What
 * is of another owner has no influence: that one can change it while its times stay as they are, so
 * that what was found of it is not true any more.
 *
 * Documents of one text are decided as one. A text stays, unless one of those that come before it
 * and stay resembles it: a greedy cover, found from the text that is asked about on. At most
 * UNIQUE_ATTEMPTS (answers/unique/unique_decision.c) others are compared with it in full, those
 * that come first of whom sketches say that they may reach `near`; so a document may stay that a
 * fuller search would leave out.
 *
 * Cost: a walk of n documents takes for each text one search by its sketch, as `similar` does, and
 * looks at each document of it once; what is found is remembered until the index changes. One name
 * may take as much as all that it depends on, of a long chain of versions. Two texts are read and
 * compared once in the life of the store (tables/compared.h), n * UNIQUE_ATTEMPTS at most; and once
 * is read of each content one document that is left out as equal, whatever its size: where that
 * cannot be had, it is shown. Of documents in hand and what stands in for them 4 calls of the
 * kernel each time, and 6 of what is left out and its stand-in. */
struct index_unique;
/* An extended attribute of the tree: a file that has it is never left out. */
#define INDEX_KEEP_ATTRIBUTE "user.kinfs.keep"
/* The list of what is left out, as it is named at the top of unique/: a document of the tree of
 * that path is not shown there, and stands in for nothing. */
#define INDEX_UNIQUE_SKIPPED ".kinfs-skipped.tsv"
int index_unique_new(struct index *index, const struct index_unique_options *options,
                     struct index_unique **ret_unique); /* 0, -EINVAL, -ENOMEM */
void index_unique_free(struct index_unique *unique);    /* NULL allowed */
DEFINE_CLEANUP(struct index_unique *, index_unique_free);

/* A number that is another one after each change of the index, or of what is declared distinct; odd
 * while the index changes. Nanoseconds. */
uint64_t index_unique_state(const struct index_unique *unique);

/* The one that stands in for a document. Zero-initialised. */
struct index_stand_in {
    char *path;
    struct file_key key;
    double resemblance;
    struct stat stays;    /* of the one that stands in, as it was when that was decided */
    struct stat left_out; /* of the document that is left out, likewise */
    bool same_content;    /* byte for byte */
    uint8_t sha256[32];   /* of these bytes */
};
void index_stand_in_done(struct index_stand_in *stand_in);

/* An entry of a directory is left out. Returns 1, 0, -EACCES (query->may_read: of an asker who may
 * not read everything), -EINTR (stopped), -ENOMEM or a store error. Of the query are used stop and
 * wait_ms. What turns out to have changed is looked at again, for query->wait_ms at most. */
int index_unique_left_out(struct index_unique *unique, const struct file_key *parent,
                          const char *name, const struct file_key *file,
                          const struct index_query *query, struct index_stand_in *ret_stand_in);

/* A file is left out by each of its names: none is in a directory that has no documents, where it
 * would be shown. As index_unique_left_out(). */
int index_unique_leaves_out(struct index_unique *unique, const struct file_key *file,
                            const struct index_query *query, struct index_stand_in *ret_stand_in);

/* All that is left out, in no order: each path. Returns 0, what visit returned, or as above. */
typedef int (*index_unique_fn)(void *user, const char *path, const struct index_stand_in *stand_in);
int index_unique_each(struct index_unique *unique, const struct index_query *query,
                      index_unique_fn visit, void *user);

/* Declare two documents not to be duplicates of each other, so that neither stands in for the
 * other, or take that back. Remembered by their file keys, over edits, renames and a rebuild.
 * Returns 0, -ENOENT (one is no file of the tree that is known), -EINVAL (one and the same) or a
 * store error. */
int index_set_distinct(struct index *index, const struct file_key *a, const struct file_key *b,
                       bool distinct);

#endif
