/* The living index of a backing tree: what resembles what, always up to date. The mount includes no
 * other header of the engine, nor do most of the tools: tools/check-includes says which need more.
 *
 * The index keeps itself current from notices (below), which never block and never fail, and from a
 * scan of the tree when it starts. It only ever reads the tree. Everything it stores can be derived
 * from the tree again.
 *
 * Functions may be called by any thread but those of the index itself, which call log and would
 * wait for themselves; opening, starting and closing by one, while no other is in a call. Those
 * said to *wait* may take milliseconds or as long as their wait_ms; none of the notices do.
 */
#ifndef KINFS_ENGINE_INDEX_INDEX_H
#define KINFS_ENGINE_INDEX_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/files/backing.h"
#include "base/files/file_key.h"

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

/* A named way of clustering, beside the default one (components of resemblances of at least 0.5,
 * loose ones divided into stars). A batch (engine/cluster/batch.h) makes each of the same sketches,
 * as a whole after changes, in the background: for one more, or another threshold, no document is
 * read. */
enum { INDEX_CLUSTERINGS_MAX = 8, INDEX_CLUSTERING_TEXT_BYTES = 96 };
enum index_clustering_kind {
    /* connected by resemblances of at least `resemblance`, or by one being contained in the other
     * by at least `containment`, if that is not 0 */
    INDEX_CLUSTERING_COMPONENTS,
    /* each document with the first of those it resembles by at least `resemblance` that are
     * centres; no two centres resemble each other so (engine/cluster/loose.h) */
    INDEX_CLUSTERING_CENTER,
    /* connected by super shingles in common; no threshold */
    INDEX_CLUSTERING_SUPERSHINGLE,
    /* what `kinfs cluster` says of that mode, at `resemblance` */
    INDEX_CLUSTERING_EXACT,
    INDEX_CLUSTERING_FAST,
    INDEX_CLUSTERING_BRODER1997,
};
struct index_clustering {
    char name[32];
    enum index_clustering_kind kind;
    double resemblance, containment; /* multiples of 0.0001, up to 1: equal documents alone */
};

/* Read "NAME:RULE", such as "near:components:0.95" or "parts:components:0.5:containment:0.9" or
 * "tight:center:0.9" or "near:supershingle" or "paper:broder1997".
 * Returns 0, or -EINVAL with a line in *ret_error that says what is wrong with it. */
int index_clustering_parse(const char *text, struct index_clustering *ret_clustering,
                           char **ret_error);
/* The same text for the same clustering. */
void index_clustering_print(const struct index_clustering *clustering,
                            char ret_text[INDEX_CLUSTERING_TEXT_BYTES]);

enum {
    INDEX_PASSAGES_AS_STORED,
    INDEX_PASSAGES_NONE,
    INDEX_PASSAGES_LEAST = 8,
    INDEX_PASSAGES_USUAL = 24,
    INDEX_PASSAGES_MOST = 256,
};

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
    /* Of what is left out of the tree, besides ignore files and what always is; borrowed until
     * index_close(); NULL: none */
    const struct ignore_rules *ignore;
    /* Files that are shorter, or longer, are no documents; 0: no bound */
    uint64_t least_bytes, most_bytes;
    unsigned left_out_types; /* documents of these are none, 1 << of each enum text_type */
    /* INDEX_PASSAGES_AS_STORED: what the store has stays as it is; INDEX_PASSAGES_NONE: passages
     * are not indexed, and what is stored of them is removed; or the least number of words in a row
     * by which two documents are sure to be found, 8 to 256 (24 is usual): of documents that were
     * read without, the next scan finds them */
    unsigned passages;
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

/* What a store takes on the disk. What cannot be read does not count. */
uint64_t index_store_bytes(const char *store_path);

/* Start workers and committer, and begin the scan that reconciles the index with the tree. Returns
 * 0 or an error. */
int index_start(struct index *index);

