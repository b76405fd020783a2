#include "engine/index/intake/directory_removal_step.h"

#include <errno.h>
#include <string.h>

#include "engine/index/index_state.h"
#include "engine/index/tables/past.h"
#include "engine/index/tables/table_walk.h"

/* -- in the store -- */

static const char removed[] = "removed"; /* without its NUL */
enum { PREFIX_BYTES = sizeof(removed) - 1 };

struct removed_key {
    uint8_t bytes[sizeof(removed) + FILE_KEY_MAX_BYTES];
    size_t size_bytes;
};

static struct kv_slice removed_key(const struct file_key *directory, struct removed_key *ret_key)
{
    uint8_t *p = ret_key->bytes;
    memcpy(p, removed, PREFIX_BYTES);
    p += PREFIX_BYTES;
    *p++ = directory->size_bytes;
    memcpy(p, directory->bytes, directory->size_bytes);
    p += directory->size_bytes;
    ret_key->size_bytes = (size_t)(p - ret_key->bytes);
    return (struct kv_slice){ret_key->bytes, ret_key->size_bytes};
}

static uint8_t decode_left(struct kv_slice value)
{
    return value.size_bytes ? *(const uint8_t *)value.data & (REMOVAL_LET_GO | REMOVAL_GONE)
                            : REMOVAL_GONE;
}

/* The work left that is noted of a directory, or an error. ret_path: gives where it was, NULL where
 * that is not known; or NULL. */
static int read_intent(struct kv *kv, const struct file_key *directory, char **ret_path)
{
    struct removed_key key;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_INTENTS, removed_key(directory, &key), &value);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    if (ret_path && value.size_bytes > 1 &&
        !(*ret_path = strndup((const char *)value.data + 1, value.size_bytes - 1)))
        return -ENOMEM;
    return decode_left(kv_buf_slice(&value));
}

int directory_removal_left(struct kv *kv, const struct file_key *directory)
{
    return read_intent(kv, directory, NULL);
}

int directory_removal_path(struct kv *kv, const struct file_key *directory, char **ret_path)
{
    char *path = NULL;
    int left = read_intent(kv, directory, &path);
    if (left < 0)
        return left;
    if (path)
        *ret_path = path;
    return path ? 0 : -ENOENT;
}

static int note(struct index *index, const struct file_key *directory, int left, const char *path)
{
    uint8_t value[1 + PAST_PATH_MAX] = {(uint8_t)left};
    const size_t n = path ? strnlen(path, PAST_PATH_MAX) : 0;
    if (n)
        memcpy(value + 1, path, n);
    struct removed_key key;
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    if (left)
        kv_batch_put(batch, TABLE_INTENTS, removed_key(directory, &key),
                     (struct kv_slice){value, 1 + n});
    else
        kv_batch_delete(batch, TABLE_INTENTS, removed_key(directory, &key));
    return kv_apply(index->kv, batch);
}

int directory_removal_note_done(struct index *index, const struct file_key *directory, int done)
{
    _cleanup_free_ char *path = NULL;
    int left = read_intent(index->kv, directory, &path);
    return left < 0 ? left : note(index, directory, left & ~done, path);
}

int directory_removal_is_noted(struct kv *kv, const struct file_key *directory)
{
    int left = directory_removal_left(kv, directory);
    return left < 0 ? left : left != 0;
}

/* -- what comes -- */

static void go_on(struct index *index)
{
    LOCKED(&index->lock);
    index->removing = true;
}

static struct key_stack *stack_of(struct removal_set *set, int what)
{
    return what == REMOVAL_LET_GO ? &set->let_go : &set->gone;
}

static int add(struct index *index, const struct file_key *directory, const char *path, int what)
{
    _cleanup_free_ char *known = NULL;
    struct directory_removal *removal = &index->removal;
    struct removal_set *set = &removal->sets[removal->is_stepping ? removal->now : !removal->now];
    int left = read_intent(index->kv, directory, &known);
    if (left < 0 || left & what)
        return left < 0 ? left : 0;
    if (!key_stack_push(stack_of(set, what), directory))
        return -ENOMEM;
    int r = note(index, directory, left | what, path ? path : known);
    if (r < 0)
        key_stack_pop(stack_of(set, what));
    else
        go_on(index);
    return r;
}

int directory_removal_add(struct index *index, const struct file_key *directory, const char *path)
{
    return add(index, directory, path, REMOVAL_GONE);
}

int directory_removal_let_go(struct index *index, const struct file_key *directory,
                             const char *path)
{
    return add(index, directory, path, REMOVAL_LET_GO);
}

static int take_row(void *user, const struct kv_entry *row)
{
    struct index *index = user;
    struct kv_slice rest = {(const uint8_t *)row->key.data + PREFIX_BYTES,
                            row->key.size_bytes - PREFIX_BYTES};
    struct removal_set *set = &index->removal.sets[index->removal.now];
    struct file_key directory;
    int r = catalogue_take_key(&rest, &directory);
    if (r < 0 || rest.size_bytes)
        return -EUCLEAN;
    const uint8_t left = decode_left(row->value);
    if ((left & REMOVAL_GONE && !key_stack_push(&set->gone, &directory)) ||
        (left & REMOVAL_LET_GO && !key_stack_push(&set->let_go, &directory)))
        return -ENOMEM;
    go_on(index);
    return 0;
}

int directory_removal_recover(struct index *index)
{
    struct kv_range range;
    directory_removal_done(index);
    _cleanup_(kv_buf_done) struct kv_buf to = {0};
    int r = kv_prefix_range((struct kv_slice){removed, PREFIX_BYTES}, &range, &to);
    return r < 0 ? r : table_each_row(index->kv, TABLE_INTENTS, range, take_row, index);
}

/* -- its end -- */

bool removal_set_is_over(const struct removal_set *set)
{
    return key_stack_is_empty(&set->let_go) && key_stack_is_empty(&set->gone);
}

bool directory_removal_is_idle(const struct index *index)
{
    return removal_set_is_over(&index->removal.sets[0]) &&
           removal_set_is_over(&index->removal.sets[1]);
}

void directory_removal_end(struct index *index)
{
    LOCKED(&index->lock);
    index->removing = false;
    pthread_cond_broadcast(&index->background_changed);
}

void directory_removal_done(struct index *index)
{
    for (unsigned i = 0; i < 2; i++) {
        key_stack_done(&index->removal.sets[i].let_go);
        key_stack_done(&index->removal.sets[i].gone);
    }
    directory_removal_end(index);
}
