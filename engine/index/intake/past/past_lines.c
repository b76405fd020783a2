#include "engine/index/intake/past/past_lines.h"

#include <string.h>
#include <xxhash.h>

#include "engine/index/tables/past_private.h"

struct past_line_kept {
    struct past_key key; /* of no bytes: none */
    size_t n;
    struct past_place places[PAST_LINE_MAX];
};

static struct past_line_kept *slot_of(const struct past_lines *lines, const struct past_key *key)
{
    return &lines->kept[XXH3_64bits(key->bytes, key->size_bytes) % PAST_LINES_KEPT];
}

static struct past_line_kept *find(const struct past_lines *lines, const struct past_key *key)
{
    struct past_line_kept *kept = lines->kept ? slot_of(lines, key) : NULL;
    return kept && kept->key.size_bytes == key->size_bytes &&
                   memcmp(kept->key.bytes, key->bytes, key->size_bytes) == 0
               ? kept
               : NULL;
}

int past_lines_read(const struct past_lines *lines, struct kv *kv, uid_t owner,
                    const struct file_key *file, const char *path, size_t limit,
                    struct past_place *ret_places, size_t *ret_n)
{
    struct past_key key;
    past_key_line(&key, owner, file, path);
    const struct past_line_kept *kept = find(lines, &key);
    if (!kept || kept->n > limit)
        return past_line(kv, owner, file, path, limit, ret_places, ret_n);
    memcpy(ret_places, kept->places, kept->n * sizeof(kept->places[0]));
    *ret_n = kept->n;
    return 0;
}

void past_lines_keep(struct past_lines *lines, uid_t owner, const struct file_key *file,
                     const char *path, const struct past_place *places, size_t n)
{
    struct past_key key;
    past_key_line(&key, owner, file, path);
    struct past_line_kept *kept = find(lines, &key);
    if (n > PAST_LINE_MAX) {
        if (kept)
            kept->key.size_bytes = 0;
        return;
    }
    if (!lines->kept && !(lines->kept = calloc(PAST_LINES_KEPT, sizeof(*lines->kept))))
        return;
    kept = slot_of(lines, &key);
    kept->key = key;
    kept->n = n;
    memcpy(kept->places, places, n * sizeof(places[0]));
}

static void take_out(struct past_lines *lines, const struct past_event *event,
                     const struct file_key *file)
{
    const uint64_t number = past_number(event);
    struct past_key key;
    past_key_line(&key, event->owner, file, event->path);
    struct past_line_kept *kept = find(lines, &key);
    size_t n = 0;
    for (size_t i = 0; kept && i < kept->n; i++)
        if (kept->places[i].time_ns != event->time_ns || kept->places[i].number != number)
            kept->places[n++] = kept->places[i];
    if (kept)
        kept->n = n;
}

void past_lines_take_out(struct past_lines *lines, const struct past_event *event)
{
    take_out(lines, event, &event->record.key);
    take_out(lines, event, NULL);
}

void past_lines_forget(struct past_lines *lines)
{
    free(lines->kept);
    lines->kept = NULL;
}
