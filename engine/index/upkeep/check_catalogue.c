/* Names and links, which are the same entries from above and from below; that what has entries is
 * in the tree; and that what is known of a file is of one with a name. Links are in the order of
 * the inodes they are of, so parents of names, and files, are looked for by walking beside them.
 */
#include <errno.h>

#include "base/escape.h"
#include "engine/index/catalogue/other_names.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/intake/directory_removal.h"

/* A walk over links, beside another one in the order of keys. */
struct beside {
    struct check *check;
    struct table_walk walk;
    struct check_tally *tally; /* what links are taken off; NULL: only looked at */
    bool some, ended;
    struct file_key child; /* of the last link */
};

static int take_link(struct beside *beside, const struct kv_entry *row)
{
    _cleanup_(catalogue_entry_done) struct catalogue_entry link = {0};
    struct check *check = beside->check;
    int r = catalogue_decode_link(row->key, &link);
    if (r == -EUCLEAN)
        return beside->tally ? check_bad_row(check, TABLE_LINKS, row) : 0;
    if (r < 0)
        return r;
    beside->some = true;
    beside->child = link.child;
    if (beside->tally) {
        check->counts->links++;
        check_tally_take(beside->tally, file_key_hash(&link.child), row->key.data,
                         row->key.size_bytes);
    }
    return 0;
}

/* Returns 1 with another link, 0 at the end, or an error. */
static int next_link(struct beside *beside)
{
    struct kv_entry row;
    int r = table_walk_next(&beside->walk, &row);
    if (r > 0)
        r = take_link(beside, &row);
    else
        beside->ended = true;
    if (r < 0 && beside->ended)
        return check_read_failed(beside->check, TABLE_LINKS, r);
    return r < 0 ? r : !beside->ended;
}

/* An inode has a link; asked of inodes in ascending order. 1, 0, or an error. */
static int has_link(struct beside *beside, const struct file_key *key)
{
    while (!beside->ended && (!beside->some || file_key_compare(&beside->child, key) < 0)) {
        int r = next_link(beside);
        if (r < 0)
            return r;
    }
    return beside->some && file_key_compare(&beside->child, key) == 0;
}

static int beside_begin(struct beside *beside, struct check *check, struct check_tally *tally)
{
    *beside = (struct beside){.check = check, .tally = tally};
    return table_walk_begin(&beside->walk, check->kv, TABLE_LINKS, (struct kv_slice){0});
}

static void beside_done(struct beside *beside)
{
    table_walk_done(&beside->walk);
}

/* -- names -- */

struct naming {
    struct check *check;
    struct check_tally *tally;
    struct beside links;
    struct file_key parent; /* of the last name */
    bool some;
};

static int found_entry(struct check *check, unsigned table, const struct file_key *parent,
                       const char *name, const char *what)
{
    _cleanup_free_ char *escaped = NULL;
    int r = escape_name(name, &escaped);
    return r < 0 ? r
                 : check_found(check, table == TABLE_NAMES ? CHECK_NAMES : CHECK_LINKS, table,
                               parent, "the entry '%s' in it %s", escaped, what);
}

/* The first links lead from a directory into a circle of which nothing is being removed. 1, 0, or
 * an error. */
static int is_in_circle(const struct check *check, const struct file_key *directory)
{
    struct file_key at = *directory;
    for (unsigned n = 0; n < CLIMB_FAR && (n == 0 || !file_key_equal(&at, directory)); n++) {
        _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
        int r = directory_removal_is_noted(check->kv, &at);
        if (r == 0)
            r = catalogue_links(check->kv, &at, 1, &links);
        if (r != 0 || links.n_entries == 0) /* told of where it has entries */
            return r < 0 ? r : 0;
        at = links.entries[0].parent;
    }
    return 1;
}

/* The way up of a directory that has a link is checked. */
static int check_way_up(struct check *check, const struct file_key *directory)
{
    _cleanup_free_ char *path = NULL;
    unsigned left = CLIMB_FAR;
    int r = path_cache_entry(check->paths, directory, "", &path);
    if (r == -ENOENT) {
        r = directory_leads_up(check->kv, &check->state.root, directory, NULL, &left);
        if (r == 0 || r == -E2BIG)
            r = is_in_circle(check, directory);
        else if (r > 0)
            r = 0;
    }
    if (r <= 0)
        return r == 0 || r == -ENAMETOOLONG ? 0 : check_read_failed(check, TABLE_LINKS, r);
    return check_found(check, CHECK_NAMES, TABLE_NAMES, NULL,
                       "a directory that has entries is in a circle of directories, and nowhere "
                       "in the tree");
}

static int check_parent(struct naming *naming, const struct file_key *parent)
{
    struct check *check = naming->check;
    int r = has_link(&naming->links, parent);
    if (r < 0 || file_key_equal(parent, &check->state.root) ||
        file_key_equal(parent, &check->state.old_root) || check->unreadable[TABLE_LINKS] ||
        !check->state.root.size_bytes)
        return r < 0 ? r : 0;
    if (r > 0)
        return check_way_up(check, parent);
    r = directory_removal_is_noted(check->kv, parent);
    if (r < 0)
        return check_read_failed(check, TABLE_INTENTS, r);
    return r > 0 ? 0
                 : check_found(check, CHECK_NAMES, TABLE_NAMES, NULL,
                               "a directory that is nowhere in the tree has entries");
}

