/* Names of a tree are looked up each anew, in one system call where the kernel has them at hand and
 * no link is on the way.
 * Documents that are listed are found by the hash of what they are called: 16 bytes each, sorted.
 */
#include "tools/commands/links/linked_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/files/trust.h"
#include "base/open_at.h"
#include "base/proc_path.h"
#include "base/room.h"
#include "tools/questions/patience.h"
#include "tools/show/message.h"

#define VIEWS ".kinfs"

struct base_name {
    uint64_t hash;
    uint32_t document;
};

void linked_tree_done(struct linked_tree *tree)
{
    trusted_mount_done(&tree->trusted);
    if (tree->is_open)
        close(tree->fd);
    document_list_done(&tree->documents);
    free(tree->bases);
    free(tree->named);
    free(tree->named_real);
    free(tree->top);
}

static int real_of(struct linked_tree *tree, const char *path, char **ret_real)
{
    _cleanup_close_ int fd = trust_open_anywhere(path, &tree->trusted);
    return fd < 0 ? fd : proc_path_real(fd, ret_real);
}

/* The directory stays open: what is asked for is mostly below it without links and mounts. */
static int open_top(struct linked_tree *tree, const char *directory)
{
    struct stat st;
    struct statfs fs;
    _cleanup_close_ int fd = trust_open_anywhere(directory, &tree->trusted);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fd < 0 ? fd : -errno;
    int r = S_ISDIR(st.st_mode) ? proc_path_real(fd, &tree->top) : -ENOTDIR;
    if (r < 0)
        return r;
    if (strcmp(tree->top, "/") == 0)
        *tree->top = '\0';
    tree->is_fuse = fstatfs(fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC;
    tree->fd = TAKE_FD(fd);
    tree->is_open = true;
    return 0;
}

int linked_tree_open(struct linked_tree *tree, const char *directory, char **ret_error)
{
    tree->shown = directory = directory ? directory : "/";
    patience_look(directory);
    int r = open_top(tree, directory);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", directory, error_text(r));
    tree->n_shown = (uint32_t)strlen(directory);
    while (tree->n_shown > 0 && directory[tree->n_shown - 1] == '/')
        tree->n_shown--;
    return 0;
}

char *linked_tree_path(const struct linked_tree *tree, const char *name)
{
    return message("%.*s%s%s", (int)tree->n_shown, tree->shown, *name || !tree->n_shown ? "/" : "",
                   name);
}

/* -- time -- */

enum { OWNER_MS = LINKED_TREE_OWNER_S * 1000 };

struct linked_owner {
    uid_t uid;
    uint32_t spent_ms;
};

void linked_owners_done(struct linked_owners *owners)
{
    free(owners->owners);
    owners->owners = NULL;
    owners->n = owners->room = 0;
}

/* NULL: none of this one's documents took long. */
static struct linked_owner *find_owner(const struct linked_owners *owners, uid_t uid)
{
    for (size_t i = 0; i < owners->n; i++)
        if (owners->owners[i].uid == uid)
            return &owners->owners[i];
    return NULL;
}

static bool is_over(struct linked_owners *owners, uid_t uid)
{
    LOCKED(&owners->mutex);
    const struct linked_owner *owner = find_owner(owners, uid);
    return owner && owner->spent_ms >= OWNER_MS;
}

/* True when there is no more from now on. Where there is no memory the document costs nothing. */
static bool spend(struct linked_owners *owners, uid_t uid, uint32_t ms)
{
    LOCKED(&owners->mutex);
    struct linked_owner *owner = find_owner(owners, uid);
    if (!owner && MAKE_ROOM(owners->owners, owners->room, owners->n + 1)) {
        owner = &owners->owners[owners->n++];
        *owner = (struct linked_owner){.uid = uid};
    }
    if (!owner || owner->spent_ms >= OWNER_MS)
        return false;
    owner->spent_ms += ms;
    return owner->spent_ms >= OWNER_MS;
}

/* Holes take no room, and little to read. */
static int64_t bytes_on_disk(const struct stat *st)
{
    enum { OF_BLOCKS = 512 }; /* st_blocks, whatever the file system's are */
    const int64_t on_disk = (int64_t)st->st_blocks * OF_BLOCKS;
    return on_disk < st->st_size ? on_disk : st->st_size;
}

void linked_tree_begin(struct linked_tree *tree, const struct stat *document)
{
    tree->owner = document->st_uid;
    tree->spent_us = 0;
    tree->begin_thread_us = clock_thread_us();
    tree->free_us =
        INT64_C(1000) * LINKED_TREE_FREE_MS + bytes_on_disk(document) / 1000 * LINKED_TREE_FREE_NS;
    tree->until_thread_us = tree->begin_thread_us + INT64_C(1000000) * LINKED_TREE_S;
    tree->until_ms = clock_now_ms() + INT64_C(1000) * LINKED_TREE_WAIT_S;
    tree->is_late = tree->is_over = is_over(tree->owners, tree->owner);
}

void linked_tree_end(struct linked_tree *tree, const char *path)
{
    const int64_t worked_us = clock_thread_us() - tree->begin_thread_us;
    const int64_t spent_us = worked_us > tree->spent_us ? worked_us : tree->spent_us;
    const int64_t ms = (spent_us - tree->free_us) / 1000;
    if (tree->is_over)
        return;
    if (tree->is_late)
        remark("%s: some links take too long to follow, and are left out", path);
    if (ms > 0 && spend(tree->owners, tree->owner, (uint32_t)ms))
        remark("%s: links of its owner, user %u, have taken too long; those of more documents are "
               "left out",
               path, tree->owner);
}

/* -- what is there -- */

/* True for a name in a directory of views, where the tree is in a mount of kinfs. */
static bool has_view(const char *name)
{
    const char *found = strstr(name, VIEWS);
    const size_t n = sizeof(VIEWS) - 1;
    while (found && ((found > name && found[-1] != '/') || (found[n] && found[n] != '/')))
        found = strstr(found + n, VIEWS);
    return found;
}

/* What others have mounted or made up for a name is not asked. */
static int open_name(struct linked_tree *tree, const char *name)
{
    const char *path = *name ? name : ".";
    const int fd = tree->is_fuse || has_view(name) ? -EAGAIN
                                                   : open_at(tree->fd, path, O_PATH | O_CLOEXEC,
                                                             RESOLVE_IN_TREE | RESOLVE_CACHED);
    /* There may be a link or a mount on the way, or the kernel does not know the name. */
    return fd < 0 && fd != -ENOENT ? trust_open_by_word(tree->fd, path, &tree->trusted) : fd;
}

static enum link_is look(struct linked_tree *tree, const char *name)
{
    struct stat st;
    _cleanup_close_ int fd = open_name(tree, name);
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ENAMETOOLONG || fd == -ELOOP)
        return LINK_IS_NOTHING;
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) ? LINK_IS_DIRECTORY : LINK_IS_FILE;
}

