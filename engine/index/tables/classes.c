#include "engine/index/tables/classes.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"

enum { KEY_BYTES = CLASS_BYTES + 8, PAGE_ROWS = 256 };

static void make_key(uint8_t key[KEY_BYTES], const uint8_t class_id[CLASS_BYTES], uint64_t sid)
{
    memcpy(key, class_id, CLASS_BYTES);
    put_be64(key + CLASS_BYTES, sid);
}

static int take_rows(const struct kv_page *page, struct number_vector *sids)
{
    for (size_t i = 0; i < page->n_entries; i++) {
        const struct kv_slice *key = &page->entries[i].key;
        if (key->size_bytes != KEY_BYTES)
            return -EUCLEAN;
        uint64_t sid;
        int r = sid_decode((const uint8_t *)key->data + CLASS_BYTES, &sid);
        if (r == 0)
            r = number_vector_push(sids, sid);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A sid above all others: nothing is looked for from there. */
#define NOWHERE UINT64_MAX

/* Finds the first sid of each class from from[i] on, 0 where there is none; those from NOWHERE stay
 * as they are. */
static int read_from(struct kv *kv, const uint8_t (*class_ids)[CLASS_BYTES], const uint64_t *from,
                     size_t n, uint64_t *sids)
{
    uint8_t begin[CLASSES_AT_ONCE][KEY_BYTES], end[CLASSES_AT_ONCE][KEY_BYTES];
    struct kv_range ranges[CLASSES_AT_ONCE];
    struct kv_page pages[CLASSES_AT_ONCE];
    size_t places[CLASSES_AT_ONCE], n_read = 0;

    assert(n <= CLASSES_AT_ONCE);
    for (size_t i = 0; i < n; i++) {
        if (from[i] == NOWHERE)
            continue;
        make_key(begin[n_read], class_ids[i], from[i]);
        make_key(end[n_read], class_ids[i], NOWHERE);
        ranges[n_read] = (struct kv_range){{begin[n_read], KEY_BYTES}, {end[n_read], KEY_BYTES}};
        places[n_read++] = i;
    }
    int r = n_read ? kv_multi_scan(kv, TABLE_CLASSES, ranges, n_read, 1, pages) : 0;
    if (r < 0)
        return r;
    for (size_t i = 0; i < n_read; i++) {
        _cleanup_(number_vector_done) struct number_vector found = {0};
        if (r == 0)
            r = take_rows(&pages[i], &found);
        if (r == 0)
            sids[places[i]] = found.n_numbers ? found.numbers[0] : 0;
        kv_page_done(&pages[i]);
    }
    return r;
}

/* -- what is known of firsts -- */

int classes_init(struct classes *classes, struct kv *kv)
{
    enum { KNOWN_FIRST = 1 << 8, KNOWN_MAX = 1 << 16 }; /* 1 MiB */
    classes->kv = kv;
    return number_cache_init(&classes->firsts, KNOWN_FIRST, KNOWN_MAX);
}

void classes_done(struct classes *classes)
{
    number_cache_done(&classes->firsts);
}

void classes_forget(struct classes *classes)
{
    number_cache_clear(&classes->firsts);
}

/* The first of each class, 0 where there is none; not of those that are passed over, as read_from()
 * does. */
static int read_firsts(struct classes *classes, const uint8_t (*class_ids)[CLASS_BYTES],
                       const bool *passed_over, size_t n, uint64_t *firsts)
{
    uint64_t from[CLASSES_AT_ONCE] = {0};
    for (size_t i = 0; i < n; i++) {
        number_cache_get(&classes->firsts, record_class_number(class_ids[i]), &from[i]);
        if (passed_over && passed_over[i])
            from[i] = NOWHERE;
    }
    int r = read_from(classes->kv, class_ids, from, n, firsts);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (from[i] != NOWHERE && firsts[i])
            number_cache_set(&classes->firsts, record_class_number(class_ids[i]), firsts[i]);
    return r;
}

/* A document comes, perhaps before the first one that is known. */
static void lower_first(struct classes *classes, const uint8_t class_id[CLASS_BYTES], uint64_t sid)
{
    const uint64_t number = record_class_number(class_id);
    uint64_t first;
    if (number_cache_get(&classes->firsts, number, &first) && sid < first)
        number_cache_set(&classes->firsts, number, sid);
}

/* -- */

static int add_rows(struct kv *kv, const uint8_t (*class_ids)[CLASS_BYTES], const uint64_t *sids,
                    size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();

    assert(n <= CLASSES_AT_ONCE);
    if (!batch)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        uint8_t key[KEY_BYTES];
        make_key(key, class_ids[i], sids[i]);
        kv_batch_put(batch, TABLE_CLASSES, (struct kv_slice){key, KEY_BYTES},
                     (struct kv_slice){"", 0});
    }
    return kv_apply(kv, batch);
}

int classes_add(struct classes *classes, const uint8_t (*class_ids)[CLASS_BYTES],
                const uint64_t *sids, const bool *is_alone, size_t n, uint64_t *ret_firsts)
{
    for (size_t i = 0; i < n; i++)
        lower_first(classes, class_ids[i], sids[i]);
    int r = add_rows(classes->kv, class_ids, sids, n);
    if (r < 0)
        return r;
    memcpy(ret_firsts, sids, n * sizeof(*sids));
    r = read_firsts(classes, class_ids, is_alone, n, ret_firsts);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (!ret_firsts[i]) /* it was just written */
            r = -EUCLEAN;
    return r;
}

void classes_remove(struct kv_batch *batch, const uint8_t class_id[CLASS_BYTES], uint64_t sid)
{
    uint8_t key[KEY_BYTES];
    make_key(key, class_id, sid);
    kv_batch_delete(batch, TABLE_CLASSES, (struct kv_slice){key, KEY_BYTES});
}

int classes_list(struct kv *kv, const uint8_t class_id[CLASS_BYTES], uint64_t after, size_t limit,
                 struct number_vector *sids)
{
    uint8_t from[KEY_BYTES], to[KEY_BYTES];
    size_t n = 0;
    bool more = true;

    make_key(from, class_id, after + 1);
    make_key(to, class_id, UINT64_MAX); /* no sid is that large */
    while (more && (limit == 0 || n < limit)) {
        struct kv_range range = {{from, KEY_BYTES}, {to, KEY_BYTES}};
        struct kv_page page;
        size_t n_rows = limit && limit - n < PAGE_ROWS ? limit - n : PAGE_ROWS;
        int r = kv_scan(kv, TABLE_CLASSES, &range, n_rows, &page);
        if (r < 0)
            return r;
        r = take_rows(&page, sids);
        more = page.more;
        n += page.n_entries;
        if (r == 0 && page.n_entries > 0)
            make_key(from, class_id, sids->numbers[sids->n_numbers - 1] + 1);
        kv_page_done(&page);
        if (r < 0)
            return r;
    }
    return 0;
}

int classes_others(struct classes *classes, const uint8_t (*class_ids)[CLASS_BYTES],
                   const uint64_t *sids, size_t n, uint64_t *ret_others)
{
    uint64_t from[CLASSES_AT_ONCE];
    int r = read_firsts(classes, class_ids, NULL, n, ret_others);
    for (size_t i = 0; r == 0 && i < n; i++)
        from[i] = ret_others[i] == sids[i] ? sids[i] + 1 : NOWHERE;
    return r < 0 ? r : read_from(classes->kv, class_ids, from, n, ret_others);
}
