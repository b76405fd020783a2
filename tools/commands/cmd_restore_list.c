/* kinfs restore-list: what unique/ left out of a copy, by the list it has at its top, and as far as
 * that was equal to what stands in for it made again.
 *
 * The copy may be of a tree that others have written, and write: no symbolic link in it is
 * followed, nothing of it is opened but regular files, and a file gets its name when it is
 * complete, where there is none of that name. The list alone says whose it is and what is in it, by
 * the SHA-256 of that: nothing is made of a stand-in that is another by now. So the list has to be
 * one that nobody else can have written. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/escape.h"
#include "base/files/trust.h"
#include "base/mounts/mount_point.h"
#include "tools/commands/command.h"
#include "tools/documents/left_out_line.h"
#include "tools/documents/new_file.h"
#include "tools/documents/regular_file.h"
#include "tools/documents/tree_place.h"
#include "tools/questions/patience.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

struct restore_options {
    struct command_options common;
    const char *list, *tree;
    bool apply;
};

/* The fate of a file that is restored. */
enum restoring {
    RESTORING_MADE,
    RESTORING_THERE,
    RESTORING_SIMILAR,
    RESTORING_LOST,
    RESTORING_FAILED,
    N_WORDS
};
static const char *const words[N_WORDS] = {"equal", "there", "similar", "lost", "failed"};

/* The file that the last line was of: one more name of it is a link. */
struct last_file {
    struct left_out left_out; /* but for what is in the line */
    char sha256[65];
    enum restoring restoring; /* RESTORING_MADE; _LOST: its stand-in has other bytes */
    int fd;                   /* where one was made, or -1 */
};

struct restore {
    const struct restore_options *options;
    int tree_fd;
    struct last_file last;
    uint64_t n[N_WORDS];
    bool is_over; /* no other line has a better chance */
};

/* -- a file -- */

/* The error of a call that writes. */
static int cannot_write(struct restore *restore, int error)
{
    restore->is_over |= error == -ENOSPC || error == -EIO;
    return error;
}

/* The file has the bytes of the list, all of which are written to another, of none where that is
 * -1. Returns 0, -ESTALE (it has others) or an error. */
static int copy_bytes(struct restore *restore, const struct left_out *left_out, int from, int to)
{
    char digits[NEW_FILE_DIGITS + 1];
    bool is_writing;
    int r = new_file_copy(from, to, left_out->size_bytes, digits, &is_writing);
    if (r < 0)
        return is_writing ? cannot_write(restore, r) : r;
    return strcmp(digits, left_out->sha256) == 0 ? 0 : -ESTALE;
}

/* The directory is neither one's own, nor root's, nor of who has the file: it may have been put in
 * the place of one into which nobody else could look. */
static bool is_somebody_elses(const struct left_out *left_out, int directory_fd)
{
    struct stat st;
    return fstat(directory_fd, &st) < 0 ||
           (st.st_uid != 0 && st.st_uid != geteuid() && st.st_uid != left_out->uid);
}

/* Owner, mode and time of the list; in a directory of somebody else's, rights of the owner alone.
 * Where it cannot be the group's, that one may do no more than
 * all others; and none but those of the mode have a right, whatever the directory says of what is
 * made in it. */
static int set_attributes(const struct left_out *left_out, int directory_fd, int fd)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, left_out->mtime};
    mode_t mode = left_out->mode & 0777;
    struct stat st;
    if (fchown(fd, left_out->uid, left_out->gid) < 0 &&
        (errno != EPERM || (fchown(fd, (uid_t)-1, left_out->gid) < 0 && errno != EPERM)))
        return -errno;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (is_somebody_elses(left_out, directory_fd))
        mode &= S_IRWXU;
    if (st.st_gid != left_out->gid)
        mode &= ~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3;
    if (fremovexattr(fd, "system.posix_acl_access") < 0 && errno != ENODATA && errno != EOPNOTSUPP)
        return -errno;
    return fchmod(fd, mode) < 0 || futimens(fd, times) < 0 ? -errno : 0;
}

/* -- names of one file -- */

/* The line is of the file that the last one was of. */
static bool is_last(const struct last_file *last, const struct left_out *left_out)
{
    const struct left_out *other = &last->left_out;
    return *last->sha256 && other->inode == left_out->inode && other->mode == left_out->mode &&
           other->uid == left_out->uid && other->gid == left_out->gid &&
           other->size_bytes == left_out->size_bytes &&
           other->mtime.tv_sec == left_out->mtime.tv_sec &&
           other->mtime.tv_nsec == left_out->mtime.tv_nsec &&
           strcmp(last->sha256, left_out->sha256) == 0;
}

static void forget_last(struct last_file *last)
{
    close_p(&last->fd);
    *last = (struct last_file){.fd = -1};
}

