/* The scan: every directory of the tree against the catalogue, some names of one a step (visit.h),
 * so that what users do goes before, and the queue is asked between two steps whether there is
 * room.
 *
 * Two passes. The first only adds, and remembers the directories that have lost or exchanged
 * entries; the second goes over those and removes. So what was moved to a new name while nobody
 * looked is found there before it is missed under its old one, and keeps its sketch; a document
 * moved over another's name is sketched anew.
 *
 * Names that come to be while a scan runs are looked at beside it, and belong to the next one, as
 * do directories that are found once more, each of which a scan takes once (scan_add_found()): so
 * nobody can keep the end of the first pass from coming.
 *
 * A directory can be kept locked for ever. So threads that do nothing else look at names, and of an
 * owner at one directory at a time: the others of that owner's wait, and nobody else's. An owner
 * whose directories have taken STUCK_MS more than their names explain is not waited for by the
 * second pass, by the next scan of the tree, or by whoever waits for a scan: what is in them and
 * below comes in when they are free.
 *
 * Example: of the directories a and b, u's, and c, v's, a is locked. c is visited, the scan is over
 * as far as anybody is told, and the next one begins. a comes back when it is free, then b is
 * visited.
 *
 * Memory: some names of N_SCANNERS directories, and the keys of the directories seen but not yet
 * read (depth first, so the sum of their siblings along one path of each owner), and some 16 bytes
 * for each directory of a scan.
 */
#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "engine/index/intake/directory_removal.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/scan/scan.h"
#include "engine/index/intake/scan/scan_sets.h"
#include "engine/index/intake/told_path.h"
#include "engine/index/intake/scan/visit.h"

/* -- what is to be visited -- */

int scan_begin(struct index *index)
{
    const struct file_key *root = backing_root_key(index->backing);
    struct stat st;
    if (fstat(backing_root_fd(index->backing), &st) < 0)
        return -errno;
    atomic_store(&index->scan_found, 0);
    ignored_forget(index->ignored, root);
    scan_sets_forget(&index->scan); /* all that waits is found again */
    index->scan.n_slow = 0;
    index->scan.sets[index->scan.now].begun_ns = clock_real_ns();
    return scan_add_directory(index, root, st.st_uid, index->scan.now);
}

/* -- the threads that look -- */

static unsigned count_waiting(const struct index *index)
{
    unsigned n = 0;
    for (size_t i = 0; i < N_SCANNERS; i++)
        n += index->scan.slots[i].state == SLOT_WAITS;
    return n;
}

/* A scanner more is begun where those that rest are too few, up to one for each slot: a thread
 * takes address space. */
static void hand_out(struct index *index, struct scan_slot *slot)
{
    slot->is_out = true;
    slot->out_at_ms = clock_now_ms();
    slot->back_at_ms = 0;
    LOCKED(&index->lock);
    slot->state = SLOT_WAITS;
    if (index->n_scanners && index->n_scanners < N_SCANNERS && !index->stop &&
        count_waiting(index) > index->n_scanners_idle &&
        pthread_create(&index->threads[index->n_started], NULL, scan_run, index) == 0) {
        index->n_started++;
        index->n_scanners++;
    }
    pthread_cond_signal(&index->wake_scanners);
}

static struct scan_slot *find_slot(struct index *index, enum slot_state state)
{
    for (size_t i = 0; i < N_SCANNERS; i++)
        if (index->scan.slots[i].state == state)
            return &index->scan.slots[i];
    return NULL;
}

static void rest(struct index *index)
{
    index->n_scanners_idle++;
    pthread_cond_wait(&index->wake_scanners, &index->lock);
    index->n_scanners_idle--;
}

bool scan_look(struct index *index, bool wait)
{
    struct scan_slot *slot;
    {
        LOCKED(&index->lock);
        while (!index->stop && !(slot = find_slot(index, SLOT_WAITS)) && wait)
            rest(index);
        if (index->stop || !slot)
            return false;
        slot->state = SLOT_LOOKS;
    }
    visit_look(slot->visit);
    LOCKED(&index->lock);
    slot->state = SLOT_BACK;
    slot->back_at_ms = clock_now_ms();
    index->n_visits_back++;
    pthread_cond_signal(&index->wake_committer);
    return true;
}

void *scan_run(void *user)
{
    struct index *index = user;
    niceness_join(&index->niceness);
    while (scan_look(index, true))
        ;
    niceness_leave(&index->niceness);
    return NULL;
}

static void end_visit(struct scan_slot *slot)
{
    visit_free(slot->visit);
    slot->visit = NULL;
    slot->is_dropped = slot->is_told = false;
}

/* Takes in what came back. */
static void take_back(struct index *index)
{
    struct scan *scan = &index->scan;
    LOCKED(&index->lock);
    for (size_t i = 0; index->n_visits_back && i < N_SCANNERS; i++) {
        struct scan_slot *slot = &scan->slots[i];
        if (slot->state != SLOT_BACK)
            continue;
        slot->state = SLOT_RESTS;
        slot->is_out = false;
        index->n_visits_back--;
        scan_count_look(scan, slot->owner, visit_n_names(slot->visit),
                        slot->back_at_ms - slot->out_at_ms);
        if (slot->is_dropped)
            end_visit(slot);
    }
}

void scan_touch(struct index *index, const struct file_key *directory, const char *name)
{
    for (size_t i = 0; i < N_SCANNERS; i++) {
        struct visit *visit = index->scan.slots[i].visit;
        if (visit && file_key_equal(visit_directory(visit), directory))
            visit_touch(visit, name);
    }
}

