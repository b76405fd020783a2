/* Documents are read once, for what they say of themselves and of those they link to (Haveliwala,
 * Gionis and Indyk 2000, section 2): each gives the fragments of bags, and names of targets. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_TOPICS_READING_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_TOPICS_READING_H

#include "engine/index/extract/extractor.h"
#include "engine/topic/bags/target_bags.h"
#include "tools/commands/cluster/cluster_options.h"
#include "tools/commands/cluster/topics_names.h"
#include "tools/documents/document_list.h"

struct topics_reading {
    const struct document_list *list;
    const struct extractors *extractors;
    const char *tree; /* a directory within which links lead; NULL: all of the file system */
    enum topics_bags kind;
    uint32_t window; /* tokens before and behind a link */
    unsigned n_threads;
    struct target_bags *bags;
    struct topics_names *names;
    struct progress *progress; /* drawn by the caller's thread */
    /* what came of it */
    uint64_t n_bytes, n_links, n_windows;
    uint32_t n_unread; /* were complained of, and have no bag of their own */
    double wall_s, cpu_s;
};

enum {
    TOPICS_READING_THREAD_BYTES = 8 << 20, /* of memory */
    TOPICS_READING_MOST_WORDS = 1 << 16,   /* different ones of a document; more is said */
    TOPICS_READING_MOST_LINKS = 1 << 16,   /* of a document, likewise: each is looked for */
};

/* Returns 0, -ENOMEM, an error of target_bags_add() or topics_names_add(), or of opening the tree.
 */
int topics_reading_run(struct topics_reading *reading);

#endif
