/* Entries that go, many at once. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/index/catalogue/other_names.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/declared.h"
#include "engine/index/intake/past/leaving.h"
#include "engine/index/intake/reconcile_private.h"

enum { PAGE = 128 };

/* The fate of an entry that goes. */
enum fate {
    FATE_OPEN,
    FATE_DOCUMENT,  /* what hangs on it goes, then the name */
    FATE_NAME,      /* the name alone is left to go */
    FATE_DIRECTORY, /* one after the other */
};

struct going {
    const struct catalogue_entry *entries, *put;
    const struct catalogue_entry *now; /* what the names are to mean; NULL: nothing */
    uint64_t *hashes, *put_hashes;     /* of their inodes */
    enum fate *fates;
    size_t *twins; /* the next of the entries that names the same inode, or n */
    size_t n, n_put;
};

static void going_done(struct going *going)
{
    free(going->hashes);
    free(going->put_hashes);
    free(going->fates);
    free(going->twins);
}

static bool is_of(const struct going *going, size_t i, const struct catalogue_entry *entry,
                  uint64_t hash)
{
    return going->hashes[i] == hash && file_key_equal(&going->entries[i].child, &entry->child);
}

static size_t find_twin(const struct going *going, size_t at)
{
    size_t i = at + 1;
    while (i < going->n && !is_of(going, i, &going->entries[at], going->hashes[at]))
        i++;
    return i;
}

static int going_init(struct going *going)
{
    going->hashes = calloc(going->n + 1, sizeof(*going->hashes));
    going->put_hashes = calloc(going->n_put + 1, sizeof(*going->put_hashes));
    going->fates = calloc(going->n + 1, sizeof(*going->fates));
    going->twins = calloc(going->n + 1, sizeof(*going->twins));
    if (!going->hashes || !going->put_hashes || !going->fates || !going->twins)
        return -ENOMEM;
    for (size_t i = 0; i < going->n; i++)
        going->hashes[i] = file_key_hash(&going->entries[i].child);
    for (size_t i = 0; i < going->n_put; i++)
        going->put_hashes[i] = file_key_hash(&going->put[i].child);
    for (size_t i = 0; i < going->n; i++)
        going->twins[i] = find_twin(going, i);
    return 0;
}

/* An inode of which several names go is decided about by the first, and the others follow. */
static void set_fate(struct going *going, size_t first, enum fate fate)
{
    going->fates[first] = fate;
    for (size_t i = going->twins[first]; i < going->n; i = going->twins[i])
        going->fates[i] = FATE_NAME;
}

static bool is_first(const struct going *going, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (going->twins[i] == at)
            return false;
    return true;
}

static bool goes(const struct going *going, size_t first, const struct catalogue_entry *put)
{
    for (size_t i = first; i < going->n; i = going->twins[i])
        if (strcmp(put->name, going->entries[i].name) == 0 &&
            file_key_equal(&put->parent, &going->entries[i].parent))
            return true;
    return false;
}

/* A name of the inode among those put just now, or NULL. */
static const struct catalogue_entry *find_put(const struct going *going, size_t first)
{
    for (size_t i = 0; i < going->n_put; i++) {
        const struct catalogue_entry *put = &going->put[i];
        if (is_of(going, first, put, going->put_hashes[i]) && !goes(going, first, put))
            return put;
    }
    return NULL;
}

/* An inode that has another name among those put just now lives on; nobody else was told of these
 * names, so they are looked at again. */
static int look_at_put(struct index *index, struct going *going)
{
    _cleanup_free_ struct catalogue_name *names = calloc(going->n + 1, sizeof(*names));
    _cleanup_free_ struct catalogue_meaning *meanings = calloc(going->n + 1, sizeof(*meanings));
    _cleanup_free_ size_t *places = calloc(going->n + 1, sizeof(*places));
    size_t n = 0;
    if (!names || !meanings || !places)
        return -ENOMEM;
    for (size_t i = 0; i < going->n; i++) {
        const struct catalogue_entry *put =
            going->fates[i] == FATE_OPEN && is_first(going, i) ? find_put(going, i) : NULL;
        if (!put)
            continue;
        names[n] = (struct catalogue_name){&put->parent, put->name};
        places[n++] = i;
    }
    int r = catalogue_get_all(index->kv, names, n, meanings);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (meanings[i].exists &&
            file_key_equal(&meanings[i].child, &going->entries[places[i]].child))
            set_fate(going, places[i], FATE_NAME);
    return r;
}

