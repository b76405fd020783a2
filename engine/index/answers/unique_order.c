/* The order of documents, by which the one that stays comes first. */
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/proc_path.h"
#include "engine/index/answers/unique_private.h"
#include "engine/index/intake/worker.h"

/* Of a name, or of a path and what is below it; a slash at the end counts for nothing, since no
 * directory is a document. */
static bool is_named_by(const char *pattern, const char *path)
{
    char name[NAME_MAX + 1], whole[PATH_MAX];
    size_t n = strlen(pattern);
    while (n && pattern[n - 1] == '/')
        n--;
    if (n >= sizeof(whole))
        return false;
    memcpy(whole, pattern, n);
    whole[n] = '\0';
    if (strchr(whole, '/'))
        return fnmatch(whole + (*whole == '/'), path, FNM_PATHNAME | FNM_LEADING_DIR) == 0;
    for (const char *at = path, *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, '/');
        const size_t n_name = (size_t)(end - at) < NAME_MAX ? (size_t)(end - at) : NAME_MAX;
        memcpy(name, at, n_name);
        name[n_name] = '\0';
        if (fnmatch(whole, name, 0) == 0)
            return true;
    }
    return false;
}

bool unique_is_kept(struct index *index, const struct file_key *file)
{
    _cleanup_close_ int fd = worker_open(index, file, O_PATH | O_CLOEXEC);
    return fd >= 0 && getxattr(proc_path_of(fd).text, INDEX_KEEP_ATTRIBUTE, NULL, 0) >= 0;
}

struct unique_rank unique_rank_make(const struct unique_asking *asking, const struct record *record,
                                    char *path)
{
    const struct index_unique_options *options = &asking->unique->options;
    struct unique_rank rank = {.kept = unique_is_kept(asking->index, &record->key), .path = path};
    while (rank.prefer < options->n_prefer &&
           !is_named_by(asking->unique->prefer[rank.prefer], path))
        rank.prefer++;
    switch (options->representative) {
    case INDEX_STAYS_OLDEST:
        rank.first = record->mtime.tv_sec;
        rank.second = record->mtime.tv_nsec;
        break;
    case INDEX_STAYS_NEWEST:
        rank.first = -(int64_t)record->mtime.tv_sec;
        rank.second = -(int64_t)record->mtime.tv_nsec;
        break;
    case INDEX_STAYS_SHORTEST_PATH: rank.first = (int64_t)strlen(path); break;
    case INDEX_STAYS_LARGEST: rank.first = -(int64_t)record->size_bytes; break;
    case INDEX_STAYS_MOST_CENTRAL: break; /* unique_neighbours.c */
    }
    return rank;
}

int unique_rank_compare(const struct unique_rank *a, const struct unique_rank *b)
{
    if (a->kept != b->kept)
        return a->kept ? -1 : 1;
    if (a->prefer != b->prefer)
        return a->prefer < b->prefer ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    return strcmp(a->path, b->path);
}
