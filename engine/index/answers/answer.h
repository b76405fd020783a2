/* The parts of every answer. Any thread; all may wait for the store. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_ANSWER_H
#define KINFS_ENGINE_INDEX_ANSWERS_ANSWER_H

#include "engine/index/index_state.h"

/* Records that an answer has in hand at a time. */
enum { LOAD_AT_ONCE = 256 };

/* A record in the index's keeping; zero-initialised, ends with document_done(). */
struct document {
    struct records *records;
    uint64_t sid;
    const struct record *record;
    const struct passage_sketch *passages; /* of one that is in no tree, or NULL */
    const struct kv_buf *bag;              /* likewise; bags_encode() */
};

void document_done(struct document *document);

/* The one who asked waits no longer for the answer. */
static inline bool answer_is_stopped(const struct index_query *query)
{
    return query->stop && query->stop(query->stop_user);
}

/* -- rights --
 *
 * Contents and rights of a file change while an answer is made. For an asker who may not read
 * everything (query->may_read) the order is therefore always the same:
 *
 *   1. the record is in hand
 *   2. the asker may read the file now
 *   3. the file's row still names this record, and the file is as the row has it
 *
 * Then all that is told is of contents that the asker could read after they had been written. A
 * right that is asked for before 1 may be one to other contents: a file is closed, and then a
 * secret is written. And a file that is as its row has it before 2 may be opened to the asker only
 * when the secret has gone.
 *
 * The two functions that follow keep this order, and every answer has its records by one of them.
 */

/* The live document of a file that is asked about (query->may_ask). Returns 0, -ENOENT when it is
 * none or the asker may not, -ESTALE when it is not what it was when it was sketched, and is noted
 * to be looked at again; or an error. */
int answer_document(struct index *index, const struct file_key *file,
                    const struct index_query *query, struct document *ret_document);

/* The first path of a document in hand that may be shown (query->may_read). Returns as
 * answer_document(); gives. */
int answer_shown_path(struct index *index, struct path_cache *paths,
                      const struct document *document, const struct index_query *query,
                      char **ret_path);

/* Step 2 alone, for a file that is asked about, by any of its paths. Returns 0, -ENOENT (the asker
 * may not) or an error. */
int answer_may_ask(struct index *index, const struct file_key *file,
                   const struct index_query *query);

/* Step 3 alone. False: the file is noted to be looked at again.
 *
 * looking  the query's */
bool answer_is_current(struct index *index, const struct file_key *file, uint64_t sid,
                       struct looking *looking);

/* The same, and it is not open for writing either: what is read of the file between two times that
 * this is true is the content of the record, unless its owner sees to it that it is not: what is
 * written through a mapping gives a file other times when the kernel writes it back, and on tmpfs
 * never.
 *
 * ret_st  of the file as it is, where that was looked at */
bool answer_is_certain(struct index *index, const struct file_key *file, uint64_t sid,
                       struct looking *looking, struct stat *ret_st);

/* The first path of a document, for who may read everything. Returns 0, -ENOENT when there is none,
 * or an error; gives. */
int answer_path(struct index *index, struct path_cache *paths, const struct file_key *file,
                char **ret_path);

/* A document as kin, without a path: what it is, and how it resembles what is asked about. */
struct kin kin_of(uint64_t sid, const struct record *record, const struct estimate *estimate);

/* A member of a cluster as kin of the representative (NULL: it is that itself), by its first path.
 * Returns as answer_path(). */
int answer_member(struct index *index, struct path_cache *paths, uint64_t sid,
                  const struct record *record, const struct record *representative,
                  struct kin *ret_kin);

/* Wait until what was noted to be looked at again has been, for as long as the query may. Returns
 * whether another answer can come of it. */
bool answer_look_again(struct index *index, const struct index_query *query);

/* One of what resembles a document most, of equal ones the oldest, or none; no more candidates are
 * compared, nor documents looked at for their paths, than query->most_compared. Returns as
 * index_similar(). */
int answer_nearest(struct index *index, const struct file_key *file,
                   const struct index_query *query, struct kin_list *ret_list);

struct shingle_set;
/* The answer to a question about a document that is in no tree; its sid is 0.
 *
 * set  all its shingles, where its parts are asked for; or NULL
 *
 * Returns 0 or an error. */
int answer_foreign(struct index *index, const struct document *foreign,
                   const struct shingle_set *set, const struct index_query *query,
                   struct kin_list *ret_list);

void kin_done(struct kin *kin);
/* Moves *kin into the list. */
int kin_list_add(struct kin_list *list, struct kin *kin);
/* The first `limit` of them, 0 for all. */
void kin_list_cut(struct kin_list *list, size_t limit);
/* For qsort(3): best first, by resemblance or by containment; ties in path order. */
int kin_compare(const void *a, const void *b);
int kin_compare_containment(const void *a, const void *b);
int kin_compare_passages(const void *a, const void *b);

#endif
