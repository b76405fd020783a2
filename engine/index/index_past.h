/* The past of documents: for root and the owner of the store alone, as paths and contents of anyone
 * are told (Broder et al. 1997, section 6). A part of index.h, which says who may call. */
#ifndef KINFS_ENGINE_INDEX_INDEX_PAST_H
#define KINFS_ENGINE_INDEX_INDEX_PAST_H

#include "engine/index/index_questions.h"

enum index_past_kind {
    INDEX_PAST_BORN,      /* the document came: its ctime when it was first looked at */
    INDEX_PAST_CHANGED,   /* this content was replaced by another one */
    INDEX_PAST_MOVED,     /* the file lost this name, and lives on by another */
    INDEX_PAST_DIED,      /* the file lost its last name */
    INDEX_PAST_DIRECTORY, /* a directory with documents went from path to `to` */
    INDEX_PAST_NOW,       /* the document as it is */
};
struct index_past {
    enum index_past_kind kind;
    uint64_t time_ns;                        /* since 1970; INDEX_PAST_NOW: of its mtime */
    uint64_t mtime_ns, size_bytes, n_tokens; /* of the content; INDEX_PAST_DIRECTORY: 0 */
    const char *path, *to;                   /* as they were then; to: else NULL */
    double resemblance; /* INDEX_PAST_CHANGED: to the content that followed; NAN: not known */
    struct file_key key;
};
/* Returns 0, or an error that ends the walk and is returned. What it gets is borrowed. */
typedef int (*index_past_fn)(void *user, const struct index_past *past);

/* The documents that now resemble the last content known of a path that is gone, or was another's;
 * or, of a file that is still there with another content, the content before that. A document below
 * a directory that was moved is found by the path from before.
 *
 * ret_was, ret_path  the content that is asked about, and where it was; gives the path
 *
 * Returns 0, -ENOENT (nothing is remembered of such a path), or as index_foreign_similar(). */
int index_lost(struct index *index, const char *path, const struct index_query *query,
               struct index_past *ret_was, char **ret_path, struct kin_list *ret_list);

/* The kind of a lost path: INDEX_LOST_DOCUMENT; or INDEX_LOST_DIRECTORY, where there is no such
 * document, but something below; or INDEX_LOST_NOTHING; -EINTR (query->stop said so, besides which
 * nothing of the query is used) or another error. Some reads of the store for each owner and name
 * of the path. */
enum index_lost_kind { INDEX_LOST_NOTHING, INDEX_LOST_DIRECTORY, INDEX_LOST_DOCUMENT };
int index_lost_look(struct index *index, const char *path, const struct index_query *query);

/* The history of the documents at a path, as far as it is remembered, in the order of time, and the
 * one that is there now last. *ret_n_damaged: rows that could not be read. Of the query only stop
 * is used. Returns 0, -ENOENT (there is, and was, no document), -EINTR (stopped), what visit
 * returned or an error. */
int index_history(struct index *index, const char *path, const struct index_query *query,
                  index_past_fn visit, void *user, uint64_t *ret_n_damaged);

/* All that happened in a directory (path "": the tree) since a moment, by where it was then, in no
 * order: births, contents that were replaced, moves, deaths. A name that was lost by a file that is
 * in the tree all the same counts as a move. Returns as above. Reads all of the past, and all rows
 * of files. */
int index_changes(struct index *index, const char *path, uint64_t since_ns,
                  const struct index_query *query, index_past_fn visit, void *user,
                  uint64_t *ret_n_damaged);

/* Seconds that the past is kept for; 0: it is not. */
uint64_t index_keep_lost(struct index *index);

#endif
