/* Which documents are left out, and for which (index.h says what is promised).
 *
 * A text (a class of documents, tables/record.h) is asked about by any document of it. Example: of
 * texts A, B, C, of which A comes first and C last, A and B resemble each other by 0.97, B and C by
 * 0.96, A and C by 0.93; `near` is 0.95. C asks who of its neighbours comes before it: B, which
 * asks for its own: A, which has none and stays. So B is left out for A, and does not stand in for
 * C; A does not resemble C enough, and C stays. The way up is as deep as a chain of neighbours that
 * come before each other; beyond DEPTH_MAX what is asked about stays in doubt, that is, is shown,
 * and nothing is said of it that would be remembered.
 *
 * Two answers may be asked for in two states of the index. So that no two documents are left out
 * for each other, each is of one: where the index has changed since it was begun, it is made anew,
 * and after TRIES the document is shown.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <sys/xattr.h>
#include <time.h>

#include "base/proc_path.h"
#include "engine/index/answers/answer.h"
#include "engine/index/answers/matches.h"
#include "engine/index/answers/unique_exact.h"
#include "engine/index/answers/unique_memory.h"
#include "engine/index/postings/candidates.h"
#include "engine/index/tables/distinct.h"

enum {
    TRIES = 4,
    DEPTH_MAX = 32,
    UNIQUE_ATTEMPTS = 16, /* texts that one is compared with in full */
    /* The oldest documents of one text, among which the first is looked for. */
    LOOKED_MAX = 256,
    NEIGHBOURS_MAX = 256, /* of a text, the likeliest: what one decision costs has a bound */
    CHANGING_MS = 1,      /* a step of the committer takes some milliseconds */
    CHANGING_TRIES = 20,
};

struct index_unique {
    struct index *index;
    struct index_unique_options options;
    char **prefer;
    double estimated; /* least estimate of what may reach `near` */
    struct unique_memories memories;
    atomic_uint_fast64_t n_rows;
};

/* An answer in the making. */
struct asking {
    struct index_unique *unique;
    struct index *index;
    struct index_query query; /* with the threshold of estimates */
    struct path_cache *paths;
    struct unique_memory *memory;
    bool stale; /* something was passed over that is looked at again */
};

/* -- making and ending -- */