/* Drains the foreground lane (up to wait_ms), stops, flushes. NULL allowed. */
void index_close(struct index *index, unsigned wait_ms);

/* Close an index that came to no use. Where index_open() made the directory of the store and
 * nothing is in it yet, that is removed again, with another file of the caller's (its name, or
 * NULL). NULL allowed. */
void index_abandon(struct index *index, const char *other);

/* Scan the whole tree again (one already running is followed by another). */
void index_rescan(struct index *index);

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
struct index_status;
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
    size_t n_named; /* clusterings, and each of them: */
    struct index_check_clustering named[INDEX_CLUSTERINGS_MAX];
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
    /* What the first check finds, and counted in the end: where that is nothing, nothing follows.
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

/* -- notices: something happened in the tree -- */

/* The entry `name` of a directory came, went, or means another inode now. "." and "..", and what is
 * a path, are no entries: nothing is done. */
void index_note_entry(struct index *index, const struct file_key *parent, const char *name);
/* As two entries, so ordered that the inode is not taken for deleted in between. */
void index_note_rename(struct index *index, const struct file_key *old_parent, const char *old_name,
                       const struct file_key *new_parent, const char *new_name);
/* The content (or size, or times) of a regular file may be another now. */
void index_note_content(struct index *index, const struct file_key *file);
/* A file was opened for writing (+1), or such an opening ended (-1). While positive the scan leaves
 * the document to the notice that will follow. */
void index_note_writing(struct index *index, const struct file_key *file, int change);

/* Somebody uses the tree right now: what was noted, and nobody asks for, can wait a moment. Takes
 * nanoseconds. */
void index_note_use(struct index *index);

/* Whether the root, a directory or a file is, by one name at least, part of what is indexed; what
 * is not needs no notice, and what will be is looked at when it comes to be. Waits for a read. */
bool index_has(struct index *index, const struct file_key *key);

/* From now on `see` is called with each directory that is about to be listed: what is in it by the
 * time it returns is found, and what comes after is to be noted. By threads that do nothing else
 * than look at directories, one at a time. It returns 0, or an error: it is listed again, and seen,
 * some time later. NULL: it is called no more, and no call of it runs. */
void index_see_listings(struct index *index,
                        int (*see)(void *user, int fd, const struct file_key *directory),
                        void *user);

/* -- settling -- */

enum index_lane { INDEX_LANE_FOREGROUND, INDEX_LANE_ALL };

/* Wait until all that was noted before the call is reflected in the answers; INDEX_LANE_ALL: until
 * the running scan is done too, and what is repaired in the background, and -EUCLEAN when the store
 * turned out to be damaged, so that no scan will be. wait_ms < 0: no bound. Returns 0, -ETIMEDOUT,
 * -ESHUTDOWN. */
int index_settle(struct index *index, enum index_lane lane, int wait_ms);

/* -- answers; they describe the last settled state -- */

/* A number that is another one after every change of the index: two answers asked for between two
 * equal readings are the same if the number is even; while it is odd, a change is being made. Any
 * thread, nanoseconds. */
uint64_t index_generation(struct index *index);

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

/* What rests on fewer samples than these is hardly more than a guess: low confidence. */
enum { INDEX_CONFIDENT_SAMPLES = 8 };

