/* Texts of names are written one behind the other, each with its length before it; a record
 * (fingerprint, place) says where. Records are dealt by ranges of the fingerprint, and sorted when
 * all have come; the bags of targets come in that order, so one pass over both finds the place of
 * each. Documents have the least places, so that of all records of a target theirs is the first.
 *
 * A page is linked to many times: the last fingerprints that came are remembered, each at one place
 * of a table, and not written again. */
#include "tools/commands/cluster/topics_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/cluster/large/sorted_partition.h"

enum {
    PARTITIONS = 64,
    SEEN = 1 << 14,
    TEXT_BYTES = 64 << 10, /* that are written at once */
    MOST_NAME_BYTES = 8 << 10,
    OTHERS = 8 << 10, /* places that are written at once */
};

/* Of a place: below it are documents. */
#define FIRST_TEXT ((uint64_t)1 << 32)

struct record {
    uint64_t fingerprint, place;
};

enum { FILE_RECORDS, FILE_RUNS, FILE_TEXTS, FILE_OTHERS, N_FILES };

struct topics_names {
    struct scratch_file files[N_FILES];
    struct spill *records;
    struct spill_writer writer;
    struct sorted_partition sorted;
    size_t memory_bytes;
    uint32_t partition; /* the next one */
    const struct record *read;
    int64_t n_read, at;
    uint64_t seen[SEEN];
    uint8_t text[TEXT_BYTES];
    size_t n_text;
    uint64_t n_texts_written;
    uint64_t others[OTHERS]; /* the last ones */
    uint64_t n_others, n_others_written;
};

/* -- sorting -- */

static int compare(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->fingerprint != y->fingerprint)
        return x->fingerprint < y->fingerprint ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void *sort(void *records, size_t n, void *scratch)
{
    (void)scratch;
    qsort(records, n, sizeof(struct record), compare);
    return records;
}

/* qsort(3) of the C library may take as much again. */
static const struct sorting sorting_records = {.record_bytes = sizeof(struct record),
                                               .scratch_bytes = sizeof(struct record),
                                               .most = UINT32_MAX,
                                               .sort = sort,
                                               .compare = compare};

/* -- adding -- */

int topics_names_new(const char *scratch, size_t memory_bytes, struct topics_names **ret_names)
{
    _cleanup_(topics_names_free_p) struct topics_names *names = calloc(1, sizeof(*names));
    if (!names)
        return -ENOMEM;
    names->memory_bytes = memory_bytes;
    int r = 0;
    for (unsigned i = 0; r == 0 && i < N_FILES; i++)
        r = scratch_file_open(scratch, &names->files[i]);
    if (r == 0)
        r = spill_new(&names->files[FILE_RECORDS], sizeof(struct record), PARTITIONS,
                      memory_bytes / 8, memory_bytes / 4, &names->records);
    if (r == 0)
        r = spill_writer_init(names->records, &names->writer);
    if (r < 0)
        return r;
    *ret_names = TAKE_PTR(names);
    return 0;
}

void topics_names_free(struct topics_names *names)
{
    if (!names)
        return;
    spill_writer_done(&names->writer);
    sorted_partition_done(&names->sorted);
    spill_free(names->records);
    for (unsigned i = 0; i < N_FILES; i++)
        scratch_file_done(&names->files[i]);
    free(names);
}

static int add(struct topics_names *names, uint64_t fingerprint, uint64_t place)
{
    return spill_add(&names->writer, (uint32_t)(fingerprint >> 58),
                     &(struct record){fingerprint, place});
}

int topics_names_add_document(struct topics_names *names, uint64_t fingerprint, uint32_t document)
{
    return add(names, fingerprint, document);
}

static int write_behind(struct scratch_file *file, const void *bytes, size_t n)
{
    return scratch_file_write(file, scratch_file_reserve(file, n), bytes, n);
}

static int write_texts(struct topics_names *names)
{
    int r = names->n_text ? write_behind(&names->files[FILE_TEXTS], names->text, names->n_text) : 0;
    names->n_texts_written += names->n_text;
    names->n_text = 0;
    return r;
}

