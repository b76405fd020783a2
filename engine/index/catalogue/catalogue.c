/* Names and the way back to them. */
#include <assert.h>
#include <errno.h>

#include "engine/index/catalogue/catalogue_private.h"
#include "engine/index/tables/schema.h"

static void append_name(struct entry_key *out, const char *name)
{
    size_t size = strnlen(name, NAME_MAX);
    memcpy(out->bytes + out->size_bytes, name, size);
    out->size_bytes += size;
}

static struct entry_key name_key(const struct file_key *parent, const char *name)
{
    struct entry_key key = {.size_bytes = 0};
    entry_key_append(&key, parent);
    append_name(&key, name);
    return key;
}

static struct entry_key link_key(const struct file_key *child, const struct file_key *parent,
                                 const char *name)
{
    struct entry_key key = {.size_bytes = 0};
    entry_key_append(&key, child);
    entry_key_append(&key, parent);
    append_name(&key, name);
    return key;
}

bool catalogue_is_name(const char *name, size_t size_bytes)
{
    return size_bytes && !memchr(name, '\0', size_bytes) && !memchr(name, '/', size_bytes) &&
           (size_bytes > 2 || memcmp(name, "..", size_bytes) != 0);
}

int catalogue_take_key(struct kv_slice *data, struct file_key *ret_key)
{
    const uint8_t *p = data->data;
    if (data->size_bytes < 1 || p[0] < FILE_KEY_MIN_BYTES || p[0] > FILE_KEY_MAX_BYTES ||
        data->size_bytes < 1u + p[0])
        return -EUCLEAN;
    ret_key->size_bytes = p[0];
    memcpy(ret_key->bytes, p + 1, p[0]);
    *data = (struct kv_slice){p + 1 + p[0], data->size_bytes - 1 - p[0]};
    return 0;
}

static int decode_name_value(struct kv_slice value, struct file_key *ret_child,
                             enum entry_type *ret_type)
{
    const uint8_t *p = value.data;
    if (value.size_bytes < 1 || (p[0] != ENTRY_DIRECTORY && p[0] != ENTRY_FILE))
        return -EUCLEAN;
    struct kv_slice rest = {p + 1, value.size_bytes - 1};
    int r = catalogue_take_key(&rest, ret_child);
    if (r == 0 && rest.size_bytes)
        r = -EUCLEAN;
    if (r == 0)
        *ret_type = p[0];
    return r;
}

int catalogue_get(struct kv *kv, const struct file_key *parent, const char *name,
                  struct file_key *ret_child, enum entry_type *ret_type)
{
    struct entry_key key = name_key(parent, name);
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_NAMES, entry_slice(&key), &value);
    return r < 0 ? r : decode_name_value(kv_buf_slice(&value), ret_child, ret_type);
}

int catalogue_get_all(struct kv *kv, const struct catalogue_name *names, size_t n,
                      struct catalogue_meaning *ret_meanings)
{
    struct entry_key keys[CATALOGUE_AT_ONCE];
    struct kv_slice slices[CATALOGUE_AT_ONCE];
    struct kv_buf values[CATALOGUE_AT_ONCE];
    int r = 0;
    for (size_t at = 0; r == 0 && at < n; at += CATALOGUE_AT_ONCE) {
        size_t n_some = n - at < CATALOGUE_AT_ONCE ? n - at : CATALOGUE_AT_ONCE;
        for (size_t i = 0; i < n_some; i++) {
            keys[i] = name_key(names[at + i].parent, names[at + i].name);
            slices[i] = entry_slice(&keys[i]);
        }
        r = kv_multi_get(kv, TABLE_NAMES, slices, n_some, values);
        if (r < 0)
            return r;
        r = 0;
        for (size_t i = 0; i < n_some; i++) {
            struct catalogue_meaning *meaning = &ret_meanings[at + i];
            meaning->exists = values[i].data != NULL;
            if (r == 0 && meaning->exists)
                r = decode_name_value(kv_buf_slice(&values[i]), &meaning->child, &meaning->type);
            kv_buf_done(&values[i]);
        }
    }
    return r;
}

void catalogue_put(struct kv_batch *batch, const struct file_key *parent, const char *name,
                   const struct file_key *child, enum entry_type type)
{
    struct entry_key down = name_key(parent, name), up = link_key(child, parent, name);
    struct entry_key value = {.bytes = {(uint8_t)type}, .size_bytes = 1};
    entry_key_append(&value, child);
    kv_batch_put(batch, TABLE_LINKS, entry_slice(&up), (struct kv_slice){"", 0});
    kv_batch_put(batch, TABLE_NAMES, entry_slice(&down), entry_slice(&value));
}

void catalogue_delete(struct kv_batch *batch, const struct file_key *parent, const char *name,
                      const struct file_key *child)
{
    struct entry_key down = name_key(parent, name), up = link_key(child, parent, name);
    kv_batch_delete(batch, TABLE_NAMES, entry_slice(&down));
    kv_batch_delete(batch, TABLE_LINKS, entry_slice(&up));
}

