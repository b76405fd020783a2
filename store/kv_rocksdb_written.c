/* The file WRITTEN beside a database has RocksDB's number of the last row that was written, and the
 * XXH3-64 of that, 8 bytes each, big endian.
 *
 * A log that is lost or cut after a crash reads as one that ends there, and the database goes on
 * from what it has: nothing is wrong with that, but the user should be told.
 *
 * The number is noted at an opening, at the first write after it and, when there are more, ten
 * times a second: rows that were written within a tenth of a second before a crash may be lost
 * untold.
 *
 * Example: WRITTEN has 1000, and after a crash the database opens with row 990 as its last: n_lost
 * is 10. Cost: a look at a coarse clock for each write, 16 bytes ten times a second.
 *
 * Left out: RocksDB's own account of its logs in the manifest (track_and_verify_wals_in_manifest,
 * which its interface in C sets by text alone). It covers logs that are synced and no longer
 * written, not the one that a crash meets; and RocksDB then refuses to open, where there is nothing
 * to mend.
 */
#include <fcntl.h>
#include <time.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/files/trust.h"
#include "store/kv_rocksdb.h"

static const char written_name[] = "WRITTEN";
enum { WRITTEN_BYTES = 16, NOTE_EVERY_MS = 100 };

static int64_t coarse_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Notes the number. A file that cannot be written, or is damaged, counts as none. */
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
    note(store); /* the next row may get a number that was lost, so the old note must not stay */
}

uint64_t kv_rocksdb_n_lost(struct kv *kv)
{
    return kv_rocksdb_of(kv)->n_lost;
}
