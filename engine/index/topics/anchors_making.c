/* Documents come in the order of their sids; each has its path of now, by which its links lead to
 * names, and those to documents. The words of a fragment are dealt as records (sid, word, count) to
 * ranges of sids; sorted, those of one document follow each other, and become its row.
 *
 * Example: a.html (sid 3) says of "b.html" {fox 1}, c.html (7) of "./b.html" {fox 2, hen 1}, and
 * b.html (5) has the title {hen 1}. The records are (5, fox, 1), (5, fox, 2), (5, hen, 1) and
 * (5, hen, 1); the row of 5 has {fox 3, hen 2}.
 *
 * Cost: of a document two look-ups for its path; of a link one for each name that it may lead to,
 * mostly one; of a word 24 bytes, sorted once. What leads to no document is left out, and what a
 * document says of itself but its title.
 */
#include "engine/index/topics/anchors_making.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "engine/index/tables/fragments.h"
#include "engine/index/tables/record.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"
#include "engine/topic/bags/record_sort.h"

enum { PARTITIONS = 64, PARTITION_SHIFT = 58, PATHS_TRIED = 8 };

struct anchors_making {
    const struct anchors_making_of *of;
    const char *name; /* that alone is asked about, or NULL */
    struct tree_names *names;
    struct path_cache *paths;
    struct record_sort sort; /* the rows, on their way to the store */
    uint64_t step; /* of records from one sid to the next: in their order, nearly uniform */
    uint64_t sid;  /* of the document whose fragments are resolved */
    uint64_t *counted, *scratch;
    size_t n_counted, counted_room, scratch_room;
    uint8_t key[ANCHORS_KEY_BYTES], value[BAGS_ROW_MAX_BYTES];
};

static void making_done(struct anchors_making *making)
{
    free(making->counted);
    free(making->scratch);
    record_sort_done(&making->sort);
    path_cache_free(making->paths);
    tree_names_free(making->names);
}

static int is_stopped(void *user)
{
    const struct anchors_making *making = user;
    return tree_stopped(&making->of->stop);
}

/* -- links -- */

static enum link_is look(void *user, const char *name)
{
    const struct anchors_making *making = user;
    uint64_t sid;
    return tree_names_find(making->names, name, &sid);
}

static int count(struct anchors_making *making, uint64_t word, uint64_t n)
{
    uint64_t *last = making->n_counted ? &making->counted[making->n_counted - 1] : NULL;
    if (last && bags_word(*last) == word) {
        const uint64_t left = BAGS_COUNT_MOST - (*last & BAGS_COUNT_MOST);
        *last += n < left ? n : left;
        return 0;
    }
    if (!MAKE_ROOM(making->counted, making->counted_room, making->n_counted + 1))
        return -ENOMEM;
    making->counted[making->n_counted++] = word | n;
    return 0;
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int compare_counts(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    const uint64_t n = x & BAGS_COUNT_MOST, m = y & BAGS_COUNT_MOST;
    return n != m ? (n < m ? 1 : -1) : compare_words(a, b);
}

/* Words come ascending, so all but the last have their counts: of these as many stay as a row has
 * room for, which are those of it whatever comes. */
static void drop_rare(struct anchors_making *making)
{
    enum { MOST_COUNTED = 1 << 16 };
    if (making->n_counted < MOST_COUNTED)
        return;
    const uint64_t last = making->counted[making->n_counted - 1];
    qsort(making->counted, making->n_counted - 1, sizeof(*making->counted), compare_counts);
    qsort(making->counted, BAGS_MOST_WORDS, sizeof(*making->counted), compare_words);
    making->counted[BAGS_MOST_WORDS] = last;
    making->n_counted = BAGS_MOST_WORDS + 1;
}

static int deal(struct anchors_making *making, uint64_t sid, const struct fragment *fragment)
{
    const uint64_t target = sid * making->step;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < fragment->n_words; i++) {
        const struct bag_word *word = &fragment->words[i];
        r = record_sort_add(&making->sort, (uint32_t)(target >> PARTITION_SHIFT),
                            &(struct target_record){target, word->word, word->weight});
    }
    return r;
}

/* Equal words are added up, which came in the order of documents. */
static int add_up(struct anchors_making *making)
{
    const size_t n = making->n_counted;
    int r = 0;
    if (n)
        qsort(making->counted, n, sizeof(*making->counted), compare_words);
    making->n_counted = 0;
    for (size_t i = 0; r == 0 && i < n; i++) /* where they are */
        r = count(making, bags_word(making->counted[i]), making->counted[i] & BAGS_COUNT_MOST);
    return r;
}

/* Of a million different words, which are some 30,000 documents' that have nothing in common, the
 * rarest are forgotten. */
static int deal_named(struct anchors_making *making, const char *name,
                      const struct fragment *fragment)
{
    enum { MOST_WORDS = 1 << 20 };
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < fragment->n_words && strcmp(name, making->name) == 0; i++)
        r = count(making, fragment->words[i].word, (uint64_t)fragment->words[i].weight);
    if (r < 0 || making->n_counted < MOST_WORDS)
        return r;
    r = add_up(making);
    if (making->n_counted > MOST_WORDS / 2) {
        qsort(making->counted, making->n_counted, sizeof(*making->counted), compare_counts);
        making->n_counted = MOST_WORDS / 4;
    }
    return r;
}