void index_unique_free(struct index_unique *unique)
{
    if (!unique)
        return;
    for (size_t i = 0; unique->prefer && i < unique->options.n_prefer; i++)
        free(unique->prefer[i]);
    free(unique->prefer);
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
    unique_memories_init(&unique->memories);
    unique->prefer = calloc(options->n_prefer + 1, sizeof(*unique->prefer));
    bool has_all = unique->prefer;
    for (size_t i = 0; has_all && i < options->n_prefer; i++)
        has_all = (unique->prefer[i] = strdup(options->prefer[i]));
    if (!has_all) {
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

/* -- the order of documents -- */

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

static bool is_kept(struct index *index, const struct file_key *file)
{
    _cleanup_close_ int fd = worker_open(index, file, O_PATH | O_CLOEXEC);
    return fd >= 0 && getxattr(proc_path_of(fd).text, INDEX_KEEP_ATTRIBUTE, NULL, 0) >= 0;
}

/* Takes the path. */
static struct unique_rank make_rank(const struct asking *asking, const struct record *record,
                                    char *path)
{
    const struct index_unique_options *options = &asking->unique->options;
    struct unique_rank rank = {.kept = is_kept(asking->index, &record->key), .path = path};
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
    case INDEX_STAYS_MOST_CENTRAL: break; /* count_neighbours() */
    }
    return rank;
}

static int compare_ranks(const struct unique_rank *a, const struct unique_rank *b)
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

/* -- the documents of a text -- */

/* A file that is open for writing is not looked at again before that ends. */
static bool is_certain(struct asking *asking, const struct document *document)
{
    const struct file_key *file = &document->record->key;
    if (answer_is_certain(asking->index, file, document->sid))
        return true;
    asking->stale |= !writing_set_has(asking->index->writing, file);
    return false;
}

/* A document that may stand in for others, with its path. Returns 1, 0 or an error. */
static int look_at(struct asking *asking, const struct document *document, char **ret_path)
{
    if (answer_is_stopped(&asking->query))
        return -EINTR;
    _cleanup_free_ char *path = NULL;
    int r = answer_shown_path(asking->index, asking->paths, document, &asking->query, &path);
    asking->stale |= r == -ESTALE;
    if (r < 0)
        return r == -ENOENT || r == -ESTALE ? 0 : r;
    if (!is_certain(asking, document))
        return 0;
    *ret_path = TAKE_PTR(path);
    return 1;
}

/* Puts a document in the place of the first, where it comes before that. */
static int weigh(struct asking *asking, const struct document *document, struct unique_text *text)
{
    char *path;
    int r = look_at(asking, document, &path);
    if (r <= 0)
        return r;
    struct unique_rank rank = make_rank(asking, document->record, path);
    if (!text->sid || compare_ranks(&rank, &text->rank) < 0) {
        free(text->rank.path);
        text->rank = rank;
        text->sid = document->sid;
    } else {
        free(rank.path);
    }
    return 0;
}

static int weigh_all(struct asking *asking, struct unique_text *text)
{
    _cleanup_(sid_list_done) struct sid_list sids = {0};
    struct index *index = asking->index;
    int r = living_clusters_class(index->clusters, text->class_id, 0, LOOKED_MAX, &sids);
    for (size_t at = 0; r == 0 && at < sids.n_sids; at += LOAD_AT_ONCE) {
        const struct record *records[LOAD_AT_ONCE];
        const size_t left = sids.n_sids - at, n = left < LOAD_AT_ONCE ? left : LOAD_AT_ONCE;
        r = records_borrow(index->records, sids.sids + at, n, records);
        if (r < 0)
            break;
        for (size_t i = 0; r == 0 && i < n; i++) {
            const struct document document = {index->records, sids.sids[at + i], records[i]};
            if (records[i])
                r = weigh(asking, &document, text);
        }
        records_return(index->records, records, n);
    }
    return r;
}

/* A text, with the document of it that comes first. */
static int find_text(struct asking *asking, const uint8_t class_id[CLASS_BYTES],
                     struct unique_text **ret_text)
{
    struct unique_text *text = unique_memory_find(asking->memory, class_id);
    if (!text) {
        text = calloc(1, sizeof(*text));
        if (!text)
            return -ENOMEM;
        memcpy(text->class_id, class_id, CLASS_BYTES);
        text->number = record_class_number(class_id);
        int r = weigh_all(asking, text);
        if (r < 0) {
            unique_text_free(text);
            return r;
        }
        text = unique_memory_add(asking->memory, text);
    }
    *ret_text = text;
    return 0;
}

/* -- neighbours of a text -- */

/* Texts are equal in their first bytes (tables/record.h); what has none is not compared in full. */
static bool is_text(const struct unique_text *text)
{
    return text->class_id[0] == 'T';
}

struct neighbours {
    struct unique_text **texts;
    size_t n;
};

static void neighbours_done(struct neighbours *neighbours)
{
    free(neighbours->texts);
}

static int add_neighbour(struct neighbours *neighbours, struct unique_text *text)
{
    const size_t n = neighbours->n;
    if ((n & (n - 1)) == 0) {
        struct unique_text **larger =
            reallocarray(neighbours->texts, n ? n * 2 : 1, sizeof(struct unique_text *));
        if (!larger)
            return -ENOMEM;
        neighbours->texts = larger;
    }
    neighbours->texts[neighbours->n++] = text;
    return 0;
}

/* The other texts that resemble one by the estimate, as far as the asker may see any document of
 * them. For who may not see all every candidate is compared, as in query.c. */
static int find_neighbours(struct asking *asking, const struct unique_text *text, double threshold,
                           struct neighbours *neighbours)
{
    struct index *index = asking->index;
    _cleanup_(document_done) struct document document = {.records = index->records,
                                                         .sid = text->sid};
    _cleanup_(sid_list_done) struct sid_list candidates = {0};
    _cleanup_(matches_done) struct matches matches = {0};
    asking->query.threshold = threshold;
    int r = records_borrow(index->records, &text->sid, 1, &document.record);
    if (r == 0 && !document.record) {
        asking->stale = true;
        return -EAGAIN;
    }
    if (r == 0)
        r = candidates_for(index->postings, POSTINGS_TIER_R, &document.record->sketch, threshold,
                           asking->query.may_read ? 0 : NEIGHBOURS_MAX, &candidates);
    do {
        if (r == 0)
            r = matches_find(index->records, POSTINGS_TIER_R, document.record, &asking->query,
                             &candidates, &matches);
        for (size_t i = 0; r == 0 && i < matches.n_matches && neighbours->n < NEIGHBOURS_MAX; i++) {
            struct unique_text *other;
            if (memcmp(matches.matches[i].class, text->class_id, CLASS_BYTES) == 0)
                continue;
            r = find_text(asking, matches.matches[i].class, &other);
            if (r == 0 && other->sid && is_text(other))
                r = add_neighbour(neighbours, other);
        }
    } while (r == 0 && matches.more && neighbours->n < NEIGHBOURS_MAX);
    return r;
}

/* How many there are is what comes first of the most central one. */
static int count_neighbours(struct asking *asking, struct unique_text *text)
{
    _cleanup_(neighbours_done) struct neighbours neighbours = {0};
    if (asking->unique->options.representative != INDEX_STAYS_MOST_CENTRAL ||
        unique_memory_is_counted(asking->memory, text))
        return 0;
    int r = find_neighbours(asking, text, asking->unique->options.near, &neighbours);
    if (r == 0)
        unique_memory_count(asking->memory, text, -(int64_t)neighbours.n);
    return r;
}

static int compare_texts(const void *a, const void *b)
{
    const struct unique_text *const *x = a, *const *y = b;
    return compare_ranks(&(*x)->rank, &(*y)->rank);
}

/* Those that come before the text, the first one first. */
static int find_better(struct asking *asking, struct unique_text *text, struct neighbours *better)
{
    size_t n = 0;
    int r = find_neighbours(asking, text, asking->unique->estimated, better);
    if (r == 0)
        r = count_neighbours(asking, text);
    for (size_t i = 0; r == 0 && i < better->n; i++) {
        r = count_neighbours(asking, better->texts[i]);
        if (r == 0 && compare_ranks(&better->texts[i]->rank, &text->rank) < 0)
            better->texts[n++] = better->texts[i];
    }
    better->n = n;
    if (r == 0 && n)
        qsort(better->texts, n, sizeof(struct unique_text *), compare_texts);
    return r;
}

/* -- verdicts -- */

/* Whether one text may stand in for another. Returns 1, 0, -EAGAIN: it cannot be told now; or an
 * error. */
static int stands_in(struct asking *asking, const struct unique_text *text,
                     const struct unique_text *other, double *ret_resemblance)
{
    struct index *index = asking->index;
    const uint64_t sids[2] = {text->sid, other->sid};
    const struct record *records[2];
    int r = records_borrow(index->records, sids, 2, records);
    if (r < 0)
        return r;
    if (!records[0] || !records[1]) {
        r = -EAGAIN;
    } else {
        r = distinct_has(index->kv, &records[0]->key, &records[1]->key);
        const struct document a = {index->records, sids[0], records[0]},
                              b = {index->records, sids[1], records[1]};
        if (r == 0)
            r = unique_exact_compare(index, &asking->unique->n_rows, &a, &b, ret_resemblance);
        r = r == 0 ? *ret_resemblance >= asking->unique->options.near : r > 0 ? 0 : r;
    }
    records_return(index->records, records, 2);
    asking->stale |= r == -EAGAIN;
    return r;
}

static int judge(struct asking *asking, struct unique_text *text, unsigned depth,
                 enum unique_verdict *ret_verdict);

/* UNIQUE_IN_DOUBT is of now, and not remembered. What is said otherwise depends on the state of the
 * index alone, not on what was asked before, nor on what is remembered: in a tree at rest a walk is
 * of one mind, however long it takes. So what is in doubt counts as compared, too: without that, a
 * text could be found here that would not be once there is no doubt any more. */
static int judge_by(struct asking *asking, const struct neighbours *better,
                    struct unique_text *text, unsigned depth, enum unique_verdict *ret_verdict)
{
    unsigned n_compared = 0;
    bool doubt = false;
    int r = 0;
    for (size_t i = 0; r == 0 && i < better->n && n_compared < UNIQUE_ATTEMPTS; i++) {
        struct unique_text *other = better->texts[i];
        enum unique_verdict verdict;
        double resemblance = 0;
        r = judge(asking, other, depth + 1, &verdict);
        if (r < 0 || verdict == UNIQUE_LEFT_OUT)
            continue;
        n_compared++;
        doubt |= verdict == UNIQUE_IN_DOUBT;
        if (verdict == UNIQUE_IN_DOUBT)
            continue;
        r = stands_in(asking, text, other, &resemblance);
        if (r > 0) {
            *ret_verdict = unique_memory_decide(asking->memory, text, UNIQUE_LEFT_OUT, other->sid,
                                                resemblance);
            return 0;
        }
        doubt |= r == -EAGAIN;
        r = r == -EAGAIN ? 0 : r;
    }
    if (r == 0)
        *ret_verdict = doubt ? UNIQUE_IN_DOUBT
                             : unique_memory_decide(asking->memory, text, UNIQUE_STAYS, 0, 0);
    return r;
}

static int judge(struct asking *asking, struct unique_text *text, unsigned depth,
                 enum unique_verdict *ret_verdict)
{
    _cleanup_(neighbours_done) struct neighbours better = {0};
    *ret_verdict = unique_memory_verdict(asking->memory, text);
    if (*ret_verdict != UNIQUE_UNKNOWN)
        return 0;
    *ret_verdict = UNIQUE_IN_DOUBT;
    if (answer_is_stopped(&asking->query))
        return -EINTR;
    if (depth > DEPTH_MAX || !text->sid)
        return 0;
    if (text->rank.kept || !is_text(text)) {
        *ret_verdict = unique_memory_decide(asking->memory, text, UNIQUE_STAYS, 0, 0);
        return 0;
    }
    int r = find_better(asking, text, &better);
    if (r == -EAGAIN)
        return 0;
    return r < 0 ? r : judge_by(asking, &better, text, depth, ret_verdict);
}

/* -- an answer -- */

/* Names of the mount's root that the tree's own are not seen by (fs/views/views.h). */
static bool is_seen(const char *path)
{
    return strncmp(path, ".kinfs/", strlen(".kinfs/")) != 0 &&
           strcmp(path, INDEX_UNIQUE_SKIPPED) != 0;
}

/* Whether the document of a sid stands in for another, as both are now. Returns 1, 0 or an error.
 */
static int check_stand_in(struct asking *asking, const struct document *document, uint64_t sid,
                          double resemblance, struct index_stand_in *ret_stand_in)
{
    struct index *index = asking->index;
    _cleanup_(document_done) struct document other = {.records = index->records, .sid = sid};
    _cleanup_free_ char *path = NULL;
    int r = records_borrow(index->records, &sid, 1, &other.record);
    if (r < 0 || !other.record)
        return r;
    r = distinct_has(index->kv, &document->record->key, &other.record->key);
    if (r != 0)
        return r < 0 ? r : 0;
    r = look_at(asking, &other, &path);
    if (r <= 0 || !is_seen(path))
        return r < 0 ? r : 0;
    if (!is_certain(asking, document))
        return 0;
    *ret_stand_in = (struct index_stand_in){
        .path = TAKE_PTR(path),
        .key = other.record->key,
        .resemblance = resemblance,
        .same_content = document->record->size_bytes == other.record->size_bytes &&
                        memcmp(document->record->content_fingerprint,
                               other.record->content_fingerprint, FINGERPRINT_BYTES) == 0,
        .size_bytes = document->record->size_bytes};
    return 1;
}

static int decide(struct asking *asking, const struct document *document,
                  struct index_stand_in *ret_stand_in)
{
    _cleanup_free_ char *path = NULL;
    uint8_t class_id[CLASS_BYTES];
    enum unique_verdict verdict;
    struct unique_text *text;
    if (document->record->size_bytes == 0) /* nothing is saved */
        return 0;
    int r = look_at(asking, document, &path);
    if (r <= 0 || is_kept(asking->index, &document->record->key))
        return r < 0 ? r : 0;
    record_class(document->record, class_id);
    r = find_text(asking, class_id, &text);
    if (r == 0 && text->sid)
        r = judge(asking, text, 0, &verdict);
    if (r < 0 || !text->sid || verdict == UNIQUE_IN_DOUBT)
        return r;
    if (verdict == UNIQUE_LEFT_OUT)
        return check_stand_in(asking, document, text->stand_in, text->resemblance, ret_stand_in);
    return text->sid == document->sid
               ? 0
               : check_stand_in(asking, document, text->sid, 1.0, ret_stand_in);
}

/* The document of a file, if it is one. Returns 1, 0 or an error. */
static int get_document(struct asking *asking, const struct file_key *file,
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

static int decide_file(struct asking *asking, const struct file_key *file,
                       struct index_stand_in *ret_stand_in)
{
    _cleanup_(document_done) struct document document = {0};
    int r = get_document(asking, file, &document);
    return r <= 0 ? r : decide(asking, &document, ret_stand_in);
}

uint64_t index_unique_state(const struct index_unique *unique)
{
    struct index *index = unique->index;
    return index_generation(index) + (atomic_load(&index->n_declared) << 40);
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

/* In one state of the index. -EAGAIN: it is another by now. */
static int decide_once(struct index_unique *unique, const struct file_key *file, uint64_t asker,
                       const struct index_query *query, bool *ret_stale,
                       struct index_stand_in *ret_stand_in)
{
    struct index *index = unique->index;
    const uint64_t state = steady_state(unique);
    _cleanup_(unique_memory_put_p) struct unique_memory *memory =
        unique_memory_get(&unique->memories, asker, state);
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    struct asking asking = {.unique = unique, .index = index, .query = *query, .memory = memory};
    int r = memory ? path_cache_new(index->kv, backing_root_key(index->backing), &paths) : -ENOMEM;
    asking.paths = paths;
    if (r == 0)
        r = decide_file(&asking, file, ret_stand_in);
    *ret_stale = asking.stale;
    if (r > 0 && (state % 2 || index_unique_state(unique) != state)) {
        index_stand_in_done(ret_stand_in);
        return -EAGAIN;
    }
    return r;
}

/* Where a document is shown for something that has changed it is asked once more when that has been
 * looked at. */
static int decide_in_time(struct index_unique *unique, const struct file_key *file, uint64_t asker,
                          const struct index_query *query, struct index_stand_in *ret_stand_in)
{
    bool looked_again = false;
    int r = -EAGAIN;
    for (int i = 0; r == -EAGAIN && i < TRIES; i++) {
        bool stale;
        r = decide_once(unique, file, asker, query, &stale, ret_stand_in);
        if (r == 0 && stale && !looked_again && answer_look_again(unique->index, query)) {
            looked_again = true;
            r = -EAGAIN;
        }
    }
    return r == -EAGAIN ? 0 : r;
}

int index_unique_left_out(struct index_unique *unique, const struct file_key *parent,
                          const char *name, const struct file_key *file, uint64_t asker,
                          const struct index_query *query, struct index_stand_in *ret_stand_in)
{
    struct file_key child;
    enum entry_type type;
    int r = catalogue_get(unique->index->kv, parent, name, &child, &type);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (type != ENTRY_FILE || !file_key_equal(&child, file))
        return 0;
    return decide_in_time(unique, file, asker, query, ret_stand_in);
}

/* -- all that is left out -- */

enum { FILES_AT_ONCE = 256, LINKS_AT_ONCE = 64 };

/* Every path of a file, in the order of the catalogue. */
static int each_path(struct index *index, const struct file_key *file,
                     const struct index_query *query, index_unique_fn visit, void *user,
                     const struct index_stand_in *stand_in)
{
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);
    if (r == 0)
        r = catalogue_links(index->kv, file, LINKS_AT_ONCE, &links);
    while (r == 0 && links.n_entries) {
        for (size_t i = 0; r == 0 && i < links.n_entries; i++) {
            _cleanup_free_ char *path = NULL;
            const struct catalogue_entry *link = &links.entries[i];
            r = path_cache_entry(paths, &link->parent, link->name, &path);
            if (r == 0 &&
                (!query->may_read || query->may_read(query->user, path, file) == INDEX_ALLOWED))
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

int index_unique_each(struct index_unique *unique, uint64_t asker, const struct index_query *query,
                      index_unique_fn visit, void *user)
{
    struct index *index = unique->index;
    struct file_key after;
    bool more = true;
    int r = 0;
    for (bool begun = false; r == 0 && more; begun = true) {
        _cleanup_(file_list_done) struct file_list files = {0};
        r = catalogue_files(index->kv, begun ? &after : NULL, FILES_AT_ONCE, &files);
        for (size_t i = 0; r == 0 && i < files.n_files; i++) {
            _cleanup_(index_stand_in_done) struct index_stand_in stand_in = {0};
            if (answer_is_stopped(query))
                return -EINTR;
            r = decide_in_time(unique, &files.keys[i], asker, query, &stand_in);
            if (r > 0)
                r = each_path(index, &files.keys[i], query, visit, user, &stand_in);
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