/* fd  of what was made, which is taken, or -1 */
static void remember_last(struct last_file *last, const struct left_out *left_out,
                          enum restoring restoring, int fd)
{
    forget_last(last);
    last->left_out = *left_out;
    last->left_out.path = last->left_out.stand_in = NULL;
    last->left_out.sha256 = NULL;
    snprintf(last->sha256, sizeof(last->sha256), "%s", left_out->sha256);
    last->restoring = restoring;
    last->fd = fd;
}

/* -- making -- */

/* Returns what becomes of it, or an error. */
static int give_name(struct restore *restore, int fd, int directory_fd, const char *name)
{
    int r = new_file_link(fd, directory_fd, name);
    if (r == -EEXIST)
        return RESTORING_THERE;
    return r < 0 ? cannot_write(restore, r) : RESTORING_MADE;
}

/* Returns what becomes of it, or an error. */
static int fill(struct restore *restore, const struct left_out *left_out, int from,
                int directory_fd, int fd, const char *name)
{
    int r = copy_bytes(restore, left_out, from, fd);
    if (r == 0)
        r = set_attributes(left_out, directory_fd, fd);
    if (r == 0 && fsync(fd) < 0)
        r = cannot_write(restore, -errno);
    if (r < 0)
        return r;
    return give_name(restore, fd, directory_fd, name);
}

static int make_copy(struct restore *restore, const struct left_out *left_out, int from,
                     int directory_fd, const char *name)
{
    char temporary[NEW_FILE_NAME_BYTES];
    _cleanup_close_ int fd = new_file_make(directory_fd, ".kinfs-restore-", temporary);
    if (fd < 0)
        return cannot_write(restore, fd);
    int r = fill(restore, left_out, from, directory_fd, fd, name);
    if (*temporary)
        unlinkat(directory_fd, temporary, 0);
    if (r == RESTORING_MADE && !is_somebody_elses(left_out, directory_fd))
        remember_last(&restore->last, left_out, RESTORING_MADE, TAKE_FD(fd));
    return r;
}

