/* The order of documents, by which the one that stays comes first. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/proc_path.h"
#include "engine/index/answers/unique/unique_private.h"
#include "engine/index/intake/open_soon.h"

/* A pattern names a document by its name, or by its path or one above it; a slash at the end counts
 * for nothing, since no directory is a document. */
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

/* Returns 1, 0, or -ENOBUFS: it cannot be told in time. */
static int is_marked(struct unique_asking *asking, const struct file_key *file)
{
    _cleanup_(opened_close) struct opened opened = {
        asking->index,
        open_document_soon(asking->index, asking->query.looking, file, O_PATH | O_CLOEXEC)};
    if (opened.fd < 0)
        return opened.fd == -EAGAIN || opened.fd == -ETIMEDOUT ? -ENOBUFS : 0;
    return getxattr(proc_path_of(opened.fd).text, INDEX_KEEP_ATTRIBUTE, NULL, 0) >= 0;
}

bool index_unique_is_reference(const struct index_unique_options *options, const char *path)
{
    for (size_t i = 0; i < options->n_reference; i++) {
        const size_t n = strlen(options->reference[i]);
        if (strncmp(path, options->reference[i], n) == 0 && path[n] == '/')
            return true;
    }
    return false;
}

/* By any of its names, of which the path is one. One that has very many, or that cannot be told, is
 * taken for one: it stays. */
static bool is_reference(struct unique_asking *asking, const struct file_key *file,
                         const char *path)
{
    enum { LINKS_MAX = 64 };
    const struct index_unique_options *options = &asking->unique->options;
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    if (options->n_reference == 0 || index_unique_is_reference(options, path))
        return options->n_reference > 0;
    int r = catalogue_links(asking->index->kv, file, LINKS_MAX, &links);
    if (r < 0 || links.n_entries == LINKS_MAX)
        return true;
    for (size_t i = 0; links.n_entries > 1 && i < links.n_entries; i++) {
        const struct catalogue_entry *link = &links.entries[i];
        _cleanup_free_ char *other = NULL;
        r = path_cache_entry(asking->paths, &link->parent, link->name, &other);
        if (r == 0 ? index_unique_is_reference(options, other) : r == -ENOMEM || r == -EIO)
            return true;
    }
    return false;
}

int unique_keeping(struct unique_asking *asking, const struct file_key *file, const char *path)
{
    if (is_reference(asking, file, path))
        return UNIQUE_REFERENCE;
    const int r = is_marked(asking, file);
    return r < 0 ? r : r > 0 ? UNIQUE_KEPT : UNIQUE_NOT_KEPT;
}

int unique_rank_make(struct unique_asking *asking, const struct record *record, char *path,
                     struct unique_rank *ret_rank)
{
    const struct index_unique_options *options = &asking->unique->options;
    const int kept = unique_keeping(asking, &record->key, path);
    struct unique_rank rank = {.kept = (enum unique_keeping)kept, .path = path};
    if (kept < 0)
        return kept;
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
    *ret_rank = rank;
    return 0;
}

int unique_rank_compare(const struct unique_rank *a, const struct unique_rank *b)
{
    if (a->kept != b->kept)
        return a->kept > b->kept ? -1 : 1;
    if (a->prefer != b->prefer)
        return a->prefer < b->prefer ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    return strcmp(a->path, b->path);
}
