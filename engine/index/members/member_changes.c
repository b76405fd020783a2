#include "engine/index/members/member_changes.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/room.h"

struct kept {
    STAILQ_ENTRY(kept) next;
    size_t size_bytes; /* of the change */
    bool ends_step;
    struct member_change *change;
};

struct member_changes {
    member_path_fn path;
    void *user;
    atomic_bool is_asked_for;
    uint64_t instance;
    uint64_t next; /* number; the committer's. From 1 on */

    pthread_mutex_t lock; /* of what follows */
    STAILQ_HEAD(, kept) kept;
    struct kept *last; /* of them, or NULL */
    size_t kept_bytes;
    uint64_t published; /* those with smaller numbers can be seen */
    int64_t until_ms;   /* kept so long */
};

int member_changes_new(member_path_fn path, void *user, struct member_changes **ret_changes)
{
    struct member_changes *changes = calloc(1, sizeof(*changes));
    if (!changes)
        return -ENOMEM;
    if (getrandom(&changes->instance, sizeof(changes->instance), 0) < 0)
        changes->instance = (uint64_t)clock_now_us();
    changes->instance = changes->instance >> 11 | 1; /* JSON has it exactly */
    changes->path = path;
    changes->user = user;
    changes->next = changes->published = 1;
    pthread_mutex_init(&changes->lock, NULL);
    STAILQ_INIT(&changes->kept);
    *ret_changes = changes;
    return 0;
}

static size_t cost(const struct kept *kept)
{
    return sizeof(*kept) + kept->size_bytes;
}

static void drop_first(struct member_changes *changes)
{
    struct kept *first = STAILQ_FIRST(&changes->kept);
    STAILQ_REMOVE_HEAD(&changes->kept, next);
    if (first == changes->last)
        changes->last = NULL;
    changes->kept_bytes -= cost(first);
    free(first->change);
    free(first);
}

static void drop_all(struct member_changes *changes)
{
    while (!STAILQ_EMPTY(&changes->kept))
        drop_first(changes);
}

void member_changes_free(struct member_changes *changes)
{
    if (!changes)
        return;
    drop_all(changes);
    pthread_mutex_destroy(&changes->lock);
    free(changes);
}

uint64_t member_changes_instance(const struct member_changes *changes)
{
    return changes->instance;
}

/* Those that nobody came for go with the first change that comes after. */
static bool is_kept(struct member_changes *changes)
{
    if (!atomic_load_explicit(&changes->is_asked_for, memory_order_relaxed))
        return false;
    LOCKED(&changes->lock);
    if (clock_now_ms() < changes->until_ms)
        return true;
    drop_all(changes);
    atomic_store(&changes->is_asked_for, false);
    return false;
}

static void keep(struct member_changes *changes, const struct member_change *change,
                 const char *path)
{
    const size_t path_bytes = strlen(path) + 1;
    struct kept *kept = malloc(sizeof(*kept));
    struct member_change *copy = malloc(sizeof(*copy) + path_bytes);
    if (!kept || !copy) {
        free(kept);
        free(copy);
        return;
    }
    memcpy(copy, change, sizeof(*change));
    memcpy(copy->path, path, path_bytes);
    *kept = (struct kept){.size_bytes = sizeof(*copy) + path_bytes, .change = copy};
    LOCKED(&changes->lock);
    STAILQ_INSERT_TAIL(&changes->kept, kept, next);
    changes->last = kept;
    changes->kept_bytes += cost(kept);
    while (changes->kept_bytes > MEMBER_CHANGES_BYTES)
        drop_first(changes);
}

void member_changes_note(struct member_changes *changes, enum member_change_kind kind,
                         uint64_t cluster, const struct member *member)
{
    if (!changes)
        return;
    struct member_change change = {
        .number = changes->next++, .kind = kind, .cluster = cluster, .sid = member->sid};
    if (!is_kept(changes))
        return;
    member_file(member, &change.file);
    _cleanup_free_ char *path =
        kind == MEMBER_REMOVED ? changes->path(changes->user, &change.file, &change.above) : NULL;
    keep(changes, &change, path ? path : "");
}

void member_changes_note_merge(struct member_changes *changes, uint64_t cluster, uint64_t to)
{
    if (!changes)
        return;
    const struct member_change change = {
        .number = changes->next++, .kind = MEMBERS_MERGED, .cluster = cluster, .to = to};
    if (is_kept(changes))
        keep(changes, &change, "");
}

void member_changes_publish(struct member_changes *changes, bool is_sure)
{
    if (!changes)
        return;
    changes->next += !is_sure;
    LOCKED(&changes->lock);
    if (changes->last)
        changes->last->ends_step = true;
    changes->published = changes->next;
}

void member_change_list_done(struct member_change_list *list)
{
    for (size_t i = 0; i < list->n_changes; i++)
        free(list->changes[i]);
    free(list->changes);
    *list = (struct member_change_list){0};
}

static bool is_wanted(const struct member_changes *changes, const struct kept *kept, uint64_t since)
{
    return kept->change->number >= since && kept->change->number < changes->published;
}

static int copy(const struct kept *kept, struct member_change_list *list, size_t *room)
{
    struct member_change *change = malloc(kept->size_bytes);
    if (!change || !MAKE_ROOM(list->changes, *room, list->n_changes + 1)) {
        free(change);
        return -ENOMEM;
    }
    memcpy(change, kept->change, kept->size_bytes);
    list->changes[list->n_changes++] = change;
    return 0;
}

static int copy_first(struct member_changes *changes, uint64_t since,
                      struct member_change_list *list)
{
    const struct kept *kept;
    size_t room = 0;
    STAILQ_FOREACH(kept, &changes->kept, next)
    {
        if (!is_wanted(changes, kept, since))
            continue;
        int r = copy(kept, list, &room);
        if (r < 0)
            return r;
        if (kept->ends_step && list->n_changes >= MEMBER_CHANGES_AT_ONCE) {
            list->next = kept->change->number + 1;
            break;
        }
    }
    list->more = list->next < changes->published;
    return 0;
}

int member_changes_since(struct member_changes *changes, uint64_t since,
                         struct member_change_list *ret_list)
{
    struct member_change_list list = {0};
    int r = 0;
    {
        LOCKED(&changes->lock);
        changes->until_ms = clock_now_ms() + MEMBER_CHANGES_KEPT_MS;
        atomic_store(&changes->is_asked_for, true);
        list.next = changes->published;
        if (since && since < list.next)
            r = copy_first(changes, since, &list);
    }
    if (r < 0) {
        member_change_list_done(&list);
        return r;
    }
    if (since && since < list.next)
        list.n_missing = list.next - since - list.n_changes;
    *ret_list = list;
    return 0;
}
