#include "engine/index/intake/past/leaving.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>

#include "engine/index/catalogue/other_names.h"
#include "engine/index/intake/directory_removal.h"
#include "engine/index/intake/open_soon.h"

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return file_row_ns(&now);
}

static bool is_off(struct index *index)
{
    return atomic_load(&index->past.keep_s) == 0;
}

/* -- where it was -- */

/* A path in the making, from its end. */
struct climb {
    char bytes[PAST_PATH_MAX + 1];
    size_t at;
};

static int put_before(struct climb *climb, const char *name)
{
    const size_t n = strlen(name), slash = climb->at < PAST_PATH_MAX;
    if (n + slash > climb->at)
        return -ENOENT;
    if (slash)
        climb->bytes[--climb->at] = '/';
    climb->at -= n;
    memcpy(climb->bytes + climb->at, name, n);
    return 0;
}

/* One step: puts the name of a directory before, and goes on with the one it is in. Returns 1, 0 at
 * the end, or an error. */
static int climb_up(struct index *index, struct climb *climb, struct file_key *directory)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    _cleanup_free_ char *gone = NULL;
    int r = catalogue_links(index->kv, directory, 1, &links);
    if (r < 0)
        return r;
    if (links.n_entries) {
        *directory = links.entries[0].parent;
        r = put_before(climb, links.entries[0].name);
        return r < 0 ? r : 1;
    }
    r = directory_removal_path(index->kv, directory, &gone);
    return r < 0 ? r : put_before(climb, gone);
}

int leaving_path(struct index *index, const struct file_key *parent, const char *name,
                 char **ret_path)
{
    struct climb climb = {.at = PAST_PATH_MAX};
    struct file_key directory = *parent;
    int r = put_before(&climb, name);
    bool is_over = file_key_equal(&directory, backing_root_key(index->backing));
    for (unsigned n = 0; r >= 0 && !is_over; n++) {
        r = n < CLIMB_NEAR ? climb_up(index, &climb, &directory) : -ENOENT;
        is_over = r == 0 || file_key_equal(&directory, backing_root_key(index->backing));
    }
    if (r < 0)
        return r;
    *ret_path = strndup(climb.bytes + climb.at, PAST_PATH_MAX - climb.at);
    return *ret_path ? 0 : -ENOMEM;
}

/* Most that come together are of one directory. */
struct directory_path {
    struct file_key directory;
    char *path; /* NULL: none is known; "": the root */
    bool known;
};

static int path_in(struct index *index, struct directory_path *last, const struct file_key *parent,
                   const char *name, char **ret_path)
{
    if (!last->known || !file_key_equal(&last->directory, parent)) {
        char *path = NULL;
        int r = leaving_path(index, parent, "x", &path);
        if (r < 0 && r != -ENOENT)
            return r;
        if (path)
            path[strlen(path) - 1] = '\0'; /* the slash before the name stays */
        free(last->path);
        *last = (struct directory_path){*parent, path, true};
    }
    if (!last->path || strlen(last->path) + strlen(name) > PAST_PATH_MAX)
        return -ENOENT;
    return asprintf(ret_path, "%s%s", last->path, name) < 0 ? -ENOMEM : 0;
}

/* -- events -- */

static uint64_t born_of(const struct stored_row *stored, const struct record *record)
{
    return stored->row.born_ns ? stored->row.born_ns : file_row_ns(&record->ctime);
}

int leaving_note_names(struct index *index, enum past_kind kind,
                       const struct catalogue_entry *const *places,
                       const struct stored_document *documents, size_t n)
{
    struct directory_path last = {0};
    size_t n_events = 0;
    int r = 0;
    if (is_off(index) || n == 0)
        return 0;
    _cleanup_free_ struct past_event *events = calloc(n, sizeof(*events));
    if (!events)
        return -ENOMEM;
    const uint64_t time_ns = now_ns();
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct stored_document *document = &documents[i];
        if (!places[i] || !document->sid)
            continue;
        struct past_event *event = &events[n_events];
        r = path_in(index, &last, &places[i]->parent, places[i]->name, &event->path);
        if (r == -ENOENT) {
            r = 0;
            continue;
        }
        event->owner = document->stored.row.owner;
        event->time_ns = time_ns;
        event->kind = kind;
        event->born_ns = born_of(&document->stored, &document->record);
        event->resemblance = NAN;
        event->record = document->record;
        n_events += r == 0;
    }
    if (r == 0)
        r = past_notes_add(&index->past, events, n_events);
    for (size_t i = 0; i < n; i++)
        free(events[i].path);
    free(last.path);
    return r;
}

