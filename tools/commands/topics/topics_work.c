/* The rows of kinfs topics, where the index is. */
#include <errno.h>

#include "tools/commands/command.h"
#include "tools/questions/question.h"
#include "tools/show/json_path.h"

enum { DEFAULT_LIMIT = 20, DEFAULT_WORDS = 6 };

struct topics_work {
    const struct work_context *context;
    struct index_topics_status status;
    struct index_query query;
    size_t n_words;
    row_fn row;
    void *user;
};

static int refuse_topics(int r, const char *what, char **ret_error)
{
    if (r == -EOPNOTSUPP)
        return refuse(ret_error, r, "%s: " QUESTION_NO_TOPICS, what);
    if (r == -ENODATA)
        return refuse(ret_error, -EAGAIN,
                      "%s: words are not counted yet; kinfs settle waits for it", what);
    return refuse(ret_error, r, "%s: %s", what, error_text(r));
}

static struct json_object *make_row(const struct index_topic *topic, uint64_t of)
{
    struct json_object *row = json_object_new_object(), *words = json_object_new_array();
    work_add_count(row, "topic", (of ? of : topic->id) & INDEX_CLUSTER_MAX);
    if (of)
        work_add_count(row, "subtopic", topic->id & INDEX_CLUSTER_MAX);
    work_add_count(row, "size", topic->size);
    work_add_ratio(row, "resemblance_mean", topic->resemblance_mean);
    for (size_t i = 0; i < topic->words.n; i++) {
        struct json_object *word = json_object_new_object();
        json_path_add(word, "word", topic->words.words[i].text);
        work_add_count(word, "weight", (uint64_t)topic->words.words[i].weight);
        json_object_array_add(words, word);
    }
    json_object_object_add(row, "words", words);
    if (topic->centre.path)
        json_path_add(row, "centre", topic->centre.path);
    return row;
}

/* of: 0: a topic, else a sub-topic of this one. */
static int tell(const struct topics_work *work, uint64_t id, uint64_t of)
{
    struct index_topic topic;
    int r = index_topic(work->context->index, id, work->n_words, &work->query, &topic, NULL);
    if (r < 0)
        return r == -ENOENT ? 0 : r; /* gone since it was listed */
    r = work->row(work->user, make_row(&topic, of));
    index_topic_done(&topic);
    return r;
}

static int tell_all(const struct topics_work *work, uint64_t of)
{
    _cleanup_free_ struct index_topic_size *topics = NULL;
    int64_t n = index_topics(work->context->index, of, work->query.limit, &topics);
    int r = n < 0 ? (int)n : 0;
    for (int64_t i = 0; r == 0 && i < n; i++)
        r = tell(work, topics[i].id, of);
    return r;
}

/* -- one topic -- */

static int add_parts(const struct topics_work *work, uint64_t id, struct json_object *row)
{
    _cleanup_free_ struct index_topic_size *topics = NULL;
    struct json_object *parts = json_object_new_array();
    int64_t n = index_topics(work->context->index, id, 0, &topics);
    for (int64_t i = 0; i < n; i++) {
        struct json_object *part = json_object_new_object();
        work_add_count(part, "subtopic", topics[i].id & INDEX_CLUSTER_MAX);
        work_add_count(part, "size", topics[i].size);
        json_object_array_add(parts, part);
    }
    json_object_object_add(row, "subtopics", parts);
    return n < 0 ? (int)n : 0;
}

static void add_documents(const struct kin_list *list, struct json_object *row)
{
    struct json_object *documents = json_object_new_array();
    for (size_t i = 0; i < list->n_kin; i++) {
        struct json_object *document = json_object_new_object();
        json_path_add(document, "path", list->kin[i].path);
        work_add_ratio(document, "resemblance", list->kin[i].resemblance);
        json_object_array_add(documents, document);
    }
    json_object_object_add(row, "documents", documents);
}

/* Returns 0, -ENOENT (it is none of the topic) or an error. */
static int find_part(const struct topics_work *work, uint64_t topic_id, uint64_t part_id)
{
    _cleanup_free_ struct index_topic_size *parts = NULL;
    const int64_t n = index_topics(work->context->index, topic_id, 0, &parts);
    for (int64_t i = 0; i < n; i++)
        if (parts[i].id == part_id)
            return 0;
    return n < 0 ? (int)n : -ENOENT;
}

