/* Entries of the catalogue come by directories, so that of each directory the path is made once;
 * which documents they are is looked up some at once. A name goes to a hash table, by the
 * fingerprint of its path.
 *
 * Example: the entry (key of docs, "a.md") of the file with sid 7 is at the fingerprint of
 * "docs/a.md", with 7; that of docs at the one of "docs", as a directory.
 */
#include "engine/index/topics/tree_names.h"

#include <stdlib.h>

#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"

enum { LEAST_SLOTS = 1 << 10, AT_ONCE = 64 };

/* Of a directory in place of a sid. */
#define DIRECTORY UINT64_MAX

struct slot {
    uint64_t fingerprint; /* 0: none */
    uint64_t sid;         /* 0: of a file that is no document */
};

struct tree_names {
    struct slot *slots;
    size_t n_slots, n; /* a power of two; of which are taken */
    uint64_t last_sid;
};

void tree_names_free(struct tree_names *names)
{
    if (!names)
        return;
    free(names->slots);
    free(names);
}

static struct slot *find(struct slot *slots, size_t n_slots, uint64_t fingerprint)
{
    size_t at = fingerprint & (n_slots - 1);
    while (slots[at].fingerprint && slots[at].fingerprint != fingerprint)
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

static int grow(struct tree_names *names)
{
    const size_t n = names->n_slots ? 2 * names->n_slots : LEAST_SLOTS;
    struct slot *slots = calloc(n, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < names->n_slots; i++)
        if (names->slots[i].fingerprint)
            *find(slots, n, names->slots[i].fingerprint) = names->slots[i];
    free(names->slots);
    names->slots = slots;
    names->n_slots = n;
    return 0;
}

static int add(struct tree_names *names, const char *path, uint64_t sid)
{
    const uint64_t fingerprint = link_name_fingerprint(false, path);
    int r = 4 * names->n >= 3 * names->n_slots ? grow(names) : 0;
    if (r < 0)
        return r;
    struct slot *slot = find(names->slots, names->n_slots, fingerprint);
    names->n += slot->fingerprint == 0;
    *slot = (struct slot){fingerprint, sid};
    if (sid != DIRECTORY && sid > names->last_sid)
        names->last_sid = sid;
    return 0;
}

/* -- the walk -- */

struct some {
    struct catalogue_entry entries[AT_ONCE];
    size_t n;
};

static void some_done(struct some *some)
{
    for (size_t i = 0; i < some->n; i++)
        catalogue_entry_done(&some->entries[i]);
    some->n = 0;
}

/* Has no path: what is hanging on nothing any more, or lies too far down. */
static bool has_none(int r)
{
    return r == -ENOENT || r == -ENAMETOOLONG || r == -EPERM;
}

static int add_some(struct tree_names *names, struct kv *kv, struct path_cache *paths,
                    struct some *some)
{
    const struct file_key *files[AT_ONCE];
    struct file_row rows[AT_ONCE];
    bool exist[AT_ONCE];
    for (size_t i = 0; i < some->n; i++)
        files[i] = &some->entries[i].child;
    int r = some->n ? catalogue_get_files(kv, files, some->n, rows, exist) : 0;
    for (size_t i = 0; r == 0 && i < some->n; i++) {
        const struct catalogue_entry *entry = &some->entries[i];
        _cleanup_free_ char *path = NULL;
        r = path_cache_entry(paths, &entry->parent, entry->name, &path);
        if (r == 0)
            r = add(names, path,
                    entry->type == ENTRY_DIRECTORY ? DIRECTORY
                    : exist[i]                     ? rows[i].sid
                                                   : 0);
        r = has_none(r) ? 0 : r;
    }
    some_done(some);
    return r;
}

static int read_names(struct tree_names *names, struct kv *kv, const struct file_key *root,
                      const struct tree_stop *stop)
{
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    _cleanup_(some_done) struct some some = {0};
    struct kv_entry row;
    int r = path_cache_new(kv, root, &paths);
    if (r == 0)
        r = grow(names);
    if (r == 0)
        r = table_walk_begin(&walk, kv, TABLE_NAMES, (struct kv_slice){0});
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        r = catalogue_decode_name(&row, &some.entries[some.n]);
        some.n += r == 0;
        if (r == 0 && some.n == AT_ONCE && (r = tree_stopped(stop)) == 0)
            r = add_some(names, kv, paths, &some);
    }
    return r < 0 ? r : add_some(names, kv, paths, &some);
}

int tree_names_read(struct kv *kv, const struct file_key *root, const struct tree_stop *stop,
                    struct tree_names **ret_names)
{
    _cleanup_(tree_names_free_p) struct tree_names *names = calloc(1, sizeof(*names));
    int r = names ? read_names(names, kv, root, stop) : -ENOMEM;
    if (r == 0)
        *ret_names = TAKE_PTR(names);
    return r;
}

/* -- */

enum link_is tree_names_find(const struct tree_names *names, const char *name, uint64_t *ret_sid)
{
    *ret_sid = 0;
    if (!*name)
        return LINK_IS_DIRECTORY;
    const struct slot *slot =
        find(names->slots, names->n_slots, link_name_fingerprint(false, name));
    if (!slot->fingerprint)
        return LINK_IS_NOTHING;
    if (slot->sid == DIRECTORY)
        return LINK_IS_DIRECTORY;
    *ret_sid = slot->sid;
    return LINK_IS_FILE;
}

uint64_t tree_names_last_sid(const struct tree_names *names)
{
    return names->last_sid;
}