/* -- whose turn it is -- */

static bool has_no_visit(uid_t owner, const void *scan)
{
    return !scan_has_visit(scan, owner);
}

static bool is_here(const struct scan_slot *slot)
{
    return slot->visit && !slot->is_out;
}

/* A visit that the committer goes on with, in turns, or NULL. */
static struct scan_slot *next_visit(struct scan *scan)
{
    for (size_t i = 0; i < N_SCANNERS; i++) {
        const size_t at = (scan->turn + i) % N_SCANNERS;
        if (!is_here(&scan->slots[at]))
            continue;
        scan->turn = at + 1;
        return &scan->slots[at];
    }
    return NULL;
}

static struct scan_slot *free_slot(struct scan *scan)
{
    for (size_t i = 0; i < N_SCANNERS; i++)
        if (!scan->slots[i].visit)
            return &scan->slots[i];
    return NULL;
}

/* The stacks to take a directory from that can be visited now, or NULL. All four have their turns:
 * one owner may have much in either set, or several have their next directories come all the time.
 */
static struct owner_stacks *next_stacks(struct scan *scan, unsigned *ret_set)
{
    enum { STACKS = 4 };
    if (!free_slot(scan))
        return NULL;
    for (unsigned i = 0; i < STACKS; i++) {
        const unsigned at = (scan->next + i) % STACKS;
        struct scan_set *set = &scan->sets[at % 2];
        struct owner_stacks *stacks = at < 2 ? &set->directories : &set->lossy;
        *ret_set = at % 2;
        if ((at < 2 || scan_may_remove(scan, at % 2)) &&
            owner_stacks_any(stacks, has_no_visit, scan))
            return stacks;
    }
    return NULL;
}

static int begin_visit(struct index *index)
{
    struct scan *scan = &index->scan;
    unsigned set;
    struct owner_stacks *stacks = next_stacks(scan, &set);
    struct scan_slot *slot = free_slot(scan);
    struct file_key directory;
    uid_t owner;
    if (!stacks || !owner_stacks_pop(stacks, has_no_visit, scan, &owner, &directory))
        return 0;
    scan->next++;
    slot->owner = owner;
    slot->set = set;
    slot->removing = stacks == &scan->sets[set].lossy;
    slot->visit = visit_new(index, &directory, owner, set, slot->removing);
    if (!slot->visit)
        return -ENOMEM;
    hand_out(index, slot);
    return slot->removing ? 0 : scan_is_taken(scan, set, &directory);
}

static int go_on(struct index *index, struct scan_slot *slot)
{
    struct scan *scan = &index->scan;
    struct visit *visit = slot->visit;
    int r = visit_step(visit);
    if (r == VISIT_LOOKS)
        hand_out(index, slot);
    if (r != VISIT_OVER)
        return r < 0 ? r : 0;
    r = visit_is_lossy(visit)
            ? scan_add_lossy(index, visit_directory(visit), slot->owner, slot->set)
            : 0;
    if (slot->is_told && scan->left_some) {
        scan->left_some = false;
        index_rescan(index);
    }
    end_visit(slot);
    return r;
}

/* Once all is found that is below the root, what hangs on the root of before is gone. */
static int forget_old_root(struct index *index)
{
    struct file_key old_root;
    int r = store_identity_old_root(index, &old_root);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    r = directory_removal_add(index, &old_root, NULL);
    return r < 0 ? r : meta_delete(index->kv, "old_root");
}

/* Says of directories that are stuck, once each, that the scan goes on without them. */
static void tell_stuck(struct index *index)
{
    for (size_t i = 0; i < N_SCANNERS; i++) {
        struct scan_slot *slot = &index->scan.slots[i];
        if (!slot->visit || slot->is_told || !scan_is_stuck(&index->scan, slot->owner))
            continue;
        slot->is_told = true;
        _cleanup_free_ char *told = told_path(index, visit_directory(slot->visit));
        if (told)
            messages_warn(&index->messages,
                          "%s: somebody keeps it locked, or the disk is slow; what user %u owns is "
                          "scanned once that is over",
                          *told ? told : ".", (unsigned)slot->owner);
    }
}

bool scan_has_step(struct index *index)
{
    unsigned set;
    take_back(index);
    tell_stuck(index);
    for (size_t i = 0; i < N_SCANNERS; i++)
        if (is_here(&index->scan.slots[i]))
            return true;
    return next_stacks(&index->scan, &set) != NULL;
}

int scan_step(struct index *index)
{
    struct scan_slot *slot = next_visit(&index->scan);
    int r = begin_visit(index);
    if (r == 0 && slot)
        r = go_on(index, slot);
    if (r < 0 || !scan_is_idle(index))
        return r < 0 ? r : 1;
    return forget_old_root(index);
}

void scan_done(struct index *index)
{
    struct scan *scan = &index->scan;
    scan_sets_forget(scan);
    LOCKED(&index->lock);
    for (size_t i = 0; i < N_SCANNERS; i++) {
        struct scan_slot *slot = &scan->slots[i];
        if (slot->state == SLOT_LOOKS) {
            slot->is_dropped = true;
            continue;
        }
        index->n_visits_back -= slot->state == SLOT_BACK;
        slot->state = SLOT_RESTS;
        slot->is_out = false;
        end_visit(slot);
    }
}
