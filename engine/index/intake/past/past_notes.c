#include "engine/index/intake/past/past_notes.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/room.h"
#include "engine/index/tables/meta.h"

enum { KEEP_USUAL_S = 365 * 24 * 3600, LINE_READ = 64 };
#define SECOND_NS UINT64_C(1000000000)

/* -- how many each owner has -- */

static size_t place_of(const struct past_notes *notes, uid_t uid)
{
    size_t first = 0, end = notes->n_owners;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (notes->owners[middle].uid < uid)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static struct past_owner *owner_of(struct past_notes *notes, uid_t uid)
{
    const size_t at = place_of(notes, uid);
    if (at < notes->n_owners && notes->owners[at].uid == uid)
        return &notes->owners[at];
    if (!MAKE_ROOM(notes->owners, notes->room, notes->n_owners + 1))
        return NULL;
    memmove(&notes->owners[at + 1], &notes->owners[at],
            (notes->n_owners - at) * sizeof(notes->owners[0]));
    notes->owners[at] = (struct past_owner){.uid = uid};
    notes->n_owners++;
    return &notes->owners[at];
}

int past_notes_read(struct past_notes *notes)
{
    int64_t after = -1;
    notes->n = notes->n_owners = 0;
    past_lines_forget(&notes->lines);
    uid_t uid;
    int r;
    while ((r = past_next_owner(notes->kv, after, &uid)) > 0) {
        struct past_owner *owner = owner_of(notes, uid);
        if (!owner)
            return -ENOMEM;
        r = past_get_count(notes->kv, uid, &owner->n);
        if (r < 0 && r != -EUCLEAN)
            return r;
        notes->n += owner->n;
        after = uid;
    }
    return r;
}

int past_notes_open(struct past_notes *notes, struct kv *kv, uint64_t keep_s)
{
    uint64_t stored = KEEP_USUAL_S;
    *notes = (struct past_notes){.kv = kv,
                                 .owner_max = PAST_OWNER_MAX,
                                 .total_max = PAST_TOTAL_MAX,
                                 .line_max = PAST_LINE_MAX};
    int r = meta_get_number(kv, PAST_META_KEEP, &stored);
    if (r == -ENOENT)
        r = 0;
    if (r == 0 && keep_s != UINT64_MAX && keep_s != stored) {
        r = meta_put_number(kv, PAST_META_KEEP, keep_s);
        stored = keep_s;
    }
    atomic_init(&notes->keep_s, stored);
    return r < 0 ? r : past_notes_read(notes);
}

void past_notes_done(struct past_notes *notes)
{
    free(notes->owners);
    notes->owners = NULL;
    past_lines_forget(&notes->lines);
}

uint64_t past_notes_since(const struct past_notes *notes, uint64_t now_ns)
{
    const uint64_t keep_s = atomic_load(&notes->keep_s);
    return keep_s == 0                    ? UINT64_MAX
           : keep_s >= now_ns / SECOND_NS ? 0
                                          : now_ns - keep_s * SECOND_NS;
}

/* -- what goes -- */

/* The steps for one owner at a time. */
struct noting {
    struct past_notes *notes;
    struct kv_batch *batch;
    uid_t owner;
    int64_t n_more; /* events, when the batch is written */
    struct past_place *gone;
    size_t n_gone, room;
};

static bool same_place(const struct past_place *a, const struct past_place *b)
{
    return a->time_ns == b->time_ns && a->number == b->number;
}

/* It goes with the batch, and the store has it still. */
static bool is_going(const struct noting *noting, const struct past_place *place)
{
    for (size_t i = 0; i < noting->n_gone; i++)
        if (same_place(&noting->gone[i], place))
            return true;
    return false;
}

static int let_go(struct noting *noting, const struct past_place *place,
                  const struct past_event *of, const char *path)
{
    _cleanup_(past_event_done) struct past_event event = {0};
    if (!MAKE_ROOM(noting->gone, noting->room, noting->n_gone + 1))
        return -ENOMEM;
    noting->gone[noting->n_gone++] = *place;
    int r = past_get(noting->notes->kv, noting->owner, place, &event);
    noting->n_more -= r == 0 || r == -EUCLEAN; /* else there is none to be counted */
    if (r == 0) {
        past_lines_take_out(&noting->notes->lines, &event);
        return past_delete(noting->batch, &event);
    }
    if (r == -EUCLEAN || r == -ENOENT)
        past_delete_damaged(noting->batch, noting->owner, place, &of->record.key, path);
    return r == -EUCLEAN || r == -ENOENT ? 0 : r;
}

/* The event of a line, but for its first, that is nearest to those beside it; the one behind the
 * last is at next_ns. */
static size_t nearest(const struct past_place *places, size_t n, uint64_t next_ns)
{
    size_t least = 1;
    uint64_t least_ns = UINT64_MAX;
    for (size_t i = 1; i < n; i++) {
        const uint64_t behind = i + 1 < n ? places[i + 1].time_ns : next_ns;
        const uint64_t gap_ns = behind - places[i - 1].time_ns;
        if (gap_ns < least_ns) {
            least_ns = gap_ns;
            least = i;
        }
    }
    return least;
}

static void take_out(struct past_place *places, size_t *n, size_t at)
{
    memmove(&places[at], &places[at + 1], (--*n - at) * sizeof(places[0]));
}

/* Puts the event's place into those of its line, and keeps these. */
static void keep_line(struct noting *noting, const struct past_event *event, const char *path,
                      struct past_place *places, size_t n, const struct past_place *own)
{
    size_t at = n;
    for (; at > 0 &&
           (places[at - 1].time_ns > own->time_ns ||
            (places[at - 1].time_ns == own->time_ns && places[at - 1].number > own->number));
         at--)
        places[at] = places[at - 1];
    places[at] = *own;
    past_lines_keep(&noting->notes->lines, noting->owner, path ? NULL : &event->record.key, path,
                    places, n + 1);
}

/* Makes room in a line for an event: that of its document, or, with path, of its place. */
static int thin(struct noting *noting, const struct past_event *event, const char *path,
                bool *is_there)
{
    struct past_place places[LINE_READ + 1];
    const struct past_place own = {event->time_ns, past_number(event), (uint8_t)event->kind};
    size_t n = 0;
    int r = past_lines_read(&noting->notes->lines, noting->notes->kv, noting->owner,
                            path ? NULL : &event->record.key, path, LINE_READ, places, &n);
    const bool is_whole = n < LINE_READ;
    for (size_t i = 0; r == 0 && i < n;) {
        const bool is_own = same_place(&places[i], &own);
        const bool goes = !is_own && is_going(noting, &places[i]);
        *is_there |= is_own;
        /* The store failed behind the first note of it; or the file was linked there again. */
        const bool again =
            !is_own && !goes && event->kind == PAST_DIED && places[i].number == own.number;
        if (again)
            r = let_go(noting, &places[i], event, path);
        if (again || goes || is_own)
            take_out(places, &n, i);
        else
            i++;
    }
    while (r == 0 && n >= noting->notes->line_max && n > 1) {
        const size_t at = nearest(places, n, event->time_ns);
        r = let_go(noting, &places[at], event, path);
        take_out(places, &n, at);
    }
    if (r == 0 && is_whole)
        keep_line(noting, event, path, places, n, &own);
    return r;
}

static int note(struct noting *noting, const struct past_event *event)
{
    bool is_there = false;
    struct past_owner *owner = owner_of(noting->notes, noting->owner);
    int r = owner ? past_put(noting->batch, event) : -ENOMEM;
    if (r < 0)
        return r == -EINVAL ? 0 : r;
    if (event->time_ns < owner->from_ns)
        owner->from_ns = event->time_ns;
    r = thin(noting, event, NULL, &is_there);
    if (r == 0 && event->kind != PAST_CHANGED)
        r = thin(noting, event, event->path, &is_there);
    noting->n_more += !is_there;
    return r;
}

/* Writes the batch with the number that follows from it, and empties it. */
static int write_batch(struct noting *noting)
{
    struct past_notes *notes = noting->notes;
    struct past_owner *owner = owner_of(notes, noting->owner);
    if (!owner)
        return -ENOMEM;
    const int64_t more = noting->n_more < 0 && (uint64_t)-noting->n_more > owner->n
                             ? -(int64_t)owner->n
                             : noting->n_more;
    const uint64_t n = owner->n + (uint64_t)more;
    past_put_count(noting->batch, noting->owner, n);
    int r = kv_apply(notes->kv, noting->batch);
    if (r < 0)
        return r;
    owner->n = n;
    notes->n += (uint64_t)more;
    kv_batch_clear(noting->batch);
    noting->n_more = 0;
    noting->n_gone = 0;
    return 0;
}

static int take_out_gone(void *user, const struct past_event *event)
{
    past_lines_take_out(user, event);
    return 0;
}

/* Returns how many went, or an error. */
static int delete_oldest(struct past_notes *notes, uid_t uid, uint64_t before_ns, size_t most)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct noting noting = {.notes = notes, .batch = batch, .owner = uid};
    struct past_owner *owner = owner_of(notes, uid);
    if (!batch || !owner)
        return -ENOMEM;
    uint64_t from_ns = owner->from_ns;
    int n = past_delete_oldest(notes->kv, uid, &from_ns, before_ns, most, batch, take_out_gone,
                               &notes->lines);
    noting.n_more = -n;
    int r = n > 0 ? write_batch(&noting) : n;
    if (r < 0)
        past_lines_forget(&notes->lines);
    if (n <= 0 || r < 0)
        return r;
    owner->from_ns = from_ns;
    return n;
}

