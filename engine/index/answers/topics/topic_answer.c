/* The sum of the bags of its documents, of a large topic those of a sample, says what a topic is
 * about; the centre is the document that resembles this sum most. Neither is stored: both follow
 * from the documents that are in it now.
 *
 * Example: of the bags {a 100}, {a 50, b 50} and {b 30, c 70} the sum, made to be 100, is {a 50, b
 * 27, c 23}. The second resembles it most, 77/123, and is the centre.
 */
#include <errno.h>
#include <math.h>

#include "engine/index/answers/answer.h"
#include "engine/index/answers/topics/topics_answer.h"
#include "engine/index/answers/topics/word_texts.h"
#include "engine/index/answers/topics/word_weights.h"

enum { TRIES_MAX = 3, WORDS_MOST = 100 };

void index_topic_done(struct index_topic *topic)
{
    kin_done(&topic->centre);
    index_topic_words_done(&topic->words);
    *topic = (struct index_topic){0};
}

/* -- words of a document -- */

int index_document_words(struct index *index, const struct file_key *file, size_t n,
                         const struct index_query *query, struct index_topic_words *ret_words)
{
    _cleanup_(document_done) struct document document = {0};
    _cleanup_(word_weights_done) struct word_weights weights = {0};
    _cleanup_(bag_done) struct bag bag = {0};
    if (query->may_read)
        return -EACCES;
    if (!index->topics)
        return -EOPNOTSUPP;
    int r = answer_document(index, file, query, &document);
    if (r == 0)
        r = word_weights_begin(&weights, index->kv, index->topics);
    if (r == 0)
        r = word_weights_bag(&weights, document.sid, &bag);
    if (r == 0 && n == 0)
        r = bag.n_words ? 0 : -ENOENT;
    if (r == 0)
        *ret_words = (struct index_topic_words){0};
    if (r == 0 && n)
        r = word_texts_of(index, file, &bag, n, query, ret_words);
    return r == -ENODATA ? -ENOENT : r;
}

/* -- a topic -- */

struct topic_looking {
    struct index *index;
    const struct index_query *query;
    struct word_weights weights;
    struct path_cache *paths;
    struct sid_list members;
    struct bag sum;    /* made to be 100 */
    struct bag centre; /* of the sample; as is: */
    uint64_t centre_sid;
};

static void looking_done(struct topic_looking *looking)
{
    word_weights_done(&looking->weights);
    path_cache_free(looking->paths);
    sid_list_done(&looking->members);
    bag_done(&looking->sum);
    bag_done(&looking->centre);
}

static size_t n_sample(const struct topic_looking *looking)
{
    const size_t n = looking->members.n_sids;
    return n < INDEX_TOPIC_SAMPLE ? n : INDEX_TOPIC_SAMPLE;
}

static uint64_t sample(const struct topic_looking *looking, size_t i)
{
    return looking->members.sids[i * looking->members.n_sids / n_sample(looking)];
}

/* A document that has gone since has no words. */
static int bag_of(struct topic_looking *looking, uint64_t sid, struct bag *ret_bag)
{
    if (answer_is_stopped(looking->query))
        return -EINTR;
    int r = word_weights_bag(&looking->weights, sid, ret_bag);
    return r == -ENOENT ? 0 : r;
}

static int add_up(struct topic_looking *looking)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < n_sample(looking); i++) {
        _cleanup_(bag_done) struct bag bag = {0};
        struct bag sum;
        r = bag_of(looking, sample(looking, i), &bag);
        if (r == 0)
            r = bag_merge(&looking->sum, &bag, &sum);
        if (r < 0)
            return r;
        bag_done(&looking->sum);
        looking->sum = sum;
    }
    return r == 0 && looking->sum.n_words ? bag_normalise(&looking->sum, BAG_WHOLE) : r;
}

static double resemblance(const struct bag *a, const struct bag *b)
{
    double value;
    return bag_resemblance(a, b, &value) < 0 ? 0 : value;
}

static int find_centre(struct topic_looking *looking)
{
    double best = -1;
    for (size_t i = 0; i < n_sample(looking); i++) {
        const uint64_t sid = sample(looking, i);
        struct bag bag = {0};
        int r = bag_of(looking, sid, &bag);
        if (r < 0)
            return r;
        const double value = resemblance(&looking->sum, &bag);
        if (value <= best) {
            bag_done(&bag);
            continue;
        }
        bag_done(&looking->centre);
        looking->centre = bag;
        looking->centre_sid = sid;
        best = value;
    }
    return 0;
}

static int look(struct topic_looking *looking, uint64_t stored)
{
    struct index *index = looking->index;
    int r = word_weights_begin(&looking->weights, index->kv, index->topics);
    if (r == 0)
        r = living_clusters_members(index->clusters, stored, 0, &looking->members);
    if (r == 0)
        r = path_cache_new(index->kv, backing_root_key(index->backing), &looking->paths);
    if (r == 0)
        r = add_up(looking);
    return r < 0 ? r : find_centre(looking);
}

