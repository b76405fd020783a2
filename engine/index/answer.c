/* The parts of every answer: records by sid, and paths the caller may read. */
#include "engine/index/answer.h"

#include <errno.h>

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

int kin_compare_containment(const void *a, const void *b)
{
    const struct kin *x = a, *y = b;
    if (x->containment != y->containment)
        return x->containment < y->containment ? 1 : -1;
    return strcmp(x->path, y->path);
}

void document_done(struct document *document)
{
    if (document->record)
        records_put(document->records, &document->record, 1);
}

/* The right that is asked for. */
struct asker {
    index_may_read_fn may; /* NULL: there is one to every path */
    void *user;
    const struct index_query *query; /* of who may not read everything */
};

/* The first of some links to which the asker has the right. */
static int path_of_links(struct path_cache *paths, const struct catalogue_list *links,
                         const struct file_key *file, const struct asker *asker, char **ret_path)
{
    for (size_t i = 0; i < links->n_entries; i++) {
        _cleanup_free_ char *path = NULL;
        int r = path_cache_entry(paths, &links->entries[i].parent, links->entries[i].name, &path);
        if (r == -ENOENT || r == -ENAMETOOLONG)
            continue; /* its directory is being moved or removed, or nobody can name it */
        if (r < 0)
            return r;
        /* A file may have thousands of links, each of which is a long way. */
        if (asker->may && asker->query->stop && asker->query->stop(asker->query->stop_user))
            return -EINTR;
        if (asker->may && !asker->may(asker->user, path, file))
            continue;
        *ret_path = TAKE_PTR(path);
        return 0;
    }
    return -ENOENT;
}

static int path_for(struct index *index, struct path_cache *paths, const struct file_key *file,
                    const struct asker *asker, char **ret_path)
{
    enum { LINKS_AT_ONCE = 64 };
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(index->kv, file, LINKS_AT_ONCE, &links);
    if (r == 0)
        r = path_of_links(paths, &links, file, asker, ret_path);
    while (r == -ENOENT && links.n_entries == LINKS_AT_ONCE) {
        struct catalogue_list more = {0};
        const struct catalogue_entry *last = &links.entries[LINKS_AT_ONCE - 1];
        r = catalogue_links_beside(index->kv, file, &last->parent, last->name, false, LINKS_AT_ONCE,
                                   &more);
        catalogue_list_done(&links);
        links = more;
        if (r == 0)
            r = path_of_links(paths, &links, file, asker, ret_path);
    }
    return r;
}

int answer_path(struct index *index, struct path_cache *paths, const struct file_key *file,
                char **ret_path)
{
    return path_for(index, paths, file, &(struct asker){0}, ret_path);
}

int answer_may_ask(struct index *index, const struct file_key *file,
                   const struct index_query *query)
{
    const struct asker asker = {query->may_ask ? query->may_ask : query->may_read, query->user,
                                query};
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    _cleanup_free_ char *path = NULL;
    if (!query->may_read)
        return 0;
    int r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);
    return r < 0 ? r : path_for(index, paths, file, &asker, &path);
}

static int check_current(struct index *index, const struct document *document,
                         const struct index_query *query)
{
    const struct file_key *file = &document->record->key;
    return !query->may_read || answer_is_current(index, file, document->sid) ? 0 : -ESTALE;
}

int answer_shown_path(struct index *index, struct path_cache *paths,
                      const struct document *document, const struct index_query *query,
                      char **ret_path)
{
    const struct asker asker = {query->may_read, query->user, query};
    _cleanup_free_ char *path = NULL;
    int r = path_for(index, paths, &document->record->key, &asker, &path);
    if (r == 0)
        r = check_current(index, document, query);
    if (r == 0)
        *ret_path = TAKE_PTR(path);
    return r;
}

static int get_document(struct index *index, const struct file_key *file,
                        struct document *ret_document)
{
    struct file_row row;
    struct document document = {.records = index->records};
    int r = catalogue_get_file(index->kv, file, &row);
    if (r == 0 && row.sid == 0)
        r = -ENOENT;
    if (r == 0)
        r = records_get(index->records, &row.sid, 1, &document.record);
    if (r == 0 && !document.record)
        r = -ENOENT;
    if (r == 0) {
        document.sid = row.sid;
        *ret_document = document;
    }
    return r;
}

int answer_document(struct index *index, const struct file_key *file,
                    const struct index_query *query, struct document *ret_document)
{
    _cleanup_(document_done) struct document document = {0};
    int r = get_document(index, file, &document);
    if (r == 0)
        r = answer_may_ask(index, file, query);
    if (r == 0)
        r = check_current(index, &document, query);
    if (r == 0) {
        *ret_document = document;
        document = (struct document){0};
    }
    return r;
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
    return r < 0 ? r : answer_path(index, paths, file, ret_path);
}
