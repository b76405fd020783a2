/* A name is given from one file to another in one step, an exchange with a new link beside it, so
 * that it leads to a whole file with these bytes at any time:
 *
 *                   NAME            TEMPORARY
 *   begun           the document
 *   linked          the document    what is kept
 *   exchanged       what is kept    the document    <- it is looked at again, and exchanged back
 *   ended           what is kept                       if it is not the one that was compared
 *
 * The list of what is undone has the temporary name, so each of these can be told from the others.
 * Both files are held meanwhile (tidy_look.h): what is written to a file that has lost its last
 * name is lost, so it is let go, and held once more, before it loses that; who had waited to open
 * it for writing is seen then. To undo the last one its bytes are copied from what is kept: that
 * has to have them still, by their SHA-256, and its owner, mode and attributes. Else the copy would
 * have the old owner with the list of a new one, whom it then lets in.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "base/mounts/leases.h"
#include "tools/commands/tidy/tidy_run.h"
#include "tools/commands/tidy/tidy_share.h"
#include "tools/documents/new_file.h"
#include "tools/documents/tree_place.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

/* The prefix of a name that is no document (engine/ignore). */
#define PREFIX ".#kinfs-tidy-"

static int exchange(int directory_fd, const char *a, const char *b)
{
    return renameat2(directory_fd, a, directory_fd, b, RENAME_EXCHANGE) < 0 ? -errno : 0;
}

/* Removes a name that is one of a file that has others. Returns whether it is gone. */
static bool remove_link(int directory_fd, const char *name, uint64_t inode)
{
    struct tidy_state is;
    int r = tidy_look_at(directory_fd, name, &is);
    return r == -ENOENT ||
           (r == 0 && is.inode == inode && is.n_links > 1 && unlinkat(directory_fd, name, 0) == 0);
}

/* -- linking -- */

static int look_beside(int r, const char *temporary, char **ret_why)
{
    free(*ret_why);
    *ret_why = NULL;
    return refuse(ret_why, r, "others change its directory; look at %s beside it, too", temporary);
}

