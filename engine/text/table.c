#include "engine/text/table.h"

enum { ROWS_OF_MANY = 3, ROWS_OF_TWO = 8, FIELD_END = 0x1f };

/* -- what is a table -- */

struct count {
    size_t n_rows, n_separators; /* of whole rows; of each, all the same */
    size_t n_all, n_spaced;      /* separators, and those with a space behind, as in prose */
    size_t n_last;               /* separators at the end of a row */
    bool same;
};

static struct count count_rows(const uint8_t *head, size_t head_bytes, bool whole, char separator)
{
    struct count count = {.same = true};
    bool quoted = false, empty = true;
    size_t n = 0;
    for (size_t i = 0; i <= head_bytes && count.same; i++) {
        if (i == head_bytes && !whole)
            break;
        char c = i < head_bytes ? (char)head[i] : '\n';
        if (c == '"')
            quoted = !quoted;
        if (c == '\n' && !quoted) {
            if (!empty) {
                /* Most text has none in its first row: so ends the looking. */
                count.same = n > 0 && (count.n_rows == 0 || n == count.n_separators);
                count.n_separators = n;
                count.n_rows++;
            }
            n = 0;
            empty = true;
            continue;
        }
        if (c == separator && !quoted) {
            n++;
            count.n_all++;
            count.n_spaced += i + 1 < head_bytes && head[i + 1] == ' ';
            count.n_last += i + 1 < head_bytes && (head[i + 1] == '\n' || head[i + 1] == '\r');
        }
        empty = empty && c == '\r';
    }
    return count;
}

char table_sniff(const uint8_t *head, size_t head_bytes, bool whole)
{
    static const char separators[] = {'\t', ';', ','};
    for (size_t i = 0; i < sizeof(separators); i++) {
        struct count count = count_rows(head, head_bytes, whole, separators[i]);
        /* What has one at the end of each row and no other is a program. */
        if (count.same && count.n_separators > 0 && 2 * count.n_spaced < count.n_all &&
            count.n_last < count.n_all &&
            count.n_rows >= (count.n_separators > 1 ? ROWS_OF_MANY : ROWS_OF_TWO))
            return separators[i];
    }
    return 0;
}

/* -- rows -- */

static void begin_field(struct table *table)
{
    table->state = TABLE_AT_FIELD;
    table->field = table->n_bytes;
}

static void begin_row(struct table *table)
{
    table->n_bytes = 0;
    begin_field(table);
}

void table_begin(struct table *table, char separator, struct feature_list *features)
{
    table->features = features;
    table->separator = separator;
    begin_row(table);
}

static void end_row(struct table *table)
{
    bool empty = true;
    for (uint32_t i = 0; i < table->n_bytes && empty; i++)
        empty = table->row[i] == FIELD_END;
    if (!empty)
        feature_list_add(table->features, XXH3_128bits(table->row, table->n_bytes));
    begin_row(table);
}

static void put(struct table *table, uint8_t byte)
{
    if (table->n_bytes == TABLE_ROW_MAX_BYTES)
        end_row(table); /* out of a quotation that never ends, too */
    table->row[table->n_bytes++] = byte;
}

static void end_field(struct table *table, bool trim)
{
    while (trim && table->n_bytes > table->field && table->row[table->n_bytes - 1] == ' ')
        table->n_bytes--;
    put(table, FIELD_END);
    begin_field(table);
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
    if (byte == (uint8_t)table->separator || byte == '\n') {
        end_field(table, table->state == TABLE_IN_FIELD);
        if (byte == '\n')
            end_row(table);
    } else if (byte == '\r' || (byte == ' ' && table->state != TABLE_IN_FIELD)) {
        return;
    } else if (byte == '"' && table->state == TABLE_AT_FIELD) {
        table->state = TABLE_QUOTED;
    } else {
        if (byte == '"' && table->state == TABLE_QUOTE_IN_QUOTED)
            table->state = TABLE_QUOTED; /* doubled, it stands for itself */
        else
            table->state = TABLE_IN_FIELD;
        put(table, byte);
    }
}

void table_feed(struct table *table, const uint8_t *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        feed_byte(table, bytes[i]);
}

void table_finish(struct table *table)
{
    if (table->n_bytes > 0 || table->state != TABLE_AT_FIELD)
        end_field(table, table->state == TABLE_IN_FIELD);
    end_row(table);
}
