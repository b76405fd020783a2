/* The bag of the document, of its words of now and of what others said of it last, is weighed as
 * those of all were (topics/lists_making.c), and the lists of
 * its words are added up. As the weights of each bag sum to 100, the sum m of the lesser weights of
 * two says how much they resemble each other: the larger ones sum to 200 - m. So what is found is
 * what comparing all bags finds, to the last digit.
 *
 * Example: a document {a 60, b 40}, the lists a: 3:40 7:100 and b: 3:60. Of 3 the lesser ones are
 * 40 and 40, m is 80, and it resembles it by 80/120; of 7 m is 60, 60/140.
 *
 * Of documents of one text the oldest stands for all, and one of the same text as the document that
 * is asked about is not among them: those are copies, which other questions find.
 *
 * Cost: related.h has it. Left out: passing over the longest lists; words that very many documents
 * have are in none.
 */
#include "engine/index/answers/related.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/room.h"
#include "engine/index/tables/word_lists.h"
#include "engine/index/topics/bags_walk.h"

enum {
    TRIES_MAX = 3,         /* as lists of another epoch take the place of those that are read */
    LOOKED_MOST = 1 << 14, /* documents of different texts, for their paths; */
    RECORDS_MOST = 1 << 18 /* and all */
};

struct found {
    uint64_t sid;
    uint32_t common; /* the sum of the lesser weights */
};

struct relating {
    struct index *index;
    const struct document *document;
    const struct index_query *query;
    struct path_cache *paths;
    struct topics_epoch epoch;
    struct bag bag; /* weighed */
    struct sid_tally common;
    struct found *found; /* the nearest first */
    size_t n_found, found_room, n_looked, n_records;
    struct sid_tally texts; /* classes that are shown, and the document's */
};

static void relating_done(struct relating *relating)
{
    path_cache_free(relating->paths);
    bag_done(&relating->bag);
    sid_tally_done(&relating->common);
    sid_tally_done(&relating->texts);
    free(relating->found);
}

/* -- lists -- */

/* The first parts of the lists of all words. Returns how many there are, or an error. */
static int get_lists(const struct relating *relating,
                     struct kv_buf ret_values[BAGS_WALK_MOST_WORDS])
{
    uint8_t bytes[BAGS_WALK_MOST_WORDS][WORD_LISTS_KEY_BYTES];
    struct kv_slice keys[BAGS_WALK_MOST_WORDS];
    const struct bag *bag = &relating->bag;
    for (uint32_t i = 0; i < bag->n_words; i++)
        keys[i] = word_lists_key(bytes[i], relating->epoch.epoch, bag->words[i].word, 0);
    return bag->n_words
               ? kv_multi_get(relating->index->kv, TABLE_WORD_LISTS, keys, bag->n_words, ret_values)
               : 0;
}

/* Words without a list weigh nothing. values: those of words that weigh something stay. */
static int weigh(struct relating *relating, struct kv_buf *values)
{
    const struct bag_weighing weighing = bags_weighing(relating->epoch.n_bags);
    struct bag *bag = &relating->bag;
    uint32_t n = 0;
    for (uint32_t i = 0; i < bag->n_words; i++) {
        const struct bag_word word = bag->words[i];
        struct word_list list;
        uint32_t df;
        if (!values[i].data)
            continue;
        if (word_list_begin(&list, kv_buf_slice(&values[i]), 0, &df) < 0 ||
            df > relating->epoch.n_bags)
            return -EUCLEAN;
        const double weight = bag_weight(&weighing, word.weight, df, relating->epoch.n_bags);
        if (!(weight > 0))
            return -EUCLEAN; /* it has no list */
        bag->words[n] = (struct bag_word){word.word, weight};
        const struct kv_buf value = values[i];
        values[i] = (struct kv_buf){0};
        values[n++] = value;
    }
    bag->n_words = n;
    return 0;
}

/* last_sid: of the part before; then of this one. */
static int add_part(struct relating *relating, uint32_t weight, struct kv_slice value,
                    uint32_t part, uint64_t *last_sid)
{
    struct word_list list;
    uint32_t df;
    int r = word_list_begin(&list, value, part, &df);
    while (r >= 0 && (r = word_list_next(&list)) > 0) {
        if (list.sid <= *last_sid)
            return -EUCLEAN;
        *last_sid = list.sid;
        uint32_t *common = sid_tally_of(&relating->common, list.sid);
        if (!common)
            return -ENOMEM;
        *common += weight < list.weight ? weight : list.weight;
    }
    return r;
}

