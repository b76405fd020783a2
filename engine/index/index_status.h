/* The numbers of an index. A part of index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_STATUS_H
#define KINFS_ENGINE_INDEX_INDEX_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/index_opening.h"

struct index;

enum { INDEX_UNREAD_MAX = 3, INDEX_EXTRACTORS_LEFT_MAX = 8 };

struct index_status {
    char version[32], source[4096], store[4096];
    char policy[128];                         /* name and parameters, for people */
    uint32_t policy_w;                        /* tokens in a shingle */
    const char *tokens, *stopwords, *stemmer; /* names: what becomes of words before; static */
    uint64_t documents, clusters, clustered_documents, store_bytes;
    uint64_t repairing; /* clusters and posting lists whose documents are to be clustered anew */
    /* Words of documents are kept; they were counted of so many, and nothing has changed since */
    enum index_topics topics; /* OFF: no words are kept */
    bool topics_current;
    uint64_t topics_documents;
    /* Documents queued or in work; or, of the first, left out by a store that takes no writes. */
    uint64_t pending_foreground, pending_scan;
    uint64_t pending_slow;    /* of them: those above 1 MiB, and those that take an extractor */
    uint64_t skipped, failed; /* documents that could not be read; store writes that failed */
    uint64_t scan_found, scan_done; /* documents of the running or last scan */
    bool scanning;
    bool extracts; /* there are programs that read documents for it */
    /* The kinds of documents whose programs are not installed, so that they are compared as bytes:
     * "pdf"; static, NULL behind the last */
    const char *unread[INDEX_UNREAD_MAX + 1];
    unsigned extractors_left; /* that no signal ends; at INDEX_EXTRACTORS_LEFT_MAX none is run */
    uint64_t sketched_documents, sketched_bytes; /* since the start */
    int store_error; /* negative errno: nothing can be written for now; 0: it can */
    char last_error[256];
};
/* Any thread. Waits for nobody, but looks at each file of the store. */
void index_get_status(struct index *index, struct index_status *ret_status);

#endif
