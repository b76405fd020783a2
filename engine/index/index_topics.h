/* Topics: which documents of a store that keeps words (-o topics=content) are about the same, what
 * about, and the sub-topics that a topic is made of. Words and df are of all documents, so all of
 * it is for who may read everything. Any thread; waits for reads. A part of index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_TOPICS_H
#define KINFS_ENGINE_INDEX_INDEX_TOPICS_H

#include "engine/index/index_questions.h"

/* Topics have ids as clusters have (index_clusters.h), above a base, and so have sub-topics, above
 * another one. Both are made anew in the background; a document that nothing is near to is in none.
 */
struct index_topics_status {
    uint64_t base, sub_base;
    uint64_t topics, subtopics, documents; /* documents: that are in a topic */
    bool current;                          /* else before the last changes, less what is gone */
    int error;                             /* as index_clustering_status has it */
};
/* Returns false where no words are kept. No wait. */
bool index_get_topics(struct index *index, struct index_topics_status *ret_status);

struct index_topic_size {
    uint64_t id, size; /* documents */
};
/* Topics, the largest first, of equally large ones in the order of their ids.
 *
 * of    0: all topics; the id of a topic: the sub-topics that its documents are in, as long as
 * these are two at least, or leave out some of them most  0: all
 *
 * Returns how many, -EOPNOTSUPP where no words are kept, -ENOENT for an id that is no topic's,
 * -ENOMEM or a store error; ret_topics gives. */
int64_t index_topics(struct index *index, uint64_t of, size_t most,
                     struct index_topic_size **ret_topics);

/* The topic, or sub-topic, that a document is in; 0: in none. Returns 0, -EOPNOTSUPP, -ENOENT (no
 * known document) or an error. */
int index_topic_of(struct index *index, const struct file_key *file, bool fine,
                   struct index_topic_size *ret_topic);

/* A word as a document spells it, the shortest of its forms, and its weight. */
struct index_topic_word {
    char *text;
    double weight; /* of 100 in all */
};
struct index_topic_words {
    struct index_topic_word *words; /* the heaviest first */
    size_t n;
};
void index_topic_words_done(struct index_topic_words *words);

/* The heaviest words of a document, which is read for how it spells them; its extractor, where it
 * has one, runs. Words that are not in it any more are left out.
 *
 * n  at most 100; 0: it is not read, and -ENOENT where it has none
 *
 * Returns 0, -EOPNOTSUPP, -ENOENT (no known document, or its words are not known yet), -EINTR
 * (query->stop), -ENOMEM or a store error. */
int index_document_words(struct index *index, const struct file_key *file, size_t n,
                         const struct index_query *query, struct index_topic_words *ret_words);

/* The centre is the document whose words are nearest to those of all; of more than
 * INDEX_TOPIC_SAMPLE documents so many, evenly taken, say what all of them say. */
enum { INDEX_TOPIC_SAMPLE = 64 };
struct index_topic {
    uint64_t id, size;
    struct kin centre;              /* without a path: none has one */
    double resemblance_mean;        /* of the sample to the centre, by words */
    struct index_topic_words words; /* of all together, as far as the centre has them */
};
void index_topic_done(struct index_topic *topic);

/* n_words      0: the centre is not read
 * ret_members  NULL, or documents with their resemblance to the centre by words, the centre first,
 *              then the nearest first; of more than query->limit (0: all) the nearest
 *
 * Returns 0, -EOPNOTSUPP, -EACCES (query->may_read), -ENOENT for no such topic, -ENODATA where
 * words are not counted yet, -EINTR, -ENOMEM or a store error. Some milliseconds, and the reading
 * of the centre; with members a look at the bag of each, some 10 us. */
int index_topic(struct index *index, uint64_t id, size_t n_words, const struct index_query *query,
                struct index_topic *ret_topic, struct kin_list *ret_members);

#endif