void catalogue_delete_link(struct kv_batch *batch, const struct file_key *parent, const char *name,
                           const struct file_key *child)
{
    struct entry_key up = link_key(child, parent, name);
    kv_batch_delete(batch, TABLE_LINKS, entry_slice(&up));
}

size_t catalogue_link_key(const struct file_key *child, const struct file_key *parent,
                          const char *name, uint8_t *out)
{
    struct entry_key key = link_key(child, parent, name);
    memcpy(out, key.bytes, key.size_bytes);
    return key.size_bytes;
}

void catalogue_entry_done(struct catalogue_entry *entry)
{
    free(entry->name);
}

void catalogue_list_done(struct catalogue_list *list)
{
    for (size_t i = 0; i < list->n_entries; i++)
        free(list->entries[i].name);
    free(list->entries);
    *list = (struct catalogue_list){0};
}

static int decode_entry_name(struct kv_slice bytes, char **ret_name)
{
    if (!catalogue_is_name(bytes.data, bytes.size_bytes) || bytes.size_bytes > NAME_MAX)
        return -EUCLEAN;
    char *name = strndup(bytes.data, bytes.size_bytes);
    if (!name)
        return -ENOMEM;
    *ret_name = name;
    return 0;
}

int catalogue_decode_name(const struct kv_entry *entry, struct catalogue_entry *out)
{
    struct kv_slice rest = entry->key;
    int r = catalogue_take_key(&rest, &out->parent);
    if (r == 0)
        r = decode_name_value(entry->value, &out->child, &out->type);
    return r < 0 ? r : decode_entry_name(rest, &out->name);
}

int catalogue_decode_link(struct kv_slice key, struct catalogue_entry *ret_entry)
{
    int r = catalogue_take_key(&key, &ret_entry->child);
    if (r == 0)
        r = catalogue_take_key(&key, &ret_entry->parent);
    return r < 0 ? r : decode_entry_name(key, &ret_entry->name);
}

static int decode_link(const struct kv_entry *entry, struct catalogue_entry *out)
{
    return catalogue_decode_link(entry->key, out);
}

/* Reads up to limit entries of a range, page after page. */
static int list_range(struct kv *kv, unsigned table, struct kv_range range, size_t limit,
                      int (*decode)(const struct kv_entry *, struct catalogue_entry *),
                      struct catalogue_list *ret_list)
{
    _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
    _cleanup_(kv_buf_done) struct kv_buf from = {0};
    for (bool more = true; more && list.n_entries < limit;) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        int r = kv_scan(kv, table, &range, limit - list.n_entries, &page);
        if (r < 0)
            return r;
        struct catalogue_entry *entries =
            reallocarray(list.entries, list.n_entries + page.n_entries + 1, sizeof(*entries));
        if (!entries)
            return -ENOMEM;
        list.entries = entries;
        for (size_t i = 0; i < page.n_entries; i++) {
            struct catalogue_entry *entry = &list.entries[list.n_entries];
            *entry = (struct catalogue_entry){0};
            r = decode(&page.entries[i], entry);
            if (r < 0)
                return r;
            list.n_entries++;
        }
        more = page.more && page.n_entries > 0;
        if (more) {
            kv_buf_done(&from);
            r = kv_page_cursor(&page, &from);
            if (r < 0)
                return r;
            range.from = kv_buf_slice(&from);
        }
    }
    *ret_list = list;
    list = (struct catalogue_list){0};
    return 0;
}

/* The entries under a key, or a part of them; NULL: from the first, or to the last. */
static int list_under(struct kv *kv, unsigned table, const struct file_key *key,
                      const struct entry_key *from, const struct entry_key *to, size_t limit,
                      int (*decode)(const struct kv_entry *, struct catalogue_entry *),
                      struct catalogue_list *ret_list)
{
    struct entry_key prefix = {.size_bytes = 0};
    struct kv_range range;
    _cleanup_(kv_buf_done) struct kv_buf end = {0};
    entry_key_append(&prefix, key);
    int r = kv_prefix_range(entry_slice(&prefix), &range, &end);
    if (r < 0)
        return r;
    if (from)
        range.from = entry_slice(from);
    if (to)
        range.to = entry_slice(to);
    return list_range(kv, table, range, limit, decode, ret_list);
}

int catalogue_children(struct kv *kv, const struct file_key *parent, const char *after,
                       size_t limit, struct catalogue_list *ret_list)
{
    struct entry_key from;
    if (after)
        from = entry_key_after(name_key(parent, after));
    return list_under(kv, TABLE_NAMES, parent, after ? &from : NULL, NULL, limit,
                      catalogue_decode_name, ret_list);
}

