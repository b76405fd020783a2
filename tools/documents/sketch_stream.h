/* Files of a list, read, sketched and added to a batch by as many threads as it has writers. */
#ifndef KINFS_TOOLS_DOCUMENTS_SKETCH_STREAM_H
#define KINFS_TOOLS_DOCUMENTS_SKETCH_STREAM_H

#include "engine/cluster/batch.h"
#include "engine/index/extract/extractor.h"
#include "tools/documents/document_list.h"
#include "tools/show/progress.h"

struct sketch_stream {
    const struct document_list *list; /* document i is that of the list */
    const struct policy *policy;
    const struct extractors *extractors; /* make the text of what takes a program, as of an index */
    struct batch *batch;
    struct progress *progress; /* drawn by the caller's thread */
    /* what came of it */
    uint64_t n_bytes;  /* read */
    uint32_t n_unread; /* could not be read: complained of, and like no other */
    double wall_s, cpu_s;
};

/* Returns 0 or an error of batch_writer_add() or of making what that takes. */
int sketch_stream_run(struct sketch_stream *stream);

#endif