/* A row of names as it is: 1, 0 where it is damaged, or an error. */
static int decode_name(const struct kv_entry *row, struct catalogue_entry *entry)
{
    int r = catalogue_decode_name(row, entry);
    return r == -EUCLEAN ? 0 : r < 0 ? r : 1;
}

static int check_name(void *user, const struct kv_entry *row)
{
    struct naming *naming = user;
    struct check *check = naming->check;
    _cleanup_(catalogue_entry_done) struct catalogue_entry entry = {0};
    uint8_t link[CATALOGUE_LINK_KEY_MAX];
    int r = decode_name(row, &entry);
    if (r <= 0)
        return r < 0 ? r : check_bad_row(check, TABLE_NAMES, row);
    check->counts->names++;
    size_t n = catalogue_link_key(&entry.child, &entry.parent, entry.name, link);
    check_tally_add(naming->tally, file_key_hash(&entry.child), link, n);
    if (naming->some && file_key_equal(&naming->parent, &entry.parent))
        return 0;
    naming->some = true;
    naming->parent = entry.parent;
    return check_parent(naming, &entry.parent);
}

static int look_up_link(void *user, const struct kv_entry *row)
{
    struct naming *naming = user;
    struct check *check = naming->check;
    _cleanup_(catalogue_entry_done) struct catalogue_entry entry = {0};
    uint8_t link[CATALOGUE_LINK_KEY_MAX];
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = decode_name(row, &entry);
    if (r <= 0 || check_tally_is_even(naming->tally, file_key_hash(&entry.child)))
        return r < 0 ? r : 0;
    const struct kv_slice key = {link,
                                 catalogue_link_key(&entry.child, &entry.parent, entry.name, link)};
    r = check_look_up(check, TABLE_LINKS, &key, 1, &value);
    if (r != 0 || value.data)
        return r < 0 ? r : 0;
    check_tally_take(naming->tally, file_key_hash(&entry.child), link, key.size_bytes);
    return found_entry(check, TABLE_NAMES, &entry.parent, entry.name, "has no link back");
}

static int look_up_name(void *user, const struct kv_entry *row)
{
    struct naming *naming = user;
    struct check *check = naming->check;
    _cleanup_(catalogue_entry_done) struct catalogue_entry link = {0};
    struct file_key child;
    enum entry_type type;
    int r = catalogue_decode_link(row->key, &link);
    if (r < 0 || check_tally_is_even(naming->tally, file_key_hash(&link.child)))
        return r == -EUCLEAN ? 0 : r;
    r = catalogue_get(check->kv, &link.parent, link.name, &child, &type);
    if (r == 0 && file_key_equal(&child, &link.child))
        return 0;
    if (r == 0 || r == -ENOENT)
        return found_entry(check, TABLE_LINKS, &link.parent, link.name,
                           r == 0 ? "is of another inode" : "does not exist");
    return check_read_failed(check, TABLE_NAMES, r);
}

static void naming_done(struct naming *naming)
{
    beside_done(&naming->links);
    check_tally_free(naming->tally);
}

static int check_names(struct check *check)
{
    _cleanup_(naming_done) struct naming naming = {.check = check, .tally = check_tally_new()};
    if (!naming.tally)
        return -ENOMEM;
    int r = beside_begin(&naming.links, check, naming.tally);
    if (r == 0)
        r = check_each_row(check, TABLE_NAMES, (struct kv_slice){0}, check_name, &naming);
    while (r == 0 && !naming.links.ended) {
        r = check_walked(check, TABLE_LINKS);
        if (r == 0)
            r = next_link(&naming.links);
        r = r < 0 ? r : 0;
    }
    if (r < 0 || check->unreadable[TABLE_NAMES] || check->unreadable[TABLE_LINKS] ||
        check_tally_all_even(naming.tally))
        return r;
    r = check_each_row(check, TABLE_NAMES, (struct kv_slice){0}, look_up_link, &naming);
    if (r < 0 || check_tally_all_even(naming.tally))
        return r;
    return check_each_row(check, TABLE_LINKS, (struct kv_slice){0}, look_up_name, &naming);
}

/* -- files -- */

static int check_file(void *user, const struct kv_entry *row)
{
    struct beside *links = user;
    struct file_key key;
    struct file_row file;
    if (catalogue_decode_file(row, &key, &file) < 0)
        return 0; /* told by check_documents() */
    int r = has_link(links, &key);
    if (r != 0 || links->check->unreadable[TABLE_LINKS])
        return r < 0 ? r : 0;
    return check_found(links->check, CHECK_FILES, TABLE_FILES, NULL,
                       "a file that has no name in the tree is known (document %llu)",
                       (unsigned long long)file.sid);
}

int check_catalogue(struct check *check)
{
    _cleanup_(beside_done) struct beside links = {0};
    int r = check_names(check);
    if (r == 0)
        r = beside_begin(&links, check, NULL);
    return r < 0 ? r : check_each_row(check, TABLE_FILES, (struct kv_slice){0}, check_file, &links);
}