static int mean(struct topic_looking *looking, double *ret_mean)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < n_sample(looking); i++) {
        _cleanup_(bag_done) struct bag bag = {0};
        const uint64_t sid = sample(looking, i);
        int r = sid == looking->centre_sid ? 0 : bag_of(looking, sid, &bag);
        if (r < 0)
            return r;
        sum += sid == looking->centre_sid ? 0 : resemblance(&looking->centre, &bag);
        n += sid != looking->centre_sid;
    }
    *ret_mean = n ? sum / (double)n : 1;
    return 0;
}

/* Returns 0, -ENOENT where it has gone, or has no path. */
static int kin_by_words(struct topic_looking *looking, uint64_t sid, double value,
                        struct kin *ret_kin)
{
    const struct estimate estimate = {.value = value, .exact = true};
    struct records *records = looking->index->records;
    const struct record *record;
    _cleanup_free_ char *path = NULL;
    int r = records_borrow(records, &sid, 1, &record);
    if (r < 0 || !record)
        return r < 0 ? r : -ENOENT;
    r = answer_path(looking->index, looking->paths, &record->key, &path);
    if (r == 0) {
        *ret_kin = kin_of(sid, record, &estimate);
        ret_kin->path = TAKE_PTR(path);
    }
    records_return(records, &record, 1);
    return r;
}

struct ranked {
    uint64_t sid;
    double resemblance;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->resemblance != y->resemblance)
        return x->resemblance < y->resemblance ? 1 : -1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

/* The nearest are chosen before their paths are looked for. The centre stays the first. */
static int list_members(struct topic_looking *looking, struct kin_list *list)
{
    const struct sid_list *members = &looking->members;
    const size_t limit = looking->query->limit;
    _cleanup_free_ struct ranked *ranked = calloc(members->n_sids + 1, sizeof(*ranked));
    if (!ranked)
        return -ENOMEM;
    for (size_t i = 0; i < members->n_sids; i++) {
        _cleanup_(bag_done) struct bag bag = {0};
        int r = bag_of(looking, members->sids[i], &bag);
        if (r < 0)
            return r;
        const bool is_centre = members->sids[i] == looking->centre_sid;
        ranked[i] =
            (struct ranked){members->sids[i], is_centre ? 2 : resemblance(&looking->centre, &bag)};
    }
    if (members->n_sids)
        qsort(ranked, members->n_sids, sizeof(*ranked), compare_ranked);
    for (size_t i = 0; i < members->n_sids && !(limit && list->n_kin == limit); i++) {
        struct kin kin;
        int r = kin_by_words(looking, ranked[i].sid, fmin(ranked[i].resemblance, 1), &kin);
        if (r == -ENOENT)
            continue;
        if (r == 0)
            r = kin_list_add(list, &kin);
        kin_done(&kin);
        if (r < 0)
            return r;
    }
    const bool has_first = list->n_kin && list->kin[0].sid == looking->centre_sid;
    if (list->n_kin > has_first)
        qsort(list->kin + has_first, list->n_kin - has_first, sizeof(*list->kin), kin_compare);
    return 0;
}

static int describe(struct topic_looking *looking, size_t n_words, struct index_topic *topic,
                    struct kin_list *list, bool lists)
{
    int r = mean(looking, &topic->resemblance_mean);
    if (r == 0)
        r = kin_by_words(looking, looking->centre_sid, 1, &topic->centre);
    if (r == 0 && n_words)
        r = word_texts_of(looking->index, &topic->centre.key, &looking->sum, n_words,
                          looking->query, &topic->words);
    if (r == -ENOENT)
        r = 0;
    return r == 0 && lists ? list_members(looking, list) : r;
}

static int answer(struct index *index, uint64_t stored, size_t n_words,
                  const struct index_query *query, struct index_topic *topic, struct kin_list *list,
                  bool lists, bool *ret_over)
{
    _cleanup_(looking_done) struct topic_looking looking = {.index = index, .query = query};
    int r = look(&looking, stored);
    topic->size = looking.members.n_sids;
    if (r == 0)
        r = describe(&looking, n_words, topic, list, lists);
    *ret_over = r == 0 && word_weights_are_over(&looking.weights);
    return r;
}

int index_topic(struct index *index, uint64_t id, size_t n_words, const struct index_query *query,
                struct index_topic *ret_topic, struct kin_list *ret_members)
{
    const struct named_clustering *topics = topics_clustering(index, false),
                                  *fine = topics_clustering(index, true);
    const uint64_t stored = shown_ids_read(&index->shown_ids, id);
    const unsigned number = cluster_clustering(stored);
    bool is_over = true;
    int r = 0;
    if (query->may_read)
        return -EACCES;
    if (!topics || !fine)
        return -EOPNOTSUPP;
    if (!stored || (number != topics->number && number != fine->number))
        return -ENOENT;
    for (unsigned n = 0; r == 0 && is_over && n < TRIES_MAX; n++) {
        _cleanup_(kin_list_done) struct kin_list list = {0};
        struct index_topic topic = {.id = id};
        r = answer(index, stored, n_words < WORDS_MOST ? n_words : WORDS_MOST, query, &topic, &list,
                   ret_members != NULL, &is_over);
        if (r < 0 || (is_over && n + 1 < TRIES_MAX)) {
            index_topic_done(&topic);
            continue;
        }
        is_over = false;
        *ret_topic = topic;
        if (ret_members) {
            *ret_members = list;
            list = (struct kin_list){0};
        }
    }
    return r;
}
