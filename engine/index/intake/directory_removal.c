#include "engine/index/intake/directory_removal.h"

#include <errno.h>

#include "base/clock.h"
#include "engine/index/catalogue/other_names.h"
#include "engine/index/intake/moved_directory.h"
#include "engine/index/intake/reconcile.h"

/* The work left to do, of a directory. */
enum { LET_GO = 1, GONE = 2 };

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
    return value.size_bytes == 1 ? *(const uint8_t *)value.data & (LET_GO | GONE) : GONE;
}

/* The work left that is noted of a directory, or an error. */
static int left_to_do(struct kv *kv, const struct file_key *directory)
{
    struct removed_key key;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_INTENTS, removed_key(directory, &key), &value);
    return r == -ENOENT ? 0 : r < 0 ? r : decode_left(kv_buf_slice(&value));
}

static int note(struct index *index, const struct file_key *directory, int left)
{
    const uint8_t value = (uint8_t)left;
    struct removed_key key;
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    if (left)
        kv_batch_put(batch, TABLE_INTENTS, removed_key(directory, &key),
                     (struct kv_slice){&value, sizeof(value)});
    else
        kv_batch_delete(batch, TABLE_INTENTS, removed_key(directory, &key));
    return kv_apply(index->kv, batch);
}

static int note_done(struct index *index, const struct file_key *directory, int done)
{
    int left = left_to_do(index->kv, directory);
    return left < 0 ? left : note(index, directory, left & ~done);
}

int directory_removal_is_noted(struct kv *kv, const struct file_key *directory)
{
    int left = left_to_do(kv, directory);
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
    return what == LET_GO ? &set->let_go : &set->gone;
}

static int add(struct index *index, const struct file_key *directory, int what)
{
    struct directory_removal *removal = &index->removal;
    struct removal_set *set = &removal->sets[removal->is_stepping ? removal->now : !removal->now];
    int left = left_to_do(index->kv, directory);
    if (left < 0 || left & what)
        return left < 0 ? left : 0;
    if (!key_stack_push(stack_of(set, what), directory))
        return -ENOMEM;
    go_on(index);
    int r = note(index, directory, left | what);
    if (r < 0)
        key_stack_pop(stack_of(set, what));
    return r;
}

int directory_removal_add(struct index *index, const struct file_key *directory)
{
    return add(index, directory, GONE);
}

int directory_removal_let_go(struct index *index, const struct file_key *directory)
{
    return add(index, directory, LET_GO);
}

static int take_row(struct index *index, const struct kv_entry *row)
{
    struct kv_slice rest = {(const uint8_t *)row->key.data + PREFIX_BYTES,
                            row->key.size_bytes - PREFIX_BYTES};
    struct removal_set *set = &index->removal.sets[index->removal.now];
    struct file_key directory;
    int r = catalogue_take_key(&rest, &directory);
    if (r < 0 || rest.size_bytes)
        return -EUCLEAN;
    const uint8_t left = decode_left(row->value);
    if ((left & GONE && !key_stack_push(&set->gone, &directory)) ||
        (left & LET_GO && !key_stack_push(&set->let_go, &directory)))
        return -ENOMEM;
    go_on(index);
    return 0;
}

int directory_removal_recover(struct index *index)
{
    enum { PAGE_ENTRIES = 256 };
    struct kv_range range;
    _cleanup_(kv_buf_done) struct kv_buf to = {0}, from = {0};
    int r = kv_prefix_range((struct kv_slice){removed, PREFIX_BYTES}, &range, &to);
    for (bool more = true; r == 0 && more;) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        r = kv_scan(index->kv, TABLE_INTENTS, &range, PAGE_ENTRIES, &page);
        for (size_t i = 0; r == 0 && i < page.n_entries; i++)
            r = take_row(index, &page.entries[i]);
        more = r == 0 && page.more && page.n_entries > 0;
        if (more) {
            kv_buf_done(&from);
            r = kv_page_cursor(&page, &from);
            range.from = kv_buf_slice(&from);
        }
    }
    return r;
}

/* -- its end -- */

static bool is_over(const struct removal_set *set)
{
    return key_stack_is_empty(&set->let_go) && key_stack_is_empty(&set->gone);
}

bool directory_removal_is_idle(const struct index *index)
{
    return is_over(&index->removal.sets[0]) && is_over(&index->removal.sets[1]);
}

