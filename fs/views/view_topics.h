/* topics/: a directory for each topic, with links to its documents, its sub-topics as directories,
 * and its words in a file. For root and the owner of the mount alone: all others are refused alike,
 * whatever they ask for.
 *
 * Threads: the one of the views that runs a task.
 */
#ifndef KINFS_FS_VIEWS_VIEW_TOPICS_H
#define KINFS_FS_VIEWS_VIEW_TOPICS_H

#include "fs/views/attribute_text.h"
#include "fs/views/view.h"

#define VIEW_TOPICS_WORDS_NAME ".words"

/* The caller is shown topics: 0 or -EACCES. */
int view_topics_allow(const struct view_task *task);

/* Fills in what task->name stands for in the directory of all topics, or in one that is no link to
 * a document. Returns 0, -ENOENT, -EACCES or an error. */
int view_topics_find(const struct view_task *task, struct view_node *like);

/* The base of the ids of topics, or -ENOENT where none are kept any more. */
int view_topics_base(const struct view_task *task, uint64_t *ret_base);
/* The sub-topics of a topic; none of a sub-topic. Returns how many, or an error; gives. */
int64_t view_topics_parts(const struct view_task *task, struct index_topic_size **ret_parts);
/* The words of task->node, or of the directory that the file is in, on a line; gives. */
int view_topics_label(const struct view_task *task, char **ret_text);
/* The value of an attribute of the document task->key, or, where there is one, of task->node, a
 * VIEW_TOPICS or VIEW_TOPIC; gives. -ENODATA where there is none, or the caller is not shown it. */
int view_topics_attribute(const struct view_task *task, enum attribute attribute, char **ret_text);

#endif
