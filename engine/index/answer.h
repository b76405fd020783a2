/* The parts of every answer. Any thread; all may wait for the store. */
#ifndef KINFS_ENGINE_INDEX_ANSWER_H
#define KINFS_ENGINE_INDEX_ANSWER_H

#include "engine/index/index_private.h"

/* A record in the index's keeping; zero-initialised, ends with document_done(). */
struct document {
    struct records *records;
    uint64_t sid;
    const struct record *record;
};

/* The live document of a file. Returns 0, -ENOENT when it is none, or an error. */
int answer_document(struct index *index, const struct file_key *file,
                    struct document *ret_document);
void document_done(struct document *document);

/* True: a file is still as its record has it; if not, it is noted to be looked at again. */
bool answer_is_current(struct index *index, const struct file_key *file);

/* The first path of a document that the caller of the query may read (query NULL: the first).
 * Returns 0, -ENOENT when there is none, or an error; gives. */
int answer_path(struct index *index, struct path_cache *paths, const struct file_key *file,
                const struct index_query *query, char **ret_path);

/* The same, for who may be shown it: where not everything may be read (query->may_read), only of a
 * document that still is what its sketch is of, else -ESTALE, and it is noted to be looked at
 * again. Its contents before may not have been theirs to read. */
int answer_shown_path(struct index *index, struct path_cache *paths, const struct file_key *file,
                      const struct index_query *query, char **ret_path);

/* Wait until what was noted to be looked at again has been, for as long as the query may. Returns
 * whether another answer can come of it. */
bool answer_look_again(struct index *index, const struct index_query *query);

/* Documents that resemble one (tier R), or contain it (tier C): given once more, of the contents of
 * now, when some of it turns out to have changed behind our back.
 *
 * foreign  the document, when file is NULL; its sid is 0
 *
 * Returns 0, -ENOENT (no document), or an error. */
int answer_kin(struct index *index, enum postings_tier tier, const struct file_key *file,
               const struct document *foreign, const struct index_query *query,
               struct kin_list *ret_list);

void kin_done(struct kin *kin);
/* Moves *kin into the list. */
int kin_list_add(struct kin_list *list, struct kin *kin);
/* For qsort(3): best first, by resemblance or by containment; ties in path order. */
int kin_compare(const void *a, const void *b);
int kin_compare_containment(const void *a, const void *b);

#endif
