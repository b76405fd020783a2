#include "engine/index/intake/scan/scan_sets.h"

#include "base/clock.h"
#include "engine/index/catalogue/catalogue.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/notices.h"

enum {
    STUCK_MS = 10000,
    LOOK_MS = 100,
    NAME_MS = 5, /* that a look takes, and a name, on a slow disk */
    /* Keys, in bytes, of an owner who is stuck, or whose directories join: of either more come
     * all the time. */
    OF_ONE_MAX = 4 << 20,
    LATER_MAX = 256 << 10, /* the same of those that join again, in one step */
    JOINED_MAX = 1 << 20,  /* directories of the set that others join, gone ones too, in 16 MiB */
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

/* Of an owner who is stuck no more may wait than that. */
static bool has_room(struct scan *scan, const struct owner_stacks *stacks, uid_t owner)
{
    const bool has = owner_stacks_bytes(stacks, owner) <= OF_ONE_MAX || !is_stuck(owner, scan);
    if (!has)
        scan->left_some = true;
    return has;
}

int scan_add_directory(struct index *index, const struct file_key *directory, uid_t owner,
                       unsigned set)
{
    struct scan *scan = &index->scan;
    struct owner_stacks *directories = &scan->sets[set].directories;
    is_begun(index);
    if (!has_room(scan, directories, owner)) /* one that does not wait may come later */
        return 0;
    if (set != scan->now && scan->sets[set].members.n >= JOINED_MAX)
        return leave_to_next(index, owner);
    int r = scan_members_set(&scan->sets[set].members, directory, SCAN_WAITS);
    return r == 0 && !owner_stacks_push(directories, owner, directory) ? -ENOMEM : r;
}

int scan_add_lossy(struct index *index, const struct file_key *directory, uid_t owner, unsigned set)
{
    struct owner_stacks *lossy = &index->scan.sets[set].lossy;
    return !has_room(&index->scan, lossy, owner) || owner_stacks_push(lossy, owner, directory)
               ? 0
               : -ENOMEM;
}

/* By a clock that is ahead of ours nothing was. */
static bool is_since(uint64_t ns, uint64_t begun_ns)
{
    return begun_ns && ns >= begun_ns && ns <= clock_real_ns();
}

/* 1: it was made since the set began that runs; 0, or an error. Where nobody knows when: it has
 * changed since, and has no name that is known, that one's row being still to be written. */
static int is_of_next(struct index *index, const struct tree_entry *directory, unsigned set,
                      bool is_new)
{
    const uint64_t begun_ns = index->scan.sets[set].begun_ns;
    const struct timespec *changed = &directory->st.st_ctim;
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    if (set != index->scan.now)
        return 0;
    if (directory->born_ns || !is_new)
        return is_since(directory->born_ns, begun_ns);
    if (!is_since((uint64_t)changed->tv_sec * 1000000000u + (uint64_t)changed->tv_nsec, begun_ns))
        return 0;
    int r = catalogue_links(index->kv, &directory->key, 1, &links);
    return r < 0 ? r : links.n_entries == 0;
}

int scan_add_found(struct index *index, const struct tree_entry *directory, unsigned set,
                   bool is_new)
{
    const struct scan_members *members = &index->scan.sets[set].members;
    const enum scan_member state = scan_members_get(members, &directory->key);
    if (state == SCAN_WAITS)
        return 0;
    int r = state == SCAN_NO_MEMBER ? is_of_next(index, directory, set, is_new) : 1;
    if (r < 0)
        return r;
    return r > 0 ? scan_join_directory(index, &directory->key, directory->st.st_uid)
                 : scan_add_directory(index, &directory->key, directory->st.st_uid, set);
}

static int push_later(struct index *index, const struct file_key *directory, uid_t owner)
{
    struct scan *scan = &index->scan;
    is_begun(index);
    if (!owner_stacks_push(&scan->later, owner, directory))
        return -ENOMEM;
    return scan_members_set(&scan->sets[!scan->now].members, directory, SCAN_COMES_LATER);
}

int scan_join_directory(struct index *index, const struct file_key *directory, uid_t owner)
{
    const struct scan *scan = &index->scan;
    const struct scan_set *set = &scan->sets[!scan->now];
    switch (scan_members_get(&set->members, directory)) {
    case SCAN_WAITS:
    case SCAN_COMES_LATER: is_begun(index); break;
    case SCAN_TAKEN:
        return owner_stacks_bytes(&scan->later, owner) > LATER_MAX
                   ? leave_to_next(index, owner)
                   : push_later(index, directory, owner);
    case SCAN_NO_MEMBER:
        return owner_stacks_bytes(&set->directories, owner) > OF_ONE_MAX && !is_stuck(owner, scan)
                   ? leave_to_next(index, owner)
                   : scan_add_directory(index, directory, owner, !scan->now);
    }
    return 0;
}

int scan_forget_taken(struct scan *scan)
{
    return scan_members_forget_taken(&scan->sets[!scan->now].members);
}

int scan_is_taken(struct scan *scan, unsigned set, const struct file_key *directory)
{
    struct scan_members *members = &scan->sets[set].members;
    return scan_members_get(members, directory) == SCAN_WAITS
               ? scan_members_set(members, directory, SCAN_TAKEN)
               : 0;
}

void scan_want_directory(struct index *index, const struct file_key *directory, uid_t owner)
{
    LOCKED(&index->lock);
    if (index->damaged)
        return;
    if (owner_stacks_bytes(&index->wanted, owner) <= OF_ONE_MAX &&
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
        scan_members_done(&scan->sets[i].members);
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

bool scan_may_remove(const struct scan *scan, unsigned set)
{
    return scan_is_all_added(scan, set) && (set == scan->now || is_set_over(scan, scan->now));
}

bool scan_is_over(const struct index *index)
{
    const struct scan *scan = &index->scan;
    return is_set_over(scan, 0) && is_set_over(scan, 1) && owner_stacks_are_empty(&scan->later);
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
    scan_members_done(&scan->sets[scan->now].members);
    if (!is_set_over(scan, !scan->now)) {
        scan->now = !scan->now;
        scan->sets[scan->now].begun_ns = clock_real_ns();
        scan->n_slow = 0;
    } else {
        scan_members_done(&scan->sets[!scan->now].members);
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
