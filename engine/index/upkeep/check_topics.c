/* Bags and lists of words: each row decodes, a bag is of a document that there is, and a list that
 * is read goes on ascending from part to part, with no more entries than its df says. Documents
 * that have no bag are read by the next scan. Lists of other epochs are nobody's. */
#include <errno.h>

#include "engine/index/tables/bags.h"
#include "engine/index/tables/word_lists.h"
#include "engine/index/topics/topics_private.h"
#include "engine/index/upkeep/check.h"

struct topics_check {
    struct check *check;
    struct topics_epoch epoch;
    uint64_t word, last_sid, n_entries; /* of the list that is walked by */
    uint32_t next_part, df;
};

static int take_bag(void *user, const struct kv_entry *row)
{
    struct check *check = user;
    _cleanup_(record_done) struct record record = {0};
    _cleanup_(bag_done) struct bag bag = {0};
    uint64_t sid;
    int r = bags_decode_key(row->key, &sid);
    if (r == 0)
        r = bags_decode(row->value, &bag);
    if (r == -EUCLEAN)
        return check_bad_row(check, TABLE_BAGS, row);
    if (r == 0)
        r = check_record(check, sid, &record);
    if (r != 0 || check->unreadable[TABLE_RECORDS] || check_is_underived(check, sid))
        return r < 0 ? r : 0;
    return check_found(check, CHECK_TOPICS, TABLE_BAGS, NULL,
                       "document %llu has a bag of words and does not exist",
                       (unsigned long long)sid);
}

/* 0, or -EUCLEAN. */
static int walk_list(struct topics_check *topics, const struct kv_entry *row, uint64_t word,
                     uint32_t part)
{
    struct word_list list;
    uint32_t df;
    int r = word_list_begin(&list, row->value, part, &df);
    if (part == 0) {
        topics->word = word;
        topics->df = df;
        topics->last_sid = topics->n_entries = topics->next_part = 0;
    }
    if (r < 0 || word != topics->word || part != topics->next_part || df > topics->epoch.n_bags)
        return -EUCLEAN;
    topics->next_part++;
    while ((r = word_list_next(&list)) > 0) {
        if (list.sid <= topics->last_sid || ++topics->n_entries > topics->df)
            return -EUCLEAN;
        topics->last_sid = list.sid;
    }
    return r;
}

static int take_list(void *user, const struct kv_entry *row)
{
    struct topics_check *topics = user;
    uint32_t epoch, part;
    uint64_t word;
    int r = word_lists_decode_key(row->key, &epoch, &word, &part);
    if (r == 0 && epoch == topics->epoch.epoch)
        r = walk_list(topics, row, word, part);
    return r < 0 ? check_bad_row(topics->check, TABLE_WORD_LISTS, row) : 0;
}

int check_topics(struct check *check)
{
    const struct kv_slice from = {0};
    struct topics_check topics = {.check = check};
    uint64_t kind;
    int r = optional_tables_read(check->kv, &topics_tables, &kind);
    if (r == 0)
        r = topics_read_epoch(check->kv, &topics.epoch);
    if (r < 0)
        return check_read_failed(check, TABLE_META, r);
    if (kind == TOPICS_OFF)
        return check_none_kept(check, CHECK_TOPICS, &topics_tables);
    r = check_each_row(check, TABLE_BAGS, from, take_bag, check);
    return r < 0 ? r : check_each_row(check, TABLE_WORD_LISTS, from, take_list, &topics);
}
