#include "engine/index/intake/told_path.h"

#include "base/escape.h"
#include "engine/index/index_state.h"

/* r is what the search for the path came to. */
static char *told(struct index *index, int r, const char *path)
{
    char *escaped = NULL;
    if (r < 0 || escape_name(path, &escaped) < 0)
        messages_warn_nothing(&index->messages);
    return escaped;
}

char *told_path(struct index *index, const struct file_key *key)
{
    _cleanup_free_ char *path = NULL;
    if (messages_are_full(&index->messages))
        return NULL;
    int r = catalogue_path(index->kv, backing_root_key(index->backing), key, &path);
    return told(index, r, path);
}

char *told_path_below(struct index *index, const struct file_key *directory, const char *name)
{
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    _cleanup_free_ char *path = NULL;
    if (messages_are_full(&index->messages))
        return NULL;
    int r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);
    if (r == 0)
        r = path_cache_entry(paths, directory, name, &path);
    return told(index, r, path);
}
