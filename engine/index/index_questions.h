/* Questions about documents: the rights of the one who asks, the kin of a document, what is in no
 * tree, two documents, and the state of one. The answers describe the last settled state. A part of
 * index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_QUESTIONS_H
#define KINFS_ENGINE_INDEX_INDEX_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/files/file_key.h"

struct index;
struct looking; /* base/looks.h */
struct stat;

/* INDEX_ALLOWED: the caller may know that a path exists and read it, and it means the document of
 * that key. Else what it is refused by, which says of how many other paths it is refused, too. */
enum index_right {
    INDEX_ALLOWED,
    INDEX_NAME_REFUSED,      /* of none: it means nothing, or another file */
    INDEX_DIRECTORY_REFUSED, /* of all that go by its directory */
    INDEX_FILE_REFUSED,      /* of all that mean the document */
};

/* path is relative to the root. The answer to a question with such a function is computed among
 * the documents that it allows, and which still are what they were when they were sketched: no
 * number, name or order of it depends on another. It is asked of 64 paths of a document at most
 * (INDEX_PATHS_TRIED_MAX): one that is refused by all of them counts as refused. */
typedef enum index_right (*index_may_read_fn)(void *user, const char *path,
                                              const struct file_key *key);
enum { INDEX_PATHS_TRIED_MAX = 64 };

/* An estimate that rests on fewer samples than these is hardly more than a guess: low
 * confidence. */
enum { INDEX_CONFIDENT_SAMPLES = 8 };

struct kin {
    char *path; /* relative to the root of the tree, no leading "./" */
    struct file_key key;
    uint64_t sid;        /* of its record; to be shown to nobody */
    uint64_t size_bytes; /* as it was sketched; so is: */
    struct timespec mtime;
    unsigned type;             /* enum text_type, by its content */
    double resemblance, error; /* of the estimate; 1.0 only when it is 1 */
    /* The containment of the document asked about in this one, or, INDEX_PARTS, of this one in
     * that; NAN when unknown
     */
    double containment;
    uint32_t containment_samples; /* what that rests on; 0: exact without any */
    bool exact;                   /* the resemblance is, and with it the containment */
    /* INDEX_SHARES: words of the document asked about that this one has in passages, and of the
     * longest of them, by fingerprints: less by up to the bound at each end of a passage, and more
     * where two passages are hardly apart. The containment is of these words; there is no
     * resemblance */
    uint64_t shared_words, longest_passage;
};

struct index_words {
    uint64_t first, end; /* behind the last, counted from 0 */
};

enum { KIN_LIST_WHY_BYTES = 128 };

struct kin_list {
    /* The reason for which something may be missing that should be found by 99 in 100: "too short
     * to tell: ..."; "" where nothing is */
    char incomplete[KIN_LIST_WHY_BYTES];
    struct kin *kin; /* best first, by what was asked for; ties in path order */
    size_t n_kin;
    size_t n_bytes; /* of memory */
    size_t n_found; /* of query->counts: those beyond the limit, too */
    /* INDEX_SHARES: words of the document asked about that are common text, ascending; and how many
     * it has */
    struct index_words *common;
    size_t n_common;
    uint64_t n_words;
};
void kin_list_done(struct kin_list *list);

/* A document that was shown of a class of equal ones. Zero-initialised. */
struct index_equal {
    uint64_t class_number, sid;
};

/* The relation to a document in which its answers stand. */
enum index_relation {
    INDEX_RESEMBLES, /* what resembles it */
    INDEX_WHOLES,    /* what it is contained in: by its containment in that */
    INDEX_PARTS,     /* what is contained in it: by the containment of that in it */
    /* what has passages of it, by the longest one: all of INDEX_PASSAGES_USUAL words, or whatever
     * index_options.passages says, and shorter ones by chance, of 8 words at least */
    INDEX_SHARES,
    /* what is about the same, by the words of both, whatever their order: by their resemblance, the
     * sum of the lesser weights of all words by that of the larger ones, which has no error. Of
     * equal texts one is shown, and none that is equal to the document */
    INDEX_RELATED,
};
/* From which resemblance on documents are taken to be related, as long as nobody says more. */
#define INDEX_RELATED_THRESHOLD 0.1

/* A passage that more other documents have is common text, unless index_query.common says it. */
enum { INDEX_PASSAGES_COMMON = 100, INDEX_PASSAGES_COMMON_MAX = 1000000 };

