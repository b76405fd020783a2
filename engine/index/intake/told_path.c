#include "engine/index/intake/told_path.h"

#include "base/escape.h"
#include "engine/index/index_state.h"

static char *escaped(const char *path)
{
    char *told = NULL;
    return escape_name(path, &told) == 0 ? told : NULL;
}

char *told_path(struct index *index, const struct file_key *key)
{
    _cleanup_free_ char *path = NULL;
    if (messages_are_full(&index->messages))
        return NULL;
    return catalogue_path(index->kv, backing_root_key(index->backing), key, &path) == 0
               ? escaped(path)
               : NULL;
}

char *told_path_below(struct index *index, const struct file_key *directory, const char *name)
{
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    _cleanup_free_ char *path = NULL;
    if (messages_are_full(&index->messages) ||
        path_cache_new(index->kv, backing_root_key(index->backing), &paths) < 0 ||
        path_cache_entry(paths, directory, name, &path) < 0)
        return NULL;
    return escaped(path);
}
