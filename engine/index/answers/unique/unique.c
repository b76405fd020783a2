/* Which documents are left out, and for which (index.h says what is promised).
 *
 * A text (a class of documents, tables/record.h) is asked about by any document of it. Example: of
 * texts A, B, C, of which A comes first and C last, A and B resemble each other by 0.97, B and C by
 * 0.96, A and C by 0.93; `near` is 0.95. C needs those of its neighbours that come before it: B,
 * which needs its own: A, which has none and stays. So B is left out for A, and does not stand in
 * for C; A does not resemble C enough, and C stays.
 *
 *   unique_order.c       who comes first
 *   unique_text.c        the documents of a text, and the first of them
 *   unique_neighbours.c  the texts that come before one and may resemble it
 *   unique_exact.c       two texts compared in full, and the SHA-256 of bytes
 *   unique_way.c         who could take a stand-in away
 *   unique_decision.c    whether a text stays
 *   unique_memory.c      what is known of texts
 *
 * Two answers may be asked for in two states of the index. So that no two documents are left out
 * for each other, each is of one: where the index has changed since it was begun, it is made anew,
 * and after TRIES the document is shown. An answer can take long, of a long chain of versions;
 * where LOST_US of them came to nothing, as the index changed, the next ones are hurried, whoever
 * of the two that may ask them does.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/index/answers/unique/unique_exact.h"
#include "engine/index/answers/unique/unique_private.h"
#include "engine/index/intake/open_soon.h"
#include "engine/index/tables/distinct.h"

enum {
    TRIES = 4,
    CHANGING_MS = 1, /* a step of the committer takes some milliseconds */
    CHANGING_TRIES = 20,
    LOST_US = 1000000, /* in which nothing came of answers */
    HURRIED_MS = 30000,
    HURRIED_SEARCHES = 16, /* one or two do for most names */
};

/* -- making and ending -- */

static void free_all(char **texts)
{
    for (size_t i = 0; texts && texts[i]; i++)
        free(texts[i]);
    free(texts);
}

/* NULL behind the last. */
static char **copy_all(const char *const *texts, size_t n)
{
    char **copies = calloc(n + 1, sizeof(*copies));
    for (size_t i = 0; copies && i < n; i++)
        if (!(copies[i] = strdup(texts[i]))) {
            free_all(copies);
            return NULL;
        }
    return copies;
}

void index_unique_free(struct index_unique *unique)
{
    if (!unique)
        return;
    free_all(unique->prefer);
    free_all(unique->reference);
    unique_memories_done(&unique->memories);
    free(unique);
}

/* Two standard errors below: of those that reach it one in forty is taken for less, and stays. */
static double least_estimate(double near, uint32_t n_samples)
{
    return near - 2 * sqrt(near * (1 - near) / n_samples);
}

int index_unique_new(struct index *index, const struct index_unique_options *options,
                     struct index_unique **ret_unique)
{
    if (!(options->near >= 0.5 && options->near <= 1))
        return -EINVAL;
    struct index_unique *unique = calloc(1, sizeof(*unique));
    if (!unique)
        return -ENOMEM;
    unique->index = index;
    unique->options = *options;
    unique->estimated = least_estimate(options->near, index->policy.s);
    unique->answer_bytes = UNIQUE_ANSWER_BYTES;
    unique_memories_init(&unique->memories);
    unique->prefer = copy_all(options->prefer, options->n_prefer);
    unique->reference = copy_all(options->reference, options->n_reference);
    unique->options.reference = (const char *const *)unique->reference;
    if (!unique->prefer || !unique->reference) {
        index_unique_free(unique);
        return -ENOMEM;
    }
    *ret_unique = unique;
    return 0;
}

void index_stand_in_done(struct index_stand_in *stand_in)
{
    free(stand_in->path);
    *stand_in = (struct index_stand_in){0};
}

/* -- an answer -- */

/* Names of the mount's root that the tree's own are not seen by (fs/views/views.h). */
static bool is_seen(const char *path)
{
    return strncmp(path, ".kinfs/", strlen(".kinfs/")) != 0 &&
           strcmp(path, INDEX_UNIQUE_SKIPPED) != 0;
}

/* The state of a file at a moment, which is that of its row where it is certain afterwards.
 * -EAGAIN: it cannot be told now. */
static int get_state(struct unique_asking *asking, const struct document *document,
                     struct stat *ret_st)
{
    _cleanup_(opened_close) struct opened opened = {
        asking->index, open_document_soon(asking->index, asking->query.looking,
                                          &document->record->key, O_PATH | O_CLOEXEC)};
    const int r = opened.fd < 0 || fstat(opened.fd, ret_st) < 0 ? -EAGAIN : 0;
    asking->stale |= r == -EAGAIN;
    return r;
}