static int add_list(struct relating *relating, const struct bag_word *word,
                    const struct kv_buf *first)
{
    const uint32_t weight = (uint32_t)word->weight;
    size_t n_bytes = first->size_bytes;
    uint64_t last_sid = 0;
    int r = add_part(relating, weight, kv_buf_slice(first), 0, &last_sid);
    for (uint32_t part = 1; r == 0 && n_bytes >= WORD_LISTS_PART_BYTES; part++) {
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        uint8_t key[WORD_LISTS_KEY_BYTES];
        if (answer_is_stopped(relating->query))
            return -EINTR;
        r = kv_get(relating->index->kv, TABLE_WORD_LISTS,
                   word_lists_key(key, relating->epoch.epoch, word->word, part), &value);
        if (r == -ENOENT)
            return 0;
        n_bytes = value.size_bytes;
        if (r == 0)
            r = add_part(relating, weight, kv_buf_slice(&value), part, &last_sid);
    }
    return r;
}

/* Words of little weight are left out where the bag is made to sum to 100. */
static int add_lists(struct relating *relating, const struct kv_buf *values)
{
    struct bag *bag = &relating->bag;
    uint64_t words[BAGS_WALK_MOST_WORDS];
    const uint32_t n = bag->n_words;
    for (uint32_t i = 0; i < n; i++)
        words[i] = bag->words[i].word;
    int r = n ? bag_normalise(bag, BAG_WHOLE) : 0;
    for (uint32_t i = 0, at = 0; r == 0 && at < bag->n_words; i++) {
        if (words[i] != bag->words[at].word)
            continue;
        r = answer_is_stopped(relating->query) ? -EINTR
                                               : add_list(relating, &bag->words[at], &values[i]);
        at++;
    }
    return r;
}

static int add_up(struct relating *relating)
{
    struct kv_buf values[BAGS_WALK_MOST_WORDS] = {0};
    const uint32_t n = relating->bag.n_words;
    int r = get_lists(relating, values);
    if (r >= 0)
        r = weigh(relating, values);
    if (r == 0)
        r = add_lists(relating, values);
    for (uint32_t i = 0; i < n; i++)
        kv_buf_done(&values[i]);
    return r;
}

static int take_bag(struct relating *relating)
{
    const struct document *document = relating->document;
    bag_done(&relating->bag);
    return document->bag ? bags_decode(kv_buf_slice(document->bag), &relating->bag)
                         : topics_get(relating->index->topics, relating->epoch.epoch, document->sid,
                                      &relating->bag);
}

/* Lists that are replaced while they are read are read anew. */
static int find_common(struct relating *relating)
{
    struct topics *topics = relating->index->topics;
    int r = 0;
    for (unsigned n = 0; n < TRIES_MAX; n++) {
        relating->epoch = topics_epoch(topics);
        sid_tally_done(&relating->common);
        r = take_bag(relating);
        if (r < 0 || !relating->epoch.epoch)
            return r;
        r = add_up(relating);
        if (topics_epoch(topics).epoch == relating->epoch.epoch)
            break;
    }
    return r;
}

/* -- documents -- */

static double resemblance_of(uint32_t common)
{
    return common / (double)(2 * BAG_SUM - common);
}

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->common != y->common)
        return x->common < y->common ? 1 : -1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

static int sort_found(struct relating *relating)
{
    const struct sid_tally *common = &relating->common;
    for (size_t i = 0; i < common->n_slots; i++) {
        const struct found found = {common->slots[i].sid, common->slots[i].n};
        if (!found.sid || found.sid == relating->document->sid ||
            resemblance_of(found.common) < relating->query->threshold)
            continue;
        if (!MAKE_ROOM(relating->found, relating->found_room, relating->n_found + 1))
            return -ENOMEM;
        relating->found[relating->n_found++] = found;
    }
    if (relating->n_found)
        qsort(relating->found, relating->n_found, sizeof(*relating->found), compare_found);
    return 0;
}

/* Returns 1 where no document of the same text was there before, 0, or -ENOMEM. */
static int is_new_text(struct relating *relating, const struct record *record)
{
    uint8_t class[CLASS_BYTES];
    record_class(record, class);
    uint32_t *n = sid_tally_of(&relating->texts, record_class_number(class));
    return !n ? -ENOMEM : ++*n == 1;
}

/* Somebody may have made very many copies, and one is shown. */
static bool is_shown(const struct relating *relating, const struct record *record)
{
    uint8_t class[CLASS_BYTES];
    record_class(record, class);
    return sid_tally_find(&relating->texts, record_class_number(class)) != NULL;
}

static bool has_looked_enough(const struct relating *relating)
{
    return relating->n_looked == LOOKED_MOST || relating->n_records == RECORDS_MOST;
}