int leaving_note_moved(struct index *index, const struct catalogue_entry *const *places, size_t n)
{
    if (is_off(index) || n == 0)
        return 0;
    _cleanup_free_ struct file_key *files = calloc(n, sizeof(*files));
    _cleanup_free_ struct stored_document *documents = calloc(n, sizeof(*documents));
    if (!files || !documents)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        files[i] = places[i]->child;
    int r = stored_row_documents(index->kv, files, n, documents);
    if (r == 0)
        r = leaving_note_names(index, PAST_MOVED, places, documents, n);
    for (size_t i = 0; i < n; i++)
        record_done(&documents[i].record);
    return r;
}

/* A document is found below a directory, down the first directories. Returns 1, 0 (there is none to
 * be found soon), or an error. */
static int has_document(struct index *index, struct file_key directory)
{
    enum { DEPTH_MAX = 16, SOME = 16 };
    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
        bool has_directory = false;
        int r = catalogue_children(index->kv, &directory, NULL, SOME, &list);
        for (size_t i = 0; r == 0 && i < list.n_entries; i++) {
            struct file_row row;
            if (list.entries[i].type == ENTRY_DIRECTORY)
                continue;
            r = catalogue_get_file(index->kv, &list.entries[i].child, &row);
            if (r == 0 && row.sid)
                return 1;
            r = r == -ENOENT ? 0 : r;
        }
        if (r < 0)
            return r;
        for (size_t i = 0; !has_directory && i < list.n_entries; i++)
            if (list.entries[i].type == ENTRY_DIRECTORY) {
                directory = list.entries[i].child;
                has_directory = true;
            }
        if (!has_directory)
            return 0;
    }
    return 0;
}

/* Its own, as anybody can have files of others' in a directory: links to them. One that is removed
 * meanwhile has none. Returns 1, 0 or -ENOMEM. */
static int owner_of(struct index *index, const struct file_key *directory, uid_t *ret_owner)
{
    struct stat st;
    _cleanup_close_ int fd = open_soon_committing(index, directory);
    if (fd == -ENOMEM)
        return fd;
    if (fd < 0 || fstat(fd, &st) < 0)
        return 0;
    *ret_owner = st.st_uid;
    return 1;
}

int leaving_note_directory(struct index *index, const struct file_key *directory, const char *from)
{
    struct past_event event = {.kind = PAST_DIRECTORY, .resemblance = NAN};
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    _cleanup_free_ char *to = NULL;
    if (!from || is_off(index))
        return 0;
    int r = has_document(index, *directory);
    if (r > 0)
        r = owner_of(index, directory, &event.owner);
    if (r > 0)
        r = catalogue_links(index->kv, directory, 1, &links);
    if (r < 0 || links.n_entries == 0)
        return r;
    r = leaving_path(index, &links.entries[0].parent, links.entries[0].name, &to);
    if (r < 0 || strcmp(from, to) == 0)
        return r == -ENOENT ? 0 : r;
    event.time_ns = now_ns();
    event.path = (char *)from;
    event.to = to;
    event.record.key = *directory;
    return past_notes_add(&index->past, &event, 1);
}

bool leaving_changed(struct index *index, const struct record *old, const struct record *record,
                     const struct stored_row *stored, uid_t owner, struct past_event *ret_event)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    struct estimate estimate;
    const bool is_known =
        record_resemblance(old, record, &estimate) == 0 && (estimate.n_samples || estimate.exact);
    if (is_off(index) || old->size_bytes == 0 ||
        (is_known && estimate.value >= 1 && old->size_bytes == record->size_bytes))
        return false;
    char *path = NULL;
    if (catalogue_links(index->kv, &record->key, 1, &links) < 0 || links.n_entries == 0 ||
        leaving_path(index, &links.entries[0].parent, links.entries[0].name, &path) < 0)
        return false;
    const uint64_t now = now_ns(), written = file_row_ns(&record->ctime);
    const uint64_t since = past_notes_since(&index->past, now);
    *ret_event = (struct past_event){.owner = owner,
                                     .time_ns = written > now     ? now
                                                : written < since ? since
                                                                  : written,
                                     .kind = PAST_CHANGED,
                                     .path = path,
                                     .born_ns = born_of(stored, old),
                                     .resemblance = is_known ? estimate.value : NAN,
                                     .record = *old};
    return true;
}