enum link_is linked_tree_is(void *user, const char *name)
{
    struct linked_tree *tree = user;
    const int64_t thread_us = clock_thread_us(), now_us = clock_now_us();
    tree->is_late |= thread_us > tree->until_thread_us || now_us / 1000 >= tree->until_ms;
    if (tree->is_late)
        return LINK_IS_NOTHING;
    const enum link_is is = look(tree, name);
    const int64_t worked_us = clock_thread_us() - thread_us,
                  waited_us = (clock_now_us() - now_us) / (LINKED_TREE_WAIT_S / LINKED_TREE_S);
    tree->spent_us += worked_us > waited_us ? worked_us : waited_us;
    return is;
}

/* -- names -- */

static int below_top(const struct linked_tree *tree, const char *real, char **ret_name)
{
    const size_t n = strlen(tree->top);
    if (strncmp(real, tree->top, n) != 0 || (real[n] && real[n] != '/'))
        return -EXDEV;
    *ret_name = message("%s", real + n + (real[n] == '/'));
    return 0;
}

int linked_tree_name_of(struct linked_tree *tree, const struct document_list *list, uint32_t i,
                        char **ret_name)
{
    _cleanup_free_ char *path = document_list_path(list, i);
    const uint32_t n = list->documents[i].path.n_named;
    if (!path)
        return -ENOMEM;
    if (!tree->named || strlen(tree->named) != n || strncmp(tree->named, path, n) != 0) {
        free(tree->named);
        free(tree->named_real);
        tree->named_real = NULL;
        tree->named = message("%.*s", (int)n, path);
        int r = real_of(tree, tree->named, &tree->named_real);
        if (r < 0) {
            free(TAKE_PTR(tree->named));
            return r;
        }
    }
    const char *below = path + n + strspn(path + n, "/");
    const bool is_root = strcmp(tree->named_real, "/") == 0;
    _cleanup_free_ char *real =
        message("%s%s%s", is_root ? "" : tree->named_real, *below ? "/" : "", below);
    return below_top(tree, real, ret_name);
}

int linked_tree_name_path(struct linked_tree *tree, const char *path, char **ret_name)
{
    _cleanup_free_ char *real = NULL, *directory = NULL, *whole = NULL;
    patience_look(path);
    int r = real_of(tree, path, &real);
    if (r == 0)
        return below_top(tree, real, ret_name);
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    if (r != -ENOENT || !*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return r;
    directory = slash ? message("%.*s/", (int)(slash - path), path) : message(".");
    r = real_of(tree, directory, &real);
    if (r < 0)
        return r;
    whole = message("%s/%s", strcmp(real, "/") == 0 ? "" : real, last);
    return below_top(tree, whole, ret_name);
}

/* -- documents -- */

static uint64_t hash_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    return XXH3_64bits_withSeed(base, strlen(base), file_key_secret);
}

static int compare(const void *a, const void *b)
{
    const struct base_name *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

int linked_tree_list(struct linked_tree *tree, char **ret_error)
{
    const struct document_rules rules = {0};
    char *directory = tree->n_shown ? (char *)(uintptr_t)tree->shown : (char *)(uintptr_t) "/";
    struct document_list *list = &tree->documents;
    size_t failed;
    list->most_bytes = LINKED_TREE_LIST_BYTES;
    int r = document_list_add(list, &directory, 1, NULL, &rules, &failed);
    if (r == -E2BIG)
        return refuse(ret_error, r, "%s: too many documents; name a part of it", directory);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", directory, error_text(r));
    tree->bases = calloc((size_t)list->n + 1, sizeof(*tree->bases));
    if (!tree->bases)
        return -ENOMEM;
    for (uint32_t i = 0; i < list->n; i++) {
        _cleanup_free_ char *path = document_list_path(list, i);
        if (!path)
            return -ENOMEM;
        tree->bases[i] = (struct base_name){hash_of(path), i};
    }
    qsort(tree->bases, list->n, sizeof(*tree->bases), compare);
    return 0;
}

int linked_tree_find_base(struct linked_tree *tree, const char *name, char **ret_name)
{
    const struct base_name wanted = {hash_of(name), 0};
    size_t low = 0, high = tree->bases ? tree->documents.n : 0;
    const size_t n = high;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&tree->bases[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == n || tree->bases[low].hash != wanted.hash ||
        (low + 1 < n && tree->bases[low + 1].hash == wanted.hash))
        return -ENOENT;
    int r = linked_tree_name_of(tree, &tree->documents, tree->bases[low].document, ret_name);
    return r == -EXDEV ? -ENOENT : r;
}
