/* Texts by numbers that stand for them, fingerprints: who counts these shows those. */
#ifndef KINFS_TOOLS_DOCUMENTS_SPELLINGS_H
#define KINFS_TOOLS_DOCUMENTS_SPELLINGS_H

#include <stddef.h>
#include <stdint.h>

struct spellings { /* of zeroes: empty */
    struct spelling *slots;
    size_t n_slots, n;
};

/* Remembers a text, if there is none of this number. Returns 0, -ENOMEM. */
int spellings_add(struct spellings *spellings, uint64_t number, const void *text,
                  size_t size_bytes);
/* The text of a number, to its end or a NUL in it; NULL where none was added. */
const char *spellings_of(const struct spellings *spellings, uint64_t number);
void spellings_done(struct spellings *spellings);

#endif
