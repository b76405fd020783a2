#include "engine/index/intake/directory_removal_step.h"

#include <errno.h>

#include "base/clock.h"
#include "engine/index/catalogue/other_names.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/past/leaving.h"
#include "engine/index/intake/moved_directory.h"
#include "engine/index/intake/reconcile.h"

/* -- looking for what was let go -- */

/* It has moved from where it was let go. */
static int note_found(struct index *index, const struct file_key *directory)
{
    _cleanup_free_ char *path = NULL;
    int r = directory_removal_path(index->kv, directory, &path);
    return r < 0 ? (r == -ENOENT ? 0 : r) : leaving_note_directory(index, directory, path);
}

/* Returns 1, 0 where that would take long and it is to be done soon, or an error. */
static int look_for_one(struct index *index, struct removal_set *set, bool far)
{
    struct file_key directory = key_stack_pop(&set->let_go);
    index->removal.is_looking = true;
    int r = moved_directory_look(index, &directory, NULL, false, far);
    index->removal.is_looking = false;
    if (r == PLACE_GONE)
        r = directory_removal_add(index, &directory, NULL);
    else if (r >= 0)
        r = note_found(index, &directory);
    if (r >= 0)
        r = directory_removal_note_done(index, &directory, REMOVAL_LET_GO);
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

/* A directory may be put in the place of another that is put in the place of a third, and so on:
 * each is the next to be looked for, of any number, and not one within the other. */
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
        directory_removal_end(index);
    return r < 0 ? r : 0;
}

int directory_removal_put(struct index *index, const struct file_key *parent, const char *name,
                          const struct tree_entry *entry)
{
    const int put = reconcile_put(index, parent, name, entry);
    const int r = put > 0 ? directory_removal_look(index) : 0;
    return r < 0 ? r : put;
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
    int r = directory_removal_left(index->kv, directory);
    if (r < 0 || r & REMOVAL_LET_GO)
        return r < 0 ? r : 1;
    r = directory_leads_up(index->kv, backing_root_key(index->backing), directory, NULL, &left);
    return r == -E2BIG ? 0 : r;
}

/* The last name that went from a directory; "" where none did, or that is not known any more. */
static char *last_name(struct directory_removal *removal, const struct file_key *directory)
{
    struct removal_place *place = removal->places;
    const struct removal_place *end = place + REMOVAL_PLACES;
    while (place < end && !file_key_equal(&place->directory, directory))
        place++;
    if (place == end) {
        place = &removal->places[removal->n_places++ % REMOVAL_PLACES];
        *place = (struct removal_place){.directory = *directory};
    }
    return place->name;
}

/* The directory is done with, and as a rule the one that was begun last. */
static void forget_last_name(struct directory_removal *removal, const struct file_key *directory)
{
    struct removal_place *newest = &removal->places[(removal->n_places - 1) % REMOVAL_PLACES];
    if (removal->n_places == 0 || !file_key_equal(&newest->directory, directory))
        return;
    *newest = (struct removal_place){0};
    removal->n_places--;
}

/* Takes away some entries behind those that went before, which a store would pass over each time;
 * where there are none behind, once more from the first: 1, 0 where there are none at all, or an
 * error. */
static int take_away_some(struct index *index, const struct file_key *directory)
{
    char *last = last_name(&index->removal, directory);
    int r = reconcile_remove_some(index, directory, last);
    if (r == 0 && *last) {
        *last = '\0';
        r = reconcile_remove_some(index, directory, last);
    }
    return r;
}

/* Directories below come on top. */
static int gone_step(struct index *index, struct removal_set *set)
{
    const struct file_key directory = key_stack_top(&set->gone);
    int r = stays(index, &directory);
    if (r == 0 && (r = take_away_some(index, &directory)) > 0)
        return 0;
    if (r >= 0)
        r = directory_removal_note_done(index, &directory, REMOVAL_GONE);
    if (r == 0) {
        key_stack_pop(&set->gone);
        forget_last_name(&index->removal, &directory);
    }
    return r;
}

int directory_removal_step(struct index *index)
{
    struct directory_removal *removal = &index->removal;
    if (removal_set_is_over(&removal->sets[removal->now]))
        begin_round(index);
    struct removal_set *set = &removal->sets[removal->now];
    removal->is_stepping = true;
    int r = key_stack_is_empty(&set->let_go) ? gone_step(index, set) : look_step(index, set);
    removal->is_stepping = false;
    if (r == 0 && directory_removal_is_idle(index))
        directory_removal_end(index);
    return r;
}
