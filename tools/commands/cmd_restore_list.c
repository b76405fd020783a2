/* kinfs restore-list: what unique/ left out of a copy, by the list it has at its top, and as far as
 * that was equal to what stands in for it made again.
 *
 * The copy may be of a tree that others have written: no symbolic link in it is followed, nothing
 * of it is opened but regular files, and a file gets its name when it is complete, where there is
 * none of that name. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/escape.h"
#include "base/mounts/mount_point.h"
#include "base/proc_path.h"
#include "tools/commands/command.h"
#include "tools/documents/regular_file.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

struct restore_options {
    struct command_options common;
    const char *list, *tree;
    bool apply;
};

/* A line of the list. */
struct left_out {
    char *path, *stand_in; /* in the line */
    uint64_t size_bytes;
    bool is_equal;
};

/* What becomes of it. */
enum restoring { RESTORING_MADE, RESTORING_THERE, RESTORING_SIMILAR, RESTORING_LOST };
static const char *const words[] = {"equal", "there", "similar", "lost"};
enum { N_WORDS = 4 };

struct restore {
    const struct restore_options *options;
    int tree_fd;
    uint64_t n[N_WORDS];
};

/* -- the list -- */

/* A path of the tree, that leads to nothing above it. */
static bool is_path(const char *path)
{
    if (strlen(path) >= PATH_MAX)
        return false;
    for (const char *at = path, *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, '/');
        const size_t n = (size_t)(end - at);
        if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
    }
    return true;
}

/* line: without its end; changed. Returns 0 or -EINVAL. */
static int parse_line(char *line, struct left_out *ret_left_out)
{
    enum { FIELDS = 5 };
    char *fields[FIELDS], *rest = line, *end;
    for (int i = 0; i < FIELDS; i++)
        if (!(fields[i] = strsep(&rest, "\t")))
            return -EINVAL;
    errno = 0;
    const unsigned long long size = strtoull(fields[3], &end, 10);
    const bool is_equal = strcmp(fields[4], "equal") == 0;
    if (rest || end == fields[3] || *end || errno || *fields[3] < '0' || *fields[3] > '9' ||
        (!is_equal && strcmp(fields[4], "similar") != 0) || escape_take_back(fields[0]) < 0 ||
        escape_take_back(fields[1]) < 0 || !is_path(fields[0]) || !is_path(fields[1]))
        return -EINVAL;
    *ret_left_out = (struct left_out){fields[0], fields[1], size, is_equal};
    return 0;
}

/* -- a file -- */

static int copy_bytes(int from, int to)
{
    char buffer[64 << 10];
    for (;;) {
        ssize_t n = read(from, buffer, sizeof(buffer));
        if (n <= 0)
            return n < 0 ? -errno : 0;
        for (ssize_t at = 0, done; at < n; at += done)
            if ((done = write(to, buffer + at, (size_t)(n - at))) < 0)
                return -errno;
    }
}

/* Owner, mode and times are those of the one it is a copy of: the list has no others. */
static int copy_whole(int from, int to, const struct stat *st)
{
    const struct timespec times[2] = {st->st_atim, st->st_mtim};
    int r = copy_bytes(from, to);
    if (r < 0)
        return r;
    if (fchown(to, st->st_uid, st->st_gid) < 0 && errno != EPERM)
        return -errno;
    if (fchmod(to, st->st_mode & 0777) < 0 || futimens(to, times) < 0)
        return -errno;
    return fsync(to) < 0 ? -errno : 0;
}

/* A new file beside the name that it is to have; *ret_temporary is the name that it has until then,
 * "" where it needs none. */
