/* The names of the targets of links, by their fingerprints, in files: names of millions of pages
 * do not fit into memory. A target that is a document is known by the document's number, so that
 * documents are the first nodes in their order, and others come behind them in the order of their
 * fingerprints.
 */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_TOPICS_NAMES_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_TOPICS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct topics_names;

enum { TOPICS_NAMES_LEAST_BYTES = 4 << 20 };

/* scratch       a directory, for files without names
 * memory_bytes  TOPICS_NAMES_LEAST_BYTES at least
 * Returns 0, -ENOMEM, an error of scratch_file_open(); gives. */
int topics_names_new(const char *scratch, size_t memory_bytes, struct topics_names **ret_names);
void topics_names_free(struct topics_names *names);
DEFINE_CLEANUP(struct topics_names *, topics_names_free);

/* A document, or a name, has this fingerprint (link_name_fingerprint()); as often as it comes, in
 * any order. A name is of some kilobytes at most. Return 0, an error of scratch_file_write(). One
 * thread at a time. */
int topics_names_add_document(struct topics_names *names, uint64_t fingerprint, uint32_t document);
int topics_names_add(struct topics_names *names, uint64_t fingerprint, bool outside,
                     const char *name);

/* No more is added; what follows asks in ascending order of fingerprints, each of which was added.
 * Returns 0 or an error. */
int topics_names_begin(struct topics_names *names);

/* Returns the number of the document that a fingerprint is of, of several the least, or
 * TOPICS_NO_DOCUMENT: then it is the next of the others, which begin with number 0; or an error. */
#define TOPICS_NO_DOCUMENT ((int64_t)UINT32_MAX + 1)
int64_t topics_names_next(struct topics_names *names, uint64_t fingerprint);

/* The name of other number i; gives. Returns 0, -ENOMEM, an error of scratch_file_read(). */
int topics_names_of(struct topics_names *names, uint32_t i, bool *ret_outside, char **ret_name);

/* Bytes written to files, and read from them. */
void topics_names_cost(const struct topics_names *names, uint64_t *ret_written, uint64_t *ret_read);

#endif