struct kin {
    char *path; /* relative to the root of the tree, no leading "./" */
    struct file_key key;
    uint64_t sid;        /* of its record; to be shown to nobody */
    uint64_t size_bytes; /* as it was sketched; so is: */
    struct timespec mtime;
    double resemblance, error; /* of the estimate; 1.0 only when it is 1 */
    /* Of the document asked about in this one, or, INDEX_PARTS, of this one in that; NAN when
     * unknown
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
    /* Why something may be missing that should be found by 99 in 100: "too short to tell: ..."; ""
     * where nothing is */
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

/* What is asked for of a document. */
enum index_relation {
    INDEX_RESEMBLES, /* what resembles it */
    INDEX_WHOLES,    /* what it is contained in: by its containment in that */
    INDEX_PARTS,     /* what is contained in it: by the containment of that in it */
    /* what has passages of it, by the longest one: all of INDEX_PASSAGES_USUAL words, or whatever
     * index_options.passages says, and shorter ones by chance, of 8 words at least */
    INDEX_SHARES,
};
/* A passage that more other documents have is common text, unless index_query.common says it. */
enum { INDEX_PASSAGES_COMMON = 100, INDEX_PASSAGES_COMMON_MAX = 1000000 };

struct index_query {
    enum index_relation relation; /* of index_similar(), index_foreign_similar(), index_has_kin() */
    double threshold; /* of resemblance, 0.0 to 1.0, or, by the relation, of containment */
    size_t limit;     /* most answers, 0 for all */
    size_t common;    /* INDEX_SHARES: of what more others have nothing is told; 0: as usual */
    bool counts;      /* those beyond the limit are looked for, too */
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
    /* False: neither allows any path of a file. Asked first, once for a file, whose paths may be
     * long and many. NULL: only they can tell */
    bool (*may_open)(void *user, const struct file_key *key);
    void *user;
    int wait_ms; /* answers that have changed since they were sketched are looked at again, for
                    this long at most; 0: they are given as they are known */
    bool (*stop)(void *user); /* whether nobody waits for the answer any more, or NULL; several
                                 threads at once ask */
    void *stop_user;
};

/* Documents that resemble one, or are in query->relation to it, itself left out; the best first, by
 * resemblance or containment. All paths of a hard-linked document are one document.
 *
 * Who asks for INDEX_PARTS has the document read, unless it is longer than a million words or for
 * an extractor: then what is contained in it whole is found, however short it is; else by the
 * document's sketch, and kin_list.incomplete says from which length on. All that share one of their
 * smallest fingerprints with the document are compared, whatever the limit.
 *
 * INDEX_SHARES has no threshold. It is -EOPNOTSUPP where passages are not indexed, and -ENOENT
 * where the document was read without: the next scan reads it again.
 *
 * Waits. Returns 0, -ENOENT when the file is not a known document, -EINTR (stopped), -EDQUOT, or an
 * error. */
int index_similar(struct index *index, const struct file_key *file, const struct index_query *query,
                  struct kin_list *ret_list);

/* The least words of a passage that INDEX_SHARES finds for certain; 0: passages are not indexed. */
unsigned index_passages_words(const struct index *index);

/* Look if index_similar() would have an answer. Returns 1, 0 or an error. */
int index_has_kin(struct index *index, const struct file_key *file,
                  const struct index_query *query);

/* -- of what is no file of the tree, or not yet (Broder et al. 1997, section 6.1) -- */

/* A document that has been read and sketched; the index outlives it. Immutable: any thread. */
struct index_foreign;

/* Read the document that is open as fd, which is seekable.
 *
 * relation  INDEX_PARTS: what is contained in it is to be asked for, too; of up to a million
 *           shingles 8 bytes each are kept for that; INDEX_SHARES: likewise
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

/* -- the tree without its near-duplicates -- */

/* Of documents that resemble each other, the one that comes first stays. In this order count: that
 * its owner wants it kept (INDEX_KEEP_ATTRIBUTE), which pattern of those that are preferred it is
 * the first to be named by, what follows, and its path, bytewise. */
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
    /* Of fnmatch(3): with a slash but at its end, of a path from the root of the tree on, or of a
     * directory above; else of a name in it. Copied */
    const char *const *prefer;
    size_t n_prefer;
    bool stand_in_anyone; /* also what is of another owner */
};

