#include "fs/views/view_topics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "fs/views/view_names.h"

enum { N_WORDS = 10 };

int view_topics_allow(const struct view_task *task)
{
    return task->caller.all ? 0 : -EACCES;
}

int view_topics_base(const struct view_task *task, uint64_t *ret_base)
{
    struct index_topics_status status;
    if (!index_get_topics(task->fs->index, &status))
        return -ENOENT;
    *ret_base = status.base;
    return 0;
}

static bool is_part(const struct view_node *topic)
{
    return topic->parent && topic->parent->kind == VIEW_TOPIC;
}

/* An id that a topic had before it became part of another is a link to that. It is not listed. */
static int find_topic(const struct view_task *task, uint64_t id, struct view_node *like)
{
    uint64_t base, topic;
    int r = view_topics_base(task, &base);
    if (r < 0)
        return r;
    like->kind = VIEW_TOPIC;
    like->cluster_id = base | id;
    r = index_has_cluster(task->fs->index, like->cluster_id);
    if (r != 0)
        return r < 0 ? r : 0;
    r = index_cluster_alias(task->fs->index, like->cluster_id, &topic);
    like->kind = VIEW_LINK;
    like->cluster_id = topic & INDEX_CLUSTER_MAX;
    return r;
}

static int find_part(const struct view_task *task, uint64_t id, struct view_node *like)
{
    _cleanup_free_ struct index_topic_size *parts = NULL;
    const int64_t n = view_topics_parts(task, &parts);
    for (int64_t i = 0; i < n; i++)
        if ((parts[i].id & INDEX_CLUSTER_MAX) == id) {
            like->kind = VIEW_TOPIC;
            like->cluster_id = parts[i].id;
            return 0;
        }
    return n < 0 ? (int)n : -ENOENT;
}

int view_topics_find(const struct view_task *task, struct view_node *like)
{
    const struct view_node *node = task->node;
    const uint64_t id = view_names_id(task->name);
    int r = view_topics_allow(task);
    if (r == 0)
        r = view_settle(task);
    if (r < 0)
        return r;
    if (node->kind == VIEW_TOPICS && strcmp(task->name, VIEW_TAG_NAME) == 0) {
        like->kind = VIEW_TAG;
        return 0;
    }
    if (node->kind == VIEW_TOPIC && strcmp(task->name, VIEW_TOPICS_WORDS_NAME) == 0) {
        like->kind = VIEW_TOPIC_WORDS;
        return 0;
    }
    if (!id)
        return -ENOENT;
    return node->kind == VIEW_TOPICS ? find_topic(task, id, like) : find_part(task, id, like);
}

int64_t view_topics_parts(const struct view_task *task, struct index_topic_size **ret_parts)
{
    *ret_parts = NULL;
    return is_part(task->node)
               ? 0
               : index_topics(task->fs->index, task->node->cluster_id, 0, ret_parts);
}

/* Words with blanks between; gives. */
static int join(const struct index_topic_words *words, char **ret_text)
{
    size_t n_bytes = 1;
    for (size_t i = 0; i < words->n; i++)
        n_bytes += strlen(words->words[i].text) + 1;
    char *text = malloc(n_bytes), *at = text;
    if (!text)
        return -ENOMEM;
    for (size_t i = 0; i < words->n; i++)
        at = stpcpy(stpcpy(at, i ? " " : ""), words->words[i].text);
    *at = '\0';
    *ret_text = text;
    return 0;
}

int view_topics_label(const struct view_task *task, char **ret_text)
{
    const struct view_node *topic =
        task->node->kind == VIEW_TOPIC ? task->node : task->node->parent;
    const struct index_query query = view_query_of(task, 1);
    struct index_topic found;
    char *text;
    int r = index_topic(task->fs->index, topic->cluster_id, N_WORDS, &query, &found, NULL);
    if (r < 0)
        return r == -ENODATA || r == -EOPNOTSUPP ? -ENOENT : r;
    r = join(&found.words, &text);
    index_topic_done(&found);
    if (r < 0)
        return r;
    char *line = realloc(text, strlen(text) + 2);
    if (!line) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = strcat(line, "\n");
    return 0;
}

/* -- attributes -- */

__attribute__((format(printf, 2, 3))) static int set(char **ret_text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vasprintf(ret_text, format, args);
    va_end(args);
    return n < 0 ? -ENOMEM : 0;
}

/* A list of attributes has it where the document has words, which is not read for that. */
static int words_of_document(const struct view_task *task, char **ret_text)
{
    const struct index_query query = view_query_of(task, 0);
    struct index_topic_words words;
    int r =
        index_document_words(task->fs->index, &task->key, task->name ? N_WORDS : 0, &query, &words);
    if (r < 0)
        return r;
    r = task->name && !words.n ? -ENODATA : join(&words, ret_text);
    index_topic_words_done(&words);
    return r;
}

static int of_document(const struct view_task *task, enum attribute attribute, char **ret_text)
{
    struct index_topic_size topic;
    if (attribute == ATTRIBUTE_WORDS)
        return words_of_document(task, ret_text);
    int r = index_topic_of(task->fs->index, &task->key, false, &topic);
    if (r < 0 || !topic.id)
        return r < 0 ? r : -ENODATA;
    return set(ret_text, "%" PRIu64,
               attribute == ATTRIBUTE_TOPIC ? topic.id & INDEX_CLUSTER_MAX : topic.size);
}

static int state(const struct view_task *task, char **ret_text)
{
    struct index_topics_status status;
    if (!index_get_topics(task->fs->index, &status))
        return -ENODATA;
    return set(ret_text, "%s", status.current ? "current" : "stale");
}

static int show(const struct index_topic *topic, enum attribute attribute, char **ret_text)
{
    char number[ATTRIBUTE_NUMBER_BYTES];
    int r;
    switch (attribute) {
    case ATTRIBUTE_SIZE: return set(ret_text, "%" PRIu64, topic->size);
    case ATTRIBUTE_WORDS: return join(&topic->words, ret_text);
    case ATTRIBUTE_REPRESENTATIVE:
        return topic->centre.path ? escape_name(topic->centre.path, ret_text) : -ENODATA;
    default:
        r = attribute_number(topic->resemblance_mean, number);
        return r < 0 ? r : set(ret_text, "%s", number);
    }
}

static int of_topic(const struct view_task *task, enum attribute attribute, char **ret_text)
{
    const bool wants_words = attribute == ATTRIBUTE_WORDS && task->name;
    const struct index_query query = view_query_of(task, 1);
    struct index_topic topic;
    if (attribute != ATTRIBUTE_SIZE && attribute != ATTRIBUTE_WORDS &&
        attribute != ATTRIBUTE_REPRESENTATIVE && attribute != ATTRIBUTE_RESEMBLANCE_MEAN)
        return -ENODATA;
    int r = index_topic(task->fs->index, task->node->cluster_id, wants_words ? N_WORDS : 0, &query,
                        &topic, NULL);
    if (r < 0)
        return r;
    r = show(&topic, attribute, ret_text);
    index_topic_done(&topic);
    return r;
}

int view_topics_attribute(const struct view_task *task, enum attribute attribute, char **ret_text)
{
    int r = -ENODATA;
    if (!task->caller.all)
        return r;
    if (!task->node)
        r = of_document(task, attribute, ret_text);
    else if (attribute == ATTRIBUTE_STATE)
        r = state(task, ret_text);
    else if (task->node->kind == VIEW_TOPIC)
        r = of_topic(task, attribute, ret_text);
    return r == -EOPNOTSUPP ? -ENODATA : r;
}
