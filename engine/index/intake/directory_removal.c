#include "engine/index/intake/directory_removal.h"

#include <errno.h>

#include "engine/index/catalogue/other_names.h"
#include "engine/index/intake/reconcile.h"

static const char removed[] = "removed"; /* without its NUL */

struct removed_key {
    uint8_t bytes[sizeof(removed) + FILE_KEY_MAX_BYTES];
    size_t size_bytes;
};

static struct kv_slice removed_key(const struct file_key *directory, struct removed_key *ret_key)
{
    uint8_t *p = ret_key->bytes;
    memcpy(p, removed, sizeof(removed) - 1);
    p += sizeof(removed) - 1;
    *p++ = directory->size_bytes;
    memcpy(p, directory->bytes, directory->size_bytes);
    p += directory->size_bytes;
    ret_key->size_bytes = (size_t)(p - ret_key->bytes);
    return (struct kv_slice){ret_key->bytes, ret_key->size_bytes};
}

/* rest  of a key, behind the prefix */
static int decode(struct kv_slice rest, struct file_key *ret_directory)
{
    const uint8_t *p = rest.data;
    const size_t size = rest.size_bytes;
    if (size < 1 || p[0] < FILE_KEY_MIN_BYTES || p[0] > FILE_KEY_MAX_BYTES || size != 1u + p[0])
        return -EUCLEAN;
    ret_directory->size_bytes = p[0];
    memcpy(ret_directory->bytes, p + 1, p[0]);
    return 0;
}

static int note(struct index *index, bool put, const struct file_key *directory)
{
    struct removed_key key;
    return reconcile_intend(index, put, removed_key(directory, &key));
}

void directory_removal_go_on(struct index *index)
{
    LOCKED(&index->lock);
    index->removing = true;
}

static int push(struct index *index, const struct file_key *directory)
{
    if (!key_stack_push(&index->removal, directory))
        return -ENOMEM;
    directory_removal_go_on(index);
    return 0;
}

int directory_removal_add(struct index *index, const struct file_key *directory)
{
    int r = note(index, true, directory);
    return r < 0 ? r : push(index, directory);
}

int directory_removal_is_noted(struct kv *kv, const struct file_key *directory)
{
    struct removed_key key;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_INTENTS, removed_key(directory, &key), &value);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int push_intent(struct index *index, struct kv_slice rest)
{
    struct file_key directory;
    int r = decode(rest, &directory);
    return r < 0 ? r : push(index, &directory);
}

int directory_removal_recover(struct index *index)
{
    return reconcile_each_intent(index, removed, push_intent);
}

bool directory_removal_is_idle(const struct index *index)
{
    return key_stack_is_empty(&index->removal) && index->n_moved == 0;
}

static void end(struct index *index)
{
    LOCKED(&index->lock);
    index->removing = false;
    pthread_cond_broadcast(&index->background_changed);
}

static int take_off_some(struct index *index)
{
    enum { AT_ONCE = 64 };
    const size_t n = index->n_moved;
    int r = reconcile_take_off_moved(index, AT_ONCE, false);
    if (r == 0 && index->n_moved >= n)
        r = reconcile_take_off_moved(index, 1, true);
    if (r == 0 && directory_removal_is_idle(index))
        end(index);
    return r;
}

/* Directories below come on top, so that the list is no longer than the tree is deep and wide. */
int directory_removal_step(struct index *index)
{
    if (index->n_moved)
        return take_off_some(index);
    struct file_key directory = key_stack_top(&index->removal);
    unsigned left = CLIMB_FAR;
    int r =
        directory_leads_up(index->kv, backing_root_key(index->backing), &directory, NULL, &left);
    if (r == 0 || r == -E2BIG)
        r = reconcile_remove_some(index, &directory);
    else if (r > 0)
        r = 0; /* it is back */
    if (r == 0)
        r = note(index, false, &directory);
    else if (r > 0)
        return 0;
    if (r < 0)
        return r;
    key_stack_pop(&index->removal);
    if (directory_removal_is_idle(index))
        end(index);
    return 0;
}

void directory_removal_done(struct index *index)
{
    key_stack_done(&index->removal);
    reconcile_moved_done(index);
    end(index);
}