static int show(struct relating *relating, const struct found *found, const struct record *record,
                struct kin_list *list)
{
    const struct document document = {relating->index->records, found->sid, record, NULL, NULL};
    const struct estimate estimate = {.value = resemblance_of(found->common), .exact = true};
    const struct index_query *query = relating->query;
    _cleanup_free_ char *path = NULL;
    int r = answer_shown_path(relating->index, relating->paths, &document, query, &path);
    if (r == 0)
        r = is_new_text(relating, record);
    if (r <= 0)
        return r == -ENOENT ? 0 : r;
    struct kin kin = kin_of(found->sid, record, &estimate);
    kin.path = TAKE_PTR(path);
    r = kin_list_add(list, &kin);
    kin_done(&kin);
    list->n_found += r == 0;
    return r < 0 ? r : query->bytes_max && list->n_bytes > query->bytes_max ? -EDQUOT : 0;
}

static int look_at(struct relating *relating, const struct found *found, struct kin_list *list)
{
    struct records *records = relating->index->records;
    const struct record *record;
    if (answer_is_stopped(relating->query))
        return -EINTR;
    int r = records_borrow(records, &found->sid, 1, &record);
    if (r < 0 || !record)
        return r;
    relating->n_records++;
    if (!is_shown(relating, record)) {
        relating->n_looked++;
        r = show(relating, found, record, list);
    }
    records_return(records, &record, 1);
    return r;
}

/* Those of one rank all, so that which of them are cut off is decided by their paths. */
static int show_nearest(struct relating *relating, size_t enough, struct kin_list *list)
{
    const struct index_query *query = relating->query;
    uint32_t rank = 0;
    int r = relating->document->record ? is_new_text(relating, relating->document->record) : 0;
    for (size_t i = 0; r >= 0 && i < relating->n_found; i++) {
        const struct found *found = &relating->found[i];
        const bool full = query->limit && !query->counts && list->n_kin >= query->limit;
        if ((enough && list->n_kin >= enough) || (full && found->common != rank) ||
            has_looked_enough(relating))
            break;
        rank = found->common;
        r = look_at(relating, found, list);
    }
    if (r >= 0 && list->n_kin)
        qsort(list->kin, list->n_kin, sizeof(*list->kin), kin_compare);
    kin_list_cut(list, query->limit);
    return r < 0 ? r : 0;
}

static void say_incomplete(const struct relating *relating, struct kin_list *list)
{
    const char *why = "";
    if (!relating->epoch.epoch)
        why = "not complete: words are not counted yet; kinfs settle waits for that";
    else if (!topics_is_current(relating->index->topics))
        why = "not complete: documents that came or changed since words were counted last are not "
              "looked among";
    else if (has_looked_enough(relating))
        why = "not complete: very many documents are as near, and the oldest were looked at";
    snprintf(list->incomplete, sizeof(list->incomplete), "%s", why);
}

bool index_has_topics(const struct index *index)
{
    return index->topics != NULL;
}

enum index_topics index_topics_kept(const struct index *index)
{
    return index->topics ? INDEX_TOPICS_CONTENT + (topics_kind(index->topics) - TOPICS_CONTENT)
                         : INDEX_TOPICS_OFF;
}

int related(struct index *index, const struct document *document, const struct index_query *query,
            size_t enough, struct kin_list *ret_list)
{
    _cleanup_(relating_done) struct relating relating = {
        .index = index, .document = document, .query = query};
    _cleanup_(kin_list_done) struct kin_list list = {0};
    if (query->may_read)
        return -EACCES;
    if (!index->topics)
        return -EOPNOTSUPP;
    int r = path_cache_new(index->kv, backing_root_key(index->backing), &relating.paths);
    if (r == 0)
        r = find_common(&relating);
    if (r == 0)
        r = sort_found(&relating);
    if (r == 0)
        r = show_nearest(&relating, enough, &list);
    if (r < 0)
        return r;
    say_incomplete(&relating, &list);
    *ret_list = list;
    list = (struct kin_list){0};
    return 0;
}

int index_related_to_name(struct index *index, const char *name, const struct index_query *query,
                          struct kin_list *ret_list)
{
    _cleanup_(kv_buf_done) struct kv_buf row = {0};
    _cleanup_(bag_done) struct bag bag = {0};
    const struct document document = {.bag = &row};
    if (query->may_read)
        return -EACCES;
    if (!index->topics || !(topics_kind(index->topics) & TOPICS_ANCHOR))
        return -EOPNOTSUPP;
    int r = topics_said_of(index->topics, name, query->stop, query->stop_user, &row);
    if (r == 0)
        r = bags_decode(kv_buf_slice(&row), &bag);
    if (r == 0 && bag.n_words == 0)
        r = -ENODATA;
    return r < 0 ? r : related(index, &document, query, 0, ret_list);
}
