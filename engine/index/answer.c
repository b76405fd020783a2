/* What every answer is made of: records by sid, and paths the caller may read. */
#include "engine/index/answer.h"

#include <errno.h>
#include <math.h>

#include "base/bytes.h"

void kin_done(struct kin *kin)
{
    free(kin->path);
    *kin = (struct kin){0};
}

void kin_list_done(struct kin_list *list)
{
    for (size_t i = 0; i < list->n_kin; i++)
        kin_done(&list->kin[i]);
    free(list->kin);
    *list = (struct kin_list){0};
}

int kin_list_add(struct kin_list *list, struct kin *kin)
{
    size_t n = list->n_kin;
    if ((n & (n - 1)) == 0) { /* full at every power of two */
        struct kin *larger = reallocarray(list->kin, n ? n * 2 : 1, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        list->kin = larger;
    }
    list->kin[list->n_kin++] = *kin;
    *kin = (struct kin){0};
    return 0;
}

int kin_compare(const void *a, const void *b)
{
    const struct kin *x = a, *y = b;
    if (x->resemblance != y->resemblance)
        return x->resemblance < y->resemblance ? 1 : -1;
    return strcmp(x->path, y->path);
}

int answer_load(struct index *index, const uint64_t *sids, size_t n_sids,
                struct record *ret_records)
{
    uint8_t(*keys)[8] = NULL;
    _cleanup_free_ void *keys_memory = keys = calloc(n_sids + 1, sizeof(*keys));
    _cleanup_free_ struct kv_slice *slices = calloc(n_sids + 1, sizeof(*slices));
    _cleanup_free_ struct kv_buf *values = calloc(n_sids + 1, sizeof(*values));
    if (!keys || !slices || !values)
        return -ENOMEM;
    for (size_t i = 0; i < n_sids; i++) {
        put_be64(keys[i], sids[i]);
        slices[i] = (struct kv_slice){keys[i], sizeof(keys[i])};
        ret_records[i] = (struct record){0};
    }
    int r = kv_multi_get(index->kv, TABLE_RECORDS, slices, n_sids, values);
    if (r < 0)
        return r;
    r = 0;
    for (size_t i = 0; i < n_sids; i++) {
        if (r == 0 && values[i].data)
            r = record_decode(values[i].data, values[i].size_bytes, &ret_records[i]);
        kv_buf_done(&values[i]);
    }
    if (r < 0)
        for (size_t i = 0; i < n_sids; i++)
            record_done(&ret_records[i]);
    return r;
}

int answer_record(struct index *index, const struct file_key *file, uint64_t *ret_sid,
                  struct record *ret_record)
{
    struct file_row row;
    struct record record;
    int r = catalogue_get_file(index->kv, file, &row);
    if (r == 0 && row.sid == 0)
        r = -ENOENT;
    if (r == 0)
        r = answer_load(index, &row.sid, 1, &record);
    if (r == 0 && record.key.size_bytes == 0)
        r = -ENOENT;
    if (r == 0) {
        *ret_sid = row.sid;
        *ret_record = record;
    }
    return r;
}

int answer_path(struct index *index, struct path_cache *paths, const struct file_key *file,
                const struct index_query *query, char **ret_path)
{
    enum { LINKS_MAX = 64 };
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(index->kv, file, LINKS_MAX, &links);
    if (r < 0)
        return r;
    for (size_t i = 0; i < links.n_entries; i++) {
        _cleanup_free_ char *path = NULL;
        r = path_cache_entry(paths, &links.entries[i].parent, links.entries[i].name, &path);
        if (r == -ENOENT)
            continue; /* its directory is being moved or removed */
        if (r < 0)
            return r;
        if (query && query->may_read && !query->may_read(query->user, path))
            continue;
        *ret_path = TAKE_PTR(path);
        return 0;
    }
    return -ENOENT;
}

int index_path(struct index *index, const struct file_key *file, char **ret_path)
{
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    if (file_key_equal(file, backing_root_key(index->backing))) {
        char *path = strdup("");
        if (path)
            *ret_path = path;
        return path ? 0 : -ENOMEM;
    }
    int r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);
    return r < 0 ? r : answer_path(index, paths, file, NULL, ret_path);
}
