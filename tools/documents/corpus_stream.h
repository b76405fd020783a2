/* The documents of a corpus, read, sketched and added to a batch by as many threads as it has
 * writers. */
#ifndef KINFS_TOOLS_DOCUMENTS_CORPUS_STREAM_H
#define KINFS_TOOLS_DOCUMENTS_CORPUS_STREAM_H

#include "engine/cluster/batch.h"
#include "tools/documents/corpus.h"
#include "tools/documents/json_text.h"
#include "tools/show/progress.h"

enum { CORPUS_FAULTS_TOLD = 5 };

/* A line that is no document. */
struct corpus_fault {
    uint32_t number;
    enum json_text_fault fault;
};

/* Ends with corpus_stream_done(). */
struct corpus_stream {
    const struct corpus *corpus; /* line i is document i of the batch, or none */
    const char *text_field, *id_field;
    const struct policy *policy;
    struct batch *batch;
    struct progress *progress; /* drawn by the caller's thread */
    bool strict;               /* ends with the first line that is neither blank nor a document */
    /* what came of it */
    uint64_t n_bytes; /* of lines */
    double wall_s, cpu_s;
    uint32_t n_faults;
    struct corpus_fault faults[CORPUS_FAULTS_TOLD]; /* the first ones, in order */
    /* private */
    uint64_t *marks; /* of each line */
    struct scratch_file ids;
    const char *ids_mapped;
};

/* The memory that it keeps, for each line; while it runs some lines of each thread and one long one
 * come on top. */
enum { CORPUS_STREAM_LINE_BYTES = 8 };

/* Returns 0, -EBADMSG (strict, and there is a fault), an error of corpus_walk_next() with a line in
 * *ret_error, of batch_writer_add() or of making what all that takes. */
int corpus_stream_run(struct corpus_stream *stream, char **ret_error);
void corpus_stream_done(struct corpus_stream *stream);

/* After corpus_stream_run(): what is known of a line. */
struct corpus_line {
    bool blank;
    enum json_text_fault fault; /* of one that is not blank */
    const char *id;             /* as it is written in the line; not ended by a NUL */
    uint32_t id_bytes;          /* 0: it has none */
};
struct corpus_line corpus_stream_line(const struct corpus_stream *stream, uint32_t number);

#endif