/* Decides which documents may be left out, for those that stand in for them. Any thread; the index
 * outlives it.
 *
 * A document is left out only when all of this holds at one moment, of it and of the one that
 * stands in for it: its row is of the file as it is, it is not pending, not open for writing,
 * and the asker may list and read it; both have one owner, unless anyone's may stand in; they have
 * the same bytes or the same text (by digests of 128 bits under the store's secret key), or the
 * full sets of their shingles resemble each other by `near`, never only their sketches; nobody has
 * declared them to be distinct; and the other one is not left out itself. A document that is empty,
 * of which one cannot tell, or that is to be kept is not left out. What an asker may not list and
 * read has no influence, nor has what is of another owner: that one can change it while its times
 * stay as they are, so that what was found of it is not true any more.
 *
 * Documents of one text are decided as one. A text stays, unless one of those that come before it
 * and stay resembles it: a greedy cover, found from the text that is asked about on. At most
 * UNIQUE_ATTEMPTS (answers/unique_decision.c) others are compared with it in full, those that come
 * first of whom sketches say that they may reach `near`; so a document may stay that a fuller
 * search would leave out.
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
    char *path; /* that the asker may list and read */
    struct file_key key;
    double resemblance;
    struct stat stays;    /* of the one that stands in, as it was when that was decided */
    struct stat left_out; /* of the document that is left out, likewise */
    bool same_content;    /* byte for byte */
    uint8_t sha256[32];   /* of these bytes */
};
void index_stand_in_done(struct index_stand_in *stand_in);

/* Who asks, by a number up to INDEX_ASKER_MAX that is one identity's, and the user, with whom all
 * identities of the same share what is remembered. */
#define INDEX_ASKER_BITS 40
#define INDEX_ASKER_MAX ((UINT64_C(1) << INDEX_ASKER_BITS) - 1)
#define INDEX_ASKER(user, number)                                                                  \
    ((uint64_t)(user) << INDEX_ASKER_BITS | ((uint64_t)(number)&INDEX_ASKER_MAX))
#define INDEX_USER_OF_ASKER(asker) ((asker) >> INDEX_ASKER_BITS) /* 24 bits of the number */

/* Whether an entry of a directory is left out.
 *
 * asker  INDEX_ASKER(), equal for askers that see the same, as the rights of the query say; of 0
 *        they may see all
 *
 * Returns 1, 0, -EINTR (stopped), -ENOMEM or a store error. Of the query not used: threshold,
 * limit. What turns out to have changed is looked at again, for query->wait_ms at most. */
int index_unique_left_out(struct index_unique *unique, const struct file_key *parent,
                          const char *name, const struct file_key *file, uint64_t asker,
                          const struct index_query *query, struct index_stand_in *ret_stand_in);

/* All that is left out for an asker, in no order: each path that the asker may list and read.
 * Returns 0, what visit returned, or as above. */
typedef int (*index_unique_fn)(void *user, const char *path, const struct index_stand_in *stand_in);
int index_unique_each(struct index_unique *unique, uint64_t asker, const struct index_query *query,
                      index_unique_fn visit, void *user);

/* Declare two documents not to be duplicates of each other, so that neither stands in for the
 * other, or take that back. Remembered by their file keys, over edits, renames and a rebuild.
 * Returns 0, -ENOENT (one is no file of the tree that is known), -EINVAL (one and the same) or a
 * store error. */
int index_set_distinct(struct index *index, const struct file_key *a, const struct file_key *b,
                       bool distinct);

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

struct cluster_info {
    uint64_t id;
    uint64_t size;  /* documents */
    bool repairing; /* it may turn out to be several, or part of another */
    bool stale;     /* its clustering is made anew, and has not seen the last changes */
    struct kin representative;
    double resemblance_min,
        resemblance_mean; /* of the members to the representative; NAN: see there */
};
void cluster_info_done(struct cluster_info *info);

/* Returns 0, -ENOENT. With members, they are given with their resemblance to the representative,
 * the representative first, then best first. With a limit only the first 1,000 members (or limit,
 * if that is more) are read for that, without members the first `limit`, and resemblance_min and
 * _mean are NAN where there are more. With query->may_read, id is one of index_readable_cluster(),
 * and errors are that function's. query->threshold is not used. Waits for reads. */