static bool is_in_one_directory(const struct tidy_look *look, const struct tidy_look *keep)
{
    struct stat a, b;
    return fstat(look->directory_fd, &a) == 0 && fstat(keep->directory_fd, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* By its mode or a list; that others cannot may be owed to the directory that it is in. */
static bool may_be_written_by_others(const struct tidy_look *keep)
{
    return keep->is.mode & (S_IWGRP | S_IWOTH) ||
           fgetxattr(keep->fd, "system.posix_acl_access", NULL, 0) > 0;
}

static int check(const struct tidy_look *look, const struct tidy_look *keep, char **ret_why)
{
    const struct tidy_state *is = &look->is, *keep_is = &keep->is;
    if (!leases_are_told(look->fd, NULL) || !leases_are_told(keep->fd, NULL))
        return refuse(ret_why, -EOPNOTSUPP,
                      "whether others write it cannot be told on this file system; where a mount "
                      "of kinfs is over the tree: unmount that, and apply the plan then");
    if (!look->is_held || !keep->is_held)
        return refuse(ret_why, -EPERM,
                      "whether others write it cannot be told by who is not its owner");
    if (is->n_links != 1)
        return refuse(ret_why, -EMLINK, "it has other names");
    if (is->uid != keep_is->uid || is->gid != keep_is->gid || is->mode != keep_is->mode)
        return refuse(ret_why, -EPERM, "owner, group or mode is another");
    if (may_be_written_by_others(keep) &&
        (keep_is->n_links > 1 || !is_in_one_directory(look, keep)))
        return refuse(ret_why, -EPERM,
                      "others may write it, and could by a name in the other directory, or another "
                      "name");
    if (is->mtime.tv_sec != keep_is->mtime.tv_sec || is->mtime.tv_nsec != keep_is->mtime.tv_nsec)
        return refuse(ret_why, -EPERM, "the time is another");
    int r = tidy_look_compare_attributes(look, keep);
    return r == -ESTALE
               ? refuse(ret_why, -EPERM, "extended attributes or access control lists are others")
               : r;
}

/* The file that was exchanged is the one that was compared, and both still are as they were
 * then. */
static int look_again(const struct tidy_run *run, const struct tidy_item *item,
                      struct tidy_look *look, const struct tidy_look *keep, const char *temporary,
                      char **ret_why)
{
    struct tidy_state is, linked;
    int r = tidy_look_at(look->directory_fd, temporary, &is);
    if (r == 0)
        r = tidy_look_at(look->directory_fd, look->name, &linked);
    if (r < 0 || !tidy_state_has_same_content(&is, &look->is) || is.n_links != 1 ||
        linked.inode != keep->is.inode)
        return refuse(ret_why, -ESTALE,
                      "another file has just been given this name, or it another name");
    r = tidy_run_keep_is_there(run, item, keep, ret_why);
    if (r < 0)
        return r;
    const bool was_free = tidy_look_is_free(look) && tidy_look_is_free(keep);
    tidy_look_let_go(look);
    return was_free && tidy_look_hold(look) == 0
               ? 0
               : refuse(ret_why, -ETXTBSY, "it has just been opened for writing");
}

/* Returns 0, or an error, after which all is as before, or *ret_why says how it is. */
static int put_link(struct tidy_run *run, const struct tidy_item *item, struct tidy_look *look,
                    const struct tidy_look *keep, const char *temporary, char **ret_why)
{
    int r = new_file_link(keep->fd, look->directory_fd, temporary);
    if (r < 0) {
        run->is_over |= r == -ENOSPC || r == -EDQUOT || r == -EIO;
        return refuse(ret_why, r, "cannot be linked: %s", strerror(-r));
    }
    r = exchange(look->directory_fd, temporary, look->name);
    if (r < 0)
        (void)refuse(ret_why, r, "cannot be exchanged for a link: %s", strerror(-r));
    else
        r = look_again(run, item, look, keep, temporary, ret_why);
    if (r == 0 && unlinkat(look->directory_fd, temporary, 0) == 0)
        return 0;
    if (r == 0)
        r = refuse(ret_why, -errno, "cannot be removed: %s", strerror(errno));
    struct tidy_state is;
    const bool is_exchanged =
        (tidy_look_at(look->directory_fd, look->name, &is) == 0 && is.inode == keep->is.inode) ||
        (tidy_look_at(look->directory_fd, temporary, &is) == 0 && is.inode == look->is.inode);
    const int back = is_exchanged ? exchange(look->directory_fd, temporary, look->name) : 0;
    /* It may be the last one, where what was to be kept has been removed; it has the same bytes. */
    return back == 0 && tidy_look_at(look->directory_fd, temporary, &is) == 0 &&
                   tidy_state_has_same_content(&is, &keep->is) &&
                   unlinkat(look->directory_fd, temporary, 0) == 0
               ? r
               : look_beside(r, temporary, ret_why);
}

static int note_keep(struct tidy_run *run, struct tidy_look *keep)
{
    struct stat st;
    if (fstat(keep->fd, &st) < 0)
        return -errno;
    keep->is = tidy_state_of(&st);
    return tidy_run_has_changed(run, &keep->is);
}

int tidy_link(struct tidy_run *run, const struct tidy_item *item, struct tidy_look *look,
              struct tidy_look *keep, char **ret_why)
{
    char temporary[NEW_FILE_NAME_BYTES], sha256[NEW_FILE_DIGITS + 1];
    char attributes[TIDY_LOOK_DIGITS + 1];
    bool cannot_write;
    struct stat st;
    int r = check(look, keep, ret_why);
    if (r == 0)
        r = new_file_name(PREFIX, temporary);
    if (r == 0)
        r = new_file_copy(keep->fd, -1, keep->is.size_bytes, sha256, &cannot_write);
    if (r == 0)
        r = tidy_look_digest_attributes(look->fd, attributes);
    if (r == 0 && fstat(look->fd, &st) < 0)
        r = -errno;
    if (r < 0)
        return r;
    _cleanup_json_ struct json_object *line = tidy_run_line(item, &look->is);
    tidy_state_add(line, "keep_is", &keep->is);
    json_object_object_add(line, "temporary", json_object_new_string(temporary));
    json_object_object_add(line, "sha256", json_object_new_string(sha256));
    json_object_object_add(line, "attributes", json_object_new_string(attributes));
    json_object_object_add(line, "atime", json_object_new_int64(st.st_atim.tv_sec));
    json_object_object_add(line, "atime_ns", json_object_new_int64(st.st_atim.tv_nsec));
    r = tidy_run_begin(run, line, ret_why);
    if (r == 0)
        r = put_link(run, item, look, keep, temporary, ret_why);
    const int noted = note_keep(run, keep);
    tidy_run_end();
    return r < 0 ? r : noted;
}

/* -- back -- */

struct linked {
    const char *temporary, *sha256, *attributes; /* of the line */
    struct tidy_state was, keep_was;
    struct timespec atime;
};

static const char *text_of(struct json_object *line, const char *name)
{
    struct json_object *member;
    return json_object_object_get_ex(line, name, &member) &&
                   json_object_is_type(member, json_type_string)
               ? json_object_get_string(member)
               : NULL;
}

static int64_t number_of(struct json_object *line, const char *name)
{
    struct json_object *member;
    return json_object_object_get_ex(line, name, &member) ? json_object_get_int64(member) : 0;
}

static int parse(struct json_object *line, struct linked *linked)
{
    linked->temporary = text_of(line, "temporary");
    linked->sha256 = text_of(line, "sha256");
    linked->attributes = text_of(line, "attributes");
    linked->atime = (struct timespec){.tv_sec = number_of(line, "atime"),
                                      .tv_nsec = number_of(line, "atime_ns")};
    return linked->temporary && linked->sha256 && linked->attributes &&
                   strncmp(linked->temporary, PREFIX, strlen(PREFIX)) == 0 &&
                   !strchr(linked->temporary, '/') &&
                   tidy_state_get(line, "is", &linked->was) == 0 &&
                   tidy_state_get(line, "keep_is", &linked->keep_was) == 0
               ? 0
               : -EINVAL;
}

static bool has_attributes(const struct linked *linked, int fd)
{
    char sha256[TIDY_LOOK_DIGITS + 1];
    return tidy_look_digest_attributes(fd, sha256) == 0 && strcmp(sha256, linked->attributes) == 0;
}

/* Whose the link is now, who may read it, and what its owner has noted of it. */
static bool is_as_then(const struct linked *linked, const struct tidy_look *look)
{
    return look->is.uid == linked->was.uid && look->is.gid == linked->was.gid &&
           look->is.mode == linked->was.mode && has_attributes(linked, look->fd);
}

static int refuse_others(char **ret_why)
{
    return refuse(
        ret_why, -ESTALE,
        "its owner, mode, attributes or access control list have been changed since it was "
        "linked; stays a link");
}

/* Returns -ESTALE where the link has been given other attributes by now. */
static int set_attributes(const struct linked *linked, int from, int fd)
{
    const struct timespec times[2] = {linked->atime, linked->was.mtime};
    /* The directory may say whom a new file is for. */
    if (fremovexattr(fd, "system.posix_acl_access") < 0 && errno != ENODATA && errno != EOPNOTSUPP)
        return -errno;
    int r = fchown(fd, linked->was.uid, linked->was.gid) < 0 ? -errno
                                                             : tidy_look_copy_attributes(from, fd);
    if (r == 0 && (fchmod(fd, linked->was.mode) < 0 || futimens(fd, times) < 0 || fsync(fd) < 0))
        r = -errno;
    return r < 0 || has_attributes(linked, fd) ? r : -ESTALE;
}

/* A copy without a name, or with one that is to be removed, of what the link leads to. */
static int fill(const struct linked *linked, const struct tidy_look *look, int fd, char **ret_why)
{
    char sha256[NEW_FILE_DIGITS + 1];
    bool cannot_write;
    int r = look->is.size_bytes != linked->was.size_bytes
                ? -ESTALE
                : new_file_copy(look->fd, fd, linked->was.size_bytes, sha256, &cannot_write);
    if (r == -ESTALE || (r == 0 && strcmp(sha256, linked->sha256) != 0))
        return refuse(ret_why, -ESTALE, "has been changed since it was linked; stays a link");
    if (r == 0)
        r = set_attributes(linked, look->fd, fd);
    if (r == -ESTALE)
        return refuse_others(ret_why);
    struct stat st;
    if (r == 0 && fstat(look->fd, &st) < 0)
        r = -errno;
    if (r < 0)
        return r;
    const struct tidy_state is = tidy_state_of(&st);
    return tidy_state_has_same_content(&is, &look->is) && tidy_look_is_free(look)
               ? 0
               : refuse(ret_why, -ETXTBSY, "has just been changed; stays a link");
}

/* The link is exchanged for a copy, and removed; and back, where it was no link any more. */
static int exchange_copy(const struct tidy_look *look, int fd, const char *temporary,
                         char **ret_why)
{
    struct stat st;
    int r = fstat(fd, &st) < 0 ? -errno : new_file_link(fd, look->directory_fd, temporary);
    if (r < 0)
        return r;
    r = exchange(look->directory_fd, temporary, look->name);
    if (r == 0 && remove_link(look->directory_fd, temporary, look->is.inode))
        return 1;
    if (r == 0)
        r = exchange(look->directory_fd, temporary, look->name) == 0 ? -ESTALE : -EBUSY;
    struct tidy_state is;
    if (r == -EBUSY || tidy_look_at(look->directory_fd, temporary, &is) < 0 ||
        is.inode != st.st_ino || unlinkat(look->directory_fd, temporary, 0) < 0)
        return look_beside(r, temporary, ret_why);
    return r == -ESTALE ? refuse(ret_why, r, "another file has just been given this name") : r;
}

/* The copy of an undoing that was ended is removed, where it is one. */
static int remove_copy(const struct linked *linked, const struct tidy_look *look, char **ret_why)
{
    _cleanup_(tidy_look_done) struct tidy_look beside = TIDY_LOOK_NONE;
    int r = tidy_look_open(look->directory_fd, linked->temporary, &beside);
    if (r == 0)
        r = tidy_look_compare(look, &beside);
    if (r == 0 && unlinkat(look->directory_fd, linked->temporary, 0) < 0)
        r = -errno;
    return r == 0 || r == -ENOENT ? 0 : look_beside(r, linked->temporary, ret_why);
}

static int put_copy(const struct linked *linked, struct tidy_look *look, char **ret_why)
{
    char unnamed[NEW_FILE_NAME_BYTES];
    if (!is_as_then(linked, look))
        return refuse_others(ret_why);
    if (tidy_look_hold(look) == -ETXTBSY)
        return refuse(ret_why, -ETXTBSY, "is open for writing; stays a link");
    int r = remove_copy(linked, look, ret_why);
    _cleanup_close_ int fd = r < 0 ? r : new_file_make(look->directory_fd, PREFIX, unnamed);
    if (fd < 0)
        return fd;
    r = fill(linked, look, fd, ret_why);
    if (r == 0)
        r = exchange_copy(look, fd, linked->temporary, ret_why);
    if (*unnamed)
        unlinkat(look->directory_fd, unnamed, 0);
    return r;
}

/* The steps above are taken back, from the last one on. Nothing has the name where look is NULL. */
static int go_back(const struct linked *linked, int directory_fd, const char *name,
                   struct tidy_look *look, char **ret_why)
{
    const uint64_t kept = linked->keep_was.inode;
    struct tidy_state beside;
    const int r = tidy_look_at(directory_fd, linked->temporary, &beside);
    const bool is_beside = r == 0 && tidy_state_has_same_content(&beside, &linked->was);
    const bool is_link = look && look->is.inode == kept;
    if (is_beside && !look)
        return renameat2(directory_fd, linked->temporary, directory_fd, name, RENAME_NOREPLACE) < 0
                   ? -errno
                   : 1;
    if (is_beside && !is_link)
        return refuse(ret_why, -EEXIST, "something else has its name; is beside it as %s",
                      linked->temporary);
    if (is_beside) {
        const int back = exchange(directory_fd, linked->temporary, name);
        if (back < 0)
            return back;
        return remove_link(directory_fd, linked->temporary, kept)
                   ? 1
                   : look_beside(-ESTALE, linked->temporary, ret_why);
    }
    if (is_link && look->is.n_links > 1)
        return put_copy(linked, look, ret_why);
    if (r == 0 && beside.inode == kept)
        (void)remove_link(directory_fd, linked->temporary, kept);
    return look ? 0 : refuse(ret_why, -ENOENT, "is not there any more");
}

int tidy_link_back(int tree_fd, const char *path, struct json_object *line, char **ret_why)
{
    _cleanup_(tidy_look_done) struct tidy_look look = TIDY_LOOK_NONE;
    struct linked linked;
    const char *name;
    int r = parse(line, &linked);
    if (r < 0)
        return r;
    _cleanup_close_ int directory_fd = tree_place_open_directory(tree_fd, path, &name);
    if (directory_fd < 0)
        return directory_fd;
    r = tidy_look_open(tree_fd, path, &look);
    if (r < 0 && r != -ENOENT)
        return r;
    return go_back(&linked, r < 0 ? directory_fd : look.directory_fd, name, r < 0 ? NULL : &look,
                   ret_why);
}