struct index_query {
    enum index_relation relation; /* of index_similar(), index_foreign_similar(), index_has_kin() */
    double threshold; /* of resemblance, 0.0 to 1.0, or, by the relation, of containment */
    size_t limit;     /* most answers, 0 for all */
    size_t common;    /* INDEX_SHARES: of what more others have nothing is told; 0: as usual */
    bool counts;      /* those beyond the limit are looked for, too */
    /* INDEX_RESEMBLES: so many of the likeliest documents are compared at most; 0: as usual */
    size_t most_compared;
    /* index_watch(): what resembles each other by r, and was modified t seconds apart, is near by
     * r exp(-decay t), which is to reach the threshold; 0: by r alone, and the nearest is told */
    double decay;
    /* The document that index_has_kin() found last for this asker: among many equal ones that are
     * asked about one after another, it begins there. NULL: with the oldest, each time */
    struct index_equal *equal;
    /* Most memory for an answer in the making, in which twice the limit and 256 more are kept:
     * where that is not enough, -EDQUOT. 0: any */
    size_t bytes_max;
    index_may_read_fn may_read; /* NULL: all */
    /* The same of a document that is asked about, and so known by a name already: whether it can
     * be read, be it listed or not. It is asked when the answer is made, not only when the question
     * comes: the document may be another by then. NULL: may_read */
    index_may_read_fn may_ask;
    /* False: neither allows any path of a file, of which it is given an O_PATH descriptor. Asked
     * first, once for a file, whose paths may be long and many; not without handles. NULL: only
     * they can tell */
    bool (*may_open)(void *user, int fd);
    void *user;
    /* The time that files may take to be opened that their owners have freed just then, which keeps
     * whoever opens them: what takes longer counts as changed. NULL: a tenth of a second each */
    struct looking *looking;
    int wait_ms; /* answers that have changed since they were sketched are looked at again, for
                    this long at most; 0: they are given as they are known */
    bool (*stop)(void *user); /* whether nobody waits for the answer any more, or NULL; several
                                 threads at once ask */
    void *stop_user;
};

/* Documents that resemble one, or are in query->relation to it, itself left out; the best first, by
 * resemblance or containment. All paths of a hard-linked document are one document.
 *
 * INDEX_PARTS has the document read, unless it is longer than a million words or for an extractor:
 * then what is contained in it whole is found, however short it is; else by the document's sketch,
 * and kin_list.incomplete says from which length on. All that share one of their smallest
 * fingerprints with the document are compared, whatever the limit.
 *
 * INDEX_SHARES has no threshold. It is -EOPNOTSUPP where passages are not indexed, and -ENOENT
 * where the document was read without: the next scan reads it again. INDEX_RELATED likewise, where
 * words of documents are not kept; it is -EACCES with may_read, as the weights of words depend on
 * all documents.
 *
 * Waits. Returns 0, -ENOENT when the file is not a known document, -EINTR (stopped), -EDQUOT, or an
 * error. */
int index_similar(struct index *index, const struct file_key *file, const struct index_query *query,
                  struct kin_list *ret_list);

/* The least words of a passage that INDEX_SHARES finds for certain; 0: passages are not indexed. */
unsigned index_passages_words(const struct index *index);
/* INDEX_RELATED of a name of the tree, where something is or not: by what documents say of it now.
 * One walk over what all say, and over all names: seconds a million. Returns 0; -EOPNOTSUPP where
 * it is not kept what others say, -ENODATA where nobody says anything; else as index_similar(). */
int index_related_to_name(struct index *index, const char *name, const struct index_query *query,
                          struct kin_list *ret_list);

/* INDEX_RELATED finds something: words of documents are kept. */
bool index_has_topics(const struct index *index);
/* Which; INDEX_TOPICS_OFF: none. */
enum index_topics index_topics_kept(const struct index *index);

/* Look if index_similar() would have an answer. Returns 1, 0 or an error. */
int index_has_kin(struct index *index, const struct file_key *file,
                  const struct index_query *query);

/* -- of what is no file of the tree, or not yet (Broder et al. 1997, section 6.1) -- */

/* A document that has been read and sketched; the index outlives it. Immutable: any thread. */
struct index_foreign;