/* A file is read soon if that takes no longer than somebody waits, and no longer than the room that
 * it takes on the disk explains, however long the holes in it are. */
static bool is_soon_read(const struct stat *st)
{
    enum { MOST_BYTES = 1 << 30, FEW_BYTES = 64 << 20, OF_HOLES = 16, BLOCK_BYTES = 512 };
    return st->st_size <= FEW_BYTES ||
           (st->st_size <= MOST_BYTES && st->st_blocks >= st->st_size / (OF_HOLES * BLOCK_BYTES));
}

/* By what it could be made again. -EAGAIN: it cannot be told now; -EFBIG: nor ever. */
static int describe(struct unique_asking *asking, const struct document *document,
                    struct index_stand_in *stand_in)
{
    struct index *index = asking->index;
    int r = get_state(asking, document, &stand_in->left_out);
    if (r == 0 && stand_in->same_content && !is_soon_read(&stand_in->left_out))
        return -EFBIG;
    if (r == 0 && stand_in->same_content)
        r = unique_exact_digest(index, asking->owner, document, &asking->query, stand_in->sha256);
    asking->stale |= r == -EAGAIN;
    return r;
}

/* The document of a sid stands in for another, which has the path, as both are now: 1; 0, or an
 * error. */
static int check_stand_in(struct unique_asking *asking, const struct document *document,
                          const char *shown, uint64_t sid, double resemblance,
                          struct index_stand_in *ret_stand_in)
{
    struct index *index = asking->index;
    _cleanup_(document_done) struct document other = {.records = index->records, .sid = sid};
    _cleanup_free_ char *path = NULL;
    struct stat stays;
    uid_t owner;
    int r = records_borrow(index->records, &sid, 1, &other.record);
    if (r < 0 || !other.record)
        return r;
    r = distinct_has(index->kv, &document->record->key, &other.record->key);
    if (r != 0)
        return r < 0 ? r : 0;
    if (get_state(asking, &other, &stays) < 0)
        return 0;
    r = unique_look_at(asking, &other, &owner, &path);
    if (r <= 0 || !is_seen(path))
        return r < 0 ? r : 0;
    r = unique_is_as_safe(asking, &document->record->key, shown, &other.record->key, path);
    asking->stale |= r == -EAGAIN;
    if (r <= 0)
        return r == -EAGAIN ? 0 : r;
    struct index_stand_in stand_in = {
        .key = other.record->key,
        .resemblance = resemblance,
        .stays = stays,
        .same_content = document->record->size_bytes == other.record->size_bytes &&
                        memcmp(document->record->content_fingerprint,
                               other.record->content_fingerprint, FINGERPRINT_BYTES) == 0};
    r = describe(asking, document, &stand_in);
    if (r < 0 || !unique_is_certain(asking, document))
        return r == -EAGAIN || r == -EFBIG ? 0 : r;
    stand_in.path = TAKE_PTR(path);
    *ret_stand_in = stand_in;
    return 1;
}

/* Whose document it is, and what is known of that one's. */
static int set_owner(struct unique_asking *asking, uid_t owner)
{
    struct index_unique *unique = asking->unique;
    asking->owner = unique->options.stand_in_anyone ? UNIQUE_ANYONE : owner;
    asking->memory = unique_memory_get(&unique->memories, asking->owner, asking->state);
    if (!asking->memory)
        return -ENOMEM;
    asking->number = unique_memory_begin(asking->memory, &asking->memory_bytes);
    asking->memory_bytes += unique->answer_bytes;
    return 0;
}

static int decide(struct unique_asking *asking, const struct document *document,
                  struct index_stand_in *ret_stand_in)
{
    _cleanup_free_ char *path = NULL;
    uint8_t class_id[CLASS_BYTES];
    enum unique_verdict verdict;
    struct unique_text *text = NULL;
    uid_t owner;
    if (document->record->size_bytes == 0) /* nothing is saved */
        return 0;
    int r = unique_look_at(asking, document, &owner, &path);
    if (r <= 0 || unique_keeping(asking, &document->record->key, path))
        return r < 0 ? r : 0;
    record_class(document->record, class_id);
    r = set_owner(asking, owner);
    if (r == 0)
        r = unique_text_get(asking, class_id, &text);
    if (r == 0 && text)
        r = unique_decide(asking, text, &verdict);
    if (r < 0 || !text || verdict == UNIQUE_IN_DOUBT)
        return r;
    if (verdict == UNIQUE_LEFT_OUT)
        return check_stand_in(asking, document, path, text->stand_in, text->resemblance,
                              ret_stand_in);
    return text->sid == document->sid
               ? 0
               : check_stand_in(asking, document, path, text->sid, 1.0, ret_stand_in);
}

