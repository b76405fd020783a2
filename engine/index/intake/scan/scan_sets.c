#include "engine/index/intake/scan/scan_sets.h"

#include "base/clock.h"
#include "engine/index/catalogue/catalogue.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/notices.h"

enum {
    STUCK_MS = 10000,
    LOOK_MS = 100,
    NAME_MS = 5, /* that a look takes, and a name, on a slow disk */
    /* Keys of an owner who is stuck, in bytes: partial scans add to them all the time. */
    STUCK_BYTES_MAX = 4 << 20,
    JOINED_MAX = 1 << 16, /* directories that may join a set, in 2 MiB */
};

/* The state of a directory that joined a set, and how often it was taken. One whose visit
 * came to nothing, as it was not where it had been found, may join again, and does where it was
 * found meanwhile. */
enum { WAITS = 1, TAKEN, FOUND, VISITED, COMES_LATER, STATE = 7, ONE_TIME = 8, TIMES_MAX = 3 };

static void is_begun(struct index *index)
{
    LOCKED(&index->lock);
    index->scanning = true;
    index->n_scans_begun++;
}

static const struct scan_slot *slot_of(const struct scan *scan, uid_t owner)
{
    for (size_t i = 0; i < N_SCANNERS; i++)
        if (scan->slots[i].visit && scan->slots[i].owner == owner)
            return &scan->slots[i];
    return NULL;
}

static struct slow_owner *slow_of(const struct scan *scan, uid_t owner)
{
    for (size_t i = 0; i < scan->n_slow; i++)
        if (scan->slow[i].owner == owner)
            return (struct slow_owner *)&scan->slow[i];
    return NULL;
}

/* How long it has been looked at, which the wait for the committer is no part of. */
static int64_t out_ms(const struct scan_slot *slot)
{
    const int64_t back_at_ms = atomic_load(&slot->back_at_ms);
    return (back_at_ms ? back_at_ms : clock_now_ms()) - slot->out_at_ms;
}

bool scan_is_stuck(const struct scan *scan, uid_t owner)
{
    const struct slow_owner *slow = slow_of(scan, owner);
    const struct scan_slot *slot = slot_of(scan, owner);
    const int64_t ms = (slow ? slow->ms : 0) + (slot && slot->is_out ? out_ms(slot) : 0);
    return ms > STUCK_MS;
}

/* Nobody waits for what the owner has. */
static bool is_stuck(uid_t owner, const void *user)
{
    const struct slow_owner *slow = slow_of(user, owner);
    return (slow && slow->is_crowded) || scan_is_stuck(user, owner);
}

bool scan_has_visit(const struct scan *scan, uid_t owner)
{
    return slot_of(scan, owner) != NULL;
}

static bool is_not_stuck(uid_t owner, const void *scan)
{
    return !is_stuck(owner, scan);
}

/* NULL: there are too many. */
static struct slow_owner *make_slow(struct scan *scan, uid_t owner)
{
    struct slow_owner *slow = slow_of(scan, owner);
    if (slow || scan->n_slow == N_SLOW_OWNERS)
        return slow;
    slow = &scan->slow[scan->n_slow++];
    *slow = (struct slow_owner){.owner = owner};
    return slow;
}

void scan_count_look(struct scan *scan, uid_t owner, size_t n_names, int64_t ms)
{
    ms -= LOOK_MS + NAME_MS * (int64_t)n_names;
    struct slow_owner *slow = ms > 0 ? make_slow(scan, owner) : NULL;
    if (slow)
        slow->ms += ms;
}

/* Returns 1, 0 where it was left out, or -ENOMEM. */
static int push(struct index *index, const struct file_key *directory, uid_t owner, unsigned set)
{
    struct scan *scan = &index->scan;
    struct owner_stacks *directories = &scan->sets[set].directories;
    is_begun(index);
    if (owner_stacks_bytes(directories, owner) > STUCK_BYTES_MAX && is_stuck(owner, scan)) {
        scan->left_some = true;
        return 0;
    }
    return owner_stacks_push(directories, owner, directory) ? 1 : -ENOMEM;
}

int scan_add_directory(struct index *index, const struct file_key *directory, uid_t owner,
                       unsigned set)
{
    int r = push(index, directory, owner, set);
    return r < 0 ? r : 0;
}

static uint64_t number_of(const struct file_key *directory)
{
    return file_key_hash(directory) | 1;
}

/* The state of a directory in a set; NULL without memory, or, with *ret_full, where as many have
 * joined as are known of. */