int index_cluster(struct index *index, uint64_t id, const struct index_query *query,
                  struct cluster_info *ret_info, struct kin_list *ret_members);

/* -- clusters for who may not read everything (readable_cluster.h) -- */

/* A larger one is not shown to who may not read everything. */
enum { INDEX_READABLE_CLUSTER_MAX = 256 };

/* The cluster that a document is in, of those documents alone that query->may_read allows: as
 * index_cluster(), under an id that differs from that of the cluster among all documents.
 *
 * base  of the clustering; 0: the default one
 *
 * Returns 0, -ENOENT (in none, too large a one, one of a clustering that is not of pairs, or the
 * document is not known), -EINTR (stopped), -ENOMEM or a store error. A question for each of its
 * documents: milliseconds, where many share boilerplate a second. */
int index_readable_cluster(struct index *index, const struct file_key *file, uint64_t base,
                           const struct index_query *query, struct cluster_info *ret_info,
                           struct kin_list *ret_members);

/* True: the links of a clustering are of two documents alone, so that it has such clusters. */
bool index_clustering_is_of_pairs(const struct index *index, uint64_t base);

/* All such clusters of a clustering, found one after the other in an order that depends on the
 * allowed documents alone. One thread at a time; the index outlives it. */
struct index_readable_clusters;
int index_readable_clusters_new(struct index *index, uint64_t base,
                                struct index_readable_clusters **ret_clusters); /* or -ENOMEM */
void index_readable_clusters_free(struct index_readable_clusters *clusters);    /* NULL allowed */
DEFINE_CLEANUP(struct index_readable_clusters *, index_readable_clusters_free);
/* Look at one more document. The query is of the same caller each time. Returns 1 when there may be
 * more, 0 when all were looked at, -EINTR (stopped; the document is looked at again), -ENOMEM or a
 * store error. */
int index_readable_clusters_step(struct index_readable_clusters *clusters,
                                 const struct index_query *query);
/* The ids found so far, borrowed until the next step. Returns how many. */
size_t index_readable_clusters_ids(const struct index_readable_clusters *clusters,
                                   const uint64_t **ret_ids);
/* The memory it is charged for, which depends on the allowed documents alone: 8 bytes for each id,
 * at most 64 for each allowed document found, and a mebibyte. */
size_t index_readable_clusters_bytes(const struct index_readable_clusters *clusters);

/* What a batch of mode broder1997 leaves out: lists of what more than 1,000 documents share. */
struct index_clustering_loss {
    uint64_t postings, lists; /* all that there are; lists of two documents or more */
    uint64_t lists_left_out, postings_left_out;
};

/* How a cluster hangs together: resemblance is not transitive, so it may be a chain whose ends have
 * nothing in common. */
enum { CLUSTER_LINKS = 5 };
struct cluster_link {
    char *path_a, *path_b;
    double resemblance;
    uint64_t n_beyond; /* documents on b's side: what the cluster would lose without the link */
};
struct cluster_explanation {
    uint64_t id, size, n_classes; /* of the cluster; documents of one class resemble with 1 */
    uint64_t n_classes_compared;  /* all, or as many as can be, evenly taken; all that follows */
    uint64_t n_pairs;             /* is of the documents of these */
    double resemblance_min, resemblance_mean;
    double linked;              /* share of the pairs at the threshold of clusters or above */
    uint32_t n_parts, diameter; /* by links of such pairs: parts, and the longest way */
    size_t n_links;
    struct cluster_link links[CLUSTER_LINKS]; /* the weakest of those that hold it together */
    bool has_loss;                            /* of broder1997, of all its clusters: */
    struct index_clustering_loss loss;
};
void cluster_explanation_done(struct cluster_explanation *explanation);

/* Returns 0, -ENOENT, -ENOMEM or a store error. Reads every document's record, and compares the
 * sketches of all pairs of up to 2,048 classes, in half a second. For the owner: names any path. */
