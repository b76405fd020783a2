/* The store in memory: a skip list for each table, one mutex for all.
 *
 * A skip list is a sorted linked list with express lanes: a node is on lane h with probability
 * 4^-h, so a search walks about 4 steps on each of log4(n) lanes. It was chosen over a balanced
 * tree for being half the code, with the scan in order for free. (Pugh 1990; left out: search
 * fingers.)
 *
 * Example with nodes a b c d e on lane 0, and c also on lane 1: the search for d begins on lane 1,
 * goes from the head to c, finds no further node there, and goes on from c on lane 0 to d.
 *
 * What is deleted stays where it was, and is passed over, until it is written again.
 *
 * A batch is atomic, also when memory runs out: first all its nodes are made, then they are linked,
 * which cannot fail.
 */
#include "tests/lib/stores/kv_memory.h"

#include "store/kv_backend.h"

enum { MAX_HEIGHT = 16 }; /* 4^16 entries */

struct node {
    struct kv_slice key, value; /* into bytes */
    unsigned height;
    bool is_deleted;
    struct node *next[]; /* `height` of them, then the bytes */
};

struct skip_list {
    struct node *head[MAX_HEIGHT];
};

struct kv_memory {
    struct kv kv;
    pthread_mutex_t mutex; /* of all below; taken last, nothing waits under it */
    uint64_t random, n_passed;
    struct skip_list tables[];
};

static struct kv_memory *memory_of(struct kv *kv)
{
    return (struct kv_memory *)kv;
}

static unsigned random_height(struct kv_memory *memory)
{
    /* xorshift64 */
    memory->random ^= memory->random << 13;
    memory->random ^= memory->random >> 7;
    memory->random ^= memory->random << 17;
    unsigned height = 1;
    for (uint64_t bits = memory->random; height < MAX_HEIGHT && (bits & 3) == 0; bits >>= 2)
        height++;
    return height;
}

static struct node *node_new(struct kv_memory *memory, struct kv_slice key, struct kv_slice value)
{
    unsigned height = random_height(memory);
    struct node *node = calloc(1, sizeof(*node) + height * sizeof(node->next[0]) + key.size_bytes +
                                      value.size_bytes);
    if (!node)
        return NULL;
    char *bytes = (char *)&node->next[height];
    if (key.size_bytes > 0)
        memcpy(bytes, key.data, key.size_bytes);
    if (value.size_bytes > 0)
        memcpy(bytes + key.size_bytes, value.data, value.size_bytes);
    node->key = (struct kv_slice){bytes, key.size_bytes};
    node->value = (struct kv_slice){bytes + key.size_bytes, value.size_bytes};
    node->height = height;
    return node;
}

/* Finds the first node whose key is not below key, and returns it. links: on each lane the link
 * that passes over that node or leads to it. */
static struct node *search(struct skip_list *list, struct kv_slice key,
                           struct node **links[MAX_HEIGHT])
{
    struct node **lanes = list->head;
    for (unsigned h = MAX_HEIGHT; h-- > 0;) {
        while (lanes[h] && slice_compare(lanes[h]->key, key) < 0)
            lanes = lanes[h]->next;
        links[h] = &lanes[h];
    }
    return *links[0];
}

static struct node *find(struct skip_list *list, struct kv_slice key)
{
    struct node **links[MAX_HEIGHT];
    struct node *node = search(list, key, links);
    return node && !node->is_deleted && slice_compare(node->key, key) == 0 ? node : NULL;
}

static void delete (struct skip_list *list, struct kv_slice key)
{
    struct node *node = find(list, key);
    if (node)
        node->is_deleted = true;
}

static void erase(struct skip_list *list, struct kv_slice key)
{
    struct node **links[MAX_HEIGHT];
    struct node *node = search(list, key, links);
    if (!node || slice_compare(node->key, key) != 0)
        return;
    for (unsigned h = 0; h < node->height; h++)
        *links[h] = node->next[h];
    free(node);
}

