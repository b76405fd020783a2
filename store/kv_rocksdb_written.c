/* How far a database was written, in a file WRITTEN beside it: RocksDB's number of the last row
 * that was, and the XXH3-64 of that, 8 bytes each, big endian.
 *
 * A log that is lost or cut after a crash reads as one that ends there, and whoever opens it goes
 * on from what it has: nothing is wrong with that, but it should be told. RocksDB can keep account
 * of its logs in the manifest (track_and_verify_wals_in_manifest, which its interface in C sets by
 * text alone), but of those that are synced and no longer written: not of the one that a crash
 * meets; and it refuses to open then, where there is nothing to mend.
 *
 * It is noted at an opening, at the first write after it and, when there are more, ten times a
 * second: what was written within a tenth of a second before a crash may be lost without a word.
 */
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/trust.h"
#include "store/kv_rocksdb.h"

static const char written_name[] = "WRITTEN";
enum { WRITTEN_BYTES = 16, NOTE_EVERY_MS = 100 };

static int64_t coarse_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* One that cannot be kept or is damaged says nothing. */
static void note(const struct kv_rocksdb *store)
{
    uint8_t bytes[WRITTEN_BYTES];
    put_be64(bytes, rocksdb_get_latest_sequence_number(store->db));
    put_be64(bytes + 8, XXH3_64bits(bytes, 8));
    if (store->written_fd >= 0 && pwrite(store->written_fd, bytes, sizeof(bytes), 0) < 0)
        return;
}

void kv_rocksdb_note_written(struct kv_rocksdb *store)
{
    const int64_t now = coarse_ms();
    if (store->noted_ms && now - store->noted_ms < NOTE_EVERY_MS)
        return;
    store->noted_ms = now;
    note(store);
}

void kv_rocksdb_open_written(struct kv_rocksdb *store, int directory_fd, bool crashed)
{
    uint8_t bytes[WRITTEN_BYTES];
    const uint64_t found = rocksdb_get_latest_sequence_number(store->db);
    store->written_fd = trust_open_file(directory_fd, written_name, O_RDWR | O_CREAT, NULL);
    if (crashed && store->written_fd >= 0 &&
        pread(store->written_fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
        get_be64(bytes + 8) == XXH3_64bits(bytes, 8) && get_be64(bytes) > found)
        store->n_lost = get_be64(bytes) - found;
    note(store); /* the next row that is written may have a number that was lost */
}

uint64_t kv_rocksdb_n_lost(struct kv *kv)
{
    return kv_rocksdb_of(kv)->n_lost;
}
