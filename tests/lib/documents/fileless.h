/* An index of documents without files: all that the committer stores of a file is stored, by its
 * own functions (names, rows, records, classes, postings, clusters), and texts are sketched as a
 * worker sketches them, but from memory. What is left out is looking at files and reading them, and
 * the handing over from thread to thread. So of very many documents only the engine is measured.
 *
 * What fails ends the process, with a message.
 */
#ifndef KINFS_TESTS_LIB_DOCUMENTS_FILELESS_H
#define KINFS_TESTS_LIB_DOCUMENTS_FILELESS_H

#include "engine/index/intake/commit.h"
#include "engine/index/intake/reconcile.h"

struct fileless;

enum { FILELESS_AT_ONCE = RESULTS_AT_ONCE };

/* A new index, in an empty or missing directory. */
struct fileless *fileless_open(const char *directory);
void fileless_close(struct fileless *fileless);
struct index *fileless_index(struct fileless *fileless);

struct fileless_text {
    uint32_t number; /* of the document: any, below 2^31 */
    const char *text;
    size_t n_bytes;
};
/* Documents that come, or are rewritten: at most FILELESS_AT_ONCE, each once; in one step. */
void fileless_put(struct fileless *fileless, const struct fileless_text *texts, size_t n);
/* The same document, seen by a process that has it open for a look at it: its sketch alone. */
void fileless_sketch(struct fileless *fileless, const struct fileless_text *text,
                     struct record *ret_record);
/* At most RECONCILE_AT_ONCE that are there; in one step. */
void fileless_remove(struct fileless *fileless, const uint32_t *numbers, size_t n);
/* What large clusters need, to the end. Returns how many steps that took. */
unsigned fileless_recluster(struct fileless *fileless);

/* 0: in none, or not there. */
uint64_t fileless_cluster(struct fileless *fileless, uint32_t number);
struct file_key fileless_key(uint32_t number);
struct file_key fileless_directory(uint32_t number); /* it has the name NUMBER.txt in it */
/* The number in the path of an answer. */
uint32_t fileless_number(const char *path);

#endif
