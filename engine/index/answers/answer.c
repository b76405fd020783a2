/* The parts of every answer: records by sid, and paths the caller may read. */
#include "engine/index/answers/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>

#include "engine/index/intake/open_soon.h"

struct kin kin_of(uint64_t sid, const struct record *record, const struct estimate *estimate)
{
    return (struct kin){.sid = sid,
                        .key = record->key,
                        .size_bytes = record->size_bytes,
                        .mtime = record->mtime,
                        .type = record->form.type,
                        .resemblance = estimate->value,
                        .error = estimate->error,
                        .exact = estimate->exact,
                        .containment = NAN};
}

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
    free(list->common);
    *list = (struct kin_list){0};
}

static size_t n_bytes_of(const struct kin *kin)
{
    return sizeof(*kin) + strlen(kin->path) + 1;
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
    list->n_bytes += n_bytes_of(kin);
    list->kin[list->n_kin++] = *kin;
    *kin = (struct kin){0};
    return 0;
}

void kin_list_cut(struct kin_list *list, size_t limit)
{
    while (limit && list->n_kin > limit) {
        struct kin *last = &list->kin[--list->n_kin];
        list->n_bytes -= n_bytes_of(last);
        kin_done(last);
    }
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

int kin_compare_passages(const void *a, const void *b)
{
    const struct kin *x = a, *y = b;
    if (x->longest_passage != y->longest_passage)
        return x->longest_passage < y->longest_passage ? 1 : -1;
    if (x->shared_words != y->shared_words)
        return x->shared_words < y->shared_words ? 1 : -1;
    return strcmp(x->path, y->path);
}

void document_done(struct document *document)
{
    if (document->record)
        records_return(document->records, &document->record, 1);
}

/* The right that is asked for. */
struct asker {
    index_may_read_fn may; /* NULL: there is one to every path */
    void *user;
    const struct index_query *query; /* of who may not read everything */
};

/* One way to a file; gives a path where it is allowed. Returns 0 or an error. */
static int try_link(struct path_cache *paths, const struct catalogue_entry *link,
                    const struct asker *asker, enum index_right *ret_right, char **ret_path)
{
    _cleanup_free_ char *path = NULL;
    int r = path_cache_entry(paths, &link->parent, link->name, &path);
    *ret_right = r == -EPERM ? INDEX_DIRECTORY_REFUSED : INDEX_NAME_REFUSED;
    if (r < 0) /* its directory is being moved or removed, or nobody can name it */
        return r == -ENOENT || r == -ENAMETOOLONG || r == -EPERM ? 0 : r;
    *ret_right = asker->may ? asker->may(asker->user, path, &link->child) : INDEX_ALLOWED;
    if (*ret_right == INDEX_DIRECTORY_REFUSED)
        path_cache_refuse(paths, &link->parent);
    if (*ret_right == INDEX_ALLOWED)
        *ret_path = TAKE_PTR(path);
    return 0;
}

enum { LINKS_AT_ONCE = 64 };

/* The link behind *at, or the first behind it that is in another directory; *at is the number of
 * links where there is none. */
static int next_link(struct kv *kv, bool elsewhere, struct catalogue_list *links, size_t *at)
{
    const struct catalogue_entry *link = &links->entries[*at];
    const size_t n = links->n_entries;
    do
        ++*at;
    while (elsewhere && *at < n && file_key_equal(&links->entries[*at].parent, &link->parent));
    if (*at < n || n < LINKS_AT_ONCE)
        return 0;
    struct catalogue_list more = {0};
    int r = catalogue_links_beside(kv, &link->child, &link->parent, elsewhere ? NULL : link->name,
                                   false, LINKS_AT_ONCE, &more);
    catalogue_list_done(links);
    *links = more;
    *at = 0;
    return r;
}

/* Nor is there a way to what is being freed. */
static bool may_open(struct index *index, const struct file_key *file,
                     const struct index_query *query)
{
    if (!query->may_open)
        return true;
    _cleanup_(opened_close) struct opened opened = {
        index, open_key_soon(index, query->looking, file, O_PATH | O_CLOEXEC)};
    return opened.fd < 0 ? opened.fd != -EAGAIN : query->may_open(query->user, opened.fd);
}

/* A file may have thousands of links, each of which is a long way, in thousands of directories that
 * somebody else has closed to the asker, or too long to be named. So only some are tried, in the
 * order of their keys, and fewer the further down they are (CATALOGUE_CLIMB_MAX), and a directory
 * that refuses by one of them; those that have refused in the answer before are counted too, so
 * that whether a file is shown depends on no other. */
static int path_for(struct index *index, struct path_cache *paths, const struct file_key *file,
                    const struct asker *asker, char **ret_path)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    if (asker->may && !may_open(index, file, asker->query))
        return -ENOENT;
    int r = catalogue_links(index->kv, file, LINKS_AT_ONCE, &links);
    unsigned cost = 0;
    for (size_t at = 0, n_tried = 0; r == 0 && at < links.n_entries; n_tried++) {
        enum index_right right;
        if (n_tried == INDEX_PATHS_TRIED_MAX || cost >= CATALOGUE_CLIMB_MAX)
            break;
        if (asker->may && answer_is_stopped(asker->query))
            return -EINTR;
        r = try_link(paths, &links.entries[at], asker, &right, ret_path);
        cost += path_cache_cost(paths);
        if (r == 0 && right == INDEX_ALLOWED)
            return 0;
        if (right == INDEX_FILE_REFUSED)
            break;
        if (r == 0)
            r = next_link(index->kv, right == INDEX_DIRECTORY_REFUSED, &links, &at);
    }
    return r < 0 ? r : -ENOENT;
}

int answer_path(struct index *index, struct path_cache *paths, const struct file_key *file,
                char **ret_path)
{
    return path_for(index, paths, file, &(struct asker){0}, ret_path);
}

int answer_member(struct index *index, struct path_cache *paths, uint64_t sid,
                  const struct record *record, const struct record *representative,
                  struct kin *ret_kin)
{
    struct estimate estimate = {.value = 1.0, .exact = true};
    _cleanup_free_ char *path = NULL;
    int r = answer_path(index, paths, &record->key, &path);
    if (r == 0 && representative)
        r = record_resemblance(representative, record, &estimate);
    if (r < 0)
        return r;
    *ret_kin = kin_of(sid, record, &estimate);
    ret_kin->path = TAKE_PTR(path);
    return 0;
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
    return !query->may_read || answer_is_current(index, file, document->sid, query->looking)
               ? 0
               : -ESTALE;
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
        r = records_borrow(index->records, &row.sid, 1, &document.record);
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

int index_find(struct index *index, const char *path, struct file_key *ret_key, bool *ret_is_file)
{
    enum entry_type type = ENTRY_DIRECTORY;
    struct file_key at = *backing_root_key(index->backing);
    for (size_t n; *path; path += n + (path[n] == '/')) {
        char name[NAME_MAX + 1];
        struct file_key above = at;
        n = strcspn(path, "/");
        if (n == 0 || n > NAME_MAX || type != ENTRY_DIRECTORY)
            return -ENOENT;
        memcpy(name, path, n);
        name[n] = '\0';
        int r = catalogue_get(index->kv, &above, name, &at, &type);
        if (r < 0)
            return r;
    }
    *ret_key = at;
    *ret_is_file = type == ENTRY_FILE;
    return 0;
}

int index_path(struct index *index, const struct file_key *file, char **ret_path)
{
    return catalogue_path(index->kv, backing_root_key(index->backing), file, ret_path);
}