/* A number that says more than there are is set right, at once: it may be any. */
static int bound(struct past_notes *notes, uid_t uid, uint64_t over)
{
    int r = 1;
    while (over > 0 && r > 0) {
        const size_t most = over < PAST_DELETED_AT_ONCE ? (size_t)over : PAST_DELETED_AT_ONCE;
        r = delete_oldest(notes, uid, UINT64_MAX, most);
        over -= r > 0 ? (uint64_t)r : 0;
    }
    if (r == 0 && over > 0) {
        struct past_owner *owner = owner_of(notes, uid);
        if (!owner)
            return -ENOMEM;
        notes->n -= owner->n;
        owner->n = 0;
    }
    return r < 0 ? r : 0;
}

static uid_t largest(const struct past_notes *notes)
{
    const struct past_owner *found = &notes->owners[0];
    for (size_t i = 1; i < notes->n_owners; i++)
        if (notes->owners[i].n > found->n)
            found = &notes->owners[i];
    return found->uid;
}

/* The lines that an event is in, as numbers: two that are equal by chance cost a write. */
struct lines {
    uint64_t file, path;
};

static bool meets(const struct lines *lines, size_t n, const struct lines *other)
{
    for (size_t i = 0; i < n; i++)
        if (lines[i].file == other->file || lines[i].path == other->path)
            return true;
    return false;
}

