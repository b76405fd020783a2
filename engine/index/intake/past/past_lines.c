#include "engine/index/intake/past/past_lines.h"

#include <string.h>
#include <sys/queue.h>
#include <xxhash.h>

#include "engine/index/tables/past_private.h"

enum { BUCKETS = PAST_LINES_KEPT };

struct line {
    TAILQ_ENTRY(line) order;
    LIST_ENTRY(line) of_bucket;
    struct past_key key; /* of no bytes: none, and it is in no bucket */
    size_t n;
    struct past_place places[PAST_LINE_MAX];
};

TAILQ_HEAD(line_list, line);
LIST_HEAD(line_bucket, line);

struct past_lines_table {
    struct line_list order; /* whose last event is youngest comes first */
    struct line_bucket buckets[BUCKETS];
    struct line lines[PAST_LINES_KEPT];
};

static struct line_bucket *bucket_of(struct past_lines_table *table, const struct past_key *key)
{
    const uint64_t hash = XXH3_64bits_withSeed(key->bytes, key->size_bytes, file_key_secret);
    return &table->buckets[hash % BUCKETS];
}

static struct line *find(const struct past_lines *lines, const struct past_key *key)
{
    struct line *line = lines->table ? LIST_FIRST(bucket_of(lines->table, key)) : NULL;
    while (line && (line->key.size_bytes != key->size_bytes ||
                    memcmp(line->key.bytes, key->bytes, key->size_bytes) != 0))
        line = LIST_NEXT(line, of_bucket);
    return line;
}

static void forget(struct past_lines_table *table, struct line *line)
{
    LIST_REMOVE(line, of_bucket);
    line->key.size_bytes = 0;
    TAILQ_REMOVE(&table->order, line, order);
    TAILQ_INSERT_TAIL(&table->order, line, order);
}

/* A new line, in the place of the one whose last event is oldest. */
static struct line *add(struct past_lines_table *table, const struct past_key *key)
{
    struct line *line = TAILQ_LAST(&table->order, line_list);
    if (line->key.size_bytes)
        LIST_REMOVE(line, of_bucket);
    line->key = *key;
    LIST_INSERT_HEAD(bucket_of(table, key), line, of_bucket);
    return line;
}

static struct past_lines_table *make_table(void)
{
    struct past_lines_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    TAILQ_INIT(&table->order);
    for (size_t i = 0; i < PAST_LINES_KEPT; i++)
        TAILQ_INSERT_TAIL(&table->order, &table->lines[i], order);
    return table;
}

int past_lines_read(const struct past_lines *lines, struct kv *kv, uid_t owner,
                    const struct file_key *file, const char *path, size_t limit,
                    struct past_place *ret_places, size_t *ret_n)
{
    struct past_key key;
    past_key_line(&key, owner, file, path);
    const struct line *line = find(lines, &key);
    if (!line || line->n > limit)
        return past_line(kv, owner, file, path, limit, ret_places, ret_n);
    memcpy(ret_places, line->places, line->n * sizeof(line->places[0]));
    *ret_n = line->n;
    return 0;
}

void past_lines_keep(struct past_lines *lines, uid_t owner, const struct file_key *file,
                     const char *path, const struct past_place *places, size_t n)
{
    struct past_key key;
    past_key_line(&key, owner, file, path);
    struct line *line = find(lines, &key);
    if (n > PAST_LINE_MAX) {
        if (line)
            forget(lines->table, line);
        return;
    }
    if (!lines->table && !(lines->table = make_table()))
        return;
    if (!line)
        line = add(lines->table, &key);
    TAILQ_REMOVE(&lines->table->order, line, order);
    TAILQ_INSERT_HEAD(&lines->table->order, line, order);
    line->n = n;
    memcpy(line->places, places, n * sizeof(places[0]));
}

static void take_out(struct past_lines *lines, const struct past_event *event,
                     const struct file_key *file)
{
    const uint64_t number = past_number(event);
    struct past_key key;
    past_key_line(&key, event->owner, file, event->path);
    struct line *line = find(lines, &key);
    size_t n = 0;
    for (size_t i = 0; line && i < line->n; i++)
        if (line->places[i].time_ns != event->time_ns || line->places[i].number != number)
            line->places[n++] = line->places[i];
    if (line)
        line->n = n;
}

void past_lines_take_out(struct past_lines *lines, const struct past_event *event)
{
    take_out(lines, event, &event->record.key);
    take_out(lines, event, NULL);
}

void past_lines_forget(struct past_lines *lines)
{
    free(lines->table);
    lines->table = NULL;
}