int index_explain(struct index *index, uint64_t id, struct cluster_explanation *ret_explanation);

/* The shingles that most documents have, of the sampled ones (one in m of all). */
enum { COMMON_SHINGLE_PATHS = 3, COMMON_SHINGLES_MAX = 10000 };
struct common_shingle {
    uint64_t fingerprint, n_documents;
    char *text; /* its words with blanks between; NULL: no words (a feature), or not at hand any
                   more */
    size_t n_paths;
    char *paths[COMMON_SHINGLE_PATHS]; /* of some of the documents */
};
struct common_shingles {
    struct common_shingle *shingles; /* the commonest first, none of fewer than two documents */
    size_t n_shingles;
    uint64_t n_documents; /* that were looked at */
    uint64_t missed;      /* one of so many documents or fewer may be lacking */
};
void common_shingles_done(struct common_shingles *list);

/* Returns 0, -EINVAL for a limit that is 0 or above COMMON_SHINGLES_MAX, -ENOMEM, or a store error.
 * Reads all records twice and a document for each shingle; 12 MB. For the owner: names any path. */
int index_common_shingles(struct index *index, size_t limit, struct common_shingles *ret_list);

/* All documents, by their first paths and the sketches that their records have (document_sketch.h,
 * policy.h), in no order of use. Returns 0, what visit returned, -EUCLEAN, -ENOMEM or a store
 * error. Reads all records. For the owner: names any path. */
struct document_sketch;
struct policy;
typedef int (*index_sketch_fn)(void *user, const char *path, const struct document_sketch *sketch);
int index_each_sketch(struct index *index, index_sketch_fn visit, void *user);
const struct policy *index_policy(const struct index *index); /* of the sketches; with its key */

/* Cluster ids are of no order, and stay with their clusters. The clusters of a named clustering
 * have ids above its base, up to INDEX_CLUSTER_MAX more; those of the default one above 0. */
#define INDEX_CLUSTER_MAX ((UINT64_C(1) << 56) - 1)

/* Some ids of clusters.
 *
 * Up to limit of those that come after one, of its clustering, which need not be there any more; a
 * base: from the first. Returns how many, or an error. */
int index_cluster_ids(struct index *index, uint64_t after, size_t limit, uint64_t *ret_ids);

/* 1: there is such a cluster; 0, or an error. */
int index_has_cluster(struct index *index, uint64_t id);

/* The cluster that one with another id became part of, for as long as there is that cluster.
 * Returns 0, -ENOENT or an error. */
int index_cluster_alias(struct index *index, uint64_t id, uint64_t *ret_id);

/* -- what becomes of clusters, for who watches -- */

enum index_event_kind {
    INDEX_EVENT_MISSED, /* the first one, where there is: so many changes went by unseen */
    INDEX_EVENT_LEFT,   /* the document is in the cluster no more, and may be no more itself */
    INDEX_EVENT_JOINED,
    INDEX_EVENT_NEAR, /* it came, or was written anew, and resembles another by query->threshold */
    INDEX_EVENT_MERGED, /* a cluster became part of another; of its documents all is told, too */
};
struct index_event {
    enum index_event_kind kind;
    uint64_t document; /* stands for the file as long as the index is open, whatever its path is;
                          below 2^53 */
    const char *path;  /* as it is now, or was before the document went; NULL: none is known */
    uint64_t cluster, from; /* from: INDEX_EVENT_MERGED, what that was before */
    const char *other;      /* the representative as it is now, or what it is near to; NULL: none is
                               there any more */
    double resemblance;     /* to that one; NAN: it is not known (any more) */
    uint64_t n_missed;
};

/* How far a watcher has come; zero-initialised: from now on. */
struct index_cursor {
    uint64_t instance, next; /* instance: of this opening of the index, below 2^53 */
};

