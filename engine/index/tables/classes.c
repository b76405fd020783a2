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

static int read_firsts(struct kv *kv, const uint8_t (*class_ids)[CLASS_BYTES], const bool *is_alone,
                       size_t n, uint64_t *ret_firsts)
{
    uint8_t from[CLASSES_AT_ONCE][KEY_BYTES], to[CLASSES_AT_ONCE][KEY_BYTES];
    struct kv_range ranges[CLASSES_AT_ONCE];
    struct kv_page pages[CLASSES_AT_ONCE];
    size_t places[CLASSES_AT_ONCE], n_read = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_alone[i])
            continue;
        make_key(from[n_read], class_ids[i], 0);
        make_key(to[n_read], class_ids[i], UINT64_MAX);
        ranges[n_read] = (struct kv_range){{from[n_read], KEY_BYTES}, {to[n_read], KEY_BYTES}};
        places[n_read++] = i;
    }
    if (n_read == 0)
        return 0;
    int r = kv_multi_scan(kv, TABLE_CLASSES, ranges, n_read, 1, pages);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n_read; i++) {
        _cleanup_(number_vector_done) struct number_vector first = {0};
        if (r == 0)
            r = take_rows(&pages[i], &first);
        if (r == 0 && first.n_numbers == 0) /* it was just written */
            r = -EUCLEAN;
        if (r == 0)
            ret_firsts[places[i]] = first.numbers[0];
        kv_page_done(&pages[i]);
    }
    return r;
}

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

int classes_add(struct kv *kv, const uint8_t class_id[CLASS_BYTES], uint64_t sid)
{
    return add_rows(kv, (const uint8_t(*)[CLASS_BYTES])class_id, &sid, 1);
}

int classes_add_all(struct kv *kv, const uint8_t (*class_ids)[CLASS_BYTES], const uint64_t *sids,
                    const bool *is_alone, size_t n, uint64_t *ret_firsts)
{
    int r = add_rows(kv, class_ids, sids, n);
    if (r < 0)
        return r;
    memcpy(ret_firsts, sids, n * sizeof(*sids));
    return read_firsts(kv, class_ids, is_alone, n, ret_firsts);
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

/* The other of the first two of a class; 0: there is no other. */
static uint64_t other_of(const struct number_vector *first, uint64_t sid)
{
    size_t i = first->n_numbers > 0 && first->numbers[0] == sid;
    return i < first->n_numbers ? first->numbers[i] : 0;
}

int classes_other(struct kv *kv, const uint8_t class_id[CLASS_BYTES], uint64_t sid,
                  uint64_t *ret_other)
{
    _cleanup_(number_vector_done) struct number_vector first = {0};

    int r = classes_list(kv, class_id, 0, 2, &first);
    if (r < 0)
        return r;
    uint64_t other = other_of(&first, sid);
    if (other)
        *ret_other = other;
    return other != 0;
}

static int take_other(struct kv *kv, const struct kv_page *page,
                      const uint8_t class_id[CLASS_BYTES], uint64_t sid, uint64_t *ret_other)
{
    _cleanup_(number_vector_done) struct number_vector first = {0};

    if (page->more && page->n_entries < 2) { /* a short page */
        int r = classes_other(kv, class_id, sid, ret_other);
        return r < 0 ? r : 0;
    }
    int r = take_rows(page, &first);
    if (r == 0)
        *ret_other = other_of(&first, sid);
    return r;
}

int classes_others(struct kv *kv, const uint8_t (*class_ids)[CLASS_BYTES], const uint64_t *sids,
                   size_t n, uint64_t *ret_others)
{
    uint8_t from[CLASSES_AT_ONCE][KEY_BYTES], to[CLASSES_AT_ONCE][KEY_BYTES];
    struct kv_range ranges[CLASSES_AT_ONCE];
    struct kv_page pages[CLASSES_AT_ONCE];

    assert(n <= CLASSES_AT_ONCE);
    for (size_t i = 0; i < n; i++) {
        make_key(from[i], class_ids[i], 0);
        make_key(to[i], class_ids[i], UINT64_MAX);
        ranges[i] = (struct kv_range){{from[i], KEY_BYTES}, {to[i], KEY_BYTES}};
        ret_others[i] = 0;
    }
    int r = n ? kv_multi_scan(kv, TABLE_CLASSES, ranges, n, 2, pages) : 0;
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (r == 0)
            r = take_other(kv, &pages[i], class_ids[i], sids[i], &ret_others[i]);
        kv_page_done(&pages[i]);
    }
    return r;
}