static int make_file(int directory_fd, char ret_temporary[64])
{
    int fd = openat(directory_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    *ret_temporary = '\0';
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd < 0 ? -errno : fd;
    snprintf(ret_temporary, 64, ".kinfs-restore-%ld", (long)getpid());
    fd = openat(directory_fd, ret_temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC,
                0600);
    return fd < 0 ? -errno : fd;
}

static int give_name(int directory_fd, int fd, const char *temporary, const char *name)
{
    int r = *temporary
                ? linkat(directory_fd, temporary, directory_fd, name, 0)
                : linkat(AT_FDCWD, proc_path_of(fd).text, directory_fd, name, AT_SYMLINK_FOLLOW);
    return r < 0 ? -errno : 0;
}

static int make_copy(int from, const struct stat *st, int directory_fd, const char *name)
{
    char temporary[64];
    _cleanup_close_ int fd = make_file(directory_fd, temporary);
    int r = fd < 0 ? fd : copy_whole(from, fd, st);
    if (r == 0)
        r = give_name(directory_fd, fd, temporary, name);
    if (fd >= 0 && *temporary)
        unlinkat(directory_fd, temporary, 0);
    return r;
}

/* The directory that a path is in, and its last name. */
static int open_directory(int tree_fd, const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *directory = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    if (!directory)
        return -ENOMEM;
    *ret_name = slash ? slash + 1 : path;
    return mount_point_avoid(tree_fd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* What stands in for it in the copy, open for reading. */
static int open_stand_in(int tree_fd, const struct left_out *left_out, struct stat *ret_st)
{
    _cleanup_close_ int path_fd =
        mount_point_avoid(tree_fd, left_out->stand_in, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (path_fd < 0)
        return path_fd;
    if (fstat(path_fd, ret_st) < 0)
        return -errno;
    if (!S_ISREG(ret_st->st_mode) || (uint64_t)ret_st->st_size != left_out->size_bytes)
        return -ESTALE; /* another file by now */
    int fd = open(proc_path_of(path_fd).text, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Returns what becomes of it, or an error. */
static int restore_one(const struct restore *restore, const struct left_out *left_out)
{
    const char *name;
    struct stat st, there;
    if (!left_out->is_equal)
        return RESTORING_SIMILAR;
    _cleanup_close_ int directory_fd = open_directory(restore->tree_fd, left_out->path, &name);
    if (directory_fd < 0)
        return directory_fd == -ENOENT ? RESTORING_LOST : directory_fd;
    if (fstatat(directory_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0)
        return RESTORING_THERE;
    _cleanup_close_ int from = open_stand_in(restore->tree_fd, left_out, &st);
    if (from == -ENOENT || from == -ESTALE || from == -ENOTDIR)
        return RESTORING_LOST;
    if (from < 0)
        return from;
    int r = restore->options->apply ? make_copy(from, &st, directory_fd, name) : 0;
    return r == -EEXIST ? RESTORING_THERE : r < 0 ? r : RESTORING_MADE;
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
        if (!ends || strlen(line) != (size_t)n - 1 || parse_line(line, &left_out) < 0)
            return refuse(ret_error, -EINVAL, "%s:%lu: no line of a list of unique/",
                          restore->options->list, number);
        int r = restore_one(restore, &left_out);
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
    struct restore restore = {.options = options};
    int list_fd = regular_file_open(options->list);
    if (list_fd < 0)
        return refuse(ret_error, list_fd, "%s: %s", options->list, strerror(-list_fd));
    _cleanup_fclose_ FILE *list = fdopen(list_fd, "r");
    _cleanup_close_ int tree_fd = open(options->tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (tree_fd < 0)
        return refuse(ret_error, -errno, "%s: %s", options->tree, strerror(errno));
    if (!list)
        return -ENOMEM;
    restore.tree_fd = tree_fd;
    int r = restore_lines(&restore, list, ret_error);
    return r < 0 ? r : restore.n[RESTORING_SIMILAR] || restore.n[RESTORING_LOST] ? -ENODATA : 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct restore_options *options = state->input;
    switch (key) {
    case 'A': options->apply = true; return 0;
    case 'j': options->common.json = true; return 0;
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
    "left out: what was equal byte for byte to what stands in for it. Prints a line for each: "
    "equal (it is, or can be, made), there (that name exists, and stays as it is), similar (it was "
    "another text, and cannot be made), lost (its directory, or what stands in for "
    "it, is not there, or that has another size). Exit code 1 where some are similar or lost.",
    NULL};

int cmd_restore_list(int argc, char **argv)
{
    struct restore_options options = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = restore_all(&options, &error);
    return command_end(r, error);
}
