/* The manifest of an open database has a second name: LIVE. and its own. Nothing else tells which
 * files belong to which table, and after a crash there is no seal with a copy of it.
 *
 * The second name is a hard link, and so always the present manifest, at no cost. It counts only
 * where it is the manifest that CURRENT names, and that one is lost; a damaged manifest is damaged
 * under both names. On a file system without links there is none.
 *
 * Example: somebody removes MANIFEST-000005, and the machine crashes. CURRENT names it, and
 * LIVE.MANIFEST-000005 is there: it gets its own name back, and the database opens.
 *
 * Left out: a copy. It would be of a moment: it would not name files that were written since, which
 * RocksDB removes at an opening, and would name some that compactions have removed; and RocksDB
 * tells nobody when its manifest changes.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/kv_rocksdb.h"

#define PREFIX "LIVE."

enum { LINK_BYTES = KV_ROCKSDB_NAME_BYTES + sizeof(PREFIX) };

void kv_rocksdb_drop_live(int directory_fd)
{
    _cleanup_closedir_ DIR *directory = NULL;
    if (kv_rocksdb_list(directory_fd, &directory) < 0)
        return;
    const struct dirent *entry;
    while ((entry = readdir(directory)))
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
            (void)unlinkat(directory_fd, entry->d_name, 0);
}

void kv_rocksdb_follow_manifest(int directory_fd)
{
    char name[KV_ROCKSDB_NAME_BYTES], live[LINK_BYTES];
    kv_rocksdb_drop_live(directory_fd);
    if (!kv_rocksdb_read_current(directory_fd, name))
        return;
    snprintf(live, sizeof(live), PREFIX "%s", name);
    (void)linkat(directory_fd, name, directory_fd, live, 0);
}

int kv_rocksdb_restore_live(int directory_fd)
{
    char name[KV_ROCKSDB_NAME_BYTES], live[LINK_BYTES];
    if (!kv_rocksdb_read_current(directory_fd, name))
        return 0;
    snprintf(live, sizeof(live), PREFIX "%s", name);
    if (linkat(directory_fd, live, directory_fd, name, 0) == 0)
        return 1;
    return errno == EEXIST || errno == ENOENT ? 0 : -errno;
}