static uint32_t *state_of(struct scan_set *set, const struct file_key *directory, bool *ret_full)
{
    const uint64_t number = number_of(directory);
    *ret_full = set->joined.n_sids >= JOINED_MAX && !sid_tally_find(&set->joined, number);
    return *ret_full ? NULL : sid_tally_of(&set->joined, number);
}

/* NULL: it has not joined. */
static uint32_t *known_state(struct scan_set *set, const struct file_key *directory)
{
    return (uint32_t *)sid_tally_find(&set->joined, number_of(directory));
}

static void set_state(uint32_t *state, uint32_t to)
{
    *state = (*state & ~(uint32_t)STATE) | to;
}

/* A directory was found that needs no place in the set. */
static bool has_joined(struct scan_set *set, const struct file_key *directory)
{
    uint32_t *state = known_state(set, directory);
    if (state && (*state & STATE) == TAKEN)
        set_state(state, FOUND);
    return state && *state & STATE;
}

/* 1: a scan of the tree may find it in another place, too; 0, or an error. */
static int has_moved(struct index *index, const struct file_key *directory, bool is_new)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(index->kv, directory, 2, &links);
    return r < 0 ? r : links.n_entries > !is_new;
}

int scan_add_found(struct index *index, const struct file_key *directory, uid_t owner, unsigned set,
                   bool is_new)
{
    struct scan *scan = &index->scan;
    if (has_joined(&scan->sets[set], directory) ||
        (set == scan->now && has_joined(&scan->sets[!set], directory)))
        return 0;
    int r = scan->sets[set].is_whole ? has_moved(index, directory, is_new) : 1;
    if (r <= 0)
        return r < 0 ? r : scan_add_directory(index, directory, owner, set);
    bool is_full;
    uint32_t *state = state_of(&scan->sets[set], directory, &is_full);
    if (is_full)
        index_rescan(index);
    if (!state)
        return is_full ? 0 : -ENOMEM;
    r = push(index, directory, owner, set);
    set_state(state, r > 0 ? WAITS : 0);
    return r < 0 ? r : 0;
}

/* A scan of the tree finds it; meanwhile its owner, who could put what is not known of in the way
 * of the scan again and again, is not waited for. */
static int leave_to_next(struct index *index, uid_t owner)
{
    struct slow_owner *slow = make_slow(&index->scan, owner);
    if (slow)
        slow->is_crowded = true;
    index_rescan(index);
    is_begun(index);
    return 0;
}

static int push_later(struct index *index, const struct file_key *directory, uid_t owner)
{
    is_begun(index);
    return owner_stacks_push(&index->scan.later, owner, directory) ? 1 : -ENOMEM;
}

int scan_join_directory(struct index *index, const struct file_key *directory, uid_t owner)
{
    const unsigned set = !index->scan.now;
    bool is_full;
    uint32_t *state = state_of(&index->scan.sets[set], directory, &is_full);
    if (!state)
        return is_full ? leave_to_next(index, owner) : -ENOMEM;
    const uint32_t was = *state & STATE;
    if (was == WAITS || was == COMES_LATER) {
        is_begun(index);
        return 0;
    }
    const bool is_later = was != 0;
    int r = is_later ? push_later(index, directory, owner) : push(index, directory, owner, set);
    if (r > 0) /* one that is left out does not wait, and may join later */
        set_state(state, is_later ? COMES_LATER : WAITS);
    return r < 0 ? r : 0;
}

void scan_is_taken(struct scan *scan, unsigned set, const struct file_key *directory)
{
    uint32_t *state = known_state(&scan->sets[set], directory);
    if (!state || (*state & STATE) != WAITS)
        return;
    set_state(state, TAKEN);
    *state += ONE_TIME;
}

int scan_is_visited(struct index *index, unsigned set, const struct file_key *directory,
                    uid_t owner, bool is_made)
{
    uint32_t *state = known_state(&index->scan.sets[set], directory);
    const uint32_t was = state ? *state & STATE : 0;
    if (was != TAKEN && was != FOUND)
        return 0;
    if (is_made || *state / ONE_TIME == TIMES_MAX) {
        set_state(state, VISITED);
        if (!is_made)
            index_rescan(index);
        return 0;
    }
    int r = was == FOUND ? push(index, directory, owner, set) : 0;
    set_state(state, r > 0 ? WAITS : 0);
    return r < 0 ? r : 0;
}

void scan_forget_taken(struct scan *scan)
{
    struct sid_tally *joined = &scan->sets[!scan->now].joined;
    for (size_t i = 0; i < joined->n_slots; i++)
        if ((joined->slots[i].n & STATE) != WAITS)
            joined->slots[i].n = 0;
}

