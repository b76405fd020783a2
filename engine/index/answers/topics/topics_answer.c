/* Which topics there are, and which a document is in. */
#include "engine/index/answers/topics/topics_answer.h"

#include <errno.h>

#include "base/room.h"
#include "engine/index/answers/answer.h"
#include "engine/index/clusters/remade.h"

enum { IDS_AT_ONCE = 256 };

const struct named_clustering *topics_clustering(const struct index *index, bool fine)
{
    const struct named_clusterings *named = &index->named;
    for (size_t i = 0; i < named->n_wanted; i++)
        if (named->wanted[i].clustering.kind ==
            (fine ? INDEX_CLUSTERING_SUBTOPICS : INDEX_CLUSTERING_TOPICS))
            return &named->wanted[i];
    return NULL;
}

bool index_get_topics(struct index *index, struct index_topics_status *ret_status)
{
    const struct named_clustering *topics = topics_clustering(index, false),
                                  *fine = topics_clustering(index, true);
    uint64_t documents;
    if (!topics || !fine)
        return false;
    struct index_topics_status status = {
        .base = clustering_base(topics->number),
        .sub_base = clustering_base(fine->number),
        .current = remade_is_current(topics->remade) && remade_is_current(fine->remade),
    };
    if (!status.current)
        status.error = remade_error(topics->remade);
    if (!status.current && !status.error && !topics_may_decide(index->topics))
        status.error = topics_error(index->topics);
    living_clusters_count_in(index->clusters, fine->number, &status.subtopics, &documents);
    living_clusters_count_in(index->clusters, topics->number, &status.topics, &status.documents);
    *ret_status = status;
    return true;
}

struct sizes {
    struct index_topic_size *sizes;
    size_t n, room;
};

static int add_size(struct index *index, uint64_t stored, struct sizes *sizes)
{
    struct index_topic_size size = {.id = shown_ids_show(&index->shown_ids, stored)};
    int r = living_clusters_size(index->clusters, stored, &size.size);
    if (r < 0 || size.size == 0)
        return r;
    if (!MAKE_ROOM(sizes->sizes, sizes->room, sizes->n + 1))
        return -ENOMEM;
    sizes->sizes[sizes->n++] = size;
    return 0;
}

static int add_all(struct index *index, unsigned number, struct sizes *sizes)
{
    uint64_t ids[IDS_AT_ONCE], after = clustering_base(number);
    int n, r = 0;
    while (r == 0 && (n = living_clusters_ids(index->clusters, after, IDS_AT_ONCE, ids)) != 0) {
        if (n < 0)
            return n;
        for (int i = 0; r == 0 && i < n; i++)
            r = add_size(index, ids[i], sizes);
        after = ids[n - 1];
    }
    return r;
}

/* A single sub-topic that has all of the documents is the topic once more. */
static int add_within(struct index *index, uint64_t stored, unsigned fine, struct sizes *sizes)
{
    _cleanup_(sid_list_done) struct sid_list members = {0};
    _cleanup_(number_vector_done) struct number_vector ids = {0};
    int r = living_clusters_members(index->clusters, stored, 0, &members);
    for (size_t i = 0; r == 0 && i < members.n_sids; i++) {
        uint64_t id, size;
        r = living_clusters_of_in(index->clusters, fine, members.sids[i], &id, &size);
        if (r == 0 && id)
            r = number_vector_push_set(&ids, id);
    }
    number_vector_sort_unique(&ids);
    for (size_t i = 0; r == 0 && i < ids.n_numbers; i++)
        r = add_size(index, ids.numbers[i], sizes);
    if (sizes->n == 1 && sizes->sizes[0].size == members.n_sids)
        sizes->n = 0;
    return r;
}

static int compare_sizes(const void *a, const void *b)
{
    const struct index_topic_size *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

int64_t index_topics(struct index *index, uint64_t of, size_t most,
                     struct index_topic_size **ret_topics)
{
    const struct named_clustering *topics = topics_clustering(index, false),
                                  *fine = topics_clustering(index, true);
    const uint64_t stored = of ? shown_ids_read(&index->shown_ids, of) : 0;
    struct sizes sizes = {0};
    if (!topics || !fine)
        return -EOPNOTSUPP;
    if (of && (!stored || cluster_clustering(stored) != topics->number))
        return -ENOENT;
    int r = of ? add_within(index, stored, fine->number, &sizes)
               : add_all(index, topics->number, &sizes);
    if (r < 0) {
        free(sizes.sizes);
        return r;
    }
    if (sizes.n)
        qsort(sizes.sizes, sizes.n, sizeof(*sizes.sizes), compare_sizes);
    *ret_topics = sizes.sizes;
    return (int64_t)(most && most < sizes.n ? most : sizes.n);
}

int index_topic_of(struct index *index, const struct file_key *file, bool fine,
                   struct index_topic_size *ret_topic)
{
    _cleanup_(document_done) struct document document = {0};
    const struct named_clustering *topics = topics_clustering(index, fine);
    uint64_t id = 0, size = 0;
    if (!topics)
        return -EOPNOTSUPP;
    int r = answer_document(index, file, &(struct index_query){0}, &document);
    if (r == 0)
        r = living_clusters_of_in(index->clusters, topics->number, document.sid, &id, &size);
    if (r == 0)
        *ret_topic = (struct index_topic_size){shown_ids_show(&index->shown_ids, id), size};
    return r;
}