/* The document of a file, if it is one. Returns 1, 0 or an error. */
static int get_document(struct unique_asking *asking, const struct file_key *file,
                        struct document *ret_document)
{
    struct file_row row;
    int r = catalogue_get_file(asking->index->kv, file, &row);
    if (r < 0 || row.sid == 0)
        return r == -ENOENT ? 0 : r;
    *ret_document = (struct document){.records = asking->index->records, .sid = row.sid};
    r = records_borrow(asking->index->records, &row.sid, 1, &ret_document->record);
    return r < 0 ? r : ret_document->record != NULL;
}

static int decide_file(struct unique_asking *asking, const struct file_key *file,
                       struct index_stand_in *ret_stand_in)
{
    _cleanup_(document_done) struct document document = {0};
    int r = get_document(asking, file, &document);
    return r <= 0 ? r : decide(asking, &document, ret_stand_in);
}

static uint64_t steady_state(const struct index_unique *unique)
{
    uint64_t state = index_unique_state(unique);
    for (int i = 0; state % 2 && i < CHANGING_TRIES; i++) {
        nanosleep(&(struct timespec){.tv_nsec = CHANGING_MS * 1000000L}, NULL);
        state = index_unique_state(unique);
    }
    return state;
}

static bool is_hurried(const struct index_unique *unique)
{
    return clock_now_ms() < atomic_load(&unique->hurried_until_ms);
}

/* Paths that are kept from document to document, for as long as the index is in one state. */
struct kept_paths {
    struct path_cache *cache; /* or NULL */
    uint64_t state;
};

static void kept_paths_done(struct kept_paths *kept)
{
    path_cache_free(kept->cache);
}

static int keep_paths(struct kept_paths *kept, struct index *index, uint64_t state)
{
    if (kept->cache && kept->state == state)
        return 0;
    path_cache_free(kept->cache);
    *kept = (struct kept_paths){.state = state};
    return path_cache_new(index->kv, backing_root_key(index->backing), &kept->cache);
}

/* In one state of the index. -EAGAIN: it is another by now. */
static int decide_once(struct index_unique *unique, struct kept_paths *kept,
                       const struct file_key *file, const struct index_query *query,
                       size_t *n_searches_left, bool *ret_stale,
                       struct index_stand_in *ret_stand_in)
{
    struct index *index = unique->index;
    const uint64_t state = steady_state(unique);
    *ret_stale = false;
    if (state % 2)
        return -EAGAIN;
    int r = keep_paths(kept, index, state);
    if (r < 0)
        return r;
    struct unique_asking asking = {.unique = unique,
                                   .index = index,
                                   .query = *query,
                                   .paths = kept->cache,
                                   .owner = UNIQUE_ANYONE, /* before it is known */
                                   .state = state,
                                   .n_searches_left = *n_searches_left};
    r = decide_file(&asking, file, ret_stand_in);
    unique_memory_put(asking.memory);
    *n_searches_left = asking.n_searches_left;
    *ret_stale = asking.stale;
    if (r == -EBUSY || (r > 0 && index_unique_state(unique) != state)) {
        index_stand_in_done(ret_stand_in);
        return -EAGAIN;
    }
    return r == -ENOBUFS ? 0 : r;
}

/* Nothing came of an answer. */
static void lose(struct index_unique *unique, int64_t us)
{
    if (atomic_fetch_add(&unique->lost_us, us) + us < LOST_US)
        return;
    atomic_store(&unique->lost_us, 0);
    atomic_store(&unique->hurried_until_ms, clock_now_ms() + HURRIED_MS);
}

/* A document that is shown for something that has changed is asked about once more when that has
 * been looked at. */
static int decide_in_time(struct index_unique *unique, struct kept_paths *kept,
                          const struct file_key *file, const struct index_query *query,
                          struct index_stand_in *ret_stand_in)
{
    size_t n_searches_left = is_hurried(unique) ? HURRIED_SEARCHES : SIZE_MAX;
    bool looked_again = false;
    int r = -EAGAIN;
    for (int i = 0; r == -EAGAIN && i < TRIES; i++) {
        const int64_t begun_us = clock_now_us();
        bool stale;
        r = decide_once(unique, kept, file, query, &n_searches_left, &stale, ret_stand_in);
        if (r == -EAGAIN)
            lose(unique, clock_now_us() - begun_us);
        if (r == 0 && stale && !looked_again && answer_look_again(unique->index, query)) {
            looked_again = true;
            r = -EAGAIN;
        }
    }
    return r == -EAGAIN ? 0 : r;
}

