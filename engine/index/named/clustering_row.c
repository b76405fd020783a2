#include "engine/index/named/clustering_row.h"

#include <errno.h>
#include <string.h>

#include "engine/index/clusters/remade.h"
#include "engine/index/tables/schema.h"
#include "engine/index/topics/topics_finding.h"

enum { ROW_VERSION = 2, ROW_HEAD_BYTES = 2 };

int clustering_row_put(struct kv *kv, unsigned number, enum clustering_state state,
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
    index_clustering_print(clustering, text);
    kv_batch_put(batch, TABLE_META, clustering_meta_key(&meta, "clustering", number),
                 (struct kv_slice){value, ROW_HEAD_BYTES + strlen(text)});
    return kv_apply(kv, batch);
}

/* Names that nobody else can give. The resemblances are said in the row: by others, topics are made
 * anew. */
const struct index_clustering clusterings_of_topics[CLUSTERINGS_OF_TOPICS] = {
    {".topics", INDEX_CLUSTERING_TOPICS, TOPICS_RESEMBLANCE, 0},
    {".subtopics", INDEX_CLUSTERING_SUBTOPICS, SUBTOPICS_RESEMBLANCE, 0},
};

static int parse_rule(const char *text, struct index_clustering *ret_clustering)
{
    _cleanup_free_ char *error = NULL;
    for (size_t i = 0; i < CLUSTERINGS_OF_TOPICS; i++) {
        char known[INDEX_CLUSTERING_TEXT_BYTES];
        index_clustering_print(&clusterings_of_topics[i], known);
        if (strcmp(text, known) == 0) {
            *ret_clustering = clusterings_of_topics[i];
            return 0;
        }
    }
    return index_clustering_parse(text, ret_clustering, &error);
}

/* One of another version, or whose rule this one does not know, is none to keep: it is being
 * removed. */
static int parse_row(const struct kv_buf *value, unsigned number, struct clustering_row *ret_row)
{
    char text[INDEX_CLUSTERING_TEXT_BYTES] = "";
    const uint8_t *p = value->data;
    size_t n_text = value->size_bytes - ROW_HEAD_BYTES;

    if (value->size_bytes < ROW_HEAD_BYTES || p[0] == 0 || p[0] > ROW_VERSION)
        return -EUCLEAN;
    *ret_row = (struct clustering_row){.number = number, .state = CLUSTERING_REMOVING};
    if (p[0] < ROW_VERSION)
        return 0;
    if (p[1] < CLUSTERING_WANTED || p[1] > CLUSTERING_REMOVING || n_text >= sizeof(text))
        return -EUCLEAN;
    memcpy(text, p + ROW_HEAD_BYTES, n_text);
    int r = parse_rule(text, &ret_row->clustering);
    if (r == 0)
        ret_row->state = p[1];
    return r == -EINVAL ? 0 : r;
}

/* Returns 1, 0 where there is none, or an error. */
static int get_row(struct kv *kv, unsigned number, struct clustering_row *ret_row)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct clustering_meta meta;
    int r = kv_get(kv, TABLE_META, clustering_meta_key(&meta, "clustering", number), &value);
    if (r == 0)
        r = parse_row(&value, number, ret_row);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

int clustering_rows_get(struct kv *kv, struct clustering_row rows[CLUSTERING_MAX],
                        size_t *ret_n_rows)
{
    size_t n = 0;

    for (unsigned number = 1; number <= CLUSTERING_MAX; number++) {
        int r = get_row(kv, number, &rows[n]);
        if (r < 0)
            return r;
        n += (size_t)r;
    }
    *ret_n_rows = n;
    return 0;
}

/* -- what it says of the clustering -- */

struct batch_options clustering_batch(const struct index_clustering *clustering)
{
    struct batch_options options = {.threshold = clustering->resemblance};
    switch (clustering->kind) {
    case INDEX_CLUSTERING_COMPONENTS:
        options.mode = BATCH_FAST;
        options.whole = true;
        options.containment = clustering->containment;
        break;
    case INDEX_CLUSTERING_CENTER: options.mode = BATCH_CENTER; break;
    case INDEX_CLUSTERING_SUPERSHINGLE:
        options.mode = BATCH_SUPERSHINGLE;
        options.threshold = 1; /* there is none */
        break;
    case INDEX_CLUSTERING_EXACT: options.mode = BATCH_EXACT; break;
    case INDEX_CLUSTERING_FAST: options.mode = BATCH_FAST; break;
    case INDEX_CLUSTERING_BRODER1997: options.mode = BATCH_BRODER1997; break;
    case INDEX_CLUSTERING_TOPICS:
    case INDEX_CLUSTERING_SUBTOPICS: break;
    }
    return options;
}

int clustering_row_wanted(const struct kv_buf *row, unsigned number,
                          struct index_clustering *ret_clustering)
{
    struct clustering_row parsed;
    int r = parse_row(row, number, &parsed);
    if (r < 0 || parsed.state == CLUSTERING_REMOVING)
        return r;
    *ret_clustering = parsed.clustering;
    return 1;
}

int clustering_row_current(struct kv *kv, unsigned number, struct index_clustering *ret_clustering)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct clustering_meta meta;
    struct clustering_row row;
    int r = get_row(kv, number, &row);
    if (r <= 0 || row.state == CLUSTERING_REMOVING)
        return r < 0 ? r : 0;
    *ret_clustering = row.clustering;
    r = kv_get(kv, TABLE_META, clustering_meta_key(&meta, "remade", number), &value);
    return r < 0 ? (r == -ENOENT ? 0 : r) : remade_read_row(&value);
}