void scan_want_directory(struct index *index, const struct file_key *directory, uid_t owner)
{
    LOCKED(&index->lock);
    if (index->damaged)
        return;
    if (owner_stacks_bytes(&index->wanted, owner) <= STUCK_BYTES_MAX &&
        owner_stacks_push(&index->wanted, owner, directory))
        index->scanning = true;
    else
        index->rescan_wanted = true;
    index->n_scans_begun++;
    pthread_cond_signal(&index->wake_committer);
}

static bool anybody(uid_t owner, const void *user)
{
    (void)owner, (void)user;
    return true;
}

static bool pop_wanted(struct index *index, uid_t *ret_owner, struct file_key *ret_directory)
{
    LOCKED(&index->lock);
    return owner_stacks_pop(&index->wanted, anybody, NULL, ret_owner, ret_directory);
}

int scan_take_wanted(struct index *index)
{
    struct file_key directory;
    uid_t owner;
    int r = 0;
    while (r == 0 && pop_wanted(index, &owner, &directory))
        r = scan_join_directory(index, &directory, owner);
    return r;
}

void scan_sets_forget(struct scan *scan)
{
    for (size_t i = 0; i < 2; i++) {
        owner_stacks_done(&scan->sets[i].directories);
        owner_stacks_done(&scan->sets[i].lossy);
        sid_tally_done(&scan->sets[i].joined);
        scan->sets[i].is_whole = false;
    }
    owner_stacks_done(&scan->later);
}

static bool is_visiting(const struct scan *scan, unsigned set, bool removing)
{
    for (size_t i = 0; i < N_SCANNERS; i++) {
        const struct scan_slot *slot = &scan->slots[i];
        if (slot->visit && slot->set == set && slot->removing == removing &&
            !is_stuck(slot->owner, scan))
            return true;
    }
    return false;
}

bool scan_is_all_added(const struct scan *scan, unsigned set)
{
    return !is_visiting(scan, set, false) &&
           !owner_stacks_any(&scan->sets[set].directories, is_not_stuck, scan);
}

int scan_join_moved(struct index *index, const struct file_key *directory, uid_t owner)
{
    return scan_is_all_added(&index->scan, index->scan.now)
               ? 0
               : scan_join_directory(index, directory, owner);
}

static bool is_set_over(const struct scan *scan, unsigned set)
{
    return scan_is_all_added(scan, set) && !is_visiting(scan, set, true) &&
           !owner_stacks_any(&scan->sets[set].lossy, is_not_stuck, scan);
}

bool scan_is_over(const struct index *index)
{
    const struct scan *scan = &index->scan;
    return is_set_over(scan, 0) && is_set_over(scan, 1) && owner_stacks_are_empty(&scan->later);
}

static void end_set(struct scan_set *set)
{
    sid_tally_done(&set->joined);
    set->is_whole = false;
}

/* Directories that came to join the set that runs now once more join the next one. */
static void join_later(struct index *index)
{
    struct owner_stacks later = index->scan.later;
    struct file_key directory;
    uid_t owner;
    int r = 0;
    index->scan.later = (struct owner_stacks){0};
    while (r == 0 && owner_stacks_pop(&later, anybody, NULL, &owner, &directory))
        r = scan_join_directory(index, &directory, owner);
    owner_stacks_done(&later);
    if (r < 0)
        index_rescan(index);
}

bool scan_may_begin(struct index *index)
{
    struct scan *scan = &index->scan;
    if (!is_set_over(scan, scan->now))
        return false;
    end_set(&scan->sets[scan->now]);
    if (!is_set_over(scan, !scan->now)) {
        scan->now = !scan->now;
        scan->n_slow = 0;
    } else {
        end_set(&scan->sets[!scan->now]);
    }
    join_later(index);
    LOCKED(&index->lock);
    index->n_scan_rounds++;
    pthread_cond_broadcast(&index->background_changed);
    return true;
}

bool scan_is_idle(const struct index *index)
{
    const struct scan *scan = &index->scan;
    for (size_t i = 0; i < N_SCANNERS; i++)
        if (scan->slots[i].visit)
            return false;
    for (size_t i = 0; i < 2; i++)
        if (!owner_stacks_are_empty(&scan->sets[i].directories) ||
            !owner_stacks_are_empty(&scan->sets[i].lossy))
            return false;
    return owner_stacks_are_empty(&scan->later);
}