int catalogue_links_beside(struct kv *kv, const struct file_key *child,
                           const struct file_key *parent, const char *name, bool before,
                           size_t limit, struct catalogue_list *ret_list)
{
    char last[NAME_MAX + 1] = "";
    if (!name && !before)
        memset(last, UINT8_MAX, NAME_MAX);
    struct entry_key entry = link_key(child, parent, name ? name : last);
    if (!before)
        entry = entry_key_after(entry);
    return list_under(kv, TABLE_LINKS, child, before ? NULL : &entry, before ? &entry : NULL, limit,
                      decode_link, ret_list);
}

int catalogue_links(struct kv *kv, const struct file_key *child, size_t limit,
                    struct catalogue_list *ret_list)
{
    return list_under(kv, TABLE_LINKS, child, NULL, NULL, limit, decode_link, ret_list);
}

/* Returns an enum catalogue_naming, or -EUCLEAN. */
static int naming_of(const struct kv_page *page, const char *certain)
{
    struct file_key child, parent;
    if (page->n_entries == 0)
        return CATALOGUE_NAMELESS;
    struct kv_slice rest = page->entries[0].key;
    if (catalogue_take_key(&rest, &child) < 0 || catalogue_take_key(&rest, &parent) < 0 ||
        !catalogue_is_name(rest.data, rest.size_bytes) || rest.size_bytes > NAME_MAX)
        return -EUCLEAN;
    return certain && rest.size_bytes == strlen(certain) &&
                   memcmp(rest.data, certain, rest.size_bytes) == 0
               ? CATALOGUE_NAMED_SO
               : CATALOGUE_NAMED;
}

int catalogue_have_names(struct kv *kv, const struct file_key *const *files, size_t n,
                         const char *certain, enum catalogue_naming *ret_have)
{
    _cleanup_free_ struct entry_key *keys = calloc(2 * n + 1, sizeof(*keys));
    _cleanup_free_ struct kv_range *ranges = calloc(n + 1, sizeof(*ranges));
    _cleanup_free_ struct kv_page *pages = calloc(n + 1, sizeof(*pages));
    if (!keys || !ranges || !pages)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct entry_key *from = &keys[2 * i], *to = &keys[2 * i + 1];
        entry_key_append(from, files[i]);
        *to = *from;
        /* The first byte of what follows is the size of a key. */
        to->bytes[to->size_bytes++] = UINT8_MAX;
        ranges[i] = (struct kv_range){entry_slice(from), entry_slice(to)};
    }
    int r = kv_multi_scan(kv, TABLE_LINKS, ranges, n, 1, pages);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        const int naming = naming_of(&pages[i], certain);
        if (naming < 0)
            r = naming;
        else
            ret_have[i] = (enum catalogue_naming)naming;
        kv_page_done(&pages[i]);
    }
    return r;
}

/* The links of a page; the rest of a short one is read by itself. */
static int take_links(struct kv *kv, const struct kv_page *page, const struct file_key *child,
                      size_t limit, struct catalogue_list *ret_list)
{
    _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
    if (page->more && page->n_entries < limit)
        return catalogue_links(kv, child, limit, ret_list);
    list.entries = calloc(page->n_entries + 1, sizeof(*list.entries));
    if (!list.entries)
        return -ENOMEM;
    for (size_t i = 0; i < page->n_entries; i++) {
        int r = decode_link(&page->entries[i], &list.entries[i]);
        if (r < 0)
            return r;
        list.n_entries++;
    }
    *ret_list = list;
    list = (struct catalogue_list){0};
    return 0;
}

int catalogue_links_of_all(struct kv *kv, const struct file_key *const *children, size_t n,
                           size_t limit, struct catalogue_list *ret_lists)
{
    struct kv_range ranges[CATALOGUE_AT_ONCE];
    struct entry_key prefixes[CATALOGUE_AT_ONCE];
    struct kv_buf ends[CATALOGUE_AT_ONCE] = {0};
    struct kv_page pages[CATALOGUE_AT_ONCE];
    int r = 0;
    assert(n <= CATALOGUE_AT_ONCE);
    for (size_t i = 0; r == 0 && i < n; i++) {
        ret_lists[i] = (struct catalogue_list){0};
        prefixes[i].size_bytes = 0;
        entry_key_append(&prefixes[i], children[i]);
        r = kv_prefix_range(entry_slice(&prefixes[i]), &ranges[i], &ends[i]);
    }
    bool read = r == 0 && n > 0;
    if (read)
        r = kv_multi_scan(kv, TABLE_LINKS, ranges, n, limit, pages);
    read = read && r == 0;
    for (size_t i = 0; i < n; i++) {
        if (r == 0)
            r = take_links(kv, &pages[i], children[i], limit, &ret_lists[i]);
        if (read)
            kv_page_done(&pages[i]);
        kv_buf_done(&ends[i]);
    }
    for (size_t i = 0; r < 0 && i < n; i++)
        catalogue_list_done(&ret_lists[i]);
    return r;
}