/* What became of the clusters of the default clustering since a cursor, which is moved on: for each
 * document and cluster what has come of all changes, so that one that was written anew in its
 * cluster neither left nor joined. First what left, then what joined, in the order in which it did.
 * Changes are kept in 8 MiB of memory, and only until a minute after the last question; of more
 * that is said (INDEX_EVENT_MISSED). Steps of the index are told whole.
 *
 * Returns 0, what event() returned, -ESTALE (the cursor is of another opening), -EINTR (stopped),
 * -ENOMEM or a store error; then the cursor is as it was. Waits for reads: of what came, some as of
 * index_similar(). For the owner: names any path. */
typedef int (*index_event_fn)(void *user, const struct index_event *event);
int index_watch(struct index *index, struct index_cursor *cursor, const struct index_query *query,
                index_event_fn event, void *user);

/* The first path (by parent key and name) of an inode. Returns 0, -ENOENT; gives. */
int index_path(struct index *index, const struct file_key *file, char **ret_path);

/* The inode that has a path, as the index knows it: no file system is asked. Returns 0, -ENOENT or
 * an error. */
int index_find(struct index *index, const char *path, struct file_key *ret_key, bool *ret_is_file);

/* The state of a named clustering. */
struct index_clustering_status {
    struct index_clustering clustering;
    uint64_t base; /* of its clusters' ids */
    uint64_t clusters, clustered_documents;
    bool current; /* else it is to be made anew, and its clusters are those before the changes,
                     less what is gone */
    bool made;    /* at least once; of that time */
    struct index_clustering_loss loss; /* of broder1997, else nothing */
    int error; /* why it could not be made anew the last time (-ENOSPC, ..): make room, then
                  index_settle(), or the next change; 0: it could, or is current */
};
/* Up to INDEX_CLUSTERINGS_MAX of them, in order of names. Returns how many. Any thread, no wait. */
size_t index_get_clusterings(struct index *index,
                             struct index_clustering_status ret_clusterings[INDEX_CLUSTERINGS_MAX]);
/* Returns 0 or -ENOENT. */
int index_find_clustering(struct index *index, const char *name,
                          struct index_clustering_status *ret_clustering);
/* The cluster of a document in the clustering of a base, for who may read everything; 0: none.
 * Returns 0, -ENOENT for no known document, or an error. */
int index_cluster_of(struct index *index, const struct file_key *file, uint64_t base,
                     uint64_t *ret_id);

enum { INDEX_UNREAD_MAX = 3, INDEX_EXTRACTORS_LEFT_MAX = 8 };

struct index_status {
    char version[32], source[4096], store[4096];
    char policy[128];                         /* name and parameters, for people */
    uint32_t policy_w;                        /* tokens in a shingle */
    const char *tokens, *stopwords, *stemmer; /* names: what becomes of words before; static */
    uint64_t documents, clusters, clustered_documents, store_bytes;
    uint64_t repairing; /* clusters and posting lists whose documents are to be clustered anew */
    /* Documents queued or in work; or, of the first, left out by a store that takes no writes. */
    uint64_t pending_foreground, pending_scan;
    uint64_t pending_slow;    /* of them: those above 1 MiB, and those that take an extractor */
    uint64_t skipped, failed; /* documents that could not be read; store writes that failed */
    uint64_t scan_found, scan_done; /* documents of the running or last scan */
    bool scanning;
    bool extracts; /* there are programs that read documents for it */
    /* The kinds of documents whose programs are not installed, so that they are compared as bytes:
     * "pdf"; static, NULL behind the last */
    const char *unread[INDEX_UNREAD_MAX + 1];
    unsigned extractors_left; /* that no signal ends; at INDEX_EXTRACTORS_LEFT_MAX none is run */
    uint64_t sketched_documents, sketched_bytes; /* since the start */
    int store_error; /* negative errno: nothing can be written for now; 0: it can */
    char last_error[256];
};
void index_get_status(struct index *index, struct index_status *ret_status);

#endif
