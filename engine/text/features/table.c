/* The features of a table: a row is the set of its cells, a table the set of its rows. The features
 * of a row are
 *
 *   its cells       so that a row in which one was changed is like the row that it was
 *   pairs of cells  so that it is not like a row of another table that has the same values: numbers
 *                   from one on, a few towns, the digits
 *
 * With all pairs a row of k cells has k (k + 1) / 2 features, and with a cell changed it has
 * (k - 1) k / 2 of them left: two tables that differ in one column, and have nothing twice,
 * resemble each other by (k - 1) / (k + 3). Up to nine cells it is all pairs; of a longer row each
 * cell has those four behind it, going around in the order of a hash that has no
 * secret, so that two readers have the same pairs. That order makes the
 * order of columns mean nothing, and needs no names of columns, which many tables do not have.
 *
 * Example: "ann,7,york" has the features ann, 7, york and the pairs ann-7, ann-york, 7-york. In
 * "ann,8,york" ann, york and ann-york are the same: 3 of the 9 features of both rows together.
 *
 * Cost: at most 5 features a cell; a digest and a hash a cell, and for a pair one multiplication of
 * two digests. docs/decisions/0052-a-row-of-a-table-is-its-cells-and-their-pairs.md has the
 * alternatives that were left out.
 */
#include "engine/text/features/table.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_OF_MANY = 3, ROWS_OF_TWO = 8, FIRST_ROWS = 3, LEAST_SPACED = 16 };
enum { ROWS_OF_ONE_RAGGED = 4, ROWS_PER_RAGGED = 8, ROWS_OF_SPACED = 4 };
enum { WIDE_SEPARATORS = 3, WIDE_ROWS_PER_RAGGED = 2 }; /* which seldom are so many by chance */

/* -- sniffing -- */

struct count {
    size_t n_rows, n_ragged; /* whole rows, and those with another number of separators */
    size_t n_separators;     /* of a row */
    size_t first[FIRST_ROWS];
    size_t n_all, n_spaced; /* separators, and those with a space behind, as in prose */
    size_t n_last, n_first; /* separators at the end of a row, rows that begin with one */
};

/* True when all rows so far have one number of separators, two or more, which is rare in prose. */
static bool is_even(const struct count *count)
{
    return count->n_rows > 0 && count->first[0] > 1 && count->n_ragged == 0 &&
           (count->n_rows != 2 || count->first[0] == count->first[1]);
}

static bool is_spaced(const struct count *count)
{
    return 2 * count->n_spaced >= count->n_all;
}

static bool looks_like_prose(const struct count *count)
{
    return count->n_all >= LEAST_SPACED && is_spaced(count) && !is_even(count);
}

static size_t rows_per_ragged(const struct count *count)
{
    return count->n_separators < WIDE_SEPARATORS ? ROWS_PER_RAGGED : WIDE_ROWS_PER_RAGGED;
}

static bool has_few_ragged(const struct count *count)
{
    return count->n_ragged * rows_per_ragged(count) <= count->n_rows ||
           (count->n_ragged == 1 && count->n_rows >= ROWS_OF_ONE_RAGGED);
}

/* Two of the first three rows decide how many separators a row has. */
static bool count_first(struct count *count, size_t n)
{
    const size_t *first = count->first;
    count->first[count->n_rows++] = n;
    if (count->n_rows < FIRST_ROWS)
        return true;
    count->n_separators = first[0] == first[1] || first[0] == first[2] ? first[0] : first[1];
    for (size_t i = 0; i < FIRST_ROWS; i++)
        count->n_ragged += first[i] != count->n_separators;
    return count->n_separators > 0 && count->n_ragged < 2;
}

/* Counts a row. Returns false when the text can be no table any more. Most texts have three lines
 * without separators, or with different numbers of them, and are refused there. */
static bool count_row(struct count *count, size_t n)
{
    if (count->n_rows < FIRST_ROWS)
        return count_first(count, n);
    count->n_ragged += n != count->n_separators;
    count->n_rows++;
    return rows_per_ragged(count) * count->n_ragged <= count->n_rows + 2 * ROWS_PER_RAGGED;
}

static size_t skip_comments(const uint8_t *head, size_t head_bytes)
{
    static const char *const marks[] = {"#", "%", "//", "sep="};
    size_t at = head_bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]);) {
        size_t n = strlen(marks[i]);
        if (head_bytes - at < n || memcmp(head + at, marks[i], n) != 0) {
            i++;
            continue;
        }
        const uint8_t *end = memchr(head + at, '\n', head_bytes - at);
        at = end ? (size_t)(end - head) + 1 : head_bytes;
        i = 0;
    }
    return at;
}

