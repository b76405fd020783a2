#include "engine/index/upkeep/kept_past.h"

#include <errno.h>
#include <inttypes.h>

#include "engine/index/tables/past.h"

enum { FILES_AT_ONCE = 256 };

uint64_t kept_past_seconds(struct kv *old)
{
    uint64_t keep_s;
    if (meta_get_number(old, PAST_META_KEEP, &keep_s) < 0)
        return INDEX_KEEP_LOST_AS_STORED;
    return keep_s ? keep_s : INDEX_KEEP_LOST_NONE;
}

/* Those of the old one that are older. */
static int take_births(struct kv *old, struct kv *fresh, const struct file_list *list)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    for (size_t i = 0; i < list->n_files; i++) {
        struct file_row row = list->rows[i], before;
        if (catalogue_get_file(old, &list->keys[i], &before) < 0 || !before.born_ns ||
            (row.born_ns && before.born_ns >= row.born_ns))
            continue;
        row.born_ns = before.born_ns;
        catalogue_put_file(batch, &list->keys[i], &row);
    }
    return kv_batch_count(batch) ? kv_apply(fresh, batch) : 0;
}

int kept_past_take_births(struct index *fresh, struct kv *old)
{
    struct file_key after;
    int r = 0;
    for (bool first = true, more = true; r == 0 && more; first = false) {
        _cleanup_(file_list_done) struct file_list list = {0};
        r = catalogue_files(fresh->kv, first ? NULL : &after, FILES_AT_ONCE, &list);
        if (r == 0)
            r = take_births(old, fresh->kv, &list);
        more = r == 0 && list.more && list.n_files > 0;
        if (more)
            after = list.keys[list.n_files - 1];
    }
    return r;
}

int kept_past_take(struct index *fresh, struct kv *old)
{
    uint64_t n = 0, n_left = 0;
    int r = past_copy(old, fresh->kv, fresh->policy_id, &n, &n_left);
    if (r == 0)
        r = past_notes_read(&fresh->past);
    if (r == 0 && n_left)
        messages_warn(&fresh->messages,
                      "%s: of what documents were %" PRIu64 " events are kept, and %" PRIu64
                      " left out, as they are damaged or of other sketches than those of now",
                      fresh->store_path, n, n_left);
    return r;
}
