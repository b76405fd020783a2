/* Tables (CSV, RFC 4180, with commas, semicolons or tabs) to features: the cells of each row, and
 * pairs of cells that are in one row, whatever the separator, the quoting, the spaces around cells
 * and the order of columns and rows; cells in the form of cell.h. Two tables have one text when
 * they also have the same cells, the empty ones too, in the same order. Private to engine/text.
 */
#ifndef KINFS_ENGINE_TEXT_FEATURES_TABLE_H
#define KINFS_ENGINE_TEXT_FEATURES_TABLE_H

#include <stdbool.h>

#include "engine/text/features/cell.h"
#include "engine/text/features/feature_list.h"

enum {
    TABLE_CELL_MAX_BYTES = 8192, /* a longer cell is several; its last character may go on */
    TABLE_ROW_MAX_CELLS = 256,   /* a longer row is several */
    TABLE_NEIGHBOURS = 4,
};

/* The place among the cells of a row is decided without the key, so that which of them are pairs
 * does not depend on it. */
struct table_cell {
    XXH128_hash_t place, digest;
};

struct table {
    struct feature_list *features, *order; /* order NULL: not wanted */
    char separator;
    bool has_cells; /* the row, before the open one, empty ones too */
    enum { TABLE_AT_CELL, TABLE_IN_CELL, TABLE_QUOTED, TABLE_QUOTE_IN_QUOTED } state;
    bool is_ascii;             /* the open cell */
    uint32_t n_bytes, n_cells; /* of the open cell, and before it in its row */
    uint8_t cell[TABLE_CELL_MAX_BYTES + 2 * UTF8_MAX_BYTES];
    uint8_t form[CELL_FORM_BYTES(TABLE_CELL_MAX_BYTES + UTF8_MAX_BYTES)]; /* of one that is not */
    struct table_cell cells[TABLE_ROW_MAX_CELLS]; /* those that are not empty */
};

/* The separator of the table that begins with these bytes, 0 when they begin none. A table has,
 * behind lines of comment, rows with one number of separators each: three rows of two or more, or
 * eight of one. In four rows or more one row may have another number, and one row of each eight.
 * Where half of the separators have a space behind them, as in prose, there must be four rows of
 * two or more and none of another number. whole: the document has no more bytes. */
char table_sniff(const uint8_t *head, size_t head_bytes, bool whole);

/* order: takes the digests of all cells as they stand, and of what ends rows (canon.h); NULL: not
 * wanted. */
void table_begin(struct table *table, char separator, struct feature_list *features,
                 struct feature_list *order);
void table_feed(struct table *table, const uint8_t *bytes, size_t size_bytes);
void table_finish(struct table *table);

#endif
