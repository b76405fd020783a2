/* The lines of an extractor's output to features: one for each line that is not empty. Private to
 * engine/text.
 */
#ifndef KINFS_ENGINE_TEXT_FEATURES_LINES_H
#define KINFS_ENGINE_TEXT_FEATURES_LINES_H

#include "engine/text/features/feature_list.h"

enum { LINES_LINE_MAX_BYTES = 4096 }; /* a longer line is several features */

struct lines {
    struct feature_list *features;
    uint32_t n_bytes; /* of the open line */
    uint8_t line[LINES_LINE_MAX_BYTES];
};

void lines_begin(struct lines *lines, struct feature_list *features);
void lines_feed(struct lines *lines, const uint8_t *bytes, size_t size_bytes);
void lines_finish(struct lines *lines);

#endif