/* Read the document that is open as fd, which is seekable.
 *
 * relation  INDEX_PARTS: what is contained in it is to be asked for, too; of up to a million
 *           shingles 8 bytes each are kept for that; INDEX_SHARES, INDEX_RELATED: likewise
 * stop      asked now and then whether nobody waits for it any more
 *
 * Its info is of DOCUMENT_SKIPPED, with the reason, when its extractor fails or it is too long.
 * Returns 0, -ESHUTDOWN (stopped), -ENOMEM, -EMFILE, -ENFILE or an errno of pread(2). Linear in its
 * bytes, in bounded memory. */
int index_read_foreign(struct index *index, int fd, enum index_relation relation,
                       bool (*stop)(void *user), void *user, struct index_foreign **ret_foreign);
void index_foreign_free(struct index_foreign *foreign); /* NULL allowed */
DEFINE_CLEANUP(struct index_foreign *, index_foreign_free);
const struct document_info *index_foreign_info(const struct index_foreign *foreign);

/* As index_similar() would answer, were it in the tree beside all that is there: a file of the same
 * content is among the answers. -ENOENT when it is skipped. */
int index_foreign_similar(const struct index_foreign *foreign, const struct index_query *query,
                          struct kin_list *ret_list);

/* -- two documents, one document, its cluster -- */

struct comparison {
    double resemblance, resemblance_error; /* NAN when undefined */
    double containment_ab, containment_ab_error, containment_ba, containment_ba_error;
    uint32_t resemblance_samples, containment_ab_samples, containment_ba_samples;
    bool exact;
    bool same_content, same_text, same_shingles;
};

/* Compare two known documents by their sketches. Returns 0, -ENOENT (one is not known, or may not
 * be asked about), -ESTALE (with query->may_read: one has changed since it was sketched) or an
 * error. Of the query only who asks is used. */
int index_compare(struct index *index, const struct file_key *a, const struct file_key *b,
                  const struct index_query *query, struct comparison *ret_comparison);

/* The resemblances of all pairs of some documents that an answer has given (kin.sid): of the i-th
 * and the j-th, i < j, at ret_resemblances[i * n + j], and likewise [j * n + i]; of one to itself
 * 1. NAN where one of the two has gone since. For the owner. Returns 0, -EINVAL for more than
 * INDEX_RESEMBLANCES_MAX, -ENOMEM or a store error. Reads n records; microseconds a pair. */
enum { INDEX_RESEMBLANCES_MAX = 256 };
int index_resemblances(struct index *index, const uint64_t *sids, size_t n,
                       double *ret_resemblances);

enum document_state { DOCUMENT_CURRENT, DOCUMENT_PENDING, DOCUMENT_SKIPPED };

struct document_info {
    enum document_state state;
    bool settled;        /* nothing is under way that would change the state; else ask again */
    char reason[96];     /* of DOCUMENT_SKIPPED */
    uint64_t cluster_id; /* 0: in none */
    uint64_t cluster_size;
    bool
        repairing; /* the cluster is clustered anew: it may turn out to be of another, or of none */
    char type[64]; /* "text", "html", "binary"; and what is not as usual: "text, gzip, damaged" */
    uint64_t n_tokens;
};

/* The state of a file. It is first looked at again when its size or times are not those of its
 * record, and the foreground lane settled for at most query->wait_ms. What is in a mount inside the
 * tree is skipped, and not looked at. With query->may_read nothing is said of clusters, and of what
 * is pending nothing else. Returns 0, -ENOENT for what is no regular file of the tree, or may not
 * be asked about, or an error. */
int index_document(struct index *index, const struct file_key *file,
                   const struct index_query *query, struct document_info *ret_info);

/* A file as it is now, known or not, for who must not wait. Any thread. Returns 0, -EAGAIN where
 * that takes longer than a tenth of a second, as of one that is being freed, -ENOENT, or an error.
 */
int index_look(struct index *index, const struct file_key *file, struct stat *ret_st);

/* The first path (by parent key and name) of an inode. Returns 0, -ENOENT; gives. */
int index_path(struct index *index, const struct file_key *file, char **ret_path);

/* The inode that has a path, as the index knows it: no file system is asked. Returns 0, -ENOENT or
 * an error. */
int index_find(struct index *index, const char *path, struct file_key *ret_key, bool *ret_is_file);

#endif