/* A line is thinned by what the store has of it, so an event is written before another one comes to
 * its line: somebody unlinks hundreds of links of one file at once. */
static int note_some(struct noting *noting, const struct past_event *events, size_t n,
                     struct lines *lines)
{
    size_t n_lines = 0;
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct past_event *event = &events[i];
        const struct file_key *key = &event->record.key;
        if (event->owner != noting->owner)
            continue;
        lines[n_lines] = (struct lines){XXH3_64bits(key->bytes, key->size_bytes),
                                        XXH3_64bits(event->path, strlen(event->path))};
        if (meets(lines, n_lines, &lines[n_lines])) {
            r = write_batch(noting);
            lines[0] = lines[n_lines];
            n_lines = 0;
        }
        n_lines++;
        if (r == 0)
            r = note(noting, event);
    }
    return r == 0 && kv_batch_count(noting->batch) ? write_batch(noting) : r;
}

static int note_owner(struct past_notes *notes, uid_t uid, const struct past_event *events,
                      size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_free_ struct lines *lines = malloc(n * sizeof(*lines));
    struct noting noting = {.notes = notes, .batch = batch, .owner = uid};
    int r = batch && lines ? note_some(&noting, events, n, lines) : -ENOMEM;
    free(noting.gone);
    const struct past_owner *owner = r == 0 ? owner_of(notes, uid) : NULL;
    if (r == 0 && owner && owner->n > notes->owner_max)
        r = bound(notes, uid, owner->n - notes->owner_max);
    while (r == 0 && notes->n > notes->total_max)
        r = bound(notes, largest(notes),
                  notes->n - notes->total_max < PAST_DELETED_AT_ONCE ? notes->n - notes->total_max
                                                                     : PAST_DELETED_AT_ONCE);
    return r;
}

static bool came_before(const struct past_event *events, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (events[i].owner == events[at].owner)
            return true;
    return false;
}

int past_notes_add(struct past_notes *notes, const struct past_event *events, size_t n)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        if (!came_before(events, i))
            r = note_owner(notes, events[i].owner, events, n);
    if (r < 0)
        past_lines_forget(&notes->lines);
    return r;
}

int past_notes_expire(struct past_notes *notes, uint64_t now_ns)
{
    const uint64_t since_ns = past_notes_since(notes, now_ns);
    if (since_ns == 0)
        return 0;
    for (size_t i = 0; notes->n_looked < notes->n_owners; i++) {
        const struct past_owner *owner = &notes->owners[notes->turn % notes->n_owners];
        if (i == PAST_OWNERS_AT_ONCE)
            return 1;
        int r = owner->n ? delete_oldest(notes, owner->uid, since_ns, PAST_DELETED_AT_ONCE) : 0;
        if (r != 0) {
            notes->n_looked = 0;
            return r < 0 ? r : 1;
        }
        notes->turn = (notes->turn + 1) % notes->n_owners;
        notes->n_looked++;
    }
    notes->n_looked = 0;
    return 0;
}
