#include "engine/index/intake/scan/scan_sets.h"

#include "base/clock.h"
#include "engine/index/index_state.h"

enum {
    STUCK_MS = 10000,
    LOOK_MS = 100,
    NAME_MS = 5, /* that a look takes, and a name, on a slow disk */
    /* Keys of an owner who is stuck, in bytes: partial scans add to them all the time. */
    STUCK_BYTES_MAX = 4 << 20,
    JOINED_MAX = 1 << 16, /* directories that are known to have joined, in 2 MiB */
};

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

static bool is_stuck(uid_t owner, const void *user)
{
    const struct scan *scan = user;
    const struct slow_owner *slow = slow_of(scan, owner);
    const struct scan_slot *slot = slot_of(scan, owner);
    const int64_t ms = (slow ? slow->ms : 0) + (slot && slot->is_out ? out_ms(slot) : 0);
    return ms > STUCK_MS;
}

bool scan_is_stuck(const struct scan *scan, uid_t owner)
{
    return is_stuck(owner, scan);
}

bool scan_has_visit(const struct scan *scan, uid_t owner)
{
    return slot_of(scan, owner) != NULL;
}

static bool is_not_stuck(uid_t owner, const void *scan)
{
    return !is_stuck(owner, scan);
}

void scan_count_look(struct scan *scan, uid_t owner, size_t n_names, int64_t ms)
{
    struct slow_owner *slow = slow_of(scan, owner);
    ms -= LOOK_MS + NAME_MS * (int64_t)n_names;
    if (ms <= 0)
        return;
    if (!slow && scan->n_slow < N_SLOW_OWNERS) {
        slow = &scan->slow[scan->n_slow++];
        *slow = (struct slow_owner){.owner = owner};
    }
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

/* One that waits already is looked at once, with all that is below it, however often somebody has
 * renamed it: who does that faster than it is looked at would have neither this scan nor the next
 * come to an end. Where a locked directory keeps a set from becoming empty, those that joined it
 * are forgotten when they are many, and what waits may come to wait twice. */
int scan_join_directory(struct index *index, const struct file_key *directory, uid_t owner)
{
    const unsigned set = !index->scan.now;
    struct sid_tally *joined = &index->scan.sets[set].joined;
    if (joined->n_sids >= JOINED_MAX)
        sid_tally_done(joined);
    uint32_t *waits = sid_tally_of(joined, number_of(directory));
    if (!waits)
        return -ENOMEM;
    if (*waits) {
        is_begun(index);
        return 0;
    }
    int r = push(index, directory, owner, set);
    *waits = r > 0; /* one that is left out does not wait, and may join later */
    return r < 0 ? r : 0;
}

void scan_is_taken(struct scan *scan, unsigned set, const struct file_key *directory)
{
    struct sid_tally *joined = &scan->sets[set].joined;
    if (sid_tally_find(joined, number_of(directory)))
        *sid_tally_of(joined, number_of(directory)) = 0;
    if (owner_stacks_are_empty(&scan->sets[set].directories))
        sid_tally_done(joined);
}

void scan_want_directory(struct index *index, const struct file_key *directory, uid_t owner)
{
    LOCKED(&index->lock);
    if (index->damaged)
        return;
    if (owner_stacks_push(&index->wanted, owner, directory))
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
    }
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
    return is_set_over(&index->scan, 0) && is_set_over(&index->scan, 1);
}

bool scan_may_begin(struct index *index)
{
    struct scan *scan = &index->scan;
    if (!is_set_over(scan, scan->now))
        return false;
    if (!is_set_over(scan, !scan->now)) {
        scan->now = !scan->now;
        scan->n_slow = 0;
    }
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
    return true;
}