static bool count_rows(const uint8_t *head, size_t head_bytes, bool whole, char separator,
                       struct count *count)
{
    bool quoted = false, empty = true;
    size_t n = 0;
    for (size_t i = 0; i <= head_bytes; i++) {
        if (i == head_bytes && !whole)
            break;
        char c = i < head_bytes ? (char)head[i] : '\n';
        if (c == '"')
            quoted = !quoted;
        if (c == '\n' && !quoted) {
            if (!empty && !count_row(count, n))
                return false;
            n = 0;
            empty = true;
            continue;
        }
        if (c == separator && !quoted) {
            n++;
            count->n_all++;
            count->n_first += empty;
            count->n_spaced += i + 1 < head_bytes && head[i + 1] == ' ';
            count->n_last += i + 1 < head_bytes && (head[i + 1] == '\n' || head[i + 1] == '\r');
            if (looks_like_prose(count))
                return false;
        }
        empty = empty && c == '\r';
    }
    /* A program may have one separator at the end, or at the beginning, of each line and no other.
     */
    return count->n_rows >= (count->n_separators > 1 ? ROWS_OF_MANY : ROWS_OF_TWO) &&
           count->n_separators > 0 && has_few_ragged(count) &&
           (!is_spaced(count) || (is_even(count) && count->n_rows >= ROWS_OF_SPACED)) &&
           count->n_last < count->n_all &&
           (count->n_separators > 1 || 2 * (count->n_first + count->n_last) < count->n_rows);
}

char table_sniff(const uint8_t *head, size_t head_bytes, bool whole)
{
    static const char separators[] = {'\t', ';', ','};
    if (head_bytes == 0)
        return 0;
    size_t begin = skip_comments(head, head_bytes);
    head += begin;
    head_bytes -= begin;
    for (size_t i = 0; i < sizeof(separators); i++) {
        struct count count = {0};
        if (memchr(head, separators[i], head_bytes) &&
            count_rows(head, head_bytes, whole, separators[i], &count))
            return separators[i];
    }
    return 0;
}

/* -- rows -- */

static void begin_cell(struct table *table)
{
    table->n_bytes = 0;
    table->is_ascii = true;
    table->state = TABLE_AT_CELL;
}

void table_begin(struct table *table, char separator, struct feature_list *features,
                 struct feature_list *order)
{
    table->features = features;
    table->order = order;
    table->has_cells = false;
    table->separator = separator;
    table->n_cells = 0;
    begin_cell(table);
}

static int compare_hashes(XXH128_hash_t x, XXH128_hash_t y)
{
    if (x.high64 != y.high64)
        return x.high64 < y.high64 ? -1 : 1;
    return (x.low64 > y.low64) - (x.low64 < y.low64);
}

/* Cells that were made to have one place are told apart by their digests. */
static int compare(const void *a, const void *b)
{
    const struct table_cell *x = a, *y = b;
    const int order = compare_hashes(x->place, y->place);
    return order ? order : compare_hashes(x->digest, y->digest);
}

/* Most rows are short, and are sorted by insertion. */
static void sort(struct table_cell *cells, uint32_t n)
{
    enum { SHORT_CELLS = 16 };
    if (n > SHORT_CELLS) {
        qsort(cells, n, sizeof(*cells), compare);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        const struct table_cell cell = cells[i];
        uint32_t at = i;
        for (; at > 0 && compare(&cells[at - 1], &cell) > 0; at--)
            cells[at] = cells[at - 1];
        cells[at] = cell;
    }
}

/* Sorts the cells of a row by their places, and keeps each once. */
static void sort_cells(struct table *table)
{
    struct table_cell *cells = table->cells;
    uint32_t n = 0;
    sort(cells, table->n_cells);
    for (uint32_t i = 0; i < table->n_cells; i++)
        if (n == 0 || compare(&cells[i], &cells[n - 1]) != 0)
            cells[n++] = cells[i];
    table->n_cells = n;
}

/* The digest of a pair. Its parts are as good as random, so the pair is; it is a product, so that
 * the digests of pairs that share cells are no sums of each other. */
static XXH128_hash_t pair_of(const struct table_cell *cell, const struct table_cell *next)
{
    const XXH128_hash_t a = cell->digest, b = next->digest;
    const unsigned __int128 product = (unsigned __int128)a.low64 * b.high64;
    return (XXH128_hash_t){(uint64_t)product + a.high64, (uint64_t)(product >> 64) + b.low64};
}

static void add_features(struct table *table)
{
    sort_cells(table);
    const struct table_cell *cells = table->cells;
    const uint32_t n = table->n_cells;
    for (uint32_t i = 0; i < n; i++) {
        feature_list_add(table->features, cells[i].digest);
        /* Pairs are taken half around the row; the other half has the same pairs. */
        for (uint32_t d = 1; d <= TABLE_NEIGHBOURS && 2 * d <= n; d++)
            if (2 * d < n || i < d)
                feature_list_add(table->features, i + d < n
                                                      ? pair_of(&cells[i], &cells[i + d])
                                                      : pair_of(&cells[i + d - n], &cells[i]));
    }
    table->n_cells = 0;
}