static void insert(struct skip_list *list, struct node *node)
{
    erase(list, node->key);
    struct node **links[MAX_HEIGHT];
    search(list, node->key, links);
    for (unsigned h = 0; h < node->height; h++) {
        node->next[h] = *links[h];
        *links[h] = node;
    }
}

static int get_locked(struct kv_memory *memory, unsigned table, struct kv_slice key,
                      struct kv_buf *ret_value)
{
    struct node *node = find(&memory->tables[table], key);
    return node ? slice_copy(node->value, ret_value) : -ENOENT;
}

static int memory_get(struct kv *kv, unsigned table, struct kv_slice key, struct kv_buf *ret_value)
{
    struct kv_memory *memory = memory_of(kv);
    LOCKED(&memory->mutex);
    return get_locked(memory, table, key, ret_value);
}

static int memory_multi_get(struct kv *kv, unsigned table, const struct kv_slice *keys,
                            size_t n_keys, struct kv_buf *ret_values)
{
    struct kv_memory *memory = memory_of(kv);
    LOCKED(&memory->mutex);
    int n_present = 0;
    for (size_t i = 0; i < n_keys; i++) {
        int r = get_locked(memory, table, keys[i], &ret_values[i]);
        if (r < 0 && r != -ENOENT)
            return r;
        n_present += r == 0;
    }
    return n_present;
}

static int scan_locked(struct kv_memory *memory, unsigned table, const struct kv_range *range,
                       size_t limit, struct kv_page *ret_page)
{
    _cleanup_(page_builder_done) struct page_builder builder = {0};
    struct node **links[MAX_HEIGHT];
    struct node *node = search(&memory->tables[table], range->from, links);
    bool more = false;
    for (; node; node = node->next[0]) {
        if (range->to.data && slice_compare(node->key, range->to) >= 0)
            break;
        if (node->is_deleted) {
            memory->n_passed++;
            continue;
        }
        int r = page_builder_add(&builder, node->key, node->value);
        if (r < 0)
            return r;
        if (page_builder_full(&builder, limit)) {
            more = true;
            break;
        }
    }
    return page_builder_finish(&builder, more, ret_page);
}

