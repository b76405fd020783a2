#include "engine/index/intake/salvage.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/room.h"
#include "engine/index/catalogue/catalogue.h"
#include "engine/index/members/membership.h"
#include "engine/index/tables/meta.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"
#include "engine/index/tables/table_walk.h"

/* A document by the file it is of. */
struct known {
    uint64_t hash, sid;
};

struct salvage {
    struct kv *kv;
    uint64_t made;
    pthread_mutex_t lock; /* until all is known: */
    bool knows;
    struct known *known; /* by hash, and of one hash by sid */
    size_t n_known, n_room;
};

static int read_number(struct kv *kv, const char *name, uint64_t *ret_number)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_META, (struct kv_slice){name, strlen(name)}, &value);
    if (r == 0 && value.size_bytes != 8)
        r = -EUCLEAN;
    if (r == 0)
        *ret_number = get_be64(value.data);
    return r;
}

int salvage_new(struct kv *kv, struct salvage **ret_salvage)
{
    struct salvage *salvage = calloc(1, sizeof(*salvage));
    if (!salvage)
        return -ENOMEM;
    salvage->kv = kv;
    pthread_mutex_init(&salvage->lock, NULL);
    /* A clock that went back since says nothing of what came when. */
    if (read_number(kv, META_MADE, &salvage->made) < 0 || salvage->made > clock_real_ns())
        salvage->made = 0;
    *ret_salvage = salvage;
    return 0;
}

void salvage_free(struct salvage *salvage)
{
    if (!salvage)
        return;
    pthread_mutex_destroy(&salvage->lock);
    free(salvage->known);
    free(salvage);
}

uint64_t salvage_made(const struct salvage *salvage)
{
    return salvage->made;
}

/* -- documents whose rows of files are lost -- */

static uint64_t hash_of(const struct file_key *file)
{
    return XXH3_64bits(file->bytes, file->size_bytes);
}

static int compare_known(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

static int know_one(struct salvage *salvage, const struct kv_entry *row)
{
    _cleanup_(record_done) struct record record = {0};
    uint64_t sid;
    if (record_decode_key(row->key, &sid) < 0)
        return 0;
    int r = record_decode(row->value.data, row->value.size_bytes, &record);
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    if (!MAKE_ROOM(salvage->known, salvage->n_room, salvage->n_known + 1))
        return -ENOMEM;
    salvage->known[salvage->n_known++] = (struct known){hash_of(&record.key), sid};
    return 0;
}

/* Notes which document is of which file, as far as records can be read. */
static int know_all(struct salvage *salvage)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    LOCKED(&salvage->lock);
    if (salvage->knows)
        return 0;
    salvage->n_known = 0;
    int r = table_walk_begin(&walk, salvage->kv, TABLE_RECORDS, (struct kv_slice){0});
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0)
        r = know_one(salvage, &row);
    if (r == -ENOMEM)
        return r;
    if (salvage->n_known)
        qsort(salvage->known, salvage->n_known, sizeof(*salvage->known), compare_known);
    salvage->knows = true;
    return 0;
}

/* Returns 1 with the record of a sid, 0, or -ENOMEM. */
static int read_record(struct salvage *salvage, uint64_t sid, const struct file_key *file,
                       struct record *ret_record)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct record_key key;
    if (kv_get(salvage->kv, TABLE_RECORDS, record_key(&key, sid), &value) < 0)
        return 0;
    int r = record_decode(value.data, value.size_bytes, ret_record);
    if (r < 0)
        return r == -ENOMEM ? r : 0;
    if (file_key_equal(&ret_record->key, file))
        return 1;
    record_done(ret_record);
    return 0;
}

/* The newest of a file. Returns 1 with the record, 0, or -ENOMEM. */
static int find_record(struct salvage *salvage, const struct file_key *file, uint64_t *ret_sid,
                       struct record *ret_record)
{
    const uint64_t hash = hash_of(file);
    int r = know_all(salvage);
    size_t low = 0, high = salvage->n_known;
    while (r == 0 && low < high) { /* behind the last of the hash */
        size_t middle = low + (high - low) / 2;
        if (salvage->known[middle].hash <= hash)
            low = middle + 1;
        else
            high = middle;
    }
    for (; r == 0 && low > 0 && salvage->known[low - 1].hash == hash; low--) {
        *ret_sid = salvage->known[low - 1].sid;
        r = read_record(salvage, *ret_sid, file, ret_record);
    }
    return r;
}

