/* Rows of a table (CSV, RFC 4180, with commas, semicolons or tabs) to features: one a row, whatever
 * the separator, the quoting and the spaces around fields. Private to engine/text.
 */
#ifndef KINFS_ENGINE_TEXT_TABLE_H
#define KINFS_ENGINE_TEXT_TABLE_H

#include <stdbool.h>

#include "engine/text/feature_list.h"

enum { TABLE_ROW_MAX_BYTES = 8192 }; /* a longer row is several features */

struct table {
    struct feature_list *features;
    char separator;
    enum { TABLE_AT_FIELD, TABLE_IN_FIELD, TABLE_QUOTED, TABLE_QUOTE_IN_QUOTED } state;
    uint32_t n_bytes, field; /* of the open row; where its last field begins */
    uint8_t row[TABLE_ROW_MAX_BYTES];
};

/* The separator of the table that begins with these bytes, 0 when it is none: rows of one number of
 * separators each, three of two or more, or eight of one, few with a space behind as in prose.
 * whole: the document has no more bytes. */
char table_sniff(const uint8_t *head, size_t head_bytes, bool whole);

void table_begin(struct table *table, char separator, struct feature_list *features);
void table_feed(struct table *table, const uint8_t *bytes, size_t size_bytes);
void table_finish(struct table *table);

#endif
