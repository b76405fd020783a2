/* The lines of the past that events came to last, as the store has them. A scan of a line passes
 * all that was deleted of it and is not compacted yet: who renames one file without end would make
 * each of these events dearer than the one before, and all wait for that. Of lines that are here
 * the store is not asked, and none goes while others have had no event for longer: names that
 * somebody chooses do not push out the line of the document that has them. The committer's; some
 * 700 KB.
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_PAST_PAST_LINES_H
#define KINFS_ENGINE_INDEX_INTAKE_PAST_PAST_LINES_H

#include "engine/index/tables/past.h"

enum {
    PAST_LINE_MAX = 16, /* events of a document, and of a place; of a year's daily ones the gaps are
                           some three weeks */
    PAST_LINES_KEPT = 512,
};

struct past_lines_table;
struct past_lines {
    struct past_lines_table *table; /* NULL: nothing is known yet */
};

/* As past_line(). */
int past_lines_read(const struct past_lines *lines, struct kv *kv, uid_t owner,
                    const struct file_key *file, const char *path, size_t limit,
                    struct past_place *ret_places, size_t *ret_n);
/* A line is so from now on, or when what is in hand is written. One of more than PAST_LINE_MAX is
 * not kept. */
void past_lines_keep(struct past_lines *lines, uid_t owner, const struct file_key *file,
                     const char *path, const struct past_place *places, size_t n);
/* An event goes from its lines. */
void past_lines_take_out(struct past_lines *lines, const struct past_event *event);
/* Nothing is known any more: a write failed, or others have written. */
void past_lines_forget(struct past_lines *lines);

#endif