/* A change as shortly before as this might have the same time (worker.c). */
static bool was_changed_before(const struct timespec *changed, uint64_t made)
{
    enum { TICKS_NS = 20 * 1000 * 1000 };
    return changed->tv_sec >= 0 &&
           (uint64_t)changed->tv_sec * 1000000000u + (uint64_t)changed->tv_nsec + TICKS_NS < made;
}

static bool is_of_file_as_it_is(const struct salvage *salvage, const struct record *record,
                                const struct stat *st)
{
    const struct file_row row = {
        .size_bytes = record->size_bytes, .mtime = record->mtime, .ctime = record->ctime};
    return file_row_matches(&row, st) && was_changed_before(&st->st_ctim, salvage->made);
}

/* -- */

static bool has_its_fingerprint(const struct record *record)
{
    uint8_t fingerprint[FINGERPRINT_BYTES];
    if (record->sketch.n_values == 0)
        return true;
    min_sketch_fingerprint(&record->sketch, fingerprint);
    return memcmp(fingerprint, record->shingle_fingerprint, FINGERPRINT_BYTES) == 0;
}

int salvage_record(struct salvage *salvage, uint64_t policy_id, const struct file_key *file,
                   const struct stat *st, struct record *ret_record, struct file_row *ret_row)
{
    struct file_row row = {0};
    struct record record;
    uint64_t sid;
    const bool has_row = catalogue_get_file(salvage->kv, file, &row) == 0;
    if (has_row && (!row.sid || row.racy || !file_row_matches(&row, st)))
        return 0;
    int r = has_row ? read_record(salvage, row.sid, file, &record)
                    : find_record(salvage, file, &sid, &record);
    if (r <= 0)
        return r;
    if (record.sketch.policy_id != policy_id || !has_its_fingerprint(&record) ||
        (!has_row && !is_of_file_as_it_is(salvage, &record, st))) {
        record_done(&record);
        return 0;
    }
    if (has_row) { /* the content is what it was; touched it may have been since */
        record.size_bytes = row.size_bytes;
        record.mtime = row.mtime;
        record.ctime = row.ctime;
    }
    *ret_record = record;
    *ret_row = has_row ? row : (struct file_row){0};
    return 1;
}

/* Returns the sid of a file's document, by its row or else the newest record; 0: there is none. */
static uint64_t sid_of(struct salvage *salvage, const struct file_key *file)
{
    _cleanup_(record_done) struct record record = {0};
    struct file_row row;
    uint64_t sid;
    if (catalogue_get_file(salvage->kv, file, &row) == 0)
        return row.sid;
    return find_record(salvage, file, &sid, &record) > 0 ? sid : 0;
}

uint64_t salvage_cluster(struct salvage *salvage, unsigned clustering, const struct file_key *file)
{
    struct membership membership = {.kv = salvage->kv, .clustering = clustering};
    const uint64_t sid = sid_of(salvage, file);
    uint64_t id = 0;
    return sid && membership_cluster_of(&membership, sid, &id) == 0 ? id : 0;
}

uint64_t salvage_next_cluster(struct kv *kv, unsigned clustering)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct clustering_meta meta;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct kv_entry row;
    const uint64_t base = clustering_base(clustering);
    uint64_t next = base + 1;
    int r = kv_get(kv, TABLE_META, clustering_meta_key(&meta, "next_cluster", clustering), &value);
    if (r == 0 && cluster_ids_decode_next(kv_buf_slice(&value), clustering, &next) == 0)
        return next;
    r = table_walk_begin(&walk, kv, TABLE_CLUSTER_OF, (struct kv_slice){0});
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        uint64_t id = row.value.size_bytes == 8 ? get_be64(row.value.data) : 0;
        if (id >= next && id - base < NEXT_MAX)
            next = id + 1;
    }
    return next;
}

int salvage_policy(struct kv *kv, struct policy *ret_policy)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_META, (struct kv_slice){"policy", 6}, &value);
    if (r == 0)
        r = policy_decode(value.data, value.size_bytes, ret_policy);
    return r == 0 ? 0 : -EUCLEAN;
}