/* The stand-in in the copy, open for reading. -ESTALE: it is another file by now. */
static int open_stand_in(int tree_fd, const struct left_out *left_out)
{
    struct stat st;
    _cleanup_close_ int place =
        mount_point_avoid(tree_fd, left_out->stand_in, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return place;
    if (fstat(place, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != left_out->size_bytes)
        return -ESTALE;
    return regular_file_open_place(place);
}

/* Returns what becomes of it, or an error. */
static int restore_equal(struct restore *restore, const struct left_out *left_out)
{
    const char *name;
    struct statx there;
    _cleanup_close_ int directory_fd =
        tree_place_open_directory(restore->tree_fd, left_out->path, &name);
    if (directory_fd < 0)
        return directory_fd == -ENOENT ? RESTORING_LOST : directory_fd;
    if (mount_point_stat(directory_fd, name, &there) == 0)
        return RESTORING_THERE;
    if (is_last(&restore->last, left_out) && !is_somebody_elses(left_out, directory_fd)) {
        if (restore->last.restoring == RESTORING_LOST)
            return -ESTALE;
        if (!restore->options->apply)
            return RESTORING_MADE;
        /* A copy is made where the file system has no more links, or is another one. */
        int r = give_name(restore, restore->last.fd, directory_fd, name);
        if (r >= 0)
            return r;
    }
    _cleanup_close_ int from = open_stand_in(restore->tree_fd, left_out);
    if (from < 0)
        return from == -ENOENT || from == -ENOTDIR ? RESTORING_LOST : from;
    if (restore->options->apply)
        return make_copy(restore, left_out, from, directory_fd, name);
    int r = copy_bytes(restore, left_out, from, -1);
    if (r == 0)
        remember_last(&restore->last, left_out, RESTORING_MADE, -1);
    return r < 0 ? r : RESTORING_MADE;
}

/* Returns what becomes of it, or an error that ends all. */
static int restore_one(struct restore *restore, const struct left_out *left_out)
{
    _cleanup_free_ char *path = NULL, *stand_in = NULL;
    int r = left_out->is_equal ? restore_equal(restore, left_out) : RESTORING_SIMILAR;
    if (r == -ESTALE)
        remember_last(&restore->last, left_out, RESTORING_LOST, -1);
    if (r >= 0 || r == -ENOMEM || restore->is_over)
        return r;
    if (escape_name(left_out->path, &path) < 0 || escape_name(left_out->stand_in, &stand_in) < 0)
        return -ENOMEM;
    if (r == -ESTALE)
        complain("%s: %s, which stands in for it, is another file by now", path, stand_in);
    else
        complain("%s: %s", path, strerror(-r));
    return r == -ESTALE ? RESTORING_LOST : RESTORING_FAILED;
}

/* -- -- */

static void print_one(const struct restore *restore, const struct left_out *left_out,
                      enum restoring restoring)
{
    _cleanup_free_ char *path = NULL, *stand_in = NULL;
    if (restore->options->common.json) {
        struct json_object *object = json_object_new_object();
        json_object_object_add(object, "what", json_object_new_string(words[restoring]));
        json_path_add(object, "path", left_out->path);
        json_path_add(object, "stand_in", left_out->stand_in);
        command_print_json(object);
        json_object_put(object);
    } else if (escape_name(left_out->path, &path) == 0 &&
               escape_name(left_out->stand_in, &stand_in) == 0) {
        printf("%s\t%s\t%s\n", words[restoring], path, stand_in);
    }
}

static int restore_lines(struct restore *restore, FILE *list, char **ret_error)
{
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    ssize_t n;
    for (unsigned long number = 1; (n = getline(&line, &room, list)) > 0; number++) {
        struct left_out left_out;
        const bool ends = line[n - 1] == '\n';
        line[ends ? n - 1 : n] = '\0';
        int r = ends && strlen(line) == (size_t)n - 1 ? left_out_parse(line, &left_out) : -EINVAL;
        if (r < 0)
            return refuse(ret_error, r, "%s:%lu: %s", restore->options->list, number,
                          r == -EPROTO
                              ? "a line of a list of an older kinfs, which does not say whose "
                                "the files were and what was in them; make a new list"
                              : "no line of a list of unique/");
        r = restore_one(restore, &left_out);
        if (r < 0) {
            _cleanup_free_ char *path = NULL;
            return refuse(ret_error, r, "%s: %s",
                          escape_name(left_out.path, &path) == 0 ? path : "?", strerror(-r));
        }
        restore->n[r]++;
        print_one(restore, &left_out, (enum restoring)r);
    }
    return ferror(list) ? refuse(ret_error, -EIO, "%s: %s", restore->options->list, strerror(EIO))
                        : 0;
}

/* Returns 0; -ENODATA: not all is there again, or can be; or an error. */
static int restore_all(const struct restore_options *options, char **ret_error)
{
    struct restore restore = {.options = options, .last = {.fd = -1}};
    patience_look(options->list);
    patience_look(options->tree);
    int list_fd = trust_open_order(options->list, ret_error);
    if (list_fd < 0)
        return *ret_error ? list_fd
                          : refuse(ret_error, list_fd, "%s: %s", options->list,
                                   list_fd == -EINVAL ? "no regular file" : strerror(-list_fd));
    _cleanup_fclose_ FILE *list = fdopen(list_fd, "r");
    _cleanup_close_ int tree_fd = trust_open_anybodys(options->tree, ret_error);
    if (tree_fd < 0)
        return *ret_error ? tree_fd
                          : refuse(ret_error, tree_fd, "%s: %s", options->tree, strerror(-tree_fd));
    if (!list)
        return -ENOMEM;
    restore.tree_fd = tree_fd;
    int r = restore_lines(&restore, list, ret_error);
    forget_last(&restore.last);
    const uint64_t *n = restore.n;
    return r < 0                                                              ? r
           : n[RESTORING_SIMILAR] || n[RESTORING_LOST] || n[RESTORING_FAILED] ? -ENODATA
                                                                              : 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct restore_options *options = state->input;
    switch (key) {
    case 'A': options->apply = true; return 0;
    case 'j': command_set_json(&options->common.json); return 0;
    case ARGP_KEY_ARG:
        if (options->tree)
            argp_usage(state);
        *(options->list ? &options->tree : &options->list) = argument;
        return 0;
    case ARGP_KEY_END:
        if (!options->tree)
            argp_usage(state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option restore_options[] = {
    {"apply", 'A', NULL, 0, "make them; else it is said what can be made", 0},
    {"json", 'j', NULL, 0, "print JSON, an object a line", 10},
    {0},
};
static const struct argp parser = {
    restore_options, parse, "SKIPPED.tsv TREE",
    "Make again in TREE, a copy of unique/, what the list .kinfs-skipped.tsv at its top says was "
    "left out: what was equal byte for byte to what stands in for it, with the owner, mode and "
    "time that the list has. Prints a line for each: equal (it is, or can be, made), there (that "
    "name exists, and stays as it is), similar (it was another text, and cannot be made), lost "
    "(its directory, or what stands in for it, is not there, or that has other bytes now), failed "
    "(standard error says why). Exit code 1 where some are similar, lost or failed.",
    NULL};

int cmd_restore_list(int argc, char **argv)
{
    struct restore_options options = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = restore_all(&options, &error);
    return command_end(r, error);
}
