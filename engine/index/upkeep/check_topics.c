/* Bags, fragments and lists of words: each row decodes, a bag, or what a document says, is of a
 * document that there is, and a list that is read goes on ascending from part to part, with no more
 * entries than its df says. Documents that have no bag are read by the next scan. What others say
 * of a document that is gone stays until the next epoch; lists, and what others say, of other
 * epochs are nobody's. */
#include <errno.h>

#include "engine/index/tables/fragments.h"
#include "engine/index/tables/word_lists.h"
#include "engine/index/topics/topics_private.h"
#include "engine/index/upkeep/check.h"

struct topics_check {
    struct check *check;
    struct topics_epoch epoch;
    uint64_t word, last_sid, n_entries; /* of the list that is walked by */
    uint32_t next_part, df;
};

/* r: what decoding the row returned. */
static int take_own(struct check *check, unsigned table, const struct kv_entry *row, uint64_t sid,
                    int r)
{
    _cleanup_(record_done) struct record record = {0};
    if (r == -EUCLEAN)
        return check_bad_row(check, table, row);
    if (r == 0)
        r = check_record(check, sid, &record);
    if (r != 0 || check->unreadable[TABLE_RECORDS] || check_is_underived(check, sid))
        return r < 0 ? r : 0;
    return check_found(check, CHECK_TOPICS, table, NULL,
                       "document %llu has words and does not exist", (unsigned long long)sid);
}

static int take_bag(void *user, const struct kv_entry *row)
{
    _cleanup_(bag_done) struct bag bag = {0};
    uint64_t sid = 0;
    int r = bags_decode_key(row->key, &sid);
    if (r == 0)
        r = bags_decode(row->value, &bag);
    return take_own(user, TABLE_BAGS, row, sid, r);
}

static int take_fragments(void *user, const struct kv_entry *row)
{
    struct fragments fragments;
    struct fragment fragment;
    uint64_t sid = 0;
    int r = bags_decode_key(row->key, &sid);
    if (r == 0)
        r = fragments_begin(&fragments, row->value);
    while (r >= 0 && (r = fragments_next(&fragments, &fragment)) > 0)
        ;
    return take_own(user, TABLE_FRAGMENTS, row, sid, r);
}

static int take_anchors(void *user, const struct kv_entry *row)
{
    struct topics_check *topics = user;
    _cleanup_(bag_done) struct bag bag = {0};
    uint32_t epoch;
    uint64_t sid;
    int r = anchors_decode_key(row->key, &epoch, &sid);
    if (r == 0 && epoch == topics->epoch.epoch)
        r = bags_decode(row->value, &bag);
    return r == -EUCLEAN ? check_bad_row(topics->check, TABLE_ANCHORS, row) : r;
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
    if (r == 0)
        r = check_each_row(check, TABLE_FRAGMENTS, from, take_fragments, check);
    if (r == 0)
        r = check_each_row(check, TABLE_ANCHORS, from, take_anchors, &topics);
    return r < 0 ? r : check_each_row(check, TABLE_WORD_LISTS, from, take_list, &topics);
}
