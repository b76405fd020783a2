/* Two files compared by sketches that are made for the purpose, by any family and under a key that
 * nobody has seen before and nobody will see again. */
#ifndef KINFS_TOOLS_DOCUMENTS_FRESH_COMPARE_H
#define KINFS_TOOLS_DOCUMENTS_FRESH_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

#include "tools/documents/text_source.h"

struct fresh_comparison {
    const char *family; /* a name of fresh_families() */
    unsigned w;
    struct word_options words;
    uint32_t within; /* not 0: whether at most so many shingles are in one of the files only */
};

/* Print the names of all families, one a line, with what each is. */
void fresh_families(void);
bool fresh_family_is_known(const char *name);

/* The tokens in a shingle that a family is printed with; 0: none of its own. */
unsigned fresh_family_shingle(const char *name);

/* Compare two texts, and add what came out to the row: "sketch",
 * "measure", and of each measure the value, "_error" and "_samples" (NULL where there is none).
 * same: both documents are equal, and not empty. Returns 0 or an errno. */
int fresh_compare(const struct fresh_comparison *comparison, const struct text_source *a,
                  const struct text_source *b, bool same, struct json_object *row);

#endif
