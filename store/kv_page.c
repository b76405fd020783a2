/* Pages of scans, their cursors, and the ranges of prefixes.
 *
 * Example: the range of the prefix "a\xff" is from "a\xff" to "b", as the trailing 0xff has nothing
 * above it; behind a page whose last key is "ab" the next one begins at "ab\0".
 *
 * A page is gathered by a builder, as offsets into one block of memory; pointers are made at the
 * end, when the block does not move any more. Cost: amortised one copy of keys and values.
 */
#include "store/kv_backend.h"

#include "base/room.h"

void kv_page_done(struct kv_page *page)
{
    free(page->entries);
    free(page->memory);
    *page = (struct kv_page){0};
}

int kv_page_cursor(const struct kv_page *page, struct kv_buf *ret_from)
{
    if (page->n_entries == 0)
        return -ENODATA;
    /* The smallest byte string after k is k followed by a zero. */
    struct kv_slice last = page->entries[page->n_entries - 1].key;
    char *from = malloc(last.size_bytes + 1);
    if (!from)
        return -ENOMEM;
    memcpy(from, last.data, last.size_bytes);
    from[last.size_bytes] = '\0';
    *ret_from = (struct kv_buf){from, last.size_bytes + 1};
    return 0;
}

int kv_prefix_range(struct kv_slice prefix, struct kv_range *ret_range, struct kv_buf *ret_to)
{
    /* The first key past all that begin with the prefix: the prefix without its trailing 0xff, the
     * last byte of the rest one greater. Where nothing is left there is no such key. */
    const uint8_t *bytes = prefix.data;
    size_t n = prefix.size_bytes;
    while (n > 0 && bytes[n - 1] == 0xff)
        n--;
    struct kv_buf to = {0};
    if (n > 0) {
        int r = slice_copy((struct kv_slice){bytes, n}, &to);
        if (r < 0)
            return r;
        ((uint8_t *)to.data)[n - 1]++;
    }
    *ret_range = (struct kv_range){prefix, kv_buf_slice(&to)};
    *ret_to = to;
    return 0;
}

static void append(struct page_builder *builder, struct kv_slice slice)
{
    if (slice.size_bytes > 0)
        memcpy(builder->bytes + builder->n_bytes, slice.data, slice.size_bytes);
    builder->n_bytes += slice.size_bytes;
}

int page_builder_add(struct page_builder *builder, struct kv_slice key, struct kv_slice value)
{
    size_t n_bytes = key.size_bytes + value.size_bytes;
    if (!MAKE_ROOM(builder->items, builder->items_allocated, builder->n_items + 1))
        return -ENOMEM;
    if (!MAKE_ROOM(builder->bytes, builder->bytes_allocated, builder->n_bytes + n_bytes))
        return -ENOMEM;
    builder->items[builder->n_items++] =
        (struct page_item){builder->n_bytes, key.size_bytes, value.size_bytes};
    append(builder, key);
    append(builder, value);
    return 0;
}

int page_builder_finish(struct page_builder *builder, bool more, struct kv_page *ret_page)
{
    struct kv_page page = {.n_entries = builder->n_items, .more = more};
    if (builder->n_items > 0) {
        page.entries = malloc(builder->n_items * sizeof(*page.entries));
        if (!page.entries)
            return -ENOMEM;
        page.memory = TAKE_PTR(builder->bytes);
    }
    for (size_t i = 0; i < builder->n_items; i++) {
        const struct page_item *item = &builder->items[i];
        const char *key = (const char *)page.memory + item->key_at;
        page.entries[i] =
            (struct kv_entry){{key, item->key_bytes}, {key + item->key_bytes, item->value_bytes}};
    }
    page_builder_done(builder);
    *ret_page = page;
    return 0;
}

void page_builder_done(struct page_builder *builder)
{
    free(builder->items);
    free(builder->bytes);
    *builder = (struct page_builder){0};
}