/* path: of the document that says it. One that came since names were read has no name there. */
static int take(struct anchors_making *making, const char *path, const struct fragment *fragment)
{
    const struct link link = {
        .kind = fragment->kind, .target = fragment->target, .target_bytes = fragment->target_bytes};
    const struct link_tree tree = {.is = look, .user = making};
    struct link_place place = {0};
    uint64_t sid = making->sid;
    if (fragment->target_bytes) {
        if (link_place_find(&link, path, &tree, &place) < 0 || place.outside)
            return 0;
        tree_names_find(making->names, place.name, &sid);
        if (sid == making->sid) /* to itself */
            return 0;
    }
    if (making->name)
        return deal_named(making, fragment->target_bytes ? place.name : path, fragment);
    return sid && sid <= tree_names_last_sid(making->names) ? deal(making, sid, fragment) : 0;
}

/* The first path of a document that can be told. Returns 0, -ENOENT where it has none. */
static int path_of(struct anchors_making *making, char **ret_path)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    _cleanup_(record_done) struct record record = {0};
    struct kv *kv = making->of->snapshot;
    struct record_key key;
    int r = kv_get(kv, TABLE_RECORDS, record_key(&key, making->sid), &value);
    if (r == 0)
        r = record_decode(value.data, value.size_bytes, &record);
    if (r == 0)
        r = catalogue_links(kv, &record.key, PATHS_TRIED, &links);
    if (r < 0)
        return r;
    for (size_t i = 0; i < links.n_entries; i++) {
        r = path_cache_entry(making->paths, &links.entries[i].parent, links.entries[i].name,
                             ret_path);
        if (r == 0 || (r != -ENOENT && r != -ENAMETOOLONG))
            return r;
    }
    return -ENOENT;
}

static int resolve(struct anchors_making *making, struct kv_slice row)
{
    _cleanup_free_ char *path = NULL;
    struct fragments fragments;
    struct fragment fragment;
    int r = fragments_begin(&fragments, row);
    if (r < 0 || fragments.at == fragments.end) /* it says nothing */
        return r;
    r = path_of(making, &path);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    while (r >= 0 && (r = fragments_next(&fragments, &fragment)) > 0)
        r = take(making, path, &fragment);
    return r;
}

static int resolve_all(struct anchors_making *making)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    int r = table_walk_begin(&walk, making->of->snapshot, TABLE_FRAGMENTS, (struct kv_slice){0});
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        r = bags_decode_key(row.key, &making->sid);
        if (r == 0)
            r = is_stopped(making);
        if (r == 0)
            r = resolve(making, row.value);
    }
    return r;
}

/* -- rows -- */

static int begin_rows(struct anchors_making *making)
{
    const size_t memory_bytes = making->of->memory_bytes;
    making->step = UINT64_MAX / (tree_names_last_sid(making->names) + 1);
    return record_sort_begin(&making->sort, making->of->scratch, PARTITIONS, memory_bytes / 8,
                             memory_bytes / 2);
}

/* The row of all that was counted. */
static int encode(struct anchors_making *making, size_t *ret_n_bytes)
{
    if (!MAKE_ROOM(making->scratch, making->scratch_room, making->n_counted))
        return -ENOMEM;
    *ret_n_bytes = bags_encode(making->counted, making->n_counted, making->scratch, making->value);
    return 0;
}

/* A row is all records of a document. */
static int next_row(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct anchors_making *making = user;
    const struct target_record *record = NULL;
    uint64_t sid = 0;
    int r;
    making->n_counted = 0;
    while ((r = record_sort_peek(&making->sort, is_stopped, making, &record)) > 0 &&
           (!sid || record->target == sid * making->step)) {
        sid = record->target / making->step;
        r = count(making, record->word, (uint64_t)record->weight);
        if (r < 0)
            return r;
        drop_rare(making);
        record_sort_pass(&making->sort);
    }
    size_t n_bytes;
    if (r >= 0 && sid)
        r = encode(making, &n_bytes);
    if (r < 0 || !sid)
        return r;
    *ret_entry = (struct kv_entry){.key = anchors_key(making->key, making->of->epoch, sid),
                                   .value = {making->value, n_bytes}};
    *ret_delete = false;
    return 1;
}

static int put_rows(struct anchors_making *making)
{
    int r = record_sort_turn(&making->sort, making->of->memory_bytes / 4);
    return r < 0 ? r : kv_bulk_load(making->of->kv, TABLE_ANCHORS, next_row, making);
}

/* -- all of it -- */

static int begin(struct anchors_making *making)
{
    const struct anchors_making_of *of = making->of;
    int r = tree_names_read(of->snapshot, of->root, &of->stop, &making->names);
    return r < 0 ? r : path_cache_new(of->snapshot, of->root, &making->paths);
}

int anchors_making_run(const struct anchors_making_of *of)
{
    _cleanup_(making_done) struct anchors_making making = {.of = of};
    int r = begin(&making);
    if (r == 0)
        r = begin_rows(&making);
    if (r == 0)
        r = resolve_all(&making);
    return r < 0 ? r : put_rows(&making);
}

int anchors_making_of_name(const struct anchors_making_of *of, const char *name,
                           struct kv_buf *ret_row)
{
    _cleanup_(making_done) struct anchors_making making = {.of = of, .name = name};
    size_t n_bytes;
    int r = begin(&making);
    if (r == 0)
        r = resolve_all(&making);
    if (r == 0)
        r = add_up(&making);
    if (r == 0)
        r = encode(&making, &n_bytes);
    if (r < 0)
        return r;
    *ret_row = (struct kv_buf){.data = malloc(n_bytes), .size_bytes = n_bytes};
    if (!ret_row->data)
        return -ENOMEM;
    memcpy(ret_row->data, making.value, n_bytes);
    return 0;
}