int topics_names_add(struct topics_names *names, uint64_t fingerprint, bool outside,
                     const char *name)
{
    uint64_t *seen = &names->seen[fingerprint % SEEN];
    const size_t length = strlen(name);
    const uint16_t head = (uint16_t)(length << 1 | outside);
    int r = 0;
    if (*seen == fingerprint)
        return 0;
    if (length > MOST_NAME_BYTES)
        return -ENAMETOOLONG;
    *seen = fingerprint;
    if (names->n_text + sizeof(head) + length > TEXT_BYTES)
        r = write_texts(names);
    if (r < 0)
        return r;
    const uint64_t place = FIRST_TEXT + names->n_texts_written + names->n_text;
    memcpy(names->text + names->n_text, &head, sizeof(head));
    memcpy(names->text + names->n_text + sizeof(head), name, length);
    names->n_text += sizeof(head) + length;
    return add(names, fingerprint, place);
}

/* -- reading -- */

int topics_names_begin(struct topics_names *names)
{
    int r = write_texts(names);
    if (r == 0)
        r = spill_writer_flush(&names->writer);
    spill_writer_done(&names->writer);
    return r < 0 ? r
                 : sorted_partition_init(&sorting_records, names->records, &names->files[FILE_RUNS],
                                         names->memory_bytes / 2, &names->sorted);
}

/* The next record; names->n_read 0: there is none. */
static int read_more(struct topics_names *names)
{
    const void *records = NULL;
    names->at = names->n_read = 0;
    for (;;) {
        if (names->partition > 0)
            names->n_read = sorted_partition_next(&names->sorted, &records);
        if (names->n_read != 0 || names->partition == PARTITIONS)
            break;
        sorted_partition_begin(&names->sorted, names->partition++);
    }
    names->read = records;
    return names->n_read < 0 ? (int)names->n_read : 0;
}

static int write_others(struct topics_names *names)
{
    const size_t n = (size_t)(names->n_others - names->n_others_written);
    int r = n ? write_behind(&names->files[FILE_OTHERS], names->others, n * sizeof(uint64_t)) : 0;
    names->n_others_written = names->n_others;
    return r;
}

int64_t topics_names_next(struct topics_names *names, uint64_t fingerprint)
{
    while (names->at == names->n_read || names->read[names->at].fingerprint < fingerprint) {
        if (names->at < names->n_read && ++names->at < names->n_read)
            continue;
        int r = read_more(names);
        if (r < 0 || names->n_read == 0)
            return r < 0 ? r : -ENOENT;
    }
    const struct record *record = &names->read[names->at];
    if (record->fingerprint != fingerprint)
        return -ENOENT;
    if (record->place < FIRST_TEXT)
        return (int64_t)record->place;
    if (names->n_others - names->n_others_written == OTHERS) {
        int r = write_others(names);
        if (r < 0)
            return r;
    }
    names->others[names->n_others++ - names->n_others_written] = record->place;
    return TOPICS_NO_DOCUMENT;
}

int topics_names_of(struct topics_names *names, uint32_t i, bool *ret_outside, char **ret_name)
{
    uint64_t place;
    uint16_t head;
    int r = write_others(names);
    if (r == 0)
        r = scratch_file_read(&names->files[FILE_OTHERS], i * sizeof(place), &place, sizeof(place));
    if (r == 0)
        r = scratch_file_read(&names->files[FILE_TEXTS], place - FIRST_TEXT, &head, sizeof(head));
    if (r < 0)
        return r;
    const size_t length = head >> 1;
    _cleanup_free_ char *name = calloc(length + 1, 1);
    if (!name)
        return -ENOMEM;
    r = scratch_file_read(&names->files[FILE_TEXTS], place - FIRST_TEXT + sizeof(head), name,
                          length);
    if (r < 0)
        return r;
    *ret_outside = head & 1;
    *ret_name = TAKE_PTR(name);
    return 0;
}

void topics_names_cost(const struct topics_names *names, uint64_t *ret_written, uint64_t *ret_read)
{
    *ret_written = *ret_read = 0;
    for (unsigned i = 0; i < N_FILES; i++) {
        *ret_written += names->files[i].written_bytes;
        *ret_read += names->files[i].read_bytes;
    }
}