static void end(struct index *index)
{
    LOCKED(&index->lock);
    index->removing = false;
    pthread_cond_broadcast(&index->background_changed);
}

/* -- looking for what was let go -- */

/* Returns 1, 0 where that would take long and it is to be done soon, or an error. */
static int look_for_one(struct index *index, struct removal_set *set, bool far)
{
    struct file_key directory = key_stack_pop(&set->let_go);
    index->removal.is_looking = true;
    int r = moved_directory_look(index, &directory, NULL, false, far);
    index->removal.is_looking = false;
    if (r == PLACE_GONE)
        r = add(index, &directory, GONE);
    if (r >= 0)
        r = note_done(index, &directory, LET_GO);
    if (r == 0)
        return 1;
    /* When the store can be written again, or by who looks far. */
    if (!key_stack_push(&set->let_go, &directory) && r == -E2BIG)
        return -ENOMEM;
    return r == -E2BIG ? 0 : r;
}

/* Returns whether there was none, or any was looked for; or an error. */
static int look_for_some(struct index *index, struct removal_set *set, unsigned most)
{
    unsigned n = 0;
    int r = 1;
    while (r > 0 && n < most && !key_stack_is_empty(&set->let_go)) {
        r = look_for_one(index, set, false);
        n += r > 0;
    }
    return r < 0 ? r : r > 0 || n > 0;
}

/* Where one is put in the place of another that is put in the place of a third, and so on, each is
 * the next to be looked for: of any number, and not one within the other. */
int directory_removal_look(struct index *index)
{
    enum { AT_ONCE = 8 };
    struct directory_removal *removal = &index->removal;
    if (removal->is_looking || removal->is_stepping)
        return 0;
    struct removal_set *set = &removal->sets[!removal->now];
    const bool has_some = !key_stack_is_empty(&set->let_go);
    int r = look_for_some(index, set, AT_ONCE);
    /* No step comes any more that would tell who waits for it. */
    if (r >= 0 && has_some && directory_removal_is_idle(index))
        end(index);
    return r < 0 ? r : 0;
}

/* -- in steps -- */

static void begin_round(struct index *index)
{
    index->removal.now = !index->removal.now;
    LOCKED(&index->lock);
    index->n_removal_rounds++;
    pthread_cond_broadcast(&index->background_changed);
}

static int look_step(struct index *index, struct removal_set *set)
{
    enum { AT_ONCE = 64, STEP_US = 5000 };
    const int64_t end_us = clock_now_us() + STEP_US;
    int r = look_for_some(index, set, AT_ONCE);
    bool far = r == 0;
    while (r >= 0 && far && !key_stack_is_empty(&set->let_go)) {
        r = look_for_one(index, set, true);
        far = clock_now_us() < end_us;
    }
    return r < 0 ? r : 0;
}

/* One that is back stays, and one that is to be looked for: 1; 0, or an error. */
static int stays(struct index *index, const struct file_key *directory)
{
    unsigned left = CLIMB_FAR;
    int r = left_to_do(index->kv, directory);
    if (r < 0 || r & LET_GO)
        return r < 0 ? r : 1;
    r = directory_leads_up(index->kv, backing_root_key(index->backing), directory, NULL, &left);
    return r == -E2BIG ? 0 : r;
}

/* Directories below come on top. */
static int gone_step(struct index *index, struct removal_set *set)
{
    const struct file_key directory = key_stack_top(&set->gone);
    int r = stays(index, &directory);
    if (r == 0 && (r = reconcile_remove_some(index, &directory)) > 0)
        return 0;
    if (r >= 0)
        r = note_done(index, &directory, GONE);
    if (r == 0)
        key_stack_pop(&set->gone);
    return r;
}

int directory_removal_step(struct index *index)
{
    struct directory_removal *removal = &index->removal;
    if (is_over(&removal->sets[removal->now]))
        begin_round(index);
    struct removal_set *set = &removal->sets[removal->now];
    removal->is_stepping = true;
    int r = key_stack_is_empty(&set->let_go) ? gone_step(index, set) : look_step(index, set);
    removal->is_stepping = false;
    if (r == 0 && directory_removal_is_idle(index))
        end(index);
    return r;
}

void directory_removal_done(struct index *index)
{
    for (unsigned i = 0; i < 2; i++) {
        key_stack_done(&index->removal.sets[i].let_go);
        key_stack_done(&index->removal.sets[i].gone);
    }
    end(index);
}
