#include "engine/index/clusters/clustering_row.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/tables/schema.h"

enum { ROW_VERSION = 1, ROW_HEAD_BYTES = 10 };

int clustering_row_put(struct kv *kv, unsigned number, enum clustering_state state, uint64_t sid,
                       const struct index_clustering *clustering)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t value[ROW_HEAD_BYTES + INDEX_CLUSTERING_TEXT_BYTES];
    struct clustering_meta meta;
    char *text = (char *)value + ROW_HEAD_BYTES;

    if (!batch)
        return -ENOMEM;
    value[0] = ROW_VERSION;
    value[1] = (uint8_t)state;
    put_be64(value + 2, sid);
    index_clustering_print(clustering, text);
    kv_batch_put(batch, TABLE_META, clustering_meta_key(&meta, "clustering", number),
                 (struct kv_slice){value, ROW_HEAD_BYTES + strlen(text)});
    return kv_apply(kv, batch);
}

int clustering_row_parse(const struct kv_buf *value, unsigned number,
                         struct clustering_row *ret_row)
{
    char text[INDEX_CLUSTERING_TEXT_BYTES] = "";
    const uint8_t *p = value->data;
    _cleanup_free_ char *error = NULL;
    size_t n_text = value->size_bytes - ROW_HEAD_BYTES;

    if (value->size_bytes < ROW_HEAD_BYTES || p[0] != ROW_VERSION || p[1] < CLUSTERING_MAKING ||
        p[1] > CLUSTERING_REMOVING || n_text >= sizeof(text))
        return -EUCLEAN;
    *ret_row = (struct clustering_row){number, p[1], get_be64(p + 2), {{0}, 0, 0, 0}};
    memcpy(text, p + ROW_HEAD_BYTES, n_text);
    int r = index_clustering_parse(text, &ret_row->clustering, &error);
    if (r == -EINVAL)
        ret_row->state = CLUSTERING_REMOVING;
    return r == -EINVAL ? 0 : r;
}

int clustering_row_get(struct kv *kv, unsigned number, struct clustering_row *ret_row)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct clustering_meta meta;
    int r = kv_get(kv, TABLE_META, clustering_meta_key(&meta, "clustering", number), &value);
    if (r == 0)
        r = clustering_row_parse(&value, number, ret_row);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int clustering_rows_get(struct kv *kv, struct clustering_row rows[CLUSTERING_MAX],
                        size_t *ret_n_rows)
{
    size_t n = 0;

    for (unsigned number = 1; number <= CLUSTERING_MAX; number++) {
        int r = clustering_row_get(kv, number, &rows[n]);
        if (r < 0)
            return r;
        n += (size_t)r;
    }
    *ret_n_rows = n;
    return 0;
}

/* -- what it says of the clustering -- */

struct edge_rule clustering_rule(const struct index_clustering *clustering)
{
    return (struct edge_rule){.resemblance = clustering->resemblance,
                              .containment = clustering->containment,
                              .super_shingle = clustering->kind == INDEX_CLUSTERING_SUPERSHINGLE};
}

bool clustering_is_remade(enum index_clustering_kind kind)
{
    return kind == INDEX_CLUSTERING_EXACT || kind == INDEX_CLUSTERING_FAST ||
           kind == INDEX_CLUSTERING_BRODER1997;
}

enum batch_mode clustering_mode(enum index_clustering_kind kind)
{
    return kind == INDEX_CLUSTERING_EXACT  ? BATCH_EXACT
           : kind == INDEX_CLUSTERING_FAST ? BATCH_FAST
                                           : BATCH_BRODER1997;
}

int clustering_row_wanted(const struct kv_buf *row, unsigned number,
                          struct index_clustering *ret_clustering)
{
    struct clustering_row parsed;
    int r = clustering_row_parse(row, number, &parsed);
    if (r < 0 || parsed.state == CLUSTERING_REMOVING)
        return r;
    *ret_clustering = parsed.clustering;
    return 1;
}

/* Of one that is complete. Returns 1, 0 where there is none such, or an error. */
static int read_complete(struct kv *kv, unsigned number, struct index_clustering *ret_clustering)
{
    struct clustering_row row;
    int r = clustering_row_get(kv, number, &row);
    if (r <= 0)
        return r;
    *ret_clustering = row.clustering;
    return row.state == CLUSTERING_COMPLETE;
}

int clustering_row_rule(struct kv *kv, unsigned number, struct edge_rule *ret_rule)
{
    struct index_clustering clustering;
    int r = read_complete(kv, number, &clustering);
    if (r <= 0 || clustering_is_remade(clustering.kind))
        return r < 0 ? r : 0;
    *ret_rule = clustering_rule(&clustering);
    return 1;
}

int clustering_row_remade(struct kv *kv, unsigned number, enum batch_mode *ret_mode,
                          double *ret_threshold)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct index_clustering clustering;
    struct clustering_meta meta;
    int r = read_complete(kv, number, &clustering);
    if (r <= 0 || !clustering_is_remade(clustering.kind))
        return r < 0 ? r : 0;
    *ret_mode = clustering_mode(clustering.kind);
    *ret_threshold = clustering.resemblance;
    r = kv_get(kv, TABLE_META, clustering_meta_key(&meta, "remade", number), &value);
    return r < 0 ? (r == -ENOENT ? 0 : r) : remade_read_row(&value);
}
