#include "tools/questions/locate.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <xxhash.h>

#include "base/proc_path.h"
#include "base/files/trust.h"
#include "tools/questions/control.h"
#include "tools/questions/holder.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"
#include "tools/questions/mounts.h"
#include "tools/questions/patience.h"

/* Leaves room for the hash and for suffixes such as ".new" below NAME_MAX. */
enum { NAME_CUT_BYTES = 180, STORE_XATTR_MAX_BYTES = 4096 };

char *location_store_name(const char *source)
{
    while (*source == '/')
        source++;
    char *name = calloc(3, strlen(source) + 2);
    if (!name)
        return message("-");
    char *to = name;
    for (const char *from = source; *from; from++) {
        if (*from == '/')
            *to++ = '-';
        else if (isalnum((unsigned char)*from) || *from == '_' || (*from == '.' && to != name))
            *to++ = *from;
        else
            to += sprintf(to, "%%%02x", (unsigned char)*from);
    }
    if (to == name)
        *to++ = '-';
    if (to - name <= NAME_CUT_BYTES)
        return name;

    XXH128_hash_t hash = XXH3_128bits(source, strlen(source));
    name[NAME_CUT_BYTES] = '\0';
    char *cut = message("%s+%016llx%016llx", name, (unsigned long long)hash.high64,
                        (unsigned long long)hash.low64);
    free(name);
    return cut;
}

static int place(const char *name, char **ret_store, char **ret_error)
{
    const char *state = getenv("KINFS_STATE_DIR"), *home = getenv("HOME");
    /* A mount(8) that a user may run leaves no HOME to what it runs. */
    const struct passwd *user = home ? NULL : getpwuid(geteuid());
    if (user)
        home = user->pw_dir;
    if (state && state[0] == '/')
        *ret_store = message("%s/%s", state, name);
    else if (geteuid() == 0)
        *ret_store = message("/var/lib/kinfs/%s", name);
    else if ((state = getenv("XDG_STATE_HOME")) && state[0] == '/')
        *ret_store = message("%s/kinfs/%s", state, name);
    else if (home && home[0] == '/')
        *ret_store = message("%s/.local/state/kinfs/%s", home, name);
    else
        return refuse(
            ret_error, -ENOENT,
            "you have no home directory; say where the store goes with --store or -o store=");
    return 0;
}

int location_stores(char **ret_directory, char **ret_error)
{
    int r = place("", ret_directory, ret_error);
    if (r == 0)
        (*ret_directory)[strlen(*ret_directory) - 1] = '\0'; /* the slash */
    return r;
}

int location_default_store(const char *source, char **ret_store, char **ret_error)
{
    _cleanup_free_ char *name = location_store_name(source);
    return place(name, ret_store, ret_error);
}

int location_of_mount(const char *mountpoint, char **ret_directory, char **ret_error)
{
    /* No store's name has a "+" but before a hash. */
    _cleanup_free_ char *name = location_store_name(mountpoint);
    _cleanup_free_ char *marked = message("%s+mount", name);
    return place(marked, ret_directory, ret_error);
}

void location_done(struct location *location)
{
    free(location->store);
    free(location->source);
    free(location->base);
    free(location->path);
    *location = (struct location){0};
}