static int explain(const struct topics_work *work, uint64_t topic_id, uint64_t part)
{
    _cleanup_(kin_list_done) struct kin_list list = {0};
    struct index_topic topic;
    const uint64_t id = part ? work->status.sub_base | part : topic_id;
    int r = part ? find_part(work, topic_id, id) : 0;
    if (r < 0)
        return r;
    r = index_topic(work->context->index, id, work->n_words, &work->query, &topic, &list);
    if (r < 0)
        return r;
    struct json_object *row = make_row(&topic, part ? topic_id : 0);
    index_topic_done(&topic);
    add_documents(&list, row);
    if (!part)
        r = add_parts(work, topic_id, row);
    if (r < 0) {
        json_object_put(row);
        return r;
    }
    return work->row(work->user, row);
}

/* An id that was a topic's is that of the one which has its documents now. */
static uint64_t followed(const struct work_context *context, uint64_t id)
{
    uint64_t topic;
    bool leads = index_has_cluster(context->index, id) == 0 &&
                 index_cluster_alias(context->index, id, &topic) == 0;
    return leads ? topic : id;
}

static int of_document(const struct topics_work *work, struct json_object *request,
                       char **ret_error)
{
    _cleanup_free_ char *path = NULL;
    const char *shown = work_shown(request, "path");
    struct index *index = work->context->index;
    struct index_topic_size topic, part;
    struct file_key key;
    struct document_info info;
    int r = work_document(work->context, request, "path", &path, &key, &info, ret_error);
    if (r < 0)
        return r;
    r = index_topic_of(index, &key, false, &topic);
    if (r == 0)
        r = index_topic_of(index, &key, true, &part);
    if (r < 0)
        return refuse_topics(r, shown, ret_error);
    if (topic.id)
        r = tell(work, topic.id, 0);
    if (r == 0 && topic.id && part.id && part.size != topic.size)
        r = tell(work, part.id, topic.id);
    return r < 0 ? refuse_topics(r, shown, ret_error) : 0;
}

static int say_incomplete(const struct topics_work *work)
{
    return work->status.current
               ? 0
               : work->row(work->user,
                           question_incomplete_row(
                               "not complete: topics are those before the last changes; kinfs "
                               "settle waits for them to be made anew"));
}

int work_topics(const struct work_context *context, struct json_object *request, row_fn row,
                void *user, char **ret_error)
{
    uint64_t id = work_count(request, "id", 0), explained = work_count(request, "explain", 0);
    const uint64_t part = work_count(request, "part", 0), of = id ? id : explained;
    struct topics_work work = {.context = context,
                               .query = {.limit = work_count(request, "limit", DEFAULT_LIMIT),
                                         .stop = context->stop,
                                         .stop_user = context->stop_user},
                               .n_words = work_count(request, "words", DEFAULT_WORDS),
                               .row = row,
                               .user = user};
    char what[64] = "topics";
    work_catch_up(context);
    if (!index_get_topics(context->index, &work.status))
        return refuse_topics(-EOPNOTSUPP, what, ret_error);
    int r = say_incomplete(&work);
    if (r < 0)
        return r;
    if (json_object_object_get_ex(request, "path", NULL))
        return of_document(&work, request, ret_error);
    if (of > INDEX_CLUSTER_MAX || part > INDEX_CLUSTER_MAX)
        r = -ENOENT;
    if (of)
        snprintf(what, sizeof(what), part ? "topic %llu/%llu" : "topic %llu",
                 (unsigned long long)of, (unsigned long long)part);
    const uint64_t topic = of ? followed(context, work.status.base | of) : 0;
    if (r == 0)
        r = explained ? explain(&work, topic, part) : tell_all(&work, topic);
    if (r == -ENOENT)
        return refuse(ret_error, -ENODATA, "no %s", what);
    return r < 0 ? refuse_topics(r, what, ret_error) : 0;
}
