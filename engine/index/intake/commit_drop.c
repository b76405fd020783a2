/* Documents out of the store: the file's row is marked, so that a file that lives on after a crash
 * is read again; what the document was goes into the past, where it loses its last name; then go
 * its passages, its bag, its sketch with all that derives from it, and its row. Each step is
 * idempotent.
 *
 * Example: of a directory that was removed 64 documents go together. One write marks their rows and
 * one removes them; what lies between shares its writes, too (cluster_delete.h).
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/index/catalogue/stored_row.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/declared.h"
#include "engine/index/intake/past/leaving.h"

static void going_free(struct stored_document *going, size_t n)
{
    for (size_t i = 0; i < n; i++)
        record_done(&going[i].record);
    free(going);
}

/* Reads what is going, and marks its rows: a crash between record and row must not leave a row that
 * passes for a sketched file. */
static int begin_dropping(struct index *index, const struct file_key *files, size_t n,
                          struct stored_document *going)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    int r = batch ? stored_row_documents(index->kv, files, n, going) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < n; i++)
        if (going[i].sid && !going[i].stored.row.racy) {
            going[i].stored.row.racy = true;
            catalogue_put_file(batch, &files[i], &going[i].stored.row);
        }
    if (r < 0 || kv_batch_count(batch) == 0)
        return r;
    return document_counts_apply(&index->counts, batch, &(struct document_change){0});
}

static int drop_rows(struct index *index, const struct file_key *files,
                     const struct stored_document *going, size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct document_change change = {0};
    if (!batch)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (!going[i].stored.exists)
            continue;
        catalogue_delete_file(batch, &files[i]);
        stored_row_count(&going[i].stored, NULL, &change);
    }
    return document_counts_apply(&index->counts, batch, &change);
}

static int drop_sketches(struct index *index, const struct stored_document *going, size_t n)
{
    _cleanup_free_ uint64_t *sids = calloc(n, sizeof(*sids));
    _cleanup_free_ const struct record **records = calloc(n, sizeof(*records));
    size_t n_sids = 0;
    if (!sids || !records)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (!going[i].sid)
            continue;
        sids[n_sids] = going[i].sid;
        records[n_sids++] = &going[i].record;
    }
    int r = index->passages ? passages_remove(index->passages, sids, n_sids) : 0;
    if (r == 0 && index->topics)
        r = topics_remove(index->topics, sids, n_sids);
    return r < 0    ? r
           : n_sids ? living_clusters_delete_all(index->clusters, sids, records, n_sids)
                    : 0;
}

int commit_drop_documents(struct index *index, const struct file_key *files,
                          const struct catalogue_entry *const *places, size_t n)
{
    if (n == 0)
        return 0;
    struct stored_document *going = calloc(n, sizeof(*going));
    if (!going)
        return -ENOMEM;
    int r = begin_dropping(index, files, n, going);
    if (r == 0 && places)
        r = leaving_note_names(index, PAST_DIED, places, going, n);
    if (r == 0)
        r = drop_sketches(index, going, n);
    if (r == 0)
        r = drop_rows(index, files, going, n);
    for (size_t i = 0; r == 0 && places && i < n; i++)
        r = declared_let_go(index, &files[i]);
    going_free(going, n);
    return r;
}

int commit_drop_document(struct index *index, const struct file_key *file)
{
    return commit_drop_documents(index, file, NULL, 1);
}
