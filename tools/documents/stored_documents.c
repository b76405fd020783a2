#include "tools/documents/stored_documents.h"

#include <errno.h>

#include "tools/questions/ask.h"
#include "tools/questions/holder.h"
#include "tools/show/message.h"

void stored_documents_done(struct stored_documents *stored)
{
    index_close(stored->index, 0);
    if (stored->holder > 0)
        close(stored->holder);
    if (stored->backing)
        backing_close(stored->backing);
    location_done(&stored->at);
    free(stored->numbers);
    *stored = (struct stored_documents){0};
}

static int open_index(struct stored_documents *stored, char **ret_error)
{
    const char *store = stored->at.store;
    _cleanup_(holder_done) struct holder holder = {0};
    if (holder_read(store, &holder) == 0 && holder.alive) {
        _cleanup_free_ char *who = holder_describe(&holder), *remedy = holder_remedy(&holder);
        return refuse(ret_error, -EBUSY, "%s: %s; %s", store, who, remedy);
    }
    int r = ask_open_tree(&stored->at, &stored->backing, ret_error);
    if (r < 0)
        return r;
    const struct index_options options = {
        .backing = stored->backing,
        .source = stored->at.source,
        .store_path = store,
        .log = ask_log,
    };
    r = index_open(&options, &stored->index, ret_error);
    if (r == 0) /* not to be told of does no harm */
        (void)holder_hold(store, "cluster", stored->at.source, NULL, &stored->holder);
    return r;
}

static int add_path(void *user, const char *path, const struct document_sketch *sketch)
{
    struct stored_documents *stored = user;
    (void)sketch;
    return document_list_append(stored->list, stored->at.base, path);
}

static int compare_documents(const void *a, const void *b, void *user)
{
    return document_list_order(user, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* So that clusters are numbered by the names of their documents, as of a tree that is walked. */
static int sort_list(struct stored_documents *stored)
{
    struct document_list *list = stored->list;
    uint32_t n = list->n;
    _cleanup_free_ uint32_t *read = calloc(n + 1, sizeof(*read));
    struct document *sorted = calloc(n + 1, sizeof(*sorted));
    stored->numbers = calloc(n + 1, sizeof(*stored->numbers));
    if (!read || !sorted || !stored->numbers) {
        free(sorted);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        read[i] = i;
    qsort_r(read, n, sizeof(*read), compare_documents, list);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = list->documents[read[i]];
        stored->numbers[read[i]] = i;
    }
    free(list->documents);
    list->documents = sorted;
    stored->n = n;
    return 0;
}

int stored_documents_open(const char *path, const char *store, struct document_list *list,
                          struct stored_documents *ret_stored, char **ret_error)
{
    *ret_stored = (struct stored_documents){.list = list};
    int r = locate(path, store, &ret_stored->at, ret_error);
    if (r == 0)
        r = open_index(ret_stored, ret_error);
    if (r < 0)
        return r;
    r = index_each_sketch(ret_stored->index, add_path, ret_stored);
    if (r == 0)
        r = sort_list(ret_stored);
    if (r == -E2BIG)
        return r;
    return r < 0 ? refuse(ret_error, r, "%s: %s", ret_stored->at.store, error_text(r)) : 0;
}

const struct policy *stored_documents_policy(const struct stored_documents *stored)
{
    return index_policy(stored->index);
}

static int add_sketch(void *user, const char *path, const struct document_sketch *sketch)
{
    struct stored_documents *stored = user;
    (void)path;
    if (stored->next == stored->n) /* nobody else has the store: as many as there were */
        return -EUCLEAN;
    return batch_writer_add(stored->writer, stored->numbers[stored->next++], sketch);
}

int stored_documents_add(struct stored_documents *stored, struct batch *batch)
{
    int r = batch_writer_new(batch, &stored->writer);
    if (r == 0)
        r = index_each_sketch(stored->index, add_sketch, stored);
    if (r == 0)
        r = batch_writer_flush(stored->writer);
    batch_writer_free(stored->writer);
    return r;
}
