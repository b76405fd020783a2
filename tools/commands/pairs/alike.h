/* The directories of a document are those that have one like it: its own, those of the documents
 * that are equal, and those of the ones that its pairs are with. Many documents of two trees that
 * mirror each other have the same set of directories, which is kept once.
 *
 * A set ends at `most` directories and one: what so many have says nothing of any of them, and
 * neither the list of a licence in every directory nor the pairs of its variants become a square.
 * Cost: documents, and for each pair `most` steps; 36 bytes a document, and 4 to 8 for each further
 * directory of a set. */
#ifndef KINFS_TOOLS_COMMANDS_PAIRS_ALIKE_H
#define KINFS_TOOLS_COMMANDS_PAIRS_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct alike;

/* directories  of each document, by number
 * classes      of each document the first one that is equal, so numbered
 * in           of each document whether it counts; what does not is like none
 *
 * All borrowed until alike_free(). most: 2 to ALIKE_MOST_DIRECTORIES. Returns 0, -ENOMEM, or
 * -EOVERFLOW: more than ALIKE_MOST_KEPT further ones would have to be kept. */
enum { ALIKE_MOST_DIRECTORIES = 256, ALIKE_MOST_KEPT = 1 << 26 };
int alike_new(const uint32_t *directories, const uint32_t *classes, const bool *in, uint32_t n,
              uint32_t most, struct alike **ret_alike);
void alike_free(struct alike *alike); /* NULL allowed */
DEFINE_CLEANUP(struct alike *, alike_free);

/* Two first documents of their classes are alike. Before alike_finish(); as above. */
int alike_add_pair(struct alike *alike, uint32_t a, uint32_t b);

/* Find which sets are the same: -ENOMEM. */
int alike_finish(struct alike *alike);

enum alike_kind {
    ALIKE_OUT,   /* it does not count */
    ALIKE_ALONE, /* nowhere but in its own directory is one like it */
    ALIKE_SOME,
    ALIKE_COMMON, /* in more directories than `most` */
};
enum alike_kind alike_kind(const struct alike *alike, uint32_t document);

/* The set of an ALIKE_SOME document: the number of its set, below the number of documents, and its
 * directories in order, borrowed. */
uint32_t alike_set(const struct alike *alike, uint32_t document);
const uint32_t *alike_directories(const struct alike *alike, uint32_t set, uint32_t *ret_n);

#endif