static int memory_multi_scan(struct kv *kv, unsigned table, const struct kv_range *ranges,
                             size_t n_ranges, size_t limit, struct kv_page *ret_pages)
{
    struct kv_memory *memory = memory_of(kv);
    LOCKED(&memory->mutex);
    for (size_t i = 0; i < n_ranges; i++) {
        int r = scan_locked(memory, table, &ranges[i], limit, &ret_pages[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int memory_apply(struct kv *kv, const struct kv_batch *batch)
{
    struct kv_memory *memory = memory_of(kv);
    size_t n = kv_batch_count(batch);
    _cleanup_free_ struct node **nodes = calloc(n, sizeof(*nodes));
    if (!nodes)
        return -ENOMEM;
    LOCKED(&memory->mutex);
    for (size_t i = 0; i < n; i++) {
        struct kv_batch_op op = kv_batch_op(batch, i);
        if (op.is_delete)
            continue;
        nodes[i] = node_new(memory, op.key, op.value);
        if (!nodes[i]) {
            while (i-- > 0)
                free(nodes[i]);
            return -ENOMEM;
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct kv_batch_op op = kv_batch_op(batch, i);
        if (op.is_delete)
            delete (&memory->tables[op.table], op.key);
        else
            insert(&memory->tables[op.table], nodes[i]);
    }
    return 0;
}

static int memory_cas(struct kv *kv, unsigned table, struct kv_slice key,
                      const struct kv_slice *expected, const struct kv_slice *desired)
{
    struct kv_memory *memory = memory_of(kv);
    LOCKED(&memory->mutex);
    struct node *present = find(&memory->tables[table], key);
    if (!slice_is_expected(present ? &present->value : NULL, expected))
        return -ECANCELED;
    if (!desired) {
        delete (&memory->tables[table], key);
        return 0;
    }
    struct node *node = node_new(memory, key, *desired);
    if (!node)
        return -ENOMEM;
    insert(&memory->tables[table], node);
    return 0;
}

static int memory_bulk_load(struct kv *kv, unsigned table, kv_run_next_fn next, void *user)
{
    struct kv_memory *memory = memory_of(kv);
    struct kv_entry entry;
    bool is_delete;
    int r;
    while ((r = next(user, &entry, &is_delete)) > 0) {
        LOCKED(&memory->mutex);
        if (is_delete) {
            delete (&memory->tables[table], entry.key);
            continue;
        }
        struct node *node = node_new(memory, entry.key, entry.value);
        if (!node)
            return -ENOMEM;
        insert(&memory->tables[table], node);
    }
    return r;
}

static int memory_nothing_to_do(struct kv *kv)
{
    (void)kv;
    return 0;
}

static int memory_usage(struct kv *kv, uint64_t *ret_size_bytes)
{
    struct kv_memory *memory = memory_of(kv);
    uint64_t size_bytes = 0;
    LOCKED(&memory->mutex);
    for (size_t i = 0; i < kv->n_tables; i++)
        for (struct node *node = memory->tables[i].head[0]; node; node = node->next[0])
            size_bytes += sizeof(*node) + node->height * sizeof(node->next[0]) +
                          node->key.size_bytes + node->value.size_bytes;
    *ret_size_bytes = size_bytes;
    return 0;
}

static int memory_snapshot(struct kv *kv, struct kv **ret_snapshot);

static void memory_close(struct kv *kv)
{
    struct kv_memory *memory = memory_of(kv);
    for (size_t i = 0; i < kv->n_tables; i++) {
        struct node *next;
        for (struct node *node = memory->tables[i].head[0]; node; node = next) {
            next = node->next[0];
            free(node);
        }
    }
    pthread_mutex_destroy(&memory->mutex);
    free(memory);
}

int kv_memory_open(const struct kv_options *options, struct kv **ret_kv)
{
    static const struct kv_ops ops = {
        .close = memory_close,
        .get = memory_get,
        .multi_get = memory_multi_get,
        .multi_scan = memory_multi_scan,
        .apply = memory_apply,
        .cas = memory_cas,
        .bulk_load = memory_bulk_load,
        .checkpoint = memory_nothing_to_do,
        .resume = memory_nothing_to_do,
        .usage = memory_usage,
        .snapshot = memory_snapshot,
    };
    struct kv_memory *memory =
        calloc(1, sizeof(*memory) + options->n_tables * sizeof(memory->tables[0]));
    if (!memory)
        return -ENOMEM;
    kv_init(&memory->kv, &ops, options);
    pthread_mutex_init(&memory->mutex, NULL);
    memory->random = 0x9e3779b97f4a7c15u; /* any but 0; heights need no secrecy in a test */
    *ret_kv = &memory->kv;
    return 0;
}

uint64_t kv_memory_passed(struct kv *kv)
{
    LOCKED(&memory_of(kv)->mutex);
    return memory_of(kv)->n_passed;
}

/* A snapshot is a copy. */
static int memory_snapshot(struct kv *kv, struct kv **ret_snapshot)
{
    const struct kv_options options = {.tables = kv->tables, .n_tables = kv->n_tables};
    _cleanup_(kv_close_p) struct kv *copy = NULL;
    int r = kv_memory_open(&options, &copy);
    if (r < 0)
        return r;
    LOCKED(&memory_of(kv)->mutex);
    for (size_t i = 0; i < kv->n_tables; i++)
        for (struct node *node = memory_of(kv)->tables[i].head[0]; node; node = node->next[0]) {
            if (node->is_deleted)
                continue;
            struct node *copied = node_new(memory_of(copy), node->key, node->value);
            if (!copied)
                return -ENOMEM;
            insert(&memory_of(copy)->tables[i], copied);
        }
    copy->read_only = true;
    *ret_snapshot = TAKE_PTR(copy);
    return 0;
}
