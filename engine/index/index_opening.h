/* An index comes and goes: its options, its opening and closing, and its store on the disk. A part
 * of index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_OPENING_H
#define KINFS_ENGINE_INDEX_INDEX_OPENING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/backing.h"
#include "engine/index/index_clusterings.h"

struct index;
struct ignore_rules; /* engine/ignore/ignore_rules.h */

enum index_log_level { INDEX_LOG_ERROR, INDEX_LOG_WARNING, INDEX_LOG_INFO };

/* A program that makes text or features of the documents of one media type (extractor.h). */
struct index_extractor {
    const char
        *media_type; /* as libmagic says it: "audio/midi"; "audio/" and a "*": all of audio */
    const char *const *command;             /* its absolute path and arguments; ends with NULL */
    bool is_text;                           /* it writes text in UTF-8; else features, one a line */
    unsigned seconds, memory_mb, output_mb; /* limits; 0: 60, 1024, 64 */
};

enum {
    INDEX_PASSAGES_AS_STORED,
    INDEX_PASSAGES_NONE,
    INDEX_PASSAGES_LEAST = 8,
    INDEX_PASSAGES_USUAL = 24,
    INDEX_PASSAGES_MOST = 256,
};

enum index_topics { /* from content on as enum topics_kind of topics/topics.h */
                    INDEX_TOPICS_AS_STORED,
                    INDEX_TOPICS_OFF,
                    INDEX_TOPICS_CONTENT,
                    INDEX_TOPICS_ANCHOR,
                    INDEX_TOPICS_BOTH,
};

#define INDEX_KEEP_LOST_AS_STORED UINT64_C(0)
#define INDEX_KEEP_LOST_NONE UINT64_MAX

struct index_options {
    struct backing *backing; /* borrowed until index_close() */
    const char *source;      /* path of the backing tree, for messages and the store's record */
    const char *store_path;  /* directory of the store; made (0700) when missing and create */
    bool create;
    const char *policy; /* preset of a new store, NULL for "default"; an existing store must
                           have been made with it when given */
    /* names (word_options.h) of a new store, NULL for "words" and "none"; an existing store must
     * have been made with them when given */
    const char *tokens, *stopwords, *stemmer;
    unsigned n_workers; /* 0: one for each processor, at most 8 */
    size_t cache_bytes; /* 0: the store's default */
    /* Rules that leave something out of the tree, besides ignore files and what always is; borrowed
     * until index_close(); NULL: none */
    const struct ignore_rules *ignore;
    /* Files that are shorter, or longer, are no documents; 0: no bound */
    uint64_t least_bytes, most_bytes;
    unsigned left_out_types; /* documents of these are none, 1 << of each enum text_type */
    /* INDEX_PASSAGES_AS_STORED: what the store has stays as it is; INDEX_PASSAGES_NONE: passages
     * are not indexed, and what is stored of them is removed; or the least number of words in a row
     * by which two documents are sure to be found, 8 to 256 (24 is usual): of documents that were
     * read without, the next scan finds them */
    unsigned passages;
    /* INDEX_TOPICS_AS_STORED: what the store has stays as it is; INDEX_TOPICS_OFF: no words of
     * documents are kept, and what is stored of them is removed; or those that documents have are,
     * for INDEX_RELATED: of documents that were read without, the next scan finds them */
    enum index_topics topics;
    /* How long, in seconds, what documents were is remembered once it is replaced or gone;
     * INDEX_KEEP_LOST_AS_STORED: as long as the store says, a year where it says nothing;
     * INDEX_KEEP_LOST_NONE: not at all, and what is remembered is removed */
    uint64_t keep_lost_s;
    const struct index_extractor *extractors; /* besides those of PDF, office documents and books */
    size_t n_extractors;
    /* The named clusterings, each name once. What the store has besides is removed in the
     * background. NULL: those that the store has */
    const struct index_clustering *clusterings;
    size_t n_clusterings; /* at most INDEX_CLUSTERINGS_MAX */
    void (*log)(void *user, enum index_log_level level, const char *message); /* any thread */
    void *log_user;
};

/* Open the index of a tree, offline: what a crash interrupted is finished, and nothing runs until
 * index_start().
 *
 * ret_error  on failure one line: what is wrong with what, and what to do
 *
 * A directory that is neither empty nor a store is refused before anything in it is touched.
 * Returns 0, -ENOENT (no store and not create), -EBUSY (in use), -EUCLEAN (damaged, or with
 * fingerprints of another version: rebuild),
 * -EPROTO (another policy, tree or a newer schema), -ENOTEMPTY (somebody else's directory), -EINVAL
 * (the tree itself, or an existing directory in it), -EOPNOTSUPP (extractors, and no
 * kinfs-extract), -ENOSPC, -EROFS, -EACCES, -ENOMEM, -EIO.
 */
int index_open(const struct index_options *options, struct index **ret_index, char **ret_error);

/* The path of the tree that a store is of, without the tree and beside whoever has the store.
 * Returns 0, -ENOENT (no store) or an error, with a line in *ret_error; gives. */
int index_read_source(const char *store_path, char **ret_source, char **ret_error);

/* Remove a store that nobody has open, with other files of the caller's in its directory (names,
 * NULL behind the last). Returns 0, -ENOENT (no store), -EBUSY (in use), -EPERM (others can change
 * it), -ENOTEMPTY (something else is there, too; the store is removed), or an errno of unlink(2),
 * with a line in *ret_error. */
int index_remove_store(const char *store_path, const char *const *others, char **ret_error);

/* The bytes that a store takes on the disk. What cannot be read does not count. */
uint64_t index_store_bytes(const char *store_path);

/* Start workers and committer, and begin the scan that reconciles the index with the tree. Returns
 * 0 or an error. */
int index_start(struct index *index);

/* Drains the foreground lane (up to wait_ms), stops, flushes. NULL allowed. Its parts follow. */
void index_close(struct index *index, unsigned wait_ms);

/* Drains, ends what writes the store, and stores all there is. Any thread; of several the first
 * does it, and others wait for it. */
void index_end(struct index *index, unsigned wait_ms);
/* Ends all threads, however long one of them waits for a file system, or for a directory that
 * somebody keeps locked. Questions and the committer's functions may go on from the caller's. */
void index_stop(struct index *index);
/* The process ends at once, while threads wait still: another one may have the store from now on.
 * Behind index_end(), of an index that is not closed. */
void index_let_go(struct index *index);

/* Close an index that came to no use. Where index_open() made the directory of the store and
 * nothing is in it yet, that is removed again, with another file of the caller's (its name, or
 * NULL). NULL allowed. */
void index_abandon(struct index *index, const char *other);

/* Scan the whole tree again (one already running is followed by another). */
void index_rescan(struct index *index);

#endif