/* The inode comes to have one of the names that others lose. */
static bool comes(const struct going *going, size_t first)
{
    for (size_t i = 0; going->now && i < going->n; i++)
        if (file_key_equal(&going->now[i].child, &going->entries[first].child))
            return true;
    return false;
}

static int look_at_links(struct index *index, struct going *going, size_t first,
                         const struct catalogue_list *links)
{
    _cleanup_free_ struct catalogue_name *names = calloc(going->n, sizeof(*names));
    size_t n = 0;
    if (!names)
        return -ENOMEM;
    for (size_t i = first; i < going->n; i = going->twins[i])
        names[n++] = (struct catalogue_name){&going->entries[i].parent, going->entries[i].name};
    int r = other_names_exist_beside(index->kv, links, &going->entries[first].child, names, n);
    if (r >= 0)
        set_fate(going, first, r == 0 ? FATE_DOCUMENT : FATE_NAME);
    return r < 0 ? r : 0;
}

static int look_at_some(struct index *index, struct going *going, const size_t *places, size_t n)
{
    const struct file_key *children[CATALOGUE_AT_ONCE];
    struct catalogue_list links[CATALOGUE_AT_ONCE];
    for (size_t i = 0; i < n; i++)
        children[i] = &going->entries[places[i]].child;
    int r = n ? catalogue_links_of_all(index->kv, children, n, OTHER_NAMES_LINKS, links) : 0;
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (r == 0)
            r = look_at_links(index, going, places[i], &links[i]);
        catalogue_list_done(&links[i]);
    }
    return r;
}

static int decide_fates(struct index *index, struct going *going)
{
    size_t places[CATALOGUE_AT_ONCE], n = 0;
    for (size_t i = 0; i < going->n; i++)
        if (going->entries[i].type == ENTRY_DIRECTORY)
            going->fates[i] = FATE_DIRECTORY;
        else if (going->fates[i] == FATE_OPEN && is_first(going, i) && comes(going, i))
            set_fate(going, i, FATE_NAME);
    int r = going->n_put ? look_at_put(index, going) : 0;
    for (size_t i = 0; r == 0 && i < going->n; i++) {
        if (going->fates[i] != FATE_OPEN || !is_first(going, i))
            continue;
        places[n++] = i;
        if (n < CATALOGUE_AT_ONCE)
            continue;
        r = look_at_some(index, going, places, n);
        n = 0;
    }
    return r < 0 ? r : look_at_some(index, going, places, n);
}

/* The documents of entries that go, where it is their last name. What hangs on an entry may go at
 * any time before it does, and many documents at once cost less than one after the other. */
static int drop_documents(struct index *index, const struct going *going)
{
    _cleanup_free_ struct file_key *files = calloc(going->n + 1, sizeof(*files));
    _cleanup_free_ const struct catalogue_entry **places = calloc(going->n + 1, sizeof(*places));
    size_t n_files = 0, n_places = 0;
    if (!files || !places)
        return -ENOMEM;
    for (size_t i = 0; i < going->n; i++)
        if (going->fates[i] == FATE_NAME)
            places[n_places++] = &going->entries[i];
    int r = leaving_note_moved(index, places, n_places);
    for (size_t i = 0; i < going->n; i++)
        if (going->fates[i] == FATE_DOCUMENT) {
            places[n_files] = &going->entries[i];
            files[n_files++] = going->entries[i].child;
        }
    return r < 0 ? r : commit_drop_documents(index, files, places, n_files);
}

static void take_away(const struct going *going, size_t i, struct kv_batch *batch)
{
    const struct catalogue_entry *entry = &going->entries[i];
    const struct file_key *now =
        going->now && going->now[i].type == ENTRY_FILE ? &going->now[i].child : NULL;
    if (!now) {
        catalogue_delete(batch, &entry->parent, entry->name, &entry->child);
        return;
    }
    catalogue_delete_link(batch, &entry->parent, entry->name, &entry->child);
    catalogue_put(batch, &entry->parent, entry->name, now, ENTRY_FILE);
}

