/* A store is made anew, checked, and mended. Any thread, which waits for all of it; found,
 * progress, stage and checked are called by that one. A part of index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_UPKEEP_H
#define KINFS_ENGINE_INDEX_INDEX_UPKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index/index_clusterings.h"
#include "engine/index/index_opening.h"

struct index;
struct index_status; /* index_status.h */

/* Make everything that is stored anew from the tree, under the same policy and secret key: a fresh
 * database is built beside the old one and takes its place when it is complete; until then the old
 * one stays as it is. Clusters keep their ids: an id goes to the new cluster with most of its
 * documents. The old database may be damaged (then ids are kept as far as they can be read), and
 * must not be in use.
 *
 * options   of index_open(); policy is used only where no policy can be read any more
 * progress  called as soon as the store is held, then about ten times a second with the state of
 *           the work; NULL: not wanted
 *
 * Returns 0, -EBUSY, -ENOENT (no store), -ENOTEMPTY (somebody else's directory), -ENOSPC, -ENOMEM,
 * -EIO; on failure the old store stands. Waits for the whole work.
 */
int index_rebuild(const struct index_options *options,
                  void (*progress)(void *user, const struct index_status *status), void *user,
                  char **ret_error);

/* -- checking -- */

enum { INDEX_FINDINGS_TOLD = 20 };

struct index_finding {
    const char *table; /* of the store; "store": of none, or of all */
    const char *path;  /* of the document or directory it is about, relative to the tree; NULL: it
                          is about none, or about one that has no path any more */
    const char *what;  /* one line */
};

struct index_check_clustering {
    struct index_clustering clustering;
    uint64_t clusters, members;
};
/* The numbers counted. */
struct index_check {
    uint64_t names, links;       /* entries of the tree, from above and from below */
    uint64_t documents, skipped; /* files with a sketch, and those that could not be read */
    uint64_t unread;             /* files that the next scan reads again */
    uint64_t records, classes;
    uint64_t postings_r, postings_c, postings_p; /* p: of passages */
    uint64_t dead; /* postings of documents that are gone: harmless, found where others differ */
    uint64_t clusters, members, intents;
    uint64_t past;  /* events of what documents were */
    size_t n_named; /* clusterings, and each of them: */
    struct index_check_clustering
        named[INDEX_CLUSTERINGS_MAX + 2]; /* those of topics come to them */
    uint64_t findings; /* all; of those of a kind the first INDEX_FINDINGS_TOLD were told */
};

struct index_check_options {
    bool deep; /* find the clusters anew, too; takes long where very many resemble each other */
    /* Both return 0, or an error that ends the check. */
    int (*found)(void *user, const struct index_finding *finding);   /* or NULL */
    int (*progress)(void *user, const char *table, uint64_t n_rows); /* or NULL */
    void *user;
    const char *scratch; /* for deep, a directory for what does not fit into memory: index_check()
                            and index_check_damaged() take the store's */
};

/* Check that the store says what it should, of itself and of the tree as far as it was seen; the
 * tree is not read. Waits for the whole work, which is a few readings of the store, in some 70 MiB
 * of memory (with deep besides 50 bytes a document, 80 where clusters have centres and 93 where a
 * batch has made them, and 170 MiB);
 * the index works on meanwhile, and what is checked is the moment of the call. Returns 0, whatever
 * was found, an error of the store's (it cannot be written), or -ESTALE: that had to be opened anew
 * meanwhile.
 */
int index_check(struct index *index, const struct index_check_options *options,
                struct index_check *ret_counts);

/* The same of a store of which index_open() returned -EUCLEAN or -EIO, as far as it can be read.
 * why: what it said, which is told as a finding. Returns 0, or an error with a line in *ret_error
 * or none. */
int index_check_damaged(const struct index_options *index_options, const char *why,
                        const struct index_check_options *options, struct index_check *ret_counts,
                        char **ret_error);

/* Functions may be NULL; those that return something return 0, or an error that ends the work. */
struct index_repair_options {
    bool deep; /* find the clusters anew, too, in both checks */
    /* The findings of the first check, and its counts in the end: where that is nothing, nothing
     * follows.
     */
    int (*found)(void *user, const struct index_finding *finding);
    int (*checked)(void *user, const struct index_check *counts);
    /* As index_rebuild()'s, and where the work is that it says nothing of. table NULL: n_rows says
     * nothing. */
    void (*progress)(void *user, const struct index_status *status);
    int (*stage)(void *user, const char *stage, const char *table, uint64_t n_rows);
    void *user;
};

enum index_mending {
    INDEX_MENDING_NONE,     /* nothing was wrong */
    INDEX_MENDING_PUT_BACK, /* all is right once what the database says of itself is there again */
    INDEX_MENDING_DERIVED,  /* what derives from the rest was made anew, alone */
    INDEX_MENDING_ANEW,
};

/* Mend a store, whatever is wrong with it, with the answers of index_rebuild(), and in a database
 * beside the old one, too. Where nothing is wrong but postings, classes, and who is in which
 * cluster, the rest is copied, these are made anew from it, and what comes out is checked; all ids
 * stay. Else all is as in index_rebuild(), but a document of which the old database still has a row
 * that is of the file as it is now, and a sound sketch, is not read again, nor one without its row
 * whose sketch is of the file as it has been since before the store was made; then nothing else of
 * the old one is taken over, so it does not matter what is damaged, missing or of another moment.
 * sketched_documents says how many were read.
 *
 * It checks what is there, once, and what it made, once. Returns enum index_mending, or an error as
 * index_rebuild(), and -EUCLEAN where what was made is wrong, too; then the old store stands. */
int index_repair(const struct index_options *options, const struct index_repair_options *wanted,
                 char **ret_error);

#endif