/* In another user's mount there is none: it is not asked. */
static bool is_directory(const char *path)
{
    struct stat st;
    _cleanup_close_ int fd = trust_open_anywhere(path, NULL);
    return fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The store at a path, by its links as they were named, is the effective user's own
 * (base/files/trust.h): whoever could change what is in it could have this process do what he
 * likes. An error but -EPERM is not told of. */
static int check_store(const char *store, char **ret_error)
{
    _cleanup_free_ char *why = NULL;
    _cleanup_close_ int fd = trust_open_directory(store, &why);
    if (fd == -EPERM)
        return refuse(ret_error, -EPERM, "store %s is not opened: %s", store,
                      why ? why : strerror(EPERM));
    return fd < 0 ? fd : 0;
}

/* The store a mount was made with. It says so to its owner only: then this returns SAID_BY_MOUNT,
 * else 0 and the default. In the root of the file system the attribute is the daemon's; in another
 * directory that is mounted elsewhere it can be the tree's. */
enum { SAID_BY_MOUNT = 1 };

static int store_of_mount(const struct mount *mount, char **ret_store, char **ret_error)
{
    char store[STORE_XATTR_MAX_BYTES + 1];
    _cleanup_close_ int fd = mount_open_top(mount);
    if (fd < 0)
        return refuse(ret_error, -EBUSY,
                      "%s: something else is mounted over this mount, or has taken its place; "
                      "unmount that first, or name the store with --store",
                      mount->point);
    ssize_t n = getxattr(proc_path_of(fd).text, "user.kinfs.store", store, STORE_XATTR_MAX_BYTES);
    const int error = errno;
    store[n > 0 ? n : 0] = '\0';
    if (n > 0 && strcmp(mount->root, "/") == 0) {
        *ret_store = message("%s", store);
        return SAID_BY_MOUNT;
    }
    if (n < 0 && error == ENOTCONN)
        return refuse(ret_error, -ENOTCONN,
                      "%s: the daemon of this mount has died; mount again with kinfs mount %s %s",
                      mount->point, mount->source, mount->point);
    return location_default_store(mount->source, ret_store, ret_error);
}

/* A mount of this very directory, wherever it is shown. */
static const struct mount *mount_of_source(const struct mounts *mounts, const char *source)
{
    for (size_t i = 0; i < mounts->n_mounts; i++)
        if (mount_is_trusted(&mounts->mounts[i]) && strcmp(mounts->mounts[i].source, source) == 0)
            return &mounts->mounts[i];
    return NULL;
}

/* The mount has no store: its daemon answers for itself. */
static bool is_without_store(const struct mount *mount, char **ret_directory)
{
    _cleanup_(holder_done) struct holder holder = {0};
    _cleanup_free_ char *directory = NULL;
    if (location_of_mount(mount->point, &directory, NULL) < 0 ||
        holder_read(directory, &holder) < 0 || !holder.alive)
        return false;
    *ret_directory = TAKE_PTR(directory);
    return true;
}

static int refuse_others_mount(const char *path, char **ret_error)
{
    return refuse(ret_error, -EACCES,
                  "%s: this mount is another user's; ask as that user, kinfs scan a directory of "
                  "your own and ask about that, or read the attributes user.kinfs.* with getfattr",
                  path);
}

/* In a mount: path_in_tree = the mount's root + what of the path is below the mount point. */
static int locate_in_mount(const struct mount *mount, const char *real, struct location *location,
                           char **ret_error)
{
    const char *rest = "";
    (void)path_within(real, mount->point, &rest);
    const char *root = mount->root + 1;
    location->path = message("%s%s%s", root, *root && *rest ? "/" : "", rest);
    location->source = message("%s", mount->source);
    location->base = message("%s", mount->point);
    _cleanup_free_ char *directory = NULL;
    int r = store_of_mount(mount, &location->store, ret_error);
    if (r == 0 && is_without_store(mount, &directory)) {
        free(location->store);
        location->store = TAKE_PTR(directory);
    }
    if (r < 0 || is_directory(location->store))
        return r < 0 ? r : 0;
    if (r == SAID_BY_MOUNT)
        return refuse(
            ret_error, -ENOENT,
            "%s: the store of this mount, %s, has been removed; unmount with kinfs umount "
            "%s and mount again",
            mount->point, location->store, mount->point);
    return refuse_others_mount(mount->point, ret_error);
}

static int locate_in_source(const struct mounts *mounts, const char *real,
                            struct location *location, char **ret_error)
{
    _cleanup_free_ char *above = message("%s", real);
    for (;;) {
        const char *directory = *above ? above : "/";
        _cleanup_free_ char *store = NULL;
        const struct mount *mount = mount_of_source(mounts, directory);
        if (mount)
            patience_look(mount->point);
        int r = mount ? store_of_mount(mount, &store, ret_error)
                      : location_default_store(directory, &store, ret_error);
        if (r < 0)
            return r;
        if (r == SAID_BY_MOUNT || is_directory(store)) {
            const char *rest = "";
            (void)path_within(real, directory, &rest);
            location->path = message("%s", rest);
            location->source = message("%s", directory);
            location->base = message("%s", directory);
            location->store = TAKE_PTR(store);
            return 0;
        }
        char *slash = strrchr(above, '/');
        if (!slash || !*above)
            return refuse(
                ret_error, -ENOENT,
                "%s: not in a tree kinfs knows; mount the tree with kinfs mount, index it "
                "with kinfs scan, or name its store with --store",
                real);
        *slash = '\0';
    }
}

static int keep_row(void *user, struct json_object *row)
{
    json_object_put(*(struct json_object **)user);
    *(struct json_object **)user = row;
    return row ? 0 : -ENOMEM;
}

/* The tree that a store is of, and its mount, are said by its holder file, or where there is none
 * that can be read by the daemon, or where none is running by the store. */
static int find_tree(const char *store, struct holder *ret_holder, char **ret_error)
{
    if (holder_read(store, ret_holder) == 0)
        return 0;
    _cleanup_json_ struct json_object *request = json_object_new_object(), *row = NULL;
    json_object_object_add(request, "command", json_object_new_string("status"));
    if (control_ask(store, request, keep_row, &row, NULL) == 0 && row &&
        json_path_get(row, "source", &ret_holder->source) == 0) {
        (void)json_path_get(row, "mountpoint", &ret_holder->mountpoint);
        return 0;
    }
    return index_read_source(store, &ret_holder->source, ret_error);
}

/* With a store given, it says whose it is. */
static int locate_by_store(const char *store, const char *real, struct location *location,
                           char **ret_error)
{
    _cleanup_(holder_done) struct holder holder = {0};
    int r = check_store(store, ret_error);
    if (r == -EPERM)
        return r;
    /* A path that is missing now may be another's when it is asked for again: it is not. */
    if (r == 0)
        r = trust_resolve(store, &location->store, NULL);
    if (r < 0)
        return refuse(ret_error, -ENOENT, "%s: no store there; name an existing one", store);
    r = find_tree(location->store, &holder, ret_error);
    if (r < 0)
        return r;
    const char *rest;
    location->source = message("%s", holder.source);
    location->base = message("%s", holder.source);
    if (!real)
        return 0;
    if (holder.mountpoint && path_within(real, holder.mountpoint, &rest)) {
        free(location->base);
        location->base = message("%s", holder.mountpoint);
    } else if (!path_within(real, holder.source, &rest)) {
        return refuse(ret_error, -ENOENT, "%s: not in %s, the tree of store %s", real,
                      holder.source, location->store);
    }
    location->path = message("%s", rest);
    return 0;
}

int locate(const char *path, const char *store, struct location *ret_location, char **ret_error)
{
    _cleanup_(location_done) struct location location = {0};
    _cleanup_(mounts_done) struct mounts mounts = {0};
    _cleanup_free_ char *real = NULL;

    if (!path && !store)
        path = ".";
    if (path)
        patience_look(path);
    if (store)
        patience_look(store);
    struct stat st;
    _cleanup_close_ int fd = path ? trust_open_anywhere(path, NULL) : -1;
    location.is_file = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    int r = path && fd < 0 ? fd : path ? proc_path_real(fd, &real) : 0;
    switch (r) {
    case 0: break;
    case -EXDEV: return refuse_others_mount(path, ret_error);
    case -ENOTCONN:
        return refuse(ret_error, r,
                      "%s: the daemon of this mount has died; mount again, or clean up with "
                      "kinfs umount",
                      path);
    case -ENOENT:
        return refuse(ret_error, r,
                      fd < 0 ? "%s: no such file or directory; correct the name"
                             : "%s: a pipe, a socket or a removed file, which is in no tree; name "
                               "a file of a tree, or ask by kinfs similar - about standard input",
                      path);
    default: return refuse(ret_error, r, "%s: %s", path, strerror(-r));
    }

    if (store) {
        r = locate_by_store(store, real, &location, ret_error);
    } else {
        const struct mount *mount = NULL;
        r = mounts_read(NULL, &mounts);
        if (r < 0)
            return refuse(ret_error, r, "/proc/self/mountinfo: %s", strerror(-r));
        r = mounts_of_open(&mounts, fd, &mount);
        if (r < 0 && r != -ENOENT)
            return refuse(ret_error, r, "%s: %s", path, strerror(-r));
        r = mount_is_kinfs(mount) ? locate_in_mount(mount, real, &location, ret_error)
                                  : locate_in_source(&mounts, real, &location, ret_error);
        /* The faults that it has besides are said by whoever opens it. */
        if (r == 0 && check_store(location.store, ret_error) == -EPERM)
            r = -EPERM;
    }
    if (r < 0)
        return r;
    *ret_location = location;
    location = (struct location){0};
    return 0;
}