/* The entries are as they were read from the catalogue just now. */
static int remove_all(struct index *index, struct going *going, bool parent_goes)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    int r = batch ? going_init(going) : -ENOMEM;
    if (r == 0)
        r = decide_fates(index, going);
    if (r == 0)
        r = drop_documents(index, going);
    for (size_t i = 0; r == 0 && i < going->n; i++)
        if (going->fates[i] != FATE_DIRECTORY)
            take_away(going, i, batch);
    if (r == 0)
        r = reconcile_write(index, batch);
    for (size_t i = 0; r == 0 && i < going->n; i++) {
        const struct catalogue_entry *entry = &going->entries[i];
        if (going->fates[i] == FATE_DIRECTORY)
            r = reconcile_remove_entry(index, &entry->parent, entry->name, &entry->child,
                                       entry->type, parent_goes);
    }
    return r;
}

int reconcile_remove_all(struct index *index, const struct catalogue_entry *entries, size_t n,
                         const struct catalogue_entry *put, size_t n_put)
{
    _cleanup_(going_done) struct going going = {
        .entries = entries, .n = n, .put = put, .n_put = n_put};
    return remove_all(index, &going, false);
}

static int get_meanings(struct index *index, const struct catalogue_entry *entries, size_t n,
                        struct catalogue_meaning *ret_meanings)
{
    _cleanup_free_ struct catalogue_name *names = calloc(n + 1, sizeof(*names));
    if (!names)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        names[i] = (struct catalogue_name){&entries[i].parent, entries[i].name};
    return catalogue_get_all(index->kv, names, n, ret_meanings);
}

/* Those that mean another file, or come to be a directory's. */
static void take_files(struct going *going, const struct catalogue_entry *now,
                       const struct catalogue_meaning *meanings, size_t n,
                       struct catalogue_entry *was, struct catalogue_entry *then)
{
    for (size_t i = 0; i < n; i++) {
        const struct catalogue_meaning *known = &meanings[i];
        if (!known->exists || known->type != ENTRY_FILE ||
            file_key_equal(&known->child, &now[i].child))
            continue;
        was[going->n] = now[i];
        was[going->n].child = known->child;
        was[going->n].type = ENTRY_FILE;
        then[going->n++] = now[i];
    }
}

static int carry_declared(struct index *index, const struct going *going)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < going->n; i++) {
        const struct catalogue_entry *was = &going->entries[i], *now = &going->now[i];
        if (now->type == ENTRY_FILE)
            r = declared_carry(index, &was->parent, was->name, &was->child, &now->child,
                               comes(going, i));
    }
    return r;
}

int reconcile_take_names(struct index *index, const struct catalogue_entry *now, size_t n,
                         const struct catalogue_entry *put, size_t n_put)
{
    _cleanup_free_ struct catalogue_meaning *meanings = calloc(n + 1, sizeof(*meanings));
    _cleanup_free_ struct catalogue_entry *was = calloc(n + 1, sizeof(*was));
    _cleanup_free_ struct catalogue_entry *then = calloc(n + 1, sizeof(*then));
    _cleanup_(going_done) struct going going = {
        .entries = was, .now = then, .put = put, .n_put = n_put};
    int r = meanings && was && then ? get_meanings(index, now, n, meanings) : -ENOMEM;
    if (r == 0) {
        take_files(&going, now, meanings, n, was, then);
        r = carry_declared(index, &going);
    }
    return r < 0 || going.n == 0 ? r : remove_all(index, &going, false);
}

int reconcile_remove_some(struct index *index, const struct file_key *directory,
                          char after[NAME_MAX + 1])
{
    _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
    int r = catalogue_children(index->kv, directory, *after ? after : NULL, PAGE, &list);
    _cleanup_(going_done) struct going going = {.entries = list.entries, .n = list.n_entries};
    if (r == 0)
        r = remove_all(index, &going, true);
    if (r == 0 && list.n_entries)
        snprintf(after, NAME_MAX + 1, "%s", list.entries[list.n_entries - 1].name);
    return r < 0 ? r : list.n_entries > 0;
}
