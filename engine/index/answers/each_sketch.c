/* All documents by the sketches that their records have: for who clusters them otherwise. */
#include <errno.h>

#include "engine/index/answers/answer.h"

struct visiting {
    struct index *index;
    struct path_cache *paths;
    index_sketch_fn visit;
    void *user;
};

static int visit(void *user, uint64_t sid, const struct record *record)
{
    struct visiting *visiting = user;
    _cleanup_free_ char *path = NULL;
    (void)sid;
    int r = answer_path(visiting->index, visiting->paths, &record->key, &path);
    if (r < 0)
        return r == -ENOENT ? 0 : r; /* gone since */
    struct document_sketch sketch = {
        .form = record->form, .size_bytes = record->size_bytes, .sketch = record->sketch};
    memcpy(sketch.content_fingerprint, record->content_fingerprint, FINGERPRINT_BYTES);
    memcpy(sketch.text_fingerprint, record->text_fingerprint, FINGERPRINT_BYTES);
    memcpy(sketch.shingle_fingerprint, record->shingle_fingerprint, FINGERPRINT_BYTES);
    return visiting->visit(visiting->user, path, &sketch);
}

int index_each_sketch(struct index *index, index_sketch_fn visit_one, void *user)
{
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    int r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);
    struct visiting visiting = {index, paths, visit_one, user};
    return r < 0 ? r : records_each(index->kv, 1, visit, &visiting);
}

const struct policy *index_policy(const struct index *index)
{
    return &index->policy;
}