int index_unique_left_out(struct index_unique *unique, const struct file_key *parent,
                          const char *name, const struct file_key *file,
                          const struct index_query *query, struct index_stand_in *ret_stand_in)
{
    _cleanup_(kept_paths_done) struct kept_paths kept = {0};
    struct file_key child;
    enum entry_type type;
    if (query->may_read)
        return -EACCES;
    int r = catalogue_get(unique->index->kv, parent, name, &child, &type);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (type != ENTRY_FILE || !file_key_equal(&child, file))
        return 0;
    return decide_in_time(unique, &kept, file, query, ret_stand_in);
}

enum { FILES_AT_ONCE = 256, LINKS_AT_ONCE = 64 };

int index_unique_leaves_out(struct index_unique *unique, const struct file_key *file,
                            const struct index_query *query, struct index_stand_in *ret_stand_in)
{
    _cleanup_(index_stand_in_done) struct index_stand_in stand_in = {0};
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    _cleanup_(kept_paths_done) struct kept_paths kept = {0};
    if (query->may_read)
        return -EACCES;
    int r = decide_in_time(unique, &kept, file, query, &stand_in);
    if (r <= 0)
        return r;
    r = catalogue_links(unique->index->kv, file, LINKS_AT_ONCE, &links);
    if (r < 0 || links.n_entries != stand_in.left_out.st_nlink)
        return r;
    *ret_stand_in = stand_in;
    stand_in = (struct index_stand_in){0};
    return 1;
}

/* -- all that is left out -- */

/* Every path of a file, in the order of the catalogue. */
static int each_path(struct index_unique *unique, struct kept_paths *kept,
                     const struct file_key *file, index_unique_fn visit, void *user,
                     const struct index_stand_in *stand_in)
{
    struct index *index = unique->index;
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = keep_paths(kept, index, index_unique_state(unique));
    if (r == 0)
        r = catalogue_links(index->kv, file, LINKS_AT_ONCE, &links);
    while (r == 0 && links.n_entries) {
        for (size_t i = 0; r == 0 && i < links.n_entries; i++) {
            _cleanup_free_ char *path = NULL;
            const struct catalogue_entry *link = &links.entries[i];
            r = path_cache_entry(kept->cache, &link->parent, link->name, &path);
            if (r == 0)
                r = visit(user, path, stand_in);
            r = r == -ENOENT || r == -ENAMETOOLONG || r == -EPERM ? 0 : r;
        }
        const struct catalogue_entry *last = &links.entries[links.n_entries - 1];
        struct catalogue_list more = {0};
        if (r == 0 && links.n_entries == LINKS_AT_ONCE)
            r = catalogue_links_beside(index->kv, file, &last->parent, last->name, false,
                                       LINKS_AT_ONCE, &more);
        catalogue_list_done(&links);
        links = more;
    }
    return r;
}

int index_unique_each(struct index_unique *unique, const struct index_query *query,
                      index_unique_fn visit, void *user)
{
    struct index *index = unique->index;
    _cleanup_(kept_paths_done) struct kept_paths kept = {0};
    struct file_key after;
    bool more = true;
    int r = query->may_read ? -EACCES : 0;
    for (bool begun = false; r == 0 && more; begun = true) {
        _cleanup_(file_list_done) struct file_list files = {0};
        r = catalogue_files(index->kv, begun ? &after : NULL, FILES_AT_ONCE, &files);
        for (size_t i = 0; r == 0 && i < files.n_files; i++) {
            _cleanup_(index_stand_in_done) struct index_stand_in stand_in = {0};
            if (answer_is_stopped(query))
                return -EINTR;
            r = decide_in_time(unique, &kept, &files.keys[i], query, &stand_in);
            if (r > 0)
                r = each_path(unique, &kept, &files.keys[i], visit, user, &stand_in);
        }
        more = r == 0 && files.n_files && files.more;
        if (more)
            after = files.keys[files.n_files - 1];
    }
    return r;
}

int index_set_distinct(struct index *index, const struct file_key *a, const struct file_key *b,
                       bool distinct)
{
    struct file_row row;
    int r = file_key_equal(a, b) ? -EINVAL : catalogue_get_file(index->kv, a, &row);
    if (r == 0)
        r = catalogue_get_file(index->kv, b, &row);
    if (r == 0)
        r = distinct_set(index->kv, a, b, distinct);
    atomic_fetch_add(&index->n_declared, 1);
    return r;
}