/* Marks in the order of a table, which no cell has as its digest but by chance. */
static const XXH128_hash_t row_ends = {0, 0}, cell_goes_on = {1, 0};

static void note(struct table *table, XXH128_hash_t digest)
{
    if (table->order)
        feature_list_add(table->order, digest);
}

static void end_cell(struct table *table, bool trim)
{
    const uint8_t *cell = table->cell;
    size_t n_bytes = table->n_bytes;
    if (!table->is_ascii) {
        memset(table->cell + n_bytes, 0, UTF8_MAX_BYTES);
        n_bytes = cell_form(cell, n_bytes, table->form);
        cell = table->form;
    }
    for (; trim && n_bytes > 0 && *cell == ' '; n_bytes--)
        cell++;
    while (trim && n_bytes > 0 && cell[n_bytes - 1] == ' ')
        n_bytes--;
    const XXH128_hash_t digest = feature_list_digest(table->features, cell, n_bytes);
    note(table, digest);
    if (n_bytes > 0) {
        if (table->n_cells == TABLE_ROW_MAX_CELLS)
            add_features(table);
        table->cells[table->n_cells++] = (struct table_cell){XXH3_128bits(cell, n_bytes), digest};
    }
    begin_cell(table);
    table->has_cells = true;
}

/* An empty line is no row. */
static void end_row(struct table *table)
{
    if (table->has_cells || table->n_bytes > 0) {
        end_cell(table, table->state == TABLE_IN_CELL);
        note(table, row_ends);
    }
    add_features(table);
    table->has_cells = false;
    begin_cell(table);
}

static bool is_full(const struct table *table, uint8_t byte)
{
    return table->n_bytes >= TABLE_CELL_MAX_BYTES &&
           ((byte & 0xc0) != 0x80 || table->n_bytes == TABLE_CELL_MAX_BYTES + UTF8_MAX_BYTES - 1);
}

/* A quotation may open behind a byte order mark, too. */
static bool is_mark(const struct table *table)
{
    return table->n_bytes == 3 && table->state == TABLE_IN_CELL &&
           memcmp(table->cell, "\xef\xbb\xbf", 3) == 0;
}

static void put(struct table *table, uint8_t byte)
{
    if (is_full(table, byte)) {
        end_cell(table, false); /* also in a quotation that never ends */
        note(table, cell_goes_on);
    }
    table->cell[table->n_bytes++] = cell_form_ascii(byte);
    table->is_ascii &= byte < 0x80;
    if (byte == 0xbf && is_mark(table))
        begin_cell(table);
}

static void feed_byte(struct table *table, uint8_t byte)
{
    if (table->state == TABLE_QUOTED) {
        if (byte == '"')
            table->state = TABLE_QUOTE_IN_QUOTED;
        else
            put(table, byte);
        return;
    }
    if (byte == '\n') {
        end_row(table);
    } else if (byte == (uint8_t)table->separator) {
        end_cell(table, table->state == TABLE_IN_CELL);
    } else if (byte == '\r' || (byte == ' ' && table->state != TABLE_IN_CELL)) {
        return;
    } else if (byte == '"' && table->state == TABLE_AT_CELL) {
        table->state = TABLE_QUOTED;
    } else {
        if (byte == '"' && table->state == TABLE_QUOTE_IN_QUOTED)
            table->state = TABLE_QUOTED; /* doubled, it stands for itself */
        else
            table->state = TABLE_IN_CELL;
        put(table, byte);
    }
}

/* Takes a run of ASCII that belongs to the open cell. Returns the number of bytes. */
static size_t feed_ascii(struct table *table, const uint8_t *bytes, size_t size_bytes)
{
    uint8_t *to = table->cell + table->n_bytes;
    const uint8_t separator = (uint8_t)table->separator;
    size_t n = 0, room = TABLE_CELL_MAX_BYTES - table->n_bytes;
    if (table->n_bytes >= TABLE_CELL_MAX_BYTES ||
        (table->state != TABLE_IN_CELL && table->state != TABLE_QUOTED))
        return 0;
    const size_t most = size_bytes < room ? size_bytes : room;
    for (; n < most && (bytes[n] == ' ' || bytes[n] > '"') && bytes[n] < 0x80 &&
           bytes[n] != separator;
         n++)
        to[n] = cell_form_ascii(bytes[n]);
    table->n_bytes += (uint32_t)n;
    return n;
}

void table_feed(struct table *table, const uint8_t *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes;) {
        i += feed_ascii(table, bytes + i, size_bytes - i);
        if (i < size_bytes)
            feed_byte(table, bytes[i++]);
    }
}

void table_finish(struct table *table)
{
    end_row(table);
}
